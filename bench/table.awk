# The table of a benchmark run, from what medians.awk writes. A line for each case: each backend's fraction of the machine's limit
# and its rate, each peer's rate, and our best rate as a multiple of the best peer's.

BEGIN { FS = "\t"; width = 4 }
{
  row = $1 "/" $2
  if (!(row in unit)) { rows[++row_count] = row; if (length(row) > width) width = length(row) }
  if (!($3 in known)) {
    known[$3] = 1
    if ($3 ~ /^(scalar|avx2|avx512|neon|helium)$/) ours[++our_count] = $3; else peers[++peer_count] = $3
  }
  unit[row] = $6
  rate[row, $3] = $4
  fraction[row, $3] = $5
}

function put(text, columns) { printf "  %" columns "s", text }

function wide(i) { return length(peers[i]) > 9 ? length(peers[i]) : 9 }

# The quotient of two rows' rates, for each backend.
function quotient(text, above, below, i) {
  for (i = 1; i <= our_count; ++i) {
    if (((above, ours[i]) in rate) && ((below, ours[i]) in rate)) {
      printf text " (%s)\n", rate[above, ours[i]] / rate[below, ours[i]], ours[i]
    }
  }
}

END {
  printf "%-" width "s", "case"
  for (i = 1; i <= our_count; ++i) put(ours[i], 12)
  for (i = 1; i <= peer_count; ++i) put(peers[i], wide(i))
  printf "  %-7s  %s\n", "unit", "ours / best peer"
  for (r = 1; r <= row_count; ++r) {
    row = rows[r]
    best = best_peer = 0
    printf "%-" width "s", row
    for (i = 1; i <= our_count; ++i) {
      here = (row, ours[i]) in rate
      put(here ? sprintf("%3.0f%% %7.1f", 100 * fraction[row, ours[i]], rate[row, ours[i]]) : "-", 12)
      if (here && rate[row, ours[i]] > best) best = rate[row, ours[i]]
    }
    for (i = 1; i <= peer_count; ++i) {
      here = (row, peers[i]) in rate
      put(here ? sprintf("%.1f", rate[row, peers[i]]) : "-", wide(i))
      if (here && rate[row, peers[i]] > best_peer) best_peer = rate[row, peers[i]]
    }
    printf "  %-7s  %s\n", unit[row], (best && best_peer ? sprintf("%.2f", best / best_peer) : "-")
  }
  quotient("prefill, 8 heads 1024 x 1024, head_dim 64: 2 threads are %.2f times as fast as 1", \
           "prefill/q1024_k1024_d64_h8_t2", "prefill/q1024_k1024_d64_h8_t1")
  quotient("decode, 8 heads, cache of 1 MB: 2 threads are %.2f times as fast as 1", \
           "decode/q1_k256_d64_h8_t2", "decode/q1_k256_d64_h8_t1")
  quotient("decode, 8 key heads x 4096 keys, head_dim 128: 32 query heads take %.2f times as long as 8", \
           "decode/q1_k4096_d128_h8", "decode/q1_k4096_d128_h32_kv8")
}
