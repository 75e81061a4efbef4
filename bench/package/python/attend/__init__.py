"""Transformer attention with the same bits on every processor: a thin layer over the C surface of Attend @VERSION@.

    output = attend.attention(query, key, value, causal=True)

Arrays are anything with a buffer of float32 or float16, numpy's among them: [heads, tokens, width], with a batch in front
[batch, heads, tokens, width], or of one head [tokens, width]. Any strides will do, as long as the last axis is contiguous.
numpy is not needed: without it the output is a memoryview. No other thread waits while a call computes.
"""
import ctypes
import os
import threading

from . import _c

__version__ = '@VERSION@'
__all__ = ['attention', 'backends', 'active_backend', 'use_backend', 'bits_version', 'AttendError']

_library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libattend.so'))
_c.declare(_library)
_formats = {'f': _c.ATTEND_FLOAT32, 'e': _c.ATTEND_FLOAT16}
_work = threading.local()  # memory that a thread's next call takes again


class AttendError(ValueError):
    """A call was refused: the library says which argument is wrong, and why."""


class _Buffer(ctypes.Structure):
    """What Python's buffer protocol fills in."""
    _fields_ = [('address', ctypes.c_void_p), ('object', ctypes.py_object), ('bytes', ctypes.c_ssize_t),
                ('item_bytes', ctypes.c_ssize_t), ('read_only', ctypes.c_int), ('axes', ctypes.c_int),
                ('format', ctypes.c_char_p), ('shape', ctypes.POINTER(ctypes.c_ssize_t)),
                ('strides', ctypes.POINTER(ctypes.c_ssize_t)), ('suboffsets', ctypes.c_void_p), ('internal', ctypes.c_void_p)]


_STRIDES_AND_FORMAT = 0x1c


def _buffer(source):
    buffer = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(source), ctypes.byref(buffer), _STRIDES_AND_FORMAT)
    return buffer


