"""The steps of linear attention, and of the convolution in front of it."""
from typing import Any, Optional

import numpy

from .program import Step, View


class Remembers(Step):
    """A step with a state, which is empty before it, or an input. tokens: how many it takes. cache: of a program for a token at a time the number
    of its state, which goes on from token to token."""

    tokens: int
    present = False
    cache: Optional[int] = None
    optional = 0     # the first of the operands that may be left out
    has: Any = ()    # which of these there are; the last one is a state before the first token

    def option(self, which: int) -> Optional[View]:
        """Other steps' passes exchange operands, so that these are looked up."""
        return self.operands[self.optional + sum(self.has[:which])] if self.has[which] else None

    @property
    def past(self) -> Optional[View]:
        return self.option(len(self.has) - 1)


class LinearAttention(Remembers):
    """query [tokens, heads, head_dim], key [tokens, key heads, head_dim], value [tokens, value heads, value_dim], all dense; then, where there are
    any, decay [tokens, value heads, head_dim or 1], beta [tokens, value heads], and past [value heads, head_dim, value_dim], a state. It
    writes outputs [tokens, outputs, value_dim] and, where `present` says so, the state behind them."""

    def __init__(self, name: str, given: Any, query: View, key: View, value: View, more: Any, y: View, present: bool):
        super().__init__(name, [query, key, value] + [each for each in more if each is not None], y)
        self.optional, self.has = 3, [each is not None for each in more]
        self.rule, self.by_key, self.scale, self.present = given.rule, given.by_key, float(numpy.float32(given.factor())), present
        self.tokens, self.heads, self.head_dim = query.shape
        self.kv_heads, (self.value_heads, self.value_dim), self.out_heads = key.shape[1], value.shape[1:], given.out_heads

    @property
    def decay(self) -> Optional[View]:
        return self.option(0)

    @property
    def beta(self) -> Optional[View]:
        return self.option(1)

    def text(self) -> str:
        return f'linear attention, {self.rule}, {self.value_heads} states of {self.head_dim} by {self.value_dim}'

    def run(self) -> None:
        from .. import LinearState
        state = LinearState(self.rule, self.value_heads, self.head_dim, value_dim=self.value_dim, decay='per_key' if self.by_key else 'per_head')
        if self.past is not None:
            state.set_numpy(self.past.array)
        arrays = [view.array.transpose(1, 0, 2) for view in self.reads[:3]]
        decay = None if self.decay is None else self.decay.array.transpose(1, 0, 2) if self.by_key else self.decay.array[:, :, 0].T
        count, beta = self.tokens * self.out_heads * self.value_dim, None if self.beta is None else self.beta.array.T
        y = self.writes.array[:count].reshape(self.tokens, self.out_heads, self.value_dim)
        state.prefill(*arrays, decay, beta, scale=self.scale, out=y.transpose(1, 0, 2))
        if self.present:
            self.writes.array[count:] = state.numpy().reshape(-1)

    def multiply_adds(self) -> int:
        return self.tokens * self.head_dim * self.value_dim * (self.out_heads + self.value_heads * (1 + ('delta' in self.rule)))


class Convolution(Remembers):
    """y [tokens, channels] = the bias, and the last inputs of each channel times its weights [channels, width]; times its sigmoid for silu. past
    [width - 1, channels]: the inputs before the first one, where there are any."""

    def __init__(self, name: str, x: View, y: View, weight: Any, bias: Any, silu: bool, past: Optional[View]):
        super().__init__(name, [x] + [past] * (past is not None), y)
        self.weight, self.silu = numpy.ascontiguousarray(weight, numpy.float32), silu
        self.optional, self.has = 1, [past is not None]
        self.bias = None if bias is None else numpy.ascontiguousarray(bias, numpy.float32)
        self.tokens, (self.channels, self.width) = x.shape[0], weight.shape

    def text(self) -> str:
        return f'causal convolution of {self.channels} channels, {self.width} wide' + (', silu' if self.silu else '')

    def run(self) -> None:
        from .. import activate, add
        before = numpy.zeros((self.width - 1, self.channels), numpy.float32) if self.past is None else self.past.array
        padded = numpy.ascontiguousarray(numpy.concatenate([before, self.reads[0].array]).T)
        sums = numpy.zeros((self.channels, self.tokens), numpy.float32)
        sums += 0 if self.bias is None else self.bias[:, None]
        for weights, inputs, y in zip(self.weight, padded, sums):
            for j, weight in enumerate(weights):
                add(inputs[j:j + self.tokens], y, float(weight))
        self.writes.array[...] = (numpy.asarray(activate('silu', sums.reshape(-1))).reshape(sums.shape) if self.silu else sums).T

    def multiply_adds(self) -> int:
        return self.tokens * self.weight.size

    def constants(self) -> int:
        return self.weight.nbytes + (0 if self.bias is None else self.bias.nbytes)
