"""What the instructions of an architecture do, as far as the figures of a loop need it: what is a vector multiply-add, a load, a
move from register to register, a branch, and which address an instruction reads or writes.
"""
import re


class Machine:
    """Patterns are of whole mnemonics. `memory` finds the address in an operand, `registers` all names of registers."""

    objdump_flags = ()
    vector = re.compile(r"[qvyz]\w*")  # names of vector registers
    stores = re.compile(r"(?!)")
    near_address = re.compile(r"(?!)")  # what computes an address from its own
    jumps = re.compile(r"(?!)")  # calls and returns, where functions are followed into those that they call

    def is_multiply_add(self, instruction):
        return bool(self.multiply_add.fullmatch(instruction.mnemonic)) and self.is_vector(instruction)

    def is_vector(self, instruction):
        return any(self.vector.search(operand) for operand in instruction.operands)

    def address(self, instruction):
        """The registers of the address that an instruction reads or writes, as names, or None."""
        if self.no_access.fullmatch(instruction.mnemonic):
            return None
        for operand in instruction.operands:
            found = self.memory.search(operand)
            if found:
                return self.registers.findall(found.group(0))
        return None

    def loads(self, instruction):
        """How many registers an instruction loads from memory."""
        if self.address(instruction) is None or self.stores.fullmatch(instruction.mnemonic):
            return 0
        return self.loaded_registers(instruction)

    def written(self, instruction):
        """The names of the registers that an instruction writes, as far as they can hold an address."""
        if self.stores.fullmatch(instruction.mnemonic) or self.writes_none.fullmatch(instruction.mnemonic):
            return []
        return [self.whole(name) for name in self.registers.findall(instruction.operands[0])] if instruction.operands else []

    def read(self, instruction):
        """The names of the registers that an instruction reads."""
        return [self.whole(name) for operand in instruction.operands[1:] for name in self.registers.findall(operand)]

    def whole(self, name):
        return name


class X86(Machine):
    """Operands as AT&T writes them: the last one is written."""

    stack_pointer = "rsp"
    branch = re.compile(r"j\w+|loop\w*")
    leaves = re.compile(r"jmpq?|ret\w*|ud2")
    call = re.compile(r"call\w*")
    multiply_add = re.compile(r"vfn?m(add|sub)(132|213|231)ps|vpdpbusd|vpdpwssd|vpmaddwd")
    move = re.compile(r"v?mov(aps|apd|ups|upd|dqa(32|64)?|dqu(8|16|32|64)?)|mov[lq]")
    memory = re.compile(r"\([^)]*\)")
    registers = re.compile(r"%(\w+)")
    vector = re.compile(r"%[xyz]mm")
    no_access = re.compile(r"lea\w*|prefetch\w*|nop\w*")
    stores_last = re.compile(r"v?p?(mask)?mov\w*|kmov\w|vextract\w*|vcvtps2ph|set\w+|vpextr\w*|push\w*")
    writes_none = re.compile(r"cmp\w*|test\w*|v?u?comis\w|j\w+|push\w*|nop\w*|prefetch\w*|vzero\w*|vptest")

    def is_multiply_add(self, instruction):
        return super().is_multiply_add(instruction) and not instruction.operands[-1].startswith("%xmm")

    def address(self, instruction):
        if re.fullmatch(r"push\w*|pop\w*", instruction.mnemonic):
            return [self.stack_pointer]
        return super().address(instruction)

    def loads(self, instruction):
        if self.address(instruction) is None:
            return 0
        stores = self.stores_last.fullmatch(instruction.mnemonic) and self.memory.search(instruction.operands[-1])
        return 0 if stores else 1

    def is_move(self, instruction):
        registers = all(re.fullmatch(r"%\w+", operand) for operand in instruction.operands)
        return registers and len(instruction.operands) == 2 and bool(self.move.fullmatch(instruction.mnemonic))

    def written(self, instruction):
        if self.writes_none.fullmatch(instruction.mnemonic) or not instruction.operands:
            return []
        last = instruction.operands[-1]
        return [] if self.memory.search(last) else [self.whole(name) for name in self.registers.findall(last)]

    def read(self, instruction):
        """Of lea the address is the result; of other instructions it is not. What is xored with itself is 0."""
        if "xor" in instruction.mnemonic and len(set(instruction.operands)) == 1:
            return []
        is_lea = instruction.mnemonic.startswith("lea")
        operands = [o for o in instruction.operands[:-1] if is_lea or not self.memory.search(o)]
        if re.match(r"add|sub|and|or", instruction.mnemonic):  # they change what their last operand holds
            operands.append(instruction.operands[-1])
        return [self.whole(name) for operand in operands for name in self.registers.findall(operand)]

    def whole(self, name):
        """The 64-bit register that a name is a part of."""
        name = re.sub(r"^(r\d+)[dwb]$", r"\1", name)
        return re.sub(r"^e?([a-d])[xl]$", r"r\1x", re.sub(r"^e?(si|di|bp|sp)l?$", r"r\1", name))


