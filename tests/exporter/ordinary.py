"""What ordinary models have besides attention by itself: rotary positions in any spelling, pooling, operators. Beside numpy in float64."""
import itertools

import numpy
import onnx

from attend.exporter import ExportError
from attend.exporter.export import load
from attend.exporter.lower import visible
from attend.exporter.program import Buffer, View
from attend.exporter.steps import Attention, Copy, Rotate
from masks import error_of
from models import Builder
from node_attributes import softmax

BOUND = 1e-5


def program_of(model, path):
    onnx.save(model, str(path))
    return load(path, 'ordinary', None, 'float32', 64)[0]


# Rotary positions: by whom they are spelled, and what comes out.

def turned(x, axis, angles, pairs, factor=1.0):
    """x with its tokens along an axis; the first 2 * angles.shape[1] numbers turn."""
    x, width = numpy.moveaxis(x.astype(float), axis, -2), 2 * angles.shape[1]
    first, second = (slice(0, width // 2), slice(width // 2, width)) if pairs == 'halves' else (slice(0, width, 2), slice(1, width, 2))
    cosine, sine, y = factor * numpy.cos(angles), factor * numpy.sin(angles), x * factor
    y[..., first], y[..., second] = x[..., first] * cosine - x[..., second] * sine, x[..., second] * cosine + x[..., first] * sine
    return numpy.moveaxis(y, -2, axis)


def spelled(b, x, shape, pairs, way, cosine, sine):
    """cosine, sine: with the token's axis where x has it, of half the width; ways are those of Transformers, of stacked pairs and of Split."""
    half = shape[-1] // 2
    if way == 'rotate':
        if pairs == 'halves':
            return b.rotated(x, shape[-1], *(numpy.concatenate([each] * 2, -1) for each in (cosine, sine)))
        even, odd = (b('Slice', x, numpy.array([at]), numpy.array([2**62]), numpy.array([len(shape) - 1]), numpy.array([2])) for at in (0, 1))
        other = b('Reshape', b('Concat', b('Unsqueeze', b('Neg', odd), numpy.array([-1])), b('Unsqueeze', even, numpy.array([-1])), axis=-1), numpy.array(shape))
        return b('Add', b('Mul', other, numpy.repeat(sine, 2, -1)), b('Mul', numpy.repeat(cosine, 2, -1), x))
    if pairs == 'halves':
        first, second = b('Split', x, numpy.array([half, half]), outputs=2, axis=-1)
    else:
        z = b('Reshape', x, numpy.array([*shape[:-1], half, 2]))
        first, second = (b('Gather', z, numpy.array(at), axis=-1) for at in (0, 1))
    parts = b('Sub', b('Mul', first, cosine), b('Mul', second, sine)), b('Add', b('Mul', first, sine), b('Mul', second, cosine))
    if pairs == 'halves':
        return b('Concat', *parts, axis=-1)
    return b('Reshape', b('Concat', *(b('Unsqueeze', part, numpy.array([-1])) for part in parts), axis=-1), numpy.array(shape))


def check_rotary(checks, folder):
    random, wrong, count = numpy.random.default_rng(2), [], 0
    for pairs, way, axis, part, factor in itertools.product(('halves', 'neighbours'), ('rotate', 'parts'), (1, 2), (0, 4), (1.0, 1.25)):
        for kind in ('positions', 'backwards', 'squares', 'heads'):
            tokens, heads, width = 7, 3, 8
            shape = [1, tokens, heads, width] if axis == 1 else [1, heads, tokens, width]
            turning = width - part
            angles = numpy.arange(tokens)[:, None] * 100.0 ** (-numpy.arange(turning // 2) / (turning // 2))
            angles = {'backwards': -angles, 'squares': angles ** 2}.get(kind, angles)
            tables = [(factor * function(angles)).reshape(tokens, *[1] * (2 - axis), -1) for function in (numpy.cos, numpy.sin)]
            if kind == 'heads':  # of which the last one does not turn
                ones = [numpy.broadcast_to(each, [*shape[1:3], turning // 2]).copy() for each in tables]
                for each, number in zip(ones, (factor, 0)):
                    each[(slice(None), 2) if axis == 1 else 2] = number
                tables = ones
            b = Builder()
            x = b('Reshape', b('MatMul', b.input('x', 1, tokens, heads * width), numpy.eye(heads * width, dtype='float32')), numpy.array([1, tokens, heads, width]))
            x = x if axis == 1 else b('Transpose', x, perm=[0, 2, 1, 3])
            first, rest = (b('Slice', x, numpy.array([at]), numpy.array([end]), numpy.array([3])) for at, end in ((0, turning), (turning, width)))
            y = spelled(b, first if part else x, [*shape[:-1], turning], pairs, way, *tables)
            b.output(b('Concat', y, rest, axis=3) if part else y)
            program = program_of(b.model(), folder / 'rotary.onnx')
            given = random.standard_normal((1, tokens, heads * width)).astype('float32')
            x = given.reshape(1, tokens, heads, width)
            x = x if axis == 1 else x.transpose(0, 2, 1, 3)
            expected = turned(x[..., :turning], axis, angles, pairs, factor)
            if kind == 'heads':
                at = (slice(None), slice(None), 2) if axis == 1 else (slice(None), 2)
                expected[at] = factor * x[..., :turning][at]
            expected = numpy.concatenate([expected, x[..., turning:]], -1)
            error, steps = error_of(program.run([given])[0], expected), sum(isinstance(step, Rotate) for step in program.steps)
            alone = kind == 'positions' and not (part and factor != 1)
            others = sum(isinstance(step, Copy) for step in program.steps)
            count += steps
            if error > BOUND or steps != (kind == 'positions') or alone and others > (axis == 2):
                wrong.append(f'{pairs} by {way}, axis {axis}, {part} that do not turn, factor {factor}, {kind}: off by {error}, {steps} steps that rotate, {others} copies')
    b = Builder()  # a mirror has the same cosines and sines
    table = numpy.arange(7)[:, None] * 100.0 ** (-numpy.arange(4) / 4)
    signs = numpy.repeat([1, -1], 4)
    b.output(b.rotated(b.input('x', 1, 3, 7, 8), 8, numpy.cos(numpy.concatenate([table] * 2, 1)) * signs, -numpy.sin(numpy.concatenate([table] * 2, 1)) * signs))
    if any(isinstance(step, Rotate) for step in program_of(b.model(), folder / 'rotary.onnx').steps):
        wrong.append('a mirror is taken for a rotation')
    checks.ok(f'rotary positions in {count} spellings are one step, and what only looks like them is computed as it stands', not wrong, '; '.join(wrong[:5]))


# Operators: inputs' shapes, the node, what it is by numpy. All but those of other versions are compiled as one model.

def elu(x, alpha=1.0, gamma=1.0, beta=1.0):
    return gamma * numpy.where(x > 0, x, alpha * numpy.expm1(numpy.minimum(x, 0) / beta))


def group_norm(x, groups, weight, bias, epsilon=1e-5):
    parts = x.reshape(x.shape[0], groups, -1)
    parts = (parts - parts.mean(2, keepdims=True)) / numpy.sqrt(parts.var(2, keepdims=True) + epsilon)
    return parts.reshape(x.shape) * weight[:, None] + bias[:, None]


def mean_pool(x, size, step, edge):
    """Of the last axis, over what is inside of it."""
    places = [numpy.arange(first, first + size) for first in range(-edge, x.shape[-1] + edge - size + 1, step)]
    return numpy.stack([x[..., [at for at in each if 0 <= at < x.shape[-1]]].mean(-1) for each in places], -1)


def operators():
    whole, x = lambda *numbers: numpy.array(numbers, 'int64'), (1, 5, 8)
    random = numpy.random.default_rng(11)
    numbers = lambda *shape: random.standard_normal(shape).astype('float32')
    node = lambda kind, *inputs, **attributes: lambda b, x: b(kind, x, *inputs, **attributes)
    slopes, weight, bias, table = numbers(8), numbers(8), numbers(8), random.integers(-128, 128, (8, 6)).astype('int8')
    scales, zeros = abs(numbers(6)) / 100, random.integers(-9, 9, 6).astype('int8')
    yield 'HardSwish', 18, [x], node('HardSwish'), lambda x: x * numpy.clip(x / 6 + 0.5, 0, 1)
    yield 'HardSigmoid', 18, [x], node('HardSigmoid', alpha=0.3), lambda x: numpy.clip(0.3 * x + 0.5, 0, 1)
    yield 'Elu', 18, [x], node('Elu', alpha=0.7), lambda x: elu(x, 0.7)
    yield 'Selu', 18, [x], node('Selu'), lambda x: elu(x, 1.6732632, 1.0507010)
    yield 'Celu', 18, [x], node('Celu', alpha=0.7), lambda x: elu(x, 0.7, 1, 0.7)
    yield 'PRelu', 18, [x], node('PRelu', slopes), lambda x: numpy.where(x < 0, x * slopes, x)
    yield 'PRelu of one', 18, [x], node('PRelu', slopes[:1]), lambda x: numpy.where(x < 0, x * slopes[0], x)
    yield 'Abs', 18, [x], node('Abs'), abs
    yield 'LogSoftmax', 18, [x], node('LogSoftmax'), lambda x: numpy.log(softmax(x, 2))
    yield 'LogSoftmax of tokens', 18, [x], node('LogSoftmax', axis=1), lambda x: numpy.log(softmax(x, 1))
    yield 'LogSoftmax of far numbers', 18, [(1, 2, 500)], lambda b, x: b('LogSoftmax', b('Mul', x, numpy.float32(30))), lambda x: numpy.log(softmax(x * 30, 2))
    yield 'LogSoftmax of many near numbers', 13, [(1, 90000)], lambda b, x: b('LogSoftmax', b('Mul', x, numpy.float32(0.001))), lambda x: numpy.log(softmax(x * 0.001, 1))
    yield 'Softmax of tokens', 18, [x], node('Softmax', axis=1), lambda x: softmax(x, 1)
    yield 'Softmax of several axes', 11, [x], node('Softmax', axis=1), lambda x: softmax(x, (1, 2))
    yield 'ReduceMin', 18, [x], node('ReduceMin', whole(1)), lambda x: x.min(1, keepdims=True)
    yield 'ReduceL2', 18, [x], node('ReduceL2', whole(2), keepdims=0), lambda x: numpy.sqrt((x ** 2).sum(2))
    yield 'ReduceL2 of two axes', 13, [x], node('ReduceL2', axes=[0, 1]), lambda x: numpy.sqrt((x ** 2).sum((0, 1), keepdims=True))
    sizes = numpy.float32([1e-20, 1e25, 1, 1e-3, 1e-30])[:, None]
    yield 'ReduceL2 of tiny rows', 18, [x], lambda b, x: b('Mul', b('ReduceL2', b('Mul', x, numpy.float32(1e-16)), whole(2)), numpy.float32(1e16)), lambda x: numpy.sqrt((x ** 2).sum(2, keepdims=True))
    yield 'ReduceL2 of rows of all sizes', 13, [x], lambda b, x: b('Mul', b('ReduceL2', b('Mul', x, sizes), axes=[2]), 1 / sizes), \
        lambda x: numpy.sqrt((x ** 2).sum(2, keepdims=True))
    yield 'ReduceL2 of zeros', 18, [x], lambda b, x: b('ReduceL2', b('Mul', x, numpy.float32(0)), whole(2)), lambda x: 0 * x[..., :1]
    yield 'a computed number', 18, [x], lambda b, x: b('Add', b('Mul', b('ReduceMax', x, keepdims=0), numpy.float32(2)), b('Clip', b('ReduceMean', x, keepdims=0), numpy.float32(0), numpy.float32(1))), \
        lambda x: x.max() * 2 + numpy.clip(x.mean(), 0, 1)
    yield 'a computed number beside rows', 18, [x], lambda b, x: b('Div', x, b('Abs', b('Neg', b('ReduceMax', x, keepdims=0)))), lambda x: x / abs(x.max())
    yield 'a row over its length', 18, [x], lambda b, x: b('Div', x, b('Expand', b('Clip', b('ReduceL2', x, whole(-1)), numpy.float32(1e-12)), whole(1, 5, 8))), \
        lambda x: x / numpy.sqrt((x ** 2).sum(2, keepdims=True))
    yield 'AveragePool', 18, [(1, 4, 9)], node('AveragePool', kernel_shape=[3], strides=[2], pads=[1, 1]), lambda x: mean_pool(x, 3, 2, 1)
    yield 'AveragePool of a picture', 18, [(1, 2, 5, 5)], node('AveragePool', kernel_shape=[3, 3], pads=[1, 1, 1, 1]), \
        lambda x: mean_pool(mean_pool(x, 3, 1, 1).swapaxes(2, 3), 3, 1, 1).swapaxes(2, 3)
    items = (2, 3, 6, 5)
    yield 'MaxPool of two items', 18, [items], node('MaxPool', kernel_shape=[2, 2], strides=[2, 2]), lambda x: x[:, :, :, :4].reshape(2, 3, 3, 2, 2, 2).max((3, 5))
    yield 'MaxPool of three items, channels last', 18, [(3, 8, 4)], lambda b, x: b('MaxPool', b('Transpose', x, perm=[0, 2, 1]), kernel_shape=[2], strides=[2]), \
        lambda x: x.swapaxes(1, 2).reshape(3, 4, 4, 2).max(3)
    yield 'AveragePool of two items', 18, [items], node('AveragePool', kernel_shape=[3, 3], pads=[1, 1, 1, 1]), \
        lambda x: mean_pool(mean_pool(x, 3, 1, 1).swapaxes(2, 3), 3, 1, 1).swapaxes(2, 3)
    for mode in ('reflect', 'edge'):
        right = lambda x, mode=mode: numpy.pad(x, [(0, 0), (2, 1), (3, 0)], mode)
        yield f'Pad, {mode}', 18, [x], node('Pad', whole(0, 2, 3, 0, 1, 0), mode=mode), right
    yield 'Pad, wrap', 19, [x], node('Pad', whole(0, 2, 3, 0, 1, 0), mode='wrap'), lambda x: numpy.pad(x, [(0, 0), (2, 1), (3, 0)], 'wrap')
    yield 'Pad of axes', 18, [x], node('Pad', whole(1, 2, 3, 0), numpy.float32(0.5), whole(-1, 1)), \
        lambda x: numpy.pad(x, [(0, 0), (2, 0), (1, 3)], constant_values=0.5)
    yield 'Pad of axes, reflect', 18, [x], node('Pad', whole(2, 2), '', whole(1), mode='reflect'), lambda x: numpy.pad(x, [(0, 0), (2, 2), (0, 0)], 'reflect')
    yield 'reversed', 18, [x], lambda b, x: b('Add', b('Slice', x, whole(-1), whole(-9), whole(1), whole(-1)), b('Slice', x, whole(9), whole(-99), whole(2), whole(-1))), \
        lambda x: x[:, ::-1] + x[:, :, ::-1]
    yield 'Gather', 18, [x], node('Gather', whole(3, 2, 1, 1, 4, -1), axis=1), lambda x: x[:, [3, 2, 1, 1, 4, 4]]
    yield 'LayerNormalization and its means', 18, [x], lambda b, x: b('Concat', *b('LayerNormalization', x, weight, bias, outputs=2), axis=2), \
        lambda x: numpy.concatenate([(x - x.mean(2, keepdims=True)) / numpy.sqrt(x.var(2, keepdims=True) + 1e-5) * weight + bias, x.mean(2, keepdims=True)], 2)
    yield 'GroupNormalization', 18, [(1, 8, 5)], node('GroupNormalization', weight[:2], bias[:2], num_groups=2), \
        lambda x: group_norm(x, 2, weight[:2].repeat(4), bias[:2].repeat(4))
    yield 'GroupNormalization of version 21', 21, [(1, 8, 5)], node('GroupNormalization', weight, bias, num_groups=2, epsilon=1e-3), lambda x: group_norm(x, 2, weight, bias, 1e-3)
    yield 'InstanceNormalization', 18, [(1, 8, 5)], node('InstanceNormalization', weight, bias), lambda x: group_norm(x, 8, weight, bias)
    yield 'GroupNormalization by PyTorch', 18, [(1, 8, 5)], lambda b, x: b('Add', b('Mul', b('Reshape', b(
        'InstanceNormalization', b('Reshape', x, whole(0, 4, -1)), numpy.ones(4, 'float32'), numpy.zeros(4, 'float32')), whole(1, 8, 5)), weight[:, None]), bias[:, None]), \
        lambda x: group_norm(x, 4, weight, bias)
    yield 'a gated linear unit', 18, [x], lambda b, x: b('Mul', *(lambda a, g: (a, b('Sigmoid', g)))(*b('Split', x, whole(4, 4), outputs=2, axis=2))), \
        lambda x: x[..., :4] / (1 + numpy.exp(-x[..., 4:]))
    yield 'weights of 8 bits', 18, [x], lambda b, x: b('MatMul', x, b('DequantizeLinear', table, scales, zeros)), lambda x: x @ ((table - zeros.astype(float)) * scales)
    yield 'weights of 8 bits, blocks', 21, [x], lambda b, x: b('MatMul', x, b('DequantizeLinear', table, numpy.stack([scales, 2 * scales]), axis=0, block_size=4)), \
        lambda x: x @ (table * numpy.stack([scales, 2 * scales]).repeat(4, 0).astype(float))
    pooled, projected = numbers(8, 1), numbers(8, 8)
    linear = lambda b, x: b('Add', b('MatMul', x, pooled), numpy.float32([0.7]))
    yield 'attention pooling', 18, [x], lambda b, x: b('MatMul', b('Transpose', b('Softmax', linear(b, x), axis=1), perm=[0, 2, 1]), x), \
        lambda x: softmax(x @ pooled, 1).transpose(0, 2, 1) @ x
    yield 'attention pooling by a sum', 18, [x], lambda b, x: b('ReduceSum', b('Mul', x, b('Softmax', linear(b, x), axis=1)), whole(1), keepdims=0), \
        lambda x: (softmax(x @ pooled, 1) * x).sum(1)
    yield 'attention pooling of one row', 18, [x], lambda b, x: b('MatMul', b('Unsqueeze', b('Softmax', b('Squeeze', linear(b, x), whole(2))), whole(1)), x), \
        lambda x: softmax(x @ pooled, 1).transpose(0, 2, 1) @ x
    yield 'attention pooling by layers', 18, [x], lambda b, x: b('MatMul', b('Softmax', b('Transpose', b('Mul', linear(b, b('Tanh', b('MatMul', x, projected))), b(
        'Sigmoid', linear(b, x))), perm=[0, 2, 1])), x), lambda x: softmax((numpy.tanh(x @ projected) @ pooled + 0.7) / (1 + numpy.exp(-(x @ pooled + 0.7))), 1).transpose(0, 2, 1) @ x
    yield 'attention pooling by three queries', 18, [x], lambda b, x: b('MatMul', b('Transpose', b('Softmax', b('MatMul', x, projected[:, :3]), axis=1), perm=[0, 2, 1]), x), \
        lambda x: softmax(x @ projected[:, :3], 1).transpose(0, 2, 1) @ x
    windows, near = [(4, 3, 5, 8)] * 3, numbers(3, 5, 5)
    some = numpy.where(random.random((4, 1, 5, 5)) < 0.3, -100, 0).astype('float32')
    some[:, :, range(5), range(5)] = 0
    of_windows = lambda q, k, v, bias: softmax(q @ k.swapaxes(2, 3) * 0.3 + bias, 3) @ v
    for name, bias in (('windows', None), ('windows with a table of biases', near[None]), ('windows with a mask each', some), ('windows with both', near + some)):
        yield name, 18, windows, lambda b, q, k, v, bias=bias: b.attention(q, b('Transpose', k, perm=[0, 1, 3, 2]), v, 0.3, bias), \
            lambda q, k, v, bias=bias: of_windows(q, k, v, 0 if bias is None else bias)

    def shifted(b, q, k, v):
        """As Swin's: biases, then masks of windows beside an axis of pictures."""
        scores = b('Add', b('Mul', b('MatMul', q, b('Transpose', k, perm=[0, 1, 3, 2])), numpy.float32(0.3)), near[None])
        scores = b('Reshape', b('Add', b('Reshape', scores, whole(1, 4, 3, 5, 5)), some[None]), whole(-1, 3, 5, 5))
        return b('MatMul', b('Softmax', scores), v)
    yield 'windows that are shifted', 18, windows, shifted, lambda q, k, v: of_windows(q, k, v, near + some)
    orders = {'heads first': (('bhid,bhjd->bhij', 'bhij,bhjd->bhid'), (0, 1, 2, 3)), 'tokens before heads': (('bqhd,bkhd->bhqk', 'bhqk, bkhd -> bqhd'), (0, 2, 1, 3))}
    for name, (equations, order) in orders.items():
        yield f'attention by Einsum, {name}', 18, [(1, 5, 5, 8)] * 3, lambda b, q, k, v, equations=equations: b('Einsum', b('Softmax', b('Mul', b(
            'Einsum', q, k, equation=equations[0]), numpy.float32(0.3))), v, equation=equations[1]), \
            lambda q, k, v, order=order: of_windows(*(each.transpose(order) for each in (q, k, v)), 0).transpose(order)
    yield 'a projection by Einsum', 18, [x], lambda b, x: b('Einsum', x, projected, equation='bnd,ed->ben'), lambda x: (x @ projected.T).swapaxes(1, 2)
    yield 'attention pooling by Einsum', 18, [x], lambda b, x: b('Einsum', b('Softmax', linear(b, x), axis=1), x, equation='bnq,bnd->bqd'), \
        lambda x: softmax(x @ pooled, 1).transpose(0, 2, 1) @ x
    yield 'Attention of windows', 23, windows, lambda b, q, k, v: b('Attention', q, k, v, some, scale=0.3), lambda q, k, v: of_windows(q, k, v, some)
    split = lambda x: x.reshape(2, 5, 2, 4).swapaxes(1, 2)
    hidden = numpy.where(numpy.tri(5, dtype=bool), 0, -numpy.inf)
    yield 'Attention of two items', 23, [(2, 5, 8)] * 3, lambda b, q, k, v: b('Attention', q, k, v, is_causal=1, scale=0.3, q_num_heads=2, kv_num_heads=2), \
        lambda q, k, v: of_windows(*map(split, (q, k, v)), hidden).swapaxes(1, 2).reshape(2, 5, 8)


class Inside(Builder):
    """A builder whose inputs have names of their own in each part."""

    part = 0

    def input(self, name, *shape, kind=onnx.TensorProto.FLOAT):
        return super().input(f'{name}_{self.part}', *shape, kind=kind)


def all_operators():
    """Those of version 18 as one model."""
    b = Inside(18)
    for _, opset, shapes, make, _ in operators():
        if opset == 18:
            b.part += 1
            b.output(make(b, *(b.input('xyz'[place], *shape) for place, shape in enumerate(shapes))))
    return b.model()


def check_operators(checks, folder):
    random = numpy.random.default_rng(12)
    for name, opset, shapes, make, right in operators():
        b = Builder(opset)
        try:
            b.output(make(b, *(b.input('xyz'[place], *shape) for place, shape in enumerate(shapes))))
            given = [random.standard_normal(shape).astype('float32') * 2 for shape in shapes]
            expected = numpy.asarray(right(*(each.astype(float) for each in given)))
            program = program_of(b.model(), folder / 'operator.onnx')
            found, kinds = program.run(given)[0], [type(step) for step in program.steps]
            if name in ('attention pooling', 'attention pooling by a sum', 'attention pooling of one row'):
                checks.ok(f'{name}: over one constant query', kinds == [Copy, Attention], f'{kinds}')
            error = error_of(found, expected) if found.shape == expected.shape else f'a shape of {found.shape}'
            checks.ok(f'{name}: within {BOUND} of numpy', found.shape == expected.shape and error <= BOUND, f'{error}')
        except ExportError as error:
            checks.ok(name, False, str(error))


def check_no_pooling(checks, folder):
    """What looks like pooling or attention and has tokens elsewhere is refused."""
    for name, make in (('softmax over queries', lambda b, x: b('MatMul', b('Transpose', b('Softmax', b('MatMul', x, b.normal(8, 5)), axis=2), perm=[0, 2, 1]), x)),
                       ('scores in another shape', lambda b, x: b('MatMul', b('Softmax', b('Reshape', b('MatMul', b('Reshape', x, numpy.array([1, 1, 5, 8])), b.input('k', 1, 1, 8, 20)), numpy.array(
                           [1, 1, 20, 5]))), b('Reshape', x, numpy.array([1, 1, 5, 8]))))):
        b = Builder()
        b.output(make(b, b.input('x', 1, 5, 8)))
        try:
            checks.ok(name, False, f'it was taken as {program_of(b.model(), folder / "none.onnx").steps}')
        except ExportError as error:
            checks.ok(f'{name} is refused', 'product' in str(error) or 'over queries' in str(error), str(error))


def check_causal(checks):
    """What is causal, which counts half of its multiply-adds, and what only adds to scores, or hides the same keys from all."""
    wrong, causal = [], numpy.where(numpy.tri(6, dtype=bool), 0, -numpy.inf)[None]
    padded = numpy.zeros((1, 6, 6))
    padded[..., :2] = -numpy.inf
    for name, bias, expected in (('causal', causal, True), ('causal with a bias', causal + numpy.arange(6), True), ('distances', -abs(numpy.arange(6)[:, None] - numpy.arange(6.0))[None], False),
                                 ('first keys hidden', padded, False), ('last keys hidden', padded[..., ::-1], False),
                                 ('two places more', numpy.where(numpy.tri(6, k=2, dtype=bool), 0, -numpy.inf)[None], False)):
        views = [View(Buffer('memory', 48), shape=(6, 2, 4)) for _ in range(4)]
        step = Attention('', *views, 1.0, visible(bias, 6, 6))
        if ('causal' in step.text()) != expected or step.multiply_adds() != 6 * 6 * 2 * 8 // (2 if expected else 1):
            wrong.append(f'{name}: {step.text()}, {step.multiply_adds()}')
    checks.ok('only what is causal is called causal', not wrong, '; '.join(wrong))


def check_ordinary(checks, folder):
    check_causal(checks)
    check_no_pooling(checks, folder)
    check_operators(checks, folder)
    check_rotary(checks, folder)


if __name__ == '__main__':
    import pathlib
    import sys

    import cases
    check_ordinary(cases, pathlib.Path(sys.argv[1]))
    sys.exit(cases.failed > 0)
