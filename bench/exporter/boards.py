"""What a model takes on a board: flash and memory as a compiler makes them, where one is installed, and an estimate of instructions."""
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .board_runs import count
from .chunks import in_chunks
from .cpp import CppWriter
from .errors import ExportError
from .integer_steps import IntegerAttention, IntegerLinear
from .passes import assign_memory
from .program import Program
from .steps import FORMATS, Attention, Linear
from .streaming import CacheAppend, CachedAttention

ARM, RISCV = 'arm-none-eabi-g++', 'riscv64-unknown-elf-g++'

CHUNKS = (128, 64, 32, 16, 8, 4)  # that are tried for what does not fit


class Kind(NamedTuple):
    """A board's compiler and flags, and instructions for a multiply-add at -O2, as bench/speed/results/sizes.md has them: of attention, of
    projections by format (several tokens; one token); and in integers of attention, of projections of several tokens and of one."""

    compiler: str
    flags: str
    attention: float
    several: Tuple[float, ...]
    one: Tuple[float, ...]
    integers: Tuple[float, float, float]


BOARDS = {
    'cortex-m0plus': Kind(ARM, '-mcpu=cortex-m0plus', 169, (147, 149, 148, 149, 146), (147, 169, 148, 166, 163),
                      (6.2, 5.72, 10.3)),
    'cortex-m3': Kind(ARM, '-mcpu=cortex-m3', 107, (93.8, 95, 95, 94.8, 92.7), (93.9, 103, 96, 106, 99.7),
                      (3.48, 3.21, 5.95)),
    'cortex-m4': Kind(ARM, '-mcpu=cortex-m4 -mfloat-abi=hard', 2.24, (1.67, 2.0, 2.0, 2.02, 2.34), (1.31, 2.9, 3.4, 4.32, 5.36),
                      (1.83, 1.98, 3.35)),
    'cortex-m7': Kind(ARM, '-mcpu=cortex-m7 -mfloat-abi=hard', 2.2, (1.68, 2.0, 2.0, 2.02, 2.34), (1.31, 2.9, 3.4, 4.32, 5.37),
                      (1.83, 1.98, 3.35)),
    'cortex-m33': Kind(ARM, '-mcpu=cortex-m33 -mfloat-abi=hard', 2.19, (1.67, 2.0, 2.0, 2.02, 2.33), (1.31, 2.9, 3.4, 4.32, 5.36),
                      (1.83, 1.99, 3.35)),
    'cortex-m55': Kind(ARM, '-mcpu=cortex-m55 -mfloat-abi=hard', 0.79, (0.61, 0.7, 0.7, 0.74, 1.12), (0.94, 1.22, 1.22, 1.24, 2.0),
                      (0.57, 0.64, 1.14)),
    'rv32imac': Kind(RISCV, '-march=rv32imac -mabi=ilp32 -ffreestanding', 150, (131, 132, 132, 132, 128), (131, 141, 132, 144, 136),
                      (4.73, 4.32, 8.0)),
    'rv32imafc': Kind(RISCV, '-march=rv32imafc -mabi=ilp32f -ffreestanding', 2.39, (1.97, 2.3, 2.2, 2.34, 2.94),
                      (2.74, 7.88, 4.41, 4.01, 12.7), (4.73, 4.32, 8.0)),
}


