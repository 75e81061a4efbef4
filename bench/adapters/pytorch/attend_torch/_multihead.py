"""torch.nn.MultiheadAttention, computed by the operators."""
from typing import Any, Optional, Tuple

import torch
from torch import Tensor, nn

from ._modules import empty_like_of, ops


class MultiheadAttention(nn.MultiheadAttention):
    """The arguments, the parameters and the state_dict of torch.nn.MultiheadAttention, and its results, but that

    - padding, on either side, the batch and the number of threads change no bit of a token's output, and what a masked token holds, be it NaN,
      does not either. With bias_k, bias_v or add_zero_attn, which stand behind all tokens, padding on the right moves those;
    - a query that sees no key has the output of a context of zeros, where PyTorch has NaN;
    - dropout is refused while the module trains;
    - is_causal says by itself what attn_mask says otherwise: with attn_mask it is a hint, which is not needed.
    """

    def __init__(self, embed_dim: int, num_heads: int, *arguments: Any, **options: Any):
        super().__init__(embed_dim, num_heads, *arguments, **options)
        self.made = True

    # TransformerEncoderLayer computes everything by itself, without this module, where this is true: so it is while the module is made, alone.
    @property
    def _qkv_same_embed_dim(self) -> bool:
        return 'made' not in self.__dict__ and self.same_widths

    @_qkv_same_embed_dim.setter
    def _qkv_same_embed_dim(self, same: bool) -> None:
        self.__dict__['same_widths'] = same

    def __setstate__(self, state: Any) -> None:
        state = dict(state)
        state['same_widths'] = state.pop('_qkv_same_embed_dim', state.get('same_widths', True))
        nn.Module.__setstate__(self, state)

    @classmethod
    def of(cls, layer: nn.MultiheadAttention) -> 'MultiheadAttention':
        made = empty_like_of(cls, layer, layer.embed_dim, layer.num_heads, layer.dropout, layer.in_proj_bias is not None, layer.bias_k is not None,
                             layer.add_zero_attn, layer.kdim, layer.vdim, layer.batch_first)
        for name in ('weight', 'bias'):
            made.out_proj._parameters[name] = getattr(layer.out_proj, name)
        return made

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor] = None, need_weights: bool = True,
                attn_mask: Optional[Tensor] = None, average_attn_weights: bool = True, is_causal: bool = False) -> Tuple[Tensor, Optional[Tensor]]:
        if self.training and self.dropout > 0:
            raise RuntimeError(f'attend: dropout is {self.dropout}, and the module trains; Attend computes inference: call model.eval()')
        batched = self._require_shapes(query, key, value)
        if not batched:
            query, key, value = (tensor.unsqueeze(0) for tensor in (query, key, value))
        elif not self.batch_first:
            query, key, value = (tensor.transpose(0, 1) for tensor in (query, key, value))
        heads = [self._heads(*each) for each in zip(('query', 'key', 'value'), (query, key, value))]
        heads[1], heads[2], added = self._with_added_tokens(heads[1], heads[2])
        causal = is_causal and attn_mask is None and added == 0 and key_padding_mask is None
        mask = None if causal else self._mask(query, key, key_padding_mask, attn_mask, is_causal, added)
        if need_weights:
            context, weights = ops.attention_with_weights(*heads, mask, causal)
            weights = weights.mean(1) if average_attn_weights else weights
        else:
            context, weights = ops.attention(*heads, mask, causal), None
        output = ops.linear(context.transpose(1, 2).flatten(2), self.out_proj.weight, self.out_proj.bias)
        if not batched:
            return output[0], None if weights is None else weights[0]
        return output if self.batch_first else output.transpose(0, 1), weights

    def _require_shapes(self, query: Tensor, key: Tensor, value: Tensor) -> bool:
        axes = query.dim()
        if axes not in (2, 3) or not axes == key.dim() == value.dim():
            raise RuntimeError(f'attend: query, key and value have {query.dim()}, {key.dim()} and {value.dim()} axes; expected 3 each, or 2')
        for name, tensor, width in (('query', query, self.embed_dim), ('key', key, self.kdim), ('value', value, self.vdim)):
            if tensor.shape[-1] != width:
                raise RuntimeError(f'attend: {name} has vectors of {tensor.shape[-1]} numbers; expected {width}')
        batch = 0 if self.batch_first else 1
        if key.shape[:-1] != value.shape[:-1] or (axes == 3 and key.shape[batch] != query.shape[batch]):
            raise RuntimeError(f'attend: shapes do not go together: query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}')
        return axes == 3

    def _heads(self, name: str, tokens: Tensor) -> Tensor:
        """[batch, heads, tokens, head_dim] of [batch, tokens, width], where it lies."""
        index, width = ('query', 'key', 'value').index(name), self.embed_dim
        part = slice(index * width, (index + 1) * width)
        weight = self.in_proj_weight[part] if self.same_widths else getattr(self, f'{name[0]}_proj_weight')
        bias = None if self.in_proj_bias is None else self.in_proj_bias[part]
        return ops.linear(tokens, weight, bias).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def _with_added_tokens(self, key: Tensor, value: Tensor) -> Tuple[Tensor, Tensor, int]:
        """bias_k and bias_v, and zeros, behind the last token."""
        added = 0
        for tokens in ((self.bias_k, self.bias_v) if self.bias_k is not None else None, (None, None) if self.add_zero_attn else None):
            if tokens is None:
                continue
            shape = (key.shape[0], self.num_heads, 1, self.head_dim)
            last = [key.new_zeros(shape) if token is None else token.reshape(1, self.num_heads, 1, self.head_dim).expand(shape) for token in tokens]
            key, value = torch.cat((key, last[0]), 2), torch.cat((value, last[1]), 2)
            added += 1
        return key, value, added

    def _mask(self, query: Tensor, key: Tensor, padding: Optional[Tensor], mask: Optional[Tensor], is_causal: bool, added: int) -> Optional[Tensor]:
        """What scaled_dot_product_attention takes: true where a key is seen, or numbers that are added. Here true is what is not seen."""
        batch, queries, keys = query.shape[0], query.shape[1], key.shape[1]
        if mask is None and is_causal:
            mask = torch.ones(queries, keys, dtype=torch.bool, device=query.device).triu(1)
        parts = []
        if padding is not None:
            padding = padding if padding.dim() == 2 else padding.unsqueeze(0)
            parts.append(('key_padding_mask', padding.reshape(batch, 1, 1, keys) if padding.shape == (batch, keys) else padding, (batch, 1, 1, keys)))
        if mask is not None and mask.dim() == 3:
            fits = mask.shape == (batch * self.num_heads, queries, keys)
            parts.append(('attn_mask', mask.reshape(batch, self.num_heads, queries, keys) if fits else mask, (batch, self.num_heads, queries, keys)))
        elif mask is not None:
            parts.append(('attn_mask', mask, (queries, keys)))
        joined: Optional[Tensor] = None
        for name, part, shape in parts:
            if part.shape != shape:
                raise RuntimeError(f'attend: {name} has the shape {tuple(part.shape)}; expected {shape}')
            part = part if part.is_floating_point() else part.logical_not()
            joined = part if joined is None else _both(joined, part)
        if joined is None or added == 0:
            return joined
        seen = 1.0 if joined.dtype == torch.bool else 0.0
        return torch.nn.functional.pad(joined, (0, added), value=seen)


def _both(one: Tensor, other: Tensor) -> Tensor:
    """Both masks together: what both show, or the sum of what they add."""
    if one.dtype == other.dtype == torch.bool:
        return one & other
    as_added = [mask if mask.is_floating_point() else torch.zeros(mask.shape).masked_fill(mask.logical_not(), float('-inf')) for mask in (one, other)]
    return as_added[0] + as_added[1]
