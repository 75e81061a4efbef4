"""What became of a model: sizes, work, errors, as a table."""
import concurrent.futures
import pathlib
from typing import Any, Dict, List, Optional, Sequence

import numpy

from .boards import Board
from .graph import Graph
from .integer_steps import floats
from .program import Program, used_part
from .steps import Linear


class Report:
    """error: the largest of the outputs, over the largest output; agreeing: in how many of all decisions the largest output is the same."""

    def __init__(self, program: Program, graph: Graph, inputs: Sequence[List[Any]]):
        self.program, self.whole, self.boards = program, program, []  # type: ignore[var-annotated]
        self.errors: Dict[str, float] = {}
        self.memory_bytes = 'memory_bytes'
        self.agreeing, self.decisions, self.samples = 0, 0, len(inputs)
        self.written = {id(step.writes.buffer) for step in program.steps}
        for sample in inputs:
            self._compare(graph, sample)
        self.error = max([self.errors.get(name, 0.0) for name in graph.outputs])

    def _compare(self, graph: Graph, sample: List[Any]) -> None:
        count, tokens, sample = self.program.used(sample)
        with numpy.errstate(all='ignore'):
            expected = graph.evaluate(dict(zip(graph.inputs, sample)))
        outputs = self.program.run(sample)
        for name, view in [*self.program.views.items(), *zip(graph.outputs, self.program.outputs)]:
            scale = view.buffer.scale
            if id(view.buffer) in self.written and (view.type == 'float32' or scale is not None and not numpy.ndim(scale.scale)):
                numbers = view.array if view.type == 'float32' else floats(view.array, scale)
                parts = [used_part(each, view.shape, count, tokens) for each in (numbers, expected[name])]
                self.errors[name] = max(self.errors.get(name, 0.0), error_of(*parts))
        right = expected[graph.outputs[0]]
        found = outputs[0].reshape(right.shape)
        same = found == right if found.dtype.kind == 'i' else numpy.argmax(found, -1) == numpy.argmax(right, -1)
        same = used_part(same, same.shape, count, tokens)
        self.agreeing += int(same.sum())
        self.decisions += same.size

    def measure(self, boards: Sequence[Board], folder: pathlib.Path, tokenwise: Optional[Program], surface: str = 'cpp') -> None:
        with concurrent.futures.ThreadPoolExecutor() as threads:
            for done in [threads.submit(board.measure, folder, self.program, tokenwise, surface) for board in boards]:
                done.result()
        self.boards, self.decoder = list(boards), tokenwise is not None
        if surface == 'c':
            self.memory_bytes = f'{self.program.name.upper()}_MEMORY_BYTES'

    def worst(self) -> Any:
        names = {step.name for step in self.program.steps}
        return max(((error, name) for name, error in self.errors.items() if name in names), default=(0.0, ''))

    def text(self) -> str:
        by_board = lambda index: [f'{board.steps.get(index, 0):,.0f}' for board in self.boards]
        rows = [['step', 'what', 'multiply-adds', 'constants, bytes', 'error', *(board.name for board in self.boards)]]
        for index, step in enumerate(self.program.steps):
            error = self.errors.get(step.name)
            last = index + 1 == len(self.program.steps) or self.program.steps[index + 1].name != step.name
            rows.append([str(index), f'{step.text()}', f'{step.multiply_adds():,}', f'{step.constants():,}',
                         f'{error:.1e}' if error is not None and last else '', *by_board(index)])
        rows.append(['all', '', f'{self.program.multiply_adds():,}', f'{self.flash():,}', f'{self.error:.1e}',
                     *(f'{sum(board.steps.values()):,.0f}' for board in self.boards)])
        parts = [table(rows), f'Errors are the largest of {self.samples} samples, over the largest number of the same array, against '
                 f'float64; the largest is at {self.worst()[1]}, {self.worst()[0]:.1e}. The largest output is at the same place in '
                 f'{self.agreeing} of {self.decisions} decisions.',
                 f'Arrays between the steps take {max(self.program.tops or [0]):,} bytes, and work memory what the target needs beside them: '
                 f'{self.memory_bytes} in model.h.']
        kept = [step for step in self.program.steps if isinstance(step, Linear) and step.format == 'float32']
        converted = [step for step in self.program.steps if isinstance(step, Linear) and step.format != 'float32']
        if converted and kept:
            parts.append(f'{len(kept)} projections stay float32: their inputs are no multiple of 32.')
        if self.boards:
            parts.append('Columns of boards are instructions: ' + ('counted by an emulator.' if all(board.counted for board in self.boards) else
                         'counted by an emulator, or estimated ("about") where the emulator or a compiler is missing or the model does not fit.'))
            parts.append(table([Board.HEADINGS, *(board.row() for board in self.boards)]))
            parts += list(filter(None, (board.advice(self.program, self.whole, self.decoder) for board in self.boards)))
        return '\n\n'.join(parts) + '\n'

    def flash(self) -> int:
        """Constants of all steps; those that several have count once."""
        arrays = lambda step: tuple(each.tobytes() for each in (getattr(step, name, None) for name in ('weight', 'bias', 'table', 'weight_scales'))
                                    if isinstance(each, numpy.ndarray))
        return sum({arrays(step) or id(step): step.constants() for step in self.program.steps}.values())


def error_of(numbers: Any, expected: Any) -> float:
    """The largest difference, over the largest expected number. What is not a number in one of both is an infinite one."""
    with numpy.errstate(all='ignore'):
        difference = numpy.where(numbers == expected, 0.0, numpy.abs(numbers - expected))
    most = numpy.abs(expected[numpy.isfinite(expected)]).max(initial=0.0)
    error = float(difference.max(initial=0.0)) / float(most or 1)
    return error if numpy.isfinite(error) else float('inf')


def table(rows: List[List[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    is_number = [all(row[column][:1].isdigit() or not row[column] for row in rows[1:]) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(row, widths, is_number)]
        lines.append('  '.join(cells).rstrip())
    return '\n'.join(lines)
