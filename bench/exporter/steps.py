"""The steps of programs in floats."""
from typing import Any, Optional

import numpy

from .program import Step, View, Visible

FORMATS = ('float32', 'float16', 'bfloat16', 'int8', 'int4')  # of weights


class Linear(Step):
    """y [tokens, outputs] = weight [outputs, inputs] x + bias."""

    def __init__(self, name: str, x: View, y: View, weight: Any, bias: Any):
        super().__init__(name, [x], y)
        self.weight = numpy.ascontiguousarray(weight, numpy.float32)
        self.bias = None if bias is None else numpy.ascontiguousarray(bias, numpy.float32)
        self.format = 'float32'
        self.converted: Any = None
        self.blocks: Any = None  # [outputs, bytes] of 4-bit weights as the model's file has them

    @property
    def tokens(self) -> int:
        return self.reads[0].count // self.weight.shape[1]

    def text(self) -> str:
        return f'projection, {self.weight.shape[1]} to {self.weight.shape[0]}'

    def weights(self) -> Any:
        """attend.Weights of the program's format."""
        from .. import Weights
        if self.converted is None:
            plain = Weights(self.weight, self.bias)
            self.converted = Weights(self.blocks, self.bias) if self.blocks is not None else plain if self.format == 'float32' else plain.converted(self.format)
        return self.converted

    def run(self) -> None:
        from .. import project
        x, y = self.reads[0].array.reshape(self.tokens, -1), self.writes.array.reshape(self.tokens, -1)
        y[...] = numpy.asarray(project(x, self.weights()))

    def multiply_adds(self) -> int:
        return self.tokens * self.weight.size

    def constants(self) -> int:
        bits = (32, 16, 16, 8, 4.5)[FORMATS.index(self.format)]
        return int(self.weight.size * bits / 8) + (4 * len(self.weight) if self.format == 'int8' else 0) + \
            (0 if self.bias is None else self.bias.nbytes)


class Attention(Step):
    """query [queries, heads, head_dim], key [keys, kv_heads, head_dim], value [keys, kv_heads, value_dim], all dense. Without values a
    stage: the raw, capped or biased scores, or the weights [queries, heads, keys]. bias [1 or queries, 1 or heads, keys] is added to the
    scores; mask, bytes of the same axes, has 0 for keys that are not seen. cap: a soft cap, or 0."""

    def __init__(self, name: str, query: View, key: View, value: Optional[View], y: View, scale: float, seen: Visible, bias: Optional[View] = None,
                 mask: Optional[View] = None, cap: float = 0.0, stage: str = ''):
        super().__init__(name, [query, key] + [each for each in (value, bias, mask) if each is not None], y)
        self.biased, self.masked, self.cap, self.stage = bias is not None, mask is not None, float(numpy.float32(cap)), stage
        self.scale, self.seen = float(numpy.float32(scale)), seen
        self.bias = None if seen.bias is None else numpy.ascontiguousarray(seen.bias, numpy.float32)  # [1 or heads, 1 or queries, keys]
        self.queries, self.heads, self.head_dim = query.shape
        self.keys, self.kv_heads, self.value_dim = (value or key).shape

    def added(self) -> Any:
        """The bias and the mask that are computed, if there are any."""
        return (self.reads[2 + (not self.stage)] if self.biased else None), (self.reads[-1] if self.masked else None)

    def has_integers(self) -> bool:
        return not (self.stage or self.biased or self.bias is not None or self.cap)

    def has_options(self) -> bool:
        """Whether it takes more than a scale and being causal."""
        return not self.has_integers() or self.masked or self.seen.window is not None

    def text(self) -> str:
        of = {'': '', 'weights': 'weights of '}.get(self.stage, 'scores of ')
        return f'{of}attention, {self.heads} heads of {self.head_dim}, {self.queries} queries over {self.keys} keys' + self.seen.text(self.queries, self.keys) + \
            (', masked' if self.masked else '') + (', biased' if self.bias is not None or self.biased else '') + (f', capped at {self.cap:g}' if self.cap else '')

    def run(self) -> None:
        from .. import attention
        arrays = [view.array.transpose(1, 0, 2) for view in self.reads[:3 - bool(self.stage)]]
        bias, mask = (None if view is None else view.array.transpose(1, 0, 2) for view in self.added())
        options = {**self.seen.options(), 'soft_cap': self.cap, 'mask': mask, 'bias': self.bias if self.bias is not None else bias}
        if self.stage:
            _, scores = attention(*arrays, arrays[1], scale=self.scale, return_scores=self.stage, **options)
            self.writes.array[...] = numpy.asarray(scores).reshape(self.heads, self.queries, self.keys).transpose(1, 0, 2)
        else:
            attention(*arrays, scale=self.scale, out=self.writes.array.transpose(1, 0, 2), **options)

    def multiply_adds(self) -> int:
        part = self.seen.part(self.queries, self.keys)
        return int(part * self.queries * self.keys * self.heads * (self.head_dim + self.value_dim))

    def constants(self) -> int:
        return 0 if self.bias is None else self.bias.nbytes


