#!/bin/sh
# How small: flash, static RAM, stack and instructions on every board, at -Os and at -O2: bench/speed/sizes/size.sh, from the
# project's top folder. Installs nothing.
#
# Prints a table, which build/size.txt keeps, holds it to the limits below and to what the headers promise, and writes the tables
# of bench/speed/results/sizes.md. TARGETS= chooses boards, of which m4-Os is one at that level alone; then, or where a compiler or an emulator is missing, that page stays as it is.
# PAGE= is another copy of that page. JOBS= is how many builds run at a time. Exit status 77: something is not installed, and the message says what.
here=$(dirname "$0")
board=bench/boards/board.sh
build=build/size
page=bench/speed/results/sizes.md
page=${PAGE:-$page}
at_a_time=${JOBS:-$(nproc 2>/dev/null || echo 2)}
levels='-Os -O2'
all=$(sh "$board" boards)
kinds=$(sh "$board" kinds)
targets='' builds=''
for name in ${TARGETS:-$all}; do
  case $name in m*) name=cortex-$name ;; esac
  targets="$targets ${name%-O?}"
  case $name in *-O?) builds="$builds $name" ;; *) for level in $levels; do builds="$builds $name$level"; done ;; esac
done
. tests/support/check.sh
. tests/support/page_part.sh
. tests/support/workers.sh

# board, level, figure, the most that it may be. Flash and stack in bytes; per_mac: instructions for each multiply-accumulate.
limits='
*             *    ram                   0
cortex-m0plus -Os  flash_both         5120
cortex-m4     -Os  flash_both         4120
cortex-m4     -Os  flash_options      13856
cortex-m4     -Os  flash_decode_ring_int8 7296
cortex-m4     -Os  flash_decode_ring   6656
cortex-m4     -Os  flash_c_plain     12800
cortex-m4     -Os  stack               768
cortex-m0plus -Os  per_mac_64x32_cache 150
cortex-m4     -Os  per_mac_64x32_cache 2.3
cortex-m0plus -O2  per_mac_project_packed 126.5
cortex-m0plus -O2  per_mac_project_int4 126.5
cortex-m0plus -O2  per_mac_project_int4_rows 126.5
cortex-m4     -O2  per_mac_64x32_cache 2.3
cortex-m7     -O2  per_mac_64x32_cache 2.3
cortex-m33    -O2  per_mac_64x32_cache 2.3
cortex-m55    -O2  per_mac_64x32_cache 0.8
cortex-m4     -O2  per_mac_64x32_arrays 2.3
cortex-m7     -O2  per_mac_64x32_arrays 2.3
cortex-m33    -O2  per_mac_64x32_arrays 2.3
cortex-m55    -O2  per_mac_64x32_arrays 0.8
cortex-m4     -O2  per_mac_project_packed 1.4
cortex-m4     -O2  per_mac_project_rows 1.6
cortex-m4     -O2  per_mac_project_int4 5.5
cortex-m4     -O2  per_mac_project_int4_rows 5.5
cortex-m4     -O2  per_mac_project_int4_16 2.5
cortex-m7     -O2  per_mac_project_packed 1.4
cortex-m7     -O2  per_mac_project_rows 1.5
cortex-m7     -O2  per_mac_project_int8 4.5
cortex-m7     -O2  per_mac_project_int8_rows 4.5
cortex-m7     -O2  per_mac_project_int4 5.5
cortex-m7     -O2  per_mac_project_int4_16 2.5
cortex-m55    -O2  per_mac_project_packed 1.0
cortex-m55    -O2  per_mac_project_int4 2.0
cortex-m55    -O2  per_mac_project_int4_16 1.2
cortex-m0plus -Os  flash_integer      3200
cortex-m4     -Os  flash_integer      3456
cortex-m0plus -O2  per_mac_64x32_integer 7
cortex-m0plus -O2  per_mac_128x64_integer 6
cortex-m3     -O2  per_mac_64x32_integer 3.5
cortex-m3     -O2  per_mac_128x64_integer 3.0
cortex-m4     -O2  per_mac_64x32_integer 1.9
cortex-m4     -O2  per_mac_128x64_integer 1.5
cortex-m7     -O2  per_mac_64x32_integer 1.9
cortex-m7     -O2  per_mac_128x64_integer 1.5
cortex-m33    -O2  per_mac_64x32_integer 1.9
cortex-m33    -O2  per_mac_128x64_integer 1.5
cortex-m55    -O2  per_mac_64x32_integer 0.6
cortex-m55    -O2  per_mac_128x64_integer 0.40
*             *    per_mac_integer_differences 0
cortex-m0plus *    worst_outside         0
cortex-m3     *    worst_outside         0
cortex-m4     *    worst_outside         0
cortex-m33    *    worst_outside         0
cortex-m0plus -O2  per_mac_project_integer 10.5
cortex-m0plus -O2  per_mac_project_integer_16 6
cortex-m3     -O2  per_mac_project_integer_16 3.3
cortex-m4     -O2  per_mac_project_integer 3.4
cortex-m4     -O2  per_mac_project_integer_16 2.0
cortex-m7     -O2  per_mac_project_integer_16 2.0
cortex-m33    -O2  per_mac_project_integer_16 2.0
cortex-m55    -O2  per_mac_project_integer 1.2
cortex-m55    -O2  per_mac_project_integer_16 0.7
cortex-m0plus -O2  per_mac_linear_gated_delta 37
cortex-m4     -O2  per_mac_linear_gated_delta 21.5
cortex-m55    -O2  per_mac_linear_gated_delta 6
cortex-m4     -Os  flash_linear_attention 1600
cortex-m0plus -Os  flash_linear_integer 1638
cortex-m4     -Os  stack_linear_attention 400
cortex-m4     -Os  per_mac_linear_floats 2.2
cortex-m4     -O2  per_mac_linear_floats 2.2
rv32imac      -Os  flash_both         4992
rv32imac      -O2  per_mac_64x32_cache 152
rv32imafc     -Os  flash_both         6976
rv32imafc     -Os  per_mac_64x32_cache 2.5
rv32imafc     -O2  per_mac_64x32_cache 2.4
rv32imafc     -O2  per_mac_64x32_arrays 2.4
'

