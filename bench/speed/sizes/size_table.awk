# The figures of size.sh, lines "board level figure number", as a table: -v kind=text or kind=markdown.
{
  if (!($1 in seen)) boards[++count] = $1
  seen[$1]
  f[$1, $2, $3] = $4
}

# Instructions: as many digits as mean something.
function instructions(number) { return sprintf(number < 100 ? "%.2f" : "%.0f", number) }

function get(level, figure) {
  if (!((board, level, figure) in f)) return "-"
  return figure ~ /per_mac/ ? instructions(f[board, level, figure]) : f[board, level, figure]
}

function list(level, prefix, names,    i, n, name, text) {
  n = split(names, name, " ")
  for (i = 1; i <= n; ++i) text = text (i > 1 ? " / " : "") get(level, prefix name[i])
  return text
}

function text_row(level) {
  if (get(level, "ram") == "-") return
  printf "%-14s%-4s %7s %6s %6s %8s %7s %5s %9s %7s %9s %7s %9s %8s %8s %8s\n", board, level,
    get(level, "flash_prefill"), get(level, "flash_decode"), get(level, "flash_both"), get(level, "helpers"),
    get(level, "flash_options"), get(level, "ram"),
    get(level, "stack_prefill"), get(level, "painted_prefill"), get(level, "stack_decode"), get(level, "painted_decode"),
    get(level, "per_mac_64x32_arrays"), get(level, "per_mac_64x32_cache"),
    get(level, "per_mac_128x64_arrays"), get(level, "per_mac_128x64_cache")
}

# Instructions of a call, and how many times those of the plain call they are.
function beside(call, kind,    plain, figure) {
  plain = "per_mac_" call "_plain"
  figure = "per_mac_" call "_" kind
  if (!((board, "-O2", figure) in f) || f[board, "-O2", plain] == 0) return "-"
  return get("-O2", figure) sprintf(" (%.2f)", f[board, "-O2", figure] / f[board, "-O2", plain])
}

function besides(call, kinds,    i, n, kind, text) {
  n = split(kinds, kind, " ")
  for (i = 1; i <= n; ++i) text = text (i > 1 ? " / " : "") beside(call, kind[i])
  return text
}

function kinds_row(    format) {
  format = kind == "markdown" ? "| %s | %s / %s | %s / %s | %s | %s |\n" : "%-14s %s / %s; %s / %s; %s; %s\n"
  printf format, board, get("-O2", "per_mac_decode_plain"), besides("decode", "options window ring float16 int8 int4"),
    get("-O2", "per_mac_prefill_plain"), besides("prefill", "options window float16 int8 int4"),
    list("-Os", "flash_", "decode_window decode_ring decode_float16 decode_ring_int8 prefill_window prefill_int8"),
    list("-Os", "stack_", "decode_window decode_ring decode_float16 decode_ring_int8 prefill_window prefill_int8")
}

function projections_row(    format) {
  format = kind == "markdown" ? "| %s | %s | %s | %s | %s | %s |\n" : "%-14s %s; %s; %s; %s; %s\n"
  printf format, board, list("-O2", "per_mac_project_", "packed rows"), list("-O2", "per_mac_project_", "float16 bfloat16 int8 int8_rows int4 int4_rows"),
    list("-O2", "per_mac_project_", "packed_16 rows_16 int8_16 int4_16"),
    list("-Os", "flash_", "project project_rows project_int8 project_int8_rows"),
    list("-Os", "stack_", "project project_rows project_int8 project_int8_rows")
}

# A table of lists: its heads, and "level prefix name name …" of each column.
function table(markdown, text, columns,    n, column, i, c, word) {
  print (kind == "markdown" ? markdown : text)
  n = split(columns, column, ";")
  for (i = 1; i <= count; ++i) {
    board = boards[i]
    printf (kind == "markdown" ? "| %s" : "%-14s"), board
    for (c = 1; c <= n; ++c) {
      split(column[c], word, " ")
      printf "%s%s", (kind == "markdown" ? " | " : c == 1 ? " " : "; "), list(word[1], word[2], substr(column[c], length(word[1] " " word[2] " ") + 1))
    }
    print (kind == "markdown" ? " |" : "")
  }
}

function projections_head() {
  if (kind == "markdown") {
    print "\n## Projections\n\n| target | projection 128 × 128, instructions per weight: packed / rows | float16 / bfloat16 / int8 / int8 rows / int4 / int4 rows " \
      "| 16 tokens, per weight and token: packed / rows / int8 / int4 | flash -Os: packed / rows / int8 / int8 rows | stack -Os of the same |"
    print "| --- | --- | --- | --- | --- | --- |"
  } else {
    print "\nprojection 128 x 128, one token, instructions per weight at -O2: packed / rows; float16 / bfloat16 / int8 / int8 rows / int4 / int4 rows;"
    print "16 tokens, per weight and token: packed / rows / int8 / int4; flash at -Os: packed / rows / int8 / int8 rows; stack of the same"
  }
}

