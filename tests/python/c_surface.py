"""The shared library from Python's ctypes against a float64 reference in plain Python: tests/python/c_surface.py LIBRARY

Needs nothing but the standard library.
"""
import ctypes
import itertools
import math
import random
import re
import sys

ptrdiff = ctypes.c_ssize_t
CAUSAL, OK = 1, 0


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_float))] + [
        (name, ptrdiff) for name in ("batch_stride", "token_stride", "head_stride")]


class Problem(ctypes.Structure):
    """What comes after the windows and before the scale is only passed on, as it was initialised; and what comes after that."""
    _fields_ = [("size", ctypes.c_size_t), ("arithmetic", ctypes.c_void_p), ("options", ctypes.c_uint32), ("layout", ctypes.c_int)] + [
        (name, ptrdiff) for name in ("batch", "query_heads", "kv_heads", "head_dim", "value_dim", "queries", "keys")
    ] + [("key_lengths", ctypes.POINTER(ptrdiff)), ("formats", ctypes.c_int * 4)] + [
        (name, Tensor) for name in ("query", "key", "value", "output")] + [
        (name, ctypes.c_void_p) for name in ("constants", "head_constants", "cache")] + [("keys_are", ptrdiff * 11)] + [
        (name, ptrdiff) for name in ("offset", "window_left", "window_right", "sink_tokens")] + [
        ("masks", ptrdiff * 11), ("scale", ctypes.c_float), ("soft_cap", ctypes.c_float), ("more", ptrdiff * 200)]


class CacheShape(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ptrdiff) for name in ("kv_heads", "head_dim", "value_dim", "max_tokens")] + [
        ("formats", ctypes.c_int * 2), ("window_keys", ptrdiff), ("sink_tokens", ptrdiff), ("integers", ctypes.c_int)]


attend = ctypes.CDLL(sys.argv[1])
pointer = ctypes.c_void_p
attend.attend_problem_init.argtypes = [pointer, ctypes.c_size_t]
attend.attend_workspace_size.argtypes = [pointer]
attend.attend_workspace_size.restype = ctypes.c_size_t
attend.attend_run.argtypes = [pointer, pointer, ctypes.c_size_t]
attend.attend_error_text.restype = attend.attend_argument_name.restype = ctypes.c_char_p
attend.attend_backend_name.restype = ctypes.c_char_p
attend.attend_backend_use.argtypes = [ctypes.c_char_p]
attend.attend_cache_shape_init.argtypes = [pointer, ctypes.c_size_t]
attend.attend_cache_size.argtypes = [pointer]
attend.attend_cache_size.restype = ctypes.c_size_t
attend.attend_cache_init.argtypes = [pointer, pointer, ctypes.c_size_t, pointer]
attend.attend_cache_append.argtypes = [pointer, ptrdiff, pointer, pointer]

passed = failed = 0


def check(right, what):
    global passed, failed
    if right:
        passed += 1
    else:
        failed += 1
        print("FAIL", what)


def aligned(size):
    memory = ctypes.create_string_buffer(size + 64)
    return memory, (ctypes.addressof(memory) + 63) & ~63


def floats(count):
    return (ctypes.c_float * max(count, 1))(*(random.uniform(-1, 1) for _ in range(count)))


def reference(p, row, length, offset, query, key, value):
    """One batch row in float64, arrays [token][head][width]: {(token, head): [value_dim]}."""
    scale = 1 / math.sqrt(p.head_dim) if p.scale < -3e38 else p.scale
    group = p.query_heads // p.kv_heads
    rows = {}
    for i in range(p.queries):
        seen = min(length, max(0, offset + i + 1)) if p.options & CAUSAL else length
        for h in range(p.query_heads):
            kv = h // group
            at = ((row * p.queries + i) * p.query_heads + h) * p.head_dim
            scores = []
            for j in range(seen):
                k = ((row * p.keys + j) * p.kv_heads + kv) * p.head_dim
                scores.append(scale * sum(query[at + d] * key[k + d] for d in range(p.head_dim)))
            most = max(scores, default=0)
            weights = [math.exp(score - most) for score in scores]
            total = sum(weights) or 1
            rows[i, h] = [sum(w * value[((row * p.keys + j) * p.kv_heads + kv) * p.value_dim + c]
                              for j, w in enumerate(weights)) / total for c in range(p.value_dim)]
    return rows


