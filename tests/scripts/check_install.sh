#!/bin/sh
# An install is found and used as other projects would: tests/scripts/check_install.sh CXX BUILD_DIR
#
# By pkg-config and Meson from C and C++, with the static and with the shared library; by CMake's find_package and, from a copy of the
# sources, by FetchContent, also where the project asks for shared libraries, unity builds and -ffast-math. All must print the same, also
# from an install that was moved. Without a build type the library is optimised. Uninstall leaves nothing behind.
cxx=$1
build=$2/check_install
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build/consumer" || exit 1
build=$(cd "$build" && pwd)
stage=$build/stage
cc=$(echo "$cxx" | sed 's/clang++/clang/; s/g++/gcc/')

cat >"$build/consumer/main.c" <<'END'
#include <attend/attend_c.h>
#include <stdio.h>

int main(void) {
  float q[8] = {1, 2, 3, 4, 5, 6, 7, 8}, k[24], v[24], out[8];
  static char memory[1 << 16];
  char* const work = memory + (ATTEND_ALIGNMENT - (uintptr_t)memory % ATTEND_ALIGNMENT);
  attend_problem problem;
  for (int i = 0; i < 24; ++i) k[i] = 0.1f * (float)i, v[i] = (float)(i % 5);
  attend_problem_init(&problem, sizeof problem);
  problem.query_heads = problem.kv_heads = 1, problem.head_dim = problem.value_dim = 8;
  problem.queries = 1, problem.keys = 3;
  problem.query.data = q, problem.key.data = k, problem.value.data = v, problem.output.data = out;
  if (attend_run(&problem, work, sizeof memory - ATTEND_ALIGNMENT) != ATTEND_OK) return 1;
  if (attend_version() != ATTEND_VERSION || attend_bits_version() != ATTEND_BITS_VERSION) return 2;
  for (int i = 0; i < 8; ++i) printf("%a\n", (double)out[i]);
  return 0;
}
END
cat >"$build/consumer/main.cpp" <<'END'
#include <attend/layers.h>
#include <cstdio>

struct Shape {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 8;
};

int main() {
  attend::Query<Shape> q = {{{{{1, 2, 3, 4, 5, 6, 7, 8}}}}};
  attend::Key<Shape, 3> k{};
  attend::Value<Shape, 3> v{};
  attend::Output<Shape> out;
  attend::Workspace<Shape, 1, 3> work;
  for (int i = 0; i < 24; ++i) k[i / 8][0][i % 8] = 0.1f * float(i), v[i / 8][0][i % 8] = float(i % 5);
  if (attend::attention(q, k, v, out, work) != attend::Status::ok) return 1;
  for (const float number : out[0][0]) std::printf("%a\n", double(number));
}
END

prints_the_same() { # what program
  "$2" >"$build/output" 2>&1 || { fail "$1 runs" "$(head -n 1 "$build/output")" && return; }
  [ -s "$build/expected" ] || cp "$build/output" "$build/expected"
  nothing_in "$(diff "$build/expected" "$build/output" | head -n 4)" "$1 prints the same"
}

staged() { make -j1 "$1" CXX="$cxx" BUILD="${build%/check_install}" DESTDIR="$stage" PREFIX=/usr libdir=/usr/lib/any; }
succeeds "make install, staged" staged install || finish

# Another prefix than the one that install was told.
moved=$build/moved
moves() { mv "$stage/usr" "$moved"; }
libraries=$moved/lib/any

if needs pkg-config pkgconf; then
  staged_flags() { PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_LIBDIR=$stage/usr/lib/any/pkgconfig pkg-config --cflags --libs "$@"; }
  # shellcheck disable=SC2046
  succeeds "pkg-config: a program in C++ links with the staged library" $cxx -std=c++17 "$build/consumer/main.cpp" $(staged_flags attend) -o "$build/staged" &&
    prints_the_same "a program in C++, with the staged library," "$build/staged"
  moves
  flags() { PKG_CONFIG_LIBDIR=$libraries/pkgconfig pkg-config --cflags --libs "$@"; }
  links() { # language module compiler...
    language=$1 module=$2
    shift 2
    # shellcheck disable=SC2046
    succeeds "pkg-config: a program in $language links with $module" "$@" $(flags "$module") -o "$build/with_$module" &&
      LD_LIBRARY_PATH=$libraries prints_the_same "a program in $language with $module" "$build/with_$module"
  }
  strict='-Wall -Wextra -Wpedantic -Werror'
  # shellcheck disable=SC2086
  links C++ attend $cxx -std=c++17 $strict "$build/consumer/main.cpp"
  for module in attend attend_c; do
    # shellcheck disable=SC2086
    links C $module $cc -std=c99 $strict "$build/consumer/main.c"
  done
  nothing_in "$(readelf -d "$build/with_attend_c" | grep -q 'NEEDED.*libattend_c\.so\.1\]' || echo 'it does not ask for libattend_c.so.1')" \
    "the program asks for the shared library's major version"
