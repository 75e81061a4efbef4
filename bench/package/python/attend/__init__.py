"""Transformer attention with the same bits on every processor: a thin layer over the C surface of Attend @VERSION@.

    output = attend.attention(query, key, value, causal=True)

Arrays are anything with a buffer of float32 or float16, numpy's among them: [heads, tokens, width], with a batch in front
[batch, heads, tokens, width], or of one head [tokens, width]. These are not the axes of the C++ surface, whose arrays are
[token][head][dim]: such an array, [tokens, heads, width], is passed as array.transpose(1, 0, 2), which copies nothing. Arrays are
read where they are: any strides will do, as long as the last axis is contiguous. numpy is not needed: without it the output is a
memoryview. No other thread waits while a call computes.
"""
import ctypes
from typing import Any, List, Optional, Sequence, Tuple

from . import _c
from ._arrays import Array, empty, release, workspace
from ._cache import Cache
from ._shared import AttendError, require, shared, whole
from ._options import STAGES, Options, set_options

__version__ = '@VERSION@'
__all__ = ['attention', 'Cache', 'backends', 'active_backend', 'use_backend', 'bits_version', 'AttendError']


def attention(query: Any, key: Any, value: Any = None, *, causal: bool = False, offset: Optional[int] = None,
              queries_last: bool = False, window: Optional[Tuple[Optional[int], Optional[int]]] = None, sink_tokens: int = 0,
              scale: Optional[float] = None, soft_cap: float = 0.0, mask: Any = None, bias: Any = None, alibi_slopes: Any = None,
              relative_bias: Optional[Tuple[Any, int]] = None, sink_logits: Any = None, key_lengths: Optional[Sequence[int]] = None,
              origin: int = 0, key_scales: Any = None, value_scales: Any = None, pages: Any = None, out: Any = None,
              return_lse: bool = False, return_scores: Optional[str] = None) -> Any:
    """softmax(scale * query key^T) value, for every head.

    query    [batch, query heads, queries, head_dim]
    key      [batch, key/value heads, keys, head_dim]; the number of query heads is a multiple of these heads
    value    [batch, key/value heads, keys, value_dim]
    The first axis, or the first two, may be left out, of all three. An attend.Cache takes the place of key and value. The result
    is [batch, query heads, queries, value_dim], with as many axes as the query.

    Which keys a query sees:
    causal   query i sees keys 0 ... offset + i
    window   (left, right): a query at position p sees keys p - left ... p + right; None in place of a number: no limit
    sink_tokens  the first tokens, which stay visible when the window has passed them
    mask     bool or uint8, as [batch, query heads, queries, keys]: 0 masks the key. Leading axes may be left out or have one
             element, which all share. Keys beyond the last column are masked, and columns beyond the last key do not matter
    key_lengths  a sequence of whole numbers, [batch]: keys of the batch row at or after it do not exist
    offset   position of query 0 among the keys. Over a cache, keys - queries; over arrays 0 where there are as many queries as
             keys, otherwise to be given with what looks at positions, because 0 and keys - queries are both usual
    queries_last  in place of offset: the queries are the last of the keys that their batch row has
    origin   the arrays begin with the key of this position, and keys before it do not exist

    What a score is:
    scale    1 / sqrt(head_dim), unless it is given
    soft_cap cap * tanh(score / cap) in place of the score; 0: none
    bias     float32 [batch, query heads, queries, keys], with axes and columns as those of mask: added after the cap; -infinity
             masks the key
    alibi_slopes   float32 [query heads]: slope * (key's position - query's) is added
    relative_bias  (float32 [query heads or 1, left + 1 + right] or [left + 1 + right], left): by distance, which is held within
             -left ... right
    sink_logits    float32 [query heads]: a logit that joins the denominator and has no value

    Where keys and values lie otherwise:
    key_scales, value_scales  float32 [batch, key/value heads, keys]: what the numbers of int8 keys or values are multiplied by.
             Leading axes may be left out or have one element
    pages    int32 [batch, entries]: key and value are pools [key/value heads, pages, tokens of a page, width], and key j of a batch
             row is token j % (tokens of a page) of page pages[row, j // (tokens of a page)]. Scales of pools are [key/value heads,
             pages * tokens of a page]

    out      an array that takes the output, [batch, query heads, queries, value_dim] with the query's axes, float32 or float16,
             any strides that keep its elements apart. Otherwise a new one is made, of the query's type.
    return_lse     (output, lse): ln of the sum of exp(score) of each query, float32 [batch, query heads, queries]
    return_scores  (output, scores), float32 [batch, query heads, queries, keys]: 'raw', 'capped', 'biased' or 'weights', which is
             after the softmax. With return_lse: (output, lse, scores)

    A query that sees no key gets zeros. What would be ignored or is not clear is refused: AttendError.
    """
    options = Options(causal, offset, queries_last, window, sink_tokens, scale, soft_cap, mask, bias, alibi_slopes, relative_bias,
                      sink_logits, key_lengths, origin, key_scales, value_scales)
    whole('origin', origin)
    held: List[Any] = []
    try:
        q = Array('query', query, 'fe', 2, 4, held)
        problem = _c.attend_problem()
        require(shared.attend_problem_init(ctypes.byref(problem), ctypes.sizeof(problem)))
        problem.batch, problem.query_heads, problem.queries, problem.head_dim = q.shape
        q.place(problem.query)
        if isinstance(key, Cache):
            if not value is pages is key_scales is value_scales is None:
                raise ValueError('a cache takes the place of value, pages and scales')
            columns = _set_cache(problem, key)
        else:
            columns = _set_keys(problem, q, key, value, pages, origin, held)
        axes = slice(4 - q.given_axes, None)
        shape = (*q.shape[:3], problem.value_dim)
        output = empty(query, q.code, shape[axes]) if out is None else out
        o = Array('out', output, 'fe', q.given_axes, 4, held, writable=True)
        if o.given_axes != q.given_axes or o.shape != shape:
            raise ValueError(f'out has the shape {o.shape[axes]} where the output has {shape[axes]}')
        o.place(problem.output)
        if 'e' in (q.code, o.code):
            problem.query_format, problem.output_format = q.format, o.format
        keep = set_options(problem, options, held)
        results = [output]
        if return_lse:
            results.append(empty(query, 'f', shape[:3][axes]))
            lse = Array('lse', results[-1], 'f', 1, 3, held, writable=True)
            problem.lse.data, problem.layout = lse.address, _c.ATTEND_BATCH_HEAD_TOKEN_DIM
        if return_scores is not None:
            if return_scores not in STAGES:
                raise ValueError(f'return_scores is {return_scores!r}; expected one of {", ".join(STAGES)}')
            results.append(empty(query, 'f', (*q.shape[:3], columns)[axes]))
            problem.scores.data = Array('scores', results[-1], 'f', 2, 4, held, writable=True).address
            problem.scores.stage = STAGES[return_scores]
        require(shared.attend_check(ctypes.byref(problem)))
        size = shared.attend_workspace_size(ctypes.byref(problem))
        work = workspace(size)
        require(shared.attend_run(ctypes.byref(problem), work.address, size))
        del keep, work  # were in use until here
        return output if len(results) == 1 else tuple(results)
    finally:
        release(held)


