"""Clang's cursors (Debian: python3-clang-19): which kinds there are, which are for users, where they lie, and how a declaration is written."""
import pathlib
import re

import clang.cindex
from clang.cindex import CursorKind

from comments import Lines

INCLUDE = 'include/attend'
# Declarations that check how the header itself is compiled.
CHECKS = {'attend_packing', 'attend_structs_must_not_be_packed'}
RECORDS = {CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE, CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR}
VARIABLES = {CursorKind.VAR_DECL, CursorKind.FIELD_DECL, CursorKind.UNEXPOSED_DECL}
ALIASES = {CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPE_ALIAS_TEMPLATE_DECL, CursorKind.TYPEDEF_DECL}


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


def is_shown(cursor, language):
    """Whether a declaration of a header is for users."""
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


def path_of(cursor):
    """The header of a cursor, from the project's top folder; None for those of others."""
    file = cursor.location.file
    if file is None:
        return None
    path = normal(str(pathlib.PurePosixPath(file.name)))
    at = path.find(INCLUDE + '/')
    return path[at:] if at >= 0 else None


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
