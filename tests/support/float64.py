"""Attention in float64 by numpy, beside which tests in Python hold the library, and the bounds that include/guide/exactness.md derives."""
import collections
import math

import numpy

Attention = collections.namedtuple('Attention', 'output raw capped biased weights lse bound weight_bound score_bound lse_bound')


def attention(query, key, value, seen=True, scale=None, bias=0.0, cap=None, sinks=None):
    """query [..., heads, tokens, width], key [..., kv_heads, keys, width], value [..., kv_heads, keys, its width]; seen, whether a query sees a
    key, and bias broadcast to [..., heads, tokens, keys]; sinks [heads]. A query that sees nothing has zeros, and a lse of -inf. The bounds are
    the most that numbers of float32 are off: of outputs, weights, scores and lse."""
    query, key, value = (numpy.array(each, numpy.float64, ndmin=3) for each in (query, key, value))
    key, value = (numpy.repeat(each, max(1, query.shape[-3] // each.shape[-3]), -3) for each in (key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    raw, size = query @ key.swapaxes(-1, -2) * scale, abs(query) @ abs(key).swapaxes(-1, -2) * abs(scale)
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

    # size: of all that is added up to a score. Beyond 9 caps the hyperbolic tangent is 1, however wrong its argument is.
    size = (numpy.where(abs(raw) > 9 * cap, 9 * cap, size) if cap else size) + abs(bias)
    largest = numpy.where(biased > -numpy.inf, size, 0).max(-1, keepdims=True, initial=0 if sinks is None else abs(sinks).max())
    # Roundings: a cap adds nine to a score and a bias one, a sink one to the denominator.
    keys, width = key.shape[-2:]
    h = min(width, 16) + math.ceil(width / 16) + 1 + (9 if cap else 0) + bool(numpy.any(bias))
    levels = math.ceil(math.log2(math.ceil(max(keys, 1) / 512)))
    sums, sums_of_lse = (keys + 9, 10) if keys <= 64 else (108 + 2 * levels, 38 + levels)
    sink = sinks is not None
    weight_bound = 6.1e-8 * (sums + sink + h * largest) * (total > 0)
    lse_bound = 6.1e-8 * (sums_of_lse + sink + h * largest[..., 0] + numpy.nan_to_num(abs(lse), posinf=0))
    return Attention(weights @ value, raw, capped, biased, weights, lse, weight_bound * abs(value).max(-2, keepdims=True, initial=0), weight_bound,
                     6.1e-8 * (h + 2) * size, lse_bound)