def _set_cache(problem: Any, cache: Cache) -> int:
    """Columns of masks."""
    problem.cache = cache.address
    problem.kv_heads, problem.value_dim = cache.kv_heads, cache.value_dim
    return len(cache)


def _set_keys(problem: Any, q: Array, key: Any, value: Any, pages: Any, origin: int, held: List[Any]) -> int:
    least = q.given_axes if pages is None else 4
    k, v = (Array(name, source, 'feb', least, 4, held) for name, source in (('key', key), ('value', value)))
    if pages is None and not q.given_axes == k.given_axes == v.given_axes:
        raise ValueError('query, key and value have different numbers of axes')
    if k.shape[:3] != v.shape[:3] or q.shape[3] != k.shape[3] or (pages is None and q.shape[0] != k.shape[0]):
        raise ValueError(f'shapes do not go together: query {q.shape}, key {k.shape}, value {v.shape}')
    problem.value_dim = v.shape[3]
    if {k.format, v.format} != {_c.ATTEND_FLOAT32}:
        problem.key_format, problem.value_format = k.format, v.format
    if pages is None:
        for array, tensor in ((k, problem.key), (v, problem.value)):
            array.place(tensor)
        problem.kv_heads, problem.keys = k.shape[1], origin + k.shape[2]
        return problem.keys
    table = Array('pages', pages, 'i', 1, 2, held)
    problem.kv_heads, problem.pages.count, problem.pages.page_keys = k.shape[:3]
    problem.pages.table, problem.pages.batch_stride = table.address, table.shared(q.shape[:1])[0]
    for array, tensor in ((k, problem.key), (v, problem.value)):
        if array.shape[1] > 1 and array.strides[1] != array.shape[2] * array.strides[2]:
            raise ValueError(f'pages of {array.name} do not lie one behind the other')
        tensor.data, tensor.head_stride, tensor.token_stride = array.address, array.strides[0], array.strides[2]
        tensor.batch_stride = 0
    problem.keys = table.shape[1] * problem.pages.page_keys
    return problem.keys


def backends() -> List[str]:
    """Names of the instruction sets that the library has code for, fastest first."""
    return [shared.attend_backend_name(index).decode() for index in range(shared.attend_backend_count())]


def active_backend() -> str:
    """The one in use. Results do not depend on it."""
    return shared.attend_backend_active().decode()


def use_backend(name: str) -> None:
    """Makes every later call use a backend; AttendError where the processor cannot."""
    require(shared.attend_backend_use(name.encode()))


def bits_version() -> int:
    """Changes when any result changes by any bit."""
    return shared.attend_bits_version()
