"""Arrays that have one of few constant values, as some conditions on inputs say: what masks are computed of, however a graph spells it.

A condition compares elements of computed arrays, or of one and constants: a mask of bools or of whole numbers, positions that are below a number
of tokens. What is made of conditions element by element, or by moving elements, has a constant array for each combination of them, which the
operators themselves compute. So bools, whole numbers and floats, negations and fillings are one thing here.
"""
import itertools
import math
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy

from .graph import Graph, Node
from .operators import MOST_ELEMENTS, OPERATORS

MOST_CONDITIONS = 4  # of one array: it has 2^n values
RELATIONS = {'Equal': '==', 'Less': '<', 'LessOrEqual': '<=', 'Greater': '>', 'GreaterOrEqual': '>='}
BY_ELEMENT = (*RELATIONS, 'Not', 'And', 'Or', 'Xor', 'Where', 'Cast', 'Add', 'Sub', 'Mul', 'Div', 'Neg', 'Abs', 'Min', 'Max', 'Clip', 'Identity', 'Dropout', 'Pow',
              'Sign', 'Relu')
MOVING = ('Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Transpose', 'Slice', 'Expand', 'Tile', 'Gather')


class Condition(NamedTuple):
    """Which elements of two arrays are compared, for each element of a third: numbers of elements, or those of a constant, whose name is ''."""

    relation: str
    names: Tuple[str, str]
    elements: Tuple[Any, Any]

    def changed(self, function: Any) -> 'Condition':
        return self._replace(elements=tuple(map(function, self.elements)))

    def is_same(self, other: 'Condition') -> bool:
        return self[:2] == other[:2] and all(map(numpy.array_equal, self.elements, other.elements))


class FewValues(NamedTuple):
    conditions: List[Condition]
    table: Dict[Tuple[bool, ...], Any]

    def names(self) -> List[str]:
        return [name for each in self.conditions for name in each.names if name]

    def changed(self, function: Any) -> 'FewValues':
        """What a function makes of each of the values, element by element."""
        return FewValues(self.conditions, {key: function(value) for key, value in self.table.items()})

    def moved(self, function: Any) -> 'FewValues':
        """The same elements where a function puts them."""
        return FewValues([each.changed(function) for each in self.conditions], self.changed(function).table)


