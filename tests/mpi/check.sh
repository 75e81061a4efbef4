#!/bin/sh
# Sums of attention and prefill over processes beside one call, by every MPI that is installed: tests/mpi/check.sh BUILD_DIR, which has libattend.a
#
# With 1 2 3 5 8 13 ranks (RANKS="…"), and in every order that an MPI's algorithms have. A rank that dies is named, and the run fails.
. tests/support/check.sh
set -- check "$1"
. bench/mpi/run.sh
problems=0
# checked NAME SUFFIX RANKS …: a run of the check, as ran takes it, which has found nothing wrong.
checked() {
  checked=$1
  shift
  if ran "$@" >"$folder/log" 2>&1 && grep -q '[1-9][0-9]* passed, 0 failed' "$folder/log"; then
    ok "$checked: $(grep 'passed,' "$folder/log")"
    problems=$((problems + $(sed -n 's/ random problems, .* passed, .*//p' "$folder/log")))
  else
    fail "$checked" "$(grep -m 1 FAIL "$folder/log" || tail -n 1 "$folder/log")"
  fi
}

# ends NAME SUFFIX HOW: three ranks, of which rank 1 dies in that way amid a prefill. The run fails, names the rank, and no rank
# has an output.
ends() {
  ended="$1, 3 ranks, of which one dies ($3)"
  # shellcheck disable=SC2086
  if ran "$2" 3 $named "$folder/check$2" dies "$3" >"$folder/log" 2>"$folder/errors"; then
    fail "$ended" "the run succeeds"
  elif grep -q 'output of rank' "$folder/log"; then
    fail "$ended" "there is output"
  elif cat "$folder/log" "$folder/errors" | grep -q 'rank 1'; then
    ok "$ended: $(cat "$folder/log" "$folder/errors" | grep -m 1 'rank 1')"
  else
    fail "$ended" "no message names it"
  fi
}

# shellcheck disable=SC2086
for suffix in $found; do
  suffix=${suffix#plain}
  compiled "$suffix" check tests/mpi/check tests/mpi/check_errors tests/mpi/problem tests/mpi/problem_runs bench/mpi/prefill || exit 1
  program=$folder/check$suffix name=${suffix#.}
  for how in kill abort fail leave; do ends "${name:-MPI}" "$suffix" "$how"; done
  for count in ${RANKS:-1 2 3 5 8 13}; do
    checked "${name:-MPI}, $count ranks" "$suffix" "$count" $named "$program" 4
    [ "$count" -gt 1 ] || continue
    if [ "$suffix" = .openmpi ]; then
      for algorithm in 1 2 3 4 5 6 7; do # allreduce has six
        checked "$name, $count ranks, reduce $algorithm, allreduce $((algorithm < 7 ? algorithm : 6))" "$suffix" "$count" \
          --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_reduce_algorithm $algorithm \
          --mca coll_tuned_allreduce_algorithm $((algorithm < 7 ? algorithm : 6)) $named "$program" 1 decode
      done
    elif [ "$suffix" = .mpich ]; then
      for algorithm in "binomial recursive_doubling" "reduce_scatter_gather reduce_scatter_allgather"; do
        checked "$name, $count ranks, reduce ${algorithm% *}, allreduce ${algorithm#* }" "$suffix" "$count" \
          -genv MPIR_CVAR_REDUCE_INTRA_ALGORITHM "${algorithm% *}" -genv MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM "${algorithm#* }" \
          -genv MPIR_CVAR_DEVICE_COLLECTIVES none $named "$program" 1 decode
      done
    fi
  done
done
echo "$problems random problems"
finish
