"""Random graphs of masks, beside float64: constants, inputs and what is computed of them; bools, whole numbers and floats; on either side of biases
and factors, as several frameworks spell them, with rows that are hidden whole. Each is computed right or refused with a sentence; none is wrong.

The truth is kept beside the graph while it is made: which keys are seen, and what is added to scores. It shares nothing with the exporter.
"""
import collections

import float64
import numpy
import onnx

from attend.exporter import ExportError
from masks import BOOL, INT32, INT64, LOWEST, computed, error_of
from models import Builder

KINDS = {'bool': BOOL, 'int32': INT32, 'int64': INT64, 'uint8': onnx.TensorProto.UINT8, 'float32': onnx.TensorProto.FLOAT}


class Graph:
    def __init__(self, seed):
        self.random = random = numpy.random.default_rng(seed)
        self.heads, self.queries, self.keys = (int(random.integers(1, most)) for most in (4, 8, 9))
        self.items = self.pick(1, 1, 2)
        self.b, self.x, self.width = Builder(14, seed), {}, 4
        self.seen, self.bias = numpy.ones((1, 1, 1, 1), bool), numpy.zeros((1, 1, 1, 1))
        self.words, self.infinite = [], False  # 0 times infinity is no number

    def pick(self, *options):
        return options[self.random.integers(len(options))]

    def input(self, array):
        name = f'm{len(self.x)}'
        self.x[name] = array
        return self.b.input(name, *array.shape, kind=KINDS[str(array.dtype)])

    # Masks: names of bools, and their values

    def shape(self):
        """Of a mask: shared by items of the batch, by heads, by queries, or by none."""
        items = self.pick(1, self.items)
        return self.pick((items, 1, 1, self.keys), (items, 1, self.queries, self.keys), (items, self.heads, 1, self.keys), (self.queries, self.keys), (items, self.heads, self.queries, self.keys))

    def bools(self, shape):
        """Now and then rows are hidden whole."""
        found = self.random.random(shape) < self.pick(0.3, 0.6, 0.9)
        if self.random.random() < 0.6:
            found[..., 0] = True
        return found

    def mask(self, depth=2):
        kind = self.pick('constant', 'bool', 'bool', 'integers', 'integers', 'floats', 'number', 'tokens', *['both'] * (depth > 0), *['not'] * (depth > 0), *['moved'] * (depth > 0))
        self.words.append(kind)
        b, shape = self.b, self.shape()
        if kind in ('constant', 'bool'):
            value = self.bools(shape)
            return (value if kind == 'constant' else self.input(value)), value
        if kind in ('integers', 'floats'):
            numbers = self.bools(shape) * self.random.integers(1, 4, shape)
            numbers = numbers.astype(self.pick('int32', 'int64', 'uint8') if kind == 'integers' else 'float32') * self.pick(1, 1, 1 if numbers.dtype.kind == 'u' else -1)
            numbers = numbers.astype('float32' if kind == 'floats' else str(numbers.dtype) if str(numbers.dtype) in KINDS else 'int64')
            name, zero, one = self.sliced(numbers), numbers.dtype.type(0), numbers.dtype.type(1)
            return self.pick((b('Cast', name, to=9), numbers != 0), (b('Not', b('Equal', name, zero)), numbers != 0), (b('Greater', name, zero), numbers > 0),
                             (b('LessOrEqual', one, name), numbers >= 1), (b('Cast', b('Equal', b('Cast', name, to=1), numpy.float32(0)), to=9), numbers == 0))
        if kind == 'number':
            number, at = numpy.array([self.random.integers(0, self.keys + 1)]), numpy.arange(self.keys)
            rows = at - numpy.arange(self.queries)[:, None]
            name, places = self.input(number), self.pick(at, at[None, None], rows)
            return self.pick((b('Less', places, name), places < number), (b('GreaterOrEqual', name, places), places <= number))
        if kind == 'tokens':
            tokens = self.random.integers(0, 3, (self.items, self.keys))
            return b('Unsqueeze', b('Not', b('Equal', self.input(tokens), numpy.array(0))), numpy.array([1, 2])), (tokens != 0)[:, None, None]
        name, value = self.mask(depth - 1)
        if kind == 'not':
            return b('Not', name), ~value
        if kind == 'both':
            other, more = self.mask(depth - 1)
            word = self.pick('And', 'Or')
            return b(word, name, other), value & more if word == 'And' else value | more
        return self.moved(name, value)

    def sliced(self, numbers):
        """As an input, or as a part of one."""
        if self.random.random() < 0.6:
            return self.input(numbers)
        wider = numpy.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(2, 1)], constant_values=numbers.dtype.type(7))
        return self.b('Slice', self.input(wider), numpy.array([2]), numpy.array([-1]), numpy.array([-1]))

    def moved(self, name, value):
        b, shape = self.b, numpy.array((1,) * (4 - value.ndim) + value.shape)
        word = self.pick('reshape', 'expand', 'slice', 'transpose')
        if word == 'slice' and value.shape[-1] > 2:  # without the first key or the last one, which is constant then
            first = self.pick(0, 1)
            name, value = b('Slice', name, numpy.array([first]), numpy.array([value.shape[-1] - 1 + first]), numpy.array([-1])), value[..., first:][..., :value.shape[-1] - 1]
            edge = numpy.ones(value.shape[:-1] + (1,), bool)
            parts = [(edge, edge), (name, value)] if first else [(name, value), (edge, edge)]
            return b('Concat', *(each for each, _ in parts), axis=-1), numpy.concatenate([each for _, each in parts], -1)
        name, value = b('Reshape', name, shape), value.reshape(shape)
        if word == 'expand':
            name, value = b('Expand', name, numpy.array([1, self.heads, 1, 1])), numpy.broadcast_to(value, value.shape[:1] + (self.heads,) + value.shape[2:])
        if word == 'transpose':  # there and back
            name = b('Transpose', b('Transpose', name, perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2])
        return name, value

    # What is done to scores

    def masked(self, scores):
        name, value = self.mask(self.pick(1, 2, 3))
        fill = self.pick(-1e4, -1e9, LOWEST, -numpy.inf)
        word = self.pick('where', 'where', 'filled', 'added where', 'one minus', 'subtracted', 'inverted', *['times'] * (not self.infinite))
        self.infinite = self.infinite or numpy.isinf(fill)
        self.words.append(f'{word} {fill:.0e}')
        b, number, one, hidden = self.b, numpy.float32(fill), numpy.float32(1), lambda: self.b('Not', name)
        self.seen = self.seen & value
        if word == 'where':
            return b('Where', name, scores, number)
        if word == 'filled':
            return b('Where', hidden(), number, scores)
        if word == 'added where':
            return b('Add', *self.pick((scores, b('Where', name, numpy.float32(0), number)), (b('Where', hidden(), number, numpy.float32(0)), scores)))
        finite = numpy.float32(max(fill, -1e9))
        minus = lambda: b('Sub', one, b('Cast', name, to=1))
        if word == 'one minus':
            return b('Add', scores, b('Mul', minus(), finite))
        if word == 'subtracted':
            return b('Sub', scores, b('Mul', minus(), -finite))
        if word == 'inverted':
            inverted = minus()
            return b('Add', scores, b('Where', b('Cast', inverted, to=9), finite, inverted))
        factor = b('Cast', name, to=1)
        return b('Sub', b('Mul', scores, factor), b('Mul', -finite, b('Sub', one, factor)))

    def of_numbers(self, scores):
        """1 and 0 as whole numbers or floats that are an input, and arithmetic of them; or floats that are added as they are."""
        word, fill = self.pick('integers', 'floats', 'added', 'added', *['times'] * (not self.infinite)), self.pick(-1e4, -1e9)
        value = self.bools((self.pick(1, self.items), self.pick(1, self.heads), 1, self.keys) if word == 'times' else self.shape())
        self.words.append(f'numbers {word} {fill:.0e}')
        if word != 'added':
            given = self.input(value.astype('int64' if word == 'integers' else 'float32'))
            given = self.b('Cast', given, to=1) if word == 'integers' else given
            self.seen = self.seen & value
            scores = self.b('Mul', scores, given) if word == 'times' else scores
            return self.b('Add', scores, self.b('Mul', self.b('Sub', numpy.float32(1), given), numpy.float32(fill)))
        numbers = numpy.where(value, self.random.standard_normal(value.shape), self.pick(fill, -numpy.inf, LOWEST)).astype('float32')
        self.infinite = self.infinite or numpy.isinf(numbers).any()
        self.seen, self.bias = self.seen & value, self.bias + numpy.where(value, numbers, 0.0)
        return self.b('Add', scores, self.input(numbers))

    def biased(self, scores):
        bias = self.random.standard_normal(self.shape()).astype('float32')
        self.words.append('bias')
        self.bias = self.bias + bias
        return self.b(*self.pick(('Add', scores, bias), ('Add', bias, scores), ('Sub', scores, -bias)))

    def scaled(self, scores):
        self.words.append('scaled')
        self.bias, self.scale = self.bias * 0.5, self.scale * 0.5
        return self.b('Mul', scores, numpy.float32(0.5))

    def model(self):
        b, random = self.b, self.random
        for name, tokens in (('q', self.queries), ('k', self.keys), ('v', self.keys)):
            shape = (self.items, self.heads, tokens, self.width)
            self.x[name] = random.standard_normal(shape).astype('float32')
            b.input(name, *shape)
        scores, self.scale = b('MatMul', 'q', b('Transpose', 'k', perm=[0, 1, 3, 2])), 1.0
        if random.random() < 0.2:
            self.words.append('capped')
            scores, cap = b('Mul', b('Tanh', b('Div', scores, numpy.float32(3))), numpy.float32(3)), 3.0
        else:
            cap = None
        for _ in range(random.integers(1, 4)):
            scores = self.pick(self.masked, self.masked, self.masked, self.of_numbers, self.biased, *[self.scaled] * (cap is None))(scores)
        powers = b('Softmax', scores, axis=-1)
        if random.random() < 0.3:
            powers = b('Where', b('IsNaN', powers), numpy.float32(0), powers)
        b.output(b('MatMul', powers, 'v'))
        self.expected = float64.attention(self.x['q'], self.x['k'], self.x['v'], self.seen, self.scale, self.bias, cap).output
        return b.model()


