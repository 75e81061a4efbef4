"""A problem of C out of arrays, and the call that computes it, on as many threads as are asked for."""
import ctypes
import threading
from typing import Any, List, Optional, Tuple

from . import _c
from ._arrays import NAMES, Array, empty, workspaces
from ._cache import Cache
from ._integers import set_quantisation
from ._options import STAGES, Options, require_mask_columns, set_options
from ._shared import new, of_segment, require, shared, whole, word

SMALL_FLOATS = 'eE'  # float16 and bfloat16, by their codes
MOST_THREADS = 1024


class Problem:
    """Arrays and options of one call; what they are made of stays where it is until `release` of what is held."""

    def __init__(self, query: Any, options: Options, held: List[Any]):
        self.held, self.integers, self.options = held, options.quantisation is not None, options
        self.query = q = Array('query', query, 'b' if self.integers else 'feE', 2, 4, held)
        self.c = c = new(_c.attend_problem, shared.attend_integer_problem_init if self.integers else shared.attend_problem_init)
        c.batch, c.query_heads, c.queries, c.head_dim = q.shape
        q.place(c.query)
        if q.code in SMALL_FLOATS:
            c.query_format = c.output_format = q.format
        self.keep = [set_options(c, options, q.shape[:3], held)]
        if self.integers:
            self.keep.append(set_quantisation(c, options.quantisation))

    def axes(self, shape: Tuple[int, ...]) -> Tuple[int, ...]:
        """Without those that the query does not have."""
        return shape[4 - self.query.given_axes:]

    def set_cache(self, cache: Cache, origin: int, *others: Any) -> int:
        """Columns of masks."""
        if any(other is not None for other in others):
            raise ValueError('a cache takes the place of value, pages and scales: leave these out')
        cache.require_visible(self.options)
        of_segment('origin', origin)
        self.c.cache = cache.address
        self.c.kv_heads, self.c.value_dim = cache.kv_heads, cache.value_dim
        if origin:
            self.c.origin = origin
        return self._columns(origin + len(cache))

    def _columns(self, columns: int) -> int:
        require_mask_columns(self.c, columns)
        return columns

    def set_keys(self, key: Any, value: Any, pages: Any, origin: int, key_scales: Any, value_scales: Any) -> int:
        """Columns of masks."""
        if value is None:
            raise TypeError('value is missing: expected attention(query, key, value), or attention(query, cache) of an attend.Cache')
        c, q = self.c, self.query
        least = q.given_axes if pages is None else 4
        codes = 'b' if self.integers else 'feEb'
        k, v = (Array(name, source, codes, least, 4, self.held) for name, source in (('key', key), ('value', value)))
        if pages is None and not q.given_axes == k.given_axes == v.given_axes:
            raise ValueError('query, key and value have different numbers of axes')
        if k.shape[:3] != v.shape[:3] or q.shape[3] != k.shape[3] or (pages is None and q.shape[0] != k.shape[0]):
            raise ValueError(f'shapes do not go together: query {q.shape}, key {k.shape}, value {v.shape}')
        c.value_dim = v.shape[3]
        if not self.integers and {k.format, v.format} != {_c.ATTEND_FLOAT32}:
            c.key_format, c.value_format = k.format, v.format
        if origin:
            c.origin = origin
        if pages is None:
            k.place(c.key)
            v.place(c.value)
            c.kv_heads, c.keys = k.shape[1], origin + k.shape[2]
        else:
            self._set_pages(k, v, pages)
        columns = k.shape[2] * (1 if pages is None else k.shape[1])
        for name, scales, to in (('key_scales', key_scales, c.key_scales), ('value_scales', value_scales, c.value_scales)):
            if scales is not None:
                array = Array(name, scales, 'H' if self.integers else 'f', 1, 3, self.held)
                array.require_columns(columns)
                if self.integers and 0 not in array.shape and hasattr(scales, 'max') and scales.max() > 2**15:
                    raise ValueError(f'{name} has numbers above 32768, which stands for 1: quantise with a larger scale of the tensor')
                to.data = array.address
                to.batch_stride, to.head_stride = array.shared((c.batch if pages is None else 1, c.kv_heads))
        return self._columns(c.keys)

    def _set_pages(self, k: Array, v: Array, pages: Any) -> None:
        c = self.c
        table = Array('pages', pages, 'i', 1, 2, self.held)
        c.kv_heads, c.pages.count, c.pages.page_keys = k.shape[:3]
        c.pages.table, c.pages.batch_stride = table.address, table.shared(self.query.shape[:1])[0]
        for array, tensor in ((k, c.key), (v, c.value)):
            if array.shape[1] > 1 and array.strides[1] != array.shape[2] * array.strides[2]:
                raise ValueError(f'pages of {array.name} do not lie one behind the other: pass numpy.ascontiguousarray({array.name})')
            tensor.data, tensor.head_stride, tensor.token_stride = array.address, array.strides[0], array.strides[2]
            tensor.batch_stride = 0
        c.keys = table.shape[1] * c.pages.page_keys

    def set_output(self, like: Any, out: Any, output: Optional[str]) -> Any:
        c, q = self.c, self.query
        codes = 'bhf' if self.integers else 'fe' if out is None else 'feE'
        code = q.code
        if output is not None:
            code = word('output', output, {NAMES[code]: code for code in codes}, '; an array that takes the output is out=')
            if out is not None:
                raise ValueError(f'output is {output!r} beside out, which has a type: leave out one of both')
        shape = (*q.shape[:3], c.value_dim)
        if out is None:
            out = empty(like, code, self.axes(shape))
        o = Array('out', out, codes, q.given_axes, 4, self.held, writable=True)
        if o.given_axes != q.given_axes or o.shape != shape:
            raise ValueError(f'out has the shape {self.axes(o.shape)} where the output has {self.axes(shape)}')
        o.place(c.output)
        self.output_code = o.code
        if self.integers:
            c.output_format = o.format
        elif q.code in SMALL_FLOATS or o.code in SMALL_FLOATS:
            c.query_format, c.output_format = q.format, o.format
        return out

    def new_scores(self, like: Any, stage: str, columns: int) -> Any:
        code = word('return_scores', stage, STAGES)
        scores = empty(like, 'f', self.axes((*self.query.shape[:3], columns)))
        self.c.scores.data = Array('scores', scores, 'f', 2, 4, self.held, writable=True).address
        self.c.scores.stage = code
        return scores

    def new_lse(self, like: Any) -> Any:
        lse = empty(like, 'f', self.axes(self.query.shape[:3] + (0,))[:-1])
        Array('lse', lse, 'f', 1, 3, self.held, writable=True).place(self.c.lse)
        return lse


