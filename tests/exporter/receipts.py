"""Receipts of the keyword model: faults are planted in devices, and replay has to name the token, the layer and the step:
tests/exporter/receipts.py CXX FOLDER ARCHIVE [BOARD]

Devices are programs of this machine (receipts_device.cpp), which write down all that their steps compute: where they really left the path is found in
these numbers, without a digest. For each fault it has to be the step in which it was planted, and what replay names.
The library is taken from ARCHIVE, as in load.py; some faults are in parts of it that are compiled anew, changed. With BOARD, an emulated one has some of
these faults too, and what the page of the guide tells to type is typed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import attend
import cases
from attend._replay_program import ReceiptProgram
from attend.exporter import export
from cases import ok, refused
from receipts_definition import check_definition
from receipts_models import check_kinds
from receipts_faults import flipped, library_with, step_of
from transcript import check_receipts_page

cxx, folder, archive = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
board = sys.argv[4] if len(sys.argv) > 4 else None
example = pathlib.Path('bench/exporter/examples/keywords')
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)

check_definition(ok, cxx, folder)

# ---- The models

library, stand_in = folder / 'library.o', folder / 'compiler'
subprocess.run(['ld', '-r', '--whole-archive', archive, '-o', str(library)], check=True)
stand_in.write_text(f'#!/bin/sh\ncase "$*" in\n  *attend/attend.cpp*) for last; do :; done; cp \'{library}\' "$last" ;;\n  *) exec {cxx} "$@" ;;\nesac\n')
stand_in.chmod(0o755)
os.environ['CXX'] = str(stand_in)
check_kinds(ok, cxx, folder)

subprocess.run([sys.executable, str(example / 'recorded.py'), str(folder)], check=True)
inputs = folder / 'tokens.bin'
tokens = inputs.stat().st_size // (4 * 144)
for name, options in (('int8', {'arithmetic': 'int8'}), ('float32', {}), ('in_c', {'arithmetic': 'int8', 'surface': 'c'})):
    export(example / 'keywords.onnx', folder / name, name='keywords', samples=folder / 'voices.npy', decoder=True, receipts=True, **options)
plain = folder / 'plain'
export(example / 'keywords.onnx', plain, name='keywords', samples=folder / 'voices.npy', decoder=True, arithmetic='int8')
text_of = lambda model: (folder / model / ('model.c' if model == 'in_c' else 'model.cpp')).read_text()
written = [plain / each for each in ('model.h', 'model.cpp', 'self_test.cpp')]
ok('without --receipts there is nothing of them', not any('receipt' in each.read_text() for each in written) and not (plain / 'receipts.json').exists())
kept = [line for line in text_of('int8').splitlines() if 'receipt' not in line]
missing = [line for line in written[1].read_text().splitlines() if line not in set(kept)]
ok('with it lines are added, and all others are there', not missing, f'{missing[:2]}')

# ---- Devices


def compiled(name, model, text=None, flags='-O1', objects=()):
    """The device's program; text: of its model, where it is another one."""
    in_c = model == 'in_c'
    source = folder / f'{name}{".c" if in_c else ".cpp"}'
    source.write_text(text or text_of(model))
    language = f'{cxx.replace("clang++", "clang").replace("g++", "gcc")} -std=c99' if in_c else f'{cxx} -std=c++17'
    main = f'{cxx} -std=c++17 -O1 {"-DIN_C" if in_c else ""} -Iinclude -I{folder / model} tests/exporter/receipts_device.cpp'
    commands = [f'{language} {flags} -ffp-contract=off -Iinclude -I{folder / model} -c {source} -o {source}.o',
                f'{main} {source}.o {" ".join(map(str, objects))} {archive} -o {folder / name}']
    for command in commands:
        made = subprocess.run(command, shell=True, capture_output=True, text=True)
        if made.returncode:
            raise SystemExit(f'FAIL {name} does not compile: {made.stderr[:400]}')
    return folder / name


class Recorded:
    def __init__(self, program, fault='none', backend=None):
        files = [folder / f'{program.name}.{fault}.{each}' for each in ('receipts', 'steps', 'numbers')]
        self.receipts, self.steps, self.numbers = files
        environment = {**os.environ, **({'ATTEND_BACKEND': backend} if backend else {})}
        done = subprocess.run([str(program), str(inputs), *map(str, files), fault], env=environment)
        if done.returncode:
            raise SystemExit(f'FAIL {program.name} with the fault {fault} ends with {done.returncode}')


