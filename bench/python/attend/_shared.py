"""The shared object, its refusals as exceptions, and numbers that it can take."""
import ctypes
import operator
import os
from typing import Any

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


def whole(name: str, number: Any, least: int = 0, most: int = _c.ATTEND_MAX_TOKENS) -> int:
    """A number that C would cut, or that means something else there, is refused here."""
    try:
        value = operator.index(number)
    except TypeError:
        raise TypeError(f'{name} is {number!r}, a {type(number).__name__}; expected a whole number, such as {name}={max(least, 0)}') from None
    if not least <= value <= most:
        raise ValueError(f'{name} is {value}; expected {least} to {most}')
    return value


def real(name: str, number: Any, most: float = 3.4e38) -> float:
    """Likewise. (C's default is the float that is farthest below 0.)"""
    if not hasattr(number, '__float__'):
        raise TypeError(f'{name} is {number!r}, a {type(number).__name__}; expected a number, such as {name}=1.0')
    if not abs(float(number)) <= most:
        raise ValueError(f'{name} is {number}; expected a number that float32 holds')
    return float(number)


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
