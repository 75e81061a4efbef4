# Google Benchmark's JSON to lines "operation, shape, who, rate, fraction, unit" with tabs between: medians of the repetitions, in
# the program's order. Repetitions are interleaved, and so the JSON has them in any order.

function field(line) {
  sub(/^[^:]*: */, "", line)
  sub(/,$/, "", line)
  gsub(/"/, "", line)
  return line
}

function median(list, parts, count, i, k, swap) {
  count = split(list, parts, " ")
  for (i = 2; i <= count; ++i) {
    for (k = i; k > 1 && parts[k - 1] + 0 > parts[k] + 0; --k) { swap = parts[k]; parts[k] = parts[k - 1]; parts[k - 1] = swap }
  }
  return count % 2 ? parts[(count + 1) / 2] : (parts[count / 2] + parts[count / 2 + 1]) / 2
}

/^ *"name":/ { name = field($0); rate = ""; single = 0 }
/^ *"family_index":/ { family = field($0) + 0 }
/^ *"run_type": "iteration"/ { single = 1 }
/^ *"(gflops|gbps)":/ { rate = field($0) }
/^ *"(peak|bandwidth)_fraction":/ { fraction = field($0) }
/^ *}/ {
  if (single && rate != "") {
    names[family] = name
    rates[family] = rates[family] " " rate
    fractions[family] = fractions[family] " " fraction
    if (family > last) last = family
  }
  single = 0
}

END {
  OFS = "\t"
  for (i = 0; i <= last; ++i) {
    if (!(i in names)) continue
    split(names[i], part, "/")
    print part[1], part[4], part[3], median(rates[i]), median(fractions[i]), part[1] ~ /^decode/ ? "GB/s" : "GFLOP/s"
  }
}
