"""Short names of functions and loops, in the words of src/kernel.

    score_tile 6x4, 4 steps         6 rows, 4 vectors of keys, 4 dimensions in a round of the loop
    value_tile half 4x2, 1 step     values of another format, which are widened in registers
    value_tile 6x4, 1 step, 5 rows  the triangle that ends a tile where later rows see more keys
    output_panel prefetch, 32 fmas  others: how many multiply-adds a round has
    output_rows 4, 32 fmas          the same over rows, for four tokens
    update_columns 4 3 0 1 reads, 2 steps  4 vectors of columns, rule and decay by number, 1 token, and a read for the next; 2 dimensions
    widen_row, 4 loads              a loop without multiply-adds: how many registers it loads
"""
import re

FORMATS = {"Half": "half", "Bfloat": "bfloat", "signed char": "int8"}
ACTIVATIONS = ("relu", "silu", "gelu", "gelu_tanh", "sigmoid", "tanh", "exp", "erf")  # by their numbers, as limits have them
TILES = ("score_tile", "value_tile", "linear_tile")
COLUMNS = ("update_columns", "read_columns")


class Name:
    """What a function is called, and of a tile its rows and vectors."""

    def __init__(self, demangled):
        plain = re.sub(r"(?:\battend::(?:\w+::)*)?\(anonymous namespace\)::|\b(attend|core)::", "", demangled)
        function, parameters = cut(plain)
        self.name, arguments = name_and_arguments(function)
        if function.endswith("Backend::" + self.name) and self.name in ACTIVATIONS:
            self.name, arguments = "activate", ["%d" % ACTIVATIONS.index(self.name)]
        words = [FORMATS[argument] for argument in arguments if argument in FORMATS]
        numbers = [int(argument) for argument in arguments if argument.isdigit()]
        self.rows, self.vecs = 0, 0
        if self.name in TILES:
            self.rows, self.vecs = (numbers + [1])[:2]
            words.append("%dx%d" % (self.rows, self.vecs))
        elif self.name in COLUMNS:
            words += ["%d" % numbers[-1], *re.findall(r"\(\w+\)(\d)", " ".join(arguments)), *map(str, numbers[:-1])]
            reads = len(numbers) > 1 and arguments[-1] == "true"
            words += ["reads"] * reads
            self.rows, self.vecs = 2 * numbers[0] + reads if len(numbers) > 1 else 1, numbers[-1]
        elif self.name == "weights_side_by_side":
            words.append("%dx%d" % tuple(numbers[:2]))
        elif self.name == "softmax_side_by_side":
            words.append(counted(numbers[0], "row"))
        elif self.name in ("output_panel", "output_rows"):
            words += ["prefetch"] * ("true" in arguments) + ["%d" % number for number in numbers]
        else:
            words += [argument for argument in arguments if re.fullmatch(r"\d+|true|false", argument)]
        if not arguments:  # the formats of functions that are no templates
            words += [FORMATS[found] for found in re.findall("|".join(FORMATS), parameters)[:1]]
        self.text = " ".join([self.name, *words])

    def loop(self, multiply_adds, loads):
        """The name of a loop of this function."""
        return "%s, %s" % (self.text, self.round(multiply_adds, loads))

    def round(self, multiply_adds, loads):
        if multiply_adds == 0:
            return counted(loads, "load")
        step = self.rows * self.vecs
        if step and multiply_adds % step == 0:
            return counted(multiply_adds // step, "step")
        if self.name == "value_tile" and multiply_adds < step and multiply_adds % self.vecs == 0:
            return "1 step, %s" % counted(multiply_adds // self.vecs, "row")
        return counted(multiply_adds, "fma")


def counted(count, what):
    return "%d %s%s" % (count, what, "" if count == 1 else "s")


def cut(text):
    """A function's name and its parameters."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return text[:i], text[i:]
    return text, ""


def name_and_arguments(function):
    """The last part of a name, and its template arguments, or those of its class: of `void A<X>::f<Y, 2>` f, Y and 2."""
    lists, depth, start, plain = [], 0, 0, ""
    for i, letter in enumerate(function):
        if letter == "<":
            depth += 1
            start = i + 1 if depth == 1 else start
        elif letter == ">":
            depth -= 1
            if depth == 0:
                lists.append(split_arguments(function[start:i]))
        elif depth == 0:
            plain += letter
    return re.split(r"::|\s", plain.strip())[-1], lists[-1] if lists else []


def split_arguments(text):
    """At commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
