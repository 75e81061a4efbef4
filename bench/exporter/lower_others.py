"""Operators that become several steps: activations in pieces, normalisations of groups, rows of other axes, edges that repeat what is inside."""
import math
from typing import Any, Callable, Dict, List

import numpy

from . import operators
from .errors import ExportError
from .graph import Node
from .program import View
from .steps import Elementwise, LogSoftmax, Reduce, Softmax


def memory_order(x: View) -> List[int]:
    """Axes from the one whose elements lie farthest from each other to the one whose elements are neighbours."""
    return sorted(range(len(x.shape)), key=lambda axis: -abs(x.strides[axis]))


class OtherNodes:
    """What Lowering takes for the operators in OTHERS: each gives the view of a node's output."""

    def _constants(self: Any, node: Node, what: str) -> List[Any]:
        """Its inputs from the second one on, three at least; None for those that are left out."""
        arrays = [self.graph.constants.get(name) for name in node.inputs[1:]]
        if any(array is None and name for array, name in zip(arrays, node.inputs[1:])):
            raise ExportError(f'{node}: its {what} computed; expected constants')
        return arrays + [None] * (3 - len(arrays))

    # Activations, by what lies below and above 0

    def _hard_sigmoid(self: Any, node: Node) -> View:
        x, (alpha, beta) = self._view(node, node.inputs[0]), (node.attributes.number('alpha', 0.2), node.attributes.number('beta', 0.5))
        return self._by_number('minimum', self._by_number('maximum', self._by_number('add', self._by_number('multiply', x, alpha), beta), 0.0), 1.0)

    def _hard_swish(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        part = self._by_number('minimum', self._by_number('maximum', self._by_number('add', x, 3.0), 0.0), 6.0)
        return self._by_number('multiply', self._combined('multiply', part, x, x.shape), 1 / 6)

    def _elu(self: Any, node: Node) -> View:
        x, (alpha, gamma, inner) = self._view(node, node.inputs[0]), operators.elu_attributes(node)
        below = self._activation('exp', self._by_number('multiply', self._by_number('minimum', x, 0.0), 1 / inner))
        below = self._by_number('multiply', self._by_number('subtract', below, 1.0), alpha * gamma)
        return self._combined('add', below, self._by_number('multiply', self._by_number('maximum', x, 0.0), gamma), x.shape)

    def _prelu(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        below = self._combined('multiply', self._by_number('minimum', x, 0.0), self._operand(node.inputs[1]), x.shape)
        return self._combined('add', below, self._by_number('maximum', x, 0.0), x.shape)

    def _absolute(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        return self._combined('maximum', x, self._by_number('multiply', x, -1.0), x.shape)

    # Along axes

    def _softmax(self: Any, node: Node) -> View:
        """Of rows that lie along the last axis."""
        x, axes = self._view(node, node.inputs[0]), operators.softmax_axes(node, self.graph.opset, len(self.graph.shapes[node.inputs[0]]))
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        rows = self._moved(x, lambda array: array.transpose(kept + axes))
        shape = rows.shape
        rows = self._dense(self._moved(rows, lambda array: array.reshape(shape[:len(kept)] + (math.prod(shape[len(kept):]),))))
        y = self._add((Softmax if node.kind == 'Softmax' else LogSoftmax)(self.place, [rows], self._new(rows.shape)))
        return self._moved(y, lambda array: array.reshape(shape).transpose(numpy.argsort(kept + axes)))

    def _reduced(self: Any, function: str, x: View, axes: List[int]) -> View:
        """In the order of the other axes: means, maxima, minima and the roots of sums of squares."""
        kept, count = [axis for axis in range(len(x.shape)) if axis not in axes], math.prod(x.shape[axis] for axis in axes)
        if function == 'minimum':
            return self._by_number('multiply', self._reduced('maximum', self._by_number('multiply', x, -1.0), axes), -1.0)
        if function == 'length':  # x is its normalised row times the root of the mean of squares
            rows = self._dense(self._moved(self._moved(x, lambda array: array.transpose(kept + axes)), lambda array: array.reshape(-1, count)))
            column = lambda view: self._moved(view, lambda array: array.reshape(-1, 1))
            most = self._reduced('maximum', self._combined('maximum', rows, self._by_number('multiply', rows, -1.0), rows.shape), [1])
            most = self._by_number('maximum', most, 1e-37)  # over which no square is too small or too large
            rows = self._combined('divide', rows, column(most), rows.shape)
            products = self._combined('multiply', rows, self._norm('rms_norm', rows, count, None, None, 1e-30), rows.shape)
            length = self._combined('multiply', self._reduced('mean', products, [1]), most, most.shape)
            return self._by_number('multiply', length, math.sqrt(count))
        rows = self._dense(self._moved(self._moved(x, lambda array: array.transpose(axes + kept)), lambda array: array.reshape(count, -1)))
        return self._add(Reduce(function, self.place, rows, self._new((rows.shape[1],))))

    def _group_norm(self: Any, node: Node) -> View:
        """Of x [items, channels, ...]. Channels lie last then, as convolutions write and read them."""
        x, (weight, bias, _) = self._view(node, node.inputs[0]), self._constants(node, 'weight or bias is')
        groups, epsilon = operators.group_attributes(node, self.graph.opset, x.shape[1])
        rows = self._dense(self._moved(x, lambda array: array.reshape(x.shape[0] * groups, -1)))
        y = self._norm('layer_norm', rows, rows.shape[1], None, None, self._epsilon(node, epsilon))
        y = self._moved(self._moved(y, lambda array: array.reshape(x.shape)), lambda array: numpy.moveaxis(array, 1, -1))
        weight, bias = (numpy.repeat(each, x.shape[1] // each.size) for each in (weight, bias))
        if (weight != 1).any() or (bias != 0).any():
            y = self._add(Elementwise('multiply', self.place, y, self._finite(node.inputs[1], weight), self._new(y.shape)))
            y = self._add(Elementwise('add', self.place, y, self._finite(node.inputs[2], bias), self._new(y.shape)))
        return self._moved(y, lambda array: numpy.moveaxis(array, -1, 1))

    # Places

    def _chosen(self: Any, x: View, axis: int, places: Any) -> View:
        """Elements along an axis: where the places go by equal steps, without a copy."""
        parts, begin, places = [], 0, [int(place) for place in places]
        while begin < len(places):
            end = begin + 1
            step = places[end] - places[begin] if end < len(places) else 1
            while end < len(places) and places[end] - places[end - 1] == step:
                end += 1

            def run(array: Any, first: int = places[begin], count: int = end - begin, step: int = step) -> Any:
                array = array[(slice(None),) * axis + (slice(first, first + 1),)]
                strides = [stride * step if each == axis else stride for each, stride in enumerate(x.array.strides)]
                return numpy.lib.stride_tricks.as_strided(array, [count if each == axis else size for each, size in enumerate(x.shape)], strides)
            parts.append(self._moved(x, run))
            begin = end
        return parts[0] if len(parts) == 1 else self._joined(parts, axis)

    def _pad(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        mode, pads, fill = operators.pads(node, self.graph.opset, x.array, *self._constants(node, 'pads, value or axes are'))
        if mode == 'constant':
            return self._padded(x, pads, fill)
        for axis, both in enumerate(pads):
            x = self._chosen(x, axis, numpy.pad(numpy.arange(x.shape[axis]), both, mode)) if any(both) else x
        return x


OTHERS: Dict[str, Callable[[Any, Node], View]] = {
    'HardSigmoid': OtherNodes._hard_sigmoid, 'HardSwish': OtherNodes._hard_swish, 'PRelu': OtherNodes._prelu, 'Abs': OtherNodes._absolute,
    **{kind: OtherNodes._elu for kind in ('Elu', 'Selu', 'Celu')},
    **{kind: OtherNodes._softmax for kind in ('Softmax', 'LogSoftmax')},
    **{kind: OtherNodes._group_norm for kind in ('GroupNormalization', 'InstanceNormalization')},
    'Pad': OtherNodes._pad,
}
