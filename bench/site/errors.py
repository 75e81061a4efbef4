"""Which errors a call can return, found in the sources: those that it names itself, and those of the functions that it calls.

In C an error comes with the argument that it is about: `require(right, ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE)`. Helpers name the one
and take the other as a parameter; where they are called with an argument, the two are a pair. Functions that are called by a pointer
in a table are all those of such tables. So a list has every error that a call can return, and may have one more that its own
arguments rule out; tests hold the lists to the refusals that the tests of the C surface make.

The typed surface is templates, whose calls are bound where they are instantiated. There functions are taken by their names.
"""
import re

import clang.cindex
from clang.cindex import CursorKind, TokenKind

from cursors import FUNCTIONS, RECORDS, parsed

NO_ERROR = {'ATTEND_OK'}


class CErrors:
    """{function of the C surface: {(error, argument or '')}}."""

    def __init__(self, root):
        text = ''.join(f'#include "{path.relative_to(root)}"\n' for path in sorted([*root.glob('src/c/*.cpp'), *root.glob('src/layers/c_*.cpp'), *root.glob('src/linear_attention/c_*.cpp')]))
        unit = parsed(clang.cindex.Index.create(), text, 'surface.cpp', '-std=c++17', root)
        self.calls, self.pairs, self.open, self.tables = {}, {}, {}, {}
        self.functions, self.by_name = {}, {}
        self.refused = refusals(root)
        for cursor in declared(unit.cursor):
            if cursor.kind in FUNCTIONS and cursor.is_definition():
                self._function(cursor)
            elif cursor.kind == CursorKind.VAR_DECL and 'attend_arithmetic' in cursor.type.spelling:
                self._table(cursor)
        self._close()

    def _function(self, cursor):
        usr = cursor.get_usr()
        self.by_name.setdefault(cursor.spelling, []).append(usr)
        if cursor.spelling.startswith('attend_'):
            self.functions[cursor.spelling] = usr
        calls, pairs, errors = [], set(), set()
        for child in cursor.walk_preorder():
            if child.kind == CursorKind.CALL_EXPR:
                named = [each.spelling for argument in child.get_arguments() for each in argument.walk_preorder()
                         if each.kind == CursorKind.DECL_REF_EXPR and each.spelling.startswith('ATTEND_')]
                arguments = {name for name in named if name.startswith('ATTEND_ARG_')}
                found = {name for name in named if self._is_error(child, name)}
                pairs |= {(error, argument) for error in found for argument in arguments}
                if found and not arguments:
                    errors |= found
                calls.append((usr_of(child.referenced) or child.spelling, arguments))
            elif child.kind == CursorKind.DECL_REF_EXPR:
                if child.referenced is not None and child.referenced.kind in FUNCTIONS:
                    calls.append((usr_of(child.referenced), set()))
            elif child.kind == CursorKind.OVERLOADED_DECL_REF:
                calls.append((child.spelling, set()))
            elif child.kind == CursorKind.MEMBER_REF_EXPR and 'attend_arithmetic' in _owner(child):
                calls.append(('table', set()))
            elif child.kind == CursorKind.RETURN_STMT:
                named = [each.spelling for each in child.walk_preorder() if each.kind == CursorKind.DECL_REF_EXPR]
                errors |= {name for name in named if name in self._errors(child)}
        self.calls[usr], self.pairs[usr], self.open[usr] = calls, pairs, errors

    def _errors(self, cursor):
        return {each.spelling for each in cursor.walk_preorder() if each.kind == CursorKind.DECL_REF_EXPR and self._is_error(each, each.spelling)}

    @staticmethod
    def _is_error(cursor, name):
        for each in cursor.walk_preorder():
            if each.kind == CursorKind.DECL_REF_EXPR and each.spelling == name and each.referenced is not None:
                return each.referenced.kind == CursorKind.ENUM_CONSTANT_DECL and \
                    each.referenced.semantic_parent.spelling == 'attend_error' and name not in NO_ERROR
        return False

    def _table(self, cursor):
        found = [(usr_of(each.referenced), set()) for each in cursor.walk_preorder()
                 if each.kind == CursorKind.DECL_REF_EXPR and each.referenced is not None and each.referenced.kind in FUNCTIONS]
        self.calls.setdefault('table', []).extend(found)
        self.pairs.setdefault('table', set())
        self.open.setdefault('table', set())

    def _close(self):
        # What a template calls is known by its name.
        for usr, calls in self.calls.items():
            self.calls[usr] = [(each, arguments) for target, arguments in calls for each in (self.by_name.get(target, []) if target not in self.calls else [target])]
        changed = True
        while changed:
            changed = False
            for usr, calls in self.calls.items():
                for target, arguments in calls:
                    if target not in self.calls:
                        continue
                    pairs = self.pairs[target] | {(error, argument) for error in self.open[target] for argument in arguments}
                    errors = set() if arguments else self.open[target]
                    if not pairs <= self.pairs[usr] or not errors <= self.open[usr]:
                        self.pairs[usr] |= pairs
                        self.open[usr] |= errors
                        changed = True

    def of(self, name):
        return sorted(self.pairs.get(self.functions.get(name), set()) | self.refused.get(name, set()))


