"""Finds attention that exporters spell out in many nodes: softmax(scale * query key^T + bias) value, and ONNX's own node."""
import math
from typing import Any, Dict, List, NamedTuple, Optional

import numpy

from .attention_node import scores_of_node
from .errors import ExportError
from .graph import Node
from .scores import ON_SCORES, Scores, ScoreSearch


class Match(NamedTuple):
    kind: str
    node: Node            # the last one
    values: List[str]     # what it reads
    settings: Dict[str, Any]


class AttentionPattern(ScoreSearch):
    def attention(self, node: Node) -> Optional[Match]:
        if node.kind == 'Attention':
            found = scores_of_node(self, node)
            return Match('attention_node', node, [each for each in node.inputs[:3] + node.inputs[4:6] if each] + found.names(), {'scores': found})
        softmax = self.softmax_of(node.inputs[0]) if node.kind == 'MatMul' else None
        if softmax is None or node.inputs[1] in self.graph.constants:
            return None
        found = self._scores(softmax)
        return Match('attention', node, [found.query, found.key, node.inputs[1], *found.names()], {'scores': found})

    def weights(self, node: Node) -> Optional[Match]:
        """The weights alone, where something else than the values reads them."""
        softmax = self.softmax_of(node.outputs[0]) if node.kind in ('Softmax', 'Where') else None
        if softmax is None or not self.is_scores(softmax.inputs[0]):
            return None
        found = self._scores(softmax)
        return Match('weights', node, [found.query, found.key, *found.names()], {'scores': found})

    def _scores(self, softmax: Node) -> Scores:
        self.require_last_axis(softmax)
        found, name = Scores(self.graph.shapes[softmax.outputs[0]]), softmax.inputs[0]
        while True:
            name, by = self.unscaled(name)
            found.factor *= by
            found.shape = self.graph.shapes[name]
            node = self.producer(name, *ON_SCORES)
            if node is None:
                raise ExportError(f'{softmax}: its scores are no product of queries and keys, scaled and masked, but '
                                  f'{self.graph.producers.get(name, chr(34) + name + chr(34))}')
            if node.kind == 'MatMul':
                break
            if node.kind == 'Tanh' and not found.cap and found.factor > 0:
                if found.key_factor:
                    raise ExportError(f'{node}: a factor for each key multiplies scores behind their soft cap; expected a mask there: Where(mask, scores, -1e9)')
                found.cap, found.factor, name = found.factor, 1.0, node.inputs[0]
                continue
            inner = self.before(node, found) if found.factor > 0 and not found.cap else None
            if inner is None or self.graph.shapes[inner] != found.shape:
                raise ExportError(f'{node}: this mask or bias of attention is neither constant, nor made of inputs by comparisons, nor one array that is added to '
                                  'scaled scores; or it fills with numbers that hide no key, or cuts scores off there, or scores are scaled by a factor below '
                                  '0, capped or repeated after it. Fill with -1e9 by Where(mask, scores, -1e9), or add what is computed in one array, or leave it out')
            name = inner
        found.query, of_query = self.scaled(node.inputs[0])
        found.key, of_key, found.transposed = self.key_of(node.inputs[1])
        found.factor *= of_query * of_key
        softmax.unseen = found.settle()
        found.bias = self.bias_of(found, softmax)
        return found

    def bias_of(self, found: Scores, node: Node) -> Any:
        """What is constant: [1 or heads, 1 or queries, keys], with an axis before it where items of the batch differ; or None where it does nothing."""
        def shaped(array: Any) -> Any:
            array = array.reshape((1,) * max(0, 3 - array.ndim) + array.shape)
            items = math.prod(array.shape[:-3])
            if items not in (1, found.items()):
                raise ExportError(f'{node}: its mask has the shape {list(array.shape)}; expected one for all items of the batch, or one for each')
            before = (items,) if items > 1 else ()
            return numpy.broadcast_to(array.reshape(before + array.shape[-3:]), before + array.shape[-3:-1] + (found.shape[-1],))

        bias, never = shaped(found.bias), shaped(found.never)
        if numpy.isnan(bias).any() or numpy.isposinf(bias).any():
            raise ExportError(f'{node}: its mask has a NaN or an infinity above 0')
        most = bias.max(-1, keepdims=True)
        # What is added to all keys of a query makes no difference; large numbers would cost digits.
        bias = bias - numpy.where((numpy.abs(most) >= 100) & ~numpy.isneginf(most), most, 0.0)
        bias = numpy.where(never, -numpy.inf, bias)
        return bias if (bias != 0).any() else None
