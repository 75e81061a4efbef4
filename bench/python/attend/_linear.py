"""Linear attention: a state of constant size, which every token decays, corrects and reads."""
import ctypes
import math
import struct
from typing import Any, List, NamedTuple, Optional, Sequence

from . import _c
from ._arrays import Array, Memory, empty, release
from ._integers import linear_constants
from ._problem import MOST_THREADS, on_threads
from ._shared import knows_its_options, new, real, require, shared, unknown_option, whole, word

RULES, DECAYS = ('linear', 'gated', 'delta', 'gated_delta'), ('per_head', 'per_key')  # in C's order
_INITS = {(rule, decay): tuple(getattr(shared, f'attend_{kind}{rule}{"_by_key" if decay == "per_key" else ""}_rule_init') for kind in ('', 'integer_'))
          for rule in RULES for decay in DECAYS if decay == 'per_head' or rule.startswith('gated')}
KIND, _PLACE = struct.Struct('<5i'), 12  # of saved states: rule, decay, value heads, head_dim and value_dim, behind so many bytes
_SAVED_LESS = 24  # bytes than a state in memory
_INTEGERS = 256  # is added to the rule of saved states


class _Options(NamedTuple):
    """Of all calls; the last three are of those that read."""
    first: int = 0
    count: Optional[int] = None
    documents: Optional[Sequence[int]] = None
    scale: Optional[float] = None
    out: Any = None
    threads: int = 1


def _struct(rule: str, decay: str, quantisation: Any = None) -> Any:
    """quantisation: None of floats."""
    word('rule', rule, {name: name for name in RULES})
    word('decay', decay, {name: name for name in DECAYS})
    if (rule, decay) not in _INITS:
        raise ValueError(f"decay is 'per_key', and the rule {rule!r} has no gate: leave decay out, or take the rule 'gated' or 'gated_delta'")
    c = new(_c.attend_linear_attention, _INITS[rule, decay][quantisation is not None])
    c.quantisation = quantisation
    return c


def _of_heads(array: Array) -> Any:
    """[heads, tokens, width] as C takes it."""
    return dict(data=array.address, batch_stride=0, head_stride=array.strides[0], token_stride=array.strides[1])


def _gates(name: str, source: Any, code: str, width: int, heads: int, tokens: int, held: List[Any]) -> Any:
    """[heads, tokens] in any strides, or with `width` key dimensions behind these; 0: without."""
    if width == 0:
        array = Array(name, source, code, 2, 2, held, any_strides=True)
    else:
        array = Array(name, source, code, 3, 3, held)
    if array.shape != (heads, tokens, width)[:len(array.shape)]:
        raise ValueError(f'{name} has the shape {array.shape}; expected {(heads, tokens, width)[:len(array.shape)]}')
    return _c.attend_input(**_of_heads(array))


def set_tokens(c: Any, options: Any) -> None:
    """Which of c.tokens there are."""
    c.count = c.tokens if options.count is None else whole('count', options.count, 0, c.tokens)
    c.first = whole('first', options.first, 0, c.count)
    if options.documents is None:
        return
    if not hasattr(options.documents, '__iter__'):
        raise ValueError(f'documents is a list of lengths, not {options.documents!r}')
    boundaries = [0]
    for length in options.documents:
        boundaries.append(boundaries[-1] + whole('documents', length))
    c.kept = (ctypes.c_int32 * len(boundaries))(*boundaries)  # as long as the struct
    c.documents.boundaries, c.documents.count = ctypes.addressof(c.kept), len(boundaries) - 1


def run_parts(c: Any, threads: Any, bytes_of_part: int, function: Any) -> None:
    """function(struct, work memory) for each part of the call."""
    c.parts = whole('threads', threads, 1, MOST_THREADS)
    parts = [type(c).from_buffer_copy(c) for _ in range(c.parts)]
    for index, part in enumerate(parts):
        part.part = index
    on_threads(c.parts, bytes_of_part, lambda index, memory: function(ctypes.byref(parts[index]), memory))


def output_of(c: Any, like: Any, given: Any, shape: Sequence[int], held: List[Any], code: str = 'f') -> Any:
    """The output of a call and its array: `given`, or a new one, in which what does not exist is 0."""
    out = empty(like, code, shape) if given is None else given
    o = Array('out', out, code, len(shape), len(shape), held, writable=True)
    if o.shape != tuple(shape):
        raise ValueError(f'out has the shape {o.shape} where the output has {tuple(shape)}')
    if given is None and (c.first, c.count) != (0, c.tokens):
        ctypes.memset(o.address, 0, struct.calcsize(code) * math.prod(shape))
    return out, o


