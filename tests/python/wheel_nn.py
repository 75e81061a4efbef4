"""attend.nn beside the calls that it is made of, bit by bit, and beside PyTorch in float64, where it is installed: tests/python/wheel_nn.py.
Needs numpy.
"""
import attend
import numpy as np
from attend import nn
from attend._integers import multiplier
from wheel_checks import check, draw, finish, refused, same

heads, kv_heads, dim, width, tokens = 4, 2, 8, 24, 7
x, batch, memory = draw(tokens, width), draw(3, tokens, width), draw(3, 5, width)
no = lambda what, text, call: refused(what, text, call, attend.AttendError)

# ---- Projections: packed once, and the arrays are not looked at again.
weight, bias = draw(32, width) / 4, draw(32)
given = weight.copy(), bias.copy()
linear = nn.Linear(*given)
wanted = attend.project(x, attend.Weights(weight, bias))
for array in given:
    array[...] = 7
same('Linear', linear(x), wanted)
same('a batch', linear(batch)[1], linear(batch[1]))
same('one token', linear(x[0]), wanted[0])
for name in ('float16', 'bfloat16', 'int8'):
    same(f'Linear of {name}', nn.Linear(weight, bias, format=name)(x), attend.project(x, attend.Weights(weight, bias).converted(name)))
small = draw(32, 64)
same('Linear of int4', nn.Linear(small, format='int4')(draw(2, 64)[:0]), np.zeros((0, 32), np.float32))
same('int4 weights', nn.Linear(small, format='int4')(small), attend.project(small, attend.Weights(small).converted('int4')))
same('float16 as it is', nn.Linear(weight.astype(np.float16), bias)(x), attend.project(x, attend.Weights(weight.astype(np.float16), bias)))
rounded, scales = (weight * 50).round().clip(-127, 127).astype(np.int8), np.abs(draw(32)) + 0.1
same('int8 with scales', nn.Linear(rounded, bias, scales)(x), attend.project(x, attend.Weights(rounded, bias, scales)))
halves = bias.astype(np.float16)
same('a bias of float16', nn.Linear(weight, halves)(x), attend.project(x, attend.Weights(weight, halves.astype(np.float32))))
same('from_state', nn.Linear.from_state({'a.weight': weight, 'a.bias': bias, 'b': 3}, 'a.')(x), wanted)

# ---- Rows
gain, shift = draw(width), draw(width)
same('LayerNorm', nn.LayerNorm.from_state({'weight': gain, 'bias': shift}, epsilon=1e-6)(batch), attend.layer_norm(batch, gain, shift, 1e-6))
same('RMSNorm', nn.RMSNorm.from_state({'weight': gain})(batch), attend.rms_norm(batch, gain))
same('LayerNorm without weights', nn.LayerNorm()(x), attend.layer_norm(x))
same('Activation', nn.Activation('gelu_tanh')(x, by=x), attend.activate('gelu_tanh', x, by=x))
gate, up, down = draw(40, width), draw(40, width), draw(width, 40)
project = lambda x, *parts: attend.project(x, attend.Weights(*parts))
state = {'mlp.gate_proj.weight': gate, 'mlp.up_proj.weight': up, 'mlp.down_proj.weight': down}
gated = nn.GatedFeedForward.from_state(state, 'mlp.')
same('GatedFeedForward', gated(x), project(attend.activate('silu', project(x, gate), by=project(x, up)), down))
state = {'linear1.weight': gate, 'linear1.bias': draw(40), 'linear2.weight': down, 'linear2.bias': gain}
plain = nn.FeedForward.from_state(state, activation='gelu')
same('FeedForward', plain(x), project(attend.activate('gelu', project(x, gate, state['linear1.bias'])), down, gain))

