"""The function that transformers calls for attention (AttentionInterface), which is not needed to use it."""
from typing import Any, Optional, Tuple

import torch
from torch import Tensor, nn

from ._modules import ops


def attention_forward(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Optional[Tensor] = None, dropout: float = 0.0,
                      scaling: Optional[float] = None, is_causal: Optional[bool] = None, softcap: Optional[float] = None,
                      sliding_window: Optional[int] = None, s_aux: Optional[Tensor] = None, **others: Any) -> Tuple[Tensor, None]:
    """query [batch, heads, tokens, head_dim], key and value [batch, key/value heads, keys, ...], which are not repeated. attention_mask: bool, true
    where a key is seen, or numbers that are added, [batch, 1 or heads, tokens, keys or more]; of a model with a sliding window it holds the window.
    Without it, a module that is causal sees the tokens so far, and of these the last sliding_window. s_aux: a sink logit for each head.

    Returns ([batch, tokens, heads, head_dim], None), which lies as it is read next."""
    if dropout:
        raise RuntimeError(f'attend: dropout is {dropout}; expected 0: Attend computes inference')
    for name in ('output_attentions', 'position_bias', 'head_mask'):
        if others.get(name) is not None and others[name] is not False:
            raise RuntimeError(f'attend: {name} is not taken by attention_forward; use attn_implementation="eager" for it')
    tokens, keys = query.shape[2], key.shape[2]
    causal = bool(getattr(module, 'is_causal', True) if is_causal is None else is_causal) and attention_mask is None
    mask, left = None, None
    if attention_mask is not None:
        mask = attention_mask[..., :keys]
    elif sliding_window is not None and causal:
        left = sliding_window - 1
    output = ops.attention(query, key, value, mask, causal, scaling, keys - tokens if causal else None, softcap or 0.0, left, None, s_aux)
    return output.transpose(1, 2).contiguous(), None


def register(name: str = 'attend') -> None:
    """Makes it an implementation of transformers: model = AutoModel.from_pretrained(..., attn_implementation='attend')."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask
    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, sdpa_mask)
