"""Models with linear attention: tests/exporter/linear.py CXX FOLDER ARCHIVE

LinearAttention and CausalConvWithState of ONNX and of ONNX Runtime, beside float64, token by token (tests/support/linear_cases.py). Leaves what
it exported in FOLDER, for boards.
"""
import pathlib
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import attend
import cases
from attend.exporter import ExportError, export
from attend.exporter.export import load
from attend.exporter.steps import Norm
from linear_cases import conv_case, conv_cases, linear_case, linear_cases, microsoft_cases, random

BOUND = 1e-5


def model_of(all_cases, opset=27):
    """One graph of all nodes: an input for each array, but constants for weights."""
    nodes, inputs, outputs, constants, feeds, wanted = [], [], [], [], {}, []
    for name, kind, domain, order, given, attributes, reference in all_cases:
        names = [f'{name}_{each}' if each in given else '' for each in order]
        while not names[-1]:
            names.pop()
        has_state = kind == 'LinearAttention' or given['weight'].shape[2] > 1
        results = [f'{name}_y', f'{name}_present'][:1 + has_state]
        nodes.append(helper.make_node(kind, names, results, name=name, domain=domain, **attributes))
        for each, array in given.items():
            if each in ('weight', 'bias'):
                constants.append(numpy_helper.from_array(array, f'{name}_{each}'))
            else:
                inputs.append(helper.make_tensor_value_info(f'{name}_{each}', helper.np_dtype_to_tensor_dtype(array.dtype) if hasattr(
                    helper, 'np_dtype_to_tensor_dtype') else TensorProto.FLOAT16 if array.dtype == 'float16' else TensorProto.FLOAT, array.shape))
                feeds[f'{name}_{each}'] = array
        outputs += [helper.make_tensor_value_info(each, TensorProto.FLOAT, None) for each in results]
        attributes = {each: value for each, value in attributes.items() if each != 'ndim'}
        wanted += [(f'{name}, {each}', array) for each, array in zip(('output', 'state'), reference(*[given.get(each) for each in order], **attributes))][:len(results)]
    graph = helper.make_graph(nodes, 'linear', inputs, outputs, constants)
    imports = [helper.make_opsetid('', opset), helper.make_opsetid('com.microsoft', 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8), feeds, wanted


def compiled(cxx, archive, folder):
    """The self-test, on each backend."""
    command = f'{cxx} -std=c++17 -O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -DATTEND_SELF_TEST_MAIN ' \
        f'{folder}/model.cpp {folder}/self_test.cpp {archive} -o {folder}/test'
    made = subprocess.run(f'rm -r {folder}/attend && {command}', shell=True, capture_output=True, text=True)
    if made.returncode:
        return made.stderr[:600]
    for backend in attend.backends():
        ran = subprocess.run([f'{folder}/test'], env={'ATTEND_BACKEND': backend}, capture_output=True, text=True)
        if ran.returncode:
            return f'{backend}: {ran.stdout}'
    return ''


def check_cases(cxx, folder, archive, name, all_cases):
    model, feeds, wanted = model_of(all_cases)
    path = folder / f'{name}.onnx'
    onnx.save(model, str(path))
    export(path, folder / name, name=name, samples={each: array.astype('float32')[None] for each, array in feeds.items()})
    program, graph = load(path, name, None, None, 64)
    found, oracle = program.run([feeds[each] for each in graph.inputs]), graph.evaluate(feeds)
    for (what, array), result, each in zip(wanted, found, graph.outputs):
        most = max(numpy.abs(array).max(), 1.0)
        error, of_oracle = (float(numpy.abs(y.reshape(array.shape) - array).max()) / most for y in (result, oracle[each]))
        cases.ok(f'{name}: {what} is within {BOUND} of float64, token by token', error <= BOUND and of_oracle <= 1e-12, f'{error}, the exporter\'s own {of_oracle}')
    wrong = compiled(cxx, archive, folder / name)
    cases.ok(f'{name}: the self-test finds the same bits', not wrong, wrong)


def block():
    """As in Qwen3-Next, but small: projections, the convolution with silu over queries, keys and values, gates, the gated delta rule, and out."""
    tokens, width, keys, values, dim = 12, 16, 2, 4, 8
    channels = 2 * keys * dim + values * dim
    constants = []

    def constant(name, array):
        constants.append(numpy_helper.from_array(numpy.asarray(array, 'float32' if numpy.asarray(array).dtype.kind == 'f' else 'int64'), name))
        return name
    weight = lambda name, *shape: constant(name, random.standard_normal(shape) * shape[0] ** -0.5)
    node = helper.make_node
    nodes = [
        node('MatMul', ['x', weight('into', width, channels)], ['projected']),
        node('Transpose', ['projected'], ['turned'], perm=[0, 2, 1]),
        node('CausalConvWithState', ['turned', weight('taps', channels, 1, 4)], ['convolved', ''], activation='silu', domain='com.microsoft'),
        node('Transpose', ['convolved'], ['rows'], perm=[0, 2, 1]),
        node('Split', ['rows', constant('sizes', [keys * dim, keys * dim, values * dim])], ['q', 'k_raw', 'v'], axis=2),
        node('Reshape', ['k_raw', constant('by_head', [1, tokens, keys, dim])], ['k_heads']),
        node('Mul', ['k_heads', 'k_heads'], ['squares']),
        node('ReduceSum', ['squares', constant('last', [-1])], ['sum'], keepdims=1),
        node('Add', ['sum', constant('epsilon', numpy.float32(1e-6))], ['sum_epsilon']),
        node('Sqrt', ['sum_epsilon'], ['length']),
        node('Reciprocal', ['length'], ['by_length']),
        node('Mul', ['k_heads', 'by_length'], ['k_unit']),
        node('Reshape', ['k_unit', constant('flat', [1, tokens, keys * dim])], ['k']),
        node('MatMul', ['x', weight('to_beta', width, values)], ['beta_raw']),
        node('Sigmoid', ['beta_raw'], ['beta']),
        node('MatMul', ['x', weight('to_gate', width, values)], ['gate_raw']),
        node('Add', ['gate_raw', constant('dt_bias', random.standard_normal(values))], ['gate_shifted']),
        node('Softplus', ['gate_shifted'], ['gate_open']),
        node('Mul', ['gate_open', constant('rates', -numpy.exp(random.standard_normal(values)))], ['decay']),
        node('LinearAttention', ['q', 'k', 'v', '', 'decay', 'beta'], ['read', ''], q_num_heads=keys, kv_num_heads=values, domain='com.microsoft'),
        node('MatMul', ['read', weight('out', values * dim, width)], ['mixed']),
        node('Add', ['x', 'mixed'], ['y']),
    ]
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, tokens, width])
    graph = helper.make_graph(nodes, 'block', [info('x')], [info('y')], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17), helper.make_opsetid('com.microsoft', 1)], ir_version=8)


