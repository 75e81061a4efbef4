#!/bin/sh
# The adapter for ggml in llama.cpp's own libraries: tests/adapters/ggml/check.sh CXX BUILD_DIR
#
# Without ALL=1 a Llama of two layers and the shipped model; with it also eight layers in float32 and Q8_0, the story's model, more ways of
# feeding, the optimisation that is installed, each source by itself, and AddressSanitizer. `make lib` has made BUILD_DIR/libattend.a. MODELS= has
# stories260K.bin and tok512.bin.
cxx=$1
library=$2/libattend.a
build=$2/adapters/ggml
. tests/support/check.sh
. tests/adapters/support.sh
. tests/adapters/ggml/build.sh
rm -rf "$build" && mkdir -p "$build/arm64" || exit 1

fetched ggml build/ggml ggml || { finish; exit; }
plugin=$build/libattend_ggml.so
quick=' -O1' && [ -z "${ALL:-}" ] || quick=''
succeeds "the adapter compiles" adapter "$cxx$quick" "$library" "$plugin" || { finish; exit; }
succeeds "the tests' programs compile" programs "$cxx" "$build" || { finish; exit; }
succeeds "models are written" models || { finish; exit; }

# digest_of COMMAND…: the digest that it prints, or nothing.
digest_of() { "$@" 2>"$build/errors" | sed -n 's/^digest	//p'; }

# Operations, beside float64; the same bits by each backend of the library.
"$build/forms" $ggml_x64/libggml-base.so "$plugin" >"$build/forms.txt" 2>"$build/errors"
nothing_in "$(grep WRONG "$build/forms.txt" | head -n 5)$([ -s "$build/forms.txt" ] || tail -n 1 "$build/errors")" \
  "$(sed -n 's/^forms	\([0-9]*\).*/\1/p' "$build/forms.txt") forms of nodes are within the bounds of float64, by 1 to 3 threads"
digest=$(sed -n 's/^digest	//p' "$build/forms.txt")
for backend in scalar ${ALL:+avx2}; do
  other=$(ATTEND_BACKEND=$backend digest_of "$build/forms" $ggml_x64/libggml-base.so "$plugin")
  nothing_in "$([ "$other" = "$digest" ] || echo "$other, not $digest")" "the same bits of all forms by $backend"
done

# The small form, by the CPU of ggml, beside the adapter's node.
succeeds "the small form compiles" small_form "$cxx" "$library" "$build/small_form"
"$build/small_form" $ggml_x64/libggml-base.so $ggml_x64/libggml-cpu-haswell.so "$plugin" >"$build/small.txt" 2>"$build/errors"
nothing_in "$(grep WRONG "$build/small.txt" | head -n 3)$(grep -q '^nodes' "$build/small.txt" || tail -n 1 "$build/errors")" \
  "$(sed -n 's/^nodes	//p' "$build/small.txt") custom nodes have the bits of the adapter's, by 1 to 3 threads"

# Processes without ggml, or with another version of it: a sentence, and no adapter.
# loads [OPTIONS]: sets $status to 0 where the adapter refuses the process, and to 1 where it takes it.
loads() {
  # shellcheck disable=SC2086
  $cxx $strict -rdynamic ${1:-} tests/adapters/ggml/refusal.cpp -ldl -o "$build/refusal" && "$build/refusal" "$plugin" 2>"$build/refusal.txt"
  status=$?
}
# refuses NAME SENTENCE [OPTIONS]
refuses() {
  loads "${3:-}"
  nothing_in "$([ $status = 0 ] && grep -q "$2" "$build/refusal.txt" || echo "status $status: $(head -n 1 "$build/refusal.txt")")" "a process with $1 is refused"
}
refuses "no ggml" "attend: ggml has no ggml_op_name"
refuses "another layout of tensors" "lays out tensors in another way" -DTENSOR_BYTES=8
refuses "backends of another version" "interface for backends is of version 3, and this adapter of version 2" "-DTENSOR_BYTES=368 -DINTERFACE_VERSION=3"
loads "-DTENSOR_BYTES=368 -DINTERFACE_VERSION=2"
nothing_in "$([ $status = 1 ] || echo "status $status: $(head -n 1 "$build/refusal.txt")")" "a process with backends of the adapter's version is not"

# ways MODEL PROMPT ADDED WHICH: with the adapter nothing changes a bit, but for flash attention; as shipped something does.
ways() {
  "$build/ways" $ggml_x64 libggml-cpu-haswell.so "$plugin" "$build/$1.gguf" "$2" "$3" "$4" >"$build/ways.txt" 2>"$build/errors"
  nothing_in "$(grep -v -e '	same$' -e '^flash attention on or off' -e '^digest' "$build/ways.txt" | head -n 3)$(grep -q '^digest' "$build/ways.txt" || tail -n 1 "$build/errors")" \
    "$1: the same logits in $(grep -c '	same$' "$build/ways.txt") ways"
}
ways small 48 5 some
ways household 1 40 some
shipped=$("$build/ways" $ggml_x64 libggml-cpu-haswell.so - "$build/small.gguf" 48 5 one 2>&1)
nothing_in "$(printf '%s' "$shipped" | grep -q differs || echo "it has the same bits: $shipped")" "as shipped, llama.cpp's logits of a prompt differ from those token by token"

