"""What attention may be told beside its arrays, written into the problem."""
import ctypes
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _c
from ._arrays import Array
from ._integers import Quantisation
from ._shared import real, truth, unknown_option, whole, word

STAGES = {'raw': _c.ATTEND_SCORES_RAW, 'capped': _c.ATTEND_SCORES_CAPPED, 'biased': _c.ATTEND_SCORES_BIASED,
          'weights': _c.ATTEND_SCORES_WEIGHTS}

BIAS_STAGES = {'after_cap': _c.ATTEND_BIAS_AFTER_CAP, 'before_cap': _c.ATTEND_BIAS_BEFORE_CAP}


class Options(NamedTuple):
    """The arguments of attend.attention of these names."""
    causal: bool = False
    offset: Optional[int] = None
    queries_last: bool = False
    window: Optional[Tuple[Optional[int], Optional[int]]] = None
    sink_tokens: Optional[int] = None
    scale: Optional[float] = None
    soft_cap: float = 0.0
    mask: Any = None
    bias: Any = None
    alibi_slopes: Any = None
    relative_bias: Optional[Tuple[Any, int]] = None
    sink_logits: Any = None
    key_lengths: Optional[Sequence[int]] = None
    quantisation: Union[Quantisation, Sequence[Quantisation], None] = None
    lse_base: Optional[int] = None
    ranges: Any = None
    documents: Optional[Sequence[int]] = None
    bias_stage: Optional[str] = None


def options_of(name: str, given: Any, without: Sequence[str] = ()) -> Options:
    """Of the keywords of a call that is not attend.attention."""
    known = [field for field in Options._fields if field not in without]
    for unknown in given:
        if unknown not in known:
            raise unknown_option(name, unknown, known)
    return Options(**given)


def set_options(problem: Any, options: Options, rows: Tuple[int, ...], held: List[Any]) -> Any:
    """rows: [batch, query heads, queries]. Returns what must live until the call is over."""
    problem.options = ((_c.ATTEND_CAUSAL if truth('causal', options.causal) else 0) |
                       (_c.ATTEND_QUERIES_LAST if truth('queries_last', options.queries_last) else 0))
    if options.offset is not None:
        problem.offset = whole('offset', options.offset, -_c.ATTEND_MAX_TOKENS)
    if options.window is not None:
        problem.window_left, problem.window_right = _window(options.window)
    if options.sink_tokens is not None:
        problem.sink_tokens = whole('sink_tokens', options.sink_tokens)
    if options.scale is not None:
        problem.scale = real('scale', options.scale, -2.0**127, 2.0**127)
    problem.soft_cap = real('soft_cap', options.soft_cap, 1e-30, 1e30, ', or 0 for none')
    set_lse_base(problem, options.lse_base)
    if options.bias_stage is not None:
        problem.bias_stage = word('bias_stage', options.bias_stage, BIAS_STAGES)
    _set_scores(problem, options, rows, held)
    if options.ranges is not None:
        _set_ranges(problem, options.ranges, rows, held)
    keep = []
    if options.documents is not None:
        boundaries = [0]
        for length in options.documents:
            boundaries.append(boundaries[-1] + whole('documents', length))
        keep.append((ctypes.c_int32 * len(boundaries))(*boundaries))
        problem.documents.boundaries = ctypes.addressof(keep[-1])
        problem.documents.count = len(boundaries) - 1
    if options.key_lengths is not None:
        if len(options.key_lengths) != rows[0]:
            raise ValueError(f'there are {len(options.key_lengths)} key_lengths for a batch of {rows[0]}')
        keep.append((ctypes.c_ssize_t * rows[0])(*(whole('key_lengths', length) for length in options.key_lengths)))
        problem.key_lengths = ctypes.addressof(keep[-1])
    return keep


def require_lengths(lengths: Optional[Sequence[int]], keys: int) -> None:
    """key_lengths of a call that has so many keys; whether they are whole numbers was looked at."""
    for length in lengths if lengths is not None else ():
        if length > keys:
            raise ValueError(f'key_lengths has {length}; expected 0 to {keys}, which is how many keys there are')


def require_mask_columns(problem: Any, columns: int) -> None:
    """One column is that of key 0 alone: who expects it to be broadcast would have every other key masked."""
    for name, array in (('mask', problem.mask), ('bias', problem.bias)):
        if array.data and array.keys == 1 < columns:
            raise ValueError(f'{name} has 1 column for {columns} keys, and columns are not broadcast, because keys that have none are '
                             f'masked: pass numpy.repeat({name}, {columns}, -1), or a second column if key 0 alone is to be seen')


def _set_ranges(problem: Any, ranges: Any, rows: Tuple[int, ...], held: List[Any]) -> None:
    if not isinstance(ranges, (tuple, list)) or len(ranges) != 2 or ranges[0] is ranges[1] is None:
        raise TypeError('ranges is no pair; expected (first, end), arrays of int32 for each query, one of which may be None')
    strides = set()
    for name, source in (('first', ranges[0]), ('end', ranges[1])):
        if source is not None:
            array = Array(f'{name} of ranges', source, 'i', 1, 2, held)
            array.require_columns(rows[2])
            strides.add(array.shared(rows[:1])[0])
            setattr(problem.ranges, name, array.address)
    if len(strides) > 1:
        raise ValueError('first and end of ranges have rows of different strides: pass both as contiguous arrays of the same shape, '
                         '[queries] or [batch, queries]')
    problem.ranges.batch_stride = strides.pop()


def set_lse_base(problem: Any, base: Optional[int]) -> None:
    if base is not None:
        if whole('lse_base', base) != 2:
            raise ValueError(f'lse_base is {base}; expected 2, or nothing for natural logarithms')
        problem.lse_base = _c.ATTEND_LSE_BASE_2


def _window(window: Any) -> Tuple[int, ...]:
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise TypeError(f'window is {window!r}; expected (left, right): window=(5, 0) is the last 5 tokens and the query itself, and None '
                        'is no limit')
    return tuple(_c.ATTEND_NO_LIMIT if side is None else whole('window', side) for side in window)


def _set_scores(problem: Any, options: Options, rows: Tuple[int, ...], held: List[Any]) -> None:
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
            array.require_columns(rows[1])
            setattr(problem, name, array.address)
    if options.relative_bias is not None:
        if not isinstance(options.relative_bias, (tuple, list)) or len(options.relative_bias) != 2:
            raise TypeError('relative_bias is no pair; expected (biases, left)')
        biases, left = options.relative_bias
        array = Array('relative_bias', biases, 'f', 1, 2, held)
        problem.relative_bias.data = array.address
        problem.relative_bias.left = whole('left of relative_bias', left)
        problem.relative_bias.right = array.shape[1] - 1 - left
        problem.relative_bias.head_stride = array.shared(rows[1:2])[0]
