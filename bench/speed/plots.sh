#!/bin/sh
# Draws length, decode, ratio and sweep .svg from build/bench.tsv and build/sweep.tsv, or those of them that are there:
# bench/speed/plots.sh FOLDER. For another kind of picture: TERMINAL='pngcairo size 760,440' ENDING=png
set -e
command -v gnuplot >/dev/null || {
  echo "plots: gnuplot was not found; install it (Debian: apt-get install gnuplot-nox)" >&2
  exit 1
}
terminal="svg size 760,440 dynamic background rgb 'white' font 'sans-serif,13'"
[ -z "$TERMINAL" ] || terminal=$TERMINAL
ending=${ENDING:-svg}
folder=${1:-bench/speed/results}
mkdir -p build/plots "$folder"
drawn=

draw() {
  gnuplot -e "set terminal $terminal; set output '$folder/$1.$ending'" bench/speed/style.gp "bench/speed/$1.gp"
  [ "$ending" != svg ] || python3 bench/speed/compact_svg.py "$folder/$1.svg"
  drawn="$drawn $folder/$1.$ending"
}

if [ -s build/bench.tsv ]; then
  # Lengths against fractions of peak: one file for each backend, one block for plain, one for causal.
  for backend in avx2 avx512 neon; do
    for causal in '' _causal; do
      awk -F '\t' -v who="$backend" -v causal="$causal" '
        $1 == "prefill" && $3 == who && $2 ~ "_d64_h1" causal "$" { split($2, part, /[a-z_]+/); print part[2], 100 * $5 }' \
        build/bench.tsv >"build/plots/length_$backend$causal"
    done
    # Bytes of the cache, ours, and what reading it alone gave.
    awk -F '\t' -v who="$backend" '
      $1 == "decode" && $3 == who && $2 ~ /_d64_h8$/ { split($2, part, /[a-z_]+/); print part[3] * 4096, $4, $4 / $5 }' \
      build/bench.tsv >"build/plots/decode_$backend"
  done
  for peer in naive eigen openblas onnxruntime ggml; do
    # Our best backend's rate over a peer's, the faster of ggml's; over what ours was beside it, where that peer has a process of its own.
    for causal in '' _causal; do
      awk -F '\t' -v who="$peer" -v causal="$causal" '
        $1 != "prefill" || $2 !~ "_d64_h1" causal "$" { next }
        { split($2, part, /[a-z_]+/); keys = part[2] }
        $3 ~ /^(avx2|avx512|neon|scalar)$/ { if ($4 > ours[keys]) ours[keys] = $4 }
        $3 !~ "^" who { next }
        !(keys in theirs) { order[++count] = keys }
        $4 > theirs[keys] { theirs[keys] = $4; if (NF > 6) beside[keys] = $7 }
        END { for (i = 1; i <= count; ++i) { keys = order[i]; print keys, (keys in beside ? beside[keys] : ours[keys]) / theirs[keys] } }' \
        build/bench.tsv >"build/plots/ratio_$peer$causal"
    done
    awk -F '\t' -v who="$peer" '
      $1 != "decode" || $3 !~ "^" who || $2 !~ /_d64_h8$/ { next }
      { split($2, part, /[a-z_]+/); keys = part[3] }
      !(keys in rate) { order[++count] = keys }
      $4 > rate[keys] { rate[keys] = $4 }
      END { for (i = 1; i <= count; ++i) print order[i] * 4096, rate[order[i]] }' \
      build/bench.tsv >"build/plots/decode_$peer"
  done
  draw length
  draw decode
  [ -z "$(cat build/plots/ratio_*)" ] || draw ratio
fi
if [ -s build/sweep.tsv ]; then
  for kind in plain causal decode; do
    awk -F '\t' -v kind="$kind" '$2 == kind { print $6, $NF }' build/sweep.tsv >"build/plots/sweep_$kind"
  done
  draw sweep
fi
if [ -z "$drawn" ]; then
  echo "plots: nothing to draw; run make bench or make sweep first" >&2
  exit 1
fi
for file in $drawn; do echo "  $file"; done