def rows_of(model):
    """Where the numbers of each item lie in a token's, and how many bytes they have."""
    at, rows = 0, []
    for item in ReceiptProgram(folder / model).items('append'):
        size = item['count'] * {'float32': 4, 'int16': 2, 'int8': 1}[item['type']]
        rows.append((item['step'], at, size))
        at += size
    return rows


def left_the_path(model, device):
    """(token, step, its numbers, how many bits differ), by the numbers alone."""
    found, right, rows = device.numbers.read_bytes(), healthy[model].numbers.read_bytes(), layout[model]
    each = rows[-1][1] + rows[-1][2]
    for token in range(tokens):
        for step, at, size in rows:
            there, here = (data[token * each + at:token * each + at + size] for data in (found, right))
            if there != here:
                return token, step, there, sum(bin(a ^ b).count('1') for a, b in zip(there, here))
    return None


programs = {model: compiled(f'device_{model}', model) for model in ('int8', 'float32', 'in_c')}
healthy = {model: Recorded(program) for model, program in programs.items()}
layout = {model: rows_of(model) for model in programs}
for model, device in healthy.items():
    result = attend.replay(folder / model, inputs, device.receipts, steps=device.steps)
    ok(f'a device that is well: {model}', result.token is None and result.tokens == tokens and 'all receipts are equal' in result.text(), result.text())
ok('in C they are those of C++', healthy['in_c'].receipts.read_bytes() == healthy['int8'].receipts.read_bytes())
contracted = compiled('contracted', 'float32', flags='-O3 -ffp-contract=fast -funroll-loops')
for backend in attend.backends():
    device = Recorded(contracted, backend=backend)
    ok(f'other flags and the backend {backend} leave no other receipt', device.receipts.read_bytes() == healthy['float32'].receipts.read_bytes())
silent = Recorded(programs['int8'], 'silent')
result = attend.replay(folder / 'int8', inputs, silent.receipts, steps=silent.steps)
ok('tokens whose outputs nobody reads', result.token is None and silent.receipts.read_bytes() != healthy['int8'].receipts.read_bytes(), result.text())
lines = folder / 'receipts.txt'
data = healthy['int8'].receipts.read_bytes()
lines.write_text(''.join(f'{int.from_bytes(data[i:i + 8], "little"):016x}\n' for i in range(0, len(data), 8)))
ok('receipts as lines of digits', attend.replay(folder / 'int8', inputs, lines).token is None)

# ---- Faults


constants = lambda text, kind: re.findall(rf'\b({kind}_\d+)(?:\[\w+\])* =', text)
in_int8, in_float32, in_c = map(text_of, ('int8', 'float32', 'in_c'))
faults = []  # name, model, step in which it is planted, what makes the device's recording
of_weights = lambda text, kind, which: constants(text, kind)[which]


def in_source(what, model, name, text, step=None, **options):
    faults.append((what, model, step_of(text_of(model), name) if step is None else step,
                   lambda: Recorded(compiled(re.sub(r'\W', '_', what), model, text, **options))))


for model, kind, which, number, bit in (('int8', 'weights', 0, 700, 0), ('int8', 'weights', 3, 99, 6), ('int8', 'weights', 9, 5, 2), ('in_c', 'weights', 5, 1000, 4),
                                        ('float32', 'weights', 9, 40, 0), ('int8', 'table', 1, 100, 1), ('float32', 'bias', 4, 11, 0)):
    name = constants(text_of(model), kind)[which]
    in_source(f'a flipped bit of {name} in {model}', model, name, flipped(text_of(model), name, number, bit))
norm = [name for name in constants(in_int8, 'weight')][2]
in_source('a flipped bit of a normalisation', 'int8', norm, flipped(in_int8, norm, 7, 21))
scale = re.search(r'constexpr auto (scales_\d+) = attend::SumScales\(attend::TensorScale\{([\d.e-]+)', in_int8)
in_source('a scale whose last digits are cut off', 'int8', scale[1], in_int8.replace(scale[2], f'{float(scale[2]):.3g}', 1) if in_int8.count(scale[2]) == 1 else
          in_int8[:scale.start(2)] + f'{float(scale[2]):.3g}' + in_int8[scale.end(2):])
