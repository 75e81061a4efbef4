"""Other people's arrays by Python's buffer protocol or by DLPack: addresses and strides, no copies, no numpy."""
import ctypes
import math
import struct
import sys
import threading
from typing import Any, List, Optional, Sequence, Tuple

from . import _c
from ._dlpack import BFLOAT16, TensorBuffer

FORMATS = {'f': _c.ATTEND_FLOAT32, 'e': _c.ATTEND_FLOAT16, BFLOAT16: _c.ATTEND_BFLOAT16, 'b': _c.ATTEND_INT8, 'h': _c.ATTEND_INT16}
NAMES = {'f': 'float32', 'e': 'float16', BFLOAT16: 'bfloat16', 'b': 'int8', 'h': 'int16', '?': 'bool', 'B': 'uint8', 'H': 'uint16',
         'i': 'int32', 'd': 'float64', 'l': 'int64', 'q': 'int64', 'g': 'longdouble'}
_OTHER_OUT = 'make it with numpy.empty(shape, numpy.float32), or leave it away and copy the result: out[...] = attend.attention(...)'
STRIDES_AND_FORMAT = 0x1c
_NATIVE = '@=<' if sys.byteorder == 'little' else '@=>'
_work = threading.local()  # memory that a thread's next call takes again


class _Buffer(ctypes.Structure):
    """What the protocol fills in."""
    _fields_ = [('address', ctypes.c_void_p), ('object', ctypes.py_object), ('bytes', ctypes.c_ssize_t),
                ('item_bytes', ctypes.c_ssize_t), ('read_only', ctypes.c_int), ('axes', ctypes.c_int),
                ('format', ctypes.c_char_p), ('shape', ctypes.POINTER(ctypes.c_ssize_t)),
                ('strides', ctypes.POINTER(ctypes.c_ssize_t)), ('suboffsets', ctypes.c_void_p), ('internal', ctypes.c_void_p)]

    def release(self) -> None:
        _release_buffer(self)


_get_buffer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int)(
    ('PyObject_GetBuffer', ctypes.pythonapi))
_release_buffer = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_Buffer))(('PyBuffer_Release', ctypes.pythonapi))