# Calls of other kinds: at -O2 and where floats are computed by the processor, the most times as many instructions as the plain
# call may take, and where that differs, on a board. RISC-V has no instruction that converts halves, and none that loads several
# numbers and moves the address on.
ratios='
decode_options 1.06
decode_window 1.15
decode_ring 1.15
decode_float16 1.5 rv32imafc 2.7
decode_int8 2.0
prefill_options 1.05
prefill_window 1.15
prefill_ring 1.15
prefill_float16 1.2 rv32imafc 1.35
prefill_int8 1.2 rv32imafc 1.25
'

# Bytes in flash (code, constants, first values of data) or in RAM of an image.
flash() { "${tools}size" "$1" | awk 'NR == 2 { print $1 + $2 }'; }
ram() { "${tools}size" "$1" | awk 'NR == 2 { print $2 + $3 }'; }
# Bytes of the symbols of these nm types whose names match.
symbols() { "${tools}nm" -S -t d "$1" | awk -v type="$2" -v name="$3" 'NF == 4 && $3 ~ type && $4 ~ name { n += $2 } END { print n + 0 }'; }

# The most that assembly of integers pushes beside frames, of attention and of a projection: the compiler does not tell it. check_stack holds it to what an M4 uses;
# tests/scripts/check_tasks.sh reads this line too.
pushed() { case $1 in cortex-m4 | cortex-m7 | cortex-m33) echo "200 12" ;; cortex-m55) echo "8 8" ;; *) echo "0 0" ;; esac; }

# Everything that one board tells at one level of optimisation, as lines "figure number".
measure() {  # board level
  folder=$build/$1$2
  tools=$(sh "$board" compiler "$1")
  tools=${tools%g++}
  OPT=$2 sh "$board" size "$1" "$folder" || return
  "${tools}objdump" -d --no-show-raw-insn "$folder/both" >"$folder/both.text" || return 1
  awk -v roots='call_prefill call_decode _ZN6attend4core6Floats3runERKNS0_13embedded_form7ProblemE' -f tests/support/stack.awk \
    "$folder"/*.ci "$folder/both.text" >"$folder/stack.text" || return 1
  for program in options $kinds; do
    case $program in c_*) continue ;; esac # they call through tables, which no analysis of objects follows
    "${tools}objdump" -d --no-show-raw-insn "$folder/$program" >"$folder/$program.text" || return 1
    awk -v roots="call_$program" -f tests/support/stack.awk "$folder"/*.ci "$folder/$program.text" || return 1
  done >"$folder/option_stack.text"
  sh "$board" run "$1" "$folder/stack" >"$folder/painted.text" || return
  sh "$board" count "$1" "$folder/count" >"$folder/count.text" || return
  [ ! -e "$folder/worst" ] || sh "$board" count "$1" "$folder/worst" >"$folder/worst.text" || return
  # shellcheck disable=SC2046
  $(sh "$board" compiler "$1") $(sh "$board" flags "$1") "$2" -std=c++17 -Iinclude -c "$here/ram.cpp" -o "$folder/ram.o" || return
  nothing=$(flash "$folder/nothing")
  {
    for program in prefill decode both options $kinds; do echo "flash_$program $(($(flash "$folder/$program") - nothing))"; done
    echo "helpers $(($(flash "$folder/both") - $(flash "$folder/alone")))"
    echo "ram $(($(ram "$folder/both") - $(symbols "$folder/both" '[bBdD]' size_program)))"
    sed -n 's/^stack _ZN6attend4core6Floats3run[^ ]* /stack_core /p; s/^stack call_//p' "$folder/stack.text" |
      awk '{ print ($1 ~ /^stack_/ ? "" : "stack_") $1, $2; if ($1 !~ /core/ && $2 > most) most = $2 } END { print "stack", most }'
    sed -n 's/^stack call_\([a-z0-9_]* [0-9]*\) .*/stack_\1/p' "$folder/option_stack.text" |
      awk -v most="$(pushed "$1")" '{ split(most, of, " "); print $1, $2 + ($1 ~ /^stack_integer/ ? of[1] : $1 == "stack_project_integer" ? of[2] : 0) }'
    for call in core prefill decode options linear multi_head multi_head_option integer integer_option; do
      echo "promised_$call $(symbols "$folder/bench_speed_sizes_size_main.cpp.o" . "^${call}_stack\$")"
    done
    for name in keyword_cache keyword_work motion_cache motion_work story_cache story_work; do echo "ram_$name $(symbols "$folder/ram.o" . "^ram_$name\$")"; done
    sed 's/^/painted_/' "$folder/painted.text"
    awk '{ print "per_mac_" $1 "_" $2, $3 }' "$folder/count.text"
    [ ! -e "$folder/worst" ] || sed -n 's/^worst outside /worst_outside /p' "$folder/worst.text"
  } >"$folder/figures"
}

