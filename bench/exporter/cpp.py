"""Writes a program as C++ over the typed surface of the library: model.h and model.cpp."""
import re
from typing import Any, Dict, List, Set, Tuple

from .c_text import IN_BOTH
from .cpp_floats import FloatCalls
from .cpp_integers import IntegerCalls
from .cpp_linear import LINEAR_WORK, LinearCalls
from .cpp_text import CONVERSIONS, LOG_SOFTMAX, SOFTMAX, WITH_OUTPUT
from .linear_steps import Remembers
from .numbers_in_c import number
from .program import View
from .receipts import ABOUT, source
from .step_loops import LoopSteps
from .steps import Activate
from .streaming import capacity
from .writer import Words, Writer

HELPERS = {'to_integers|to_floats': CONVERSIONS, 'softmax': SOFTMAX, 'log_softmax': LOG_SOFTMAX, **IN_BOTH}


class CppWriter(FloatCalls, IntegerCalls, LinearCalls, LoopSteps, Writer):
    suffix, refused_row = '.cpp', 'attend::Status::bad_count'

    def begin(self, whole: Any) -> None:
        self.memory_name = 'token_memory' if whole else 'memory'
        self.caches: List[str] = []
        self.rings: Set[int] = whole.rings if whole else set()
        self.works: List[Tuple[int, str]] = []

    # The language

    def parameters(self, inputs_only: bool = False) -> str:
        of = lambda view: f'{self.element_type(view)} (&{self.parameter_names[id(view.buffer)]}){self.extents(view.shape)}'
        return ', '.join([f'const {of(view)}' for view in self.program.inputs] + [of(view) for view in self.program.outputs if not inputs_only])

    def array(self, view: View, kind: str, at: str = '') -> str:
        """An expression: the array of that type where the view begins, and `at`, an expression, after that."""
        parameter, begin = self.place(view)
        place_in = f'{begin}' + (f' + {view.array.itemsize} * size_t({at})' if at else '')
        return f'at<{kind}>({parameter or self.memory_name}, {place_in})'

    def floats(self, view: View, *extents: int) -> str:
        return self.array(view, f'{self.element_type(view)}{"".join(f"[{size}]" for size in extents)}')

    def numbers(self, view: View, count: int, at: str = '') -> str:
        return self.array(view, f'{self.element_type(view)}[{count}]', at)

    def constant_numbers(self, name: str, count: int, at: str) -> str:
        return f'at<const float[{count}]>({name}, {f"4 * size_t({at})" if at else 0})'

    def address(self, view: View) -> str:
        return f'&{self.array(view, self.element_type(view))}'

    def element(self, numbers: str, index: str) -> str:
        return f'{numbers}[{index}]'

    @staticmethod
    def cast(kind: str, text: str) -> str:
        return f'{kind}({text})'

    @staticmethod
    def checked(call: str) -> List[str]:
        return [f'status = {call};', 'if (status != attend::Status::ok) return status;']

    def definition(self, kind: str, name: str, extents: str, numbers: str) -> str:
        return f'const {kind} {name}{extents} ={numbers};\n'

    def shape(self, step: Any, capacity: int = 0) -> str:
        """The name of a shape. capacity: of a cache of it; 0 where there is none."""
        key = (step.heads, step.kv_heads, step.head_dim, step.value_dim, capacity)
        return self.shapes.setdefault(key, f'Heads{len(self.shapes)}')

    def work(self, index: int, kind: str) -> str:
        top = self.program.tops[index]
        self.works.append((top, kind))
        return f'at<{kind}>({self.memory_name}, aligned({top}))'

    def add(self, x: str, y: str, count: int, factor: Any) -> str:
        return f'attend::add({x}, {y}{"" if factor == 1 else ", " + number(factor)});'

    def softmax(self, x: str, y: str, width: int, prefix: str) -> str:
        return f'{prefix}softmax({x}, {y});'

    # Self-tests

    @property
    def words(self) -> Words:
        name = self.program.name
        return Words('\nnamespace {\n', '\n}  // namespace\n', '', '', 'attend::Status', 'attend::Status::ok', f'{name}::clear()')

    @staticmethod
    def pointer_cast(kind: str, text: str) -> str:
        return f'static_cast<{kind}>({text})'

    def result(self, name: str, kind: str, extents: str, count: int) -> str:
        return f'{kind} {name}{extents};\n'

    def test_call(self, function: str, inputs: List[str], results: List[str], more: Any = ()) -> str:
        given = [f'*reinterpret_cast<const {self.element_type(view)} (*){extents}>({each})' for each, view, extents in
                 zip(inputs, self.program.inputs, self.test_extents(function))]
        return f'{self.program.name}::{function}({", ".join([*given, *results, *more])})'

    def test_extents(self, function: str) -> List[str]:
        program = self.by_token.program if function == 'append' else self.program
        return [self.extents(view.shape) for view in program.inputs]

    # Files

    def write(self) -> Dict[str, str]:
        return {'model.h': self.wrapped(self.header()), 'model.cpp': self.source()}

    def memory(self) -> str:
        """The size of the block, in bytes, as a constant expression."""
        arrays = max(self.program.tops or [0])
        works = sorted(set(self.works))
        qualified = lambda text: re.sub(r'\b(Heads|Last|WithOutput|LinearWork)(?=[<\d])', r'detail::\1', text)
        return qualified(f'detail::largest({{{", ".join([str(max(arrays, 4))] + [f"detail::aligned({top}) + sizeof({kind})" for top, kind in works])}}})')

    def shape_texts(self) -> str:
        text = ''
        for key, name in self.shapes.items():
            if isinstance(key, str):  # of linear attention
                text += f'struct {name} {{\n{key}}};\n'
                continue
            heads, kv_heads, head_dim, value_dim, capacity = key
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

