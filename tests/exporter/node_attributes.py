"""Random nodes, each with one attribute that is unknown, or changed: refused by name, or computed right. Nothing is ignored in silence.

Right is what the operator's specification says, in float64, in functions of this file and, of attention, of
tests/support/float64.py, which share nothing with the exporter. A function raises where the specification allows no such node.
"""
import itertools
import math

import float64
import numpy
import onnx
from onnx import helper, numpy_helper

from attend.exporter import ExportError
from attend.exporter.export import load

UNKNOWN = ('nonsense', 'local_window_size', 'scale', 'axes', 'axis', 'keepdims', 'mode', 'alpha', 'transB', 'unidirectional', 'left_window_size', 'exclusive', 'clip',
           'coordinates', 'perm', 'to', 'broadcast', 'Axis', 'axis_', 'group')


def softmax(x, axis):
    powers = numpy.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def flat_softmax(x, axis=1):
    axis = numpy.arange(x.ndim + 1)[axis] if axis >= 0 else x.ndim + axis
    return softmax(x.reshape(int(numpy.prod(x.shape[:axis], dtype=int)), -1), 1).reshape(x.shape)


def reduce_by(function, x, axes=None, keepdims=1, noop_with_empty_axes=0):
    if noop_with_empty_axes and not axes:
        return x
    return function(x, axis=tuple(axes) if axes else None, keepdims=bool(keepdims))


def gemm(a, b, c, alpha=1.0, beta=1.0, transA=0, transB=0):
    return alpha * (a.T if transA else a) @ (b.T if transB else b) + beta * c


def window_places(x, kernel, strides, pads, dilations, auto_pad):
    """For each axis, the places of the kernel's elements for each output."""
    axes = x.ndim - 2
    if not len(kernel) == len(strides) == len(dilations) == axes or len(pads) != 2 * axes or min([*kernel, *strides, *dilations]) < 1 or min(pads) < 0:
        raise ValueError
    if auto_pad not in ('NOTSET', 'VALID', 'SAME_UPPER', 'SAME_LOWER') or auto_pad != 'NOTSET' and any(pads):
        raise ValueError
    found = []
    for axis, (size, k, s, d) in enumerate(zip(x.shape[2:], kernel, strides, dilations)):
        before, after = pads[axis], pads[axes + axis]
        if auto_pad.startswith('SAME'):
            total = max(0, (math.ceil(size / s) - 1) * s + d * (k - 1) + 1 - size)
            before = total // 2 if auto_pad == 'SAME_UPPER' else total - total // 2
            after = total - before
        count = (size + before + after - d * (k - 1) - 1) // s + 1
        if count < 1:
            raise ValueError
        found.append([[i * s - before + j * d for j in range(k)] for i in range(count)])
    return found


def conv(x, w, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), group=1, kernel_shape=None, auto_pad='NOTSET'):
    if kernel_shape not in (None, list(w.shape[2:])) or group < 1 or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise ValueError
    rows, columns = window_places(x, w.shape[2:], strides, pads, dilations, auto_pad)
    y = numpy.zeros((1, w.shape[0], len(rows), len(columns)))
    for o, (i, r), (j, c) in itertools.product(range(w.shape[0]), enumerate(rows), enumerate(columns)):
        first = o // (w.shape[0] // group) * w.shape[1]
        for (a, p), (b, q) in itertools.product(enumerate(r), enumerate(c)):
            if 0 <= p < x.shape[2] and 0 <= q < x.shape[3]:
                y[0, o, i, j] += x[0, first:first + w.shape[1], p, q] @ w[o, :, a, b]
    return y


def pool(x, mean, kernel_shape=None, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), auto_pad='NOTSET', count_include_pad=0, ceil_mode=0, storage_order=0):
    if ceil_mode or count_include_pad not in (0, 1):
        raise ValueError
    rows, columns = window_places(x, kernel_shape, strides, pads, dilations, auto_pad)
    y = numpy.zeros((1, x.shape[1], len(rows), len(columns)))
    for (i, r), (j, c) in itertools.product(enumerate(rows), enumerate(columns)):
        inside = [x[0, :, p, q] for p in r for q in c if 0 <= p < x.shape[2] and 0 <= q < x.shape[3]]
        y[0, :, i, j] = sum(inside) / (len(r) * len(c) if count_include_pad else len(inside)) if mean else numpy.max(inside, 0)
    return y


