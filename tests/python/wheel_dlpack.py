"""Arrays that have DLPack and no buffer: tests/python/wheel_dlpack.py. Needs numpy, and looks at PyTorch's tensors where it is installed.

A producer of its own, over ctypes, counts what it has handed over and what was given back.
"""
import ctypes
import gc

import attend
import numpy as np
from attend import _dlpack
from wheel_checks import check, draw, finish, refused, same

Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(('PyCapsule_New', ctypes.pythonapi))
TYPES = {'float32': (2, 32), 'float16': (2, 16), 'int8': (0, 8), 'int32': (0, 32), 'bool': (6, 8), 'uint8': (1, 8), 'uint16': (1, 16)}


producers = []  # which stay until what they have handed over is given back


class Producer:
    """An array of numpy as others hand theirs over. kind: a type of DLPack in place of the array's."""

    def __init__(self, array, kind=None, *, versioned=False, read_only=False, device=1, lanes=1, strides=True, offset=0, major=1, name=None):
        producers.append(self)
        self.array, self.versioned, self.device, self.name = array, versioned, device, name
        self.given = self.returned = 0
        code, bits = TYPES[array.dtype.name] if kind is None else kind
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
        tensor = _dlpack._Tensor(array.ctypes.data - offset, device, 0, array.ndim, code, bits, lanes, self.shape,
                                 self.strides if strides else None, offset)
        self.deleter = Deleter(self.take_back)
        at = ctypes.cast(self.deleter, ctypes.c_void_p).value
        self.managed = _dlpack._Versioned(major, 0, None, at, int(read_only), tensor) if versioned else _dlpack._Managed(tensor, None, at)

    def take_back(self, address):
        self.returned += 1 if address == ctypes.addressof(self.managed) else 1000

    def __dlpack_device__(self):
        return self.device, 0

    def hand_over(self):
        self.given += 1
        return new_capsule(ctypes.addressof(self.managed), self.name or (b'dltensor_versioned' if self.versioned else b'dltensor'), None)

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError('an unexpected keyword argument')
        return self.hand_over()


def as_bfloat16(array):
    """The upper halves, as uint16."""
    return (array.view(np.uint32) >> 16).astype(np.uint16)


def widened(halves):
    return (halves.astype(np.uint32) << 16).view(np.float32)


arrays = draw(2, 4, 9, 8), draw(2, 2, 11, 8), draw(2, 2, 11, 8)
wanted = attend.attention(*arrays, causal=True, offset=2)
for versioned in (False, True):
    tensors = [Producer(array, versioned=versioned, strides=versioned, offset=16) for array in arrays]
    same('tensors', attend.attention(*tensors, causal=True, offset=2), wanted)
    out = Producer(np.zeros_like(wanted), versioned=versioned)
    check(attend.attention(*tensors, causal=True, offset=2, out=out) is out, 'out is a tensor')
    same('what out has', out.array, wanted)
    check([(each.given, each.returned) for each in (*tensors, out)] == [(2, 2)] * 3 + [(1, 1)], 'each tensor is given back once')
turned = [Producer(np.ascontiguousarray(array.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)) for array in arrays]
same('strides of tensors', attend.attention(*turned, causal=True, offset=2), wanted)
mask = np.arange(11) % 3 > 0
same('a mask', attend.attention(*arrays, mask=Producer(mask)), attend.attention(*arrays, mask=mask))
ends = np.full(9, 7, np.int32)
same('ranges', attend.attention(*arrays, ranges=(None, Producer(ends))), attend.attention(*arrays, ranges=(None, ends)))
halves = [array.astype(np.float16) for array in arrays]
same('float16', attend.attention(*map(Producer, halves)), attend.attention(*halves))
meaning, bytes_of = attend.Quantisation(0.02, 0.02, 0.02, 0.02), [(array * 40).astype(np.int8) for array in arrays]
same('int8', attend.attention(*map(Producer, bytes_of), quantisation=meaning), attend.attention(*bytes_of, quantisation=meaning))