# ---- Attention
rows = [draw(count * dim, width) / 4 for count in (heads, kv_heads, kv_heads)]
biases, out = [draw(len(each)) for each in rows], (draw(width, heads * dim) / 4, draw(width))
rotary = attend.Rotary(dim, 'halves')
attention, turning = both = [nn.MultiheadAttention(*map(nn.Linear, rows, biases), nn.Linear(*out), heads=heads, kv_heads=kv_heads, rotary=turns)
                             for turns in (None, rotary)]
apart = lambda y, count: np.ascontiguousarray(y.reshape(len(y), count, dim).transpose(1, 0, 2))
together = lambda y: project(np.ascontiguousarray(y.transpose(1, 0, 2)).reshape(y.shape[1], -1), *out)


def by_hand(x, memory, rotary=None, **options):
    parts = [apart(project(y, *each), count) for y, each, count in zip((x, memory, memory), zip(rows, biases), (heads, kv_heads, kv_heads))]
    if rotary:
        attend.rotate(parts[0], rotary, options.get('offset', 0))
        attend.rotate(parts[1], rotary)
    return together(attend.attention(*parts, **options))


for module, turns in zip(both, (None, rotary)):
    wanted = by_hand(x, x, turns, causal=True, window=(3, 0))
    same('self-attention', module(x, causal=True, window=(3, 0), threads=2), wanted)
    same('a layer', attend.Layer(*(attend.Weights(*each) for each in zip(rows, biases)), attend.Weights(*out), heads=heads, kv_heads=kv_heads,
                                 rotary=turns).self_attention(x, causal=True, window=(3, 0)), wanted)
    cache = attend.Cache(kv_heads, dim, 40)
    parts = [module(x[now], cache=cache, causal=True) for now in (slice(0, 4), slice(4, 5), slice(5, 7))]
    same('over a cache', np.concatenate(parts), by_hand(x, x, turns, causal=True))
    of_batch = module(batch, causal=True)
    same('a batch of attention', of_batch, np.stack([by_hand(one, one, turns, causal=True) for one in batch]))
    same('cross-attention', module(batch, memory), np.stack([by_hand(one, two, turns) for one, two in zip(batch, memory)]))
    cache = attend.Cache(kv_heads, dim, 40)
    module.remember(memory[0], cache)
    same('over a remembered memory', module(x, cache), by_hand(x, memory[0], turns))
same('a rotary and an offset', turning(x, memory[0], causal=True, offset=3), by_hand(x, memory[0], rotary, causal=True, offset=3))
lengths = [7, 0, 3]
padded = attention(batch, key_lengths=lengths)
same('a padded batch', padded[2], by_hand(batch[2], batch[2], key_lengths=[3]))
y, weights = attention(x, memory[0], return_scores='weights')
same('with weights', y, by_hand(x, memory[0]))
check(weights.shape == (heads, tokens, 5) and np.abs(weights.sum(2) - 1).max() < 1e-5, 'weights of each head')
third = draw(3, 5, width)
same('values of their own', attention(x, memory[0], third[0]), together(attend.attention(
    *(apart(project(y, *each), count) for y, *each, count in zip((x, memory[0], third[0]), rows, biases, (heads, kv_heads, kv_heads))))))
state = {'in_proj_weight': np.concatenate(rows), 'in_proj_bias': np.concatenate(biases), 'out_proj.weight': out[0], 'out_proj.bias': out[1]}
same('heads from a state', nn.MultiheadAttention.from_state(state, heads=heads, kv_heads=kv_heads)(x), attention(x))
other = {'q_proj_weight': rows[0], 'k_proj_weight': rows[1], 'v_proj_weight': rows[2], **{name: state[name] for name in list(state)[1:]}}
same('three weights', nn.MultiheadAttention.from_state(other, heads=heads, kv_heads=kv_heads)(x), attention(x))
ring = attend.Cache(kv_heads, dim, 40, window_keys=4)
same('over a ring', np.concatenate([attention(x[i:i + 1], cache=ring, causal=True, window=(3, 0)) for i in range(tokens)]),
     by_hand(x, x, causal=True, window=(3, 0)))

