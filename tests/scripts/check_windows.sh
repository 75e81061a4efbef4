#!/bin/sh
# Clang compiles the library for Windows and the ABI of MSVC, as itself and as clang-cl: tests/scripts/check_windows.sh CXX BUILD_DIR
#
# Without a Windows SDK: the compiler's own headers are all that the library needs. There is nothing to run it on.
cxx=$1
build=$2/check_windows
compiler=$cxx
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

if ! $cxx -dM -E -x c++ /dev/null | grep -q '__clang__'; then
  skip "Windows" "only Clang compiles for it"
  finish
  exit
fi
if ! $cxx --target=x86_64-pc-windows-msvc -c -x c++ /dev/null -o "$build/probe.obj" >"$build/log" 2>&1; then
  skip "Windows" "this Clang cannot"
  finish
  exit
fi

# What cl.exe itself gets to see, as far as that can be said without it: Clang, told to forget its name. The intrinsics are Clang's,
# which has to be told of their instructions; the C library is a few declarations.
mkdir -p "$build/cl"
for header in 'string void* memcpy(void*, const void*, size_t); void* memset(void*, int, size_t);' \
  'intrin void __cpuidex(int*, int, int); unsigned __int64 _xgetbv(unsigned);'; do
  printf '#pragma once\n#include <stddef.h>\nextern "C" { %s }\n' "${header#* }" >"$build/cl/${header%% *}.h"
done
cl="--target=x86_64-pc-windows-msvc -U__clang__ -std=c++17 -ffreestanding -nostdlibinc -isystem $build/cl -Iinclude"
cl_instructions='-mavx2 -mfma -mf16c -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx512vnni -mavxvnni'
all_in_one "$build/unity.cpp" >/dev/null
# shellcheck disable=SC2086
succeeds "cl.exe: every source compiles" compile_all "$build/cl-objects" "$build/unity.cpp" $cl $cl_instructions -Wall -Wextra -Werror \
  -Wno-unknown-pragmas -Wno-unknown-attributes -fsyntax-only
# shellcheck disable=SC2086
stops "attend cannot keep its bits under /fp:fast" src/backend/target.cpp $cl -D_M_FP_FAST

cat >"$build/program.cpp" <<'PROGRAM'
#include <attend/attend.h>
#include <attend/core/options.h>

struct Tiny {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 3, value_dim = 1, max_tokens = 8;
};
static attend::KvCache<Tiny> cache;
static attend::Workspace<Tiny, 2, 2> work;

bool on_token(const attend::Query<Tiny>& query, const attend::Key<Tiny>& key, const attend::Value<Tiny>& value,
              attend::Output<Tiny>& output) {
  return cache.append(key, value) == attend::Status::ok && attend::decode(query, cache, output) == attend::Status::ok;
}

attend::Status at_once(const attend::Query<Tiny, 2>& query, const attend::Key<Tiny, 2>& key, const attend::Value<Tiny, 2>& value,
                       attend::Output<Tiny, 2>& output) {
  return attend::attention(query, key, value, output, work, attend::causal());
}

void within_a_window(const attend::core::Problem& problem, int left) {
  attend::core::Options options;
  options.left = left;
  attend::core::Floats::run(problem, options);
}
PROGRAM
# shellcheck disable=SC2086
stops "attend needs C++17" "$build/program.cpp" $cl -D_MSVC_LANG=201402L
# shellcheck disable=SC2086
succeeds "cl.exe: a program of the typed surface compiles" $cxx $cl -Wno-unknown-pragmas -Wno-unknown-attributes -fsyntax-only "$build/program.cpp"

sources="$(ls src/*/*.cpp) $build/program.cpp"
# Without ALL=1 as one file, which other compilers are given one by one.
[ -n "${ALL:-}" ] || sources="$build/unity.cpp $build/program.cpp"

# asks_for_little WHAT OBJECT…: beyond each other's functions, these ask for what every Windows program has: the three functions
# of memory, the stack guard, the probe of large stack frames, the mark that floats are used, and on 32 bits helpers of the compiler for
# numbers of 64.
asks_for_little() {
  whose=$1
  shift
  nm=$($compiler -print-prog-name=llvm-nm) # the one beside the compiler, if it is there; the system's does not know AArch64's
  if ! $nm "$@" >"$build/names" 2>"$build/log" && ! nm "$@" >"$build/names" 2>"$build/log"; then
    skip "$whose: asks for little" "nm cannot read these objects: apt-get install llvm"
    return
  fi
  sed -n 's/^ *U //p' "$build/names" | sort -u >"$build/used"
  sed -n 's/^[0-9a-f]* *[TDBR] //p' "$build/names" | sort -u >"$build/defined"
  nothing_in "$([ -s "$build/used" ] || echo 'no name was found'
    comm -13 "$build/defined" "$build/used" | grep -vxE '_?mem(cpy|set|move)|@?_*security_(check_)?cookie(@4)?|_*chkstk|_*fltused|__a?u?ll(div|rem|mul|shl|shr)')" "$whose: asks for nothing but memcpy, memset, memmove"
}

# Objects, not just syntax: whether an intrinsic's instruction set is on comes out when code is generated, at any level of
# optimisation. The baseline of 32 bits computes in x87 registers and is refused, so SSE2 is asked for; -msse2 is what clang-cl's /arch:SSE2 becomes.
for target in x86_64 "i686 -msse2" aarch64; do
  case $target in *' '*) flags=${target#* } ;; *) flags= ;; esac
  flags="--target=${target%% *}-pc-windows-msvc $flags -ffreestanding -nostdlibinc -nostdinc++ -Iinclude -Wall -Wextra -Werror"
  folder=$build/${target%% *}
  # shellcheck disable=SC2086
  succeeds "$target: every source and a program compile" compile_all "$folder" "$sources" $flags -std=c++17 &&
    asks_for_little "$target" "$folder"/*.o
done

# The same compiler in the clothes of cl.exe, which makes the same code and warns of other things. Its own headers are named,
# because /X takes those away with the system's. Its warnings are those of every target: ALL=1 for the others.
cxx="$compiler --driver-mode=cl /X -imsvc $($compiler -print-resource-dir)/include /clang:-ffreestanding /Iinclude /W4 /WX"
for target in x86_64 ${ALL:+"i686 /arch:SSE2" aarch64}; do
  case $target in *' '*) flags=${target#* } ;; *) flags= ;; esac
  flags="--target=${target%% *}-pc-windows-msvc $flags"
  # shellcheck disable=SC2086
  succeeds "clang-cl, $target: every source and a program compile" \
    compile_all "$build/cl-${target%% *}" "$sources" $flags /std:c++17 -fsyntax-only
  # shellcheck disable=SC2086
  stops "attend cannot keep its bits" src/backend/target.cpp $flags /std:c++17 /fp:fast
done
stops "/arch:SSE2" src/backend/target.cpp --target=i686-pc-windows-msvc /std:c++17

finish
