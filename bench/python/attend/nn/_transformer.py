"""Layers of transformers, in the shapes of torch.nn."""
from typing import Any, List, Optional, Union

from .._arrays import release
from .._cache import Cache
from .._rotary import Rotary
from .._rows import add
from .._shared import AttendError, truth
from ._attention import MultiheadAttention
from ._feed_forward import FeedForward, GatedFeedForward
from ._heads import require_vectors
from ._norms import LayerNorm, RMSNorm
from ._state import REFUSALS, require_layer, require_names

Norm = Union[LayerNorm, RMSNorm]


class _Block:
    """x + part(norm(x)) with norm_first, otherwise norm(x + part(x)), for one part after another."""

    norm_first: bool

    def _residual(self, x: Any, norm: Norm, part: Any) -> Any:
        y = part(norm(x) if self.norm_first else x)
        add(x, y)
        return y if self.norm_first else norm(y)

    @staticmethod
    def _require_norms(width: int, **norms: Any) -> None:
        for name, norm in norms.items():
            require_layer(name, norm, LayerNorm, RMSNorm)
            if norm.weight is not None and len(norm.weight) != width:
                raise AttendError(f'{name} has a weight of {len(norm.weight)} numbers; expected {width}, the width of the tokens')

    @staticmethod
    def _require_widths(width: int, **parts: Any) -> None:
        for name, part in parts.items():
            if (part.inputs, part.outputs) != (width, width):
                raise AttendError(f'{name} makes {part.outputs} numbers of {part.inputs}; expected {width} of both, the width of the tokens')

    @staticmethod
    def _require_tokens(x: Any, width: int, cached: bool, options: Any) -> None:
        """What is wrong with x must be known before a cache takes it."""
        if 'return_scores' in options:
            raise AttendError('a layer has no option return_scores: ask its self_attn or multihead_attn for them')
        held: List[Any] = []
        try:
            array = require_vectors('x', x, 'f', width, None, held)
            if cached and array.given_axes != 2:
                raise AttendError(f'x has {array.given_axes} axes; expected 2 with a cache, which is of one sequence')
        finally:
            release(held)


class TransformerEncoderLayer(_Block):
    """Self-attention and a feed-forward network, each with a residual connection and a normalisation.

        layer = attend.nn.TransformerEncoderLayer.from_state(state, heads=4, norm_first=True, activation='gelu')
        y = layer(x)                                  # x [tokens, width] or [batch, tokens, width]; key_lengths=[…] of a padded batch
        y = layer(token, cache=cache, causal=True)    # the layer of a decoder: [1, width], over an attend.Cache

    Options of the call are those of attend.attention. A Llama's layer is one with a rotary, RMSNorm and GatedFeedForward, and
    norm_first=True."""

    def __init__(self, self_attn: MultiheadAttention, feed_forward: Union[FeedForward, GatedFeedForward], norm1: Norm, norm2: Norm, *,
                 norm_first: bool = False):
        with REFUSALS:
            self.self_attn = require_layer('self_attn', self_attn, MultiheadAttention)
            self.feed_forward = require_layer('feed_forward', feed_forward, FeedForward, GatedFeedForward)
            self.width = self_attn.inputs
            self._require_widths(self.width, self_attn=self_attn, feed_forward=feed_forward)
            self._require_norms(self.width, norm1=norm1, norm2=norm2)
            self.norm1, self.norm2, self.norm_first = norm1, norm2, truth('norm_first', norm_first)

    @classmethod
    def from_state(cls, state: Any, prefix: str = '', *, heads: int, kv_heads: Optional[int] = None, norm_first: bool = False,
                   activation: str = 'relu', epsilon: float = 1e-5, rotary: Optional[Rotary] = None,
                   format: Optional[str] = None) -> 'TransformerEncoderLayer':
        """With the names of torch.nn.TransformerEncoderLayer: self_attn, linear1, linear2, norm1, norm2. format: of the weights."""
        require_names(state, prefix, 'a TransformerEncoderLayer', ('self_attn.', 'linear1.', 'linear2.', 'norm1.', 'norm2.'))
        at = MultiheadAttention.from_state(state, prefix + 'self_attn.', heads=heads, kv_heads=kv_heads, rotary=rotary, format=format)
        norms = [LayerNorm.from_state(state, f'{prefix}{name}.', epsilon=epsilon) for name in ('norm1', 'norm2')]
        return cls(at, _feed_forward(state, prefix, activation, format), *norms, norm_first=norm_first)

    def __call__(self, x: Any, *, cache: Optional[Cache] = None, **options: Any) -> Any:
        with REFUSALS:
            self._require_tokens(x, self.width, cache is not None, options)
            x = self._residual(x, self.norm1, lambda y: self.self_attn(y, cache=cache, **options))
            return self._residual(x, self.norm2, self.feed_forward)