class X86Unfused(X86):
    """Products and sums of doubles. Instructions overwrite an operand, so copies of registers are no sign of anything."""

    multiply_add = re.compile(r"mulpd")
    move = re.compile(r"(?!)")

    def is_multiply_add(self, instruction):
        return bool(self.multiply_add.fullmatch(instruction.mnemonic))


class Aarch64(Machine):
    stack_pointer = "sp"
    objdump_flags = ("--mattr=+all",)
    branch = re.compile(r"b(\.\w+)?|cbn?z|tbn?z")
    leaves = re.compile(r"b|br|ret|udf|brk")
    call = re.compile(r"blr?")
    near_address = re.compile(r"adrp?")
    jumps = re.compile(r"blr?|br|ret")
    multiply_add = re.compile(r"fml[as]|[su]dot|[su]mlal2?")
    move = re.compile(r"mov|fmov")
    memory = re.compile(r"\[.*\]")
    registers = re.compile(r"\b(?:sp|[xwvqdsbh]\d+)\b")
    vector = re.compile(r"\b(v\d+\.|q\d+)")
    stores = re.compile(r"st\w*")
    no_access = re.compile(r"(?!(ld|st)).*")
    writes_none = re.compile(r"b(\.\w+)?|cbn?z|tbn?z|f?cmp\w*|cmn|tst|prfu?m|ret|nop")

    def is_product_by_lane(self, instruction):
        """A chain's first step, which adds to nothing."""
        return instruction.mnemonic == "fmul" and instruction.operands[-1].endswith("]")

    def loaded_registers(self, instruction):
        if instruction.mnemonic.startswith("ldp") or instruction.mnemonic.startswith("ldnp"):
            return 2
        return list_length(instruction.operands[0])

    def is_move(self, instruction):
        plain = all(re.fullmatch(r"(sp|[xwqdsv]\d+(\.16b|\.8b)?)", operand) for operand in instruction.operands)
        return plain and bool(self.move.fullmatch(instruction.mnemonic))

    def written(self, instruction):
        names = super().written(instruction)
        if instruction.mnemonic.startswith("ldp"):
            names += self.registers.findall(instruction.operands[1])
        return [self.whole(name) for name in names]

    def whole(self, name):
        return "x" + name[1:] if re.fullmatch(r"w\d+", name) else name


