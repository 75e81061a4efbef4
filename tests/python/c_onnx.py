"""ONNX's Attention operator (opset 23 to 25) through the shared library, against float64: tests/python/c_onnx.py LIBRARY

Inputs of three and four dimensions, grouped heads, masks of every rank, past keys, padded keys, windows, soft cap, half
precision and all four score outputs, without copying anything. Needs numpy.
"""
import ctypes
import itertools
import sys

import numpy as np

from c_library import attend, c
from onnx_attention import WEIGHTS, Checks, Node, flags, numbers, reference, spoil, visible

FORMATS = {np.dtype(np.float32): c.ATTEND_FLOAT32, np.dtype(np.float16): c.ATTEND_FLOAT16}
checks = Checks()
check = checks.check


def right(status, what):
    said = attend.attend_argument_name(status), attend.attend_error_text(status)
    check(status == 0, "%s: %s: %s" % (what, *(words.decode() for words in said)))


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def tensor(view, kind=c.attend_input):
    steps = [step // view.itemsize for step in view.strides]
    assert steps[3] == 1 or view.shape[3] == 1
    return kind(address(view), steps[0], steps[2], steps[1])


class Case(Node):
    """A node, and how it is put to the library."""

    def run(self):
        total = self.past + self.new
        q, *parts = self.inputs()
        lengths = self.lengths()
        k, v = (np.concatenate([part[n] for part in parts], 2) for n in (0, 1))
        see, bias = visible(self, lengths, total)
        exact = reference(self, q, k, v, see, bias)
        seen = spoil(self, k, v, see)
        for first, part in ((0, parts[0]), (self.past, parts[1])):
            for array, whole in zip(part, (k, v)):
                array[...] = whole[:, :, first:first + array.shape[2]]

        for stage in range(4):
            if self.present or stage != WEIGHTS:
                self.call(q, parts, (k, v), lengths, exact, seen, stage)

    def call(self, q, parts, whole, lengths, exact, seen, stage):
        total = self.past + self.new
        p = c.attend_problem()
        right(attend.attend_problem_init(ctypes.byref(p), ctypes.sizeof(p)), "attend_problem_init")
        p.batch, p.query_heads, p.kv_heads, p.head_dim, p.value_dim = (self.batch, self.heads, self.kv_heads, self.dim,
                                                                      self.value_dim)
        p.queries, p.keys, p.soft_cap = self.queries, total, self.softcap
        p.options = c.ATTEND_CAUSAL if self.causal else 0
        if self.scale is not None:
            p.scale = self.scale
        if self.left is not None:
            p.window_left = self.left
        if self.right is not None:
            p.window_right = self.right
        placed = self.causal or self.left is not None or self.right is not None
        if placed and self.nonpad is None:
            p.offset = self.past
        if self.nonpad is not None:
            p.options |= c.ATTEND_QUERIES_LAST if placed else 0
            kept = (ctypes.c_ssize_t * self.batch)(*lengths)
            p.key_lengths = ctypes.addressof(kept)
        held = self.put_mask(p)
        p.query_format = p.key_format = p.value_format = p.output_format = FORMATS[np.dtype(self.dtype)]
        y = np.full((self.batch, self.queries, self.heads, self.value_dim), 7, self.dtype)
        y = y.transpose(0, 2, 1, 3) if self.rank == 3 else np.ascontiguousarray(y.transpose(0, 2, 1, 3))
        scores = np.full((self.batch, self.heads, self.queries, total), 7, np.float32)
        sums = np.full((self.batch, self.heads, self.queries, 1), 7, np.float32)
        p.query, p.output, p.lse = tensor(q), tensor(y, c.attend_output), tensor(sums, c.attend_output)
        steps = [step // 4 for step in scores.strides]
        p.scores = c.attend_scores(address(scores), steps[0], steps[1], steps[2], total, stage + 1)
        if self.present:
            p.key, p.value = tensor(whole[0]), tensor(whole[1])
            self.start(p)
        else:
            self.absorb(p, parts)
        checks.compare_node("%s, stage %d" % (self.name, stage), self, exact, y, sums[..., 0], scores, stage, seen, lengths)
        del held

    def put_mask(self, p):
        if self.mask is None:
            return None
        mask = self.mask.reshape((1,) * (4 - self.mask.ndim) + self.mask.shape)
        keys, scaled = mask.shape[3], 1
        if self.bits:
            mask, scaled = np.packbits(mask, 3, "little"), 8
        else:
            mask = np.ascontiguousarray(mask)
        steps = [0 if count == 1 else scaled * step // mask.itemsize for count, step in zip(mask.shape, mask.strides)]
        if self.mask.dtype == bool:
            p.mask = c.attend_mask(address(mask), *steps[:3], keys, c.ATTEND_MASK_BITS if self.bits else c.ATTEND_MASK_BYTES)
        else:
            p.bias = c.attend_bias(address(mask), *steps[:3], keys)
        return mask

    def start(self, p):
        size = attend.attend_workspace_size(ctypes.byref(p))
        memory = np.empty(size + 64, np.uint8)
        right(attend.attend_run(ctypes.byref(p), memory.ctypes.data + -memory.ctypes.data % 64, size), self.name)

    def absorb(self, p, parts):
        """Past and new keys where they lie, at most `step` of them in a call."""
        states = np.full(attend.attend_state_size(ctypes.byref(p)), 255, np.uint8)
        p.states = address(states)
        right(attend.attend_begin(ctypes.byref(p)), self.name)
        for origin, (key, value) in ((0, parts[0]), (self.past, parts[1])):
            end = origin + key.shape[2]
            for first in range(origin, end, self.step or end - origin or 1):
                p.key, p.value, p.origin = tensor(key), tensor(value), origin
                p.first_key, p.keys = first, min(end, first + (self.step or end))
                self.start(p)
        ends = (ctypes.c_ssize_t * self.batch)(*[self.past + self.new] * self.batch)  # queries may have positions behind all keys
        if self.nonpad is None:
            p.key_lengths = ctypes.addressof(ends)
        right(attend.attend_finish(ctypes.byref(p)), self.name)


def blind():
    """A query that sees nothing."""
    mask = flags(5, 21)
    mask[2] = False
    return mask


def cases():
    for rank, dtype, causal in itertools.product((3, 4), (np.float32, np.float16), (False, True)):
        yield Case(rank=rank, dtype=dtype, causal=causal)
        yield Case(rank=rank, dtype=dtype, causal=causal, past=9, new=5, mask=numbers(5, 14))
        yield Case(rank=rank, dtype=dtype, causal=causal, past=9, new=5, present=False, step=4)
    for shape in ((21,), (5, 21), (1, 21), (4, 5, 21), (1, 5, 21), (2, 4, 5, 21), (2, 1, 5, 21), (1, 4, 1, 21), (2, 1, 1, 21)):
        yield Case(mask=flags(*shape))
        yield Case(mask=flags(*shape), bits=True)
        yield Case(mask=numbers(*shape), causal=True)
    yield Case(mask=flags(5, 17))  # shorter than the keys: the rest is masked
    yield Case(mask=numbers(2, 1, 5, 13), softcap=2.0)
    yield Case(mask=flags(5, 30))  # longer: the rest does not matter
    yield Case(mask=blind(), rank=3)
    yield Case(mask=np.zeros((5, 21), bool))
    yield Case(mask=np.full((5, 21), -np.inf, np.float32), causal=True)
    for softcap, scale in ((0.5, None), (30.0, 0.7), (5.0, -0.3)):
        yield Case(softcap=softcap, scale=scale)
        yield Case(softcap=softcap, scale=scale, causal=True, mask=numbers(4, 5, 21), rank=3)
    for nonpad in ((21, 3), (0, 21), (5, 13)):  # the second has queries before the first key
        yield Case(nonpad=nonpad)
        yield Case(nonpad=nonpad, causal=True)
        yield Case(nonpad=nonpad, causal=True, mask=flags(2, 1, 5, 21), dtype=np.float16)
    for left, right_end in ((3, None), (None, 2), (4, 0), (0, 0), (100, 100)):
        yield Case(left=left, right=right_end)
        yield Case(left=left, right=right_end, past=11, new=10, present=False, step=7)
        yield Case(left=left, right=right_end, nonpad=(21, 2))
    for heads, kv_heads, dim, value_dim in ((1, 1, 1, 1), (6, 1, 33, 7), (3, 3, 64, 128), (8, 2, 80, 80)):
        yield Case(heads=heads, kv_heads=kv_heads, dim=dim, value_dim=value_dim, causal=True, past=16)
        yield Case(heads=heads, kv_heads=kv_heads, dim=dim, value_dim=value_dim, past=600, new=3, causal=True, present=False)


count = 0
for name in itertools.takewhile(bool, map(attend.attend_backend_name, itertools.count())):
    if attend.attend_backend_use(name) == 0:
        for case in cases():
            case.run()
            count += 1
print("%d cases, %d checks, %d failed; largest errors against float64, as parts of the bounds: %s" % (
    count, checks.passed + checks.failed, checks.failed, checks.errors()))
sys.exit(checks.failed > 0 or count < 60)
