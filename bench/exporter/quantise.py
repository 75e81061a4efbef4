"""From a program in floats to one in integers, with scales from samples."""
import copy
from typing import Any, Dict, List, Optional, Sequence, Set

import numpy

from .integer_steps import (LIMITS, Dequantise, IntegerAttention, IntegerGate, IntegerLinear, IntegerMean, IntegerNorm, IntegerRows, IntegerSum,
                            Quantise, Scale, ScalesApart, Table)
from .program import Buffer, Program, Step, View, used_part
from .steps import Activate, Attention, Copy, Elementwise, Linear, Norm, Reduce, Rotate, Rows

MOST_SAMPLES = 1 << 18  # numbers of an array that are kept for its scale


def quantise(program: Program, inputs: Sequence[List[Any]]) -> None:
    """The program, in integers where it can be; what stays in floats are normalisations, what has no integers, and the edges."""
    Quantiser(program, inputs).run()


class Quantiser:
    def __init__(self, program: Program, inputs: Sequence[List[Any]]):
        self.program = program
        self.samples: Dict[int, Any] = {}
        self.scales: Dict[Any, Scale] = {}
        self.whole: Dict[int, bool] = {}  # whether these are all numbers of an array
        self._calibrate(inputs)
        self.steps: List[Step] = []
        self.versions: Dict[Any, Buffer] = {}  # by the buffer of the program in floats, and the type
        self.in_floats: Set[int] = set()  # buffers that no step may write in integers, because one of their writers cannot
        self.readers: Dict[int, List[Step]] = {}
        for step in program.steps:
            for view in step.reads:
                self.readers.setdefault(id(view.buffer), []).append(step)
        # What is added to scores stays in floats with all that it is a sum or a copy of: a mask of -1e9 leaves no step of integers to a bias.
        biases = {id(step.added()[0].buffer) for step in program.steps if isinstance(step, Attention) and step.biased}
        for step in reversed(program.steps):
            if isinstance(step, (Elementwise, Copy)) and id(step.writes.buffer) in biases:
                biases.update(id(view.buffer) for view in step.reads)
                self.in_floats.add(id(step.writes.buffer))

    def _calibrate(self, inputs: Sequence[List[Any]]) -> None:
        """What each array has, over all samples: all of its numbers, or some of them at random."""
        random, found = numpy.random.default_rng(1), {}  # type: ignore[var-annotated]
        each = max(256, MOST_SAMPLES // max(1, len(inputs)))
        shapes = {id(view.buffer): view.shape for view in [*self.program.inputs, *(step.writes for step in self.program.steps)] if view.is_whole()}
        for sample in inputs:
            count, tokens, arrays = self.program.used(sample)
            self.program.run(arrays)
            for buffer in self.program.buffers():
                numbers = used_part(buffer.base, shapes.get(id(buffer), ()), count, tokens)
                self.whole[id(buffer)] = self.whole.get(id(buffer), True) and numbers.size <= each
                chosen = numbers if numbers.size <= each else numbers[numpy.sort(random.choice(numbers.size, each, False))]
                found.setdefault(id(buffer), []).append(chosen.copy())
        self.samples = {key: numpy.concatenate(arrays) for key, arrays in found.items()}

    # Scales

    def scale(self, buffer: Buffer, type: str, symmetric: bool = False) -> Scale:
        """Of least squared error, over ranges that leave out more and more of the largest numbers."""
        key = (id(buffer), type, symmetric)
        if key not in self.scales:
            self.scales[key] = best_scale(self.samples[id(buffer)], type, symmetric)
        return self.scales[key]

    def scale_by_head(self, buffer: Buffer, width: int, heads: int) -> Scale:
        """Of rows of so many numbers."""
        numbers = self.samples[id(buffer)]
        if not self.whole[id(buffer)]:  # heads cannot be told apart
            return best_scale(numbers, 'int8', True)
        by_head = numbers.reshape(-1, heads, width // heads)
        return Scale(numpy.array([best_scale(by_head[:, head], 'int8', True).of_all() for head in range(heads)]))

    # Versions of arrays

    def new(self, buffer: Buffer, type: str, scale: Optional[Scale]) -> Buffer:
        made = Buffer('memory', buffer.count, buffer.name, type)
        made.scale = scale
        self.versions[id(buffer), type] = made
        return made

    def like(self, view: View, buffer: Buffer) -> View:
        return view.over(buffer, view.offset, view.strides)

    def take(self, view: View, type: str) -> View:
        """The view in a type: as it was computed, or converted, once for all of its buffer."""
        buffer = view.buffer
        if (id(buffer), type) not in self.versions:
            if type == 'float32' and buffer.kind == 'input':
                return view
            whole = lambda version: View(version)
            if type == 'float32':
                source = self.versions.get((id(buffer), 'int16')) or self.versions[id(buffer), 'int8']
                self.steps.append(Dequantise(buffer.name, [whole(source)], whole(self.new(buffer, type, None))))
            elif (id(buffer), 'float32') in self.versions or buffer.kind == 'input':
                source = self.versions.get((id(buffer), 'float32'), buffer)
                self.steps.append(Quantise(buffer.name, [whole(source)], whole(self.new(buffer, type, self.scale(buffer, type)))))
            else:
                source = self.versions[id(buffer), 'int8' if type == 'int16' else 'int16']
                self.steps.append(IntegerSum(buffer.name, whole(source), None, None, whole(self.new(buffer, type, self.scale(buffer, type)))))
        return self.like(view, self.versions[id(buffer), type])

    def integers(self, view: View) -> View:
        """In 16 bits if it was computed so, otherwise in 8."""
        return self.take(view, 'int16' if (id(view.buffer), 'int16') in self.versions else 'int8')

    def result(self, step: Step, type: str, scale: Optional[Scale] = None) -> View:
        buffer = step.writes.buffer
        if (id(buffer), type) not in self.versions:
            self.new(buffer, type, scale if scale is not None or type == 'float32' else self.scale(buffer, type))
        return self.like(step.writes, self.versions[id(buffer), type])

    def feeds(self, step: Step, *kinds: Any) -> bool:
        """Whether what a step writes is read by a step of these kinds, through copies too."""
        return any(isinstance(reader, kinds) or (isinstance(reader, Copy) and self.feeds(reader, *kinds))
                   for reader in self.readers.get(id(step.writes.buffer), []))

    def feeds_gate(self, step: Step) -> bool:
        return any(isinstance(reader, Activate) and len(reader.reads) > 1 for reader in self.readers.get(id(step.writes.buffer), []))

    def is_output(self, step: Step) -> bool:
        return any(view.buffer is step.writes.buffer for view in self.program.outputs)

    # Steps

    def run(self) -> None:
        while not self._all_steps():
            self.steps, self.versions = [], {}
        for index, view in enumerate(self.program.outputs):
            if view.type != 'float32':
                continue
            self.program.outputs[index] = found = self.take(view, 'float32')
            found.buffer.kind = 'output'
        for name, view in list(self.program.views.items()):
            for kind in ('float32', 'int16', 'int8'):
                if (id(view.buffer), kind) in self.versions:
                    self.program.views[name] = self.like(view, self.versions[id(view.buffer), kind])
                    break
        self.program.steps = self.steps


    def _all_steps(self) -> bool:
        """False: a step turned out to have no integers, and others depend on that. They all are to be made again."""
        for step in self.program.steps:
            handler, buffer = getattr(self, '_' + type(step).__name__.lower(), None), step.writes.buffer
            made, versions = len(self.steps), dict(self.versions)
            try:
                done = handler is not None and id(buffer) not in self.in_floats and handler(step)
            except ScalesApart:
                done = False
            if not done:
                depend = isinstance(step, Attention) or sum(other.writes.buffer is buffer for other in self.program.steps) > 1
                if depend and done is False and handler is not None and id(buffer) not in self.in_floats:
                    self.in_floats.add(id(buffer))
                    return False
                del self.steps[made:]
                self.versions = versions
                self._in_floats(step)
        return True

    def _in_floats(self, step: Step) -> None:
        step = copy.copy(step)
        step.operands = [self.take(each, 'float32') if isinstance(each, View) and each.type == 'float32' else each for each in step.operands]
        if step.writes.type == 'float32':
            step.writes = self.result(step, 'float32')
        self.steps.append(step)

    def _linear(self, step: Linear) -> bool:
        x, readers = self.take(step.reads[0], 'int8'), self.readers.get(id(step.writes.buffer), [])
        only = readers[0] if len(readers) == 1 and not self.is_output(step) else None
        if isinstance(only, Attention) and id(only.writes.buffer) not in self.in_floats and only.has_integers() and \
                any(view.buffer is step.writes.buffer and view.is_whole() for view in only.reads[:2]):
            heads = only.heads if only.reads[0].buffer is step.writes.buffer else only.kv_heads
            by_head = step.weight.shape[0] == heads * only.head_dim  # otherwise heads are rows, which share a scale
            y = self.result(step, 'int8', self.scale_by_head(step.writes.buffer, step.weight.shape[0], heads) if by_head else
                            self.scale(step.writes.buffer, 'int8', True))
        elif isinstance(only, Activate) and only.function == 'relu' and len(only.reads) == 1:
            # The range is that of the result: what is below is clamped to its zero point, so it is not what the graph has there.
            for name in [name for name, view in self.program.views.items() if view.buffer is step.writes.buffer]:
                del self.program.views[name]
            y = self.result(step, 'int8', self.scale(only.writes.buffer, 'int8'))
        else:
            in_floats = isinstance(only, Attention) and id(only.writes.buffer) in self.in_floats
            y = self.result(step, 'int16' if self.is_output(step) or self.feeds(step, Rotate, Norm) or self.feeds_gate(step) or in_floats else 'int8')
        weight, scales, bias = quantised_weights(step, x.buffer.scale.of_all())
        rows = View(y.buffer, shape=(step.tokens, -1))
        self.steps.append(IntegerLinear(step.name, x, rows, weight, scales, bias))
        return True

    def _activate(self, step: Activate) -> bool:
        if len(step.reads) > 1:
            gate, by = (self.take(view, 'int16') for view in step.reads)
            if not gate.is_dense() or not by.is_dense():
                return False
            self.steps.append(IntegerGate(step.function, step.name, gate, by, self.result(step, 'int8', self.scale(step.writes.buffer, 'int8', True))))
            return True
        x = self.take(step.reads[0], 'int8')
        if step.function == 'relu' and x.buffer.scale.zero == -128 and x.is_whole():  # clamped already
            self.versions[id(step.writes.buffer), 'int8'] = x.buffer
            return True
        self.steps.append(Table(step.function, step.name, x, self.result(step, 'int8')))
        return True

    def _attention(self, step: Attention) -> Optional[bool]:
        """None: such attention has no integers, whatever the scales are."""
        if not step.has_integers() or step.head_dim > 4096 or step.keys > 65535:
            return None
        if step.scale < 0:
            return False
        query, key = (self._symmetric(view) for view in step.reads[:2])
        value = self.take(step.reads[2], 'int8')
        y = self.result(step, 'int8')
        made = IntegerAttention(step.name, query, key, value, y, step.scale, step.seen, mask=step.added()[1])
        if any(step.scale * of_query * of_key >= 0.69 for of_query, of_key, _ in made.scales()):
            return False
        self.steps.append(made)
        return True

    def _symmetric(self, view: View) -> View:
        """Queries and keys, whose zero is 0."""
        version = self.versions.get((id(view.buffer), 'int8'))
        if version is not None and version.scale.zero != 0:
            key = (id(view.buffer), 'symmetric')
            if key not in self.versions:
                made = Buffer('memory', view.buffer.count, view.buffer.name, 'int8')
                made.scale = self.scale(view.buffer, 'int8', True)
                self.versions[key] = made
                self.steps.append(IntegerSum(view.buffer.name, View(version), None, None, View(made)))
            return self.like(view, self.versions[key])
        if version is None and (id(view.buffer), 'int16') not in self.versions:
            source = self.versions.get((id(view.buffer), 'float32'), view.buffer)
            made = self.new(view.buffer, 'int8', self.scale(view.buffer, 'int8', True))
            self.steps.append(Quantise(view.buffer.name, [View(source)], View(made)))
        return self.take(view, 'int8')

    def _elementwise(self, step: Elementwise) -> bool:
        a, b = step.operands
        if step.function != 'add' or not isinstance(a, View) or a.shape != step.writes.shape or numpy.shape(b if not isinstance(b, View) else b.array) != a.shape:
            return False
        if not a.is_dense() or (isinstance(b, View) and not b.is_dense()):
            return False
        of_a = self.integers(a)
        if isinstance(b, View):
            of_b: Any = self.integers(b)
            scale = of_b.buffer.scale
        else:
            scale = best_scale(b.reshape(1, -1), 'int8', False)
            of_b = nearest(b, scale, 'int8')
        if numpy.ndim(of_a.buffer.scale.scale) or numpy.ndim(scale.scale):
            return False
        self.steps.append(IntegerSum(step.name, of_a, of_b, scale, self.result(step, 'int16')))
        return True

    def _norm(self, step: Norm) -> bool:
        x = self.integers(step.reads[0])
        type = 'int16' if self.feeds(step, Elementwise, Reduce) or self.is_output(step) else 'int8'
        self.steps.append(IntegerNorm(step.kind, step.name, x, self.result(step, type), step.width, step.weight, step.bias, step.epsilon))
        return True

    def _reduce(self, step: Reduce) -> bool:
        if step.function != 'mean' or step.rows >= 1 << 15:
            return False
        x = self.integers(step.reads[0])
        if numpy.ndim(x.buffer.scale.scale):
            return False
        self.steps.append(IntegerMean(step.name, x, self.result(step, 'float32')))
        return True

    def _copy(self, step: Copy) -> bool:
        if step.writes.type != 'float32' or step.writes.buffer.kind == 'output':
            return False
        source, = step.operands
        if not isinstance(source, View):
            scale = self._scale_of_parts(step, None)
            self.steps.append(Copy(step.name, nearest(source, scale, 'int8'), self.result(step, 'int8', scale)))
            return True
        x = self.take(source, 'int8')
        if numpy.ndim(x.buffer.scale.scale):
            return False
        y = self.result(step, 'int8', self._scale_of_parts(step, x))
        if (y.buffer.scale.scale, y.buffer.scale.zero) != (x.buffer.scale.scale, x.buffer.scale.zero):
            other = Buffer('memory', x.buffer.count, x.buffer.name, 'int8')
            other.scale = y.buffer.scale
            self.steps.append(IntegerSum(step.name, View(x.buffer), None, None, View(other)))
            x = self.like(source, other)
        self.steps.append(Copy(step.name, x, y))
        return True

    def _scale_of_parts(self, step: Copy, x: Optional[View]) -> Scale:
        """Of an array that several copies write: its own; where one of them has a computed source and the others constants, that of
        the source, if it is there already. x: the source of this one."""
        target = self.versions.get((id(step.writes.buffer), 'int8'))
        if target is not None:
            return target.scale
        parts = [other.operands[0] for other in self.program.steps if isinstance(other, Copy) and other.writes.buffer is step.writes.buffer]
        sources = [each for each in parts if isinstance(each, View)]
        version = x.buffer if x is not None else self.versions.get((id(sources[0].buffer), 'int8')) if len(sources) == 1 else None
        if len(sources) == 1 and version is not None and not numpy.ndim(version.scale.scale):
            constants = [each[numpy.abs(each) < 1e30] for each in parts if not isinstance(each, View)]
            low, high = ((limit - version.scale.zero) * version.scale.of_all() for limit in (-128.5, 127.5))
            if all(low <= each.min() and each.max() <= high for each in constants if each.size):
                return version.scale
        return self.scale(step.writes.buffer, 'int8')

    def _rows(self, step: Rows) -> bool:
        shared = next((other for other in self.program.steps if isinstance(other, Linear) and other.weight.shape == step.table.shape and
                       numpy.array_equal(other.weight, step.table)), None)
        if shared is None:
            scale = best_scale(step.table.reshape(1, -1), 'int8', False)
            self.steps.append(IntegerRows(step.name, step.reads[0], self.result(step, 'int8', scale), nearest(step.table, scale, 'int8')))
            return True
        # The weights of a projection, too: its scales are those of rows, so that they lie in memory once.
        weight, scales, bias = quantised_weights(shared, self.scale(shared.reads[0].buffer, 'int8').of_all())
        self.steps.append(IntegerRows(step.name, step.reads[0], self.result(step, 'int16'), weight, scales, bias))
        return True


def nearest(numbers: Any, scale: Scale, type: str) -> Any:
    low, high = LIMITS[type]
    return numpy.clip(numpy.rint(numpy.asarray(numbers, numpy.float64) / scale.of_all()) + scale.zero, low, high).astype(type)


def best_scale(numbers: Any, type: str, symmetric: bool) -> Scale:
    numbers = numpy.asarray(numbers, numpy.float64).reshape(-1)
    numbers = numpy.append(numbers[numpy.abs(numbers) < 1e30], 0.0)  # what maxima are padded by is beyond
    low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
    if symmetric or type == 'int16':
        low, high = -max(-low, high), max(-low, high)
    if high - low < 1e-20:
        return Scale(1.0)
    first, last = LIMITS[type]
    best: Any = (numpy.inf, None)
    for part in (1.0,) if type == 'int16' else (1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5):
        scale = (high - low) * part / (last - first - 1 if symmetric or type == 'int16' else last - first)
        zero = 0 if symmetric or type == 'int16' else int(numpy.clip(numpy.rint(first - low * part / scale), first, last))
        made = Scale(float(scale), zero)
        kept = (numpy.clip(numpy.rint(numbers / scale) + zero, first, last) - zero) * scale
        error = float(((kept - numbers) ** 2).sum())
        if error < best[0]:
            best = (error, made)
    return best[1]


def quantised_weights(step: Linear, of_input: float) -> Any:
    """Weights of int8, their scales by output, and the bias in steps of input scale * weight scale."""
    most = numpy.abs(step.weight).max(1).astype(numpy.float64)
    scales = numpy.where(most > 0, most, most.max() or 1.0) / 127  # any scale does for an output whose weights are all 0
    bias = numpy.zeros(len(step.weight)) if step.bias is None else step.bias.astype(numpy.float64)
    most_bias = 2**31 - 1 - 32640 * step.weight.shape[1]  # no sum leaves 32 bits
    scales = numpy.maximum(scales, numpy.abs(bias) / (of_input * most_bias))
    weight = numpy.clip(numpy.rint(step.weight / scales[:, None]), -127, 127).astype(numpy.int8)
    return weight, scales, numpy.rint(bias / (of_input * scales)).astype(numpy.int32)
