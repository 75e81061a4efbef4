"""Additive attention with its projections."""
from typing import Any

from .._additive import additive_attention
from .._shared import AttendError
from ._linear import Linear
from ._state import REFUSALS, require_layer, require_names, take, vector


class AdditiveAttention:
    """softmax(v . tanh(query_i + key_j)) value, of one head, with projections of queries and keys to vectors as wide as v (Bahdanau, Cho and
    Bengio, 2014). A bias of the sum is that of either projection."""

    def __init__(self, query: Linear, key: Linear, v: Any):
        with REFUSALS:
            self.query, self.key, self.v = require_layer('query', query, Linear), require_layer('key', key, Linear), vector('v', v)
            if not query.outputs == key.outputs == len(self.v):
                raise AttendError(f'query has {query.outputs} outputs, key {key.outputs}, and v {len(self.v)} numbers; expected the same')

    @classmethod
    def from_state(cls, state: Any, prefix: str = '') -> 'AdditiveAttention':
        """Of query.weight, key.weight, their biases if they are there, and v [width]."""
        require_names(state, prefix, 'an AdditiveAttention', ('query.', 'key.', 'v'))
        query, key = (Linear.from_state(state, f'{prefix}{name}.') for name in ('query', 'key'))
        return cls(query, key, take(state, prefix + 'v', 'an AdditiveAttention'))

    def __call__(self, query: Any, key: Any, value: Any = None, **options: Any) -> Any:
        """query [queries, inputs], key [keys, inputs], value [keys, value_dim] or the key itself; options of attend.additive_attention."""
        with REFUSALS:
            return additive_attention(self.query(query), self.key(key), key if value is None else value, self.v, **options)
