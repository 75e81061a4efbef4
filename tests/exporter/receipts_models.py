"""Receipts of programs of other kinds, beside what the definition makes of the arrays of the exporter's own program."""
import subprocess

import numpy

import attend
from attend._replay_program import ReceiptProgram
from attend.exporter import export
from attend.exporter.streaming import CacheAppend
from linear import block
from models import MODELS, encoder
from receipts_definition import receipt_of

WARNINGS = '-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
# Bools; several inputs; steps that write parts of an array; a decoder that computes outputs always; tokens as whole numbers; C; more steps than bits;
# states.
KINDS = (('cross', MODELS['cross'], {}), ('vision', MODELS['vision'], {'arithmetic': 'int8'}), ('two_outputs', MODELS['two_outputs'], {'decoder': True}),
         ('decoder', MODELS['decoder'], {'decoder': True, 'surface': 'c'}), ('cross_in_c', MODELS['cross'], {'surface': 'c'}), ('long', lambda: encoder(layers=5), {}), ('padded', MODELS['padded'], {}),
         ('linear', block, {'decoder': True}))


def drawn(program):
    random = numpy.random.default_rng(7)
    return [random.standard_normal(view.count).astype('<f4') if view.type == 'float32' else
            random.integers(0, 2 if view.type == 'uint8' else 9, view.count).astype('u1' if view.type == 'uint8' else '<i4') for view in program.inputs]


def receipt_by_definition(program, inputs):
    arrays = [(array.tolist(), view.type) for array, view in zip(inputs, program.inputs)]

    def after(index, step):
        if step.writes.is_dense() and not isinstance(step, CacheAppend):
            arrays.append((step.writes.array.reshape(-1).tolist(), step.writes.type))

    program.run(inputs, after)
    return receipt_of(arrays, 1)


def check_kinds(ok, cxx, folder):
    for name, model, options in KINDS:
        place, path = folder / f'kind_{name}', folder / f'kind_{name}.onnx'
        path.write_bytes(model().SerializeToString())
        if options.get('arithmetic') == 'int8':
            shape = [size.dim_value for size in model().graph.input[0].type.tensor_type.shape.dim]
            options = {**options, 'samples': numpy.random.default_rng(3).standard_normal((8, *shape)).astype('float32')}
        report = export(path, place, receipts=True, **options)
        suffix = '.c' if options.get('surface') == 'c' else '.cpp'
        language = f'{cxx.replace("clang++", "clang").replace("g++", "gcc")} -std=c99' if suffix == '.c' else f'{cxx} -std=c++17'
        done = subprocess.run(f'{language} {WARNINGS} -Iinclude -fsyntax-only {place}/model{suffix}', shell=True, capture_output=True, text=True)
        ok(f'{name}: it compiles without a warning', done.returncode == 0, done.stderr[:300])
        program, inputs = ReceiptProgram(place), drawn(report.program)
        row = b''.join(array.tobytes() for array in inputs)
        receipt, digests = receipt_by_definition(report.program, inputs)
        found = program.call('run', row)
        ok(f'{name}: run() makes the receipt that is defined', found == receipt and program.digests('run') == digests, f'{found:016x} {receipt:016x}')
        (folder / 'x').write_bytes(3 * row)
        (folder / 'r').write_text(''.join(f'{each:016x}\n' for each in (receipt, receipt, receipt ^ 1 << 62)))
        result = attend.replay(place, folder / 'x', folder / 'r')
        ok(f'{name}: calls of run() are compared', (result.tokens, result.token) == (3, 2), result.text())
        if 'append' not in program.programs:
            continue
        tokens = report.program.inputs[0].count // (program.input_bytes('append') // 4)
        each = len(row) // tokens
        program.clear()
        kinds = ['append_silently' if program.programs['append']['split'] and token % 3 else 'append' for token in range(tokens)]
        given = [program.call(kind, row[token * each:(token + 1) * each]) for token, kind in enumerate(kinds)]
        (folder / 'x').write_bytes(2 * row)
        (folder / 'r').write_bytes(b''.join(each.to_bytes(8, 'little') for each in 2 * given))
        result = attend.replay(place, folder / 'x', folder / 'r', begins=[tokens])
        ok(f'{name}: tokens twice, after clear()', result.token is None and result.tokens == 2 * tokens, result.text())
