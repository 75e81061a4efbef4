"""Attention in float64, from the specifications of ONNX and of com.microsoft's operators: see reference.py."""
import math
import os
import sys

import numpy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import float64
from reference import U, Result, chain, wide

HIDDEN = -numpy.inf


def split_heads(x, heads):
    """[batch, tokens, heads * width] as [batch, heads, tokens, width]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def join_heads(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def hidden_unless(visible):
    return numpy.where(visible, 0.0, HIDDEN)


def attention(query, key, value, scale=None, bias=None, softcap=0.0, sinks=None, turned=False, scores_mode=None):
    """query [batch, heads, tokens, width], key and value [batch, groups, keys, width], bias what broadcasts to
    [batch, heads, tokens, keys], -inf where a key is not seen; sinks: a logit for each head, or None; turned: query and key went through
    a rotary embedding. Answers the output [batch, heads, tokens, width of values], and the scores that scores_mode asks for."""
    n, width = key.shape[2], query.shape[3]
    scale = 1 / math.sqrt(width) if not scale else float(numpy.float32(scale))
    bias = numpy.zeros((1, 1, 1, 1)) if bias is None else wide(bias)
    output, raw, capped, scores, weights, _ = float64.attention(query, key, value, bias != HIDDEN, scale, bias, softcap, sinks)
    many = numpy.repeat(abs(wide(key)), query.shape[1] // key.shape[1], 1)
    strength, largest = abs(scale) * numpy.matmul(abs(wide(query)), many.transpose(0, 1, 3, 2)), abs(wide(value)).max(initial=0)
    finite = numpy.where(numpy.isfinite(bias), abs(bias), 0).max(initial=0)
    # A rotary embedding moves each of query and key by 3.7 u of its length, the cap adds a tanh, a bias one rounding.
    ours = float64.bound(n, width, strength.max(initial=0) * (2 if turned else 1) + (softcap * 0.5 if softcap else 0) + 0.2 * finite, largest)
    shipped = U * (2 * n + 30 + (4 * width + 16) * strength.max(initial=0) + 8 * softcap + 4 * finite) * largest
    result = Result(output, ours, shipped)
    if scores_mode is None:
        return result
    of_scores = 1.01 * U * (chain(width) + 6) * strength + 4 * U * (abs(capped) + finite)
    of_weights = U * (2 * chain(width) * strength.max(initial=0) + n / 16 + 40 + 4 * finite) * weights
    picked = {"raw": (raw, of_scores), "capped": (capped, of_scores), "biased": (scores, of_scores), "weights": (weights, of_weights)}[scores_mode]
    return result, Result(picked[0], picked[1], picked[1] * 8)


def causal(tokens, keys, past):
    """[tokens, keys]: token i sees key j <= past + i; past may be an array [batch, 1, 1, 1]."""
    return hidden_unless(numpy.arange(keys)[None, :] <= numpy.arange(tokens)[:, None] + past)


def window(tokens, keys, past, left):
    """Token i sees keys from past + i - left on."""
    return hidden_unless(numpy.arange(keys)[None, :] >= numpy.arange(tokens)[:, None] + past - left)


def additive(mask, keys):
    """A mask of an attention node as what is added: booleans say which keys are seen, keys after its end are not."""
    mask = hidden_unless(mask) if mask.dtype == numpy.bool_ else wide(mask)
    short = keys - mask.shape[-1]
    return numpy.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, short)], constant_values=HIDDEN) if short else mask


def rotated(x, cosines, sines, interleaved=False):
    """x [batch, heads, tokens, width], whose first 2 * w numbers are turned; cosines, sines: [batch or 1, tokens, w]. A Result."""
    x, c, s = wide(x), wide(cosines)[:, None], wide(sines)[:, None]
    w = c.shape[-1]
    first, second = (slice(0, 2 * w, 2), slice(1, 2 * w, 2)) if interleaved else (slice(0, w), slice(w, 2 * w))
    y, bound = x.copy(), numpy.zeros_like(x)
    a, b = x[..., first], x[..., second]
    y[..., first], y[..., second] = a * c - b * s, b * c + a * s
    bound[..., first], bound[..., second] = 2.5 * U * (abs(a * c) + abs(b * s)), 2.5 * U * (abs(b * c) + abs(a * s))
    return Result(y, bound, bound * 2)
