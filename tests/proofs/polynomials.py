"""Polynomials of src beside their functions, by Sollya, and the roundings of their evaluation, by Gappa: both prove bounds.

Coefficients and claims are read from the sources, so that neither can change alone. Prints a line for each claim.
"""
import re
import struct
import subprocess
import sys


def text(path):
    with open(path) as file:
        return file.read()


def as_float(number):
    return struct.unpack("f", struct.pack("f", float(number)))[0]


def coefficients(path, name):
    """The array of a source, as floats, the highest power first."""
    found = re.search(r"\b%s\[\] = \{([^}]*)\}" % name, text(path))
    return [as_float(number.strip().rstrip("f")) for number in found.group(1).split(",")]


def claim(path, pattern):
    """A number that a comment says."""
    found = re.search(pattern, " ".join(line.strip().lstrip("/ ") for line in text(path).splitlines()))
    if not found:
        sys.exit("%s: no claim like %s" % (path, pattern))
    return float(found.group(1))


def horner(numbers, x):
    expression = numbers[0].hex()
    for number in numbers[1:]:
        expression = "(%s) * %s + (%s)" % (expression, x, number.hex())
    return "(%s)" % expression


def run(program, script):
    return subprocess.run([program, "/dev/stdin"] if program == "sollya" else [program], input=script, capture_output=True, text=True)


failed = 0


def report(name, passed, found, bound):
    global failed
    failed += not passed
    print("%s %s: %s, at most %s" % ("ok  " if passed else "FAIL", name, found, bound), flush=True)


def near(name, polynomial, function, interval, bound, norm="supnorm(p, f, i, relative, 2^(-10))"):
    """What the norm of polynomial p beside function f on the interval i says is at most so much."""
    said = run("sollya", "prec = 165; p = %s; f = %s; i = %s; print(sup(%s));" % (polynomial, function, interval, norm)).stdout.split()
    found = float(said[-1]) if said else float("inf")
    report("%s beside its function%s" % (name, ", at many points" if "dirty" in norm else ""), found <= bound, "%.3g" % found, bound)


def rounded(name, bound, script):
    """A statement about roundings, which Gappa proves or not."""
    said = run("gappa", script)
    report("%s, rounded" % name, said.returncode == 0, "proved" if said.returncode == 0 else said.stderr.strip().splitlines()[-1], bound)


exp2 = coefficients("src/numerics/exp2.h", "exp2_coefficients")
exp2_claim = claim("src/numerics/exp2.h", r"smallest relative error, ([0-9.e-]+),")
near("2^f", horner(exp2, "x"), "2^x", "[-1/2; 1/2]", exp2_claim)
near("2^f - 1", "x * " + horner(exp2[:-1], "x"), "expm1(x * log(2))", "[-1/2; 1/2]",
     claim("src/numerics/exp2.h", r"2\^fraction - 1, within ([0-9.e-]+)"))

epilogue, layers, gates = "src/kernel/epilogue.h", "src/layers/exponential.h", "src/linear_attention/decay_gates.h"
near("ln(1 + t)", "x + x^2 * " + horner(coefficients(epilogue, "ln_coefficients"), "x"), "log1p(x)", "[sqrt(1/2) - 1; sqrt(2) - 1]",
     claim(epilogue, r"float coefficients, ([0-9.e-]+) off"))
near("erf", "x + x * " + horner(coefficients(layers, "erf_coefficients"), "x^2"), "erf(x)", "[0; 1]",
     claim(layers, r"erf\(x\) = .*?, to ([0-9.e-]+)"))
near("the middle of gelu", "x * " + horner(coefficients(layers, "middle_coefficients"), "x^2"), "erf(x / sqrt(2)) / 2", "[0; 1]",
     claim(layers, r"to ([0-9.e-]+) of the smaller"), "infnorm((p - f) / (1/2 - f), i)")
# In w = 1 / (1 + 3/8 u). Sollya proves no bound of this one within minutes.
near("the tail of gelu", "x * " + horner(coefficients(layers, "tail_coefficients"), "x"),
     "erfc((1 / x - 1) * 8 / 3 / sqrt(2)) * exp(((1 / x - 1) * 8 / 3)^2 / 2) / 2", "[1/7; 8/11]",
     claim(layers, r"<= u <= 16, to ([0-9.e-]+)"), "dirtyinfnorm(p / f - 1, i)")
near("softplus", "x * " + horner(coefficients(gates, "softplus_coefficients"), "x^2"), "log1p(x) - log1p(-x)", "[0; 1/3]",
     claim(gates, r"smallest relative error, ([0-9.e-]+)\."))

# Gappa: what rounding adds to 2^f, as src/guide/arithmetic.md has it. The last of the seven numbers is 1.
f = "@rnd = float<ieee_32, ne>;\nx = rnd(x_);\n"
steps = ["rnd(%s * x + (%s))" % (exp2[0].hex(), exp2[1].hex())]
for i, number in enumerate(exp2[2:]):
    steps.append("rnd(g%d * x + (%s))" % (i, number.hex()))
lines = "".join("g%d = %s;\n" % (i, step) for i, step in enumerate(steps))
bound = 1.18 * 2.0**-24
rounded("2^f", "1.18 * 2^-24 of itself",
        f + lines + "p = %s;\n{ x in [-0.5, 0.5] /\\ |p -/ e| <= %r -> |g%d -/ e| <= %r }\n$ x in 64;\n" %
        (horner(exp2, "x"), exp2_claim, len(steps) - 1, bound))
sys.exit(1 if failed else 0)