function kinds_head() {
  if (kind == "markdown") {
    print "\n## Calls with options\n\n| target | decode, instructions (times plain): plain / options off / window / ring / float16 / int8 / int4 " \
      "| prefill: plain / options off / window / float16 / int8 / int4 " \
      "| flash -Os: window / ring / float16 / ring of int8 / prefill window / prefill int8 | stack -Os of the same |"
    print "| --- | --- | --- | --- | --- |"
  } else {
    print "\ninstructions at -O2 (times plain), decode: plain / options off / window / ring / float16 / int8 / int4; " \
      "prefill: plain / options off / window / float16 / int8 / int4;"
    print "flash at -Os: decode window / ring / float16 / ring of int8 / prefill window / int8; stack of the same"
  }
}

function markdown_row() {
  printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", board,
    list("-Os", "flash_", "prefill decode both"), list("-O2", "flash_", "prefill decode both"), get("-Os", "ram"),
    list("-Os", "stack_", "prefill decode"), list("-O2", "stack_", "prefill decode"),
    list("-O2", "per_mac_64x16_", "arrays cache"), list("-O2", "per_mac_64x32_", "arrays cache"), list("-O2", "per_mac_128x64_", "arrays cache")
}

END {
  if (kind == "markdown") {
    print "## Plain calls\n\n| target | flash -Os: prefill / decode / both | flash -O2 | static RAM | stack -Os: prefill / decode | stack -O2 " \
      "| instructions, 64 × 16: arrays / cache | 64 × 32 | 128 × 64 |"
    print "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  } else {
    printf "%-18s %39s %5s %35s %36s\n", "", "flash, bytes ------------------------", "", "stack, bytes: bound, then measured",
      "instructions per multiply-accumulate"
    printf "%-18s %39s %5s %17s %17s %18s %17s\n", "", "", "", "prefill --------", "decode ---------", "64x32 -----------",
      "128x64 ---------"
    printf "%-14s%-4s %7s %6s %6s %8s %7s %5s %9s %7s %9s %7s %9s %8s %8s %8s\n", "target", "", "prefill", "decode", "both",
      "helpers", "options", "RAM", "bound", "used", "bound", "used", "arrays", "cache", "arrays", "cache"
  }
  for (i = 1; i <= count; ++i) {
    board = boards[i]
    if (kind == "markdown") {
      markdown_row()
    } else {
      text_row("-Os")
      text_row("-O2")
    }
  }
  kinds_head()
  for (i = 1; i <= count; ++i) {
    board = boards[i]
    kinds_row()
  }
  projections_head()
  for (i = 1; i <= count; ++i) {
    board = boards[i]
    projections_row()
  }
  table("\n## A multi-head layer\n\n| target | multi-head layer, 4 heads of 32, weights of bytes, 64 tokens; flash -Os: over a cache / over a ring of bytes | stack -Os of the same | instructions over a cache, per weight and token: of a prompt of 64 / the token after it |\n| --- | --- | --- | --- |",
    "\nmulti-head layer, 4 heads of 32, weights of bytes, 64 tokens; at -Os: flash over a cache / over a ring of bytes; stack of the same; at -O2: instructions per weight and token, of a prompt of 64 / the token after it",
    "-Os flash_ layer layer_ring;-Os stack_ layer layer_ring;-O2 per_mac_layer_ prompt token")
  table("\n## Integers\n\n| target | integers, instructions per multiply-accumulate: 64 × 16 / 64 × 32 / 128 × 64 | projection 128 × 128: one token / each of 16 | flash -Os: arrays / ring / projection | stack -Os of the same |\n| --- | --- | --- | --- | --- |",
    "\nintegers, instructions per multiply-accumulate at -O2: 64x16 / 64x32 / 128x64; projection of one token / each of 16; flash at -Os: arrays / ring / projection; stack of the same",
    "-O2 per_mac_ 64x16_integer 64x32_integer 128x64_integer;-O2 per_mac_project_ integer integer_16;-Os flash_ integer integer_ring project_integer;-Os stack_ integer integer_ring project_integer")
  table("\n## Linear attention\n\n| target | gated delta, one token; flash -Os: floats / integers | stack -Os of the same, from the core's call on | instructions: floats, per multiply-accumulate / integers, per number of the state |\n| --- | --- | --- | --- |",
    "\ngated delta, one token; at -Os: flash of floats / integers; stack of the same, from the core's call on; at -O2: instructions of floats per multiply-accumulate / of integers per number of the state",
    "-Os flash_ linear_attention linear_integer;-Os stack_ linear_attention linear_integer;-O2 per_mac_linear_ floats gated_delta")
  table("\n## The C surface\n\n| target | decode over a cache that is made at run time; flash -Os: plain / with all options |\n| --- | --- |",
    "\ndecode in C over a cache that is made at run time; at -Os: flash, plain / with all options",
    "-Os flash_c_ plain options")
  table("\n## RAM of three models\n\n| target | keyword: cache / work | motion | story |\n| --- | --- | --- | --- |",
    "\nRAM, cache / work of one token: keyword; motion; story",
    "-Os ram_keyword_ cache work;-Os ram_motion_ cache work;-Os ram_story_ cache work")
}
