"""Inputs and the digests of what the exported model must make of them, step by step, as a program for the device."""
from typing import Any, List

import numpy

from .numbers_in_c import braced, comment
from .program import Program, Step
from .writer import Writer


def digest(array: Any) -> int:
    """FNV-1a of 64 bits over 32-bit words, lowest byte first; shorter integers are widened by zeros. -0 counts as 0 and every NaN as one, because neither's bits are promised."""
    array = numpy.ascontiguousarray(array).reshape(-1)
    words = array.view(f'u{array.dtype.itemsize}').astype(numpy.uint32) # signs would make NaNs of negative integers
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


def arrays(writer: Writer) -> Any:
    """Of a program: the types of inputs and of outputs, each with the extents and how many numbers."""
    kinds = [(writer.element_type(view), writer.extents(view.shape), view.count) for view in writer.program.inputs + writer.program.outputs]
    return kinds[:len(writer.program.inputs)], kinds[len(writer.program.inputs):]


def token_test(writer: Writer, sample: List[Any]) -> str:
    """Of the first sample: what append() gives for each token is the row that run() gives."""
    program, tokenwise = writer.program, writer.by_token.program
    outputs = program.run(sample)
    tokens = program.inputs[0].count // tokenwise.inputs[0].count
    table = ',\n'.join('{' + ', '.join(f'0x{digest(each):016x}u' for each in output.reshape(tokens, -1)) + '}' for output in outputs)
    inputs, results = arrays(writer.by_token)
    static = writer.words.static
    defined = ''.join(writer.result(f'token_result_{which}', *each) for which, each in enumerate(results))
    given = [f'input_{which}[0] + {each} * token' for which, (_, _, each) in enumerate(inputs)]
    names = [f'token_result_{which}' for which in range(len(results))]
    silent = f'''    if (every > 1 && token % every != 0) {{  // nobody reads its outputs
      if ({writer.test_call("append", given, [])} != {writer.words.ok}) return false;
      continue;
    }}
''' if tokenwise.split else ''
    unused = '' if silent else '  (void)every;\n'
    compared = ' ||\n        '.join(f'digest_of({name}, {count}, 4) != token_digests[{which}][token]' for which, (name, (_, _, count)) in
                                    enumerate(zip(names, results)))
    return f'''
{static}const uint64_t token_digests[{len(outputs)}][{tokens}] = {{
{table}}};
{defined}
// every: of how many tokens the outputs of one are read.
{static}bool same_token_by_token(int every) {{
{unused}  {writer.words.clear};
  for (int token = 0; token < {tokens}; ++token) {{
{silent}    if ({writer.test_call("append", given, names)} != {writer.words.ok} ||
        {compared}) {{
      return false;
    }}
  }}
  {writer.words.clear};
  return true;
}}
'''


def write_self_test(writer: Writer, samples: List[List[Any]]) -> str:
    """samples: arrays of all inputs, a few times. Of a decoder append() is tested too, which has the bits of the rows."""
    program, name, static, cast = writer.program, writer.program.name, writer.words.static, writer.cast
    inputs = ''
    for which, view in enumerate(program.inputs):
        rows = numpy.stack([numpy.asarray(sample[which], view.array.dtype).reshape(-1) for sample in samples])
        inputs += f'{static}const {writer.element_type(view)} input_{which}[{len(samples)}][{view.count}] = {braced(rows)};\n'
    table = ',\n'.join('{' + ', '.join(f'0x{each:016x}u' for each in digests(program, sample)) + '}' for sample in samples)
    results = ''.join(writer.result(f'result_{which}', *each) for which, each in enumerate(arrays(writer)[1]))
    call = writer.test_call('run_observed', [f'input_{which}[sample]' for which in range(len(program.inputs))],
                            [f'result_{which}' for which in range(len(program.outputs))], ['compare', '&check'])
    steps = ',\n'.join(f'    "{step.text()} ({comment(step.name)})"' for step in program.steps)
    tokens = token_test(writer, samples[0]) if writer.by_token else ''
    of_bytes = lambda kind: cast('uint32_t', f'({writer.pointer_cast(f"const {kind}*", "numbers")})[i]')
    check = f'struct Check* const check = {writer.pointer_cast("struct Check*", "context")};'
    return f'''// Whether this processor, this compiler and these flags compute the model {name} with the bits that the computer had which exported
// it: {len(samples)} inputs, and a digest of what each step writes. Call {name}_self_test(), or define ATTEND_SELF_TEST_MAIN for a program that prints.
#include "model.h"
{writer.words.begin}
{static}const uint64_t digests[{len(samples)}][{len(program.steps)}] = {{
{table}}};
{inputs}{results}
// FNV-1a over 32-bit words, to which shorter integers are widened by zeros; -0 counts as 0 and every NaN as one, because neither's bits are promised.
{static}uint64_t digest_of(const void* numbers, size_t count, size_t bytes) {{
  uint64_t digest = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i) {{
    uint32_t word = 0;
    if (bytes == 4) __builtin_memcpy(&word, {writer.pointer_cast("const unsigned char*", "numbers")} + 4 * i, 4);
    if (bytes == 2) word = {of_bytes("uint16_t")};
    if (bytes == 1) word = {of_bytes("uint8_t")};
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

{static}void compare(void* context, int step, const void* numbers, size_t count, size_t bytes) {{
  {check}
  if (check->first_wrong < 0 && digest_of(numbers, count, bytes) != check->digests[step]) check->first_wrong = step;
}}
{tokens}{writer.words.end}
// -1: all bits are the same. Otherwise the first step whose are not, or {len(program.steps)} where a call was refused.
int {name}_self_test({writer.words.none}) {{
  for (int sample = 0; sample < {len(samples)}; ++sample) {{
    struct Check check = {{digests[sample], -1}};
    const {writer.words.status} status = {call};
    if (check.first_wrong >= 0) return check.first_wrong;
    if (status != {writer.words.ok}) return {len(program.steps)};
  }}
{f"  if (!same_token_by_token(1) || !same_token_by_token(3)) return {len(program.steps)};" + chr(10) if tokens else ""}  return -1;
}}

#ifdef ATTEND_SELF_TEST_MAIN
#include <stdio.h>

int main({writer.words.none}) {{
  static const char* const steps[] = {{
{steps},
    "{"one token after another, or " if tokens else ""}a call was refused"}};
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