# Processors: the CPU's library makes no difference, whichever it is.
reference=$(digest_of "$build/ways" $ggml_x64 libggml-cpu-haswell.so "$plugin" "$build/small.gguf" 24 4 none)
for cpu in libggml-cpu-sse42.so ${ALL:+libggml-cpu-x64.so} libggml-cpu-zen4.so; do
  if [ $cpu = libggml-cpu-zen4.so ] && ! grep -q avx512_bf16 /proc/cpuinfo; then
    skip "the same logits beside $cpu" "this processor has no AVX-512" && continue
  fi
  other=$(digest_of "$build/ways" $ggml_x64 $cpu "$plugin" "$build/small.gguf" 24 4 none)
  nothing_in "$([ -n "$other" ] && [ "$other" = "$reference" ] || echo "'$other', not $reference")" "the same logits beside $cpu"
done
other=$(ATTEND_BACKEND=scalar digest_of "$build/ways" $ggml_x64 libggml-cpu-haswell.so "$plugin" "$build/small.gguf" 24 4 none)
nothing_in "$([ "$other" = "$reference" ] || echo "'$other', not $reference")" "the same logits without vectors"
other=$(digest_of "$build/ways" $ggml_x64 libggml-cpu-sse42.so - "$build/small.gguf" 24 4 none)
nothing_in "$([ -n "$other" ] && [ "$other" != "$(digest_of "$build/ways" $ggml_x64 libggml-cpu-haswell.so - "$build/small.gguf" 24 4 none)" ] || echo "'$other'")" \
  "as shipped, the logits of Haswell's library differ from those of SSE's"
if ! fetched ggml-arm64 build/ggml-arm64 "ggml for AArch64"; then :
elif ! arm64_library; then missing AArch64 "apt-get install g++-aarch64-linux-gnu qemu-user"
else
  arm64_root
  succeeds "the adapter compiles for AArch64" adapter "$arm -O1" "$arm_library" "$build/arm64/libattend_ggml.so"
  succeeds "the tests' programs compile for AArch64" programs "$arm" "$build/arm64"
  on_arm() { qemu-aarch64 -L "$arm_root" "$@"; }
  other=$(digest_of on_arm "$build/arm64/forms" $ggml_arm64/libggml-base.so "$build/arm64/libattend_ggml.so")
  nothing_in "$([ "$other" = "$digest" ] || echo "'$other', not $digest")" "the same bits of all forms on AArch64"
  other=$(digest_of on_arm "$build/arm64/ways" $ggml_arm64 libggml-cpu-armv8.2_1.so "$build/arm64/libattend_ggml.so" "$build/small.gguf" 24 4 none)
  nothing_in "$([ "$other" = "$reference" ] || echo "'$other', not $reference")" "the same logits on AArch64"
fi

if [ -n "${ALL:-}" ]; then
  # shellcheck disable=SC2086
  each_alone ggml "$(echo bench/adapters/ggml/*.cpp tests/adapters/ggml/forms*.cpp)" $cxx $strict -Wno-psabi -Iinclude
  for kind in f32 q8_0 q4_0; do
    "$build/random_llama" "$build/$kind.gguf" $kind && ways $kind 80 20 all
  done
  # Memory, by AddressSanitizer: of the adapter and of what feeds it. (Leaks of the runtime are its own.)
  mkdir -p "$build/asan"
  succeeds "the adapter compiles with AddressSanitizer" adapter "$cxx -O1 -fsanitize=address" "$library" "$build/asan/libattend_ggml.so" &&
    succeeds "the tests' programs compile with AddressSanitizer" programs "$cxx -fsanitize=address" "$build/asan"
  for model in small household; do
    succeeds "$model: AddressSanitizer finds nothing" env ASAN_OPTIONS=detect_leaks=0 "$build/asan/ways" $ggml_x64 libggml-cpu-haswell.so "$build/asan/libattend_ggml.so" "$build/$model.gguf" 24 8 some
  done
  succeeds "forms: AddressSanitizer finds nothing" env ASAN_OPTIONS=detect_leaks=0 "$build/asan/forms" $ggml_x64/libggml-base.so "$build/asan/libattend_ggml.so"
  if [ -r "$build/story.gguf" ]; then ways story 1 100 all; else skip story "no stories260K.bin in MODELS="; fi
  # The page's lines in JavaScript, on the story.
  if [ -r "$build/story.gguf" ] && fetched node-llama build/node-llama "node-llama-cpp"; then
    modules=build/node-llama/node_modules
    mkdir -p $modules/@node-llama-cpp && ln -sfn "$(pwd)/${ggml_x64%/bins/*}" $modules/@node-llama-cpp/linux-x64
    awk '/^```/ { inside = $0 == "```js"; next } inside' bench/adapters/ggml/README.md |
      sed "s|/absolute/path/libattend_ggml.so|$(pwd)/$plugin|; s|model.gguf|$build/story.gguf|; s|build: \"never\"|&, logLevel: \"info\"|" >build/node-llama/page.mjs
    timeout 300 node build/node-llama/page.mjs >"$build/said.txt" 2>&1
    nothing_in "$(grep -q 'Attend model buffer size' "$build/said.txt" && grep -q '^, there was a little girl' "$build/said.txt" || tail -n 1 "$build/said.txt")" \
      "the page's lines for node-llama-cpp tell the story with the adapter"
  fi
fi
finish
