"""From a causal program over all tokens to one for a token at a time, over caches of keys and values: the same bits, row by row."""
import copy
import math
from typing import Any, Dict, List, Optional, Set

import numpy

from .errors import ExportError
from .integer_steps import Dequantise, IntegerGate, IntegerLinear, IntegerRows, IntegerSum, Quantise, Table
from .linear_steps import Remembers
from .program import Buffer, Program, Step, View
from .steps import Activate, ArgMax, Attention, Copy, Elementwise, Linear, Norm, Rotate, Rows, Softmax

# Steps that compute each token by itself.
ALONE = (Linear, IntegerLinear, Norm, Activate, IntegerGate, Table, Elementwise, IntegerSum, Rotate, Quantise, Dequantise, Rows, IntegerRows, Softmax, ArgMax, Copy)


class ByPosition:
    """A constant with a row for each position, which may repeat along axes as others do."""

    def __init__(self, rows: Any):
        self.rows = numpy.ascontiguousarray(rows)
        self.size, self.dtype, self.nbytes = self.rows.size // len(self.rows), rows.dtype, rows.nbytes


class CachedAttention(Step):
    """Appends a token's key and value to a cache, and attends over all that is in it. of: the step over all tokens."""

    def __init__(self, of: Any, reads: List[View], writes: View, cache: int):
        super().__init__(of.name, reads, writes)
        self.of, self.cache, self.appends = of, cache, True
        self.capacity = of.keys if of.seen.window is None else None  # of a window there is a ring, which has no end

    def text(self) -> str:
        return f'attention over a {"cache" if self.capacity else "ring"}, {self.of.heads} heads of {self.of.head_dim}'


class CacheAppend(Step):
    """Appends a token's key and value to a cache. The CachedAttention over that cache is a later step then, which appends nothing itself."""

    def __init__(self, attention: CachedAttention):
        super().__init__(attention.name, attention.reads[1:], attention.reads[1])
        self.attention = attention

    def text(self) -> str:
        return 'key and value of a token to a cache'


def capacity(program: Program) -> Optional[int]:
    """How many tokens such a program takes; None: there is no end."""
    limits = [step.capacity for step in program.steps if isinstance(step, CachedAttention)]
    for step in program.steps:
        limits += [len(each.rows) for each in step.operands if isinstance(each, ByPosition)]
    return min([limit for limit in limits if limit is not None], default=None)


def by_token(program: Program) -> Program:
    """Raises ExportError where a step looks at several tokens and is no causal attention."""
    attentions = [step for step in program.steps if isinstance(step, Attention)]
    for step in attentions:
        if step.masked or step.biased:
            raise ExportError(f'step "{step.name}" ({step.text()}) of a decoder: its mask or bias is an input or computed, and decoders take no masks: their caches '
                              'hold no padding. Make the mask constant, export a model without it, and append the tokens alone')
    tokens = {step.queries for step in attentions} | {step.tokens for step in program.steps if isinstance(step, Remembers)}
    if len(tokens) != 1:
        raise ExportError('a decoder takes tokens one by one: the model has ' +
                          ('no attention' if not tokens else f'attention of {sorted(tokens)} tokens; expected one length'))
    return Streaming(program, tokens.pop()).program


