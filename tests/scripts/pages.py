"""What stands in the pages, from the project's top folder: tests/scripts/pages.py text | links FOLDER… | sources FOLDER | python FOLDER

text     prints a line for each thing that was looked at, as the scripts beside it do: links and anchors, tables, named paths and
         commands, figures, excerpts of examples, the length of README. With FOLDER: the pages below that folder.
links    the same for links, anchors and tables of the pages below each folder, which a package carries.
sources  writes the programs and fragments of all pages, and the examples in comments of headers, to a folder and lists them in
         FOLDER/list, for check_pages.sh to compile.
python   writes the blocks of Python of each page to a folder, as one program for each page.

Comments of a page that this program reads:

<!-- bench/examples/gpt2_block.cpp: from "// begin" to "// end" -->
    The code block below has the lines of that file between the first that holds the one text and the next that holds the other.
<!-- bench/speed/results/sizes.md, row "cortex-m4": 3876, 752 -->
    These numbers stand in the line before the comment, and in a row of a table of that file whose first cells are this text, with
    commas between cells.
<!-- tests/conformance/digests.inc, count of "DIGEST(": 96 -->
    This number stands in the line before the comment, and so often does the text stand in that file.
<!-- fragment: declarations -->, <!-- fragment: statements -->
    The code block below compiles at namespace scope, or within a function, after the declarations above it on the page; lines of
    the comment after the first are declarations before it.
"""
import pathlib
import re
import sys
import urllib.parse

import header_examples
from page import between, cells, numbers, pages_below, resolved

ROOT = pathlib.Path('.')
README_LINES, README_WORDS = 200, 2500
TOP = ('bench/', 'include/', 'src/', 'tests/', '.github/', '.ci/')


def say(found, what):
    """One line for the counts: nothing was found wrong, or the first things that were."""
    print(f'FAIL {what}: {"; ".join(found[:5])}' if found else f'ok   {what}')


def plural(number, thing):
    return f'{number} {thing}' + ('' if number == 1 else 's')


def check_links(root, pages, name):
    anchors = {page.path: page.anchors() for page in pages}
    wrong, count = [], 0
    for page in pages:
        folder = pathlib.Path(page.path).parent
        for number, target in page.links():
            if re.match(r'[a-z]+:', target):
                continue
            count += 1
            path, _, anchor = urllib.parse.unquote(target).partition('#')
            place = page.path if not path else str(pathlib.Path(*resolved(folder, path)))
            if path and not (root / place).exists():
                wrong.append(f'{page.path}:{number} links {target}, which does not exist')
            elif anchor and anchor not in anchors.get(place, ()):
                wrong.append(f'{page.path}:{number} links {target}, which has no such heading')
    say(wrong, f'{name}: {plural(count, "link")} of {plural(len(pages), "page")} resolve')
    rows = [row for page in pages for row in page.tables()]
    say(rows, f'{name}: rows of tables have the cells of their header')


def check_names(root, pages):
    """Paths of the project and commands of make that stand between backticks."""
    makefiles = [root / 'Makefile', *root.glob('bench/*/*.mk'), *root.glob('tests/*.mk')]
    targets = {name for file in makefiles if file.exists() for name in re.findall(r'^#[#:] +([a-z-]+) ', file.read_text(), re.M)}
    wrong, count = [], 0
    for page in pages:
        if page.path.endswith('CHANGELOG.md'):  # it names what was
            continue
        for number, line in page.prose:
            for code in re.findall(r'`([^`]+)`', line):
                for command in re.findall(r'\bmake ([a-z-]+)', code):
                    count += 1
                    if command not in targets:
                        wrong.append(f'{page.path}:{number} names make {command}')
                if code.startswith(TOP) and not re.search(r'[*<>{}$…\s=]|<isa>', code):
                    count += 1
                    if not (root / code.split('#')[0]).exists():
                        wrong.append(f'{page.path}:{number} names {code}')
    say(wrong, f'{plural(count, "path and command")} that pages name exist')


def check_sources(root):
    """Pages that comments of sources name, from the project's top folder."""
    wrong, count = [], 0
    for top in ('include', 'src', 'bench', 'tests'):
        for path in sorted((root / top).rglob('*')):
            if path.suffix not in ('.h', '.cpp', '.c', '.inc', '.py', '.sh', '.awk') or path.parent == pathlib.Path('tests/scripts'):
                continue
            for name in re.findall(r'[\w/.-]*\w\.md\b', path.read_text()):
                count += 1
                if not name.startswith('build/') and not (root / name).exists():
                    wrong.append(f'{path} names {name}')
    say(wrong, f'{plural(count, "page")} that sources name exist')


