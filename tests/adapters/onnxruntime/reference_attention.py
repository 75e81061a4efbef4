"""Attention in float64, from the specifications of ONNX and of com.microsoft's operators: see reference.py."""
import math

import numpy

from reference import U, Result, chain, wide

HIDDEN = -numpy.inf


def split_heads(x, heads):
    """[batch, tokens, heads * width] as [batch, heads, tokens, width]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def join_heads(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def hidden_unless(visible):
    return numpy.where(visible, 0.0, HIDDEN)


def bound_of(n, width, strength, value):
    """The library's bound for n keys: strength is the largest |scale| * sum of |q k|, value the largest |v|."""
    k = n + 9 if n <= 64 else 108 + 2 * math.ceil(math.log2(math.ceil(n / 512)))
    h = min(width, 16) + math.ceil(width / 16) + 1
    return 6.1e-8 * (k + h * strength) * value


def attention(query, key, value, scale=None, bias=None, softcap=0.0, sinks=None, turned=False, scores_mode=None):
    """query [batch, heads, tokens, width], key and value [batch, groups, keys, width], bias what broadcasts to
    [batch, heads, tokens, keys], -inf where a key is not seen; sinks: a logit for each head, or None; turned: query and key went through
    a rotary embedding. Answers the output [batch, heads, tokens, width of values], and the scores that scores_mode asks for."""
    q, k, v = wide(query), wide(key), wide(value)
    times = q.shape[1] // k.shape[1]
    k, v = numpy.repeat(k, times, 1), numpy.repeat(v, times, 1)
    n, width = k.shape[2], q.shape[3]
    scale = 1 / math.sqrt(width) if not scale else float(numpy.float32(scale))
    bias = numpy.zeros((1, 1, 1, 1)) if bias is None else wide(bias)
    raw = scale * numpy.matmul(q, k.transpose(0, 1, 3, 2))
    strength = abs(scale) * numpy.matmul(abs(q), abs(k).transpose(0, 1, 3, 2))
    capped = softcap * numpy.tanh(raw / softcap) if softcap else raw
    scores = capped + bias
    seen = scores != HIDDEN
    most = numpy.where(seen, scores, -1e300).max(-1, keepdims=True)
    if sinks is not None:
        sinks = wide(sinks).reshape(1, -1, 1, 1)
        most = numpy.maximum(most, sinks)
    weights = numpy.where(seen, numpy.exp(numpy.where(seen, scores, 0) - numpy.where(seen.any(-1, keepdims=True), most, 0)), 0)
    total = weights.sum(-1, keepdims=True) + (0 if sinks is None else numpy.exp(sinks - most))
    weights = weights / numpy.where(total == 0, 1, total)
    output = numpy.matmul(weights, v)
    finite = numpy.where(numpy.isfinite(bias), abs(bias), 0).max(initial=0)
    # A rotary embedding moves each of query and key by 3.7 u of its length, the cap adds a tanh, a bias one rounding.
    ours = bound_of(n, width, strength.max(initial=0) * (2 if turned else 1) + (softcap * 0.5 if softcap else 0) + 0.2 * finite, abs(v).max(initial=0))
    shipped = U * (2 * n + 30 + (4 * width + 16) * strength.max(initial=0) + 8 * softcap + 4 * finite) * abs(v).max(initial=0)
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
