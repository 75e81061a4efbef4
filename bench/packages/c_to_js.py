"""The structs, constants and functions of the C surface for JavaScript, as they lie in WebAssembly's memory of 32-bit addresses.

bench/packages/c_to_js.py exports   the linker's options for all functions
bench/packages/c_to_js.py layouts   C in which the compiler itself checks where each member lies
bench/packages/c_to_js.py module    c.js of the npm package
"""
import json
import pathlib
import sys

from c_surface import HEADERS, Surface

# Kinds of numbers as index.js writes them, and their sizes, which are their alignments too.
KINDS = {'size_t': 'u32', 'ptrdiff_t': 'i32', 'int': 'i32', 'uint32_t': 'u32', 'int32_t': 'i32', 'attend_status': 'i32',
         'float': 'f32', 'double': 'f64', 'char': 'u8', 'function': 'u32'}
HEADERS = tuple(name for name in HEADERS if name != 'c/linear_attention.h')  # of which the package has calls
SIZES = {'u8': 1, 'u32': 4, 'i32': 4, 'f32': 4, 'f64': 8}


class Layouts:
    def __init__(self, surface):
        self.structs = {}  # name: (size, alignment, {member: (offset, kind)})
        for name, fields in surface.structs.items():
            self.structs[name] = self._laid_out(fields)

    def _laid_out(self, fields):
        end, widest, members = 0, 1, {}
        for field, kind, count in fields:
            size, alignment, inner = self.structs.get(kind) or self._number(kind)
            end = -(-end // alignment) * alignment
            for index in range(count or 1):
                label = f'{field}.{index}' if count else field
                members.update({f'{label}.{name}' if name else label: (end + offset, type_) for name, (offset, type_) in inner.items()})
                end += size
            widest = max(widest, alignment)
        return -(-end // widest) * widest, widest, members

    @staticmethod
    def _number(kind):
        name = 'u32' if kind.endswith('*') else KINDS[kind]
        return SIZES[name], SIZES[name], {'': (0, name)}


def module(root, banner):
    surface = Surface(root, HEADERS)
    constants = [*surface.constants, *((name, -2**31) for name in surface.smallest)]
    structs = {name: {'size': size, 'members': members} for name, (size, _, members) in Layouts(surface).structs.items()}
    lines = [f'export const {name} = {number};' for name, number in constants]
    lines += [f'export const {name} = {json.dumps(layout)};' for name, layout in structs.items()]
    lines += ['export const functions = ' + json.dumps([name for _, name, _ in surface.functions]) + ';']
    return banner + '\n'.join(lines) + '\n'


def layouts(root):
    surface, lines = Surface(root, HEADERS), ['#include "attend/c/integer.h"', '#include "attend/c/layers.h"']
    for name, (size, _, members) in Layouts(surface).structs.items():
        lines.append(f'_Static_assert(sizeof(struct {name}) == {size}, "{name}");')
        for member, (offset, _) in members.items():
            place = '.'.join(part for part in member.split('.') if not part.isdigit())
            index = next((int(part) for part in member.split('.') if part.isdigit()), None)
            place += f'[{index}]' if index is not None else ''
            lines.append(f'_Static_assert(__builtin_offsetof(struct {name}, {place}) == {offset}, "{name}.{member}");')
    return '\n'.join(lines) + '\n'


if __name__ == '__main__':
    ROOT = pathlib.Path(__file__).resolve().parents[2]
    if sys.argv[1] == 'exports':
        print('\n'.join(f'-Wl,--export={name}' for _, name, _ in Surface(ROOT, HEADERS).functions))
    else:
        sys.stdout.write(layouts(ROOT) if sys.argv[1] == 'layouts' else module(ROOT, ''))
