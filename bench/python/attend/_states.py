"""What queries have seen so far: keys in several calls."""
import ctypes
import struct
from typing import Any, List, Optional

from . import _c
from ._arrays import Memory, release
from ._cache import Cache
from ._options import options_of, set_lse_base
from ._problem import Problem, run
from ._shared import made, of_segment, require, shared, whole

_WIDTH_AND_NEXT = struct.Struct('<ii')  # of saved states, behind so many bytes
_PLACE = 8 * 4


def _is_positioned(c: Any) -> bool:
    """Whether anything depends on the position of the queries."""
    windows = {c.window_left, c.window_right} != {_c.ATTEND_NO_LIMIT}
    return bool(c.options & _c.ATTEND_CAUSAL or windows or c.alibi_slopes or c.relative_bias.data)


class State:
    """Queries that take keys in several calls, with the bits of one.

        state = attend.State(query, offset=past, causal=True)  # the options of attend.attention
        state.accumulate(past_key, past_value)               # the next keys
        state.accumulate(key, value)
        output = state.finish()

    first_key is the position of the first key that it takes, a multiple of 512: several states can take different keys, on threads or
    machines of their own, and `merge` joins them in any order, with the bits of one call. One that has taken nothing changes nothing;
    `value_dim` says how wide values are where it is saved or finished all the same. `nodes` is how many sums of finished segments of
    512 keys there is room for: keys side by side take about 2 * log2(segments) at most, and the default is enough for those among the
    first 131,072. `next` is the position of the next key. The query is not copied, and must not change before the state is finished. save()
    gives bytes that can be kept and sent, and State.load goes on with them: the query and the options are not among them.
    """

    def __init__(self, query: Any, *, first_key: int = 0, nodes: int = _c.ATTEND_DEFAULT_STATE_NODES, value_dim: Optional[int] = None,
                 **options: Any):
        self._query, self.options = query, options_of('a state', options, ['queries_last', 'lse_base', 'ranges', 'documents'])
        self.next = self._first = of_segment('first_key', whole('first_key', first_key))
        self.nodes = whole('nodes', nodes, 0, _c.ATTEND_MAX_STATE_NODES)
        self._offset: Optional[int] = None  # that a cache has given
        self._memory: Optional[Memory] = None
        self._value_dim = 0 if value_dim is None else whole('value_dim', value_dim, 1, _c.ATTEND_MAX_WIDTH)
        held: List[Any] = []
        self._problem(held)  # refuses wrong options
        release(held)

    def _problem(self, held: List[Any]) -> Problem:
        try:
            problem = Problem(self._query, self.options, held)
            problem.c.value_dim, problem.c.state_nodes = self._value_dim, self.nodes
            problem.c.states = self._memory.address if self._memory else None
            return problem
        except BaseException:
            release(held)
            raise

    def accumulate(self, key: Any, value: Any = None, *, up_to: Optional[int] = None, origin: Optional[int] = None, key_scales: Any = None,
                   value_scales: Any = None, pages: Any = None, threads: int = 1) -> None:
        """Takes keys next ... up_to - 1, up_to being where the arrays, the pages or the cache end unless it is given. Arrays begin with
        the key of the position `origin`: the next key unless it is given; in integers it is a multiple of 32, and so is up_to but for
        the last call. Pages begin with key 0. A cache begins with key 0, or with `origin`, a multiple of 512, where it holds
        one machine's tokens."""
        held: List[Any] = []
        problem = self._problem(held)
        try:
            if isinstance(key, Cache):
                end = problem.set_cache(key, whole('origin', origin or 0), value, pages, key_scales, value_scales)
            else:
                origin = whole('origin', (self.next if pages is None else 0) if origin is None else origin)
                end = problem.set_keys(key, value, pages, origin, key_scales, value_scales)
                problem.c.origin = origin
            c = problem.c
            c.first_key, c.keys = self.next, end if up_to is None else whole('up_to', up_to, 0, end)
            if self._value_dim not in (0, c.value_dim):
                raise ValueError(f'values are {c.value_dim} wide where the values of this state are {self._value_dim} wide')
            offset = end - c.queries if isinstance(key, Cache) else None
            self._require_offset(c, offset)
            memory = self._memory or self._begin(problem)
            c.states = memory.address
            run(c, None, threads)
            self._memory, self._value_dim, self.next, self._offset = memory, c.value_dim, c.keys, offset
        finally:
            release(held)

    def _begin(self, problem: Problem) -> Memory:
        reference = ctypes.byref(problem.c)
        size = shared.attend_state_size(reference)
        memory = Memory(size)
        problem.c.states, first, problem.c.first_key = memory.address, problem.c.first_key, self._first
        if size:
            require(shared.attend_begin(reference))
        problem.c.first_key = first
        return memory

    def merge(self, later: 'State') -> None:
        """Adds what another state has taken with the same query and options, be it later or earlier keys, or none. A segment of 512
        keys is taken by one state, and only the last one of both may have keys still to come: `next` is then there, else behind the last
        segment."""
        options = [state.options._replace(sink_tokens=state.options.sink_tokens or 0) for state in (self, made('later', later, State))]
        if any(mine is not theirs and (hasattr(mine, '__array__') or mine != theirs) for mine, theirs in zip(*options)):
            raise ValueError('the other state has other options')
        if self.nodes != later.nodes:
            raise ValueError(f'the other state has room for {later.nodes} nodes, this one for {self.nodes}: make them with the same')
        width = self._value_dim or later._value_dim
        if not width:  # neither has taken anything
            self.next = self._first = min(self._first, later._first)
            return
        before = [(state, state._value_dim, state._memory) for state in (later, self)]
        held: List[Any] = []
        try:
            for state in (self, later):
                state._value_dim = state._value_dim or width
                state._require_begun()
            problem = self._problem(held)
            self._require_offset(problem.c, later._offset)
            require(shared.attend_merge(ctypes.byref(problem.c), later._memory.address))
            _, self.next = _WIDTH_AND_NEXT.unpack_from(self.save(), _PLACE)
            self._offset = later._offset if self._offset is None else self._offset
            before.pop()
        finally:
            for state, value_dim, memory in before:
                state._value_dim, state._memory = value_dim, memory
            release(held)

    def finish(self, *, output: Optional[str] = None, out: Any = None, return_lse: bool = False,
               lse_base: Optional[int] = None) -> Any:
        """The output, or (output, lse), as of attend.attention. The state stays as it is, and may go on."""
        self._require_begun()
        held: List[Any] = []
        problem = self._problem(held)
        try:
            problem.c.keys = self.next
            set_lse_base(problem.c, lse_base)
            if self.options.offset is None and self._offset is not None and _is_positioned(problem.c):
                problem.c.offset = self._offset
            result = problem.set_output(self._query, out, output)
            lse = problem.new_lse(self._query) if return_lse else None
            require(shared.attend_finish(ctypes.byref(problem.c)))
            return (result, lse) if return_lse else result
        finally:
            release(held)

    def _require_offset(self, c: Any, offset: Optional[int]) -> None:
        """Refuses another offset than that of the keys before, where it has followed the lengths of caches."""
        if self.options.offset is not None or offset is None or self._offset is None or offset == self._offset:
            return
        if _is_positioned(c):
            raise ValueError(f'without an offset the queries are the last tokens of the cache, of which they began at {self._offset} '
                             f'and here at {offset}: set offset, the same for all keys')

    def _require_begun(self) -> None:
        if self._memory is not None:
            return
        if not self._value_dim:
            raise ValueError('this state has taken nothing, and so does not know how wide values are: call accumulate, with arrays of no '
                             'keys too, or make it with value_dim=')
        held: List[Any] = []
        try:
            self._memory = self._begin(self._problem(held))
        finally:
            release(held)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError('a state cannot be copied or pickled: keep state.save(), and go on with State.load')

    def save(self) -> bytes:
        """What was taken, as attend_save of C writes it, with a check sum: the same bytes on every machine, whatever the way in which
        the same keys were taken and merged."""
        self._require_begun()
        held: List[Any] = []
        try:
            reference = ctypes.byref(self._problem(held).c)
            saved, size = Memory(shared.attend_saved_size(reference)), ctypes.c_size_t()
            require(shared.attend_save(reference, saved.address, saved.size, ctypes.byref(size)))
            return ctypes.string_at(saved.address, size.value)
        finally:
            release(held)

    @classmethod
    def load(cls, saved: Any, query: Any, **options: Any) -> 'State':
        """A state that goes on with what was saved; with the query and the options that it was taken with, which are not in it, and
        `nodes`, for another room. AttendError for bytes that are damaged, cut short, of other shapes, or of another version of bits."""
        state = cls(query, **options)
        kept = memoryview(saved).tobytes()
        if len(kept) >= _PLACE + _WIDTH_AND_NEXT.size:
            state._value_dim, state.next = _WIDTH_AND_NEXT.unpack_from(kept, _PLACE)
        if not 0 < state._value_dim <= _c.ATTEND_MAX_WIDTH:
            state._value_dim = 1  # these are no saved states, as C says
        held: List[Any] = []
        problem = state._problem(held)
        try:
            state._memory = Memory(shared.attend_state_size(ctypes.byref(problem.c)))
            problem.c.states = state._memory.address
            require(shared.attend_load(ctypes.byref(problem.c), kept, len(kept)))
            return state
        finally:
            release(held)
