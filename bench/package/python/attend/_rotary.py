"""Rotary positions, and how configurations of models scale them."""
import ctypes
import math
from typing import Any, Optional, Sequence

from . import _c
from ._arrays import Array
from ._rows import Held, chosen
from ._shared import made, real, require, shared, whole

_PAIRS = {'neighbours': _c.ATTEND_NEIGHBOURS, 'halves': _c.ATTEND_HALVES}
# What a scaling takes, by the names of configurations, and what it may leave out; and its number in the C header.
_SCALINGS = {
    'linear': (_c.ATTEND_ROTARY_LINEAR, ('factor',), ()),
    'llama3': (_c.ATTEND_ROTARY_LLAMA3, ('factor', 'low_freq_factor', 'high_freq_factor', 'original_max_position_embeddings'), ()),
    'yarn': (_c.ATTEND_ROTARY_YARN, ('factor', 'original_max_position_embeddings'),
             ('beta_fast', 'beta_slow', 'truncate', 'mscale', 'mscale_all_dim', 'attention_factor')),
    'longrope': (_c.ATTEND_ROTARY_LONG, ('short_factor', 'long_factor', 'factor', 'original_max_position_embeddings'), ('attention_factor',)),
    'proportional': (_c.ATTEND_ROTARY_PROPORTIONAL, ('partial_rotary_factor',), ()),
}


def _attention_factor(given: dict) -> float:
    """0 for the usual one; DeepSeek's configurations have two factors of its logarithm, of which the quotient counts."""
    if given.get('attention_factor') is not None:
        return real('attention_factor', given['attention_factor'])
    if not given.get('mscale') or not given.get('mscale_all_dim'):
        return 0.0
    scale, over = (0.1 * real(name, given[name]) * math.log(given['factor']) + 1.0 for name in ('mscale', 'mscale_all_dim'))
    return scale / over


def _scaling_of(scaling: Any, rotary_dim: int, positions: Optional[int]) -> Any:
    """An attend_rotary_scaling of a configuration's "rope_scaling", and what it points to."""
    if not isinstance(scaling, dict):
        raise TypeError("scaling must be a dict, as a model's configuration has it: {'rope_type': 'llama3', 'factor': 8.0, ...}")
    given = {name: value for name, value in scaling.items() if name not in ('rope_type', 'type', 'rope_theta')}
    kind, required, optional = _SCALINGS[chosen('rope_type', scaling.get('rope_type', scaling.get('type')), {name: name for name in _SCALINGS})]
    for name in required:
        if name not in given:
            raise ValueError(f'scaling lacks {name!r}')
    for name in given:
        if name not in required + optional:
            raise ValueError(f'scaling has {name!r}, which is unknown; it takes {", ".join(required + optional)}')
    c = _c.attend_rotary_scaling(kind=kind, attention_factor=_attention_factor(given))
    held = None
    if 'factor' in required:
        c.factor = real('factor', given['factor'])
    if 'original_max_position_embeddings' in required:
        c.original_positions = whole('original_max_position_embeddings', given['original_max_position_embeddings'], 2, 2**24)
    if kind == _c.ATTEND_ROTARY_LLAMA3:
        c.slow, c.fast = real('low_freq_factor', given['low_freq_factor']), real('high_freq_factor', given['high_freq_factor'])
    elif kind == _c.ATTEND_ROTARY_YARN:
        c.slow, c.fast = real('beta_slow', given.get('beta_slow', 1.0)), real('beta_fast', given.get('beta_fast', 32.0))
        c.fractions = int(not given.get('truncate', True))
    elif kind == _c.ATTEND_ROTARY_LONG:
        if positions is None:
            raise ValueError("positions is missing: how many the model will have decides between 'short_factor' and 'long_factor'")
        name = 'long_factor' if whole('positions', positions, 1, 2**31 - 1) > c.original_positions else 'short_factor'
        if len(given[name]) != rotary_dim // 2:
            raise ValueError(f'{name} has {len(given[name])} numbers, and there are {rotary_dim // 2} pairs')
        held = (ctypes.c_float * len(given[name]))(*(real(name, factor) for factor in given[name]))
        c.factors = ctypes.addressof(held)
    elif kind == _c.ATTEND_ROTARY_PROPORTIONAL:
        c.turning = int(real('partial_rotary_factor', given['partial_rotary_factor']) * rotary_dim) // 2
    return c, held


class Rotary:
    """Rotary positions: the first rotary_dim numbers of a head turn. pairs: 'neighbours', which are 2 i and 2 i + 1 (GPT-J, LLaMA as
    published), or 'halves', i and i + rotary_dim / 2 (GPT-NeoX, LLaMA in Hugging Face's Transformers).

    base: 10000, or 'rope_theta' of the scaling, unless given. scaling: a configuration's "rope_scaling" or "rope_parameters" as it
    is, {'rope_type': 'llama3', 'factor': 8.0, ...}: linear, llama3, yarn, longrope (with positions=, how many there will be) or
    proportional. frequencies: in place of base and scaling, the radians of each pair, rotary_dim / 2 of them."""

    def __init__(self, rotary_dim: int, pairs: str, base: Optional[float] = None, scaling_factor: Optional[float] = None, *,
                 scaling: Optional[dict] = None, positions: Optional[int] = None, frequencies: Any = None):
        rotary_dim = whole('rotary_dim', rotary_dim, 2, _c.ATTEND_MAX_WIDTH)
        self.c = _c.attend_rotary()
        self._turns = (ctypes.c_uint64 * (rotary_dim // 2))()
        places = ctypes.byref(self.c), ctypes.addressof(self._turns), rotary_dim, chosen('pairs', pairs, _PAIRS)
        if (scaling_factor is not None) + (scaling is not None) + (frequencies is not None) > 1:
            raise ValueError('scaling_factor, scaling and frequencies exclude each other')
        if positions is not None and scaling is None:
            raise ValueError("positions has no effect without a scaling of the rope_type 'longrope'")
        if frequencies is not None:
            if base is not None:
                raise ValueError('base has no effect with frequencies')
            if len(frequencies) != rotary_dim // 2:
                raise ValueError(f'frequencies has {len(frequencies)} numbers, and there are {rotary_dim // 2} pairs')
            held = (ctypes.c_double * len(frequencies))(*(real('frequencies', radians) for radians in frequencies))
            if not all(0 <= radians < 4 for radians in held) or not held[0] > 0:
                raise ValueError('frequencies must be 0 to below 4 radians, and the first above 0')
            c = _c.attend_rotary_scaling(kind=_c.ATTEND_ROTARY_FREQUENCIES, frequencies=ctypes.addressof(held))
            require(shared.attend_rotary_init_scaled(*places, 0.0, ctypes.byref(c)))
            return
        if base is None:
            base = scaling.get('rope_theta', 10000.0) if isinstance(scaling, dict) else 10000.0
        if scaling is None or (isinstance(scaling, dict) and scaling.get('rope_type') == 'default'):
            factor = 1.0 if scaling_factor is None else real('scaling_factor', scaling_factor)
            require(shared.attend_rotary_init(*places, real('base', base), factor))
            return
        c, held = _scaling_of(scaling, rotary_dim, positions)
        require(shared.attend_rotary_init_scaled(*places, real('base', base), ctypes.byref(c)))


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
