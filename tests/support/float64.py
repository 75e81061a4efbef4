"""Attention in float64 by numpy, beside which tests in Python hold the library, and the bound that include/guide/exactness.md derives."""
import collections
import math

import numpy

Attention = collections.namedtuple('Attention', 'output raw capped biased weights lse')


def attention(query, key, value, seen=True, scale=None, bias=0.0, cap=None, sinks=None):
    """query [..., heads, tokens, width], key [..., kv_heads, keys, width], value [..., kv_heads, keys, its width]; seen, whether a query sees a
    key, and bias broadcast to [..., heads, tokens, keys]; sinks [heads]. A query that sees nothing has zeros, and a lse of -inf."""
    query, key, value = (numpy.asarray(each, numpy.float64) for each in (query, key, value))
    key, value = (numpy.repeat(each, query.shape[-3] // each.shape[-3], -3) for each in (key, value))
    raw = query @ key.swapaxes(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    capped = cap * numpy.tanh(raw / cap) if cap else raw
    biased = numpy.where(seen, capped + bias, -numpy.inf)
    most = biased.max(-1, keepdims=True, initial=-numpy.inf)
    if sinks is not None:
        sinks = numpy.asarray(sinks, numpy.float64).reshape(-1, 1, 1)
        most = numpy.maximum(most, sinks)
    most = numpy.where(numpy.isinf(most), 0, most)
    weights = numpy.exp(biased - most)
    total = weights.sum(-1, keepdims=True) + (0 if sinks is None else numpy.exp(sinks - most))
    weights = weights / numpy.where(total == 0, 1, total)
    with numpy.errstate(divide='ignore'):
        lse = (numpy.log(total) + most)[..., 0]
    return Attention(weights @ value, raw, capped, biased, weights, lse)


def bound(keys, width, strength, value):
    """The most that an output of float32 is off: strength is the largest |scale| * sum of |q k|, value the largest |v|."""
    k = keys + 9 if keys <= 64 else 108 + 2 * math.ceil(math.log2(math.ceil(keys / 512)))
    h = min(width, 16) + math.ceil(width / 16) + 1
    return 6.1e-8 * (k + h * strength) * value