class Board:
    HEADINGS = ['board', 'flash, bytes', 'RAM, bytes', 'of it caches and work memory', 'stack, bytes', 'instructions, millions', 'of a token']

    def __init__(self, target: str):
        """target: a board, and after a colon how many KB of RAM it has, cortex-m4:64."""
        self.name, _, ram = target.partition(':')
        if self.name not in BOARDS or (ram and not ram.isdigit()):
            raise ExportError(f'the target {target!r} is unknown; expected one of {", ".join(BOARDS)}, with its RAM in KB or without, cortex-m4:64')
        self.kind, self.limit = BOARDS[self.name], int(ram) * 1024 if ram else None
        self.flash: Optional[int] = None
        self.ram: Optional[int] = None
        self.stack: Optional[int] = None
        self.arrays, self.steps, self.token, self.counted = 0, {}, None, False  # type: int, Dict[int, float], Any, bool

    def measure(self, folder: pathlib.Path, whole: Program, tokenwise: Optional[Program], surface: str) -> None:
        """Sizes of run(), or of append() of a decoder, whose program takes a token at a time; instructions of both."""
        program, decoder = tokenwise or whole, tokenwise is not None
        self.arrays = max(program.tops or [0])
        found = count(self.name, folder, whole, tokenwise, surface)
        self.counted = found is not None
        self.steps = found.steps if found else {index: self._instructions(step) for index, step in enumerate(whole.steps)}  # type: ignore[assignment]
        self.token = found.token if found else sum(map(self._instructions, tokenwise.steps)) if tokenwise else None
        if shutil.which(self.kind.compiler) is None:
            return
        build = pathlib.Path(tempfile.mkdtemp(prefix='size-', dir=folder))
        source, image = build / 'size.cpp', build / 'size.elf'
        parts = [f'{CppWriter.element_type(view)} argument_{i}{CppWriter.extents(view.shape if surface == "cpp" else [view.count])};\n' for i, view in enumerate(program.inputs + program.outputs)]
        arguments = ', '.join(f'argument_{i}' for i in range(len(parts)))
        loops = ''.join(f'void* {name}(void* to, {second}, size_t count) {{\n  for (size_t i = 0; i < count; ++i) static_cast<volatile char*>(to)[i] = {value};\n'
                        '  return to;\n}\n' for name, second, value in
                        (('memcpy', 'const void* from', 'static_cast<const char*>(from)[i]'), ('memset', 'int value', 'char(value)')))
        begin, stack = (f'{program.name}_', '') if surface == 'c' else \
            (f'{program.name}::', 'extern const unsigned char stack_bytes[attend::prefill_stack_bytes] = {};\n')
        source.write_text(f'#include "../model.h"\n{"".join(parts)}extern "C" {{\nvoid start() {{ (void){begin}{"append" if decoder else "run"}({arguments}); }}\n'
                          f'{loops if self.kind.compiler == RISCV else ""}}}\n{stack}')
        flags = [*self.kind.flags.split(), '-Os', '-ffp-contract=off', '-ffunction-sections', '-fdata-sections']
        model = build / 'model.o' if surface == 'c' else folder / 'model.cpp'
        in_c = [self.kind.compiler.replace('g++', 'gcc'), *flags, '-std=c99', '-c', str(folder / 'model.c'), '-o', str(model)]
        command = [self.kind.compiler, *flags, '-std=c++17',
                   '-fno-exceptions', '-fno-rtti', '-nostartfiles', '-Wl,--gc-sections', '-Wl,-e,start', *(['-Wl,-u,stack_bytes'] if stack else []),
                   *(['-nostdlib'] if self.kind.compiler == RISCV else ['--specs=nosys.specs']), str(source), str(model),
                   str(folder / 'attend/attend.cpp'), *(['-lgcc'] if self.kind.compiler == RISCV else []), '-o', str(image)]
        try:
            made = subprocess.run(in_c, capture_output=True, text=True) if surface == 'c' else None
            if made is None or not made.returncode:
                made = subprocess.run(command, capture_output=True, text=True)
            if made.returncode:
                raise ExportError(f'{self.kind.compiler} does not compile the model for {self.name}: {made.stderr[-500:]}')
            symbols = subprocess.run([self.kind.compiler.replace('g++', 'nm'), '-S', '-C', str(image)], capture_output=True, text=True).stdout
            sizes = subprocess.run([self.kind.compiler.replace('g++', 'size'), '-B', str(image)], capture_output=True, text=True).stdout
            size_of = lambda name: int(re.search(rf'^\w+ (\w+) \w {re.escape(name)}$', symbols, re.M)[1], 16)  # type: ignore[index]
            blocks = ['token_memory', 'caches'] if decoder else ['memory']
            self.ram = sum(size_of(begin + block) for block in blocks)
            self.stack = size_of('stack_bytes') if stack else None  # of the C surface the library has no constant for boards
            text, data = map(int, sizes.splitlines()[1].split()[:2])
            self.flash = text + data - (self.stack or 0)
        finally:
            shutil.rmtree(build)

    def _instructions(self, step: Any) -> float:
        if isinstance(step, IntegerLinear):
            return step.multiply_adds() * self.kind.integers[2 if step.tokens == 1 else 1]
        if isinstance(step, IntegerAttention):
            return step.multiply_adds() * self.kind.integers[0]
        if isinstance(step, Linear):
            return step.multiply_adds() * (self.kind.one if step.tokens == 1 else self.kind.several)[FORMATS.index(step.format)]
        if isinstance(step, CacheAppend):
            return 0.0
        if isinstance(step, CachedAttention):
            each = self.kind.integers[0] if isinstance(step.of, IntegerAttention) else self.kind.attention
            return step.of.multiply_adds() / step.of.queries * each
        if isinstance(step, Attention):
            return step.multiply_adds() * self.kind.attention
        return step.writes.count * (20 if self.kind.attention < 10 else 200)

    def row(self) -> List[str]:
        show = lambda number: ('no compiler' if self.flash is None else '-') if number is None else f'{number:,}'
        work = None if self.ram is None else self.ram - self.arrays
        about = '' if self.counted else 'about '
        token = '' if self.token is None else f'{about}{self.token / 1e6:.2f}'
        return [self.name, show(self.flash), show(self.ram), show(work), show(self.stack), f'{about}{sum(self.steps.values()) / 1e6:.2f}', token]

    def advice(self, program: Program, whole: Program, decoder: bool) -> str:
        """Where the RAM does not suffice: what takes the most, and which chunk would make it fit. whole: the program without chunks."""
        if self.limit is None or self.ram is None or self.ram <= self.limit:
            return ''
        kilobytes = lambda size: f'{size / 1024:.0f} KB'
        text = f'{self.name}: RAM {kilobytes(self.ram)} of {kilobytes(self.limit)}'
        if decoder:
            return f'{text}; fewer --tokens make shorter caches.'
        index = max(range(len(program.live)), key=program.live.__getitem__)
        text += f', the most at step {index}, {program.steps[index].text()}'
        sizes = {chunk: self.ram - max(program.tops) + max(in_chunks(whole, chunk).tops) for chunk in CHUNKS}
        assign_memory(program)
        fitting = [chunk for chunk, size in sizes.items() if size <= self.limit]
        best = fitting[0] if fitting else min(sizes, key=lambda chunk: (sizes[chunk], -chunk))
        if sizes[best] >= self.ram:
            return f'{text}; --chunk does not make it less.'
        return f'{text}; --chunk {best} makes it about {kilobytes(sizes[best])}' + ('.' if fitting else ', which is not enough.')
