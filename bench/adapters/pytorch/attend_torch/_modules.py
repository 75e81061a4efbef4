"""Layers with the arguments and the state_dict of torch.nn's, computed by the operators."""
from typing import Any, List, Optional

import torch
from torch import Tensor, nn

from . import _load  # the operators

ops = torch.ops.attend


def empty_like_of(kind: Any, layer: nn.Module, *arguments: Any, **options: Any) -> Any:
    """A layer of `kind` with the parameters of another, which both share."""
    made = kind(*arguments, device='meta', **options)
    for name in made._parameters:
        made._parameters[name] = getattr(layer, name)
    return made.train(layer.training)


class Linear(nn.Linear):
    """torch.nn.Linear. Weights may be float32, float16 or bfloat16, and are read where they lie; sums are of float32."""

    def forward(self, input: Tensor) -> Tensor:
        return ops.linear(input, self.weight, self.bias)

    @classmethod
    def of(cls, layer: nn.Linear) -> 'Linear':
        return empty_like_of(cls, layer, layer.in_features, layer.out_features, layer.bias is not None)


class LayerNorm(nn.LayerNorm):
    def forward(self, input: Tensor) -> Tensor:
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    @classmethod
    def of(cls, layer: nn.LayerNorm) -> 'LayerNorm':
        return empty_like_of(cls, layer, layer.normalized_shape, layer.eps, layer.elementwise_affine)


class RMSNorm(nn.Module):
    """torch.nn.RMSNorm, which PyTorch has since 2.4."""

    def __init__(self, normalized_shape: Any, eps: Optional[float] = None, elementwise_affine: bool = True, device: Any = None, dtype: Any = None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        weight = nn.Parameter(torch.ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter('weight', weight)

    def forward(self, input: Tensor) -> Tensor:
        return ops.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    @classmethod
    def with_weight(cls, weight: nn.Parameter, eps: float) -> 'RMSNorm':
        """Of a model's own class of norms: weight [width]."""
        made = cls(weight.shape, eps, device='meta')
        made._parameters['weight'] = weight
        return made

    @classmethod
    def of(cls, layer: Any) -> 'RMSNorm':
        return empty_like_of(cls, layer, layer.normalized_shape, layer.eps, layer.elementwise_affine)


class GELU(nn.GELU):
    def forward(self, input: Tensor) -> Tensor:
        return ops.gelu(input, self.approximate)

    @classmethod
    def of(cls, layer: nn.GELU) -> 'GELU':
        return cls(layer.approximate)


class SiLU(nn.Module):
    def forward(self, input: Tensor) -> Tensor:
        return ops.silu(input)

    @classmethod
    def of(cls, layer: nn.SiLU) -> 'SiLU':
        return cls()


class Softmax(nn.Module):
    """torch.nn.Softmax along an axis, which has to be said."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return ops.softmax(input, self.dim)

    @classmethod
    def of(cls, layer: nn.Softmax) -> 'Softmax':
        if layer.dim is None:
            raise ValueError('attend: a Softmax without dim; expected one with an axis, such as Softmax(dim=-1)')
        return cls(layer.dim)


KINDS: List[Any] = [(nn.Linear, Linear), (nn.LayerNorm, LayerNorm), (nn.GELU, GELU), (nn.SiLU, SiLU), (nn.Softmax, Softmax)]
if hasattr(nn, 'RMSNorm'):
    KINDS.append((nn.RMSNorm, RMSNorm))