# ---- Whole layers
add = lambda x, y: (attend.add(x, y), y)[1]
norm1, norm2, norm3 = (nn.LayerNorm(draw(width), draw(width)) for _ in range(3))
for first in (False, True):
    layer = nn.TransformerEncoderLayer(turning, gated, nn.RMSNorm(gain), norm2, norm_first=first)
    pre = (lambda norm, x: norm(x)) if first else (lambda norm, x: x)
    post = (lambda norm, x: x) if first else (lambda norm, x: norm(x))
    y = post(layer.norm1, add(x, turning(pre(layer.norm1, x), causal=True)))
    y = post(norm2, add(y, gated(pre(norm2, y))))
    same('an encoder layer', layer(x, causal=True), y)
    cache = attend.Cache(kv_heads, dim, 40)
    same('token by token', np.concatenate([layer(x[i:i + 1], cache=cache, causal=True) for i in range(tokens)]), y)
    layer = nn.TransformerDecoderLayer(turning, attention, plain, norm1, norm2, norm3, norm_first=first)
    y = post(norm1, add(x, turning(pre(norm1, x), causal=True)))
    y = post(norm2, add(y, attention(pre(norm2, y), memory[0], key_lengths=[4])))
    y = post(norm3, add(y, plain(pre(norm3, y))))
    same('a decoder layer', layer(x, memory[0], causal=True, memory_options={'key_lengths': [4]}), y)
    cache, remembered = attend.Cache(kv_heads, dim, 40), attend.Cache(kv_heads, dim, 40)
    layer.remember(memory[0, :4], remembered)
    same('it too', np.concatenate([layer(x[i:i + 1], remembered, cache=cache, causal=True) for i in range(tokens)]), y)
no('an option of the memory that there is not', 'no option', lambda: layer(x[:1], remembered, cache=cache, causal=True, memory_options={'color': 3}))
no('a memory of another width', 'vectors of 23 numbers; expected 24', lambda: layer(x[:1], memory[0, :, 1:].copy(), cache=cache, causal=True))
no('a memory without tokens', 'remember(memory, cache)', lambda: layer(x[:1], attend.Cache(kv_heads, dim, 4), cache=cache, causal=True))
no('a memory of other heads', '4 heads of 8 and 8 numbers; expected 2', lambda: layer(x[:1], attend.Cache(4, dim, 4), cache=cache, causal=True))
no('a batch and a cache', 'expected 2 with a cache', lambda: layer(batch, memory, cache=cache, causal=True))
check(len(cache) == tokens, 'refusals leave the cache as it was')
no('scores of a layer', 'return_scores', lambda: layer(x, memory[0], return_scores='weights'))

# ---- Additive attention
query, key, v = draw(16, width), draw(16, width), draw(16)
additive = nn.AdditiveAttention.from_state({'query.weight': query, 'key.weight': key, 'key.bias': v, 'v': v})
same('AdditiveAttention', additive(x, memory[0]), attend.additive_attention(project(x, query), project(memory[0], key, v), memory[0], v))

# ---- Integers
integers = lambda *shape: (draw(*shape) * 40).round().clip(-128, 127).astype(np.int8)


def exact(x, weight, ratios, bias, zero_in, zero_out, kind):
    sums = (x.astype(np.int64) - zero_in) @ weight.T.astype(np.int64) + bias
    factors, shifts = np.array([multiplier(ratio) for ratio in ratios], np.int64).T
    limits = np.iinfo(kind)
    return np.clip((sums * factors + (1 << (shifts - 1)) >> shifts) + zero_out, limits.min, limits.max).astype(kind)


small, steps = integers(2, tokens, width), integers(32, width)
ratios, offsets = np.exp2(-9 - np.abs(draw(32))), (draw(32) * 1000).astype(np.int32)
for kind in ('int8', 'int16'):
    linear = nn.IntegerLinear(steps, ratios, offsets, input_zero_point=-3, output_zero_point=5, output=kind)
    same(f'IntegerLinear of {kind}', linear(small), exact(small, steps, ratios, offsets, -3, 5, kind))
