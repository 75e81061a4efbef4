"""Models of torch.nn as they are, with their layers swapped."""
from typing import Any, Callable, Dict, Optional

import torch
from torch import nn

from ._modules import KINDS, ops
from ._multihead import MultiheadAttention


def _gelu(input: Any, approximate: str = 'none') -> Any:
    return ops.gelu(input, approximate)


# What modules hold as their activation, and what takes its place. A relu has the same bits everywhere.
FUNCTIONS = {torch.nn.functional.gelu: _gelu, torch.nn.functional.silu: ops.silu}


def replace(model: nn.Module, others: Optional[Dict[type, Callable[[Any], nn.Module]]] = None) -> nn.Module:
    """Swaps every MultiheadAttention, Linear, LayerNorm, RMSNorm, GELU, SiLU and Softmax of torch.nn in a model, in place, for those of
    Attend, which share its parameters, and the activations that layers hold as functions. Returns the model, or what takes its place. Layers of
    other classes, those that inherit from these too, stay as they are, with what they compute by torch.nn.functional, unless `others` has a
    function for their class: {LlamaRMSNorm: lambda layer: attend_torch.RMSNorm.with_weight(layer.weight, layer.variance_epsilon)}."""
    if others is not None and type(model) in others:
        return others[type(model)](model)
    if isinstance(model, nn.MultiheadAttention):
        return MultiheadAttention.of(model) if type(model) is nn.MultiheadAttention else model
    for kind, own in KINDS:
        if type(model) is kind:
            return own.of(model)
    for name, child in model._modules.items():
        if child is not None:
            model._modules[name] = replace(child, others)  # not by setattr: what PyTorch's layers hold beside a module of that name stays
    for name, held in list(vars(model).items()):
        if callable(held) and not isinstance(held, nn.Module):
            try:
                function = FUNCTIONS.get(held)
            except TypeError:  # it has no hash
                continue
            if function is not None:
                setattr(model, name, function)
    return model
