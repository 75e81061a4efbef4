"""The installed Python package: tests/python/wheel.py VERSION [BUFFERS]

What wheel_onnx.py, against float64, does not look at. With a second argument, without numpy: buffers of the standard library.
"""
import array
import copy
import ctypes
import math
import pickle
import random
import sys

import attend

passed = failed = 0


def check(right, what):
    global passed, failed
    passed += bool(right)
    failed += not right
    if not right:
        print('FAIL', what)


def refused(what, text, *arguments, error=attend.AttendError, **options):
    try:
        attend.attention(*arguments, **options)
        check(False, what + ': taken')
    except error as refusal:
        check(text in str(refusal), f'{what}: {refusal}')


def buffer(*shape):
    count = math.prod(shape)
    return memoryview(array.array('f', (random.uniform(-1, 1) for _ in range(count)))).cast('B').cast('f', shape)


def without_numpy():
    check('numpy' not in sys.modules, 'numpy is not needed')
    query, key, value = buffer(2, 3, 4), buffer(2, 5, 4), buffer(2, 5, 2)
    output, lse = attend.attention(query, key, value, return_lse=True)
    check(output.shape == (2, 3, 2) and lse.shape == (2, 3), 'shapes of memoryviews')
    worst = 0
    for h in range(2):
        for i in range(3):
            scores = [sum(query[h, i, d] * key[h, j, d] for d in range(4)) / 2 for j in range(5)]
            weights = [math.exp(score) for score in scores]
            worst = max(worst, abs(lse[h, i] - math.log(sum(weights))))
            for c in range(2):
                exact = sum(w * value[h, j, c] for j, w in enumerate(weights)) / sum(weights)
                worst = max(worst, abs(output[h, i, c] - exact))
    check(worst < 1e-6, f'error of memoryviews: {worst:g}')
    refused('doubles', 'query.astype(numpy.float32)', array.array('d', [1.0]), key, value, error=TypeError)
    refused('bytes', 'uint8', b'1234', key, value, error=TypeError)
    plain = (ctypes.c_float * 4 * 3)(*((ctypes.c_float * 4)(i, 1, 2, 3) for i in range(3)))  # says no strides
    check(attend.attention(plain, plain, plain).tobytes() == attend.attention(*[memoryview(bytes(plain)).cast('f', (3, 4))] * 3).tobytes(),
          'arrays of ctypes')
    refused('a list', 'pass numpy.asarray(value)', query, key, [1.0], error=TypeError)
    refused('no value', 'value is missing', query, key, error=TypeError)
    state = attend.State(query)
    tokens = lambda array, first, end: memoryview(b''.join(
        array.tobytes()[4 * (h * 5 + first) * array.shape[2]:4 * (h * 5 + end) * array.shape[2]] for h in range(2))).cast(
            'f', (2, end - first, array.shape[2]))
    for first, end in ((0, 2), (2, 5)):
        state.accumulate(tokens(key, first, end), tokens(value, first, end))
    check(state.finish().tobytes() == output.tobytes(), 'a state of memoryviews')
    number = memoryview(array.array('b', [5, -100, 127, 3])).cast('B').cast('b', (1, 4))
    steps = attend.attention(number, number, number, quantisation=attend.Quantisation(0.1, 0.1, 0.5, 0.5))
    check(steps.format == 'b' and steps.tobytes() == number.tobytes(), 'one key in integers')
    unit = attend.Weights(memoryview(array.array('f', [1, 0, 0, 1])).cast('B').cast('f', (2, 2)))
    vectors = buffer(3, 2)
    check(attend.project(vectors, unit).tobytes() == vectors.tobytes(), 'a projection of memoryviews')
    parts = [attend.nn.Linear(buffer(4, 4)) for _ in range(4)]
    module, rows = attend.nn.MultiheadAttention(*parts, heads=2, rotary=attend.Rotary(2, 'halves')), buffer(3, 4)
    by_layer = attend.Layer(*(part.weights for part in parts), heads=2, rotary=attend.Rotary(2, 'halves'))
    check(module(rows, causal=True).tobytes() == by_layer.self_attention(rows, causal=True).tobytes(), 'attend.nn over memoryviews')
    sys.modules['numpy'] = None  # is not there
    try:
        attend.export('model.onnx', 'model')
        check(False, 'an export without numpy')
    except ImportError as error:
        check('attend export: it takes numpy (Debian: apt-get install python3-numpy)' == str(error), f'an export without numpy: {error}')
    check(isinstance(attend.attention(buffer(1, 1), buffer(1, 1), buffer(1, 1)), memoryview), 'one head')


