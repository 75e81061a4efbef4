"""Exported models as functions of Python: attend.load."""
import ctypes
import math
import pathlib
import re
import threading
from typing import Any, List, Optional, Sequence, Tuple

from ._arrays import Array, empty, release
from ._compiled import Parameter, interface_of, opened, shared_object
from ._shared import AttendError, truth, whole

MOST_AXES = 16
# Of model.cpp: an input whose numbers choose rows of a table, and how many there are.
TABLE = re.compile(r'const int32_t row = at<int32_t\[\d+\]>\((\w+),\s+0\)\[i\];\s+if \(row < 0 \|\| row >= (\d+)\)')


class _Like:
    """What results are like whose call was given numbers: arrays of numpy, where that is there."""
    __array_interface__ = None


class Exported:
    """A model that attend.load has loaded.

    name          that of its namespace
    inputs, outputs   of run(): name, code of the type and shape, without axes of one element
    is_decoder    whether it has append() and clear()
    memory_bytes  what run() takes on this machine; token_memory_bytes: what append() takes, caches and all (0 where there is none)
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        interface = interface_of(folder)
        self._library = opened(shared_object(folder, interface))
        self._library.exported_status_text.restype = ctypes.c_char_p
        self._lock = threading.Lock()  # it computes in one block of memory
        self._run, self._append, self._silent = interface.run, interface.append, interface.appends_silently
        self.name, self.is_decoder = interface.name, bool(interface.append)
        self.inputs, self.outputs = ([each for each in interface.run if each.is_input is kind] for kind in (True, False))
        self.memory_bytes = self._size('exported_memory_bytes')
        self.token_memory_bytes = self._size('exported_token_memory_bytes') if self.is_decoder else 0

    def _size(self, function: str) -> int:
        size = getattr(self._library, function)
        size.restype = ctypes.c_size_t
        return size()

    def run(self, *inputs: Any) -> Any:
        """The output, or a tuple of several. Inputs have the shapes and types of run() in model.h; axes of one element do not count. Whole
        numbers, such as tokens, may be int64, a list or, where there is one, a number."""
        return self._call('run', self._library.exported_run, self._run, inputs)

    def append(self, *inputs: Any, outputs: bool = True) -> Any:
        """Of a decoder: takes one token, and computes what run computes for it, with the same bits. outputs=False: nobody reads them, as
        those of a prompt but for its last token, and only what later tokens look at is computed."""
        self._require_decoder('append')
        if truth('outputs', outputs) or not self._silent:
            found = self._call('append', self._library.exported_append, self._append, inputs)
            return found if outputs else None
        return self._call('append', self._library.exported_append_silently, [each for each in self._append if each.is_input], inputs)

    def clear(self) -> None:
        """Of a decoder: the next token is the first one."""
        self._require_decoder('clear')
        with self._lock:
            self._library.exported_clear()

    def self_test(self) -> None:
        """AttendError where a step has other bits than on the computer that exported the model. A decoder begins anew."""
        with self._lock:
            step = self._library.exported_self_test()
            if self.is_decoder:
                self._library.exported_clear()
        if step >= 0:
            raise AttendError(f'the self-test of {self.name} found other bits from step {step} on: see {self.folder}/self_test.cpp')

    def _require_decoder(self, what: str) -> None:
        if not self.is_decoder:
            raise AttendError(f'{self.name} has no {what}(); expected a model that was exported with decoder=True (--decoder)')

    def _call(self, what: str, function: Any, parameters: List[Parameter], given: Any) -> Any:
        inputs = [each for each in parameters if each.is_input]
        if len(given) != len(inputs):
            raise AttendError(f'{what} was given {len(given)} arrays; expected {len(inputs)}: {", ".join(_described(each) for each in inputs)}')
        held: List[Any] = []
        try:
            arrays = [_input(each, array, held) for each, array in zip(inputs, given)]
            like = given[0] if hasattr(given[0], '__len__') and not isinstance(given[0], (list, tuple)) else _Like
            results = [empty(like, each.code, each.shape) for each in parameters if not each.is_input]
            addresses = arrays + [Array('output', each, 'fbhiB', 1, MOST_AXES, held, True).address for each in results]
            pointers = (ctypes.c_void_p * len(addresses))(*addresses)
            with self._lock:
                status = function(pointers)
            if status:
                text = self._outside(inputs, arrays) or self._library.exported_status_text(status).decode()
                raise AttendError(f'{self.name}: {what}: {text}')
            return None if not results else results[0] if len(results) == 1 else tuple(results)
        finally:
            release(held)

    def _outside(self, inputs: List[Parameter], arrays: List[int]) -> Optional[str]:
        """What was looked up in a table, and is not there."""
        rows = {name: int(count) for name, count in TABLE.findall((self.folder / 'model.cpp').read_text())}
        for each, address in zip(inputs, arrays):
            count = rows.get(each.name)
            for number in (ctypes.c_int32 * math.prod(each.shape)).from_address(address) if count else ():
                if not 0 <= number < count:
                    return f'{each.name} has {number}; expected 0 to {count - 1}: its table (of tokens, the vocabulary) has {count} rows'
        return None


def _described(parameter: Parameter) -> str:
    return f'{parameter.name} {list(parameter.shape)}'


class _Numbers:
    """Whole numbers as int32, for as long as a call takes."""

    def __init__(self, name: str, numbers: Sequence[Any]):
        self._held = (ctypes.c_int32 * len(numbers))(*(whole(name, number, -2**31, 2**31 - 1) for number in numbers))
        self.address = ctypes.addressof(self._held)

    def release(self) -> None:
        """Its memory goes with it."""


def _listed(name: str, source: Any) -> Tuple[List[int], List[Any]]:
    """The shape and the numbers of a list, of lists of lists, or of one number."""
    if not isinstance(source, (list, tuple)):
        return [], [source]
    parts = [_listed(name, each) for each in source]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise ValueError(f'{name} has rows of different lengths')
    return [len(parts), *(parts[0][0] if parts else [])], [number for _, numbers in parts for number in numbers]


def _input(parameter: Parameter, source: Any, held: List[Any]) -> int:
    """The address of its numbers."""
    name, is_whole = parameter.name, parameter.code == 'i'
    try:
        if is_whole and (isinstance(source, (list, tuple)) or hasattr(source, '__index__') and not getattr(source, 'shape', ())):
            shape, numbers = _listed(name, source)
            held.append(_Numbers(name, numbers))
            address = held[-1].address
        else:
            codes = 'iql' if is_whole else '?B' if parameter.code == 'B' else parameter.code
            array = Array(name, source, codes, 1, MOST_AXES, held)
            array.require_dense()
            shape, address = list(array.shape[MOST_AXES - array.given_axes:]), array.address
            if is_whole and array.code != 'i':
                held.append(_Numbers(name, (ctypes.c_int64 * math.prod(shape)).from_address(address)))
                address = held[-1].address
    except (TypeError, ValueError) as error:
        raise AttendError(str(error)) from error
    if [size for size in shape if size != 1] != [size for size in parameter.shape if size != 1]:
        raise AttendError(f'{name} has the shape {shape}; expected {list(parameter.shape)}')
    return address


def load(folder: Any) -> Exported:
    """A model that `attend export` has written to a folder, as functions of Python:

        model = attend.load('encoder')
        y = model.run(x)
        model.self_test()

    It is compiled into folder/build by the C++ compiler of this machine (CXX= of the environment, else c++, g++ or clang++), which takes a second,
    the first time and again where its sources are newer, and linked with the library of this package. Where the folder has sources of another
    version, or CXX= has flags, the library is compiled too, which takes about a minute. Each call of load gives a model with memory of its own.
    AttendError where there is no compiler, where it reports errors, or where the folder is another one."""
    path = pathlib.Path(folder)
    if not path.is_dir():
        raise AttendError(f'{path} is no folder; expected one that `python3 -m attend export` has written')
    return Exported(path)
