"""The constants of include/attend/detail/instruction_counts.h from what tests/boards/worst_main.cpp prints of loops: worst_cases.py NAME <LINES

A line is one call: whether it is one of the typed surface, whether it is causal, its instructions, and how many times each constant is in
the formula. Least squares of relative errors, rounded to whole instructions one after another, those first that tell most.
"""
import sys

import numpy

DIVISIONS = 5  # constants that say how kernels divide the work
CALL, ROWS, BLOCK, CHUNK = 5, (14, 38), 0, 1  # places of constants

rows = numpy.array([line.split() for line in sys.stdin], float)
typed, causal, counted, formula = rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3:]
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

numbers = iter(constants)
take = lambda count: ', '.join(str(next(numbers)) for _ in range(count))
print(f'inline constexpr InstructionCounts {sys.argv[1].replace("0plus", "0_plus")} = {{{{{take(2)}}}, {take(12)},')
of_rows = [f'{{{take(4)}, ' + ', '.join(f'{{{take(5)}}}' for _ in range(4)) + '}' for _ in ROWS]
print('  {' + ',\n   '.join(of_rows) + '}};')
print(f'{sys.argv[1]}: {len(counted)} calls; the formula is {100 * -left.max():.2f} to {100 * -left.min():.2f} % above', file=sys.stderr)
