"""Heads of projected tokens: what both arithmetics share of multi-head attention over arrays."""
from typing import Any, List, Optional, Sequence, Tuple

from .. import _c, attention
from .._arrays import Array, View, empty, release
from .._shared import AttendError, whole


def of_heads(name: str, rows: Any, code: str, heads: int, like: Any, held: List[Any], writable: bool = False) -> View:
    """Vectors [tokens, heads * width] as [heads, tokens, width], where they lie; with a batch in front, if they have one."""
    array = Array(name, rows, code, 2, 3, held, writable)
    batch, tokens, all_heads = array.shape
    width = all_heads // heads
    left_out = 3 - array.given_axes
    return View(array.address, code, (batch, heads, tokens, width)[left_out:], (tokens * all_heads, width, all_heads, 1)[left_out:], like)


def extents(heads: Any, kv_heads: Any, query: Any, key: Any, value: Any, output: Any) -> Tuple[int, int, int, int]:
    """heads, kv_heads, head_dim and value_dim of a layer whose projections go together."""
    heads = whole('heads', heads, 1, _c.ATTEND_MAX_WIDTH)
    kv_heads = heads if kv_heads is None else whole('kv_heads', kv_heads, 1, _c.ATTEND_MAX_WIDTH)
    if heads % kv_heads:
        raise AttendError(f'there are {heads} heads and {kv_heads} kv_heads; expected a multiple of kv_heads')
    for name, linear, count in (('query', query, heads), ('key', key, kv_heads), ('value', value, kv_heads)):
        if linear.outputs % count:
            raise AttendError(f'{name} has {linear.outputs} outputs; expected a multiple of its {count} heads')
    head_dim, value_dim = query.outputs // heads, value.outputs // kv_heads
    if key.outputs != kv_heads * head_dim:
        raise AttendError(f'key has {key.outputs} outputs; expected {kv_heads * head_dim}, {kv_heads} heads of the {head_dim} numbers of a query')
    if output.inputs != heads * value_dim:
        raise AttendError(f'output has {output.inputs} inputs; expected {heads * value_dim}, {heads} heads of {value_dim} numbers')
    return heads, kv_heads, head_dim, value_dim


def require_vectors(name: str, x: Any, code: str, inputs: int, like: Optional[Array], held: List[Any]) -> Array:
    """Tokens that a projection takes, of the same batch as another array."""
    array = Array(name, x, code, 2, 3, held)
    array.require_dense()
    if array.shape[2] != inputs:
        raise AttendError(f'{name} has vectors of {array.shape[2]} numbers; expected {inputs}')
    if like is not None and (array.given_axes, array.shape[0]) != (like.given_axes, like.shape[0]):
        raise AttendError(f'{name} has {array.given_axes} axes and a batch of {array.shape[0]}; expected those of {like.name}: '
                          f'{like.given_axes} and {like.shape[0]}')
    return array


def attend_to(rows: Sequence[Any], code: str, heads: Sequence[int], width: int, like: Any, options: Any) -> Any:
    """Attention of projected queries, keys and values, each with its heads: [tokens, heads * width], in a tuple with scores where the options
    ask for them. like: what results are to be like."""
    held: List[Any] = []
    try:
        query, key, value = (of_heads(name, each, code, count, like, held) for name, each, count in zip(('query', 'key', 'value'), rows, heads))
        *batch, _, tokens, _ = query.shape
        merged = empty(like, code, (*batch, tokens, heads[0] * width))
        found = attention(query, key, value, out=of_heads('out', merged, code, heads[0], like, held, True), **options)
        return (merged, *found[1:]) if isinstance(found, tuple) else merged
    finally:
        release(held)