# Which functions the calls of the tests' tables of refusals are. What those make a call return, it can return.
CALLS = {
    'problem': {'run': 'attend_run_part'}, 'attention': {'run': 'attend_run_part'}, 'integer': {'run': 'attend_run_part'},
    'scales': {'prepare': 'attend_integer_prepare'},
    'states': {name: f'attend_{name}' for name in ('begin', 'finish', 'merge', 'save', 'load')},
    'cache': {name: f'attend_cache_{name}' for name in ('check', 'init', 'append', 'truncate')},
    'layers': {'self': 'attend_self_attention', 'cross': 'attend_cross_attention', 'remember': 'attend_project_memory', 'project': 'attend_project',
               'pack': 'attend_pack_weights', 'convert': 'attend_convert_weights', 'layer_norm': 'attend_layer_norm', 'rms_norm': 'attend_rms_norm',
               'l2_norm': 'attend_l2_norm', 'gated_norm': 'attend_gated_rms_norm',
               'rotate': 'attend_rotate', 'additive_attention': 'attend_additive_attention', 'integers': 'attend_integer_project',
               'scaled': 'attend_rotary_init_scaled', 'turned': 'attend_rotate_positions'},
    'linear': {'run': 'attend_linear_run', 'append': 'attend_linear_append', 'run_from': 'attend_linear_run_from', 'init': 'attend_linear_state_init',
               'clear': 'attend_linear_state_clear', 'count': 'attend_linear_state_tokens', 'numbers': 'attend_linear_state_numbers', 'set_numbers': 'attend_linear_state_set_numbers',
               'save': 'attend_linear_save', 'load': 'attend_linear_load'},
    'linear_integer': {'run': 'attend_linear_run', 'append': 'attend_linear_append', 'run_from': 'attend_linear_run_from',
                       'init': 'attend_linear_state_init', 'prepare': 'attend_linear_prepare'},
    'conv': {'run': 'attend_causal_conv_run', 'append': 'attend_causal_conv_append', 'run_from': 'attend_causal_conv_run_from',
             'init': 'attend_conv_state_init', 'decay': 'attend_decay_gate', 'bounded': 'attend_bounded_gate'},
}


def refusals(root):
    """{function: {(error, argument)}} of the tables; a call or a table that CALLS does not know is refused."""
    found = {}
    for path in sorted((root / 'tests/c').glob('refusals_*.inc')):
        functions, text = CALLS[path.stem.removeprefix('refusals_')], path.read_text()
        for calls, error, argument in re.findall(r'^REFUSED\(([\w| ]+), (\w+), (\w+),', text, re.M):
            for call in calls.split(' | '):
                found.setdefault(functions[call], set()).add((f'ATTEND_{error}', f'ATTEND_ARG_{argument}'))
        for error, argument, call in re.findall(r'^REFUSED_CALL\((\w+), (\w+), (.*)\)$', text, re.M):
            for function in re.findall(r'\b(attend_\w+)\(', call)[:1]:
                found.setdefault(function, set()).add((f'ATTEND_{error}', f'ATTEND_ARG_{argument}'))
    for name in ('attend_run', 'attend_check'):
        found[name] = {(error, argument) for error, argument in found['attend_run_part'] if not re.search('_PARTS?$', argument) and
                       (name == 'attend_run' or 'WORKSPACE' not in argument)}
    return found


