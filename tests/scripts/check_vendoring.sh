#!/bin/sh
# Copying two folders is all it takes: tests/scripts/check_vendoring.sh CXX BUILD_DIR
# ALL=1: at -Os, too, and by more standards.
cxx=$1
build=$2/check_vendoring
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/vendor" || exit 1
cp -r include src "$build/vendor" || exit 1
vendor=$build/vendor
sources=$(ls "$vendor"/src/*/*.cpp)
# One file that includes all sources, in either order.
ls "$vendor"/src/*/*.cpp | sed "s|^$build|#include \".|; s|\$|\"|" >"$build/unity.cpp"
sort -r "$build/unity.cpp" >"$build/backwards.cpp"

macros=$($cxx -dM -E -x c++ /dev/null)
cat >"$build/program.cpp" <<'END'
#include <attend/layers.h>
#include <attend/core/options.h>
#include <cstdio>

struct Tiny {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 3, value_dim = 1, max_tokens = 8;
};
static attend::KvCache<Tiny> cache;

// One token over halves, with a soft cap, a bias, a sink, weights and a log-sum-exp.
static void print_with_options() {
  constexpr int keys = 5, dims = 3;
  alignas(attend::config::alignment) static float scratch[8192];
  if (attend::core::option_scratch_floats(1, attend::chain_keys, dims, dims) > 8192) return;
  unsigned char memory[2][(16 * dims) * 2] = {};
  float query[dims] = {0.5f, -1.25f, 0.75f}, numbers[keys][dims], bias[keys], sink = 0.25f, output[dims], weights[keys], lse;
  for (int j = 0; j < keys; ++j) {
    bias[j] = j == 3 ? -__builtin_inff() : 0.1f * float(j);
    for (int d = 0; d < dims; ++d) numbers[j][d] = 0.3f * float(j) - 0.2f * float(d);
  }
  const attend::core::Format half = attend::core::Format::float16;
  const attend::core::FormatCache halves = {memory[0], memory[1], nullptr, nullptr, half, half, 1, dims, dims, keys, {}};
  attend::core::store(halves, 0, keys, {numbers[0], dims, 0}, {numbers[0], dims, 0});
  attend::core::Problem p = {};
  p.query = {query, dims, 0}, p.output = {output, dims, 0};
  p.key = {static_cast<const float*>(halves.keys), 0, 0}, p.value = {static_cast<const float*>(halves.values), dims, 0};
  p.query_heads = p.kv_heads = p.queries = p.row_block = 1;
  p.head_dim = p.value_dim = dims, p.keys = keys, p.scale = 1.5f, p.key_panels = true;
  p.key_block = attend::chain_keys, p.scratch = scratch;
  attend::core::Options o;
  o.key_format = o.value_format = half, o.soft_cap = 2.0f, o.bias = {bias, 0, 0, 0, keys}, o.sink_logits = &sink;
  o.lse = {&lse, 1, 1}, o.scores = {weights, keys, keys}, o.score_keys = keys, o.score_stage = attend::core::Scores::weights;
  attend::core::Floats::run(p, o);
  std::printf("options %a %a %a %a %a\n", double(output[0]), double(output[2]), double(lse), double(weights[0]), double(weights[3]));

  // The same into a state, without weights, which that has not.
  float state[attend::core::state_floats(dims, 0)];
  o.lse = {}, o.scores = {}, o.states = {state, 0, 0}, o.begins = true;
  attend::core::Floats::run(p, o);
  for (float& number : output) number = 0.0f;
  attend::core::Floats::finish(p, o);
  std::printf("state %a %a\n", double(output[0]), double(output[2]));
}

// A row of a feed-forward network, and a head that turns.
static void print_layer() {
  float row[20], head[1][1][20], squares = 0.0f;
  for (int i = 0; i < 20; ++i) row[i] = head[0][0][i] = 0.37f * float(i) - 3.0f;
  attend::Rotary<18> rotary;
  rotary.init(500000.0f, 2.0f);
  rotary.rotate<attend::RotaryPairs::halves>(head, 12345);
  rotary.rotate<attend::RotaryPairs::neighbours>(head, 7);
  attend::layer_norm(row, attend::none, head[0][0], row);
  attend::activate<attend::Activation::gelu>(row);
  attend::activate<attend::Activation::silu>(row, head[0][0], row);
  attend::add(head[0][0], row);
  attend::rms_norm(row, attend::none, row);
  for (const float number : row) squares += number * number;
  std::printf("layer %a %a %a %d\n", double(row[0]), double(row[9]), double(row[19]), squares > 19.99f && squares < 20.01f);
}

int main() {
#if defined(__x86_64__) || defined(__i386__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  const bool avx2 = false;
#endif
  std::printf("%s %s\n", avx2 ? "avx2" : "none", attend::active_backend());
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::use_backend(attend::backend_name(i))) continue;
    cache.clear();
    for (int t = 0; t < Tiny::max_tokens; ++t) {
      const float x = 0.3f * float(t);
      attend::Query<Tiny> query = {{{{{0.5f, x, -0.75f}, {-1.5f, 0.375f, x}}}}};
      attend::Key<Tiny> key = {{{{{x, 1.0f - x, x * x}}}}};
      attend::Value<Tiny> value = {{{{{x}}}}};
      attend::Output<Tiny> output;
      if (cache.append(key, value) != attend::Status::ok || attend::decode(query, cache, output) != attend::Status::ok) return 1;
      std::printf("%s %a %a\n", attend::active_backend(), double(output[0][0][0]), double(output[0][1][0]));
    }
    print_with_options();
    print_layer();
  }
}
END

