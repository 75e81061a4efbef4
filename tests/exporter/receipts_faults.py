"""Faults that are planted in the text of a model, or in a part of the library."""
import pathlib
import re
import shutil
import struct
import subprocess


def flipped(text, name, which, bit):
    """A bit of one number of a constant is another."""
    begin = text.index('{', re.search(rf'\b{name}(\[\w+\])* =', text).end())
    numbers = list(re.finditer(r'-?[\d.]+(e-?\d+)?f?', text[begin:text.index(';', begin)]))
    found = numbers[which]
    if found[0].endswith('f'):
        word = struct.unpack('<I', struct.pack('<f', float(found[0][:-1])))[0] ^ 1 << bit
        other = f'{struct.unpack("<f", struct.pack("<I", word))[0]:.9g}'
        other += ('' if '.' in other or 'e' in other else '.0') + 'f'
    else:
        other = str(int(found[0]) ^ 1 << bit)
    return text[:begin + found.start()] + other + text[begin + found.end():]


def step_of(text, name):
    """The step of append() that reads a constant, or another one that has its address; /: in whose comment this stands."""
    tokens = text[text.index(' remember('):]
    found = re.search(re.escape(name[1:]) if name[0] == '/' else rf'\b{name}\b', tokens)
    if found is None:
        return step_of(text, re.search(rf'(\w+_\d+) =[^;]*\b{name}\b', text)[1])
    line = tokens.index('\n', found.start())
    return int(re.findall(r'^  // (\d+): ', tokens[:line], re.M)[-1])


def library_with(cxx, folder, source, header, change, flags=''):
    """An object of the library, where a header has another text."""
    place = folder / f'library_{pathlib.Path(header).stem}'
    for each in ('src', 'include'):
        shutil.copytree(each, place / each)
    text = (place / header).read_text()
    assert change(text) != text
    (place / header).write_text(change(text))
    subprocess.run(f'{cxx} -std=c++17 -O1 -ffp-contract=off {flags} -I{place}/include -c {place / source} -o {place}/changed.o', shell=True, check=True)
    return place / 'changed.o'
