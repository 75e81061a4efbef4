"""What a graph does to the product of queries and keys on its way to a softmax: factors, a soft cap, biases, and masks, constant or computed."""
import copy
import math
from typing import Any, List, Optional, Tuple

import numpy

from .few_values import FewValues, Masks, combined
from .graph import Graph, Node
from .graph_search import Search

ON_SCORES = ('Add', 'Sub', 'Where', 'Mul', 'Tanh', 'MatMul', 'Max', 'Clip')
MASKED = -1e4  # what is filled with or added by masks: exporters write -10000, the lowest float, or -infinity


def hides(numbers: Any, factor: float = 1.0) -> Any:
    """Whether what is added to scores, or takes their place, masks a key: one rule for constants and for what is computed. factor: what it is
    multiplied by later."""
    return (numbers <= MASKED) & (numbers <= MASKED / 10 / factor)


class Scores:
    """Gathered from the softmax backwards. shape: of scores where it has come to, [..., heads, queries, keys]; axes before these are items of a batch,
    which masks and biases have as one axis. factor: what all that is found from here on is multiplied by."""

    def __init__(self, shape: Any):
        self.shape, self.factor, self.cap = shape, 1.0, 0.0
        self.item: Any = 0                     # which of the items of a batch it is of, where they differ
        self.bias: Any = numpy.zeros((1, 1))   # constants, -infinity where they mask a key
        self.exact: Any = self.bias            # the same with the numbers that mask keys as they are added
        self.never: Any = numpy.zeros((1, 1), bool)  # keys that no condition shows
        self.visible: List[FewValues] = []     # keys are seen where all of these bools hold
        self.limit = -numpy.inf                # the largest number that masks one of the others
        self.computed: List[Tuple[str, float]] = []  # biases that are computed, and their factors
        self.key_factor = ''                   # what keys are multiplied by
        self.times = False                     # whether a mask multiplies what is found from here on: 0 times infinity is no number
        self.query = self.key = ''
        self.transposed: Any = None            # the axes in which a Transpose beneath a factor has put the keys

    def see(self, visible: FewValues, filling: Any = -numpy.inf) -> None:
        """Keys are masked elsewhere. filling: by what."""
        self.limit, visible = max(self.limit, float(numpy.max(filling)) * self.factor), visible.moved(self.by_items)
        if not visible.conditions:
            self.add(numpy.where(visible.table[()], 0.0, -numpy.inf))
            return
        ever = numpy.logical_or.reduce(list(visible.table.values()))
        self.never = self.never | ~ever
        uniform = lambda value: numpy.ones_like(value) if value[ever].all() else value & value[ever].any()
        self.visible.append(visible.changed(uniform))

    def add(self, bias: Any, exact: Any = None) -> None:
        self.bias, self.exact = self.bias + bias, self.exact + (bias if exact is None else exact)

    def items(self) -> int:
        return math.prod(self.shape[:-3])

    def by_items(self, array: Any) -> Any:
        """With one axis before the last three."""
        if array.ndim < 4 or len(self.shape) < 5:
            return array
        return numpy.broadcast_to(array, self.shape[:-3] + array.shape[-3:]).reshape((-1,) + array.shape[-3:])

    def of_item(self, item: int) -> 'Scores':
        made = copy.copy(self)
        made.item, made.bias = item, self.bias if self.bias is None or self.bias.ndim < 4 else self.bias[item]
        return made

    def unmasked(self) -> 'Scores':
        """The same without masks and biases."""
        made = Scores(self.shape)
        made.factor, made.cap, made.bias = self.factor, self.cap, None
        return made

    def names(self) -> List[str]:
        """What it reads besides queries and keys."""
        return [name for name in [*(each for each, _ in self.computed), self.key_factor, *(each for few in self.visible for each in few.names())] if name]

    def settle(self) -> Any:
        """When all is gathered. Gives a function of scores: which queries see no key; None, where all see some."""
        most = self.bias.max(-1, keepdims=True)
        # Where all that is left is near to what masks, both are numbers that are added to a row.
        near = (most <= MASKED / 2) & ~numpy.isneginf(most) & (self.exact > most + MASKED / 2)
        self.bias = numpy.where(near, self.exact, self.bias)
        rows = (numpy.isneginf(self.bias) | self.never).all(-1, keepdims=True)
        if not self.visible and not rows.any():
            return None
        most = self.bias.max(-1, keepdims=True)
        shift = numpy.where(numpy.isneginf(most), 0.0, most)
        limit = 0.9 * self.limit

        def unseen(scores: Any) -> Any:
            most = scores.max(-1, keepdims=True)
            flat = most.reshape((-1,) + most.shape[-3:]) if most.ndim > 4 else most
            return numpy.broadcast_to(rows | ((flat - shift <= limit) if self.visible else False), flat.shape).reshape(most.shape)
        return unseen


