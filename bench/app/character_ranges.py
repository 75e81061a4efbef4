"""Writes character_ranges.h from Python's tables of Unicode, beside this file.

  python3 bench/app/character_ranges.py

Letters, numbers and punctuation are the general categories L, N and P. White space is the property White_Space, which is not
that of str.isspace(): it has no separators of files and records.
"""

import pathlib
import unicodedata

WHITE_SPACE = {*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
CLASSES = {'L': 1, 'N': 2, 'P': 3}  # as CharacterClass counts them
SPACE = 4
WIDTH = 128


def class_of(code):
    return SPACE if code in WHITE_SPACE else CLASSES.get(unicodedata.category(chr(code))[0], 0)


def changes():
    before = None
    for code in range(0x110000):
        now = class_of(code)
        if now != before:
            yield f'0x{code * 8 + now:X}'
        before = now


def lines(numbers):
    line = ' '
    for number in numbers:
        if len(line) + len(number) + 2 > WIDTH:
            yield line
            line = ' '
        line += f' {number},'
    yield line


numbers = list(changes())
text = f'''// Where the class of characters changes, of Unicode {unicodedata.unidata_version}: each number is the first code point times 8 plus its class,
// ascending. Written by character_ranges.py.
#pragma once

#include <cstdint>

namespace app {{

// clang-format off
inline constexpr std::uint32_t character_ranges[] = {{
''' + '\n'.join(lines(numbers)) + '''
};
// clang-format on

}  // namespace app
'''
pathlib.Path(__file__).with_suffix('.h').write_text(text)
