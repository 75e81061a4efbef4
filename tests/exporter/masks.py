"""Attention with masks, as models have them that were refused once: what is exported of each computes what numpy computes in float64.

Each model is a function of a Builder that gives its samples and what is right: the output of one sample, by tests/support/float64.py.
"""
import itertools
import math

import float64
import numpy
import onnx

from attend.exporter.export import load
from attend.exporter.passes import assign_memory
from attend.exporter.quantise import quantise
from models import Builder, causal

HEADS, TOKENS, WIDTH = 2, 7, 8
BOOL, INT64, INT32, UINT8 = onnx.TensorProto.BOOL, onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.UINT8
LOWEST = float(numpy.finfo('float32').min)
MODELS, NODES, TABLES = {}, {}, {}


def of(group):
    def kept(function):
        group[function.__name__] = function
        return function
    return kept


def arrays(b, tokens=TOKENS, keys=TOKENS, heads=HEADS, kv_heads=HEADS, items=1):
    """Queries, keys and values as inputs, and numbers for them."""
    shapes = {'q': (items, heads, tokens, WIDTH), 'k': (items, kv_heads, keys, WIDTH), 'v': (items, kv_heads, keys, WIDTH)}
    for name, shape in shapes.items():
        b.input(name, *shape)
    return {name: b.random.standard_normal(shape).astype('float32') for name, shape in shapes.items()}


def product(b, scale=WIDTH ** -0.5):
    scores = b('MatMul', 'q', b('Transpose', 'k', perm=[0, 1, 3, 2]))
    return scores if scale is None else b('Mul', scores, numpy.float32(scale))


def finish(b, scores, weights=False):
    powers = b('Softmax', scores, axis=-1)
    b.output(b('MatMul', powers, 'v'), *[powers] * weights)


def right(x, seen=True, **more):
    return float64.attention(x['q'], x['k'], x['v'], seen, **more).output


def with_weights(x, seen):
    answer = float64.attention(x['q'], x['k'], x['v'], seen)
    return answer.output, answer.weights


def some(b, *shape):
    """Masks: each row of keys sees one at least."""
    mask = b.random.random(shape) < 0.6
    mask[..., 1] = True
    return mask


@of(MODELS)
def src_key_padding_mask(b):
    """torch.nn.TransformerEncoderLayer: 1 where a key is padding, an infinity, expanded to all heads."""
    x = {**arrays(b), 'm': ~some(b, 1, TOKENS)}
    m = b('Reshape', b.input('m', 1, TOKENS, kind=BOOL), numpy.array([1, 1, 1, TOKENS]))
    m = b('Cast', b('Reshape', b('Expand', m, numpy.array([1, HEADS, 1, TOKENS])), numpy.array([1, HEADS, 1, TOKENS])), to=9)
    filled = b('Where', m, numpy.float32(-numpy.inf), numpy.zeros((1, HEADS, 1, TOKENS), 'float32'))
    finish(b, b('Add', b('Mul', product(b), numpy.float32(1)), b('Mul', filled, numpy.float32(1))), True)
    return x, lambda x: with_weights(x, ~x['m'][:, None, None])


def never_below_the_lowest(word):
    def model(b):
        """As OPT keeps sums of masks finite."""
        x = {**arrays(b), 'm': some(b, 1, 1, TOKENS, TOKENS)}
        x['m'][:, :, 3] = False
        added = b('Add', b('Where', b.input('m', 1, 1, TOKENS, TOKENS, kind=BOOL), numpy.float32(0), numpy.float32(LOWEST)), numpy.where(numpy.tri(TOKENS, dtype=bool), 0, numpy.float32(LOWEST)))
        scores, lowest = b('Add', product(b), added), numpy.float32(LOWEST)
        finish(b, b('Clip', scores, lowest) if word == 'Clip' else b('Max', *((scores, lowest) if word == 'Max' else (lowest, scores))))
        return x, lambda x: right(x, x['m'] & numpy.tri(TOKENS, dtype=bool))
    MODELS[f'never_below_the_lowest_by_{word}'] = model


for each in ('Max', 'Max_turned', 'Clip'):
    never_below_the_lowest(each)


