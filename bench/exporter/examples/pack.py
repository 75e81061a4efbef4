"""Packs what `attend export` wrote: pack.py FROM TO. The numbers of its arrays go to TO/arrays.bin, and in TO/model.cpp.in and TO/self_test.cpp.in
stands what was there: @b 120 32@ are 32 pairs of braces with 120 bytes in each. restore.cpp puts them back. TO/model.h is the same. What is not in FROM
is in TO already, or not needed."""
import re
import shutil
import struct
import sys
from pathlib import Path

ARRAY = re.compile(r'\{([-+0-9a-fA-FxXuU., \n]{60,})\}')  # shorter ones are not worth it
SAME = re.compile(r'@(\w \d+) 1@(?:,\s*@\1 1@)+')


def typed(words):
    """The letter of struct for all of these numbers, and the numbers."""
    if words[0].startswith('0x'):
        return 'Q', [int(word.rstrip('u'), 16) for word in words]
    if any(word.endswith('f') for word in words):
        return 'f', [float(word.rstrip('f')) for word in words]
    if any(set(word) & set('.e') for word in words):
        return 'd', [float(word) for word in words]
    numbers = [int(word) for word in words]
    return next((letter, numbers) for letter, most in (('b', 127), ('h', 32767), ('i', 2**31 - 1)) if -most - 1 <= min(numbers) and max(numbers) <= most)


def main():
    source, to = map(Path, sys.argv[1:])
    to.mkdir(parents=True, exist_ok=True)
    arrays = bytearray()

    def packed(match):
        letter, numbers = typed(match[1].replace(',', ' ').split())
        arrays.extend(struct.pack(f'<{len(numbers)}{letter}', *numbers))
        return f'@{letter} {len(numbers)} 1@'

    for name in [name for name in ('model.cpp', 'self_test.cpp') if (source / name).exists()]:
        text = ARRAY.sub(packed, (source / name).read_text())
        (to / f'{name}.in').write_text(SAME.sub(lambda same: f'@{same[1]} {same[0].count("@") // 2}@', text))
    (to / 'arrays.bin').write_bytes(arrays)
    if (source / 'model.h').exists():
        shutil.copy(source / 'model.h', to)


main()