def run(p):
    size = attend.attend_workspace_size(ctypes.byref(p))
    memory, address = aligned(size)
    status = attend.attend_run(ctypes.byref(p), address, size)
    check(status == OK and size > 0, "attend_run: " + attend.attend_error_text(status).decode())
    return memory


def one_case():
    p = Problem()
    check(attend.attend_problem_init(ctypes.byref(p), ctypes.sizeof(p)) == OK, "size of attend_problem")
    p.batch, p.kv_heads = random.randint(1, 3), random.randint(1, 3)
    p.query_heads = p.kv_heads * random.randint(1, 3)
    p.head_dim, p.value_dim = random.randint(1, 20), random.randint(1, 20)
    p.queries, p.keys = random.randint(1, 12), random.randint(1, 40)
    p.options = random.choice((0, CAUSAL))
    offset = 0
    if p.options and (p.queries != p.keys or random.random() < 0.5):
        p.offset = offset = random.randint(-5, 40)
    if random.random() < 0.5:
        p.scale = random.uniform(-2, 2)
    lengths = [p.keys] * p.batch
    if random.random() < 0.5:
        lengths = [random.randint(0, p.keys) for _ in lengths]
        p.key_lengths = (ptrdiff * p.batch)(*lengths)
    query = floats(p.batch * p.queries * p.query_heads * p.head_dim)
    key = floats(p.batch * p.keys * p.kv_heads * p.head_dim)
    value = floats(p.batch * p.keys * p.kv_heads * p.value_dim)
    output = floats(p.batch * p.queries * p.query_heads * p.value_dim)
    for tensor, array in ((p.query, query), (p.key, key), (p.value, value), (p.output, output)):
        tensor.data = array
    run(p)
    worst = 0
    for row in range(p.batch):
        for (i, h), expected in reference(p, row, lengths[row], offset, query, key, value).items():
            at = ((row * p.queries + i) * p.query_heads + h) * p.value_dim
            worst = max([worst] + [abs(a - b) for a, b in zip(output[at:at + p.value_dim], expected)])
    check(worst < 5e-6, "error against float64: %g" % worst)
    if p.batch == 1 and not p.key_lengths:
        over_cache(p, key, value, output)
    return worst


def over_cache(p, key, value, output):
    """The same problem over a cache: the same bits."""
    shape = CacheShape()
    check(attend.attend_cache_shape_init(ctypes.byref(shape), ctypes.sizeof(shape)) == OK, "size of attend_cache_shape")
    shape.kv_heads, shape.head_dim, shape.value_dim, shape.max_tokens = p.kv_heads, p.head_dim, p.value_dim, p.keys + 3
    size = attend.attend_cache_size(ctypes.byref(shape))
    memory, cache = aligned(size)
    check(attend.attend_cache_init(ctypes.byref(shape), cache, size, None) == OK, "attend_cache_init")
    check(attend.attend_cache_append(cache, p.keys, ctypes.byref(p.key), ctypes.byref(p.value)) == OK, "attend_cache_append")
    again = floats(len(output))
    p.key.data = p.value.data = None
    p.keys, p.cache, p.output.data = -1, cache, again
    run(p)
    check(bytes(again) == bytes(output), "bits over a cache")


class IntegerScales(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_double) for name in ("query_scale", "key_scale", "value_scale", "output_scale", "scale")] + [
        (name + "_zero_point", ctypes.c_int32) for name in ("query", "key", "value", "output")]


attend.attend_integer_problem_init.argtypes = attend.attend_integer_scales_init.argtypes = [pointer, ctypes.c_size_t]
attend.attend_integer_prepare.argtypes = [pointer, ptrdiff, pointer]


def integers(count):
    return (ctypes.c_int8 * count)(*(max(-128, min(127, round(random.gauss(0, 40)))) for _ in range(count)))


