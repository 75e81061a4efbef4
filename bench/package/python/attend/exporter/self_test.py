"""Inputs and the digests of what the exported model must make of them, step by step, as a program for the device."""
from typing import Any, List, Optional

import numpy

from .cpp import Writer
from .numbers_in_c import braced, comment
from .program import Program, Step


def digest(array: Any) -> int:
    """FNV-1a of 64 bits over 32-bit words, lowest byte first; shorter integers are widened. -0 counts as 0 and every NaN as one, because neither's bits are promised."""
    array = numpy.ascontiguousarray(array).reshape(-1)
    words = (array if array.dtype == numpy.float32 else array.astype(numpy.int32)).view(numpy.uint32).copy()
    words[words == 0x80000000] = 0
    words[(words & 0x7fffffff) > 0x7f800000] = 0x7fc00000
    result = 0xcbf29ce484222325
    for byte in words.astype('<u4').tobytes():
        result = (result ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return result


def digests(program: Program, inputs: List[Any]) -> List[int]:
    """One for each step; 0 for those that write parts of an array, of which each has others between."""
    found: List[int] = []

    def after(index: int, step: Step) -> None:
        found.append(digest(step.writes.array) if step.writes.is_dense() else 0)

    program.run(inputs, after)
    return found


def token_test(program: Program, sample: List[Any], tokenwise: Program) -> str:
    """Of the first sample: what append() gives for each token is the row that run() gives."""
    outputs = program.run(sample)
    tokens = program.inputs[0].count // tokenwise.inputs[0].count
    table = ',\n'.join('{' + ', '.join(f'0x{digest(each):016x}u' for each in output.reshape(tokens, -1)) + '}' for output in outputs)
    kinds = [(Writer.element_type(view), Writer.extents(view.shape), view.count) for view in tokenwise.inputs + tokenwise.outputs]
    count = len(tokenwise.inputs)
    results = ''.join(f'{kind} token_result_{which}{size};\n' for which, (kind, size, _) in enumerate(kinds[count:]))
    arguments = [f'*reinterpret_cast<const {kind} (*){size}>(input_{which}[0] + {each} * token)' for which, (kind, size, each) in
                 enumerate(kinds[:count])] + [f'token_result_{which}' for which in range(len(outputs))]
    silent = f'''    if (every > 1 && token % every != 0) {{  // nobody reads its outputs
      if ({program.name}::append({", ".join(arguments[:count])}) != attend::Status::ok) return false;
      continue;
    }}
''' if tokenwise.split else ''
    compared = ' ||\n        '.join(f'digest_of(token_result_{which}, {each}, 4) != token_digests[{which}][token]' for which, (_, _, each) in
                                    enumerate(kinds[count:]))
    return f'''namespace {{

const uint64_t token_digests[{len(outputs)}][{tokens}] = {{
{table}}};
{results}
// every: of how many tokens the outputs of one are read.
bool same_token_by_token([[maybe_unused]] int every) {{
  {program.name}::clear();
  for (int token = 0; token < {tokens}; ++token) {{
{silent}    if ({program.name}::append({", ".join(arguments)}) != attend::Status::ok ||
        {compared}) {{
      return false;
    }}
  }}
  {program.name}::clear();
  return true;
}}

}}  // namespace

'''


def write_self_test(program: Program, samples: List[List[Any]], tokenwise: Optional[Program] = None) -> str:
    """samples: arrays of all inputs, a few times. tokenwise: the program for a token at a time, which has the bits of the rows."""
    name = program.name
    inputs = ''
    for which, view in enumerate(program.inputs):
        rows = numpy.stack([numpy.asarray(sample[which], view.array.dtype).reshape(-1) for sample in samples])
        inputs += f'const {Writer.element_type(view)} input_{which}[{len(samples)}][{view.count}] = {braced(rows)};\n'
    table = ',\n'.join('{' + ', '.join(f'0x{each:016x}u' for each in digests(program, sample)) + '}' for sample in samples)
    extents = [(Writer.element_type(view), Writer.extents(view.shape)) for view in program.inputs + program.outputs]
    results = ''.join(f'{kind} result_{which}{size};\n' for which, (kind, size) in enumerate(extents[len(program.inputs):]))
    arguments = [f'*reinterpret_cast<const {kind} (*){size}>(input_{which}[sample])' for which, (kind, size) in
                 enumerate(extents[:len(program.inputs)])] + [f'result_{which}' for which in range(len(program.outputs))]
    steps = ',\n'.join(f'    "{step.text()} ({comment(step.name)})"' for step in program.steps)
    return f'''// Whether this processor, this compiler and these flags compute the model {name} with the bits that the computer had which exported
// it: {len(samples)} inputs, and a digest of what each step writes. Call {name}_self_test(), or define ATTEND_SELF_TEST_MAIN for a program that prints.
#include "model.h"

namespace {{

const uint64_t digests[{len(samples)}][{len(program.steps)}] = {{
{table}}};
{inputs}{results}
// FNV-1a over 32-bit words, to which shorter integers are widened; -0 counts as 0 and every NaN as one, because neither's bits are promised.
uint64_t digest_of(const void* numbers, size_t count, size_t bytes) {{
  uint64_t digest = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i) {{
    uint32_t word = 0;
    if (bytes == 4) __builtin_memcpy(&word, static_cast<const unsigned char*>(numbers) + 4 * i, 4);
    if (bytes == 2) word = uint32_t(int32_t(static_cast<const int16_t*>(numbers)[i]));
    if (bytes == 1) word = uint32_t(int32_t(static_cast<const int8_t*>(numbers)[i]));
    if (word == 0x80000000u) word = 0;
    if ((word & 0x7fffffffu) > 0x7f800000u) word = 0x7fc00000u;
    for (int shift = 0; shift < 32; shift += 8) digest = (digest ^ (word >> shift & 255u)) * 0x100000001b3u;
  }}
  return digest;
}}

struct Check {{
  const uint64_t* digests;
  int first_wrong;  // step; -1: none
}};

void compare(void* context, int step, const void* numbers, size_t count, size_t bytes) {{
  Check& check = *static_cast<Check*>(context);
  if (check.first_wrong < 0 && digest_of(numbers, count, bytes) != check.digests[step]) check.first_wrong = step;
}}

}}  // namespace

{token_test(program, samples[0], tokenwise) if tokenwise else ""}// -1: all bits are the same. Otherwise the first step whose are not, or {len(program.steps)} where a call was refused.
int {name}_self_test() {{
  for (int sample = 0; sample < {len(samples)}; ++sample) {{
    Check check = {{digests[sample], -1}};
    const attend::Status status = {name}::run_observed({", ".join(arguments)}, compare, &check);
    if (check.first_wrong >= 0) return check.first_wrong;
    if (status != attend::Status::ok) return {len(program.steps)};
  }}
{f"  if (!same_token_by_token(1) || !same_token_by_token(3)) return {len(program.steps)};" + chr(10) if tokenwise else ""}  return -1;
}}

#ifdef ATTEND_SELF_TEST_MAIN
#include <stdio.h>

int main() {{
  static const char* const steps[] = {{
{steps},
    "{"one token after another, or " if tokenwise else ""}a call was refused"}};
  const int wrong = {name}_self_test();
  if (wrong < 0) {{
    printf("{name}: {len(samples)} inputs, {len(program.steps)} steps each: the same bits\\n");
  }} else {{
    printf("{name}: other bits from step %d on, %s\\n", wrong, steps[wrong]);
  }}
  return wrong < 0 ? 0 : 1;
}}
#endif
'''
