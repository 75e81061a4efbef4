"""From a graph to a program: which calls compute what the outputs need, and in what arrays."""
import math
from typing import Any, Callable, Dict, List, Optional

import numpy

from . import operators
from .attention_node import AttentionNode
from .attention_pattern import Match
from .errors import ExportError
from .graph import Graph, Node, advice
from .integer_steps import Dequantise, Scale
from .lower_masks import LowerMasks
from .lower_nodes import HANDLERS, Nodes
from .lower_others import memory_order
from .mask_steps import Choose
from .patterns import Patterns
from .program import Buffer, Program, Step, View, Visible
from .scores import Scores
from .steps import Activate, Attention, Copy, Elementwise, Norm, Rows

# Operators that only choose or order elements.
MOVING = ('Identity', 'Dropout', 'Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Transpose', 'Slice', 'Expand')


def lower(graph: Graph, name: str) -> Program:
    return Lowering(graph, name).program()


class Lowering(AttentionNode, LowerMasks, Nodes):
    def __init__(self, graph: Graph, name: str):
        for node in graph.nodes:
            node.attributes.begin()
        self.graph, self.name, self.patterns = graph, name, Patterns(graph)
        self.views: Dict[str, View] = {}
        self.steps: List[Step] = []
        self.masks: Dict[Any, View] = {}
        self.copied: Dict[int, View] = {}  # what a buffer is a copy of

    def program(self) -> Program:
        chosen = self._choose()
        inputs = []
        for name, shape in self.graph.inputs.items():
            type = {'f': 'float32', 'i': 'int32', 'u': 'int32', 'b': 'uint8'}.get(self.graph.types[name].kind)
            if type is None:
                raise ExportError(f'input "{name}" has the type {self.graph.types[name]}; expected floats, whole numbers or bools')
            self.views[name] = View(Buffer('input', math.prod(shape), name, type), shape=shape)
            inputs.append(self.views[name])
        for node in self.graph.nodes:
            wanted = [name for name in node.outputs if name in chosen]
            match = chosen[wanted[0]] if wanted else None
            if match:
                self.place = wanted[0]
                result = getattr(self, '_match_' + match.kind)(match)
                self._keep(wanted[0], result)
            elif wanted:
                self.place = wanted[0]
                self._emit(node)
        self._require_attributes()
        outputs = [self._output(name) for name in self.graph.outputs]
        program = Program(self.name, inputs, outputs, self.steps)
        program.views = self.views
        return program

    def _require_attributes(self) -> None:
        """What outputs depend on: patterns and handlers have read all that it says."""
        open_, seen = list(self.graph.outputs), set()
        while open_:
            node = self.graph.producers.get(open_.pop())
            if node is not None and id(node) not in seen:
                seen.add(id(node))
                open_ += node.inputs
                node.attributes.require_all()

    def _choose(self) -> Dict[str, Optional[Match]]:
        """What is computed, from the outputs backwards: each value by a pattern, or (None) by its node alone."""
        chosen: Dict[str, Optional[Match]] = {}
        open_ = [name for name in self.graph.outputs]
        while open_:
            name = open_.pop()
            if name in chosen or name in self.graph.constants or name in self.graph.inputs or not name:
                continue
            chosen[name] = match = self.patterns.find(name)
            open_ += match.values if match else self.graph.producers[name].inputs
        return chosen

    def _keep(self, name: str, view: View) -> None:
        shape = self.graph.shapes[name]
        self.views[name] = view if view.shape == shape else self._moved(view, lambda array: array.reshape(shape))

    # Arrays

    def _new(self, shape: Any, type: str = 'float32') -> View:
        return View(Buffer('memory', math.prod(shape), self.place, type), shape=shape)

    def _view(self, node: Any, name: str) -> View:
        """A value that is computed; a constant is put into memory."""
        if name in self.views:
            return self.views[name]
        array = self.graph.constants.get(name)
        if array is None:
            raise ExportError(f'{node}: "{name}" is not computed')
        to = self._new(array.shape)
        self._add(Copy(name, self._finite(name, array), to))
        return to

    def _operand(self, name: str) -> Any:
        return self.views[name] if name in self.views else self._finite(name, self.graph.constants[name])

    def _finite(self, name: str, array: Any) -> Any:
        if not numpy.isfinite(array).all():
            raise ExportError(f'constant "{name}" has numbers that are not finite: the model was trained or saved wrongly')
        return array

    def _moved(self, view: View, function: Callable[[Any], Any]) -> View:
        """The same elements in other axes: without a copy where strides can say it."""
        moved = view.changed(function)
        if moved is not None:
            return moved
        found = self._dense(view).changed(function)
        if found is not None:
            return found
        result = function(view.array)
        raise ExportError(f'"{self.place}": an array of {list(view.shape)} cannot be put into {list(result.shape)}')

    def _dense(self, view: View) -> View:
        if view.is_dense():
            return view
        to = self._new(view.shape, view.type)
        self._add(Copy(self.place, view, to))
        self.copied[id(to.buffer)] = view
        return to

    def _without_repetition(self, view: View) -> View:
        """Heads [..., heads, tokens, width] that were repeated for each head of a group: those that they were made of. Attention
        repeats them by itself."""
        source = self.copied.get(id(view.buffer))
        if source is None or len(source.shape) < 4 or source.shape[-3] == 1 or source.strides[-3] != 0:
            return view
        found = View(source.buffer, source.array[..., 0, :, :])
        whole = (-1,) + source.shape[-2:]
        expected = view.buffer.base.reshape(source.shape).reshape(whole)
        seen = view.array.reshape(whole) if view.shape[-2:] == source.shape[-2:] else numpy.swapaxes(view.array, -1, -2).reshape(whole)
        same = seen.shape == expected.shape and numpy.may_share_memory(seen, expected) and seen.strides == expected.strides
        return found if same else view

    def _output(self, name: str) -> View:
        """An output of the model: the buffer that its last step writes, or a copy of a part of one."""
        self.place = name
        view = self.views[name]
        if not view.is_whole() or view.buffer.kind != 'memory':
            to = self._new(view.shape, view.type)
            self.steps.append(Copy(name, view, to))
            view = to
        view.buffer.kind, view.buffer.name = 'output', name
        return view

    def _add(self, step: Step) -> View:
        whole = [view for view in step.reads if view.type in ('int32', 'uint8')]
        if whole and not isinstance(step, (Rows, Dequantise, Choose, Attention)) and not (isinstance(step, Copy) and step.writes.type == whole[0].type) or \
                isinstance(step, Copy) and step.writes.type == 'int32' and not step.reads:
            raise ExportError(f'"{self.place}" ({step.text()}) computes with whole numbers; expected them to choose rows of a table, to be compared in a mask, or to be '
                              'made floats by a Cast')
        self.steps.append(step)
        return step.writes

    # Patterns

    def _match_biased(self, match: Match) -> View:
        weight = self.graph.constants[match.node.inputs[1]].T
        return self._linear(match.node, self._view(match.node, match.values[0]), weight, match.settings['bias'])

    def _match_layer_norm(self, match: Match) -> View:
        x, settings = self._view(match.node, match.values[0]), match.settings
        for which in ('weight', 'bias'):
            if settings[which] is not None:
                self._finite(f'{which} of {match.node}', settings[which])
        return self._norm(match.kind, x, x.shape[-1], settings['weight'], settings['bias'], self._epsilon(match.node, settings['epsilon']))

    def _norm(self, kind: str, x: View, width: int, weight: Any, bias: Any, epsilon: float) -> View:
        """Along the last axes, of `width` elements; other axes may lie in any order."""
        compute = lambda x: self._add(Norm(kind, self.place, x, self._new(x.shape), width, weight, bias, epsilon))
        return self._in_memory_order(x, compute) if x.strides[-1] == 1 and x.shape[-1] == width else compute(self._dense(x))

    _match_rms_norm = _match_layer_norm

    def _epsilon(self, node: Node, epsilon: float) -> float:
        if not 1e-30 <= epsilon <= 1e30:
            raise ExportError(f'{node}: an epsilon of {epsilon}; expected 1e-30 to 1e30')
        return epsilon

    def _match_gelu(self, match: Match) -> View:
        return self._activation(match.kind, self._view(match.node, match.values[0]))

    _match_gelu_tanh = _match_silu = _match_gelu

    def _match_gated(self, match: Match) -> View:
        x, by = (self._dense(self._view(match.node, name)) for name in match.values)
        return self._add(Activate(match.settings['function'], self.place, x, self._new(x.shape), by))

    def _match_rotary(self, match: Match) -> View:
        x, given = self._view(match.node, match.values[0]), match.settings
        to_rows = lambda array: numpy.moveaxis(array, given['tokens'], 0)
        shape = to_rows(x.array).shape
        rows = self._moved(self._moved(x, to_rows), lambda array: array.reshape(shape[0], -1, shape[-1]))
        y = self._turned(rows, given['frequencies'], given['pairs'])
        y = y if given['factor'] == 1 else self._by_number('multiply', y, given['factor'])
        return self._moved(y, lambda array: numpy.moveaxis(array.reshape(shape), 0, given['tokens']))

    def _match_weights(self, match: Match) -> View:
        query, key = self._query_and_key(match)
        y = self._attention(match.node, query, self._without_repetition(key), None, match.settings['scores'], 'weights')
        return self._moved(y, lambda array: array.reshape(self.graph.shapes[match.node.outputs[0]]))

    def _match_attention(self, match: Match) -> View:
        query, key = self._query_and_key(match)
        value = self._view(match.node, match.values[2])
        pair = self._without_repetition(key), self._without_repetition(value)
        key, value = pair if math.prod(pair[0].shape[:-2]) == math.prod(pair[1].shape[:-2]) else (key, value)
        return self._attention(match.node, query, key, value, match.settings['scores'])

    def _match_pooling(self, match: Match) -> View:
        """One query over tokens; or scores as a bias, beside a query and keys of zeros."""
        node, settings = match.node, match.settings
        x, value = (self._view(node, name) for name in match.values)
        value = self._moved(value, lambda array: array.reshape((1,) + array.shape[-2:]))
        constant = lambda array, *shape: self._add(Copy(self.place, array, self._new(shape)))
        found = Scores((1, 1) + value.shape[:2])
        found.bias = None
        if settings['query'] is not None:
            query, key = constant(settings['query'], 1, 1, x.shape[-1]), self._moved(x, lambda array: array.reshape((1,) + array.shape[-2:]))
        else:
            scores = self._moved(x, lambda array: settings['moved'](array)[None])
            scores = self._moved(scores, lambda array: array.reshape((1, -1) + array.shape[-1:]))
            query, key = (constant(numpy.zeros(1), 1, count, 1) for count in scores.shape[1:])
            found.computed = [(scores, 1.0)]
        y = self._attention(node, query, key, value, found)
        return self._moved(y, lambda array: array.reshape(settings['shape']))

    def _query_and_key(self, match: Match) -> Any:
        found = match.settings['scores']
        query, key = (self._view(match.node, name) for name in match.values[:2])
        if found.transposed is not None:
            key = self._moved(key, lambda array: array.transpose(found.transposed))
        key = self._moved(key, lambda array: numpy.swapaxes(array, -1, -2))
        if not found.key_factor:
            return query, key
        factor = self._moved(self._view(match.node, found.key_factor), lambda array: numpy.swapaxes(array.reshape((1,) * (2 - array.ndim) + array.shape), -1, -2))
        return query, self._add(Elementwise('multiply', self.place, self._dense(key), factor, self._new(numpy.broadcast_shapes(key.shape, factor.shape))))

    def _attention(self, node: Node, query: View, key: View, value: Optional[View], found: Scores, stage: str = '') -> View:
        """Of [..., heads, tokens, width] each. Without values a stage of the scores [heads, queries, keys], with an axis before it where there are
        several items."""
        views, items = [], math.prod(query.shape[:-3])  # type: List[View], int
        if items > 1:
            return self._of_items(items, [query, key, value], lambda at, *each: self._attention(node, *each, found.of_item(at), stage))
        for which, view in (('queries', query), ('keys', key), ('values', value)):
            if view is None:
                continue
            if math.prod(view.shape[:-3]) != 1:
                raise ExportError(f'{node}: {which} of shape {list(view.shape)} beside one item of queries; expected [1, heads, tokens, width]')
            heads = view.shape[-3] if len(view.shape) > 2 else 1
            split = lambda array: array.reshape((heads,) + array.shape[-2:]).transpose(1, 0, 2)
            views.append(self._dense(self._moved(view, split)))
        query, key = views[:2]
        if query.shape[1] % key.shape[1] or key.shape[:2] != views[-1].shape[:2] or query.shape[2] != key.shape[2]:
            raise ExportError(f'{node}: queries, keys and values of shapes {[list(view.shape) for view in views]} ([tokens, heads, width]) '
                              'do not fit each other')
        scale = found.cap * found.factor if node.kind != 'Attention' and found.cap else found.factor
        if not (math.isfinite(scale) and abs(scale) <= 2.0**127):
            raise ExportError(f'{node}: a scale of {scale}')
        seen = visible(found.bias, query.shape[0], key.shape[0])
        bias, mask = self._computed_bias(node, found), self._mask(node, found, key.shape[0])
        if bias is not None and seen.bias is not None:
            bias = self._sum(bias, seen.bias.transpose(1, 0, 2))
            seen = seen._replace(bias=None)
        y = self._new((query.shape[0], query.shape[1], views[2].shape[2] if value is not None else key.shape[0]))
        self._add(Attention(self.place, query, key, views[2] if value is not None else None, y, scale, seen, bias, mask, found.cap, stage))
        return self._moved(y, lambda array: array.transpose(1, 0, 2))

    def _of_items(self, items: int, views: Any, call: Callable[..., View]) -> View:
        """Attention of each item of a batch, as windows of a picture are: one call for each, over a bias that all share in flash."""
        def item(each: Optional[View], at: int) -> Any:
            if each is None or math.prod(each.shape[:-3]) == 1:
                return each
            if math.prod(each.shape[:-3]) != items:
                raise ExportError(f'"{self.place}": {items} items of queries beside an array of {list(each.shape)}; expected as many items')
            return self._moved(each, lambda array: array.reshape((items,) + array.shape[-3:])[at])
        y: Any = None
        for at in range(items):
            part = call(at, *(item(each, at) for each in views))
            order = memory_order(part)
            y = y or self._new([items, *(part.shape[axis] for axis in order)])
            self._add(Copy(self.place, self._moved(part, lambda array: array.transpose(order)), View(y.buffer, y.array[at])))
        return self._moved(y, lambda array: array.transpose([0, *(numpy.argsort(order) + 1)]))

    def _emit(self, node: Node) -> None:
        """A node that no pattern takes."""
        if node.kind == 'Split':
            x = self._view(node, node.inputs[0])
            axis = node.attributes.whole('axis', 0)
            sizes = self.graph.constants.get(node.inputs[1]) if len(node.inputs) > 1 else None
            ends = operators.split_ends(node, self.graph.opset, x.array, sizes, axis)
            for name, begin, end in zip(node.outputs, [0] + ends, ends):
                if end > begin:
                    self._keep(name, self._moved(x, lambda array: array[(slice(None),) * (axis % array.ndim) + (slice(begin, end),)]))
        elif node.kind in MOVING or (node.kind == 'Cast' and node.attributes.whole('to') in (1, 10, 11, 16, 6, 7)):
            x, to_floats = self._view(node, node.inputs[0]), node.kind == 'Cast' and node.attributes.whole('to') not in (6, 7)
            others = [self.graph.constants.get(name) for name in node.inputs[1:]]
            if x.type in ('int32', 'uint8') and to_floats:
                numbers = self._dense(x)
                numbers.buffer.scale = Scale(1.0)
                return self._keep(node.outputs[0], self._add(Dequantise(self.place, [numbers], self._new(x.shape))))
            if node.kind == 'Cast' and (x.type == 'float32') != to_floats:
                raise ExportError(f'{node}: floats of computed whole numbers, or the reverse; expected a model without it')
            self._keep(node.outputs[0], x if node.kind == 'Cast' else self._moved(x, lambda array: operators.OPERATORS[node.kind].compute(
                node, self.graph.opset, array, *others)))
        else:
            if node.kind not in HANDLERS:
                raise ExportError(f'{node}: this operator is known for constants only. {advice(node.kind)}')
            self._keep(node.outputs[0], HANDLERS[node.kind](self, node))


