"""Forms of products: MatMul, Gemm, FusedMatMul, and those of 8-bit numbers."""
import numpy

from form import Numbers, form
from model import DOMAIN
from reference import U, Result, integer_product, product, quantised, wide

# Ranks and extents that MatMul allows; broadcasting too.
SHAPES = [((3, 4), (4, 5)), ((1, 64), (64, 96)), ((7, 33), (33, 17)), ((130, 48), (48, 40)), ((2, 5, 24), (24, 16)), ((2, 3, 5, 8), (8, 9)),
          ((2, 3, 5, 8), (2, 3, 8, 4)), ((2, 1, 5, 8), (3, 8, 4)), ((3, 5, 8), (1, 8, 6)), ((5, 8), (2, 8, 6)), ((8,), (8, 6)), ((5, 8), (8,)),
          ((8,), (8,)), ((2, 5, 8), (8,)), ((8,), (2, 8, 3)), ((1, 1), (1, 1)), ((4, 1), (1, 300)), ((17, 385), (385, 31)), ((0, 4), (4, 5)),
          ((2, 0, 4), (4, 5)), ((3, 4), (4, 0)), ((1, 1, 16), (16, 1))]


def name_of(a, b):
    return "%s by %s" % ("x".join(map(str, a)), "x".join(map(str, b)))


def vector_product(a, b, **options):
    """MatMul of numpy's ranks: vectors are rows and columns."""
    row, column = a.ndim == 1, b.ndim == 1
    r = product(a[None, :] if row else a, b[:, None] if column else b, **options)
    axes = (-2,) * row + (-1,) * column
    return Result(*(numpy.squeeze(x, axes) if axes else x for x in (r.values, r.bound, r.shipped)))


for a, b in SHAPES:
    for constant in (False, True):
        random = Numbers("MatMul" + name_of(a, b))
        x, w = random.normal(*a), random.normal(*b)
        form(name_of(a, b) + (", weights" if constant else ""), "MatMul", {"a": x, "b": w}, vector_product(x, w), constants=("b",) if constant else ())
for opset in (9, 13, 17):
    random = Numbers("MatMul%d" % opset)
    x, w = random.normal(2, 6, 20), random.normal(20, 12)
    form("weights", "MatMul", {"a": x, "b": w}, vector_product(x, w), constants=("b",), opset=opset)
random = Numbers("MatMul first constant")
x, w = random.normal(6, 20), random.normal(20, 12)
form("the first is constant", "MatMul", {"a": x, "b": w}, vector_product(x, w), constants=("a",))
form("extents in the model", "MatMul", {"a": x, "b": w}, vector_product(x, w), constants=("b",), free=False)
form("NaN in one row", "MatMul", {"a": numpy.vstack([x[:2], x[:1] * numpy.nan]), "b": w},
     Result(numpy.vstack([wide(x[:2]) @ wide(w), numpy.full((1, 12), numpy.nan)]), product(numpy.abs(x[:3]), numpy.abs(w)).bound), constants=("b",))
for kind, name in ((numpy.float64, "double"), (numpy.int32, "int32"), (numpy.int64, "int64")):
    a, b = (random.whole(-9, 9, *s, kind=kind) for s in ((3, 4), (4, 5)))
    form(name, "MatMul", {"a": a, "b": b}, Result(a.astype(numpy.int64) @ b.astype(numpy.int64)), left="numbers of " + name)
a, b = random.normal(3, 4, kind=numpy.float16), random.normal(4, 5, kind=numpy.float16)
form("float16", "MatMul", {"a": a, "b": b}, Result(wide(a) @ wide(b), 2e-2, 2e-2), left="numbers of float16")

# Gemm: transposed or not, factors, and a bias that is absent, a number, a row, a column or a matrix.
GEMM_BIASES = [None, (), (1,), (6,), (1, 6), (5, 1), (5, 6)]
for bias in GEMM_BIASES:
    for trans_a in (0, 1):
        for trans_b in (0, 1):
            for alpha, beta in ((1.0, 1.0), (0.25, -1.5)):
                random = Numbers("Gemm%s%d%d%g" % (bias, trans_a, trans_b, alpha))
                a, b = random.normal(*((20, 5) if trans_a else (5, 20))), random.normal(*((6, 20) if trans_b else (20, 6)))
                c = None if bias is None else random.normal(*bias)
                attributes = dict(transA=trans_a, transB=trans_b)
                if alpha != 1:
                    attributes.update(alpha=alpha, beta=beta)
                exact = product(a.T if trans_a else a, b.T if trans_b else b, 0.0 if c is None else beta * wide(c), alpha, 3)
                for constants in ((), ("b", "c")) if c is not None else ((), ("b",)):
                    form("bias %s, transposed %d %d, alpha %g%s" % (bias, trans_a, trans_b, alpha, ", weights" if constants else ""), "Gemm",
                         {"a": a, "b": b, "c": c}, exact, attributes=attributes, constants=constants)
