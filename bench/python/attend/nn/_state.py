"""What layers take out of a mapping from names to arrays, and how they refuse what does not fit."""
import ctypes
import struct
from typing import Any, List, Optional, Sequence

from .._arrays import Array, release
from .._dlpack import BFLOAT16
from .._shared import AttendError


class Refusals:
    """Errors of Python that say what was expected of an argument leave a layer as an AttendError with the same sentence, and with the
    prefix of the name in a state, if there is one."""

    def __init__(self, prefix: str = ''):
        self._prefix = prefix

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, (TypeError, ValueError)) and (self._prefix or not isinstance(error, AttendError)):
            raise AttendError(f'{self._prefix}{error}') from error


REFUSALS = Refusals()


def take(state: Any, name: str, of: str) -> Any:
    """An array that must be there."""
    found = take_if(state, name)
    if found is None:
        raise AttendError(f'the state has no {name!r}; expected it for {of}')
    return found


def take_if(state: Any, name: str) -> Any:
    if not hasattr(state, '__getitem__') or not hasattr(state, 'keys'):
        raise AttendError(f'state is a {type(state).__name__}; expected a mapping from names to arrays, such as a state_dict')
    return state[name] if name in state.keys() else None


def require_names(state: Any, prefix: str, of: str, names: Sequence[str]) -> None:
    """Whatever begins with the prefix is one of the names, or begins with one that ends in a dot: nothing is left out silently."""
    take_if(state, prefix)
    for name in map(str, state.keys()):
        rest = name[len(prefix):]
        if name.startswith(prefix) and not any(rest == known or (known.endswith('.') and rest.startswith(known)) for known in names):
            raise AttendError(f'the state has {name!r}, which {of} does not take; expected {", ".join(prefix + known for known in names)}')


def require_layer(name: str, thing: Any, *kinds: Any) -> Any:
    if not isinstance(thing, kinds):
        raise AttendError(f'{name} is a {type(thing).__name__}; expected an attend.nn.{" or ".join(kind.__name__ for kind in kinds)}')
    return thing


def vector(name: str, source: Any, count: Optional[int] = None) -> Any:
    """A copy of a vector, as float32; smaller floats are widened, which is exact. None stays None."""
    if source is None:
        return None
    held: List[Any] = []
    try:
        array = Array(name, source, 'fe' + BFLOAT16, 1, 1, held)
        if count is not None:
            array.require_columns(count)
        kept = array.shape[0]
        data = ctypes.string_at(array.address, kept * held[0].item_bytes)
        if array.code == 'e':
            data = struct.pack(f'{kept}f', *struct.unpack(f'{kept}e', data))
        elif array.code == BFLOAT16:
            data = struct.pack(f'={kept}I', *(half << 16 for half in struct.unpack(f'={kept}H', data)))
        return memoryview(bytearray(data)).cast('f')
    finally:
        release(held)
