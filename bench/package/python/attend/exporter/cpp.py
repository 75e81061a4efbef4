"""Writes a program as C++ over the typed surface of the library: model.h and model.cpp."""
import re
from typing import Any, Dict, List, Tuple

import numpy

from .cpp_integers import CONVERSIONS, IntegerCalls
from .numbers_in_c import braced, element_in_c, identifier, number, weights_in_c
from .passes import root
from .program import Program, Step, View
from .steps import Activate, ArgMax, Attention, Copy, Elementwise, Linear, Norm, Reduce, Rows, Softmax


def write_cpp(program: Program, origin: str) -> Dict[str, str]:
    writer = Writer(program, origin)
    return {'model.h': writer.header(), 'model.cpp': writer.source()}


class Writer(IntegerCalls):
    def __init__(self, program: Program, origin: str):
        self.program, self.origin = program, origin
        self.constants: List[str] = []   # definitions
        self.names: Dict[Any, str] = {}  # of constants, by their definitions
        self.shapes: Dict[Tuple[int, ...], str] = {}
        self.works: List[Tuple[int, str]] = []
        self.calls = [self.call(index, step) for index, step in enumerate(program.steps)]

    # Types and arrays

    @staticmethod
    def extents(shape: Any) -> str:
        sizes = [size for size in shape if size != 1] or [1]
        return ''.join(f'[{size}]' for size in sizes)

    @staticmethod
    def element_type(view: View) -> str:
        return {'float32': 'float'}.get(view.type, view.type + '_t')

    def parameters(self) -> str:
        """Of run(), inputs first."""
        inputs = [f'const {self.element_type(view)} (&{identifier(view.buffer.name)}){self.extents(view.shape)}' for view in self.program.inputs]
        outputs = [f'{self.element_type(view)} (&{identifier(view.buffer.name)}){self.extents(view.shape)}' for view in self.program.outputs]
        return ', '.join(inputs + outputs)

    def arguments(self) -> str:
        return ', '.join(identifier(view.buffer.name) for view in self.program.inputs + self.program.outputs)

    def array(self, view: View, kind: str, offset: int = 0, at: str = '') -> str:
        """An expression: the array of that type where the view begins, `offset` elements after it, and `at`, an expression, after that."""
        place = root(view.buffer)
        size = view.array.itemsize
        begin = size * (view.offset + offset) + (place.offset if place.kind == 'memory' else 0)
        where = 'memory' if place.kind == 'memory' else identifier(place.name)
        place_in = f'{begin}' + (f' + {size} * ({at})' if at else '')
        return f'at<{kind}>({where}, {place_in})'

    def floats(self, view: View, *extents: int) -> str:
        return self.array(view, f'{self.element_type(view)}{"".join(f"[{size}]" for size in extents)}')

    def constant(self, prefix: str, kind: str, numbers: str, extents: str = '') -> str:
        key = (kind, extents, numbers)
        if key not in self.names:
            self.names[key] = f'{prefix}_{len(self.names)}'
            self.constants.append(f'const {kind} {self.names[key]}{extents} = {numbers};\n')
        return self.names[key]

    def float_constant(self, prefix: str, array: Any) -> str:
        return self.constant(prefix, 'float', braced(numpy.asarray(array).reshape(-1)), f'[{numpy.asarray(array).size}]')

    def shape(self, step: Attention) -> str:
        key = (step.heads, step.kv_heads, step.head_dim, step.value_dim)
        return self.shapes.setdefault(key, f'Heads{len(self.shapes)}')

    # Calls

    def call(self, index: int, step: Step) -> str:
        text = getattr(self, '_' + type(step).__name__.lower())(index, step)
        lines = text if isinstance(text, list) else [text]
        y = step.writes
        seen = self.array(y, f'{self.element_type(y)}[{y.count}]')
        comment = f'  // {index}: {step.text()} ({step.name})'
        seen_by = [f'  if (observe) observe(context, {index}, {seen}, {y.count}, {y.array.itemsize});'] if y.is_dense() else []
        return '\n'.join([comment, *('  ' + line for line in lines), *seen_by])

    @staticmethod
    def checked(call: str) -> List[str]:
        return [f'status = {call};', 'if (status != attend::Status::ok) return status;']

    def _linear(self, index: int, step: Linear) -> List[str]:
        outputs, inputs = step.weight.shape
        kind, numbers = weights_in_c(step)
        weights = self.constant('weights', kind, numbers)
        bias = '' if step.bias is None else self.float_constant('bias', step.bias) + ', '
        work = ''
        if step.tokens > 1:
            work = ', ' + self.work(index, 'attend::Workspace<attend::Projections>')
        x, y = self.floats(step.reads[0], step.tokens, inputs), self.floats(step.writes, step.tokens, outputs)
        return self.checked(f'attend::project({x}, {weights}, {bias}{y}{work})')

    def work(self, index: int, kind: str) -> str:
        top = self.program.tops[index]
        self.works.append((top, kind))
        return f'at<{kind}>(memory, aligned({top}))'

    def _attention(self, index: int, step: Attention) -> List[str]:
        shape, options = self.shape(step), step.bias is not None or step.weights
        kind = f'attend::{"Option" if options else ""}Workspace<{shape}, {step.queries}, {step.keys}>'
        arrays = [self.array(view, f'attend::{name}<{shape}, {tokens}>') for view, name, tokens in
                  zip(step.reads, ('Query', 'Key', 'Value'), (step.queries, step.keys, step.keys))]
        lines = [f'attend::{f"ScoreOptions<{shape}>" if options else "Options"} options;', f'options.scale = {number(step.scale)};']
        if step.causal:
            lines += ['options.causal = true;', f'options.offset = {step.offset};']
        if step.bias is not None:
            heads, queries, keys = step.bias.shape
            order = step.bias.transpose(1, 0, 2)
            lines.append(f'options.bias = {self.constant("bias", f"attend::Bias<{queries}, {heads}, {keys}>", braced(order, 1))};')
        if step.weights:  # the output that comes with them is not used
            lines += [f'options.scores = {self.array(step.writes, f"attend::Scores<{shape}, {step.queries}, {step.keys}>")};',
                      'options.score_stage = attend::ScoreStage::weights;',
                      'auto& work = ' + self.work(index, f'WithOutput<{shape}, {step.queries}, {step.keys}>') + ';']
            arrays += [arrays[1].replace('attend::Key<', 'attend::Value<'), 'work.output', 'work.work']
        else:
            arrays += [self.array(step.writes, f'attend::Output<{shape}, {step.queries}>'), self.work(index, kind)]
        call = self.checked(f'attend::attention({", ".join(arrays)}, options)')
        return ['{', *('  ' + line for line in lines + call), '}']

    def _norm(self, index: int, step: Norm) -> List[str]:
        rows = step.writes.count // step.width
        weight = 'attend::none' if step.weight is None else self.float_constant('weight', step.weight)
        bias = [] if step.kind == 'rms_norm' else ['attend::none' if step.bias is None else self.float_constant('bias', step.bias)]
        x, y = self.floats(step.reads[0], rows, step.width), self.floats(step.writes, rows, step.width)
        return self.checked(f'attend::{step.kind}({", ".join([x, weight, *bias, y])}, {number(step.epsilon)})')

    def _activate(self, index: int, step: Activate) -> str:
        arrays = [self.floats(view, step.writes.count) for view in step.reads + [step.writes]]
        return f'attend::activate<attend::Activation::{step.function}>({", ".join(arrays)});'

    def _elementwise(self, index: int, step: Elementwise) -> List[str]:
        a, b = step.operands
        if step.function in ('add', 'subtract'):
            return self._sum(step, a, b)
        text = {'multiply': '{} * {}', 'divide': '{} / {}', 'minimum': '{1} < {0} || {1} != {1} ? {1} : {0}',
                'maximum': '{0} < {1} || {1} != {1} ? {1} : {0}'}[step.function]
        return self.loops(step.writes, [a, b], lambda elements: text.format(*elements))

    def _sum(self, step: Elementwise, a: Any, b: Any) -> List[str]:
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

    def element(self, operand: Any, row: int, at: str) -> str:
        if isinstance(operand, View):
            return self.array(operand, f'float[{row}]', 0, at)
        name = self.float_constant('constant', operand)
        return f'at<const float[{row}]>({name}, {f"4 * ({at})" if at else 0})'

    def loops(self, y: View, operands: List[Any], expression: Any) -> List[str]:
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
            elif operand.size == 1:
                elements.append(element_in_c(operand.reshape(-1)[0]))
            else:
                kind = {'float32': 'float'}.get(str(operand.dtype), f'{operand.dtype}_t')
                elements.append(f'{self.constant("constant", kind, braced(operand.reshape(-1)), f"[{operand.size}]")}[{at}]')
        lines += nest(names, sizes, f'{elements[0]} = {expression(elements[1:])};')
        return ['{', *('  ' + line for line in lines), '}']

    def _copy(self, index: int, step: Copy) -> List[str]:
        return self.loops(step.writes, [step.source], lambda elements: elements[0])

    def _reduce(self, index: int, step: Reduce) -> List[str]:
        width = step.writes.count
        row = self.array(step.reads[0], f'float[{width}]', 0, f'i * {width}')
        y = self.floats(step.writes, width)
        if step.function == 'mean':
            factor = number(numpy.float32(1.0 / step.rows))
            return [f'for (float& number : {y}) number = 0;', f'for (int i = 0; i < {step.rows}; ++i) attend::add({row}, {y}, {factor});']
        return [f'for (int j = 0; j < {width}; ++j) {y}[j] = {self.floats(step.reads[0], width)}[j];',
                f'for (int i = 1; i < {step.rows}; ++i) {{',
                f'  for (int j = 0; j < {width}; ++j) {y}[j] = larger({y}[j], {row}[j]);', '}']

    def _softmax(self, index: int, step: Softmax) -> List[str]:
        width = step.writes.shape[-1]
        rows = step.writes.count // width
        x, y = (self.array(view, f'float[{width}]', 0, f'i * {width}') for view in (step.reads[0], step.writes))
        return [f'for (int i = 0; i < {rows}; ++i) softmax({x}, {y});']

    def _argmax(self, index: int, step: ArgMax) -> List[str]:
        width = step.reads[0].shape[-1]
        x = self.array(step.reads[0], f'float[{width}]', 0, f'i * {width}')
        return [f'for (int i = 0; i < {step.writes.count}; ++i) {self.floats(step.writes, step.writes.count)}[i] = place_of_largest({x});']

    def _rows(self, index: int, step: Rows) -> List[str]:
        return self.table_rows(step, 'float')

    def table_rows(self, step: Any, kind: str) -> List[str]:
        rows, width = step.table.shape
        table = self.constant('table', kind, braced(step.table), f'[{rows}][{width}]')
        tokens = step.reads[0].count
        x, y = self.floats(step.reads[0], tokens), self.floats(step.writes, tokens, width)
        return [f'for (int i = 0; i < {tokens}; ++i) {{', f'  const int32_t row = {x}[i];',
                f'  if (row < 0 || row >= {rows}) return attend::Status::bad_count;',
                f'  for (int j = 0; j < {width}; ++j) {y}[i][j] = {table}[row][j];', '}']

    # Files

    def memory(self) -> str:
        """The size of the block, in bytes, as a constant expression."""
        arrays = max(self.program.tops or [0])
        works = sorted(set(self.works))
        return f'detail::largest({{{", ".join([str(max(arrays, 4))] + [f"detail::aligned({top}) + sizeof({kind})" for top, kind in works])}}})'

    def shape_texts(self) -> str:
        text = ''
        for (heads, kv_heads, head_dim, value_dim), name in self.shapes.items():
            value = f', value_dim = {value_dim}' if value_dim != head_dim else ''
            text += f'struct {name} {{\n  static constexpr int query_heads = {heads}, kv_heads = {kv_heads}, head_dim = {head_dim}{value};\n}};\n'
        return text

    def header(self) -> str:
        name = self.program.name
        return f'''// The model {name}, made from {self.origin} by `python3 -m attend export`: do not edit.
//
//   {name}::run({self.arguments()});
//
// All memory that it takes is {name}::memory, of {name}::memory_bytes. It is not reentrant.
#pragma once

#include "attend/attend.h"

namespace {name} {{
namespace detail {{

{self.shape_texts()}constexpr size_t aligned(size_t bytes) {{
  return (bytes + attend::config::alignment - 1) / attend::config::alignment * attend::config::alignment;
}}
template <size_t count>
constexpr size_t largest(const size_t (&numbers)[count]) {{
  size_t result = 0;
  for (const size_t number : numbers) result = number > result ? number : result;
  return result;
}}
{self._with_output()}}}  // namespace detail

inline constexpr size_t memory_bytes = {self.memory().replace('Heads', 'detail::Heads').replace('WithOutput', 'detail::WithOutput')};
extern unsigned char memory[memory_bytes];

// Computes the model. Arrays must not overlap.
attend::Status run({self.parameters()});

// The same, and calls observe(context, step, numbers, count, bytes of a number) after each step with what it has written: for tests.
using Observer = void (*)(void* context, int step, const void* numbers, size_t count, size_t bytes);
attend::Status run_observed({self.parameters()}, Observer observe, void* context);

}}  // namespace {name}
'''

    def _with_output(self) -> str:
        return WITH_OUTPUT if any(kind.startswith('WithOutput') for _, kind in self.works) else ''

    def source(self) -> str:
        name, calls = self.program.name, '\n\n'.join(self.calls)
        helpers = {'to_integers(': CONVERSIONS, 'softmax(': SOFTMAX, 'place_of_largest(': ARG_MAX, 'larger(': LARGER}
        used = ''.join(text for call, text in helpers.items() if re.search(r'(?<![\w:])' + re.escape(call), calls))
        status = '  attend::Status status = attend::Status::ok;\n\n' if 'status = ' in calls else ''
        return f'''// The model {name}, made from {self.origin} by `python3 -m attend export`: do not edit.
#include "model.h"

namespace {name} {{

alignas(attend::config::alignment) unsigned char memory[memory_bytes];

namespace {{

using namespace detail;

// What lies so many bytes after the beginning of a block.
template <class Type>
Type& at(void* block, size_t bytes) {{
  return *reinterpret_cast<Type*>(static_cast<unsigned char*>(block) + bytes);
}}
template <class Type>
const Type& at(const void* block, size_t bytes) {{
  return *reinterpret_cast<const Type*>(static_cast<const unsigned char*>(block) + bytes);
}}

{used}{"".join(self.constants)}
}}  // namespace

attend::Status run({self.parameters()}) {{ return run_observed({self.arguments()}, nullptr, nullptr); }}

attend::Status run_observed({self.parameters()}, Observer observe, void* context) {{
{status}{calls}

  return attend::Status::ok;
}}

}}  // namespace {name}
'''