class _Call:
    """A call over arrays. c: rule and extents; extents of 0 are those of the arrays."""

    def __init__(self, c: Any, key: Any, value: Any, log_decay: Any, beta: Any, options: _Options, held: List[Any]):
        meaning, self.c = c.quantisation, _c.attend_linear_attention.from_buffer_copy(c)
        c, self.code, gate_code = self.c, 'f' if meaning is None else 'b', 'f' if meaning is None else 'H'
        k, v = (Array(name, source, self.code, 3, 3, held) for name, source in (('key', key), ('value', value)))
        if not c.head_dim:
            c.value_heads, c.head_dim, c.value_dim = v.shape[0], k.shape[2], v.shape[2]
        c.query_heads = c.kv_heads = k.shape[0]
        c.tokens, self.value_shape = k.shape[1], (c.value_heads, k.shape[1], c.value_dim)
        if k.shape[2] != c.head_dim or v.shape != self.value_shape:
            raise ValueError(f'key {k.shape} and value {v.shape} do not go together; expected [key heads, tokens, {c.head_dim}] and '
                             f'[{c.value_heads}, tokens, {c.value_dim}]')
        c.key, c.value = _c.attend_input(**_of_heads(k)), _c.attend_input(**_of_heads(v))
        for name, source, width in (('log_decay', log_decay, c.head_dim if self._is_by_key() else 0), ('beta', beta, 0)):
            if source is not None:
                setattr(c, 'decay' if name == 'log_decay' and meaning is not None else name, _gates(name, source, gate_code, width, c.value_heads, c.tokens, held))
        set_tokens(c, options)
        if meaning is not None:
            self._constants = linear_constants(meaning, c.value_heads, c.head_dim)
            setattr(c, 'head_constants' if isinstance(meaning, (list, tuple)) else 'constants', ctypes.addressof(self._constants))

    def _is_by_key(self) -> bool:
        return self.c.rule in _BY_KEY

    def read(self, query: Any, options: _Options, function: Any, held: List[Any], bytes_of_part: int) -> Any:
        """The output of function(struct, work memory), where queries read."""
        c, heads, q = self.c, self.value_shape[0], Array('query', query, self.code, 3, 3, held)
        if q.shape[1:] != (c.tokens, c.head_dim):
            raise ValueError(f'query has the shape {q.shape}; expected [query heads, {c.tokens}, {c.head_dim}], like the key')
        c.query_heads, c.query = q.shape[0], _c.attend_input(**_of_heads(q))
        shape = (max(q.shape[0], heads), c.tokens, c.value_dim)
        out, o = output_of(c, query, options.out, shape, held, self.code)
        c.output = _c.attend_output(**_of_heads(o))
        if options.scale is not None:
            c.scale = real('scale', options.scale, -2.0**127, 2.0**127)
        run_parts(c, options.threads, bytes_of_part, function)
        return out


_BY_KEY = {_struct(rule, 'per_key', meaning).rule for rule in ('gated', 'gated_delta') for meaning in (None, True)}


def _options_of(name: str, given: Any, without: Sequence[str] = ()) -> _Options:
    known = [field for field in _Options._fields if field not in without]
    for unknown in given:
        if unknown not in known:
            raise unknown_option(name, unknown, known)
    return _Options(**given)