class Arm(Machine):
    """A32 and T32. NEON and Helium multiply-add in q registers; the units of M4 and M7 in s registers, one float at a time."""

    stack_pointer = "sp"
    condition = r"(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?"
    branch = re.compile(r"b%s(\.w|\.n)?|cbn?z|le(tp)?" % condition)
    leaves = re.compile(r"b(\.w|\.n)?|bx|pop(\.w)?|udf\w*|tb[bh]")
    call = re.compile(r"blx?%s" % condition)
    multiply_add = re.compile(r"vfn?m(a|s|as)[te]?%s\.f32" % condition)
    move = re.compile(r"mov\w*(\.w)?|vmov\w*(\.f32)?|vorr")
    memory = re.compile(r"\[.*\]")
    registers = re.compile(r"\b(?:sp|lr|r\d+|[qds]\d+)\b")
    stores = re.compile(r"v?st\w*(\.\w+)?|push\w*|vpush\w*")
    several = re.compile(r"v?(ld|st)m\w*(\.\w+)?")
    no_access = re.compile(r"(?!v?(ld|st)|v?(push|pop)).*")
    writes_none = re.compile(r"v?cmp\w*(\.\w+)?|cmn\w*|tst\w*|it\w*|vp[ts]\w*(\.\w+)?|b\w*(\.\w)?|cbn?z|pldw?|nop\w*")

    def __init__(self, vector, *objdump_flags):
        self.vector = re.compile(vector)
        self.objdump_flags = objdump_flags

    def address(self, instruction):
        if re.fullmatch(r"v?(push|pop)\w*(\.w)?", instruction.mnemonic):
            return [self.stack_pointer]
        if self.several.fullmatch(instruction.mnemonic):
            return self.registers.findall(instruction.operands[0])
        return super().address(instruction)

    def loaded_registers(self, instruction):
        """NEON's d registers count as halves of q registers."""
        if instruction.mnemonic.startswith("ldrd"):
            return 2
        registers = " ".join(o for o in instruction.operands if o.startswith("{")) or instruction.operands[0]
        length = list_length(registers)
        return (length + 1) // 2 if "d" in registers and "q" in self.vector.pattern else length

    def is_move(self, instruction):
        operands = instruction.operands
        plain = all(re.fullmatch(r"(sp|lr|r\d+|[qds]\d+)", operand) for operand in operands)
        if instruction.mnemonic == "vorr":
            return plain and len(operands) == 3 and operands[1] == operands[2]
        return plain and len(operands) == 2 and bool(self.move.fullmatch(instruction.mnemonic))


class Riscv(Machine):
    stack_pointer = "sp"
    objdump_flags = ("--mattr=+m,+a,+f,+d,+c,+v,+zvfhmin",)
    branch = re.compile(r"b\w+|j|c\.(j|b\w+)")
    leaves = re.compile(r"j|jr|ret|c\.j|c\.jr|unimp")
    call = re.compile(r"jalr?|call")
    multiply_add = re.compile(r"vfn?m(acc|add|sac|sub)\.v[vf]")
    move = re.compile(r"mv|fmv\.[sd]|vmv\d?r?\.v(\.v)?")
    memory = re.compile(r"\(\w+\)")
    registers = re.compile(r"\b(?:sp|ra|[astfv]\w?\d+)\b")
    vector = re.compile(r"\bv\d+\b")
    stores = re.compile(r"f?s[bhwd]|vs(s|ox|ux)?(e|seg|\d+r)\w*\.v")
    no_access = re.compile(r"(?!f?[ls][bhwd]u?$|v[ls]).*")
    writes_none = re.compile(r"b\w+|j|ret|prefetch\.\w+|vset\w*|nop")

    def loaded_registers(self, instruction):
        whole = re.match(r"vl(\d+)re?", instruction.mnemonic)
        return int(whole.group(1)) if whole else 1

    def is_move(self, instruction):
        return bool(self.move.fullmatch(instruction.mnemonic))


class RiscvFloats(Riscv):
    """The extension F without vectors, one float at a time."""

    objdump_flags = ("--mattr=+m,+a,+f,+c",)
    multiply_add = re.compile(r"fn?m(add|sub)\.s")
    vector = re.compile(r"\bf[tas]\d+\b")


def list_length(text):
    """Registers in a list like {d16-d19}, {s0, s1} or { v0.4s, v1.4s }; of a single register 1."""
    length = 0
    for part in re.findall(r"[a-z]+\d+[\w.\[\]]*(?:\s*-\s*[a-z]+\d+)?", text):
        ends = re.findall(r"[a-z](\d+)", part)
        length += int(ends[-1]) - int(ends[0]) + 1 if "-" in part else 1
    return max(length, 1)
