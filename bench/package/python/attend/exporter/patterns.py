"""Finds, in a graph, what exporters spell out in many nodes: attention, normalisations, activations, projections with a bias.

Each pattern looks at the value that it would compute, backwards, and gives a Match or None. Values between are not computed unless
something else reads them.
"""
import math
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy

from .errors import ExportError
from .graph import Graph, Node

MASKED = -1e4  # an additive mask at or below it: exporters write -10000, the lowest float, or -infinity


class Match(NamedTuple):
    kind: str
    node: Node            # the last one
    values: List[str]     # what it reads
    settings: Dict[str, Any]


class Patterns:
    def __init__(self, graph: Graph):
        self.graph = graph

    def find(self, name: str) -> Optional[Match]:
        node = self.graph.producers[name]
        for pattern in (self.attention, self.weights, self.normalisation, self.gelu, self.gated, self.silu, self.biased):
            match = pattern(node)
            if match:
                return match
        return None

    # What graphs are made of

    def producer(self, name: str, *kinds: str) -> Optional[Node]:
        """Of a value, past nodes that change nothing, if it is of one of the kinds."""
        node = self.graph.producers.get(self.past_identities(name))
        return node if node and node.kind in kinds else None

    def past_identities(self, name: str) -> str:
        while True:
            node = self.graph.producers.get(name)
            if node is None or node.kind not in ('Identity', 'Dropout', 'Cast') or self.graph.shapes[name] == ():
                return name
            if node.kind == 'Cast' and node.attributes['to'] not in (1, 10, 11, 16):
                return name
            name = node.inputs[0]

    def scalar(self, name: str) -> Optional[float]:
        array = self.graph.constant(name)
        return float(array.reshape(-1)[0]) if array is not None and array.size == 1 and array.dtype.kind in 'fiu' else None

    def vector(self, name: str, width: int) -> Any:
        """A constant that is one row of numbers for the last axis."""
        array = self.graph.constant(name)
        return array.reshape(-1) if array is not None and array.size == width and (array.ndim == 0 or array.shape[-1] == width) else None

    def sides(self, node: Optional[Node]) -> Iterator[Tuple[str, str]]:
        if node is not None:
            yield node.inputs[0], node.inputs[1]
            yield node.inputs[1], node.inputs[0]

    def scaled(self, name: str) -> Tuple[str, float]:
        """A value without the constant factors that it was multiplied by, and their product."""
        factor = 1.0
        while True:
            node = self.producer(name, 'Mul', 'Div', 'Neg')
            if node is None:
                return self.past_identities(name), factor
            if node.kind == 'Neg':
                name, factor = node.inputs[0], -factor
                continue
            for inner, by in [(node.inputs[0], node.inputs[1])] + ([(node.inputs[1], node.inputs[0])] if node.kind == 'Mul' else []):
                number = self.scalar(by)
                if number is not None and inner not in self.graph.constants:
                    name, factor = inner, factor * number if node.kind == 'Mul' else factor / number
                    break
            else:
                return self.past_identities(name), factor

    def is_scaled(self, name: str, inner: str, factor: float) -> bool:
        found, by = self.scaled(name)
        return found == inner and math.isclose(by, factor, rel_tol=1e-4)

    def plus(self, name: str, number: float) -> Optional[str]:
        """x of x + number."""
        for inner, other in self.sides(self.producer(name, 'Add')):
            found = self.scalar(other)
            if found is not None and math.isclose(found, number, rel_tol=1e-4):
                return inner
        return None

    # Attention: softmax(scale * query key^T + bias) value

    def attention(self, node: Node) -> Optional[Match]:
        if node.kind != 'MatMul':
            return None
        softmax = self.producer(node.inputs[0], 'Softmax')
        if softmax is None or node.inputs[1] in self.graph.constants:
            return None
        values, settings = self._scores(softmax)
        return Match('attention', node, values + [node.inputs[1]], settings)

    def weights(self, node: Node) -> Optional[Match]:
        """The weights alone, where something else than the values reads them."""
        if node.kind != 'Softmax':
            return None
        inner = self._before_masks(node.inputs[0])
        if inner is None or any(name in self.graph.constants for name in inner.inputs):
            return None
        values, settings = self._scores(node)
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
        axis, axes = softmax.attributes.get('axis', -1 if self.graph.opset >= 13 else 1), len(self.graph.shapes[softmax.inputs[0]])
        if axis % axes != axes - 1 and (self.graph.opset >= 13 or axes != 3):
            raise ExportError(f'{softmax}: softmax along axis {axis} of attention; expected the last one, the keys')
        shape = self.graph.shapes[softmax.outputs[0]]
        bias, factor, scores = numpy.zeros((1, 1)), 1.0, softmax.inputs[0]
        while True:
            name = self.past_identities(scores)
            inner = self.producer(name, 'Add', 'Where', 'Mul', 'Div', 'MatMul')
            if inner is None:
                raise ExportError(f'{softmax}: its scores are no product of queries and keys, scaled and masked: {self.graph.producers[name]}')
            if inner.kind == 'MatMul':
                break
            found, by = self.scaled(name)
            if found != name:
                scores, factor = found, factor * by
                continue
            masked = self._masked(inner)
            if masked is None or factor < 0:
                raise ExportError(f'{inner}: this mask or bias of attention is not constant. Make it a constant (of causal attention, as '
                                  'torch.nn.Transformer.generate_square_subsequent_mask makes it), or leave it out')
            scores, more = masked
            # A mask is not scaled: what is masked stays masked.
            bias = bias + numpy.where(more <= MASKED, -numpy.inf, more * factor)
        query, of_query = self.scaled(inner.inputs[0])
        key, of_key, transposed = self._key(inner.inputs[1])
        return [query, key], {'scale': factor * of_query * of_key, 'bias': self._bias(bias, shape, softmax), 'transposed': transposed}

    def _key(self, name: str) -> Tuple[str, float, Any]:
        """The keys, their factor, and the axes in which a Transpose beneath the factor has put them."""
        key, factor = self.scaled(name)
        node = self.producer(key, 'Transpose')
        if node is None:
            return key, factor, None
        inner, more = self.scaled(node.inputs[0])
        if inner == self.past_identities(node.inputs[0]):
            return key, factor, None
        return inner, factor * more, node.attributes.get('perm') or list(range(len(self.graph.shapes[inner])))[::-1]

    def _masked(self, node: Node) -> Optional[Tuple[str, Any]]:
        """Scores before a mask, and the mask as numbers that are added."""
        if node.kind == 'Where':
            condition, yes, no = (self.graph.constant(name) for name in node.inputs)
            if condition is not None and no is not None and yes is None and (no <= MASKED).all():
                return node.inputs[1], numpy.where(condition, 0.0, -numpy.inf)
            if condition is not None and yes is not None and no is None and (yes <= MASKED).all():
                return node.inputs[2], numpy.where(condition, -numpy.inf, 0.0)
            return None
        for scores, mask in self.sides(node) if node.kind == 'Add' else []:
            array = self.graph.constant(mask)
            if array is not None:
                return scores, array
        return None

    def _bias(self, bias: Any, shape: Any, node: Node) -> Any:
        """[1 or heads, 1 or queries, keys], or None where it does nothing."""
        bias = bias.reshape((1,) * max(0, 3 - bias.ndim) + bias.shape)
        if math.prod(bias.shape[:-3]) != 1:
            raise ExportError(f'{node}: its mask has the shape {list(bias.shape)}; expected one for all items of the batch')
        bias = numpy.broadcast_to(bias.reshape(bias.shape[-3:]), bias.shape[-3:-1] + (shape[-1],))
        if numpy.isneginf(bias).all(-1).any():
            raise ExportError(f'{node}: its mask hides every key from a query')
        return bias if (bias != 0).any() else None

    # Normalisations

    def normalisation(self, node: Node) -> Optional[Match]:
        return self._layer_norm(node) or self._rms_norm(node)

    def _layer_norm(self, node: Node) -> Optional[Match]:
        width = self.graph.shapes[node.outputs[0]][-1:]
        name, weight, bias = node.outputs[0], None, None
        for inner, other in self.sides(node) if node.kind == 'Add' and width else []:
            if self.vector(other, width[0]) is not None and inner not in self.graph.constants:
                name, bias = inner, self.vector(other, width[0])
        product = self.producer(name, 'Mul')
        for inner, other in self.sides(product) if width else []:
            if self.vector(other, width[0]) is not None and inner not in self.graph.constants:
                name, weight = inner, self.vector(other, width[0])
        quotient = self.producer(name, 'Div')
        if quotient is None:
            return None
        centred, root = self.past_identities(quotient.inputs[0]), self.producer(quotient.inputs[1], 'Sqrt')
        difference = self.producer(centred, 'Sub')
        if root is None or difference is None:
            return None
        x, mean = self.past_identities(difference.inputs[0]), self.producer(difference.inputs[1], 'ReduceMean')
        variance, epsilon = self._plus_epsilon(root.inputs[0])
        if mean is None or not self._is_last_mean(mean, x) or not self._is_mean_square(variance, centred):
            return None
        return Match('layer_norm', node, [x], {'weight': weight, 'bias': bias, 'epsilon': epsilon})

    def _rms_norm(self, node: Node) -> Optional[Match]:
        width = self.graph.shapes[node.outputs[0]][-1:]
        name, weight = node.outputs[0], None
        for inner, other in self.sides(node) if node.kind == 'Mul' and width else []:
            if self.vector(other, width[0]) is not None and inner not in self.graph.constants:
                name, weight = inner, self.vector(other, width[0])
        for x, root in self._quotients(name):
            square, epsilon = self._plus_epsilon(root)
            if self._is_mean_square(square, self.past_identities(x)):
                return Match('rms_norm', node, [self.past_identities(x)], {'weight': weight, 'bias': None, 'epsilon': epsilon})
        return None

    def _quotients(self, name: str) -> Iterator[Tuple[str, str]]:
        """x and y of x / sqrt(y), in the ways in which it is written."""
        quotient = self.producer(name, 'Div')
        root = quotient and self.producer(quotient.inputs[1], 'Sqrt')
        if quotient and root:
            yield quotient.inputs[0], root.inputs[0]
        for x, other in self.sides(self.producer(name, 'Mul')):
            reciprocal = self.producer(other, 'Reciprocal')
            root = reciprocal and self.producer(reciprocal.inputs[0], 'Sqrt')
            divided = self.producer(other, 'Div')
            if divided and self.scalar(divided.inputs[0]) == 1:
                root = self.producer(divided.inputs[1], 'Sqrt')
            power = self.producer(other, 'Pow')
            if root:
                yield x, root.inputs[0]
            elif power and self.scalar(power.inputs[1]) == -0.5:
                yield x, power.inputs[0]

    def _plus_epsilon(self, name: str) -> Tuple[str, float]:
        for inner, other in self.sides(self.producer(name, 'Add')):
            epsilon = self.scalar(other)
            if epsilon is not None:
                return inner, epsilon
        return name, 0.0

    def _is_last_mean(self, mean: Node, x: str) -> bool:
        axes = mean.attributes.get('axes') or (self.graph.constants.get(mean.inputs[1]) if len(mean.inputs) > 1 else None)
        ndim = len(self.graph.shapes[x])
        return self.past_identities(mean.inputs[0]) == x and axes is not None and [int(axis) % ndim for axis in axes] == [ndim - 1]

    def _is_mean_square(self, name: str, x: str) -> bool:
        mean = self.producer(name, 'ReduceMean')
        square = mean and self.producer(mean.inputs[0], 'Pow', 'Mul')
        if not mean or not square or not self._is_last_mean(mean, square.outputs[0]):
            return False
        if square.kind == 'Mul':
            return all(self.past_identities(each) == x for each in square.inputs)
        return self.past_identities(square.inputs[0]) == x and self.scalar(square.inputs[1]) == 2

    # Activations

    def gelu(self, node: Node) -> Optional[Match]:
        """0.5 x (1 + erf(x / sqrt 2)), or with tanh(sqrt(2 / pi) (x + 0.044715 x^3)), whatever the order of its factors."""
        if node.kind != 'Mul':
            return None
        factors, number = self._factors(node.outputs[0])
        for x, other in [factors, factors[::-1]] if len(factors) == 2 and math.isclose(number, 0.5, rel_tol=1e-4) else []:
            inner = self.plus(other, 1.0)
            erf, tanh = (inner and self.producer(inner, 'Erf')), (inner and self.producer(inner, 'Tanh'))
            if erf and self.is_scaled(erf.inputs[0], x, math.sqrt(0.5)):
                return Match('gelu', node, [x], {})
            if tanh and self._is_cubic(tanh.inputs[0], x):
                return Match('gelu_tanh', node, [x], {})
        return None

    def _factors(self, name: str) -> Tuple[List[str], float]:
        """The factors of a product of products that are not constant, and the product of those that are."""
        found, number, open_ = [], 1.0, [name]
        while open_ and len(found) < 4:
            name, by = self.scaled(open_.pop())
            number *= by
            node = self.producer(name, 'Mul')
            if node is not None and not any(each in self.graph.constants for each in node.inputs):
                open_ += node.inputs[::-1]
            else:
                found.append(name)
        return found, number

    def _is_cubic(self, name: str, x: str) -> bool:
        inner, by = self.scaled(name)
        for linear, cubic in self.sides(self.producer(inner, 'Add')):
            factors, number = self._factors(cubic)
            power = self.producer(factors[0], 'Pow') if len(factors) == 1 else None
            is_cube = factors == [x] * 3 or (power is not None and self.past_identities(power.inputs[0]) == x and
                                             self.scalar(power.inputs[1]) == 3)
            if self.past_identities(linear) == x and is_cube and math.isclose(number, 0.044715, rel_tol=1e-4):
                return math.isclose(by, math.sqrt(2 / math.pi), rel_tol=1e-4)
        return False

    def silu(self, node: Node) -> Optional[Match]:
        for x, other in self.sides(node) if node.kind == 'Mul' else []:
            sigmoid = self.producer(other, 'Sigmoid')
            if sigmoid and self.past_identities(sigmoid.inputs[0]) == self.past_identities(x):
                return Match('silu', node, [self.past_identities(x)], {})
        return None

    def gated(self, node: Node) -> Optional[Match]:
        """f(x) * y, where nothing else reads f(x)."""
        for inner, other in self.sides(node) if node.kind == 'Mul' else []:
            inner, function = self.past_identities(inner), self.graph.producers.get(self.past_identities(inner))
            if function is None or self.graph.uses[inner] != 1 or other in self.graph.constants or \
                    self.graph.shapes[inner] != self.graph.shapes[other]:
                continue
            match = self.silu(function) or self.gelu(function)
            if match and self.past_identities(other) != match.values[0]:
                return Match('gated', node, [match.values[0], other], {'function': match.kind})
        return None

    # A projection with a bias

    def biased(self, node: Node) -> Optional[Match]:
        for inner, other in self.sides(node) if node.kind == 'Add' else []:
            product = self.producer(inner, 'MatMul')
            bias = self.vector(other, self.graph.shapes[node.outputs[0]][-1]) if self.graph.shapes[node.outputs[0]] else None
            if product and bias is not None and product.inputs[1] in self.graph.constants:
                if self.graph.constants[product.inputs[1]].ndim == 2:
                    return Match('biased', product, [product.inputs[0]], {'bias': bias})
        return None
