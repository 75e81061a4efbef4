"""mpirun -n 4 python3 attend_mpi4py.py [TOKENS]: one token's attention over keys that MPI ranks divide, added up by an operation of MPI."""
import sys

from mpi4py import MPI

from one_token import BYTES, merge, output_of, require_one_call, take

comm = MPI.COMM_WORLD
tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
saved = take(comm.rank, comm.size, tokens)


# [operation]
# An element is one saved state with zeros behind it, which load ignores. Whatever tree an algorithm of MPI makes, of whatever
# shape, the result has the same bytes. An exception in it ends all ranks.
def merge_elements(others, mine, element):
    for at in range(0, len(mine), BYTES):
        mine[at:at + BYTES] = merge(mine[at:at + BYTES], others[at:at + BYTES]).ljust(BYTES, b'\0')


element = MPI.BYTE.Create_contiguous(BYTES).Commit()
operation = MPI.Op.Create(merge_elements, commute=True)
packed = bytearray(saved.ljust(BYTES, b'\0'))
comm.Allreduce(MPI.IN_PLACE, [packed, 1, element], operation)
# [/operation]
operation.Free()
element.Free()
results = comm.gather(output_of(packed))

# In fewer lines, by mpi4py's own tree: bytes of any length are pickled.
pickled = comm.gather(output_of(comm.allreduce(saved, merge)))

if comm.rank == 0:
    require_one_call(results, 'mpi4py, Allreduce', tokens)
    require_one_call(pickled, 'mpi4py, allreduce', tokens)
