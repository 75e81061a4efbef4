"""The public names of the npm package, read from its types, index.d.ts, as the library lays it out: a declaration a line or more at the margin,
its members two columns in, each with its comment above it."""
import re

from comments import text_of
from python_api import Object

TYPES = 'bench/javascript/index.d.ts'
TOP = re.compile(r'export (?P<kind>class|function|interface|type) (?P<name>\w+)')
MEMBER = re.compile(r'  (?P<readonly>readonly )?(?P<name>\w+)\??(?P<call>[(<])?')


def module(root):
    found = Object('index.d.ts', 'module', TYPES, 1, '', '')
    lines, at, comment = (root / TYPES).read_text().split('\n'), 0, []
    while at < len(lines):
        line, first = lines[at], at
        at += 1
        if line.lstrip().startswith('/**'):
            while '*/' not in lines[at - 1]:
                at += 1
            comment = text_of([re.sub(r'/\*\*', '/*', lines[first]), *lines[first + 1:at]])
            continue
        if not found.members and line.startswith('// '):
            found.doc.append(line[3:])
        match = TOP.match(line) or found.members and MEMBER.match(line)
        if match:
            while not lines[at - 1].endswith((';', '{')):
                at += 1
            text = '\n'.join(part.removeprefix('  ') if match.re is MEMBER else part for part in lines[first:at])
            add(found, match, re.sub(r'^export | \{$|;$', '', text.rstrip()), first + 1, comment)
        comment = []
    found.language = 'javascript'
    return found


def add(found, match, signature, line, comment):
    name, is_member = match['name'], match.re is MEMBER
    owner = found.members[-1] if is_member else found
    kind = match['kind'] if not is_member else 'method' if match['call'] else 'field'
    if owner.members and owner.members[-1].name == name:  # another way to call it
        owner.members[-1].signature += f'\n{signature}'
        return
    each = Object(f'{owner.full}.{name}' if is_member else name, kind, TYPES, line, signature, '')
    each.doc = comment
    owner.members.append(each)