#include "attend/layers.h"
{self._more_headers()}
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
{self.by_token.token_header() if self.by_token else ""}{self._receipt_header() if self.receipts else ""}
}}  // namespace {name}
'''

    def _more_headers(self) -> str:
        needed = any(isinstance(step, Remembers) or isinstance(step, Activate) and step.function == 'softplus' for step in self.program.steps)
        return '#include "attend/linear_attention.h"\n' if needed else ''

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

    def _receipt_header(self) -> str:
        about = ''.join(f'// {line}\n' for line in ABOUT.split('\n'))
        return f'''
{about}uint64_t receipt();
using ReceiptObserver = void (*)(int step, uint32_t digest, const void* numbers, size_t count, size_t bytes);
extern ReceiptObserver receipt_observer;
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
{position}{full}{self.unused(first, True)}{self.wrapped(self.receipt())}
{self.wrapped(first)}

  return status;
}}

}}  // namespace

attend::Status append({self.parameters(True)}) {{
  const attend::Status status = remember({self.arguments(True)});
  if (status == attend::Status::ok) ++caches.position;
{self.receipt(False, 'status == attend::Status::ok')}  return status;
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
  attend::Status status = {begin}{position}{'' if split else full}{self.unused(f'{begin}{rest}')}{'' if split else self.wrapped(self.receipt())}
{self.wrapped(rest)}

  ++caches.position;
{self.receipt(True)}  return status;
}}
'''

    def _with_output(self) -> str:
        works = [kind for _, kind in self.works + (self.by_token.works if self.by_token else [])]
        return ''.join(text for name, text in (('WithOutput', WITH_OUTPUT), ('LinearWork', LINEAR_WORK)) if any(name in kind for kind in works))

    def source(self) -> str:
        name, calls = self.program.name, self.wrapped('\n\n'.join(self.calls))
        all_calls = calls + (''.join(self.by_token.calls) if self.by_token else '')
        used = self.helpers(all_calls, HELPERS)
        receipts = source(f'{self.receipt()}{self.by_token.receipt() if self.by_token else ""}{all_calls}', 'receipt_observer') if self.receipts else ''
        observer = '\nReceiptObserver receipt_observer;\n\nuint64_t receipt() { return receipt_state.last; }\n' if self.receipts else ''
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

{used}{receipts}{"".join(self.constants)}
}}  // namespace
{observer}
{self.wrapped(f"attend::Status run({self.parameters()}) {{")}
  return run_observed({self.arguments()}, nullptr, nullptr);
}}

{self.wrapped(f"attend::Status run_observed({self.parameters()}, Observer observe, void* context) {{")}
{self.unused(calls)}{status}{self.wrapped(self.receipt())}{calls}

{self.receipt(True)}  return attend::Status::ok;
}}
{self.by_token.token_source() if self.by_token else ""}
}}  // namespace {name}
'''
