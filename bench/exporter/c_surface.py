"""C99 over the C surface of the library: how the language spells what all programs have."""
from typing import Any, Dict, List, Tuple

from .c_files import CFiles
from .c_floats import CFloatCalls
from .c_integers import CIntegerCalls
from .c_work import ALIGNMENT, up
from .errors import ExportError
from .numbers_in_c import number
from .program import View
from .step_loops import LoopSteps
from .writer import Words, Writer


class CWriter(CFiles, CFloatCalls, CIntegerCalls, LoopSteps, Writer):
    suffix, refused_row = '.c', 'ATTEND_OUT_OF_RANGE'

    def begin(self, whole: Any) -> None:
        self.memory_name = f'{self.program.name}_{"token_" if whole else ""}memory'
        self.works: List[Tuple[int, int]] = []  # ends of work memory, on hosts and on embedded processors
        self.caches: Dict[int, Tuple[int, str, int, int, int]] = {}  # bytes, shape, tokens, window, integers

    def _linearattention(self, index: int, step: Any) -> List[str]:
        raise ExportError(f'step "{step.name}" ({step.text()}): models with linear attention and its gates are exported as C++ alone; expected --surface cpp')

    _convolution = _linearattention

    # The language

    def prefix(self) -> str:
        return f'{self.program.name}_'

    def parameters(self, inputs_only: bool = False) -> str:
        of = lambda view: f'{self.element_type(view)} {self.parameter_names[id(view.buffer)]}[{self.product(view)}]'
        return ', '.join([f'const {of(view)}' for view in self.program.inputs] + [of(view) for view in self.program.outputs if not inputs_only])

    @staticmethod
    def product(view: View) -> str:
        return ' * '.join(str(size) for size in view.shape if size != 1) or '1'

    def address(self, view: View, at: str = '') -> str:
        parameter, begin = self.place(view)
        if parameter is None:
            where, begin = f'({self.element_type(view)}*)({self.memory_name} + {begin})', 0
        else:
            where, begin = parameter, begin // view.array.itemsize
        return where + (f' + {begin}' if begin else '') + (f' + {at}' if at else '')

    def numbers(self, view: View, count: int, at: str = '') -> str:
        return self.address(view, at)

    def constant_numbers(self, name: str, count: int, at: str) -> str:
        return name + (f' + {at}' if at else '')

    def element(self, numbers: str, index: str) -> str:
        return f'{numbers}[{index}]' if numbers.isidentifier() else f'({numbers})[{index}]'

    @staticmethod
    def cast(kind: str, text: str) -> str:
        return f'({kind})({text})' if not text.isidentifier() else f'({kind}){text}'

    @staticmethod
    def checked(call: str) -> List[str]:
        return [f'status = {call};', 'if (status != ATTEND_OK) return status;']

    def statement(self, call: str) -> str:
        """The same as one statement, for loops."""
        return f'if ((status = {call}) != ATTEND_OK) return status;'

    def definition(self, kind: str, name: str, extents: str, numbers: str) -> str:
        text = f'static const {kind} {name}{extents} ={numbers};\n'
        return text if len(text) > 400 else self.wrapped(text)

    def heads(self, step: Any) -> str:
        """The name of a constant: heads and their widths."""
        return self.constant('heads', 'struct heads', f'{{{step.heads}, {step.kv_heads}, {step.head_dim}, {step.value_dim}}}')

    def work_begin(self, index: int) -> int:
        return up(self.program.tops[index], ALIGNMENT)

    def work_address(self, index: int) -> str:
        return f'{self.memory_name} + {self.work_begin(index)}'

    def work(self, index: int, sizes: Tuple[int, int], after: int = 0) -> str:
        """Two arguments: work memory behind the arrays that live, and `after` bytes more; and the bytes that there are."""
        begin = self.work_begin(index) + up(after, ALIGNMENT)
        self.works.append((begin + sizes[0], begin + sizes[1]))
        return f'{self.memory_name} + {begin}, {self.memory_name.upper()}_BYTES - {begin}'

    def add(self, x: str, y: str, count: int, factor: Any) -> str:
        return self.statement(f'attend_add({x}, {number(factor)}, {count}, {y})')

    def softmax(self, x: str, y: str, width: int, prefix: str) -> str:
        return self.statement(f'{prefix}softmax({x}, {width}, {y})')

    def local(self, index: int, name: str, width: int) -> str:
        self.works.append((self.work_begin(index) + 4 * width,) * 2)
        return f'float* const {name} = (float*)({self.work_address(index)});'

    # Self-tests

    @property
    def words(self) -> Words:
        return Words('\n#include <stdbool.h>\n', '', 'static ', 'void', 'attend_status', 'ATTEND_OK', f'{self.program.name}_clear()')

    @staticmethod
    def pointer_cast(kind: str, text: str) -> str:
        return f'({kind}){text}'

    def result(self, name: str, kind: str, extents: str, count: int) -> str:
        return f'static {kind} {name}[{count}];\n'

    def test_call(self, function: str, inputs: List[str], results: List[str], more: Any = ()) -> str:
        silently = '_silently' if function == 'append' and not results else ''
        return f'{self.program.name}_{function}{silently}({", ".join([*inputs, *results, *more])})'
