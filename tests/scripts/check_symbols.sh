#!/bin/sh
# Nothing comes from outside and nothing runs before main, as the object files show: tests/scripts/check_symbols.sh CXX BUILD_DIR
#
# Compiled as vendors would, and as libattend.a has it. -O0 hides nothing: there every function that is called is a symbol. Clang compiles
# for bare x86 in place of -Os; what its hosted build asks for is seen in libattend.so, by check_c.sh.
# LEVELS= some of -O0, built (libattend.a) and -Os; all of them, unless it is given.
cxx=$1
build=$2/check_symbols
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1

# symbols TYPES OBJECT…: the names of the symbols that have one of these nm types, one for each line.
symbols() (
  types=$1
  shift
  nm "$@" | sed -n "s/^[0-9a-f]* *[$types] //p" | sort -u
)

# mutable_data OBJECT…: symbols in writable memory. Constants that hold addresses are in .data.rel.ro, which becomes read-only
# when the program is loaded.
mutable_data() {
  for object in "$@"; do objdump -t "$object" | sed "s|^|$(basename "$object") |"; done |
    grep -E '[[:space:]](\.s?bss|\.s?data|\.tbss|\.tdata|\*COM\*)' | grep -vE '\.data\.rel\.ro|[[:space:]]d[[:space:]]'
}

# A compiler may be set up to guard stacks. Then the guard is its own wish, not the library's; the offset table is the linker's.
guard=none
if $cxx -dM -E -x c++ /dev/null | grep -q '__SSP'; then guard=__stack_chk_fail; fi

# built: the objects of libattend.a.
objects_of() {
  if [ "$1" != built ]; then
    library_at "$1" "$2"
  else
    objects=$(pwd)/$build/library
    mkdir -p "$objects" && cp "$2/libattend.a" "$objects" && (cd "$objects" && ar x libattend.a)
  fi
}

levels=${LEVELS:--O0 built -Os}
if echo | $cxx --target=x86_64-unknown-elf -ffreestanding -E -x c++ - >/dev/null 2>&1; then levels='-O0 bare'; fi

for level in $levels; do
  succeeds "$level: every source compiles" objects_of "$level" "$2" || continue
  folder=$build/${level#-}
  mkdir -p "$folder"

  symbols TWVuDBRi "$objects"/*.o >"$folder/defined"
  symbols UWVuw "$objects"/*.o >"$folder/used"
  nothing_in "$(comm -13 "$folder/defined" "$folder/used" | grep -vxE "memcpy|memset|memmove|_GLOBAL_OFFSET_TABLE_|$guard")" \
    "$level: asks for nothing but memcpy, memset, memmove"

  for source in $(grep -l "^#define ATTEND_ISA " src/*/*.cpp); do
    name=$(basename "$source" .cpp) object=$objects/$(basename "$source" .cpp).o
    nothing_in "$(nm -C "$object" | grep -E '^[0-9a-f]+ [TDBRi] ' | grep -vE " attend::[a-z0-9_:]+::Backend::")" \
      "$level: $name exports its own entry points only"
    # The linker keeps one copy of a weak function: it could be one with instructions that not every processor has.
    case $name in *target | embedded_* | integer_state) continue ;; esac  # for the processor of the build
    nothing_in "$(symbols WVuwv "$object")" "$level: $name defines nothing weak"
  done

  nothing_in "$(objdump -h "$objects"/*.o | grep -oE '\.(preinit_array|init_array|ctors|fini_array|dtors)[^ ]*'
    nm "$objects"/*.o | grep -E '_GLOBAL__(sub_)?[ID]')" "$level: no static initialiser"
  nothing_in "$(nm "$objects"/*.o | grep -E ' _Z(GV|TI|TS|TV|TH|TW)')" \
    "$level: no guard variable, type information, virtual table"
  nothing_in "$(nm "$objects"/*.o | grep -E '__cxa_|__gxx_|_Unwind_|__gcc_personality| _Z[nd][wa]')" \
    "$level: no exception, no new or delete"

  mutable_data "$objects"/*.o >"$folder/mutable"
  nothing_in "$(grep -vE "^dispatch\.o .*[[:space:]]0+[48][[:space:]]" "$folder/mutable"
    [ "$(wc -l <"$folder/mutable")" -le 1 ] || cat "$folder/mutable")" \
    "$level: no mutable data but the dispatcher's one pointer"
done

finish
