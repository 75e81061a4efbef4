"""What integers of 8 bits mean."""
import ctypes
import math
from typing import Any, Dict, Optional, Sequence, Tuple, Union

from . import _c
from ._shared import knows_its_options, new, real, require, shared, whole


class Quantisation:
    """The scales of attention in integers: the number n of a tensor means scale * (n - zero point).

        meaning = attend.Quantisation(query_scale=0.02, key_scale=0.03, value_scale=0.01, output_scale=0.01)
        output = attend.attention(query, key, value, quantisation=meaning)  # int8 arrays, and not one float is computed

    Outputs are averages of values, so the scale and the zero point of the values suffice for them. scale is the factor of the
    scores, 1 / sqrt(head_dim) unless it is given. Each query head may have its own: quantisation=[one for each]. They share one
    query_zero_point then.
    """

    @knows_its_options
    def __init__(self, query_scale: float, key_scale: float, value_scale: float, output_scale: float, *, query_zero_point: int = 0,
                 key_zero_point: int = 0, value_zero_point: int = 0, output_zero_point: int = 0, scale: Optional[float] = None):
        scales = self._scales = new(_c.attend_integer_scales, shared.attend_integer_scales_init)
        for name, number in (('query_scale', query_scale), ('key_scale', key_scale), ('value_scale', value_scale),
                             ('output_scale', output_scale)):
            setattr(scales, name, real(name, number, 2.0**-126, 2.0**126))
        for name, zero in (('query_zero_point', query_zero_point), ('key_zero_point', key_zero_point),
                           ('value_zero_point', value_zero_point), ('output_zero_point', output_zero_point)):
            most = 2**15 if name == 'output_zero_point' else 2**7
            setattr(scales, name, whole(name, zero, -most, most - 1))
        if scale is not None:
            scales.scale = real('scale', scale, 0.0, 2.0**126)
        self._constants: Dict[int, Any] = {}
        self.constants(_c.ATTEND_INTEGER_MAX_HEAD_DIM)  # refuses what is wrong for every width

    def constants(self, head_dim: int) -> Any:
        """Made once for each width."""
        if head_dim not in self._constants:
            made = _c.attend_integer_constants()
            require(shared.attend_integer_prepare(ctypes.byref(self._scales), head_dim, ctypes.byref(made)))
            self._constants[head_dim] = made
        return self._constants[head_dim]


class LinearQuantisation:
    """The scales of linear attention in integers: the number n of a tensor means scale * n, and there are no zero points.

        meaning = attend.LinearQuantisation(query_scale=1 / 127, key_scale=1 / 127, value_scale=0.02, output_scale=0.03)
        state = attend.LinearState('gated_delta', value_heads=4, head_dim=32, quantisation=meaning)

    Keys of norm 1 have the key scale 1 / 127; it is 2**-16 to below 1. scale is the factor of queries, 1 / sqrt(head_dim) unless it is
    given. Each value head may have its own: quantisation=[one for each].
    """

    @knows_its_options
    def __init__(self, query_scale: float, key_scale: float, value_scale: float, output_scale: float, *, scale: Optional[float] = None):
        self._scales = {'query_scale': query_scale, 'key_scale': key_scale, 'value_scale': value_scale, 'output_scale': output_scale}
        for name, number in self._scales.items():
            self._scales[name] = real(name, number, 2.0**-126, 2.0**126)
        if scale is not None:
            self._scales['scale'] = real('scale', scale, 2.0**-126, 2.0**126)

    def constants(self, head_dim: int) -> Any:
        """As C takes them."""
        scales, made = new(_c.attend_integer_scales, shared.attend_integer_scales_init), _c.attend_linear_constants()
        for name, number in self._scales.items():
            setattr(scales, name, number)
        require(shared.attend_linear_prepare(ctypes.byref(scales), head_dim, ctypes.byref(made)))
        return made


def linear_constants(meaning: Any, value_heads: int, head_dim: int) -> Any:
    """An array of one for all heads, or of one for each."""
    each = meaning if isinstance(meaning, (list, tuple)) else [meaning]
    if not all(isinstance(one, LinearQuantisation) for one in each):
        raise TypeError(f'quantisation is a {type(meaning).__name__}; expected an attend.LinearQuantisation, or a list of one for each value head')
    if each is meaning and len(each) != value_heads:
        raise ValueError(f'there are {len(each)} quantisations for {value_heads} value heads')
    return (_c.attend_linear_constants * len(each))(*(one.constants(head_dim) for one in each))


def set_quantisation(problem: Any, meaning: Union[Quantisation, Sequence[Quantisation]]) -> Any:
    """Returns what must live as long as the problem."""
    if isinstance(meaning, Quantisation):
        constants = meaning.constants(problem.head_dim)
        problem.constants = ctypes.addressof(constants)
        return constants
    if not isinstance(meaning, (list, tuple)) or not all(isinstance(each, Quantisation) for each in meaning):
        raise TypeError(f'quantisation is a {type(meaning).__name__}; expected an attend.Quantisation, or a list of one for each query '
                        'head')
    if len(meaning) != problem.query_heads:
        raise ValueError(f'there are {len(meaning)} quantisations for {problem.query_heads} query heads')
    all_heads = (_c.attend_integer_constants * len(meaning))(*(each.constants(problem.head_dim) for each in meaning))
    problem.head_constants = ctypes.addressof(all_heads)
    return all_heads


class ScalesApart(ValueError):
    """Scales that are too far from each other for the library's multipliers."""


def multiplier(number: float) -> Tuple[int, int]:
    """factor and shift of number = factor / 2^shift, as attend_integer_multiplier_of of C makes them."""
    if not 2.0**-32 <= number < 2.0**29:
        raise ScalesApart(f'a ratio of scales is {number}; expected 2**-32 to below 2**29')
    fraction, exponent = math.frexp(number)
    factor, shift = math.floor(fraction * 2**31 + 0.5), 31 - exponent
    return (factor // 2, shift - 1) if factor == 1 << 31 else (factor, shift)
