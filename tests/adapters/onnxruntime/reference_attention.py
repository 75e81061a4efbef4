"""Attention in float64, from the specifications of ONNX and of com.microsoft's operators: see reference.py."""
import math
import os
import sys

import numpy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import float64
from reference import U, Result, wide

HIDDEN = -numpy.inf


def split_heads(x, heads):
    """[batch, tokens, heads * width] as [batch, heads, tokens, width]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def join_heads(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def joined(result):
    return Result(*map(join_heads, (result.values, result.bound, result.shipped)))


def hidden_unless(visible):
    return numpy.where(visible, 0.0, HIDDEN)


def attention(query, key, value, scale=None, bias=None, softcap=0.0, sinks=None, turned=False, scores_mode=None):
    """query [batch, heads, tokens, width], key and value [batch, groups, keys, width], bias what broadcasts to
    [batch, heads, tokens, keys], -inf where a key is not seen; sinks: a logit for each head, or None; turned: query and key went through
    a rotary embedding. Answers the output [batch, heads, tokens, width of values], and the scores that scores_mode asks for."""
    scale = 1 / math.sqrt(query.shape[3]) if not scale else float(numpy.float32(scale))
    bias = numpy.zeros((1, 1, 1, 1)) if bias is None else wide(bias)
    seen = bias != HIDDEN
    found = float64.attention(query, key, value, seen, scale, numpy.where(seen, bias, 0), softcap, sinks)
    # A rotary embedding moves each of query and key by 3.7 u of its length. Plain sums of other kernels round more often.
    times, plain = 2 if turned else 1, 20
    result = Result(found.output, found.bound * times, found.bound * times * plain)
    if scores_mode is None:
        return result
    bound = (found.weight_bound if scores_mode == "weights" else found.score_bound) * times
    return result, Result(getattr(found, scores_mode), bound, bound * plain)


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
