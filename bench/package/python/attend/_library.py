"""The shared library, and its refusals as exceptions."""
import ctypes
import os

from . import _c

library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libattend.so'))
_c.declare(library)


class AttendError(ValueError):
    """A call was refused: the library says which argument is wrong, and why. Nothing has been changed."""


def require(status: int) -> None:
    if status != _c.ATTEND_OK:
        argument = library.attend_argument_name(status)
        text = library.attend_error_text(status).decode()
        raise AttendError(f'{argument.decode()}: {text}' if argument else text)
