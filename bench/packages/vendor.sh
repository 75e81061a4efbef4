#!/bin/sh
# Copies the part of include/ and src/ that a program on one target needs, with a list of it that an audit can hold on to.
# From the project's top folder:
#   bench/packages/vendor.sh FOLDER COMPILER FLAGS LIBRARY USE...
# USE: a word of uses.cpp (decode, ring, project, …), or a source of the program itself. LIBRARY: the whole library as the compiler
# makes it with these flags; FOLDER is made, and must not exist. What is copied is what the linker takes of the library, object by object, and what
# the compiler reads for these objects and for the program: so it links with any options, and compiles alone.
fail() { echo "vendor.sh: $*" >&2; exit 1; }

[ $# -ge 5 ] || fail 'expected FOLDER COMPILER FLAGS LIBRARY USE...'
here=$(dirname "$0") folder=$1 cxx=$2 flags=$3 library=$4
shift 4
[ ! -e "$folder" ] || fail "$folder is there already: name a folder that is not"
for tool in realpath sha256sum; do command -v $tool >/dev/null 2>&1 || fail "$tool was not found: install GNU's coreutils"; done
words=$(sed -n 's/^USE(\([a-z]*\)).*/\1/p' "$here/uses.cpp" | tr '\n' ' ')
work=$(mktemp -d) || exit 1
case $work in *[[:space:]]*) fail "TMPDIR has a space in it: $work" ;; esac
trap 'rm -rf "$work"' EXIT

# The program: its objects, and what the compiler read for them.
objects='' count=0
read_and_compile() {  # source flags...
  source=$1
  shift
  count=$((count + 1)) language='c++ -std=c++17'
  object=$work/$count.o
  case $source in *.c) language='c -std=c11' ;; esac
  # shellcheck disable=SC2086
  $cxx $flags -x $language -Iinclude "$@" -MMD -MF "$object.d" -c "$source" -o "$object" || fail "$source does not compile for this target"
  objects="$objects $object"
}
defined=''
for use in "$@"; do
  case $use in
    *.cpp | *.cc | *.c) read_and_compile "$use" ;;
    *)
      case " $words " in *" $use "*) defined="$defined -DUSE_$use" ;; *) fail "USES has \"$use\": it takes $words, and sources of the program" ;; esac
      ;;
  esac
done
# shellcheck disable=SC2086
[ -z "$defined" ] || read_and_compile "$here/uses.cpp" $defined

# The objects of the library that the linker takes. The target's start-up code and C library are not needed to tell.
# shellcheck disable=SC2086
$cxx $flags -nostdlib -Wl,-t,-t -Wl,--unresolved-symbols=ignore-all -Wl,--no-warnings -Wl,-e,0 -o "$work/linked" $objects "$library" >"$work/trace" 2>"$work/log" ||
  $cxx $flags -nostdlib -Wl,-t,-t -Wl,--unresolved-symbols=ignore-all -Wl,-e,0 -o "$work/linked" $objects "$library" >"$work/trace" 2>"$work/log" ||
  fail "the program does not link: $(tail -n 3 "$work/log")"
sources=''
for name in $(grep 'libattend\.a' "$work/trace" | grep -oE '[A-Za-z0-9_]+\.o' | sort -u); do
  for source in src/*/"${name%.o}.cpp"; do [ ! -e "$source" ] || sources="$sources $source"; done
done
[ -n "$sources" ] || fail 'the program needs nothing of the library'
# shellcheck disable=SC2086
$cxx $flags -std=c++17 -Iinclude -MM $sources >"$work/sources.d" || exit 1

# All files, by the names that they have from here on.
cat "$work"/*.d | tr ' \\' '\n\n' | grep -E '^(\./)?(include|src)/|/\.\./(include|src)/' |
  while read -r file; do realpath --relative-to=. "$file"; done | grep -E '^(include|src)/' | sort -u >"$work/files"
[ -s "$work/files" ] || fail 'no file was found that the compiler read'
target=$folder folder=$work/made # a folder that is there is whole
while read -r file; do
  mkdir -p "$folder/$(dirname "$file")" && cp "$file" "$folder/$file" || exit 1
done <"$work/files"
cp LICENSE "$folder" || exit 1

number() { sed -n "s/^#define ATTEND_$1 //p" include/attend/core/version.h; }
version=$(number VERSION_MAJOR).$(number VERSION_MINOR).$(number VERSION_PATCH)
lines=$(cd "$folder" && xargs cat <"$work/files" | wc -l | tr -d ' ')
# Of requirements, those of what is here: attention, and what of the rest has sources among the files.
parts=A
for part in 'I:src/(call/integers|backend/embedded_integers).cpp' 'Y:src/layers/[a-z0-9_]*.cpp' 'L:src/linear_attention/[a-z0-9_]*.cpp' 'C:src/c/[a-z0-9_]*.cpp' H:include/attend/hosted/; do
  ! grep -qE "^${part#*:}" "$work/files" || parts=$parts${part%%:*}
done
{
  echo "# Attend $version, bits version $(number BITS_VERSION): $(wc -l <"$work/files" | tr -d ' ') files with $lines lines, of $(git describe --always --dirty 2>/dev/null || echo 'a release')."
  echo "# For: $cxx $flags"
  echo "# Uses: $*"
  [ ! -r tests/requirements.toml ] || echo "# Requirements (tests/requirements.toml) of these files, as far as they have the calls; the tests were of all files:$(awk -v parts=$parts '
    /^\[/ { group = substr($0, 2, length($0) - 2) }
    match($0, /^[0-9]+ = {is = "[SQ][A-Z]"/) && index(parts, substr($0, RSTART + RLENGTH - 2, 1)) { printf " %s.%s", group, substr($0, 1, 2) }' tests/requirements.toml)"
  (cd "$folder" && xargs sha256sum LICENSE <"$work/files") || fail "sums cannot be made"
} >"$folder/MANIFEST"
cat >"$folder/attend.mk" <<END
# Attend $version: include this file, compile \$(ATTEND_SOURCES) as C++17 with \$(ATTEND_FLAGS), and give these to the program's own sources too.
ATTEND := \$(dir \$(lastword \$(MAKEFILE_LIST)))
ATTEND_SOURCES := \$(addprefix \$(ATTEND),$(echo $sources))
ATTEND_FLAGS := -I\$(ATTEND)include
END
sh "$here/spdx.sh" "$folder" "$version" >"$folder/attend.spdx.json" || exit 1
mkdir -p "$(dirname "$target")" && cp -R "$folder" "$target" || exit 1
echo "$target: $(wc -l <"$work/files" | tr -d ' ') files, $lines lines, for: $*"
