"""Writes a program as C++ over the typed surface of the library: model.h and model.cpp."""
import re
from typing import Any, Dict, List, Optional, Set, Tuple

import numpy

from .cpp_floats import FloatCalls
from .cpp_integers import CONVERSIONS, GATE, IntegerCalls
from .cpp_text import ARG_MAX, LARGER, SOFTMAX, WITH_OUTPUT
from .numbers_in_c import braced, comment, identifiers
from .passes import root
from .program import Program, Step, View
from .streaming import capacity


WIDTH = 120


def write_cpp(program: Program, origin: str, tokenwise: Optional[Program] = None) -> Dict[str, str]:
    """tokenwise: the program for a token at a time, if there is one."""
    writer = Writer(program, origin)
    if tokenwise is not None:
        writer.by_token = Writer(tokenwise, origin, writer)
    return {'model.h': writer.wrapped(writer.header()), 'model.cpp': writer.source()}


class Writer(FloatCalls, IntegerCalls):
    def __init__(self, program: Program, origin: str, whole: Optional['Writer'] = None):
        """whole: the writer of the program over all tokens, whose constants this one shares."""
        self.program, self.origin, self.by_token = program, comment(origin), None  # type: Any, str, Optional[Writer]
        self.constants: List[str] = whole.constants if whole else []   # definitions
        self.names: Dict[Any, str] = whole.names if whole else {}      # of constants, by their definitions
        self.shapes: Dict[Tuple[int, ...], str] = whole.shapes if whole else {}
        ends = program.inputs + program.outputs
        self.parameter_names = {id(view.buffer): name for view, name in zip(ends, identifiers([view.buffer.name for view in ends]))}
        self.memory_name = 'token_memory' if whole else 'memory'
        self.caches: List[str] = []
        self.rings: Set[int] = whole.rings if whole else set()
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

    def parameters(self, inputs_only: bool = False) -> str:
        """Of run(), inputs first."""
        of = lambda view: f'{self.element_type(view)} (&{self.parameter_names[id(view.buffer)]}){self.extents(view.shape)}'
        return ', '.join([f'const {of(view)}' for view in self.program.inputs] + [of(view) for view in self.program.outputs if not inputs_only])

    def arguments(self, inputs_only: bool = False) -> str:
        views = self.program.inputs + ([] if inputs_only else self.program.outputs)
        return ', '.join(self.parameter_names[id(view.buffer)] for view in views)

    def unused(self, calls: str, inputs_only: bool = False) -> str:
        """Statements that name the parameters that no call names."""
        names = [*self.arguments(inputs_only).split(', '), *(['observe', 'context'] if self.memory_name == 'memory' else [])]
        return ''.join(f'  (void){name};\n' for name in names if not re.search(rf'\b{name}\b', re.sub('//.*', '', calls)))

    def array(self, view: View, kind: str, offset: int = 0, at: str = '') -> str:
        """An expression: the array of that type where the view begins, `offset` elements after it, and `at`, an expression, after that."""
        place = root(view.buffer)
        size = view.array.itemsize
        begin = size * (view.offset + offset) + (place.offset if place.kind == 'memory' else 0)
        where = self.memory_name if place.kind == 'memory' else self.parameter_names[id(place)]
        place_in = f'{begin}' + (f' + {size} * size_t({at})' if at else '')
        return f'at<{kind}>({where}, {place_in})'

    def floats(self, view: View, *extents: int) -> str:
        return self.array(view, f'{self.element_type(view)}{"".join(f"[{size}]" for size in extents)}')

    def constant(self, prefix: str, kind: str, numbers: str, extents: str = '') -> str:
        key = (kind, extents, numbers)
        if key not in self.names:
            self.names[key] = f'{prefix}_{len(self.names)}'
            begin = '\n' if len(numbers) > WIDTH else ' '
            self.constants.append(f'const {kind} {self.names[key]}{extents} ={begin}{numbers};\n')
        return self.names[key]

    def float_constant(self, prefix: str, array: Any) -> str:
        return self.constant(prefix, 'float', braced(numpy.asarray(array).reshape(-1)), f'[{numpy.asarray(array).size}]')

    def shape(self, step: Any, capacity: int = 0) -> str:
        """The name of a shape. capacity: of a cache of it; 0 where there is none."""
        key = (step.heads, step.kv_heads, step.head_dim, step.value_dim, capacity)
        return self.shapes.setdefault(key, f'Heads{len(self.shapes)}')

    # Calls

    def call(self, index: int, step: Step) -> str:
        text = getattr(self, '_' + type(step).__name__.lower())(index, step)
        lines = text if isinstance(text, list) else [text]
        y = step.writes
        seen = self.array(y, f'{self.element_type(y)}[{y.count}]')
        about = f'  // {index}: {step.text()} ({comment(step.name)})'
        if self.memory_name == 'token_memory':
            return '\n'.join([about, *('  ' + line for line in lines)])
        seen_by = [f'  if (observe) observe(context, {index}, {seen}, {y.count}, {y.array.itemsize});'] if y.is_dense() else []
        return '\n'.join([about, *('  ' + line for line in lines), *seen_by])

    @staticmethod
    def wrapped(text: str) -> str:
        """Calls that are too long go on in the next lines, between arguments."""
        lines = []
        for line in text.split('\n'):
            indent = len(line) - len(line.lstrip()) + 4
            while len(line) > WIDTH and not line.lstrip().startswith('//'):
                at = line.rfind(', ', indent, WIDTH)
                if at < 0:
                    break
                lines.append(line[:at + 1])
                line = ' ' * indent + line[at + 2:]
            lines.append(line)
        return '\n'.join(lines)

    @staticmethod
    def checked(call: str) -> List[str]:
        return [f'status = {call};', 'if (status != attend::Status::ok) return status;']

    def work(self, index: int, kind: str) -> str:
        top = self.program.tops[index]
        self.works.append((top, kind))
        return f'at<{kind}>({self.memory_name}, aligned({top}))'

    # Files

    def memory(self) -> str:
        """The size of the block, in bytes, as a constant expression."""
        arrays = max(self.program.tops or [0])
        works = sorted(set(self.works))
        qualified = lambda text: re.sub(r'\b(Heads|Last|WithOutput)(?=[<\d])', r'detail::\1', text)
        return qualified(f'detail::largest({{{", ".join([str(max(arrays, 4))] + [f"detail::aligned({top}) + sizeof({kind})" for top, kind in works])}}})')

    def shape_texts(self) -> str:
        text = ''
        for (heads, kv_heads, head_dim, value_dim, capacity), name in self.shapes.items():
            value = f', value_dim = {value_dim}' if value_dim != head_dim else ''
            value += f', max_tokens = {capacity}' if capacity else ''
            text += f'struct {name} {{\n  static constexpr int query_heads = {heads}, kv_heads = {kv_heads}, head_dim = {head_dim}{value};\n}};\n'
        for window in sorted(self.rings):
            text += f'struct Last{window} {{\n  static constexpr int window = {window};\n}};\n'
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

