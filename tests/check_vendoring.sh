#!/bin/sh
# Copying two folders is all it takes: tests/check_vendoring.sh CXX BUILD_DIR
cxx=$1
build=$2/check_vendoring
. tests/check.sh
rm -rf "$build" && mkdir -p "$build/vendor" || exit 1
cp -r include src "$build/vendor" || exit 1
vendor=$build/vendor
sources=$(ls "$vendor"/src/*.cpp)

# Nothing but -c, unless the compiler's own default is an older standard.
macros=$($cxx -dM -E -x c++ /dev/null)
if printf '%s' "$macros" | grep -qE '__cplusplus (199711|201103|201402)L'; then plain=-std=c++17; else plain=; fi

cat >"$build/program.cpp" <<'END'
#include <attend/attend.h>
#include <cstdio>

struct Tiny {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 3, value_dim = 1, max_tokens = 8;
};
static attend::KvCache<Tiny> cache;

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
      if (!cache.append(key, value) || attend::decode(query, cache, output) != attend::Status::ok) return 1;
      std::printf("%s %a %a\n", attend::active_backend(), double(output[0][0][0]), double(output[0][1][0]));
    }
  }
}
END

# runs VARIANT FLAGS…: compiles the library with these flags and runs the program with it. Its output goes to VARIANT/output.
runs() (
  variant=$build/$1
  shift
  compile_all "$variant" "$sources" "$@" &&
    $cxx -std=c++17 -I"$vendor/include" "$build/program.cpp" "$variant"/*.o -o "$variant/program" &&
    "$variant/program" >"$variant/output"
)

# shellcheck disable=SC2086
succeeds "compiles with nothing but -c${plain:+ $plain}" compile_all "$build/plain" "$sources" $plain
succeeds "compiles with -std=c++20" compile_all "$build/newer" "$sources" -std=c++20 -fsyntax-only
firmware="-Os -fno-exceptions -fno-rtti -ffreestanding -Wall -Wextra -Werror"
# shellcheck disable=SC2086
succeeds "compiles with $firmware" compile_all "$build/firmware" "$sources" -std=c++17 $firmware

if succeeds "compiles with -Os, links, runs" runs small -std=c++17 -Os; then
  read -r expected active <"$build/small/output"
  case $expected-$active in
    avx2-avx2 | avx2-avx512*) ok "runs on $active, without a flag for it" ;;
    none-*) skip "fast path without a flag" "this processor has no AVX2" ;;
    *) fail "fast path without a flag" "the processor has $expected, the library runs on $active" ;;
  esac
fi

# Files that compile to nothing for this target have no arithmetic to lose.
for object in "$build"/small/backend_*.o; do
  nm "$object" | grep -q ' [Tt] ' || continue
  source=$vendor/src/$(basename "$object" .o).cpp
  for flag in -ffast-math -Ofast -ffinite-math-only; do stops "attend cannot keep its bits" "$source" -std=c++17 $flag; done
done
for source in $sources; do stops "attend needs C++17" "$source" -std=c++14; done

# A part of -ffast-math, which not every compiler gives away by a macro: refused, or without effect.
what="-funsafe-math-optimizations stops or changes no bit"
if runs unsafe -std=c++17 -O2 -funsafe-math-optimizations >"$build/log" 2>&1; then
  nothing_in "$(diff "$build/small/output" "$build/unsafe/output" | grep -m 2 '^[<>]')" "$what"
elif first_error "$build/log" | grep -qF "attend cannot keep its bits"; then
  ok "$what"
else
  fail "$what" "$(first_error "$build/log")"
fi

# One file that includes two backends would compile the second with the first one's instructions.
printf '#include "%s/backend_avx2.cpp"\n#include "%s/backend_scalar.cpp"\n' "$(pwd)/src" "$(pwd)/src" >"$build/unity.cpp"
if $cxx -std=c++17 -fsyntax-only "$build/unity.cpp" >"$build/log" 2>&1; then
  fail "a unity build stops" "it compiles"
elif grep -qF "by itself" "$build/log"; then
  ok "a unity build stops"
else
  fail "a unity build stops" "$(first_error "$build/log")"
fi

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
  compile_all "$build/own_headers" "$sources" $freestanding -fsyntax-only

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
