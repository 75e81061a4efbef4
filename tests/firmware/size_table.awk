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

function markdown_row() {
  printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", board,
    list("-Os", "flash_", "prefill decode both"), list("-O2", "flash_", "prefill decode both"), get("-Os", "ram"),
    list("-Os", "stack_", "prefill decode"), list("-O2", "stack_", "prefill decode"),
    list("-O2", "per_mac_64x32_", "arrays cache"), list("-O2", "per_mac_128x64_", "arrays cache")
}

END {
  if (kind == "markdown") {
    print "| target | flash -Os: prefill / decode / both | flash -O2 | static RAM | stack -Os: prefill / decode | stack -O2 " \
      "| instructions, 64 × 32: arrays / cache | 128 × 64 |"
    print "| --- | --- | --- | --- | --- | --- | --- | --- |"
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
}
