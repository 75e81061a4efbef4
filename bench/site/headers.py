"""The public declarations of the headers, with the comments that the headers give them, as pages of a reference.

Public is what stands in namespace attend itself, in whichever header below include/attend, and what the headers of the C surface
declare. It is shown on the page of the first header for users, in the order in which attend.h, layers.h and linear_attention.h include them, that brings it in.
"""
import pathlib
import re

import clang.cindex
from clang.cindex import CursorKind

from comments import text_of
from cursors import ALIASES, FUNCTIONS, INCLUDE, RECORDS, VARIABLES, is_shown, normal, parsed, path_of
from declarations import Entry, Page, Prose, Reader, catches


UMBRELLAS = ('attend.h', 'layers.h', 'linear_attention.h')
BESIDE = ('states.h', 'merged_states.h', 'integer.h', 'worst_case.h')  # what programs include beside attend.h


def is_inner(name):
    """Whether a header is a part of others, whose pages show its names."""
    return name.startswith(('core/', 'detail/', 'layers/core_', 'layers/layer_', 'linear_attention/core_')) or name == 'layers/weights.h'


class Headers:
    """Both surfaces, parsed once."""

    def __init__(self, root):
        self.root = root
        self.reader = Reader(root)
        index = clang.cindex.Index.create()
        self.cpp_unit = parsed(index, '#include <attend/layers.h>\n#include <attend/merged_states.h>\n#include <attend/linear_attention.h>\n#include <attend/worst_case.h>\n', 'every.cpp', '-std=c++17', root)
        c_headers = ['attend_c.h', *sorted(f'c/{path.name}' for path in (root / INCLUDE / 'c').glob('*.h'))]
        self.c_unit = parsed(index, ''.join(f'#include <attend/{name}>\n' for name in c_headers), 'every.c', '-std=c11', root)
        self.homes = self._homes(c_headers)
        self.pages = {}
        for name in self._order():
            self.page(f'{INCLUDE}/{name}', 'cpp')
        for name in c_headers:
            self.page(f'{INCLUDE}/{name}', 'c')
        self._cpp()
        self._c()
        for page in self.pages.values():
            self._prose(page)
            page.parts.sort(key=lambda part: order_of(part, page))
        self.pages = {path: page for path, page in self.pages.items() if page.parts}

    def page(self, path, language):
        return self.pages.setdefault((path, language), Page(path, language))

    def _order(self):
        attention, *others = ([name for name in self._includes(umbrella) if not is_inner(name) and name not in UMBRELLAS] for umbrella in UMBRELLAS)
        return [*attention, *BESIDE, *sum(others, [])]

    def _homes(self, c_headers):
        """{header: the page that shows its names}, for those of detail and core."""
        homes = {}
        for name in [*self._order(), *UMBRELLAS]:
            self._claim(name, name, homes)
        # A part of a layer, which layers.h includes by itself, belongs to layers: to the last header that includes what it includes.
        for name, home in homes.items():
            if home in UMBRELLAS:
                included = [other for other in self._includes(name) if other in homes and homes[other] not in UMBRELLAS]
                homes[name] = homes[included[-1]] if included else 'attend.h'
        return {f'{INCLUDE}/{name}': f'{INCLUDE}/{home}' for name, home in homes.items()}

    def _includes(self, name):
        folder = pathlib.PurePosixPath(name).parent
        text = (self.root / INCLUDE / name).read_text()
        return [normal(str(folder / other)) for other in re.findall(r'^#include "(.*?)"', text, re.M)]

    def _claim(self, name, home, homes):
        if name in homes:
            return
        homes[name] = home if is_inner(name) else name
        for other in self._includes(name):
            self._claim(other, homes[name], homes)

    def _cpp(self):
        def walk(cursor):
            for child in cursor.get_children():
                path = path_of(child)
                if path is None:
                    continue
                if child.kind == CursorKind.NAMESPACE:
                    if child.spelling == 'attend' and cursor.kind == CursorKind.TRANSLATION_UNIT:
                        found.extend((path_of(each), each) for each in child.get_children() if path_of(each))
                elif child.kind in (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
                    walk(child)
        found = []
        walk(self.cpp_unit.cursor)
        self._add(found, 'cpp', lambda path: self.homes.get(path))

    def _c(self):
        pages = {path for path, language in self.pages if language == 'c'}
        found = []

        def walk(cursor):
            for child in cursor.get_children():
                path = path_of(child)
                if path is None or not (path in pages or path.endswith('core/version.h')):
                    continue
                if child.kind in (CursorKind.LINKAGE_SPEC, ):
                    walk(child)
                else:
                    found.append((path, child))
        walk(self.c_unit.cursor)
        self._add(found, 'c', lambda path: path if path in pages else f'{INCLUDE}/attend_c.h')

    def _add(self, found, language, home):
        """Entries of cursors: those that follow the one before without a comment or a blank line share its comment."""
        by_path, seen = {}, set()
        for path, cursor in found:
            kinds = RECORDS | FUNCTIONS | VARIABLES | ALIASES | {CursorKind.ENUM_DECL, CursorKind.MACRO_DEFINITION}
            if cursor.kind in kinds and is_shown(cursor, language):
                place = (path, cursor.extent.start.offset)
                if place not in seen:
                    seen.add(place)
                    by_path.setdefault(path, []).append(cursor)
        for path, cursors in by_path.items():
            entries = self.reader.entries(path, sorted(cursors, key=lambda cursor: cursor.extent.start.offset), language)
            entries = [entry for entry in entries if not catches(entry)]
            self.page(home(path), language).parts += entries

    def _prose(self, page):
        """The comment at a header's top, and those that stand by themselves between declarations."""
        source = self.reader.source(page.path)
        taken = {number for part in page.parts if part.path == page.path for number in range(part.first_line, part.items[-1].end + 1)}
        # Within namespace detail and within declarations nothing is for users.
        depth, hidden = 0, set()
        for number, line in enumerate(source.lines.lines):
            code = re.sub(r'//.*|/\*.*?\*/', '', line) if number not in source.lines.in_comment else ''
            if re.match(r'namespace detail \{', code) and '}' not in code:
                depth = 1
            if depth:
                hidden.add(number)
            if re.match(r'\}  // namespace detail', line):
                depth = 0
        number, first = 1, True
        while number < len(source.lines.lines):
            if source.lines.in_comment.get(number) != number or number in taken or number in hidden or source.lines.lines[number][0] == ' ':
                number += 1
                continue
            last = number
            while last + 1 in source.lines.in_comment and (source.lines.in_comment[last + 1] == number or
                                                           source.lines.lines[last + 1].startswith('//')):
                last += 1
            following = source.lines.lines[last + 1] if last + 1 < len(source.lines.lines) else ''
            if first:
                page.intro = text(source, number, last)
            elif not following.strip() or source.lines.lines[number].startswith('/* ----'):
                lines = text(source, number, last)
                if not lines[0].startswith(('clang-format', 'In the order')):
                    page.parts.append(Prose(lines, page.path, number))
            first = False
            number = last + 1


def text(source, first, last):
    return text_of(source.lines.lines[first:last + 1])


def order_of(part, page):
    """A header's own names come first, then those of the headers that it brings in."""
    line = part.first_line if isinstance(part, Entry) else part.line
    return (part.path != page.path, '/core/' in part.path, part.path, line)
