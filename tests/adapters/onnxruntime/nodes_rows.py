"""Forms of nodes that work on rows or on single numbers: Softmax, normalisation, activations, sums."""
import itertools

import numpy

from form import Numbers, form
from model import DOMAIN
from reference import U, Result, function, layer_norm, quick_gelu, reduce, rms_norm, softmax, wide

SHAPES = [(), (1,), (7,), (3, 40), (2, 5, 16), (2, 3, 4, 9), (0, 4)]


def text(shape):
    return "x".join(map(str, shape)) or "rank 0"


# Softmax: until opset 12 all axes from `axis` on are one row; from 13 on that axis alone.
for shape, axis in [((5,), None), ((3, 40), None), ((3, 40), 0), ((2, 5, 16), 1), ((2, 5, 16), -2), ((2, 5, 16), 0), ((2, 3, 4, 9), None), ((2, 3, 4, 9), -1),
                    ((2, 3, 4, 9), 3), ((2, 3, 4, 9), 2), ((4, 1), None), ((1, 700), None), ((0, 4), None)]:
    for opset in (1, 11, 13):
        if opset == 1 and axis is not None and axis < 0:
            continue
        x = Numbers("Softmax" + text(shape)).normal(*shape, scale=3)
        first = axis if axis is not None else (1 if opset < 13 else -1)
        first = first if opset >= 13 or len(shape) > 1 or axis is not None else 0
        axes = tuple(range(first % len(shape), len(shape))) if opset < 13 else (first % len(shape),)
        attributes = {} if axis is None else dict(axis=axis)
        if len(shape) == 1 and opset < 13:
            attributes = dict(axis=0)
        form("%s, axis %s" % (text(shape), axis), "Softmax", {"x": x}, softmax(x, axes) if x.size else Result(wide(x)), attributes=attributes, opset=opset if opset > 1 else 8)
x = Numbers("Softmax masked").normal(3, 20)
x[:, 11:] = numpy.finfo(numpy.float32).min
form("hidden numbers", "Softmax", {"x": x}, softmax(x, (1,)))
x = Numbers("Softmax large").normal(3, 20, scale=1e4)
form("large numbers", "Softmax", {"x": x}, softmax(x, (1,)))

for shape in [(3, 40), (2, 5, 16), (1, 1), (4, 385), (2, 3, 4, 8), (0, 16)]:
    for axis in (None, -1, 1, -2):
        if axis == -2 and len(shape) < 3 or axis == 1 and len(shape) == 2 or (axis in (1, -2) and 0 in shape):
            continue
        for epsilon in (None, 1e-3):
            for bias in (False, True):
                random = Numbers("LayerNormalization%s%s" % (shape, axis))
                first = (-1 if axis is None else axis) % len(shape)
                axes = tuple(range(first, len(shape)))
                x, weight = random.normal(*shape) + numpy.float32(0.5), random.normal(*shape[first:])
                b = random.normal(*shape[first:]) if bias else None
                attributes = {**({} if axis is None else dict(axis=axis)), **({} if epsilon is None else dict(epsilon=epsilon))}
                used = float(numpy.float32(1e-5 if epsilon is None else epsilon))
                name = "%s, axis %s, epsilon %s%s" % (text(shape), axis, epsilon, ", bias" if bias else "")
                exact = layer_norm(x, weight, b, axes, used) if x.size else [Result(wide(x))]
                form(name, "LayerNormalization", {"x": x, "weight": weight, "bias": b}, exact[0], attributes=attributes, opset=17, constants=("weight", "bias"))
                if bias and epsilon is None and x.size:
                    form(name + ", mean and deviation", "LayerNormalization", {"x": x, "weight": weight, "bias": b}, exact, attributes=attributes, opset=17)
                if bias:
                    continue
                root = rms_norm(x, weight, axes, used) if x.size else Result(wide(x))
                form(name, "RMSNormalization", {"x": x, "scale": weight}, root, attributes=attributes, constants=("scale",))
                if epsilon:
                    form(name, "SimplifiedLayerNormalization", {"x": x, "scale": weight}, root, attributes=attributes, constants=("scale",), opset=17)