def check_stream(cxx, folder, archive):
    """A decoder: append() has the bits of run(), which the self-test compares token by token."""
    path = folder / 'linear_stream.onnx'
    onnx.save(block(), str(path))
    report = export(path, folder / 'linear_stream', name='linear_stream', decoder=True)
    cases.ok('linear_stream: within 1e-5 of float64', report.error <= BOUND, f'{report.error}')
    text = (folder / 'linear_stream/model.h').read_text()
    norms = [step for step in load(path, 'linear_stream', None, None, 64)[0].steps if isinstance(step, Norm)]
    cases.ok('linear_stream: keys of length 1 are one step', len(norms) == 1 and norms[0].width == 8, [step.text() for step in norms])
    cases.ok('linear_stream: its memory is a state and the last inputs, without an end',
             'LinearState<' in text and 'ConvState<64, 4>' in text and 'There is no end to them.' in text, text)
    wrong = compiled(cxx, archive, folder / 'linear_stream')
    cases.ok('linear_stream: the self-test finds the same bits, whole and token by token', not wrong, wrong)


def check_refusals(folder):
    def said(what, text, path, **options):
        try:
            export(path, folder / 'refused', **options)
            cases.ok(f'refused: {what}', False, 'it was taken')
        except ExportError as error:
            cases.ok(f'refused: {what}', text in str(error), f'expected "{text}", found "{error}"')

    def refused(what, text, case, opset=27, **options):
        path = folder / 'refused.onnx'
        onnx.save(model_of([case], opset)[0], str(path))
        said(what, text, path, **options)

    def changed(case, **attributes):
        return case[:5] + ({**case[5], **attributes}, ) + (lambda *_, **__: [numpy.zeros(1)] * 2, )

    def without(case, *names):
        return changed(case[:4] + ({each: array for each, array in case[4].items() if each not in names}, ) + case[5:])
    ms = {'domain': 'com.microsoft'}
    refused('opset 26', 'this operator came with version 27, and the model has version 26', linear_case('a'), 26)
    refused('a rule that is none', 'expected gated_delta or linear or gated or delta', changed(linear_case('a'), update_rule='ridge'))
    refused('a window of states', 'a state_window of 2; expected 0', changed(linear_case('a', **ms), state_window=2))
    refused('a window of inputs', 'a state_window of 3; expected 0', changed(conv_case('a', **ms), state_window=3))
    refused('several axes', 'ndim is 2; expected 1: put further axes into the batch', changed(conv_case('a', **ms), ndim=2))
    refused('dilation', 'a dilation of 2; expected 1: write Pad and Conv', changed(conv_case('a', **ms), dilation=2))
    refused('shared keys in ONNX\'s own', 'take that of "com.microsoft"', changed(linear_case('a', keys=2)))
    refused('fewer queries in ONNX\'s own', 'take that of "com.microsoft"', changed(linear_case('a', heads=2)))
    refused('a scale without an end', 'a scale of inf; expected one of -2^127 to 2^127', changed(linear_case('a'), scale=float('inf')))
    refused('a rule without its decay', 'the rule gated without decay', without(linear_case('a', 'gated'), 'decay'))
    refused('a decay without a rule', 'the rule delta with decay', changed(linear_case('a'), update_rule='delta'))
    refused('an activation', 'expected none or silu or swish', changed(conv_case('a'), activation='gelu'))
    refused('a wide convolution', 'a width of 17; expected 1 to 16', changed(conv_case('a', width=17)))
    refused('the C surface', 'expected --surface cpp', linear_case('a', batch=1), surface='c')
    refused('a decoder of a state that is an input', 'a decoder keeps it itself', linear_case('a', batch=1, past=0.1), decoder=True)
    erase = linear_case('a')
    erase[4]['erase'] = erase[4]['key']
    refused('an erase gate', 'an erase_gate; expected none', changed(erase[:3] + (erase[3] + ('erase', ), ) + erase[4:]))
    scan = helper.make_graph([helper.make_node('Scan', ['x'], ['y'], num_scan_inputs=1)], 'scan', [helper.make_tensor_value_info('x', 1, [1, 4])],
                             [helper.make_tensor_value_info('y', 1, None)])
    onnx.save(helper.make_model(scan, opset_imports=[helper.make_opsetid('', 27)], ir_version=8), str(folder / 'refused.onnx'))
    said('a Scan', 'What ONNX\'s LinearAttention is expanded to is a Scan', folder / 'refused.onnx')


def main():
    cxx, folder, archive = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    for name, all_cases in (('linear_nodes', linear_cases), ('conv_nodes', conv_cases), ('linear_microsoft', microsoft_cases)):
        check_cases(cxx, folder, archive, name, list(all_cases()))
    check_stream(cxx, folder, archive)
    check_refusals(folder)
    return int(cases.failed > 0)


if __name__ == '__main__':
    sys.exit(main())
