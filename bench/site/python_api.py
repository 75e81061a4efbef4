"""The public names of the Python package, read from its sources without running them: those of attend.__all__, attend.nn.__all__, and
what attend loads when it is asked for, attend.export, attend.load and attend.replay."""
import ast
import inspect
import pathlib
import re

PACKAGE, EXPORTER = 'bench/python/attend', 'bench/exporter'  # the second is attend.exporter


class Object:
    """A function, a class with its public methods, or a module."""

    def __init__(self, full, kind, path, line, signature, doc):
        self.full, self.kind, self.path, self.line, self.signature = full, kind, path, line, signature
        self.doc = inspect.cleandoc(doc).split('\n') if doc else []
        self.members = []
        self.language = 'python'  # of a module

    @property
    def name(self):
        return self.full.rsplit('.', 1)[-1]


class Package:
    """filled: what templates' text becomes, with the version in it."""

    def __init__(self, root, filled):
        self.root, self.filled, self.trees = root, filled, {}
        self.modules = [self.module('attend', ''), self.module('attend.nn', 'nn')]
        top = self.modules[0]
        # What __getattr__ loads: `from . import exporter`, `from ._load import load`.
        loaded = [item for item in re.findall(r"'(\w+)'", self._lazy()) if item not in [each.name for each in top.members]]
        for name in loaded:
            found = self._find('exporter', name)
            if found:
                top.members.append(self._object(f'attend.{name}', *found))

    def folder(self, module):
        """Of a package; a module is a file of this name."""
        first, *others = module.split('.')
        return pathlib.Path(self.root, EXPORTER, *others) if first == 'exporter' else pathlib.Path(self.root, PACKAGE, first, *others)

    def tree(self, module):
        if module not in self.trees:
            folder = self.folder(module)
            path = folder / '__init__.py' if folder.is_dir() else folder.with_suffix('.py')
            self.trees[module] = (ast.parse(self.filled(path.read_text())), str(path.relative_to(self.root)))
        return self.trees[module]

    def _lazy(self):
        tree, _ = self.tree('')
        node = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == '__getattr__')
        return ' '.join(ast.unparse(test.test) for test in ast.walk(node) if isinstance(test, ast.If))

    def module(self, full, module):
        tree, path = self.tree(module)
        public = next(ast.literal_eval(node.value) for node in tree.body
                      if isinstance(node, ast.Assign) and node.targets[0].id == '__all__')
        found = Object(full, 'module', path, 1, f'import {full}', ast.get_docstring(tree))
        for name in public:
            place = self._find(module, name)
            if place:
                found.members.append(self._object(f'{full}.{name}', *place))
            elif name in ('load', 'replay'):
                found.members.append(self._object(f'{full}.{name}', *self._find(f'_{name}', name)))
            elif name != 'nn':
                raise SystemExit(f'site: {full}.__all__ has {name}, which is not found')
        return found

    def _find(self, module, name):
        """(node, path, module) of a name, which a module defines or imports."""
        tree, path = self.tree(module)
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                return node, path, module
            if isinstance(node, ast.ImportFrom) and node.level and any((alias.asname or alias.name) == name for alias in node.names):
                base = module if self.folder(module).is_dir() else module.rpartition('.')[0]
                for _ in range(node.level - 1):
                    base = base.rpartition('.')[0]
                return self._find('.'.join(part for part in (base, node.module) if part), name)
        return None

    def _object(self, full, node, path, module):
        if isinstance(node, ast.FunctionDef):
            return Object(full, 'function', path, node.lineno, signature(full, node), ast.get_docstring(node))
        found = Object(full, 'class', path, node.lineno, full, ast.get_docstring(node))
        for owner, place, _ in self._lineage(node, path, module):
            for child in owner.body:
                if isinstance(child, ast.FunctionDef) and child.name == '__init__' and found.signature == full:
                    found.signature = signature(full, child, drop=1)
                public = isinstance(child, ast.FunctionDef) and (not child.name.startswith('_') or child.name in ('__call__', '__len__'))
                if public and child.name not in [member.name for member in found.members]:
                    found.members.append(self._method(full, child, place))
        return found

    def _lineage(self, node, path, module):
        yield node, path, module
        for base in node.bases:
            place = self._find(module, base.id) if isinstance(base, ast.Name) else None
            if place:
                yield from self._lineage(*place)

    def _method(self, full, node, path):
        marks = [ast.unparse(mark) for mark in node.decorator_list]
        instance = full.rsplit('.', 1)[-1].lower() if '.nn.' not in full else 'layer'
        name = {'__call__': instance, '__len__': 'len'}.get(node.name, f'{full if "classmethod" in marks else instance}.{node.name}')
        if 'property' in marks:
            text = name
        elif node.name == '__len__':
            text = f'len({instance})'
        else:
            text = signature(name, node, drop=0 if 'staticmethod' in marks else 1)
        kind = 'property' if 'property' in marks else 'method'
        return Object(f'{full}.{node.name}', kind, path, node.lineno, text, ast.get_docstring(node))


def signature(name, node, drop=0):
    """As a call is written, one parameter a line where it is long."""
    arguments = ast.parse(ast.unparse(ast.Module([node], []))).body[0].args
    if drop:
        (arguments.posonlyargs or arguments.args).pop(0)
    returns = f' -> {ast.unparse(node.returns)}' if node.returns is not None and node.name != '__init__' else ''
    text = f'{name}({ast.unparse(arguments)}){returns}'
    if len(text) <= 100:
        return text
    pieces, depth, piece = [], 0, ''
    for letter in ast.unparse(arguments):
        depth += letter in '([{'
        depth -= letter in ')]}'
        if letter == ',' and depth == 0:
            pieces.append(piece.strip())
            piece = ''
        else:
            piece += letter
    pieces.append(piece.strip())
    return f'{name}(\n    ' + ',\n    '.join(pieces) + f'){returns}'
