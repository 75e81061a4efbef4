"""Times of attention as exporters spell it out, with the plugin over as shipped: spellings.py [--rounds N] [--tokens N] [--only TEXT]

A table of eight spellings in Markdown, for one thread and two. Both sessions are in one process, their runs take turns, and the least times of
all rounds are compared. The nodes that the plugin leaves to the runtime stand in the last column.
"""
import argparse
import os
import sys
import time

import numpy

import chain_model
import host

HEADS, WIDTH = 8, 64
HIDDEN = chain_model.HIDDEN
SPELLINGS = [("none", (), None), ("Add", (("add", "mask"),), None), ("Where of -inf", (("show", "mask", HIDDEN),), None),
             ("Where of -inf, and 0 for NaN", (("show", "mask", HIDDEN),), 0)]


def least(sessions, fed, rounds):
    """Seconds of each session's fastest run."""
    times = [[] for _ in sessions]
    for turn in range(rounds + 1):
        for which in (0, 1) if turn % 2 else (1, 0):
            begin = time.perf_counter()
            sessions[which].run(fed)
            if turn:  # the first round warms up
                times[which].append(time.perf_counter() - begin)
    return [min(each) for each in times]


def measured(runtime, turned, steps, safe, tokens, rounds):
    """(threads, as shipped, with the plugin, the nodes that are left)"""
    random = numpy.random.default_rng(7)
    shape = (1, tokens, HEADS, WIDTH) if turned else (1, HEADS, tokens, WIDTH)
    fed = {n: random.standard_normal(shape).astype(numpy.float32) for n in "qkv"}
    if steps:
        seen = numpy.tril(numpy.ones((1, 1, tokens, tokens), numpy.bool_))
        fed["mask"] = numpy.where(seen, numpy.float32(0), numpy.float32(-numpy.inf)) if steps[0][0] == "add" else seen
    data = chain_model.Chain(turned, steps, safe, WIDTH).onnx()
    for threads in (1, 2):
        sessions = [runtime.session(data, provider=plugin, threads=threads) for plugin in (False, True)]
        yield (threads, *least(sessions, fed, rounds), sessions[1].left())


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--tokens", type=int, default=1024)
    arguments.add_argument("--only", default="")
    asked = arguments.parse_args()
    runtime = host.Runtime(os.environ["ORT_LIBRARY"])
    runtime.register(os.environ["ORT_PLUGIN"])
    print("| heads | mask | one thread: ms as shipped, with Attend, ratio | two threads | fused |\n| --- | --- | --- | --- | --- |", flush=True)
    for turned in (True, False):
        for name, steps, safe in SPELLINGS:
            if asked.only not in name:
                continue
            cells, left = [], []
            for _, shipped, ours, left in measured(runtime, turned, steps, safe, asked.tokens, asked.rounds):
                cells.append("%.1f, %.1f, %.2f" % (shipped * 1e3, ours * 1e3, ours / shipped))
            print("| %s | %s | %s | %s |" % ("by Transpose" if turned else "ready", name, " | ".join(cells), "not: " + ", ".join(left) if left else "yes"), flush=True)


if __name__ == "__main__":
    sys.exit(main())
