"""Normalisation, activations and residual addition, over float32."""
import ctypes
import math
from typing import Any, List, Optional

from . import _c
from ._arrays import Array, empty, release
from ._shared import made, real, require, shared, whole, word

ACTIVATIONS = {name: getattr(_c, 'ATTEND_' + name.upper()) for name in
                ('relu', 'silu', 'gelu', 'gelu_tanh', 'sigmoid', 'tanh', 'exp', 'erf')}
_ORDERS = {'last': _c.ATTEND_GATE_LAST, 'first': _c.ATTEND_GATE_FIRST}


def vectors_of(name: str, source: Any, held: List[Any], axes: int = 2, writable: bool = False, least: int = 1) -> Array:
    array = Array(name, source, 'f', least, axes, held, writable)
    array.require_dense()
    return array


class Held:
    """Arrays whose addresses a struct keeps: they cannot be resized for as long as it is there."""

    def __init__(self) -> None:
        self.buffers: List[Any] = []

    def __del__(self) -> None:
        release(self.buffers)

    def address(self, name: str, source: Any, count: int) -> Optional[int]:
        if source is None:
            return None
        array = vectors_of(name, source, self.buffers, 1)
        array.require_columns(count)
        return array.address


def _norm(function: Any, x: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    held = Held()
    vectors = vectors_of('x', x, held.buffers, 4)
    width = vectors.shape[3]
    norm = _c.attend_norm(held.address('weight', weight, width), held.address('bias', bias, width), width, real('epsilon', epsilon, 1e-30, 1e30))
    result = empty(x, 'f', vectors.shape[4 - vectors.given_axes:])
    y = vectors_of('y', result, held.buffers, 4, True)
    require(function(ctypes.byref(norm), vectors.address, math.prod(vectors.shape[:3]), y.address))
    return result


def rms_norm(x: Any, weight: Any = None, epsilon: float = 1e-5) -> Any:
    """x / sqrt(mean(x^2) + epsilon) * weight, along the last axis."""
    return _norm(shared.attend_rms_norm, x, weight, None, epsilon)


def layer_norm(x: Any, weight: Any = None, bias: Any = None, epsilon: float = 1e-5) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, along the last axis."""
    return _norm(shared.attend_layer_norm, x, weight, bias, epsilon)


def l2_norm(x: Any, epsilon: float = 1e-6) -> Any:
    """x / sqrt(sum(x^2) + epsilon), along the last axis: queries and keys of delta rules, each head by itself."""
    held = Held()
    vectors = vectors_of('x', x, held.buffers, 4)
    result = empty(x, 'f', vectors.shape[4 - vectors.given_axes:])
    y = vectors_of('y', result, held.buffers, 4, True)
    require(shared.attend_l2_norm(vectors.address, math.prod(vectors.shape[:3]), vectors.shape[3], real('epsilon', epsilon, 1e-30, 1e30), y.address))
    return result


def gated_rms_norm(x: Any, gate: Any, weight: Any = None, *, order: str = 'last', groups: int = 1, activation: str = 'silu',
                   epsilon: float = 1e-5) -> Any:
    """rms_norm along the last axis, in `groups` by themselves, with f(gate): order='last' rms_norm(x) * weight * f(gate) (Gated DeltaNet;
    Kimi Linear with activation='sigmoid'), order='first' rms_norm(x * f(gate)) * weight (Mamba-2)."""
    held = Held()
    vectors, gates = vectors_of('x', x, held.buffers, 4), vectors_of('gate', gate, held.buffers, 4)
    if gates.shape != vectors.shape:
        raise ValueError(f'gate has the shape {gates.shape} where x has {vectors.shape}')
    width = vectors.shape[3]
    norm = _c.attend_gated_norm(_c.attend_norm(held.address('weight', weight, width), None, width, real('epsilon', epsilon, 1e-30, 1e30)),
                                whole('groups', groups, 1, width), word('activation', activation, ACTIVATIONS), word('order', order, _ORDERS))
    result = empty(x, 'f', vectors.shape[4 - vectors.given_axes:])
    y = vectors_of('y', result, held.buffers, 4, True)
    require(shared.attend_gated_rms_norm(ctypes.byref(norm), vectors.address, gates.address, math.prod(vectors.shape[:3]), y.address))
    return result


def hadamard(x: Any) -> Any:
    """Rows along the last axis times the Hadamard matrix of the largest power of two n that divides their length, over the square
    root of n. But for rounding, queries and keys that both go through it score as before, and it is its own inverse. A cache of
    int4 rounds them better, because numbers that are much larger than others are spread over the row."""
    held = Held()
    vectors = vectors_of('x', x, held.buffers, 4)
    result = empty(x, 'f', vectors.shape[4 - vectors.given_axes:])
    y = vectors_of('y', result, held.buffers, 4, True)
    require(shared.attend_hadamard(vectors.address, math.prod(vectors.shape[:3]), vectors.shape[3], y.address))
    return result


def activate(activation: str, x: Any, by: Any = None) -> Any:
    """f(x), and times `by` where that is given: relu, silu, gelu, gelu_tanh, sigmoid, tanh, exp or erf."""
    held = Held()
    kind = word('activation', activation, ACTIVATIONS)
    vectors = vectors_of('x', x, held.buffers, 4)
    factor = None if by is None else vectors_of('by', by, held.buffers, 4)
    if factor and factor.shape != vectors.shape:
        raise ValueError(f'by has the shape {factor.shape} where x has {vectors.shape}')
    result = empty(x, 'f', vectors.shape[4 - vectors.given_axes:])
    y = vectors_of('y', result, held.buffers, 4, True)
    require(shared.attend_activate(kind, vectors.address, factor.address if factor else None, math.prod(vectors.shape), y.address))
    return result


def add(x: Any, y: Any, scale: float = 1.0) -> None:
    """y += x * scale in place, rounded once: a residual connection."""
    held = Held()
    vectors, to = vectors_of('x', x, held.buffers, 4), vectors_of('y', y, held.buffers, 4, True)
    if vectors.shape != to.shape:
        raise ValueError(f'x has the shape {vectors.shape} where y has {to.shape}')
    require(shared.attend_add(vectors.address, real('scale', scale), math.prod(vectors.shape), to.address))


def alibi_slopes(heads: int) -> Any:
    """The slopes of ALiBi for so many query heads, as they were published, the same bits on every processor: the alibi_slopes of a call."""
    slopes = (ctypes.c_float * whole('heads', heads, 1, _c.ATTEND_MAX_WIDTH))()
    require(shared.attend_alibi_slopes(heads, ctypes.addressof(slopes)))
    return memoryview(slopes).cast('B').cast('f')


def logarithmic_factors(beta: float, count: int) -> Any:
    """1 + beta * ln(1 + k) for k = 0 ... count - 1, the same bits on every processor: the query_factors of a Layer."""
    factors = (ctypes.c_float * whole('count', count, 1))()
    require(shared.attend_logarithmic_factors(real('beta', beta), count, ctypes.addressof(factors)))
    return memoryview(factors).cast('B').cast('f')
