"""Reads, judges and writes limits.<backend>.txt: the most that the loops of a backend may have, for each compiler.

Of the rows whose name fits a loop (* is anything), the last one counts. A row that counts for no loop is an error, and so is a loop
without a row. What `make tiles LIMITS=write` writes are today's figures, rounded up by a fiftieth at most.
"""
import fnmatch
import glob
import math
import os

import names
import table
import whole_tile

MCA = "22"  # the version whose cycles are judged: each has other models
OTHERS = ("softmax_side_by_side", "weights_side_by_side", "output_panel", "activate")  # share a row each
HERE = os.path.dirname(os.path.abspath(__file__))
NAME_WIDTH = 46
HEAD = """\
# What `make tiles` forbids. For each compiler and loop the most accesses of the stack in a round, instructions of a multiply-add (of
# a load where a loop has no multiply-add), and cycles of it by llvm-mca %s's models of processors; - where there is no limit.
# limits.py says how rows are found; `make tiles LIMITS=write` writes today's figures.
"""


class Row:
    def __init__(self, pattern, stack, instructions, cycles):
        self.pattern, self.stack, self.instructions, self.cycles = pattern, stack, instructions, cycles
        self.counts = False

    def fits(self, name):
        return fnmatch.fnmatchcase(name, self.pattern)


def path_of(backend):
    return os.path.join(HERE, "limits.%s.txt" % backend)


def read():
    """{(backend, compiler): rows}"""
    sections = {}
    for path in sorted(glob.glob(path_of("*"))):
        with open(path) as file:
            for line in file:
                name, cells = line[:NAME_WIDTH].strip(), line[NAME_WIDTH:].split()
                if name.startswith("["):
                    models = cells[2:]
                    rows = sections[tuple(name.strip("[]").split())] = []
                elif name and not name.startswith("#"):
                    cycles = {model: float(cell) for model, cell in zip(models, cells[2:]) if cell != "-"}
                    rows.append(Row(name, int(cells[0]), float(cells[1]), cycles))
    return sections


def judge(part, rows, judges_cycles):
    """What is wrong with a part: a line each."""
    wrong = []
    who = "%s, %s: " % part.names()
    for loop in part.loops:
        fitting = [row for row in rows if row.fits(loop.name)]
        if not fitting:
            wrong.append(who + "there is no limit for " + loop.name)
            continue
        row = fitting[-1]
        row.counts = True
        found = [("accesses of the stack", loop.stack, row.stack),
                 ("instructions per " + loop.what, loop.instructions / loop.unit, row.instructions)]
        if judges_cycles:
            found += [("cycles per %s on %s" % (loop.what, model), table.per_unit(loop, model), limit)
                      for model, limit in row.cycles.items() if table.per_unit(loop, model) is not None]
        wrong += [who + "%s has %.4g %s, the limit is %g" % (loop.name, figure, what, limit)
                  for what, figure, limit in found if figure > limit]
    unknown = judges_cycles and {model for row in rows for model in row.cycles} - set(part.backend.models)
    wrong += [who + "no model is left for the limits of %s" % model for model in sorted(unknown or ())]
    judged = [row for row in rows if not (part.absent and row.pattern == whole_tile.NAME)]
    return wrong + [who + "no loop is left for the limit of %s" % row.pattern for row in judged if not row.counts]


def write(parts):
    """Replaces the sections of these parts by today's figures."""
    for backend in sorted({part.backend.name for part in parts}):
        sections = {}
        if os.path.exists(path_of(backend)):
            with open(path_of(backend)) as file:
                texts = ["[" + text.rstrip("\n") + "\n" for text in file.read().split("\n[")[1:]]
            sections = {text[: text.index("]")]: text for text in texts}
        sections.update(("[%s %s" % part.names(), section(part)) for part in parts if part.backend.name == backend)
        with open(path_of(backend), "w") as file:
            file.write(HEAD % MCA + "".join("\n" + sections[key] for key in sorted(sections)))


def section(part):
    """Rows for kinds of loops, then one for each whole tile and for each long loop that touches the stack."""
    with_stack = {loop.name for loop in part.loops if loop.stack > 0 and loop.multiply_adds >= 8 and ", 1 step" not in loop.name
                  and (loop.function.name not in names.COLUMNS or loop.function.vecs == 4)}
    rows = {}
    for loop in part.loops:
        rows.setdefault((3, loop.name) if loop.is_tile or loop.name in with_stack else kind(loop), []).append(loop)
    lines = [line("[%s %s]" % part.names(), ["stack", "instr", *part.backend.models])]
    for (_, pattern), loops in sorted(rows.items(), key=lambda item: item[0][0]):
        cells = ["%d" % max(loop.stack for loop in loops), "%.2f" % rounded_up(max(o.instructions / o.unit for o in loops))]
        for model in part.backend.models:
            cycles = [table.per_unit(loop, model) for loop in loops if table.per_unit(loop, model) is not None]
            cells.append("%.2f" % rounded_up(max(cycles)) if cycles else "-")
        lines.append(line(pattern, cells))
    return "\n".join(lines) + "\n"


def line(name, cells):
    return "%-*s" % (NAME_WIDTH, name) + "".join("%*s" % (max(7, len(cell) + 1), cell) for cell in cells)


def rounded_up(figure):
    return math.ceil(figure * 101.5) / 100


def kind(loop):
    """How special the pattern is of loops that share a row, and the pattern."""
    words = loop.name.split(",")[0].split()
    if words[0] in names.COLUMNS:
        return 2, "%s %s *" % tuple(words[:2]) + (", 1 step" if ", 1 step" in loop.name else ", * steps")
    if words[0] in names.TILES:
        if words[1] in names.FORMATS.values():
            return 2, "%s %s *" % (words[0], words[1])
        return 1, words[0] + (" *, 1 step*" if ", 1 step" in loop.name else " *, * steps")
    return (1, words[0] + " *") if words[0] in OTHERS else (0, "*")
