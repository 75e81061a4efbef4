# Which tests may be compiled as one file, so that what they include is read once: awk -v size=8 -f tests/support/groups.awk FILE…
#
# Prints a line for each group, its files. Files of a room are put into the first group that has fewer than `size` and none of
# the names that they define in no indented line. Those that switch instructions on, look into src/ or take the names of a namespace
# of their own stay alone, and so do those of the two surfaces, which have the same few names.
function defined_name(line) {
  if (line ~ /^(namespace|using namespace|extern|static_assert|template|typedef|TEST_CASE|[A-Z_]+\()/) return ""
  if (line ~ /^using [A-Za-z_:]*;/ || line !~ /^[A-Za-z_]/) return ""
  if (match(line, /^(struct|class|union|enum class|enum) [A-Za-z_0-9]+/)) {
    line = substr(line, RSTART, RLENGTH)
    sub(/^.* /, "", line)
    return line
  }
  if (!match(line, /[(={[;]/)) return ""
  line = substr(line, 1, RSTART - 1)
  sub(/ +$/, "", line)
  if (line ~ /operator/) return ""
  return match(line, /[A-Za-z_0-9]+$/) ? substr(line, RSTART, RLENGTH) : ""
}

FNR == 1 {
  files[++count] = FILENAME
  room[count] = FILENAME
  sub(/\/[^\/]*$/, "", room[count])
}
FILENAME ~ /^tests\/(c|typed)\// { alone[count] }
/^#(define|pragma|undef)|x86\/on[.]h|tested[.]h|target_isa[.]h/ || (/^using namespace/ && !/attend_test;/) { alone[count] }
{
  sub(/^(static |constexpr |inline |const )+/, "")
  name = defined_name($0)
  if (name != "") names[count] = names[count] " " name
  # int a = 1, b = 2;
  if (name != "" && /;$/) while (match($0, /, [A-Za-z_0-9]+( =|\[|;)/)) {
    name = substr($0, RSTART + 2, RLENGTH - 2)
    sub(/[^A-Za-z_0-9].*/, "", name)
    names[count] = names[count] " " name
    $0 = substr($0, RSTART + RLENGTH - 1)
  }
}

END {
  for (i = 1; i <= count; ++i) {
    n = split(names[i], own, " ")
    for (g = 1; g <= groups; ++g) {
      if (i in alone || closed[g] || rooms[g] != room[i] || sizes[g] >= size) continue
      clash = 0
      for (k = 1; k <= n && !clash; ++k) clash = (g, own[k]) in taken
      if (!clash) break
    }
    if (g > groups) rooms[++groups] = room[i]
    if (i in alone) closed[g] = 1
    ++sizes[g]
    lists[g] = lists[g] " " files[i]
    for (k = 1; k <= n; ++k) taken[g, own[k]]
  }
  for (g = 1; g <= groups; ++g) print substr(lists[g], 2)
}
