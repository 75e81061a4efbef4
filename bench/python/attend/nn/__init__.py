"""Layers as objects, with weights that are packed once: attend.nn.

    layer = attend.nn.TransformerEncoderLayer.from_state(torch_layer.state_dict(), heads=4)
    y = layer(x)                                    # x [tokens, width] or [batch, tokens, width], float32

    Linear, LayerNorm, RMSNorm, Activation          what a block is made of
    FeedForward, GatedFeedForward                   two projections with an activation between them; SwiGLU and others like it
    MultiheadAttention                              projections and attention: self and cross, grouped heads, over a Cache too
    TransformerEncoderLayer, TransformerDecoderLayer  whole layers, as those of torch.nn
    AdditiveAttention                               with scores v . tanh(query + key)
    IntegerLinear, IntegerMultiheadAttention        the same in integers of 8 bits
    Rotary, Cache, State                            those of attend

Each is made of arrays, or by `from_state(state, prefix='')` of a mapping from names to arrays, with the names of torch.nn's modules: a
state_dict is one. Weights may be float32, float16 or bfloat16, of numpy or of PyTorch; `format='int8'` and others make them smaller. All
is copied: what becomes of the arrays later changes nothing. Layers compute by the calls of the library, whose bits they have. What does
not fit is refused by an attend.AttendError, before anything is written.
"""
from .._cache import Cache
from .._rotary import Rotary
from .._states import State
from ._additive import AdditiveAttention
from ._attention import MultiheadAttention
from ._feed_forward import Activation, FeedForward, GatedFeedForward
from ._integers import IntegerLinear, IntegerMultiheadAttention
from ._linear import Linear
from ._norms import LayerNorm, RMSNorm
from ._transformer import TransformerDecoderLayer, TransformerEncoderLayer

__all__ = ['Linear', 'LayerNorm', 'RMSNorm', 'Activation', 'FeedForward', 'GatedFeedForward', 'MultiheadAttention', 'TransformerEncoderLayer',
           'TransformerDecoderLayer', 'AdditiveAttention', 'IntegerLinear', 'IntegerMultiheadAttention', 'Rotary', 'Cache', 'State']
