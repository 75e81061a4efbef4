"""Headers of a room that take a function or a type from a room above their own: python3 tests/support/upward.py prints them.

Headers that are compiled for each instruction set include nothing, and a name that depends on a template parameter is looked up when the
template is used: so neither includes nor the compiler show a use that goes up. This compares words: a call or a type whose name is
declared in rooms above alone, and not in the file itself.
"""
import collections
import glob
import re

FLOORS = ['numerics', 'isa', 'kernel', 'sums', 'attention', 'layers', 'linear_attention']  # each may use those before it
DECLARED = re.compile(r'^ *(?:(?:struct|class|enum class) (\w+)|(?:ATTEND_\w+ |inline |constexpr |static )*(?!return|else)[A-Za-z][\w:<>&* ]*?[ *&](\w+)\()', re.M)
USED = re.compile(r'(?<![.>:\w])([A-Za-z]\w{4,})(?=\s*(?:[({]|<(?![<= ])))')


def upward():
    texts = {path: re.sub(r'//[^\n]*|"(?:\\.|[^"\n])*"', '', open(path).read())
             for floor in FLOORS for path in glob.glob(f'src/{floor}/**/*.h', recursive=True)}
    floor_of = lambda path: FLOORS.index(path.split('/')[1])
    floors = collections.defaultdict(set)
    for path, text in texts.items():
        for names in DECLARED.findall(text):
            floors[''.join(names)].add(floor_of(path))
    for path, text in sorted(texts.items()):
        for name in sorted(set(USED.findall(text)) & floors.keys()):
            own = re.search(rf'\b(?:struct|class|using|auto|typename|void|bool|int|float|Vec|\w+_t|[A-Z]\w+)[&*]* {name}\b', text)
            if min(floors[name]) > floor_of(path) and not own and not name.endswith('_t'):
                yield f'{path} uses {name} of src/{FLOORS[min(floors[name])]}'


if __name__ == '__main__':
    for line in upward():
        print(line)
