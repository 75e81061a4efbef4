"""The public declarations of the headers, as Clang's parser finds them (Debian: python3-clang-19), with the comments that the headers
give them.

Public is what stands in namespace attend itself, in whichever header below include/attend, and what the headers of the C surface
declare. It is shown on the page of the first header for users, in the order in which attend.h includes them, that brings it in.
"""
import pathlib
import re

import clang.cindex
from clang.cindex import AccessSpecifier, CursorKind

from comments import Lines, text_of

INCLUDE = 'include/attend'
# Declarations that check how the header itself is compiled.
CHECKS = {'attend_packing', 'attend_structs_must_not_be_packed'}
RECORDS = {CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE, CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR}
VARIABLES = {CursorKind.VAR_DECL, CursorKind.FIELD_DECL, CursorKind.UNEXPOSED_DECL}
ALIASES = {CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPE_ALIAS_TEMPLATE_DECL, CursorKind.TYPEDEF_DECL}


class Item:
    """One declaration: an entry's own, or a member of it."""

    def __init__(self, name, kind, path, line, end, signature):
        self.name, self.kind, self.path, self.line, self.end, self.signature = name, kind, path, line, end, signature
        self.comment, self.members, self.base = [], [], ''
        self.returns_status = False
        self.id, self.owner, self.cursor = name, None, None


class Entry:
    """Declarations that stand together under one comment."""

    def __init__(self, comment, first_line):
        self.comment, self.first_line, self.items = comment, first_line, []

    @property
    def name(self):
        return self.items[0].name

    @property
    def path(self):
        return self.items[0].path


class Page:
    """What the reference shows of a header: prose and entries, in order of their lines."""

    def __init__(self, path, language):
        self.path, self.language, self.intro, self.parts = path, language, [], []

    def entries(self):
        return [part for part in self.parts if isinstance(part, Entry)]


class Prose:
    def __init__(self, lines, path, line):
        self.lines, self.path, self.line = lines, path, line
        title = re.match(r'---- (.*) ----$', lines[0]) if lines else None
        self.title = title[1] if title else ''
        if title:
            self.lines = lines[1:]
        while self.lines and not self.lines[0].strip():
            self.lines = self.lines[1:]


class Source:
    """A header's text and its comments."""

    def __init__(self, root, path):
        self.path, self.text = path, (root / path).read_text()
        self.lines = Lines(self.text)

    def signature(self, cursor):
        """A declaration as it is written, without its body, its base and its initialisers."""
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        data = self.text.encode()
        text = data[begin:end].decode()
        if cursor.kind in FUNCTIONS:
            text = cut(text, '{', ' :')
        elif cursor.kind in RECORDS:
            text = cut(text, '{', ' :')
        text = re.sub(r'\[\[gnu::\w+\]\] ?|\bATTEND_API ', '', text).rstrip().rstrip(';')
        text = re.sub(r'\s*(//.*|/\*.*?\*/)', '', text)
        text += ''.join(']' * (text.count('[') - text.count(']')))  # what Clang leaves out of arrays whose extent depends
        column = cursor.extent.start.column - 1
        return '\n'.join(line[column:] if line[:column].isspace() else line for line in text.split('\n'))


def cut(text, *ends):
    """Up to the first of these outside of brackets. A colon of its own begins a base or initialisers."""
    depth, at = 0, 0
    while at < len(text):
        if text[at] in '(<[':
            depth += 1
        elif text[at] in ')>]':
            depth -= 1
        for end in ends:
            if depth == 0 and text.startswith(end, at) and not text.startswith('::', at + end.count(' ')):
                return text[:at]
        if depth == 0 and text.startswith('\n    :', at) and not text.startswith('\n    ::', at):
            return text[:at]
        # Braces of default arguments are inside of brackets.
        at += 1
    return text