class Norm(Step):
    """kind: layer_norm or rms_norm, of rows as long as the weight; weight and bias may be None."""

    in_place = [0]

    def __init__(self, kind: str, name: str, x: View, y: View, width: int, weight: Any, bias: Any, epsilon: float):
        super().__init__(name, [x], y)
        self.kind, self.width, self.epsilon = kind, width, float(numpy.float32(epsilon))
        self.weight, self.bias = (None if each is None else numpy.ascontiguousarray(each, numpy.float32).reshape(-1) for each in (weight, bias))

    def text(self) -> str:
        return f'{"layer" if self.kind == "layer_norm" else "root mean square"} normalisation of {self.width}'

    def run(self) -> None:
        self.writes.array[...] = self.normalised(self.reads[0].array)

    def normalised(self, x: Any) -> Any:
        import attend
        weight = numpy.ones(self.width, numpy.float32) if self.weight is None else self.weight
        bias = () if self.kind == 'rms_norm' else (self.bias,)
        return numpy.asarray(getattr(attend, self.kind)(x.reshape(-1, self.width), weight, *bias, epsilon=self.epsilon)).reshape(self.writes.shape)

    def constants(self) -> int:
        return sum(each.nbytes for each in (self.weight, self.bias) if each is not None)


def activated(function: str, *arrays: Any) -> Any:
    """As the library computes it."""
    from .. import activate, decay_gate
    return numpy.asarray(decay_gate(arrays[0].reshape(-1, 1), numpy.ones(1, numpy.float32)).reshape(-1) if function == 'softplus' else activate(function, *arrays))


class Activate(Step):
    """y = f(x), times `by` where there is one."""

    def __init__(self, function: str, name: str, x: View, y: View, by: Optional[View] = None):
        super().__init__(name, [x] if by is None else [x, by], y)
        self.function, self.in_place = function, list(range(len(self.reads)))

    def text(self) -> str:
        return self.function + (', gating' if len(self.reads) > 1 else '')

    def run(self) -> None:
        flat = [numpy.ascontiguousarray(view.array).reshape(-1) for view in self.reads]
        self.writes.array.reshape(-1)[...] = activated(self.function, *flat)


class Elementwise(Step):
    """y = a + b, a - b, a * b, a / b, min or max, one rounding each; b may be a constant array. Operands may repeat along axes."""

    in_place = [0]
    FUNCTIONS = {'add': numpy.add, 'subtract': numpy.subtract, 'multiply': numpy.multiply, 'divide': numpy.divide,
                 'minimum': numpy.minimum, 'maximum': numpy.maximum}

    def __init__(self, function: str, name: str, a: Any, b: Any, y: View):
        super().__init__(name, [each if isinstance(each, View) else numpy.asarray(each, numpy.float32) for each in (a, b)], y)
        self.function = function
        self.in_place = [i for i, view in enumerate(self.reads) if view.shape == y.shape and view is self.operands[0] or function == 'add']

    def text(self) -> str:
        return {'add': 'sum', 'subtract': 'difference', 'multiply': 'product', 'divide': 'quotient'}.get(self.function, self.function)

    def run(self) -> None:
        self.writes.array[...] = self.FUNCTIONS[self.function](*self.arrays())


