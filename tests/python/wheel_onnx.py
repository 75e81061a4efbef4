"""The Python package as ONNX's Attention operator (opset 23 to 25), against float64: tests/python/wheel_onnx.py [PROBLEMS]

Random nodes: inputs of three and four dimensions, float32 and float16, dense and with strides, grouped heads, masks of every
rank, past keys as arrays or in a cache, padded keys, windows, soft cap and all four score outputs. What the library is given are the
arrays themselves: their addresses are looked at. Needs numpy.
"""
import ctypes
import sys

import attend
import attend._c as c_surface
import numpy as np
from onnx_attention import Checks, Node, flags, numbers, random, reference, spoil, visible

STAGES = ('raw', 'capped', 'biased', 'weights')
addresses = {}


def noting(run):
    def run_and_note(problem, *others):
        p = ctypes.cast(problem, ctypes.POINTER(c_surface.attend_problem)).contents
        addresses.update(query=p.query.data, key=p.key.data, value=p.value.data, out=p.output.data, mask=p.mask.data, bias=p.bias.data)
        return run(problem, *others)
    return run_and_note


attend.shared.attend_run, attend.shared.attend_run_part = noting(attend.shared.attend_run), noting(attend.shared.attend_run_part)
checks = Checks()
check = checks.check


def pick(*of):
    return of[random.integers(len(of))]


def with_gaps(array):
    """The same numbers with other strides: every second token, from the last on."""
    return array[:, :, ::-1].repeat(2, 2)[:, :, ::-2]


def node():
    kv_heads, batch, queries, new = int(random.integers(1, 4)), int(random.integers(1, 4)), int(random.integers(1, 20)), int(random.integers(1, 80))
    heads, past = kv_heads * int(random.integers(1, 4)), pick(0, 0, int(random.integers(1, 40)))
    given = dict(batch=batch, heads=heads, kv_heads=kv_heads, queries=queries, past=past, new=new, rank=pick(3, 4),
                 dim=int(random.integers(1, 70)), value_dim=int(random.integers(1, 70)), dtype=pick(np.float32, np.float16),
                 causal=pick(False, True), scale=pick(None, 0.3, -0.2), softcap=pick(0.0, 0.0, 3.0, 20.0))
    if random.random() < 0.3:  # windows, which others have
        given.update(left=pick(None, 0, 7), right=pick(0, 3))
    if past == 0 and random.random() < 0.3:
        given['nonpad'] = random.integers(0, new + 1, batch)
    if random.random() < 0.5:
        total = max(past + new + pick(0, 0, -int(random.integers(0, new))), min(past + new, 2))  # one column of many is refused
        shape = [(total,), (queries, total), (heads, queries, total), (1, queries, total), (batch, heads, queries, total), (batch, 1, 1, total)]
        given['mask'] = pick(flags, numbers)(*pick(*shape))
    return Node(**given)


def cached(n, parts):
    cache = attend.Cache(n.kv_heads, n.dim, n.past + n.new + 5, value_dim=n.value_dim)
    for key, value in parts:
        cache.append(key[0], value[0])
    return cache


def compute(n, case):
    q, *parts = n.inputs()
    lengths = n.lengths()
    k, v = (np.concatenate([part[i] for part in parts], 2) for i in (0, 1))
    see, bias = visible(n, lengths, n.past + n.new)
    exact = reference(n, q, k, v, see, bias)
    seen = spoil(n, k, v, see)
    if random.random() < 0.5:
        q, k, v = with_gaps(q), with_gaps(k), with_gaps(v)
    options = dict(causal=n.causal, scale=n.scale, soft_cap=n.softcap)
    if n.right is not None:
        options['window'] = (n.left, n.right)
    placed = n.causal or n.right is not None
    if n.mask is not None:
        options['mask' if n.mask.dtype == bool else 'bias'] = n.mask
    if n.nonpad is not None:
        options['key_lengths'] = n.nonpad
        if placed:
            options['queries_last'] = True
    elif placed:
        options['offset'] = n.past
    stage = case % 4
    options['return_scores'] = STAGES[stage]
    over_cache = n.batch == 1 and n.dtype == np.float32 and n.nonpad is None
    if over_cache:
        whole = n.past
        output, sums, scores = attend.attention(q, cached(n, [(k[:, :, :whole], v[:, :, :whole]), (k[:, :, whole:], v[:, :, whole:])]),
                                                return_lse=True, **options)
    else:
        output = np.full(exact.output.shape, 7, n.dtype)
        if n.rank == 3:  # tokens before heads
            output = np.ascontiguousarray(output.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
        same, sums, scores = attend.attention(q, k, v, out=output, return_lse=True, **options)
        check(same is output and output.dtype == n.dtype, f'{n.name}: out is what was given')
        given = dict(query=q, key=k, value=v, out=output)
        given.update({name: options[name] for name in ('mask', 'bias') if name in options})
        copied = [name for name, array in given.items() if addresses[name] != array.ctypes.data]
        check(not copied, f'{n.name}: {copied} were copied')
    checks.compare_node(n.name, n, exact, output, sums, scores, stage, seen, lengths)
    return over_cache


problems = int(sys.argv[1]) if len(sys.argv) > 1 else 500
caches = sum(compute(node(), case) for case in range(problems))
check(caches > problems // 20, f'{caches} problems over a cache')
print(f'{problems} problems, {caches} over a cache, {checks.passed} checks, {checks.failed} failed; '
      f'largest errors against float64, as parts of the bounds: {checks.errors()}')
sys.exit(checks.failed > 0)
