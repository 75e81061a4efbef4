"""Exported models as functions of Python: attend.load."""
import ctypes
import pathlib
import threading
from typing import Any, List

from ._arrays import Array, empty, release
from ._compiled import Parameter, interface_of, opened, shared_object
from ._shared import AttendError, truth

MOST_AXES = 16


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
        """The output, or a tuple of several. Inputs have the shapes and types of run() in model.h; axes of one element do not count."""
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
            addresses = [_input(each, array, held) for each, array in zip(inputs, given)]
            results = [empty(given[0], each.code, each.shape) for each in parameters if not each.is_input]
            addresses += [Array('output', each, 'fbhiB', 1, MOST_AXES, held, True).address for each in results]
            pointers = (ctypes.c_void_p * len(addresses))(*addresses)
            with self._lock:
                status = function(pointers)
            if status:
                raise AttendError(f'{self.name}: {what}: {self._library.exported_status_text(status).decode()}')
            return None if not results else results[0] if len(results) == 1 else tuple(results)
        finally:
            release(held)


def _described(parameter: Parameter) -> str:
    return f'{parameter.name} {list(parameter.shape)}'


def _input(parameter: Parameter, source: Any, held: List[Any]) -> int:
    try:
        array = Array(parameter.name, source, '?B' if parameter.code == 'B' else parameter.code, 1, MOST_AXES, held)
        array.require_dense()
    except (TypeError, ValueError) as error:
        raise AttendError(str(error)) from error
    if [size for size in array.shape if size != 1] != [size for size in parameter.shape if size != 1]:
        raise AttendError(f'{parameter.name} has the shape {list(array.shape[MOST_AXES - array.given_axes:])}; expected {list(parameter.shape)}')
    return array.address


def load(folder: Any) -> Exported:
    """A model that `attend export` has written to a folder, as functions of Python:

        model = attend.load('encoder')
        y = model.run(x)
        model.self_test()

    It is compiled into folder/build by the C++ compiler of this machine (CXX= of the environment, else c++, g++ or clang++), the first time
    with the library, which takes about a minute, and again where its sources are newer. Each call of load gives a model with memory of
    its own. AttendError where there is no compiler, where it reports errors, or where the folder is another one."""
    path = pathlib.Path(folder)
    if not path.is_dir():
        raise AttendError(f'{path} is no folder; expected one that `python3 -m attend export` has written')
    return Exported(path)
