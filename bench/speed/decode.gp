set title 'Decode, one token, 8 heads, head\_dim 64'
set xlabel 'size of the cache'
set ylabel 'GB of the cache per second'
set logscale x 2
set logscale y 2
set xrange [200000:700000000]
set xtics ('256 KB' 2**18, '1 MB' 2**20, '4 MB' 2**22, '16 MB' 2**24, '64 MB' 2**26, '512 MB' 2**29)
set yrange [4:256]
set ytics (4, 8, 16, 32, 64, 128, 256)
ours = filled('decode', 'avx512 avx2 neon')
plot 'build/plots/decode_' . word(ours, 1) using 1:3 with lines lw 3 lc rgb '#303030' title 'reading alone', \
  for [name in ours] 'build/plots/decode_' . name using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb color(name) title name, \
  for [name in filled('decode', 'onnxruntime ggml eigen openblas naive')] 'build/plots/decode_' . name using 1:2 with linespoints \
    lw 2 pt 6 ps 0.6 dt 2 lc rgb color(name) title name
