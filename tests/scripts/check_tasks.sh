#!/bin/sh
# What include/guide/rtos.md says of a board's objects: no instruction masks interrupts, and the stacks of calls in integers, of append and of C
# are as large as the headers say: tests/scripts/check_tasks.sh BOARD BUILD_DIR, from the project's top folder. Part of `make targets`.
board=$1
build=$2/check_tasks-$1
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
cxx=$(sh bench/boards/board.sh compiler "$board") && flags=$(sh bench/boards/board.sh flags "$board") || exit 1
command -v "$cxx" >/dev/null 2>&1 || { echo "$cxx was not found: apt-get install gcc-arm-none-eabi" >&2; exit 77; }
objects=$(sh bench/boards/board.sh library "$board" "$build/work") || { fail "$board: the library's objects" 'they do not compile'; finish; exit 1; }

# shellcheck disable=SC2086
"${cxx%g++}objdump" -d $objects >"$build/text"
nothing_in "$(grep -qE 'bx.*lr|[[:space:]]ret' "$build/text" || echo 'there are no instructions'
  grep -iE '[[:space:]](cps|msr.*(mask|basepri)|csr.*(mstatus|mie))' "$build/text")" "$board: no instruction masks interrupts"

notes=$(echo "$objects" | tr ' ' '\n' | sed -n 's/[.]o$/.ci/p' | while read -r note; do [ ! -e "$note" ] || echo "$note"; done)
known='memcpy=0 memset=0 memmove=0'
for helper in __aeabi_idiv __aeabi_idivmod __aeabi_uidiv __aeabi_uidivmod __aeabi_uldivmod __aeabi_ldivmod __aeabi_d2lz; do known="$known $helper=128"; done
for helper in i2d ui2d f2d d2f d2iz d2uiz dadd dsub dmul ddiv dcmpeq dcmplt dcmple dcmpge dcmpgt dcmpun; do known="$known __aeabi_$helper=64"; done
for helper in aeabi_fcmpge aeabi_fcmple aeabi_fdiv aeabi_fmul aeabi_i2f aeabi_lasr aeabi_llsl aeabi_llsr aeabi_lmul adddf3 ashldi3 ashrdi3 clzsi2 divdf3 divdi3 \
  divsf3 extendsfdf2 fixdfdi floatsisf gedf2 gesf2 gtdf2 ledf2 lesf2 lshrdi3 ltdf2 muldf3 mulsf3 truncdfsf2 udivdi3 umoddi3; do known="$known __$helper=64"; done

# deepest INDIRECT PATTERN FILES: the most stack of functions of these files whose names have the pattern, where a call through a pointer takes INDIRECT.
# shellcheck disable=SC2002,SC2046,SC2086
deepest() {
  roots=$(cat $(echo "$notes" | grep -E "$3") | sed -n 's/^node: { title: "\([^":]*:\)*\([^":]*\)" label: "[^"]*bytes.*/\2/p' | grep -E "$2" | sort -u | tr '\n' ' ')
  awk -v known="$known" -v indirect="$1" -v roots="$roots" -f tests/support/stack.awk $notes >/dev/null 2>"$build/unknown"
  # Small functions that are alike are one, and only one of the names is in the notes.
  folded=$(sed -n 's/.*nothing is known about the stack of \(_ZN6attend[^ ]*_GLOBAL__N_1[^ ]*\)$/\1=200/p' "$build/unknown" | tr '\n' ' ')
  awk -v known="$known $folded" -v indirect="$1" -v roots="$roots" -f tests/support/stack.awk $notes 2>>"$build/complaints" |
    awk '$1 == "stack" && $3 > most { most = $3 } END { print most + 0 }'
}
# holds WHAT NEEDED CONSTANT: a constant of the headers is as large as what is needed.
holds() {
  # shellcheck disable=SC2086
  promised=$(printf '#include <attend/c/layers.h>\n#include <attend/c/linear_attention.h>\n#include <attend/integer.h>\nextern const char p[%s]; const char p[sizeof p] = {};\n' "$3" |
    $cxx $flags -std=c++17 -ffreestanding -Iinclude -x c++ -c - -o "$build/promise.o" && "${cxx%g++}nm" -S -t d "$build/promise.o" | awk '$4 == "p" { print $2 + 0 }')
  if [ "$2" -gt 0 ] && [ "$2" -le "${promised:-0}" ]; then
    ok "$board: $1: at most $2 bytes of stack, $3 promises $promised"
  else
    fail "$board: $1 keeps to $3" "it takes $2 bytes, promised are ${promised:-none}"
  fi
}

# Beside what is compiled: what assembly pushes, and the functions of headers.
eval "$(grep '^pushed()' bench/speed/sizes/size.sh)"
pushed=$(pushed "$board") pushed=${pushed% *} inlined=128
append=$(deepest 0 '_ZN6attend4core(5store|11store_cache)' '_call_cache')
holds "append" $((append + inlined)) attend::append_stack_bytes
plain=$(deepest 0 '_ZN6attend17embedded_integers7Backend12run_integersE' '_embedded_integers')
holds "calls in integers" $((plain + pushed + inlined)) attend::integer_stack_bytes
options=$(deepest 0 '_ZN6attend4core8Integers(3run|6finish|5merge|5begin|5leave|9seen_keys)' '_call_integers')
holds "calls in integers with options, and states" $((options + pushed + inlined)) attend::integer_option_stack_bytes

# C calls floats or integers by a table of pointers: each may be the deepest of them.
calls='^attend_(run|run_part|check|workspace_size|begin|finish|merge|saved_size|save|load|cache_.*|integer_cache_append)$'
floats=$(deepest 0 '^_ZN6attend9c_surface' '_c_floats') integers=$(deepest 0 '^_ZN6attend9c_surface' '_c_integer')
holds "calls of C with options" "$(deepest "$floats" "$calls" '/src_c_')" ATTEND_BOARD_OPTION_STACK_BYTES
holds "calls of C in integers" $(($(deepest "$integers" "$calls" '/src_c_') + pushed)) ATTEND_BOARD_INTEGER_STACK_BYTES
kernels=$(deepest 0 '^_ZN6attend9c_surface.*8run_rows' '_c_floats') with_options=$known
known="$known _ZN6attend9c_surface12_GLOBAL__N_111run_optionsERK14attend_problemRNS0_4CallEPvmRKNS0_5PartsE=0 _ZN6attend9c_surface13check_optionsERNS0_4CallERK14attend_problem=0"
holds "plain calls of C" "$(deepest "$kernels" '^attend_(run|check|workspace_size|cache_append|cache_init|cache_tokens)$' '/src_c_')" ATTEND_BOARD_STACK_BYTES
known=$with_options
holds "layers of C" "$(deepest "$floats" '^attend_' 'src_layers_c_')" ATTEND_BOARD_LAYER_STACK_BYTES
linear=$(deepest 0 '^_ZN6attend(9c_surface(10run_floats|12run_integers)|4core(20run_linear_attention|15run_convolution|11decay_gates|13bounded_gates))' '_(linear_calls|integer_state|c_linear_attention|c_linear_integer)')
holds "linear attention of C" "$(deepest "$linear" '^attend_' 'src_linear_attention_c_')" ATTEND_BOARD_LINEAR_STACK_BYTES
nothing_in "$(cat "$build/complaints")" "$board: every function's stack is known"
finish