@of(MODELS)
def key_padding_mask_of_two_items(b):
    """torch.nn.MultiheadAttention: items of the batch beside heads in one axis, of scores and of the mask."""
    x = {**arrays(b, items=2), 'm': ~some(b, 2, TOKENS)}
    rows = lambda name: b('Reshape', name, numpy.array([2 * HEADS, TOKENS, WIDTH]))
    m = b('Expand', b('Reshape', b.input('m', 2, TOKENS, kind=BOOL), numpy.array([2, 1, 1, TOKENS])), numpy.array([2, HEADS, 1, TOKENS]))
    filled = b('Where', b('Reshape', m, numpy.array([2 * HEADS, 1, TOKENS])), numpy.float32(-numpy.inf), numpy.float32(0))
    scores = b('Add', b('MatMul', b('Mul', rows('q'), numpy.float32(WIDTH ** -0.5)), b('Transpose', rows('k'), perm=[0, 2, 1])), filled)
    powers = b('Softmax', scores, axis=-1)
    b.output(b('Reshape', b('MatMul', powers, rows('v')), numpy.array([2, HEADS, TOKENS, WIDTH])), b('ReduceMean', b('Reshape', powers, numpy.array([2, HEADS, TOKENS, TOKENS])), axes=[1], keepdims=0))
    return x, lambda x: (lambda y, weights: (y, weights.mean(1)))(*with_weights(x, ~x['m'][:, None, None]))


@of(MODELS)
def attn_mask(b):
    """torch.nn.MultiheadAttention: [tokens, tokens] of bools, True where a key is not seen, and it returns its weights."""
    x = {**arrays(b), 'm': ~some(b, TOKENS, TOKENS)}
    filled = b('Where', b('Unsqueeze', b.input('m', TOKENS, TOKENS, kind=BOOL), numpy.array([0])), numpy.float32(-numpy.inf), numpy.zeros((1, TOKENS, TOKENS), 'float32'))
    finish(b, b('Add', product(b), filled), True)
    return x, lambda x: with_weights(x, ~x['m'])


@of(MODELS)
def filled_by_integers(b):
    """scores.masked_fill(m == 0, -inf)."""
    x = {**arrays(b), 'm': some(b, 1, 1, 1, TOKENS).astype('int64')}
    finish(b, b('Where', b('Cast', b('Equal', b.input('m', 1, 1, 1, TOKENS, kind=INT64), numpy.array(0)), to=9), numpy.float32(-numpy.inf), product(b)))
    return x, lambda x: right(x, x['m'] != 0)


@of(MODELS)
def kept_by_integers(b):
    """where(m > 0, scores, -1e9), causal besides."""
    x = {**arrays(b), 'm': some(b, 1, 1, 1, TOKENS).astype('int32')}
    scores = b('Where', b('Greater', b.input('m', 1, 1, 1, TOKENS, kind=INT32), numpy.array(0, 'int32')), product(b), numpy.float32(-1e9))
    finish(b, b('Add', scores, causal(TOKENS)))
    return x, lambda x: right(x, (x['m'] > 0) & numpy.tri(TOKENS, dtype=bool))


@of(MODELS)
def number_of_tokens(b):
    """arange(tokens) < n, of a single number."""
    x = {**arrays(b), 'n': numpy.array(4)}
    b.input('n', kind=INT64)
    finish(b, b('Where', b('Less', b('Range', *map(numpy.array, (0, TOKENS, 1))), 'n'), product(b), numpy.float32(-1e9)))
    return x, lambda x: right(x, numpy.arange(TOKENS) < x['n'])


@of(MODELS)
def added_where(b):
    """Cast to bool, Where(m, 0, -1e9), added."""
    x = {**arrays(b), 'm': some(b, 1, 1, 1, TOKENS).astype('int64')}
    finish(b, b('Add', product(b), b('Where', b('Cast', b.input('m', 1, 1, 1, TOKENS, kind=INT64), to=9), numpy.float32(0), numpy.float32(-1e9))))
    return x, lambda x: right(x, x['m'] != 0)


def fills_that_hide_no_key(kind):
    def model(b):
        x = {**arrays(b), 'm': some(b, 1, 1, 1, TOKENS)}
        m, number = b.input('m', 1, 1, 1, TOKENS, kind=BOOL), numpy.float32
        chosen = {'kept': lambda: b('Where', m, number(0), number(-2)), 'filled': lambda: b('Where', b('Not', m), number(-2), number(0)), 'subtracted': lambda: b('Where', m, number(0), number(2)),
                  'of arrays': lambda: b('Where', m, numpy.zeros((1, 1, TOKENS, TOKENS), 'float32'), numpy.full((1, 1, TOKENS, 1), -2, 'float32'))}[kind]()
        scores = b('Sub' if kind == 'subtracted' else 'Add', product(b), chosen)
        finish(b, b('Add', scores, causal(TOKENS)))
        return x, lambda x: right(x, numpy.tri(TOKENS, dtype=bool), bias=numpy.where(x['m'], 0, -2))
    MODELS[f'a_fill_that_hides_no_key_{kind}'.replace(' ', '_')] = model


for each in ('kept', 'filled', 'subtracted', 'of arrays'):
    fills_that_hide_no_key(each)


