# The sweep as a table, from build/sweep.tsv: for each kind, head_dim and number of keys, the smallest over all numbers of heads of
# the best peer's time / ours. Below 1, some peer is faster.

BEGIN { FS = "\t" }
/^#/ { next }
{
  line = $2 " " $4
  if (!(line in lines)) { lines[line] = ++line_count; order[line_count] = line }
  if (!($3 in seen)) { seen[$3] = 1; lengths[++length_count] = $3 + 0 }
  if (!((line, $3) in least) || $NF + 0 < least[line, $3]) least[line, $3] = $NF + 0
}

function sorted(list, count, i, k, swap) {
  for (i = 2; i <= count; ++i) for (k = i; k > 1 && list[k - 1] > list[k]; --k) { swap = list[k]; list[k] = list[k - 1]; list[k - 1] = swap }
}

END {
  sorted(lengths, length_count)
  print "the best peer's time / ours, the smallest over all numbers of heads, by number of keys"
  printf "%-18s", "kind, head_dim"
  for (i = 1; i <= length_count; ++i) printf " %6d", lengths[i]
  print ""
  split("plain causal decode", kinds, " ")
  for (k = 1; k in kinds; ++k) {
    for (l = 1; l <= line_count; ++l) {
      if (index(order[l], kinds[k] " ") != 1) continue
      printf "%-18s", order[l]
      for (i = 1; i <= length_count; ++i) printf " %6s", ((order[l], lengths[i]) in least) ? sprintf("%.2f", least[order[l], lengths[i]]) : "-"
      print ""
    }
  }
}
