# Which rooms the files of a room may include: awk -f tests/support/rooms.awk FILE…, from the project's top folder. Prints every
# include that goes elsewhere and every room without a line here. Dependencies point down:
#
#   core <- numerics <- isa <- kernel <- sums <- attention <- backend <- call <- c;  the typed surface uses core alone
#
# layers and linear attention stand beside them, on the same floors: nothing of attention includes a file of theirs. What is compiled once for each
# instruction set has no includes: backend/begin.h and body.h name these headers in their order.
BEGIN {
  core = "include/attend/core"
  typed = core " include/attend/detail include/attend"
  typed_layers = typed " include/attend/layers"
  api = typed_layers " include/attend/c"
  numerics = core " src/numerics"
  isa = numerics " src/isa"  # with the folder of each instruction set
  backend = isa " src/kernel src/sums src/attention src/backend"
  may[core] = core
  may["include/attend/detail"] = may["include/attend"] = typed
  may["include/attend/layers"] = typed_layers
  may["include/attend/c"] = "include/attend/c include/attend/attend_c.h include/attend/core/version.h"
  may["src/numerics"] = numerics
  may["src/isa"] = isa
  may["src/kernel"] = isa " src/kernel"
  may["src/sums"] = isa " src/kernel src/sums"
  may["src/attention"] = isa " src/kernel src/sums src/attention"
  may["src/backend"] = backend " include/attend/backend.h"
  may["src/call"] = core " src/backend src/call include/attend/backend.h include/attend/status.h"
  may["src/c"] = core " src/call/portable.h src/c include/attend/c include/attend/attend_c.h include/attend/backend.h include/attend/status.h"
  may["include/attend/linear_attention"] = typed " include/attend/linear_attention"
  may["src/linear_attention"] = core " include/attend/linear_attention src/isa src/backend src/linear_attention src/call/portable.h src/call/saved_words.h src/c include/attend/c"
  may["src/layers"] = core " include/attend/layers src/isa src/backend src/layers src/call/portable.h src/c include/attend/c"
  # Benchmarks take the application, the backends by name, where one is timed that a processor would not choose, and the tests'
  # random numbers, numbers of tensors and oracle; tests take the application, which they test, and no benchmark.
  may["bench/speed"] = api " bench/speed bench/app bench/speed/peers src/backend/list.h src/layers/list.h tests/support/core_numbers.h tests/support/random.h tests/conformance/oracle.h"
  may["bench/speed/peers"] = api " bench/speed/peers bench/speed bench/adapters/ggml"
  may["bench/javascript/wasm"] = "bench/javascript/wasm"
  may["bench/app"] = api " bench/app"
  may["bench/mpi"] = "bench/mpi tests/support/random.h include/attend/attend_c.h include/attend/c"
  may["tests/mpi"] = may["bench/mpi"] " tests/mpi"
  may["include/attend/hosted"] = typed  # what needs a C++ library
  may["bench/examples"] = "include/attend/attend.h include/attend/integer.h include/attend/states.h include/attend/attend_c.h include/attend/c"
  # What the page's playground is compared with: the application, and the tests' digests.
  may["bench/site/playground"] = api " bench/app tests/conformance tests/support"
  may["tests/javascript"] = "include/attend/attend_c.h include/attend/c tests/javascript"
  may["bench/adapters/common"] = api " bench/adapters/common"
  may["tests/adapters/common"] = may["bench/adapters/common"] " tests/adapters/common"
  for (n = split("onnxruntime ggml tflite pytorch executorch", name, " "); n > 0; --n) {
    adapter = "bench/adapters/" name[n]
    may[adapter] = api " bench/adapters/common " adapter
    may["tests/adapters/" name[n]] = may[adapter] " tests/adapters/" name[n] " tests/support tests/conformance bench/app"
  }
  may["tests/adapters/tflite"] = may["tests/adapters/tflite"] " bench/boards"  # operators of microcontrollers run on its boards
  may["bench/exporter/examples"] = "nothing"  # a tool of its own
  for (n = split("gestures keywords anomaly", name, " "); n > 0; --n) {
    example = "bench/exporter/examples/" name[n]
    may[example] = may[example "/model"] = example " " example "/model include/attend/layers.h"  # a model is what attend.export has written
  }
  may["bench/exporter/examples/keywords/linear/model"] = api  # a program by hand, and its weights
  may["tests/exporter"] = api " tests/exporter"  # and a model
  may["tests/tiles"] = may["tests/rules"] = api
  shared = backend " src/layers src/linear_attention include/attend/linear_attention src/call src/c " api " tests/support tests/conformance bench/app include/attend/hosted"
  for (n = split("unit conformance app typed c boards fuzz support emulated wrong_code", name, " "); n > 0; --n) may["tests/" name[n]] = shared " tests/" name[n]
  may["tests/boards"] = may["tests/boards"] " bench/boards"
  may["tests/boards/own_board"] = "bench/boards"
  may["bench/boards"] = api " bench/boards bench/app tests/conformance/layer_digest.h bench/exporter/examples/keywords bench/exporter/examples/keywords/linear/model model.h"  # what boards hear and say
  # Programs that measure what the tests hold: errors, and sizes on boards.
  may["bench/speed/errors"] = shared " bench/speed/errors"
  may["bench/speed/sizes"] = shared " bench/speed/sizes bench/boards"
}

FNR == 1 {
  room = FILENAME
  sub("/[^/]*$", "", room)
  folder_of_room = room
  sub("^src/isa/.*", "src/isa", room)
  allowed = may[room]
  if (allowed == "") print room " is a room that tests/support/rooms.awk does not know"
  if (FILENAME == "include/attend/layers.h") allowed = typed_layers
  if (FILENAME == "include/attend/linear_attention.h") allowed = may["include/attend/linear_attention"]
  if (FILENAME == "include/attend/attend_c.h") allowed = may["include/attend/c"]
}

/^ *# *include "/ {
  split($0, quoted, "\"")
  path = quoted[2] ~ "^attend/" ? "include/" quoted[2] : quoted[2] ~ "^src/" ? quoted[2] : folder_of_room "/" quoted[2]
  while (sub("[^/.]+/\\.\\./", "", path)) continue
  folder = path
  sub("/[^/]*$", "", folder)
  sub("^src/isa/.*", "src/isa", folder)
  if (index(" " allowed " ", " " folder " ") == 0 && index(" " allowed " ", " " path " ") == 0) print FILENAME " includes " path
}
