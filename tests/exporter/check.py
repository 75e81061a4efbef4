"""Exports models, compiles and runs them: tests/exporter/check.py CXX FOLDER ARCHIVE [--torch] [NAME...]

Prints a line for each check, and leaves what it exported in FOLDER. The package is found by PYTHONPATH, ARCHIVE is libattend.a of
the same sources.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import numpy
import onnx

import attend
import masks
from attend.exporter import ExportError, export
from attend.exporter.export import SURFACES, load
from attend.exporter.gguf import _array as block_array
from attend.exporter.self_test import digest
from chunks import check_chunks
from published import as_gguf, q8, write_all, write_blocks
from models import IN_FLOATS, MODELS, Builder, causal, other_statistics
from node_attributes import check_node_attributes, check_windows
from ordinary import all_operators, check_ordinary
from random_masks import check_random_masks, taken
from work_sizes import write_work_sizes

# Newer versions of the package have no such table: the exporter does not read it.
if hasattr(onnx, 'mapping'):
    del onnx.mapping

MODELS['operators'] = all_operators
BOUND = 1e-5
DECODERS = ('decoder', 'windowed', 'rotary_node', 'two_outputs', 'columns', 'llama', 'capped')
# What is exported as C too: each kind of step, in floats, in integers, and as decoders over caches and rings.
IN_C = ('encoder', 'rotary_node', 'columns', 'grouped', 'cross', 'biased', 'text', 'windowed', 'decoder', 'vision', 'front_end', 'activations', 'operators', 'padded', 'capped')
IN_C_INTEGERS = ('encoder', 'rotary_node', 'far_apart', 'grouped', 'cross', 'text', 'windowed', 'decoder', 'front_end', 'operators', 'padded')
WARNINGS = '-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
# The library computes for longer than what is compiled here.
OPTIONS = f"{'-O1' if os.environ.get('ALL') else '-O0'} {WARNINGS} -Iinclude -DATTEND_SELF_TEST_MAIN"


class Checks:
    def __init__(self):
        self.failed = 0

    def ok(self, what, right, why=''):
        self.failed += not right
        print(f'ok   {what}' if right else f'FAIL {what}: {why}', flush=True)

    def refused(self, what, text, function):
        """The sentence of an ExportError, and no folder."""
        try:
            function()
            self.ok(what, False, 'it was not refused')
        except ExportError as error:
            self.ok(what, text in str(error), f'expected "{text}", found "{error}"')


checks = Checks()


def compile_and_run(arguments, folder):
    """The self-test, on each backend of this machine; its lines."""
    sources = [folder / each for each in ('model', 'self_test')]
    if (folder / 'model.c').exists():
        cc = arguments.cxx.replace('clang++', 'clang').replace('g++', 'gcc')
        command = ' && '.join(f'{cc} -std=c99 {OPTIONS} -c {each}.c -o {each}.o' for each in sources) + \
            f' && {arguments.cxx} {sources[0]}.o {sources[1]}.o {arguments.archive} -o {folder}/test'
    else:
        command = f'{arguments.cxx} -std=c++17 {OPTIONS} -include {arguments.folder}/precompiled.h {sources[0]}.cpp {sources[1]}.cpp {arguments.archive} -o {folder}/test'
    # The headers of the project, not the copy beside the model: it is the same text, which other tests look at.
    shutil.rmtree(folder / 'attend')
    made = subprocess.run(command, shell=True, capture_output=True, text=True)
    if made.returncode:
        return made.stderr[:400]
    for backend in attend.backends():
        attempt = subprocess.run([str(folder / 'test')], env={**os.environ, 'ATTEND_BACKEND': backend}, capture_output=True, text=True)
        if attempt.returncode:
            return f'{backend}: {attempt.stdout.strip() or attempt.returncode}'
    return ''


def precompile(arguments):
    """What every model in C++ includes; compilers find it beside the header."""
    header = arguments.folder / 'precompiled.h'
    header.write_text('#include "attend/layers.h"\n')
    subprocess.run(f'{arguments.cxx} -x c++-header -std=c++17 {OPTIONS} {header} -o {header}.gch', shell=True, check=True)


def export_as(model, folder, name, weights, samples, surface='cpp'):
    onnx.save(model, f'{folder}.onnx')
    options = {'arithmetic': 'int8', 'samples': random_samples(model)} if weights == 'integers' else {'weights': weights, 'samples': samples}
    return export(f'{folder}.onnx', folder, name=name, decoder=name in DECODERS, surface=surface, **options)


def check_model_in_c(arguments, name, model, weights='float32'):
    """The same digests as in C++, and bits."""
    folder = arguments.folder / f'{name}_{weights}_in_c'
    export_as(model, folder, name, weights, None, 'c')
    same = digests_in(folder / 'self_test.c') == digests_in(arguments.folder / f'{name}_{weights}/self_test.cpp')
    yield f'{name}, {weights}, in C: its digests are those in C++', same, 'they differ'
    wrong = compile_and_run(arguments, folder)
    yield f'{name}, {weights}, in C: its self-test finds the same bits', not wrong, wrong


def digests_in(path):
    return re.findall('0x[0-9a-f]{16}u', path.read_text())


def check_model(arguments, name, model, weights='float32', samples=None, expected=None):
    folder = arguments.folder / f'{name}_{weights}'
    report = export_as(model, folder, name, weights, samples)
    bound = {'float32': BOUND, 'float16': 2e-2, 'bfloat16': 0.1, 'int8': 0.15, 'int4': 1.5, 'integers': 0.15}[weights]
    yield f'{name}, {weights}: within {bound} of float64', report.error <= bound, f'{report.error}'
    if weights == 'float32':
        yield f'{name}: all that it has in common with the graph is near it', report.worst()[0] <= 1e-3, f'{report.worst()}'
    if expected is not None:
        outputs = report.program.run([array[0] for array in samples.values()])
        errors = [abs(numpy.asarray(y).reshape(-1) - right.reshape(-1)).max() / (abs(right).max() or 1) for y, right in zip(outputs, expected)]
        yield f'{name}: within {BOUND} of PyTorch', max(errors) <= BOUND, f'{max(errors)}'
    wrong = compile_and_run(arguments, folder)
    yield f'{name}, {weights}: its self-test finds the same bits', not wrong, wrong


def random_samples(model):
    random = numpy.random.default_rng(4)
    shape = lambda each: (32, *(size.dim_value for size in each.type.tensor_type.shape.dim))
    return {each.name: random.standard_normal(shape(each)).astype('float32') if each.type.tensor_type.elem_type == onnx.TensorProto.FLOAT else
            random.integers(0, 2 if 'mask' in each.name else 9, shape(each)).astype(bool if each.type.tensor_type.elem_type == onnx.TensorProto.BOOL else 'int64')
            for each in model.graph.input}


def check_models(arguments, jobs, check=check_model):
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('JOBS', '2'))) as threads:
        for done in [threads.submit(lambda job=job: list(check(arguments, *job))) for job in jobs]:
            try:
                for what, right, why in done.result():
                    checks.ok(what, right, why)
            except ExportError as error:
                checks.ok('a model is exported', False, str(error))


def check_published(arguments):
    """Known architectures from their published files, whole and a token at a time."""
    tokens = 12
    for name, inputs, output in write_all(arguments.folder / 'published', tokens):
        folder = arguments.folder / f'{name}_published'
        names = {'bert': ('input_ids', 'attention_mask'), 'vit': ('image',), 'whisper': ('spectrogram',)}.get(name, ('tokens',))
        report = export(arguments.folder / 'published' / name, folder, name=name, tokens=tokens, decoder=name in ('gpt2', 'qwen3', 'mistral'),
                        samples={each: array[None] for each, array in zip(names, inputs)})
        found, = report.program.run(inputs)
        error = abs(found.reshape(output.shape) - output).max() / abs(output).max()
        checks.ok(f'{name} from its published files: within {BOUND} of numpy', error <= BOUND, f'{error}')
        wrong = compile_and_run(arguments, folder)
        checks.ok(f'{name} from its published files: its self-test finds the same bits', not wrong, wrong)
    checks.ok('a mistral folder runs without end over rings', 'There is no end to them' in (arguments.folder / 'mistral_published/model.h').read_text(), 'it ends')
    write_blocks(arguments.folder / 'blocks.gguf')
    programs = [load(arguments.folder / 'blocks.gguf', 'blocks', None, weights, tokens)[0] for weights in (None, 'float32')]
    outputs = [program.run([numpy.arange(tokens)])[0] for program in programs]
    formats = [{step.format for step in program.steps if hasattr(step, 'format')} for program in programs]
    checks.ok('blocks of Q4_0 stay what they are, unless floats are asked for', formats == [{'int4'}, {'float32'}] and
              abs(outputs[0] - outputs[1]).max() <= 1e-6 * abs(outputs[1]).max(), f'{formats}, {abs(outputs[0] - outputs[1]).max()}')
    export(arguments.folder / 'blocks.gguf', arguments.folder / 'blocks', name='blocks', tokens=tokens, decoder=True)
    wrong = compile_and_run(arguments, arguments.folder / 'blocks')
    checks.ok('blocks of Q4_0: the self-test finds the same bits', not wrong, wrong)
    checks.refused('more tokens than there is memory for', 'scores, more than 268435456; expected fewer tokens',
                   lambda: export(arguments.folder / 'published/qwen3', arguments.folder / 'none', name='none', tokens=9000))
    # In C: rotary positions in floats, and in integers rows that share a projection's weights.
    for name, arithmetic in (('qwen3', 'float32'), ('gpt2', 'int8')):
        folder = arguments.folder / f'{name}_published_in_c'
        samples = numpy.random.default_rng(9).integers(0, 40, (16, tokens)).astype('int32')
        export(arguments.folder / 'published' / name, folder, name=name, tokens=tokens, decoder=True, arithmetic=arithmetic, samples=samples, surface='c')
        wrong = compile_and_run(arguments, folder)
        checks.ok(f'{name} from its published files, {arithmetic}, in C: its self-test finds the same bits', not wrong, wrong)
    for name, folder, path in as_gguf(arguments.folder / 'published'):
        outputs = []
        for source in (folder, path):
            program, _ = load(source, name, None, 'float32', tokens)
            outputs.append(program.run([numpy.arange(tokens) % 40])[0])
        error = abs(outputs[0] - outputs[1]).max() / abs(outputs[0]).max()
        checks.ok(f'{name} from a GGUF file: as from its published files', error <= BOUND, f'{error}')
    gguf, path = (arguments.folder / 'published/llama.gguf').read_bytes(), arguments.folder / 'changed.gguf'
    for what, text, old, new in (('positions scaled in another way', 'scaled by "yarn  "', b'linear', b'yarn  '), ('a part of heads that turns', 'dimension_count is 4; expected', struct.pack('<II', 4, 6), struct.pack('<II', 4, 4)),
                                 ('a value that is there twice', 'two values of "llama.feed_forward', b'rope.scaling.factor', b'feed_forward_length'), ('an array that is there twice', 'two arrays of one', b'blk.1', b'blk.0'),
                                 ('an array that no Llama has', 'the folder with config.json', b'ffn_gate', b'ffn_late')):
        path.write_bytes(gguf.replace(old, new))
        checks.refused(f'a GGUF file with {what}', text, lambda: export(path, arguments.folder / 'none', name='none', tokens=tokens))
    # Blocks of 8 and of 4 bits, as the files define them.
    array = numpy.random.default_rng(7).standard_normal((3, 64)).astype('float32')
    data, expected = q8(array)
    bytes_ = numpy.random.default_rng(8).integers(0, 256, (2, 18)).astype('uint8')
    bytes_[:, :2] = numpy.array([[0.5], [0.25]], '<f2').view('uint8')
    found = block_array(bytes_.tobytes(), 0, [1, 64], 2)[0]
    right = [(byte % 16 - 8.0) * scale for scale, row in zip((0.5, 0.25), bytes_) for byte in row[2:]]
    checks.ok('blocks of Q8_0 and Q4_0', (block_array(data, 0, [3, 64], 8) == expected).all() and list(found[:16]) + list(found[32:48]) == right and
              found[16] == (bytes_[0, 2] // 16 - 8.0) * 0.5, f'{found[:3]}')
    folder = arguments.folder / 'published/gpt2'
    gguf = (arguments.folder / 'published/gpt2.gguf').read_bytes()
    data, config = (folder / 'model.safetensors').read_bytes(), (folder / 'config.json').read_text()
    attempt = lambda: export(folder, arguments.folder / 'none', name='none', tokens=tokens)
    for what, text, changed in (('cut weights', 'or it is damaged', data[:5000]), ('no weights', 'or it is damaged', b''),
                                ('a missing weight', 'the weights have no "transformer.h.1.ln_2.bias"', data.replace(b'h.1.ln_2.bias', b'h.1.ln_2.bium')),
                                ('a wrong shape', 'expected [', data.replace(b'[40, 24]', b'[24, 40]'))):
        (folder / 'model.safetensors').write_bytes(changed)
        checks.refused(what, text, attempt)
    (folder / 'model.safetensors').write_bytes(data)
    for what, text, changed in (('another architecture', 'expected one of llama', config.replace('gpt2', 'rwkv')), ('no JSON', 'this is no JSON', config[:20]),
                                ('scores scaled by layers', 'expected a scale of 1 / sqrt', config.replace('{', '{"scale_attn_by_inverse_layer_idx": true, ', 1)),
                                ('fewer layers than weights', 'weights are not of a model', config.replace('"n_layer": 2', '"n_layer": 1'))):
        (folder / 'config.json').write_text(changed)
        checks.refused(what, text, attempt)
    (folder / 'config.json').write_text(config)
    random, others = numpy.random.default_rng(6), []
    for _ in range(arguments.damages):
        damaged = bytearray(data)
        for at in random.integers(0, 3000, 2):
            damaged[at] = random.integers(256)
        (folder / 'model.safetensors').write_bytes(damaged)
        shutil.rmtree(arguments.folder / 'none', ignore_errors=True)
        try:
            attempt()
        except ExportError:
            pass
        except Exception as error:  # what this looks for
            others.append(f'{type(error).__name__} {error}')
    for _ in range(arguments.damages):
        damaged = bytearray(gguf[:random.integers(len(gguf))] if _ % 4 == 0 else gguf)
        for at in random.integers(0, min(2000, len(damaged)), 2) if len(damaged) else []:
            damaged[at] = random.integers(256)
        (arguments.folder / 'damaged.gguf').write_bytes(damaged)
        try:
            load(arguments.folder / 'damaged.gguf', 'none', None, 'float32', tokens)
        except ExportError:
            pass
        except Exception as error:  # what this looks for
            others.append(f'gguf: {type(error).__name__} {error}')
    checks.ok(f'{2 * arguments.damages} damaged files of weights are refused with a sentence, or exported', not others, '; '.join(others[:5]))


def check_wrong_bits(arguments):
    """A self-test finds a weight that differs in its last bit."""
    for source in ('encoder_float32/model.cpp', 'encoder_float32_in_c/model.c'):
        path = arguments.folder / source
        text = path.read_text()
        place = text.index('const float bias_')
        place = text.index('{', place) + 1
        end = text.index('f', place)
        other = numpy.nextafter(numpy.float32(text[place:end]), numpy.float32(9))
        path.write_text(text[:place] + f'{other:.9g}' + text[end:])
        (path.parent / 'attend').mkdir()
        wrong = compile_and_run(arguments, path.parent)
        checks.ok(f'a bias that is off by one bit is found by the self-test of {path.name}', 'other bits from step' in wrong, wrong)
    for kind in 'int8', 'int16':
        checks.ok(f'digests tell negative numbers of {kind} apart', digest(numpy.array([-1, -2], kind)) != digest(numpy.array([-7, -128], kind)), 'they are the same')


def check_wrong_position(arguments):
    """A token's position that is off by one is found by the self-test."""
    for arithmetic in ('float32', 'integers'):
        folder = arguments.folder / f'decoder_{arithmetic}'
        text = (folder / 'model.cpp').read_text()
        (folder / 'model.cpp').write_text(text.replace('const int position = caches.position;', 'const int position = caches.position + 1;'))
        (folder / 'attend').mkdir()
        wrong = compile_and_run(arguments, folder)
        checks.ok(f'a wrong position of a token, {arithmetic}, is found by the self-test', 'one token after another' in wrong, wrong)


