"""What each operator of a graph computes, by numpy in float64: for constants, for shapes, and as what errors are measured against.

Each function takes the node, the version of ONNX's operators, and arrays, None for those that are missing.
"""
import math
from typing import Any, Callable, Dict

import numpy

from . import rotary_node

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


_erf = numpy.vectorize(math.erf, otypes=[numpy.float64])


def _axes(node: Any, given: Any) -> Any:
    axes = node.attributes.get('axes') if given is None else [int(axis) for axis in given]
    return tuple(axes) if axes else None


def _reduce(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(node: Any, opset: int, x: Any, given: Any = None) -> Any:
        axes = _axes(node, given)
        if axes is None and node.attributes.get('noop_with_empty_axes'):
            return x
        return function(x, axis=axes, keepdims=bool(node.attributes.get('keepdims', 1)))
    return reduce


def _softmax(x: Any, axis: int) -> Any:
    powers = numpy.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _op_softmax(node: Any, opset: int, x: Any) -> Any:
    if opset >= 13:
        return _softmax(x, node.attributes.get('axis', -1))
    axis = node.attributes.get('axis', 1)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f'the axis {axis}')
    axis %= x.ndim  # of a matrix whose columns are all axes from this one on
    return _softmax(x.reshape(math.prod(x.shape[:axis]), -1), 1).reshape(x.shape)


def _reshape(node: Any, opset: int, x: Any, shape: Any) -> Any:
    zero = node.attributes.get('allowzero', 0)
    return x.reshape([x.shape[i] if size == 0 and not zero else int(size) for i, size in enumerate(shape)])


def _squeeze(node: Any, opset: int, x: Any, given: Any = None) -> Any:
    return numpy.squeeze(x, _axes(node, given))


def _unsqueeze(node: Any, opset: int, x: Any, given: Any = None) -> Any:
    return numpy.expand_dims(x, _axes(node, given))