class Headers:
    """Both surfaces, parsed once."""

    def __init__(self, root):
        self.root = root
        self.sources = {}
        index = clang.cindex.Index.create()
        self.cpp_unit = parsed(index, '#include <attend/attend.h>\n', 'every.cpp', '-std=c++17', root)
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

    def source(self, path):
        if path not in self.sources:
            self.sources[path] = Source(self.root, path)
        return self.sources[path]

    def _order(self):
        text = (self.root / INCLUDE / 'attend.h').read_text()
        return [name for name in re.findall(r'#include "(.*)"', text) if not name.startswith(('core/', 'detail/'))]

    def _homes(self, c_headers):
        """{header: the page that shows its names}, for those of detail and core."""
        homes = {}
        for name in [*self._order(), 'attend.h']:
            self._claim(name, name, homes)
        # A part of a layer, which attend.h includes by itself, belongs to layers: to the last header that includes what it includes.
        for name, home in homes.items():
            if home == 'attend.h':
                included = [other for other in self._includes(name) if other in homes and homes[other] != 'attend.h']
                homes[name] = homes[included[-1]] if included else 'attend.h'
        return {f'{INCLUDE}/{name}': f'{INCLUDE}/{home}' for name, home in homes.items()}

    def _includes(self, name):
        folder = pathlib.PurePosixPath(name).parent
        text = (self.root / INCLUDE / name).read_text()
        return [normal(str(folder / other)) for other in re.findall(r'^#include "(.*?)"', text, re.M)]

    def _claim(self, name, home, homes):
        if name in homes:
            return
        homes[name] = home if name.startswith(('core/', 'detail/')) else name
        for other in self._includes(name):
            self._claim(other, homes[name], homes)

    def _path(self, cursor):
        """The header of a cursor, from the project's top folder; None for those of others."""
        file = cursor.location.file
        if file is None:
            return None
        path = normal(str(pathlib.PurePosixPath(file.name)))
        at = path.find(INCLUDE + '/')
        return path[at:] if at >= 0 else None

    def _cpp(self):
        def walk(cursor):
            for child in cursor.get_children():
                path = self._path(child)
                if path is None:
                    continue
                if child.kind == CursorKind.NAMESPACE:
                    if child.spelling == 'attend' and cursor.kind == CursorKind.TRANSLATION_UNIT:
                        found.extend((self._path(each), each) for each in child.get_children() if self._path(each))
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
                path = self._path(child)
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
            if cursor.kind in kinds and self._is_shown(cursor, language):
                place = (path, cursor.extent.start.offset)
                if place not in seen:
                    seen.add(place)
                    by_path.setdefault(path, []).append(cursor)
        for path, cursors in by_path.items():
            entries = self._entries(path, sorted(cursors, key=lambda cursor: cursor.extent.start.offset), language)
            entries = [entry for entry in entries if not catches(entry)]
            self.page(home(path), language).parts += entries

    def _is_shown(self, cursor, language):
        name = cursor.spelling
        if name.startswith('<') or name in CHECKS:
            return False
        if cursor.kind == CursorKind.MACRO_DEFINITION:
            return name.startswith('ATTEND_') and not name.endswith('_H')
        if language == 'c' and cursor.kind in RECORDS:
            return cursor.is_definition()
        if cursor.kind == CursorKind.TYPEDEF_DECL:
            under = [child for child in cursor.get_children() if child.kind in (CursorKind.STRUCT_DECL, CursorKind.TYPE_REF)]
            declared = under[0].referenced if under and under[0].kind == CursorKind.TYPE_REF else under[0] if under else None
            # typedef struct name {…} name: the struct is shown.
            return not (declared is not None and declared.spelling == name and declared.get_definition() is not None)
        return bool(name)

    def _entries(self, path, cursors, language):
        source, entries, last = self.source(path), [], -1
        for cursor in cursors:
            item = self._item(cursor, path, language)
            start = cursor.extent.start.line
            above = source.lines.above(start)
            first = start
            while above is None and source.lines.lines[first - 1].startswith(('#if', '#el')):  # one macro, several definitions
                first -= 1 if source.lines.lines[first - 1].startswith('#if') else 2
                above = source.lines.above(first)
            if above is None and entries and start == last + 1:
                entries[-1].items.append(item)
            else:
                entries.append(Entry(above[1] if above else [], above[0] if above else start))
                entries[-1].items.append(item)
            last = item.end
        return entries

    def _item(self, cursor, path, language):
        source = self.source(path)
        kind = kind_of(cursor, source)
        end, comment = source.lines.behind(cursor.extent.end.line)
        item = Item(cursor.spelling.split('<')[0] if kind == 'constructor' else cursor.spelling, kind, path, cursor.extent.start.line, end, '')
        item.comment = comment
        item.cursor = cursor
        if cursor.kind == CursorKind.MACRO_DEFINITION:
            item.signature = re.sub(r'\s*(//.*|/\*.*)', '', source.lines.lines[item.line]).strip()
        else:
            item.signature = source.signature(cursor)
        if cursor.kind == CursorKind.ENUM_DECL:
            item.signature = item.signature.split('{')[0].rstrip()
            item.signature = re.sub(r'\[\[\w+\]\] ?', '', item.signature)
        item.returns_status = bool(re.match(r'(.*>\s*)?(static |constexpr )*(attend_status|Status)\s', re.sub(r'\s+', ' ', item.signature))
                                   ) and cursor.kind in FUNCTIONS | {CursorKind.FUNCTION_TEMPLATE}
        if cursor.kind in RECORDS or cursor.kind == CursorKind.ENUM_DECL:
            item.members = self._members(cursor, path, language)
        elif cursor.kind == CursorKind.TYPE_ALIAS_DECL:
            enum = cursor.underlying_typedef_type.get_canonical().get_declaration()
            if enum.kind == CursorKind.ENUM_DECL:
                item.members = self._members(enum, self._path(enum), language)
        for member in item.members:
            member.owner = item
        return item

    def _members(self, cursor, path, language, seen=()):
        """Public members, with those of bases in namespace detail, which are no names for users."""
        source, found = self.source(path), []
        for child in cursor.get_children():
            if child.kind == CursorKind.CXX_BASE_SPECIFIER:
                found += self._inherited(child, language, seen)
                continue
            shown = VARIABLES | ALIASES | FUNCTIONS | {CursorKind.ENUM_CONSTANT_DECL}
            if child.kind not in shown or not child.spelling:
                continue
            if child.access_specifier in (AccessSpecifier.PRIVATE, AccessSpecifier.PROTECTED):
                continue
            if child.kind in FUNCTIONS and (child.spelling.startswith('operator') and 'operator[]' not in child.spelling):
                continue
            if child.kind == CursorKind.CONSTRUCTOR or child.kind == CursorKind.FUNCTION_TEMPLATE and child.spelling.startswith(cursor.spelling):
                text = source.signature(child)
                if '()' in text or 'const ' + cursor.spelling + '&' in text:
                    continue
            member_path = self._path(child) or path
            member = self._item(child, member_path, language)
            above = self.source(member_path).lines.above(child.extent.start.line)
            if above and child.extent.start.line != cursor.extent.start.line:
                member.comment = above[1] + ([''] if member.comment else []) + member.comment
            if re.match(r'Catch(es)? ', ' '.join(member.comment)):
                continue
            found.append(member)
        return found

    def _inherited(self, base, language, seen):
        """Members of the classes of namespace detail that a base names, also by way of aliases."""
        found = []
        only_base = self.source(self._path(base)).signature(base).endswith('::Base')
        for child in base.walk_preorder():
            if child.kind not in (CursorKind.TEMPLATE_REF, CursorKind.TYPE_REF):
                continue
            target = child.referenced
            target = target.get_definition() or target
            name = target.get_usr()
            if name in seen or self._path(target) is None or target.semantic_parent.spelling != 'detail':
                continue
            if target.kind in RECORDS:
                if not only_base:
                    found += self._members(target, self._path(target), language, (*seen, name))
                for alias in target.get_children():
                    if alias.kind in ALIASES and alias.spelling == 'Base':
                        found += self._inherited(alias, language, (*seen, name))
            elif target.kind in ALIASES:
                found += self._inherited(target, language, (*seen, name))
            if found:
                break
        return found

    def _prose(self, page):
        """The comment at a header's top, and those that stand by themselves between declarations."""
        source = self.source(page.path)
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