same('one multiplier', nn.IntegerLinear(steps, 0.001)(small[0]), exact(small[0], steps, [0.001] * 32, 0, 0, 0, 'int8'))
check(multiplier(1 - 2**-40) == (2**30, 30) and multiplier(0.75) == (3 * 2**29, 31), 'multipliers')
parts = [nn.IntegerLinear(integers(count * dim, width), 0.003) for count in (heads, kv_heads, kv_heads)]
last = nn.IntegerLinear(integers(width, heads * dim), 0.003)
meanings = [attend.Quantisation(0.02, 0.03, 0.1, 0.1 + head / 50) for head in range(heads)]
in_integers = nn.IntegerMultiheadAttention(*parts, last, heads=heads, kv_heads=kv_heads, quantisation=meanings)
alone = [apart(part(small[0]), count) for part, count in zip(parts, (heads, kv_heads, kv_heads))]
mixed = attend.attention(*alone, causal=True, quantisation=meanings)
same('IntegerMultiheadAttention', in_integers(small[0], causal=True), last(np.ascontiguousarray(mixed.transpose(1, 0, 2)).reshape(tokens, -1)))
same('a batch of it', in_integers(small, causal=True)[0], in_integers(small[0], causal=True))
parts[0] = nn.IntegerLinear(integers(heads * dim, width), 0.003, output_zero_point=44)
meanings = [attend.Quantisation(0.02, 0.03, 0.1, 0.1, query_zero_point=44) for head in range(heads)]
moved = nn.IntegerMultiheadAttention(*parts, last, heads=heads, kv_heads=kv_heads, quantisation=meanings)
alone[0] = apart(parts[0](small[0]), heads)
mixed = attend.attention(*alone, causal=True, quantisation=meanings)
same('queries with a zero point', moved(small[0], causal=True), last(np.ascontiguousarray(mixed.transpose(1, 0, 2)).reshape(tokens, -1)))
same('across', in_integers(small, small[:, :4].copy())[1], in_integers(small[1], small[1, :4]))

