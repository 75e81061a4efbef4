"""Feed-forward blocks some tokens at a time: what lies between their projections, the widest arrays of most models, is as long as a chunk."""
import copy
from typing import Any, Dict, List, Optional, Set

from .integer_steps import Dequantise, IntegerGate, IntegerLinear, IntegerSum, Quantise, Table
from .passes import assign_memory
from .program import Buffer, Program, Step, View
from .steps import Activate, Elementwise, Linear, Norm

PROJECTIONS = (Linear, IntegerLinear)
# Steps that compute each token by itself, of rows that lie behind each other.
BETWEEN = (*PROJECTIONS, Norm, Activate, IntegerGate, Table, Elementwise, IntegerSum, Quantise, Dequantise)


def in_chunks(program: Program, tokens: int) -> Program:
    """A program with the same bits, in which each such block of more tokens is computed in several parts. The old program keeps its steps,
    and its arrays lose their places in memory."""
    steps: List[Step] = []
    at = 0
    while at < len(program.steps):
        end = _block(program, at)
        if end is None or program.steps[at].tokens <= tokens:  # type: ignore[attr-defined]
            steps.append(program.steps[at])
            at += 1
            continue
        steps += _parts(program.steps[at:end], program.steps[at].tokens, tokens)  # type: ignore[attr-defined]
        at = end
    made = Program(program.name, program.inputs, program.outputs, steps)
    made.views, made.text = program.views, program.text
    assign_memory(made)
    return made


def _block(program: Program, at: int) -> Optional[int]:
    """Where a block ends that begins with this projection to more numbers: after the next projection, where nothing else reads what was
    computed in between."""
    first: Any = program.steps[at]
    if not isinstance(first, PROJECTIONS) or first.writes.count <= first.reads[0].count:
        return None
    tokens, inner = first.tokens, set()  # type: int, Set[int]
    for end in range(at, len(program.steps)):
        step: Any = program.steps[end]
        if not isinstance(step, BETWEEN) or not _row_by_row(step, tokens):
            return None
        if isinstance(step, PROJECTIONS) and id(step.reads[0].buffer) in inner:
            others = program.steps[:at] + program.steps[end + 1:]
            escapes = {id(view.buffer) for other in others for view in other.reads} | {id(view.buffer) for view in program.outputs}
            return end + 1 if not inner & escapes else None
        inner.add(id(step.writes.buffer))
    return None


def _row_by_row(step: Any, tokens: int) -> bool:
    whole = all(view.is_whole() and view.count % tokens == 0 for view in step.reads + [step.writes])
    if isinstance(step, Norm) and (step.writes.count // tokens) % step.width:
        return False
    if isinstance(step, PROJECTIONS) and step.tokens != tokens:
        return False
    return whole and len(step.reads) == len(step.operands) and (isinstance(step, PROJECTIONS) or all(view.count == step.writes.count for view in step.reads))


def _parts(block: List[Step], tokens: int, chunk: int) -> List[Step]:
    inner, made = {id(step.writes.buffer) for step in block[:-1]}, []  # type: Set[int], List[Step]
    for first in range(0, tokens, chunk):
        count = min(chunk, tokens - first)
        buffers: Dict[int, Buffer] = {}

        def rows(view: View) -> View:
            width = view.count // tokens
            if id(view.buffer) not in inner:
                return View(view.buffer, view.buffer.base[first * width:(first + count) * width].reshape(count, width))
            if id(view.buffer) not in buffers:
                buffers[id(view.buffer)] = Buffer('memory', count * width, view.buffer.name, view.type)
                buffers[id(view.buffer)].scale = view.buffer.scale
            return View(buffers[id(view.buffer)], shape=(count, width))

        for step in block:
            part: Any = copy.copy(step)
            part.operands, part.writes = list(map(rows, step.operands)), rows(step.writes)
            made.append(part)
    return made
