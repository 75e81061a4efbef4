"""LinearAttention and CausalConvWithState: what they compute, in float64, token by token; and nodes of theirs with arrays.

linear_cases and conv_cases are the cases of ONNX's own tests of these nodes, by their names, attributes and shapes; microsoft_cases are nodes of
ONNX Runtime. Each is (name, kind, domain, names of the inputs in order, arrays by these names, attributes, the reference).
"""
import numpy

random = numpy.random.default_rng(27)


def linear_attention(query, key, value, past=None, decay=None, beta=None, *, q_num_heads, kv_num_heads, update_rule='gated_delta', scale=0.0):
    items, tokens, dim = query.shape[0], query.shape[1], query.shape[2] // q_num_heads
    values, keys = value.shape[2] // kv_num_heads, key.shape[2] // dim
    out_heads = max(q_num_heads, kv_num_heads)
    y = numpy.zeros((items, tokens, out_heads * values))
    states = numpy.zeros((items, kv_num_heads, dim, values)) if past is None else past.astype('float64')
    scale = scale or dim ** -0.5
    for b in range(items):
        for h in range(kv_num_heads):
            s, of_key = states[b, h], h * keys // kv_num_heads
            for t in range(tokens):
                k = key[b, t, of_key * dim:(of_key + 1) * dim].astype('float64')
                v = value[b, t, h * values:(h + 1) * values].astype('float64')
                if decay is not None:
                    each = decay.shape[2] // kv_num_heads
                    s *= numpy.exp(decay[b, t, h * each:(h + 1) * each].astype('float64'))[:, None]
                if beta is not None:
                    v = float(beta[b, t, h if beta.shape[2] > 1 else 0]) * (v - s.T @ k)
                s += numpy.outer(k, v)
                for o in range(out_heads):
                    if o * kv_num_heads // out_heads == h:
                        q = o * q_num_heads // out_heads
                        y[b, t, o * values:(o + 1) * values] = scale * s.T @ query[b, t, q * dim:(q + 1) * dim]
    return y, states


def causal_conv(x, weight, bias=None, past=None, activation='none', channels_last=0):
    if channels_last:
        turned = None if past is None else past.swapaxes(1, 2)
        return [each.swapaxes(1, 2) for each in causal_conv(x.swapaxes(1, 2), weight, bias, turned, activation)]
    (items, channels, length), width = x.shape, weight.shape[2]
    y, present = numpy.zeros(x.shape), numpy.zeros((items, channels, width - 1))
    for b in range(items):
        for c in range(channels):
            row = [0.0] * (width - 1) if past is None else list(past[b, c].astype('float64'))
            row += list(x[b, c].astype('float64'))
            for t in range(length):
                total = (0.0 if bias is None else float(bias[c])) + sum(float(weight[c, 0, j]) * row[t + j] for j in range(width))
                y[b, c, t] = total / (1 + numpy.exp(-total)) if activation != 'none' else total
            present[b, c] = row[length:]
    return y, present


def arrays_of(rule='gated_delta', batch=2, tokens=4, heads=4, values=4, keys=None, dim=8, width=8, per_head=False, scalar=False, past=None, half=False):
    """Inputs of a LinearAttention, by their names."""
    keys = values if keys is None else keys
    draw = lambda *shape: random.standard_normal(shape).astype('float16' if half else 'float32')
    key = draw(batch, tokens, keys, dim)
    if 'delta' in rule:
        key = key / numpy.linalg.norm(key.astype('float32'), axis=-1, keepdims=True).astype(key.dtype)
    given = {'query': draw(batch, tokens, heads * dim), 'key': key.reshape(batch, tokens, keys * dim), 'value': draw(batch, tokens, values * width)}
    if past is not None:
        given['past'] = draw(batch, values, dim, width) * numpy.float32(past)
    if 'gated' in rule:
        given['decay'] = -abs(draw(batch, tokens, values * (1 if per_head else dim))) * given['query'].dtype.type(0.1)
    if 'delta' in rule:
        given['beta'] = random.random((batch, tokens, 1 if scalar else values)).astype(given['query'].dtype)
    return given