in_source('numbers that are truncated in place of rounded', 'int8', '/0: floats to integers', in_int8.replace('Number(int(number - point) + zero)',
          'Number(int(given[i] * factor) + zero < -lowest - 1 ? int(given[i] * factor) + zero : -lowest - 1)'), step=0)
last = max(step for step, _, _ in layout['int8'])
attention = {model: step_of(text_of(model), '/: attention over a ring') for model in ('int8', 'float32')}
second = max(int(step) for step in re.findall(r'^  // (\d+): attention over a ring', in_int8, re.M))
for what, model, step in (('round_up', 'int8', last), ('round_to_zero', 'int8', last), ('short_copy', 'int8', -1), ('late_copy', 'float32', -1),
                          ('memcpy_over_cache', 'int8', attention['int8']), ('overwritten_result', 'float32', step_of(in_float32, '/: gelu')),
                          ('first_memory_lost', 'float32', attention['float32']), ('second_memory_lost', 'int8', second), ('reset', 'int8', attention['int8'])):
    faults.append((what, model, step, lambda what=what, model=model: Recorded(programs[model], what)))

# Parts of the library for one instruction set, which devices then use.
backend = 'sse2' if 'sse2' in attend.backends() else attend.backends()[0]
of_backend = 'sse2' if backend == 'sse2' else 'target'
attentions, layers = f'src/backend/{of_backend}.cpp', f'src/layers/layers_{of_backend}.cpp'
for what, model, step, changed in (
        ('another bits version, of floats', 'float32', attention['float32'],
         lambda: library_with(cxx, folder, attentions, 'src/numerics/exp2.h', lambda text: text.replace('0.009618834f', '0.009619834f'))),
        ('another bits version, of integers', 'int8', attention['int8'],
         lambda: library_with(cxx, folder, 'src/backend/embedded_integers.cpp', 'src/numerics/integer_softmax.h', lambda text: text.replace('exp2_c2 = 15075', 'exp2_c2 = 15000'))),
        ('a compiler flag, -ffast-math', 'float32', None,
         lambda: library_with(cxx, folder, layers, 'src/numerics/float_rules.h', lambda text: '#pragma once\n#include "compiler.h"\n', '-ffast-math'))):
    faults.append((what, model, step, lambda what=what, model=model, changed=changed: Recorded(
        compiled(re.sub(r'\W', '_', what), model, objects=[changed()]), backend=backend)))

named = by_bits = 0
for what, model, planted, record in faults:
    device = record()
    truth = left_the_path(model, device)
    if truth is None:
        ok(f'{what}: it changes something', False, 'it does not')
        continue
    token, step, numbers, bits = truth
    (folder / 'numbers').write_bytes(numbers)
    short = attend.replay(folder / model, inputs, device.receipts)
    exact = attend.replay(folder / model, inputs, device.receipts, steps=device.steps, numbers=folder / 'numbers')
    name = next(item['name'] for item in ReceiptProgram(folder / model).items('append') if item['step'] == step)
    layer = re.search(r'blocks\.(\d)', name)
    right = (exact.token, exact.step, exact.layer, exact.bits) == (token, step, int(layer[1]) if layer else None, bits)
    named += ok(f'{what}: token {token}, step {step}, {bits} bits', right and planted in (None, step) and exact.is_exact and
                exact.began_anew == (what == 'reset'), f'planted in {planted}; {exact.text()}')
    by_bits += short.token == token and short.step == step
    ok(f'{what}: the token by 8 bytes, and no step that is too early', short.token == token and short.step >= step, short.text())

# ---- The same on an emulated board


def on_board(name, text, model='int8', programs=('receipts',)):
    """What a board records. programs: those that are built for it; receipts is run."""
    place = folder / f'board_{name}'
    shutil.copytree(folder / model, place, ignore=shutil.ignore_patterns('build', 'arduino'))
    (place / 'model.cpp').write_text(text)
    board_sh('build', board, place, *programs, exported=place)
    if 'receipts' in programs:
        board_sh('run', board, place / f'{board}.receipts', inputs, place / 'r.bin')
    return place / 'r.bin'


def board_sh(*arguments, exported=''):
    done = subprocess.run(['sh', 'bench/boards/board.sh', *map(str, arguments)], env={**os.environ, 'EXPORTED': str(exported)}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f'FAIL board.sh {arguments[0]}: {done.stderr[-400:]}')
    return done.stdout


