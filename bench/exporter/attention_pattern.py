"""Finds attention that exporters spell out in many nodes: softmax(scale * query key^T + bias) value."""
import math
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy

from .errors import ExportError
from .graph import Node
from .graph_search import Search

MASKED = -1e4  # so far below the largest bias of a query keys are masked: exporters write -10000, the lowest float, or -infinity


class Match(NamedTuple):
    kind: str
    node: Node            # the last one
    values: List[str]     # what it reads
    settings: Dict[str, Any]


class AttentionPattern(Search):
    def attention(self, node: Node) -> Optional[Match]:
        if node.kind != 'MatMul':
            return None
        softmax = self.producer(node.inputs[0], 'Softmax')
        if softmax is None or node.inputs[1] in self.graph.constants:
            return None
        values, settings = self._scores(softmax)
        return Match('attention', node, values + [node.inputs[1]] + ([settings['computed']] if settings['computed'] else []), settings)

    def weights(self, node: Node) -> Optional[Match]:
        """The weights alone, where something else than the values reads them."""
        if node.kind != 'Softmax':
            return None
        inner = self._before_masks(node.inputs[0])
        if inner is None or any(name in self.graph.constants for name in inner.inputs):
            return None
        values, settings = self._scores(node)
        if settings['computed']:
            raise ExportError(f'{node}: the weights of attention with a computed mask are read by something else than its values')
        return Match('weights', node, values, settings)

    def _before_masks(self, name: str) -> Optional[Node]:
        """The product of queries and keys that scores are made of, if they are."""
        for _ in range(8):
            node = self.producer(self.scaled(name)[0], 'Add', 'Where', 'MatMul')
            if node is None or node.kind == 'MatMul':
                return node
            masked = self._masked(node)
            if masked is None:
                return None
            name = masked[0]
        return None

    def _scores(self, softmax: Node) -> Tuple[List[str], Dict[str, Any]]:
        """The queries and keys of a softmax, the scale and the bias."""
        self.require_last_axis(softmax)
        shape = self.graph.shapes[softmax.outputs[0]]
        bias, factor, scores, computed = numpy.zeros((1, 1)), 1.0, softmax.inputs[0], ''  # type: Any, float, str, str
        while True:
            name = self.past_leading(scores)
            inner = self.producer(name, 'Add', 'Where', 'Mul', 'Div', 'MatMul')
            if inner is None:
                raise ExportError(f'{softmax}: its scores are no product of queries and keys, scaled and masked, but '
                                  f'{self.graph.producers.get(name, chr(34) + name + chr(34))}')
            if inner.kind == 'MatMul':
                break
            found, by = self.scaled(name)
            if found != name:
                scores, factor = found, factor * by
                continue
            masked = self._masked(inner, factor)
            if masked is None and not computed and factor == 1:
                scores, computed = self._computed_mask(inner, shape)
                if computed:
                    continue
            if masked is None or factor <= 0 or self.graph.shapes[masked[0]][-3:] != shape[-3:]:
                raise ExportError(f'{inner}: this mask or bias of attention is neither constant nor an array that is added to scaled scores, it '
                                  'fills with numbers that hide no key, or scores are scaled by a factor below 0 or repeated after it. Change that (of causal attention, as torch.nn.Transformer.generate_square_subsequent_mask makes it), or leave it out')
            scores, more = masked
            bias = bias + more * factor
        query, of_query = self.scaled(inner.inputs[0])
        key, of_key, transposed = self._key(inner.inputs[1])
        settings = {'scale': factor * of_query * of_key, 'bias': self.bias_of(bias, shape, softmax), 'transposed': transposed}
        return [query, key], {**settings, 'computed': computed}

    def _computed_mask(self, node: Node, shape: Any) -> Tuple[str, str]:
        """Scores before a mask that is computed, and the mask, which is added: the operand that is no product of queries and keys."""
        for scores, mask in self.sides(node) if node.kind == 'Add' else []:
            if self._before_masks(scores) is not None and self._before_masks(mask) is None and self.graph.shapes[scores] == shape and \
                    self.graph.shapes[mask][-1:] == shape[-1:]:
                return scores, mask
        return node.outputs[0], ''

    def _key(self, name: str) -> Tuple[str, float, Any]:
        """The keys, their factor, and the axes in which a Transpose beneath the factor has put them."""
        key, factor = self.scaled(name)
        node = self.producer(key, 'Transpose')
        if node is None:
            return key, factor, None
        inner, more = self.scaled(node.inputs[0])
        if inner == self.past_identities(node.inputs[0]):
            return key, factor, None
        return inner, factor * more, node.attributes.wholes('perm', None) or list(range(len(self.graph.shapes[inner])))[::-1]

    def _masked(self, node: Node, factor: float = 1.0) -> Optional[Tuple[str, Any]]:
        """Scores before a mask, and the mask as numbers that are added. factor: what they are multiplied by later."""
        if node.kind == 'Where':
            condition, yes, no = (self.graph.constant(name) for name in node.inputs)
            if condition is not None and no is not None and yes is None and (no * factor <= MASKED).all():
                return node.inputs[1], numpy.where(condition, 0.0, -numpy.inf)
            if condition is not None and yes is not None and no is None and (yes * factor <= MASKED).all():
                return node.inputs[2], numpy.where(condition, -numpy.inf, 0.0)
            return None
        for scores, mask in self.sides(node) if node.kind == 'Add' else []:
            array = self.graph.constant(mask)
            if array is not None:
                return scores, array
        return None

    def bias_of(self, bias: Any, shape: Any, node: Node) -> Any:
        """[1 or heads, 1 or queries, keys], with an axis before it where items of the batch differ; or None where it does nothing."""
        bias = bias.reshape((1,) * max(0, 3 - bias.ndim) + bias.shape)
        items = math.prod(bias.shape[:-3])
        if items not in (1, math.prod(shape[:-3])):
            raise ExportError(f'{node}: its mask has the shape {list(bias.shape)}; expected one for all items of the batch, or one for each')
        before = (items,) if items > 1 else ()
        bias = numpy.broadcast_to(bias.reshape(before + bias.shape[-3:]), before + bias.shape[-3:-1] + (shape[-1],))
        if numpy.isnan(bias).any() or numpy.isposinf(bias).any():
            raise ExportError(f'{node}: its mask has a NaN or an infinity above 0')
        most = bias.max(-1, keepdims=True)
        if numpy.isneginf(most).any():
            raise ExportError(f'{node}: its mask hides every key from a query')
        # What is added to all keys of a query makes no difference; large numbers would cost digits.
        bias = bias - numpy.where(numpy.abs(most) >= 100, most, 0.0)
        bias = numpy.where(bias <= bias.max(-1, keepdims=True) + MASKED, -numpy.inf, bias)
        return bias if (bias != 0).any() else None
