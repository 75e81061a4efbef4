"""Operators that are known for constants only: what numpy computes of them, in float64, a line each. They make tables and masks in a graph.

As those of operators.py they take the node, the version of ONNX's operators and arrays, and read every attribute that their operator has.
"""
from typing import Any, Callable, Dict, Tuple

import numpy

Computes = Callable[..., Any]


def plain(function: Computes) -> Computes:
    return lambda node, opset, *arrays: function(*arrays)


def type_of(number: int) -> Any:
    """Of ONNX's number of a type; all floats are computed in 64 bits."""
    kinds = {1: numpy.float64, 10: numpy.float64, 11: numpy.float64, 16: numpy.float64, 9: numpy.bool_, 6: numpy.int32, 7: numpy.int64,
             2: numpy.uint8, 3: numpy.int8, 4: numpy.uint16, 5: numpy.int16, 12: numpy.uint32, 13: numpy.uint64}
    if number not in kinds:
        raise ValueError(f'the type {number}; expected a float, an integer or bool')
    return kinds[number]


def _mod(node: Any, opset: int, a: Any, b: Any) -> Any:
    return numpy.fmod(a, b) if node.attributes.flag('fmod', 0) else numpy.mod(a, b)


def _cum_sum(node: Any, opset: int, x: Any, axis: Any) -> Any:
    exclusive, reverse, axis = node.attributes.flag('exclusive', 0), node.attributes.flag('reverse', 0), int(axis.reshape(-1)[0])
    x = numpy.flip(x, axis) if reverse else x
    y = numpy.cumsum(x, axis) - x if exclusive else numpy.cumsum(x, axis)
    return (numpy.flip(y, axis) if reverse else y).astype(x.dtype)


def _is_inf(node: Any, opset: int, x: Any) -> Any:
    above, below = node.attributes.flag('detect_positive', 1), node.attributes.flag('detect_negative', 1)
    return numpy.isposinf(x) & above | numpy.isneginf(x) & below


def _einsum(node: Any, opset: int, *x: Any) -> Any:
    return numpy.einsum(node.attributes.text('equation'), *x)


def _gather_nd(node: Any, opset: int, x: Any, indices: Any) -> Any:
    if opset >= 12 and node.attributes.whole('batch_dims', 0):
        raise ValueError('batch_dims; expected 0')
    return x[tuple(numpy.moveaxis(indices, -1, 0))]


def _gather_elements(node: Any, opset: int, x: Any, indices: Any) -> Any:
    axis = range(x.ndim)[node.attributes.whole('axis', 0)]
    x = x[tuple(slice(None) if i == axis else slice(size) for i, size in enumerate(indices.shape))]
    return numpy.take_along_axis(x, indices % x.shape[axis], axis)


def _scatter_nd(node: Any, opset: int, x: Any, indices: Any, updates: Any) -> Any:
    node.attributes.choice('reduction', 'none')
    y = x.copy()
    y[tuple(numpy.moveaxis(indices, -1, 0))] = updates
    return y


def _dequantise(node: Any, opset: int, x: Any, scale: Any, zero: Any = None) -> Any:
    """Scales and zero points of all elements, along an axis, or of blocks along it."""
    axis, block = (node.attributes.whole('axis', 1) if opset >= 13 else 1), node.attributes.whole('block_size', 0) if opset >= 21 else 0
    if opset >= 23:
        node.attributes.choice('output_dtype', 0, 1)
    spread = lambda each: numpy.repeat(each, block, axis) if block else each if each.size == 1 else each.reshape([-1] + [1] * (x.ndim - 1 - range(x.ndim)[axis]))
    return (x.astype(float) - (0.0 if zero is None else spread(zero).astype(float))) * spread(scale)


def _one_hot(node: Any, opset: int, indices: Any, depth: Any, values: Any) -> Any:
    count, axis = int(depth.reshape(-1)[0]), node.attributes.whole('axis', -1)
    at = numpy.where(indices < 0, indices + count, indices)[..., None] == numpy.arange(min(count, 1 << 20))
    return numpy.moveaxis(numpy.where(at, values[1], values[0]), -1, axis)


