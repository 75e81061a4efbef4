#!/bin/sh
# Compares the C surface with that of the last release: bench/packages/abi.sh FOLDER, from the project's top folder, with the binary interface of now left
# in FOLDER. CXX= the compiler. ABI=write makes today's the released one, after a release; ABI=read says that somebody has read a report that is not about
# removals: fields at the end of structs with a size and nothing else.
set -eu
folder=$1 released=bench/packages/c_surface.abi.xz cxx=${CXX:-g++}
mkdir -p "$folder" && rm -f "$folder"/*.o
case $($cxx -dumpmachine) in x86_64*linux*) ;; *) echo 'release: the binary interface is compared on x86-64 Linux only' && exit ;; esac
command -v abidw >/dev/null || { echo 'release: the binary interface is not compared: apt-get install abigail-tools' && exit; }
# Enumerations are behind int in structs: for each, a function of it tells its values.
headers='attend/attend_c.h attend/c/*.h'
# shellcheck disable=SC2086
(cd include && printf '#include <%s>\n' $headers &&
  sed -n 's/^enum \(attend_[a-z_]*\) {.*/extern "C" __attribute__((visibility("default"))) void values_of_\1(enum \1) {}/p' $headers) >"$folder/values.cpp"
for source in src/c/*.cpp src/l*/c_*.cpp "$folder/values.cpp"; do
  $cxx -std=c++17 -O0 -g -fPIC -fvisibility=hidden -Iinclude -c "$source" -o "$folder/$(basename "$source" .cpp).o"
done
major=$(sed -n 's/^#define ATTEND_VERSION_MAJOR //p' include/attend/core/version.h)
$cxx -shared -nostdlib -Wl,-soname,"libattend_c.so.$major" "$folder"/*.o -o "$folder/c_surface.so"
abidw --drop-private-types --headers-dir include/attend --no-corpus-path --no-comp-dir-path --no-show-locs --no-parameter-names --no-write-default-sizes \
  --exported-interfaces-only --type-id-style hash "$folder/c_surface.so" >"$folder/now.abi"
[ "${ABI:-}" != write ] || { xz -9ec "$folder/now.abi" >$released && echo "release: $released is of now"; }
xz -dc $released >"$folder/released.abi"
status=0
abidiff --no-added-syms "$folder/released.abi" "$folder/now.abi" >"$folder/report" || status=$?
[ $status -ne 0 ] || { echo 'release: programs that the last release links with find everything as it was' && exit; }
cat "$folder/report"
if ! grep -q "soname='libattend_c.so.$major'" "$folder/released.abi"; then echo 'release: the binary interface differs, and MAJOR too'
elif [ "${ABI:-}" = read ] && [ $status -eq 4 ]; then echo 'release: the binary interface differs by what somebody has read'
else echo 'release: the binary interface differs from that of the last release: see the report above, and ABI= in bench/packages/README.md' >&2 && exit 1
fi
