"""Transformer attention over numpy's arrays, in floats or in integers of 8 bits: the same bits on every processor.

    output = attend.attention(query, key, value, causal=True)   # softmax(scale * query key^T) value, for every head

    attention, Cache     one call over arrays, or over keys and values that stay from token to token
    State                keys in several calls, on several threads or machines
    LinearState, linear_attention    linear attention: gated, delta and gated delta rules, whose memory never grows
    ConvState, causal_conv, decay_gate, bounded_gate, l2_norm, gated_rms_norm    what stands around it: the causal convolution, gates, norms
    Quantisation, LinearQuantisation    what integers mean: attention without a float
    Layer, Weights, project, rms_norm, layer_norm, activate, add, hadamard, logarithmic_factors, Rotary, rotate    the rest of a transformer block
    additive_attention   with scores v . tanh(query + key)
    nn                   layers as objects, from the state_dict of PyTorch's modules: attend.nn.TransformerEncoderLayer and others
    export               a trained model as C++ for a device, with a self-test of its bits (this one needs numpy and onnx)
    load                 what export has written, compiled and called from here
    replay               receipts of such a program on a device beside what this computer makes of the same inputs

Arrays are anything with a buffer of float32 or float16 (or of int8, with a quantisation), numpy's among them, or with DLPack, as tensors
of PyTorch, of bfloat16 too: [heads, tokens, width], with a batch in front [batch, heads, tokens, width], or of one head
[tokens, width]. These are not the axes of the C++ surface, whose arrays are [token][head][dim]: such an array, [tokens, heads, width],
is passed as array.transpose(1, 0, 2), which copies nothing.
Arrays are read where they are: any strides will do, as long as the last axis is contiguous. numpy is not needed: without it the
output is a memoryview. No other thread waits while a call computes. This is Attend @VERSION@, over its C surface.
"""
import importlib
import itertools
from typing import Any, List, Optional, Sequence, Tuple, Union

from ._additive import additive_attention
from ._arrays import release
from ._cache import Cache
from ._convolution import ConvState, bounded_gate, causal_conv, decay_gate
from ._integers import LinearQuantisation, Quantisation
from ._layers import Layer, Weights, project
from ._linear import LinearState, linear_attention
from ._memo import name_of_call, remember, run_again
from ._options import Options, require_lengths
from ._problem import Problem, run
from ._rotary import Rotary, rotate
from ._rows import activate, add, alibi_slopes, gated_rms_norm, hadamard, l2_norm, layer_norm, logarithmic_factors, rms_norm
from ._shared import AttendError, knows_its_options, require, shared, truth, whole
from ._states import State

__version__ = '@VERSION@'
__all__ = ['attention', 'Cache', 'State', 'LinearState', 'linear_attention', 'ConvState', 'causal_conv', 'decay_gate', 'bounded_gate', 'l2_norm', 'gated_rms_norm', 'LinearQuantisation',
           'Quantisation', 'Layer', 'Weights', 'project', 'rms_norm', 'layer_norm', 'activate', 'add',
           'hadamard', 'logarithmic_factors', 'alibi_slopes', 'Rotary', 'rotate', 'additive_attention', 'nn', 'load', 'replay', 'backends', 'active_backend', 'use_backend',
           'bits_version', 'AttendError']


