"""What ordinary models have besides attention by itself: rotary positions in any spelling, pooling, operators. Beside numpy in float64."""
import itertools

import numpy
import onnx

from attend.exporter import ExportError
from attend.exporter.export import load
from attend.exporter.steps import Copy, Rotate
from models import Builder

BOUND = 1e-5


def program_of(model, path):
    onnx.save(model, str(path))
    return load(path, 'ordinary', None, 'float32', 64)[0]


def error_of(found, expected):
    return abs(found.reshape(-1) - expected.reshape(-1)).max(initial=0.0) / (abs(expected).max(initial=0.0) or 1)


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
    checks.ok(f'rotary positions in {count} spellings are one step, and what only looks like them is computed as it stands', not wrong, '; '.join(wrong[:5]))


def check_ordinary(checks, folder):
    check_rotary(checks, folder)


if __name__ == '__main__':
    import pathlib
    import sys

    import cases
    check_ordinary(cases, pathlib.Path(sys.argv[1]))
    sys.exit(cases.failed > 0)
