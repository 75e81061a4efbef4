"""What stands in front of linear attention: the causal convolution, and gates from projections."""
import ctypes
import math
from typing import Any, List, NamedTuple, Optional, Sequence

from . import _c
from ._arrays import Array, empty, release
from ._linear import SequenceState, output_of, run_parts, set_tokens
from ._rows import vectors_of
from ._shared import knows_its_options, made, new, real, require, shared, truth, whole, word

_ACTIVATIONS = {'identity': _c.ATTEND_CONV_IDENTITY, 'silu': _c.ATTEND_CONV_SILU}
_RULE = 4  # of saved states


class _Tokens(NamedTuple):
    first: int
    count: Optional[int]
    documents: Optional[Sequence[int]]


def _struct(channels: int, width: int) -> Any:
    c = new(_c.attend_causal_conv, shared.attend_causal_conv_init)
    c.channels, c.width = whole('channels', channels, 1, _c.ATTEND_MAX_WIDTH), whole('width', width, 2, _c.ATTEND_MAX_CONV_WIDTH)
    return c


def _take(c: Any, source: Any, tokens: _Tokens, held: List[Any]) -> None:
    """Gives the call its input."""
    x = Array('input', source, 'f', 2, 2, held)
    x.require_columns(c.channels)
    c.tokens, c.input = x.shape[0], _c.attend_input(data=x.address, batch_stride=0, head_stride=0, token_stride=x.strides[0])
    set_tokens(c, tokens)


class ConvState(SequenceState):
    """The last width - 1 inputs of each channel: what attend.causal_conv goes on from.

        state = attend.ConvState(channels=8192, width=4)
        y = attend.causal_conv(x, weights, bias, state, activation='silu')              # the state moves on
        y = attend.causal_conv(x, weights, bias, state, activation='silu', stays=True)  # drafts: the state stays
        state.append(x, count=3)                                                        # those that were accepted

    save() gives the same bytes on every machine, and ConvState.load a state that goes on with them; a copy is a snapshot. numpy() is the
    inputs, [width - 1, channels], the oldest first.
    """

    @knows_its_options
    def __init__(self, channels: int, width: int = 4):
        self._c = _struct(channels, width)
        self.channels, self.width = self._c.channels, self._c.width
        self._make(self._c, shared.attend_conv_state_size, shared.attend_conv_state_init)

    def append(self, input: Any, *, first: int = 0, count: Optional[int] = None, documents: Optional[Sequence[int]] = None) -> None:
        """Takes tokens as causal_conv does, and computes nothing: drafts that were accepted, the first `count`."""
        held: List[Any] = []
        try:
            c = type(self._c).from_buffer_copy(self._c)
            _take(c, input, _Tokens(first, count, documents), held)
            require(shared.attend_causal_conv_append(ctypes.byref(c), self._memory.address))
        finally:
            release(held)

    def numpy(self) -> Any:
        """A copy of the inputs that it holds."""
        return self._numbers((self.width - 1, self.channels))

    @classmethod
    def load(cls, saved: Any) -> Any:
        """What was saved. AttendError for bytes that are damaged, cut short or of another version of bits."""
        return cls._load(saved)

    _smallest = (_RULE, 0, 1, 2, 1)

    @classmethod
    def _of_head(cls, head: Any, room: int, *more: Any) -> Any:
        rule, decay, heads, width, channels = head
        known = (rule, decay, heads) == (_RULE, 0, 1) and 2 <= width <= _c.ATTEND_MAX_CONV_WIDTH and channels > 0
        return cls(channels, width) if known and 4 * (width - 1) * channels <= room else None


@knows_its_options
def causal_conv(input: Any, weights: Any, bias: Any = None, state: Optional[ConvState] = None, *, activation: str = 'identity',
                stays: bool = False, first: int = 0, count: Optional[int] = None, documents: Optional[Sequence[int]] = None,
                out: Any = None, threads: int = 1) -> Any:
    """Each output is the activation of the bias, or 0, to which the last `width` inputs of its channel are added, each times its weight.

    input       float32 [tokens, channels]; the output is like it
    weights     [channels, width], or [channels, 1, width]: a model's conv1d.weight. The last one is of the newest input
    bias        [channels], or None
    state       a ConvState, which moves on, or with stays=True stays as it is; None: as if zeros had come before
    activation  identity, or silu

    first, count, documents, out and threads are those of attend.LinearState. Any cut into calls gives the same bits.
    """
    held: List[Any] = []
    try:
        w = Array('weights', weights, 'f', 2, 3, held)
        w.require_dense()
        channels, middle = w.shape[w.given_axes == 2], w.shape[1] if w.given_axes == 3 else 1
        if middle != 1:
            raise ValueError(f'weights has the shape {w.shape}; expected [channels, width], or [channels, 1, width]')
        c = _struct(channels, w.shape[2])
        if state is not None and (made('state', state, ConvState).channels, state.width) != (c.channels, c.width):
            raise ValueError(f'the state has {state.channels} channels and the width {state.width}, weights have {c.channels} and {c.width}')
        _take(c, input, _Tokens(first, count, documents), held)
        c.weights, c.activation = w.address, word('activation', activation, _ACTIVATIONS)
        if bias is not None:
            b = vectors_of('bias', bias, held, 1)
            b.require_columns(c.channels)
            c.bias = b.address
        output, o = output_of(c, input, out, (c.tokens, c.channels), held)
        c.output = _c.attend_output(data=o.address, batch_stride=0, head_stride=0, token_stride=o.strides[0])
        memory = None if state is None else state._memory.address
        run = shared.attend_causal_conv_run_from if truth('stays', stays) or state is None else shared.attend_causal_conv_run
        run_parts(c, threads, 0, lambda part, _: run(part, memory))
        return output
    finally:
        release(held)


def _gate(function: Any, z: Any, rates: Any, bias: Any, *bound: Any) -> Any:
    held: List[Any] = []
    try:
        inputs, by = vectors_of('z', z, held, 3, least=2), vectors_of('rates', rates, held, 1)
        shape = inputs.shape[3 - inputs.given_axes:]
        width = math.prod(shape[1:])
        by.require_columns(shape[1])
        result = empty(z, 'f', shape)
        gate = _c.attend_gate(by.address, None, width, shape[1])
        if bias is not None:
            b = vectors_of('bias', bias, held, 2)
            if math.prod(b.shape) != width:
                raise ValueError(f'bias has {math.prod(b.shape)} numbers for {width}')
            gate.bias = b.address
        require(function(ctypes.byref(gate), *bound, inputs.address, shape[0], vectors_of('log_decay', result, held, 3, True).address))
        return result
    finally:
        release(held)


def decay_gate(z: Any, rates: Any, bias: Any = None) -> Any:
    """rate * ln(1 + e^(z + bias)): the log_decay of Mamba-2, Gated DeltaNet and Kimi Linear, like z.

    z      float32 [tokens, heads] of a projection, or [tokens, heads, head_dim]; heads come first in attend.LinearState: pass
           log_decay.swapaxes(0, 1)
    rates  [heads]: -e^A_log of a model
    bias   [heads], or [heads, head_dim]: dt_bias of a model
    """
    return _gate(shared.attend_decay_gate, z, rates, bias)


def bounded_gate(z: Any, rates: Any, bias: Any = None, *, lower_bound: float) -> Any:
    """lower_bound / (1 + e^-(rate * (z + bias))), likewise: Kimi Linear with a lower bound, such as -5; rates are e^A_log of a model."""
    return _gate(shared.attend_bounded_gate, z, rates, bias, ctypes.c_float(real('lower_bound', lower_bound)))