# ---- What does not fit
no('x of another width', 'x has vectors of 23', lambda: nn.Linear(weight)(draw(2, 23)))
no('x of another type', 'x.astype(numpy.float32)', lambda: nn.Linear(weight)(x.astype(float)))
no('weights of float64', 'float32', lambda: nn.Linear(weight.astype(float)))
no('a bias of another length', 'bias has 3 numbers for 32', lambda: nn.Linear(weight, bias[:3]))
no('int8 without scales', 'scales are missing', lambda: nn.Linear(rounded))
no('a format of float16', 'expected float32 weights', lambda: nn.Linear(weight.astype(np.float16), format='int8'))
no('a format that there is not', 'expected one of', lambda: nn.Linear(weight, format='int3'))
no('a state without a weight', "no 'a.weight'; expected it for a Linear", lambda: nn.Linear.from_state({}, 'a.'))
no('a state with more', "'a.scale', which a Linear does not take", lambda: nn.Linear.from_state({'a.weight': weight, 'a.scale': 1}, 'a.'))
no('the name of what is wrong', 'a.weight has 1 axes; expected 2', lambda: nn.Linear.from_state({'a.weight': bias}, 'a.'))
no('no state', 'expected a mapping', lambda: nn.Linear.from_state(weight))
no('a norm of another width', 'numbers', lambda: nn.LayerNorm(gain[:3])(x))
no('an epsilon of 0', 'expected 1e-30', lambda: nn.RMSNorm(gain, 0.0))
no('an activation', 'expected one of', lambda: nn.Activation('swish'))
no('a network that does not fit', 'linear2 has 24 inputs; expected 40', lambda: nn.FeedForward(nn.Linear(gate), nn.Linear(draw(5, 24))))
no('gates of other widths', 'expected the same', lambda: nn.GatedFeedForward(nn.Linear(gate), nn.Linear(up[1:]), nn.Linear(down)))
four = [nn.Linear(each) for each in rows] + [nn.Linear(out[0])]
build = lambda *parts, **options: lambda: nn.MultiheadAttention(*parts, **{'heads': heads, 'kv_heads': kv_heads, **options})
no('an array for a Linear', 'expected an attend.nn.Linear', build(rows[0], *four[1:]))
no('3 groups of 4', 'expected a multiple of kv_heads', build(*four, kv_heads=3))
no('heads that do not divide', 'expected a multiple of its 5 heads', build(*four, heads=5, kv_heads=1))
no('keys of another width', 'key has 32 outputs; expected 16', build(four[0], four[0], *four[2:]))
no('an output of another width', 'output has 24 inputs; expected 32', build(*four[:3], nn.Linear(draw(5, 24))))
no('a rotary of wider heads', 'expected at most the 8', build(*four, rotary=attend.Rotary(16, 'halves')))
no('in_proj_weight of other heads', 'in_proj_weight has 64 rows; expected a multiple of 15', lambda: nn.MultiheadAttention.from_state(state, heads=5))
no('bias_k', 'bias_k', lambda: nn.MultiheadAttention.from_state({**state, 'bias_k': bias}, heads=heads))
no('a memory of another batch', 'key has 3 axes and a batch of 2', lambda: attention(batch, memory[:2]))
no('values of other tokens', 'key has 5 tokens and value 7', lambda: attention(x, memory[0], x))
no('a value alone', 'expected both', lambda: attention(x, value=x))
no('an option that there is not', 'no option color', lambda: attention(x, color=3))
no('key and cache', 'leave out key', lambda: attention(x, x, cache=cache))
no('an offset of a rotary', 'begin at position 0', lambda: turning(x, causal=True, offset=2))
no('documents of a rotary', 'for each document', lambda: turning(x, causal=True, documents=[3, 4]))
no('norms of another width', 'norm1 has a weight of 3', lambda: nn.TransformerEncoderLayer(attention, plain, nn.LayerNorm(gain[:3]), norm2))
no('a network of another width', 'feed_forward makes', lambda: nn.TransformerEncoderLayer(
    attention, nn.FeedForward(nn.Linear(draw(5, width)), nn.Linear(draw(9, 5))), norm1, norm2))
no('multipliers of others', 'there are 3 multipliers', lambda: nn.IntegerLinear(steps, [1.0, 2.0, 3.0]))
no('a multiplier that is too large', 'below 2**29', lambda: nn.IntegerLinear(steps, 2.0**29))
large = np.full(32, 2**31 - 1 - 32640 * width, np.int32)
same('the largest biases', nn.IntegerLinear(steps, 1e-8, large, input_zero_point=127)(small[0]), exact(small[0], steps, [1e-8] * 32, large, 127, 0, 'int8'))
large[5] += 1
no('a bias that is too large', f'bias[5] is {large[5]}; expected at most {large[4]}', lambda: nn.IntegerLinear(steps, 0.1, large))
no('floats for integers', 'int8', lambda: nn.IntegerLinear(steps, 0.1)(x))
build = lambda *parts, **options: lambda: nn.IntegerMultiheadAttention(*parts, last, heads=heads, kv_heads=kv_heads, **options)
no('int16 for queries', 'int16', build(linear, *parts[1:], quantisation=meanings))
no('a zero point that is forgotten', 'query has output_zero_point=44 and the quantisation query_zero_point=0', build(
    *parts, quantisation=attend.Quantisation(0.02, 0.03, 0.1, 0.1)))
no('a zero point of the output', 'output has input_zero_point=0 and the quantisation output_zero_point=1', build(
    *parts, quantisation=attend.Quantisation(0.02, 0.03, 0.1, 0.1, query_zero_point=44, output_zero_point=1)))