def integer_case():
    """Errors of integer attention, in steps of the output, against float64."""
    scales, constants, p = IntegerScales(), (ctypes.c_int32 * 16)(), Problem()
    check(attend.attend_integer_scales_init(ctypes.byref(scales), ctypes.sizeof(scales)) == OK, "size of attend_integer_scales")
    check(attend.attend_integer_problem_init(ctypes.byref(p), ctypes.sizeof(p)) == OK, "size of attend_problem in integers")
    scales.query_scale, scales.key_scale = random.uniform(0.01, 0.03), random.uniform(0.01, 0.03)
    scales.value_scale, scales.output_scale = random.uniform(0.01, 0.03), random.uniform(0.01, 0.03)
    for name in ("query", "key", "value", "output"):
        setattr(scales, name + "_zero_point", random.randint(-20, 20))
    p.kv_heads = random.randint(1, 2)
    p.query_heads = p.kv_heads * random.randint(1, 3)
    p.head_dim, p.value_dim = random.randint(1, 40), random.randint(1, 20)
    p.queries, p.keys = random.randint(1, 9), random.randint(1, 90)
    p.options, p.offset, p.window_left = CAUSAL, random.randint(0, 60), random.choice((-1, 5, 30))
    query, key = integers(p.queries * p.query_heads * p.head_dim), integers(p.keys * p.kv_heads * p.head_dim)
    value, output = integers(p.keys * p.kv_heads * p.value_dim), integers(p.queries * p.query_heads * p.value_dim)
    for tensor, array in ((p.query, query), (p.key, key), (p.value, value), (p.output, output)):
        tensor.data = ctypes.cast(array, ctypes.POINTER(ctypes.c_float))
    p.constants = ctypes.addressof(constants)
    check(attend.attend_integer_prepare(ctypes.byref(scales), p.head_dim, constants) == OK, "attend_integer_prepare")
    size = attend.attend_workspace_size(ctypes.byref(p))
    memory, address = aligned(size)
    status = attend.attend_run(ctypes.byref(p), address, size)
    check(status == OK and size > 0, "attend_run in integers: " + attend.attend_error_text(status).decode())
    real = lambda array, name: [getattr(scales, name + "_scale") * (x - getattr(scales, name + "_zero_point")) for x in array]
    query, key, value, worst = real(query, "query"), real(key, "key"), real(value, "value"), 0
    for i in range(p.queries):
        at = p.offset + i
        seen = range(max(0, at - p.window_left) if p.window_left >= 0 else 0, min(p.keys, at + 1))
        for h in range(p.query_heads):
            kv, q = h // (p.query_heads // p.kv_heads), (i * p.query_heads + h) * p.head_dim
            place = [j * p.kv_heads + kv for j in seen]
            scores = [sum(query[q + d] * key[k * p.head_dim + d] for d in range(p.head_dim)) / math.sqrt(p.head_dim) for k in place]
            weights = [math.exp(score - max(scores)) for score in scores]
            total = sum(weights) or 1
            for c in range(p.value_dim):
                exact = sum(w * value[k * p.value_dim + c] for w, k in zip(weights, place)) / total
                exact = exact / scales.output_scale + scales.output_zero_point
                worst = max(worst, abs(output[(i * p.query_heads + h) * p.value_dim + c] - max(-128, min(127, exact))))
    return worst


random.seed(1)
names = list(itertools.takewhile(bool, map(attend.attend_backend_name, itertools.count())))
worst = 0
for name in names:
    if attend.attend_backend_use(name) == OK:
        worst = max([worst] + [one_case() for _ in range(60)])
steps = max(integer_case() for _ in range(100))
check(steps < 0.65, "error of integer attention: %g steps" % steps)
bad = Problem()
status = attend.attend_run(ctypes.byref(bad), None, 0)
check(attend.attend_argument_name(status) == b"size", "a struct that was not initialised")
# Each error and argument of the header has its words, in its order.
header = open("include/attend/c/status.h").read()
listed = {kind: re.findall(r"^  (ATTEND_\w+)", header[header.index("enum attend_%s {" % kind):].split("};")[0], re.M)
          for kind in ("error", "argument")}
for number, name in enumerate(listed["argument"][1:], 1):
    said = attend.attend_argument_name(number << 8 | 1).decode()
    short = re.sub(r"\.(data|table)$", "", said).replace(".", "_")
    check("ATTEND_ARG_" + short.upper() == name, "the name of " + name + ": " + said)
texts = {attend.attend_error_text(256 | number) for number in range(1, len(listed["error"]))}
check(len(texts | {attend.attend_error_text(0), attend.attend_error_text(-1)}) == len(listed["error"]) + 1, "texts of errors")
print("%d checks, %d failed; largest error against float64 %.1e, of integer attention %.2f steps of the output" % (
    passed + failed, failed, worst, steps))
sys.exit(failed > 0 or passed < 300)
