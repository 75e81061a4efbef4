"""Normalisations along the last axis."""
from typing import Any

from .._rows import layer_norm, rms_norm
from .._shared import AttendError, real
from ._state import REFUSALS, Refusals, require_names, take, take_if, vector


class LayerNorm:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias: weight and bias [width], or none."""

    def __init__(self, weight: Any = None, bias: Any = None, epsilon: float = 1e-5):
        with REFUSALS:
            self.epsilon = _epsilon(epsilon)
            self.weight = vector('weight', weight)
            self.bias = vector('bias', bias, None if self.weight is None else len(self.weight))

    @classmethod
    def from_state(cls, state: Any, prefix: str = '', *, epsilon: float = 1e-5) -> 'LayerNorm':
        """Of weight, and bias if it is there."""
        require_names(state, prefix, 'a LayerNorm', ('weight', 'bias'))
        weight, bias = take(state, prefix + 'weight', 'a LayerNorm'), take_if(state, prefix + 'bias')
        with Refusals(prefix):
            return cls(weight, bias, epsilon)

    def __call__(self, x: Any) -> Any:
        with REFUSALS:
            return layer_norm(x, self.weight, self.bias, self.epsilon)


class RMSNorm:
    """x / sqrt(mean(x^2) + epsilon) * weight: weight [width], or none. torch.nn.RMSNorm without an eps has 1.1920929e-07 of it."""

    def __init__(self, weight: Any = None, epsilon: float = 1e-5):
        with REFUSALS:
            self.epsilon, self.weight = _epsilon(epsilon), vector('weight', weight)

    @classmethod
    def from_state(cls, state: Any, prefix: str = '', *, epsilon: float = 1e-5) -> 'RMSNorm':
        """Of weight."""
        require_names(state, prefix, 'an RMSNorm', ('weight',))
        weight = take(state, prefix + 'weight', 'an RMSNorm')
        with Refusals(prefix):
            return cls(weight, epsilon)

    def __call__(self, x: Any) -> Any:
        with REFUSALS:
            return rms_norm(x, self.weight, self.epsilon)


def _epsilon(epsilon: Any) -> float:
    if not 1e-30 <= real('epsilon', epsilon) <= 1e30:
        raise AttendError(f'epsilon is {epsilon}; expected 1e-30 to 1e30')
    return float(epsilon)