for opset in (9, 11):
    form("weights", "Gemm", {"a": a, "b": b, "c": c}, exact, attributes=attributes, constants=("b", "c"), opset=opset)

# FusedMatMul: transposed, batches in other places, a factor.
for a, b, attributes in [((2, 3, 4), (2, 4, 5), {}), ((2, 4, 3), (2, 4, 5), dict(transA=1)), ((2, 3, 4), (2, 5, 4), dict(transB=1)),
                         ((2, 4, 3), (5, 4), dict(transA=1, transB=1, alpha=0.5)), ((3, 24), (24, 16), dict(alpha=0.125)), ((3, 4), (5, 4), dict(transB=1, alpha=-2.0)),
                         ((2, 3, 6, 8), (2, 3, 6, 8), dict(transB=1, alpha=0.35355339)), ((3, 2, 4), (2, 4, 5), dict(transBatchA=1)),
                         ((2, 3, 4), (4, 2, 5), dict(transBatchB=1)), ((4, 2, 3), (2, 4, 5), dict(transBatchA=1, transA=1))]:
    for constant in (False, True):
        random = Numbers("FusedMatMul%s%s%s" % (a, b, sorted(attributes)))
        x, w = random.normal(*a), random.normal(*b)
        # A transposed batch: the batch's axis stands before the last one, [M, batch, K] instead of [batch, M, K].
        left = numpy.moveaxis(x, -2, 0) if attributes.get("transBatchA") else x
        right = numpy.moveaxis(w, -2, 0) if attributes.get("transBatchB") else w
        left = numpy.swapaxes(left, -1, -2) if attributes.get("transA") else left
        right = numpy.swapaxes(right, -1, -2) if attributes.get("transB") else right
        form("%s%s%s" % (name_of(a, b), "".join(", %s %g" % i for i in attributes.items()), ", weights" if constant else ""), "FusedMatMul",
             {"a": x, "b": w}, product(left, right, 0.0, attributes.get("alpha", 1.0), 2), attributes=attributes, domain=DOMAIN, constants=("b",) if constant else ())

# DynamicQuantizeLinear: exact, whatever the range.
for name, low, high, shape in [("both signs", -3, 5, (3, 40)), ("positive", 1, 7, (40,)), ("negative", -7, -2, (2, 3, 5)), ("wide", -1e4, 3e4, (65,)),
                               ("narrow", -1e-4, 1e-5, (33,)), ("one number", 2, 3, (1,)), ("rank 0", 2, 3, ()), ("zeros", 0, 0, (9,)), ("many", -1, 1, (4, 1000))]:
    x = numpy.asarray(Numbers("DynamicQuantizeLinear" + name).random.uniform(low, high, shape), numpy.float32)
    form(name, "DynamicQuantizeLinear", {"x": x}, [Result(r) for r in quantised(x)])

# On x86-64 without VNNI the shipped kernels add two products of uint8 and int8 in 16 bits, which saturate.
SATURATES = "sums of two products saturate at 16 bits"

