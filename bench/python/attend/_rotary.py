"""Rotary positions, and how configurations of models scale them."""
import ctypes
import math
from typing import Any, Optional, Sequence

from . import _c
from ._arrays import Array
from ._rows import Held
from ._shared import knows_its_options, made, real, require, shared, truth, whole, word

_PAIRS = {'neighbours': _c.ATTEND_NEIGHBOURS, 'halves': _c.ATTEND_HALVES}
# What a scaling takes, by the names of configurations, and what it may leave out; and its number in the C header.
_SCALINGS = {
    'linear': (_c.ATTEND_ROTARY_LINEAR, ('factor',), ()),
    'llama3': (_c.ATTEND_ROTARY_LLAMA3, ('factor', 'low_freq_factor', 'high_freq_factor', 'original_max_position_embeddings'), ()),
    'yarn': (_c.ATTEND_ROTARY_YARN, ('factor', 'original_max_position_embeddings'),
             ('beta_fast', 'beta_slow', 'truncate', 'mscale', 'mscale_all_dim', 'attention_factor')),
    'longrope': (_c.ATTEND_ROTARY_LONG, ('short_factor', 'long_factor', 'factor', 'original_max_position_embeddings'),
                 ('attention_factor',)),
    'proportional': (_c.ATTEND_ROTARY_PROPORTIONAL, ('partial_rotary_factor',), ()),
}
_MOST = 65536.0


def _within(name: str, number: Any, least: float = 1.0, most: float = _MOST) -> float:
    return real(name, number, least, most)


def _listed(name: str, numbers: Any, count: int) -> list:
    """As many numbers as there are pairs."""
    if not hasattr(numbers, '__len__'):
        raise TypeError(f'{name} is {numbers!r}, a {type(numbers).__name__}; expected {count} numbers, one for each pair')
    if len(numbers) != count:
        raise ValueError(f'{name} has {len(numbers)} numbers, and there are {count} pairs')
    return [real(name, number) for number in numbers]


def _attention_factor(given: dict) -> float:
    """0 for the usual one; DeepSeek's configurations have two factors of its logarithm, of which the quotient counts."""
    if 'attention_factor' in given:
        return _within('attention_factor', given['attention_factor'], 1 / _MOST)
    if 'mscale' not in given or 'mscale_all_dim' not in given:
        return 0.0
    scale, over = (0.1 * _within(name, given[name], 0.0) * math.log(given['factor']) + 1.0 for name in ('mscale', 'mscale_all_dim'))
    return scale / over


