"""What each operator of a graph computes, by numpy in float64: for constants, for shapes, and as what errors are measured against.

Each function follows the operator's specification, and not what is exported of it. It takes the node, the version of ONNX's operators, and
arrays, None for those that are missing. It reads every attribute that its operator has in that version, and refuses what it does not compute.
"""
import math
from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy

from . import constant_operators, linear_nodes, onnx_attention, rotary_node
from .constant_operators import plain
from .errors import ExportError

MOST_ELEMENTS = 1 << 28  # of one array: a damaged file asks for more than any memory has


def bounded(sizes: Any) -> Any:
    """Sizes that a file asks for, before anything is allocated."""
    sizes = [int(size) for size in sizes]
    if math.prod(sizes) > MOST_ELEMENTS:
        raise ValueError(f'{math.prod(sizes)} elements; expected at most {MOST_ELEMENTS}')
    return sizes


def Elements(array: Any) -> Any:
    """Floats as float64."""
    array = numpy.asarray(array)
    return array.astype(numpy.float64) if array.dtype.kind == 'f' else array


class Operator(NamedTuple):
    """inputs: how many there are at least and at most. first: the version of ONNX that it came with."""

    compute: Callable[..., Any]
    inputs: Tuple[int, int]
    first: int = 1

    def require(self, node: Any, opset: int) -> None:
        least, most = self.inputs
        if opset < self.first and not node.domain:
            raise ExportError(f'{node}: this operator came with version {self.first}, and the model has version {opset}')
        if not least <= len(node.inputs) <= most:
            raise ExportError(f'{node}: it has {len(node.inputs)} inputs, and this exporter knows {least} to {most} there')


_erf = numpy.vectorize(math.erf, otypes=[numpy.float64])


def _axes(node: Any, is_input: bool, given: Any) -> Any:
    """Of an operator that had them as an attribute before it had them as an input."""
    if given is not None and not is_input:
        raise ValueError('axes as an input, which this version does not have')
    axes = [int(axis) for axis in ([] if given is None else given)] if is_input else node.attributes.wholes('axes', None)
    return tuple(axes) if axes else None


def _reduce(function: Callable[..., Any], axes_from: int = 18) -> Callable[..., Any]:
    def reduce(node: Any, opset: int, x: Any, given: Any = None) -> Any:
        axes, keeps = _axes(node, opset >= axes_from, given), node.attributes.flag('keepdims', 1)
        if opset >= axes_from and node.attributes.flag('noop_with_empty_axes', 0) and axes is None:
            return x
        return function(x, axis=axes, keepdims=keeps)
    return reduce


def _softmax(x: Any, axis: Any) -> Any:
    powers = numpy.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def softmax_axes(node: Any, opset: int, ndim: int) -> Any:
    """Before version 13 it is of a matrix whose columns are all axes from its own on."""
    axis = node.attributes.whole('axis', -1 if opset >= 13 else 1)
    if not -ndim <= axis < ndim:
        raise ValueError(f'the axis {axis}')
    return [axis % ndim] if opset >= 13 else list(range(axis % ndim, ndim))


def _op_softmax(node: Any, opset: int, x: Any) -> Any:
    """0 where it is that of attention and a query sees no key."""
    y = _softmax(x, tuple(softmax_axes(node, opset, x.ndim)))
    return numpy.where(node.unseen(x), 0.0, y) if node.unseen else y


def _log_softmax(node: Any, opset: int, x: Any) -> Any:
    axes = tuple(softmax_axes(node, opset, x.ndim))
    x = x - x.max(axes, keepdims=True)
    return x - numpy.log(numpy.exp(x).sum(axes, keepdims=True))


def _reshape(node: Any, opset: int, x: Any, shape: Any) -> Any:
    zero = opset >= 14 and node.attributes.flag('allowzero', 0)
    return x.reshape([x.shape[i] if size == 0 and not zero else int(size) for i, size in enumerate(shape)])


def _squeeze(node: Any, opset: int, x: Any, given: Any = None) -> Any:
    return numpy.squeeze(x, _axes(node, opset >= 13, given))