@knows_its_options
def attention(query: Any, key: Any, value: Any = None, *, causal: bool = False, offset: Optional[int] = None,
              queries_last: bool = False, window: Optional[Tuple[Optional[int], Optional[int]]] = None, sink_tokens: Optional[int] = None,
              scale: Optional[float] = None, soft_cap: float = 0.0, mask: Any = None, bias: Any = None, alibi_slopes: Any = None,
              relative_bias: Optional[Tuple[Any, int]] = None, sink_logits: Any = None, key_lengths: Optional[Sequence[int]] = None,
              origin: int = 0, key_scales: Any = None, value_scales: Any = None, pages: Any = None,
              quantisation: Union[Quantisation, Sequence[Quantisation], None] = None, ranges: Optional[Tuple[Any, Any]] = None,
              documents: Optional[Sequence[int]] = None, bias_stage: Optional[str] = None, output: Optional[str] = None, out: Any = None,
              return_lse: bool = False, lse_base: Optional[int] = None, return_scores: Optional[str] = None, part: Optional[Tuple[int, int]] = None,
              threads: int = 1) -> Any:
    """softmax(scale * query key^T) value, for every head.

    query    [batch, query heads, queries, head_dim]
    key      [batch, key/value heads, keys, head_dim]; the number of query heads is a multiple of these heads
    value    [batch, key/value heads, keys, value_dim]
    The first axis, or the first two, may be left out, of all three. An attend.Cache takes the place of key and value. The result
    is [batch, query heads, queries, value_dim], with as many axes as the query.

    Which keys a query sees:
    causal   query i sees keys 0 ... offset + i
    window   (left, right): a query at position p sees keys p - left ... p + right; None in place of a number: no limit
    sink_tokens  the first tokens, which stay visible when the window has passed them. Over a ring window is to be given, and
             sink_tokens, 0 too, where the ring keeps some
    mask     bool or uint8, as [batch, query heads, queries, keys]: 0 masks the key. Leading axes may be left out or have one
             element, which all share. Keys beyond the last column are masked, and columns beyond the last key do not matter
    key_lengths  a sequence of whole numbers, [batch]: keys of the batch row at or after it do not exist
    ranges   (first, end), int32 [batch, queries] or [queries]: query i sees keys first[i] ... end[i] - 1 alone, of those that the
             rest lets through; None in place of one: no limit. Chunks, a prefix that sees itself both ways, spans of images: keys
             that no query of a block sees are not read. The end may pass the keys
    documents  lengths of documents that lie side by side in the tokens, the same of query and key: each sees itself alone, positions
             count from its beginning, and it has the bits that it would have alone. Of one batch row, over arrays
    offset   position of query 0 among the keys. Over a cache, keys - queries; over arrays 0 where there are as many queries as
             keys, otherwise to be given with what looks at positions, because 0 and keys - queries are both usual
    queries_last  in place of offset: the queries are the last of the keys that their batch row has
    origin   the arrays or the cache begin with the key of this position, and keys before it do not exist; of a cache a multiple
             of 512

    What a score is:
    scale    1 / sqrt(head_dim), unless it is given
    soft_cap  cap * tanh(score / cap) in place of the score; 0: none
    bias     float32 [batch, query heads, queries, keys], with axes and columns as those of mask: added after the cap; -infinity
             masks the key
    bias_stage  'before_cap': the bias is added before the cap, which is then of their sum
    alibi_slopes   float32 [query heads]: slope * (key's position - query's) is added; attend.alibi_slopes(heads) has the published ones
    relative_bias  (float32 [query heads or 1, left + 1 + right] or [left + 1 + right], left): by distance, which is held within
             -left ... right
    sink_logits    float32 [query heads]: a logit that joins the denominator and has no value

    Where keys and values lie otherwise:
    key_scales, value_scales  float32 [batch, key/value heads, keys]: what the numbers of int8 keys or values are multiplied by.
             Leading axes may be left out or have one element. With a quantisation, uint16, in 2**-15 of its scale: 0 ... 32768
    pages    int32 [batch, entries]: key and value are pools [key/value heads, pages, tokens of a page, width], and key j of a batch
             row is token j % (tokens of a page) of page pages[row, j // (tokens of a page)]. Scales of pools are [key/value heads,
             pages * tokens of a page]

    quantisation  an attend.Quantisation, or a list of one for each query head: all arrays are int8, and nothing is computed in floats.
             Biases, soft caps, sink logits, lse and scores are of floats alone
    output   'float32' or 'float16', with a quantisation 'int8', 'int16' or 'float32', in place of the query's type
    out      an array that takes the output, [batch, query heads, queries, value_dim] with the query's axes, of one of
             these types, any strides that keep its elements apart. Otherwise a new one is made, of the query's type.
    return_lse     (output, lse): ln of the sum of exp(score) of each query, float32 [batch, query heads, queries]
    lse_base 2: log2 of the same sum in place of ln
    return_scores  (output, scores), float32 [batch, query heads, queries, keys]: 'raw', 'capped', 'biased' or 'weights', which is
             after the softmax. With return_lse: (output, lse, scores)
    threads  how many threads compute the call, each a part of about equal work: the same bits
    part     (index, count): this call computes one of `count` such parts, and writes its share of `out`

    A query that sees no key gets zeros. What would be ignored or is not clear is refused: AttendError.
    """
    scalars = (window, scale, soft_cap, causal, offset, queries_last, sink_tokens, origin, quantisation, output, threads,
               return_lse)
    plain = (mask is bias is alibi_slopes is relative_bias is sink_logits is key_lengths is key_scales is value_scales is pages is part is
             return_scores is lse_base is ranges is documents is bias_stage is None) and threads == 1 and not return_lse
    name = name_of_call(query, key, value, out, scalars) if plain else None
    if name is not None:
        found = run_again(name, query, key, value, out)
        if found is not None:
            return found
    options = Options(causal, offset, queries_last, window, sink_tokens, scale, soft_cap, mask, bias, alibi_slopes, relative_bias,
                      sink_logits, key_lengths, quantisation, lse_base, ranges, documents, bias_stage)
    whole('origin', origin)
    truth('return_lse', return_lse)
    held: List[Any] = []
    try:
        problem = Problem(query, options, held)
        if isinstance(key, Cache):
            columns = problem.set_cache(key, origin, value, pages, key_scales, value_scales)
        else:
            columns = problem.set_keys(key, value, pages, origin, key_scales, value_scales)
        require_lengths(key_lengths, columns)
        results = [problem.set_output(query, out, output)]
        if part is not None:
            _require_part(part, threads, out, return_lse, return_scores)
        if return_lse:
            results.append(problem.new_lse(query))
        if return_scores is not None:
            results.append(problem.new_scores(query, return_scores, columns))
        size = run(problem.c, part, threads)
        if name is not None:
            remember(name, query, key, value, out, problem, size)
        return results[0] if len(results) == 1 else tuple(results)
    finally:
        release(held)


