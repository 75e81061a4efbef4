set title 'Prefill, one head, head\_dim 64: our rate over each peer'
set xlabel 'queries = keys'
set ylabel 'our rate / the peer'
set logscale x 2
set logscale y 2
set xrange [0.9:4800]
set xtics (1, 4, 16, 64, 256, 1024, 4096)
set ytics (0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64)
set yrange [*:*]
peers = 'onnxruntime ggml eigen openblas naive'
plot 1 with lines lw 1.5 lc rgb '#606060' notitle, \
  for [name in filled('ratio', peers)] 'build/plots/ratio_' . name with linespoints lw 2 pt 7 ps 0.6 lc rgb color(name) title name, \
  for [name in filled('ratio', peers)] 'build/plots/ratio_' . name . '_causal' with linespoints \
    lw 2 pt 6 ps 0.6 dt 2 lc rgb color(name) title name . ', causal'