# Weights that are broadcast along other axes than the row's, although they have as many numbers.
for shape, axis, own in [((2, 4, 4), -1, (4, 1)), ((6, 2, 3), 1, (6, 1, 1))]:
    random = Numbers("broadcast weight%s" % (shape,))
    x, weight, b = random.normal(*shape), random.normal(*own), random.normal(*own)
    axes = tuple(range(axis % len(shape), len(shape)))
    form("%s, weights %s" % (text(shape), text(own)), "LayerNormalization", {"x": x, "weight": weight, "bias": b},
         layer_norm(x, weight, b, axes, float(numpy.float32(1e-5)))[0], attributes=dict(axis=axis), opset=17)
    form("%s, weights %s" % (text(shape), text(own)), "RMSNormalization", {"x": x, "scale": weight},
         rms_norm(x, weight, axes, float(numpy.float32(1e-5))), attributes=dict(axis=axis))
random = Numbers("one weight")
x, one = random.normal(3, 16), random.normal(1)
form("one weight for all", "RMSNormalization", {"x": x, "scale": one}, rms_norm(x, one, (1,), float(numpy.float32(1e-5))))

# x + skip + bias, normalised; the last output is that sum.
for shape in [(2, 5, 16), (3, 40), (1, 3, 384)]:
    for beta in (False, True):
        for bias in (False, True):
            for outputs in ([True], [True, False, False, True]):
                for spread in (False, True):
                    if spread and len(shape) < 3:
                        continue
                    random = Numbers("Skip%s%d%d%d" % (shape, beta, bias, spread))
                    x, skip = random.normal(*shape), random.normal(*((1,) + shape[1:] if spread and shape[0] > 1 else shape[1:] if spread else shape))
                    gamma, shift, c = random.normal(shape[-1]), random.normal(shape[-1]) if beta else None, random.normal(shape[-1]) if bias else None
                    total = wide(x) + wide(skip) + (wide(c) if bias else 0)
                    moved = 2 * U * (abs(wide(x)) + abs(wide(skip)) + (abs(wide(c)) if bias else 0))
                    last = [None, None, Result(total, moved)] if len(outputs) > 1 else []
                    epsilon = float(numpy.float32(1e-12))
                    name = "%s%s%s%s%s" % (text(shape), ", beta" if beta else "", ", bias" if bias else "", ", sum" if last else "", ", one skip for the batch" if spread else "")
                    form(name, "SkipLayerNormalization", {"x": x, "skip": skip, "gamma": gamma, "beta": shift, "bias": c},
                         [layer_norm(total, gamma, shift, (-1,), epsilon, moved)[0]] + last, domain=DOMAIN, constants=("gamma", "beta", "bias"))
                    if not beta and not spread:
                        form(name, "SkipSimplifiedLayerNormalization", {"x": x, "skip": skip, "gamma": gamma, "bias": c},
                             [rms_norm(total, gamma, (-1,), float(numpy.float32(1e-5)), moved)] + last, attributes=dict(epsilon=1e-5), domain=DOMAIN,
                             constants=("gamma", "bias"))



# EmbedLayerNormalization: rows of words, positions and perhaps segments, summed and normalised; the number of each mask's ones; the sums.
def embedding(name, segments=False, mask=False, positions=None, epsilon=None, counted=True, summed=False, shape=(2, 5), width=24, shipped=None):
    """segments: their table and numbers, or "first", the table alone. positions: one row of them for all sequences, or one for each."""
    random = Numbers("Embed" + name)
    ids, of_segment = random.whole(0, 11, *shape, kind=numpy.int32), random.whole(0, 2, *shape, kind=numpy.int32)
    words, places, kinds = random.normal(11, width), random.normal(9, width), random.normal(2, width)
    gamma, beta = random.normal(width), random.normal(width)
    valid = (numpy.arange(shape[1]) < numpy.array([3, shape[1]] * shape[0])[:shape[0], None]).astype(numpy.int32) if mask else None
    place = random.whole(0, 9, *{None: shape, "each": shape, "shared": (1, shape[1])}[positions], kind=numpy.int32)
    parts = [wide(words)[ids], wide(places)[numpy.broadcast_to(place if positions else numpy.arange(shape[1]), shape)]]
    if segments:
        parts.append(wide(kinds)[of_segment * (segments != "first")])
    moved = 2 * U * sum(abs(p) for p in parts)
    inputs = {"ids": ids, "segments": of_segment if segments is True else None, "words": words, "places": places, "kinds": kinds if segments else None,
              "gamma": gamma, "beta": beta, "mask": valid, "positions": place if positions else None}
    used = float(numpy.float32(1e-12 if epsilon is None else epsilon))
    results = [layer_norm(sum(parts), gamma, beta, (-1,), used, moved)[0] if ids.size else Result(sum(parts)),
               Result(valid.sum(-1) if mask else numpy.zeros(shape[0])) if counted else None] + ([Result(sum(parts), moved)] if summed else [])
    form(name, "EmbedLayerNormalization", inputs, results, attributes={} if epsilon is None else dict(epsilon=epsilon), domain=DOMAIN,
         constants=("words", "places", "kinds", "gamma", "beta"), shipped=shipped)