def norm(x, weight, bias=0.0, axis=-1, epsilon=1e-5, stash_type=1, centred=True):
    if not -x.ndim <= axis < x.ndim or stash_type != 1:
        raise ValueError
    axes = tuple(range(x.ndim))[axis:]
    x = x - x.mean(axes, keepdims=True) if centred else x
    return x / numpy.sqrt((x * x).mean(axes, keepdims=True) + epsilon) * weight + bias


def batch_norm(x, weight, bias, mean, variance, epsilon=1e-5, momentum=0.9, training_mode=0, spatial=1):
    if training_mode or spatial != 1:
        raise ValueError
    column = lambda each: each[:, None]
    return (x - column(mean)) / numpy.sqrt(column(variance) + epsilon) * column(weight) + column(bias)


def attention(q, k, v, mask=None, is_causal=0, scale=None, softcap=0.0, q_num_heads=None, kv_num_heads=None, softmax_precision=1, qk_matmul_output_mode=0,
              left_window_size=-1, right_window_size=-1):
    """One batch row."""
    given = q.ndim
    if softcap < 0 or min(left_window_size, right_window_size) < -1 or is_causal not in (0, 1) or softmax_precision not in (1, 10, 11, 16):
        raise ValueError
    split = lambda x, heads: x if x.ndim == 4 else numpy.stack([numpy.split(x[0], heads, 1)]) if heads and heads > 0 else None
    q, k, v = split(q, q_num_heads), split(k, kv_num_heads), split(v, kv_num_heads)
    if q_num_heads not in (None, q.shape[1]) or kv_num_heads not in (None, k.shape[1]) or q.shape[1] % k.shape[1]:
        raise ValueError
    i, j = numpy.ogrid[:q.shape[2], :k.shape[2]]
    seen = (j <= i if is_causal else True) & (i - j <= left_window_size if left_window_size >= 0 else True) & (
        j - i <= right_window_size if right_window_size >= 0 else True)
    if mask is not None:  # of bools; keys after its end are masked
        seen = seen & numpy.pad(mask, ((0, 0), (0, k.shape[2] - mask.shape[1])))
    y = float64.attention(q, k, v, seen, scale, cap=softcap).output
    return y if given == 4 else y.transpose(0, 2, 1, 3).reshape(1, q.shape[2], -1)


def rotary(x, cosines, sines, interleaved=0, num_heads=0, rotary_embedding_dim=0):
    if num_heads not in (0, x.shape[1]) or interleaved not in (0, 1) or rotary_embedding_dim not in (0, 2 * cosines.shape[-1]):
        raise ValueError
    n, y = cosines.shape[-1], x.copy()
    if 2 * n > x.shape[3] or not rotary_embedding_dim and 2 * n != x.shape[3]:
        raise ValueError
    for i in range(n):
        a, b = (2 * i, 2 * i + 1) if interleaved else (i, i + n)
        y[..., a], y[..., b] = x[..., a] * cosines[:, None, :, i] - x[..., b] * sines[:, None, :, i], x[..., a] * sines[:, None, :, i] + x[..., b] * cosines[:, None, :, i]
    return y


def gelu(x, approximate='none'):
    if approximate == 'tanh':
        return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    if approximate != 'none':
        raise ValueError
    return 0.5 * x * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2)))


def cast(x, to=None, saturate=1, round_mode='up'):
    if to not in (1, 10, 11, 16):
        raise ValueError  # whole numbers of computed floats: refused, or another issue's
    return x


def slice_by(x, starts=None, ends=None, axes=None):
    place = [slice(None)] * x.ndim
    for axis, start, end in zip(axes or range(len(starts)), starts, ends):
        place[axis] = slice(start, end)
    if len(starts) != len(ends) or axes and len(axes) != len(starts):
        raise ValueError
    return x[tuple(place)]


def pad(x, pads=None, mode='constant', value=0.0):
    if mode not in ('constant', 'reflect', 'edge') or len(pads) != 2 * x.ndim or min(pads) < 0:
        raise ValueError
    return numpy.pad(x, list(zip(pads[:x.ndim], pads[x.ndim:])), mode, **({'constant_values': value} if mode == 'constant' else {}))


