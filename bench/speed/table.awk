# The table of a benchmark run, from what medians.awk writes. A line for each case: each backend's fraction of the machine's limit
# and its rate; each peer's rate and in brackets ours as a multiple of it; our best rate as a multiple of the best peer's; and the gain
# by a second thread. Then the peers that are ahead of us, if there are any.

BEGIN { FS = "\t"; width = 4 }
{
  row = $1 "/" $2
  if (!(row in unit)) { rows[++row_count] = row; if (length(row) > width) width = length(row) }
  if (!($3 in known)) {
    known[$3] = 1
    if ($3 ~ /^(scalar|sse2|avx2|avx512|neon|helium)$/) ours[++our_count] = $3; else peers[++peer_count] = $3
  }
  unit[row] = $6
  rate[row, $3] = $4
  fraction[row, $3] = $5
  if (NF > 6) beside[row, $3] = $7  # our rate while this peer was timed, where that was in another process
}

function put(text, columns) { printf "  %" columns "s", text }

function wide(i) { return length(peers[i]) > 14 ? length(peers[i]) : 14 }

# Our rate over a peer's: the best, or what it was beside the peer.
function over_peer(row, peer, best) { return ((row, peer) in beside ? beside[row, peer] : best) / rate[row, peer] }

# A peer that is named after an instruction set, ggml-avx2, and our backend with that instruction set; otherwise our best.
function over_its_like(row, peer, best, backend) {
  backend = peer
  return over_peer(row, peer, sub(/^[^-]*-/, "", backend) && (row, backend) in rate ? rate[row, backend] : best)
}

# The smallest of our rate over a peer's, or "-".
function against_peers(row, best, i, ratio, smallest) {
  smallest = "-"
  for (i = 1; i <= peer_count; ++i) {
    if (!best || !((row, peers[i]) in rate)) continue
    ratio = over_its_like(row, peers[i], best)
    if (smallest == "-" || ratio < smallest) smallest = ratio
    if (ratio < 1) ahead[++ahead_count] = sprintf("%s: %s, %.2f", row, peers[i], ratio)
  }
  return smallest == "-" ? smallest : sprintf("%.2f", smallest)
}

# With two threads, for each backend: the rate over that with one. The names' endings say how many.
function against_one_thread(row, one, text, i) {
  one = row
  if (!sub(/_t2$/, "_t1", one)) return ""
  for (i = 1; i <= our_count; ++i) {
    if (((row, ours[i]) in rate) && ((one, ours[i]) in rate)) {
      text = text (text == "" ? "" : ", ") ours[i] sprintf(" %.2f", rate[row, ours[i]] / rate[one, ours[i]])
    }
  }
  return text
}

END {
  printf "%-" width "s", "case"
  for (i = 1; i <= our_count; ++i) put(ours[i], 12)
  for (i = 1; i <= peer_count; ++i) put(peers[i], wide(i))
  printf "  %-7s  %s  %s\n", "unit", "ours / best peer", "2 threads / 1"
  for (r = 1; r <= row_count; ++r) {
    row = rows[r]
    best = 0
    printf "%-" width "s", row
    for (i = 1; i <= our_count; ++i) {
      here = (row, ours[i]) in rate
      put(here ? sprintf("%3.0f%% %7.1f", 100 * fraction[row, ours[i]], rate[row, ours[i]]) : "-", 12)
      if (here && rate[row, ours[i]] > best) best = rate[row, ours[i]]
    }
    for (i = 1; i <= peer_count; ++i) {
      here = (row, peers[i]) in rate
      put(here ? sprintf("%.1f", rate[row, peers[i]]) (best ? sprintf(" (%.2f)", over_its_like(row, peers[i], best)) : "") : "-", wide(i))
    }
    line = sprintf("  %-7s  %16s  %s", unit[row], against_peers(row, best), against_one_thread(row))
    sub(/ +$/, "", line)
    print line
  }
  if (ahead_count) print "ahead of us, and our rate over theirs:"
  for (i = 1; i <= ahead_count; ++i) print "  " ahead[i]
  for (i = 1; i <= our_count; ++i) {
    alone = "decode/q1_k4096_d128_h8"
    group = alone
    sub(/h8$/, "h32_kv8", group)
    if (((alone, ours[i]) in rate) && ((group, ours[i]) in rate)) {
      printf "decode, 8 key heads x 4096 keys, head_dim 128: 4 query heads for each take %.2f times as long as 1 (%s)\n", \
        rate[alone, ours[i]] / rate[group, ours[i]], ours[i]
    }
  }
}
