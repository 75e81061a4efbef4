"""Keys and values that stay between calls."""
import ctypes
from typing import Any, Dict, List, Optional

from . import _c
from ._arrays import Array, Memory, release
from ._shared import AttendError, knows_its_options, new, require, shared, truth, whole, word

FORMATS = {'float32': _c.ATTEND_FLOAT32, 'float16': _c.ATTEND_FLOAT16, 'bfloat16': _c.ATTEND_BFLOAT16, 'int8': _c.ATTEND_INT8,
           'int4': _c.ATTEND_INT4}
VALUE_FORMATS = {**FORMATS, 'in_keys': _c.ATTEND_IN_KEYS}


def _has_end(format: str) -> bool:
    """Whether some numbers of float32 are too large for it."""
    return format in ('float16', 'int4')


class Cache:
    """Keys and values of one sequence, in the order in which attention reads them fastest.

        cache = attend.Cache(kv_heads=2, head_dim=64, max_tokens=1024)
        cache.append(key, value)                              # [2, tokens, 64] each
        output = attend.attention(query, cache, causal=True)  # query [heads, queries, 64]: the last tokens

    Memory is taken once, when it is made. key_format and value_format: what numbers are rounded to when they are appended:
    float32, float16, bfloat16, int8 with a scale for each token and head, or int4 with one for each 32 neighbours. value_format='in_keys':
    values are the first value_dim numbers of their keys, as in latent attention, and in memory once; append takes the key alone. window_keys makes it a ring, which keeps the last
    window_keys tokens and the first sink_tokens, while positions go on counting up to max_tokens (0: to 2**29); each call is to be given
    window=(window_keys - 1, 0), or a shorter one, and sink_tokens, or 0 where they are not to be seen. integers=True: it takes and keeps
    int8 arrays, of attention with a quantisation. saturate=True: finite numbers that are too large for float16 or int4 become the largest
    one of the format, where append refuses them otherwise. Several threads may read a cache at a time, as long as none appends or truncates.
    """

    @knows_its_options
    def __init__(self, kv_heads: int, head_dim: int, max_tokens: int, *, value_dim: Optional[int] = None,
                 key_format: str = 'float32', value_format: str = 'float32', window_keys: int = 0, sink_tokens: int = 0,
                 integers: bool = False, saturate: bool = False):
        shape = new(_c.attend_cache_shape, shared.attend_cache_shape_init)
        widest = _c.ATTEND_INTEGER_MAX_HEAD_DIM if integers else _c.ATTEND_MAX_WIDTH
        shape.kv_heads, shape.head_dim = whole('kv_heads', kv_heads, 1, _c.ATTEND_MAX_WIDTH), whole('head_dim', head_dim, 1, widest)
        most = shape.head_dim if value_format == 'in_keys' else _c.ATTEND_MAX_WIDTH
        shape.value_dim = shape.head_dim if value_dim is None else whole('value_dim', value_dim, 1, most)
        shape.window_keys, shape.sink_tokens = whole('window_keys', window_keys), whole('sink_tokens', sink_tokens)
        shape.max_tokens = whole('max_tokens', max_tokens, 0 if window_keys else 1)
        shape.key_format, shape.value_format = word('key_format', key_format, FORMATS), word('value_format', value_format, VALUE_FORMATS)
        self._in_keys = value_format == 'in_keys'
        if truth('saturate', saturate):
            if not any(_has_end(format) for format in (key_format, value_format)):
                raise AttendError('saturate: leave it out, or give a format in which numbers can be too large: float16 or int4')
            shape.key_format += _c.ATTEND_SATURATED * _has_end(key_format)
            shape.value_format += _c.ATTEND_SATURATED * _has_end(value_format)
        for name, format, width in (('head_dim', key_format, shape.head_dim), ('value_dim', value_format, shape.value_dim)):
            if format == 'int4' and width % 32:
                raise AttendError(f'{name} is {width}; expected a multiple of 32, because int4 has a scale for each 32 numbers')
        self.integers = truth('integers', integers)
        if self._in_keys and (window_keys or self.integers or key_format == 'int4'):
            raise AttendError("value_format: 'in_keys' is of caches of float32, float16, bfloat16 and int8 that are no rings, nor of integers")
        shape.integers = int(self.integers)
        self.kv_heads, self.head_dim, self.value_dim, self.max_tokens = kv_heads, head_dim, shape.value_dim, max_tokens or _c.ATTEND_MAX_TOKENS
        self._window_keys, self._sink_tokens = shape.window_keys, shape.sink_tokens
        size = shared.attend_cache_size(ctypes.byref(shape))
        if size == 0:
            require(shared.attend_cache_init(ctypes.byref(shape), None, 0, None))
        self._memory = Memory(size)
        made = ctypes.c_void_p()
        require(shared.attend_cache_init(ctypes.byref(shape), self._memory.address, self._memory.size, ctypes.byref(made)))
        self.address = made.value
        self.prepared: Dict[Any, Any] = {}  # of _memo.py

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError('a cache cannot be copied or pickled: make another, and append to it')

    def __bool__(self) -> bool:
        return True  # also without tokens

    @property
    def nbytes(self) -> int:
        """The memory that it takes, but for what aligns it."""
        return self._memory.size

    def __len__(self) -> int:
        """Tokens that were appended and not truncated, those that a ring has overwritten among them."""
        return shared.attend_cache_tokens(self.address, None)

    def require_visible(self, options: Any) -> None:
        """What queries see of a ring, a call must say: more than its window would be seen only until it has overwritten the first keys."""
        if self._window_keys and options.window is None:
            raise AttendError(f'window: give it: window=({self._window_keys - 1}, 0) is as many tokens as this ring keeps, '
                              f'{self._window_keys}; window=(None, None) is all tokens, until it has overwritten some')
        is_bounded = isinstance(options.window, (tuple, list)) and options.window and options.window[0] is not None
        if self._sink_tokens and is_bounded and options.sink_tokens is None:
            raise AttendError(f'sink_tokens: give them: sink_tokens={self._sink_tokens} are the first tokens, which this ring keeps; '
                              'sink_tokens=0 leaves them out')

    def require_own_values(self) -> None:
        """For a layer, which makes some."""
        if self._in_keys:
            raise AttendError("cache: give it another value_format than 'in_keys': a layer makes values that are no part of their keys")

    def append(self, key: Any, value: Any = None) -> None:
        """Adds one or many tokens: key [kv_heads, tokens, head_dim] and value [kv_heads, tokens, value_dim], float32, or
        int8 where it is of integers; one token has the axis of tokens too. Any strides of the first two axes will do but those of 0,
        which broadcasting makes. Where they do not fit, or a finite number is too large
        for the format, AttendError, and nothing has changed. Where values are in their keys, there is no value to give."""
        if self._in_keys is not (value is None):
            raise AttendError("value: leave it out: with value_format='in_keys' it is a part of the key" if self._in_keys else 'value: give it: it is missing')
        held: List[Any] = []
        try:
            given = (('key', key, self.head_dim), ('value', value, self.value_dim))[:1 if self._in_keys else 2]
            arrays = [Array(name, source, 'b' if self.integers else 'f', 3, 3, held) for name, source, _ in given]
            wanted = [(self.kv_heads, arrays[0].shape[1], width) for _, _, width in given]
            if [array.shape for array in arrays] != wanted:
                raise ValueError(f'a cache of {self.kv_heads} heads, head_dim {self.head_dim} and value_dim {self.value_dim} cannot take '
                                 + ' and '.join(f'{array.name} {array.shape}' for array in arrays))
            if any(stride == 0 and extent > 1 for array in arrays if 0 not in array.shape
                   for stride, extent in zip(array.strides, array.shape)):
                raise ValueError('a cache takes no broadcast arrays: copy them first')
            tensors = [ctypes.byref(_c.attend_input(data=array.address, batch_stride=0, head_stride=array.strides[0], token_stride=array.strides[1]))
                       for array in arrays]
            tensors += [None] * self._in_keys
            append = shared.attend_integer_cache_append if self.integers else shared.attend_cache_append
            require(append(self.address, arrays[0].shape[1], *tensors))
        finally:
            release(held)

    def truncate(self, tokens: int) -> None:
        """Keeps the first tokens; 0 empties the cache."""
        require(shared.attend_cache_truncate(self.address, whole('tokens', tokens, 0, len(self))))
