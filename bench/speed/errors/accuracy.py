"""Measures numpy's float32 attention on the cases that `accuracy --dump DIR` wrote, beside the library's errors on them.

    accuracy.py DIR [--table FILE]

Prints the full table (or writes it to FILE), a compact one in Markdown, every bound that is broken, and the worst ratio. Ends
with status 1 when a bound is broken: those of the cases on the library's largest error, and at every point of the table
RATIO_BOUND times numpy's error, the largest and the root mean square alike, or the other bound where values have one sign.
"""
import argparse
import os
import platform
import sys

# The order of OpenBLAS's sums, and so numpy's error, depends on the processor. One order for all of x86-64 makes a ratio that every
# machine can check; the page of results says what the others give.
os.environ.setdefault("OPENBLAS_CORETYPE", "Nehalem")

try:
    import numpy
except ImportError:
    sys.exit("accuracy.py: " + sys.executable + " has no numpy: install python3-numpy, or choose another python3 with PYTHON=")

RATIO_BOUND = 1.5
ONE_SIGN_RATIO_BOUND = 3.0
HALF_ULP = 2.0**-24  # of a number just below 1: what rounding to float32 may cost, relative to the number


def attention(query, key, value, scale):
    """What a numpy user writes, all in float32."""
    scores = (query @ key.T) * scale
    weights = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ value


def root_mean_square(numbers):
    return float(numpy.sqrt(numpy.mean(numbers * numbers)))


def ratio(ours, theirs, result):
    """ours / theirs, where numpy's error counts as no less than the rounding of a result of that size.

    Where numpy has no error at all (with one key it returns the value itself) or less than a rounding, the quotient says
    nothing; two errors of 0 are equal.
    """
    return 1.0 if ours == theirs else ours / max(theirs, HALF_ULP * result)


def blas_libraries():
    """File names of the BLAS that this process has loaded, as far as the operating system tells."""
    numpy.ones((2, 2), numpy.float32) @ numpy.ones((2, 2), numpy.float32)
    try:
        with open("/proc/self/maps") as maps:
            files = {os.path.basename(line.split()[-1]) for line in maps if ".so" in line}
    except OSError:
        files = set()
    named = sorted(file for file in files if any(part in file for part in ("blas", "mkl", "blis", "atlas")))
    return ", ".join(named) or "unknown"


class Case:
    """One line of cases.txt, and numpy's errors on it."""

    def __init__(self, directory, line):
        fields = line.split()
        self.head_dim, self.keys, self.spread, self.rows = int(fields[0]), int(fields[1]), fields[2], int(fields[3])
        query_factor, self.largest_value = numpy.float32(fields[4]), float(fields[5])
        self.largest, self.rms, self.bound = float(fields[6]), float(fields[7]), float(fields[10])
        self.values = fields[11]
        self.ratio_bound = RATIO_BOUND if self.values == "both_signs" else ONE_SIGN_RATIO_BOUND

        def read(suffix, kind):
            name = "%dx%d%s" % (self.head_dim, self.keys, suffix)
            return numpy.fromfile(os.path.join(directory, name), kind).reshape(-1, self.head_dim)

        query = read(".query", numpy.float32)[: self.rows] * query_factor
        expected = read("_%s_%s.oracle" % (self.values, self.spread), numpy.float64)
        scale = numpy.float32(1.0 / numpy.sqrt(self.head_dim))
        output = attention(query, read(".key", numpy.float32), read("_%s.value" % self.values, numpy.float32), scale)
        assert output.dtype == numpy.float32 and output.shape == expected.shape
        errors = output - expected
        self.numpy_largest, self.numpy_rms = float(numpy.abs(errors).max()), root_mean_square(errors)
        self.ratio = ratio(self.largest, self.numpy_largest, float(numpy.abs(expected).max()))
        self.rms_ratio = ratio(self.rms, self.numpy_rms, root_mean_square(expected))

    def place(self):
        return "head_dim %d, %d keys, scores to %s, values of %s" % (
            self.head_dim, self.keys, self.spread, self.values.replace("_", " "))

    def broken(self):
        """The bounds that this case breaks, a sentence each. A NaN breaks them all."""
        relative = self.largest / self.largest_value
        if not relative <= self.bound:
            yield "%s: the largest error is %.2e max|v|, the bound %.0e" % (self.place(), relative, self.bound)
        for kind, number in (("largest", self.ratio), ("rms", self.rms_ratio)):
            if not number <= self.ratio_bound:
                yield "%s: the %s error is %.2f times numpy's, the bound %g" % (self.place(), kind, number, self.ratio_bound)