# prints KIND: the program, compiled with the copied headers and linked with the objects that library_at made last; its output goes
# to KIND.output.
prints() {
  $cxx -std=c++17 -I"$vendor/include" "$build/program.cpp" "$objects"/*.o -o "$build/program" && "$build/program" >"$build/$1.output"
}

for level in -O0 ${ALL:+-Os}; do
  kind=$(case $level in -O0) echo "nothing but -c $(default_standard)" ;; *) echo "$level $firmware" ;; esac)
  succeeds "compiles with $kind" library_at $level "$2" && succeeds "$level: a program links, and runs" prints $level || continue
  read -r expected active <"$build/$level.output"
  case $expected-$active in
    none-*) skip "fast path without a flag" "this processor has no AVX2" ;;
    avx2-scalar | avx2-sse2 | *-) fail "fast path without a flag" "the processor has $expected, the library runs on $active" ;;
    *) ok "$level: it runs on $active, without a flag for it" ;;
  esac
  same_bits $level
done
[ -z "${ALL:-}" ] || nothing_in "$(diff "$build/-O0.output" "$build/-Os.output" 2>&1 | head -n 2)" "the program prints the same bits at both levels"
succeeds "one file that includes every source, backwards, compiles with -std=c++20" compile_all "$build/newer" "$build/backwards.cpp" -std=c++20 -fsyntax-only
[ -z "${ALL:-}" ] || succeeds "the same with -std=c++17" compile_all "$build/newer" "$build/backwards.cpp" -std=c++17 -fsyntax-only

# Files that compile to nothing for this target have no arithmetic to lose.
for source in "$vendor"/src/backend/*.cpp "$vendor"/src/call/attention.cpp "$vendor"/src/call/cache.cpp; do
  nm "$objects/$(basename "$source" .cpp).o" | grep -q ' [Tt] ' || continue
  stops "attend cannot keep its bits" "$source" -std=c++17 -ffast-math
done
for flag in -Ofast -ffinite-math-only; do stops "attend cannot keep its bits" "$vendor/src/backend/target.cpp" -std=c++17 $flag; done

# Older compilers have the sources and the C surface, without one warning, strictly by their standards. check_packages.sh links the package's.
strict='-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion -Werror'
# shellcheck disable=SC2086
[ -z "${ALL:-}" ] || succeeds "the copied sources compile with -std=c++14" compile_all "$build/older" "$build/unity.cpp" -std=c++14 -fsyntax-only $strict
# One file that includes every source, where all instruction sets meet; CMake's unity builds are those of check_install.sh.
# shellcheck disable=SC2086
succeeds "so does one file that includes every source, with -std=c++11" compile_all "$build/unity" "$build/unity.cpp" -std=c++11 -fsyntax-only $strict
typed=$(cd include/attend && ls *.h | grep -vxE 'attend_c.h|backend.h|status.h') # these three take what older standards have
for standard in c++11 gnu++11 c++14 gnu++14; do
  succeeds "the headers of the C surface with -std=$standard" $cxx -std=$standard -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ \
    -include "$vendor/include/attend/c/integer.h" -include "$vendor/include/attend/attend_c.h" "$vendor/include/attend/c/layers.h"
  # One sentence, from every header of the C++ surface, and no other error after it.
  for header in $typed; do
    stops "attend needs C++17 for its C++ surface" "$vendor/include/attend/$header" -std=$standard
  done
  $cxx -std=$standard -fsyntax-only -x c++ "$vendor/include/attend/attend.h" 2>&1 | grep 'error: ' | grep -vF 'attend needs C++17 for its C++ surface' >"$build/log"
  nothing_in "$(grep -v 'fatal error: the flag -std=c++17' "$build/log")" "nothing follows that sentence with -std=$standard"
done
# One source shows what the others would print: all begin with the header that refuses.
stops "attend needs C++11" "$vendor/src/backend/target.cpp" -std=gnu++98
# shellcheck disable=SC2086
nothing_in "$($cxx -std=c++17 -MM $sources | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep -vE 'include/attend/([a-z_]+/[.][.]/)?core/config.h' | cut -d: -f1)" \
  "every source includes core/config.h, which refuses compilers"

# Processors on which other bits would come out. Their numbers take the place of this compiler's.
refuses() { # text macro number
  stops "$1" "$vendor/src/backend/target.cpp" -std=c++17 "-U$2" "-D$2=$3"
}
refuses "attend needs an int of 32 bits" __SIZEOF_INT__ 2
refuses "attend needs a float of 32 bits" __FLT_MANT_DIG__ 16
refuses "attend needs a float of 32 bits" __FLT_MAX_EXP__ 127
refuses "attend needs a double of 64 bits" __DBL_MANT_DIG__ 24
refuses "attend needs a double of 64 bits" __DBL_MAX_EXP__ 128
for method in 1 2 -1; do refuses "attend needs float arithmetic in float" __FLT_EVAL_METHOD__ $method; done
stops "the FPU of m68k" "$vendor/src/backend/target.cpp" -std=c++17 -D__m68k__=1 -D__HAVE_68881__=1

# From here on only with the compiler's own headers: those of a freestanding implementation of C.
if printf '%s' "$macros" | grep -q '__clang__'; then
  freestanding="-std=c++17 -ffreestanding -nostdlibinc -nostdinc++"
else
  # GCC's <immintrin.h> wants <stdlib.h>, for _mm_malloc alone; with its guard defined it does not ask.
  freestanding="-std=c++17 -ffreestanding -nostdinc -isystem $($cxx -print-file-name=include)"
  freestanding="$freestanding -D_MM_MALLOC_H_INCLUDED"
fi
# shellcheck disable=SC2086
succeeds "compiles with no header but the compiler's own" \
  compile_all "$build/own_headers" "$build/unity.cpp" $freestanding -fsyntax-only

# Clang carries every target in one binary. What a target cannot do itself it asks of the compiler's run-time library, whose
# names begin with two underscores; fmaf, say, would be libm.
if ! printf '%s' "$macros" | grep -q '__clang__'; then
  skip "other targets" "only Clang compiles for all of them"
else
  for target in "aarch64-none-elf" "armv7-linux-gnueabihf" "thumbv6m-none-eabi" "thumbv7em-none-eabihf -mcpu=cortex-m4" \
    "thumbv8.1m.main-none-eabihf -mcpu=cortex-m55" "i686-linux-gnu -msse2" "riscv32-none-elf -march=rv32imafc" \
    "riscv64-linux-gnu -march=rv64gc" "powerpc64-linux-gnu" "wasm32"; do
    # shellcheck disable=SC2086
    if ! $cxx --target=$target -c -x c++ /dev/null -o "$build/probe.o" >"$build/log" 2>&1; then
      skip "$target" "this Clang cannot"
      continue
    fi
    folder=$build/${target%% *}
    # shellcheck disable=SC2086
    succeeds "$target: every source compiles" compile_all "$folder" "$sources" --target=$target $freestanding || continue
    nm "$folder"/*.o >"$folder/names" 2>"$folder/nm.log" || continue # not ELF
    nothing_in "$(sed -n 's/^ *U //p' "$folder/names" | sort -u |
      grep -vE '^(__|_ZN6attend|_GLOBAL_OFFSET_TABLE_$|\.TOC\.$|mem(cpy|set|move)$)')" \
      "$target: asks the compiler's run-time library only"
  done
fi

finish
