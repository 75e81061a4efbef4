"""The constants of include/attend/detail/instruction_counts.h from what tests/boards/worst_main.cpp prints of loops: worst_cases.py NAME <LINES

A line is one call: which constants it has beside those of attention (ARRAYS), whether it is one of the typed surface, whether it is causal,
its instructions, and how many times each constant is in the formula. Least squares of relative errors, rounded to whole instructions one
after another, those first that tell most; first those of attention, then each array's.
"""
import sys
import textwrap

import numpy

DIVISIONS = 7  # constants that say how kernels divide the work
CALL, ROWS, BLOCK, CHUNK = 7, (16, 40), 0, 1  # places of constants
MARGIN = 56  # detail::others_margin
ARRAYS = (64, 71, 84, 106)  # where the constants of append, ring, projection and state begin

rows = numpy.array([line.split() for line in sys.stdin], float)
kind, typed, causal, counted, formula = rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3:4], rows[:, 4:]
division = formula[0, :DIVISIONS].astype(int)
formula[:, :DIVISIONS] = 0
# What causal calls take more: about as much for each row that begins, and for each chunk of it.
rows_of_causal = sum((1 + two) * (formula[:, at + BLOCK] + formula[:, at + CHUNK]) for two, at in enumerate(ROWS))
scale = numpy.where(kind == 0, counted[:, 0], numpy.maximum(counted[:, 0], 2000))  # short calls stand beside long ones
matrix, aims = numpy.column_stack([formula, typed, causal * rows_of_causal * (kind == 0)]) / scale[:, None], counted[:, 0] / scale
constants = numpy.zeros(formula.shape[1], int)
constants[:DIVISIONS] = division

for array in range(5):
    here = matrix[kind == array]
    solution, left = numpy.concatenate([constants, [0, 0]]).astype(float), aims[kind == array]
    fitted = range(DIVISIONS, ARRAYS[0]) if array == 0 else range(ARRAYS[array - 1], ARRAYS[array] if array < 4 else formula.shape[1])
    left = left - here @ solution
    open_columns = [i for i in (*fitted, len(constants), len(constants) + 1) if here[:, i].any()]
    weights = numpy.ones(len(here))
    for _ in range(60 if array else 0):  # the largest error counts, not the mean one
        best = numpy.linalg.lstsq(here[:, open_columns] * weights[:, None], left * weights, rcond=None)[0]
        errors = numpy.abs(left - here[:, open_columns] @ best)
        weights = numpy.sqrt(weights * (errors / errors.max() + 0.02))
        weights /= weights.max()
    while open_columns:
        best = numpy.linalg.lstsq(here[:, open_columns] * weights[:, None], left * weights, rcond=None)[0]
        most = numpy.argmax(numpy.linalg.norm(here[:, open_columns], axis=0))
        column = open_columns.pop(most)
        solution[column] = round(best[most])
        left = left - here[:, column] * solution[column]
    constants[:] = solution[:-2]
    constants[CALL if array == 0 else fitted[0]] += int(solution[-2])
    if array > 0:  # never below, with the margin of worst_case.h
        most = (here @ solution + left) * scale[kind == array] - here @ solution * scale[kind == array] * (1 + 1 / MARGIN)
        constants[fitted[0]] += max(int(numpy.ceil(most.max())), 0)
    if array == 1:  # copies differ from shape to shape
        constants[fitted[0]] += 40
    for two, at in enumerate(ROWS):
        constants[at + BLOCK] += (1 + two) * int(solution[-1])
        constants[at + CHUNK] += (1 + two) * int(solution[-1])
    error = f'{100 * -left.max():.2f} to {100 * -left.min():.2f} %'
    print(f'{sys.argv[1]}: {len(here)} calls of kind {array}; the formula is {error} above', file=sys.stderr)

numbers = iter(constants)
take = lambda count: ', '.join(str(next(numbers)) for _ in range(count))
several = lambda *counts: ', '.join(f'{{{take(count)}}}' for count in counts)
print(f'inline constexpr InstructionCounts {sys.argv[1].replace("0plus", "0_plus")} = {{{several(2)}, {take(3)}, {several(2)}, {take(9)},')
of_rows = [f'{{{take(4)}, {several(5, 5, 5, 5)}}}' for _ in ROWS]
print('  {' + ',\n   '.join(of_rows) + '},')
others = f'{several(*(after - at for at, after in zip(ARRAYS, ARRAYS[1:])), 11)}, {{{several(4, 4, 4, 4, 4, 4)}}}}};'
print(textwrap.fill(others, 126, initial_indent='  ', subsequent_indent="  ", break_on_hyphens=False))
