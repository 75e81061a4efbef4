"""What nodes put out, in float64, from the operators' specifications, and how far off a result may be.

A Result has the exact values, the bound that the library states (include/guide/exactness.md) or that follows from it, and a wider one for the
kernels that ONNX Runtime ships, which state none: those only show that the reference is right.
"""
import math

import numpy

U = 2.0**-24  # half a unit in the last place, relative
TINY = 1e-37  # where results are so small, those that flush subnormal numbers give 0


class Result:
    """values: what is exact; bound: the largest distance, an array or 0 for equality; shipped: the same for ONNX Runtime's own kernels;
    where: which numbers are defined, all if None."""

    def __init__(self, values, bound=0.0, shipped=None, where=None):
        self.values, self.bound, self.where = values, bound, where
        self.shipped = numpy.multiply(bound, 8) if shipped is None else shipped

    def error(self, found, shipped):
        """A sentence about what is wrong, or None."""
        bound = self.shipped if shipped else self.bound
        if found.shape != self.values.shape:
            return "its shape is %s and should be %s" % (found.shape, self.values.shape)
        exact = numpy.asarray(self.values, numpy.float64)
        with numpy.errstate(invalid="ignore"):
            off = numpy.abs(found.astype(numpy.float64) - exact)
            wrong = ~(off <= bound + (TINY if numpy.any(bound) else 0)) & ~(found == exact) & ~(numpy.isnan(exact) & numpy.isnan(found))
        if self.where is not None:
            wrong &= self.where
        if not wrong.any():
            return None
        first = tuple(int(i) for i in numpy.argwhere(wrong)[0])
        bounds = numpy.broadcast_to(bound, exact.shape)
        return "%d of %d numbers are wrong, the first at %s: %.9g instead of %.9g, which may be %.2g off" % (
            wrong.sum(), wrong.size, first, found[first], exact[first], bounds[first])


def wide(array):
    return None if array is None else numpy.asarray(array, numpy.float64)


def chain(n):
    """Roundings of a sum of n products by chains of 16."""
    return min(n, 16) + math.ceil(n / 16) + 1


def product(a, b, bias=0.0, scale=1.0, extra=0):
    """scale * a b + bias; extra: further roundings of each number."""
    a, b, bias = wide(a), wide(b), wide(bias)
    n = a.shape[-1]
    magnitude = abs(scale) * numpy.matmul(abs(a), abs(b)) + abs(bias)
    return Result(scale * numpy.matmul(a, b) + bias, 1.01 * U * (chain(n) + extra) * magnitude, 1.01 * U * (n + 3 + extra) * magnitude)


def softmax(x, axes):
    """Along axes, which are one row of numbers."""
    x = wide(x)
    off = x - x.max(axes, keepdims=True)
    p = numpy.exp(off)
    p = p / p.sum(axes, keepdims=True)
    n = math.prod(x.shape[a] for a in axes)
    return Result(p, U * (n / 16 + 24 + 2 * abs(off)) * p, U * (n + 24 + 2 * abs(off)) * p)


def moments(x, axes, epsilon):
    mean = x.mean(axes, keepdims=True)
    return mean, 1 / numpy.sqrt(((x - mean)**2).mean(axes, keepdims=True) + epsilon)


def layer_norm(x, weight, bias, axes, epsilon, extra=0.0):
    """Results: the output, the mean and the inverse standard deviation. extra: how far off x may be already."""
    x, weight, bias = wide(x), wide(weight), wide(0.0 if bias is None else bias)
    mean, inverse = moments(x, axes, epsilon)
    n = math.prod(x.shape[a] for a in axes)
    spread = (abs(x - mean) + abs(x).mean(axes, keepdims=True)) * inverse
    moved = 3 * numpy.max(extra) * inverse * (1 + abs(x - mean) * inverse) * abs(weight)
    magnitude = spread * abs(weight) + abs(bias)
    output = (x - mean) * inverse * weight + bias
    steps = math.ceil(n / 16) + 10
    of_mean = abs(x).mean(axes, keepdims=True)
    lean = 1 + (of_mean * inverse)**2  # how much larger the squares are than the variance
    return [Result(output, U * steps * magnitude + moved, U * (n + 10) * magnitude * lean.max() + moved),
            Result(mean, U * steps * of_mean + numpy.max(extra), U * (n + 10) * of_mean + numpy.max(extra)),
            Result(inverse, U * steps * inverse * lean + 3 * numpy.max(extra) * inverse**2, U * (n + 10) * inverse * lean * 2)]