else
  moves
fi
succeeds "-lattend is the static library" $cxx -std=c++17 "$build/consumer/main.cpp" "-I$moved/include" "-L$libraries" -lattend -o "$build/plain" &&
  prints_the_same "a program with -lattend" "$build/plain"

if needs meson meson; then
  mkdir -p "$build/meson"
  cp "$build/consumer"/main.c* "$build/meson"
  cat >"$build/meson/meson.build" <<'END'
project('consumer', 'c', 'cpp', default_options: ['cpp_std=c++17'])
executable('typed', 'main.cpp', dependencies: dependency('attend', version: '>=1'))
executable('static', 'main.c', dependencies: dependency('attend'))
executable('shared', 'main.c', dependencies: dependency('attend_c'))
END
  with_meson() {
    CC=$cc CXX=$cxx PKG_CONFIG_LIBDIR=$libraries/pkgconfig meson setup "$build/meson/out" "$build/meson" && ninja -C "$build/meson/out"
  }
  succeeds "Meson: programs in C++ and C build" with_meson &&
    for program in typed static shared; do LD_LIBRARY_PATH=$libraries prints_the_same "Meson: $program" "$build/meson/out/$program"; done
fi

configures() { # name lines-that-find-attend flags...
  mkdir -p "$build/$1"
  cat >"$build/$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(consumer LANGUAGES CXX)
$2
add_executable(consumer $build/consumer/main.cpp)
target_link_libraries(consumer attend::attend)
END
  name=$1
  shift 2
  succeeds "CMake: $name configures" cmake -S "$build/$name" -B "$build/$name/out" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@"
}
cmake_project() {
  configures "$@" && succeeds "CMake: $1 builds" cmake --build "$build/$1/out" -j 2 && prints_the_same "CMake: $1" "$build/$1/out/consumer"
}
# The last level of optimisation that each source of the library is compiled with.
levels() { grep -- -fno-fast-math "$build/$1/out/compile_commands.json" | sed 's/.* \(-O[^ "]*\).*/\1/' | sort -u; }
if needs cmake cmake; then
  cp -r include src "$build/consumer"
  cmake_project find_package 'find_package(attend 1 REQUIRED)' "-Dattend_DIR=$libraries/cmake/attend" -DBUILD_SHARED_LIBS=ON
  cmake_project FetchContent "include(FetchContent)
FetchContent_Declare(attend SOURCE_DIR $build/consumer SOURCE_SUBDIR src)
FetchContent_MakeAvailable(attend)" -DBUILD_SHARED_LIBS=ON -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS='-O0 -ffast-math'
  nothing_in "$([ "$(levels FetchContent)" = -O0 ] || levels FetchContent)" "CMake: flags of the project choose the level of optimisation"
  configures add_subdirectory "add_subdirectory($build/consumer/src attend)" &&
    nothing_in "$(grep -q 'attend: .*-O2' "$build/log" || echo 'it does not say so'
      [ "$(levels add_subdirectory)" = -O2 ] || levels add_subdirectory)" "CMake: without a build type the library is compiled with -O2, and says so"
  configures debug "add_subdirectory($build/consumer/src attend)" -DCMAKE_BUILD_TYPE=Debug &&
    nothing_in "$(grep 'attend: ' "$build/log"
      grep -o -m 1 -- ' -O[^ ]*' "$build/debug/out/compile_commands.json")" "CMake: with a build type nothing is added"
  # CMake's own install, of the library that is built already, moved too.
  own_install() {
    cmake -S "$build/consumer/src" -B "$build/own" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_INSTALL_PREFIX="$build/own_prefix" -DCMAKE_INSTALL_INCLUDEDIR=headers &&
      cp "$libraries/libattend.a" "$build/own" && cmake --install "$build/own" && mv "$build/own_prefix" "$build/own_moved"
  }
  succeeds "CMake: the library's own install" own_install &&
    cmake_project own_install 'find_package(attend 1 REQUIRED)' "-DCMAKE_PREFIX_PATH=$build/own_moved"
fi

mv "$moved" "$stage/usr"
succeeds "make uninstall, staged" staged uninstall
nothing_in "$(find "$stage" -mindepth 1 2>/dev/null | head -n 5)" "uninstall leaves nothing behind"

finish