def catches(entry):
    """Whether it is there for a better message of the compiler alone."""
    return bool(re.match(r'Catch(es)? ', ' '.join(entry.comment))) or entry.items[0].signature.endswith('(const Any&...)')


def order_of(part, page):
    """A header's own names come first, then those of the headers that it brings in."""
    line = part.first_line if isinstance(part, Entry) else part.line
    return (part.path != page.path, '/core/' in part.path, part.path, line)


def kind_of(cursor, source):
    if cursor.kind == CursorKind.MACRO_DEFINITION:
        return 'macro'
    if cursor.kind == CursorKind.ENUM_DECL:
        return 'enum'
    if cursor.kind == CursorKind.ENUM_CONSTANT_DECL:
        return 'enumerator'
    if cursor.kind == CursorKind.FIELD_DECL:
        return 'field'
    if cursor.kind in (CursorKind.VAR_DECL, CursorKind.UNEXPOSED_DECL):
        return 'constant'
    if cursor.kind in ALIASES:
        return 'type'
    if cursor.kind == CursorKind.CONSTRUCTOR:
        return 'constructor'
    if cursor.kind in (CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE,
                       CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION):
        return 'class' if re.search(r'\bclass \w+(\s|$)', cut(source.signature(cursor), '{').split('>')[-1]) else 'struct'
    if cursor.semantic_parent is not None and cursor.semantic_parent.kind in RECORDS:
        return 'method'
    return 'function'


def parsed(index, text, name, standard, root):
    unit = index.parse(name, args=[standard, f'-I{root / "include"}'], unsaved_files=[(name, text)], options=0x01)
    wrong = [str(each) for each in unit.diagnostics if each.severity >= clang.cindex.Diagnostic.Error]
    if wrong:
        raise SystemExit(f'site: Clang does not parse the headers: {wrong[0]}')
    return unit


def normal(path):
    parts = []
    for part in path.split('/'):
        if part == '..' and parts:
            parts.pop()
        elif part not in ('', '.'):
            parts.append(part)
    return '/'.join(parts)