def check_work_sizes(arguments):
    """What programs in C reserve for calls is what the library asks for on hosts; boards look at the same folder."""
    folder = arguments.folder / 'work_sizes'
    write_work_sizes(folder)
    (folder / 'attend').mkdir()
    wrong = compile_and_run(arguments, folder)
    checks.ok('work memory and caches in C have the sizes that the library tells', not wrong, wrong)


def check_masks(arguments):
    """What is computed of inputs and seen by attention, ONNX's Attention, and constants by all of numpy's operators."""
    for name, model, x, expected, _ in masks.models():
        try:
            _, found, reference = masks.computed(arguments.folder / 'mask.onnx', model, x)
            errors = [masks.error_of(*each) for each in zip(found + reference, expected * 2)]
            checks.ok(f'{name}: within {BOUND} of numpy, and so is the reference', len(found) == len(expected) and max(errors) <= BOUND, f'{errors}')
        except ExportError as error:
            checks.ok(name, False, str(error))
    program = masks.computed(arguments.folder / 'mask.onnx', *next(each[1:3] for each in masks.models() if each[0] == 'bool_mask'))[0]
    checks.ok('an input of bools that are seen is the mask itself', not any(type(step).__name__ == 'Choose' for step in program.steps), f'{program.steps}')
    masks.check_integers(checks, arguments.folder / 'mask.onnx')
    check_random_masks(checks, arguments.folder, 3000 if os.environ.get('ALL') else 300)
    parts = {'spelled': [each[:3] for each in masks.models() if each[0] in masks.MODELS], 'nodes': [each[:3] for each in masks.models() if each[0] in masks.NODES]}
    parts['random'] = taken(arguments.folder / 'mask.onnx', 12)
    for name, models in parts.items():
        model, samples = masks.joined(models, 25 if name == 'nodes' else 14)
        for surface in SURFACES:
            folder = arguments.folder / f'masks_{name}_{surface}'
            onnx.save(model, f'{folder}.onnx')
            export(f'{folder}.onnx', folder, name=f'masks_{name}', samples=samples, surface=surface)
            wrong = compile_and_run(arguments, folder)
            checks.ok(f'{len(models)} models with masks, {name}, in {surface}: their self-test finds the same bits', not wrong, wrong)
        same = [digests_in(path) for path in (folder / 'self_test.c', arguments.folder / f'masks_{name}_cpp/self_test.cpp')]
        checks.ok(f'models with masks, {name}: their digests in C are those in C++', same[0] == same[1], 'they differ')