@of(MODELS)
def constants_near_the_one_that_hides(b):
    """-6000 hides no key, where a mask hides the others; nor do two of them."""
    x = {**arrays(b), 'm': numpy.zeros((1, 1, 1, TOKENS), bool)}
    x['m'][..., 2] = True
    bias = numpy.where(numpy.arange(TOKENS) == 2, -6000, 0).astype('float32')
    for _ in range(2):
        y = b('Softmax', b('Where', b.input('m', 1, 1, 1, TOKENS, kind=BOOL) if _ == 0 else 'm', b('Add', b('Add', product(b), bias), bias * _), numpy.float32(-numpy.inf)), axis=-1)
        b.output(b('MatMul', y, 'v'))
    return x, lambda x: (numpy.broadcast_to(x['v'][:, :, 2:3], x['v'].shape),) * 2


@of(MODELS)
def constants_that_hide_rows(b):
    """From -10000 on: rows that are hidden whole give 0, whatever fills them."""
    x, seen = arrays(b), numpy.ones((TOKENS, TOKENS), bool)
    seen[2] = seen[4, 3:] = False
    for fill in (-1e4, -65504, -1e5, -1e9, LOWEST):
        finish(b, b('Add', product(b), numpy.where(seen, 0, fill).astype('float32')))
    finish(b, b('Mul', b('Add', product(b, 2 * WIDTH ** -0.5), numpy.where(seen, 0, -1e4).astype('float32')), numpy.float32(0.5)))
    return x, lambda x: (right(x, seen),) * 6


@of(MODELS)
def constants_around_the_one_that_hides(b):
    """Where nothing else is left of a row they are added, as PyTorch does; what is far below them is hidden, also where a mask hides them."""
    x = {**arrays(b), 'm': numpy.ones((1, 1, TOKENS, 1), bool)}
    x['m'][..., 3, :] = False
    rows = numpy.zeros((TOKENS, TOKENS), 'float32')
    rows[2:4] = [-9999, -10000, -10001, -9999.5, -1e9, -16000, -10002]
    scores = b('Where', b('Or', b.input('m', 1, 1, TOKENS, 1, kind=BOOL), rows > -100), b('Add', product(b), rows), numpy.float32(-numpy.inf))
    finish(b, scores)
    seen = (rows > -15000) & (x['m'] | (rows > -100))
    return x, lambda x: right(x, seen, bias=numpy.where(rows > -15000, rows, 0) + 1e4 * (rows < -100))


@of(MODELS)
def constants_above_the_one_that_hides(b):
    """-9999 added to all keys of a query makes no difference."""
    x = arrays(b)
    finish(b, b('Add', product(b), numpy.where(numpy.arange(TOKENS)[:, None] == 2, -9999, 0).astype('float32') + numpy.zeros((1, TOKENS), 'float32')))
    return x, lambda x: right(x)


@of(MODELS)
def old_bert(b):
    """scores * m - 1e4 * (1 - m) of floats."""
    x = {**arrays(b), 'm': some(b, 1, 1, 1, TOKENS).astype('float32')}
    m = b.input('m', 1, 1, 1, TOKENS)
    finish(b, b('Sub', b('Mul', product(b), m), b('Mul', numpy.float32(1e4), b('Sub', numpy.float32(1), m))))
    return x, lambda x: right(x, x['m'] != 0)


@of(MODELS)
def old_bert_of_bools(b):
    """The same of rows and columns that are bools."""
    x = {**arrays(b), 'm': some(b, TOKENS, TOKENS)}
    m = b('Cast', b.input('m', TOKENS, TOKENS, kind=BOOL), to=1)
    finish(b, b('Sub', b('Mul', product(b), m), b('Mul', numpy.float32(1e4), b('Sub', numpy.float32(1), m))))
    return x, lambda x: right(x, x['m'])


def safe(b, scores, mask, fill=-numpy.inf):
    powers = b('Softmax', b('Add', scores, b('Where', mask, numpy.float32(0), numpy.float32(fill))), axis=-1)
    b.output(b('MatMul', b('Where', b('IsNaN', powers), numpy.float32(0), powers), 'v'))


@of(MODELS)
def safe_softmax(b):
    """As PyTorch's exporter writes since 2025: a constant mask that hides a row whole, whose weights are no numbers, then 0."""
    mask = some(b, TOKENS, TOKENS)
    mask[2] = False
    x = arrays(b)
    safe(b, product(b), mask)
    return x, lambda x: right(x, mask)


@of(MODELS)
def safe_softmax_of_an_input(b):
    """The same with the mask as an input, of which rows are hidden whole."""
    x = {**arrays(b), 'm': some(b, 1, 1, TOKENS, TOKENS)}
    x['m'][0, 0, 3] = False
    safe(b, product(b), b.input('m', 1, 1, TOKENS, TOKENS, kind=BOOL))
    return x, lambda x: right(x, x['m'])


