"""The mistakes that mutants.py makes: every way to spoil a line of code, one at a time."""
import re

# Lines that are left out, each kind with its reason. A statement over several lines is left out by its first line.
LEFT_OUT = [
    (re.compile(r"^\s*#"), "includes, and conditions on the target, of which one branch is compiled here"),
    (re.compile(r"\bstatic_assert\b"), "a condition for the compiler: tests/wrong_code holds these"),
    (re.compile(r"^\s*(namespace|using|friend|template|public:|private:|extern|typedef)\b"), "a declaration without a number"),
    (re.compile(r"^\s*(struct|class|enum)\b[^;]*$"), "the head of a type"),
    (re.compile(r"prefetch|_behind_tile\b|\bcache_line\b|\b(far|near)_values\b", re.I), "prefetching changes no result"),
    (re.compile(r"\bopaque\b"), "a pointer that the optimiser cannot see through is the same pointer"),
    (re.compile(r"_stack_bytes|_stack_floats|\bstack_bytes|\balignment\b"), "tests/scripts/check_stack.sh holds these"),
    (re.compile(r"\b(option_)?row_block = |\b(key_block|score_keys|decode_keys|tile_rows|row_maximum) = [\w ]+;"),
     "sizes of blocks and tiles change no result"),
    (re.compile(r"\b(kernel_rows|tile_vecs|widening_vecs|softmax_rows|softmax_vecs)\((int|bool)\b"), "sizes of tiles likewise"),
    (re.compile(r"\bmost_widening_rows = "), "sizes of tiles likewise"),
    (re.compile(r"decltype"), "a check of the compiler's, in isa/contract.h"),
    (re.compile(r"ATTEND_UNROLL|ATTEND_ALWAYS_INLINE\s*$|ATTEND_NOINLINE\s*$"), "advice to the compiler"),
]

LEFT_OUT_FUNCTIONS = re.compile(r"void prefetch\w*\(.*{$|\b(kernel_rows|tile_vecs|widening_vecs|softmax_rows)\(int.*{$")

OPERATORS = {
    " + ": [" - "], " - ": [" + "], " * ": [" + "], " / ": [" * "], " % ": [" / "],
    " < ": [" <= ", " > "], " <= ": [" < "], " > ": [" >= ", " < "], " >= ": [" > "],
    " == ": [" != "], " != ": [" == "], " && ": [" || "], " || ": [" && "],
    " += ": [" -= ", " = "], " -= ": [" += "], " & ": [" | "], " | ": [" & "], " << ": [" >> "], " >> ": [" << "],
}  # fmt: skip
WORDS = {
    "true": "false", "false": "true", "smaller": "larger", "larger": "smaller", "at_most": "at_least", "at_least": "at_most",
    "max": "min", "min": "max", "break": "continue", "continue": "break",
}  # fmt: skip
NUMBER = re.compile(r"(?<![\w.'])(\d+)(?=u?\b)(?![\w]*[.x'])(?!\.\d)")
CALL_OF_TWO = re.compile(r"(?<=[\w>])\(([\w.\[\]*&: ]+), ([\w.\[\]*&: ]+)(?=[,)])")
SYMMETRIC = re.compile(r"\b(add|mul|fma|where_equal|smaller|larger|at_most|at_least|same_bits)(<\w+>)?$")  # with swapped arguments
STATUS = re.compile(r"\breturn (Status::\w+|ATTEND_\w+);")
STATEMENT = re.compile(r"^\s*(?:[\w.:\[\]>*+-]+(?:<[^;]*>)?(?:\(.*\)| [-+*|&^/]?= .*)|\+\+[\w.]+|(?:return|continue|break));\s*$")


def code_of(lines):
    """The lines with comments and the insides of strings blanked, at the same columns."""
    blanked = []
    for line in lines:
        line = re.sub(r'"(?:[^"\\]|\\.)*"', lambda text: '"' + "_" * (len(text[0]) - 2) + '"', line)
        line = re.sub(r"/\*.*?\*/", lambda text: " " * len(text[0]), line)
        blanked.append(re.sub(r"//.*", "", line))
    return blanked


def left_out(code):
    """Which lines no mistake is made in: those of LEFT_OUT, and functions that prefetch or give sizes of tiles as a whole."""
    result, until_semicolon, function_end = [], False, None
    for line in code:
        if LEFT_OUT_FUNCTIONS.search(line):
            function_end = re.match(r"\s*", line)[0] + "}"
        in_function = function_end is not None
        if in_function and line.startswith(function_end):
            function_end = None
        skipped = in_function or until_semicolon or not line.strip() or any(pattern.search(line) for pattern, _ in LEFT_OUT)
        if "static_assert" in line or until_semicolon:
            until_semicolon = ";" not in line
        result.append(skipped)
    return result


def condition(code, keyword):
    """Where the condition of an if or a while on this line begins and ends, inside its parentheses."""
    found = re.search(r"\b" + keyword + r" (constexpr )?\(", code)
    if not found:
        return None
    depth, start = 0, found.end()
    for i in range(start - 1, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return (start, i) if ";" not in code[start:i] else None
    return None


def changes_of(line, code):
    """Every (text before, text after) for one line; code is the line as code_of() gives it."""

    def put(start, end, text):
        return line[:start] + text + line[end:]

    changed = []
    for operator, others in OPERATORS.items():
        for at in re.finditer(re.escape(operator), code):
            changed += [put(at.start(), at.end(), other) for other in others]
    for word, other in WORDS.items():
        changed += [put(*at.span(), other) for at in re.finditer(r"(?<![\w\"])" + word + r"(?!\w)", code)]
    for at in NUMBER.finditer(code):
        number = int(at[1])
        changed += [put(*at.span(1), str(n)) for n in (number + 1, number - 1) if n >= 0]
    for at in CALL_OF_TWO.finditer(code):
        if SYMMETRIC.search(code[: at.start()]):
            continue
        if not re.match(r"(const )?[\w:]+[*&]? [*&]?\w+$", at[1]):  # no list of parameters
            changed.append(put(at.start(), at.end(), "(" + at[2] + ", " + at[1]))
    for keyword in ("if", "while"):
        span = condition(code, keyword)
        if span:
            changed.append(put(*span, "!(" + line[span[0] : span[1]] + ")"))
    choice = re.search(r" \? ([^?:]+) : ([^?:;,]+)(?=[;,)])", code)
    if choice and choice[2].count("(") == choice[2].count(")"):
        first, second = line[choice.start(1) : choice.end(1)], line[choice.start(2) : choice.end(2)]
        changed.append(put(choice.start(), choice.end(), " ? " + second + " : " + first))
    status = STATUS.search(code)
    if status:
        if status[1] not in ("Status::ok", "ATTEND_OK"):
            changed.append(put(*status.span(1), "Status::ok" if "::" in status[1] else "ATTEND_OK"))
        changed.append(put(*status.span(1), "Status::bad_part" if "::" in status[1] else "ATTEND_BAD_OFFSET"))
    if STATEMENT.match(code) or (re.match(r"^\s*if \(", code) and code.rstrip().endswith(";")):
        changed.append(re.match(r"\s*", line)[0] + ";")
    return changed


def mistakes(path, text):
    """Every (path, line number from 0, line before, line after) of a file, in lists of one line each."""
    lines = text.split("\n")
    code = code_of(lines)
    skipped = left_out(code)
    result = []
    for number, line in enumerate(lines):
        changed = [] if skipped[number] else sorted(set(changes_of(line, code[number])) - {line})
        if changed:
            result.append([(path, number, line, after) for after in changed])
    return result