class SequenceState:
    """What states of linear attention and of convolutions have in common."""
    _memory: Memory

    def _make(self, c: Any, size_of: Any, init: Any) -> None:
        size = size_of(ctypes.byref(c))
        if size == 0:
            require(init(ctypes.byref(c), None, 0, None))
        self._memory = Memory(size)
        require(init(ctypes.byref(c), self._memory.address, size, None))

    @property
    def nbytes(self) -> int:
        """The memory that it takes, but for what aligns it."""
        return self._memory.size

    @property
    def tokens(self) -> int:
        """How many it has taken, documents before the last one too."""
        taken = ctypes.c_uint64()
        require(shared.attend_linear_state_tokens(self._memory.address, ctypes.addressof(taken)))
        return taken.value

    def clear(self) -> None:
        """Forgets all tokens."""
        require(shared.attend_linear_state_clear(self._memory.address))

    def is_finite(self) -> bool:
        """Whether no number of it is infinite or NaN."""
        return shared.attend_linear_state_is_finite(self._memory.address) == 1

    def _numbers(self, shape: Sequence[int], code: str = 'f') -> Any:
        import numpy
        numbers = numpy.empty(shape, code)
        require(shared.attend_linear_state_numbers(self._memory.address, numbers.ctypes.data))
        return numbers

    def save(self) -> bytes:
        """The state as bytes, with a check sum, as C and C++ write them."""
        size = self.nbytes - _SAVED_LESS
        saved = Memory(size)
        require(shared.attend_linear_save(self._memory.address, saved.address, size))
        return ctypes.string_at(saved.address, size)

    @classmethod
    def _load(cls, saved: Any, *more: Any) -> Any:
        kept = memoryview(saved).tobytes()
        head = KIND.unpack_from(kept, _PLACE) if len(kept) >= _PLACE + KIND.size else (-1,) * 5
        state = cls._of_head(head, len(kept) - 40, *more) if min(head) >= 0 else None
        if state is None:
            state, kept = cls._of_head(cls._smallest, 1024), kept[:4]  # these are no saved states, as C says
        require(shared.attend_linear_load(state._memory.address, kept, len(kept)))
        return state

    def copy(self) -> Any:
        """A snapshot, for example behind a prefix that several sequences share."""
        return self._load(self.save(), *self._more)

    def __reduce__(self) -> Any:
        return type(self)._load, (self.save(), *self._more)

    # What load takes beside the bytes; the head of a small state; and an empty state with a head, or None where it is of another kind or has more than so many bytes.
    _more: Any = ()
    _smallest: Any

    @classmethod
    def _of_head(cls, head: Any, room: int, *more: Any) -> Any:
        raise NotImplementedError