def check_refusals(arguments):
    folder = arguments.folder / 'refused'

    def refuse(what, text, builder_of, **options):
        def attempt():
            b = Builder(options.pop('opset', 14))
            builder_of(b)
            onnx.save(b.model(), str(arguments.folder / 'refused.onnx'))
            export(arguments.folder / 'refused.onnx', folder, **options)
        checks.refused(what, text, attempt)
        checks.ok(f'{what}: nothing is written', not folder.exists(), 'the folder is there')

    def one(kind, *inputs, **attributes):
        return lambda b: b.output(b(kind, b.input('x', 1, 4, 8), *inputs, **attributes))

    refuse('an operator that is not known', 'node "/LSTM_0" (LSTM): this operator is not known. A causal transformer', one('LSTM', numpy.ones((1, 4, 8), 'float32'), numpy.ones((1, 4, 8), 'float32'), hidden_size=1))
    refuse('a product of computed arrays', 'that is no attention', lambda b: b.output(b('MatMul', b.input('x', 1, 4, 4), 'x')))
    refuse('shapes that do not fit', 'do not fit it', one('MatMul', numpy.ones((7, 3), 'float32')))
    refuse('weights that are NaN', 'has a NaN', one('MatMul', numpy.full((8, 3), numpy.nan, 'float32')))
    refuse('weights that are infinite', 'not finite', one('MatMul', numpy.full((8, 3), numpy.inf, 'float32')))
    refuse('an open size', 'leaves a size open: --shape x=', lambda b: b.output(b('Relu', b.input('x', 1, 'time', 8))))
    refuse('a shape for no input', 'which is no input', one('Relu'), shapes={'y': [1, 4, 8]})
    refuse('a shape that the model does not have', 'was given where the model has', one('Relu'), shapes={'x': [1, 4, 9]})
    attend_to = lambda b, scores: b.output(b('MatMul', b('Softmax', scores, axis=-1), 'v'))
    def masked(make, opset=14, *shape):
        def build(b):
            for name in 'qkv':
                b.input(name, 1, 2, 4, 4)
            make(b, b('MatMul', 'q', b('Transpose', 'k', perm=[0, 1, 3, 2])), b.input('m', *(shape or (1, 1, 4, 4)), kind=masks.BOOL))
        return build
    refuse('a mask that fills with what hides no key', 'it fills with numbers that hide no key', masked(lambda b, s, m: attend_to(b, b('Where', m, s, numpy.float32(-50)))))
    refuse('masked scores times a number below 0', 'scaled by a factor below 0', masked(lambda b, s, m: attend_to(b, b('Neg', b('Where', m, s, numpy.float32(-1e9))))))
    refuse('a mask before a soft cap', 'capped or repeated after it', masked(lambda b, s, m: attend_to(b, b('Tanh', b('Where', m, s, numpy.float32(-1e9))))))
    refuse('a factor for each key behind a soft cap', 'a factor for each key', masked(lambda b, s, m: attend_to(b, b('Mul', b('Mul', b('Tanh', b('Div', s, numpy.float32(2))), numpy.float32(2)), b.input('f', 1, 1, 1, 4)))))
    refuse('scores that a number that hides no key cuts off', 'cuts scores off', masked(lambda b, s, m: attend_to(b, b('Max', b('Where', m, s, numpy.float32(-1e9)), numpy.float32(-50)))))
    refuse('the largest of three arrays of scores', 'cuts scores off', masked(lambda b, s, m: attend_to(b, b('Max', b('Where', m, s, numpy.float32(-1e9)), numpy.float32(-1e9), b.normal(1, 1, 4, 4)))))
    refuse('scores that are cut off above', 'cuts scores off', masked(lambda b, s, m: attend_to(b, b('Clip', b('Where', m, s, numpy.float32(-1e9)), numpy.float32(masks.LOWEST), numpy.float32(50)))))
    refuse('infinities times a mask', 'Fill with -1e9', masked(lambda b, s, m: attend_to(b, b('Sub', b('Mul', b('Where', m, s, numpy.float32(-numpy.inf)), b('Cast', m, to=1)), numpy.float32(0)))))
    refuse('a bias that floats multiply with the scores', 'nor one array that is added', lambda b: b.output(b('MatMul', b('Softmax', b('Mul', b('Add', b('MatMul', b.input('q', 1, 2, 4, 4), b.input('k', 1, 2, 4, 4)),
           b.normal(1, 2, 4, 4)), b.input('m', 1, 1, 1, 4)), axis=-1), b.input('v', 1, 2, 4, 4))))
    refuse('a mask of each head that clears keys that heads share', 'do not fit each other', lambda b: b.output(b('MatMul', b('Softmax', b('Mul', b('MatMul', b.input('q', 1, 2, 4, 4), b.input('k', 1, 1, 4, 4)),
           b.input('m', 1, 2, 1, 4)), axis=-1), b.input('v', 1, 1, 4, 4))))
    refuse('a mask in an order without steps', 'in an order without steps', masked(lambda b, s, m: attend_to(b, b('Where', b('Gather', m, numpy.array([0, 3, 1, 2]), axis=3), s, numpy.float32(-1e9)))))
    refuse('a mask of other positions than bools', 'computes with whole numbers', lambda b: b.output(b('MatMul', b('Cast', b('Add', b.input('m', 1, 4, kind=masks.INT64), numpy.array(1)), to=1), b.normal(4, 3))))
    refuse('an Attention whose mask is computed as bools of tokens', 'is neither constant, nor an input', masked(lambda b, s, m: b.output(b('Attention', 'q', 'k', 'v', b('IsNaN', s)))), opset=25)
    refuse('a mask of fewer columns than the scores', 'its mask has 3 columns for 4 keys', masked(lambda b, s, m: b.output(*b('Attention', 'q', 'k', 'v', b('Slice', m, *map(numpy.array, ([0], [3], [3]))), outputs=4))), opset=25)
    refuse('past keys without values', 'past keys without past values', masked(lambda b, s, m: b.output(b('Attention', 'q', 'k', 'v', '', 'k'))), opset=25)
    refuse('an operator of constants', 'is known for constants only', one('Sin'))
    refuse('keys of two items, and queries of one', 'beside one item of queries', lambda b: b.output(b.attention(*(b.input(n, items, 2, 4, 4) for n, items in zip('qkv', (1, 2, 2))), 1.0)))
    much = numpy.array([1 << 20, 1 << 10])
    for kind, operation in (('ConstantOfShape', lambda b: b('ConstantOfShape', much)), ('Tile', lambda b: b('Tile', b.input('y', 1, 1), much)), ('Expand', lambda b: b('Expand', b.input('y', 1, 1), much)),
                            ('Pad', lambda b: b('Pad', b.input('y', 1, 1), numpy.array([1 << 20, 1 << 10, 0, 0]))), ('Range', lambda b: b('Range', *map(numpy.array, (0, 1 << 30, 1))))):
        refuse(f'a {kind} that asks for more than any memory has', 'elements; expected at most 268435456', lambda b: b.output(b('Add', b.input('x', 1, 1), operation(b))))
    refuse('attention whose softmax is along another axis', 'over queries', lambda b: b.output(b('MatMul', b('Softmax', b('MatMul', *(b.input(n, 1, 2, 4, 4) for n in 'qk')), axis=2), b.input('v', 1, 2, 4, 4))))
    refuse('samples of another shape', 'expected [\'samples\', 4, 8]', one('Relu'), samples=numpy.zeros((3, 4, 9), 'float32'))
    refuse('samples of another type', 'samples of input "x" are int64', one('Relu'), samples=numpy.zeros((3, 4, 8), 'int64'))
    refuse('samples that are not finite', 'not finite', one('Relu'), samples=numpy.full((3, 4, 8), numpy.inf, 'float32'))
    refuse('a format of weights that is none', 'expected one of float32', one('Relu'), weights='int7')
    refuse('a name that is no namespace', 'is no namespace', one('Relu'), name='Attend')
    refuse('angles of other positions', 'not those of positions 0, 1', lambda b: b.output(b('RotaryEmbedding', b.input('x', 1, 2, 5, 4), *[numpy.ones((1, 5, 2), 'float32')] * 2)), opset=23)
    refuse('an operator that the version does not have', 'came with version 23', lambda b: b.output(b('Attention', *(b.input(n, 1, 2, 4, 4) for n in 'qkv'))))
    refuse('an input that is not known', 'has 4 inputs, and this exporter knows 2 to 3', one('Gemm', *[numpy.ones((8, 8), 'float32')] * 3))
    refuse('an output that is not known', 'its output 2, "LayerNormalization_0_2", is used', lambda b: b.output(*b('LayerNormalization', b.input('x', 1, 4, 8), numpy.ones(8, 'float32'), outputs=3)), opset=17)
    refuse('an attribute of a constant that is not known', 'its attribute "nonsense" is 3', lambda b: b.output(b('Add', b.input('x', 2, 3), b('Relu', numpy.ones((2, 3), 'float32'), nonsense=3))))
    def mixing(b):
        x = b.input('x', 1, 8, 8)
        y = b('Add', x, b.self_attention(x, 8, 8, 2, causal(8)))
        b.output(b('Mul', y, b('Transpose', y, perm=[0, 2, 1])))
    refuse('a decoder that mixes tokens, as many as a token has numbers', 'moves elements between tokens', mixing, decoder=True)
    for kind, add in (('bools', lambda b, s: b('Where', b.input('m', 1, 1, 1, 8, kind=masks.BOOL), s, numpy.float32(-1e9))), ('floats', lambda b, s: b('Add', s, b.input('m', 1, 1, 1, 8)))):
        def padded(b, add=add):
            b.input('x', 1, 8, 8)
            q, k, v = (b('Transpose', b('Reshape', b.linear('x', 8, 8), numpy.array([1, 8, 2, 4])), perm=[0, 2, 1, 3]) for _ in range(3))
            y = b('MatMul', b('Softmax', add(b, b('Add', b('MatMul', q, b('Transpose', k, perm=[0, 1, 3, 2])), causal(8))), axis=-1), v)
            b.output(b('Reshape', b('Transpose', y, perm=[0, 2, 1, 3]), numpy.array([1, 8, 8])))
        refuse(f'a decoder with a padding mask of {kind}', 'decoders take no masks', padded, decoder=True)
    all_of = lambda compute: lambda b: b.output(compute(b, b.self_attention(b.input('x', 1, 8, 8), 8, 8, 2, causal(8))))
    refuse('a decoder that projects all tokens at once, to as many numbers', '(projection, 64 to 8) of a decoder: it looks at several tokens',
           all_of(lambda b, y: b.linear(b('Flatten', y), 64, 8)), decoder=True)
    refuse('a decoder that normalises all tokens at once', 'normalisation of 64) of a decoder: it looks at several tokens',
           all_of(lambda b, y: b('LayerNormalization', y, *[numpy.ones((8, 8), 'float32')] * 2, axis=-2)), decoder=True, opset=17)
    refuse('a decoder with a softmax of all tokens', '(softmax of 64) of a decoder: it looks at several tokens', all_of(lambda b, y: b('Softmax', b('Flatten', y))), decoder=True)
    refuse('a text that goes on after its end', 'only after the end of a text', lambda b: b.output(b('Gather', b.normal(9, 4), b.input('ids', 1, 3, kind=onnx.TensorProto.INT64))),
           samples=numpy.array([[1, -1, 2]]))
    refuse('a chunk of none', 'expected 1 or more tokens', one('Relu'), chunk=0)
    refuse('a board that is unknown', 'expected one of cortex-m0plus', one('Relu'), targets=['cortex-m99'])
    refuse('what looks like a normalisation', 'known for constants only', other_statistics)
    refuse('a limit that is computed', 'expected one constant each', lambda b: b.output(b('Clip', b.input('x', 1, 4), '', b('ReduceMax', 'x'))))
    refuse('a bias of a normalisation that is computed', 'is computed; expected constants', lambda b: b.output(b('LayerNormalization', b.input('x', 4, 8), numpy.ones(8, 'float32'), b('ReduceMax', 'x', axes=[0], keepdims=0))), opset=17)
    refuse('training', 'model.eval()', lambda b: b.output(b('BatchNormalization', b.input('x', 1, 4, 8), *[numpy.ones(4, 'float32')] * 4, training_mode=1)))
    refuse('integers between layers', 'take --arithmetic int8', lambda b: b.output(b('DequantizeLinear', b('QuantizeLinear', b.input('x', 1, 4), numpy.float32(1), numpy.array(0, 'int8')), numpy.float32(1))))
    refuse('integers as an input', 'take --arithmetic int8', lambda b: b.output(b('DequantizeLinear', b.input('x', 1, 4, kind=onnx.TensorProto.INT8), numpy.float32(1))))
    refuse('a name that is defined twice', 'defined several times', lambda b: (b.nodes.append(onnx.helper.make_node('Relu', [b.input('x', 3)], ['x'])), b.output('x')))
    refuse('sums of tokens', 'computes with whole numbers', lambda b: b.output(b('Gather', b.normal(9, 8), b('Add', b.input('t', 1, 4, kind=onnx.TensorProto.INT64), numpy.array(1)))))
    refuse('tokens that the table does not have', 'of a table that has 9', lambda b: b.output(b('Gather', b.normal(9, 8), b.input('t', 1, 4, kind=onnx.TensorProto.INT64))), samples=numpy.array([[0, 1, 2, 9]]))
    refuse('weights that float16 does not hold', 'which float16 does not hold', one('MatMul', numpy.full((8, 3), 1e6, 'float32')), weights='float16')
    refuse('numbers that float32 does not hold', 'please report', lambda b: b.output(b('Div', *[b('Exp', b('Mul', b.input('x', 1, 4) if i == 0 else 'x', numpy.float32(200))) for i in range(2)])))
    refuse('a surface that is not known', "the surface is 'rust'; expected cpp or c", one('Relu'), surface='rust')
    refuse('a namespace of C++', 'is no namespace', one('Relu'), name='std')
    refuse('a shape that is no list', 'expected whole numbers', one('Relu'), shapes={'x': None})
    refuse('an output that is constant', 'depends on no input', lambda b: (b.output(b('Add', numpy.ones(3, 'float32'), numpy.ones(3, 'float32'))), b.input('x', 1)))
    refuse('a name of two lines', '(two lines\ufffd)', lambda b: b.output(b('two\nlines\x01', b.input('x', 1))))
    archive = arguments.folder / 'samples.npz'
    numpy.savez(archive, x=numpy.zeros((2, 4, 8), 'float32'))
    archive.write_bytes(archive.read_bytes().replace(bytes(64), b'damage' + bytes(58), 1))
    refuse('a damaged archive of samples', 'or it is damaged: Bad CRC', one('Relu'), samples=archive)
    for name, text in (('encoder', 'it is no causal attention'), ('activations', 'no attention'), ('sensor', 'expected 16 tokens')):
        checks.refused(f'a decoder of the model {name}', text, lambda name=name: export(arguments.folder / f'{name}_float32.onnx', folder, decoder=True))
    in_memory = type('Classifier', (), {'state_dict': dict})()
    checks.refused('a module', 'is a Classifier, not a file: call torch.onnx.export(model.eval(), inputs, "model.onnx"', lambda: export(in_memory, folder))
    checks.refused('a model of ONNX in memory', 'call onnx.save(model, "model.onnx") first', lambda: export(onnx.ModelProto(), folder))
    checks.refused('no model', 'is a NoneType, not a file: expected the path', lambda: export(None, folder))
    checks.refused('a file that is not there', 'there is no such file', lambda: export(arguments.folder / 'none.onnx', folder))
    (arguments.folder / 'other').mkdir(exist_ok=True)
    (arguments.folder / 'other/notes.txt').write_text('mine')
    checks.refused('a folder below a file', 'notes.txt/out cannot be written', lambda: export(arguments.folder / 'encoder_float32.onnx', arguments.folder / 'other/notes.txt/out'))
    checks.refused('a folder of something else', 'was not made by this command', lambda: export(arguments.folder / 'encoder_float32.onnx', arguments.folder / 'other'))


