"""How masks and biases that are computed become steps."""
import math
from typing import Any, Callable, Dict, Optional

import numpy

from .attention_pattern import Match
from .errors import ExportError
from .graph import Node
from .mask_steps import Choose, Operands, compact
from .program import View
from .scores import Scores
from .steps import Elementwise


class LowerMasks:
    """What Lowering takes for them. masks: those that there are, by what they are made of."""

    masks: Dict[Any, View]

    def _computed_bias(self: Any, node: Node, found: Scores) -> Optional[View]:
        total = None
        for name, factor in found.computed:
            view = name if isinstance(name, View) else self._view(node, name)
            view = self._dense(self._moved(view if factor == 1 else self._by_number('multiply', view, factor), of_queries(node, found)))
            total = view if total is None else self._sum(total, view)
        return total

    def _sum(self: Any, bias: View, other: Any) -> View:
        """Biases [1 or queries, 1 or heads, keys]; axes of one element are repeated."""
        shape = numpy.broadcast_shapes(bias.shape, other.shape)
        first = bias if bias.shape == shape else self._dense(self._moved(bias, lambda array: numpy.broadcast_to(array, shape)))
        return self._add(Elementwise('add', self.place, first, other, self._new(shape)))

    def _mask(self: Any, node: Node, found: Scores, keys: int) -> Optional[View]:
        """Bytes [1 or queries, 1 or heads, keys], 1 for keys that are seen."""
        operands = Operands(self, node, of_queries(node, found))
        terms = operands.terms(found.visible)
        if not terms:
            return None
        shape, views = operands.shape()[:2] + (keys,), [each for each in operands.found if isinstance(each, View)]
        is_one = [len(literals) == 1 and literals[0][0] == '!=' and literals[0][3] for term in terms for literals in term] == [True] and len(views) == 1
        if is_one and views[0].type == 'uint8' and views[0].shape == shape and views[0].is_dense():  # bytes as they are given
            return views[0]
        arrays = ((id(each.buffer), each.offset, each.strides, each.shape) if isinstance(each, View) else each.tobytes() for each in operands.found)
        same = (keys, repr(terms), *arrays)
        if same not in self.masks:  # several layers have one
            self.masks[same] = self._add(Choose(self.place, operands.found, terms, self._new(shape, 'uint8')))
        return self.masks[same]

    def _match_bools(self: Any, match: Match) -> View:
        """Parts of bools, one behind another."""
        y, parts = self._new(self.graph.shapes[match.node.outputs[0]], 'uint8'), match.settings['parts']
        axis, at = match.node.attributes.whole('axis') if len(parts) > 1 else 0, 0
        for few in parts:
            size = next(iter(few.table.values())).shape[axis]
            place, at = (slice(None),) * (axis % len(y.shape)) + (slice(at, at + size),), at + size
            operands = Operands(self, match.node, lambda array: array)
            terms = operands.terms([few])
            self._add(Choose(self.place, operands.found, terms, View(y.buffer, y.array[place])))
        return y

    def _match_choice(self: Any, match: Match) -> View:
        """An array of floats that has one of two values, constant or computed."""
        shape, values = self.graph.shapes[match.node.outputs[0]], []
        operands = Operands(self, match.node, lambda array: array)
        terms = operands.terms([match.settings['condition']])
        for each in match.settings['values']:
            each = (self.views[each] if each in self.views else self.graph.constants[each]) if isinstance(each, str) else each
            values.append(self._moved(each, lambda array: numpy.broadcast_to(array, shape)) if isinstance(each, View) else compact(each).astype(numpy.float32))
        return self._add(Choose(self.place, operands.found, terms, self._new(shape), values))


def of_queries(node: Node, found: Scores) -> Callable[[Any], Any]:
    """Puts masks and biases [..., heads, queries, keys] of an item into the axes of the library, queries first."""
    def moved(array: Any) -> Any:
        items = math.prod(array.shape[:-3])
        if items not in (1, found.items()):
            raise ExportError(f'{node}: a computed mask of shape {list(array.shape)}; expected one for all items of the batch, or one for each')
        array = array.reshape((items,) + (1,) * (3 - array.ndim) + array.shape[-3:])
        return array[found.item if items > 1 else 0].transpose(1, 0, 2)
    return moved