class LinearState(SequenceState):
    """The state of one sequence: a matrix [head_dim, value_dim] for each value head, of the same size after any number of tokens.

        state = attend.LinearState('gated_delta', value_heads=32, head_dim=128)
        output = state.prefill(query, key, value, log_decay, beta)   # the state moves on
        drafts = state.attention(query, key, value, log_decay, beta) # the state stays
        state.append(key, value, log_decay, beta, count=3)           # the drafts that were accepted

    rule  what a token makes of S: 'linear' S + k v, 'gated' e^g S + k v, 'delta' S + k beta (v - k S), 'gated_delta' e^g S +
          k beta (v - k e^g S). decay='per_key': each key dimension has a gate of its own

    quantisation  None, or an attend.LinearQuantisation, or a list of one for each value head: the state and its calls are in integers.
                  query, key, value and output are int8, log_decay (which is the gate e^g itself then) and beta uint16 in 2**-15

    Arrays of calls, all float32 without a quantisation:
    query      [query heads, tokens, head_dim]
    key        [key heads, tokens, head_dim]; value head h has the key of head h // (value heads / key heads)
    value      [value heads, tokens, value_dim]
    log_decay  g <= 0 of rules with a gate, [value heads, tokens], with decay='per_key' [value heads, tokens, head_dim]
    beta       of delta rules, [value heads, tokens]
    output     [the larger number of query and value heads, tokens, value_dim]

    Options of calls:
    first, count  tokens before first, and from count on, do not exist: nothing of them is read. Their outputs are 0 in a new array, and
                  stay as they are in `out`
    documents     lengths of documents side by side up to count: each begins with an empty state, but the first with this one
    scale         of queries; 1/sqrt(head_dim)
    out           an array that takes the output
    threads       how many threads compute the call: the same bits

    save() gives the same bytes on every machine, and LinearState.load a state that goes on with them. Pickles hold these bytes; a copy is
    a snapshot. NaN and infinity of keys, values and gates stay until clear(); is_finite() finds them. numpy() is S as an array.
    """

    @knows_its_options
    def __init__(self, rule: str, value_heads: int, head_dim: int, *, value_dim: Optional[int] = None, decay: str = 'per_head',
                 quantisation: Any = None):
        self.rule, self.decay, self._c, self._more = rule, decay, _struct(rule, decay, quantisation), (quantisation,)
        c, most = self._c, _c.ATTEND_MAX_WIDTH
        c.value_heads = c.query_heads = c.kv_heads = self.value_heads = whole('value_heads', value_heads, 1, most)
        c.head_dim = self.head_dim = whole('head_dim', head_dim, 1, most)
        c.value_dim = self.value_dim = self.head_dim if value_dim is None else whole('value_dim', value_dim, 1, most)
        self._make(c, shared.attend_linear_state_size, shared.attend_linear_state_init)
        if quantisation is not None:
            linear_constants(quantisation, self.value_heads, self.head_dim)  # refuses

    def prefill(self, query: Any, key: Any, value: Any, log_decay: Any = None, beta: Any = None, **options: Any) -> Any:
        """Takes tokens one after another, and after each of them its query reads the state. Any cut into calls gives the same bits."""
        run = lambda c, _: shared.attend_linear_run(c, self._memory.address)
        return self._read('prefill', run, query, key, value, log_decay, beta, options, 0)

    def decode(self, query: Any, key: Any, value: Any, log_decay: Any = None, beta: Any = None, **options: Any) -> Any:
        """The same for one token."""
        if getattr(query, 'shape', (0, 1))[1:2] != (1, ):
            raise ValueError(f'decode takes one token, and query has the shape {tuple(query.shape)}: prefill takes several')
        return self.prefill(query, key, value, log_decay, beta, **options)

    def attention(self, query: Any, key: Any, value: Any, log_decay: Any = None, beta: Any = None, **options: Any) -> Any:
        """The outputs that prefill would give, from a state that stays as it is: for drafts."""
        size = 4 * self.head_dim * self.value_dim
        run = lambda c, memory: shared.attend_linear_run_from(c, self._memory.address, memory, size)
        return self._read('attention', run, query, key, value, log_decay, beta, options, size)

    def _read(self, name: str, function: Any, query: Any, key: Any, value: Any, log_decay: Any, beta: Any, options: Any, size: int) -> Any:
        given = _options_of(f'LinearState.{name}', options)
        held: List[Any] = []
        try:
            return _Call(self._c, key, value, log_decay, beta, given, held).read(query, given, function, held, size)
        finally:
            release(held)

    def append(self, key: Any, value: Any, log_decay: Any = None, beta: Any = None, **options: Any) -> None:
        """Takes tokens as prefill does, and reads nothing: drafts that were accepted, the first `count`."""
        given = _options_of('LinearState.append', options, ['scale', 'out', 'threads'])
        held: List[Any] = []
        try:
            call = _Call(self._c, key, value, log_decay, beta, given, held)
            require(shared.attend_linear_append(ctypes.byref(call.c), self._memory.address))
        finally:
            release(held)

    def numpy(self) -> Any:
        """A copy of S, [value heads, head_dim, value_dim]; of integers int32, before they are scaled."""
        return self._numbers((self.value_heads, self.head_dim, self.value_dim), 'f' if self._more[0] is None else 'i')

    def set_numpy(self, numbers: Any) -> None:
        """Makes S what numpy() gives, and counts tokens from 0. Numbers below 2^-100 become 0 before the next token, but of the rule linear."""
        import numpy
        array = numpy.ascontiguousarray(numbers, numpy.float32)
        if array.shape != (self.value_heads, self.head_dim, self.value_dim):
            raise ValueError(f'numbers have the shape {array.shape}; expected {(self.value_heads, self.head_dim, self.value_dim)}')
        require(shared.attend_linear_state_set_numbers(self._memory.address, array.ctypes.data))

    @classmethod
    def load(cls, saved: Any, quantisation: Any = None) -> Any:
        """What was saved. AttendError for bytes that are damaged, cut short or of another version of bits."""
        return cls._load(saved, quantisation)

    _smallest = (0, 0, 1, 1, 1)

    @classmethod
    def _of_head(cls, head: Any, room: int, *more: Any) -> Any:
        rule, decay, heads, head_dim, value_dim = head
        integers, rule = divmod(rule, _INTEGERS)
        known = integers < 2 and rule < len(RULES) and decay < len(DECAYS) and (RULES[rule], DECAYS[decay]) in _INITS
        if not known or min(head[2:]) == 0 or 4 * heads * (head_dim * value_dim + -(-value_dim // 16) * (3 if integers else 1)) > room:
            return None
        quantisation = more[0] if more else None
        if (quantisation is not None) != (integers == 1):
            raise ValueError('quantisation: ' + ('give it: these are states in integers' if integers else 'leave it out: these are states in floats'))
        return cls(RULES[rule], heads, head_dim, value_dim=value_dim, decay=DECAYS[decay], quantisation=quantisation)


@knows_its_options
def linear_attention(rule: str, query: Any, key: Any, value: Any, log_decay: Any = None, beta: Any = None, *, decay: str = 'per_head',
                     first: int = 0, count: Optional[int] = None, documents: Optional[Sequence[int]] = None, scale: Optional[float] = None,
                     out: Any = None, threads: int = 1, quantisation: Any = None) -> Any:
    """The output of whole sequences that nothing follows, from an empty state: arrays and options are those of attend.LinearState."""
    options = _Options(first, count, documents, scale, out, threads)
    held: List[Any] = []
    try:
        call = _Call(_struct(rule, decay, quantisation), key, value, log_decay, beta, options, held)
        size = 4 * call.c.head_dim * call.c.value_dim
        return call.read(query, options, lambda c, memory: shared.attend_linear_run_from(c, None, memory, size), held, size)
    finally:
        release(held)