def group_norm(x, weight, bias, num_groups=4, epsilon=1e-5, stash_type=1):
    if x.shape[1] % num_groups or num_groups < 1 or len(weight) not in (num_groups, x.shape[1]) or stash_type != 1:
        raise ValueError
    y = norm(x.reshape(len(x), num_groups, -1), 1.0, epsilon=epsilon).reshape(x.shape)
    return y * weight.repeat(x.shape[1] // len(weight))[:, None, None] + bias.repeat(x.shape[1] // len(weight))[:, None, None]


def arg_max(x, axis=0, keepdims=1, select_last_index=0):
    found = numpy.argmax(x, axis) if not select_last_index else x.shape[axis] - 1 - numpy.argmax(numpy.flip(x, axis), axis)
    return numpy.expand_dims(found, axis) if keepdims else found


def concat(x, y, axis=None):
    return numpy.concatenate([x, y], axis)


def split_first(x, axis=0, split=None, num_outputs=1):
    if num_outputs != 1 or split not in (None, [x.shape[axis]]):
        raise ValueError
    return x


def flatten(x, axis=1):
    return x.reshape(int(numpy.prod(x.shape[:axis], dtype=int)), -1) if -x.ndim <= axis <= x.ndim else 1 / 0


def plain(function):
    """Of an operator that has no attribute."""
    return lambda *x: function(*x)


def mod(a, b, fmod=0):
    if fmod not in (0, 1):
        raise ValueError
    return a - b * (numpy.trunc(a / b) if fmod else numpy.floor(a / b))


def cumulated(x, axis, exclusive=0, reverse=0):
    if not {exclusive, reverse} <= {0, 1}:
        raise ValueError
    y = numpy.zeros_like(x)
    for i, j in itertools.product(range(x.shape[0]), range(x.shape[1])):
        y[i, j] = x[i, j + exclusive:].sum() if reverse else x[i, :j + 1 - exclusive].sum()
    return y


def outer(a, b, equation=None):
    if equation != 'i,j->ij':
        raise ValueError
    return a[:, None] * b


def dequantised(x, scale, zero, axis=1):
    other = (1, 0)[axis]
    return (x - numpy.expand_dims(zero, other)) * numpy.expand_dims(scale, other) if x.shape[axis] == len(scale) else 1 / 0


def picked(x, at, axis=0):
    y = numpy.zeros(at.shape)
    for place in itertools.product(*map(range, at.shape)):
        y[place] = x[tuple(at[place] if i == (0, 1)[axis] else p for i, p in enumerate(place))]
    return y


def scattered(x, at, updates, reduction='none'):
    if reduction != 'none':
        raise ValueError
    for place, row in zip(at, updates):
        x[place[0]] = row
    return x


def one_hot(at, depth, values, axis=-1):
    y = numpy.full((depth[0], len(at)), values[0])
    y[at, numpy.arange(len(at))] = values[1]
    return {0: y, 1: y.T, -1: y.T, -2: y}[axis]


def only(value, expected, result):
    return result if value == expected else 1 / 0


class Form:
    """A node that its operator allows. free: how many of the inputs are the model's; the others are constants. all: every attribute that the
    operator has in this version, as a value of its type."""

    def __init__(self, kind, opset, inputs, right, attributes=None, free=1, all=None, domain=''):
        self.kind, self.opset, self.inputs, self.right, self.free, self.domain = kind, opset, inputs, right, free, domain
        self.attributes, self.all = attributes or {}, {**(attributes or {}), **(all or {})}

    def model(self, attributes):
        names, nodes = [f'x{i}' for i in range(len(self.inputs))], []
        given = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, array.shape) for name, array in zip(names[:self.free], self.inputs)]
        nodes.append(helper.make_node(self.kind, [name if array is not None else '' for name, array in zip(names, self.inputs)], ['y'], name='the node',
                                      domain=self.domain, **attributes))
        constants = [numpy_helper.from_array(array, name) for name, array in zip(names[self.free:], self.inputs[self.free:]) if array is not None]
        if not self.free:  # a factor for what is constant
            given.append(helper.make_tensor_value_info('factor', onnx.TensorProto.FLOAT, [1, 1]))
            constants.append(numpy_helper.from_array(numpy.array([1, -1]), 'row'))
            nodes += [helper.make_node('Cast', ['y'], ['c'], to=1), helper.make_node('Reshape', ['c', 'row'], ['r']), helper.make_node('Mul', ['factor', 'r'], ['z'])]
        output = helper.make_tensor_value_info('y' if self.free else 'z', onnx.TensorProto.FLOAT, None)
        graph = helper.make_graph(nodes, 'model', given, [output], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', self.opset), helper.make_opsetid('com.microsoft', 1)])

    def expected(self, attributes):
        arrays = [None if each is None else each.astype('float64') if each.dtype.kind == 'f' else each for each in self.inputs]
        values = {name: numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value for name, value in attributes.items()}
        with numpy.errstate(all='ignore'):
            return numpy.asarray(self.right(*arrays, **values))


def forms(random):
    normal = lambda *shape: random.standard_normal(shape).astype('float32')
    x = normal(1, 4, 6)
    picture, tokens = normal(1, 4, 7, 6), normal(1, 2, 5, 8)
    q, k, v = normal(1, 4, 6, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 8)
    flat = [normal(1, 6, 32), normal(1, 6, 16), normal(1, 6, 16)]
    angles = numpy.arange(5)[:, None] * numpy.array([1.0, 0.3, 0.1, 0.01])
    tables = [numpy.cos(angles).astype('float32')[None], numpy.sin(angles).astype('float32')[None]]
    whole = lambda *numbers: numpy.array(numbers, 'int64')
    kernel = {'strides': [1, 1], 'pads': [0] * 4, 'dilations': [1, 1], 'auto_pad': 'NOTSET', 'kernel_shape': [2, 3]}
    old_kernel = {name: value for name, value in kernel.items() if name != 'dilations'}
    of_attention = {'is_causal': 0, 'scale': 0.5, 'softcap': 0.0, 'softmax_precision': 1, 'qk_matmul_output_mode': 0}
    windows, heads = {'left_window_size': -1, 'right_window_size': -1}, {'q_num_heads': 4, 'kv_num_heads': 2}
    mask = numpy.tri(6, dtype=bool)
    for opset in (11, 13):
        yield Form('Softmax', opset, [x], flat_softmax if opset < 13 else softmax, {'axis': 2})
    for kind, function in (('ReduceMean', numpy.mean), ('ReduceSum', numpy.sum), ('ReduceMax', numpy.max), ('ReduceMin', numpy.min),
                           ('ReduceL2', lambda x, axis, keepdims: numpy.sqrt((x * x).sum(axis, keepdims=keepdims)))):
        right = lambda *given, function=function, **attributes: reduce_by(function, *given, **attributes)
        yield Form(kind, 11, [x], right, {'axes': [1], 'keepdims': 1})
        yield Form(kind, 18, [x, whole(2)], right, {}, all={'keepdims': 1, 'noop_with_empty_axes': 0})
        yield Form(kind, 18, [x], right, {}, all={'keepdims': 1, 'noop_with_empty_axes': 0})
    yield Form('Gemm', 13, [normal(4, 6), normal(6, 4), normal(4)], gemm, {}, all={'alpha': 1.0, 'beta': 1.0, 'transA': 0, 'transB': 0})
    yield Form('Gemm', 13, [normal(4, 4), normal(4, 4), normal(4)], gemm, {'transB': 1}, all={'alpha': 1.0, 'beta': 1.0, 'transA': 0})
    yield Form('Conv', 13, [picture, normal(4, 4, 2, 3)], conv, {'pads': [1, 0, 0, 1]}, all={**kernel, 'group': 1, 'pads': [1, 0, 0, 1]})
    yield Form('Conv', 13, [picture, normal(4, 2, 2, 3)], conv, {'group': 2}, all=kernel)
    max_pool = lambda x, **attributes: pool(x, False, **attributes)
    yield Form('MaxPool', 13, [picture], max_pool, {'kernel_shape': [2, 3]}, all={**kernel, 'ceil_mode': 0, 'storage_order': 0})
    for opset, all in ((13, old_kernel), (19, kernel)):
        yield Form('AveragePool', opset, [picture], lambda x, **attributes: pool(x, True, **attributes), {'kernel_shape': [2, 3]},
                   all={**all, 'ceil_mode': 0, 'count_include_pad': 1})
    normed = {'axis': -1, 'epsilon': 1e-5, 'stash_type': 1}
    yield Form('LayerNormalization', 17, [x, normal(6), normal(6)], norm, {}, all=normed)
    rms = lambda *given, **attributes: norm(*given, centred=False, **attributes)
    yield Form('RMSNormalization', 23, [x, normal(6)], rms, {}, all=normed)
    yield Form('SimplifiedLayerNormalization', 14, [x, normal(6)], rms, {}, all=normed)
    for opset, all in ((8, {'spatial': 1}), (9, {}), (15, {'training_mode': 0})):
        yield Form('BatchNormalization', opset, [x, *(abs(normal(4)) + 0.5 for _ in range(4))], batch_norm, {}, all={'epsilon': 1e-5, 'momentum': 0.9, **all})
    for opset, given in ((23, {}), (24, {}), (25, windows)):
        yield Form('Attention', opset, [q, k, v], attention, {'is_causal': 1}, 3, {**of_attention, **heads, **given})
        yield Form('Attention', opset, flat, attention, heads, 3, {**of_attention, **given})
        yield Form('Attention', opset, [q, k, v, mask], attention, {}, 3, {**of_attention, **given})
    yield Form('Attention', 25, [q, k, v, mask[:, :4]], attention, {}, 3, {**of_attention, **windows})
    rotary_all = {'interleaved': 0, 'num_heads': 2, 'rotary_embedding_dim': 8}
    yield Form('RotaryEmbedding', 23, [tokens, *tables], rotary, {}, all=rotary_all)
    yield Form('RotaryEmbedding', 23, [normal(1, 2, 5, 10), *tables], rotary, {'rotary_embedding_dim': 8}, all=rotary_all)
    yield Form('Gelu', 20, [x], gelu, {}, all={'approximate': 'none'})
    yield Form('Gelu', 14, [x], plain(gelu), domain='com.microsoft')
    yield Form('LeakyRelu', 13, [x], lambda x, alpha=0.01: numpy.where(x < 0, alpha * x, x), {}, all={'alpha': 0.01})
    yield Form('Clip', 9, [x], lambda x, min=-9.0, max=9.0: numpy.minimum(numpy.maximum(x, min), max), {}, all={'min': -9.0, 'max': 9.0})
    yield Form('Clip', 13, [x, numpy.float32(-0.5)], plain(numpy.maximum))
    yield Form('Cast', 13, [x], cast, {'to': 1})
    yield Form('Cast', 24, [x], cast, {'to': 1}, all={'saturate': 1, 'round_mode': 'up'})
    yield Form('Transpose', 13, [x], lambda x, perm=None: numpy.transpose(x, perm), {'perm': [0, 2, 1]})
    yield Form('Transpose', 13, [x], lambda x, perm=None: numpy.transpose(x, perm), {}, all={'perm': [2, 1, 0]})
    yield Form('Flatten', 13, [x], flatten, {}, all={'axis': 1})
    yield Form('Squeeze', 11, [x], lambda x, axes=None: numpy.squeeze(x, tuple(axes) if axes else None), {'axes': [0]})
    yield Form('Unsqueeze', 11, [x], lambda x, axes=None: numpy.expand_dims(x, axes), {'axes': [1]})
    yield Form('Reshape', 14, [x, whole(1, 6, 4)], lambda x, shape, allowzero=0: x.reshape(shape), {}, all={'allowzero': 0})
    yield Form('Slice', 9, [x], slice_by, {'starts': [1], 'ends': [3], 'axes': [1]})
    yield Form('Slice', 13, [x, whole(1), whole(3), whole(1)], plain(lambda x, *_: x[:, 1:3]))
    yield Form('Split', 11, [x], split_first, {'axis': 1}, all={'split': [4]})
    yield Form('Split', 18, [x], split_first, {'axis': 1, 'num_outputs': 1})
    yield Form('Pad', 10, [x], pad, {'pads': [0, 1, 0, 0, 0, 2]}, all={'mode': 'constant', 'value': 0.0})
    yield Form('Pad', 13, [x, whole(0, 1, 0, 0, 0, 2)], pad, {}, all={'mode': 'constant'})
    yield Form('Gather', 13, [x, whole(2, 1)], lambda x, at, axis=0: numpy.take(x, at, axis), {'axis': 1})
    yield Form('Concat', 13, [x, normal(1, 4, 6)], concat, {'axis': 1}, 2)
    for opset in (11, 13):
        logarithm = lambda x, opset=opset, **given: numpy.log((softmax if opset == 13 else flat_softmax)(x, **given))
        yield Form('LogSoftmax', opset, [x], logarithm, {'axis': 2})
    yield Form('HardSigmoid', 13, [x], lambda x, alpha=0.2, beta=0.5: numpy.clip(alpha * x + beta, 0, 1), {}, all={'alpha': 0.2, 'beta': 0.5})
    yield Form('HardSwish', 14, [x], plain(lambda x: x * numpy.clip(x / 6 + 0.5, 0, 1)))
    for kind, all in (('Elu', {'alpha': 1.0}), ('Selu', {'alpha': 1.6732632, 'gamma': 1.0507010}), ('Celu', {'alpha': 1.0})):
        right = lambda x, alpha=all['alpha'], gamma=all.get('gamma', 1.0), celu=kind == 'Celu': \
            gamma * numpy.where(x > 0, x, alpha * numpy.expm1(numpy.minimum(x, 0) / (alpha if celu else 1)))
        yield Form(kind, 13, [x], right, {}, all=all)
    yield Form('PRelu', 13, [x, normal(6)], plain(lambda x, slope: numpy.where(x < 0, x * slope, x)))
    for opset, groups, given in ((18, 2, {}), (21, 4, {'stash_type': 1})):
        yield Form('GroupNormalization', opset, [picture, normal(groups), normal(groups)], group_norm, {'num_groups': 2}, all={'epsilon': 1e-5, **given})
    yield Form('InstanceNormalization', 13, [picture, normal(4), normal(4)], group_norm, {}, all={'epsilon': 1e-5})
    yield Form('ArgMax', 13, [x], arg_max, {'axis': 2}, all={'keepdims': 1, 'select_last_index': 0})
    for opset, all in ((11, {'ratio': 0.5}), (13, {'seed': 3})):
        yield Form('Dropout', opset, [x], lambda x, ratio=0.5, seed=0: x, {}, all=all)
    yield Form('Trilu', 14, [normal(4, 4)], lambda x, upper=1: numpy.triu(x) if upper else numpy.tril(x), {}, 0, {'upper': 1})
    yield Form('Shape', 15, [normal(3, 4, 5)], lambda x, start=0, end=None: numpy.array(x.shape[start:end]), {}, 0, {'start': 0, 'end': 3})
    yield Form('ConstantOfShape', 13, [whole(2, 3)], lambda shape, value=numpy.zeros(1): numpy.full(shape, value[0]),
               {'value': numpy_helper.from_array(numpy.ones(1, 'float32'))}, 0)
    yield Form('Constant', 13, [], lambda value_floats=None: numpy.array(value_floats), {'value_floats': [1.0, 2.0]}, 0)
    for kind, function in (('Add', numpy.add), ('Sub', numpy.subtract), ('Mul', numpy.multiply), ('Min', numpy.minimum), ('Max', numpy.maximum)):
        yield Form(kind, 13, [x, normal(6)], plain(function), free=2)
    yield Form('MatMul', 13, [x, normal(6, 3)], plain(numpy.matmul))
    for kind, function in (('Relu', lambda x: numpy.maximum(x, 0)), ('Tanh', numpy.tanh), ('Exp', numpy.exp), ('Neg', numpy.negative), ('Abs', abs), ('Identity', lambda x: x),
                           ('Sigmoid', lambda x: 1 / (1 + numpy.exp(-x))), ('Erf', numpy.vectorize(math.erf))):
        yield Form(kind, 13, [x], plain(function))
    yield Form('GlobalAveragePool', 13, [picture], plain(lambda x: x.mean((2, 3), keepdims=True)))
    yield Form('Pow', 13, [x, numpy.float32(2)], plain(numpy.power))
    # Constants
    yield Form('Pow', 13, [whole(2, 3, -5), numpy.float32([0.5, 3, 2])], plain(lambda x, y: numpy.trunc(numpy.abs(x) ** y)), free=0)
    yield Form('ReduceMean', 13, [numpy.array([[1, 2], [-3, -4]])], lambda x, axes, keepdims=1: numpy.trunc(x.mean(tuple(axes), keepdims=bool(keepdims))), {'axes': [1], 'keepdims': 1}, 0)
    for kind, right in (('ReduceProd', lambda x, **a: x.prod(**a)), ('ReduceL1', lambda x, **a: abs(x).sum(**a)), ('ReduceSumSquare', lambda x, **a: (x**2).sum(**a)),
                        ('ReduceLogSumExp', lambda x, **a: numpy.log(numpy.exp(x).sum(**a)))):
        yield Form(kind, 13, [x], lambda *given, right=right, **attributes: reduce_by(right, *given, **attributes), {'axes': [1], 'keepdims': 1}, 0)
    yield Form('Mod', 13, [whole(7, -7, 5), whole(3, 3, -3)], mod, {}, 0, {'fmod': 0})
    yield Form('CumSum', 14, [x[0], whole(1)[0]], cumulated, {}, 0, {'exclusive': 0, 'reverse': 0})
    yield Form('Einsum', 12, [normal(3), normal(4)], outer, {'equation': 'i,j->ij'}, 0)
    yield Form('DequantizeLinear', 13, [random.integers(-9, 9, (4, 3)).astype('int8'), abs(normal(3)), random.integers(-9, 9, 3).astype('int8')], dequantised, {}, 0, {'axis': 1})
    yield Form('GatherElements', 13, [x[0], random.integers(0, 4, (2, 5))], picked, {}, 0, {'axis': 0})
    yield Form('GatherND', 12, [x[0], random.integers(0, 4, (3, 2))], lambda x, at, batch_dims=0: only(batch_dims, 0, x[at[:, 0], at[:, 1]]), {}, 0, {'batch_dims': 0})
    yield Form('ScatterND', 16, [x[0], whole([2], [0]), normal(2, 6)], scattered, {}, 0, {'reduction': 'none'})
    yield Form('OneHot', 11, [whole(2, 0, 1), whole(4), numpy.float32([0.5, 2])], one_hot, {}, 0, {'axis': -1})
    yield Form('EyeLike', 9, [normal(3, 4)], lambda x, k=0, dtype=1: (numpy.arange(4) == numpy.arange(3)[:, None] + k) * 1.0, {}, 0, {'k': 0, 'dtype': 1})
    yield Form('ArgMin', 13, [x], lambda x, axis=0, **others: arg_max(-x, axis, **others), {}, 0, {'axis': 0, 'keepdims': 1, 'select_last_index': 0})
    yield Form('ThresholdedRelu', 10, [x], lambda x, alpha=1.0: numpy.where(x > alpha, x, 0), {}, 0, {'alpha': 1.0})
    yield Form('BitShift', 11, [numpy.uint8([1, 9]), numpy.uint8([1, 2])], lambda a, b, direction=None: {'LEFT': a * 2 ** b, 'RIGHT': a // 2 ** b}[direction], {'direction': 'LEFT'}, 0)
    for kind, function in (('Sin', numpy.sin), ('Cos', numpy.cos), ('Floor', numpy.floor), ('Ceil', numpy.ceil), ('Sign', numpy.sign), ('Atan', numpy.arctan)):
        yield Form(kind, 13, [x], plain(function), free=0)
    yield Form('Where', 13, [mask, normal(6, 6), normal(6, 6)], plain(numpy.where), free=0)


def another(random, value):
    """A value of the same type, now and then of another."""
    if random.random() < 0.05:
        return [1.5, 'none', 3, [2]][random.integers(4)]
    if isinstance(value, int):
        return int(random.integers(-3, 6))
    if isinstance(value, float):
        return float(numpy.float32(random.choice([0.25, 1.5, -0.5, 2.0, 0.0, 1e-3])))
    if isinstance(value, str):
        return str(random.choice(['none', 'tanh', 'constant', 'reflect', 'edge', 'NOTSET', 'VALID', 'SAME_UPPER', 'SAME_LOWER', 'up', 'other']))
    if isinstance(value, list) and isinstance(value[0], int):
        changed = list(map(int, random.permutation(value))) if random.random() < 0.3 else [each + int(random.integers(-1, 3)) for each in value]
        return changed[:-1] or [2] if random.random() < 0.1 else changed
    if isinstance(value, list):
        return [0.5, -1.0, 4.0]
    return numpy_helper.from_array(numpy.full(1, 7, 'float32'))


def outcome(form, attributes, path, random):
    """'refused: …' with the sentence, 'right', or what is wrong."""
    try:
        expected = form.expected(attributes)
        expected = expected if numpy.isfinite(expected).all() else None
    except (TypeError, ValueError, IndexError, ZeroDivisionError, AttributeError, KeyError):
        expected = None
    onnx.save(form.model(attributes), str(path))
    try:
        program, _ = load(path, 'node', None, 'float32', 64)
    except ExportError as error:
        return f'refused: {error}'
    if expected is None:
        return 'it was exported, and its operator does not allow it'
    found = program.run(form.inputs[:form.free] or [numpy.ones((1, 1), 'float32')])[0]
    if found.size != expected.size or form.free and found.shape != expected.shape:
        return f'an output of {list(found.shape)}, expected {list(expected.shape)}'
    error = abs(found.reshape(-1) - expected.reshape(-1)).max(initial=0.0) / (abs(expected).max(initial=0.0) or 1)
    return 'right' if error <= 1e-5 else f'off by {error:.2g} of the largest number'


def check_node_attributes(checks, folder, count=200, seed=60):
    random, path = numpy.random.default_rng(seed), folder / 'node.onnx'
    every, wrong, right, unknown = list(forms(random)), [], 0, 0
    for form in every:
        found = outcome(form, form.attributes, path, random)
        if found != 'right':
            wrong.append(f'{form.kind}-{form.opset} {form.attributes}: {found}')
    checks.ok(f'{len(every)} forms of nodes are computed right', not wrong, '; '.join(wrong[:5]))
    wrong = []
    for i in range(count):
        form, attributes = every[i % len(every)], None
        if form.all and random.random() < 0.7:
            name = list(form.all)[random.integers(len(form.all))]
            attributes = {**form.attributes, name: another(random, form.all[name])}
            found = outcome(form, attributes, path, random)
            right += found == 'right'
            said = found == 'right' or found.startswith('refused: ') and ('"the node"' in found or '"y"' in found)
        else:
            name = random.choice([each for each in UNKNOWN if each not in form.all])
            attributes = {**form.attributes, name: another(random, [1, 0.5, 'none', [1, 1]][random.integers(4)])}
            found = outcome(form, attributes, path, random)
            unknown += 1
            said = found.startswith('refused: ') and f'"{name}"' in found
        if not said:
            wrong.append(f'{form.kind}-{form.opset} {attributes}: {found}')
    checks.ok(f'{count} nodes, {unknown} with an unknown attribute and the others with a changed one: {right} computed right, the others refused by name',
              not wrong and right >= count // 5, '; '.join(wrong[:5]) or f'only {right}')
    # An attribute has its default: it is there, and nothing else.
    wrong = []
    for form in every:
        for name in form.all:
            found = outcome(form, {**form.attributes, name: form.attributes.get(name, form.all[name])}, path, random)
            if found != 'right':
                wrong.append(f'{form.kind}-{form.opset} {name}: {found}')
    checks.ok('attributes that have their defaults', not wrong, '; '.join(wrong[:5]))


def check_windows(checks, folder):
    """Attention of version 25: every window, beside causal attention and masks, of as many, fewer and more queries than keys."""
    random, wrong, computed = numpy.random.default_rng(25), [], 0
    for (tokens, keys), left, right, causal, masked in itertools.product(((4, 4), (3, 7), (7, 3), (1, 5)), (-1, 0, 1, 3, 9), (-1, 0, 2, 9), (0, 1), (False, True)):
        arrays = [random.standard_normal((1, heads, count, 8)).astype('float32') for heads, count in ((2, tokens), (1, keys), (1, keys))]
        mask = (random.random((tokens, keys)) < 0.6) if masked else None
        form = Form('Attention', 25, [*arrays, mask], attention, free=3)
        found = outcome(form, {'is_causal': causal, 'left_window_size': left, 'right_window_size': right}, folder / 'node.onnx', random)
        computed += found == 'right'
        if found != 'right' and 'hides every key from a query' not in found:
            wrong.append(f'{tokens} x {keys}, window {left} and {right}, causal {causal}, mask {masked}: {found}')
        if found == 'right' and not masked and min(tokens, keys) > 2:
            seen = next(step.seen for step in load(folder / 'node.onnx', 'node', None, 'float32', 64)[0].steps if hasattr(step, 'seen'))
            if seen.bias is not None or causal and 0 <= left < 2 and seen != (True, 0, left, None):
                wrong.append(f'{tokens} x {keys}, window {left} and {right}, causal {causal}: {seen} is no window of the library')
    checks.ok(f'windows of Attention: {computed} computed right, the others leave a query without a key', not wrong and computed > 150, '; '.join(wrong[:5]) or f'{computed}')
