"""Calls of the steps in floats, as C++ over the typed surface."""
from typing import Any, List

import numpy

from .cpp_loops import collapsed, nest
from .integer_steps import IntegerAttention
from .numbers_in_c import braced, element_in_c, number, weights_in_c
from .passes import root
from .program import View
from .steps import Activate, ArgMax, Attention, Copy, Elementwise, Linear, Norm, Reduce, Rotate, Rows, Softmax
from .streaming import ByPosition, CacheAppend, CachedAttention


class FloatCalls:
    """What Writer takes for these steps: _stepname(index, step), lines of C++."""

    def _linear(self: Any, index: int, step: Linear) -> List[str]:
        outputs, inputs = step.weight.shape
        kind, numbers = weights_in_c(step)
        weights = self.constant('weights', kind, numbers)
        bias = '' if step.bias is None else self.float_constant('bias', step.bias) + ', '
        work = ''
        if step.tokens > 1:
            work = ', ' + self.work(index, 'attend::Workspace<attend::Projections>')
        x, y = self.floats(step.reads[0], step.tokens, inputs), self.floats(step.writes, step.tokens, outputs)
        return self.checked(f'attend::project({x}, {weights}, {bias}{y}{work})')

    def _attention(self: Any, index: int, step: Attention) -> List[str]:
        shape, options = self.shape(step), step.bias is not None or step.masked or step.weights or step.seen.window is not None
        kind = f'attend::{"Option" if options else ""}Workspace<{shape}, {step.queries}, {step.keys}>'
        arrays = [self.array(view, f'attend::{name}<{shape}, {tokens}>') for view, name, tokens in
                  zip(step.reads, ('Query', 'Key', 'Value'), (step.queries, step.keys, step.keys))]
        lines = [f'attend::{f"ScoreOptions<{shape}>" if options else "Options"} options;', f'options.scale = {number(step.scale)};']
        if step.seen.causal:
            lines += ['options.causal = true;', f'options.offset = {step.seen.offset};']
        if step.seen.window is not None:
            lines.append(f'options.window_left = {step.seen.window};')
        if step.bias is not None:
            heads, queries, keys = step.bias.shape
            order = step.bias.transpose(1, 0, 2)
            lines.append(f'options.bias = {self.constant("bias", f"attend::Bias<{queries}, {heads}, {keys}>", braced(order, 1))};')
        if step.masked:
            queries, heads, keys = step.reads[3].shape
            lines.append(f'options.bias = {self.array(step.reads[3], f"attend::Bias<{queries}, {heads}, {keys}>")};')
        if step.weights:  # the output that comes with them is not used
            lines += [f'options.scores = {self.array(step.writes, f"attend::Scores<{shape}, {step.queries}, {step.keys}>")};',
                      'options.score_stage = attend::ScoreStage::weights;',
                      'auto& work = ' + self.work(index, f'WithOutput<{shape}, {step.queries}, {step.keys}>') + ';']
            arrays += [arrays[1].replace('attend::Key<', 'attend::Value<'), 'work.output', 'work.work']
        else:
            arrays += [self.array(step.writes, f'attend::Output<{shape}, {step.queries}>'), self.work(index, kind)]
        call = self.checked(f'attend::attention({", ".join(arrays)}, options)')
        return ['{', *('  ' + line for line in lines + call), '}']

    def _cachedattention(self: Any, index: int, step: CachedAttention) -> List[str]:
        shape, cache = self.shape(step.of, step.capacity or 0), f'caches.cache_{step.cache}'
        integers = isinstance(step.of, IntegerAttention)
        shape, keys = f'attend::Integer<{shape}>' if integers else shape, ''
        if step.capacity:
            self.caches.append(f'attend::KvCache<{shape}> cache_{step.cache};')
        else:
            self.rings.add(step.of.seen.window + 1)
            ring = f'Last{step.of.seen.window + 1}'
            self.caches.append(f'attend::RingCache<{shape}, {ring}> cache_{step.cache};')
            keys = f', 1, attend::over_ring<{ring}>'
        query, y = (self.array(view, f'attend::{name}<{shape}>') for view, name in ((step.reads[0], 'Query'), (step.writes, 'Output')))
        lines = self.appending(step) if step.appends else []
        if integers:
            quantisation = self.quantisation(step.of, shape)
            return lines + self.checked(f'attend::decode({query}, {cache}, {y}, {self.work(index, f"attend::Workspace<{shape}{keys}>")}, {quantisation})')
        work = '' if step.capacity else ', ' + self.work(index, f'attend::OptionWorkspace<{shape}{keys}>')
        call = self.checked(f'attend::decode({query}, {cache}, {y}{work}, options)')
        return lines + ['{', '  attend::Options options;', f'  options.scale = {number(step.of.scale)};', *('  ' + line for line in call), '}']

    def appending(self: Any, step: CachedAttention) -> List[str]:
        shape = self.shape(step.of, step.capacity or 0)
        shape = f'attend::Integer<{shape}>' if isinstance(step.of, IntegerAttention) else shape
        key, value = (self.array(view, f'attend::{name}<{shape}>') for view, name in zip(step.reads[1:], ('Key', 'Value')))
        return list(self.checked(f'caches.cache_{step.cache}.append({key}, {value})'))

    def _cacheappend(self: Any, index: int, step: CacheAppend) -> List[str]:
        return self.appending(step.attention)

    def _norm(self: Any, index: int, step: Norm) -> List[str]:
        rows = step.writes.count // step.width
        weight = 'attend::none' if step.weight is None else self.float_constant('weight', step.weight)
        bias = [] if step.kind == 'rms_norm' else ['attend::none' if step.bias is None else self.float_constant('bias', step.bias)]
        x, y = self.floats(step.reads[0], rows, step.width), self.floats(step.writes, rows, step.width)
        return self.checked(f'attend::{step.kind}({", ".join([x, weight, *bias, y])}, {number(step.epsilon)})')

    def _activate(self: Any, index: int, step: Activate) -> str:
        arrays = [self.floats(view, step.writes.count) for view in step.reads + [step.writes]]
        return f'attend::activate<attend::Activation::{step.function}>({", ".join(arrays)});'

    def _elementwise(self: Any, index: int, step: Elementwise) -> List[str]:
        a, b = step.operands
        if step.function in ('add', 'subtract'):
            return self._sum(step, a, b)
        text = {'multiply': '{} * {}', 'divide': '{} / {}', 'minimum': '{1} < {0} || {1} != {1} ? {1} : {0}',
                'maximum': '{0} < {1} || {1} != {1} ? {1} : {0}'}[step.function]
        return self.loops(step.writes, [a, b], lambda elements: text.format(*elements))

    def _sum(self: Any, step: Elementwise, a: Any, b: Any) -> List[str]:
        """By the library, which rounds once whatever the compiler would make of a product and a sum."""
        y, factor = step.writes, ', -1.0f' if step.function == 'subtract' else ''
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
        text = f'attend::add({self.element(b, row, where(by))}, {self.array(y, f"float[{row}]", 0, where(to))}{factor});'
        return lines + nest(names, outer, text)

    def element(self: Any, operand: Any, row: int, at: str) -> str:
        if isinstance(operand, View):
            return self.array(operand, f'float[{row}]', 0, at)
        if isinstance(operand, ByPosition):
            name = self.float_constant('constant', operand.rows)
            return f'at<const float[{row}]>({name}, 4 * size_t(position * {operand.size}{f" + {at}" if at else ""}))'
        name = self.float_constant('constant', operand)
        return f'at<const float[{row}]>({name}, {f"4 * size_t({at})" if at else 0})'

    def loops(self: Any, y: View, operands: List[Any], expression: Any) -> List[str]:
        """y = an expression of the elements of operands, in as few loops as their strides allow."""
        sizes, strides = collapsed(y.shape, [y, *operands])
        names = 'ijklmn'[:len(sizes)]
        lines, elements = [], []
        for which, (operand, steps) in enumerate(zip([y, *operands], strides)):
            pointer = 'yabc'[which]
            at = ' + '.join(name if step == 1 else f'{name} * {step}' for name, step in zip(names, steps) if step) or '0'
            if isinstance(operand, View):
                kind = ('const ' if which else '') + self.element_type(operand)
                lines.append(f'{kind}* const {pointer} = &{self.array(operand, kind)};')
                elements.append(f'{pointer}[{at}]')
            elif isinstance(operand, ByPosition):
                name = self.float_constant('constant', operand.rows)
                elements.append(f'{name}[position * {operand.size} + {at}]')
            elif operand.size == 1:
                elements.append(element_in_c(operand.reshape(-1)[0]))
            else:
                kind = {'float32': 'float'}.get(str(operand.dtype), f'{operand.dtype}_t')
                elements.append(f'{self.constant("constant", kind, braced(operand.reshape(-1)), f"[{operand.size}]")}[{at}]')
        lines += nest(names, sizes, f'{elements[0]} = {expression(elements[1:])};')
        return ['{', *('  ' + line for line in lines), '}']

    def _copy(self: Any, index: int, step: Copy) -> List[str]:
        return self.loops(step.writes, [step.source], lambda elements: elements[0])

    def _rotate(self: Any, index: int, step: Rotate) -> List[str]:
        heads, width = step.writes.shape[-2:]
        tokens = step.writes.count // (heads * width)
        y = self.floats(step.writes, tokens, heads, width)
        in_place = root(step.reads[0].buffer) is root(step.writes.buffer)
        lines = [] if in_place else self.loops(step.writes, [step.reads[0]], lambda elements: elements[0])
        frequencies = self.constant('frequencies', 'double', '{' + ', '.join(map(repr, step.frequencies)) + '}', f'[{len(step.frequencies)}]')
        position = 'position' if self.memory_name == 'token_memory' else '0'
        calls = [f'attend::Rotary<{2 * len(step.frequencies)}> rotary;', *self.checked(f'rotary.init({frequencies})'),
                 *self.checked(f'rotary.rotate<attend::RotaryPairs::{step.pairs}>({y}, {position})')]
        return lines + ['{', *('  ' + line for line in calls), '}']

    def _reduce(self: Any, index: int, step: Reduce) -> List[str]:
        width = step.writes.count
        row = self.array(step.reads[0], f'float[{width}]', 0, f'i * {width}')
        y = self.floats(step.writes, width)
        if step.function == 'mean':
            factor = number(numpy.float32(1.0 / step.rows))
            return [f'for (float& number : {y}) number = 0;', f'for (int i = 0; i < {step.rows}; ++i) attend::add({row}, {y}, {factor});']
        return [f'for (int j = 0; j < {width}; ++j) {y}[j] = {self.floats(step.reads[0], width)}[j];',
                f'for (int i = 1; i < {step.rows}; ++i) {{',
                f'  for (int j = 0; j < {width}; ++j) {y}[j] = larger({y}[j], {row}[j]);', '}']

    def _softmax(self: Any, index: int, step: Softmax) -> List[str]:
        width = step.writes.shape[-1]
        rows = step.writes.count // width
        x, y = (self.array(view, f'float[{width}]', 0, f'i * {width}') for view in (step.reads[0], step.writes))
        return [f'for (int i = 0; i < {rows}; ++i) softmax({x}, {y});']

    def _argmax(self: Any, index: int, step: ArgMax) -> List[str]:
        width = step.reads[0].shape[-1]
        x = self.array(step.reads[0], f'float[{width}]', 0, f'i * {width}')
        return [f'for (int i = 0; i < {step.writes.count}; ++i) {self.floats(step.writes, step.writes.count)}[i] = place_of_largest({x});']

    def _rows(self: Any, index: int, step: Rows) -> List[str]:
        return self.table_rows(step, self.constant('table', 'float', braced(step.table), '[{}][{}]'.format(*step.table.shape)))

    def table_rows(self: Any, step: Any, table: str) -> List[str]:
        tokens, width = step.reads[0].count, step.table.shape[1]
        return self.chosen_rows(step, [f'  for (int j = 0; j < {width}; ++j) {self.floats(step.writes, tokens, width)}[i][j] = {table}[row][j];'])

    def chosen_rows(self: Any, step: Any, lines: List[str]) -> List[str]:
        """For each token, i, the row of a table that it chooses."""
        tokens, rows = step.reads[0].count, step.table.shape[0]
        return [f'for (int i = 0; i < {tokens}; ++i) {{', f'  const int32_t row = {self.floats(step.reads[0], tokens)}[i];',
                f'  if (row < 0 || row >= {rows}) return attend::Status::bad_count;', *lines, '}']