class Copy(Step):
    """y = x of the same type and scale, in other axes; y may be a part of its buffer, and x a constant."""

    def __init__(self, name: str, x: Any, y: View):
        super().__init__(name, [x if isinstance(x, View) else numpy.ascontiguousarray(x, y.type)], y)

    def text(self) -> str:
        return f'copy of {self.writes.count} {"integers" if self.writes.type in ("int8", "int16") else "numbers"}'

    def run(self) -> None:
        self.writes.array[...], = self.arrays()


class Rotate(Step):
    """y = x [tokens, heads, head_dim] turned by rotary positions 0, 1 …: frequencies are radians of each pair; pairs: halves, neighbours."""

    in_place = [0]

    def __init__(self, name: str, x: View, y: View, frequencies: Any, pairs: str):
        super().__init__(name, [x], y)
        self.frequencies, self.pairs = [float(each) for each in frequencies], pairs

    def text(self) -> str:
        return f'rotary positions of {self.writes.shape[-2]} heads'

    def run(self) -> None:
        from .. import Rotary, rotate
        y = numpy.ascontiguousarray(self.reads[0].array).copy()
        rotate(y.transpose(1, 0, 2), Rotary(2 * len(self.frequencies), self.pairs, frequencies=self.frequencies))
        self.writes.array[...] = y

    def constants(self) -> int:
        return 8 * len(self.frequencies)


class Reduce(Step):
    """y [inner] = mean or maximum of x [count, inner] over count."""

    def __init__(self, function: str, name: str, x: View, y: View):
        super().__init__(name, [x], y)
        self.function, self.rows = function, x.shape[0]

    def text(self) -> str:
        return f'{self.function} of {self.rows} rows'

    def run(self) -> None:
        from .. import add
        rows, y = self.reads[0].array, numpy.zeros(self.writes.count, numpy.float32)
        for row in rows:
            if self.function == 'mean':
                add(row, y, float(numpy.float32(1.0 / self.rows)))
        self.writes.array.reshape(-1)[...] = y if self.function == 'mean' else rows.max(0)


class Softmax(Step):
    """Of rows as long as the last axis."""

    def text(self) -> str:
        return f'softmax of {self.writes.shape[-1]}'

    def run(self) -> None:
        from .. import activate
        width = self.writes.shape[-1]
        for x, y in zip(self.reads[0].array.reshape(-1, width), self.writes.array.reshape(-1, width)):
            powers = numpy.asarray(activate('exp', x - x.max()))
            total = numpy.float32(0)
            for power in powers:
                total = numpy.float32(total + power)
            y[...] = powers / total


class LogSoftmax(Softmax):
    """The logarithm of the sum of powers of e is where Halley's method ends, from 0 on: its steps are at most 2, and then cube the error."""

    def text(self) -> str:
        return 'logarithm of a ' + super().text()

    def run(self) -> None:
        from .. import activate
        width = self.writes.shape[-1]
        for x, y in zip(self.reads[0].array.reshape(-1, width), self.writes.array.reshape(-1, width)):
            y[...] = x - x.max()
            total, log = numpy.float32(0), numpy.zeros(1, numpy.float32)
            for power in numpy.asarray(activate('exp', y)):
                total = numpy.float32(total + power)
            for _ in range(16):
                power = numpy.asarray(activate('exp', log))
                log = log + numpy.float32(2) * (total - power) / (total + power)
            y[...] = y - log


class ArgMax(Step):
    """y [rows], whole numbers: where the largest number of each row of x [rows, width] is, the first of equals."""

    def text(self) -> str:
        return f'place of the largest of {self.reads[0].shape[-1]}'

    def run(self) -> None:
        self.writes.array.reshape(-1)[...] = self.reads[0].array.argmax(-1).reshape(-1)


class Rows(Step):
    """y [tokens, width] = rows of a table [rows, width], whose numbers are in x: an embedding."""

    def __init__(self, name: str, x: View, y: View, table: Any):
        super().__init__(name, [x], y)
        self.table = numpy.ascontiguousarray(table, numpy.float32)

    def text(self) -> str:
        return f'rows of a table of {self.table.shape[0]} by {self.table.shape[1]}'

    def run(self) -> None:
        self.writes.array.reshape(-1, self.table.shape[1])[...] = self.table[self.reads[0].array.reshape(-1)]

    def constants(self) -> int:
        return self.table.nbytes
