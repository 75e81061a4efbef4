"""The library as few files: attend_c.h, attend.h and attend.cpp, from include/attend and src; with a FOLDER, they are written
there.

attend_c.h is every header of the C surface; attend.h includes it and is every header of the C++ surface, layers too; the
headers that programs include beside it, PARTS, include it. attend.cpp is every source.
A header stands in front of the first file that includes it. A passage, from `#define ATTEND_ISA` to the include of end.h, is compiled
for an instruction set: there attend.cpp includes itself. Its second half has each header of the passages once, ATTEND_PASS_<name> around
what only some use: operations, then the lists of body.h, then entry points.
"""
import itertools
import pathlib
import re
import sys

ONCE = '#pragma once\n'
END = 'src/backend/end.h'
GUARD = re.compile(r'#ifndef \w+_H$')  # of a header for C
PARTS = ('states.h', 'merged_states.h', 'integer.h', 'layers.h', 'linear_attention.h', 'worst_case.h')
INCLUDE = re.compile(r'#include "([^"]+)"')
NAMESPACE = re.compile(r'namespace [^=]*\{$')


class Amalgamation:
    def __init__(self, root):
        self.root, self.placed, self.passages = root, set(), []
        self.lines = lambda path: (root / path).read_text().splitlines(keepends=True)
        self.is_placed_once = lambda path: any(line == ONCE or GUARD.match(line) for line in self.lines(path))

    def included(self, line, path):
        """The path of the file that a line includes, if it does."""
        include = INCLUDE.match(line)
        return include and str((self.root / path).parent.joinpath(include[1]).resolve().relative_to(self.root))

    def without_passages(self, path):
        """The lines of a file. Passages are kept; attend.cpp includes itself in their place."""
        kept = None
        for line in self.lines(path):
            if line.startswith('#define ATTEND_ISA '):
                name, kept = 'ATTEND_PASS_' + re.sub(r'\W+', '_', line.split()[2]), []
                self.passages.append((name, path, kept))
                yield f'{line}#define {name}\n#include "attend.cpp"\n#undef {name}\n'
            elif kept is None:
                yield line
            else:
                kept.append(line)
                if self.included(line, path) == END:
                    kept.pop()
                    kept = None

    def put(self, path, lines):
        """Two texts for lines of a file: what stands in front, and the rest, where what depends on a condition stays."""
        front, rest, depth = '', f'\n// {path}\n', 0
        for line in lines:
            depth += (line.startswith('#if') and not GUARD.match(line)) - line.startswith('#endif\n')
            include = self.included(line, path)
            if include:
                ahead, here = self.put_file(include)
                front, rest = (front, rest + ahead + here) if depth > 0 else (front + ahead, rest + here)
            elif line != ONCE:
                rest += line
        return front, rest

    def put_file(self, path):
        """What is included once stands in front."""
        if path in self.placed:
            return '', ''
        front, rest = self.put(path, self.without_passages(path))
        if self.is_placed_once(path):
            self.placed.add(path)
            front, rest = front + rest, ''
        return front, rest

    def pieces(self, path, lines):
        """(key, text) for lines of a passage and for each file that they include; within a condition a file is part of the text. A text closes the
        namespaces that it opens, and opens those that an included file stands in."""
        text, depth, opened = f'\n// {path}\n', 0, []
        for number, line in enumerate(lines):
            depth += line.startswith('#if') - line.startswith('#endif\n')
            opened += [line] * bool(NAMESPACE.match(line))
            opened = opened[:-1] if line.startswith('}  // namespace') else opened
            include = self.included(line, path)
            if not include:
                text += '' if line == ONCE else line
            elif include not in self.placed:
                parts = list(self.pieces(include, self.lines(include)))
                if depth > 0:
                    text += ''.join(part for _, part in parts)
                else:
                    begin, end = ''.join(opened), '}\n' * len(opened)
                    yield (path, number), text + end
                    yield from ((key, begin + part + end) for key, part in parts)
                    text = begin
        yield (path, len(lines)), text

    def second_half(self):
        users = {}
        for name, path, lines in self.passages:
            begun = False
            for key, text in self.pieces(path, lines):
                begun = begun or key[0].endswith('/body.h')
                own = (name,) if key[0] == path else ()  # a source may have several passages
                users.setdefault((begun, key, own), (text, []))[1].append(name)
        ordered = sorted(users.items(), key=lambda item: item[0][0])  # operations first; otherwise as they come
        together = itertools.groupby(ordered, key=lambda item: item[1][1])
        texts = [self.only(names, ''.join(text for _, (text, _) in group)) for names, group in together]
        return ''.join([*texts, *self.put_file(END)])

    def only(self, names, text):
        users = ' || '.join(f'defined({name})' for name in names)
        return f'#if {users}\n{text}#endif\n' if len(names) < len(self.passages) and text.strip() else text


def amalgamate(root, banner):
    """The texts of the files. `banner`: a comment for C that says what they are."""
    root = pathlib.Path(root).resolve()
    paths = lambda *patterns: [str(path.relative_to(root)) for pattern in patterns for path in sorted(root.glob(pattern))]
    text_of = lambda files, paths: ''.join(''.join(files.put_file(path)) for path in paths)
    guarded = lambda name, text: f'{banner}#ifndef ATTEND_{name}_H\n#define ATTEND_{name}_H\n{text}\n#endif\n'
    headers, library = Amalgamation(root), Amalgamation(root)
    public = [path for path in paths('include/attend/*.h', 'include/attend/*/*.h') if '/hosted/' not in path]  # which need a C++ library
    c_text = text_of(headers, [path for path in public if ONCE not in headers.lines(path)])
    library.placed.update(headers.placed)
    cpp_text, sources = text_of(headers, public), text_of(library, paths('src/*/*.cpp'))
    return {'attend_c.h': guarded('AMALGAMATION_C', c_text),
            'attend.h': guarded('AMALGAMATION', f'#include "attend_c.h"\n\n#ifdef __cplusplus\n{cpp_text}\n#endif\n'),
            **{part: f'{banner}#include "attend.h"\n' for part in PARTS},
            'attend.cpp': f'{banner}#ifndef ATTEND_ISA\n#include "attend_c.h"\n{sources}#else\n{library.second_half()}\n#endif\n'}


def self_test(root, banner, header=''):
    """tests/boards/self_tests.h as one header. Where `header` is the library's, it stands in the place of those that the tests name."""
    files = Amalgamation(pathlib.Path(root).resolve())
    included = files.included
    files.included = lambda line, path: None if line.startswith('#include "attend/') else included(line, path)
    text = re.sub(r'\bfirmware\b', 'attend_self_test', ''.join(files.put_file('tests/boards/self_tests.h')))
    if header:
        text = f'#include {header}\n' + re.sub(r'^#include "attend/.*\n', '', text, flags=re.M)
    return f'{banner}#pragma once\n\n#if __cplusplus < 201703L\n#error "the self-test needs C++17: set -std=gnu++17"\n#endif\n\n{text}'


if __name__ == '__main__':
    for file_name, content in amalgamate('.', '').items():
        pathlib.Path(sys.argv[1], file_name).write_text(content)
