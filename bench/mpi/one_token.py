"""One token's attention over keys that ranks divide, each of which has its own keys alone: what the programs of this folder in Python
have in common."""
import hashlib

import attend
import numpy

HEADS, KV_HEADS, WIDTH, SEGMENT = 8, 2, 64, 512
NODES = 32  # room in states: up to 2 * log2(segments) for each stretch of keys that was merged; AttendError where it is too little
# What State.save writes at most: a fixed length, for collective calls.
BYTES = 4 * (20 + NODES + HEADS * (NODES * (WIDTH + 3) + 2 * WIDTH + 18))


def share(rank, ranks, tokens):
    """The first key of a rank and the one behind its last: whole segments of 512, the last one anywhere, and not the same for all."""
    segments = -(-tokens // SEGMENT)
    return tuple(min(tokens, segments * r * r // ranks**2 * SEGMENT) for r in (rank, rank + 1))


def numbers(seed, heads, first, end):
    """float32 [heads, end - first, WIDTH] by position, so that a rank makes only its own."""
    parts = [numpy.random.default_rng((seed, segment)).standard_normal((heads, SEGMENT, WIDTH), numpy.float32)
             for segment in range(first // SEGMENT, -(-end // SEGMENT))]
    whole = numpy.concatenate(parts or [numpy.empty((heads, 0, WIDTH), numpy.float32)], axis=1)
    return whole[:, :end - first]


def query():
    return numbers(0, HEADS, 0, 1)


def keys_and_values(first, end):
    return numbers(1, KV_HEADS, first, end), numbers(2, KV_HEADS, first, end)


# [states]
def take(rank, ranks, tokens):
    """A state that has taken the keys of a rank, as bytes for the others. One without keys has taken nothing."""
    first, end = share(rank, ranks, tokens)
    state = attend.State(query(), first_key=first if end > first else 0, nodes=NODES)
    state.accumulate(*keys_and_values(first, end))
    return state.save()


def load(saved):
    return attend.State.load(saved, query(), nodes=NODES)


def merge(saved, others):
    """The state of the keys of both, in whichever order."""
    state = load(saved)
    state.merge(load(others))
    return state.save()
# [/states]


def output_of(saved):
    """Output and log-sum-exp as bytes."""
    return b''.join(array.tobytes() for array in load(saved).finish(return_lse=True))


def require_one_call(results, name, tokens):
    """That all ranks have the bytes of one call of one process."""
    whole = b''.join(array.tobytes() for array in attend.attention(query(), *keys_and_values(0, tokens), return_lse=True))
    wrong = [rank for rank, result in enumerate(results) if result != whole]
    if wrong:
        raise SystemExit(f'{name}: ranks {wrong} of {len(results)} have other bytes than one call')
    print(f'{name}: {tokens} keys on {len(results)} ranks, output and log-sum-exp have the bytes of one call, '
          f'sha256 {hashlib.sha256(whole).hexdigest()[:16]}')
