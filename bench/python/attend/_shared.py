"""The shared object, its refusals as exceptions, and numbers that it can take."""
import ctypes
import functools
import inspect
import operator
import os
from typing import Any, Callable, Sequence, TypeVar, cast

from . import _c
from ._sentences import name_of, sentence

shared = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libattend.so'))
_c.declare(shared)


class AttendError(ValueError):
    """A call was refused: the library says which argument is wrong, and why. Nothing has been changed."""


def require(status: int) -> None:
    if status != _c.ATTEND_OK:
        error, argument = status % 256, status // 256
        text = sentence(error, argument) or shared.attend_error_text(status).decode()
        raise AttendError(f'{name_of(shared.attend_argument_name(status).decode(), error)}: {text}')


# What other libraries call an option.
_ELSEWHERE = {'is_causal': 'causal', 'attn_mask': 'mask', 'attention_mask': 'mask', 'key_padding_mask': 'key_lengths', 'attn_bias': 'bias',
              'softmax_scale': 'scale', 'sm_scale': 'scale', 'window_size': 'window', 'sliding_window': 'window', 'softcap': 'soft_cap',
              'sinks': 'sink_logits', 'dim': 'rotary_dim', 'theta': 'base', 'rope_theta': 'base', 'rope_scaling': 'scaling'}


def unknown_option(call: str, name: str, known: Sequence[str]) -> TypeError:
    meant = _ELSEWHERE.get(name, '')
    remedy = f'write {meant}=, one of {", ".join(known)}' if meant in known else f'expected some of {", ".join(known)}'
    return TypeError(f'{call} has no option {name}: {remedy}')


_Call = TypeVar('_Call', bound=Callable[..., Any])


def knows_its_options(call: _Call) -> _Call:
    """A function or an __init__ that lists its options where it is given another one."""
    names = [name for name in inspect.signature(call).parameters if name != 'self']
    title = 'attend.' + call.__qualname__.replace('.__init__', '')

    @functools.wraps(call)
    def checked(*arguments: Any, **options: Any) -> Any:
        try:
            return call(*arguments, **options)
        except TypeError:
            for name in options:
                if name not in names:
                    raise unknown_option(title, name, names) from None
            raise
    return cast(_Call, checked)


def whole(name: str, number: Any, least: int = 0, most: int = _c.ATTEND_MAX_TOKENS) -> int:
    """A number that C would cut, or that means something else there, is refused here."""
    try:
        value = operator.index(number)
    except TypeError:
        raise TypeError(f'{name} is {number!r}, a {type(number).__name__}; expected a whole number, such as {name}={max(least, 0)}') from None
    if not least <= value <= most:
        raise ValueError(f'{name} is {value}; expected {least} to {most}')
    return value


def of_segment(name: str, position: int) -> int:
    """Where a cache or a state can begin."""
    if position % _c.ATTEND_SEGMENT_KEYS:
        raise ValueError(f'{name} is {position}; expected a multiple of {_c.ATTEND_SEGMENT_KEYS}')
    return position


def real(name: str, number: Any, least: float = -3.4e38, most: float = 3.4e38, note: str = '') -> float:
    """Likewise. (C's default is the float that is farthest below 0.) note: what else there is, such as 0 for none."""
    if not hasattr(number, '__float__'):
        raise TypeError(f'{name} is {number!r}, a {type(number).__name__}; expected a number, such as {name}=1.0')
    value = float(number)
    if not least <= value <= most and not (note and value == 0):
        raise ValueError(f'{name} is {number}; expected {least:g} to {most:g}{note}')
    return value


def truth(name: str, flag: Any) -> bool:
    """What is true by not being empty is no answer: 'no' would be yes."""
    if not isinstance(flag, bool) and type(flag).__name__ not in ('bool_', 'bool'):  # numpy's name is one of these
        raise TypeError(f'{name} is {flag!r}, a {type(flag).__name__}; expected {name}=True or {name}=False')
    return bool(flag)


def word(name: str, given: Any, known: Any, note: str = '') -> Any:
    """What a word stands for."""
    if not isinstance(given, str):
        raise TypeError(f'{name} is a {type(given).__name__}; expected one of {", ".join(known)}, in quotes{note}')
    if given not in known:
        raise ValueError(f'{name} is {given!r}; expected one of {", ".join(known)}')
    return known[given]


def made(name: str, thing: Any, kind: Any) -> Any:
    """One of this package's own objects."""
    if not isinstance(thing, kind):
        raise TypeError(f'{name} is a {type(thing).__name__}; expected an attend.{kind.__name__}')
    return thing


def new(kind: Any, initialise: Any) -> Any:
    """A struct with its defaults."""
    struct = kind()
    require(initialise(ctypes.byref(struct), ctypes.sizeof(struct)))
    return struct