@of(MODELS)
def hidden_row(b):
    """A constant mask with a row of infinities: the output is 0."""
    mask = causal(TOKENS)
    mask[3] = -numpy.inf
    x = arrays(b)
    finish(b, b('Add', product(b), mask))
    return x, lambda x: right(x, mask == 0)


@of(MODELS)
def padding_and_causal(b):
    """Both in one array that is clamped to the lowest float, as decoders with padding make it; and a bias of each head."""
    x, slopes = {**arrays(b), 'm': some(b, 1, TOKENS).astype('int64')}, numpy.array([0.5, 0.25], 'float32')[:, None, None]
    bias = slopes * (numpy.arange(TOKENS) - numpy.arange(TOKENS)[:, None]).astype('float32')
    m = b('Unsqueeze', b('Cast', b.input('m', 1, TOKENS, kind=INT64), to=1), numpy.array([1, 2]))
    padding = b('Where', b('Cast', b('Sub', numpy.float32(1), m), to=9), numpy.float32(LOWEST), b('Sub', numpy.float32(1), m))
    mask = b('Clip', b('Add', numpy.where(causal(TOKENS) < 0, numpy.float32(LOWEST), numpy.float32(0)), padding), numpy.float32(LOWEST))
    finish(b, b('Add', b('Add', product(b), bias[None]), mask))
    return x, lambda x: right(x, (x['m'][:, None, None] > 0) & numpy.tri(TOKENS, dtype=bool), bias=bias)


@of(MODELS)
def rows_and_columns(b):
    """m[:, None] & m[None], both of one input, and a window that is constant."""
    x = {**arrays(b), 'm': some(b, 1, TOKENS)}
    b.input('m', 1, TOKENS, kind=BOOL)
    near = abs(numpy.arange(TOKENS) - numpy.arange(TOKENS)[:, None]) < 4
    both = b('And', b('Unsqueeze', 'm', numpy.array([1, 3])), b('Unsqueeze', 'm', numpy.array([1, 2])))
    finish(b, b('Where', b('And', both, near), product(b), numpy.float32(LOWEST)))
    return x, lambda x: right(x, x['m'][0, :, None] & x['m'][0] & near)


@of(MODELS)
def soft_cap(b):
    """tanh(scores / 30) * 30 written out, causal after it."""
    x = arrays(b)
    x['q'] *= 40
    finish(b, b('Add', b('Mul', b('Tanh', b('Div', product(b), numpy.float32(30))), numpy.float32(30)), causal(TOKENS)))
    return x, lambda x: right(x, numpy.tri(TOKENS, dtype=bool), cap=30.0)


@of(MODELS)
def windows_of_pictures(b):
    """Three windows of each of two pictures: a mask of each window beside the axis of pictures, where the softmax lies, too, another one of all six, a
    bias, and rows of padding."""
    windows, whole = 3, lambda *shape: numpy.array(shape)
    x, fixed = {**arrays(b, items=2 * windows), 'm': some(b, 1, windows, 1, TOKENS, TOKENS), 'n': some(b, 2 * windows, 1, 1, TOKENS)}, some(b, windows, 1, TOKENS, TOKENS)
    x['m'][0, 1, 0, 2], bias = False, b.random.standard_normal((HEADS, TOKENS, TOKENS)).astype('float32')
    scores = b('Reshape', b('Where', b.input('n', 2 * windows, 1, 1, TOKENS, kind=BOOL), product(b), numpy.float32(-1e9)), whole(2, windows, HEADS, TOKENS, TOKENS))
    scores = b('Add', b('Where', b.input('m', *x['m'].shape, kind=BOOL), scores, numpy.float32(-1e9)), numpy.where(fixed, bias, numpy.float32(-1e9)))
    powers = b('Softmax', b('Mul', scores, numpy.float32(0.5)), axis=-1)
    b.output(b('MatMul', powers, b('Reshape', 'v', whole(2, windows, HEADS, TOKENS, WIDTH))))
    flat = lambda mask: numpy.broadcast_to(mask, (2, windows, *mask.shape[-3:])).reshape(-1, *mask.shape[-3:])
    return x, lambda x: right(x, flat(x['m']) & flat(fixed) & x['n'], scale=0.5 * WIDTH ** -0.5, bias=0.5 * bias)


@of(MODELS)
def padding_of_items(b):
    """Floats that are added, and cleared keys, of each of two items; the mask is read backwards."""
    x = {**arrays(b, items=2), 'm': some(b, 2, TOKENS), 'a': b.random.standard_normal((2, 1, 1, TOKENS)).astype('float32')}
    backwards = b('Slice', b.input('m', 2, TOKENS, kind=BOOL), *map(numpy.array, ([-1], [-99], [1], [-1])))
    scores = b('Add', product(b), b.input('a', 2, 1, 1, TOKENS))
    finish(b, b('Where', b('Reshape', backwards, numpy.array([2, 1, 1, TOKENS])), scores, numpy.float32(LOWEST)))
    return x, lambda x: right(x, x['m'][:, None, None, ::-1], bias=x['a'])


