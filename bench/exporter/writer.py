"""What the written programs have in common, in whichever language: their steps in order, their constants, where arrays lie.

A surface is a subclass, cpp.CppWriter and c.CWriter: it has the calls of its library, _stepname(index, step) for each kind of step that
step_loops does not write, and how the language spells what both have.
"""
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy

from .numbers_in_c import braced, comment, identifiers
from .passes import root
from .program import Program, Step, View
from .receipts import Receipts

WIDTH = 120


class Words(NamedTuple):
    """How a language spells what self-tests have."""

    begin: str   # of what other files do not see
    end: str
    static: str  # before each of that
    none: str    # for parameters
    status: str  # the type of what calls return
    ok: str
    clear: str   # a call


class Writer:
    suffix = ''        # of the source files
    refused_row = ''   # the status of a number that is no row of a table

    def __init__(self, program: Program, origin: str, whole: Any = None, receipts: bool = False):
        """whole: the writer of the program over all tokens, whose constants this one shares."""
        self.program, self.origin, self.by_token = program, comment(origin), None  # type: Any, str, Any
        self.constants: List[str] = whole.constants if whole else []   # definitions
        self.names: Dict[Any, str] = whole.names if whole else {}      # of constants, by their definitions
        self.shapes: Dict[Any, str] = whole.shapes if whole else {}
        ends = program.inputs + program.outputs
        names = identifiers([view.buffer.name for view in ends], self.prefix())
        self.parameter_names = {id(view.buffer): name for view, name in zip(ends, names)}
        self.tokenwise = whole is not None
        self.begin(whole)
        self.receipts = Receipts(program, lambda view: self.numbers(view, view.count)) if receipts else None
        self.calls = [self.call(index, step) for index, step in enumerate(program.steps)]

    # What the language spells: a subclass has these as methods.

    begin: Callable[..., None]         # (whole): what a surface notes while steps are written
    parameters: Callable[..., str]     # (inputs_only=False): of run(), inputs first
    numbers: Callable[..., str]        # (view, count, at=''): so many numbers where the view begins and, with `at`, so many elements after that
    address: Callable[..., str]        # (view): the pointer to the first number
    element: Callable[..., str]        # (numbers, index): one of numbers()
    cast: Callable[..., str]           # (kind, text)
    checked: Callable[..., List[str]]  # (call): a call that returns a status, and the end of the function where it is not ok
    definition: Callable[..., str]     # (kind, name, extents, numbers): of a constant
    write: Callable[..., Dict[str, str]]  # the model's files by their names
    words: Words                       # these and what follows are for self-tests
    pointer_cast: Callable[..., str]   # (kind, text): of a pointer to void
    result: Callable[..., str]         # (name, kind, extents, count): the definition of an array for an output
    # (function, inputs, results, more=()): a call of run_observed or append; pointers to first numbers of inputs, names of arrays
    test_call: Callable[..., str]

    def prefix(self) -> str:
        """Of names in files that are not in a namespace."""
        return ''

    # Arrays and constants

    @staticmethod
    def element_type(view: View) -> str:
        return {'float32': 'float'}.get(view.type, view.type + '_t')

    @staticmethod
    def extents(shape: Any) -> str:
        sizes = [size for size in shape if size != 1] or [1]
        return ''.join(f'[{size}]' for size in sizes)

    def arguments(self, inputs_only: bool = False) -> str:
        views = self.program.inputs + ([] if inputs_only else self.program.outputs)
        return ', '.join(self.parameter_names[id(view.buffer)] for view in views)

    def unused(self, calls: str, inputs_only: bool = False) -> str:
        """Statements that name the parameters that no call names."""
        names = [*self.arguments(inputs_only).split(', '), *([] if self.tokenwise else ['observe', 'context'])]
        return ''.join(f'  (void){name};\n' for name in names if not re.search(rf'\b{name}\b', re.sub('//.*', '', calls)))

    def place(self, view: View) -> Tuple[Optional[str], int]:
        """Where a view begins: the name of the parameter, None for the program's memory; and how many bytes after its beginning."""
        place = root(view.buffer)
        begin = view.array.itemsize * view.offset
        return (None, begin + place.offset) if place.kind == 'memory' else (self.parameter_names[id(place)], begin)

    def constant(self, prefix: str, kind: str, numbers: str, extents: str = '') -> str:
        key = (kind, extents, numbers)
        if key not in self.names:
            self.names[key] = f'{prefix}_{len(self.names)}'
            self.constants.append(self.definition(kind, self.names[key], extents, ('\n' if len(numbers) > WIDTH else ' ') + numbers))
        return self.names[key]

    def float_constant(self, prefix: str, array: Any) -> str:
        return self.constant(prefix, 'float', braced(numpy.asarray(array).reshape(-1)), f'[{numpy.asarray(array).size}]')

    # Calls

    def call(self, index: int, step: Step) -> str:
        text = getattr(self, '_' + type(step).__name__.lower())(index, step)
        lines = text if isinstance(text, list) else [text]
        y = step.writes
        about = f'  // {index}: {step.text()} ({comment(step.name)})'
        if self.receipts and index in self.receipts.of_step:
            lines = [*lines, self.receipts.of_step[index]]
        if self.tokenwise:
            return '\n'.join([about, *('  ' + line for line in lines)])
        seen = self.numbers(y, y.count)
        seen_by = [f'  if (observe) observe(context, {index}, {seen}, {y.count}, {y.array.itemsize});'] if y.is_dense() else []
        return '\n'.join([about, *('  ' + line for line in lines), *seen_by])

    def receipt(self, outputs: Optional[bool] = None, condition: str = '') -> str:
        """Lines: the beginning of a receipt and, where it is known whether outputs are computed, its end."""
        return '' if self.receipts is None else self.receipts.begin if outputs is None else self.receipts.end(outputs, condition)

    @staticmethod
    def wrapped(text: str) -> str:
        """Calls that are too long go on in the next lines, between arguments."""
        lines = []
        for line in text.split('\n'):
            indent = len(line) - len(line.lstrip()) + 4
            while len(line) > WIDTH and not line.lstrip().startswith(('//', '/*', '* ')):
                at = line.rfind(', ', indent, WIDTH)
                if at < 0:
                    break
                lines.append(line[:at + 1])
                line = ' ' * indent + line[at + 2:]
            lines.append(line)
        return '\n'.join(lines)

    def helpers(self, calls: str, texts: Dict[str, str]) -> str:
        """The functions that calls call, of all by their names."""
        return ''.join(text for names, text in texts.items() if re.search(rf'(?<![\w:])({names})\(', calls))