def slices(node: Any, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Any:
    """A Slice as Python's slices, one an axis."""
    if starts is None:
        starts, ends, axes = node.attributes['starts'], node.attributes['ends'], node.attributes.get('axes')
    result = [slice(None)] * x.ndim
    for i, (start, end) in enumerate(zip(starts, ends)):
        axis = i if axes is None else int(axes[i])
        step = 1 if steps is None else int(steps[i])
        if step == 0:
            raise ValueError('a step of 0')
        result[axis] = slice(int(start), int(end), step)
    return tuple(result)


def split_ends(node: Any, x: Any, sizes: Any, axis: int) -> Any:
    if sizes is None:
        sizes = node.attributes.get('split')
    if sizes is None:
        count = len(node.outputs)
        each = -(-x.shape[axis] // count)
        sizes = [min(each, x.shape[axis] - each * i) for i in range(count)]
    if sum(int(size) for size in sizes) != x.shape[axis] or min(sizes) < 0:
        raise ValueError(f'parts of {[int(size) for size in sizes]} where there are {x.shape[axis]}')
    return [int(end) for end in numpy.cumsum(sizes)]


def _split(node: Any, opset: int, x: Any, sizes: Any = None) -> Any:
    axis = node.attributes.get('axis', 0)
    return tuple(numpy.split(x, split_ends(node, x, sizes, axis)[:-1], axis))


def _gather(node: Any, opset: int, x: Any, indices: Any) -> Any:
    return numpy.take(x, indices.astype(numpy.int64), axis=node.attributes.get('axis', 0))


def _gemm(node: Any, opset: int, a: Any, b: Any, c: Any = None) -> Any:
    a = a.T if node.attributes.get('transA') else a
    b = b.T if node.attributes.get('transB') else b
    y = node.attributes.get('alpha', 1.0) * (a @ b)
    return y if c is None else y + node.attributes.get('beta', 1.0) * c


def heads_of(node: Any, x: Any, count: str) -> Any:
    """[batch, heads, tokens, width] of an Attention's input, which may be [batch, tokens, heads * width]."""
    if x.ndim == 4:
        return x
    heads = node.attributes[count]
    return x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def attention_mask(node: Any, mask: Any, queries: int, keys: int) -> Any:
    """What an Attention adds to its scores."""
    bias = numpy.zeros((1, 1)) if mask is None else numpy.where(mask, 0.0, -numpy.inf) if mask.dtype == bool else mask
    return bias + numpy.where(numpy.tri(queries, keys, dtype=bool), 0.0, -numpy.inf) if node.attributes.get('is_causal') else bias


def _attention(node: Any, opset: int, query: Any, key: Any, value: Any, mask: Any = None, *past: Any) -> Any:
    """Of version 23 on."""
    if any(each is not None for each in past) or len(node.outputs) > 1 or node.attributes.get('softcap'):
        raise ValueError('past keys and values, a soft cap or further outputs; expected none of these')
    q, k, v = heads_of(node, query, 'q_num_heads'), heads_of(node, key, 'kv_num_heads'), heads_of(node, value, 'kv_num_heads')
    scores = q.shape[1] * q.shape[2] * k.shape[2]
    if scores > MOST_ELEMENTS:
        raise ValueError(f'{scores} scores, more than {MOST_ELEMENTS}; expected fewer tokens')
    k, v = (numpy.repeat(each, q.shape[1] // each.shape[1], 1) for each in (k, v))
    scores = q @ numpy.swapaxes(k, 2, 3) * node.attributes.get('scale', q.shape[3] ** -0.5)
    y = _softmax(scores + attention_mask(node, mask, q.shape[2], k.shape[2]), -1) @ v
    return y if query.ndim == 4 else y.transpose(0, 2, 1, 3).reshape(query.shape[0], query.shape[1], -1)


def _rotate(node: Any, opset: int, x: Any) -> Any:
    """Of our own graphs: rotary positions 0, 1 … of x [..., tokens, head_dim]."""
    angles = numpy.arange(x.shape[-2])[:, None] * numpy.array(node.attributes['frequencies'])
    cosine, sine = numpy.cos(angles), numpy.sin(angles)
    halves = node.attributes['pairs'] == 'halves'
    first, second = (x[..., :x.shape[-1] // 2], x[..., x.shape[-1] // 2:]) if halves else (x[..., ::2], x[..., 1::2])
    turned = first * cosine - second * sine, second * cosine + first * sine
    return numpy.concatenate(turned, -1) if halves else numpy.stack(turned, -1).reshape(x.shape)


def _layer_norm(node: Any, opset: int, x: Any, weight: Any, bias: Any = None) -> Any:
    axis = node.attributes.get('axis', -1)
    axes = tuple(range(axis % x.ndim, x.ndim))
    centred = x - x.mean(axes, keepdims=True)
    y = centred / numpy.sqrt((centred**2).mean(axes, keepdims=True) + node.attributes.get('epsilon', 1e-5)) * weight
    return y if bias is None else y + bias


def _rms_norm(node: Any, opset: int, x: Any, weight: Any) -> Any:
    axis = node.attributes.get('axis', -1)
    axes = tuple(range(axis % x.ndim, x.ndim))
    return x / numpy.sqrt((x**2).mean(axes, keepdims=True) + node.attributes.get('epsilon', 1e-5)) * weight


def _dropout(node: Any, opset: int, x: Any, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and bool(training):
        raise ValueError('training_mode; expected a model for inference: model.eval()')
    return x


def _batch_norm(node: Any, opset: int, x: Any, weight: Any, bias: Any, mean: Any, variance: Any) -> Any:
    if node.attributes.get('training_mode'):
        raise ValueError('training_mode; expected a model for inference: model.eval()')
    column = lambda numbers: numbers.reshape([-1] + [1] * (x.ndim - 2))
    factor = weight / numpy.sqrt(variance + node.attributes.get('epsilon', 1e-5))
    return x * column(factor) + column(bias - mean * factor)


class Window:
    """Where the windows of a convolution or a pooling lie: sizes of kernel, steps and edges for each of the last axes."""

    def __init__(self, node: Any, x: Any, kernel: Any):
        given, self.kernel = node.attributes, [int(size) for size in kernel]
        axes = len(self.kernel)
        if x.ndim != axes + 2 or len(x.shape) not in (3, 4):
            raise ValueError(f'a kernel of {axes} axes; expected 1 or 2, and two axes more in the input')
        self.steps = list(given.get('strides') or [1] * axes)
        self.dilations = list(given.get('dilations') or [1] * axes)
        before, after = self._edges(given, x.shape[2:], axes)
        self.before, self.after = before, after
        self.counts = [(size + b + a - d * (k - 1) - 1) // s + 1 for size, b, a, d, k, s in
                       zip(x.shape[2:], before, after, self.dilations, self.kernel, self.steps)]
        if min(self.steps + self.dilations + self.kernel + self.counts) < 1 or min(before + after) < 0 or given.get('ceil_mode'):
            raise ValueError('its kernel, strides, pads or dilations; expected windows inside the padded input, ceil_mode 0')

    def _edges(self, given: Any, sizes: Any, axes: int) -> Any:
        kind = given.get('auto_pad', 'NOTSET')
        kind = kind.decode() if isinstance(kind, bytes) else kind
        if kind in ('SAME_UPPER', 'SAME_LOWER'):
            total = [max(0, (-(-size // s) - 1) * s + d * (k - 1) + 1 - size)
                     for size, s, d, k in zip(sizes, self.steps, self.dilations, self.kernel)]
            small = [edge // 2 for edge in total]
            large = [edge - edge // 2 for edge in total]
            return (small, large) if kind == 'SAME_UPPER' else (large, small)
        pads = list(given.get('pads') or [0] * 2 * axes) if kind == 'NOTSET' else [0] * 2 * axes
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


def _conv(node: Any, opset: int, x: Any, weight: Any, bias: Any = None) -> Any:
    groups = node.attributes.get('group', 1)
    if list(node.attributes.get('kernel_shape') or weight.shape[2:]) != list(weight.shape[2:]):
        raise ValueError(f'its kernel_shape {node.attributes["kernel_shape"]}; expected that of its weights, {list(weight.shape[2:])}')
    if x.shape[0] != 1 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise ValueError('expected one item in the batch, and as many channels as the weights have')
    window = Window(node, x, weight.shape[2:])
    patches = window.patches(x, 0.0)
    rows = patches.reshape(groups, -1, math.prod(window.counts))
    y = (weight.reshape(groups, weight.shape[0] // groups, -1) @ rows).reshape(1, weight.shape[0], *window.counts)
    return y if bias is None else y + bias.reshape([-1] + [1] * len(window.counts))


def _pool(function: Callable[..., Any], fill: float) -> Callable[..., Any]:
    def pool(node: Any, opset: int, x: Any) -> Any:
        window = Window(node, x, node.attributes['kernel_shape'])
        patches = window.patches(x, fill)
        if fill == 0.0 and not node.attributes.get('count_include_pad') and any(window.before + window.after):
            inside = window.patches(numpy.ones_like(x), 0.0).reshape(x.shape[1], -1, *window.counts).sum(1)
            return (patches.reshape(x.shape[1], -1, *window.counts).sum(1) / inside)[None]
        return function(patches.reshape(x.shape[1], -1, *window.counts), axis=1)[None]
    return pool


def _global_pool(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, opset, x: function(x, axis=tuple(range(2, x.ndim)), keepdims=True)


def _gelu(node: Any, opset: int, x: Any) -> Any:
    kind = node.attributes.get('approximate', 'none')
    if kind in ('tanh', b'tanh'):
        return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _clip(node: Any, opset: int, x: Any, low: Any = None, high: Any = None) -> Any:
    low = node.attributes.get('min') if low is None else low
    high = node.attributes.get('max') if high is None else high
    return numpy.clip(x, -numpy.inf if low is None else low, numpy.inf if high is None else high)


def _cast(node: Any, opset: int, x: Any) -> Any:
    kinds = {1: numpy.float64, 10: numpy.float64, 11: numpy.float64, 16: numpy.float64, 9: numpy.bool_, 6: numpy.int32, 7: numpy.int64,
             2: numpy.uint8, 3: numpy.int8}
    if node.attributes['to'] not in kinds:
        raise ValueError(f'the type {node.attributes["to"]}; expected a float, an integer or bool')
    return x.astype(kinds[node.attributes['to']])


def _constant_of_shape(node: Any, opset: int, shape: Any) -> Any:
    value = node.attributes.get('value', numpy.zeros(1, numpy.float32))
    return numpy.full(bounded(shape), value.reshape(-1)[0])


def _range(node: Any, opset: int, start: Any, end: Any, step: Any) -> Any:
    bounded([(end - start) / step])
    return numpy.arange(start, end, step)


def _arg_max(node: Any, opset: int, x: Any) -> Any:
    axis = node.attributes.get('axis', 0)
    if node.attributes.get('select_last_index'):
        raise ValueError('select_last_index; expected the first of equals')
    result = numpy.argmax(x, axis)
    return numpy.expand_dims(result, axis) if node.attributes.get('keepdims', 1) else result


def _trilu(node: Any, opset: int, x: Any, k: Any = None) -> Any:
    return (numpy.triu if node.attributes.get('upper', 1) else numpy.tril)(x, 0 if k is None else int(k))


def pads(node: Any, x: Any, given: Any = None) -> Any:
    """Numbers that a Pad puts before and after each axis."""
    both = [int(size) for size in (node.attributes['pads'] if given is None else given)]
    if len(both) != 2 * x.ndim or min(both) < 0 or node.attributes.get('mode', 'constant') != 'constant':
        raise ValueError(f'pads of {both}, mode {node.attributes.get("mode")}; expected two numbers for each axis, mode constant')
    return list(zip(both[:x.ndim], both[x.ndim:]))


def _pad(node: Any, opset: int, x: Any, given: Any = None, value: Any = None) -> Any:
    fill = node.attributes.get('value', 0.0) if value is None else float(numpy.asarray(value).reshape(-1)[0])
    sizes = pads(node, x, given)
    bounded(size + sum(edges) for size, edges in zip(x.shape, sizes))
    return numpy.pad(x, sizes, constant_values=fill)


def _divide(a: Any, b: Any) -> Any:
    return a / b if numpy.result_type(a, b).kind == 'f' else (numpy.sign(a) * numpy.sign(b) * (abs(a) // abs(b))).astype(a.dtype)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, opset, *arrays: function(*arrays)


def _first(node: Any, opset: int, x: Any, *others: Any) -> Any:
    return x


OPERATORS: Dict[str, Callable[..., Any]] = {
    'Add': _plain(numpy.add), 'Sub': _plain(numpy.subtract), 'Mul': _plain(numpy.multiply), 'Div': _plain(_divide),
    'Pow': _plain(numpy.power), 'Sqrt': _plain(numpy.sqrt), 'Neg': _plain(numpy.negative), 'Abs': _plain(numpy.abs),
    'Exp': _plain(numpy.exp), 'Log': _plain(numpy.log), 'Reciprocal': _plain(numpy.reciprocal), 'Erf': _plain(_erf),
    'Tanh': _plain(numpy.tanh), 'Sigmoid': _plain(lambda x: 1 / (1 + numpy.exp(-x))), 'Relu': _plain(lambda x: numpy.maximum(x, 0)),
    'Min': _plain(lambda *x: numpy.minimum.reduce(numpy.broadcast_arrays(*x))),
    'Max': _plain(lambda *x: numpy.maximum.reduce(numpy.broadcast_arrays(*x))),
    'LeakyRelu': lambda node, opset, x: numpy.where(x < 0, x * node.attributes.get('alpha', 0.01), x),
    'Gelu': _gelu, 'Clip': _clip, 'Cast': _cast, 'Softmax': _op_softmax,
    'Equal': _plain(numpy.equal), 'Less': _plain(numpy.less), 'Greater': _plain(numpy.greater), 'Not': _plain(numpy.logical_not),
    'LessOrEqual': _plain(numpy.less_equal), 'GreaterOrEqual': _plain(numpy.greater_equal), 'And': _plain(numpy.logical_and),
    'Or': _plain(numpy.logical_or), 'Where': _plain(numpy.where), 'Trilu': _trilu,
    'MatMul': _plain(numpy.matmul), 'Gemm': _gemm, 'Conv': _conv,
    'ReduceMean': _reduce(numpy.mean), 'ReduceSum': _reduce(numpy.sum), 'ReduceMax': _reduce(numpy.max),
    'MaxPool': _pool(numpy.max, -numpy.inf), 'AveragePool': _pool(numpy.mean, 0.0),
    'GlobalAveragePool': _global_pool(numpy.mean), 'GlobalMaxPool': _global_pool(numpy.max),
    'Attention': _attention, 'Rotate': _rotate, 'RotaryEmbedding': rotary_node.evaluate,
    'LayerNormalization': _layer_norm, 'RMSNormalization': _rms_norm, 'SimplifiedLayerNormalization': _rms_norm,
    'BatchNormalization': _batch_norm, 'ArgMax': _arg_max,
    'Identity': _first, 'Dropout': _dropout,
    'Reshape': _reshape, 'Transpose': lambda node, opset, x: numpy.transpose(x, node.attributes.get('perm')),
    'Flatten': lambda node, opset, x: x.reshape(math.prod(x.shape[:node.attributes.get('axis', 1)]), -1),
    'Squeeze': _squeeze, 'Unsqueeze': _unsqueeze, 'Slice': lambda node, opset, x, *given: x[slices(node, x, *given)],
    'Split': _split, 'Pad': _pad, 'Gather': _gather, 'Concat': lambda node, opset, *x: numpy.concatenate(x, node.attributes['axis']),
    'Expand': lambda node, opset, x, shape: numpy.broadcast_to(
        x, bounded(numpy.broadcast_shapes(x.shape, [int(size) for size in shape]))),
    'Tile': lambda node, opset, x, repeats: numpy.tile(x, bounded([x.size, *repeats])[1:]),
    'Shape': lambda node, opset, x: numpy.array(x.shape[node.attributes.get('start', 0):node.attributes.get('end')], numpy.int64),
    'Size': lambda node, opset, x: numpy.array(x.size, numpy.int64),
    'Constant': lambda node, opset: node.attributes['value'], 'ConstantOfShape': _constant_of_shape,
    'Range': _range,
}
