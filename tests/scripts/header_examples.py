"""The examples in comments of headers, as sources that compile: written by pages.py sources, with the programs of pages.

An example is a run of comment lines that are indented by three spaces or more, whose first line is code: it ends in ; or { and does not
begin with "for each". It compiles within a function, or at namespace scope where it has a struct, after the declarations that
header_examples.txt has for its header.
"""
import pathlib
import re

COMMENT = re.compile(r' *(?://|/\*| \*)( *)(.*?)(?: *\*/)?$')


def examples(lines):
    """(number of the first line, lines) of each."""
    run, found = [], []
    for number, line in enumerate([*lines, ''], 1):
        match = COMMENT.match(line)
        if match and (len(match[1]) >= 3 or run and not match[2]):
            run.append((number, match[1] + match[2]))
        else:
            if run and re.match(r'(?! *for each).*[;{]$', re.sub(r'\s*//.*', '', run[0][1])):
                found.append((run[0][0], [text for _, text in run]))
            run = []
    return found


def declarations(path):
    """{header: text before its examples}: a line `== header` begins each."""
    parts = re.split(r'^== (.*)\n', path.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def sources(root):
    """(name, language, header, text) for each header that has examples."""
    before = declarations(root / 'tests/scripts/header_examples.txt')
    for path in sorted((root / 'include/attend').rglob('*.h')):
        header = str(path.relative_to(root / 'include'))
        found = examples(path.read_text().splitlines())
        if not found:
            continue
        is_c = '#pragma once' not in path.read_text()
        text = f'#include <{header}>\n' + ('' if is_c else f'#include <attend/layers.h>\n{before["every"]}') + before.pop(header, '')
        for number, lines in found:
            code = f'#line {number} "include/{header}"\n' + '\n'.join(lines).replace('…', '')
            begin = 'namespace' if 'struct ' in code else f'void example_{number}(void);\nvoid'
            text += f'{begin} example_{number}{"" if "struct " in code else "(void)"} {{\n{code}\n}}\n'
        yield re.sub(r'\W', '_', header), 'c' if is_c else 'cpp', f'include/{header}', text
    assert set(before) == {'every'}, f'header_examples.txt has declarations for headers without examples: {sorted(before)}'
