"""Times of attention as exporters spell it out, with the plugin over as shipped: spellings.py LIBRARY --plugin PLUGIN [--rounds N] [--tokens N] [--most RATIO]

A table of eight spellings in Markdown, for one thread (time of the processor) and for two: milliseconds as shipped, with the plugin, and the ratio. Both sessions are in one process and
their runs take turns; the fastest runs are compared. Masks hide an eighth of the keys of each query, at random, but for the first key. Fails where a spelling is not taken whole, and with
--most, where a ratio is above it.
"""
import argparse
import sys
import time

import numpy

import host
from chain_model import HIDDEN, Chain
from form import Numbers

HEADS, WIDTH = 8, 64
MASKS = ("none", "Add", "Where", "Where, safe softmax")


def chain(heads, mask, tokens):
    random = Numbers("spellings")
    hidden = random.random.random((1, 1, tokens, tokens)) < 0.125
    hidden[..., 0] = False
    steps = {"none": [], "Add": [("add", numpy.where(hidden, numpy.float32(HIDDEN), numpy.float32(0)))]}.get(mask, [("hide", hidden, HIDDEN)])
    return Chain([random.normal(1, HEADS, tokens, WIDTH) for _ in "qkv"], heads, steps, safe=0 if "safe" in mask else None)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--tokens", type=int, default=1024)
    arguments.add_argument("--most", type=float, default=numpy.inf)
    arguments.add_argument("--what", default="both as they are", help="what the table is of")
    asked, runtime = host.opened(arguments)
    failed = False
    print("| heads, %s | mask | one thread: ms as shipped, with Attend, ratio | two threads |\n| --- | --- | --- | --- |" % asked.what, flush=True)
    for heads, said in (("turned", "by Transpose"), ("ready", "[b, h, t, d]")):
        for mask in MASKS:
            one, cells = chain(heads, mask, asked.tokens), []
            for threads in (1, 2):
                sessions = [runtime.session(one.onnx(), provider=plugin, threads=threads) for plugin in (False, True)]
                clock = time.process_time if threads == 1 else time.perf_counter
                shipped, ours = map(min, host.seconds_in_turns(sessions, one.fed, asked.rounds, clock))
                cells.append("%.1f, %.1f, **%.2f**" % (shipped * 1e3, ours * 1e3, ours / shipped))
                failed = failed or bool(sessions[1].left()) or ours / shipped > asked.most
            print("| %s | %s | %s |" % (said, mask, " | ".join(cells)), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
