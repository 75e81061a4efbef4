"""ONNX's Attention operator (opset 23 to 25) through the shared library, against float64: tests/python/c_onnx.py LIBRARY

Inputs of three and four dimensions, grouped heads, masks of every rank, past keys, padded keys, windows, soft cap, half
precision and all four score outputs, without copying anything. Needs numpy.
"""
import ctypes
import itertools
import sys

import numpy as np

from onnx_attention import CAPPED, RAW, WEIGHTS, Checks, Node, flags, numbers, reference, spoil, visible

size_t, ptrdiff, pointer, c_int, c_float = ctypes.c_size_t, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_int, ctypes.c_float
CAUSAL, QUERIES_LAST = 1, 2
BYTES, BITS = 1, 2
FORMATS = {np.dtype(np.float32): 0, np.dtype(np.float16): 1}


def struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": [(n, t) for names, t in fields for n in names.split()]})


Tensor = struct("Tensor", ("data", pointer), ("batch_stride token_stride head_stride", ptrdiff))
Mask = struct("Mask", ("data", pointer), ("batch_stride head_stride query_stride keys", ptrdiff), ("kind", c_int))
Bias = struct("Bias", ("data", pointer), ("batch_stride head_stride query_stride keys", ptrdiff))
Relative = struct("Relative", ("data", pointer), ("head_stride left right", ptrdiff))
Scores = struct("Scores", ("data", pointer), ("batch_stride head_stride query_stride keys", ptrdiff), ("stage", c_int))
Scales = struct("Scales", ("data", pointer), ("batch_stride head_stride", ptrdiff))
Pages = struct("Pages", ("table", pointer), ("batch_stride page_keys count", ptrdiff))
Ranges = struct("Ranges", ("first end", pointer), ("batch_stride", ptrdiff))
Documents = struct("Documents", ("boundaries", pointer), ("count", ptrdiff))
Problem = struct(
    "Problem", ("size", size_t), ("arithmetic", pointer), ("options", ctypes.c_uint32), ("layout", c_int),
    ("batch query_heads kv_heads head_dim value_dim queries keys", ptrdiff), ("key_lengths", pointer),
    ("query_format output_format key_format value_format", c_int), ("query key value output", Tensor),
    ("constants head_constants cache", pointer), ("pages", Pages), ("key_scales value_scales", Scales), ("origin", ptrdiff),
    ("offset window_left window_right sink_tokens", ptrdiff), ("mask", Mask), ("ranges", Ranges), ("documents", Documents),
    ("scale soft_cap", c_float), ("alibi_slopes", pointer), ("relative_bias", Relative), ("sink_logits", pointer), ("bias", Bias),
    ("bias_stage lse_base", c_int), ("lse", Tensor), ("scores", Scores), ("states", pointer), ("first_key state_nodes", ptrdiff))

attend = ctypes.CDLL(sys.argv[1])
attend.attend_error_text.restype = attend.attend_argument_name.restype = ctypes.c_char_p
attend.attend_backend_name.restype = ctypes.c_char_p
attend.attend_backend_use.argtypes = [ctypes.c_char_p]
attend.attend_problem_init.argtypes = [pointer, size_t]
attend.attend_workspace_size.argtypes = attend.attend_state_size.argtypes = [pointer]
attend.attend_begin.argtypes = attend.attend_finish.argtypes = [pointer]
attend.attend_workspace_size.restype = attend.attend_state_size.restype = size_t
attend.attend_run.argtypes = [pointer, pointer, size_t]
checks = Checks()
check = checks.check


def right(status, what):
    said = attend.attend_argument_name(status), attend.attend_error_text(status)
    check(status == 0, "%s: %s: %s" % (what, *(words.decode() for words in said)))


def address(array):
    return array.ctypes.data_as(pointer)