if board:
    check_receipts_page(ok, folder / 'typed')  # its board is one that is well, and its receipts are those of this computer
    on_board('well', in_int8, programs=('receipts_count',))
    on_board('plain', written[1].read_text(), 'plain', ('receipts_count',))
    without, with_them = (int(re.search(r'\d+', board_sh('count', board, folder / f'board_{each}/{board}.receipts_count', inputs))[0]) for each in ('plain', 'well'))
    ok(f'{board}: receipts cost at most 3 % of the instructions: {without} and {with_them}', without < with_them <= 1.03 * without)
    weights = constants(in_int8, 'weights')[3]
    mode = '  if (caches.position == 20) __asm__ volatile("vmsr fpscr, %0" : : "r"(1u << 22));  // upwards\n'
    at = in_int8.index('  attend::Status status', in_int8.index(' remember('))
    for name, text, token, step, layer in (('weight', flipped(in_int8, weights, 99, 6), 1, step_of(in_int8, weights), 0),
                                           ('rounding', in_int8[:at] + mode + in_int8[at:], 20, last, None)):
        result = attend.replay(folder / 'int8', inputs, on_board(name, text))
        ok(f'{board}, {name}: token {token}, step {step}', (result.token, result.step, result.layer) == (token, step, layer), result.text())

# ---- The command, and what does not fit

def command(*arguments):
    done = subprocess.run([sys.executable, '-m', 'attend', 'replay', str(folder / 'int8'), '--inputs', str(inputs), *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


told = command('--receipts', healthy['int8'].receipts)
ok('the command says that all is equal', told == (0, f'keywords: {tokens} tokens: all receipts are equal\n'), f'{told}')
reset = Recorded(programs['int8'], 'reset')
told = command('--receipts', reset.receipts, '--steps', reset.steps)
ok('the command names what differs', told[0] == 1 and f'the first of {tokens} tokens that differs is 77: layer 0, step 6, attention over a ring, 4 heads of 12 (' in told[1] and
   'as after clear()' in told[1], f'{told}')
ok('a beginning that was meant is no fault', command('--receipts', reset.receipts, '--begins', '77')[0] == 0)
steps, each = reset.steps.read_bytes(), 4 * len(layout['int8'])
(folder / 'steps').write_bytes(steps[77 * each:78 * each])
told = command('--receipts', reset.receipts, '--steps', folder / 'steps')
ok('the steps of that token alone', told[0] == 1 and 'by the bits' not in told[1] and ' 77: layer 0, step 6,' in told[1], f'{told}')
(folder / 'short').write_bytes(data[:-8])
ok('receipts of another count', command('--receipts', folder / 'short')[0] == 2)
refused('inputs of another length', 'expected 576 for each token, 36864 for each call of run()', lambda: attend.replay(folder / 'int8', inputs, folder / 'short'))
(folder / 'short').write_bytes(data[:-3])
refused('half a receipt', 'expected receipts of 8 bytes each', lambda: attend.replay(folder / 'int8', inputs, folder / 'short'))
refused('half the steps', f'expected {len(steps) // 4} of {tokens} tokens, or {len(layout["int8"])} of token 77 alone',
        lambda: attend.replay(folder / 'int8', inputs, reset.receipts, steps=healthy['int8'].receipts))
refused('numbers of another step', 'expected 48 of step 6, 48 numbers of int8', lambda: attend.replay(folder / 'int8', inputs, reset.receipts, steps=reset.steps, numbers=folder / 'short'))
refused('a folder without receipts', 'has no receipts.json', lambda: attend.replay(plain, inputs, reset.receipts))
about = (folder / 'int8/receipts.json').read_text()
for what, damaged in (('cut', about[:-20]), ('another number', about.replace('48', '47', 1)), ('no object', '[1]'), ('nothing', '')):
    (folder / 'int8/receipts.json').write_text(damaged)
    refused(f'a damaged receipts.json: {what}', 'is not as it was exported', lambda: attend.replay(folder / 'int8', inputs, reset.receipts))
(folder / 'int8/receipts.json').write_text(about)
(folder / 'int8/model.cpp').write_text(flipped(in_int8, constants(in_int8, 'weights')[0], 700, 3))
refused('a folder that has changed', 'the self-test of', lambda: attend.replay(folder / 'int8', inputs, reset.receipts))
(folder / 'int8/model.cpp').write_text(in_int8)
print(f'{named} of {len(faults)} faults are named by token, layer and step; by 8 bytes a token alone the token of all, and the step of {by_bits}')
sys.exit(cases.failed > 0)
