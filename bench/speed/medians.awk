# Google Benchmark's JSON to lines "operation, shape, who, rate, fraction, unit" with tabs between: medians of the repetitions, in
# the program's order. Repetitions are interleaved, and so the JSON has them in any order. Number formats other than float32 are
# part of the operation, as in decode_f16. Of a peer's ways, peer:way, the fastest counts.

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
    sub(/:.*/, "", part[3])
    line = part[1] (part[2] == "f32" ? "" : "_" part[2]) OFS part[4] OFS part[3]
    if (!(line in best)) order[++count] = line
    rate = median(rates[i])
    if ((line in best) && best[line] >= rate) continue
    best[line] = rate
    fraction_of[line] = median(fractions[i])
    unit[line] = part[1] ~ /^decode/ ? "GB/s" : "GFLOP/s"
  }
  for (i = 1; i <= count; ++i) print order[i], best[order[i]], fraction_of[order[i]], unit[order[i]]
}