@of(MODELS)
def pooling_with_padding(b):
    """Softmax over tokens that are not padding of a score each, times the tokens."""
    x, query = {'x': b.random.standard_normal((1, TOKENS, WIDTH)).astype('float32'), 'm': some(b, 1, TOKENS)}, b.normal(WIDTH, 1)
    scores = b('MatMul', b.input('x', 1, TOKENS, WIDTH), query)
    scores = b('Where', b('Unsqueeze', b.input('m', 1, TOKENS, kind=BOOL), numpy.array([2])), scores, numpy.float32(-1e9))
    b.output(b('MatMul', b('Transpose', b('Softmax', scores, axis=1), perm=[0, 2, 1]), 'x'))
    return x, lambda x: float64.attention(query.T[None], x['x'], x['x'], x['m'][:, None], scale=1.0).output


@of(MODELS)
def pooled(b):
    """Rows that a mask makes 0, and their mean over the others."""
    x = {**arrays(b), 'm': some(b, 1, 1, TOKENS)[..., None]}
    m, cleared = b.input('m', 1, 1, TOKENS, 1, kind=BOOL), b('Where', b('Not', 'm'), numpy.float32(0), 'q')
    b.output(b('Div', b('ReduceSum', cleared, numpy.array([2])), b('ReduceSum', b('Cast', m, to=1), numpy.array([2]))))
    return x, lambda x: numpy.where(x['m'], x['q'], 0.0).sum(2, keepdims=True) / x['m'].sum()


@of(MODELS)
def logits(b):
    """Numbers that a mask hides before a softmax that is no attention's; the same mask turned is another one."""
    x = {**arrays(b), 'm': some(b, 1, 1, TOKENS, TOKENS).astype('float32')}
    x['m'][..., 1, :] = 1
    inverted = b('Sub', numpy.float32(1), b.input('m', 1, 1, TOKENS, TOKENS))
    turned = b('Transpose', b('Cast', inverted, to=9), perm=[0, 1, 3, 2])
    powers = b('Softmax', b('Where', b('Cast', b.normal(TOKENS, WIDTH) * 0 + 1, to=9), 'q', numpy.float32(0)), axis=-1)
    hidden = b('Softmax', b('Where', turned, numpy.float32(-numpy.inf), inverted), axis=-1)
    b.output(powers, hidden)
    def soft(y):
        powers = numpy.exp(y - y.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)
    return x, lambda x: (soft(x['q']), soft(numpy.where(x['m'].swapaxes(2, 3) == 0, -numpy.inf, 1 - x['m'])))


@of(MODELS)
def scaled_down(b):
    """(scores + m) / 1000, of which -10000 is no mask."""
    x = {**arrays(b), 'm': numpy.where(some(b, 1, 1, 1, TOKENS), 0, -10000).astype('float32')}
    finish(b, b('Mul', b('Add', product(b), b.input('m', 1, 1, 1, TOKENS)), numpy.float32(1e-3)))
    return x, lambda x: right(x, scale=WIDTH ** -0.5 / 1000, bias=x['m'] / 1000)


# ONNX's own node

def node(b, *more, outputs=1, **attributes):
    results = b('Attention', 'q', 'k', 'v', *more, outputs=outputs, **attributes)
    b.output(*([results] if outputs == 1 else results))


@of(NODES)
def softcap(b):
    x = arrays(b, heads=4)
    node(b, softcap=2.0, is_causal=1)
    return x, lambda x: right(x, numpy.tri(TOKENS, dtype=bool), cap=2.0)


@of(NODES)
def past_and_present(b):
    """Keys and values before the input's own, which come first in what is returned."""
    x = arrays(b, 3, 3)
    for name in ('past_k', 'past_v'):
        x[name] = b.random.standard_normal((1, HEADS, 4, WIDTH)).astype('float32')
        b.input(name, 1, HEADS, 4, WIDTH)
    node(b, '', 'past_k', 'past_v', outputs=3, is_causal=1)
    both = lambda x: {'q': x['q'], **{name: numpy.concatenate([x[f'past_{name}'], x[name]], 2) for name in 'kv'}}
    return x, lambda x: (right(both(x), numpy.tri(3, 7, 4, dtype=bool)), both(x)['k'], both(x)['v'])