def check_damages(arguments, count):
    """Files that are cut or changed: an ExportError, or a model. Nothing else is raised."""
    random, folder = numpy.random.default_rng(3), arguments.folder / 'damaged'
    refused, others = 0, []
    names = ['encoder_17', 'cross', 'front_end', 'decoder', 'padded']
    for attempt in range(count):
        data = bytearray((arguments.folder / f'{names[attempt % len(names)]}_float32.onnx').read_bytes())
        if attempt % 5 == 0:
            data = data[:random.integers(len(data))]
        elif attempt % 5 < 3:  # the structure stands at the end of such files and between the weights
            for at in random.integers(0, len(data), 3):
                data[at] = random.integers(256)
        else:
            for at in random.integers(0, 4000, 2):
                data[at % len(data)] = random.integers(256)
        path = arguments.folder / 'damaged.onnx'
        path.write_bytes(data)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            export(path, folder, name='damaged')
        except ExportError:
            refused += 1
            if folder.exists():
                others.append(f'attempt {attempt} left a folder')
        except Exception as error:  # what this looks for
            others.append(f'attempt {attempt}: {type(error).__name__} {error}')
    checks.ok(f'{count} damaged files: {refused} refused with a sentence, the others exported', not others and refused > count // 4, '; '.join(others[:5]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('cxx')
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('archive')
    parser.add_argument('--torch', action='store_true')
    parser.add_argument('--damages', type=int, default=100)
    parser.add_argument('names', nargs='*')
    arguments = parser.parse_args()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    precompile(arguments)
    if arguments.torch:
        from torch_models import torch_models
        check_models(arguments, [(*each[:2], 'float32', *each[2:]) for each in torch_models(arguments.folder, arguments.names)])
    else:
        jobs = [(name, make()) for name, make in MODELS.items()]
        jobs += [(name, make(), 'integers') for name, make in MODELS.items() if name not in IN_FLOATS]
        jobs += [('encoder', MODELS['encoder'](), weights) for weights in ('float16', 'bfloat16', 'int8', 'int4')]
        check_models(arguments, [job for job in jobs if not arguments.names or job[0] in arguments.names])
        in_c = [('encoder', MODELS['encoder'](), weights) for weights in ('float16', 'bfloat16', 'int8', 'int4')]
        in_c += [(name, MODELS[name]()) for name in IN_C] + [(name, MODELS[name](), 'integers') for name in IN_C_INTEGERS]
        check_models(arguments, [job for job in in_c if not arguments.names or job[0] in arguments.names], check_model_in_c)
        if not arguments.names:
            check_published(arguments)
            check_chunks(checks, compile_and_run, arguments)
            check_wrong_bits(arguments)
            check_work_sizes(arguments)
            check_wrong_position(arguments)
            check_masks(arguments)
            check_refusals(arguments)
            check_node_attributes(checks, arguments.folder)
            check_windows(checks, arguments.folder)
            check_ordinary(checks, arguments.folder)
            check_damages(arguments, arguments.damages)
    sys.exit(checks.failed > 0)


if __name__ == '__main__':
    main()
