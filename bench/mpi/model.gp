set title 'Decode of one token, keys divided over ranks: model and runs'
set xlabel 'ranks'
set ylabel 'ms a token'
set logscale x 2
set logscale y
set xrange [0.9:70000]
set xtics (1, 8, 64, 1024, 8192, 65536)
set ytics (0.01, 0.1, 1, 10, 100, '1,000' 1000, '10,000' 10000, '100,000' 100000, '1,000,000' 1000000)
set format y '%g'
set key spacing 1.4
ink(exponent) = exponent == 16 ? '#2166ac' : exponent == 20 ? '#e08214' : '#1b7837'
label(exponent) = exponent == 16 ? '64 K tokens' : exponent == 20 ? '1 M tokens' : '1 G tokens'
plot for [exponent in '30 20 16'] 'build/plots/model_neighbours_' . exponent with lines lw 2 lc rgb ink(int(exponent)) \
    title label(int(exponent)), \
  for [exponent in '30 20 16'] 'build/plots/model_any_' . exponent with lines lw 2 dt 2 lc rgb ink(int(exponent)) \
    title 'in any order', \
  'build/plots/model_line_decode' with lines lw 1.5 lc rgb '#606060' title '64 K, 2 cores here', \
  'build/plots/model_measured_decode' with points pt 7 ps 0.6 lc rgb '#b2182b' title 'measured'