work_on() { measure "${1%-*}" "-${1##*-}"; }  # board-level

# Figures of all builds that have them, as lines "board level figure number"; complaints of the others.
gather() {
  for name in $builds; do
    case $(cut -d ' ' -f 1 "$build/log/$name/result") in
      0) sed "s/^/${name%-*} -${name##*-} /" "$build/$name/figures" >>"$build/figures" ;;
      77) echo "${name%-*} is left out: $(tail -n 1 "$build/log/$name/log")" >>"$build/missing" ;;
      *) fail "$name is measured" "$(tail -n 3 "$build/log/$name/log" | tr '\n' ' ')" ;;
    esac
  done
}

# violations AWK-CONDITION: builds whose figures f["…"] fulfil it; $text is what to print of them.
violations() {
  awk "
    function check() { if (build != \"\" && ($1)) printf \"%s: %s; \", build, $2 }
    build != \$1 \" \" \$2 { check(); split(\"\", f); build = \$1 \" \" \$2 }
    { f[\$3] = \$4 }
    END { check() }" "$build/figures"
}

check_limits() {
  set -f
  echo "$limits" | while read -r name level figure most; do
    [ -z "$name" ] || echo "$name $level $figure $most"
  done >"$build/limits"
  set +f
  while read -r name level figure most; do
    [ "$name" = '*' ] || grep -q "^$name $level " "$build/figures" || continue
    nothing_in "$(awk -v name="$name" -v level="$level" -v figure="$figure" -v most="$most" '
      (name == "*" || name == $1) && (level == "*" || level == $2) && $3 == figure {
        ++found
        if ($4 > most) printf "%s %s has %s; ", $1, $2, $4
      }
      END { if (!found) print "it was not measured" }' "$build/figures")" "$name $level $figure is at most $most"
  done <"$build/limits"
}

check_ratios() {
  echo "$ratios" | grep . >"$build/ratios"
  while read -r figure most name other; do
    plain=per_mac_${figure%%_*}_plain
    nothing_in "$(awk -v plain="$plain" -v figure="per_mac_$figure" -v most="$most" -v own="$name" -v other="$other" '
      $2 != "-O2" || $1 ~ /m0plus|m3$|imac$/ { next }
      $3 == plain { of_plain[$1] = $4 }
      $3 == figure { found[$1] = $4 }
      END { for (name in of_plain) if (!(name in found) || found[name] > (name == own ? other : most) * of_plain[name] + 0.006)
        printf "%s %s, plain %s; ", name, found[name], of_plain[name] }' "$build/figures")" \
      "$figure takes at most $most${name:+ ($name: $other)} times the instructions of the plain call"
  done <"$build/ratios"
}

# The bound of the stack is one, and the headers' constants keep to it without being far from it.
check_stack() {
  for call in prefill decode options integer integer_ring project_integer; do
    nothing_in "$(violations "f[\"painted_$call\"] == 0 || f[\"painted_$call\"] > f[\"stack_$call\"]" \
      "f[\"painted_$call\"] \" measured, bound \" f[\"stack_$call\"]")" "$call: the stack that was used keeps to the bound"
  done
  # On an M4 the deepest functions are the ones that push.
  for call in integer project_integer; do
    nothing_in "$(violations "build ~ /m4 / && f[\"painted_$call\"] != f[\"stack_$call\"]" \
      "f[\"painted_$call\"] \" measured, bound \" f[\"stack_$call\"]")" "$call: the bound counts what assembly pushes, to the word"
  done
  for call in project project_rows project_int8 project_int8_rows; do
    nothing_in "$(violations "f[\"stack_$call\"] == 0 || f[\"stack_$call\"] > f[\"promised_linear\"]" \
      "f[\"stack_$call\"] \" bytes, include/attend/core/config.h promises \" f[\"promised_linear\"]")" "$call: the stack keeps to the headers' promise"
  done
  nothing_in "$(violations "f[\"stack_layer\"] == 0 || f[\"stack_layer\"] > f[\"promised_multi_head\"] || f[\"stack_layer_ring\"] > f[\"promised_multi_head_option\"]" \
    "f[\"stack_layer\"] \" and \" f[\"stack_layer_ring\"] \" bytes, promised \" f[\"promised_multi_head\"] \" and \" f[\"promised_multi_head_option\"]")" "layers: the stack keeps to the headers' promise"
  nothing_in "$(violations "f[\"stack_project_integer\"] == 0 || f[\"stack_project_integer\"] > f[\"promised_integer\"]" \
    "f[\"stack_project_integer\"] \" bytes, promised \" f[\"promised_integer\"]")" "projections in integers: the stack keeps to the headers' promise"
  nothing_in "$(violations "f[\"stack_integer\"] == 0 || f[\"stack_integer\"] > f[\"promised_integer\"] || f[\"stack_integer_ring\"] > f[\"promised_integer_option\"]" \
    "f[\"stack_integer\"] \" and \" f[\"stack_integer_ring\"] \" bytes, promised \" f[\"promised_integer\"] \" and \" f[\"promised_integer_option\"]")" "integers: the stack keeps to the headers' promise"
  for call in core prefill decode options; do
    nothing_in "$(violations "f[\"stack_$call\"] == 0 || f[\"stack_$call\"] > f[\"promised_$call\"]" \
      "f[\"stack_$call\"] \" bytes, include/attend/core/config.h promises \" f[\"promised_$call\"]")" "$call: the stack keeps to the headers' promise"
    # Each constant holds by itself: one must not live on what another has left over.
    [ $call = core ] || [ $call = options ] || nothing_in "$(violations \
      "f[\"stack_$call\"] - f[\"stack_core\"] > f[\"promised_$call\"] - f[\"promised_core\"]" \
      "f[\"stack_$call\"] - f[\"stack_core\"] \" beside core::Floats::run, promised \" f[\"promised_$call\"] - f[\"promised_core\"]")" \
      "$call: what it adds keeps to config::call_stack_bytes"
    [ "$complete" = no ] || nothing_in "$(awk -v call=$call '
      $3 == "stack_" call && $4 > most { most = $4 }
      $3 == "promised_" call { promised = $4 }
      END { if (promised > 1.5 * most) printf "%d promised, %d needed: lower the constant in include/attend/core/config.h", promised, most }
      ' "$build/figures")" "$call: the promise is at most 1.5 times what any board needs"
  done
}

rm -rf "$build"
mkdir -p "$build/log" || exit 1
: >"$build/figures"
: >"$build/missing"
# shellcheck disable=SC2086
share_out "$at_a_time" "$build/log" $builds
gather
complete=yes
if [ -n "${TARGETS:-}" ] || [ -s "$build/missing" ] || [ "$failed" -ne 0 ]; then complete=no; fi

if [ -s "$build/figures" ]; then
  compilers=$(for name in $targets; do sh "$board" compiler "$name"; done | awk '!seen[$0]++' |
    while read -r cxx; do $cxx --version | head -n 1; done)
  {
    awk -v kind=text -f "$here/size_table.awk" "$build/figures"
    printf '\n%s\nfloat32, one head of 32 dimensions, a prompt of 64 tokens, then one token\n' "$compilers"
    for name in $targets; do
      # shellcheck disable=SC2046
      echo "$name, stack read from instructions:" $(sed -n 's/^helper \(.*\)/\1,/p' "$build/$name"-*/stack.text | sort -u) |
        sed 's/,$//' | fold -s -w 128 | sed 's/ $//'
    done
  } | tee build/size.txt
  echo
  check_limits
  check_ratios
  check_stack
fi
if [ $complete = yes ]; then
  {
    awk -v kind=markdown -f "$here/size_table.awk" "$build/figures"
    printf '\n%s\n' "$compilers"
  } >"$build/table.md"
  replace_part "$page" "make size" "$build/table.md"
else
  echo "$page stays as it is, because not all targets were measured"
fi
sort -u "$build/missing" >&2
finish || exit 1
[ ! -s "$build/missing" ] || exit 77