def scores(mode, name):
    def model(b):
        x = {**arrays(b), 'm': some(b, TOKENS, TOKENS)}
        results = b('Attention', 'q', 'k', 'v', b.input('m', TOKENS, TOKENS, kind=BOOL), outputs=4, softcap=3.0, qk_matmul_output_mode=mode)
        b.output(results[0], results[3])
        answer = lambda x: float64.attention(x['q'], x['k'], x['v'], x['m'], cap=3.0)
        return x, lambda x: (answer(x).output, getattr(answer(x), name))
    NODES[f'scores_{name}'] = model


for which, stage in enumerate(('raw', 'capped', 'biased', 'weights')):
    scores(which, stage)


@of(NODES)
def nonpad_kv_seqlen(b):
    x = {**arrays(b), 'n': numpy.array([5])}
    node(b, '', '', '', b.input('n', 1, kind=INT64))
    return x, lambda x: right(x, numpy.arange(TOKENS) < x['n'])


@of(NODES)
def nonpad_kv_seqlen_causal(b):
    """The last query has the place of the last key; a window on both sides."""
    x = {**arrays(b, tokens=3), 'n': numpy.array([5])}
    node(b, '', '', '', b.input('n', 1, kind=INT64), is_causal=1, left_window_size=3)
    place = lambda x: numpy.arange(TOKENS) - numpy.arange(3)[:, None] - (x['n'] - 3)
    return x, lambda x: right(x, (numpy.arange(TOKENS) < x['n']) & (place(x) <= 0) & (place(x) >= -3))


@of(NODES)
def nonpad_kv_seqlen_of_items(b):
    """A number of keys of each, and a mask; the scores are an output."""
    x = {**arrays(b, tokens=3, items=2), 'n': numpy.array([5, 4]), 'm': some(b, 2, 1, 3, TOKENS)}
    results = b('Attention', 'q', 'k', 'v', b.input('m', 2, 1, 3, TOKENS, kind=BOOL), '', '', b.input('n', 2, kind=INT64), outputs=4, is_causal=1, qk_matmul_output_mode=3)
    b.output(results[0], results[3])
    place = lambda x: numpy.arange(TOKENS) - numpy.arange(3)[:, None] - (x['n'].reshape(2, 1, 1, 1) - 3)
    return x, lambda x: with_weights(x, x['m'] & (place(x) <= 0) & (numpy.arange(TOKENS) < x['n'].reshape(2, 1, 1, 1)))


@of(NODES)
def two_lengths_and_past(b):
    """Constant lengths of two items in rows [items, tokens, heads * width]; and of two with past keys, what is present."""
    x = arrays(b, items=2)
    rows = lambda name: b('Reshape', b('Transpose', name, perm=[0, 2, 1, 3]), numpy.array([2, TOKENS, HEADS * WIDTH]))
    y = b('Attention', *map(rows, 'qkv'), '', '', '', numpy.array([7, 3]), is_causal=1, q_num_heads=HEADS, kv_num_heads=HEADS)
    past = b('Attention', 'q', 'k', 'v', '', 'k', 'v', outputs=3, is_causal=1)
    b.output(y, *past[:2])
    seen = numpy.tri(TOKENS, TOKENS, dtype=bool) & numpy.ones((2, 1, 1, 1), bool)
    seen[1] = numpy.tri(TOKENS, TOKENS, 3 - TOKENS, dtype=bool) & (numpy.arange(TOKENS) < 3)
    double = lambda x: {'q': x['q'], **{name: numpy.concatenate([x[name]] * 2, 2) for name in 'kv'}}
    return x, lambda x: (right(x, seen).swapaxes(1, 2), right(double(x), numpy.tri(TOKENS, 2 * TOKENS, TOKENS, dtype=bool)), double(x)['k'])


@of(NODES)
def nonpad_kv_seqlen_constant(b):
    x = arrays(b, tokens=3)
    node(b, '', '', '', numpy.array([5]), is_causal=1)
    return x, lambda x: right(x, (numpy.arange(TOKENS) < 5) & numpy.tri(3, TOKENS, 2, dtype=bool))


@of(NODES)
def nonpad_kv_seqlen_after_past(b):
    x = {**arrays(b, 3, 4), 'n': numpy.array([6])}
    for name in ('past_k', 'past_v'):
        x[name] = b.random.standard_normal((1, HEADS, 3, WIDTH)).astype('float32')
        b.input(name, 1, HEADS, 3, WIDTH)
    node(b, '', 'past_k', 'past_v', b.input('n', 1, kind=INT64), is_causal=1)
    return x, lambda x: right({'q': x['q'], **{name: numpy.concatenate([x[f'past_{name}'], x[name]], 2) for name in 'kv'}},
                              (numpy.arange(7) < x['n']) & numpy.tri(3, 7, 3, dtype=bool))