def _eye_like(node: Any, opset: int, x: Any) -> Any:
    dtype = node.attributes.whole('dtype', None)
    return numpy.eye(*x.shape, k=node.attributes.whole('k', 0), dtype=x.dtype if dtype is None else type_of(dtype))


def _bit_shift(node: Any, opset: int, a: Any, b: Any) -> Any:
    return a << b if node.attributes.choice('direction', 'LEFT', 'RIGHT') == 'LEFT' else a >> b


def _arg_min(node: Any, opset: int, x: Any) -> Any:
    if opset >= 12:
        node.attributes.choice('select_last_index', 0)
    return numpy.argmin(x, node.attributes.whole('axis', 0), keepdims=node.attributes.flag('keepdims', 1))


# Of operators that reduce along axes: the function, and the version in which axes became an input.
REDUCTIONS: Dict[str, Tuple[Computes, int]] = {
    'ReduceProd': (numpy.prod, 18), 'ReduceL1': (lambda x, **axes: abs(x).sum(**axes), 18),
    'ReduceSumSquare': (lambda x, **axes: (x * x).sum(**axes), 18),
    'ReduceLogSum': (lambda x, **axes: numpy.log(x.sum(**axes)), 18), 'ReduceLogSumExp': (lambda x, **axes: numpy.log(numpy.exp(x).sum(**axes)), 18)}

# How many inputs there are at least and at most, the version that the operator came with, and what it computes.
OTHERS: Dict[str, Tuple[Tuple[int, int], int, Computes]] = {
    **{kind: ((1, 1), first, plain(function)) for kind, first, function in (
        ('Sin', 7, numpy.sin), ('Cos', 7, numpy.cos), ('Tan', 7, numpy.tan), ('Asin', 7, numpy.arcsin), ('Acos', 7, numpy.arccos), ('Atan', 7, numpy.arctan),
        ('Sinh', 9, numpy.sinh), ('Cosh', 9, numpy.cosh), ('Asinh', 9, numpy.arcsinh), ('Acosh', 9, numpy.arccosh), ('Atanh', 9, numpy.arctanh),
        ('Floor', 1, numpy.floor), ('Ceil', 1, numpy.ceil), ('Round', 11, numpy.rint), ('Sign', 9, numpy.sign), ('IsNaN', 9, numpy.isnan),
        ('Softsign', 1, lambda x: x / (1 + abs(x))), ('BitwiseNot', 18, numpy.invert))},
    **{kind: ((2, 2), first, plain(function)) for kind, first, function in (
        ('Xor', 7, numpy.logical_xor), ('CastLike', 15, lambda x, like: x.astype(like.dtype)),
        ('BitwiseAnd', 18, numpy.bitwise_and), ('BitwiseOr', 18, numpy.bitwise_or), ('BitwiseXor', 18, numpy.bitwise_xor))},
    'Sum': ((1, 1 << 30), 8, plain(lambda *x: sum(x))), 'Mean': ((1, 1 << 30), 8, plain(lambda *x: sum(x) / len(x))),
    'Mod': ((2, 2), 10, _mod), 'CumSum': ((2, 2), 11, _cum_sum), 'IsInf': ((1, 1), 10, _is_inf), 'Einsum': ((1, 1 << 30), 12, _einsum),
    'BitShift': ((2, 2), 11, _bit_shift), 'GatherND': ((2, 2), 11, _gather_nd), 'GatherElements': ((2, 2), 11, _gather_elements),
    'ScatterND': ((3, 3), 11, _scatter_nd), 'DequantizeLinear': ((2, 3), 10, _dequantise),
    'OneHot': ((3, 3), 9, _one_hot), 'EyeLike': ((1, 1), 9, _eye_like), 'ArgMin': ((1, 1), 1, _arg_min),
    'ThresholdedRelu': ((1, 1), 10, lambda node, opset, x: numpy.where(x > node.attributes.number('alpha', 1.0), x, 0.0)),
}