def _unsqueeze(node: Any, opset: int, x: Any, given: Any = None) -> Any:
    return numpy.expand_dims(x, _axes(node, opset >= 13, given))


def _slice(node: Any, opset: int, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Any:
    if opset < 10:
        starts, ends, axes = (node.attributes.wholes(*each) for each in (('starts',), ('ends',), ('axes', None)))
    result = [slice(None)] * x.ndim
    for i, (start, end) in enumerate(zip(starts, ends)):
        axis = i if axes is None else int(axes[i])
        step = 1 if steps is None else int(steps[i])
        if step == 0:
            raise ValueError('a step of 0')
        result[axis] = slice(int(start), int(end), step)
    return x[tuple(result)]


def split_ends(node: Any, opset: int, x: Any, sizes: Any, axis: int) -> Any:
    count = node.attributes.whole('num_outputs', len(node.outputs)) if opset >= 18 else len(node.outputs)
    sizes = node.attributes.wholes('split', None) if opset < 13 else sizes
    if count != len(node.outputs) or sizes is not None and len(sizes) != count:
        raise ValueError(f'{count} parts of sizes {sizes}, and {len(node.outputs)} outputs')
    if sizes is None:
        each = -(-x.shape[axis] // count)
        if opset < 18 and each * count != x.shape[axis]:
            raise ValueError(f'{x.shape[axis]} do not divide into {count}')
        sizes = [min(each, x.shape[axis] - each * i) for i in range(count)]
    if sum(int(size) for size in sizes) != x.shape[axis] or min(sizes) < 0:
        raise ValueError(f'parts of {[int(size) for size in sizes]} where there are {x.shape[axis]}')
    return [int(end) for end in numpy.cumsum(sizes)]


def _split(node: Any, opset: int, x: Any, sizes: Any = None) -> Any:
    axis = node.attributes.whole('axis', 0)
    return tuple(numpy.split(x, split_ends(node, opset, x, sizes, axis)[:-1], axis))


def _gather(node: Any, opset: int, x: Any, indices: Any) -> Any:
    return numpy.take(x, indices.astype(numpy.int64), axis=node.attributes.whole('axis', 0))


def _gemm(node: Any, opset: int, a: Any, b: Any, c: Any = None) -> Any:
    a = a.T if node.attributes.flag('transA', 0) else a
    b = b.T if node.attributes.flag('transB', 0) else b
    alpha, beta = node.attributes.number('alpha', 1.0), node.attributes.number('beta', 1.0)
    return alpha * (a @ b) + (0.0 if c is None else beta * c)


def _rotate(node: Any, opset: int, x: Any) -> Any:
    """Of our own graphs: rotary positions 0, 1 … of x [..., tokens, head_dim]."""
    angles = numpy.arange(x.shape[-2])[:, None] * numpy.array(node.attributes.numbers('frequencies'))
    cosine, sine = numpy.cos(angles), numpy.sin(angles)
    halves = node.attributes.choice('pairs', None, 'halves', 'neighbours') == 'halves'
    first, second = (x[..., :x.shape[-1] // 2], x[..., x.shape[-1] // 2:]) if halves else (x[..., ::2], x[..., 1::2])
    turned = first * cosine - second * sine, second * cosine + first * sine
    return numpy.concatenate(turned, -1) if halves else numpy.stack(turned, -1).reshape(x.shape)


def norm_attributes(node: Any, ndim: int) -> Any:
    """The first axis of a normalisation, and its epsilon. stash_type: means of 32-bit floats."""
    axis, epsilon = node.attributes.whole('axis', -1), node.attributes.number('epsilon', 1e-5)
    node.attributes.choice('stash_type', 1)
    if not -ndim <= axis < ndim:
        raise ValueError(f'the axis {axis}')
    return axis % ndim, epsilon


def _layer_norm(node: Any, opset: int, x: Any, weight: Any, bias: Any = None) -> Any:
    axis, epsilon = norm_attributes(node, x.ndim)
    axes = tuple(range(axis, x.ndim))
    centred = x - x.mean(axes, keepdims=True)
    y = centred / numpy.sqrt((centred**2).mean(axes, keepdims=True) + epsilon) * weight
    return y if bias is None else y + bias, x.mean(axes, keepdims=True)


def _rms_norm(node: Any, opset: int, x: Any, weight: Any) -> Any:
    axis, epsilon = norm_attributes(node, x.ndim)
    return x / numpy.sqrt((x**2).mean(tuple(range(axis, x.ndim)), keepdims=True) + epsilon) * weight


def group_attributes(node: Any, opset: int, channels: int) -> Any:
    """How many groups, and the epsilon: a group of an InstanceNormalization is a channel."""
    groups = channels if node.kind == 'InstanceNormalization' else node.attributes.whole('num_groups')
    if node.kind == 'GroupNormalization' and opset >= 21:
        node.attributes.choice('stash_type', 1)
    if groups < 1 or channels % groups:
        raise ValueError(f'{groups} groups of {channels} channels')
    return groups, node.attributes.number('epsilon', 1e-5)


def _group_norm(node: Any, opset: int, x: Any, weight: Any, bias: Any) -> Any:
    groups, epsilon = group_attributes(node, opset, x.shape[1])
    if weight.shape != bias.shape or weight.shape != (groups if node.kind == 'GroupNormalization' and opset < 21 else x.shape[1],):
        raise ValueError(f'a weight and a bias of {weight.size} and {bias.size}')
    rows = x.reshape(x.shape[0], groups, -1)
    centred = rows - rows.mean(-1, keepdims=True)
    y = (centred / numpy.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)).reshape(x.shape)
    weight, bias = (numpy.repeat(each, x.shape[1] // each.size).reshape([-1] + [1] * (x.ndim - 2)) for each in (weight, bias))
    return y * weight + bias


def _dropout(node: Any, opset: int, x: Any, ratio: Any = None, training: Any = None) -> Any:
    node.attributes.irrelevant('seed' if opset >= 12 else 'ratio')
    if training is not None and bool(training):
        raise ValueError('training_mode; expected a model for inference: model.eval()')
    return x


def _batch_norm(node: Any, opset: int, x: Any, weight: Any, bias: Any, mean: Any, variance: Any) -> Any:
    node.attributes.irrelevant('momentum')
    if opset < 9:
        node.attributes.choice('spatial', 1)
    if node.attributes.flag('training_mode', 0) if opset >= 14 else len(node.outputs) > 1:
        raise ValueError('training_mode; expected a model for inference: model.eval()')
    column = lambda numbers: numbers.reshape([-1] + [1] * (x.ndim - 2))
    factor = weight / numpy.sqrt(variance + node.attributes.number('epsilon', 1e-5))
    return x * column(factor) + column(bias - mean * factor)


class Window:
    """Where the windows of a convolution or a pooling lie: sizes of kernel, steps and edges for each of the last axes."""

    def __init__(self, node: Any, opset: int, x: Any, kernel: Any = None):
        """kernel: of a convolution's weights."""
        given = node.attributes
        self.kernel = given.wholes('kernel_shape') if kernel is None else given.wholes('kernel_shape', [int(size) for size in kernel])
        axes = len(self.kernel)
        if kernel is not None and list(self.kernel) != list(kernel):
            raise ValueError(f'its kernel_shape {self.kernel}; expected that of its weights, {list(kernel)}')
        if x.ndim != axes + 2 or len(x.shape) not in (3, 4):
            raise ValueError(f'a kernel of {axes} axes; expected 1 or 2, and two axes more in the input')
        self.steps = list(given.wholes('strides', [1] * axes))
        dilates = opset >= {'MaxPool': 10, 'AveragePool': 19}.get(node.kind, 1)
        self.dilations = list(given.wholes('dilations', [1] * axes)) if dilates else [1] * axes
        before, after = self._edges(given, x.shape[2:], axes)
        self.before, self.after = before, after
        self.counts = [(size + b + a - d * (k - 1) - 1) // s + 1 for size, b, a, d, k, s in
                       zip(x.shape[2:], before, after, self.dilations, self.kernel, self.steps)]
        sizes = (self.steps, self.dilations, before, after)
        if any(len(each) != axes for each in sizes) or min(self.steps + self.dilations + list(self.kernel) + self.counts) < 1 or \
                min(before + after) < 0 or (kernel is None and opset >= 10 and given.flag('ceil_mode', 0)) or \
                kernel is None and any(max(edges) > d * (k - 1) for *edges, d, k in zip(before, after, self.dilations, self.kernel)):
            raise ValueError('its kernel, strides, pads or dilations; expected windows inside the padded input, ceil_mode 0')

    def _edges(self, given: Any, sizes: Any, axes: int) -> Any:
        kind, pads = given.choice('auto_pad', 'NOTSET', 'VALID', 'SAME_UPPER', 'SAME_LOWER'), list(given.wholes('pads', [0] * 2 * axes))
        if kind != 'NOTSET' and any(pads) or len(pads) != 2 * axes:
            raise ValueError(f'pads {pads} with auto_pad {kind}; expected {2 * axes} of them, or auto_pad')
        if kind in ('SAME_UPPER', 'SAME_LOWER'):
            total = [max(0, (-(-size // s) - 1) * s + d * (k - 1) + 1 - size)
                     for size, s, d, k in zip(sizes, self.steps, self.dilations, self.kernel)]
            small = [edge // 2 for edge in total]
            large = [edge - edge // 2 for edge in total]
            return (small, large) if kind == 'SAME_UPPER' else (large, small)
        return pads[:axes], pads[axes:]

    def inside(self) -> 'Window':
        """The same windows over an input that has its edges."""
        result = Window.__new__(Window)
        result.__dict__ = {**self.__dict__, 'before': [0] * len(self.kernel), 'after': [0] * len(self.kernel)}
        return result

    def patches(self, x: Any, fill: float) -> Any:
        """[channels, kernel..., windows...] of x [1, channels, sizes...]."""
        edges = any(self.before + self.after)
        padded = x[0] if not edges else numpy.pad(x[0], [(0, 0)] + list(zip(self.before, self.after)), constant_values=fill)
        steps = padded.strides
        return numpy.lib.stride_tricks.as_strided(
            padded, [padded.shape[0], *self.kernel, *self.counts],
            [steps[0], *(s * d for s, d in zip(steps[1:], self.dilations)), *(s * t for s, t in zip(steps[1:], self.steps))])


    def inside_counts(self, shape: Any) -> Any:
        """How many elements of each window are no edge, one window after another."""
        return self.patches(numpy.ones((1, 1, *shape[2:])), 0.0).reshape(math.prod(self.kernel), -1).sum(0)


def _conv(node: Any, opset: int, x: Any, weight: Any, bias: Any = None) -> Any:
    groups = node.attributes.whole('group', 1)
    if x.shape[0] != 1 or groups < 1 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise ValueError('expected one item in the batch, and as many channels as the weights have')
    window = Window(node, opset, x, weight.shape[2:])
    patches = window.patches(x, 0.0)
    rows = patches.reshape(groups, -1, math.prod(window.counts))
    y = (weight.reshape(groups, weight.shape[0] // groups, -1) @ rows).reshape(1, weight.shape[0], *window.counts)
    return y if bias is None else y + bias.reshape([-1] + [1] * len(window.counts))


def of_channels(x: Any) -> Any:
    """Of a pooling, items of a batch are channels."""
    return x.reshape(1, -1, *x.shape[2:])


def _pool(function: Callable[..., Any], fill: float) -> Callable[..., Any]:
    def pool(node: Any, opset: int, x: Any) -> Any:
        window, x, shape = Window(node, opset, x), of_channels(x), x.shape[:2]
        patches = window.patches(x, fill)
        if fill != 0.0:
            node.attributes.irrelevant('storage_order')  # of the second output
        if fill == 0.0 and not node.attributes.flag('count_include_pad', 0) and any(window.before + window.after):
            y = patches.reshape(x.shape[1], -1, *window.counts).sum(1) / window.inside_counts(x.shape).reshape(window.counts)
        else:
            y = function(patches.reshape(x.shape[1], -1, *window.counts), axis=1)
        return y.reshape(*shape, *window.counts)
    return pool


def _global_pool(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, opset, x: function(x, axis=tuple(range(2, x.ndim)), keepdims=True)


def gelu_kind(node: Any) -> str:
    return 'none' if node.domain else node.attributes.choice('approximate', 'none', 'tanh')


def _gelu(node: Any, opset: int, x: Any) -> Any:
    if gelu_kind(node) == 'tanh':
        return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def elu_attributes(node: Any) -> Any:
    """alpha, gamma and beta of gamma * (max(x, 0) + alpha * (exp(min(x, 0) / beta) - 1))."""
    alpha = node.attributes.number('alpha', {'Selu': 1.67326319217681884765625}.get(node.kind, 1.0))
    gamma = node.attributes.number('gamma', 1.05070102214813232421875) if node.kind == 'Selu' else 1.0
    if alpha == 0 and node.kind == 'Celu':
        raise ValueError('an alpha of 0')
    return alpha, gamma, alpha if node.kind == 'Celu' else 1.0


def _elu(node: Any, opset: int, x: Any) -> Any:
    alpha, gamma, beta = elu_attributes(node)
    return gamma * numpy.where(x > 0, x, alpha * numpy.expm1(numpy.minimum(x, 0) / beta))


def _clip(node: Any, opset: int, x: Any, low: Any = None, high: Any = None) -> Any:
    if opset < 11:
        low, high = node.attributes.number('min', None), node.attributes.number('max', None)
    return numpy.clip(x, -numpy.inf if low is None else low, numpy.inf if high is None else high)


def _cast(node: Any, opset: int, x: Any) -> Any:
    to = node.attributes.whole('to')
    node.attributes.irrelevant(*['saturate'] * (opset >= 19), *['round_mode'] * (opset >= 24))  # of floats of 8 bits
    return x.astype(constant_operators.type_of(to))


def _constant_of_shape(node: Any, opset: int, shape: Any) -> Any:
    value = node.attributes.tensor('value', numpy.zeros(1, numpy.float32))
    return numpy.full(bounded(shape), value.reshape(-1)[0])


def _constant(node: Any, opset: int) -> Any:
    read = node.attributes
    for name, number, kind in (('value_int', read.whole, 'int64'), ('value_ints', read.wholes, 'int64'), ('value_float', read.number, 'float32'),
                               ('value_floats', read.numbers, 'float32')):
        if name in read and opset >= 12:
            return numpy.array(number(name), kind)
    return read.tensor('value')


def _range(node: Any, opset: int, start: Any, end: Any, step: Any) -> Any:
    bounded([(end - start) / step])
    return numpy.arange(start, end, step)


def _arg_max(node: Any, opset: int, x: Any) -> Any:
    axis, keeps = node.attributes.whole('axis', 0), node.attributes.flag('keepdims', 1)
    if opset >= 12 and node.attributes.flag('select_last_index', 0):
        raise ValueError('select_last_index; expected the first of equals')
    result = numpy.argmax(x, axis)
    return numpy.expand_dims(result, axis) if keeps else result


def _trilu(node: Any, opset: int, x: Any, k: Any = None) -> Any:
    return (numpy.triu if node.attributes.flag('upper', 1) else numpy.tril)(x, 0 if k is None else int(k))


def pads(node: Any, opset: int, x: Any, given: Any = None, value: Any = None, axes: Any = None) -> Any:
    """How it makes edges, how many numbers it puts before and after each axis, and what it fills constant ones with."""
    mode = node.attributes.choice('mode', 'constant', 'reflect', 'edge', *['wrap'] * (opset >= 19))
    if opset < 11:
        given, value = node.attributes.wholes('pads'), node.attributes.number('value', 0.0)
    both, count = [int(size) for size in given], x.ndim if axes is None else len(axes)
    if len(both) != 2 * count or min(both, default=0) < 0 or axes is not None and opset < 18:
        raise ValueError(f'pads of {both}; expected two numbers for each axis, none below 0')
    sizes = [(0, 0)] * x.ndim
    for axis, each in zip(range(count) if axes is None else axes, zip(both[:count], both[count:])):
        sizes[int(axis)] = each
    return mode, sizes, 0.0 if value is None else float(numpy.asarray(value).reshape(-1)[0])


def _pad(node: Any, opset: int, x: Any, given: Any = None, value: Any = None, axes: Any = None) -> Any:
    mode, sizes, fill = pads(node, opset, x, given, value, axes)
    bounded(size + sum(edges) for size, edges in zip(x.shape, sizes))
    return numpy.pad(x, sizes, mode, **({'constant_values': fill} if mode == 'constant' else {}))


def _divide(a: Any, b: Any) -> Any:
    return a / b if numpy.result_type(a, b).kind == 'f' else (numpy.sign(a) * numpy.sign(b) * (abs(a) // abs(b))).astype(a.dtype)


def _shape(node: Any, opset: int, x: Any) -> Any:
    start, end = (node.attributes.whole('start', 0), node.attributes.whole('end', None)) if opset >= 15 else (0, None)
    return numpy.array(x.shape[start:end], numpy.int64)


def _transpose(node: Any, opset: int, x: Any) -> Any:
    return numpy.transpose(x, node.attributes.wholes('perm', None))


def _flatten(node: Any, opset: int, x: Any) -> Any:
    axis = node.attributes.whole('axis', 1)
    if not -x.ndim <= axis <= x.ndim:
        raise ValueError(f'the axis {axis}')
    return x.reshape(math.prod(x.shape[:axis]), -1)


def _first(node: Any, opset: int, x: Any, *others: Any) -> Any:
    return x


ONE, TWO, THREE, ANY = (1, 1), (2, 2), (3, 3), (1, 1 << 30)
OPERATORS: Dict[str, Operator] = {
    **{kind: Operator(_reduce(function, axes_from), (1, 2)) for kind, (function, axes_from) in constant_operators.REDUCTIONS.items()},
    **{kind: Operator(compute, inputs, first) for kind, (inputs, first, compute) in constant_operators.OTHERS.items()},
    **{kind: Operator(plain(function), TWO) for kind, function in (
        ('Add', numpy.add), ('Sub', numpy.subtract), ('Mul', numpy.multiply), ('Div', _divide), ('Pow', lambda x, y: numpy.power(x, y).astype(x.dtype)), ('Equal', numpy.equal),
        ('Less', numpy.less), ('Greater', numpy.greater), ('And', numpy.logical_and), ('Or', numpy.logical_or), ('MatMul', numpy.matmul))},
    **{kind: Operator(plain(function), ONE) for kind, function in (
        ('Sqrt', numpy.sqrt), ('Neg', numpy.negative), ('Abs', numpy.abs), ('Exp', numpy.exp), ('Log', numpy.log), ('Reciprocal', numpy.reciprocal),
        ('Tanh', numpy.tanh), ('Sigmoid', lambda x: 1 / (1 + numpy.exp(-x))), ('Relu', lambda x: numpy.maximum(x, 0)), ('Softplus', lambda x: numpy.logaddexp(0, x)), ('Not', numpy.logical_not))},
    'Erf': Operator(plain(_erf), ONE, 9),
    'LessOrEqual': Operator(plain(numpy.less_equal), TWO, 12), 'GreaterOrEqual': Operator(plain(numpy.greater_equal), TWO, 12),
    'Min': Operator(plain(lambda *x: numpy.minimum.reduce(numpy.broadcast_arrays(*x))), ANY),
    'Max': Operator(plain(lambda *x: numpy.maximum.reduce(numpy.broadcast_arrays(*x))), ANY),
    'LeakyRelu': Operator(lambda node, opset, x: numpy.where(x < 0, x * node.attributes.number('alpha', 0.01), x), ONE),
    'PRelu': Operator(plain(lambda x, slope: numpy.where(x < 0, x * slope, x)), TWO),
    'HardSigmoid': Operator(lambda node, opset, x: numpy.clip(node.attributes.number('alpha', 0.2) * x + node.attributes.number('beta', 0.5), 0, 1), ONE),
    'HardSwish': Operator(plain(lambda x: x * numpy.clip(x / 6 + 0.5, 0, 1)), ONE, 14),
    'Elu': Operator(_elu, ONE), 'Selu': Operator(_elu, ONE), 'Celu': Operator(_elu, ONE, 12), 'LogSoftmax': Operator(_log_softmax, ONE),
    'Gelu': Operator(_gelu, ONE, 20), 'Clip': Operator(_clip, (1, 3)), 'Cast': Operator(_cast, ONE), 'Softmax': Operator(_op_softmax, ONE),
    'Where': Operator(plain(numpy.where), THREE, 9), 'Trilu': Operator(_trilu, (1, 2), 14),
    'Gemm': Operator(_gemm, (2, 3)), 'Conv': Operator(_conv, (2, 3)),
    'ReduceMean': Operator(_reduce(lambda x, **axes: numpy.mean(x, **axes).astype(x.dtype)), (1, 2)), 'ReduceSum': Operator(_reduce(numpy.sum, 13), (1, 2)),
    'ReduceMin': Operator(_reduce(numpy.min), (1, 2)), 'ReduceL2': Operator(_reduce(lambda x, **axes: numpy.sqrt((x * x).sum(**axes))), (1, 2)),
    'ReduceMax': Operator(_reduce(numpy.max), (1, 2)),
    'MaxPool': Operator(_pool(numpy.max, -numpy.inf), ONE), 'AveragePool': Operator(_pool(numpy.mean, 0.0), ONE),
    'GlobalAveragePool': Operator(_global_pool(numpy.mean), ONE), 'GlobalMaxPool': Operator(_global_pool(numpy.max), ONE),
    'Attention': Operator(onnx_attention.evaluate, (3, 7), 23), 'Rotate': Operator(_rotate, ONE), 'RotaryEmbedding': Operator(rotary_node.evaluate, (3, 4), 23),
    'LinearAttention': Operator(linear_nodes.linear_attention, (3, 7), 27), 'CausalConvWithState': Operator(linear_nodes.causal_conv, (2, 4), 27),
    'LayerNormalization': Operator(_layer_norm, (2, 3)),  # before version 17 by ONNX Runtime's tools
    'RMSNormalization': Operator(_rms_norm, TWO, 23), 'SimplifiedLayerNormalization': Operator(_rms_norm, TWO),
    'GroupNormalization': Operator(_group_norm, THREE, 18), 'InstanceNormalization': Operator(_group_norm, THREE),
    'BatchNormalization': Operator(_batch_norm, (5, 5)), 'ArgMax': Operator(_arg_max, ONE),
    'Identity': Operator(_first, ONE), 'Dropout': Operator(_dropout, (1, 3)),
    'Reshape': Operator(_reshape, TWO), 'Transpose': Operator(_transpose, ONE), 'Flatten': Operator(_flatten, ONE),
    'Squeeze': Operator(_squeeze, (1, 2)), 'Unsqueeze': Operator(_unsqueeze, (1, 2)), 'Slice': Operator(_slice, (1, 5)),
    'Split': Operator(_split, (1, 2)), 'Pad': Operator(_pad, (1, 4)), 'Gather': Operator(_gather, TWO),
    'Concat': Operator(lambda node, opset, *x: numpy.concatenate(x, node.attributes.whole('axis')), ANY),
    'Expand': Operator(lambda node, opset, x, shape: numpy.broadcast_to(
        x, bounded(numpy.broadcast_shapes(x.shape, [int(size) for size in shape]))), TWO, 8),
    'Tile': Operator(lambda node, opset, x, repeats: numpy.tile(x, bounded([x.size, *repeats])[1:]), TWO),
    'Shape': Operator(_shape, ONE), 'Size': Operator(lambda node, opset, x: numpy.array(x.size, numpy.int64), ONE),
    'Constant': Operator(_constant, (0, 0)), 'ConstantOfShape': Operator(_constant_of_shape, ONE, 9), 'Range': Operator(_range, THREE, 11),
}