no('meanings of other heads', 'one for each', build(*parts, quantisation=meanings[:3]))

try:
    import torch
except ImportError:
    torch = None
    print('PyTorch is not there: nothing is compared with it')


def compare(what, found, module, *arguments, **options):
    """module computes in float64 what was computed from its weights in float32."""
    with torch.no_grad():
        exact = module.double()(*(each.double() for each in arguments), **options)
        exact = (exact[0] if isinstance(exact, tuple) else exact).numpy()
    error = np.abs(found - exact).max() / np.abs(exact).max()
    worst[0] = max(worst[0], error)
    check(found.shape == exact.shape and error < 1e-5, f'{what} beside PyTorch: {error:g}')


worst = [0.0]
if torch is not None:
    torch.manual_seed(1)
    inputs, encoded = torch.randn(3, tokens, 32), torch.randn(3, 5, 32)
    masked = torch.ones(tokens, tokens).triu(1).bool()
    linear = torch.nn.Linear(32, 20)
    compare('Linear', nn.Linear.from_state(linear.state_dict())(inputs), linear, inputs)
    norm = torch.nn.LayerNorm(32, eps=1e-3)
    compare('LayerNorm', nn.LayerNorm.from_state(norm.state_dict(), epsilon=1e-3)(inputs), norm, inputs)
    module = torch.nn.MultiheadAttention(32, 4, batch_first=True)
    torch.nn.init.normal_(module.in_proj_bias)
    layer = nn.MultiheadAttention.from_state(module.state_dict(), heads=4)
    compare('MultiheadAttention', layer(inputs, encoded), module, inputs, encoded, encoded)
    module = torch.nn.MultiheadAttention(32, 4, kdim=20, vdim=12, batch_first=True)
    torch.nn.init.normal_(module.in_proj_bias)
    others = torch.randn(3, 5, 20), torch.randn(3, 5, 12)
    compare('widths of their own', nn.MultiheadAttention.from_state(module.state_dict(), heads=4)(inputs, *others), module, inputs, *others)
    for first in (False, True):
        for kind in ('relu', 'gelu'):
            options = dict(norm_first=first, activation=kind)
            module = torch.nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, **options).eval()
            state = {f'0.{name}': each for name, each in module.state_dict().items()}
            layer = nn.TransformerEncoderLayer.from_state(state, '0.', heads=4, **options)
            compare('TransformerEncoderLayer', layer(inputs, causal=True), module, inputs, src_mask=masked)
            hidden = torch.arange(tokens)[None] >= torch.tensor([7, 2, 5])[:, None]
            module.train()  # eval() takes a path that leaves padded tokens out
            module.dropout, module.dropout1, module.dropout2, module.self_attn.dropout = *[torch.nn.Identity()] * 3, 0.0
            compare('padding', layer(inputs, key_lengths=[7, 2, 5]), module, inputs, src_key_padding_mask=hidden)
            module = torch.nn.TransformerDecoderLayer(32, 4, 48, batch_first=True, **options).eval()
            layer = nn.TransformerDecoderLayer.from_state(module.state_dict(), heads=4, **options)
            compare('TransformerDecoderLayer', layer(inputs, encoded, causal=True), module, inputs, encoded, tgt_mask=masked)
    module = torch.nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, layer_norm_eps=0.1).eval()
    layer = nn.TransformerEncoderLayer.from_state(module.state_dict(), heads=4, epsilon=0.1)
    compare('an epsilon', layer(inputs, causal=True), module, inputs, src_mask=masked)
    brain = torch.nn.Linear(32, 20).to(torch.bfloat16)
    compare('Linear of bfloat16', nn.Linear.from_state(brain.state_dict())(inputs), brain, inputs)
    print(f'beside PyTorch in float64: at most {worst[0]:.1e} of the largest')
finish()
