"""Calls of the steps in integers, as C++ over the typed surface."""
from typing import Any, List

import numpy

from .integer_steps import (LIMITS, ROUND, Dequantise, IntegerAttention, IntegerCopy, IntegerGate, IntegerLinear, IntegerMean,
                            IntegerNorm, IntegerRows, IntegerSum, Quantise, Scale, Table)
from .numbers_in_c import braced, number
from .program import View
from .streaming import ByPosition


def tensor_scale(scale: Scale) -> str:
    of_all = scale.scale if numpy.ndim(scale.scale) == 0 else scale.scale[0]
    return f'{{{float(of_all)!r}, {scale.zero}}}'


class IntegerCalls:
    """What Writer takes for these steps: _stepname(index, step), lines of C++."""

    def vectors(self: Any, view: View, tokens: int, width: int) -> str:
        return self.array(view, f'attend::Vectors<{tokens}, {width}, {view.type}_t>')

    def scales(self: Any, kind: str, prefix: str, arguments: str) -> str:
        """A constant of scales, which the compiler makes and checks."""
        key = (kind, arguments)
        if key not in self.names:
            name = self.names[key] = f'{prefix}_{len(self.names)}'
            made = arguments if arguments.startswith('[]') else f'{kind}({arguments})'
            self.constants.append(f'constexpr auto {name} = {made};\nstatic_assert({name}.status() == attend::Status::ok, "");\n')
        return self.names[key]

    def integer_weights(self: Any, weight: Any, bias: Any) -> str:
        outputs, inputs = weight.shape
        return str(self.constant('weights', f'attend::Weights<{outputs}, {inputs}, attend::integer>', f'{{{braced(weight)},\n{braced(bias)}}}'))

    def _integerlinear(self: Any, index: int, step: IntegerLinear) -> List[str]:
        outputs, inputs = step.weight.shape
        weights = self.integer_weights(step.weight, step.bias)
        by_output = '{' + ', '.join(repr(float(scale)) for scale in step.weight_scales) + '}'
        x, y = step.reads[0], step.writes
        scales = self.scales(f'attend::ProjectionScales<{outputs}>', 'scales',
                             f'{tensor_scale(x.buffer.scale)}, {by_output if outputs > 1 else by_output[1:-1]}, {tensor_scale(y.buffer.scale)}')
        return self.checked(f'attend::project({self.vectors(x, step.tokens, inputs)}, {weights}, {scales}, {self.vectors(y, step.tokens, outputs)})')

    def quantisation(self: Any, step: IntegerAttention, shape: str) -> str:
        """The name of the scales of attention of a shape."""
        value, output = step.reads[2].buffer.scale, step.writes.buffer.scale
        heads = [f'{query!r}, {key!r}, {{{of_value!r}, {value.zero}}}, {tensor_scale(output)}, {step.scale!r}' for query, key, of_value in step.scales()]
        kind = f'attend::Quantisation<{shape}, {step.heads}>'
        if len(set(heads)) == 1:
            kind, made = f'attend::Quantisation<{shape}>', heads[0]
        else:
            made = f'[] {{\n  {kind} made({heads[0]});\n' + ''.join(
                f'  made.set_head({head}, {text});\n' for head, text in enumerate(heads) if head) + '  return made;\n}()'
        return str(self.scales(kind, 'quantisation', made))

    def _integerattention(self: Any, index: int, step: IntegerAttention) -> List[str]:
        shape = f'attend::Integer<{self.shape(step)}>'
        quantisation = self.quantisation(step, shape)
        arrays = [self.array(view, f'attend::{name}<{shape}, {tokens}>') for view, name, tokens in
                  zip(step.reads + [step.writes], ('Query', 'Key', 'Value', 'Output'), (step.queries, step.keys, step.keys, step.queries))]
        work = self.work(index, f'attend::Workspace<{shape}, {step.queries}, {step.keys}>')
        if step.seen.window is None:
            options = f', attend::causal({step.seen.offset})' if step.seen.causal else ''
            return self.checked(f'attend::attention({", ".join(arrays)}, {work}, {quantisation}{options})')
        call = self.checked(f'attend::attention({", ".join(arrays)}, {work}, {quantisation}, options)')
        return ['{', f'  attend::ScoreOptions<{shape}> options = attend::causal({step.seen.offset});', f'  options.window_left = {step.seen.window};',
                *('  ' + line for line in call), '}']

    def _integersum(self: Any, index: int, step: IntegerSum) -> List[str]:
        count, of_a, of_y = step.writes.count, tensor_scale(step.a.buffer.scale), tensor_scale(step.writes.buffer.scale)
        a, y = self.vectors(step.a, 1, count), self.vectors(step.writes, 1, count)
        if step.b is None:
            scales = self.scales('attend::SumScales', 'scales', f'attend::TensorScale{of_a}, attend::TensorScale{of_y}')
            return self.checked(f'attend::requantise({a}, {scales}, {y})')
        arguments = ', '.join(f'attend::TensorScale{each}' for each in (of_a, tensor_scale(step.b_scale), of_y))
        scales = self.scales('attend::SumScales', 'scales', arguments)
        if isinstance(step.b, View):
            b = self.vectors(step.b, 1, count)
        elif isinstance(step.b, ByPosition):
            kind = f'{step.b.dtype}_t'
            rows = self.constant('constant', kind, braced(step.b.rows.reshape(-1)), f'[{step.b.rows.size}]')
            b = f'at<attend::Vectors<1, {count}, {kind}>>({rows}, {step.b.dtype.itemsize} * size_t(position * {count}))'
        else:
            b = self.constant('constant', f'attend::Vectors<1, {count}, {step.b.dtype}_t>', f'{{{{{braced(step.b.reshape(-1))}}}}}')
        return self.checked(f'attend::add({a}, {b}, {scales}, {y})')

    def to_integers(self: Any, x: str, view: View, y: str) -> str:
        scale = view.buffer.scale
        return f'to_integers({x}, {number(numpy.float32(1.0 / scale.of_all()))}, {scale.zero}, {y});'

    def to_floats(self: Any, x: str, view: View, y: str) -> str:
        scale = view.buffer.scale
        return f'to_floats({x}, {scale.zero}, {number(numpy.float32(scale.of_all()))}, {y});'

    def _quantise(self: Any, index: int, step: Quantise) -> str:
        count = step.writes.count
        return self.to_integers(self.floats(step.reads[0], count), step.writes, self.floats(step.writes, count))

    def _dequantise(self: Any, index: int, step: Dequantise) -> str:
        count = step.writes.count
        return self.to_floats(self.floats(step.reads[0], count), step.reads[0], self.floats(step.writes, count))

    def _integernorm(self: Any, index: int, step: IntegerNorm) -> List[str]:
        width, x, y = step.width, step.reads[0], step.writes
        weight = 'attend::none' if step.weight is None else self.float_constant('weight', step.weight)
        bias = [] if step.kind == 'rms_norm' else ['attend::none' if step.bias is None else self.float_constant('bias', step.bias)]
        row = self.work(index, f'float[{width}]')
        from_x, to_y = (self.array(view, f'{view.type}_t[{width}]', 0, f'i * {width}') for view in (x, y))
        call = self.checked(f'attend::{step.kind}({", ".join(["row", weight, *bias, "row"])}, {number(step.epsilon)})')
        return [f'for (int i = 0; i < {y.count // width}; ++i) {{', f'  float(&row)[{width}] = {row};', '  ' + self.to_floats(from_x, x, 'row'),
                *('  ' + line for line in call), '  ' + self.to_integers('row', y, to_y), '}']

    def _table(self: Any, index: int, step: Table) -> List[str]:
        table = self.constant('table', 'int8_t', braced(step.table), '[256]')
        count = step.writes.count
        x, y = self.floats(step.reads[0], count), self.floats(step.writes, count)
        return [f'for (int i = 0; i < {count}; ++i) {y}[i] = {table}[{x}[i] + 128];']

    def _integermean(self: Any, index: int, step: IntegerMean) -> List[str]:
        x, width = step.reads[0], step.writes.count
        row, y = self.array(x, f'{x.type}_t[{width}]', 0, f'i * {width}'), self.floats(step.writes, width)
        zero = f' - {step.rows * x.buffer.scale.zero}' if x.buffer.scale.zero else ''
        return [f'for (int j = 0; j < {width}; ++j) {{', '  int32_t sum = 0;', f'  for (int i = 0; i < {step.rows}; ++i) sum += {row}[j];',
                f'  {y}[j] = float(sum{zero}) * {number(step.factor)};', '}']

    def _integercopy(self: Any, index: int, step: IntegerCopy) -> List[str]:
        return self.loops(step.writes, [step.source], lambda elements: elements[0])

    def _integerrows(self: Any, index: int, step: IntegerRows) -> List[str]:
        if step.scales is None:
            return self.table_rows(step, self.constant('table', 'int8_t', braced(step.table), '[{}][{}]'.format(*step.table.shape)))
        width = step.table.shape[1]
        weights, scales = self.integer_weights(step.table, step.bias), self.float_constant('scales_of_rows', step.scales)
        row, y = self.work(index, f'float[{width}]'), self.array(step.writes, f'int16_t[{width}]', 0, f'i * {width}')
        return self.chosen_rows(step, [f'  float(&scaled)[{width}] = {row};', f'  for (int j = 0; j < {width}; ++j) scaled[j] = float({weights}.data[row][j]) * {scales}[row];',
                                       '  ' + self.to_integers('scaled', step.writes, y)])

    def _integergate(self: Any, index: int, step: IntegerGate) -> List[str]:
        table, count = self.constant('gate', 'int16_t', braced(step.table), '[257]'), step.writes.count
        x, by, y = (self.floats(view, count) for view in step.reads + [step.writes])
        factor, shift = step.multiplier
        return [f'gate({x}, {by}, {table}, {factor}, {shift}, {step.writes.buffer.scale.zero}, {y});']


