"""The step that masks are computed by: comparisons of inputs and constants, element by element."""
import operator
from typing import Any, Callable, List, Tuple

import numpy

from .errors import ExportError
from .few_values import FewValues
from .program import Step, View

RELATIONS = {'==': operator.eq, '!=': operator.ne, '<': operator.lt, '<=': operator.le, '>': operator.gt, '>=': operator.ge}
BYTES = (numpy.array(1, numpy.uint8), numpy.array(0, numpy.uint8))
Literal = Tuple[str, int, int, bool]  # a relation of two operands, and whether it is to hold


class Choose(Step):
    """y = the second last of the operands where every term holds, the last one elsewhere; of bytes 1 and 0. A term holds where all literals of one
    of its alternatives do. Operands are views and constants, which may repeat along axes."""

    def __init__(self, name: str, operands: List[Any], terms: List[List[List[Literal]]], y: View, values: Any = BYTES):
        super().__init__(name, [*operands, *values], y)
        self.terms = terms

    def text(self) -> str:
        return f'mask of {self.writes.count} keys' if self.writes.type == 'uint8' else f'choice of {self.writes.count} numbers'

    def run(self) -> None:
        arrays = self.arrays()

        def holds(literal: Literal) -> Any:
            relation, left, right, expected = literal
            return RELATIONS[relation](*alike(arrays[left], arrays[right])) == expected

        found: Any = True
        for term in self.terms:
            found = found & joined(numpy.logical_or, [joined(numpy.logical_and, list(map(holds, literals))) for literals in term])
        self.writes.array[...] = numpy.where(found, *arrays[-2:])

    def expression(self, elements: List[str], cast: Callable[[str, str], str]) -> str:
        """In C, of its operands' elements."""
        kinds = ['f' if isinstance(each, View) and each.type == 'float32' or not isinstance(each, View) and each.dtype.kind == 'f' else 'i' for each in self.operands]

        def holds(literal: Literal) -> str:
            relation, left, right, expected = literal
            texts = [cast('float', elements[at]) if 'f' in (kinds[left], kinds[right]) and kinds[at] == 'i' else elements[at] for at in (left, right)]
            return f'{"" if expected else "!"}({texts[0]} {relation} {texts[1]})'

        terms = [' || '.join('(' + ' && '.join(map(holds, literals)) + ')' if len(literals) > 1 else holds(literals[0]) for literals in term) for term in self.terms]
        return f'{" && ".join(f"({term})" if len(terms) > 1 else term for term in terms) or "1"} ? {elements[-2]} : {elements[-1]}'


def joined(function: Any, values: List[Any]) -> Any:
    return function.reduce(numpy.broadcast_arrays(*values))


def alike(a: Any, b: Any) -> Any:
    """Floats of 32 bits where one of both is."""
    return (a.astype(numpy.float32), b.astype(numpy.float32)) if 'f' in (a.dtype.kind, b.dtype.kind) else (a, b)


class Operands:
    """Gathers the operands of a Choose. move: what brings arrays of the graph's shape into the axes of the result."""

    def __init__(self, lowering: Any, node: Any, move: Callable[[Any], Any]):
        self.lowering, self.node, self.move = lowering, node, move
        self.found: List[Any] = []

    def add(self, operand: Any) -> int:
        if not isinstance(operand, View):
            same = [at for at, other in enumerate(self.found) if not isinstance(other, View) and other.dtype == operand.dtype and numpy.array_equal(other, operand)]
            if same:
                return same[0]
        self.found.append(operand)
        return len(self.found) - 1

    def shape(self) -> Any:
        return numpy.broadcast_shapes(*(each.shape for each in self.found)) if self.found else ()

    def terms(self, masks: List[FewValues]) -> List[List[List[Literal]]]:
        return [term for term in map(self._term, masks) if term is not None]

    def _term(self, few: FewValues) -> Any:
        """None: it always holds."""
        if all(value.all() for value in few.table.values()):
            return None
        zero = self.add(numpy.array(0, numpy.int32))
        pairs = [self._pair(condition) for condition in few.conditions]
        literals = lambda key, expected=True: [(condition.relation, *pair, value == expected) for condition, pair, value in zip(few.conditions, pairs, key)]
        never = [key for key, value in few.table.items() if not value.any()]
        if len(never) == 1 and all(value.all() or not value.any() for value in few.table.values()):
            return [[literal] for literal in literals(never[0], False)]
        found = []
        for key, value in few.table.items():
            where = [] if value.all() else [('!=', self.add(compact(self.move(value)).astype(numpy.uint8)), zero, True)]
            found += [literals(key) + where] * bool(value.any())
        return found or [[('!=', zero, zero, True)]]

    def _pair(self, condition: Any) -> Tuple[int, int]:
        views = [self._elements(name, compact(self.move(numbers))) if name else None for name, numbers in zip(condition.names, condition.elements)]
        of_floats = any(view is not None and view.type == 'float32' for view in views)
        places = []
        for view, numbers in zip(views, condition.elements):
            if view is None:
                view = compact(self.move(numbers))
                whole = not of_floats and view.dtype.kind != 'f'
                if whole and view.size and not -2**31 <= int(view.min()) <= int(view.max()) < 2**31:
                    raise ExportError(f'{self.node}: its mask compares whole numbers with {view.min()} to {view.max()}; expected 32 bits')
                view = view.astype(numpy.int32 if whole else numpy.float32)
            places.append(self.add(view))
        return places[0], places[1]

    def _repeated(self, view: View, axis: int, count: int) -> View:
        """Each so many times, as items of a batch are beside heads in one axis."""
        shape, moved = view.shape, self.lowering._moved
        wider, longer = shape[:axis + 1] + (count,) + shape[axis + 1:], shape[:axis] + (shape[axis] * count,) + shape[axis + 1:]
        repeated = moved(view, lambda array: numpy.broadcast_to(numpy.expand_dims(array, axis + 1), wider))
        return moved(self.lowering._dense(repeated), lambda array: array.reshape(longer))

    def _elements(self, name: str, numbers: Any) -> View:
        """Elements of an array by their numbers, which must go by steps along each axis."""
        for axis, size in enumerate(numbers.shape):
            each = next((at for at in range(1, size) if (numbers.take(at, axis) != numbers.take(0, axis)).any()), size)
            fewer = numbers.take(range(0, size, each), axis) if size else numbers
            if 1 < each < size and size % each == 0 and numpy.array_equal(numpy.repeat(fewer, each, axis), numbers):
                return self._repeated(self._elements(name, fewer), axis, each)
        view = self.lowering._dense(self.lowering._view(self.node, name))
        first = int(numbers.reshape(-1)[0])
        steps = [int(numbers.take(1, axis).reshape(-1)[0]) - first if size > 1 else 0 for axis, size in enumerate(numbers.shape)]
        if not numpy.array_equal(numbers, first + sum(step * place for step, place in zip(steps, numpy.indices(numbers.shape, sparse=True)))):
            raise ExportError(f'{self.node}: its mask takes elements of "{name}" in an order without steps; expected them as they lie, or by Slice and Transpose')
        strides = [step * view.array.itemsize for step in steps]
        return View(view.buffer, numpy.lib.stride_tricks.as_strided(view.buffer.base[view.offset + first:], numbers.shape, strides))


def compact(array: Any) -> Any:
    """One element along axes that repeat it."""
    for axis in range(array.ndim):
        if array.shape[axis] > 1 and (array == array.take([0], axis)).all():
            array = array.take([0], axis)
    return array
