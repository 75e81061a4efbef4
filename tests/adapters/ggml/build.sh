# Shared by check.sh and invariance.sh, which source it after support.sh: the adapter, what runs it, and models.
# shellcheck shell=sh disable=SC2154

ggml_x64=build/ggml/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
ggml_arm64=build/ggml-arm64/node_modules/@node-llama-cpp/linux-arm64/bins/linux-arm64
strict='-std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

# adapter CXX LIBRARY OUTPUT: a level of optimisation that CXX names stays, because all have the same bits. (The library's functions stay inside:
# for AArch64 its objects are those of programs.)
adapter() {
  case $1 in *-O*) level= ;; *) level=-O3 ;; esac
  # shellcheck disable=SC2086
  one_unit bench/adapters/ggml/*.cpp |
    $1 $strict $level -shared -fPIC -fvisibility=hidden -ffp-contract=off -Iinclude -x c++ - -x none "$2" -Wl,--exclude-libs,ALL -pthread -o "$3"
}

# programs CXX FOLDER: ways and forms.
programs() {
  # shellcheck disable=SC2086
  $1 $strict -Wno-psabi -O1 -Iinclude tests/adapters/ggml/ways.cpp -ldl -o "$2/ways" &&
    one_unit tests/adapters/ggml/forms*.cpp | $1 $strict -Wno-psabi -O1 -Iinclude -x c++ - -x none -ldl -o "$2/forms"
}

# small_form CXX LIBRARY OUTPUT
small_form() {
  files=
  for part in custom attention visible widen library; do files="$files bench/adapters/ggml/$part.cpp"; done
  # shellcheck disable=SC2086
  one_unit $files | $1 $strict -Wno-psabi -O1 -ffp-contract=off -Iinclude tests/adapters/ggml/small_form.cpp -x c++ - -x none "$2" -ldl -pthread -o "$3"
}

# host_program NAME: another one, for this machine.
host_program() {
  # shellcheck disable=SC2086
  $cxx $strict -O1 -Iinclude "tests/adapters/ggml/$1.cpp" -ldl -o "$build/$1"
}

# models: a random Llama of few layers, and with ALL=1 the large ones; the shipped model and, where MODELS has it, the story's.
models() {
  models=${MODELS:-../shared/models}
  host_program random_llama && "$build/random_llama" "$build/small.gguf" f32 2 || return
  parts=
  for part in checkpoint vocabulary matrix input_file file_bytes words word_rules characters; do parts="$parts bench/app/$part.cpp"; done
  # shellcheck disable=SC2086
  one_unit tests/adapters/ggml/to_gguf.cpp $parts |
    $cxx $strict -O0 -Iinclude bench/app/household.cpp -x c++ - -x none "$library" -o "$build/to_gguf" &&
    "$build/to_gguf" "$build/household.gguf" household bench/app/model/household.bin || return
  [ ! -r "$models/stories260K.bin" ] || "$build/to_gguf" "$build/story.gguf" story "$models/stories260K.bin" "$models/tok512.bin"
}