def taken(path, count):
    """So many that are not refused: names, models and samples."""
    found, seed = [], 0
    while len(found) < count:
        graph, seed = Graph(seed), seed + 1
        model = graph.model()
        try:
            computed(path, model, graph.x)
            found.append((f'r{seed}', model, graph.x))
        except ExportError:
            pass
    return found


def check_random_masks(checks, folder, count=300, seed=300):
    right, hidden, refused, wrong = 0, 0, collections.Counter(), []
    for i in range(count):
        graph = Graph(seed * 1000 + i)
        model = graph.model()
        try:
            _, found, reference = computed(folder / 'mask.onnx', model, graph.x)
        except ExportError as error:
            refused[str(error).split(': ', 1)[1].split(': ', 1)[-1][:80]] += 1
            continue
        error = max(error_of(each[0], graph.expected) for each in (found, reference))
        right += error <= 1e-5
        hidden += not graph.seen.any(-1).all()
        if error > 1e-5:
            wrong.append(f'{seed * 1000 + i} ({", ".join(graph.words)}): off by {error:.2g}')
    checks.ok(f'{count} random graphs of masks: {right} computed right, {hidden} of them with queries that see no key, {sum(refused.values())} refused',
              not wrong and right >= 0.9 * count, '; '.join(wrong[:5]) or f'{refused}')
    return wrong, refused
