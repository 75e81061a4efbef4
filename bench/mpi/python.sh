#!/bin/sh
# Runs the programs in Python of this folder, from the project's top folder: bench/mpi/python.sh RANKS TOKENS
# Ranks are as many processes of this machine. `make package` has made build/packages/python.
ranks=$1
tokens=$2
export PYTHONPATH=build/packages/python PYTHONDONTWRITEBYTECODE=1
failed=0

# found MODULE PACKAGE: $python is one that has it.
found() {
  for python in ${PYTHON:-} python3 /usr/bin/python3; do "$python" -c "import numpy, $1" 2>/dev/null && return; done
  echo "distributed-python: no python3 has numpy and $1 (Debian: apt-get install python3-numpy $2)" >&2
  failed=1
  return 1
}

# Open MPI wants to be told that there may be more ranks than cores, and that it may be root. The MPI is the one that mpi4py was
# compiled with.
if found mpi4py.MPI python3-mpi4py; then
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  case $("$python" -c 'from mpi4py import MPI; print(MPI.Get_library_version())') in
    *MPICH*) mpirun=mpirun.mpich ;;
    *) mpirun=mpirun.openmpi ;;
  esac
  command -v $mpirun >/dev/null || mpirun=mpirun
  timeout "${LIMIT:-300}" $mpirun -n "$ranks" "$python" bench/mpi/attend_mpi4py.py "$tokens" || failed=1
fi

# The variables that torchrun would set.
if found torch.distributed python3-torch; then
  MASTER_ADDR=127.0.0.1
  MASTER_PORT=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  export MASTER_ADDR MASTER_PORT WORLD_SIZE="$ranks"
  processes=''
  rank=0
  while [ "$rank" -lt "$ranks" ]; do
    RANK=$rank timeout "${LIMIT:-300}" "$python" bench/mpi/attend_gloo.py "$tokens" &
    processes="$processes $!" rank=$((rank + 1))
  done
  for process in $processes; do wait "$process" || failed=1; done
fi
exit $failed
