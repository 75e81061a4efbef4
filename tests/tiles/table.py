"""Prints the loops of a backend as one compiler makes them, and writes all figures to a file."""

LEGEND = """\
fmas: vector multiply-adds in a round of a loop. Of each of them, or of each load where there are none: instructions, registers that
are loaded, accesses of the stack, moves from register to register; cycles by llvm-mca's models of processors.
"""
COLUMNS = ["fmas", "instr", "loads", "stack", "moves"]


def per_unit(loop, model):
    """Cycles of a multiply-add; where a loop has none, of a load."""
    of_round = loop.cycles.get(model)
    return None if of_round is None else of_round / loop.unit


def counts(loop):
    return [loop.instructions, loop.loads, loop.stack, loop.moves]


def show(part, every):
    """Whole tiles, and what touches the stack; or every loop."""
    models = part.backend.models if part.peaks else []
    print("\n%s, %s" % part.names())
    if part.problem:
        return
    row("", COLUMNS + models)
    if models:
        row("a processor's limit", [""] * len(COLUMNS) + ["%.2f" % part.peaks[model] for model in models])
    shown = [loop for loop in part.loops if every or loop.is_tile or loop.stack > 0]
    for loop in shown:
        cycles = [per_unit(loop, model) for model in models]
        row(loop.name, ["%d" % loop.multiply_adds] + ["%.2f" % (count / loop.unit) for count in counts(loop)]
            + ["-" if figure is None else "%.2f" % figure for figure in cycles])
        if loop.is_whole and models:
            row("  share of the processor's limit", [""] * len(COLUMNS)
                + ["-" if figure is None else "%.1f %%" % (100 * part.peaks[model] / figure) for model, figure in zip(models, cycles)])
    for name in next(iter(part.parts.values()), {}):
        row("  cycles: " + name, [""] * len(COLUMNS) + ["%d" % part.parts[model][name] for model in models])
    if len(shown) < len(part.loops):
        print("  and %d more, without an access of the stack" % (len(part.loops) - len(shown)))


def row(name, cells):
    widths = [7] * len(COLUMNS) + [16] * len(cells)
    print(("  %-42s" % name + "".join("%*s" % (width, cell) for width, cell in zip(widths, cells))).rstrip())


def write(parts, path):
    """One line for each loop: counts of a round, and cycles of a multiply-add."""
    with open(path, "w") as file:
        file.write("backend\tcompiler\tloop\tmultiply-adds\tinstructions\tloads\tstack\tmoves\tcycles\n")
        for part in parts:
            for loop in part.loops:
                cycles = ["%s %.3f" % (model, per_unit(loop, model)) for model in loop.cycles if per_unit(loop, model) is not None]
                cells = [*part.names(), loop.name, loop.multiply_adds, *counts(loop), ", ".join(cycles)]
                file.write("\t".join(str(cell) for cell in cells) + "\n")
