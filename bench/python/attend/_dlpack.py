"""Arrays that have no buffer but DLPack, as PyTorch's tensors: read where they lie, in the memory of the processor.

A producer hands over a capsule with a struct of C, whose deleter is called once when the array is no longer read. Both forms of the struct
are understood: the first one, and that of DLPack 1.0, which says whether the numbers may be written.
"""
import ctypes
import math
import sys
from typing import Any, List, Optional

from ._shared import AttendError

HOSTS = (1, 3, 11)  # the processor's memory, and that which CUDA and ROCm have pinned
DEVICES = {2: 'CUDA', 4: 'OpenCL', 7: 'Vulkan', 8: 'Metal', 10: 'ROCm', 13: 'CUDA', 14: 'oneAPI'}
BFLOAT16 = 'E'  # its code among those of Python's buffers, which have none for it
CODES = {(0, 8): 'b', (0, 16): 'h', (0, 32): 'i', (0, 64): 'q', (1, 8): 'B', (1, 16): 'H', (2, 16): 'e', (2, 32): 'f', (2, 64): 'd',
         (4, 16): BFLOAT16, (6, 8): '?'}
_READ_ONLY = 1
_nothing = ctypes.create_string_buffer(64)  # where an array without elements begins, if its producer gives no address


class _Tensor(ctypes.Structure):
    """DLTensor."""
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device', ctypes.c_int32), ('axes', ctypes.c_int32),
                ('type_code', ctypes.c_uint8), ('type_bits', ctypes.c_uint8), ('type_lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]


_Deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # with the interpreter's lock, which some of them need


class _Managed(ctypes.Structure):
    """DLManagedTensor."""
    _fields_ = [('tensor', _Tensor), ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p),
                ('flags', ctypes.c_uint64), ('tensor', _Tensor)]


def _of_capsules(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, ctypes.py_object, *arguments)((f'PyCapsule_{name}', ctypes.pythonapi))


_is_valid = _of_capsules('IsValid', ctypes.c_int, ctypes.c_char_p)
_get_pointer = _of_capsules('GetPointer', ctypes.c_void_p, ctypes.c_char_p)
_set_name = _of_capsules('SetName', ctypes.c_int, ctypes.c_char_p)
# A capsule points to its name: these stay for as long as the module.
_KINDS = ((b'dltensor', b'used_dltensor', _Managed), (b'dltensor_versioned', b'used_dltensor_versioned', _Versioned))


class TensorBuffer:
    """What _arrays.py reads of a buffer, of an array that has DLPack. It is the owner of the struct until `release`."""

    def __init__(self, name: str, source: Any):
        self._managed: Any = None
        capsule = _capsule_of(name, source)
        for fresh, used, kind in _KINDS:
            if _is_valid(capsule, fresh):
                address = _get_pointer(capsule, fresh)
                _set_name(capsule, used)
                self._managed = kind.from_address(address)
                break
        else:
            raise AttendError(f'{name} is a {type(source).__name__} whose __dlpack__ gives no capsule "dltensor"; expected an array')
        try:
            self._read(name)
        except BaseException:
            self.release()
            raise

    def _read(self, name: str) -> None:
        managed = self._managed
        if isinstance(managed, _Versioned) and managed.major != 1:
            raise AttendError(f'{name} comes by DLPack {managed.major}.{managed.minor}; expected a version below 2')
        tensor, self.read_only = managed.tensor, isinstance(managed, _Versioned) and bool(managed.flags & _READ_ONLY)
        _require_host(name, tensor.device_type)
        self.axes, self.item_bytes = tensor.axes, -(-tensor.type_bits // 8)
        self.shape: List[int] = tensor.shape[:self.axes] if self.axes else []
        self.strides: Optional[List[int]] = None  # dense
        if tensor.strides and 0 not in self.shape:
            self.strides = [stride * self.item_bytes for stride in tensor.strides[:self.axes]]
        code = CODES.get((tensor.type_code, tensor.type_bits)) if tensor.type_lanes == 1 else None
        self.format = (code or f'type {tensor.type_code} of DLPack, {tensor.type_bits} bits').encode()
        if tensor.data:
            self.address = tensor.data + tensor.byte_offset
        elif math.prod(self.shape) == 0:
            self.address = ctypes.addressof(_nothing)
        else:
            raise AttendError(f'{name} has no memory: compute its numbers first')

    def release(self) -> None:
        managed, self._managed = self._managed, None
        if managed is not None and managed.deleter:
            _Deleter(managed.deleter)(ctypes.addressof(managed))


def _capsule_of(name: str, source: Any) -> Any:
    """The device is not asked for before, which takes PyTorch longer than all the rest: the struct has it."""
    try:
        if str(getattr(source, 'dtype', '')) == 'torch.bool':  # PyTorch 1 has no DLPack of it: its bytes are 0 and 1
            source = source.view(sys.modules['torch'].uint8)
        try:
            return source.__dlpack__(max_version=(1, 0))
        except TypeError:  # it was written before there was an argument
            return source.__dlpack__()
    except Exception as error:  # whatever a producer raises: gradients that are needed, layouts and devices that it cannot hand over
        raise AttendError(f'{name} is a {type(source).__name__} that cannot be read where it lies: {error}') from error


def _require_host(name: str, device: int) -> None:
    if device not in HOSTS:
        raise AttendError(f'{name} is on another device ({DEVICES.get(device, f"DLPack device {device}")}); expected memory of the processor: '
                          f'pass {name}.cpu()')