# MatMulInteger: signs, ranks, zero points that are absent, one or by column.
for kind_a in (numpy.uint8, numpy.int8):
    for kind_b in (numpy.uint8, numpy.int8):
        for a, b in (((3, 4), (4, 5)), ((2, 7, 64), (64, 33)), ((2, 3, 5, 8), (2, 3, 8, 4)), ((1, 384), (384, 40)), ((5, 8), (2, 8, 6))):
            for zeros in ("none", "first", "both", "columns"):
                if kind_a == numpy.int8 and (kind_b == numpy.uint8 or zeros == "columns"):
                    continue  # the runtime has no kernel for these
                random = Numbers("MatMulInteger%s%s%s%s" % (kind_a, kind_b, a, zeros))
                x, w = (random.whole(numpy.iinfo(k).min, numpy.iinfo(k).max + 1, *s, kind=k) for k, s in ((kind_a, a), (kind_b, b)))
                x_zero = None if zeros == "none" else random.whole(100, 127, kind=kind_a)
                shape = b[:-2] + (1, b[-1]) if len(b) > 2 else (b[-1],)
                w_zero = random.whole(1, 100, *(shape if zeros == "columns" else ()), kind=kind_b) if zeros in ("both", "columns") else None
                form("%s %s, %s, zero points: %s" % (kind_a.__name__, kind_b.__name__, name_of(a, b), zeros), "MatMulInteger",
                     {"a": x, "b": w, "a_zero": x_zero, "b_zero": w_zero}, Result(integer_product(x, w, x_zero, w_zero)), constants=("b", "b_zero"),
                     shipped=SATURATES if (kind_a, kind_b) == (numpy.uint8, numpy.int8) else None)


def integer_to_float(a, b, a_scale, b_scale, a_zero, b_zero, bias):
    whole = integer_product(a, b, a_zero, b_zero) * (wide(a_scale) * wide(b_scale))
    bias = wide(0.0 if bias is None else bias)
    return Result(whole + bias, 5 * U * (abs(whole) + abs(bias)))


for kind_a in (numpy.uint8, numpy.int8):
    for kind_b in (numpy.uint8, numpy.int8):
        for columns in (False, True):
            for bias in (False, True):
                if kind_a == numpy.int8 and kind_b == numpy.uint8:
                    continue
                random = Numbers("MatMulIntegerToFloat%s%s%d%d" % (kind_a, kind_b, columns, bias))
                a, b = random.whole(-120 if kind_a == numpy.int8 else 0, 120, 2, 5, 40, kind=kind_a), random.whole(0, 120, 40, 24, kind=kind_b)
                of_b = (24,) if columns else ()
                scales = numpy.asarray(random.random.uniform(0.01, 0.02), numpy.float32), random.random.uniform(0.01, 0.02, of_b).astype(numpy.float32)
                zeros = random.whole(0, 100, kind=kind_a), random.whole(0, 100, *of_b, kind=kind_b)
                c = random.normal(24) if bias else None
                form("%s %s%s%s" % (kind_a.__name__, kind_b.__name__, ", by column" if columns else "", ", bias" if bias else ""), "MatMulIntegerToFloat",
                     {"a": a, "b": b, "a_scale": scales[0], "b_scale": numpy.asarray(scales[1], numpy.float32), "a_zero": zeros[0], "b_zero": zeros[1], "bias": c},
                     integer_to_float(a, b, *scales, *zeros, c), domain=DOMAIN, constants=("b", "b_scale", "b_zero", "bias"))

# DynamicQuantizeMatMul: what it computes is the product with the weights as they are, a rounded to 8 bits, half a step off at most.
for kind in (numpy.uint8, numpy.int8):
    for columns in (False, True):
        for bias in (False, True):
            random = Numbers("DynamicQuantizeMatMul%s%d%d" % (kind, columns, bias))
            a, b = random.normal(2, 5, 40), random.whole(0, 120, 40, 24, kind=kind)
            of_b = (24,) if columns else ()
            scale, zero = numpy.asarray(random.random.uniform(0.01, 0.02, of_b), numpy.float32), random.whole(0, 100, *of_b, kind=kind)
            c = random.normal(24) if bias else None
            weights = (wide(b) - wide(zero)) * wide(scale)
            step = (max(a.max(), 0) - min(a.min(), 0)) / 255.0
            exact = wide(a) @ weights + (0 if c is None else wide(c))
            form("%s%s%s" % (kind.__name__, ", by column" if columns else "", ", bias" if bias else ""), "DynamicQuantizeMatMul",
                 {"a": a, "b": b, "b_scale": scale, "b_zero": zero, "bias": c},
                 Result(exact, 0.51 * step * numpy.broadcast_to(abs(weights).sum(0), exact.shape) + 1e-6, 0.51 * step * numpy.broadcast_to(abs(weights).sum(0), exact.shape) + 1e-5),
                 domain=DOMAIN, constants=("b", "b_scale", "b_zero", "bias"), shipped=SATURATES if kind == numpy.int8 else None)
