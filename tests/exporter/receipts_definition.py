"""What a receipt is, once more and slowly; the functions that programs have are compared with it."""
import shutil
import struct
import subprocess

from attend.exporter.receipts import source


def words_of(numbers, kind):
    """32-bit words of numbers, whichever processor they are from."""
    if kind == 'float32':
        words = struct.unpack(f'<{len(numbers)}I', struct.pack(f'<{len(numbers)}f', *numbers))
        return [0 if word == 0x80000000 else 0x7fc00000 if word & 0x7fffffff > 0x7f800000 else word for word in words]
    data = struct.pack(f'<{len(numbers)}{ {"int8": "b", "uint8": "B", "int16": "h", "int32": "i"}[kind]}', *numbers)
    return [int.from_bytes(data[at:at + 4], 'little') for at in range(0, len(data), 4)]


def digest_of(digest, words):
    for word in words:
        digest = ((digest << 5 | digest >> 27) & 0xffffffff ^ word) * 0x9e3779b1 & 0xffffffff
    return digest


mixed = lambda digest: (digest ^ digest >> 15) * 0x85ebca6b & 0xffffffff


def receipt_of(arrays, outputs):
    """The receipt, and all digests, of [(numbers, type)]."""
    digest, bits, digests = 1, '', []
    for i, (numbers, kind) in enumerate(arrays):
        digest = digest_of(digest, words_of(numbers, kind))
        digests.append(digest)
        width = 48 * (i + 1) // len(arrays) - 48 * i // len(arrays)
        bits += f'{mixed(digest):032b}'[:width]
    return int(bits.ljust(48, '0'), 2) << 16 | mixed(digest) >> 16 & 0xfffe | outputs, digests


infinite, nan = float('inf'), float('nan')
ARRAYS = [([1.5, -2.25, 0.0, -0.0, nan, -nan, infinite, -infinite, 1e-40], 'float32'), (list(range(-20, 17)), 'int8'), ([-1, 7, 0], 'int8'),
          ([-32768, -1, 0, 5, 32767], 'int16'), (list(range(-300, 300, 11)), 'int16'), ([-1, -2147483648, 3], 'int32')]
IN_C = {'float32': 'float', 'int8': 'int8_t', 'int16': 'int16_t', 'int32': 'int32_t'}
number_in_c = lambda number: {'nan': '__builtin_nanf("0x123")', 'inf': '__builtin_inff()', '-inf': '-__builtin_inff()'}.get(
    str(number), f'{number}f' if isinstance(number, float) else str(number))
LINES = []
for i, (numbers, kind) in enumerate(ARRAYS):
    at, width = 48 * i // len(ARRAYS), 48 * (i + 1) // len(ARRAYS) - 48 * i // len(ARRAYS)
    bytes_of = '' if kind == 'float32' else f', sizeof({IN_C[kind]})'
    LINES.append(f'receipt_{"floats" if kind == "float32" else "integers"}({i}, {at}, {width}, array_{i} + 1, {len(numbers)}{bytes_of});')
PROGRAM = f"""#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
static void (*observer)(int, uint32_t, const void*, size_t, size_t);
{source(''.join(LINES), 'observer')}
static void watch(int step, uint32_t digest, const void* numbers, size_t count, size_t bytes) {{
  (void)step, (void)numbers, (void)count, (void)bytes;
  printf("%08lx ", (unsigned long)digest);
}}
int main(void) {{
  /* Each begins one number after a word: the bytes are not where words begin. */
{''.join(f'  static const {IN_C[kind]} array_{i}[] __attribute__((aligned(16))) = {{0, {", ".join(map(number_in_c, numbers))}}};{chr(10)}' for i, (numbers, kind) in enumerate(ARRAYS))}
  observer = watch;
  receipt_begin();
  {(chr(10) + '  ').join(LINES)}
  receipt_end(1);
  printf("%016llx", (unsigned long long)receipt_state.last);
  return 0;
}}
"""


def check_definition(ok, cxx, folder):
    (folder / 'definition.c').write_text(PROGRAM)
    (folder / 'definition.cpp').write_text(PROGRAM.replace(' + 1, ', ', ').replace('= {0, ', '= {'))  # there they begin where words do
    receipt, digests = receipt_of(ARRAYS, 1)
    wanted = ' '.join([f'{each:08x}' for each in digests] + [f'{receipt:016x}'])
    gcc = cxx.replace('clang++', 'clang').replace('g++', 'gcc')
    compilers = [(f'{gcc} -std=c99', 'definition.c', ''), (f'{cxx} -std=c++17', 'definition.cpp', '')]
    if shutil.which('s390x-linux-gnu-gcc') and shutil.which('qemu-s390x'):
        compilers.append(('s390x-linux-gnu-gcc -std=c99 -static', 'definition.c', 'qemu-s390x '))  # the highest byte comes first
    for compiler, name, emulator in compilers:
        warnings = '-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
        done = subprocess.run(f'{compiler} -O1 {warnings} {folder}/{name} -o {folder}/definition && {emulator}{folder}/definition', shell=True, capture_output=True, text=True)
        ok(f'receipts are as they are defined: {compiler}', done.stdout == wanted, f'{done.stdout} {done.stderr[:300]}; expected {wanted}')
    seen = {receipt_of([(numbers, 'int8')], 1)[0] for numbers in ([0] * 4 + [-1] * 4, [-1] * 4 + [0] * 4, [0] * 8, [-1] * 8, [0] * 7 + [1], [1] + [0] * 7)}
    ok('numbers that change places, and single bits, make other receipts', len(seen) == 6)
