# Sourced after check.sh: tables that a command writes into a page.
# shellcheck shell=sh disable=SC2154

# replace_part PAGE COMMAND TABLE: what stands in PAGE between "made by COMMAND" and the next "end" becomes what the file TABLE has.
replace_part() {
  if [ "$(awk -v begin="<!-- made by $2 -->" '$0 == begin { inside = 1; begun++ } inside && $0 == "<!-- end -->" { inside = 0; ended++ }
    END { print begun + 0, ended + 0 }' "$1")" = "1 1" ]; then
    awk -v begin="<!-- made by $2 -->" -v table="$3" '
      $0 == "<!-- end -->" { inside = 0 }
      !inside
      $0 == begin { inside = 1; while ((getline line <table) > 0) print line }' "$1" >"$3.page" && cp "$3.page" "$1"
  else
    fail "$1 has a place for the tables" "put <!-- made by $2 --> and <!-- end --> into it, the first once and each on a line of its own"
  fi
}
