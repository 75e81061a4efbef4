"""Multi-head attention with its projections, over vectors of float32."""
from typing import Any, List, Optional, Sequence, Tuple

from .._arrays import Array, release
from .._cache import Cache
from .._dlpack import BFLOAT16
from .._layers import Layer, project
from .._options import Options
from .._rotary import Rotary, rotate
from .._shared import AttendError, whole
from ._heads import attend_to, extents, of_heads, require_vectors
from ._linear import Linear, split
from ._state import REFUSALS, Refusals, require_layer, require_names, take, take_if, vector

RESULTS = ('return_scores',)  # what attention may be asked for besides its options


class MultiheadAttention:
    """Projections of queries, keys and values, attention, and the projection of its output.

        attention = attend.nn.MultiheadAttention(query, key, value, output, heads=8, kv_heads=2)   # attend.nn.Linear each
        y = attention(x, causal=True)                   # self-attention: x [tokens, width], or with a batch in front
        y = attention(x, memory)                        # cross-attention, to the tokens of an encoder
        y = attention(x, cache=cache, causal=True)      # appends the tokens to an attend.Cache and attends to all that it has
        attention.remember(memory, cache)               # projects an encoder's tokens once,
        y = attention(x, cache)                         # and attends to them

    rotary: an attend.Rotary, by which queries and keys turn. Options are those of attend.attention, window and mask among them, where a
    mask is true for keys that are seen; PyTorch's masks are true for those that are not. causal is False unless it is given, with a cache too.
    return_scores='weights' gives (y, weights), [heads, queries, keys] with the batch in front, without a cache."""

    def __init__(self, query: Linear, key: Linear, value: Linear, output: Linear, *, heads: int, kv_heads: Optional[int] = None,
                 rotary: Optional[Rotary] = None):
        with REFUSALS:
            self.query, self.key, self.value, self.output = (require_layer(name, each, Linear) for name, each in (
                ('query', query), ('key', key), ('value', value), ('output', output)))
            self.heads, self.kv_heads, self.head_dim, self.value_dim = extents(heads, kv_heads, query, key, value, output)
            if rotary is not None and not isinstance(rotary, Rotary):
                raise AttendError(f'rotary is a {type(rotary).__name__}; expected an attend.Rotary')
            if rotary is not None and rotary.c.rotary_dim > self.head_dim:
                raise AttendError(f'rotary turns {rotary.c.rotary_dim} numbers; expected at most the {self.head_dim} of a head')
            self.rotary = rotary
            self.layer = Layer(*(each.weights for each in (query, key, value, output)), heads=self.heads, kv_heads=self.kv_heads, rotary=rotary)
            self.inputs, self.outputs = query.inputs, output.outputs

    @classmethod
    def from_state(cls, state: Any, prefix: str = '', *, heads: int, kv_heads: Optional[int] = None, rotary: Optional[Rotary] = None,
                   format: Optional[str] = None) -> 'MultiheadAttention':
        """Of in_proj_weight, or of q_proj_weight, k_proj_weight and v_proj_weight; of in_proj_bias, out_proj.weight and out_proj.bias.
        With kv_heads, in_proj_weight has the rows of as many heads of keys, and of values."""
        name = 'a MultiheadAttention'
        each = ('q_proj_weight', 'k_proj_weight', 'v_proj_weight')
        require_names(state, prefix, name, ('in_proj_weight', *each, 'in_proj_bias', 'out_proj.'))
        bias, output = take_if(state, prefix + 'in_proj_bias'), Linear.from_state(state, prefix + 'out_proj.', format=format)
        names = ('in_proj_weight',) if take_if(state, prefix + each[0]) is None else each
        weights = [take(state, prefix + one, name) for one in names]
        with Refusals(prefix):
            heads = whole('heads', heads, 1)
            groups = heads if kv_heads is None else whole('kv_heads', kv_heads, 1)
            if len(weights) == 1:
                parts = split(weights[0], bias, [heads, groups, groups], format)
            else:
                parts = _apart(each, weights, bias, format)
            return cls(*parts, output, heads=heads, kv_heads=groups, rotary=rotary)

    def __call__(self, query: Any, key: Any = None, value: Any = None, *, cache: Optional[Cache] = None, threads: int = 1, **options: Any) -> Any:
        with REFUSALS:
            if cache is not None:
                if key is not None or value is not None:
                    raise AttendError('cache takes the tokens of self-attention: leave out key and value, or pass a cache of a memory as key')
                return self.layer.self_attention(query, cache, threads=threads, **options)
            if isinstance(key, Cache):
                if value is not None:
                    raise AttendError('a cache takes the place of key and value: leave out value')
                return self.layer.cross_attention(query, key, threads=threads, **options)
            return self._over_arrays(query, key, value, dict(options, threads=threads))

    def remember(self, memory: Any, cache: Cache) -> None:
        """Projects tokens of an encoder, [tokens, width], to keys and values, and appends them to the cache."""
        with REFUSALS:
            self.layer.project_memory(memory, cache)

    def require(self, query: Any, key: Any = None, value: Any = None) -> Tuple[Any, Any]:
        """Refuses vectors that do not fit; key and value become what they are where they were left out."""
        if key is None and value is not None:
            raise AttendError('value is given and key is not; expected both, or neither')
        key = query if key is None else key
        value = key if value is None else value
        held: List[Any] = []
        try:
            vectors = require_vectors('query', query, 'f', self.query.inputs, None, held)
            keys = require_vectors('key', key, 'f', self.key.inputs, vectors, held)
            values = require_vectors('value', value, 'f', self.value.inputs, vectors, held)
            if keys.shape[1] != values.shape[1]:
                raise AttendError(f'key has {keys.shape[1]} tokens and value {values.shape[1]}; expected the same')
            return key, value
        finally:
            release(held)

    def _over_arrays(self, query: Any, key: Any, value: Any, options: Any) -> Any:
        for name in options:
            if name not in (*Options._fields, *RESULTS, 'threads') or name == 'quantisation':
                raise AttendError(f'MultiheadAttention has no option {name}; expected some of {", ".join((*Options._fields, *RESULTS))}')
        is_self = key is None or key is query
        key, value = self.require(query, key, value)
        if key is query and value is query:
            rows = project(query, *(each.weights for each in (self.query, self.key, self.value)))
        elif value is key:
            rows = (project(query, self.query.weights), *project(key, self.key.weights, self.value.weights))
        else:
            rows = tuple(project(x, each.weights) for x, each in ((query, self.query), (key, self.key), (value, self.value)))
        if self.rotary is not None:
            self._turn(rows, options, is_self)
        found = attend_to(rows, 'f', (self.heads, self.kv_heads, self.kv_heads), self.value_dim, query, options)
        return (self.output(found[0]), *found[1:]) if isinstance(found, tuple) else self.output(found)

    def _turn(self, rows: Any, options: Any, is_self: bool) -> None:
        """Queries and keys in place: keys from position 0 on, and queries from the offset on."""
        if options.get('documents') is not None:
            raise AttendError('documents begin at position 0 each, and rotary turns all tokens as one: call it for each document')
        if is_self and options.get('offset'):
            raise AttendError(f'offset is {options["offset"]}; leave it out: tokens of self-attention with a rotary begin at position 0')
        first = 0 if is_self else options.get('offset') or 0
        held: List[Any] = []
        try:
            for name, each, heads, position in (('query', rows[0], self.heads, first), ('key', rows[1], self.kv_heads, 0)):
                turned = of_heads(name, each, 'f', heads, None, held, True)
                for row in turned.rows() if turned.axes == 4 else (turned,):
                    rotate(row, self.rotary, position)
        finally:
            release(held)


def _apart(names: Sequence[str], weights: Sequence[Any], bias: Any, format: Optional[str]) -> List[Linear]:
    """Projections of arrays of their own, with one bias for all."""
    sizes, held = [], []  # type: List[int], List[Any]
    try:
        sizes = [Array(name, weight, 'fe' + BFLOAT16, 2, 2, held).shape[0] for name, weight in zip(names, weights)]
    finally:
        release(held)
    biases = vector('in_proj_bias', bias, sum(sizes))
    ends = [sum(sizes[:count + 1]) for count in range(len(sizes))]
    return [Linear(weight, None if biases is None else biases[end - size:end], format=format) for weight, size, end in zip(weights, sizes, ends)]
