"""The Python package's layers and what they are made of: tests/python/wheel_layers.py. Needs numpy."""
import pickle

import attend
import numpy as np
from wheel_checks import check, draw, finish, refused, same

width, heads, kv_heads, dim, tokens = 24, 4, 2, 8, 7
rows = lambda outputs, inputs: (draw(outputs, inputs) / 4)
wq, wk, wv, wo = rows(heads * dim, width), rows(kv_heads * dim, width), rows(kv_heads * dim, width), rows(width, heads * dim)
bias, x, norm = draw(width), draw(tokens, width), draw(dim)
q, k, v, o = attend.Weights(wq), attend.Weights(wk), attend.Weights(wv), attend.Weights(wo, bias)
exact = lambda w, b, x: x.astype(float) @ w.astype(float).T + b
check(np.abs(attend.project(x, o_in := attend.Weights(wq, draw(32))) - exact(wq, 0, x)).max() > 1e-2 and o_in.outputs == 32, 'a bias')
y = attend.project(attend.project(x, q), o)
check(np.abs(y - exact(wo, bias, exact(wq, 0, x))).max() < 1e-4, 'projections')
same('packed weights', attend.project(attend.project(x, q.packed()), o.packed()), y)
same('several projections', attend.project(x, q, k), (attend.project(x, q), attend.project(x, k)))
same('one token', attend.project(x[2], q), attend.project(x, q)[2])
same('halves', attend.project(x, q.converted('float16')), attend.project(x, attend.Weights(wq.astype(np.float16))))
check(np.abs(attend.project(x, q.converted('int8').packed()) - attend.project(x, q)).max() < 0.1, 'int8 weights')
small = o.converted('int4')
check(np.abs(attend.project(y_in := draw(tokens, 32), small) - attend.project(y_in, o)).max() < 1, 'int4 weights')
same('packed int4 weights', attend.project(y_in, small.packed()), attend.project(y_in, small))
groups = np.zeros((5, 2, 18), np.uint8)
groups[:, :, :2] = draw(5, 2, 1).astype(np.float16).view(np.uint8)
groups[:, :, 2:] = np.arange(160).reshape(5, 2, 16) * 7 % 256
numbers = np.concatenate([groups[:, :, 2:] & 15, groups[:, :, 2:] >> 4], 2).astype(np.float32) - 8
scaled = (numbers * groups[:, :, :2].copy().view(np.float16).astype(np.float32)).reshape(5, 64)
as_they_lie, y_in = attend.Weights(groups.reshape(5, 36)), draw(tokens, 64)
same('4-bit weights as they lie', attend.project(y_in, as_they_lie), attend.project(y_in, attend.Weights(scaled)))
refused('19 bytes for 32 inputs', 'expected 18 for each 32 inputs', lambda: attend.Weights(np.zeros((5, 19), np.uint8)), ValueError)
refused('int4 of 24 inputs', 'inputs', lambda: q.converted('int4'), attend.AttendError)
weight, shift = draw(width), draw(width)
mean, wide = x.astype(float).mean(1, keepdims=True), x.astype(float)
check(np.abs(attend.rms_norm(x, weight) - wide / np.sqrt((wide ** 2).mean(1, keepdims=True) + 1e-5) * weight).max() < 1e-5, 'rms_norm')
normal = (wide - mean) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * weight + shift
check(np.abs(attend.layer_norm(x, weight, shift) - normal).max() < 1e-5, 'layer_norm')
check(np.abs(attend.activate('silu', x, by=x) - wide / (1 + np.exp(-wide)) * wide).max() < 1e-5, 'activate')
rows, power = draw(tokens, 96), np.array([[1.0]])
while len(power) < 32:
    power = np.block([[power, power], [power, -power]])