def write_table(cases, header, file):
    print(header, file=file)
    print("# max and rms: largest and root mean square error; rel: relative to max|v|, the largest |value| of the case\n"
          "# ratio: to numpy's error, which counts as at least 2^-24 of the largest (rms: rms) output, one rounding of it",
          file=file)
    columns = ("head_dim", "keys", "spread", "rows", "max|v|", "max", "rms", "rel max", "rel rms", "numpy max", "numpy rms",
               "np relmax", "np relrms", "ratio max", "ratio rms", "values")
    print("#%8s %5s %6s %6s %8s" % columns[:5] + "".join(" %9s" % column for column in columns[5:]), file=file)
    for case in cases:
        errors = [case.largest, case.rms, case.largest / case.largest_value, case.rms / case.largest_value, case.numpy_largest,
                  case.numpy_rms, case.numpy_largest / case.largest_value, case.numpy_rms / case.largest_value]
        print("%9d %5d %6s %6d %8.6f" % (case.head_dim, case.keys, case.spread, case.rows, case.largest_value)
              + "".join(" %9.2e" % error for error in errors) + " %9.2f %9.2f %s" % (case.ratio, case.rms_ratio, case.values), file=file)


def write_markdown(cases):
    """Rows: signs of values and spread. Columns: head_dim. Entries: the worst over all key counts."""
    head_dims = sorted({case.head_dim for case in cases})
    print("\nLargest error relative to max\\|v\\|, and in brackets the worst ratio to numpy's, over all key counts:\n")
    print("| values | \\|score\\| up to |" + "".join(" head_dim %d |" % head_dim for head_dim in head_dims))
    print("| --- | --- |" + " --- |" * len(head_dims))
    names = {"both_signs": "-1 … 1", "one_sign": "1/2 … 1", "ones": "1"}
    rows = sorted({(list(names).index(case.values), float(case.spread), case.values, case.spread) for case in cases})
    for _, _, values, spread in rows:
        line = "| %s | %s |" % (names[values], spread)
        for head_dim in head_dims:
            here = [case for case in cases if case.spread == spread and case.head_dim == head_dim and case.values == values]
            largest, worst = max(case.largest / case.largest_value for case in here), max(case.ratio for case in here)
            line += " %.1e (%.2f) |" % (largest, worst)
        print(line)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", help="what `accuracy --dump` was given")
    parser.add_argument("--table", metavar="FILE", help="write the full table there, not to standard output")
    arguments = parser.parse_args()
    try:
        with open(os.path.join(arguments.directory, "cases.txt")) as file:
            lines = file.read().splitlines()
    except OSError as error:
        sys.exit("accuracy.py: %s; run accuracy --dump %s first" % (error, arguments.directory))
    cases = [Case(arguments.directory, line) for line in lines if not line.startswith("#")]

    header = "%s; numpy %s with %s on %s" % (lines[0], numpy.__version__, blas_libraries(), platform.machine())
    if arguments.table:
        with open(arguments.table, "w") as file:
            write_table(cases, header, file)
    else:
        write_table(cases, header, sys.stdout)
    write_markdown(cases)
    broken = [sentence for case in cases for sentence in case.broken()]
    for sentence in broken:
        print("broken: " + sentence)
    worst, worst_rms = max(cases, key=lambda case: case.ratio), max(cases, key=lambda case: case.rms_ratio)
    print("worst ratio to numpy: %.2f of the largest error (%s), %.2f of the rms error (%s); %d bounds broken"
          % (worst.ratio, worst.place(), worst_rms.rms_ratio, worst_rms.place(), len(broken)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