def declared(cursor):
    """What the project's own files declare, without what stands in functions."""
    for child in cursor.get_children():
        if child.location.file is not None and not child.location.file.name.startswith(('/usr/', '/lib/')):
            yield child
            if child.kind in RECORDS or child.kind in (CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
                yield from declared(child)


def usr_of(cursor):
    """Of a function; of one that a template makes, the template's."""
    if cursor is None:
        return ''
    template = clang.cindex.conf.lib.clang_getSpecializedCursorTemplate(cursor)
    return template.get_usr() if template is not None and template.kind in FUNCTIONS else cursor.get_usr()


def _owner(cursor):
    target = cursor.referenced
    return target.semantic_parent.spelling if target is not None and target.semantic_parent is not None else ''


class CppErrors:
    """{function of the typed surface: {status}}, by the names that its text holds."""

    def __init__(self, root, unit):
        self.texts = {}
        for cursor in declared(unit.cursor):
            if cursor.kind in FUNCTIONS and cursor.is_definition() and 'include/attend' in cursor.location.file.name:
                self._function(cursor)

    @property
    def keepers(self):
        return {text[3] for text in self.texts.get('status', [])}

    def _function(self, cursor):
        words = [token.spelling for token in cursor.get_tokens() if token.kind != TokenKind.COMMENT]
        statuses = {words[at + 2] for at, word in enumerate(words[:-2]) if word == 'Status' and words[at + 1] == '::'} - {'ok'}
        # A name behind a point or a class is a method; any other is a function, or a method of the same class.
        called = {(word, words[at - 1] in ('.', '->')) for at, word in enumerate(words[:-1])
                  if at and re.match(r'[a-z]\w*$', word) and words[at + 1] in ('(', '<') and words[at - 2:at] != ['core', '::']}
        name = cursor.spelling.split('<')[0]
        parent = cursor.semantic_parent.spelling if cursor.semantic_parent.kind in RECORDS else ''
        if not parent and cursor.semantic_parent.spelling == 'attend':
            parent = 'public'
        place = (cursor.location.file.name, cursor.extent.start.line)
        self.texts.setdefault(name, []).append((place, statuses, called, parent))

    def of(self, name, path, line, owners=None):
        """Of the function that stands there. owners: {status: names of functions}: of others only where their own header names it."""
        found, seen, todo, here = set(), set(), [], set()
        for text in self.texts.get(name, []):
            if text[0][1] == line and text[0][0].endswith('/' + path.split('/')[-1]):
                todo.append(text)
        if name == 'status':
            todo += [text for texts in self.texts.values() for text in texts if todo and text[3] == todo[0][3]]
        while todo:
            place, statuses, called, parent = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            found |= statuses
            if place[0].endswith('/' + path.split('/')[-1]):
                here |= statuses
            for each, is_method in called:
                if each == 'status' and is_method:  # it returns what its object was made with
                    todo += [text for texts in self.texts.values() for text in texts if text[3] in self.keepers]
                for text in self.texts.get(each, []):
                    # The library's inside calls no public function, but calls of a batch, which have the name of those for a row.
                    is_free = not text[3] or text[3] == 'public' and each == name
                    if is_free and not is_method or text[3] not in ('', 'public') and (is_method or text[3] == parent):
                        todo.append(text)
        return {status for status in found if name in (owners or {}).get(status, {name}) or status in here}


def owners_of(members):
    """{status: functions}, of which the comment of a status says that they return it: `append, project: …; init: …`."""
    found = {}
    for member in members:
        clauses = re.split(r'; ', ' '.join(member.comment).split('  ')[-1])
        names = [re.match(r'([\w:]+(?:, [\w:]+)*): ', clause) for clause in clauses]
        if names and names[0]:
            found[member.name] = {name.split('::')[-1] for match in names if match for name in match[1].split(', ')}
    return found
