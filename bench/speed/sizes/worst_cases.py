"""The constants of include/attend/detail/instruction_counts.h from what tests/boards/worst_main.cpp prints of loops: worst_cases.py NAME <LINES

A line is one call: whether it is one of attention (0), a projection (1) or append (2), whether it is one of the typed surface, whether it is
causal, its instructions, and how many times each constant is in the formula. Of attention least squares of relative errors, rounded to whole
instructions one after another, those first that tell most. Of the others, in sixteenths, constants that are not negative and with which no
call of the fit takes more than the formula says.
"""
import sys
import textwrap

import numpy

DIVISIONS = 5  # constants that say how kernels divide the work
CALL, ROWS, OTHERS, BLOCK, CHUNK = 5, (14, 38), 62, 0, 1  # places of constants
SURROUNDINGS = 16 * 16  # sixteenths for what a program has around a projection and append: addresses, checks of what is no constant

all_rows = numpy.array([line.split() for line in sys.stdin], float)
rows = all_rows[all_rows[:, 0] == 0]
typed, causal, counted, formula = rows[:, 1], rows[:, 2], rows[:, 3], rows[:, 4:]
division = formula[0, :DIVISIONS].astype(int)
formula[:, :DIVISIONS] = 0
# What causal calls take more: about as much for each row that begins, and for each chunk of it.
rows_of_causal = sum((1 + two) * (formula[:, at + BLOCK] + formula[:, at + CHUNK]) for two, at in enumerate(ROWS))
matrix = numpy.column_stack([formula, typed, causal * rows_of_causal]) / counted[:, None]

solution, left = numpy.zeros(matrix.shape[1]), numpy.ones(len(counted))
open_columns = [i for i in range(matrix.shape[1]) if matrix[:, i].any()]
while open_columns:
    best = numpy.linalg.lstsq(matrix[:, open_columns], left, rcond=None)[0]
    most = numpy.argmax(numpy.linalg.norm(matrix[:, open_columns], axis=0))
    column = open_columns.pop(most)
    solution[column] = round(best[most])
    left = left - matrix[:, column] * solution[column]

constants = solution[:-2].astype(int)
constants[:DIVISIONS] = division
constants[CALL] += int(solution[-2])
for two, at in enumerate(ROWS):
    constants[at + BLOCK] += (1 + two) * int(solution[-1])
    constants[at + CHUNK] += (1 + two) * int(solution[-1])


def never_below(kind, first, factor):
    """Errors below a count weigh 50 times as much as those above; what is still below is scaled away."""
    of_kind = all_rows[all_rows[:, 0] == kind]
    matrix = of_kind[:, 4 + DIVISIONS:] / of_kind[:, 3:4] / 16
    columns = [i for i in range(matrix.shape[1]) if matrix[:, i].any()]
    weights = numpy.ones(len(matrix))
    while True:
        for _ in range(40):
            best = numpy.linalg.lstsq(matrix[:, columns] * weights[:, None], weights, rcond=None)[0]
            weights = numpy.where(matrix[:, columns] @ best < 1, 1, 0.02)
        if best.min() >= 0:
            break
        columns.pop(int(best.argmin()))
    found = matrix[:, columns] @ best
    print(f'{sys.argv[1]}: {len(matrix)} calls of kind {kind}; the formula is at most {100 * (found.max() / found.min() - 1):.2f} % above', file=sys.stderr)
    for column, number in zip(columns, best / found.min() * factor):
        constants[DIVISIONS + column] = int(numpy.ceil(number - 1e-6))
    constants[first] += SURROUNDINGS


never_below(1, OTHERS, 1 + 1 / 256)
never_below(2, -7, 1.25)  # which compilers inline and unroll, for each shape in another way

numbers = iter(constants)
take = lambda count: ', '.join(str(next(numbers)) for _ in range(count))
print(f'inline constexpr InstructionCounts {sys.argv[1].replace("0plus", "0_plus")} = {{{{{take(2)}}}, {take(12)},')
of_rows = [f'{{{take(4)}, ' + ', '.join(f'{{{take(5)}}}' for _ in range(4)) + '}' for _ in ROWS]
print('  {' + ',\n   '.join(of_rows) + '},')
others = f'{{{take(8)}}}, {{{{{take(10)}}}, {{{take(10)}}}}}, {{{take(7)}}}}};'
print(textwrap.fill(others, 126, initial_indent='  ', subsequent_indent='  ', break_on_hyphens=False))
print(f'{sys.argv[1]}: {len(counted)} calls; the formula is {100 * -left.max():.2f} to {100 * -left.min():.2f} % above', file=sys.stderr)
