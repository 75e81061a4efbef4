"""torchrun --nproc_per_node 4 attend_gloo.py [TOKENS]: one token's attention over keys that ranks of torch.distributed divide, over
gloo."""
import functools
import sys

import torch
import torch.distributed as dist

from one_token import BYTES, merge, output_of, require_one_call, take

dist.init_process_group('gloo')
rank, ranks = dist.get_rank(), dist.get_world_size()
tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 20000

# [gather]
# gloo adds numbers and takes no operation of one's own. So every rank gets all states, and merges them: here each in another
# order, with itself first.
mine = torch.frombuffer(bytearray(take(rank, ranks, tokens).ljust(BYTES, b'\0')), dtype=torch.uint8)
gathered = [torch.empty_like(mine) for _ in range(ranks)]
dist.all_gather(gathered, mine)
states = [state.numpy().tobytes() for state in gathered[rank:] + gathered[:rank]]
result = output_of(functools.reduce(merge, states))
# [/gather]

results = [None] * ranks
dist.all_gather_object(results, result)
if rank == 0:
    require_one_call(results, 'torch.distributed over gloo', tokens)
dist.destroy_process_group()