class Streaming:
    def __init__(self, program: Program, tokens: int):
        self.tokens, self.buffers, caches = tokens, {}, 0  # type: Any, Dict[int, Buffer], int
        inputs = [self.row(view, 'the input', view.shape) for view in program.inputs]
        steps: List[Step] = []
        for step in program.steps:
            if isinstance(step, Attention):
                if not step.seen.causal or step.seen.offset != 0 or step.keys != tokens or step.seen.bias is not None or step.stage:
                    self.refuse(step, 'it is no causal attention of the tokens to each other')
                reads = [self.row(view, step, view.shape) for view in step.reads]
                steps.append(CachedAttention(step, reads, self.row(step.writes, step, step.writes.shape), caches))
                caches += 1
            elif isinstance(step, Remembers):
                steps.append(self.remembering(step, caches))
                caches += 1
            elif isinstance(step, ALONE):
                steps.append(self.alone(step))
            else:
                self.refuse(step, 'it looks at several tokens')
        outputs = [self.row(view, 'the output', view.shape) for view in program.outputs]
        self.program = Program(program.name, inputs, outputs, steps)
        self.split()

    def split(self) -> None:
        """Puts the steps that fill the caches first: of a token whose outputs nobody reads, no others are computed. Where one of these steps
        writes an output of the model, all stays as it is, and there is no append() without outputs."""
        needed: Set[int] = set()
        first: List[Step] = []
        rest: List[Step] = []
        for step in reversed(self.program.steps):
            if isinstance(step, CachedAttention) and id(step.writes.buffer) not in needed:
                rest.append(step)
                step = CacheAppend(step)
            if isinstance(step, (CachedAttention, CacheAppend, Remembers)) or id(step.writes.buffer) in needed:
                first.append(step)
                needed |= {id(view.buffer) for view in step.reads}
            else:
                rest.append(step)
        if any(step.writes.buffer.kind == 'output' for step in first):
            return
        for step in first:
            if isinstance(step, CacheAppend):
                step.attention.appends = False
        self.program.steps, self.program.split = first[::-1] + rest[::-1], len(first)

    def refuse(self, step: Any, why: str) -> None:
        raise ExportError(f'step "{step.name}" ({step.text()}) of a decoder: {why}; expected a model that computes each token by itself '
                          'but for causal and linear attention, and its convolution')

    def remembering(self, step: Any, cache: int) -> Step:
        """Of a token, with a state in the place of a cache."""
        if step.past is not None or step.present:
            self.refuse(step, 'its state is an input or output of the model, and a decoder keeps it itself. Export the model without past_state and present_state')
        made = copy.copy(step)
        made.operands = [View(self.row(view, step, view.shape).buffer, shape=(1, ) + view.shape[1:]) for view in step.reads]
        made.writes, made.tokens, made.cache = self.row(step.writes, step, step.writes.shape), 1, cache
        return made

    def row(self, view: View, step: Any, shape: Any) -> View:
        """What a view has of one token."""
        sizes = [size for size in shape if size != 1]
        flat = sizes == [view.buffer.count]
        if not view.is_whole() or view.count % self.tokens or (sizes[:1] != [self.tokens] and not flat):
            where = step if isinstance(step, str) else f'step "{step.name}" ({step.text()})'
            raise ExportError(f'{where} of a decoder has an array of {list(shape)}; expected {self.tokens} tokens, one behind another')
        made = self.of_token(view.buffer)
        rest = sizes[1:] if sizes[:1] == [self.tokens] and math.prod(sizes[1:]) == made.count else [made.count]
        return View(made, shape=rest or [1])

    def of_token(self, buffer: Buffer) -> Buffer:
        made = self.buffers.get(id(buffer))
        if made is None:
            made = self.buffers[id(buffer)] = Buffer(buffer.kind, buffer.count // self.tokens, buffer.name, buffer.type)
            made.scale = buffer.scale
        return made

    def token_axis(self, view: View) -> Optional[int]:
        """The axis, counted from the last one, along which a view goes from token to token; its buffer has one token behind another."""
        each = view.buffer.count // self.tokens
        if self.tokens == 1:
            return 0
        axes = [axis for axis, (size, stride) in enumerate(zip(view.shape, view.strides)) if size == self.tokens and stride == each]
        if view.buffer.count % self.tokens or len(axes) != 1:
            return None
        span = view.offset + sum((size - 1) * stride for axis, (size, stride) in enumerate(zip(view.shape, view.strides)) if axis != axes[0])
        return len(view.shape) - axes[0] if 0 <= span < each and view.offset >= 0 and min(view.strides) >= 0 else None

    def part(self, view: View, axis: int) -> View:
        """What a view has of one token, without that axis; 0: there is no such axis, and one token."""
        made, at = self.of_token(view.buffer), len(view.shape) - axis
        shape, strides = ([number for place, number in enumerate(numbers) if place != at] for numbers in (view.shape, view.strides))
        base = made.base[view.offset:]
        return View(made, numpy.lib.stride_tricks.as_strided(base, shape or [1], [base.itemsize * stride for stride in strides or [1]]))

    def alone(self, step: Any) -> Step:
        made, views = copy.copy(step), step.reads + [step.writes]
        width = step.weight.shape[1] if isinstance(step, (Linear, IntegerLinear)) else step.reads[0].shape[-1] if isinstance(step, (Softmax, ArgMax)) else \
            getattr(step, 'width', 1)
        if step.reads and step.reads[0].count // self.tokens % width:  # its rows are longer than a token
            self.refuse(step, 'it looks at several tokens')
        arrays = [each for each in step.operands if isinstance(each, numpy.ndarray)]
        side_by_side = all(view.is_whole() and view.shape == step.writes.shape for view in views) and \
            all(array.size in (1, step.writes.count) for array in arrays)
        moved = lambda each: rows[id(each)] if isinstance(each, View) else each.reshape(1) if each.size == 1 else ByPosition(each.reshape(self.tokens, -1))
        if isinstance(step, (Copy, Elementwise, IntegerSum)) and not side_by_side:
            axis = self.token_axis(step.writes)
            if axis is None or any(self.token_axis(view) != axis for view in views):
                self.refuse(step, 'it moves elements between tokens')
            rows = {id(view): self.part(view, axis) for view in views}  # type: ignore[arg-type]
            moved = lambda each: rows[id(each)] if isinstance(each, View) else self.constant(step, each, axis)
        else:
            rows = {id(view): self.row(view, step, view.shape) for view in views}
        made.operands, made.writes = [moved(each) for each in step.operands], rows[id(step.writes)]
        return made

    def constant(self, step: Any, array: Any, axis: Any) -> Any:
        """All of it for each token, or its row: axis is that of tokens, counted from the last one."""
        if axis == 0 or array.ndim < axis:
            return array
        if array.shape[-axis] == 1:
            return array.reshape(array.shape[:array.ndim - axis] + array.shape[array.ndim - axis + 1:])
        return ByPosition(numpy.moveaxis(array, array.ndim - axis, 0))
