# Adds up what parts of the tests print. doctest says "test cases: 3 | 3 passed | 0 failed", the scripts say "3 passed, 0 failed", and
# a part that died is named by a line "part failed: …", which counts where nothing else failed. What failed is said once more at the end, and
# what was left out: scripts say
# "skip WHAT: WHY", targets.sh has a row "NAME skipped …"; packages that would help are those of "apt-get install …" in such a line.
function left_out(what) {
  names[++left] = what
  if (!match(what, /apt-get install [^;:()]*/)) return
  count = split(substr(what, RSTART + 16, RLENGTH - 16), words, /[ ,]+/)
  for (i = 1; i <= count; ++i) if (words[i] ~ /^[a-z0-9][a-z0-9+.-]+$/ && !(words[i] in seen)) { seen[words[i]]; packages = packages " " words[i] }
}
/^\[doctest\] test cases:/ { gsub(/[^0-9|]/, ""); split($0, n, "|"); passed += n[2]; failed += n[3] }
/^[0-9]+ passed, [0-9]+ failed/ && !/ left out/ { passed += $1; failed += $3 }
/^skip / { left_out(substr($0, 6)) }
/^[^ ]+ +skipped / { left_out($0) }
/^part failed:/ { ++broken }
/^== / { part = $2; sub(/:/, "", part) }
/^FAIL|^part failed|: ERROR: |^ *repeat it: |^make.*\*\*\*/ && ++lines <= 40 { shown = shown "\n" part ": " substr($0, 1, 300) }
END {
  if (failed == 0) failed = broken + 0
  if (shown != "") print shown
  if (left > 0) printf "\n"
  for (i = 1; i <= left; ++i) { gsub(/  +/, " ", names[i]); print "left out: " names[i] }
  printf "\ntotal: %d passed, %d failed\n", passed, failed
  if (left > 0) printf "%d passed, %d failed, %d left out%s\n", passed, failed, left, packages == "" ? "" : ": apt-get install" packages
  exit failed > 0 || passed == 0
}
