"""The steps of programs in integers of 8 and 16 bits, and between integers and floats; computed exactly as the library defines them."""
from typing import Any, List, Optional, Tuple

import numpy

from .._integers import ScalesApart, multiplier
from .program import Step, View
from .steps import Attention, Norm, activated

ROUND = 12582912.0  # 1.5 * 2^23: a float of this size has no digits after the point
LIMITS = {'int8': (-128, 127), 'int16': (-32768, 32767)}


class Scale:
    """A number n stands for scale * (n - zero). scale may be an array: one for each head of [tokens, heads, width]."""

    def __init__(self, scale: Any, zero: int = 0):
        self.scale, self.zero = scale, zero

    def of_all(self) -> float:
        assert numpy.ndim(self.scale) == 0
        return float(self.scale)


def sum_factors(a: Tuple[int, int], b: Tuple[int, int]) -> Tuple[int, int, int]:
    """As core::integer_sum_factors."""
    def shifted(by: Tuple[int, int], shift: int) -> int:
        places = by[1] - shift
        return 0 if places > 32 else (by[0] + (1 << (places - 1))) >> places

    of_a, of_b, shift = 1 << 21, 0, min(a[1], b[1]) - 9
    while of_a >> 21 or of_b >> 21:
        shift -= 1
        of_a, of_b = shifted(a, shift), shifted(b, shift)
    if not 8 <= shift <= 30:
        raise ScalesApart('scales of a sum that are too far from each other')
    return of_a, of_b, shift


def rounded(numbers: Any, shift: Any, zero: int, type: str) -> Any:
    """numbers / 2^shift to the nearest, ties up, plus zero, clamped."""
    low, high = LIMITS[type]
    return numpy.clip(((numbers + (numpy.int64(1) << (numpy.asarray(shift, numpy.int64) - 1))) >> shift) + zero, low, high)


class IntegerLinear(Step):
    """y [tokens, outputs] of int8 or int16 = weight [outputs, inputs] (x - zero) + bias, of int8 and exactly; rounded once."""

    def __init__(self, name: str, x: View, y: View, weight: Any, weight_scales: Any, bias: Any):
        super().__init__(name, [x], y)
        self.weight, self.weight_scales, self.bias = weight, weight_scales, bias
        of_x, of_y = x.buffer.scale, y.buffer.scale
        # An output's multiplier is input scale * weight scale / output scale, in this order; heads have scales of their own.
        self.first = of_y.scale if numpy.ndim(of_y.scale) == 0 else float(of_y.scale[0])
        if numpy.ndim(of_y.scale):
            each = len(weight) // len(of_y.scale)
            self.weight_scales = weight_scales * (self.first / numpy.repeat(of_y.scale, each))
        self.multipliers = [multiplier(of_x.of_all() * float(scale) / self.first) for scale in self.weight_scales]

    @property
    def tokens(self) -> int:
        return self.reads[0].count // self.weight.shape[1]

    def text(self) -> str:
        return f'projection in integers, {self.weight.shape[1]} to {self.weight.shape[0]}'

    def run(self) -> None:
        x = self.reads[0].array.reshape(self.tokens, -1).astype(numpy.int64) - self.reads[0].buffer.scale.zero
        sums = x @ self.weight.astype(numpy.int64).T + self.bias
        factors, shifts = numpy.array(self.multipliers, numpy.int64).T
        y = rounded(sums * factors, shifts, self.writes.buffer.scale.zero, self.writes.type)
        self.writes.array.reshape(self.tokens, -1)[...] = y

    def multiply_adds(self) -> int:
        return self.tokens * self.weight.size

    def constants(self) -> int:
        return self.weight.size + 12 * len(self.weight)