def tensor(view):
    steps = [step // view.itemsize for step in view.strides]
    assert steps[3] == 1 or view.shape[3] == 1
    return Tensor(view.ctypes.data_as(pointer), steps[0], steps[2], steps[1])


class Case(Node):
    """A node, and how it is put to the library."""

    def run(self):
        total = self.past + self.new
        q, *parts = self.inputs()
        lengths = self.lengths()
        k, v = (np.concatenate([part[n] for part in parts], 2) for n in (0, 1))
        see, bias = visible(self, lengths, total)
        expected, stages, lse = reference(self, q, k, v, see, bias)
        seen = spoil(self, k, v, see)
        for first, part in ((0, parts[0]), (self.past, parts[1])):
            for array, whole in zip(part, (k, v)):
                array[...] = whole[:, :, first:first + array.shape[2]]

        for stage in range(4):
            if self.present or stage != WEIGHTS:
                self.call(q, parts, (k, v), lengths, expected, stages, lse, seen, stage)

    def call(self, q, parts, whole, lengths, expected, stages, lse, seen, stage):
        total = self.past + self.new
        p = Problem()
        right(attend.attend_problem_init(ctypes.byref(p), ctypes.sizeof(p)), "attend_problem_init")
        p.batch, p.query_heads, p.kv_heads, p.head_dim, p.value_dim = (self.batch, self.heads, self.kv_heads, self.dim,
                                                                      self.value_dim)
        p.queries, p.keys, p.soft_cap = self.queries, total, self.softcap
        p.options = CAUSAL if self.causal else 0
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
            p.options |= QUERIES_LAST if placed else 0
            kept = (ptrdiff * self.batch)(*lengths)
            p.key_lengths = ctypes.cast(kept, pointer)
        held = self.put_mask(p)
        p.query_format = p.key_format = p.value_format = p.output_format = FORMATS[np.dtype(self.dtype)]
        y = np.full((self.batch, self.queries, self.heads, self.value_dim), 7, self.dtype)
        y = y.transpose(0, 2, 1, 3) if self.rank == 3 else np.ascontiguousarray(y.transpose(0, 2, 1, 3))
        scores = np.full((self.batch, self.heads, self.queries, total), 7, np.float32)
        sums = np.full((self.batch, self.heads, self.queries, 1), 7, np.float32)
        p.query, p.output, p.lse = tensor(q), tensor(y), tensor(sums)
        steps = [step // 4 for step in scores.strides]
        p.scores = Scores(address(scores), steps[0], steps[1], steps[2], total, stage + 1)
        if self.present:
            p.key, p.value = tensor(whole[0]), tensor(whole[1])
            self.start(p)
        else:
            self.absorb(p, parts)
        what = "%s, stage %d" % (self.name, stage)
        half = self.dtype == np.float16
        suffix = " float16" if half else ""
        checks.compare(what, "output" + suffix, y, expected, 1.5e-3 if half else 4e-6)
        checks.compare(what, "lse" + suffix, sums[..., 0], lse, 6e-6)
        found, wanted = scores, stages[stage]
        if stage in (RAW, CAPPED):  # of keys that were spoiled and those that do not exist there is nothing to say
            group = self.heads // self.kv_heads
            known = np.broadcast_to(np.repeat(seen, group, 1)[:, :, None, :], found.shape)
            known = known & (np.arange(total) < np.array(lengths)[:, None, None, None])
            found, wanted = found[known], wanted[known]
        checks.compare(what, "scores" + suffix, found, wanted, 1e-5)
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
            p.mask = Mask(address(mask), *steps[:3], keys, BITS if self.bits else BYTES)
        else:
            p.bias = Bias(address(mask), *steps[:3], keys)
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
        ends = (ptrdiff * self.batch)(*[self.past + self.new] * self.batch)  # queries may have positions behind all keys
        if self.nonpad is None:
            p.key_lengths = ctypes.cast(ends, pointer)
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


unfit = Problem()
check(attend.attend_problem_init(ctypes.byref(unfit), ctypes.sizeof(unfit)) == 0, "size of attend_problem")
check(attend.attend_problem_init(ctypes.byref(unfit), ctypes.sizeof(unfit) - 1) != 0, "size of attend_problem")
count = 0
for name in itertools.takewhile(bool, map(attend.attend_backend_name, itertools.count())):
    if attend.attend_backend_use(name) == 0:
        for case in cases():
            case.run()
            count += 1
print("%d cases, %d checks, %d failed; largest errors against float64: %s" % (
    count, checks.passed + checks.failed, checks.failed, checks.errors()))
sys.exit(checks.failed > 0 or count < 60)
