#!/bin/sh
# An install is found and used as other projects would: tests/checks/check_install.sh CXX BUILD_DIR
#
# By pkg-config from C, with the shared and with the static library; by CMake's find_package and, from a copy of the sources, by
# add_subdirectory and FetchContent, also where the project asks for unity builds and -ffast-math; by Meson. All must print the same.
# Uninstall leaves nothing behind.
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
  static _Alignas(ATTEND_ALIGNMENT) char memory[1 << 20];
  attend_problem problem;
  for (int i = 0; i < 24; ++i) k[i] = 0.1f * (float)i, v[i] = (float)(i % 5);
  attend_problem_init(&problem, sizeof problem);
  problem.query_heads = problem.kv_heads = 1, problem.head_dim = problem.value_dim = 8;
  problem.queries = 1, problem.keys = 3;
  problem.query.data = q, problem.key.data = k, problem.value.data = v, problem.output.data = out;
  if (attend_run(&problem, memory, sizeof memory) != ATTEND_OK) return 1;
  if (attend_version() != ATTEND_VERSION || attend_bits_version() != ATTEND_BITS_VERSION) return 2;
  for (int i = 0; i < 8; ++i) printf("%a\n", (double)out[i]);
  return 0;
}
END
cat >"$build/consumer/main.cpp" <<'END'
#include <attend/attend.h>
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

needs() { # program package
  command -v "$1" >/dev/null 2>&1 && return
  if [ "${CI:-}" = true ]; then fail "$1" "it was not found: apt-get install $2"; else skip "$1" "apt-get install $2"; fi
  false
}

prints_the_same() { # what program
  "$2" >"$build/output" 2>&1 || { fail "$1 runs" "$(head -n 1 "$build/output")" && return; }
  [ -s "$build/expected" ] || cp "$build/output" "$build/expected"
  nothing_in "$(diff "$build/expected" "$build/output" | head -n 4)" "$1 prints the same"
}

staged() { make -j1 "$1" CXX="$cxx" BUILD="${build%/check_install}" DESTDIR="$stage" PREFIX=/usr libdir=/usr/lib/any; }
succeeds "make install, staged" staged install || finish

if needs pkg-config pkgconf; then
  flags() { PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_LIBDIR=$stage/usr/lib/any/pkgconfig pkg-config "$@" attend; }
  # shellcheck disable=SC2046
  succeeds "pkg-config: a program in C links with the shared library" \
    $cc -std=c11 -Wall -Wextra -Werror "$build/consumer/main.c" $(flags --cflags --libs) -o "$build/shared" &&
    LD_LIBRARY_PATH=$stage/usr/lib/any prints_the_same "a program in C, with the shared library," "$build/shared"
  nothing_in "$(readelf -d "$build/shared" | grep -q 'NEEDED.*libattend\.so\.1\]' || echo 'it does not ask for libattend.so.1')" \
    "the program asks for the library's major version"
  # shellcheck disable=SC2046
  succeeds "pkg-config: a program in C links with the static library" \
    $cc -std=c11 "$build/consumer/main.c" $(flags --cflags) "$stage/usr/lib/any/libattend.a" -o "$build/static" &&
    prints_the_same "a program in C, with the static library," "$build/static"
fi

cmake_project() { # name lines-that-find-attend flags...
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
  succeeds "CMake: $name configures" cmake -S "$build/$name" -B "$build/$name/out" -DCMAKE_CXX_COMPILER="$cxx" "$@" &&
    succeeds "CMake: $name builds" cmake --build "$build/$name/out" -j 2 &&
    prints_the_same "CMake: $name" "$build/$name/out/consumer"
}
if needs cmake cmake; then
  cp -r include src "$build/consumer"
  cmake_project find_package 'find_package(attend 1 REQUIRED)' "-Dattend_DIR=$stage/usr/lib/any/cmake/attend"
  cmake_project FetchContent "include(FetchContent)
FetchContent_Declare(attend SOURCE_DIR $build/consumer SOURCE_SUBDIR src)
FetchContent_MakeAvailable(attend)" -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS='-O0 -ffast-math'
fi

if needs meson meson; then
  mkdir -p "$build/meson"
  cp "$build/consumer/main.c" "$build/meson"
  printf "project('consumer', 'c')\nexecutable('consumer', 'main.c', dependencies: dependency('attend', version: '>=1'))\n" \
    >"$build/meson/meson.build"
  with_meson() {
    CC=$cc PKG_CONFIG_SYSROOT_DIR=$stage PKG_CONFIG_LIBDIR=$stage/usr/lib/any/pkgconfig meson setup "$build/meson/out" "$build/meson" &&
      ninja -C "$build/meson/out"
  }
  succeeds "Meson: a program in C builds" with_meson &&
    LD_LIBRARY_PATH=$stage/usr/lib/any prints_the_same "Meson: the program" "$build/meson/out/consumer"
fi

succeeds "make uninstall, staged" staged uninstall
nothing_in "$(find "$stage" -mindepth 1 2>/dev/null | head -n 5)" "uninstall leaves nothing behind"

finish