# bfloat16 goes to the library as it is: keys and values, queries and outputs, weights.
brains = [as_bfloat16(array) for array in arrays]
tensors = [Producer(array, (4, 16)) for array in brains]
exact = attend.attention(*map(widened, brains), causal=True, offset=2)
same('bfloat16 gives float32', attend.attention(*tensors, causal=True, offset=2), exact)
same('keys and values of bfloat16', attend.attention(widened(brains[0]), *tensors[1:], causal=True, offset=2), exact)
out = Producer(np.zeros(wanted.shape, np.uint16), (4, 16))
attend.attention(*tensors, causal=True, offset=2, out=out)
check(np.abs(widened(out.array) - exact).max() < 2**-8 * np.abs(exact).max() and out.array.any(), 'out of bfloat16')
state = attend.State(tensors[0], causal=True, offset=2)
state.accumulate(*(Producer(array[:, :, :5], (4, 16)) for array in brains[1:]))
state.accumulate(*(Producer(array[:, :, 5:], (4, 16)) for array in brains[1:]))
same('a state of bfloat16', state.finish(), exact)
x, w, bias = draw(3, 8), draw(5, 8), draw(5)
of_brains = Producer(as_bfloat16(w), (4, 16))
weights = attend.Weights(of_brains, Producer(bias))
y = attend.project(Producer(x), weights)
same('weights of bfloat16', y, attend.project(x, attend.Weights(widened(as_bfloat16(w)), bias)))
same('packed ones', attend.project(x, weights.packed()), y)
check((of_brains.given, of_brains.returned) == (1, 0), 'weights keep their tensor')
del weights
gc.collect()
check(of_brains.returned == 1, 'and give it back when they go')
cache = attend.Cache(2, 8, 20)
cache.append(*(Producer(array[0]) for array in arrays[1:]))
same('a cache', attend.attention(arrays[0][0], cache, causal=True), wanted[0])
same('no tokens', attend.project(Producer(np.zeros((0, 8), np.float32)), attend.Weights(w)), np.zeros((0, 5), np.float32))

# Refusals give back what was taken.
others = lambda first: lambda: attend.attention(first, *arrays[1:])
refusals = (('another device', 'pass query.cpu()', dict(device=2)), ('a type that there is not', 'type 5 of DLPack', dict(kind=(5, 64))),
            ('several lanes', 'expected float32', dict(lanes=2)), ('float64', 'query.to(torch.float32)', dict(kind=(2, 64))),
            ('version 2', 'expected a version below 2', dict(versioned=True, major=2)))
for what, text, given in refusals:
    tensor = Producer(arrays[0], **given)
    refused(what, text, others(tensor), (attend.AttendError, TypeError))
    check(tensor.given == tensor.returned, f'{what}: given back')
buffer = _dlpack.TensorBuffer('x', tensor := Producer(x))
buffer.release()
buffer.release()
check(tensor.returned == 1, 'given back once, however often it is released')
refused('a capsule of another name', 'gives no capsule', others(Producer(arrays[0], name=b'used_dltensor')), attend.AttendError)
tensor = Producer(np.zeros_like(wanted), versioned=True, read_only=True)
refused('out that is read-only', 'out is read-only', lambda: attend.attention(*arrays, out=tensor))
check(tensor.returned == tensor.given == 1 and not tensor.array.any(), 'it is given back unwritten')
refused('columns apart', 'pass query.contiguous()', others(Producer(arrays[0].repeat(2, 3)[:, :, :, ::2])))
refused('rows apart', 'pass x.contiguous()', lambda: attend.rms_norm(Producer(x.repeat(2, 0)[::2])))

try:
    import torch
except ImportError:
    torch = None
    print('PyTorch is not there: its tensors are not looked at')
if torch is not None:
    query, key, value = map(torch.from_numpy, arrays)
    same('tensors of PyTorch', attend.attention(query, key, value, causal=True, offset=2), wanted)
    swapped = query.transpose(1, 2).contiguous().transpose(1, 2)
    same('their strides', attend.attention(swapped, key, value, causal=True, offset=2), wanted)
    same('their masks', attend.attention(query, key, value, mask=torch.from_numpy(mask)), attend.attention(*arrays, mask=mask))
    small = [tensor.to(torch.bfloat16) for tensor in (query, key, value)]
    exact = attend.attention(*(tensor.float() for tensor in small), causal=True, offset=2)
    same('their bfloat16', attend.attention(*small, causal=True, offset=2), exact)
    out = torch.zeros(query.shape, dtype=torch.bfloat16)
    check(attend.attention(*small, causal=True, offset=2, out=out) is out, 'out of PyTorch')
    check(torch.equal(out, torch.from_numpy(exact).to(torch.bfloat16)), 'it is rounded as PyTorch does')
    refused('gradients', 'gradient', lambda: attend.attention(query.clone().requires_grad_(), key, value),
            attend.AttendError)
    refused('no device', 'meta', lambda: attend.attention(query.to('meta'), key, value), attend.AttendError)
    # A tensor's storage lives as long as the weights that read it.
    weights = attend.Weights(torch.from_numpy(w.copy()).clone())
    gc.collect()
    [torch.full((5, 8), 7.0) for _ in range(50)]
    same('weights of a tensor that is gone', attend.project(x, weights), attend.project(x, attend.Weights(w)))
finish()
