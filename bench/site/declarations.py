"""Declarations of the headers with their comments and members, read from Clang's cursors, and pages of them."""
import re

from clang.cindex import AccessSpecifier, CursorKind

from cursors import ALIASES, FUNCTIONS, RECORDS, VARIABLES, Source, kind_of, path_of


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


class Reader:
    """Makes entries of cursors, and keeps the texts of headers."""

    def __init__(self, root):
        self.root, self.sources = root, {}

    def source(self, path):
        if path not in self.sources:
            self.sources[path] = Source(self.root, path)
        return self.sources[path]

    def entries(self, path, cursors, language):
        source, entries, last = self.source(path), [], -1
        for cursor in cursors:
            item = self.item(cursor, path, language)
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

    def item(self, cursor, path, language):
        source = self.source(path)
        kind = kind_of(cursor, source)
        end, comment = source.lines.behind(cursor.extent.end.line)
        item = Item(cursor.spelling if 'operator' in cursor.spelling else cursor.spelling.split('<')[0], kind, path, cursor.extent.start.line, end, '')
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
            item.members = self.members(cursor, path, language)
        elif cursor.kind == CursorKind.TYPE_ALIAS_DECL:
            enum = cursor.underlying_typedef_type.get_canonical().get_declaration()
            if enum.kind == CursorKind.ENUM_DECL:
                item.members = self.members(enum, path_of(enum), language)
        for member in item.members:
            member.owner = item
        return item

    def members(self, cursor, path, language, seen=()):
        """Public members, with those of bases in namespace detail, which are no names for users."""
        source, found = self.source(path), []
        for child in cursor.get_children():
            if child.kind == CursorKind.CXX_BASE_SPECIFIER:
                found += self.inherited(child, language, seen)
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
            member_path = path_of(child) or path
            member = self.item(child, member_path, language)
            above = self.source(member_path).lines.above(child.extent.start.line)
            if above and child.extent.start.line != cursor.extent.start.line:
                member.comment = above[1] + ([''] if member.comment else []) + member.comment
            if re.match(r'Catch(es)? ', ' '.join(member.comment)):
                continue
            found.append(member)
        return found

    def inherited(self, base, language, seen):
        """Members of the classes of namespace detail that a base names, also by way of aliases."""
        found = []
        only_base = self.source(path_of(base)).signature(base).endswith('::Base')
        for child in base.walk_preorder():
            if child.kind not in (CursorKind.TEMPLATE_REF, CursorKind.TYPE_REF):
                continue
            target = child.referenced
            target = target.get_definition() or target
            name = target.get_usr()
            if name in seen or path_of(target) is None or target.semantic_parent.spelling != 'detail':
                continue
            if target.kind in RECORDS:
                if not only_base:
                    found += self.members(target, path_of(target), language, (*seen, name))
                for alias in target.get_children():
                    if alias.kind in ALIASES and alias.spelling == 'Base':
                        found += self.inherited(alias, language, (*seen, name))
            elif target.kind in ALIASES:
                found += self.inherited(target, language, (*seen, name))
            if found:
                break
        return found


def catches(entry):
    """Whether it is there for a better message of the compiler alone."""
    return bool(re.match(r'Catch(es)? ', ' '.join(entry.comment))) or entry.items[0].signature.endswith('(const Any&...)')