def linear_case(name, rule='gated_delta', scale=0.0, domain='', **how):
    """A node, its arrays, and which outputs it has."""
    given = arrays_of(rule, **how)
    attributes = {'q_num_heads': how.get('heads', 4), 'kv_num_heads': how.get('values', 4)}
    attributes.update({'update_rule': rule} if rule != 'gated_delta' else {})
    attributes.update({'scale': scale} if scale else {})
    return name, 'LinearAttention', domain, ('query', 'key', 'value', 'past', 'decay', 'beta'), given, attributes, linear_attention


def conv_case(name, length=8, batch=2, channels=4, width=4, bias=False, past=False, activation='none', half=False, domain='', **attributes):
    draw = lambda *shape: random.standard_normal(shape).astype('float16' if half else 'float32')
    given = {'input': draw(batch, channels, length), 'weight': draw(channels, 1, width)}
    given.update({'bias': draw(channels)} if bias else {})
    given.update({'past': draw(batch, channels, width - 1)} if past else {})
    if attributes.get('channels_last'):
        given.update({name: numpy.ascontiguousarray(given[name].swapaxes(1, 2)) for name in ('input', 'past') if name in given})
    attributes.update({'activation': activation} if activation != 'none' else {})
    return name, 'CausalConvWithState', domain, ('input', 'weight', 'bias', 'past'), given, attributes, causal_conv


def linear_cases():
    yield linear_case('linear', 'linear')
    yield linear_case('gated', 'gated')
    yield linear_case('gated_per_head_decay', 'gated', per_head=True)
    yield linear_case('delta', 'delta')
    yield linear_case('gated_delta')
    yield linear_case('gated_delta_beta_scalar', scalar=True)
    yield linear_case('gated_delta_gqa', heads=8)
    yield linear_case('gated_delta_mqa', heads=8, values=1)
    yield linear_case('decode_step', tokens=1, past=0.1)
    yield linear_case('prefill_with_past', past=0.1)
    yield linear_case('no_past_explicit_zeros', past=0.0)
    yield linear_case('explicit_scale', scale=0.25)
    yield linear_case('fp16', heads=8, half=True)
    yield linear_case('linear_t1_no_past', 'linear', tokens=1)


def conv_cases():
    yield conv_case('basic')
    yield conv_case('with_bias', bias=True)
    yield conv_case('with_past_state', past=True)
    yield conv_case('silu', activation='silu')
    yield conv_case('swish_alias', activation='swish')
    yield conv_case('decode_step', length=1, bias=True, past=True)
    yield conv_case('kernel_size_one', width=1)
    yield conv_case('with_bias_and_past_state', bias=True, past=True)
    yield conv_case('silu_with_past_state', past=True, activation='silu')
    yield conv_case('b1_c1_degenerate', batch=1, channels=1, length=6)
    yield conv_case('short_input_no_past_state', length=2, width=5)
    yield conv_case('fp16', half=True)
    yield conv_case('silu_fp16', activation='silu', half=True)


def microsoft_cases():
    """ONNX Runtime's own: value heads share keys and queries; several queries read a state that shares keys."""
    of = {'domain': 'com.microsoft'}
    yield linear_case('shared', heads=2, keys=2, per_head=True, past=0.5, **of)
    yield linear_case('shared_keys', 'delta', heads=4, keys=1, width=5, **of)
    yield linear_case('shared_queries', 'gated', heads=1, keys=4, dim=20, width=24, batch=1, **of)
    yield linear_case('fewer_queries', 'gated', heads=2, keys=4, values=8, batch=1, **of)
    yield linear_case('both', heads=8, keys=2, batch=1, **of)
    yield conv_case('conv', activation='silu', bias=True, past=True, ndim=1, **of)
    yield conv_case('wide', width=16, batch=1, channels=33, length=5, past=True, **of)
    yield conv_case('one_silu', width=1, bias=True, activation='silu', **of)
