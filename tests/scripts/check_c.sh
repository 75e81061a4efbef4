#!/bin/sh
# The C surface: its headers, programs in C, both libraries, Python: tests/scripts/check_c.sh CXX BUILD_DIR
#
# `make lib` has made BUILD_DIR/libattend.a and BUILD_DIR/libattend.so.
cxx=$1
libraries=$2
build=$2/check_c
. tests/support/check.sh
rm -rf "$build" && mkdir -p "$build" || exit 1
strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude'

# says COMMAND…: succeeds when the command does; its last line of output is part of what is printed.
says() {
  what=$1
  shift
  if "$@" >"$build/log" 2>&1; then
    ok "$what: $(tail -n 1 "$build/log")"
  else
    fail "$what" "$(tail -n 3 "$build/log" | tr '\n' ';')"
  fi
}

printf '#include <attend/attend_c.h>\nattend_problem problem;\n' >"$build/header.c"
for language in 'c -std=c11' 'c -std=c99' 'c++ -std=c++17'; do
  # shellcheck disable=SC2086
  succeeds "attend_c.h by itself: $language" $cxx -x $language $strict -c "$build/header.c" -o "$build/header.o"
done
for header in problem status layers integer linear_attention; do
  printf '#include <attend/c/%s.h>\nattend_status status = ATTEND_OK;\n' "$header" >"$build/header.c"
  # shellcheck disable=SC2086
  succeeds "c/$header.h by itself" $cxx -x c -std=c99 $strict -c "$build/header.c" -o "$build/header.o"
done

# As a C program is built: the C compiler, and no C++ library.
for program in c_surface:c11 c_layers:c99 c_integer:c99 c_linear:c99; do
  name=${program%:*}
  # shellcheck disable=SC2086
  succeeds "tests/c/$name.c: -std=${program#*:} without a warning" \
    $cxx -x c -std=${program#*:} $strict -c "tests/c/$name.c" -o "$build/$name.o" || continue
  for library in a so; do
    # shellcheck disable=SC2086
    succeeds "libattend.$library: $name links, without a C++ library" \
      $cxx -nodefaultlibs -Wl,--gc-sections "$build/$name.o" "$libraries/libattend.$library" -lc -o "$build/$name.$library" &&
      says "libattend.$library: it runs" env LD_LIBRARY_PATH="$libraries" "$build/$name.$library"
  done
done
# Who calls nothing of layers holds nothing of them, where the linker drops sections that nobody uses.
nothing_in "$(nm "$build/c_surface.a" | grep -E 'attend_(layer|project|rotat|pack|convert|additive|activate|add|rms)|rotary|core.*(activate|rms_norm|run_linear|convert_weights)')" \
  "a program without layers holds none of their code"
nothing_in "$(nm "$build/c_surface.a" | grep -E 'attend_integer|IntegerPipeline')" "a program without integer attention holds none of its code"
nothing_in "$(nm "$build/c_integer.a" | grep -E 'attend_(problem_init|cache_append|layer|project)|6Floats|FormatCache')" \
  "a program with integer attention alone holds none of the code of calls in floats"

nothing_in "$(nm "$build/c_surface.a" | grep -E 'attend_(linear|causal_conv)|LinearAttention|Convolution')" "a program without linear attention holds none of its code"
printf '#include <attend/c/linear_attention.h>\nint main(void) {\n  attend_linear_attention linear;\n  return attend_gated_rule_init(&linear, sizeof linear) + attend_linear_run(&linear, 0) == 0;\n}\n' >"$build/one_rule.c"
# shellcheck disable=SC2086
succeeds "a program with one rule of linear attention links" $cxx -x c -std=c99 $strict -Wl,--gc-sections "$build/one_rule.c" -x none "$libraries/libattend.a" -o "$build/one_rule" &&
  nothing_in "$(nm "$build/one_rule" | grep -oE 'linear_attention7Backend[0-9]+[a-z_]+E' | grep -v '7Backend5gatedE'
    nm "$build/one_rule" | grep -q 'linear_attention7Backend5gatedE' || echo 'the rule is missing')" "and holds the code of that rule only"

sed 's/attend_gated/attend_integer_gated/' "$build/one_rule.c" >"$build/one_integer_rule.c"
# shellcheck disable=SC2086
succeeds "a program with one rule in integers links" $cxx -x c -std=c99 $strict -Wl,--gc-sections "$build/one_integer_rule.c" -x none "$libraries/libattend.a" -o "$build/one_integer_rule" &&
  nothing_in "$(nm "$build/one_integer_rule" | grep -E 'linear_attention7Backend|LinearRuleOf|usual_scale|product' | grep -v 'LinearRuleOfILNS_10LinearRuleE1ELNS_5DecayE0ELb1E'
    nm "$build/one_integer_rule" | grep -q 'run_linear_attentionILNS_10LinearRuleE1ELNS_5DecayE0EEEvRKNS0_22IntegerLinear' || echo 'the rule is missing')" "and holds the code of that rule only"

nm -D --defined-only "$libraries/libattend.so" | sed 's/.* //' | sort >"$build/exported"
nothing_in "$([ -s "$build/exported" ] || echo 'nothing is exported'
  grep -v '^attend_' "$build/exported")" "libattend.so exports names of C only"
sed -n 's/^ATTEND_API .*[ *]\(attend_[a-z0-9_]*\)(.*/\1/p' include/attend/attend_c.h include/attend/c/*.h |
  sort >"$build/declared"
nothing_in "$(diff "$build/declared" "$build/exported")" "libattend.so exports what the headers of the C surface declare"
nm "$build/c_surface.o" "$build/c_layers.o" "$build/c_integer.o" "$build/c_linear.o" | sort -u | sed -n 's/^ *U \(attend_\)/\1/p' | sort -u >"$build/called"
nothing_in "$(comm -23 "$build/declared" "$build/called")" "the four programs in C call every function"
nothing_in "$(nm -D --undefined-only "$libraries/libattend.so" | sed 's/.* //; s/@.*//' |
  grep -vE '^(mem(cpy|set|move)|_ITM_.*|__.*)$')" \
  "libattend.so asks for nothing but memcpy, memset, memmove"
# Otherwise a program's own function of such a name would be called in the place of the library's.
nothing_in "$(readelf -rW "$libraries/libattend.so" | grep -o ' attend_[a-z0-9_]*')" "libattend.so calls no public name"

if needs python3 python3; then
  says "sizes of structs and words of errors, by ctypes" python3 tests/python/c_words.py "$libraries/libattend.so"
  says "right programs without one of their lines" python3 tests/python/leave_out.py "$cxx" "$libraries/libattend.a" "$build"
fi
needs_python numpy python3-numpy && says "ONNX's Attention, against float64" "$python" tests/python/c_onnx.py "$libraries/libattend.so"

finish