class Masks:
    """Finds them in a graph."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.found: Dict[str, Optional[FewValues]] = {}
        self.parts: Dict[str, List[FewValues]] = {}  # of bools that are computed before others are made of them, one behind another
        for node in graph.nodes:  # in their order, so that none asks for another one's
            for name in node.outputs:
                if name in graph.shapes:
                    self.few(name)

    def few(self, name: str) -> Optional[FewValues]:
        """Of a constant it has one value and no condition. None: it has many values, or conditions."""
        if name not in self.found:
            self.found[name] = self._few(name)
        return self.found[name]

    def _few(self, name: str) -> Optional[FewValues]:
        if name in self.graph.constants:
            return FewValues([], {(): self.graph.constants[name]})
        node = self.graph.producers.get(name)
        if node is None:
            return self.condition('!=', name, numpy.array(0)) if self.graph.types[name].kind == 'b' else None
        inputs = [self.few(each) for each in node.inputs if each] if node.kind in BY_ELEMENT + MOVING else [None]
        if node.kind == 'Where' and inputs[0] and inputs[1] and self._is_zero_beside(inputs[0], node.inputs[2]):
            inputs[2] = FewValues([], {(): numpy.zeros(self.graph.shapes[node.inputs[2]])})
        if node.kind == 'Concat' and self.graph.kinds[name] == 'b':
            parts = [self.few(each) for each in node.inputs]
            return self._apart(name, parts) if all(parts) else None
        if all(inputs):
            return self._of_each(node, inputs) if node.kind in BY_ELEMENT else self._moved(node, inputs)
        if node.kind in RELATIONS and all(each is None or not each.conditions for each in inputs):
            return self.condition(RELATIONS[node.kind], *node.inputs, shape=self.graph.shapes[name])
        if node.kind == 'Cast' and node.attributes.whole('to') == 9:
            return self.condition('!=', node.inputs[0], numpy.array(0))
        return None

    def _is_zero_beside(self, condition: FewValues, name: str) -> bool:
        """Whether an array is 0 where the condition does not hold, because it is the one that is compared with 0."""
        own = self.before_casts(name)
        is_own = [each.relation == '!=' and each.names == (own, '') and not each.elements[1].any() and
                  numpy.array_equal(each.elements[0], self.elements(own)) for each in condition.conditions]
        return is_own == [True] and bool(condition.table[(True,)].all()) and not condition.table[(False,)].any()

    def condition(self, relation: str, left: Any, right: Any, shape: Any = None, axes: Any = None) -> FewValues:
        """A bool: whether elements of two arrays, names or constants, are so. Its shape is that of both together. axes: of an array that has a name."""
        names, elements = [], []
        for each in (left, right):
            each = self.before_casts(each) if isinstance(each, str) else each
            each = self.graph.constants[each] if isinstance(each, str) and each in self.graph.constants else each
            names.append(each if isinstance(each, str) else '')
            elements.append(self.elements(each).reshape(axes or self.graph.shapes[each]) if isinstance(each, str) else each)
        made = Condition(relation, (names[0], names[1]), (elements[0], elements[1]))
        shape = numpy.broadcast_shapes(*(each.shape for each in elements)) if shape is None else shape
        return FewValues([made.changed(lambda each: numpy.broadcast_to(each, shape))], {(value,): numpy.full(shape, value) for value in (False, True)})

    def elements(self, name: str) -> Any:
        """The numbers of all elements."""
        return numpy.arange(numpy.prod(self.graph.shapes[name], dtype=int)).reshape(self.graph.shapes[name])

    def before_casts(self, name: str) -> str:
        """Whole numbers before they were made floats, or wide ones."""
        node = self.graph.producers.get(name)
        while node is not None and node.kind == 'Cast' and node.attributes.whole('to') in (1, 6, 7, 11) and self.graph.kinds[node.inputs[0]] in 'iu':
            name, node = node.inputs[0], self.graph.producers.get(node.inputs[0])
        return name

    def _of_each(self, node: Node, inputs: Any) -> Optional[FewValues]:
        shape = self.graph.shapes[node.outputs[0]]
        compute = lambda values: OPERATORS[node.kind].compute(node, self.graph.opset, *_with_missing(node, values))
        found = combined(inputs, compute, shape)
        if found is None:  # of too many conditions: bools are computed before
            names = [name for name in node.inputs if name]
            inputs = [self._apart(name, [few]) if self.graph.kinds[name] == 'b' and len(few.conditions) > 1 else few for name, few in zip(names, inputs)]
            found = combined(inputs, compute, shape)
        return found

    def _apart(self, name: str, parts: Any) -> FewValues:
        self.parts[name] = parts
        return self.condition('!=', name, numpy.array(0))

    def _moved(self, node: Node, inputs: Any) -> Optional[FewValues]:
        moved, *others = inputs
        if not moved.conditions or any(each.conditions for each in others):
            return None
        shape, constants = self.graph.shapes[node.inputs[0]], [each.table[()] for each in others]
        return moved.moved(lambda each: OPERATORS[node.kind].compute(node, self.graph.opset, numpy.broadcast_to(each, shape), *_with_missing(node, constants, 1)))


def _with_missing(node: Node, values: Any, first: int = 0) -> List[Any]:
    """Inputs that are left out are None."""
    rest = iter(values)
    return [next(rest) if name else None for name in node.inputs[first:]]


def combined(inputs: Any, compute: Any, shape: Any) -> Optional[FewValues]:
    """What a function of several arrays has, for each combination of their conditions."""
    conditions: List[Condition] = []
    places = []
    for each in inputs:
        places.append([])
        for condition in each.conditions:
            condition = condition.changed(lambda array: numpy.broadcast_to(array, shape))
            at = next((at for at, other in enumerate(conditions) if other.is_same(condition)), len(conditions))
            conditions += [condition] * (at == len(conditions))
            places[-1].append(at)
    if len(conditions) > MOST_CONDITIONS or math.prod(shape) << len(conditions) > MOST_ELEMENTS:
        return None
    table = {}
    with numpy.errstate(all='ignore'):
        for key in itertools.product((False, True), repeat=len(conditions)):
            values = [each.table[tuple(key[at] for at in places[which])] for which, each in enumerate(inputs)]
            table[key] = numpy.broadcast_to(compute(values), shape)
    return FewValues(conditions, table)
