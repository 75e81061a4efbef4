set title 'Prefill, one head, head\_dim 64: fraction of peak'
set xlabel 'queries = keys'
set ylabel '% of the measured multiply-add peak'
set logscale x 2
set xrange [0.9:4800]
set xtics (1, 4, 16, 64, 256, 1024, 4096)
set yrange [0:100]
plot for [name in filled('length', 'avx512 avx2 neon')] 'build/plots/length_' . name with linespoints \
    lw 2 pt 7 ps 0.6 lc rgb color(name) title name, \
  for [name in filled('length', 'avx512 avx2 neon')] 'build/plots/length_' . name . '_causal' with linespoints \
    lw 2 pt 6 ps 0.6 dt 2 lc rgb color(name) title name . ', causal'