@of(NODES)
def bool_mask(b):
    """Shorter than the keys: the others are hidden."""
    x = {**arrays(b), 'm': some(b, TOKENS, TOKENS - 2)}
    x['m'][4] = False
    node(b, b.input('m', TOKENS, TOKENS - 2, kind=BOOL))
    return x, lambda x: right(x, numpy.pad(x['m'], ((0, 0), (0, 2))))


@of(NODES)
def float_mask(b):
    x = {**arrays(b), 'm': numpy.where(some(b, TOKENS, TOKENS), b.random.standard_normal((TOKENS, TOKENS)), -numpy.inf).astype('float32')}
    x['m'][4] = -numpy.inf
    node(b, b.input('m', TOKENS, TOKENS), is_causal=1)
    seen = lambda x: (x['m'] > -1e4) & numpy.tri(TOKENS, dtype=bool)
    return x, lambda x: right(x, seen(x), bias=numpy.where(seen(x), x['m'], 0))


@of(NODES)
def eye_of_bools(b):
    """By its dtype, and of bools: each query sees its own key, and in the second one the key after it."""
    x = arrays(b)
    y = b('Attention', 'q', 'k', 'v', b('EyeLike', numpy.zeros((TOKENS, TOKENS), 'float32'), dtype=9))
    b.output(y, b('Attention', 'q', 'k', 'v', b('EyeLike', numpy.zeros((TOKENS, TOKENS), bool), k=1)))
    return x, lambda x: (x['v'], numpy.concatenate([x['v'][:, :, 1:], 0 * x['v'][:, :, :1]], 2))


@of(NODES)
def window(b):
    """left_window_size = 1, is_causal = 1, of [1, 1, 4, 4]."""
    x = arrays(b, 4, 4, 1, 1)
    node(b, left_window_size=1, is_causal=1)
    return x, lambda x: right(x, numpy.tri(4, dtype=bool) & ~numpy.tri(4, k=-2, dtype=bool))


# Constants

def table(name, function):
    def model(b):
        x = arrays(b)
        bias, expected = function(b)
        finish(b, b('Add', product(b), bias))
        return x, lambda x: right(x, bias=expected)
    TABLES[name] = model


STEPS, ROW = numpy.arange(TOKENS), lambda b: b('Cast', b('Range', *map(numpy.array, (0, TOKENS, 1))), to=1)
table('sines', lambda b: (b('Sin', b('Einsum', ROW(b), ROW(b), equation='i,j->ij')), numpy.sin(numpy.outer(STEPS, STEPS))))
table('cumulated', lambda b: (b('Cos', b('Cast', b('CumSum', b('Mod', numpy.arange(TOKENS), numpy.array(3)), numpy.array(0)), to=1)), numpy.cos(numpy.cumsum(STEPS % 3))))
table('rounded', lambda b: (b('Add', b('Floor', b('Mul', ROW(b), numpy.float32(0.3))), b('Sub', b('Ceil', b('Mul', ROW(b), numpy.float32(0.7))), b('Round', b('Mul', ROW(b), numpy.float32(0.5))))),
                            numpy.floor(STEPS * numpy.float32(0.3)) + numpy.ceil(STEPS * numpy.float32(0.7)) - numpy.rint(STEPS * 0.5)))
table('dequantised', lambda b: (b('DequantizeLinear', numpy.arange(-3, 4).astype('int8'), numpy.float32(0.25), numpy.array(1, 'int8')), (STEPS - 4) * 0.25))
table('reduced', lambda b: (b('Mul', ROW(b), b('ReduceL2', b('Concat', b('ReduceMin', ROW(b), axes=[0]), b('ReduceProd', b('Add', ROW(b), numpy.float32(0.5)), axes=[0]), axis=0), axes=[0])),
                            STEPS * numpy.prod(STEPS + 0.5)))
table('signs', lambda b: (b('Where', b('IsNaN', b('Div', ROW(b), ROW(b))), numpy.float32(2), b('Sign', b('Sub', ROW(b), numpy.float32(3)))), numpy.where(STEPS == 0, 2, numpy.sign(STEPS - 3))))
table('gathered', lambda b: (b('GatherND', b('Mul', ROW(b), numpy.float32(0.5)), numpy.arange(TOKENS)[::-1, None].copy()), STEPS[::-1] * 0.5))


@of(TABLES)
def positions(b):
    """Sines and cosines of positions that the graph counts, side by side, added to queries."""
    x, each = arrays(b), WIDTH // 2
    place = b('Unsqueeze', ROW(b), numpy.array([1]))
    angles = b('Mul', place, b('Exp', b('Mul', b('Cast', b('Range', *map(numpy.array, (0, WIDTH, 2))), to=1), numpy.float32(-math.log(1e4) / WIDTH))))
    y = b('Reshape', b('Concat', b('Unsqueeze', b('Sin', angles), numpy.array([2])), b('Unsqueeze', b('Cos', angles), numpy.array([2])), axis=2), numpy.array([TOKENS, WIDTH]))
    b.output(b('Add', 'q', y))
    turns = STEPS[:, None] * 1e4 ** (-numpy.arange(each) / each)
    return x, lambda x: x['q'] + numpy.stack([numpy.sin(turns), numpy.cos(turns)], 2).reshape(TOKENS, WIDTH)


