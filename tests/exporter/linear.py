"""Models with linear attention: tests/exporter/linear.py CXX FOLDER ARCHIVE

LinearAttention and CausalConvWithState of ONNX and of ONNX Runtime, beside float64, token by token. The cases of ONNX's own tests of these
nodes are here by their names, with attributes and shapes of theirs. Leaves what it exported in FOLDER, for boards.
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

BOUND = 1e-5
random = numpy.random.default_rng(27)


def linear_attention(query, key, value, past=None, decay=None, beta=None, *, q_num_heads, kv_num_heads, update_rule='gated_delta', scale=0.0):
    items, tokens, dim = query.shape[0], query.shape[1], query.shape[2] // q_num_heads
    values, keys = value.shape[2] // kv_num_heads, key.shape[2] // dim
    out_heads = max(q_num_heads, kv_num_heads)
    y = numpy.zeros((items, tokens, out_heads * values))
    states = numpy.zeros((items, kv_num_heads, dim, values)) if past is None else past.astype('float64')
    scale = scale or dim ** -0.5
    for b in range(items):
        for h in range(kv_num_heads):
            s, of_key = states[b, h], h * keys // kv_num_heads
            for t in range(tokens):
                k = key[b, t, of_key * dim:(of_key + 1) * dim].astype('float64')
                v = value[b, t, h * values:(h + 1) * values].astype('float64')
                if decay is not None:
                    each = decay.shape[2] // kv_num_heads
                    s *= numpy.exp(decay[b, t, h * each:(h + 1) * each].astype('float64'))[:, None]
                if beta is not None:
                    v = float(beta[b, t, h if beta.shape[2] > 1 else 0]) * (v - s.T @ k)
                s += numpy.outer(k, v)
                for o in range(out_heads):
                    if o * kv_num_heads // out_heads == h:
                        q = o * q_num_heads // out_heads
                        y[b, t, o * values:(o + 1) * values] = scale * s.T @ query[b, t, q * dim:(q + 1) * dim]
    return y, states


def causal_conv(x, weight, bias=None, past=None, activation='none', channels_last=0):
    if channels_last:
        return [each.swapaxes(1, 2) for each in causal_conv(x.swapaxes(1, 2), weight, bias, past and past.swapaxes(1, 2), activation)]
    (items, channels, length), width = x.shape, weight.shape[2]
    y, present = numpy.zeros(x.shape), numpy.zeros((items, channels, width - 1))
    for b in range(items):
        for c in range(channels):
            row = [0.0] * (width - 1) if past is None else list(past[b, c].astype('float64'))
            row += list(x[b, c].astype('float64'))
            for t in range(length):
                total = (0.0 if bias is None else float(bias[c])) + sum(float(weight[c, 0, j]) * row[t + j] for j in range(width))
                y[b, c, t] = total / (1 + numpy.exp(-total)) if activation != 'none' else total
            present[b, c] = row[length:]
    return y, present


def arrays_of(rule='gated_delta', batch=2, tokens=4, heads=4, values=4, keys=None, dim=8, width=8, per_head=False, scalar=False, past=None, half=False):
    """Inputs of a LinearAttention, by their names."""
    keys = values if keys is None else keys
    draw = lambda *shape: random.standard_normal(shape).astype('float16' if half else 'float32')
    key = draw(batch, tokens, keys, dim)
    if 'delta' in rule:
        key = key / numpy.linalg.norm(key.astype('float32'), axis=-1, keepdims=True).astype(key.dtype)
    given = {'query': draw(batch, tokens, heads * dim), 'key': key.reshape(batch, tokens, -1), 'value': draw(batch, tokens, values * width)}
    if past is not None:
        given['past'] = draw(batch, values, dim, width) * numpy.float32(past)
    if 'gated' in rule:
        given['decay'] = -abs(draw(batch, tokens, values * (1 if per_head else dim))) * given['query'].dtype.type(0.1)
    if 'delta' in rule:
        given['beta'] = random.random((batch, tokens, 1 if scalar else values)).astype(given['query'].dtype)
    return given


def linear_case(name, rule='gated_delta', scale=0.0, domain='', **how):
    """A node, its arrays, and which outputs it has."""
    given = arrays_of(rule, **how)
    attributes = {'q_num_heads': how.get('heads', 4), 'kv_num_heads': how.get('values', 4)}
    attributes.update({'update_rule': rule} if rule != 'gated_delta' else {})
    attributes.update({'scale': scale} if scale else {})
    return name, 'LinearAttention', domain, ('query', 'key', 'value', 'past', 'decay', 'beta'), given, attributes, linear_attention


def conv_case(name, length=8, batch=2, channels=4, width=4, bias=False, past=False, activation='none', half=False, domain='', **attributes):
    draw = lambda *shape: random.standard_normal(shape).astype('float16' if half else 'float32')
    given = {'input': draw(batch, channels, length), 'weight': draw(channels, 1, width)}
    given.update({'bias': draw(channels)} if bias else {})
    given.update({'past': draw(batch, channels, width - 1)} if past else {})
    attributes.update({'activation': activation} if activation != 'none' else {})
    return name, 'CausalConvWithState', domain, ('input', 'weight', 'bias', 'past'), given, attributes, causal_conv


def linear_cases():
    yield linear_case('linear', 'linear')
    yield linear_case('gated', 'gated')
    yield linear_case('gated_per_head_decay', 'gated', per_head=True)
    yield linear_case('delta', 'delta')
    yield linear_case('gated_delta')
    yield linear_case('gated_delta_beta_scalar', scalar=True)
    yield linear_case('gated_delta_gqa', heads=8)
    yield linear_case('gated_delta_mqa', heads=8, values=1)
    yield linear_case('decode_step', tokens=1, past=0.1)
    yield linear_case('prefill_with_past', past=0.1)
    yield linear_case('no_past_explicit_zeros', past=0.0)
    yield linear_case('explicit_scale', scale=0.25)
    yield linear_case('fp16', heads=8, half=True)
    yield linear_case('linear_t1_no_past', 'linear', tokens=1)


def conv_cases():
    yield conv_case('basic')
    yield conv_case('with_bias', bias=True)
    yield conv_case('with_past_state', past=True)
    yield conv_case('silu', activation='silu')
    yield conv_case('swish_alias', activation='swish')
    yield conv_case('decode_step', length=1, bias=True, past=True)
    yield conv_case('kernel_size_one', width=1)
    yield conv_case('with_bias_and_past_state', bias=True, past=True)
    yield conv_case('silu_with_past_state', past=True, activation='silu')
    yield conv_case('b1_c1_degenerate', batch=1, channels=1, length=6)
    yield conv_case('short_input_no_past_state', length=2, width=5)
    yield conv_case('fp16', half=True)
    yield conv_case('silu_fp16', activation='silu', half=True)


def microsoft_cases():
    """ONNX Runtime's own: value heads share keys and queries; several queries read a state that shares keys."""
    of = {'domain': 'com.microsoft'}
    yield linear_case('shared', heads=2, keys=2, per_head=True, past=0.5, **of)
    yield linear_case('shared_keys', 'delta', heads=4, keys=1, width=5, **of)
    yield linear_case('shared_queries', 'gated', heads=1, keys=4, dim=20, width=24, batch=1, **of)
    yield linear_case('fewer_queries', 'gated', heads=2, keys=4, values=8, batch=1, **of)
    yield linear_case('both', heads=8, keys=2, batch=1, **of)
    yield conv_case('conv', activation='silu', bias=True, past=True, ndim=1, **of)
    yield conv_case('wide', width=16, batch=1, channels=33, length=5, past=True, **of)
    yield conv_case('one_silu', width=1, bias=True, activation='silu', **of)


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
        node('SimplifiedLayerNormalization', ['k_heads', constant('unit', [dim ** -0.5] * dim)], ['k_unit'], axis=-1, epsilon=1e-6),
        node('Reshape', ['k_unit', constant('flat', [1, tokens, keys * dim])], ['k']),
        node('MatMul', ['x', weight('to_beta', width, values)], ['beta_raw']),
        node('Sigmoid', ['beta_raw'], ['beta']),
        node('MatMul', ['x', weight('to_gate', width, values)], ['gate_raw']),
        node('Sigmoid', ['gate_raw'], ['gate_open']),
        node('Neg', ['gate_open'], ['decay']),
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
