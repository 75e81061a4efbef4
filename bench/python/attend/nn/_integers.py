"""Projections and multi-head attention in integers of 8 bits."""
import ctypes
import math
from typing import Any, List, Optional, Sequence, Union

from .. import _c
from .._arrays import Array, Memory, empty, release
from .._integers import Quantisation, multiplier
from .._shared import AttendError, require, shared, whole, word
from ._heads import attend_to, extents, require_vectors
from ._state import REFUSALS, require_layer

OUTPUTS = {'int8': ('b', _c.ATTEND_INT8), 'int16': ('h', _c.ATTEND_INT16)}


class IntegerLinear:
    """y = W x + b in integers: sums are exact, and an output is its sum times a multiplier, rounded once, plus output_zero_point, clamped.

        linear = attend.nn.IntegerLinear(weight, x_scale * weight_scales / y_scale, bias)
        y = linear(x)                       # x int8 [tokens, inputs], or with a batch in front

    weight: int8 [outputs, inputs]. multipliers: a number for each output, or one for all: scale of x * scale of the weights / scale of y,
    2**-32 to below 2**29. bias: int32 [outputs], in steps of scale of x * scale of the weights. output: 'int8' or 'int16'."""

    def __init__(self, weight: Any, multipliers: Union[float, Sequence[float]], bias: Any = None, *, input_zero_point: int = 0,
                 output_zero_point: int = 0, output: str = 'int8'):
        with REFUSALS:
            self.code, output_format = word('output', output, OUTPUTS)
            low, high = (-128, 127) if output == 'int8' else (-32768, 32767)
            held: List[Any] = []
            try:
                array = Array('weight', weight, 'b', 2, 2, held)
                array.require_dense()
                self.outputs, self.inputs = array.shape
                self._multipliers = self._factors(multipliers)
                self._bias = None if bias is None else self._copied(Array('bias', bias, 'i', 1, 1, held))
                rows = _c.attend_weights(data=array.address, outputs=self.outputs, inputs=self.inputs, format=_c.ATTEND_INT8,
                                         layout=_c.ATTEND_INTEGER_ROWS)
                self._memory = Memory(shared.attend_packed_size(ctypes.byref(rows)))
                self.c = _c.attend_integer_linear(multipliers=ctypes.addressof(self._multipliers), multiplier_count=len(self._multipliers),
                                                  bias=None if self._bias is None else ctypes.addressof(self._bias),
                                                  input_zero_point=whole('input_zero_point', input_zero_point, -128, 127),
                                                  output_zero_point=whole('output_zero_point', output_zero_point, low, high),
                                                  output_format=output_format)
                require(shared.attend_pack_weights(ctypes.byref(rows), self._memory.address, self._memory.size, ctypes.byref(rows)))
                self.c.weights = rows
                require(shared.attend_integer_project(ctypes.byref(self.c), None, 0, None))  # refuses what is wrong for every x
            finally:
                release(held)

    def _factors(self, multipliers: Any) -> Any:
        numbers = [float(number) for number in (multipliers if hasattr(multipliers, '__len__') else [multipliers])]
        if len(numbers) not in (1, self.outputs):
            raise AttendError(f'there are {len(numbers)} multipliers; expected one for all outputs, or {self.outputs}')
        return (_c.attend_integer_multiplier * len(numbers))(*(_c.attend_integer_multiplier(*multiplier(number)) for number in numbers))

    def _copied(self, bias: Array) -> Any:
        bias.require_columns(self.outputs)
        copy = (ctypes.c_int32 * self.outputs).from_buffer_copy(ctypes.string_at(bias.address, 4 * self.outputs))
        most = 2**31 - 1 - 32640 * self.inputs  # no sum leaves 32 bits
        if not -most - 1 <= min(copy) <= max(copy) <= most:
            far = max(range(len(copy)), key=lambda output: abs(copy[output]))
            raise AttendError(f'bias[{far}] is {copy[far]}; expected at most {most} in size for {self.inputs} inputs')
        return copy

    def __call__(self, x: Any) -> Any:
        with REFUSALS:
            held: List[Any] = []
            try:
                vectors = Array('x', x, 'b', 1, 4, held)
                vectors.require_dense()
                if vectors.shape[3] != self.inputs:
                    raise AttendError(f'x has vectors of {vectors.shape[3]} numbers; expected {self.inputs}')
                result = empty(x, self.code, (*vectors.shape[:3], self.outputs)[4 - vectors.given_axes:])
                y = Array('y', result, self.code, 1, 4, held, True)
                require(shared.attend_integer_project(ctypes.byref(self.c), vectors.address, math.prod(vectors.shape[:3]), y.address))
                return result
            finally:
                release(held)


class IntegerMultiheadAttention:
    """MultiheadAttention in integers: the outputs of query, key and value are what the quantisation says of them, or of each head's.

        attention = attend.nn.IntegerMultiheadAttention(query, key, value, output, heads=4, quantisation=meaning)   # IntegerLinear each
        y = attention(x, causal=True)       # x int8; attention(x, memory) attends to other tokens

    Options are those of attend.attention in integers."""

    def __init__(self, query: IntegerLinear, key: IntegerLinear, value: IntegerLinear, output: IntegerLinear, *, heads: int,
                 quantisation: Union[Quantisation, Sequence[Quantisation]], kv_heads: Optional[int] = None):
        with REFUSALS:
            self.query, self.key, self.value, self.output = (require_layer(name, each, IntegerLinear) for name, each in (
                ('query', query), ('key', key), ('value', value), ('output', output)))
            if {query.code, key.code, value.code} != {'b'}:
                raise AttendError("query, key and value have outputs of int16 among them; expected output='int8' of all")
            self.heads, self.kv_heads, self.head_dim, self.value_dim = extents(heads, kv_heads, query, key, value, output)
            every = quantisation if isinstance(quantisation, (list, tuple)) else [quantisation]
            if not all(isinstance(one, Quantisation) for one in every) or len(every) not in (1, self.heads):
                raise AttendError(f'quantisation is a {type(quantisation).__name__}; expected an attend.Quantisation, or a list of one for each '
                                  f'of {self.heads} heads')
            # That of the keys changes nothing.
            for name, zero, of_layer in (('query', query.c.output_zero_point, 'output'), ('value', value.c.output_zero_point, 'output'),
                                         ('output', output.c.input_zero_point, 'input')):
                for one in every:
                    meant = getattr(one._scales, f'{name}_zero_point')
                    if meant != zero:
                        raise AttendError(f'{name} has {of_layer}_zero_point={zero} and the quantisation {name}_zero_point={meant}; '
                                          'expected the same')
            self.quantisation = quantisation

    def __call__(self, query: Any, key: Any = None, *, threads: int = 1, **options: Any) -> Any:
        with REFUSALS:
            key = query if key is None else key
            held: List[Any] = []
            try:
                vectors = require_vectors('query', query, 'b', self.query.inputs, None, held)
                for each in (self.key, self.value):
                    require_vectors('key', key, 'b', each.inputs, vectors, held)
            finally:
                release(held)
            rows = self.query(query), self.key(key), self.value(key)
            options = dict(options, threads=threads, quantisation=self.quantisation)
            return self.output(attend_to(rows, 'b', (self.heads, self.kv_heads, self.kv_heads), self.value_dim, query, options))
