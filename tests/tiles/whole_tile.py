"""The whole of a tile's work, as it runs: scores, weights and weighted values of 6 rows, 64 keys and 64 dimensions, with what is
between the loops: chains that begin and end, maxima, row sums, calls.

whole_tile.cpp is linked with the backend's object and run in an emulator, which says from where on each block of instructions ran.
The tile in the middle of the run, from its first scores to those of the next one, becomes a loop that the models are asked about
as about others. Its unit is a multiply-add of scores or values; those of the polynomial are part of what they cost.
"""
import os
import re
import shutil
import subprocess

import builds
import disassembly
import loops
import measure
import parts

PROGRAM = "tests/tiles/whole_tile.cpp"
OTHERS = ("src/backend/dispatch.cpp", "src/call/cache.cpp")
NAME = "whole tile, 6 rows x 64 keys x 64"
MULTIPLY_ADDS = 2 * 6 * 64 * 64  # of floats
POLYNOMIAL = 6 * 6 * 64  # multiply-adds of floats, those of 384 exponentials
ROUNDS = 4  # one after another, by the models
PAGE = 4096  # bytes; the emulator's blocks end there
RAN = re.compile(r"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", re.MULTILINE)


class WholeTile(measure.Loop):
    def __init__(self, backend, body):
        super().__init__(NAME, body, backend.machine, [{backend.machine.stack_pointer}] * len(body))
        self.name, self.unit = NAME, MULTIPLY_ADDS // backend.lanes
        self.is_tile = self.is_whole = True


def missing(backend):
    """The program that is missing for this, if one is."""
    return next((name for name in (backend.emulator, backend.linker) if not shutil.which(name)), "")


def of(backend, compiler, objdump, folder, newest):
    """The tile as this compiler makes it."""
    objects = [builds.compile_source(backend, compiler, source, folder, newest)
               for source in (*OTHERS, builds.sources_of(backend)[0])]
    program = os.path.join(folder, "%s.%s.whole_tile" % (backend.name, compiler.name))
    subprocess.run([backend.linker, "-std=c++17", "-O2", "-Iinclude", "-static", PROGRAM, *objects, "-o", program], check=True)
    log = program + ".log"
    subprocess.run([backend.emulator, "-d", "exec,nochain", "-D", log, program], check=True)
    with open(log) as file:
        blocks = [int(address, 16) for address in RAN.findall(file.read())]
    os.remove(log)
    functions = disassembly.functions_of(objdump, program, backend.machine.objdump_flags)
    body = middle_tile(instructions_that_ran(backend.machine, functions, blocks), functions)
    tile = WholeTile(backend, body)
    expected = (MULTIPLY_ADDS + POLYNOMIAL) // backend.lanes
    ran = tile.multiply_adds + sum(backend.machine.is_product_by_lane(instruction) for instruction in body)
    if ran != expected:
        raise RuntimeError("%s: %d multiply-adds ran instead of %d" % (program, ran, expected))
    tile.parts = parts.of_instructions(backend.machine, body, functions)
    return tile


def instructions_that_ran(machine, functions, blocks):
    """Each block runs up to its first branch, or to the end of a page. One that would be too long for the emulator ends where the
    next one begins, to which no branch leads."""
    code = [instruction for function in functions for instruction in function.instructions]
    place = {instruction.address: i for i, instruction in enumerate(code)}
    ends = re.compile("|".join(pattern.pattern for pattern in (machine.branch, machine.leaves, machine.call)))
    ran, begins = [], [place[address] for address in blocks if address in place]
    for first, following in zip(begins, begins[1:] + [len(code)]):
        last = first
        while not ends.fullmatch(code[last].mnemonic) and (code[last].address + 4) % PAGE != 0:
            last += 1
        if first < following <= last and loops.branch_target(machine, code[last]) != code[following].address:
            last = following - 1
        ran += code[first : last + 1]
    return ran


def middle_tile(ran, functions):
    """From the first scores of a tile to those of the next one."""
    def entries(name):
        return {f.instructions[0].address for f in functions if f.instructions and re.search(r"\b%s<" % name, f.name)}
    scores, values = entries("score_tile"), entries("value_tile") | entries("whole_value_tile")
    begins, is_new = [], True
    for i, instruction in enumerate(ran):
        if instruction.address in scores and is_new:
            begins.append(i)
        if instruction.address in scores | values:
            is_new = instruction.address in values
    if len(begins) < 4:
        raise RuntimeError("%d tiles ran where there should be sixteen" % len(begins))
    middle = len(begins) // 2
    return ran[begins[middle] : begins[middle + 1]]
