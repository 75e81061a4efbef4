#!/bin/sh
# Runs a program as a rank of MPI, and says which rank it was if it fails: not every MPI does.
"$@"
status=$?
[ $status = 0 ] ||
  echo "distributed: rank ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-of unknown number}} ended with status $status" >&2
exit $status