def run(problem: Any, part: Optional[Tuple[int, int]] = None, threads: int = 1) -> int:
    """The size of the work memory that it took."""
    reference = ctypes.byref(problem)
    size = shared.attend_workspace_size(reference)
    if size == 0:
        require(shared.attend_check(reference))
    if whole('threads', threads, 1, MOST_THREADS) == 1:
        index, count = (0, 1) if part is None else part
        memory = workspaces(1, size)[0]
        require(shared.attend_run_part(reference, index, count, memory.address, size))
    else:
        on_threads(threads, size, lambda index, memory: shared.attend_run_part(reference, index, threads, memory, size))
    return size


def on_threads(count: int, size: int, compute: Any, stop: Any = None) -> None:
    """compute(index, address of work memory) on threads of their own, but for the first. Returns when all have ended, whatever
    interrupts it, because they read and write arrays of the caller; stop() lets those go on that wait for one that is not there."""
    statuses = [0] * count
    memory = workspaces(count, size)

    def compute_one(index: int) -> None:
        statuses[index] = compute(index, memory[index].address)

    others, interrupt = [], None
    try:
        for index in range(1, count):
            thread = threading.Thread(target=compute_one, args=(index,))
            thread.start()
            others.append(thread)
        compute_one(0)
    except BaseException:
        if stop is not None:
            stop()
        raise
    finally:
        for thread in others:
            while thread.is_alive():
                try:
                    thread.join()
                except KeyboardInterrupt as error:
                    interrupt = error
    if interrupt is not None:
        raise interrupt
    for status in statuses:
        require(status)
