"""What attention may be told beside its arrays, written into the problem."""
import ctypes
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from . import _c
from ._arrays import Array
from ._shared import whole

STAGES = {'raw': _c.ATTEND_SCORES_RAW, 'capped': _c.ATTEND_SCORES_CAPPED, 'biased': _c.ATTEND_SCORES_BIASED,
          'weights': _c.ATTEND_SCORES_WEIGHTS}


class Options(NamedTuple):
    """The arguments of attend.attention of these names."""
    causal: bool
    offset: Optional[int]
    queries_last: bool
    window: Optional[Tuple[Optional[int], Optional[int]]]
    sink_tokens: int
    scale: Optional[float]
    soft_cap: float
    mask: Any
    bias: Any
    alibi_slopes: Any
    relative_bias: Optional[Tuple[Any, int]]
    sink_logits: Any
    key_lengths: Optional[Sequence[int]]
    origin: int
    key_scales: Any
    value_scales: Any


def set_options(problem: Any, options: Options, held: List[Any]) -> Any:
    """Returns what must live until the call is over."""
    problem.options = (_c.ATTEND_CAUSAL if options.causal else 0) | (_c.ATTEND_QUERIES_LAST if options.queries_last else 0)
    if options.offset is not None:
        problem.offset = whole('offset', options.offset, -_c.ATTEND_MAX_TOKENS)
    if options.window is not None:
        problem.window_left, problem.window_right = (
            _c.ATTEND_NO_LIMIT if side is None else whole('window', side) for side in options.window)
    problem.sink_tokens = whole('sink_tokens', options.sink_tokens)
    if options.scale is not None:
        if abs(options.scale) > 3.4e38:  # C's default is the float that is farthest below 0
            raise ValueError(f'scale is {options.scale}; expected a number that float32 holds')
        problem.scale = options.scale
    problem.soft_cap = options.soft_cap
    if options.origin:
        problem.origin = options.origin
    _set_scores(problem, options, held)
    for name, scales, to in (('key_scales', options.key_scales, problem.key_scales), ('value_scales', options.value_scales, problem.value_scales)):
        if scales is not None:
            array = Array(name, scales, 'f', 1, 3, held)
            _require_columns(array, problem.keys - options.origin if not problem.pages.table else problem.pages.count * problem.pages.page_keys)
            to.data = array.address
            to.batch_stride, to.head_stride = array.shared((1 if problem.pages.table else problem.batch, problem.kv_heads))
    if options.key_lengths is None:
        return None
    if len(options.key_lengths) != problem.batch:
        raise ValueError(f'there are {len(options.key_lengths)} key_lengths for a batch of {problem.batch}')
    lengths = (ctypes.c_ssize_t * problem.batch)(*(whole('key_lengths', length) for length in options.key_lengths))
    problem.key_lengths = ctypes.addressof(lengths)
    return lengths


def _set_scores(problem: Any, options: Options, held: List[Any]) -> None:
    rows = (problem.batch, problem.query_heads, problem.queries)
    for name, source, codes, to in (('mask', options.mask, '?B', problem.mask), ('bias', options.bias, 'f', problem.bias)):
        if source is not None:
            array = Array(name, source, codes, 1, 4, held)
            to.data, to.keys = array.address, array.shape[3]
            to.batch_stride, to.head_stride, to.query_stride = array.shared(rows)
            if name == 'mask':
                to.kind = _c.ATTEND_MASK_BYTES
    for name, source in (('alibi_slopes', options.alibi_slopes), ('sink_logits', options.sink_logits)):
        if source is not None:
            array = Array(name, source, 'f', 1, 1, held)
            _require_columns(array, problem.query_heads)
            setattr(problem, name, array.address)
    if options.relative_bias is not None:
        biases, left = options.relative_bias
        array = Array('relative_bias', biases, 'f', 1, 2, held)
        problem.relative_bias.data = array.address
        problem.relative_bias.left = whole('left of relative_bias', left)
        problem.relative_bias.right = array.shape[1] - 1 - left
        problem.relative_bias.head_stride = array.shared((problem.query_heads,))[0]


def _require_columns(array: Array, needed: int) -> None:
    if array.shape[-1] != needed:
        raise ValueError(f'{array.name} has {array.shape[-1]} numbers for {needed}')
