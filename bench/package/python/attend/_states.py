"""What queries have seen so far: keys in several calls."""
import ctypes
import struct
from typing import Any, List, Optional

from . import _c
from ._arrays import Memory, release
from ._cache import Cache
from ._options import options_of
from ._problem import Problem, run
from ._shared import made, require, shared, whole

_HEAD = struct.Struct('<qq')  # of bytes(state): the width of values, the next key


class State:
    """Queries that take keys in several calls, with the bits of one.

        state = attend.State(query, offset=past, causal=True)  # the options of attend.attention
        state.accumulate(past_key, past_value)               # the next keys
        state.accumulate(key, value)
        output = state.finish()

    first_key is the position of the first key that it takes, a multiple of 512: several states can take different keys, on threads or
    machines of their own, and `merge` joins them. The bits are those of one call while each later state has taken at most 512 keys.
    `next` is the position of the next key. The query is not copied, and must not change before the state is finished. bytes(state) can
    be kept and sent, and State.from_bytes goes on with them: the query and the options are not among them.
    """

    def __init__(self, query: Any, *, first_key: int = 0, **options: Any):
        self._query, self.options = query, options_of('a state', options, ['queries_last'])
        self.next = self._first = whole('first_key', first_key)
        self._memory: Optional[Memory] = None
        self._value_dim = 0
        held: List[Any] = []
        self._problem(held)  # refuses wrong options
        release(held)

    def _problem(self, held: List[Any]) -> Problem:
        try:
            problem = Problem(self._query, self.options, held)
            problem.c.value_dim = self._value_dim
            problem.c.states = self._memory.address if self._memory else None
            return problem
        except BaseException:
            release(held)
            raise

    def accumulate(self, key: Any, value: Any = None, *, up_to: Optional[int] = None, origin: Optional[int] = None, key_scales: Any = None,
                   value_scales: Any = None, pages: Any = None, threads: int = 1) -> None:
        """Takes keys next ... up_to - 1, up_to being where the arrays, the pages or the cache end unless it is given. Arrays begin with
        the key of the position `origin`: the next key unless it is given; pages begin with key 0. In integers it is a multiple of 32,
        and so is up_to but for the last call."""
        held: List[Any] = []
        problem = self._problem(held)
        try:
            if isinstance(key, Cache):
                end = problem.set_cache(key, value, pages, key_scales, value_scales, origin)
            else:
                origin = whole('origin', (self.next if pages is None else 0) if origin is None else origin)
                end = problem.set_keys(key, value, pages, origin, key_scales, value_scales)
                problem.c.origin = origin
            c = problem.c
            c.first_key, c.keys = self.next, end if up_to is None else whole('up_to', up_to, 0, end)
            if self._memory and c.value_dim != self._value_dim:
                raise ValueError(f'values are {c.value_dim} wide where this state has taken values {self._value_dim} wide')
            memory = self._memory or self._begin(problem)
            c.states = memory.address
            run(c, None, threads)
            self._memory, self._value_dim, self.next = memory, c.value_dim, c.keys
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
        """Adds what a state has taken that began at this one's next key, with the same query and options."""
        if any(mine is not theirs and (hasattr(mine, '__array__') or mine != theirs)
               for mine, theirs in zip(self.options, made('later', later, State).options)):
            raise ValueError('the later state has other options')
        held: List[Any] = []
        problem = self._problem(held)
        try:
            self._require_begun()
            later._require_begun()
            require(shared.attend_merge(ctypes.byref(problem.c), later._memory.address))
            self.next = later.next
        finally:
            release(held)

    def finish(self, *, output: Optional[str] = None, out: Any = None, return_lse: bool = False) -> Any:
        """The output, or (output, lse), as of attend.attention. The state stays as it is, and may go on."""
        held: List[Any] = []
        problem = self._problem(held)
        try:
            self._require_begun()
            problem.c.keys = self.next
            result = problem.set_output(self._query, out, output)
            lse = problem.new_lse(self._query) if return_lse else None
            require(shared.attend_finish(ctypes.byref(problem.c)))
            return (result, lse) if return_lse else result
        finally:
            release(held)

    def _require_begun(self) -> None:
        if self._memory is None:
            raise ValueError('this state has taken no keys: call accumulate first')

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError('a state cannot be copied or pickled: keep bytes(state), and go on with State.from_bytes')

    def __bytes__(self) -> bytes:
        self._require_begun()
        return _HEAD.pack(self._value_dim, self.next) + ctypes.string_at(self._memory.address, self._memory.size)

    @classmethod
    def from_bytes(cls, kept: bytes, query: Any, **options: Any) -> 'State':
        """With the query and the options of the state that the bytes are of."""
        state = cls(query, **options)
        if len(kept) < _HEAD.size:
            raise ValueError('these are not the bytes of a state')
        state._value_dim, state.next = _HEAD.unpack_from(kept)
        held: List[Any] = []
        problem = state._problem(held)
        size = shared.attend_state_size(ctypes.byref(problem.c)) if 0 < state._value_dim <= _c.ATTEND_MAX_WIDTH else 0
        release(held)
        if size == 0 or len(kept) != _HEAD.size + size:
            raise ValueError('these are not the bytes of a state of this query')
        state._memory = Memory(size)
        ctypes.memmove(state._memory.address, kept[_HEAD.size:], size)
        return state
