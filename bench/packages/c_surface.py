"""The constants, structs and functions of the C surface, read from the headers, so that bindings made of them cannot differ.

It understands what these headers have: structs, enums, #define of numbers, functions of a void*, and ATTEND_API prototypes.
"""
import re

HEADERS = ('c/status.h', 'c/problem.h', 'attend_c.h', 'c/integer.h', 'c/layers.h', 'c/linear_attention.h')


class Surface:
    """constants: (name, number); structs: name to (field, type, count or None); functions: (result, name, types of arguments).

    A type is what C writes without const, such as 'float*', or 'function' of a pointer to one.
    """

    def __init__(self, root, headers=HEADERS):
        text = re.sub(r'/\*.*?\*/', ' ', ''.join((root / 'include/attend' / name).read_text() for name in headers), flags=re.S)
        self.constants = [*_enums(text), *((name, int(number)) for name, number in
                                           re.findall(r'^#define (ATTEND_\w+) \(?(-?\d+)u?\)?\s*$', text, re.M))]
        self.smallest = re.findall(r'^#define (ATTEND_\w+) PTRDIFF_MIN\s*$', text, re.M)  # another number for each target
        self.structs = {name: _fields(body) for name, body in re.findall(r'\bstruct (\w+) \{(.*?)\}[\s\w]*;', text, re.S)}
        self.functions = [(_plain(result), name, [_plain(re.match(r'(.*?[\w*])\s*\b\w+$', words)[1]) for words in _declared(arguments, ',')
                                                  if words != 'void'])
                          for result, name, arguments in re.findall(r'ATTEND_API ([^;()]*?)(\w+)\(([^)]*)\);', text, re.S)]


def _declared(text, separator):
    return [' '.join(words.split()) for words in text.split(separator) if words.strip()]


def _plain(words):
    return ' '.join(re.sub(r'\bconst\b', '', words).split())


def _enums(text):
    for body in re.findall(r'\benum(?:\s+\w+)?\s*\{(.*?)\}', text, re.S):
        value = -1
        for name, given in re.findall(r'(ATTEND_\w+)\s*(?:=\s*([^,]+))?', body):
            value = int(given, 0) if given else value + 1
            yield name, value


def _fields(body):
    fields = []
    for words in _declared(body, ';'):
        function = re.match(r'void \(\*(\w+)\)\(void\* \w+\)$', words)
        if function:
            fields.append((function[1], 'function', None))
        else:
            kind, field, count = re.match(r'(.*?[\w*])\s*\b(\w+)(?:\[(\d+)\])?$', words).groups()
            fields.append((field, _plain(kind), int(count) if count else None))
    return fields
