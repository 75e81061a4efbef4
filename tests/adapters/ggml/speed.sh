#!/bin/sh
# Milliseconds of a prompt and of a token after it, as shipped and with the adapter, float16 caches: tests/adapters/ggml/speed.sh CXX BUILD_DIR
# Prints lines of tab-separated fields: weights, tokens, threads, as shipped or with Attend, the prompt with flash attention and without, and a
# token likewise. TOKENS= and RUNS= change what is run; one thread's times are processor time.
cxx=$1
library=$2/libattend.a
build=$2/adapters/ggml-speed
. tests/support/check.sh
. tests/adapters/support.sh
. tests/adapters/ggml/build.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

plugin=$build/libattend_ggml.so
{ fetched ggml build/ggml ggml && adapter "$cxx" "$library" "$plugin" && host_program prefill && host_program random_llama; } >&2 || exit 1
for kind in f32 q8_0; do
  "$build/random_llama" "$build/$kind.gguf" $kind || exit 1
  for tokens in ${TOKENS:-512 4096}; do
    for threads in 1 2; do
      for with in - "$plugin"; do
        printf '%s\t%s\t%s\t%s\t%s\n' $kind "$tokens" $threads "$([ "$with" = - ] && echo "as shipped" || echo "with Attend")" \
          "$("$build/prefill" $ggml_x64 libggml-cpu-haswell.so "$with" "$build/$kind.gguf" "$tokens" $threads "${RUNS:-2}" 2>/dev/null)"
      done
    done
  done
done
