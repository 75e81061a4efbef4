"""Steps that are loops over elements, and calls of functions that the written program holds itself: the same in every language."""
from typing import Any, List

import numpy

from .loop_nests import collapsed, nest
from .integer_steps import Dequantise, IntegerGate, IntegerMean, IntegerNorm, IntegerRows, Quantise, Table
from .mask_steps import Choose
from .numbers_in_c import braced, element_in_c, number
from .passes import root
from .program import View
from .steps import ArgMax, Copy, Elementwise, LogSoftmax, Reduce, Rows, Softmax
from .streaming import ByPosition


class LoopSteps:
    """What a Writer takes for these steps: _stepname(index, step), lines of the program. Of the surface it takes, where x and y are numbers(),

    add(x, y, count, factor)            y += x * factor in one rounding each: one statement
    softmax(x, y, width, prefix)        likewise, prefix: '' or 'log_'
    to_integers(x, view, y, count)      lines; x are floats, y those of the view
    to_floats(x, view, y, count)        one statement; x are of the view, y floats
    norm(step, rows, x, y)              a normalisation: lines
    local(index, name, width)           a row of floats in work memory: a definition
    constant_numbers(name, count, at)   as numbers(), of a constant
    integer_weight_rows(weight, bias)   an expression, [row][column]
    """

    def _elementwise(self: Any, index: int, step: Elementwise) -> List[str]:
        a, b = step.operands
        if step.function in ('add', 'subtract'):
            return self._sum(step, a, b)
        text = {'multiply': '{} * {}', 'divide': '{} / {}', 'minimum': '{1} < {0} || {1} != {1} ? {1} : {0}',
                'maximum': '{0} < {1} || {1} != {1} ? {1} : {0}'}[step.function]
        return self.loops(step.writes, [a, b], lambda elements: text.format(*elements))

    def _sum(self: Any, step: Elementwise, a: Any, b: Any) -> List[str]:
        """By the library, which rounds once whatever the compiler would make of a product and a sum."""
        y, factor = step.writes, -1.0 if step.function == 'subtract' else 1.0
        if step.function == 'add' and isinstance(b, View) and root(b.buffer) is root(y.buffer):
            a, b = b, a
        lines = []
        if not isinstance(a, View) or root(a.buffer) is not root(y.buffer):
            lines = self.loops(y, [a], lambda elements: elements[0])
        sizes, (to, by) = collapsed(y.shape, [y, b])
        row = sizes[-1] if to[-1] == by[-1] == 1 else 1
        if row == 1 and sizes[-1] != 1:
            sizes, to, by = sizes + [1], to + [1], by + [1]
        outer = sizes[:-1]
        names = 'ijklmn'[:len(outer)]
        where = lambda strides: ' + '.join(f'{name} * {stride}' for name, stride in zip(names, strides) if stride)
        return lines + nest(names, outer, self.add(self.operand(b, row, where(by)), self.numbers(y, row, where(to)), row, factor))

    def operand(self: Any, operand: Any, row: int, at: str) -> str:
        if isinstance(operand, View):
            return str(self.numbers(operand, row, at))
        if isinstance(operand, ByPosition):
            return str(self.constant_numbers(self.float_constant('constant', operand.rows), row, f'position * {operand.size}{f" + {at}" if at else ""}'))
        return str(self.constant_numbers(self.float_constant('constant', operand), row, at))

    def loops(self: Any, y: View, operands: List[Any], expression: Any) -> List[str]:
        """y = an expression of the elements of operands, in as few loops as their strides allow."""
        sizes, strides = collapsed(y.shape, [y, *operands])
        names = 'ijklmn'[:len(sizes)]
        lines, elements = [], []
        for which, (operand, steps) in enumerate(zip([y, *operands], strides)):
            pointer = f'{"yabc"[which]}' if which < 4 else f'operand_{which}'
            at = ' + '.join(name if step == 1 else f'{name} * {step}' for name, step in zip(names, steps) if step) or '0'
            if isinstance(operand, View):
                lines.append(f'{"const " if which else ""}{self.element_type(operand)}* const {pointer} = {self.address(operand)};')
                elements.append(f'{pointer}[{at}]')
            elif isinstance(operand, ByPosition):
                kind = {'float32': 'float'}.get(str(operand.dtype), f'{operand.dtype}_t')
                name = self.constant('constant', kind, braced(operand.rows.reshape(-1)), f'[{operand.rows.size}]')
                elements.append(f'{name}[position * {operand.size} + {at}]')
            elif operand.size == 1:
                elements.append(element_in_c(operand.reshape(-1)[0]))
            else:
                kind = {'float32': 'float'}.get(str(operand.dtype), f'{operand.dtype}_t')
                elements.append(f'{self.constant("constant", kind, braced(operand.reshape(-1)), f"[{operand.size}]")}[{at}]')
        lines += nest(names, sizes, f'{elements[0]} = {expression(elements[1:])};')
        return ['{', *('  ' + line for line in lines), '}']

    def _choose(self: Any, index: int, step: Choose) -> List[str]:
        return list(self.loops(step.writes, step.operands, lambda elements: step.expression(elements, self.cast)))

    def _copy(self: Any, index: int, step: Copy) -> List[str]:
        return list(self.loops(step.writes, step.operands, lambda elements: elements[0]))

    def _reduce(self: Any, index: int, step: Reduce) -> List[str]:
        width = step.writes.count
        row, y = self.numbers(step.reads[0], width, f'i * {width}'), self.numbers(step.writes, width)
        if step.function == 'mean':
            return [f'for (int j = 0; j < {width}; ++j) {self.element(y, "j")} = 0;',
                    f'for (int i = 0; i < {step.rows}; ++i) {self.add(row, y, width, numpy.float32(1.0 / step.rows))}']
        first = self.element(self.numbers(step.reads[0], width), 'j')
        return [f'for (int j = 0; j < {width}; ++j) {self.element(y, "j")} = {first};',
                f'for (int i = 1; i < {step.rows}; ++i) {{',
                f'  for (int j = 0; j < {width}; ++j) {self.element(y, "j")} = larger({self.element(y, "j")}, {self.element(row, "j")});', '}']

    def _softmax(self: Any, index: int, step: Softmax) -> List[str]:
        width = step.writes.shape[-1]
        rows = step.writes.count // width
        x, y = (self.numbers(view, width, f'i * {width}') for view in (step.reads[0], step.writes))
        return [f'for (int i = 0; i < {rows}; ++i) {self.softmax(x, y, width, "log_" if isinstance(step, LogSoftmax) else "")}']

    _logsoftmax = _softmax

    def _argmax(self: Any, index: int, step: ArgMax) -> List[str]:
        width = step.reads[0].shape[-1]
        x = self.numbers(step.reads[0], width, f'i * {width}')
        y = self.element(self.numbers(step.writes, step.writes.count), 'i')
        return [f'for (int i = 0; i < {step.writes.count}; ++i) {y} = place_of_largest({x}, {width});']

    def _rows(self: Any, index: int, step: Rows) -> List[str]:
        return self.table_rows(step, self.constant('table', 'float', braced(step.table), '[{}][{}]'.format(*step.table.shape)))

    def table_rows(self: Any, step: Any, table: str) -> List[str]:
        width = step.table.shape[1]
        y = self.element(self.numbers(step.writes, width, f'i * {width}'), 'j')
        return self.chosen_rows(step, [f'  for (int j = 0; j < {width}; ++j) {y} = {table}[row][j];'])

    def chosen_rows(self: Any, step: Any, lines: List[str]) -> List[str]:
        """For each token, i, the row of a table that it chooses."""
        tokens, rows = step.reads[0].count, step.table.shape[0]
        return [f'for (int i = 0; i < {tokens}; ++i) {{', f'  const int32_t row = {self.element(self.numbers(step.reads[0], tokens), "i")};',
                f'  if (row < 0 || row >= {rows}) return {self.refused_row};', *lines, '}']

    # Integers

    def _quantise(self: Any, index: int, step: Quantise) -> List[str]:
        count = step.writes.count
        return list(self.to_integers(self.numbers(step.reads[0], count), step.writes, self.numbers(step.writes, count), count))

    def _dequantise(self: Any, index: int, step: Dequantise) -> List[str]:
        count = step.writes.count
        return [self.to_floats(self.numbers(step.reads[0], count), step.reads[0], self.numbers(step.writes, count), count)]

    def _integernorm(self: Any, index: int, step: IntegerNorm) -> List[str]:
        width, x, y = step.width, step.reads[0], step.writes
        from_x, to_y = (self.numbers(view, width, f'i * {width}') for view in (x, y))
        inner = [self.local(index, 'row', width), self.to_floats(from_x, x, 'row', width), *self.norm(step, 1, 'row', 'row'),
                 *self.to_integers('row', y, to_y, width)]
        return [f'for (int i = 0; i < {y.count // width}; ++i) {{', *('  ' + line for line in inner), '}']

    def _table(self: Any, index: int, step: Table) -> List[str]:
        table = self.constant('table', 'int8_t', braced(step.table), '[256]')
        count = step.writes.count
        x, y = self.numbers(step.reads[0], count), self.numbers(step.writes, count)
        return [f'for (int i = 0; i < {count}; ++i) {self.element(y, "i")} = {table}[{self.element(x, "i")} + 128];']

    def _integermean(self: Any, index: int, step: IntegerMean) -> List[str]:
        x, width = step.reads[0], step.writes.count
        row, y = self.numbers(x, width, f'i * {width}'), self.numbers(step.writes, width)
        zero = f' - {step.rows * x.buffer.scale.zero}' if x.buffer.scale.zero else ''
        return [f'for (int j = 0; j < {width}; ++j) {{', '  int32_t sum = 0;', f'  for (int i = 0; i < {step.rows}; ++i) sum += {self.element(row, "j")};',
                f'  {self.element(y, "j")} = {self.cast("float", f"sum{zero}")} * {number(step.factor)};', '}']

    def _integerrows(self: Any, index: int, step: IntegerRows) -> List[str]:
        if step.scales is None:
            return list(self.table_rows(step, self.constant('table', 'int8_t', braced(step.table), '[{}][{}]'.format(*step.table.shape))))
        width = step.table.shape[1]
        weight, scales = self.integer_weight_rows(step.table, step.bias), self.float_constant('scales_of_rows', step.scales)
        y = self.numbers(step.writes, width, f'i * {width}')
        inner = [self.local(index, 'scaled', width), f'for (int j = 0; j < {width}; ++j) scaled[j] = {self.cast("float", f"{weight}[row][j]")} * {scales}[row];',
                 *self.to_integers('scaled', step.writes, y, width)]
        return list(self.chosen_rows(step, ['  ' + line for line in inner]))

    def _integergate(self: Any, index: int, step: IntegerGate) -> List[str]:
        table, count = self.constant('gate', 'int16_t', braced(step.table), '[257]'), step.writes.count
        x, by, y = (self.numbers(view, count) for view in step.reads + [step.writes])
        factor, shift = step.multiplier
        return [f'gate({x}, {by}, {table}, {factor}, {shift}, {step.writes.buffer.scale.zero}, {y}, {count});']
