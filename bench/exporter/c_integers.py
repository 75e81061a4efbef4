"""Calls of the steps in integers, as C over the C surface."""
from typing import Any, List

import numpy

from . import c_work
from .integer_steps import LIMITS, IntegerAttention, IntegerLinear, IntegerSum
from .numbers_in_c import braced, number
from .program import View

# Of attend_integer_constants, in its order.
CONSTANTS = ('score_factor', 'score_right', 'score_left', 'score_end', 'output_factor', 'output_shift', 'query_zero_point', 'key_zero_point',
             'value_zero_point', 'output_zero_point')


class CIntegerCalls:
    """What CWriter takes for these steps: _stepname(index, step), lines of C."""

    def integer_weight_rows(self: Any, weight: Any, bias: Any) -> str:
        """A constant, [row][column]. bias: another one, of the projection that has these weights."""
        return str(self.constant('weights', 'ALIGNED int8_t', braced(weight), '[{}][{}]'.format(*weight.shape)))

    def _integerlinear(self: Any, index: int, step: IntegerLinear) -> List[str]:
        outputs, inputs = step.weight.shape
        weights = self.integer_weight_rows(step.weight, step.bias)
        bias = self.constant('bias', 'int32_t', braced(step.bias), f'[{outputs}]')
        multipliers = self.constant('multipliers', 'attend_integer_multiplier',
                                    '{' + ', '.join(f'{{{factor}, {shift}}}' for factor, shift in step.multipliers) + '}', f'[{outputs}]')
        x, y = step.reads[0], step.writes
        linear = self.constant('linear', 'attend_integer_linear',
                               f'{{{multipliers}, {outputs}, {{{weights}, NULL, NULL, {outputs}, {inputs}, ATTEND_INT8, ATTEND_INTEGER_ROWS}}, '
                               f'{bias}, {x.buffer.scale.zero}, {y.buffer.scale.zero}, ATTEND_{y.type.upper()}}}')
        return list(self.checked(f'attend_integer_project(&{linear}, {self.address(x)}, {step.tokens}, {self.address(y)})'))

    def head_constants(self: Any, step: IntegerAttention) -> str:
        """A constant: what attend_integer_prepare makes of the scales of each head, the same on every machine."""
        from .. import Quantisation
        value, output = step.reads[2].buffer.scale, step.writes.buffer.scale
        of_all = output.of_all() if numpy.ndim(output.scale) == 0 else float(output.scale[0])
        rows = []
        for scales in step.scales():
            made = Quantisation(*scales, of_all, scale=step.scale, value_zero_point=value.zero, output_zero_point=output.zero)
            constants = made.constants(step.head_dim)
            rows.append('{' + ', '.join(str(getattr(constants, name)) for name in CONSTANTS) + f', {number(constants.output_scale)}}}')
        return str(self.constant('heads_in_integers', 'attend_integer_constants', '{' + ',\n'.join(rows) + '}', f'[{step.heads}]'))

    def _integerattention(self: Any, index: int, step: IntegerAttention) -> List[str]:
        shape = c_work.Shape(step.heads, step.kv_heads, step.head_dim, step.value_dim, step.queries, step.keys)
        fields = {f'{name}.data': self.address(view) for view, name in zip(step.reads[:3] + [step.writes], ('query', 'key', 'value', 'output'))}
        fields.update({'head_constants': self.head_constants(step), **self.seen(step), **(self.computed(step.reads[3], 'mask') if step.masked else {})})
        return list(self.problem('integer', step, step.queries, step.keys, fields, self.work(index, c_work.of_integers(shape))))

    def _integersum(self: Any, index: int, step: IntegerSum) -> List[str]:
        """Loops: the C surface has no sums of integers. Those of 8 bits do not leave 32, as core::integer_sum_factors are made."""
        of_a, of_b, shift = step.factors
        y, wide = step.writes, 'int64_t' if 'int16' in [each.type if isinstance(each, View) else str(each.dtype) for each in step.operands] else 'int32_t'
        product = lambda element, zero, factor: f'({wide})({element}{f" - {zero}" if zero > 0 else f" + {-zero}" if zero else ""}) * {factor}'
        lowest, most = LIMITS[y.type]
        zero = y.buffer.scale.zero

        def expression(elements: Any) -> str:
            total = product(elements[0], step.reads[0].buffer.scale.zero, of_a)
            if step.b_scale is not None:
                total += f' + {product(elements[1], step.b_scale.zero, of_b)}'
            return f'({y.type}_t)clamped((({total} + {1 << (shift - 1)}) >> {shift}) + {zero}, {lowest}, {most})'

        return list(self.loops(y, step.operands, expression))

    def to_integers(self: Any, x: str, view: View, y: str, count: int) -> List[str]:
        scale = view.buffer.scale
        return list(self.checked(f'to_{view.type}({x}, {count}, {number(numpy.float32(1.0 / scale.of_all()))}, {scale.zero}, {y})'))

    def to_floats(self: Any, x: str, view: View, y: str, count: int) -> str:
        scale = view.buffer.scale
        return f'floats_of_{view.type}({x}, {count}, {scale.zero}, {number(numpy.float32(scale.of_all()))}, {y});'