def _require_part(part: Any, threads: int, out: Any, return_lse: bool, return_scores: Any) -> None:
    if not isinstance(part, tuple) or len(part) != 2:
        raise TypeError(f'part is {part!r}; expected (index, count)')
    whole('index of part', part[0], 0, whole('count of part', part[1], 1, _c.ATTEND_MAX_PARTS) - 1)
    if out is None or threads != 1 or return_lse or return_scores is not None:
        raise ValueError('a part writes its share of `out`: give out, and leave out threads, return_lse and return_scores')


def __getattr__(name: str) -> Any:
    """What not every program needs is loaded when it is asked for."""
    if name == 'load':
        from ._load import load
        return load
    if name == 'replay':
        from ._replay import replay
        return replay
    if name == 'nn':
        return importlib.import_module('.nn', __name__)
    if name in ('export', 'ExportError'):
        return getattr(_exporter(), name)
    raise AttributeError(f"module 'attend' has no attribute {name!r}")


def _exporter() -> Any:
    try:
        return importlib.import_module('.exporter', __name__)
    except ModuleNotFoundError as error:
        if error.name != 'numpy':
            raise
        raise ImportError('attend export: it takes numpy (Debian: apt-get install python3-numpy)') from None


def backends() -> List[str]:
    """Names of the instruction sets that the library has code for, fastest first."""
    return [name.decode() for name in itertools.takewhile(bool, map(shared.attend_backend_name, itertools.count()))]


def active_backend() -> str:
    """The one in use. Results do not depend on it."""
    return shared.attend_backend_name(_c.ATTEND_BACKEND_IN_USE).decode()


def use_backend(name: str) -> None:
    """Makes every later call use a backend; AttendError where the processor cannot."""
    require(shared.attend_backend_use(name.encode()))


def bits_version() -> int:
    """Changes when any result changes by any bit."""
    return shared.attend_bits_version()
