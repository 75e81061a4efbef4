"""Every form of node on this processor, on the library's scalar code and on AArch64: the bits are compared.
processors.py [--every N] [--shipped] [--machines here,scalar,AArch64]

With --shipped it is counted how many forms differ, and nothing fails.
"""
import argparse
import os
import sys

import form
import machines
import nodes_attention  # noqa: F401, adds forms
import nodes_contrib  # noqa: F401
import nodes_linear  # noqa: F401
import nodes_products  # noqa: F401
import nodes_rows  # noqa: F401

import numpy


def compared(one, outputs):
    """What of the outputs is defined."""
    results = [r for r in one.results if r is not None]
    return [o if r.where is None else numpy.where(numpy.broadcast_to(r.where, o.shape), o, 0) for r, o in zip(results, outputs)]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--shipped", action="store_true")
    arguments.add_argument("--machines", default="here,scalar,AArch64")
    asked = arguments.parse_args()
    os.makedirs(machines.WORK, exist_ok=True)
    forms = [f for f in form.FORMS if not f.left and not (asked.shipped and f.shipped)][::asked.every]
    jobs = []
    for i, one in enumerate(forms):
        path = os.path.join(machines.WORK, "form.%d.onnx" % i)
        with open(path, "wb") as out:
            out.write(one.model())
        jobs.append(machines.Job(path, one.fed(), threads=1 + i % 3))
    reference, failed = None, 0
    found = machines.machines()
    for machine in (found[m] for m in asked.machines.split(",") if m in found):
        answers, wrong = machine.run(jobs, not asked.shipped), 0
        reference = reference or answers
        for one, first, answer in zip(forms, reference, answers):
            if first.error or answer.error:
                # What stops here is a matter of nodes.py; it has to stop everywhere.
                problem = None if first.error and answer.error else "%s; here: %s" % (answer.error or "nothing stops it", first.error or "nothing stops it")
            elif answer.taken[1] and not asked.shipped:
                problem = None  # nodes.py says what the plugin leaves
            else:
                a, b = compared(one, first.outputs), compared(one, answer.outputs)
                problem = None if machines.digest(a) == machines.digest(b) else machines.difference(a, b)
            if problem:
                wrong += 1
                if not asked.shipped or wrong < 4:
                    print("%s %s on %s: %s" % ("note" if asked.shipped else "FAIL", one.name, machine.name, problem))
        print("%d forms on %s, %d differ" % (len(forms), machine.name, wrong), flush=True)
        failed += 0 if asked.shipped else wrong
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