def check_figures(root, pages):
    wrong, count = [], 0
    for page in pages:
        for number, line, comment in page.comments:
            match = re.match(r'(\S+), (row|count of) "(.*)": (.*)$', comment)
            if not match:
                continue
            path, kind, text, figures = match.groups()
            where = f'{page.path}:{number}'
            content = (root / path).read_text() if (root / path).exists() else ''
            rows = [str(content.count(text))]
            if kind == 'row':
                rows = [row[len(text):] for row in map(cells, content.split('\n')) if row.startswith(text + ', ')]
            for figure in numbers(figures):
                count += 1
                if figure not in numbers(line):
                    wrong.append(f'{where}: the line does not have {figure}')
                if not any(figure in numbers(row) for row in rows):
                    wrong.append(f'{where}: {path} has another figure than {figure}')
    say(wrong, f'{plural(count, "figure")} of pages are those of the files that they name')


def check_excerpts(root, pages):
    wrong, count = [], 0
    for page in pages:
        for number, _, lines, comment in page.blocks:
            match = re.match(r'\s*(\S+): from "(.*)" to "(.*)"\s*$', comment or '')
            if not match:
                continue
            count += 1
            path, begin, end = match.groups()
            found = between((root / path).read_text().split('\n'), begin, end) if (root / path).exists() else None
            if found != lines:
                wrong.append(f'{page.path}:{number} is not what {path} has from {begin} to {end}')
    say(wrong, f'{plural(count, "code block")} of pages are those of the files that they name')


def check_length(root):
    if not (root / 'README.md').exists():
        return
    text = (root / 'README.md').read_text()
    lines, words = len(text.splitlines()), len(text.split())
    say([f'{lines} lines'] if lines > README_LINES else [], f'README has at most {README_LINES} lines')
    say([f'{words} words'] if words > README_WORDS else [], f'README has at most {README_WORDS} words')


def is_program(lines):
    return any(re.search(r'\bint main *\(', line) for line in lines)


def write_sources(folder):
    """Programs, each with the text that it prints, and one file for the fragments of each page."""
    folder.mkdir(parents=True, exist_ok=True)
    listed, unknown = [], []
    for page in pages_below(ROOT):
        name, blocks = page.name(), page.blocks
        fragments = {'cpp': [], 'c': []}
        for at, (number, language, lines, comment) in enumerate(blocks):
            if language not in fragments or re.match(r'\s*\S+: from "', comment or ''):
                continue
            place = f'#line {number} "{page.path}"\n'
            if is_program(lines):
                program = f'{name}_{number}'
                (folder / f'{program}.{language}').write_text(place + '\n'.join(lines) + '\n')
                shown = blocks[at + 1] if at + 1 < len(blocks) and blocks[at + 1][1] == 'text' else None
                if shown:
                    (folder / f'{program}.expected').write_text('\n'.join(shown[2]) + '\n')
                listed.append(f'program {language} {program} {page.path}:{number}')
                continue
            kind, _, before = (comment or '').strip().partition('\n')
            if kind not in ('fragment: declarations', 'fragment: statements'):
                unknown.append(f'{page.path}:{number}')
                continue
            text = '\n'.join(lines)
            if kind.endswith('statements'):
                text = f'void fragment_{number}();\nvoid fragment_{number}() {{\n{place}{text}\n}}'
            fragments[language].append(f'{before}\n{place}{text}\n')
        for language, parts in fragments.items():
            if parts:
                header = '#include <attend/attend_c.h>\n' if language == 'c' else '#include <attend/layers.h>\n'
                (folder / f'{name}_fragments.{language}').write_text(header + ''.join(parts))
                listed.append(f'fragments {language} {name}_fragments {page.path}')
    for name, language, header, text in header_examples.sources(ROOT):
        (folder / f'{name}.{language}').write_text(text)
        listed.append(f'fragments {language} {name} {header}')
    (folder / 'list').write_text(''.join(line + '\n' for line in listed))
    say(unknown, 'every code block is a program, an excerpt or a fragment')


def write_python(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages_below(ROOT):
        blocks = ['\n' * 2 + '\n'.join(lines) for _, language, lines, _ in page.blocks if language == 'python']
        if blocks:
            (folder / f'{page.name()}.py').write_text('\n'.join(blocks) + '\n')


def main(what, *folders):
    if what == 'text':
        root = pathlib.Path(folders[0]) if folders else ROOT
        pages = pages_below(root)
        check_links(root, pages, 'pages')
        check_names(root, pages)
        check_sources(root)
        check_figures(root, pages)
        check_excerpts(root, pages)
        check_length(root)
    elif what == 'links':
        for folder in map(pathlib.Path, folders):
            check_links(folder, pages_below(folder), str(folder))
    elif what == 'sources':
        write_sources(pathlib.Path(folders[0]))
    else:
        write_python(pathlib.Path(folders[0]))


main(*sys.argv[1:])
