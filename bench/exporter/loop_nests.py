"""Loops over the elements of arrays with strides, as text."""
import math
from typing import Any, List, Tuple

import numpy

from .program import View
from .streaming import ByPosition


def collapsed(shape: Any, operands: List[Any]) -> Tuple[List[int], List[List[int]]]:
    """As few axes as the strides of all operands, which repeat along missing ones, allow; and the strides of each."""
    strides = []
    for operand in operands:
        if isinstance(operand, ByPosition):
            row = operand.rows[0]
            array = row.reshape(shape) if row.size == math.prod(shape) else numpy.broadcast_to(row, shape)
        elif isinstance(operand, View):
            array = numpy.broadcast_to(operand.array, shape)
        else:
            array = numpy.broadcast_to(numpy.ascontiguousarray(operand), shape)
        strides.append([0 if size == 1 else stride // array.itemsize for size, stride in zip(shape, array.strides)])
    axes: List[Any] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        own = [steps[axis] for steps in strides]
        if axes and all(before == size * step for before, step in zip(axes[-1][1], own)):
            axes[-1] = (axes[-1][0] * size, own)
        else:
            axes.append((size, own))
    axes = axes or [(1, [1] * len(operands))]
    return [size for size, _ in axes], [[own[which] for _, own in axes] for which in range(len(operands))]


def nest(names: str, sizes: List[int], text: str) -> List[str]:
    """Loops around a statement."""
    lines = []
    for depth, (name, size) in enumerate(zip(names, sizes)):
        last = depth == len(sizes) - 1
        lines.append('  ' * depth + f'for (int {name} = 0; {name} < {size}; ++{name}) ' + (text if last else '{'))
    if not sizes:
        return [text]
    return lines + ['  ' * depth + '}' for depth in range(len(sizes) - 2, -1, -1)]