def _scaling_of(scaling: dict, rotary_dim: int, positions: Optional[int]) -> Any:
    """An attend_rotary_scaling of a configuration's "rope_scaling", and what it points to. None where it scales nothing."""
    kind = scaling.get('rope_type', scaling.get('type'))
    given = {name: value for name, value in scaling.items() if name not in ('rope_type', 'type', 'rope_theta') and value is not None}
    number, required, optional = (None, (), ()) if kind == 'default' else _SCALINGS[
        word('rope_type', kind, {name: name for name in _SCALINGS})]
    for name in required:
        if name not in given:
            raise ValueError(f'scaling lacks {name!r}')
    for name in given:
        if name not in required + optional:
            raise ValueError(f'scaling has {name!r}, which {kind!r} does not use; it takes {", ".join(required + optional) or "nothing"}')
    if positions is not None and number != _c.ATTEND_ROTARY_LONG:
        raise ValueError("positions has no effect without a scaling of the rope_type 'longrope'")
    if number is None:
        return None
    if 'factor' in given:
        given['factor'] = _within('factor', given['factor'])
    c = _c.attend_rotary_scaling(kind=number, attention_factor=_attention_factor(given), factor=given.get('factor', 0.0))
    held = None
    if 'original_max_position_embeddings' in given:
        c.original_positions = whole('original_max_position_embeddings', given['original_max_position_embeddings'], 2, 2**24)
    if number in (_c.ATTEND_ROTARY_LLAMA3, _c.ATTEND_ROTARY_YARN):
        names = ('low_freq_factor', 'high_freq_factor') if number == _c.ATTEND_ROTARY_LLAMA3 else ('beta_slow', 'beta_fast')
        c.slow, c.fast = (_within(name, given.get(name, usual)) for name, usual in zip(names, (1.0, 32.0)))
        if not c.slow < c.fast:
            raise ValueError(f'{names[0]} is {c.slow:g}; expected less than {names[1]}, which is {c.fast:g}')
        c.fractions = int(not truth('truncate', given.get('truncate', True)))
    elif number == _c.ATTEND_ROTARY_LONG:
        if positions is None:
            raise ValueError("positions is missing: how many the model will have decides between 'short_factor' and 'long_factor'")
        lists = [_listed(name, given[name], rotary_dim // 2) for name in ('short_factor', 'long_factor')]
        factors = lists[whole('positions', positions, 1, 2**31 - 1) > c.original_positions]
        held = (ctypes.c_float * len(factors))(*(_within('a factor', factor, 1 / 16) for factor in factors))
        c.factors = ctypes.addressof(held)
    elif number == _c.ATTEND_ROTARY_PROPORTIONAL:
        c.turning = int(_within('partial_rotary_factor', given['partial_rotary_factor'], 2 / rotary_dim, 1.0) * rotary_dim) // 2
    return c, held


class Rotary:
    """Rotary positions: the first rotary_dim numbers of a head turn. pairs: 'neighbours', which are 2 i and 2 i + 1 (GPT-J, LLaMA as
    published), or 'halves', i and i + rotary_dim / 2 (GPT-NeoX, LLaMA in Hugging Face's Transformers).

    base: 10000, or 'rope_theta' of the scaling, unless given; 2 to 1e12. scaling: the numbers of a configuration's "rope_scaling" or
    "rope_parameters", {'rope_type': 'llama3', 'factor': 8.0, ...}: linear, llama3, yarn, longrope (with positions=, how many there
    will be) or proportional; what stands elsewhere in the configuration, such as Phi's original_max_position_embeddings, is added.
    frequencies: in place of base and scaling, the radians of each pair, rotary_dim / 2 of them."""

    @knows_its_options
    def __init__(self, rotary_dim: int, pairs: str, base: Optional[float] = None, scaling_factor: Optional[float] = None, *,
                 scaling: Optional[dict] = None, positions: Optional[int] = None, frequencies: Any = None):
        if whole('rotary_dim', rotary_dim, 2, _c.ATTEND_MAX_WIDTH) % 2:
            raise ValueError(f'rotary_dim is {rotary_dim}; expected an even number, because numbers turn in pairs')
        self.c = _c.attend_rotary()
        self._turns = (ctypes.c_uint64 * (rotary_dim // 2))()
        places = ctypes.byref(self.c), ctypes.addressof(self._turns), rotary_dim, word('pairs', pairs, _PAIRS)
        if (scaling_factor is not None) + (scaling is not None) + (frequencies is not None) > 1:
            raise ValueError('scaling_factor, scaling and frequencies exclude each other')
        if frequencies is not None:
            if base is not None or positions is not None:
                raise ValueError('base and positions have no effect with frequencies')
            held = (ctypes.c_double * (rotary_dim // 2))(*(radians + 0.0 for radians in _listed('frequencies', frequencies, rotary_dim // 2)))
            if not all(0 <= radians < 4 for radians in held) or not held[0] >= 2**-61:
                raise ValueError('frequencies must be 0 to below 4 radians, and the first above 0')
            c = _c.attend_rotary_scaling(kind=_c.ATTEND_ROTARY_FREQUENCIES, frequencies=ctypes.addressof(held))
            require(shared.attend_rotary_init_scaled(*places, 0.0, ctypes.byref(c)))
            return
        if scaling is not None and not isinstance(scaling, dict):
            raise TypeError("scaling must be a dict, as a model's configuration has it: {'rope_type': 'llama3', 'factor': 8.0, ...}")
        scaled = _scaling_of(scaling or {'rope_type': 'default'}, rotary_dim, positions)
        base = real('base', (scaling or {}).get('rope_theta', 10000.0) if base is None else base, 2.0, 1e12)
        if scaled is None:
            factor = 1.0 if scaling_factor is None else _within('scaling_factor', scaling_factor)
            require(shared.attend_rotary_init(*places, base, factor))
        else:
            require(shared.attend_rotary_init_scaled(*places, base, ctypes.byref(scaled[0])))

    @property
    def radians(self) -> list:
        """How far each pair turns from one position to the next."""
        return [turn * 2 * math.pi / 2.0**64 for turn in self._turns]

    @property
    def factor(self) -> float:
        """What a scaling multiplies rotated numbers by; otherwise 1."""
        return float(self.c.factor)


@knows_its_options
def rotate(x: Any, rotary: Rotary, position: Any = 0, *, axes: Optional[Sequence[int]] = None, interleaved: bool = False) -> None:
    """Turns x, [heads, tokens, head_dim] float32, in place: at positions position, position + 1 and so on, where it is a number; or
    each token at its own, a sequence of numbers. Negative positions turn back. A slice of x turns a slice of heads.

    axes: how many pairs turn by each of several axes, rotary_dim / 2 in all; position is then [tokens][axes] (M-RoPE: time, height
    and width). interleaved: pairs take axes in turns, as in Qwen3-VL, and not one axis after the other, as in Qwen2-VL."""
    held = Held()
    array = Array('x', x, 'f', 3, 3, held.buffers, writable=True)
    tensor = _c.attend_output(data=array.address, batch_stride=0, head_stride=array.strides[0], token_stride=array.strides[1])
    heads, tokens, head_dim = array.shape
    c_rotary = ctypes.byref(made('rotary', rotary, Rotary).c)
    if not hasattr(position, '__len__'):
        if axes is not None or interleaved:
            raise ValueError('axes and interleaved need a position of each token on each axis: [tokens][axes]')
        position = whole('position', position, -2**31, 2**31)
        require(shared.attend_rotate(c_rotary, ctypes.byref(tensor), tokens, heads, head_dim, position))
        return
    if axes is None and interleaved:
        raise ValueError('interleaved has no effect without axes')
    pairs = [rotary.c.rotary_dim // 2] if axes is None else [whole('axes', count, 0, 2**15) for count in axes]
    if sum(pairs) != rotary.c.rotary_dim // 2:
        raise ValueError(f'axes has {sum(pairs)} pairs in all; rotary_dim / 2 is {rotary.c.rotary_dim // 2}')
    if not 1 <= len(pairs) <= 8:
        raise ValueError(f'axes has {len(pairs)} numbers; there are 1 to 8 axes')
    rows = [[row] if axes is None else list(row) for row in position]
    if len(rows) != tokens or any(len(row) != len(pairs) for row in rows):
        raise ValueError(f'position must have a number for each of {tokens} tokens' + ('' if axes is None else f' on each of {len(pairs)} axes'))
    numbers = [whole('position', number, -2**31, 2**31 - 1) for row in rows for number in row]
    positions = _c.attend_positions(axes=len(pairs), interleaved=int(bool(interleaved)))
    data = (ctypes.c_int * len(numbers))(*numbers)
    positions.data = ctypes.addressof(data)
    positions.pairs[:len(pairs)] = pairs
    require(shared.attend_rotate_positions(c_rotary, ctypes.byref(tensor), tokens, heads, head_dim, ctypes.byref(positions)))