def visible(bias: Any, queries: int, keys: int) -> Visible:
    """What a bias says, whose infinities are those of a mask: it is left where it is neither causal nor a window."""
    if bias is None:
        return Visible(False, 0, None, None)
    masked = numpy.isneginf(bias).all(0)
    rows = [(i, numpy.flatnonzero(~row)) for i, row in enumerate(masked) if not row.all()]
    if bias.shape[1] != queries or queries == 1 or not rows:
        return Visible(False, 0, None, bias)
    offset = int(rows[0][1][-1]) - rows[0][0]
    causal = ~numpy.tri(queries, keys, offset, dtype=bool)
    if not (numpy.isneginf(bias) >= causal).all() or any(keys_of[-1] != min(offset + i, keys - 1) for i, keys_of in rows):
        return Visible(False, 0, None, bias)
    left = max(offset + i - int(keys_of[0]) for i, keys_of in rows)
    outside = numpy.tri(queries, keys, offset - left - 1, dtype=bool)
    window = left if outside.any() and (numpy.isneginf(bias) >= outside).all() else None
    rest = numpy.where(causal if window is None else causal | outside, 0.0, bias)
    if offset >= keys - 1 and (window is None or numpy.isneginf(rest).any()):  # no key is later than its query
        return Visible(False, 0, None, bias)
    bias = rest
    return Visible(True, offset, window, bias if (bias != 0).any() else None)
