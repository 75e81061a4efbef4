"""Attend inside of PyTorch: the same bits whatever the number of threads, the batch, the padding or the processor.

    torch.ops.attend.scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False)
    torch.ops.attend.attention, attention_with_weights    with windows, soft caps, sink logits and an offset
    torch.ops.attend.linear, layer_norm, rms_norm, gelu, silu, softmax    as those of torch.nn.functional

    replace(model)          swaps the layers of torch.nn in a model for those below
    MultiheadAttention, Linear, LayerNorm, RMSNorm, GELU, SiLU, Softmax    modules with the arguments and the state_dict of torch.nn's
    attention_forward       the function that transformers' AttentionInterface takes; register() registers it as "attend"

Everything is inference in the memory of the processor: torch.no_grad() and model.eval().
"""
from ._load import library
from ._interface import attention_forward, register
from ._modules import GELU, LayerNorm, Linear, RMSNorm, SiLU, Softmax
from ._multihead import MultiheadAttention
from ._replace import replace

__all__ = ['replace', 'MultiheadAttention', 'Linear', 'LayerNorm', 'RMSNorm', 'GELU', 'SiLU', 'Softmax', 'attention_forward', 'register', 'library']
