#!/bin/sh
# Compiles the programs of this folder for each MPI that is installed, and runs them, from the project's top folder:
#   bench/mpi/run.sh decode BUILD_DIR RANKS TOKENS STEPS   the first MPI that is found (MPI=mpich or openmpi: this one)
#   bench/mpi/run.sh prefill BUILD_DIR RANKS TOKENS PIECE  likewise
#   bench/mpi/run.sh costs BUILD_DIR RANKS TOKENS PIECE    likewise
# tests/mpi/check.sh reads it as `check BUILD_DIR`, for its functions. BUILD_DIR has libattend.a. COMPILED=1: the program is there, of
# this source, from the run before.
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

[ "$what" != check ] || return 0

# shellcheck disable=SC2086
for suffix in $found; do break; done
suffix=${suffix#plain}
[ -n "$COMPILED" ] || compiled "$suffix" distributed $(for name in distributed run_costs run_decode run_prefill run_prefill_verify prefill; do echo "bench/mpi/$name"; done) || exit 1
echo "MPI: $("mpirun$suffix" --version 2>&1 | sed -n '1p; s/^ *Version: */version /p' | tr '\n' ' ')"
LIMIT=${LIMIT:-0} # none
ran "$suffix" "$3" $named "$folder/distributed$suffix" "$what" "$4" "$5"