class Array:
    """An array's address, shape and strides, the latter in elements, with axes of extent 1 in front up to `axes` of them."""

    def __init__(self, name: str, source: Any, codes: str, least: int, axes: int, held: List[Any], writable: bool = False,
                 any_strides: bool = False):
        # A call that got another array would write into that one. And a copy of `out` is not where the caller wants the result.
        instead = _OTHER_OUT if name == 'out' else f'the call writes into it, so first set {name} =' if writable else 'pass'
        buffer = _buffer_of(name, source, instead)
        held.append(buffer)  # to be released
        self.name, self.of_dlpack = name, isinstance(buffer, TensorBuffer)
        self._instead = instead
        if writable and buffer.read_only:
            raise ValueError(f'{name} is read-only')
        code = (buffer.format or b'B').decode().lstrip(_NATIVE)
        if len(code) != 1 or code not in codes:
            raise TypeError(_wrong_numbers(name, code, codes, self.of_dlpack, instead))
        given, size = buffer.axes, buffer.item_bytes
        if not least <= given <= axes:
            raise ValueError(f'{name} has {given} axes; expected {least}' + (f' to {axes}' if axes > least else ''))
        shape = buffer.shape[:given]
        bytes_apart = buffer.strides[:given] if buffer.strides else _dense(shape, size)
        if shape[-1] > 1 and bytes_apart[-1] != size and not any_strides:
            raise ValueError(f'the last axis of {name} is not contiguous: {self._contiguous()}')
        strides = [stride // size for stride in bytes_apart]
        if [stride * size for stride in strides] != bytes_apart:
            raise ValueError(f'strides of {name} are no whole numbers of elements')
        self.code, self.given_axes, self.address = code, given, buffer.address
        self.shape, self.strides = (*(1,) * (axes - given), *shape), (*(0,) * (axes - given), *strides)

    def _contiguous(self) -> str:
        return self._instead if self.name == 'out' else f'{self._instead} ' + (f'{self.name}.contiguous()' if self.of_dlpack else f'numpy.ascontiguousarray({self.name})')

    @property
    def format(self) -> int:
        return FORMATS[self.code]

    def shared(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Strides for `shape`, as far as it goes: 0 where this array has one element that all share."""
        for axis, (has, needs) in enumerate(zip(self.shape, shape)):
            if has not in (1, needs):
                raise ValueError(f'{self.name} has {has} elements where axis {axis} needs {needs}, or 1 for all')
        return tuple(0 if has == 1 else stride for has, stride in zip(self.shape, self.strides))[:len(shape)]

    def place(self, tensor: Any) -> None:
        """Of [batch, heads, tokens, width], or without the width."""
        tensor.data = self.address
        tensor.batch_stride, tensor.head_stride, tensor.token_stride = self.strides[:3]

    def require_columns(self, needed: int) -> None:
        if self.shape[-1] != needed:
            raise ValueError(f'{self.name} has {self.shape[-1]} numbers for {needed}')

    def require_dense(self) -> None:
        """Numbers that lie side by side, as vectors of layers do."""
        if 0 not in self.shape and any(extent > 1 and stride != dense for extent, stride, dense in
                                       zip(self.shape, self.strides, _dense(self.shape, 1))):
            raise ValueError(f'{self.name} is not contiguous: {self._contiguous()}')


class View:
    """Numbers at an address, which Array reads as it reads a buffer: a part of another array, or one with other axes. It keeps nothing
    alive. strides: in elements, or dense; like: what new arrays beside it are to be like."""
    read_only = False

    def __init__(self, address: int, code: str, shape: Sequence[int], strides: Optional[Sequence[int]] = None, like: Any = None):
        self.address, self.format, self.axes, self.like = address, code.encode(), len(shape), like
        self.item_bytes = 2 if code == BFLOAT16 else struct.calcsize(code)
        self.shape = list(shape)
        self.strides = _dense(shape, self.item_bytes) if strides is None else [stride * self.item_bytes for stride in strides]

    def rows(self) -> List['View']:
        """What the first axis counts."""
        shape, strides, code = self.shape[1:], [stride // self.item_bytes for stride in self.strides[1:]], self.format.decode()
        return [View(self.address + row * self.strides[0], code, shape, strides, self.like) for row in range(self.shape[0])]

    def release(self) -> None:
        """The array that it looks into is somebody else's."""


def _buffer_of(name: str, source: Any, instead: str) -> Any:
    if isinstance(source, View):
        return source
    buffer = _Buffer()
    try:
        _get_buffer(source, buffer, STRIDES_AND_FORMAT)
        return buffer
    except (TypeError, ValueError, BufferError) as error:  # numpy raises ValueError for types that buffers have no code for
        if hasattr(source, '__dlpack__'):
            return TensorBuffer(name, source)
        if not isinstance(error, TypeError):
            raise
    remedy = '' if source is None else f': {instead}' if name == 'out' else f': {instead} numpy.asarray({name})'
    raise TypeError(f'{name} is a {type(source).__name__}, which has neither a buffer nor DLPack; expected an array{remedy}')


def _wrong_numbers(name: str, code: str, codes: str, of_dlpack: bool, instead: str) -> str:
    other = code[1:] if code[:1] in '<>' else ''
    found = NAMES.get(code) or (f'{NAMES[other]} in the other byte order' if other in NAMES else f'format {code!r}')
    if name == 'out':
        return f'{name} has numbers of {found}; expected {" or ".join(NAMES[known] for known in codes)}: {instead}'
    converted = lambda kind: f'{name}.to(torch.{kind})' if of_dlpack else f'{name}.astype(numpy.{"bool_" if kind == "bool" else kind})'
    if code == 'b' and name in ('query', 'key', 'value'):
        remedy = 'pass quantisation=attend.Quantisation(…), which says what the integers mean' if name == 'query' else \
            f'dequantise it: {converted("float32")} * scale'
    elif 'b' in codes and 'f' not in codes:
        remedy = f'quantise it: (numpy.rint({name} / scale) + zero_point).clip(-128, 127).astype(numpy.int8)'
    elif codes == 'H':
        remedy = f'in 2**-15 of the quantisation\'s scale, pass numpy.rint({name} * 2**15).astype(numpy.uint16)'
    else:
        remedy = f'{instead} {converted(NAMES[codes[0]])}'
    return f'{name} has numbers of {found}; expected {" or ".join(NAMES[known] for known in codes)}: {remedy}'


def _dense(shape: Sequence[int], size: int) -> List[int]:
    """Strides, in bytes, of an array whose numbers lie side by side: its owner need not say them."""
    strides = [size]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return strides[::-1]


def release(held: List[Any]) -> None:
    for buffer in held:
        buffer.release()


def empty(like: Any, code: str, shape: Sequence[int]) -> Any:
    """A new array: numpy's, where `like` is one or a tensor and numpy is there, and otherwise a memoryview. Where `like` is of bfloat16,
    which neither has, it is of float32."""
    code, like = 'f' if code == BFLOAT16 else code, like.like if isinstance(like, View) else like
    if hasattr(like, '__array_interface__') or hasattr(like, '__dlpack__'):
        try:
            import numpy
            return numpy.empty(shape, code)
        except ImportError:
            pass
    if code == 'e' or 0 in shape:
        raise TypeError('results in float16 or without elements are arrays of numpy: pass arrays of numpy, or your own as `out`')
    return memoryview(bytearray(struct.calcsize(code) * math.prod(shape))).cast(code, shape)


class Memory:
    """Bytes at an address that the library asks for."""

    def __init__(self, size: int):
        self._bytes = bytearray(size + _c.ATTEND_ALIGNMENT)
        self._held = (ctypes.c_char * len(self._bytes)).from_buffer(self._bytes)
        self.size = size
        self.address = -(-ctypes.addressof(self._held) // _c.ATTEND_ALIGNMENT) * _c.ATTEND_ALIGNMENT

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError('memory of the library cannot be copied or pickled')


def workspaces(count: int, size: int) -> List[Memory]:
    """At least so many bytes each. A thread keeps those that its calls have taken."""
    kept: Optional[List[Memory]] = getattr(_work, 'memory', None)
    if kept is None:
        kept = _work.memory = []
    if len(kept) < count or min(memory.size for memory in kept[:count]) < size:
        kept = _work.memory = [memory if memory.size >= size else Memory(size) for memory in kept[:count]]
        kept += [Memory(size) for _ in range(count - len(kept))]
    return kept
