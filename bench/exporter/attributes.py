"""The attributes of a node. Whoever computes the node reads all that its operator has; what nobody has read is refused by its name."""
from typing import Any, Dict, Iterator, Set, Tuple

import numpy

from .errors import ExportError

NUMBERS = (int, float, numpy.floating)


class Attributes:
    """Each is read by its type, with its default: whole('axis', 0). None stands for a default that is no number; without any it is required."""

    def __init__(self, owner: Any, given: Dict[str, Any]):
        self.owner, self.given = owner, given
        self.defaults: Dict[str, Any] = {}  # of all that was ever read
        self.known: Set[str] = set()        # what was read since begin()
        self.free: Set[str] = set()         # what changes no output that is computed

    def whole(self, name: str, *default: Any) -> Any:
        return self._read(name, default, 'a whole number', lambda value: isinstance(value, int))

    def flag(self, name: str, default: int) -> bool:
        return bool(self._read(name, (default,), '0 or 1', lambda value: isinstance(value, int) and value in (0, 1)))

    def number(self, name: str, *default: Any) -> Any:
        value = self._read(name, default, 'a number', lambda value: isinstance(value, NUMBERS) and value == value)
        return value if value is None else float(value)

    def wholes(self, name: str, *default: Any) -> Any:
        return self._read(name, default, 'whole numbers', lambda value: isinstance(value, (list, tuple)) and all(isinstance(each, int) for each in value))

    def numbers(self, name: str) -> Any:
        return self._read(name, (), 'numbers', lambda value: isinstance(value, (list, tuple)) and all(isinstance(each, NUMBERS) for each in value))

    def tensor(self, name: str, *default: Any) -> Any:
        return self._read(name, default, 'an array', lambda value: isinstance(value, numpy.ndarray))

    def text(self, name: str) -> Any:
        return self._read(name, (), 'a text', lambda value: isinstance(value, str))

    def choice(self, name: str, default: Any, *others: Any) -> Any:
        """One of several; the first one is the default."""
        expected = [each for each in (default, *others) if each is not None]
        return self._read(name, (default,), ' or '.join(map(str, expected)), lambda value: type(value) in map(type, expected) and value in expected)

    def irrelevant(self, *names: str) -> None:
        """What makes no difference to the outputs that are computed."""
        self.free.update(names)

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def begin(self) -> None:
        """From here on someone else reads."""
        self.known = set()

    def unread(self) -> Iterator[Tuple[str, Any]]:
        """Names and values that the reader does not know, and that are no defaults."""
        for name, value in self.given.items():
            if name not in self.known | self.free and not (name in self.defaults and _same(value, self.defaults[name])):
                yield name, value

    def require_all(self) -> None:
        for name, value in self.unread():
            raise ExportError(f'{self.owner}: its attribute "{name}" is {_said(value)}, and this exporter knows no attribute of this name there')

    def _read(self, name: str, default: Tuple[Any, ...], expected: str, fits: Any) -> Any:
        self.known.add(name)
        self.defaults.update({name: each for each in default})
        if name not in self.given:
            if not default:
                raise ExportError(f'{self.owner}: its attribute "{name}" is missing')
            return default[0]
        value = self.given[name]
        if not fits(value):
            raise ExportError(f'{self.owner}: its attribute "{name}" is {_said(value)}; expected {expected}')
        return value


def _said(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:100] + ' …'


def _same(value: Any, default: Any) -> bool:
    """Floats in a file have 32 bits."""
    if isinstance(value, float) and isinstance(default, float):
        return bool(numpy.float32(value) == numpy.float32(default))
    return type(value) is type(default) and bool(numpy.all(value == default))