def models():
    """Names, models, a sample, and what is right of it, in lists."""
    for group, opset in ((MODELS, 14), (TABLES, 14), (NODES, 25)):
        for name, make in group.items():
            b = Builder(opset, seed=len(name))
            x, expected = make(b)
            answer = expected({key: array.astype('float64') if array.dtype.kind == 'f' else array for key, array in x.items()})
            yield name, b.model(), x, list(answer) if isinstance(answer, tuple) else [answer], opset


def error_of(found, expected):
    """Over the largest number; infinities are the same in both."""
    found, expected = numpy.asarray(found, 'float64').reshape(-1), numpy.asarray(expected).reshape(-1)
    if found.shape != expected.shape:
        return math.inf
    with numpy.errstate(invalid='ignore'):
        off = numpy.where(found == expected, 0.0, abs(found - expected))
    most = abs(expected[numpy.isfinite(expected)]).max(initial=0.0)
    return float(numpy.nan_to_num(off.max(initial=0.0), nan=math.inf)) / (most or 1.0)


def computed(path, model, x):
    """By the library, as the exported program does; and in float64 by the reference of its report."""
    onnx.save(model, str(path))
    program, graph = load(path, 'model', None, 'float32', 64)
    with numpy.errstate(all='ignore'):
        reference = graph.evaluate(x)
    return program, program.run([x[name] for name in graph.inputs]), [reference[name] for name in graph.outputs]


def check_integers(checks, path):
    """--arithmetic int8: masks of floats that meet a bias leave it whole, in attention in floats."""
    for fill, mask, kind in itertools.product((-1e4, -1e9, LOWEST), ('input', 'computed'), ('constant', 'computed', 'one array', 'two masks')):
        b = Builder(14)
        x = {**arrays(b), 'm': (numpy.arange(TOKENS) < 4).astype('float32').reshape(1, 1, 1, -1), 'x': b.random.standard_normal((1, TOKENS, WIDTH)).astype('float32')}
        given = numpy.where(x['m'], 0, numpy.float32(fill)) if mask == 'input' else x['m']
        m, bias = b.input('m', 1, 1, 1, TOKENS), (3 * b.random.standard_normal((1, HEADS, TOKENS, TOKENS))).astype('float32')
        m = m if mask == 'input' else b('Mul', b('Sub', numpy.float32(1), m), numpy.float32(fill))
        if kind != 'constant':
            bias = b('Unsqueeze', b('MatMul', b.input('x', 1, TOKENS, WIDTH), b.random.standard_normal((WIDTH, TOKENS)).astype('float32')), numpy.array([1]))
        terms = [b('Add', bias, m)] if kind == 'one array' else [bias, m] + ['m'] * (kind == 'two masks' and mask == 'input')
        scores = product(b)
        for term in terms:
            scores = b('Add', scores, term)
        finish(b, scores)
        x = {name: given if name == 'm' else array for name, array in x.items() if name != 'x' or kind != 'constant'}
        program, _, reference = computed(path, b.model(), x)
        quantise(program, [[x[name] for name in sorted(x, key=[each.buffer.name for each in program.inputs].index)]])
        assign_memory(program)
        error = error_of(program.run([x[each.buffer.name] for each in program.inputs])[0], reference[0])
        checks.ok(f'in integers, a mask of floats, {mask}, {fill:.0e}, beside a bias, {kind}: within 0.03', error <= 0.03, f'{error}')


def joined(parts, opset):
    """Models side by side as one, to be compiled once: it, and two samples of all inputs."""
    nodes, inputs, outputs, constants, samples = [], [], [], [], {}
    for name, model, x in parts:
        graph = model.graph
        for node in graph.node:
            node.input[:], node.output[:] = ([each and f'{name}.{each}' for each in names] for names in (node.input, node.output))
        for each in (*graph.input, *graph.output, *graph.initializer):
            each.name = f'{name}.{each.name}'
        nodes += graph.node
        inputs += graph.input
        outputs += graph.output
        constants += graph.initializer
        samples.update({f'{name}.{key}': numpy.stack([array, array[..., ::-1]]) if array.ndim else numpy.array([array, array - 2]) for key, array in x.items()})
    graph = onnx.helper.make_graph(nodes, 'model', inputs, outputs, constants)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', opset)]), samples
