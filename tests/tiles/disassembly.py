"""Reads the disassembly of an object file: its functions, and their instructions."""
import re
import subprocess


class Instruction:
    """One line: `text` is what an assembler would take, but for the targets of branches."""

    def __init__(self, address, text):
        self.address = address
        words = text.removeprefix("{vex}").split(None, 1)
        self.mnemonic = words[0]
        self.operands = split_operands(words[1]) if len(words) > 1 else []
        self.text = text

    def __repr__(self):
        return "%x: %s" % (self.address, self.text)


class Function:
    def __init__(self, name):
        self.name = name
        self.instructions = []


HEADER = re.compile(r"^[0-9a-f]+ <([^.].*)>:$")  # labels within a function begin with a dot
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
COMMENT = re.compile(r"\s*(//.*|@ .*|;.*|# .*|<.*>.*)$")
INSTRUCTION = re.compile(r"({vex}\s+)?[a-z][\w.]*(\s|$)")
DATA = re.compile(r"\.(word|long|short|byte|inst)\b")
OPERAND = re.compile(r"(?:\[[^\]]*\]!?|\([^)]*\)|\{[^}]*\}|[^,\[({])+")


def split_operands(text):
    """Operands, with what stands in brackets kept together."""
    return [operand.strip() for operand in OPERAND.findall(text) if operand.strip()]


def functions_of(objdump, path, flags=()):
    """The functions of an object file, with demangled names."""
    command = [objdump, "-d", "-C", "--no-show-raw-insn", *flags, path]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    functions = []
    for line in lines:
        header = HEADER.match(line)
        if header:
            functions.append(Function(header.group(1)))
            continue
        if "<unknown>" in line:
            raise RuntimeError("%s knows no instruction like this one of %s: %s" % (objdump, path, line.strip()))
        match = LINE.match(line)
        if match and functions:
            text = COMMENT.sub("", match.group(2)).strip()
            if INSTRUCTION.match(text) and not DATA.search(text):
                functions[-1].instructions.append(Instruction(int(match.group(1), 16), text))
    return functions