class TransformerDecoderLayer(_Block):
    """Self-attention, attention to the tokens of an encoder, and a feed-forward network.

        layer = attend.nn.TransformerDecoderLayer.from_state(state, heads=4)
        y = layer(x, memory, causal=True)             # memory [tokens, width], or with a batch as x has one
        layer.remember(memory, memory_cache)          # token by token: the memory is projected once,
        y = layer(token, memory_cache, cache=cache, causal=True)

    Options of the call are those of attend.attention, for self-attention; memory_options={'key_lengths': […]}, say, for the other."""

    def __init__(self, self_attn: MultiheadAttention, multihead_attn: MultiheadAttention, feed_forward: Union[FeedForward, GatedFeedForward],
                 norm1: Norm, norm2: Norm, norm3: Norm, *, norm_first: bool = False):
        with REFUSALS:
            self.self_attn = require_layer('self_attn', self_attn, MultiheadAttention)
            self.multihead_attn = require_layer('multihead_attn', multihead_attn, MultiheadAttention)
            self.feed_forward = require_layer('feed_forward', feed_forward, FeedForward, GatedFeedForward)
            self.width = self_attn.inputs
            self._require_widths(self.width, self_attn=self_attn, multihead_attn=multihead_attn, feed_forward=feed_forward)
            self._require_norms(self.width, norm1=norm1, norm2=norm2, norm3=norm3)
            self.norm1, self.norm2, self.norm3, self.norm_first = norm1, norm2, norm3, truth('norm_first', norm_first)

    @classmethod
    def from_state(cls, state: Any, prefix: str = '', *, heads: int, norm_first: bool = False, activation: str = 'relu', epsilon: float = 1e-5,
                   format: Optional[str] = None) -> 'TransformerDecoderLayer':
        """With the names of torch.nn.TransformerDecoderLayer: self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3."""
        names = ('self_attn.', 'multihead_attn.', 'linear1.', 'linear2.', 'norm1.', 'norm2.', 'norm3.')
        require_names(state, prefix, 'a TransformerDecoderLayer', names)
        attentions = [MultiheadAttention.from_state(state, prefix + name, heads=heads, format=format) for name in names[:2]]
        norms = [LayerNorm.from_state(state, prefix + name, epsilon=epsilon) for name in names[4:]]
        return cls(*attentions, _feed_forward(state, prefix, activation, format), *norms, norm_first=norm_first)

    def __call__(self, x: Any, memory: Any, *, cache: Optional[Cache] = None, memory_options: Any = None, threads: int = 1, **options: Any) -> Any:
        with REFUSALS:
            self._require_tokens(x, self.width, cache is not None or isinstance(memory, Cache), {**options, **(memory_options or {})})
            if isinstance(memory, Cache):
                self._require_cache(memory)
            else:
                self.multihead_attn.require(x, memory)
            before = 0 if cache is None else len(cache)
            x = self._residual(x, self.norm1, lambda y: self.self_attn(y, cache=cache, threads=threads, **options))
            try:
                x = self._residual(x, self.norm2, lambda y: self.multihead_attn(y, memory, threads=threads, **(memory_options or {})))
            except BaseException:
                if cache is not None:
                    cache.truncate(before)  # the tokens are not in it after a refusal of the memory's options
                raise
            return self._residual(x, self.norm3, self.feed_forward)

    def _require_cache(self, memory: Cache) -> None:
        at = self.multihead_attn
        if (memory.kv_heads, memory.head_dim, memory.value_dim) != (at.kv_heads, at.head_dim, at.value_dim) or memory.integers:
            raise AttendError(f'memory is a cache of {memory.kv_heads} heads of {memory.head_dim} and {memory.value_dim} numbers; expected '
                              f'{at.kv_heads} of {at.head_dim} and {at.value_dim}, in floats')
        if len(memory) == 0:
            raise AttendError('memory has no tokens: remember(memory, cache) fills it')

    def remember(self, memory: Any, cache: Cache) -> None:
        """Projects tokens of an encoder, [tokens, width], to keys and values, and appends them to the cache."""
        self.multihead_attn.remember(memory, cache)


def _feed_forward(state: Any, prefix: str, activation: str, format: Optional[str]) -> FeedForward:
    if activation not in ('relu', 'gelu', 'gelu_tanh', 'silu'):
        raise AttendError(f'activation is {activation!r}; expected relu, gelu, gelu_tanh or silu')
    part = {name: state[name] for name in state.keys() if name.startswith((prefix + 'linear1.', prefix + 'linear2.'))}
    return FeedForward.from_state(part, prefix, activation=activation, format=format)
