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


class Packed:
    """Weights in the order in which projections read them fastest, made when they are first needed and again when they have changed."""

    def __init__(self) -> None:
        self.made: Any = None
        self.packed: Any = None

    def __deepcopy__(self, memory: Any) -> 'Packed':
        return Packed()  # of the copy's own weights

    def __reduce__(self) -> Any:
        return Packed, ()

    def of(self, weight: Tensor) -> Tensor:
        made = (weight.data_ptr(), None if weight.is_inference() else weight._version, weight.dtype, weight.device, tuple(weight.shape))
        if self.packed is None or self.made != made or weight.is_inference():
            self.packed, self.made = ops.pack_weight(weight.detach()), made
        return self.packed


class Linear(nn.Linear):
    """torch.nn.Linear with packed weights, which take their memory once more. Weights may be float32, float16 or bfloat16; sums are of float32."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.packed = Packed()

    def forward(self, input: Tensor) -> Tensor:
        return project(input, self.weight, self.bias, self.packed)

    @classmethod
    def of(cls, layer: nn.Linear) -> 'Linear':
        return empty_like_of(cls, layer, layer.in_features, layer.out_features, layer.bias is not None)


def project(input: Tensor, weight: Tensor, bias: Optional[Tensor], packed: Packed) -> Tensor:
    require_no_gradient(weight)
    return ops.packed_linear(input, packed.of(weight), weight.shape[0], bias)


def require_no_gradient(parameter: Tensor) -> None:
    """Before it is packed or shared, where its gradient would be lost silently."""
    if torch.is_grad_enabled() and parameter.requires_grad:
        raise RuntimeError('attend: a parameter requires a gradient, which Attend does not compute: call the model within torch.no_grad()')


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
