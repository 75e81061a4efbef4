"""One encoder, whatever surrounds its texts: encoder.py [--quick] [--shipped] [--layers N] [--width N] [--machines here,scalar,AArch64]

A digest of the rows of real tokens is compared between numbers of threads, batches, padding on either side and processors, and the rows with
float64. With --shipped the same is asked of the runtime's own kernels, and what differs is said, but for float64 nothing can fail.
"""
import argparse
import os
import sys

import numpy

import encoder_model
import machines

LENGTHS = (9, 17, 5, 12, 70)
FLOAT_BOUND, INTEGER_BOUND = 2e-5, 0.25  # of the largest number: measured 3e-6, and 0.1 for numbers of 8 bits


class Arrangement:
    """Batches of `batch` texts, padded to the longest and `extra` tokens more."""

    def __init__(self, what, batch=1, extra=0, left=False, threads=1):
        self.what, self.batch, self.extra, self.left, self.threads = what, batch, extra, left, threads

    def groups(self, texts):
        return [texts[i:i + self.batch] for i in range(0, len(texts), self.batch)]

    def jobs(self, model, texts):
        return [machines.Job(model, encoder_model.arranged(group, max(map(len, group)) + self.extra, self.left), self.threads) for group in self.groups(texts)]

    def rows(self, answers, texts):
        """Of each text its rows, or the first error."""
        found = []
        for answer, group in zip(answers, self.groups(texts)):
            if answer.error:
                return answer.error
            found += encoder_model.real_rows(answer.outputs[0], group, self.left)
        return found

    def __str__(self):
        return "batches of %d, %d more tokens on the %s, %d threads" % (self.batch, self.extra, "left" if self.left else "right", self.threads)


ALONE = Arrangement("alone")
ARRANGEMENTS = ([Arrangement("threads 1 to 4", batch=5, threads=n) for n in (1, 2, 3, 4)] + [Arrangement("batch", batch=n) for n in (2, 3, 4, 5)] +
                [Arrangement("padding on the right", extra=n) for n in (1, 7, 35)] + [Arrangement("padding on the left", extra=n, left=True) for n in (1, 7, 35)] +
                [Arrangement("padding on the left", batch=5, left=True, threads=2)])
QUICK = [ARRANGEMENTS[i] for i in (0, 1, 3, 9, 13, 14)]  # sums of values are in chains of 64 keys: padding has to pass their ends


def ask(machine, model, texts, plugin, arrangements):
    """(arrangement, rows or a sentence) of each, in one process."""
    jobs, counts = [], []
    for arrangement in arrangements:
        more = arrangement.jobs(model, texts)
        jobs, counts = jobs + more, counts + [len(more)]
    answers, results = machine.run(jobs, plugin), []
    for arrangement, count in zip(arrangements, counts):
        results.append((arrangement, arrangement.rows(answers[:count], texts)))
        answers = answers[count:]
    return results


def apart(exact, rows):
    return max(abs(a - b).max() for a, b in zip(exact, rows)) / max(abs(a).max() for a in exact)


class Tally:
    def __init__(self):
        self.failed = 0

    def say(self, right, what, why="", required=True):
        print("%s %s%s" % ("ok  " if right else "FAIL" if required else "note", what, ": " + why if why else ""), flush=True)
        self.failed += 0 if right or not required else 1


def check(tally, name, encoder, texts, found, plugin, arrangements, wanted, bound):
    """One encoder in all arrangements on all machines."""
    path = os.path.join(machines.WORK, name.replace(" ", "-") + ".onnx")
    with open(path, "wb") as out:
        out.write(encoder.onnx())
    exact = [encoder.exact(text) for text in texts]
    reference = None
    for machine in (found[m] for m in wanted):
        for arrangement, rows in ask(machine, path, texts, plugin, [ALONE] + (arrangements if reference is None else arrangements[-1:])):
            what = "%s, %s, %s" % (name, machine.name, arrangement)
            if isinstance(rows, str):
                tally.say(False, what, rows)
                continue
            if reference is None:
                reference = rows
                off = apart(exact, rows)
                tally.say(off <= bound, what + ", beside float64", "%.1e of the largest number, at most %.1e" % (off, bound))
                print("     SHA-256 %s" % machines.digest(rows))
                continue
            same = machines.difference(reference, rows)
            tally.say(same == "same", what, same, required=plugin)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--shipped", action="store_true")
    arguments.add_argument("--layers", type=int, default=6)
    arguments.add_argument("--width", type=int, default=384)
    arguments.add_argument("--machines", default="here,scalar,AArch64")
    asked = arguments.parse_args()
    os.makedirs(machines.WORK, exist_ok=True)
    found, tally = machines.machines(), Tally()
    wanted = [m for m in asked.machines.split(",") if m in found]
    texts = encoder_model.texts(LENGTHS)
    shape = dict(layers=asked.layers, width=asked.width, heads=asked.width // 32, inner=4 * asked.width)
    kinds = [("encoder", {}, FLOAT_BOUND), ("encoder of 8 bits", dict(integers=True), INTEGER_BOUND)]
    if not asked.quick:
        kinds.insert(1, ("encoder with LayerNormalization spelled out", dict(chains=True), FLOAT_BOUND))
    for name, more, bound in kinds:
        arrangements = QUICK if asked.quick else ARRANGEMENTS
        check(tally, name, encoder_model.Encoder(**shape, **more), texts, found, not asked.shipped, arrangements, wanted, bound)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