class ScoreSearch(Search):
    def __init__(self, graph: Graph):
        super().__init__(graph)
        self.masks = Masks(graph)

    def softmax_of(self, name: str) -> Optional[Node]:
        """The softmax that a value is, also with 0 where it is no number: the library's own rule for a query that sees no key."""
        node = self.producer(name, 'Softmax', 'Where')
        if node is None or node.kind == 'Softmax':
            return node
        zero, softmax, nan = self.graph.constant(node.inputs[1]), self.producer(node.inputs[2], 'Softmax'), self.producer(node.inputs[0], 'IsNaN')
        fits = zero is not None and not zero.any() and softmax and nan and self.past_identities(nan.inputs[0]) == softmax.outputs[0]
        return softmax if fits else None

    def is_scores(self, name: str, depth: int = 12) -> bool:
        """Whether it is made of a product of queries and keys, by what Scores has."""
        node = self.producer(self.unscaled(name)[0], *ON_SCORES) if depth and name not in self.graph.constants else None
        if node is None:
            return False
        if node.kind == 'MatMul':
            return not any(each in self.graph.constants for each in node.inputs) and self.softmax_of(node.inputs[0]) is None
        return any(self.is_scores(each, depth - 1) for each in (node.inputs[1:] if node.kind == 'Where' else node.inputs))

    def before(self, node: Node, found: Scores) -> Optional[str]:
        """The scores before a mask, a bias or a factor of keys. None: it is none that this exporter knows."""
        few = [each for each in map(self.masks.few, node.inputs) if each]
        if found.key_factor or found.times and any(numpy.isneginf(value).any() for each in few for value in each.table.values()):
            return None
        if node.kind == 'Where':
            return self._filled(node, found, self.is_scores)
        if node.kind in ('Max', 'Clip'):
            return None if found.times else self._above(node, found)
        pairs = list(self.sides(node))[:1 if node.kind == 'Sub' else 2]
        for scores, other in pairs:
            if not self.is_scores(scores) or self.is_scores(other):
                continue
            if node.kind == 'Mul':
                rows = self.graph.shapes[other][-2:-1]
                if found.key_factor or other in self.graph.constants or rows not in ((), (1,)) or len(self.graph.shapes[other]) > 4:
                    return None
                found.key_factor, found.times = other, True
                return scores
            sign = -1.0 if node.kind == 'Sub' else 1.0
            return self._gated(scores, other, sign, found) or (scores if self.added(other, sign, found) else None)
        return None

    def _above(self, node: Node, found: Scores) -> Optional[str]:
        """What a Max or a Clip keeps above a number that hides keys, as the lowest float."""
        pairs = [] if len(node.inputs) != 2 else self.sides(node) if node.kind == 'Max' else [(node.inputs[0], node.inputs[1])]
        for inner, other in pairs:
            lowest = self.scalar(other)
            if lowest is not None and hides(lowest, found.factor):
                found.limit = max(found.limit, lowest * found.factor)
                return inner
        return None

    def _filled(self, node: Node, found: Scores, is_kept: Any) -> Optional[str]:
        """What a Where keeps where it does not mask."""
        condition = self.masks.few(node.inputs[0])
        for kept, filling, where in ((node.inputs[1], node.inputs[2], True), (node.inputs[2], node.inputs[1], False)):
            numbers = self.graph.constant(filling)
            if condition is not None and is_kept(kept) and numbers is not None and hides(numbers, found.factor).all():
                found.see(condition.changed(lambda value: value == where), numbers)
                return kept
        return None

    def _gated(self, scores: str, other: str, sign: float, found: Scores) -> Optional[str]:
        """Of scores * m + x, where x masks what m makes 0."""
        added = self.masks.few(other)
        for inner, gate in self.sides(self.producer(scores, 'Mul')) if added else []:
            factor = self.masks.few(gate)
            if factor is None or not self.is_scores(inner):
                continue
            known = lambda m, x: numpy.where((m == 1) | (m == 0) & hides(x, found.factor), x, numpy.nan)
            both = combined([factor, added], lambda values: known(values[0], sign * values[1]), self.graph.shapes[scores])
            if both is None or not self._few_added(both, found):
                return None
            found.times = True
            return inner
        return None

    def _few_added(self, few: FewValues, found: Scores) -> bool:
        """A bias that masks keys by a few values, and has one value for each of the others."""
        hidden = {key: hides(value, found.factor) for key, value in few.table.items()}
        bias = numpy.full(next(iter(hidden.values())).shape, -numpy.inf)
        for key, value in few.table.items():
            if numpy.isnan(value).any() or (~hidden[key] & ~numpy.isneginf(bias) & (bias != value)).any():
                return False
            bias = numpy.where(hidden[key], bias, value)
        found.add(found.by_items(numpy.where(numpy.isneginf(bias), 0.0, bias)) * found.factor)
        filling = max((value[hidden[key]].max(initial=-numpy.inf) for key, value in few.table.items()), default=-numpy.inf)
        found.see(FewValues(few.conditions, {key: ~each for key, each in hidden.items()}), filling)
        return True

    def added(self, name: str, sign: float, found: Scores) -> bool:
        """What is added to scores, term by term: False where that is not known."""
        few = self.masks.few(name)
        if few is not None and not few.conditions:
            numbers = found.by_items(few.table[()]) * sign
            hidden = hides(numbers, found.factor)
            found.limit = max(found.limit, float(numbers[hidden].max(initial=-numpy.inf)) * found.factor)
            found.add(numpy.where(hidden, -numpy.inf, numbers * found.factor), numbers * found.factor)
            return True
        if few is not None and self._few_added(few.changed(lambda value: value * sign), found):
            return True
        if few is not None and any((value * sign >= -MASKED).any() for value in few.table.values()):
            return False
        node = self.producer(name, 'Add', 'Sub', 'Where', 'Clip', 'Max')
        if node is not None and node.kind in ('Clip', 'Max'):
            inner = self._above(node, found) if sign > 0 else None
            return inner is not None and self.added(inner, sign, found)
        if node is not None and node.kind == 'Where' and sign > 0:
            kept = self._filled(node, found, lambda each: each not in self.graph.constants)
            if kept is not None:
                return self.added(kept, sign, found)
        if node is not None and node.kind != 'Where' and any(self.masks.few(each) for each in node.inputs):
            return self.added(node.inputs[0], sign, found) and self.added(node.inputs[1], -sign if node.kind == 'Sub' else sign, found)
        if self.graph.kinds[name] != 'f' or self.graph.shapes[name][-1:] != found.shape[-1:]:
            return False
        found.computed.append((name, sign * found.factor))
        most = MASKED * max(1.0, 0.1 / found.factor)  # as hides() says
        masked = self.masks.condition('<=' if sign > 0 else '>=', name, numpy.array(sign * most))
        found.see(masked.changed(lambda value: ~value), most)
        return True

    def key_of(self, name: str) -> Tuple[str, float, Any]:
        """The keys, their factor, and the axes in which a Transpose beneath the factor has put them."""
        key, factor = self.scaled(name)
        node = self.producer(key, 'Transpose')
        if node is None:
            return key, factor, None
        inner, more = self.scaled(node.inputs[0])
        if inner == self.past_identities(node.inputs[0]):
            return key, factor, None
        return inner, factor * more, node.attributes.wholes('perm', None) or list(range(len(self.graph.shapes[inner])))[::-1]
