set title 'The best peer against ours, shape by shape'
set xlabel 'useful operations of one call'
set ylabel "best peer's time / ours"
set logscale xy
set format x '10^{%T}'
set ytics (0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64)
set yrange [*:*] noextend
set offsets graph 0, graph 0, graph 0.04, graph 0.04
plot 1 with lines lw 1.5 lc rgb '#777777' dt 2 notitle, \
  'build/plots/sweep_plain' with points pt 7 ps 0.5 lc rgb '#2166ac' title 'prefill', \
  'build/plots/sweep_causal' with points pt 5 ps 0.5 lc rgb '#e08214' title 'prefill, causal', \
  'build/plots/sweep_decode' with points pt 9 ps 0.6 lc rgb '#1b7837' title 'decode'