for segments, mask, positions, summed in itertools.product((False, True, "first"), (False, True), (None, "each", "shared"), (False, True)):
    embedding("%s%s%s%s" % ({False: "no segments", True: "segments", "first": "the first segment"}[segments], ", mask" if mask else "",
                            ", positions of %s" % positions if positions else "", ", sum" if summed else ""), segments, mask, positions, summed=summed)
embedding("epsilon", True, True, epsilon=1e-3)
embedding("no mask_index", True, counted=False, summed=True)
embedding("one token", True, True, shape=(1, 1))
embedding("no tokens", True, shape=(2, 0))
embedding("MiniLM", True, True, shape=(3, 9), width=384)

# Activations, of any rank.
EDGES = numpy.array([0.0, -0.0, 1e-30, -1e-30, 1e-6, -1e-6, 0.5, -0.5, 5.0, -5.0, 20.0, -20.0, 90.0, -90.0, 700.0, -700.0, numpy.inf, -numpy.inf, numpy.nan], numpy.float32)
for kind, name, opset in (("Erf", "erf", 9), ("Erf", "erf", 13), ("Tanh", "tanh", 6), ("Tanh", "tanh", 13), ("Sigmoid", "sigmoid", 6), ("Sigmoid", "sigmoid", 13),
                          ("Exp", "exp", 6), ("Exp", "exp", 13), ("Gelu", "gelu", 20)):
    for shape in SHAPES:
        x = Numbers(kind + text(shape)).normal(*shape, scale=3)
        form(text(shape), kind, {"x": x}, function(name, x), opset=opset)
    if opset > 9:
        form("edges", kind, {"x": EDGES[:-3]}, function(name, EDGES[:-3]), opset=opset)
for shape in SHAPES:
    x = Numbers("Gelu" + text(shape)).normal(*shape, scale=3)
    form(text(shape) + ", tanh", "Gelu", {"x": x}, function("gelu_tanh", x), attributes=dict(approximate="tanh"), opset=20)
    form(text(shape), "Gelu", {"x": x}, function("gelu", x), domain=DOMAIN)
    for alpha in (None, 1.0):
        form("%s, alpha %s" % (text(shape), alpha), "QuickGelu", {"x": x}, quick_gelu(x, float(numpy.float32(1.702 if alpha is None else alpha))),
             attributes={} if alpha is None else dict(alpha=alpha), domain=DOMAIN)
    form(text(shape), "FastGelu", {"x": x}, function("gelu_tanh", x), domain=DOMAIN, shipped=None if shape else "asks for one axis at least")
    if shape and shape[-1]:
        bias = Numbers("bias" + text(shape)).normal(shape[-1])
        total = wide(x) + wide(bias)
        form(text(shape) + ", bias", "FastGelu", {"x": x, "bias": bias}, function("gelu_tanh", total, U * abs(total)), domain=DOMAIN, constants=("bias",))
        form(text(shape), "BiasGelu", {"x": x, "bias": bias}, function("gelu", total, U * abs(total)), domain=DOMAIN, constants=("bias",))

# Sums and means: axes are an attribute at first, then an input.
for kind, mean, since in (("ReduceMean", True, 18), ("ReduceSum", False, 13)):
    for shape, axes in [((3, 40), (-1,)), ((3, 40), (0,)), ((2, 5, 16), (2,)), ((2, 5, 16), (1, 2)), ((2, 5, 16), (0, 1)), ((2, 5, 16), None), ((7,), (0,))]:
        for keep in (0, 1):
            x = Numbers("Reduce" + text(shape)).normal(*shape)
            exact = reduce(x, axes or tuple(range(len(shape))), bool(keep), mean)
            name = "%s, axes %s, keep %d" % (text(shape), axes, keep)
            form(name, kind, {"x": x}, exact, attributes=dict(keepdims=keep, **({} if axes is None else dict(axes=axes))), opset=since - 2)
            form(name, kind, {"x": x, "axes": None if axes is None else numpy.array(axes, numpy.int64)}, exact, attributes=dict(keepdims=keep), opset=since,
                 constants=("axes",))
