"""The shared object, its refusals as exceptions, and numbers that it can take."""
import ctypes
import operator
import os
from typing import Any

from . import _c

shared = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libattend.so'))
_c.declare(shared)


class AttendError(ValueError):
    """A call was refused: the library says which argument is wrong, and why. Nothing has been changed."""


def require(status: int) -> None:
    if status != _c.ATTEND_OK:
        argument = shared.attend_argument_name(status)
        text = shared.attend_error_text(status).decode()
        raise AttendError(f'{argument.decode()}: {text}' if argument else text)


def whole(name: str, number: Any, least: int = 0, most: int = _c.ATTEND_MAX_TOKENS) -> int:
    """A number that C would cut, or that means something else there, is refused here."""
    value = operator.index(number)
    if not least <= value <= most:
        raise ValueError(f'{name} is {value}; expected {least} to {most}')
    return value