inline constexpr size_t memory_bytes = {self.memory()};
extern unsigned char memory[memory_bytes];

// Computes the model. Arrays must not overlap.
attend::Status run({self.parameters()});

// The same, and calls observe(context, step, numbers, count, bytes of a number) after each step with what it has written: for tests.
using Observer = void (*)(void* context, int step, const void* numbers, size_t count, size_t bytes);
attend::Status run_observed({self.parameters()}, Observer observe, void* context);
{self.by_token.token_header() if self.by_token else ""}
}}  // namespace {name}
'''

    def token_header(self) -> str:
        caches = '\n'.join('  ' + re.sub(r'\b(Heads|Last)(?=\d)', r'detail::\1', cache) for cache in self.caches)
        most = capacity(self.program)
        end = f'There are at most {most} of them: then it returns Status::cache_full.' if most else 'There is no end to them.'
        return f'''
// One token after another: appends a token and computes what run() computes for it, with the same bits. {end}
// clear() begins anew. It takes the caches and token_memory, and nothing of what run() takes.
struct Caches {{
  int position = 0;  // tokens so far
{caches}
}};
extern Caches caches;
inline constexpr size_t token_memory_bytes = {self.memory()};
extern unsigned char token_memory[token_memory_bytes];
attend::Status append({self.parameters()});
{self._silent_header()}void clear();
'''

    def _silent_header(self) -> str:
        if not self.program.split:
            return ''
        return f'''
// The same where nobody reads the outputs, as those of a prompt but for its last token: only what later tokens look at is computed.
attend::Status append({self.parameters(True)});

'''

    def token_source(self) -> str:
        most = capacity(self.program)
        full = f'  if (position >= {most}) return attend::Status::cache_full;\n' if most else ''
        clears = ''.join(f'  caches.cache_{i}.clear();\n' for i in range(len(self.caches)))
        split, position = self.program.split, '  [[maybe_unused]] const int position = caches.position;\n'
        first, rest = ('\n'.join(calls) for calls in (self.calls[:split], self.calls[split:]))
        silent = f'''namespace {{

// What later tokens look at.
attend::Status remember({self.parameters(True)}) {{
  attend::Status status = attend::Status::ok;
{position}{full}{self.unused(first, True)}
{self.wrapped(first)}

  return status;
}}

}}  // namespace

attend::Status append({self.parameters(True)}) {{
  const attend::Status status = remember({self.arguments(True)});
  if (status == attend::Status::ok) ++caches.position;
  return status;
}}

''' if split else ''
        begin = f'remember({self.arguments(True)});\n  if (status != attend::Status::ok) return status;\n' if split else 'attend::Status::ok;\n'
        return f'''
Caches caches;
alignas(attend::config::alignment) unsigned char token_memory[token_memory_bytes];

void clear() {{
  caches.position = 0;
{clears}}}

{silent}attend::Status append({self.parameters()}) {{
  attend::Status status = {begin}{position}{'' if split else full}{self.unused(f'{begin}{rest}')}
{self.wrapped(rest)}

  ++caches.position;
  return status;
}}
'''

    def _with_output(self) -> str:
        return WITH_OUTPUT if any(kind.startswith('WithOutput') for _, kind in self.works) else ''

    def source(self) -> str:
        name, calls = self.program.name, self.wrapped('\n\n'.join(self.calls))
        all_calls = calls + (''.join(self.by_token.calls) if self.by_token else '')
        helpers = {'to_integers|to_floats': CONVERSIONS, 'gate': GATE, 'softmax': SOFTMAX, 'place_of_largest': ARG_MAX, 'larger': LARGER}
        used = ''.join(text for names, text in helpers.items() if re.search(rf'(?<![\w:])({names})\(', all_calls))
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

{self.wrapped(f"attend::Status run({self.parameters()}) {{")}
  return run_observed({self.arguments()}, nullptr, nullptr);
}}

{self.wrapped(f"attend::Status run_observed({self.parameters()}, Observer observe, void* context) {{")}
{self.unused(calls)}{status}{calls}

  return attend::Status::ok;
}}
{self.by_token.token_source() if self.by_token else ""}
}}  // namespace {name}
'''