def same(what, found, wanted):
    found, wanted = ((array,) if not isinstance(array, tuple) else array for array in (found, wanted))
    check(all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted)), f'{what}: the bits differ')


def options_of_scores(numpy, draw):
    """Each against float64, all as a bias or a factor that is known."""
    from onnx_attention import float64
    query, key, value = draw(4, 6, 8), draw(2, 9, 8), draw(2, 9, 5)
    distance = numpy.arange(9)[None] - (numpy.arange(6)[:, None] + 3)
    slopes, biases = draw(4), draw(4, 6)
    exact = lambda **options: float64.attention(query, key, value, **options)
    published = [2.0 ** -n for n in range(1, 9)] + [2.0 ** (0.5 - n) for n in range(1, 5)]
    check((numpy.array(attend.alibi_slopes(12)) == numpy.array(published, numpy.float32)).all(), 'slopes of ALiBi for 12 heads')
    expected = {'alibi_slopes': (slopes, exact(bias=slopes[:, None, None].astype(float) * distance)),
                'relative_bias': ((biases, 3), exact(bias=biases.astype(float)[:, numpy.clip(distance, -3, 2) + 3])),
                'sink_logits': (slopes, exact(sinks=slopes))}
    for name, (given, wanted) in expected.items():
        offset = {} if name == 'sink_logits' else {'offset': 3}
        error = (numpy.abs(attend.attention(query, key, value, **offset, **{name: given}) - wanted.output) / wanted.bound).max()
        check(error <= 1, f'{name}: {error:g} of the bound')
    shared = attend.attention(query, key, value, offset=3, relative_bias=(biases[0], 3))
    same('one relative bias for all heads', shared, attend.attention(query, key, value, offset=3, relative_bias=(biases[[0] * 4], 3)))


