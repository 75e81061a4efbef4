"""attend.load: what was exported, compiled and called from Python: tests/exporter/load.py CXX FOLDER ARCHIVE

A stand-in for the compiler notes what it was asked for, and takes ARCHIVE, libattend.a of the same sources, where it is to compile
attend/attend.cpp: a folder of other sources than the package's, or with CXX= that has flags.
"""
import array
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import numpy
import onnx

import attend
import cases
from attend.exporter import export
from cases import ok, refused
from models import MODELS, Builder

cxx, folder, archive = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)

library, notes, stand_in = (folder / each for each in ('library.o', 'notes', 'compiler'))
subprocess.run(['ld', '-r', '--whole-archive', archive, '-o', str(library)], check=True)
stand_in.write_text(f'''#!/bin/sh
echo "$*" >> '{notes}'
case "$*" in
  *attend/attend.cpp*) for last; do :; done; cp '{library}' "$last" ;;
  *) exec {cxx} "$@" ;;
esac
''')
stand_in.chmod(0o755)
os.environ['CXX'] = str(stand_in)


def compiled():
    """How often the compiler was called since it was asked last."""
    lines = notes.read_text().splitlines() if notes.exists() else []
    notes.unlink(missing_ok=True)
    return len(lines)


def compiling_seconds():
    """Of the processor, in the compiler so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def exported(name, model, **options):
    onnx.save(model, str(folder / f'{name}.onnx'))
    return export(folder / f'{name}.onnx', folder / name, name=name, **options)


def drawn(model):
    random = numpy.random.default_rng(5)
    return [random.standard_normal(each.shape).astype('float32') if each.code == 'f' else
            random.integers(0, 2, each.shape).astype({'B': 'bool'}.get(each.code, 'int32'))
            for each in model.inputs]


same = lambda a, b: a.dtype == b.dtype and a.tobytes() == b.tobytes()

# ---- Whole models
two = Builder()
two.output(two('Relu', two.input('x', 1, 4, 8)), two('Tanh', 'x'))
for name, graph, options in (('decoder', MODELS['decoder'](), {'decoder': True}), ('cross', MODELS['cross'](), {}), ('padded', MODELS['padded'](), {}), ('two', two.model(), {}),
                             ('cross_int8', MODELS['cross'](), {'weights': 'int8'})):
    report = exported(name, graph, **options)
    seconds = compiling_seconds()
    model = attend.load(str(folder / name))
    seconds = compiling_seconds() - seconds
    ok(f'{name}: loaded in at most 3 s', 0 < seconds <= 3, f'{seconds:.1f} s')
    inputs = drawn(model)
    outputs = model.run(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    wanted = report.program.run(inputs)
    ok(f'{name}: run() has the bits of the program', len(outputs) == len(wanted) and all(
        same(found, right.reshape(each.shape)) for found, right, each in zip(outputs, wanted, model.outputs)), f'{outputs} {wanted}')
    ok(f'{name}: its self-test', model.self_test() is None)
    ok(f'{name}: it is compiled once, without the library', compiled() == 1 and attend.load(folder / name) is not None and compiled() == 0)
crossed, model = model, attend.load(folder / 'two')
one = drawn(model)
ok('axes of one element do not count', all(map(same, model.run(one[0][None, :, None]), model.run(one[0]))))
ok('several inputs and outputs', len(crossed.inputs) == 2 and len(model.outputs) == 2)

# ---- Token by token
model, other = attend.load(folder / 'decoder'), attend.load(folder / 'decoder')
tokens, = drawn(model)
rows = model.run(tokens)
ok('append() has the bits of run()', all(same(model.append(tokens[i:i + 1]), rows[i]) for i in range(len(tokens))))
refused('one token more than there is room for', 'decoder: append: ', lambda: model.append(tokens[:1]))
ok('each model has memory of its own', same(other.append(tokens[:1]), rows[0]))
model.clear()
ok('tokens whose outputs nobody reads', all(model.append(tokens[i:i + 1], outputs=False) is None for i in range(5)) and
   same(model.append(tokens[5:6]), rows[5]))
model.self_test()
ok('clear() and self_test() begin anew', same(model.append(tokens[:1]), rows[0]))
ok('memory', model.memory_bytes > 0 and model.token_memory_bytes > 17 * 2 * 32 * 4 and attend.load(folder / 'two').token_memory_bytes == 0)

def taken(token):
    model.clear()
    return same(numpy.asarray(model.append(token)), rows[0])


first = int(tokens[0])
for what, token in (('a number', first), ('a number of numpy', tokens[0]), ('a list', [first]), ('int64', tokens[:1].astype('int64')),
                    ('rows of int64', tokens[:1, None].astype('int64')), ('a memoryview', memoryview(array.array('q', [first])))):
    ok(f'a token as {what}', taken(token))
ok('tokens of run() as a list, and as int64', same(model.run(tokens.tolist()), rows) and same(model.run(tokens.astype('int64')), rows))
for what, token in (('the first number behind', 50), ('a negative one', -1), ('one of int64', numpy.array([57]))):
    refused(f'a token outside of the vocabulary: {what}', 'expected 0 to 49: its table (of tokens, the vocabulary) has 50 rows', lambda: model.append(token))
refused('one among others', 'run: tokens has 99', lambda: model.run([*tokens[:-1].tolist(), 99]))
refused('a token that is no whole number', 'expected a whole number', lambda: model.append([1.5]))
refused('a token of 64 bits', 'expected -2147483648 to 2147483647', lambda: model.append(2**40))
refused('two tokens', 'has the shape [2]; expected [1]', lambda: model.append([1, 2]))
refused('rows of several lengths', 'rows of different lengths', lambda: model.run([[1], [1, 2]]))
refused('tokens of floats', 'astype(numpy.int32)', lambda: model.append(numpy.ones(1, 'float32')))
refused('append() of no decoder', 'decoder=True', lambda: attend.load(folder / 'two').append(one[0]))
refused('clear() of no decoder', 'has no clear()', lambda: attend.load(folder / 'two').clear())

# ---- What does not fit
model = attend.load(folder / 'two')
x, = drawn(model)
refused('another shape', "expected [4, 8]", lambda: model.run(x[:3]))
refused('another type', 'astype(numpy.float32)', lambda: model.run(x.astype(float)))
refused('gaps', 'ascontiguousarray', lambda: model.run(x.repeat(2, 0)[::2]))
refused('no array', 'expected 1: x_x [4, 8]', lambda: model.run())
refused('a list', 'numpy.asarray', lambda: model.run([1.0]))

# ---- Sources that change, and folders that are none
source = folder / 'cross/model.cpp'
text = source.read_text()
place = text.index('{', text.index('const float bias_')) + 1
end = text.index('f', place)
source.write_text(text[:place] + f'{numpy.nextafter(numpy.float32(text[place:end]), numpy.float32(9)):.9g}' + text[end:])
compiled()
changed = attend.load(folder / 'cross')
ok('a changed source is compiled, the library not', compiled() == 1)
refused('a bias that is off by one bit', 'other bits from step', changed.self_test)
source.write_text('int wrong = "this";\n' + text)
refused('an error of the compiler', 'exit code 1', lambda: attend.load(folder / 'cross'))
refused('its first lines', 'model.cpp:1', lambda: attend.load(folder / 'cross'))
ok('nothing half is left', not list((folder / 'cross/build').glob('*.so.*')))
source.write_text(text)
attend.load(folder / 'cross').self_test()

# ---- The library, where the folder's is not the package's
compiled()
os.environ['CXX'] = f'{stand_in} -DATTEND_NOTED'
source.touch()
attend.load(folder / 'cross').self_test()
ok('with flags the library is compiled, too', compiled() == 2 and (folder / 'cross/build/shared_attend.o').exists())
os.environ['CXX'] = str(stand_in)
library_source = folder / 'two/attend/attend.cpp'
library_source.write_text(library_source.read_text() + '// of another version\n')
attend.load(folder / 'two').self_test()
ok('so is one of other sources, once', compiled() == 2 and attend.load(folder / 'two') is not None and compiled() == 0)
os.environ['CXX'] = 'no-such-compiler'
refused('a CXX that is not there', "CXX is 'no-such-compiler'", lambda: (source.touch(), attend.load(folder / 'cross')))
del os.environ['CXX']
path, os.environ['PATH'] = os.environ['PATH'], ''
refused('no compiler', 'there is no C++ compiler', lambda: attend.load(folder / 'cross'))
os.environ['PATH'] = path
refused('no folder', 'is no folder', lambda: attend.load(folder / 'nothing'))
refused('another folder', 'has no model.h', lambda: attend.load(folder))
header = folder / 'two/model.h'
header.write_text(header.read_text().replace('const float', 'const double'))
refused('a header that is not understood', 'export the model again', lambda: attend.load(folder / 'two'))
header.write_text('namespace two {\n}\n')
refused('a header without run()', 'declares no run()', lambda: attend.load(folder / 'two'))
sys.exit(cases.failed > 0)
