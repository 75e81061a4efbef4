"""The library as few files: attend_c.h, attend.h and attend.cpp, from include/attend and src; with a FOLDER, they are written there.

attend_c.h is every header of the C surface; attend.h includes it and is every header of the C++ surface. attend.cpp is every source.
A header stands in front of the first file that includes it. A passage, from `#define ATTEND_ISA` to `#include "end.h"`, is compiled
for an instruction set: there attend.cpp includes itself. Its second half has the passages, ATTEND_PASS_<name> around what only some use.
"""
import pathlib
import re
import sys

ONCE = '#pragma once\n'

class Amalgamation:
    def __init__(self, root):
        self.root, self.placed, self.passages, self.users = root, set(), [], {}
        self.lines = lambda path: (root / path).read_text().splitlines(keepends=True)

    def without_passages(self, path):
        """The lines of a file. Passages are kept; attend.cpp includes itself in their place."""
        kept = None
        for line in self.lines(path):
            if line.startswith('#define ATTEND_ISA '):
                name, kept = line.split()[2], []
                self.passages.append((name, path, kept))
                yield f'{line}#define ATTEND_PASS_{name}\n#include "attend.cpp"\n#undef ATTEND_PASS_{name}\n'
            elif kept is None:
                yield line
            elif not re.search(r'\b(begin|end)\.h"', line):
                kept.append(line)
            elif 'end.h' in line:
                kept = None

    def put(self, path, lines, name=None):
        """Two texts for lines of a file: what stands in front, and the rest, where what depends on a condition stays. name: of the passage."""
        front, rest, depth = '', f'\n// {path}\n', 0
        for line in lines:
            depth += (line.startswith('#if') and not line.endswith('_H\n')) - line.startswith('#endif\n')
            include = re.match(r'#include "([^"]+)"', line)
            if include:
                ahead, here = self.put_file(str((self.root / path).parent.joinpath(include[1]).resolve().relative_to(self.root)), name)
                front, rest = (front, rest + ahead + here) if depth > 0 else (front + ahead, rest + here)
            elif line != ONCE:
                rest += line
        return front, rest

    def put_file(self, path, name=None):
        """What has a guard stands in front, once, for all passages that use it."""
        if path in self.placed:
            return '', ''
        self.users.setdefault(path, {})[name] = True
        front, rest = self.put(path, self.without_passages(path), name)
        if any(line == ONCE or line.startswith('#ifndef') and line.endswith('_H\n') for line in self.lines(path)):
            self.placed.add(path)
            front, rest = front + (self.only(self.users[path], rest) if name else rest), ''
        return front, rest

    def only(self, names, text):
        users = ' || '.join(f'defined(ATTEND_PASS_{name})' for name in names)
        return f'#if {users}\n{text}#endif\n' if len(names) < len(self.passages) else text

    def second_half(self):
        """The passages, between begin.h and end.h. A first round finds the users of headers."""
        for before in (set(self.placed), None):
            text = ''
            for name, path, lines in self.passages:
                front, rest = self.put(path, lines, name)
                text += front + self.only([name], rest)
                self.placed = self.placed if before is None else set(before)
        return ''.join([*self.put_file('src/isa/begin.h'), text, *self.put_file('src/isa/end.h')])


def amalgamate(root, banner):
    """The texts of the files. `banner`: a comment for C that says what they are."""
    root = pathlib.Path(root).resolve()
    paths = lambda *patterns: [str(path.relative_to(root)) for pattern in patterns for path in sorted(root.glob(pattern))]
    text_of = lambda files, paths: ''.join(''.join(files.put_file(path)) for path in paths)
    guarded = lambda name, text: f'{banner}#ifndef ATTEND_{name}_H\n#define ATTEND_{name}_H\n{text}\n#endif\n'
    headers, library = Amalgamation(root), Amalgamation(root)
    public = paths('include/attend/*.h', 'include/attend/*/*.h')
    c_text = text_of(headers, [path for path in public if ONCE not in headers.lines(path)])
    library.placed.update(headers.placed)
    cpp_text, sources = text_of(headers, public), text_of(library, paths('src/*/*.cpp'))
    return {'attend_c.h': guarded('AMALGAMATION_C', c_text),
            'attend.h': guarded('AMALGAMATION', f'#include "attend_c.h"\n\n#ifdef __cplusplus\n{cpp_text}\n#endif\n'),
            'attend.cpp': f'{banner}#ifndef ATTEND_ISA\n#include "attend_c.h"\n{sources}#else\n{library.second_half()}\n#endif\n'}


if __name__ == '__main__':
    for file_name, content in amalgamate('.', '').items():
        pathlib.Path(sys.argv[1], file_name).write_text(content)