class IntegerAttention(Attention):
    """Attention of int8, with scales for each head."""

    def text(self) -> str:
        return super().text().replace('attention', 'attention in integers', 1)

    def scales(self) -> List[Tuple[float, float, float]]:
        """Of queries, keys and values, for each query head."""
        group = self.heads // self.kv_heads
        of = lambda view, head: float(view.buffer.scale.scale if numpy.ndim(view.buffer.scale.scale) == 0 else view.buffer.scale.scale[head])
        query, key, value = self.reads[:3]
        return [(of(query, head), of(key, head // group), of(value, head // group)) for head in range(self.heads)]

    def run(self) -> None:
        from .. import Quantisation, attention
        value, output = self.reads[2].buffer.scale, self.writes.buffer.scale
        meanings = [Quantisation(*scales, output.of_all(), scale=self.scale, value_zero_point=value.zero, output_zero_point=output.zero)
                    for scales in self.scales()]
        arrays = [view.array.transpose(1, 0, 2) for view in self.reads]
        options = {**self.seen.options(), 'mask': arrays.pop() if self.masked else None}
        attention(*arrays, quantisation=meanings, out=self.writes.array.transpose(1, 0, 2), **options)

    def constants(self) -> int:
        return 64 * self.heads


class IntegerSum(Step):
    """y = a + b, or max(a + b, 0), or a copy of a in other steps where b is None; b may be a constant array with a scale."""

    def __init__(self, name: str, a: View, b: Any, b_scale: Optional[Scale], y: View):
        super().__init__(name, [a] if b is None else [a, b], y)
        self.b_scale = b_scale
        of_a, of_y = a.buffer.scale, y.buffer.scale
        ratio = 1.0 if b is None else b_scale.of_all() / of_y.of_all()  # type: ignore[union-attr]
        self.factors = sum_factors(multiplier(of_a.of_all() / of_y.of_all()), (0, 62) if b is None else multiplier(ratio))
        self.in_place = [i for i, view in enumerate(self.reads) if view.shape == y.shape and view.type == y.type]

    def text(self) -> str:
        return 'copy in other steps' if self.b_scale is None else 'sum in integers'

    def run(self) -> None:
        of_a, of_b, shift = self.factors
        a, *b = (each.astype(numpy.int64) for each in self.arrays())
        total = (a - self.reads[0].buffer.scale.zero) * of_a
        if self.b_scale is not None:
            total = total + (b[0] - self.b_scale.zero) * of_b
        self.writes.array[...] = rounded(total, shift, self.writes.buffer.scale.zero, self.writes.type)


def quantised(x: Any, scale: Scale, type: str) -> Any:
    """Floats as numbers, ties to even: by one fused multiply-add, which leaves no digits after the point."""
    from .. import add
    moved, (low, high) = numpy.full(x.size, ROUND, numpy.float32), LIMITS[type]
    add(numpy.ascontiguousarray(x, numpy.float32).reshape(-1), moved, float(numpy.float32(1.0 / scale.of_all())))
    moved = numpy.clip(moved, numpy.float32(ROUND + low - scale.zero), numpy.float32(ROUND + high - scale.zero))
    return (moved.view(numpy.int32) - numpy.float32(ROUND).view(numpy.int32) + scale.zero).reshape(x.shape)


def floats(numbers: Any, scale: Scale) -> Any:
    return (numbers.astype(numpy.int32) - scale.zero).astype(numpy.float32) * numpy.float32(scale.of_all())


class Quantise(Step):
    def text(self) -> str:
        return 'floats to integers'

    def run(self) -> None:
        self.writes.array[...] = quantised(self.reads[0].array, self.writes.buffer.scale, self.writes.type)


class Dequantise(Step):
    def text(self) -> str:
        return 'integers to floats'

    def run(self) -> None:
        self.writes.array[...] = floats(self.reads[0].array, self.reads[0].buffer.scale)


class IntegerNorm(Norm):
    """A normalisation of integers: each row is computed in floats."""

    def text(self) -> str:
        return super().text() + ', of integers by floats'

    def run(self) -> None:
        y = self.normalised(floats(self.reads[0].array, self.reads[0].buffer.scale))
        self.writes.array[...] = quantised(y, self.writes.buffer.scale, self.writes.type)


class Table(Step):
    """An activation of int8 to int8, by a table of all 256."""

    in_place = [0]

    def __init__(self, function: str, name: str, x: View, y: View):
        super().__init__(name, [x], y)
        self.function = function
        inputs = floats(numpy.arange(-128, 128), x.buffer.scale)
        self.table = quantised(activated(function, inputs), y.buffer.scale, 'int8').astype(numpy.int8)

    def text(self) -> str:
        return f'{self.function} by a table'

    def run(self) -> None:
        self.writes.array[...] = self.table[self.reads[0].array.astype(numpy.int32) + 128]

    def constants(self) -> int:
        return 256


class IntegerGate(Step):
    """y = f(x) * by, of int16 and int16 to int8: f is interpolated between 257 numbers of int16, and the product is rounded once."""

    def __init__(self, function: str, name: str, x: View, by: View, y: View):
        super().__init__(name, [x, by], y)
        from .. import activate
        self.function = function
        at = floats(numpy.arange(-128, 129) * 256, x.buffer.scale)
        numbers = numpy.asarray(activate(function, at)).astype(numpy.float64)
        self.scale = Scale(max(float(numpy.abs(numbers).max()), 1e-20) / LIMITS['int16'][1])
        self.table = numpy.rint(numbers / self.scale.of_all()).astype(numpy.int16)
        self.multiplier = multiplier(self.scale.of_all() * by.buffer.scale.of_all() / y.buffer.scale.of_all())

    def text(self) -> str:
        return f'{self.function}, gating, in integers'

    def run(self) -> None:
        x, by = (view.array.astype(numpy.int64) for view in self.reads)
        place, part = (x >> 8) + 128, x & 255
        first, next_ = (self.table[where].astype(numpy.int64) for where in (place, place + 1))
        found = (first * 256 + (next_ - first) * part + 128) >> 8
        factor, shift = self.multiplier
        self.writes.array[...] = rounded(found * by * factor, shift, self.writes.buffer.scale.zero, 'int8')

    def constants(self) -> int:
        return 2 * self.table.size


class IntegerMean(Step):
    """y [inner], floats = the mean of x [rows, inner], integers, over the rows."""

    def __init__(self, name: str, x: View, y: View):
        super().__init__(name, [x], y)
        self.rows = x.shape[0]
        self.factor = float(numpy.float32(x.buffer.scale.of_all() / self.rows))

    def text(self) -> str:
        return f'mean of {self.rows} rows of integers'

    def run(self) -> None:
        x = self.reads[0]
        sums = x.array.astype(numpy.int32).sum(0, dtype=numpy.int32) - numpy.int32(self.rows * x.buffer.scale.zero)
        self.writes.array.reshape(-1)[...] = sums.astype(numpy.float32) * numpy.float32(self.factor)


class IntegerRows(Step):
    """y [tokens, width] = rows of a table of int8; int16 where rows have scales of their own, as the weights of a projection do."""

    def __init__(self, name: str, x: View, y: View, table: Any, scales: Any = None, bias: Any = None):
        """bias: of that projection, which shares its weights."""
        super().__init__(name, [x], y)
        self.table, self.bias = table, bias
        self.scales = None if scales is None else scales.astype(numpy.float32)

    def text(self) -> str:
        return f'rows of a table of {self.table.shape[0]} by {self.table.shape[1]} integers' + (', weights of a projection' if self.scales is not None else '')

    def run(self) -> None:
        chosen = self.reads[0].array.reshape(-1)
        rows = self.table[chosen]
        if self.scales is not None:
            scaled = rows.astype(numpy.float32) * self.scales[chosen][:, None]
            rows = quantised(scaled, self.writes.buffer.scale, 'int16')
        self.writes.array.reshape(-1, self.table.shape[1])[...] = rows

    def constants(self) -> int:
        return self.table.nbytes if self.scales is None else self.scales.nbytes
