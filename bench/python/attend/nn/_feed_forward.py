"""Two projections with an activation between them, plain or gated."""
from typing import Any, Optional, Sequence

from .._layers import project
from .._rows import ACTIVATIONS, activate
from .._shared import AttendError, word
from ._linear import Linear
from ._state import REFUSALS, require_layer, require_names


class Activation:
    """f(x), or f(x) * by: relu, silu, gelu, gelu_tanh (GELU with approximate='tanh'), sigmoid, tanh, exp or erf."""

    def __init__(self, name: str):
        with REFUSALS:
            word('activation', name, ACTIVATIONS)
        self.name = name

    def __call__(self, x: Any, by: Any = None) -> Any:
        with REFUSALS:
            return activate(self.name, x, by)


class FeedForward:
    """linear2(f(linear1(x)))."""

    def __init__(self, linear1: Linear, linear2: Linear, activation: str = 'relu'):
        self.linear1, self.linear2 = require_layer('linear1', linear1, Linear), require_layer('linear2', linear2, Linear)
        self.activation = Activation(activation)
        _require_width('linear2', linear2, linear1)
        self.inputs, self.outputs = linear1.inputs, linear2.outputs

    @classmethod
    def from_state(cls, state: Any, prefix: str = '', *, activation: str = 'relu', format: Optional[str] = None,
                   names: Sequence[str] = ('linear1', 'linear2')) -> 'FeedForward':
        """names: those of its projections in the state."""
        _require_prefixes(state, prefix, 'a FeedForward', names, 2)
        return cls(*(Linear.from_state(state, f'{prefix}{name}.', format=format) for name in names), activation)

    def __call__(self, x: Any) -> Any:
        return self.linear2(self.activation(self.linear1(x)))


class GatedFeedForward:
    """down(f(gate(x)) * up(x)): SwiGLU with 'silu', GeGLU with 'gelu' or 'gelu_tanh'."""

    def __init__(self, gate: Linear, up: Linear, down: Linear, activation: str = 'silu'):
        self.gate, self.up, self.down = (require_layer(name, each, Linear) for name, each in (('gate', gate), ('up', up), ('down', down)))
        self.activation = Activation(activation)
        if (gate.inputs, gate.outputs) != (up.inputs, up.outputs):
            raise AttendError(f'gate is {gate.outputs} x {gate.inputs} and up {up.outputs} x {up.inputs}; expected the same')
        _require_width('down', down, gate)
        self.inputs, self.outputs = gate.inputs, down.outputs

    @classmethod
    def from_state(cls, state: Any, prefix: str = '', *, activation: str = 'silu', format: Optional[str] = None,
                   names: Sequence[str] = ('gate_proj', 'up_proj', 'down_proj')) -> 'GatedFeedForward':
        """names: those of gate, up and down in the state; those of Hugging Face's Llama unless given."""
        _require_prefixes(state, prefix, 'a GatedFeedForward', names, 3)
        return cls(*(Linear.from_state(state, f'{prefix}{name}.', format=format) for name in names), activation)

    def __call__(self, x: Any) -> Any:
        with REFUSALS:
            gate, up = project(x, self.gate.weights, self.up.weights)
            return self.down(self.activation(gate, up))


def _require_width(name: str, after: Linear, before: Linear) -> None:
    if after.inputs != before.outputs:
        raise AttendError(f'{name} has {after.inputs} inputs; expected {before.outputs}, as many as there are outputs before it')


def _require_prefixes(state: Any, prefix: str, of: str, names: Sequence[str], count: int) -> None:
    if isinstance(names, str) or len(names) != count:
        raise AttendError(f'names are {names!r}; expected {count}')
    require_names(state, prefix, of, [name + '.' for name in names])
