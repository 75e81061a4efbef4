# What the plots share.
set border 3 lw 1 lc rgb '#606060'
set tics nomirror out textcolor rgb '#303030'
set grid ytics lc rgb '#e4e4e4' lt 1
set title font ',15' offset 0,-0.3
set key outside right top vertical Left reverse samplen 2 spacing 1.15
color(name) = name eq 'avx512' ? '#b2182b' : name eq 'avx2' ? '#2166ac' : name eq 'neon' ? '#1b7837' : \
  name eq 'eigen' ? '#e08214' : name eq 'openblas' ? '#8073ac' : name eq 'onnxruntime' ? '#1b9e77' : name eq 'ggml' ? '#a6761d' : '#999999'

# Those of a list of names for which the run filled a file.
filled(kind, names) = system("for name in " . names . "; do [ ! -s build/plots/" . kind . "_$name ] || echo $name; done")
