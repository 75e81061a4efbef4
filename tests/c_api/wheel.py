"""The installed Python package: tests/c_api/wheel.py VERSION [BUFFERS]

Against a float64 definition in numpy. With a second argument, without numpy: buffers of the standard library.
"""
import array
import math
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
    refused('doubles', "format 'd'", array.array('d', [1.0]), key, value, error=TypeError)
    refused('bytes', "format 'B'", b'1234', key, value, error=TypeError)
    check(isinstance(attend.attention(buffer(1, 1), buffer(1, 1), buffer(1, 1)), memoryview), 'one head')


def definition(numpy, query, key, value, causal, window, offset, scale, soft_cap):
    query, key, value = (a.astype(numpy.float64) for a in (query, key, value))
    group = query.shape[1] // key.shape[1]
    key, value = numpy.repeat(key, group, 1), numpy.repeat(value, group, 1)
    scores = numpy.einsum('bhid,bhjd->bhij', query, key) * (1 / math.sqrt(query.shape[3]) if scale is None else scale)
    if soft_cap:
        scores = soft_cap * numpy.tanh(scores / soft_cap)
    position = numpy.arange(query.shape[2])[:, None] + (offset or 0)
    at = numpy.arange(key.shape[2])[None]
    seen = numpy.ones((query.shape[2], key.shape[2]), bool)
    if causal:
        seen &= at <= position
    if window is not None:
        left, right = window
        seen &= (at >= position - left) if left is not None else True
        seen &= (at <= position + right) if right is not None else True
    most = numpy.where(seen, scores, -numpy.inf).max(3, keepdims=True, initial=-numpy.inf)
    weights = numpy.where(seen, numpy.exp(scores - numpy.where(numpy.isfinite(most), most, 0)), 0)
    total = weights.sum(3, keepdims=True)
    with numpy.errstate(divide='ignore'):
        lse = (numpy.log(total) + most)[..., 0]
    return numpy.einsum('bhij,bhjc->bhic', weights / numpy.where(total == 0, 1, total), value), lse


def with_numpy():
    import numpy
    numbers = numpy.random.default_rng(1)
    worst = 0
    for case in range(300):
        batch, kv_heads, group = (int(n) for n in numbers.integers(1, 4, 3))
        queries, keys = int(numbers.integers(1, 20)), int(numbers.integers(1, 70))
        if case % 3 == 0:
            keys = queries
        width, value_width = (int(n) for n in numbers.integers(1, 40, 2))
        draw = lambda *shape: numbers.standard_normal(shape, dtype=numpy.float32)
        query, key, value = draw(batch, kv_heads * group, queries, width), draw(batch, kv_heads, keys, width), draw(batch, kv_heads, keys, value_width)
        if case % 4 == 1:  # tokens before heads, as a projection writes them
            query, key, value = (numpy.ascontiguousarray(a.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3) for a in (query, key, value))
        if case % 4 == 2:  # every second token, from the last on
            query, key, value = (a.repeat(2, 2)[:, :, ::-2] for a in (query, key, value))
        causal = bool(numbers.integers(2))
        window = [None, (3, 0), (None, 4), (7, None), (2, 2)][case % 5]
        offset = int(numbers.integers(-3, keys)) if (causal or window) and (queries != keys or case % 2) else None
        scale, soft_cap = [None, -0.7][case % 2], [0.0, 3.0][case % 7 == 0]
        options = dict(causal=causal, window=window, offset=offset, scale=scale, soft_cap=soft_cap)
        output, lse = attend.attention(query, key, value, return_lse=True, **options)
        exact, exact_lse = definition(numpy, query, key, value, **options)
        finite = numpy.isfinite(exact_lse)
        check((numpy.isfinite(lse) == finite).all(), f'case {case}: queries that see a key')
        worst = max(worst, numpy.abs(output - exact).max(), numpy.abs(lse[finite] - exact_lse[finite]).max(initial=0))
        check(output.dtype == numpy.float32 and output.shape == exact.shape, f'case {case}: shape and type')
        check(worst < 1e-5, f'case {case}: error {worst:g}')
    print(f'largest error against float64: {worst:.2g}')

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
    refused('float64', "format 'd'", ones(1, 2, 4).astype(float), ones(1, 5, 4), ones(1, 5, 4), error=TypeError)
    refused('other byte order', 'format', ones(1, 2, 4).astype('>f4'), ones(1, 5, 4), ones(1, 5, 4), error=TypeError)
    refused('last axis', 'contiguous', ones(1, 4, 2).transpose(0, 2, 1), ones(1, 5, 4), ones(1, 5, 4), error=ValueError)
    refused('axes', 'axes', ones(2), ones(1, 5, 4), ones(1, 5, 4), error=ValueError)


check(attend.__version__ == sys.argv[1], f'version {attend.__version__}')
check(attend.bits_version() > 0 and attend.active_backend() in attend.backends(), 'backends')
without_numpy() if len(sys.argv) > 2 else with_numpy()
print(f'{passed} checks, {failed} failed')
sys.exit(failed > 0)
