"""Integer attention beside the three calls that 8-bit inference runtimes make of it, on the cases that `integer_accuracy DIR` wrote.

    integer_accuracy.py DIR

The three calls, each of which leaves a tensor of 8 bits: scores, query times key, requantised by the scale that suits them best
(their largest is 127); softmax, whose output has the scale 1/256 and the zero point -128; that times values, requantised to the
output. Everything within a call is exact here, so real ones are no better. Inputs and the output's scale are the same for both,
and so is what both are measured against: attention in float64 of the same 8-bit inputs. Errors are in steps of the output.

Prints a table, and ends with status 1 where one of the library's errors passes its bound or is above that of the three calls, or
where the root mean square over all cases of one kind of data is not as many times lower as RATIO_BOUNDS says. Of heavy-tailed data
a few keys have most of the weight and a few values set the output's scale, so both come close to what the output's own rounding
costs, 0.289, below which no output of 8 bits comes. So the library's outputs of 16 bits stand beside them, in the same steps: what
attention itself errs by.
"""
import os
import sys

try:
    import numpy
except ImportError:
    sys.exit("integer_accuracy.py: " + sys.executable + " has no numpy: install python3-numpy, or choose another python3 with PYTHON=")

RATIO_BOUNDS = {"normal": 3.0, "heavy-tailed": 1.5}
WIDE_RATIO_BOUND = 10.0  # of outputs of 16 bits, in each case
WIDE_STEPS = 256  # of these in one step of 8 bits
WORST_BOUND = 1.5
RMS_BOUND = 0.35


def softmax(scores):
    weights = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def quantised(numbers, scale, zero=0):
    return numpy.clip(numpy.floor(numbers / scale + 0.5) + zero, -128, 127)


def three_calls(scores, value, value_scale, output_scale):
    """Attention as three operators with tensors of 8 bits between them. scores and value_scale: what they stand for."""
    score_scale = numpy.abs(scores).max() / 127
    eight_bit_scores = quantised(scores, score_scale)
    weights = quantised(softmax(eight_bit_scores * score_scale), 1 / 256, -128)
    sums = (weights + 128) @ value
    return quantised(sums * (value_scale / 256), output_scale)


def root_mean_square(numbers):
    return float(numpy.sqrt(numpy.mean(numbers * numbers)))


class Case:
    """One line of cases.txt: errors of both in steps of the output."""

    def __init__(self, directory, line):
        self.kind, keys, head_dim, *scales = line.split()
        self.keys, self.head_dim = int(keys), int(head_dim)
        query_scale, key_scale, value_scale, output_scale = map(float, scales)

        def read(suffix, number=numpy.int8):
            name = os.path.join(directory, "%s_%s_%s.%s" % (self.kind, keys, head_dim, suffix))
            return numpy.fromfile(name, number).reshape(-1, self.head_dim).astype(numpy.float64)

        value = read("value")
        scores = read("query") @ read("key").T * (query_scale * key_scale / numpy.sqrt(self.head_dim))
        exact = softmax(scores) @ value * (value_scale / output_scale)
        self.ours = read("output") - exact
        self.wide = read("wide", numpy.int16) / WIDE_STEPS - exact
        self.three = three_calls(scores, value, value_scale, output_scale) - exact


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(os.path.join(sys.argv[1], "cases.txt")) as file:
        cases = [Case(sys.argv[1], line) for line in file]
    broken = []
    print("errors in steps of 8-bit outputs               Attend      three calls of 8 bits   Attend, 16-bit outputs\n"
          "data          keys  head_dim   rms    worst      rms    worst     rms ratio         rms     rms ratio")
    for case in cases:
        ours, three, wide = root_mean_square(case.ours), root_mean_square(case.three), root_mean_square(case.wide)
        worst, three_worst = abs(case.ours).max(), abs(case.three).max()
        print("%-12s  %4d  %8d  %.3f   %.3f   %7.3f  %7.2f     %6.1f           %.4f     %6.1f"
              % (case.kind, case.keys, case.head_dim, ours, worst, three, three_worst, three / ours, wide, three / wide))
        if not (worst <= WORST_BOUND and ours <= RMS_BOUND):
            broken.append("%s, %d keys, head_dim %d: the error is beyond its bound" % (case.kind, case.keys, case.head_dim))
        if not ours <= three:
            broken.append("%s, %d keys, head_dim %d: the three calls err less" % (case.kind, case.keys, case.head_dim))
        if not three >= WIDE_RATIO_BOUND * wide:
            broken.append("%s, %d keys, head_dim %d: 16-bit outputs err %.1f times less than the three calls, the bound %g"
                          % (case.kind, case.keys, case.head_dim, three / wide, WIDE_RATIO_BOUND))
    for kind, bound in RATIO_BOUNDS.items():
        ours = root_mean_square(numpy.concatenate([case.ours.ravel() for case in cases if case.kind == kind]))
        three = root_mean_square(numpy.concatenate([case.three.ravel() for case in cases if case.kind == kind]))
        wide = root_mean_square(numpy.concatenate([case.wide.ravel() for case in cases if case.kind == kind]))
        print("all %s data: %.3f and %.3f root mean square, %.1f times lower; 16-bit outputs %.4f, %.1f times lower"
              % (kind, ours, three, three / ours, wide, three / wide))
        if not three >= bound * ours:
            broken.append("%s: %.1f times lower than the three calls, the bound %g" % (kind, three / ours, bound))
    for sentence in broken:
        print("broken: " + sentence)
    return 1 if broken or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