class _Array:
    """A buffer's address, shape and strides as [batch, heads, tokens, width], strides in numbers."""

    def __init__(self, name, source, buffers):
        self.buffer = _buffer(source)
        buffers.append(self.buffer)  # to be released
        code = (self.buffer.format or b'B').decode().lstrip('@=<')
        axes, size = self.buffer.axes, self.buffer.item_bytes
        if code not in _formats:
            raise TypeError(f'{name} has numbers of format {code!r}; expected float32 or float16')
        if not 2 <= axes <= 4:
            raise ValueError(f'{name} has {axes} axes; expected [tokens, width], [heads, tokens, width] or [batch, heads, tokens, width]')
        self.code, self.format, self.axes = code, _formats[code], axes
        self.shape = (1,) * (4 - axes) + tuple(self.buffer.shape[:axes])
        strides = tuple(self.buffer.strides[:axes])
        if self.shape[3] > 1 and strides[-1] != size:
            raise ValueError(f'the last axis of {name} is not contiguous')
        if any(stride % size for stride in strides):
            raise ValueError(f'strides of {name} are no whole numbers of elements')
        self.strides = (0,) * (4 - axes) + tuple(stride // size for stride in strides)

    def place(self, tensor):
        tensor.data = self.buffer.address
        tensor.batch_stride, tensor.head_stride, tensor.token_stride = self.strides[:3]


def _empty(like, code, shape):
    """A new array: numpy's, where `like` is one."""
    if hasattr(like, '__array_interface__'):
        import numpy
        return numpy.empty(shape, code)
    numbers = 1
    for extent in shape:
        numbers *= extent
    memory = memoryview(bytearray(max(1, numbers) * {'f': 4, 'e': 2}[code]))
    return memory.cast(code, shape) if numbers else memory[:0].cast(code)


def _require(status):
    if status != _c.ATTEND_OK:
        argument = _library.attend_argument_name(status)
        text = _library.attend_error_text(status).decode()
        raise AttendError(f'{argument.decode()}: {text}' if argument else text)


def _workspace(size):
    if len(getattr(_work, 'memory', b'')) < size + _c.ATTEND_ALIGNMENT:
        _work.memory = bytearray(size + _c.ATTEND_ALIGNMENT)
        _work.held = (ctypes.c_char * len(_work.memory)).from_buffer(_work.memory)
    return -(-ctypes.addressof(_work.held) // _c.ATTEND_ALIGNMENT) * _c.ATTEND_ALIGNMENT


def attention(query, key, value, *, causal=False, window=None, offset=None, scale=None, soft_cap=0.0, sink_tokens=0,
              return_lse=False):
    """softmax(scale * query key^T) value, for every head.

    query    [batch, query heads, queries, head_dim]; key and value: any divisor of so many heads, [..., keys, head_dim] and
             [..., keys, value_dim]. The leading axes may be left out, of all three.
    causal   query i sees keys 0 ... offset + i
    window   (left, right): a query at position p sees keys p - left ... p + right; None in place of a number: no limit
    offset   position of query 0 among the keys: 0 where there are as many queries as keys, otherwise to be given with causal and
             window, because both 0 and keys - queries are usual
    scale    1 / sqrt(head_dim), unless it is given
    soft_cap cap * tanh(score / cap) in place of the score; 0: none
    sink_tokens  the first tokens, which stay visible when the window has passed them

    The output has the query's axes and type. return_lse: a pair, with ln of the sum of exp(score) of each query, float32.
    A query that sees no key gets zeros. What would be ignored or is not clear is refused: AttendError.
    """
    buffers = []
    try:
        q, k, v = (_Array(name, source, buffers) for name, source in (('query', query), ('key', key), ('value', value)))
        if not q.axes == k.axes == v.axes:
            raise ValueError('query, key and value have different numbers of axes')
        if k.shape[:3] != v.shape[:3] or q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
            raise ValueError(f'shapes do not go together: query {q.shape}, key {k.shape}, value {v.shape}')
        output = _empty(query, q.code, (q.shape[:3] + v.shape[3:])[4 - q.axes:])
        buffers.append(_buffer(output))
        problem = _c.attend_problem()
        _require(_library.attend_problem_init(ctypes.byref(problem), ctypes.sizeof(problem)))
        problem.batch, problem.query_heads, problem.queries, problem.head_dim = q.shape
        problem.kv_heads, problem.keys, problem.value_dim = v.shape[1:]
        problem.layout = _c.ATTEND_BATCH_HEAD_TOKEN_DIM
        if q.format != _c.ATTEND_FLOAT32:
            problem.query_format = problem.output_format = q.format
        if (k.format, v.format) != (_c.ATTEND_FLOAT32, _c.ATTEND_FLOAT32):
            problem.key_format, problem.value_format = k.format, v.format
        for array, tensor in ((q, problem.query), (k, problem.key), (v, problem.value)):
            array.place(tensor)
        problem.output.data = buffers[-1].address  # dense, as the problem takes it to be
        if causal:
            problem.options = _c.ATTEND_CAUSAL
        if window is not None:
            left, right = window
            problem.window_left = _c.ATTEND_NO_LIMIT if left is None else left
            problem.window_right = _c.ATTEND_NO_LIMIT if right is None else right
        if offset is not None:
            problem.offset = offset
        if scale is not None:
            problem.scale = scale
        problem.soft_cap, problem.sink_tokens = soft_cap, sink_tokens
        lse = None
        if return_lse:
            lse = _empty(query, 'f', q.shape[4 - q.axes:3])
            buffers.append(_buffer(lse))
            problem.lse.data = buffers[-1].address
        _require(_library.attend_check(ctypes.byref(problem)))
        size = _library.attend_workspace_size(ctypes.byref(problem))
        _require(_library.attend_run(ctypes.byref(problem), _workspace(size), size))
        return (output, lse) if return_lse else output
    finally:
        for buffer in buffers:
            ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))


def backends():
    """Names of the instruction sets that the library has code for, fastest first."""
    return [_library.attend_backend_name(index).decode() for index in range(_library.attend_backend_count())]


def active_backend():
    """The one in use. Results do not depend on it."""
    return _library.attend_backend_active().decode()


def use_backend(name):
    """Makes every later call use a backend; AttendError where the processor cannot."""
    _require(_library.attend_backend_use(name.encode()))


def bits_version():
    """Changes when any result changes by any bit."""
    return _library.attend_bits_version()
