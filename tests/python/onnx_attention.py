"""ONNX's Attention operator (opset 23 to 25) by its definition, in float64, for c_onnx.py and wheel_onnx.py."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
import float64

RAW, CAPPED, BIASED, WEIGHTS = range(4)  # qk_matmul_output_mode
random = np.random.default_rng(1)


class Checks:
    """How many were right, and the largest errors of each kind, as parts of their bounds."""

    def __init__(self):
        self.passed, self.failed, self.worst = 0, 0, {}

    def check(self, right, what):
        self.passed, self.failed = self.passed + bool(right), self.failed + (not right)
        if not right:
            print('FAIL', what)

    def compare(self, what, kind, found, wanted, bound):
        with np.errstate(divide='ignore', invalid='ignore'):
            error = np.where(found == wanted, 0, np.abs(found - wanted) / bound)
        self.worst[kind] = max(self.worst.get(kind, 0), float(error.max(initial=0)))
        self.check((error <= 1).all(), f'{what}: {kind} differs by {error.max(initial=0):g} of its bound')

    def compare_node(self, what, c, exact, output, lse, scores, stage, seen, lengths):
        """seen, by [batch][kv head][key], is what spoil() has given."""
        half, bound = '', exact.bound
        if c.dtype == np.float16:
            half, bound = ' float16', bound + 2.0**-11 * (np.abs(exact.output) + bound + 2.0**-14)  # outputs are rounded once more
        self.compare(what, 'output' + half, output, exact.output, bound)
        self.compare(what, 'lse' + half, lse, exact.lse, exact.lse_bound)
        wanted = exact[1 + stage]
        bound = np.broadcast_to(exact.weight_bound if stage == WEIGHTS else exact.score_bound, wanted.shape)
        if stage in (RAW, CAPPED):  # of keys that were spoiled and those that do not exist there is nothing to say
            known = np.repeat(seen, c.heads // c.kv_heads, 1) & (np.arange(scores.shape[3]) < np.array(lengths)[:, None, None])
            known = np.broadcast_to(known[:, :, None], scores.shape)
            scores, wanted, bound = scores[known], wanted[known], bound[known]
        self.compare(what, exact._fields[1 + stage] + ' scores' + half, scores, wanted, bound)

    def errors(self):
        return ', '.join(f'{kind} {error:.2f}' for kind, error in sorted(self.worst.items()))


def heads_first(array, heads):
    """[batch][head][token][width] of an input of three or four dimensions, as a view."""
    if array.ndim == 4:
        return array
    batch, tokens, hidden = array.shape
    return array.reshape(batch, tokens, heads, hidden // heads).transpose(0, 2, 1, 3)


def visible(c, lengths, total):
    """[batch][1 or head][query][key] of what positions, padding and the mask let queries see, and the bias."""
    i, j = np.arange(c.queries)[:, None], np.arange(total)[None, :]
    see = np.empty((c.batch, 1, c.queries, total), bool)
    for b, length in enumerate(lengths):
        at = i + (length - c.queries if c.nonpad is not None else c.past)
        see[b, 0] = (j < length) & (j <= at if c.causal else True) & (j >= at - c.left if c.left is not None else True)
        see[b, 0] &= j <= at + c.right if c.right is not None else True
    bias = np.zeros((1, 1, 1, total))
    if c.mask is not None:
        mask = c.mask.reshape((1,) * (4 - c.mask.ndim) + c.mask.shape)
        short = total - mask.shape[3]
        if short > 0:
            edge = False if mask.dtype == bool else -np.inf
            mask = np.pad(mask, [(0, 0)] * 3 + [(0, short)], constant_values=edge)
        mask = mask[..., :total]
        if mask.dtype == bool:
            see = see & mask
        else:
            see, bias = see & (mask != -np.inf), np.where(mask == -np.inf, 0, mask).astype(np.float64)
    return np.broadcast_to(see, (c.batch, c.heads, c.queries, total)), bias


def reference(c, q, k, v, see, bias):
    return float64.attention(q, k, v, see, c.scale, bias, c.softcap)


def spoil(c, k, v, see):
    """Keys that no query of their head sees become no numbers. Returns which are seen: [batch][kv head][key]."""
    seen = see.reshape(c.batch, c.kv_heads, -1, k.shape[2]).any(2)
    for array, bad in ((k, np.nan), (v, np.inf)):
        array[~seen] = bad
    return seen


class Node:
    """What a node of the operator says."""

    def __init__(self, **given):
        self.batch, self.heads, self.kv_heads, self.dim, self.value_dim, self.queries = 2, 4, 2, 16, 12, 5
        self.past, self.new, self.rank, self.dtype = 0, 21, 4, np.float32
        self.mask = self.nonpad = self.scale = self.left = self.right = None
        self.softcap, self.causal, self.bits, self.present, self.step = 0.0, False, False, True, None
        self.__dict__.update(given)
        self.name = ", ".join("%s %s" % (name, value.shape if hasattr(value, "shape") else getattr(value, "__name__", value))
                              for name, value in given.items())

    def input(self, tokens, heads, width):
        shape = (self.batch, heads, tokens, width) if self.rank == 4 else (self.batch, tokens, heads * width)
        return random.standard_normal(shape).astype(self.dtype)

    def inputs(self):
        """Queries, and keys and values of the past and of the new tokens."""
        return [heads_first(self.input(self.queries, self.heads, self.dim), self.heads)] + [
            [heads_first(self.input(tokens, self.kv_heads, width), self.kv_heads) for width in (self.dim, self.value_dim)]
            for tokens in (self.past, self.new)]

    def lengths(self):
        return [self.past + self.new] * self.batch if self.nonpad is None else list(self.nonpad)


def flags(*shape):
    return random.random(shape) < 0.6


def numbers(*shape):
    array = random.standard_normal(shape).astype(np.float32)
    array[random.random(shape) < 0.3] = -np.inf
    return array
