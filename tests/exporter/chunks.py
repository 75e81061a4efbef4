"""Feed-forward blocks some tokens at a time: the bits of all at once, in less memory."""
import numpy

from attend.exporter import export
from models import Builder

TOKENS, WIDTH, INNER = 32, 16, 96


def feed_forward():
    b = Builder()
    x = b.input('x', 1, TOKENS, WIDTH)
    y = b.linear(b.layer_norm(x, WIDTH), WIDTH, INNER)
    y = b.linear(b('Mul', y, b('Sigmoid', y)), INNER, WIDTH)
    b.output(b('Add', x, y))
    return b.model()


def regrouped(width, outputs):
    """What lies between the projections is read in rows of other tokens."""
    b = Builder()
    x = b('Relu', b.linear(b.input('x', 1, 8, 16), 16, 64))
    b.output(b.linear(b('Reshape', x, numpy.array([1, 512 // width, width])), width, outputs))
    return b.model()


def check_chunks(checks, compile_and_run, arguments):
    path = arguments.folder / 'in_chunks.onnx'
    path.write_bytes(feed_forward().SerializeToString())
    samples = numpy.random.default_rng(1).standard_normal((8, TOKENS, WIDTH)).astype('float32')
    for arithmetic in ('float32', 'int8'):
        found = {}
        for chunk in (None, 5):
            name = f'chunk_{chunk or "none"}_{arithmetic}'
            report = export(path, arguments.folder / name, name=name, arithmetic=arithmetic, samples=samples, chunk=chunk)
            found[chunk] = report.program.run([samples[0]])[0], max(report.program.tops), len(report.program.steps)
            said = compile_and_run(arguments, arguments.folder / name)
            checks.ok(f'{name} has the bits of its self-test', said == '', said)
        whole, parts = found[None], found[5]
        checks.ok(f'chunks in {arithmetic}: the same bits, less memory', whole[0].tobytes() == parts[0].tobytes() and parts[1] < whole[1] and parts[2] > whole[2],
                  f'{whole[1:]} and {parts[1:]}')
    for width, outputs in ((512, 8), (128, 16)):
        path.write_bytes(regrouped(width, outputs).SerializeToString())
        steps = [len(export(path, arguments.folder / 'in_chunks', chunk=chunk).program.steps) for chunk in (None, 3)]
        checks.ok(f'rows of {width} numbers are not those of a chunk', steps[0] == steps[1], f'{steps}')
