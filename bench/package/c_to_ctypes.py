"""The structs, constants and functions of the C surface as ctypes: read from the headers, so that they cannot differ.

It understands what these headers have: structs, enums, #define of numbers, functions of a void*, and ATTEND_API prototypes.
"""
import re

SCALARS = {'size_t': 'ctypes.c_size_t', 'ptrdiff_t': 'ctypes.c_ssize_t', 'int': 'ctypes.c_int', 'char': 'ctypes.c_char',
           'float': 'ctypes.c_float', 'double': 'ctypes.c_double', 'uint32_t': 'ctypes.c_uint32', 'int32_t': 'ctypes.c_int32',
           'attend_status': 'ctypes.c_int', 'void': 'None'}
HEADERS = ('c/status.h', 'c/problem.h', 'attend_c.h', 'c/integer.h', 'c/layers.h')


def type_of(words, structs):
    """Of 'const float*', say."""
    name = re.sub(r'\bconst\b', '', words).strip()
    if name.endswith('*'):
        return 'ctypes.c_char_p' if name == 'char*' else 'ctypes.c_void_p'
    return name if name in structs else SCALARS[name]


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def constants(text):
    lines = []
    for body in re.findall(r'\benum(?:\s+\w+)?\s*\{(.*?)\}', text, re.S):
        value = -1
        for name, given in re.findall(r'(ATTEND_\w+)\s*(?:=\s*([^,]+))?', body):
            value = int(given, 0) if given else value + 1
            lines.append(f'{name} = {value}')
    for name, number in re.findall(r'^#define (ATTEND_\w+) \(?(-?\d+)u?\)?\s*$', text, re.M):
        lines.append(f'{name} = {number}')
    return lines


def structs(text):
    known, lines = set(), []
    for name, body in re.findall(r'\bstruct (\w+) \{(.*?)\}[\s\w]*;', text, re.S):
        fields = []
        for declaration in body.split(';'):
            words = ' '.join(declaration.split())
            if not words:
                continue
            function = re.match(r'void \(\*(\w+)\)\(void\* \w+\)$', words)
            if function:
                fields.append(f"('{function[1]}', ctypes.CFUNCTYPE(None, ctypes.c_void_p))")
                continue
            kind, field, count = re.match(r'(.*?[\w*])\s*\b(\w+)(?:\[(\d+)\])?$', words).groups()
            fields.append(f"('{field}', {type_of(kind, known)}{' * ' + count if count else ''})")
        known.add(name)
        lines.append(f'class {name}(ctypes.Structure):\n    _fields_ = [' + ',\n                '.join(fields) + ']\n')
    return lines, known


def functions(text, known):
    lines = []
    for result, name, arguments in re.findall(r'ATTEND_API ([^;()]*?)(\w+)\(([^)]*)\);', text, re.S):
        kinds = []
        for argument in arguments.split(','):
            words = ' '.join(argument.split())
            if words != 'void':
                kinds.append(type_of(re.match(r'(.*?[\w*])\s*\b\w+$', words)[1], known))
        lines.append(f"    library.{name}.restype = {type_of(' '.join(result.split()), known)}\n"
                     f"    library.{name}.argtypes = [{', '.join(kinds)}]")
    return lines


def module(root, banner):
    text = without_comments(''.join((root / 'include/attend' / name).read_text() for name in HEADERS))
    classes, known = structs(text)
    return (f'{banner}import ctypes\n\n' + '\n'.join(constants(text)) + '\n\n\n' + '\n\n'.join(classes) +
            '\n\ndef declare(library):\n' + '\n'.join(functions(text, known)) + '\n')
