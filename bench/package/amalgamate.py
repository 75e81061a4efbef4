"""The library as few files: attend_c.h, attend.h and attend.cpp, from include/attend and src.

attend_c.h is every header of the C surface; attend.h includes it and is every header of the C++ surface. attend.cpp is every source,
with each header in the place of its first include. What lies between `#define ATTEND_ISA` and `#include "end.h"` is compiled for an
instruction set: there attend.cpp includes itself, and its second half has all headers of such passages, once. ATTEND_PASS_<name>
decides where only some passages use one. Only include lines are replaced.

bench/package/amalgamate.py FOLDER, from the project's top folder, writes the three there.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'#include "([^"]+)"')
PASSAGE = re.compile(r'^#define ATTEND_ISA (\w+)\n(.*?)#include "[^"]*\bbegin\.h"\n(.*?)(?:(^namespace .*?^\}.*?\n)(.*?))?#include "[^"]*\bend\.h"\n',
                     re.M | re.S)
# Helpers stood in headers, where nobody expects that a source uses all of them.
NOT_ALL_USED = ''.join(['#if defined(__clang__)\n', *(f'#pragma clang diagnostic ignored "-W{name}"\n' for name in
                       ('unused-function', 'unused-const-variable', 'unneeded-internal-declaration')), '#endif\n'])


class Text:
    """Files with headers in the place of their includes; those that may come once are put once. wrap(path, text): what is put,
    behind the headers that it includes. passage: what takes the place of a passage."""

    def __init__(self, root, taken=(), wrap=None, passage=r'\g<0>'):
        self.root, self.placed, self.conditions, self.wrap, self.passage = root, dict.fromkeys(taken, ()), [], wrap, passage

    def file(self, path, text):
        text = PASSAGE.sub(self.passage, text)
        before, output, depth = [], [f'\n// {path}\n'], len(self.conditions)
        guarded = re.search(r'^#ifndef (\w+)\n#define \1\n', text, re.M) is not None
        for line in text.splitlines(keepends=True):
            directive = re.match(r'#\s*(if|elif|else|endif)', line)
            if directive:
                if directive[1] == 'if':
                    self.conditions.append('' if guarded and line.startswith('#ifndef') else line)
                    guarded = guarded and not line.startswith('#ifndef')
                elif directive[1] == 'endif':
                    self.conditions.pop()
                else:
                    self.conditions[-1] += line
            if INCLUDE.match(line):
                (before if self.wrap and not any(self.conditions) else output).append(self.included(path, line))
            elif line != '#pragma once\n':
                output.append(line)
        assert len(self.conditions) == depth, path
        own = ''.join(output)
        return ''.join(before) + (self.wrap(path, own) if self.wrap and not any(self.conditions) else own)

    def included(self, path, line):
        return self.header(resolved(self.root, path, INCLUDE.match(line)[1]))

    def header(self, path):
        here = tuple(filter(None, self.conditions))
        if path in self.placed:
            assert self.placed[path] == here[:len(self.placed[path])], f'{path} is included under {self.placed[path]}, then elsewhere'
            return ''
        text = (self.root / path).read_text()
        if self.wrap or '#pragma once' in text or re.search(r'^#ifndef ATTEND_\w+_H$', text, re.M):
            self.placed[path] = here
        return self.file(path, text)


def resolved(root, path, name):
    return str((root / path).parent.joinpath(name).resolve().relative_to(root))


def reached(root, path, text, found):
    """Adds the headers that a file reaches to a set."""
    for header in {resolved(root, path, name) for name in INCLUDE.findall(text)} - found:
        found.add(header)
        reached(root, header, (root / header).read_text(), found)
    return found


def passages(root, files, taken):
    """The second half of attend.cpp: what comes before begin.h, headers, the names of each passage, its entry points, end.h."""
    found = [(path, match) for path in files for match in PASSAGE.finditer((root / path).read_text())]
    users = {}
    for path, match in found:
        for header in reached(root, path, match[0], set()):
            users.setdefault(header, []).append(match[1])

    def only(names, text):
        condition = ' || '.join(f'defined(ATTEND_PASS_{name})' for name in names)
        return text if len(names) == len(found) or not text.strip() else f'#if {condition}\n{text}#endif\n'

    every = Text(root, taken, lambda path, text: only(users[path], text))
    part = lambda number: ''.join(every.included(path, line) if INCLUDE.match(line) else line for path, match in found
                                  for line in ([only([match[1]], match[4] or '')] if number == 4 else (match[number] or '').splitlines(keepends=True)))
    return part(2) + every.header('src/isa/begin.h') + part(3) + part(4) + part(5) + every.header('src/isa/end.h')


def amalgamate(root, banner):
    """The texts of the files. `banner`: a comment for C that says what they are."""
    root = pathlib.Path(root).resolve()
    paths = lambda *patterns: [str(path.relative_to(root)) for pattern in patterns for path in sorted(root.glob(pattern))]
    public = paths('include/attend/*.h', 'include/attend/*/*.h')
    c_surface = [path for path in public if '#pragma once' not in (root / path).read_text()]
    c_text, cpp_text = ''.join(map(Text(root).header, c_surface)), ''.join(map(Text(root, c_surface).header, public))
    guarded = lambda name, text: f'{banner}#ifndef ATTEND_{name}_H\n#define ATTEND_{name}_H\n{text}\n#endif\n'
    files = paths('src/*/*.cpp', 'src/call/*.h')
    itself = r'#define ATTEND_ISA \1\n#define ATTEND_PASS_\1\n#include <attend.cpp>\n#undef ATTEND_PASS_\1\n'
    first = Text(root, c_surface, passage=itself)
    sources = ''.join(first.file(path, (root / path).read_text()) for path in files if path.endswith('.cpp'))
    sources = sources.replace('#include <attend.cpp>', '#include "attend.cpp"')
    return {'attend_c.h': guarded('AMALGAMATION_C', c_text),
            'attend.h': guarded('AMALGAMATION', f'#include "attend_c.h"\n\n#ifdef __cplusplus\n{cpp_text}\n#endif\n'),
            'attend.cpp': f'{banner}#ifndef ATTEND_ISA\n{NOT_ALL_USED}#include "attend_c.h"\n{sources}#else\n{passages(root, files, first.placed)}\n#endif\n'}


if __name__ == '__main__':
    for file_name, content in amalgamate('.', '').items():
        pathlib.Path(sys.argv[1], file_name).write_text(content)