def collapsed(shape: Any, operands: List[Any]) -> Tuple[List[int], List[List[int]]]:
    """As few axes as the strides of all operands, which repeat along missing ones, allow; and the strides of each."""
    strides = []
    for operand in operands:
        if isinstance(operand, View):
            array = numpy.broadcast_to(operand.array, shape)
        else:
            array = numpy.broadcast_to(numpy.ascontiguousarray(operand), shape)
        strides.append([0 if size == 1 else stride // array.itemsize for size, stride in zip(shape, array.strides)])
    axes: List[Any] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        own = [steps[axis] for steps in strides]
        if axes and all(before == size * step for before, step in zip(axes[-1][1], own)):
            axes[-1] = (axes[-1][0] * size, own)
        else:
            axes.append((size, own))
    axes = axes or [(1, [1] * len(operands))]
    return [size for size, _ in axes], [[own[which] for _, own in axes] for which in range(len(operands))]


def nest(names: str, sizes: List[int], text: str) -> List[str]:
    """Loops around a statement."""
    lines = []
    for depth, (name, size) in enumerate(zip(names, sizes)):
        last = depth == len(sizes) - 1
        lines.append('  ' * depth + f'for (int {name} = 0; {name} < {size}; ++{name}) ' + (text if last else '{'))
    if not sizes:
        return [text]
    return lines + ['  ' * depth + '}' for depth in range(len(sizes) - 2, -1, -1)]


WITH_OUTPUT = '''
template <class Shape, int queries, int keys>
struct WithOutput {
  attend::OptionWorkspace<Shape, queries, keys> work;
  attend::Output<Shape, queries> output;
};

'''
LARGER = '''// A NaN is larger than every number.
inline float larger(float a, float b) { return a < b || b != b ? b : a; }

'''
SOFTMAX = '''template <int width>
void softmax(const float (&x)[width], float (&y)[width]) {
  float most = x[0], total = 0;
  for (const float number : x) most = most < number || number != number ? number : most;
  for (int i = 0; i < width; ++i) y[i] = x[i] - most;
  attend::activate<attend::Activation::exp>(y);
  for (const float power : y) total += power;
  for (float& number : y) number /= total;
}

'''
ARG_MAX = '''template <int width>
int32_t place_of_largest(const float (&x)[width]) {
  int32_t place = 0;
  for (int32_t i = 1; i < width; ++i) {
    if (x[place] < x[i]) place = i;
  }
  return place;
}

'''
