"""The parts of a whole tile, and the cycles of each: `make tiles LOOPS=parts`.

Each instruction has the cycles by which it begins (in-order processors) or ends (others) after all before it did, so that the parts
add up to the tile. Where parts overlap, what they do at the same time counts for the one that is in front. An in-order processor
lets an instruction wait for those before it, and the part that waits is the one that has the cycles.
"""
import re

import pipeline_models

SCORE_CHAINS, SCORE_ENDS = "chains of scores", "ends of chains of scores"
MAXIMUM, EXPONENTIAL, WEIGHT_SUMS = "maximum", "exponential", "sums of weights"
VALUE_CHAINS, VALUE_ENDS = "chains of values", "ends of chains of values"
BETWEEN = "calls and what loops begin with"
ALL = (SCORE_CHAINS, SCORE_ENDS, MAXIMUM, EXPONENTIAL, WEIGHT_SUMS, VALUE_CHAINS, VALUE_ENDS, BETWEEN)

VECTOR_STORE = re.compile(r"st[rpu1]\w* *(\{ *v|q)")


def of_instructions(machine, body, functions):
    """The part of each instruction of a tile."""
    owner = {instruction.address: function.name for function in functions for instruction in function.instructions}
    softmax = [i for i, instruction in enumerate(body) if re.search(r"softmax_side_by_side|weights_row_by_row", owner[instruction.address])]
    first, last = softmax[0], softmax[-1]
    parts = of_chains(machine, body[:first], SCORE_CHAINS, SCORE_ENDS)
    for instruction in body[first : last + 1]:
        if "softmax_side_by_side" in owner[instruction.address]:
            parts.append(MAXIMUM)
        else:
            adds_up = instruction.mnemonic == "fadd" and instruction.operands[0] == instruction.operands[1]
            parts.append(WEIGHT_SUMS if adds_up else EXPONENTIAL)
    return parts + of_chains(machine, body[last + 1 :], VALUE_CHAINS, VALUE_ENDS)


def of_chains(machine, body, chains, ends):
    """What lies between two multiply-adds is part of a chain, or its end up to the last store of a vector; then what is no load of
    a vector stands between chains, as it does before the first of them and behind the last."""
    parts, gap = [], []
    for instruction in body:
        gap.append(instruction)
        if machine.is_multiply_add(instruction) or machine.is_product_by_lane(instruction):
            parts += of_gap(machine, gap, chains, ends, in_chain=chains in parts)
            gap = []
    return parts + of_gap(machine, gap, chains, ends, in_chain=False)


def of_gap(machine, gap, chains, ends, in_chain):
    stores = [i for i, instruction in enumerate(gap) if VECTOR_STORE.match(instruction.text.strip().replace("\t", " "))]
    if not stores and in_chain:
        return [chains] * len(gap)
    end = stores[-1] + 1 if stores else 0
    return [ends] * end + [chains if machine.is_vector(instruction) else BETWEEN for instruction in gap[end:]]


def cycles(mca, backend, model, body, parts):
    """The cycles of each part, in the second of two tiles."""
    found = dict.fromkeys(ALL, 0)
    for part, taken in zip(parts, pipeline_models.cycles_of_instructions(mca, backend, model, body)):
        found[part] += taken
    return found
