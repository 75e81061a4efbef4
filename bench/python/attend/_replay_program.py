"""A folder of `attend export --receipts` as functions that make receipts here."""
import array
import ctypes
import json
import pathlib
import sys
import zlib
from typing import Any, Dict, List, Tuple

from ._compiled import C_FLAGS, FLAGS, compile_to, is_older, library_object, opened
from ._shared import AttendError

CODES = {'float32': ('f', 'float'), 'int32': ('i', 'int32_t'), 'int16': ('h', 'int16_t'), 'int8': ('b', 'int8_t'), 'uint8': ('B', 'uint8_t')}
SILENTLY = 'append_silently'


def _described(file: pathlib.Path) -> Dict[str, Any]:
    """What the exporter has written, behind which stands a check sum of it."""
    try:
        about: Dict[str, Any] = json.loads(file.read_text())
        whole = about.pop('check') == zlib.crc32(json.dumps(about).encode())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise AttendError(f'{file} is not as it was exported; expected it unchanged: export the model again')
    return about


class ReceiptProgram:
    def __init__(self, folder: Any):
        self.folder = pathlib.Path(folder)
        if not (self.folder / 'receipts.json').is_file():
            raise AttendError(f'{folder} has no receipts.json; expected a folder that `python3 -m attend export --receipts` has written')
        self.about = _described(self.folder / 'receipts.json')
        self.name, self.programs = self.about['name'], self.about['programs']
        self.library = opened(self._shared_object())
        self.library.replay_receipt.restype = ctypes.c_uint64
        step = self.library.replay_self_test()
        if step >= 0:
            raise AttendError(f'the self-test of {folder} finds other bits on this computer, from step {step} on: its files have changed since they '
                              'were exported, or this computer is the one that is wrong')

    def items(self, kind: str) -> List[Dict[str, Any]]:
        """Of a call: run, append or append_silently."""
        if kind != SILENTLY:
            return list(self.programs[kind]['items'])
        return [item for item in self.programs['append']['items'] if item['step'] < self.programs['append']['split']]

    def input_bytes(self, kind: str) -> int:
        return sum(_size(each) for each in self.programs[kind]['inputs'])

    def call(self, kind: str, row: bytes) -> int:
        """The receipt. row: the inputs, one behind another."""
        program = self.programs['append' if kind == SILENTLY else kind]
        held, at = [], 0
        for each in program['inputs']:
            numbers = array.array(CODES[each['type']][0], row[at:at + _size(each)])
            if sys.byteorder == 'big':
                numbers.byteswap()
            held.append(ctypes.create_string_buffer(numbers.tobytes(), _size(each)))
            at += _size(each)
        if kind != SILENTLY:
            held += [ctypes.create_string_buffer(_size(each)) for each in program['outputs']]
        status = getattr(self.library, f'replay_{kind}')((ctypes.c_void_p * len(held))(*map(ctypes.addressof, held)))
        if status:
            raise AttendError(f'{self.name}: a call was refused with status {status}: where the program began anew, say so (begins=, --begins)')
        return int(self.library.replay_receipt())

    def digests(self, kind: str) -> List[int]:
        """After each item of the last call."""
        found = (ctypes.c_uint32 * len(self.items(kind)))()
        self.library.replay_digests(found)
        return list(found)

    def numbers_of(self, kind: str, item: int, row: bytes) -> Any:
        """What an item is in this call, as an array."""
        about = self.items(kind)[item]
        code = CODES[about['type']][0]
        numbers = array.array(code, bytes(about['count'] * array.array(code).itemsize))
        self.library.replay_keep(item, ctypes.c_void_p(numbers.buffer_info()[0]))
        self.call(kind, row)
        self.library.replay_keep(-1, None)
        return numbers

    def clear(self) -> None:
        if 'append' in self.programs:
            self.library.replay_clear()

    def _shared_object(self) -> pathlib.Path:
        build = self.folder / 'build'
        suffix = {'c': '.c', 'cpp': '.cpp'}[self.about['surface']]
        sources = [self.folder / f'{each}{suffix}' for each in ('model', 'self_test')]
        result = build / f'libreplay_{self.name}.so'
        try:
            build.mkdir(exist_ok=True)
            library = library_object(self.folder)
            if is_older(result, [library, self.folder / 'model.h', self.folder / 'receipts.json', *sources]):
                glue, objects = build / 'replay.cpp', []
                glue.write_text(self._glue())
                for source in [*sources, glue]:
                    objects.append(build / f'replay_{source.stem}.o')
                    flags = ['-x', 'c', *C_FLAGS] if source.suffix == '.c' else FLAGS
                    compile_to(objects[-1], [*flags, '-c', str(source)])
                compile_to(result, ['-shared', *map(str, objects), str(library)])
        except OSError as error:
            raise AttendError(f'{build}: the model cannot be compiled into this folder: {error.strerror}') from error
        return result

    def _glue(self) -> str:
        in_c, name = self.about['surface'] == 'c', self.name
        prefix = f'{name}_' if in_c else f'{name}::'

        def call(function: str, program: Dict[str, Any], outputs: bool, to: str) -> str:
            arrays = []
            for i, each in enumerate(program['inputs'] + (program['outputs'] if outputs else [])):
                kind = ('const ' if i < len(program['inputs']) else '') + CODES[each['type']][1]
                extents = ''.join(f'[{size}]' for size in each['shape'])
                arrays.append(f'static_cast<{kind}*>(arrays[{i}])' if in_c else f'*static_cast<{kind} (*){extents}>(arrays[{i}])')
            return f'VISIBLE int replay_{function}(void* const* arrays) {{\n  made = 0;\n  return int({prefix}{to}({", ".join(arrays)}));\n}}\n'

        text = f'''// Made by attend.replay: do not edit.
#include "../model.h"

#define VISIBLE extern "C" __attribute__((visibility("default")))
{'' if in_c else f'int {name}_self_test();'}
namespace {{

uint32_t digests[{max(len(each['items']) for each in self.programs.values())}];
int made = 0, kept = -1;  // items of this call; the one whose numbers are wanted
void* kept_to = nullptr;

void watch(int, uint32_t digest, const void* numbers, size_t count, size_t bytes) {{
  if (made == kept) __builtin_memcpy(kept_to, numbers, count * bytes);
  digests[made++] = digest;
}}

}}  // namespace

VISIBLE int replay_self_test() {{
  const int wrong = {name}_self_test();
  {prefix}receipt_observer = watch;
  return wrong;
}}
VISIBLE uint64_t replay_receipt() {{ return {prefix}receipt(); }}
VISIBLE void replay_digests(uint32_t* to) {{ __builtin_memcpy(to, digests, size_t(made) * sizeof *to); }}
VISIBLE void replay_keep(int item, void* to) {{
  kept = item;
  kept_to = to;
}}
''' + call('run', self.programs['run'], True, 'run')
        if 'append' in self.programs:
            program = self.programs['append']
            text += f'VISIBLE void replay_clear() {{ (void){prefix}clear(); }}\n' + call('append', program, True, 'append')
            if program['split']:
                text += call(SILENTLY, program, False, 'append_silently' if in_c else 'append')
        return text


def _size(described: Dict[str, Any]) -> int:
    count = 1
    for size in described['shape']:
        count *= size
    return int(count * array.array(CODES[described['type']][0]).itemsize)


def as_array(data: bytes, kind: str) -> Any:
    """Numbers of a file, lowest byte first."""
    numbers = array.array(CODES[kind][0], data)
    if sys.byteorder == 'big':
        numbers.byteswap()
    return numbers