GATE = '''// y = f(x) * by: f by interpolation between 257 numbers, products times factor / 2^shift, to the nearest.
template <int count>
void gate(const int16_t (&x)[count], const int16_t (&by)[count], const int16_t (&f)[257], int32_t factor, int shift, int zero, int8_t (&y)[count]) {
  for (int i = 0; i < count; ++i) {
    const int place = (x[i] >> 8) + 128, part = x[i] & 255;
    const int32_t between = (f[place] * 256 + (f[place + 1] - f[place]) * part + 128) >> 8;
    const int64_t product = int64_t(between * by[i]) * factor + (int64_t(1) << (shift - 1));
    const int64_t found = (product >> shift) + zero;
    y[i] = int8_t(found < -128 ? -128 : found > 127 ? 127 : found);
  }
}

'''
CONVERSIONS = f'''// number = x / scale + zero, to the nearest, ties to even, clamped. The library's multiply-add rounds at the last digit before the
// point, whatever the compiler would make of a product and a sum.
template <int count, class Number>
void to_integers(const float (&x)[count], float factor, int zero, Number (&y)[count]) {{
  constexpr int lowest = sizeof(Number) == 1 ? {LIMITS["int8"][0]} : {LIMITS["int16"][0]}, most = -1 - lowest;
  constexpr float point = {number(ROUND)};
  for (int first = 0; first < count; first += 8) {{
    float given[8] = {{}}, moved[8];
    const int here = count - first < 8 ? count - first : 8;
    for (int i = 0; i < 8; ++i) moved[i] = point;
    for (int i = 0; i < here; ++i) given[i] = x[first + i];
    attend::add(given, moved, factor);
    for (int i = 0; i < here; ++i) {{
      const float low = point + float(lowest - zero), high = point + float(most - zero);
      const float number = moved[i] > low ? moved[i] < high ? moved[i] : high : low;
      y[first + i] = Number(int(number - point) + zero);
    }}
  }}
}}
template <int count, class Number>
void to_floats(const Number (&x)[count], int zero, float scale, float (&y)[count]) {{
  for (int i = 0; i < count; ++i) y[i] = float(x[i] - zero) * scale;
}}

'''
