"""What patterns are found by: producers, constants, factors."""
import math
from typing import Any, Iterator, Optional, Tuple

from .errors import ExportError
from .graph import Graph, Node


class Search:
    def __init__(self, graph: Graph):
        self.graph = graph
        self.places = {id(node): place for place, node in enumerate(graph.nodes)}

    def producer(self, name: str, *kinds: str) -> Optional[Node]:
        """Of a value, past nodes that change nothing, if it is of one of the kinds."""
        node = self.graph.producers.get(self.past_identities(name))
        return node if node and node.kind in kinds else None

    def past_identities(self, name: str) -> str:
        while True:
            node = self.graph.producers.get(name)
            if node is None or node.kind not in ('Identity', 'Dropout', 'Cast') or self.graph.shapes[name] == ():
                return name
            if node.kind == 'Cast' and (node.attributes.whole('to') not in (1, 10, 11, 16) or self.graph.kinds[node.inputs[0]] != 'f'):
                return name
            name = node.inputs[0]

    def past_leading(self, name: str) -> str:
        """Past nodes that put axes before the last three into another shape, as windows of several pictures have them."""
        while True:
            name = self.past_identities(name)
            node = self.graph.producers.get(name)
            if node is None or node.kind != 'Reshape' or len(self.graph.shapes[name]) < 4 or self.graph.shapes[name][-3:] != self.graph.shapes[node.inputs[0]][-3:]:
                return name
            node.attributes.irrelevant('allowzero')
            name = node.inputs[0]

    def scalar(self, name: str) -> Optional[float]:
        array = self.graph.constant(name)
        return float(array.reshape(-1)[0]) if array is not None and array.size == 1 and array.dtype.kind in 'fiu' else None

    def vector(self, name: str, width: int) -> Any:
        """A constant that is one row of numbers for the last axis."""
        array = self.graph.constant(name)
        return array.reshape(-1) if array is not None and array.size == width and (array.ndim == 0 or array.shape[-1] == width) else None

    def axes_of(self, node: Node, ndim: int) -> Any:
        """Of a reduction, of an array of so many axes; None: all."""
        axes = self.graph.constants.get(node.inputs[1]) if len(node.inputs) > 1 else node.attributes.wholes('axes', None)
        return None if axes is None else [int(axis) % ndim for axis in axes]

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
                same_shape = inner in self.graph.shapes and self.graph.shapes[inner] == self.graph.shapes[node.outputs[0]]
                if number is not None and inner not in self.graph.constants and same_shape and (number != 0 or node.kind == 'Mul'):
                    name, factor = inner, factor * number if node.kind == 'Mul' else factor / number
                    break
            else:
                return self.past_identities(name), factor

    def unscaled(self, name: str) -> Tuple[str, float]:
        """As scaled(), also past what past_leading() passes."""
        factor = 1.0
        while True:
            inner, by = self.scaled(self.past_leading(name))
            if inner == name:
                return name, factor
            name, factor = inner, factor * by

    def require_last_axis(self, softmax: Node) -> None:
        """Before version 13 a softmax is of a matrix whose columns are all axes from its own on."""
        shape = self.graph.shapes[softmax.inputs[0]]
        axis = softmax.attributes.whole('axis', -1 if self.graph.opset >= 13 else 1)
        if axis % len(shape) != len(shape) - 1 and (self.graph.opset >= 13 or math.prod(shape[axis % len(shape):-1]) != 1):
            raise ExportError(f'{softmax}: softmax along axis {axis} of {len(shape)}, over queries; expected the last one, the keys, along which attention is '
                              'normalised: axis=-1. No Transpose makes this attention; a model that means it needs it outside of what is exported')

    def is_scaled(self, name: str, inner: str, factor: float) -> bool:
        found, by = self.scaled(name)
        return found == inner and math.isclose(by, factor, rel_tol=2e-6)

    def plus(self, name: str, number: float) -> Optional[str]:
        """x of x + number."""
        for inner, other in self.sides(self.producer(name, 'Add')):
            found = self.scalar(other)
            if found is not None and math.isclose(found, number, rel_tol=2e-6):
                return inner
        return None
