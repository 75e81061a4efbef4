"""Finds, in a graph, what exporters spell out in many nodes: attention (attention_pattern.py), normalisations, activations, projections with
a bias.

Each pattern looks at the value that it would compute, backwards, and gives a Match or None. Values between are not computed unless
something else reads them.
"""
import math
from typing import Iterator, List, Optional, Tuple

import numpy

from .attention_pattern import Match
from .graph import Node
from .pooling_pattern import PoolingPattern
from .rotary_pattern import RotaryPattern

GATES = {'Sigmoid': 'sigmoid', 'Relu': 'relu', 'Tanh': 'tanh'}


class Patterns(PoolingPattern, RotaryPattern):
    def find(self, name: str) -> Optional[Match]:
        node = self.graph.producers[name]
        for pattern in (self.pooling, self.attention, self.weights, self.normalisation, self.gelu, self.gated, self.silu, self.biased, self.rotary,
                        self.choice):
            match = pattern(node)
            if match:
                return match
        return None

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
        if mean is None or not self._is_last_mean(mean, x) or not self._is_mean_square(variance, centred) or not self._is_shaped(node, x):
            return None
        return Match('layer_norm', node, [x], {'weight': weight, 'bias': bias, 'epsilon': epsilon})

    def _rms_norm(self, node: Node) -> Optional[Match]:
        width = self.graph.shapes[node.outputs[0]][-1:]
        name, weight = node.outputs[0], None
        for inner, other in self.sides(node) if node.kind == 'Mul' and width else []:
            if self.vector(other, width[0]) is not None and inner not in self.graph.constants:
                name, weight = inner, self.vector(other, width[0])
        for x, root in self._quotients(name):
            (square, epsilon), x = self._plus_epsilon(root), self.past_identities(x)
            if self._is_mean_square(square, x) and self._is_shaped(node, x):
                return Match('rms_norm', node, [x], {'weight': weight, 'bias': None, 'epsilon': epsilon})
            if epsilon > 0 and self._is_mean_square(square, x, 'ReduceSum') and self._is_shaped(node, x):  # of length 1, as keys of delta rules
                count = width[0]
                weight = (1.0 if weight is None else weight) * numpy.full(count, count ** -0.5)
                return Match('rms_norm', node, [x], {'weight': weight, 'bias': None, 'epsilon': epsilon / count})
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

    def _is_shaped(self, node: Node, x: str) -> bool:
        return self.graph.shapes[node.outputs[0]] == self.graph.shapes[x]

    def _plus_epsilon(self, name: str) -> Tuple[str, float]:
        for inner, other in self.sides(self.producer(name, 'Add')):
            epsilon = self.scalar(other)
            if epsilon is not None:
                return inner, epsilon
        return name, 0.0

    def _is_last_mean(self, mean: Node, x: str) -> bool:
        ndim, keeps = len(self.graph.shapes[x]), mean.attributes.flag('keepdims', 1)
        return self.past_identities(mean.inputs[0]) == x and keeps and self.axes_of(mean, ndim) == [ndim - 1]

    def _is_mean_square(self, name: str, x: str, kind: str = 'ReduceMean') -> bool:
        mean = self.producer(name, kind)
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
        for x, other in [factors, factors[::-1]] if len(factors) == 2 and math.isclose(number, 0.5, rel_tol=2e-6) else []:
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
            if self.past_identities(linear) == x and is_cube and math.isclose(number, 0.044715, rel_tol=2e-6):
                return math.isclose(by, math.sqrt(2 / math.pi), rel_tol=2e-6)
        return False

    def silu(self, node: Node) -> Optional[Match]:
        for x, other in self.sides(node) if node.kind == 'Mul' else []:
            sigmoid = self.producer(other, 'Sigmoid')
            if sigmoid and self.past_identities(sigmoid.inputs[0]) == self.past_identities(x):
                return Match('silu', node, [self.past_identities(x)], {})
        return None

    def gated(self, node: Node) -> Optional[Match]:
        """f(x) * y, where nothing else reads f(x): SiLU, GELU, or the sigmoid of a gated linear unit."""
        for inner, other in self.sides(node) if node.kind == 'Mul' else []:
            inner, function = self.past_identities(inner), self.graph.producers.get(self.past_identities(inner))
            if function is None or self.graph.uses[inner] != 1 or other in self.graph.constants or \
                    self.graph.shapes[inner] != self.graph.shapes[other]:
                continue
            match = self.silu(function) or self.gelu(function) or function.kind in GATES and Match(GATES[function.kind], node, [function.inputs[0]], {})
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

    # A choice

    def choice(self, node: Node) -> Optional[Match]:
        """Floats that are one of two arrays, as conditions on inputs say."""
        name = node.outputs[0]
        if self.masks.parts.get(name):
            parts = self.masks.parts[name]
            return Match('bools', node, [each for part in parts for each in part.names()], {'parts': parts})
        few = self.masks.few(name) if self.graph.kinds[name] == 'f' else None
        if few is not None:
            yes, no = few.table[(True,) * len(few.conditions)], few.table[(False,) * len(few.conditions)]
            condition = few.changed(lambda value: value == yes)
            fits = all(numpy.array_equal(numpy.where(condition.table[key], yes, no), value) for key, value in few.table.items())
            return Match('choice', node, few.names(), {'condition': condition, 'values': [yes, no]}) if fits else None
        condition = self.masks.few(node.inputs[0]) if node.kind == 'Where' and self.graph.kinds[name] == 'f' else None
        return Match('choice', node, condition.names() + node.inputs[1:], {'condition': condition, 'values': node.inputs[1:]}) if condition else None