def rms_norm(x, weight, axes, epsilon, extra=0.0):
    x, weight = wide(x), wide(weight)
    inverse = 1 / numpy.sqrt((x * x).mean(axes, keepdims=True) + epsilon)
    n = math.prod(x.shape[a] for a in axes)
    output = x * inverse * weight
    moved = 3 * numpy.max(extra) * inverse * (1 + abs(x) * inverse) * abs(weight)
    return Result(output, U * (math.ceil(n / 16) / 2 + 6) * abs(output) + moved, U * (n + 10) * abs(output) + moved)


def reduce(x, axes, keep, mean):
    x = wide(x)
    n = math.prod(x.shape[a] for a in axes)
    by = n if mean else 1
    magnitude = abs(x).sum(axes, keepdims=keep) / by
    return Result(x.sum(axes, keepdims=keep) / by, U * (chain(n) + 2) * magnitude, U * (n + 3) * magnitude)


def units(exact):
    """A unit in the last place of float32 at these values."""
    return numpy.spacing(numpy.maximum(abs(exact), 2.0**-126).astype(numpy.float32)).astype(numpy.float64)


erf = numpy.vectorize(math.erf, otypes=[numpy.float64])


def erfc(x):
    return numpy.vectorize(math.erfc, otypes=[numpy.float64])(x)


def gelu(x):
    return 0.5 * x * erfc(-x / math.sqrt(2))


def gelu_tanh(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return x / (1 + numpy.exp(-2 * inner))


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


# Functions and the units in the last place that the library states.
FUNCTIONS = {"exp": (numpy.exp, 1.1), "erf": (erf, 1.3), "tanh": (numpy.tanh, 4), "sigmoid": (sigmoid, 2.5), "gelu": (gelu, 5.9),
             "gelu_tanh": (gelu_tanh, 3.4)}


def function(name, x, argument_error=0.0):
    """argument_error: how far off the argument may be; none of the functions but exp is steeper than 1.2."""
    of, error = FUNCTIONS[name]
    with numpy.errstate(over="ignore"):
        y = of(wide(x))
    y = numpy.where(abs(y) > numpy.finfo(numpy.float32).max, numpy.copysign(numpy.inf, y), y)
    finite = numpy.where(numpy.isfinite(y), y, 0)
    return Result(y, (error - 0.5 + 0.51) * units(finite) + 1.2 * argument_error, 1e-6 * (abs(wide(x)) + abs(finite) + 1))


def quick_gelu(x, alpha):
    x = wide(x)
    y = x * sigmoid(alpha * x)
    return Result(y, 5 * units(y) + U * abs(alpha * x * y), 1e-6 * (abs(x) + 1))


def quantised_rows(x):
    """DynamicQuantizeLinear of each row [rows][numbers]: numbers of 8 bits, scales, zero points. Each step is one operation of float32, so all is
    exact."""
    x = numpy.asarray(x, numpy.float32)
    least, most = x.min(-1, initial=0), x.max(-1, initial=0)
    scale = (most - least) / numpy.float32(255)
    none = scale == 0
    scale[none] = 1
    zero = numpy.where(none, numpy.float32(0), numpy.clip(numpy.rint(-least / scale), 0, 255))
    numbers = numpy.where(none[:, None], numpy.float32(0), numpy.clip(numpy.rint(x / scale[:, None]) + zero[:, None], 0, 255))
    return numbers.astype(numpy.uint8), scale, zero.astype(numpy.uint8)


def quantised(x):
    """The same of a whole tensor."""
    numbers, scales, zeros = quantised_rows(numpy.reshape(x, (1, -1)))
    return numbers.reshape(numpy.shape(x)), scales[0], zeros[0]


def integer_product(a, b, a_zero, b_zero):
    """Zero points by row of a and by column of b, or one for all. Sums of less than 2^53 are exact in float64, whose products are the fastest."""
    a, b = a.astype(numpy.float64), b.astype(numpy.float64)
    if a_zero is not None:
        a = a - (a_zero.astype(numpy.float64)[..., None] if a_zero.ndim == 1 and a_zero.size > 1 else a_zero.astype(numpy.float64))
    if b_zero is not None:
        b = b - b_zero.astype(numpy.float64)
    return numpy.matmul(a, b).astype(numpy.int64)
