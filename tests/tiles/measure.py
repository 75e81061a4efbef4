"""The hot loops of an object file, and their figures."""
import re

import disassembly
import loops
import names
import pipeline_models

# Of these functions loops without multiply-adds count too: maxima of scores, exponentials, widening.
BESIDE_TILES = re.compile(r"softmax|weights|widen|cap_scores|activate")

# Tiles of floats; what else does the work.
WHOLE = re.compile(r"(score|value)_tile \d+x\d+")
SMALL = re.compile(r"softmax|weights|chains|tile|rows?\b|(panel_)?outputs|(half|bfloat|byte)_rows")


class Loop:
    """Figures of one round: instructions, registers loaded, accesses of the stack, moves from register to register, and cycles by
    processor. `unit` is the number of multiply-adds, or where there are none the number of registers loaded."""

    def __init__(self, function, body, machine, stack):
        self.body = body
        self.multiply_adds = sum(machine.is_multiply_add(instruction) for instruction in body)
        self.instructions = len(body)
        self.loads = sum(machine.loads(instruction) for instruction in body)
        self.stack = sum(touches(machine, instruction, registers) for instruction, registers in zip(body, stack))
        self.moves = sum(machine.is_move(instruction) for instruction in body)
        self.function = names.Name(function)
        self.name = self.function.loop(self.multiply_adds, self.loads)
        self.unit = self.multiply_adds or self.loads
        self.what = "multiply-add" if self.multiply_adds else "load"
        self.cycles = {}
        self.is_tile, self.is_whole = False, False
        self.is_hot = self.multiply_adds > 0 or (
            bool(BESIDE_TILES.search(self.name)) and any(machine.loads(i) and machine.is_vector(i) for i in body))


def touches(machine, instruction, registers):
    """Whether an instruction reads or writes the stack."""
    return any(machine.whole(name) in registers for name in machine.address(instruction) or [])


def hot_loops(objdump, machine, path):
    functions = disassembly.functions_of(objdump, path, machine.objdump_flags)
    return [loop for function in functions for loop in loops_of(machine, function) if loop.is_hot]


def loops_of(machine, function):
    """The innermost loops of a function that uses vectors."""
    if not any(machine.is_vector(instruction) for instruction in function.instructions):
        return []
    flow = loops.Flow(machine, function)
    bodies = loops.innermost_loops(flow)
    stack = loops.stack_registers(flow) if bodies else []
    return [Loop(function.name, [flow.code[i] for i in places], machine, [stack[i] for i in places]) for places in bodies]


def ask_models(mca, backend, found, rounds=pipeline_models.ROUNDS):
    """Adds the cycles of loops; gives the limit of each processor, cycles of a multiply-add. Of the single steps that are left over
    behind a loop of four there are few, and to ask for them too would take half as long again."""
    asked = [loop for loop in found if ", 1 step" not in loop.name]
    limits = {}
    for model in backend.models:
        cycles, limits[model] = pipeline_models.cycles(mca, backend, model, [loop.body for loop in asked], rounds)
        for loop, of_round in zip(asked, cycles):
            loop.cycles[model] = of_round
    return limits


def mark_tiles(found):
    """Marks the loops that do the work: the widest tiles of floats, exponentials; on embedded processors whatever has rows or chains."""
    widest = {}
    for loop in found:
        tile = loop.function
        if WHOLE.fullmatch(tile.text):
            widest[tile.name, tile.rows] = max(tile.vecs, widest.get((tile.name, tile.rows), 0))
    for loop in found:
        tile = loop.function
        of_float = WHOLE.fullmatch(tile.text) and tile.vecs == widest[tile.name, tile.rows]
        loop.is_tile = bool(of_float and loop.multiply_adds > tile.rows * tile.vecs) or (
            loop.multiply_adds >= 8 and bool(SMALL.match(tile.text)))
