#!/bin/sh
# The stack is bounded, and the headers say by how much: tests/scripts/check_stack.sh CXX BUILD_DIR
#
# For boards, size.sh does the same and measures too. Only GCC writes down who calls whom and how large the stack frames are.
# LEVELS= which levels of optimisation; -O0, -Os and -O2, unless it is given.
cxx=$1
build=$2/check_stack
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
tab=$(printf '\t')
notes='-fcallgraph-info=su -fstack-usage -fno-ipa-icf'

# shellcheck disable=SC2086
if ! $cxx $notes -E -x c++ /dev/null >"$build/log" 2>&1; then
  skip "bounded stack" "$cxx does not tell (-fcallgraph-info)"
  finish
  exit
fi

levels=${LEVELS:--O0 -Os -O2}

# At -O0 nothing is inlined, so the graph of calls is whole. tsort tells loops, except a function that calls itself. At other levels
# stack.awk tells both, of what is left.
case " $levels " in *' -O0 '*) graph=yes ;; *) graph=no ;; esac
if [ $graph = yes ] && succeeds "-O0: every source compiles" library_at -O0 "$2"; then
  sed -n 's/^edge: { sourcename: "\([^"]*\)" targetname: "\([^"]*\)".*/\1 \2/p' "$objects"/*.ci | sort -u >"$build/edges"
  nothing_in "$([ -s "$build/edges" ] || echo "no call was found"
    awk '$1 == $2' "$build/edges"
    tsort "$build/edges" 2>&1 >"$build/sorted")" "no recursion"
fi

# What the C library's functions take is not in the promise. Helpers of the compiler's run-time have no frames to read: they get
# more than any of them takes.
outside='memcpy=0 memset=0 memmove=0 __aeabi_idiv=64 __aeabi_idivmod=64 __aeabi_uidiv=64 __aeabi_uidivmod=64 __aeabi_uldivmod=128 __aeabi_ldivmod=128 __aeabi_d2lz=128'
# The form of what is compiled, as names have it.
form=$(printf '#include "attend/core/config.h"\nATTEND_FORM\n' | $cxx -std=c++17 -Iinclude -E -x c++ - | tail -n 1)
form=${#form}$form
core_run=_ZN6attend4core6Floats3runERKNS0_${form}7ProblemE

# Of calls with options, those that have others to call; and where the C surface makes them.
option_calls="_ZN6attend4core6Floats3runERKNS0_${form}7ProblemERKNS0_7OptionsE _ZN6attend4core6Floats8run_partERKNS0_${form}7ProblemERKNS0_7OptionsEii
  _ZN6attend4core6Floats6finishERKNS0_${form}7ProblemERKNS0_7OptionsE _ZN6attend4core6Floats5mergeEPvPKvbiii
  _ZN6attend4core6Floats9seen_keysERKNS0_${form}7ProblemERKNS0_7OptionsE
  _ZN6attend4core6Floats5leaveERKNS0_${form}7ProblemERKNS0_7OptionsEii
  _ZN6attend4core4saveERNS0_9SavedHeadEPKfiPh _ZN6attend4core4loadERKNS0_9SavedHeadEPKhPfi
  _ZN6attend4core6Floats5beginERKNS0_${form}7ProblemERKNS0_7OptionsE"
c_options='_ZN6attend9c_surface12_GLOBAL__N_111run_optionsERK14attend_problemRNS0_4CallEPvmRKNS0_5PartsE=0
  _ZN6attend9c_surface13check_optionsERNS0_4CallERK14attend_problem=0'

# Projections, whole and in parts, by formats.
linear_calls=''
for format in 0 1 2 3; do
  linear_calls="$linear_calls _ZN6attend4core10run_linearILNS0_6FormatE${format}EEEvRKNS0_${form}6LinearE
    _ZN6attend4core15run_linear_partILNS0_6FormatE${format}EEEvRKNS0_${form}6LinearEii"
done

# Those in integers, by the bytes of their outputs.
integer_linear_calls=''
for output in 1 2 4; do
  integer_linear_calls="$integer_linear_calls _ZN6attend4core18run_integer_linearILi${output}EEEvRKNS0_${form}13IntegerLinearE
    _ZN6attend4core25run_packed_integer_linearILi${output}EEEvRKNS0_${form}13IntegerLinearE"
done

# Of the C surface, those that have others to call.
c_calls='attend_run attend_run_part attend_check attend_workspace_size attend_cache_append attend_cache_init attend_cache_tokens'
c_option_calls='attend_run attend_run_part attend_check attend_workspace_size attend_begin attend_finish attend_merge
  attend_saved_size attend_save attend_load'
c_option_promised=$(sed -n 's/^#define ATTEND_OPTION_STACK_BYTES //p' include/attend/attend_c.h)
c_promised=$(sed -n 's/^#define ATTEND_STACK_BYTES //p' include/attend/attend_c.h)

c_layer_calls=$(sed -n 's/^ATTEND_API .*[ *]\(attend_[a-z0-9_]*\)(.*/\1/p' include/attend/c/layers.h)
c_layer_promised=$(sed -n 's/^#define ATTEND_LAYER_STACK_BYTES //p' include/attend/c/layers.h)

