"""Finds the innermost loops of a function, and the registers that point into the stack.

A loop is a backward branch. It is innermost if no other backward branch lies between the branch and its target, and counts only
if it calls nothing. Its instructions are those between target and branch from which the branch can be reached: compilers also put
there what runs once, after the loop. What an `if` in the loop leaves out is counted as if it always ran.
"""
import re


class Flow:
    """Where each instruction of a function may go on."""

    def __init__(self, machine, function):
        self.machine = machine
        self.code = function.instructions
        place = {instruction.address: i for i, instruction in enumerate(self.code)}
        self.targets = [place.get(branch_target(machine, instruction)) for instruction in self.code]

    def after(self, i):
        """The indices of the instructions that may follow."""
        following = [] if self.machine.leaves.fullmatch(self.code[i].mnemonic) or i + 1 == len(self.code) else [i + 1]
        return following if self.targets[i] is None else following + [self.targets[i]]


def branch_target(machine, instruction):
    """The address that a branch jumps to, or None if the instruction is no branch or the address is in a register."""
    if not machine.branch.fullmatch(instruction.mnemonic) or not instruction.operands:
        return None
    target = instruction.operands[-1].lstrip("#")
    return int(target, 16) if re.fullmatch(r"0x[0-9a-f]+", target) else None


def innermost_loops(flow):
    """For each loop the indices of its instructions, ascending; the last one is the branch."""
    backward = [(target, i) for i, target in enumerate(flow.targets) if target is not None and target <= i]
    loops = []
    for first, last in backward:
        if any(first <= branch < last for _, branch in backward):
            continue
        if any(flow.machine.call.fullmatch(instruction.mnemonic) for instruction in flow.code[first : last + 1]):
            continue
        in_loop = {last}
        for i in range(last - 1, first - 1, -1):
            if any(next_one in in_loop for next_one in flow.after(i)):
                in_loop.add(i)
        loops.append(sorted(in_loop))
    return loops


def stack_registers(flow):
    """For each instruction the registers that may point into the stack before it: the stack pointer, what is computed from it."""
    machine = flow.machine
    always = frozenset([machine.stack_pointer])
    before = [None] * len(flow.code)
    work = [(0, always)] if flow.code else []
    while work:
        i, registers = work.pop()
        if before[i] is not None and registers <= before[i]:
            continue
        before[i] = registers if before[i] is None else before[i] | registers
        behind = after_instruction(machine, flow.code[i], before[i]) | always
        work += [(following, behind) for following in flow.after(i)]
    return [always if registers is None else registers for registers in before]


def after_instruction(machine, instruction, registers):
    written = set(machine.written(instruction))
    if not written:
        return registers
    points = machine.loads(instruction) == 0 and any(name in registers for name in machine.read(instruction))
    return registers | written if points else registers - written
