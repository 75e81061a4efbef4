# Which rooms the files of a room may include: awk -f tests/support/rooms.awk FILE…, from the project's top folder. Prints every
# include that goes elsewhere and every room without a line here.
BEGIN {
  api = "include/attend"
  numerics = api " src/numerics"
  simd = numerics " src/simd"
  kernel = simd " src/kernel"
  attention = kernel " src/attention"
  may["include/attend"] = api
  may["src/numerics"] = numerics
  may["src/simd"] = simd
  may["src/kernel"] = kernel
  may["src/attention"] = attention
  may["src/layer"] = attention " src/layer"
  may["src/c_api"] = api " src/c_api"
  may["src/backend"] = attention " src/layer src/backend src/backends.h src/layers.h"
  may["src"] = attention " src/backend src/c_api src/layer src"
  # Benchmarks take the application, the backends by name, where one is timed that a processor would not choose, and the tests'
  # random numbers and oracle; tests take the application, which they test, and no benchmark.
  may["bench"] = api " bench bench/app bench/peers src/backends.h tests/support/random.h tests/conformance/oracle.h"
  may["bench/peers"] = api " bench/peers bench"
  may["bench/app"] = api " bench/app"
  may["bench/examples"] = api
  may["tests/tiles"] = api
  tests = "unit conformance api c_api firmware fuzz support wrong_code"
  shared = may["src"] " tests/support tests/conformance bench/app"
  for (n = split(tests, name, " "); n > 0; --n) may["tests/" name[n]] = shared " tests/" name[n]
}

FNR == 1 {
  room = FILENAME
  sub("/[^/]*$", "", room)
  if (!(room in may)) print room " is a room that tests/support/rooms.awk does not know"
}

/^ *# *include "/ {
  split($0, quoted, "\"")
  path = quoted[2] ~ "^attend/" ? "include/" quoted[2] : quoted[2] ~ "^src/" ? quoted[2] : room "/" quoted[2]
  while (sub("[^/.]+/\\.\\./", "", path)) continue
  folder = path
  sub("/[^/]*$", "", folder)
  if (index(" " may[room] " ", " " folder " ") == 0 && index(" " may[room] " ", " " path " ") == 0) print FILENAME " includes " path
}