def keys_elsewhere(numpy, draw):
    """The same keys in another place or form: the same bits."""
    query, key, value = draw(4, 3, 16), draw(2, 40, 16), draw(2, 40, 7)
    usual = attend.attention(query, key, value, causal=True, offset=37, return_lse=True)
    cache = attend.Cache(2, 16, 64, value_dim=7)
    cache.append(key[:, :30], value[:, :30])
    cache.append(key[:, 30:].transpose(1, 0, 2).copy().transpose(1, 0, 2), value[:, 30:])
    same('a cache', attend.attention(query, cache, causal=True, return_lse=True), usual)
    try:
        cache.append(key, value)
        check(False, 'a full cache took more')
    except attend.AttendError:
        check(len(cache) == 40, 'a full cache stays as it is')
    cache.truncate(39)
    check(len(cache) == 39 and cache.nbytes > 64 * 23 * 4, 'truncate')
    same('a shorter cache', attend.attention(query, cache, causal=True), attend.attention(query, key[:, :39], value[:, :39], causal=True, offset=36))

    ring = attend.Cache(2, 16, 0, value_dim=7, window_keys=16, sink_tokens=2)
    check(ring.max_tokens == 2 ** 29, 'a ring without a capacity')
    for token in range(40):
        ring.append(key[:, token:token + 1], value[:, token:token + 1])
    windowed = dict(window=(10, 0), sink_tokens=2)
    same('a ring', attend.attention(query, ring, **windowed), attend.attention(query, key, value, offset=37, **windowed))

    half = attend.Cache(2, 16, 64, value_dim=7, key_format='float16', value_format='float16')
    half.append(key, value)
    same('a cache of halves', attend.attention(query, half, causal=True),
         attend.attention(query, key.astype(numpy.float16), value.astype(numpy.float16), causal=True, offset=37))

    for format in ('float32', 'float16', 'bfloat16', 'int8'):  # values that are in their keys: the bits of whole keys for values
        latents, whole = attend.Cache(2, 16, 64, value_dim=7, key_format=format, value_format='in_keys'), attend.Cache(2, 16, 64, key_format=format, value_format=format)
        for tokens in (key[:, :1], key[:, 1:30], key[:, 30:]):
            latents.append(tokens)
            whole.append(tokens, tokens)
        same(f'values in keys of {format}', attend.attention(query, latents, causal=True), attend.attention(query, whole, causal=True)[..., :7].copy())
        check(latents.nbytes < 0.55 * whole.nbytes, f'values in keys of {format}: in memory once')
    weights = [attend.Weights(numpy.eye(16, 8, dtype=numpy.float32))] * 3 + [attend.Weights(numpy.eye(8, 16, dtype=numpy.float32))]
    layer, latents = attend.Layer(*weights, heads=2), attend.Cache(2, 8, 9, value_format='in_keys')
    for what, text, call in (('values beside', 'leave it out', lambda: latents.append(key[..., :8], key[..., :8])),
                             ('a missing value', 'it is missing', lambda: attend.Cache(2, 16, 64).append(key)),
                             ('a ring', 'no rings', lambda: attend.Cache(2, 8, 9, value_format='in_keys', window_keys=5)),
                             ('4 bits', 'of float32, float16', lambda: attend.Cache(2, 64, 9, key_format='int4', value_format='in_keys')),
                             ('integers', 'nor of integers', lambda: attend.Cache(2, 8, 9, value_format='in_keys', integers=True)),
                             ('wider values', 'value_dim is 9; expected 1 to 8', lambda: attend.Cache(2, 8, 9, value_dim=9, value_format='in_keys')),
                             ('a layer', 'a layer makes values', lambda: layer.self_attention(draw(1, 8), latents))):
        try:
            call()
            check(False, f'{what} with values in keys: taken')
        except (attend.AttendError, ValueError) as refusal:
            check(text in str(refusal), f'{what} with values in keys: {refusal}')

    wide, long = draw(4, 3, 64), draw(2, 40, 64)
    four_bits, floats = attend.Cache(2, 64, 64, key_format='int4', value_format='int4'), attend.Cache(2, 64, 64)
    four_bits.append(long, long)
    rounded = attend.Weights(long.reshape(80, 64)).converted('int4')  # a projection of ones reads its weights
    numbers = attend.project(numpy.eye(64, dtype=numpy.float32), rounded).T.copy().reshape(2, 40, 64)
    floats.append(numbers, numbers)
    same('a cache of 4 bits', attend.attention(wide, four_bits, causal=True), attend.attention(wide, floats, causal=True))
    for which, dims in (('head_dim', (48, 64)), ('value_dim', (64, 48))):
        try:
            attend.Cache(2, dims[0], 64, value_dim=dims[1], key_format='int4', value_format='int4')
            check(False, f'a {which} of 48 in int4: taken')
        except attend.AttendError as refusal:
            check(f'{which} is 48; expected a multiple of 32' in str(refusal), f'a {which} of 48 in int4: {refusal}')
    check(four_bits.nbytes < floats.nbytes / 6, '18 bytes for 32 numbers')

    for format, end, largest in (('float16', 65520, 65504), ('int4', 524160, 524032)):
        kept, limited, expected = (attend.Cache(2, 64, 64, key_format='bfloat16', value_format=format, saturate=s) for s in (False, True, False))
        for cache in (kept, limited, expected):
            cache.append(long[:, :3], long[:, :3])
        large = long[:, 3:5].copy()
        large[1, 1, 63] = end
        try:
            kept.append(large, large)
            check(False, f'{end} in {format}: taken')
        except attend.AttendError as refusal:
            check('saturate=True' in str(refusal), f'{end} in {format}: {refusal}')
        check(len(kept) == 3, 'nothing has changed')
        limited.append(large, large)
        large[1, 1, 63] = largest
        expected.append(large, large)
        same(f'{format} that saturates', attend.attention(wide, limited), attend.attention(wide, expected))
        same(f'{format} after a refusal', attend.attention(wide, kept), attend.attention(wide, kept))
        try:
            attend.Weights(numpy.full((1, 32), end, numpy.float32)).converted(format)
            check(False, f'a weight of {end} in {format}: taken')
        except attend.AttendError as refusal:
            check('bfloat16' in str(refusal), f'a weight of {end} in {format}: {refusal}')
    try:
        attend.Cache(2, 64, 64, value_format='int8', saturate=True)
        check(False, 'int8 that saturates: taken')
    except attend.AttendError as refusal:
        check('leave it out' in str(refusal), f'int8 that saturates: {refusal}')
    check(abs(four_bits.nbytes - 2 * 2 * 64 * 64 / 32 * 18) < 100, '18 bytes for 32 numbers')

    table = numpy.array([[2, 0, 1]], numpy.int32)
    pools = [numpy.full((2, 3, 16, array.shape[2]), numpy.nan, numpy.float32) for array in (key, value)]
    for pool, array in zip(pools, (key, value)):
        for j in range(40):
            pool[:, table[0, j // 16], j % 16] = array[:, j]
    same('pages', attend.attention(query, *pools, pages=table, key_lengths=[40], causal=True, offset=37), usual[0])

    codes, scales = numpy.round(key * 40).clip(-127, 127).astype(numpy.int8), numpy.full((1, 2, 40), 1 / 40, numpy.float32)
    widened = attend.attention(query, (codes * scales[0, :, :, None]).astype(numpy.float32), value)
    found = attend.attention(query, codes, value, key_scales=scales)
    check(numpy.abs(found - widened).max() < 1e-5, 'int8 keys')
    later = attend.attention(query, key[:, 16:], value[:, 16:], origin=16, causal=True, offset=37)
    same('arrays that begin later', later, attend.attention(query, key, value, mask=numpy.arange(40) >= 16, causal=True, offset=37))


def axes(numpy, draw):
    """Every array with the axes that help(attend.attention) gives it."""
    batch, heads, kv_heads, queries, keys, head_dim, value_dim = 2, 4, 2, 3, 32, 8, 5
    query, key, value = draw(batch, heads, queries, head_dim), draw(batch, kv_heads, keys, head_dim), draw(batch, kv_heads, keys, value_dim)
    output, lse, scores = attend.attention(query, key, value, return_lse=True, return_scores='weights')
    check((output.shape, lse.shape, scores.shape) ==
          ((batch, heads, queries, value_dim), (batch, heads, queries), (batch, heads, queries, keys)), 'axes of the results')
    one = attend.attention(query[1, 3], key[1, 1], value[1, 1])
    check(one.shape == (queries, value_dim), 'axes of the result of one head')
    same('one head', one, output[1, 3])
    # As C++ has them, [token][head][dim], and turned around without a copy.
    tokens_first = [numpy.ascontiguousarray(array[0].transpose(1, 0, 2)) for array in (query, key, value)]
    same('tokens before heads', attend.attention(*(array.transpose(1, 0, 2) for array in tokens_first)), output[0])
    mask, bias = numpy.arange(keys) % 3 > 0, draw(keys)
    for name, row in (('mask', mask), ('bias', bias)):
        wanted = attend.attention(query, key, value, **{name: numpy.broadcast_to(row, (batch, heads, queries, keys)).copy()})
        for shape in ((keys,), (1, keys), (queries, keys), (heads, queries, keys), (batch, 1, 1, keys)):
            given = numpy.broadcast_to(row, shape).copy()
            same(f'{name} {shape}', attend.attention(query, key, value, **{name: given}), wanted)
    biases = draw(6)
    same('relative_bias without an axis of heads', attend.attention(query, key, value, offset=3, relative_bias=(biases, 3)),
         attend.attention(query, key, value, offset=3, relative_bias=(biases[None].repeat(heads, 0), 3)))
    codes, scales = numpy.round(key[0] * 40).clip(-127, 127).astype(numpy.int8), numpy.abs(draw(kv_heads, keys)) / 40
    wanted = attend.attention(query[0], codes, value[0], key_scales=scales[None])
    same('key_scales without a batch', attend.attention(query[0], codes, value[0], key_scales=scales), wanted)
    same('key_scales of one head', attend.attention(query[0, 2:], codes[1:], value[0, 1:], key_scales=scales[1]), wanted[2:].copy())
    pools = [array.reshape(kv_heads, keys // 16, 16, -1) for array in (codes, value[0])]
    table = numpy.arange(keys // 16, dtype=numpy.int32)[None]
    same('key_scales of pages', attend.attention(query[:1], *pools, pages=table, key_scales=scales), wanted)


def with_numpy():
    import numpy
    numbers = numpy.random.default_rng(1)
    draw = lambda *shape: numbers.standard_normal(shape, dtype=numpy.float32)
    axes(numpy, draw)
    options_of_scores(numpy, draw)
    keys_elsewhere(numpy, draw)
    query, key, value = draw(2, 6, 11, 20), draw(2, 3, 33, 20), draw(2, 3, 33, 18)
    options = dict(causal=True, window=(7, None), offset=20, scale=-0.7, soft_cap=3.0)
    exact = attend.attention(query, key, value, **options)
    bits = attend.attention(query, key, value, **options).tobytes()
    before = attend.active_backend()
    for name in attend.backends():
        try:
            attend.use_backend(name)
        except attend.AttendError:
            continue
        check(attend.attention(query, key, value, **options).tobytes() == bits, f'the same bits on {name}')
    attend.use_backend(before)
    fewer = attend.attention(query[0], key[0], value[0], **options)
    check(fewer.tobytes() == attend.attention(query, key, value, **options)[0].tobytes(), 'three axes')
    half = attend.attention(*(a.astype(numpy.float16) for a in (query, key, value)), **options)
    check(half.dtype == numpy.float16 and numpy.abs(half - exact).max() < 1e-2, 'float16')
    empty = attend.attention(query[:, :, :0], key, value)
    check(empty.shape == (*query.shape[:2], 0, value.shape[3]), 'no query')
    read_only = numpy.frombuffer(query.tobytes(), numpy.float32).reshape(query.shape)
    check(attend.attention(read_only, key, value).shape == exact.shape, 'read-only arrays')

    ones = lambda *shape: numpy.ones(shape, numpy.float32)
    refused('where queries stand', 'offset', ones(1, 2, 4), ones(1, 5, 4), ones(1, 5, 4), causal=True)
    refused('widths', 'go together', ones(1, 2, 4), ones(1, 5, 3), ones(1, 5, 4), error=ValueError)
    refused('heads', 'heads', ones(3, 2, 4), ones(2, 2, 4), ones(2, 2, 4))
    refused('float64', 'query.astype(numpy.float32)', ones(1, 2, 4).astype(float), ones(1, 5, 4), ones(1, 5, 4), error=TypeError)
    refused('other byte order', 'other byte order', ones(1, 2, 4).astype('>f4'), ones(1, 5, 4), ones(1, 5, 4), error=TypeError)
    refused('last axis', 'contiguous', ones(1, 4, 2).transpose(0, 2, 1), ones(1, 5, 4), ones(1, 5, 4), error=ValueError)
    refused('out of another shape', 'shape', ones(1, 2, 4), ones(1, 2, 4), ones(1, 2, 4), error=ValueError, out=ones(1, 3, 4))
    same_array = ones(1, 2, 4)
    refused('out that overlaps', 'overlap', same_array, ones(1, 2, 4), ones(1, 2, 4), out=same_array)
    refused('out that cannot be written', 'out is read-only', ones(1, 2, 4), ones(1, 2, 4), ones(1, 2, 4), error=ValueError,
            out=numpy.frombuffer(bytes(32), numpy.float32).reshape(1, 2, 4))
    refused('a mask of other queries', 'mask', ones(1, 2, 4), ones(1, 2, 4), ones(1, 2, 4), error=ValueError, mask=numpy.ones((3, 2), bool))
    refused('a mask of numbers', 'mask', ones(1, 2, 4), ones(1, 2, 4), ones(1, 2, 4), error=TypeError, mask=ones(2, 2))
    refused('what is ignored', 'offset', ones(1, 2, 4), ones(1, 5, 4), ones(1, 5, 4), offset=1)
    refused('scores of no stage', 'return_scores', ones(1, 2, 4), ones(1, 2, 4), ones(1, 2, 4), error=ValueError, return_scores='all')
    five = ones(1, 2, 4), ones(1, 5, 4), ones(1, 5, 4)
    for options in (dict(offset=2**64), dict(offset=-2**63), dict(sink_tokens=2**64), dict(origin=-1), dict(origin=2**64),
                    dict(window=(-1, 0)), dict(window=(2**64, 0)), dict(key_lengths=[2**64 + 1]), dict(scale=-3.4028234663852886e38)):
        refused(f'{options}', 'expected', *five, error=ValueError, **options)
    refused('a length that is no whole number', 'float', *five, error=TypeError, key_lengths=[3.9])
    cache = attend.Cache(1, 4, 8)
    check(cache and len(cache) == 0, 'a cache without tokens is a cache')
    refused('scales of a cache', 'cache', ones(1, 1, 4), cache, error=ValueError, key_scales=ones(1, 1, 1))
    for what, wrong, error in (('copies', lambda: copy.deepcopy(cache), TypeError), ('shallow copies', lambda: copy.copy(cache), TypeError),
                               ('pickles', lambda: pickle.dumps(cache), TypeError), ('capacity', lambda: attend.Cache(1, 4, 2**64 + 10), ValueError),
                               ('truncate', lambda: cache.truncate(2**64 + 1), ValueError),
                               ('broadcast', lambda: cache.append(*[numpy.broadcast_to(ones(1, 1, 4), (1, 3, 4))] * 2), ValueError)):
        try:
            wrong()
            check(False, f'{what} of a cache: taken')
        except error:
            check(len(cache) == 0, f'{what} of a cache: changed it')
    try:
        attend.Cache(2, 16, 64, key_format='float8')
        check(False, 'a cache of a format that there is not')
    except ValueError as refusal:
        check('float16' in str(refusal), f'formats of caches: {refusal}')
    refused('axes', 'axes', ones(2), ones(1, 5, 4), ones(1, 5, 4), error=ValueError)


check(attend.__version__ == sys.argv[1], f'version {attend.__version__}')
check(attend.bits_version() > 0 and attend.active_backend() in attend.backends(), 'backends')
without_numpy() if len(sys.argv) > 2 else with_numpy()
print(f'{passed} checks, {failed} failed')
sys.exit(failed > 0)
