#!/bin/sh
# Compiles the programs of this folder for each MPI that is installed, and runs them, from the project's top folder:
#   bench/mpi/run.sh decode BUILD_DIR RANKS TOKENS STEPS   the first MPI that is found (MPI=mpich or openmpi: this one)
#   bench/mpi/run.sh prefill BUILD_DIR RANKS TOKENS PIECE  likewise
#   bench/mpi/run.sh costs BUILD_DIR RANKS TOKENS PIECE    likewise
#   bench/mpi/run.sh check BUILD_DIR                       all of them, with 1 2 3 5 8 13 ranks (RANKS="…") and algorithms
# BUILD_DIR has libattend.a. COMPILED=1: the program is there, of this source, from the run before.
what=$1
build=$2
folder=$build/distributed

# Each MPI by the name that Debian gives its commands; where there is only one, it may have the plain names.
found=
for mpi in ${MPI:-openmpi mpich}; do
  if command -v "mpicc.$mpi" >/dev/null && command -v "mpirun.$mpi" >/dev/null; then found="$found .$mpi"; fi
done
if [ -z "$found" ] && command -v mpicc >/dev/null && command -v mpirun >/dev/null; then found=plain; fi
if [ -z "$found" ]; then
  echo "distributed: ${MPI:-MPI} was not found; install one (Debian: apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich)" >&2
  exit 1
fi

# Bindings for C++, which MPI no longer has and which do not compile without a warning, are left out.
flags="-O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX"

# compiled SUFFIX PROGRAM SOURCE…: $folder/PROGRAM SUFFIX, of sources without their .cpp
compiled() {
  suffix=$1 into=$folder/$2$1
  shift 2
  for source; do
    shift
    set -- "$@" "$source.cpp"
  done
  mkdir -p "$folder"
  # shellcheck disable=SC2086
  "mpicc$suffix" -std=c99 $flags -c bench/mpi/attend_mpi.c -o "$folder/attend_mpi$suffix.o" &&
    "mpicxx$suffix" -std=c++17 -pthread $flags "$@" "$folder/attend_mpi$suffix.o" "$build/libattend.a" -o "$into"
}

# ran SUFFIX RANKS [OPTION…] PROGRAM [ARGUMENT…]: Open MPI wants to be told that there may be more ranks than cores. Programs
# are run by rank.sh, which names a rank that fails: $named PROGRAM.
named="sh bench/mpi/rank.sh"
ran() {
  suffix=$1 count=$2
  shift 2
  more=
  if "mpirun$suffix" --version 2>&1 | grep -qi 'open.*mpi\|openrte'; then
    more=--oversubscribe
    if [ "$(id -u)" = 0 ]; then more="$more --allow-run-as-root"; fi
  fi
  # shellcheck disable=SC2086
  timeout "${LIMIT:-300}" "mpirun$suffix" $more -n "$count" "$@"
}

# shellcheck disable=SC2086
if [ "$what" != check ]; then
  for suffix in $found; do break; done
  suffix=${suffix#plain}
  [ -n "$COMPILED" ] || compiled "$suffix" distributed $(for name in distributed run_costs run_decode run_prefill run_prefill_verify prefill; do echo "bench/mpi/$name"; done) || exit 1
  echo "MPI: $("mpirun$suffix" --version 2>&1 | sed -n '1p; s/^ *Version: */version /p' | tr '\n' ' ')"
  LIMIT=${LIMIT:-0} # none
  ran "$suffix" "$3" $named "$folder/distributed$suffix" "$what" "$4" "$5"
  exit
fi

. tests/support/check.sh
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
