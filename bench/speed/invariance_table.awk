# Lines of invariance.sh as tables: awk -v kind=text|markdown -f invariance_table.awk build/invariance.tsv
#
# text: one table of all lines. markdown: what keeps the bits of which runtime, yes or no; then a table of each runtime.
BEGIN { FS = "\t" }
{
  for (f = 1; f <= 4; ++f) field[NR, f] = $f
  if (!($1 in number)) { runtime[number[$1] = ++runtimes] = $1 }
  if (!($2 in place)) { what[place[$2] = ++whats] = $2 }
  found[$1, $2] = brief($3) " / " brief($4)
}
END {
  if (kind == "markdown") {
    overview()
    for (r = 1; r <= runtimes; ++r) details(r)
  } else {
    begin("runtime", "what changes", "as shipped", "with Attend")
    for (n = 1; n <= NR; ++n) add(n > 1 && field[n, 1] == field[n - 1, 1] ? "" : field[n, 1], field[n, 2], field[n, 3], field[n, 4])
    print_table()
  }
}

# yes, no, a ratio of times, or – where nothing was measured.
function brief(text) { return text == "same" ? "yes" : text ~ /^differs/ ? "no" : text ~ /^[0-9.]+$/ ? text : "–" }

# Rows that no runtime has are left out.
function overview(  w, r, cells, any) {
  row_count = 1
  cell[1, 1] = "same bits"
  for (r = 1; r <= runtimes; ++r) {
    cell[1, r + 1] = runtime[r]
    sub(/ [0-9.]+, .*/, "", cell[1, r + 1])  # its version, and which part of it
  }
  columns = runtimes + 1
  for (w = 1; w <= whats; ++w) {
    any = 0
    for (r = 1; r <= runtimes; ++r) {
      cells[r] = ((runtime[r], what[w]) in found) ? found[runtime[r], what[w]] : "– / –"
      if (cells[r] == "– / –") cells[r] = "–"
      else any = 1
    }
    if (!any) continue
    cell[++row_count, 1] = what[w]
    for (r = 1; r <= runtimes; ++r) cell[row_count, r + 1] = cells[r]
  }
  print_table()
}

function details(r,  n) {
  print "\n## " runtime[r] "\n"
  begin("what changes", "as shipped", "with Attend", "")
  columns = 3
  for (n = 1; n <= NR; ++n) {
    if (field[n, 1] == runtime[r] && field[n, 3] != "-") add(field[n, 2], field[n, 3], field[n, 4], "")
  }
  print_table()
}

function begin(a, b, c, d) { row_count = 0; columns = 4; add(a, b, c, d) }
function add(a, b, c, d) { ++row_count; cell[row_count, 1] = a; cell[row_count, 2] = b; cell[row_count, 3] = c; cell[row_count, 4] = d }

# Columns as wide as their widest cell, of which awk counts bytes: a dash has 3.
function width(text,  copy) { copy = text; return length(text) - (length("–") - 1) * gsub(/–/, "", copy) }
function print_table(  c, n, most, line) {
  for (c = 1; c <= columns; ++c) {
    most[c] = 3
    for (n = 1; n <= row_count; ++n) if (width(cell[n, c]) > most[c]) most[c] = width(cell[n, c])
  }
  for (n = 1; n <= row_count; ++n) {
    line = "|"
    for (c = 1; c <= columns; ++c) line = line " " cell[n, c] spaces(most[c] - width(cell[n, c])) " |"
    print line
    if (n > 1) continue
    line = "|"
    for (c = 1; c <= columns; ++c) line = line " " (kind == "text" ? "---" spaces(most[c] - 3) : dashes(most[c])) " |"
    print line
  }
}
function spaces(count) { return sprintf("%*s", count, "") }
function dashes(count,  text) { text = spaces(count); gsub(/ /, "-", text); return text }