c_linear_calls=$(sed -n 's/^ATTEND_API .*[ *]\(attend_[a-z0-9_]*\)(.*/\1/p' include/attend/c/linear_attention.h)
c_linear_promised=$(sed -n 's/^#define ATTEND_LINEAR_STACK_BYTES //p' include/attend/c/linear_attention.h)

c_integer_calls=$(sed -n 's/^ATTEND_API .*[ *]\(attend_[a-z0-9_]*\)(.*/\1/p' include/attend/c/integer.h)
c_integer_promised=$(sed -n 's/^#define ATTEND_INTEGER_STACK_BYTES //p' include/attend/c/integer.h)

# arithmetic OBJECT INDIRECT PATTERN: the most stack of what an arithmetic of the C surface does, without functions of the pattern. The
# rest of the surface calls it by pointers. INDIRECT is what its kernels take, which are called by pointers too.
# shellcheck disable=SC2086
arithmetic() {
  walked=$(awk -v known="$known" -v indirect="$2" -v roots="$(sed -n 's/^node: { title: "\([^":]*:\)*\(_ZN6attend9c_surface[^"]*\)" label: "[^"]*bytes.*/\2/p' "$objects/$1.ci" |
    grep -vE "$3" | sort -u | tr '\n' ' ')" -f tests/support/stack.awk "$objects"/dispatch.ci "$objects"/attention.ci "$objects"/integers.ci "$objects"/rules.ci "$objects"/c_check.ci "$objects"/c_memory.ci "$objects/$1.ci") || walked=
  echo "$walked" | awk '$1 == "stack" && $3 > most { most = $3 } END { print most + 0 }'
}

# checks OBJECT: the most stack of the checks of a problem of that arithmetic.
check_call=_ZN6attend9c_surface10check_callERNS0_4CallEPK14attend_problem
checks() {
  walked=$(awk -v known="$known" -v indirect="$(arithmetic "$1" 0 '3run|run_|5begin|_row|_state')" -v roots="$check_call" -f tests/support/stack.awk $c_files) || walked=
  echo "$walked" | awk '$1 == "stack" { print $3 }'
}

# bytes FUNCTION FILE: of its bound in what stack.awk prints.
bytes() { awk -v name="$1" '$1 == "stack" && $2 == name { print $3 }' "$2"; }

# promise NAME FOLDER: a constant of the headers, in bytes.
promise() { nm -S -t d "$2/size_main.o" | awk -v name="$1_stack" '$4 == name { print $2 + 0 }'; }

# keeps WHAT PROMISE: the deepest of the functions whose bounds were found last needs no more than the headers promise.
keeps() {
  needed=$(awk '$1 == "stack" && $3 > most { most = $3 } END { print most + 0 }' "$build/log") promised=$(promise "$2" "$folder")
  if [ "$needed" -gt 0 ] && [ "$needed" -le "${promised:-0}" ]; then
    ok "$level: $1: $needed bytes of stack, $promised promised"
  else
    fail "$level: $1: the headers promise this stack" "$needed bytes are needed, ${promised:-none} promised"
    false
  fi
}

# library_with_notes LEVEL FOLDER: like library_at. At -O2 it is the library itself, where the folder's name says that this is its
# level and the compiler has left notes beside every object.
library_with_notes() {
  case $1/$2 in
    -O2/*-O2) notes_of_library "$2" || library_at "$1" "$2" ;;
    *) library_at "$1" "$2" ;;
  esac
}

# Functions that are alike are one with two names there, and the notes have a frame for one of the names: the other calls it.
notes_of_library() { # folder
  objects=$build/library
  mkdir -p "$objects"
  for source in src/*/*.cpp; do
    object=$1/${source%.cpp}.o name=$objects/$(basename "$source" .cpp)
    cp "${object%.o}.ci" "$name.ci" && cp "${object%.o}.su" "$name.su" || return 1
    readelf -sW "$object" | awk '
      FNR == NR { if (/^node: .* bytes \(/) { split($0, part, "\""); sub(/^.*:/, "", part[2]); framed[part[2]] } next }
      $4 != "FUNC" || $7 == "UND" { next }
      $8 in framed { named[$7, $2] = $8; next }
      { other[$8] = $7 SUBSEP $2 }
      END {
        for (name in other) if (other[name] in named) {
          printf "node: { title: \"%s\" label: \"another name\\n0 bytes (static)\" }\n", name
          printf "edge: { sourcename: \"%s\" targetname: \"%s\" }\n", name, named[other[name]]
        }
      }' "$name.ci" - >"$name.names" && cat "$name.names" >>"$name.ci" || return 1
  done
}

for level in $levels; do
  [ $level != -O0 ] || continue
  folder=$build/${level#-}
  succeeds "$level: every source compiles" library_with_notes $level "$2" || continue
  # shellcheck disable=SC2086
  succeeds "$level: so do calls of all kinds" compile_all "$folder" bench/speed/sizes/size_main.cpp -std=c++17 $level $notes -Iinclude || continue
  nothing_in "$(cat "$objects"/*.su "$folder"/*.su | grep "${tab}dynamic\$")" "$level: every stack frame has a fixed bound"

  # Each instruction set by itself: what they are called by is a pointer on x86, and so a call through it takes what the deepest of
  # its kind does. A kind is what an entry point's name begins with.
  known=$outside most=0 option_most=0 linear_most=0 layer_most=0 linear_attention_most=0 integer_most=0 integer_linear_most=0
  for source in $(grep -l "^#define ATTEND_ISA " src/*/*.cpp); do
    name=$(basename "$source" .cpp) graph=$objects/$(basename "$source" .cpp).ci
    entries=$(sed -nE 's/^node: \{ title: "([^":]*:)*(_ZN6attend([0-9a-z_]+7Backend|4core)[^"]*)" label: "[^"]*bytes.*/\2/p' \
      "$graph" | sort -u | tr '\n' ' ')
    [ -n "$entries" ] || continue
    succeeds "$level: $name has a bound" awk -v known="$known" -v roots="$entries" -f tests/support/stack.awk "$graph" || continue
    grep '^stack ' "$build/log" >"$folder/$name.entries"
    known="$known $(awk '{ printf "%s=%s ", $2, $3 }' "$folder/$name.entries")"
    # deepest LEAST PATTERN: the largest of these entry points' bounds and LEAST.
    deepest() { awk -v most="$1" -v kind="7Backend[0-9]*($2)E" '$2 ~ kind && $3 > most { most = $3 } END { print most }' "$folder/$name.entries"; }
    most=$(deepest "$most" 'run')
    option_most=$(deepest "$option_most" 'run_options')
    integer_most=$(deepest "$integer_most" 'run_integers|run_integer_options')
    linear_most=$(deepest "$linear_most" 'project_[a-z0-9]*')
    integer_linear_most=$(deepest "$integer_linear_most" 'run_integer_linear')
    layer_most=$(deepest "$layer_most" 'run_integer_sum|rms_norm|layer_norm|add|rotary_angles|rotate|relu|silu|gelu|gelu_tanh|sigmoid|tanh|exp|erf')
    linear_attention_most=$(deepest "$linear_attention_most" 'linear|gated|gated_by_key|delta|gated_delta|gated_delta_by_key|convolve|convolve_silu|decay_gates|bounded_gates')
    printf '     %s %s: at most %d bytes of stack for any entry point\n' "$name" $level \
      "$(awk '$3 > most { most = $3 } END { print most }' "$folder/$name.entries")"
  done
  # What stands around attention, without projections and what makes their weights.
  roots=$(sed -n 's/^node: { title: "\([^":]*:\)*\(_ZN6attend4core[^"]*\)" label: "[^"]*bytes.*/\2/p' "$objects/layer_calls.ci" "$objects/rotary_calls.ci" |
    grep -vE '(run|integer)_linear|_weights' | sort -u | tr '\n' ' ')
  # shellcheck disable=SC2086
  succeeds "$level: what stands around attention has a bound" awk -v known="$known" -v indirect="$layer_most" -v roots="$roots" \
    -f tests/support/stack.awk "$objects/dispatch.ci" "$objects/layer_calls.ci" "$objects/rotary_calls.ci" || continue
  pieces=$(awk '$1 == "stack" { printf "%s=%s ", $2, $3 }' "$build/log")
  keeps "what stands around attention" layer
  roots=$(sed -n 's/^node: { title: "\([^":]*:\)*\(_ZN6attend4core\(20run_linear_attention\|15run_convolution\|11decay_gates\|13bounded_gates\)[^"]*\)" label: "[^"]*bytes.*/\2/p' "$objects/linear_calls.ci" "$objects/integer_state.ci" "$objects/integer_convolution.ci" | tr '\n' ' ')
  succeeds "$level: linear attention has a bound" awk -v known="$known" -v indirect="$linear_attention_most" -v roots="$roots" \
    -f tests/support/stack.awk "$objects/dispatch.ci" "$objects/linear_calls.ci" "$objects/integer_state.ci" "$objects/integer_convolution.ci" || continue
  keeps "linear attention" linear_attention
  linear_attention_needed=$needed
  # Projections in integers of embedded processors keep to the promise of integer attention, which size.sh looks at.
  kinds=linear
  grep -q run_packed_integer_linear "$objects/layer_calls.ci" && kinds='linear integer_linear'
  for kind in $kinds; do
    case $kind in
      linear) whose=projections most_of_kind=$linear_most roots=$linear_calls ;;
      *) whose='projections in integers' most_of_kind=$integer_linear_most roots=$integer_linear_calls ;;
    esac
    # shellcheck disable=SC2086
    succeeds "$level: $whose have a bound" awk -v known="$known" -v indirect="$most_of_kind" \
      -v roots="$(echo $roots)" -f tests/support/stack.awk "$objects/dispatch.ci" "$objects/layer_calls.ci" || continue 2
    [ $kind = integer_linear ] || pieces="$pieces $(awk '$1 == "stack" { printf "%s=%s ", $2, $3 }' "$build/log")"
    keeps "$whose" $kind && echo "$kind $needed $promised" >>"$build/option_promises"
  done
  # shellcheck disable=SC2086
  succeeds "$level: calls with options have a bound" awk -v known="$known" -v indirect="$option_most" \
    -v roots="$(echo $option_calls)" -f tests/support/stack.awk "$objects/dispatch.ci" "$objects/attention.ci" "$objects/saved.ci" || continue
  known="$known $(awk '$1 == "stack" { printf "%s=%s ", $2, $3 }' "$build/log")"
  cp "$build/log" "$folder/option_calls.text"
  for function in $option_calls; do
    case $function in *run_part*) call=options_part ;; *) call=options ;; esac
    needed=$(bytes "$function" "$folder/option_calls.text") promised=$(promise $call "$folder")
    what=$(echo "$function" | sed 's/^_ZN6attend4core\(6Floats\)*[0-9]*\([a-z_]*\).*/\2/')
    # One that calls nothing may need no frame.
    if [ -n "$needed" ] && [ "$needed" -le "${promised:-0}" ]; then
      ok "$level: $what with options: $needed bytes of stack, $promised promised"
      echo "$call $needed $promised" >>"$build/option_promises"
    else
      fail "$level: $what: the headers promise its stack" "it needs ${needed:-?} bytes, include/attend/core/config.h says ${promised:-?}"
    fi
  done
  c_files="$objects/dispatch.ci $objects/attention.ci $objects/saved.ci $objects/cache.ci $objects/rules.ci $(echo "$objects"/c_*.ci)"
  floats=$(arithmetic c_floats "$most" '^$') integers=$(arithmetic c_integer "$integer_most" '^$')
  plain=$(arithmetic c_floats "$most" 'options_row|finish_rows|_state')
  # Checks call other functions of them than runs do.
  float_checks=$check_call=$(checks c_floats) integer_checks=$check_call=$(checks c_integer)
  [ "$floats" -gt 0 ] && [ "$integers" -gt 0 ] && [ "$plain" -ge "$most" ] && [ "${float_checks##*=}" ] && [ "${integer_checks##*=}" ] ||
    fail "$level: the two arithmetics of the C surface have a bound" "it is not found"
  # shellcheck disable=SC2086
  succeeds "$level: calls with options from C have a bound" awk -v known="$known $float_checks" -v indirect="$floats" -v roots="$c_option_calls" \
    -f tests/support/stack.awk $c_files || continue
  cp "$build/log" "$folder/options.text"
  for call in $c_option_calls; do
    needed=$(bytes "$call" "$folder/options.text")
    [ "${needed:-0}" -gt 0 ] && [ "$needed" -le "${c_option_promised:-0}" ] || echo "$call needs ${needed:-?} bytes; "
  done >"$folder/c_option_stack"
  nothing_in "$(cat "$folder/c_option_stack")" \
    "$level: with options they keep to ATTEND_OPTION_STACK_BYTES, ${c_option_promised:-?}: attend_run takes $(bytes attend_run "$folder/options.text")"
  # shellcheck disable=SC2086
  succeeds "$level: layers from C have a bound" awk -v known="$known $pieces $float_checks" -v indirect="$floats" -v roots="$(echo $c_layer_calls)" \
    -f tests/support/stack.awk $c_files "$objects/layer_calls.ci" "$objects/rotary_calls.ci" || continue
  c_layer_needed=$(awk '$1 == "stack" && $3 > most { most = $3 } END { print most + 0 }' "$build/log")
  nothing_in "$(awk -v promised="${c_layer_promised:-0}" '$1 == "stack" && $3 > promised { print $2 " needs " $3 " bytes; " }' "$build/log")" \
    "$level: they keep to ATTEND_LAYER_STACK_BYTES, ${c_layer_promised:-?}: the deepest takes $c_layer_needed"
  # What rules point to.
  roots=$(sed -n 's/^node: { title: "\([^":]*:\)*\(_ZN6attend9c_surface\(10run_floats\|12run_integers\)[^"]*\)" label: "[^"]*bytes.*/\2/p' "$objects/c_linear_attention.ci" "$objects/c_linear_integer.ci" | tr '\n' ' ')
  succeeds "$level: rules of linear attention from C have a bound" awk -v known="$known" -v indirect="$linear_attention_most" -v roots="$roots" -f tests/support/stack.awk \
    "$objects/dispatch.ci" "$objects/attention.ci" "$objects/linear_calls.ci" "$objects/integer_state.ci" "$objects/c_linear_attention.ci" "$objects/c_linear_integer.ci" || continue
  linear_attention_needed=$(awk '$1 == "stack" && $3 > most { most = $3 } END { print most + 0 }' "$build/log")
  # shellcheck disable=SC2086
  succeeds "$level: linear attention from C has a bound" awk -v known="$known" -v indirect="$linear_attention_needed" -v roots="$(echo $c_linear_calls)" \
    -f tests/support/stack.awk $c_files "$objects/linear_calls.ci" "$objects/state_numbers.ci" "$objects/integers.ci" || continue
  c_linear_needed=$(awk '$1 == "stack" && $3 > most { most = $3 } END { print most + 0 }' "$build/log")
  nothing_in "$(awk -v promised="${c_linear_promised:-0}" '$1 == "stack" && $3 > promised { print $2 " needs " $3 " bytes; " }' "$build/log")" \
    "$level: it keeps to ATTEND_LINEAR_STACK_BYTES, ${c_linear_promised:-?}: the deepest takes $c_linear_needed"
  # shellcheck disable=SC2086
  succeeds "$level: integer attention from C has a bound" awk -v known="$known $integer_checks" -v indirect="$integers" \
    -v roots="$(echo $c_integer_calls) $c_option_calls" -f tests/support/stack.awk $c_files "$objects/integers.ci" || continue
  c_integer_needed=$(awk '$1 == "stack" && $3 > most { most = $3 } END { print most + 0 }' "$build/log")
  nothing_in "$(awk -v promised="${c_integer_promised:-0}" '$1 == "stack" && $3 > promised { print $2 " needs " $3 " bytes; " }' "$build/log")" \
    "$level: it keeps to ATTEND_INTEGER_STACK_BYTES, ${c_integer_promised:-?}: the deepest takes $c_integer_needed"
  # shellcheck disable=SC2086
  succeeds "$level: the calls have a bound" awk -v known="$known" -v indirect="$most" \
    -v roots="$core_run call_prefill call_decode call_prefill_part" \
    -f tests/support/stack.awk $c_files "$folder/size_main.ci" ||
    continue
  cp "$build/log" "$folder/stack.text"
  # shellcheck disable=SC2086
  succeeds "$level: calls from C have a bound" awk -v known="$known $float_checks $(echo $c_options)" -v indirect="$plain" \
    -v roots="$c_calls" -f tests/support/stack.awk $c_files || continue
  cat "$build/log" >>"$folder/stack.text"
  for call in core prefill decode; do
    case $call in core) function=$core_run ;; *) function=call_$call ;; esac
    needed=$(bytes "$function" "$folder/stack.text") promised=$(promise $call "$folder")
    if [ "${needed:-0}" -gt 0 ] && [ "$needed" -le "${promised:-0}" ]; then
      ok "$level: $call: $needed bytes of stack, $promised promised"
      echo "$call $needed $promised" >>"$build/promises"
    else
      fail "$level: $call: the headers promise its stack" "it needs ${needed:-?} bytes, include/attend/core/config.h says ${promised:-?}"
    fi
  done
  for call in $c_calls; do
    needed=$(bytes "$call" "$folder/stack.text")
    [ "${needed:-0}" -gt 0 ] && [ "$needed" -le "${c_promised:-0}" ] || echo "$call needs ${needed:-?} bytes; "
  done >"$folder/c_stack"
  nothing_in "$(cat "$folder/c_stack")" \
    "$level: calls from C keep to ATTEND_STACK_BYTES, ${c_promised:-?}: attend_run takes $(bytes attend_run "$folder/stack.text")"
  # Each constant holds by itself: one must not live on what another has left over.
  nothing_in "$(tail -n 3 "$build/promises" | awk '
    $1 == "core" { core = $2; core_promised = $3; next }
    $2 - core > $3 - core_promised { printf "%s needs %d beside core::Floats::run, promised are %d; ", $1, $2 - core, $3 - core_promised }
    ')" "$level: the calls keep to config::call_stack_bytes"
  for call in prefill_part:prefill_part; do
    needed=$(bytes "call_${call%:*}" "$folder/stack.text") promised=$(promise "${call#*:}" "$folder")
    if [ "${needed:-0}" -gt 0 ] && [ "$needed" -le "${promised:-0}" ]; then
      ok "$level: ${call%:*}: $needed bytes of stack, $promised promised"
    else
      fail "$level: ${call%:*}: the headers promise its stack" "it needs ${needed:-?} bytes, promised are ${promised:-?}"
    fi
  done
done

# Only where the constants are this target's own, and not those of another that needs more.
[ "$levels" = -O0 ] || case $($cxx -dumpmachine) in
  x86_64* | aarch64*)
    nothing_in "$(awk '$2 > most[$1] { most[$1] = $2; promised[$1] = $3 }
      END { for (call in most) if (promised[call] > 1.5 * most[call]) printf "%s: %d promised, %d needed; ", call, promised[call], most[call] }
      ' "$build/promises" "$build/option_promises")" "no promise is more than 1.5 times what is needed" ;;
esac

finish