check(np.abs(attend.hadamard(rows) - (rows.astype(float).reshape(-1, 3, 32) @ power / 32 ** 0.5).reshape(-1, 96)).max() < 1e-5, 'hadamard')
sum_of = draw(tokens, width)
wanted = (sum_of.astype(float) + x.astype(float) * 0.5).astype(np.float32)
attend.add(x, sum_of, 0.5)
same('add', sum_of, wanted)
query, key, value, direction = draw(5, 16), draw(9, 16), draw(9, 6), draw(16)
scores = np.tanh(query[:, None].astype(float) + key) @ direction
weights = np.exp(scores) * (np.arange(9) % 2 == 0)
weights /= weights.sum(1, keepdims=True)
found, shown = attend.additive_attention(query, key, value, direction, mask=np.arange(9) % 2 == 0, return_scores='weights')
check(np.abs(found - weights @ value).max() < 1e-5 and np.abs(shown - weights).max() < 1e-5, 'additive attention')
refused('a v of another width', 'numbers', lambda: attend.additive_attention(query, key, value, direction[:3]))
refused('additive attention in two heads', 'query_heads', lambda: attend.additive_attention(*[draw(2, 3, 4)] * 3, direction[:4]))
rotary = attend.Rotary(dim, 'halves')
turned = draw(2, 3, dim)
angles = (5 + np.arange(3))[:, None] * 10000.0 ** (-2 * np.arange(dim // 2) / dim)
a, b = turned[..., :dim // 2].astype(float), turned[..., dim // 2:].astype(float)
wanted = np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], 2)
attend.rotate(turned, rotary, 5)
check(np.abs(turned - wanted).max() < 1e-5, 'rotate')

layer = attend.Layer(q, k, v, o, heads=heads, kv_heads=kv_heads, rotary=rotary, query_norm=norm, key_norm=norm)

def by_hand(x, position=0):
    """[heads, tokens, dim] of queries, keys and values."""
    apart = [np.ascontiguousarray(rows.reshape(len(x), -1, dim).transpose(1, 0, 2)) for rows in attend.project(x, q, k, v)]
    apart[:2] = [attend.rms_norm(rows, norm) for rows in apart[:2]]
    for rows in apart[:2]:
        attend.rotate(rows, rotary, position)
    return apart

together = lambda out: attend.project(np.ascontiguousarray(out.transpose(1, 0, 2)).reshape(len(x), -1), o)
wanted = together(attend.attention(*by_hand(x), causal=True, window=(3, 0)))
found = layer.self_attention(x, causal=True, window=(3, 0))
same('a layer', found, wanted)
cache, other = attend.Cache(kv_heads, dim, 40), attend.Cache(kv_heads, dim, 40)
steps = np.concatenate([layer.self_attention(x[now], cache, causal=True) for now in (slice(0, 4), slice(4, 5), slice(5, 7))])
same('a layer with a cache', steps, layer.self_attention(x, other, causal=True))
for count in (2, 3):
    same(f'a layer on {count} threads', layer.self_attention(x, causal=True, window=(3, 0), threads=count), wanted)
memory = attend.Cache(kv_heads, dim, 40)
layer.project_memory(draw(11, width), memory)
check(len(memory) == 11, 'project_memory')
apart = by_hand(x)
same('cross attention', layer.cross_attention(x, memory), together(attend.attention(apart[0], memory)))
factors = attend.logarithmic_factors(0.4, 5)
check(np.abs(np.array(factors) - (1 + 0.4 * np.log(1 + np.arange(5)))).max() < 1e-6, 'logarithmic factors')
gate = attend.Weights(draw(o.inputs, width))
scaled_queries = by_hand(x)
scaled_queries[0] *= np.array(factors, np.float32)[np.minimum((np.arange(len(x)) + 1) // 2, 4)][:, None]
out = attend.attention(*scaled_queries, causal=True)
gates = attend.project(x, gate).reshape(len(x), heads, -1).transpose(1, 0, 2)
out = attend.activate('sigmoid', np.ascontiguousarray(gates), out)
of_today = attend.Layer(q, k, v, o, heads=heads, kv_heads=kv_heads, rotary=rotary, query_norm=norm, key_norm=norm,
                        query_factors=(factors, 2, 1), gate=gate)
same('factors of queries and a gate', of_today.self_attention(x, causal=True, threads=2), together(out))
refused('factors without a period', 'expected (factors, period)',
        lambda: attend.Layer(q, k, v, o, heads=heads, kv_heads=kv_heads, query_factors=factors), TypeError)
refused('a period of nothing', 'period', lambda: attend.Layer(q, k, v, o, heads=heads, kv_heads=kv_heads, query_factors=(factors, 0)))
refused('a gate that does not fit', 'gate: give it the outputs', lambda: attend.Layer(
    q, k, v, o, heads=heads, kv_heads=kv_heads, gate=attend.Weights(draw(3, width))).self_attention(x))

refused('an array for weights', 'attend.Weights', lambda: attend.Layer(wq, k, v, o, heads=heads, kv_heads=kv_heads), TypeError)
refused('keys for a cache', 'attend.Cache', lambda: layer.self_attention(x, wk), TypeError)
refused('x of another width', 'inputs', lambda: layer.self_attention(draw(3, 9)))
refused('x with gaps', 'ascontiguousarray', lambda: layer.self_attention(draw(14, width)[::2]))
refused('heads that do not divide', 'divide', lambda: attend.Layer(q, k, v, o, heads=5))
unfit = attend.Layer(q, k, v, attend.Weights(wk), heads=heads, kv_heads=kv_heads)
refused('an output that does not fit', 'output: give it the outputs', lambda: unfit.self_attention(x))
refused('an option of attention alone', 'key_lengths', lambda: layer.self_attention(x, key_lengths=[3]), TypeError)
refused('another offset', 'cache', lambda: layer.self_attention(x, cache, causal=True, offset=0))
refused('pairs in other words', 'halves', lambda: attend.Rotary(8, 'both'))
refused('an activation that there is not', 'silu', lambda: attend.activate('swish', x))
for what, thing in (('weights', q), ('a layer', layer), ('a state', attend.State(x))):
    refused(f'pickles of {what}', 'pickle', lambda: pickle.dumps(thing), (TypeError, ValueError, AttributeError))
finish()
