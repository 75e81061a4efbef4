"""The encoder's time with the plugin over the time as shipped: timing.py [--rounds N] [--integers] [--what TEXT]

Both sessions are in one process, their runs take turns, and medians are compared: 6 layers of 384, batches of 1 and 8 texts of 128 tokens. With --what a table in
Markdown of float32 and of 8 bits, for one thread (time of the processor) and for two, under this title.
"""
import argparse
import os
import statistics
import sys
import time

import encoder_model
import host


def ratios(runtime, threads, rounds, integers=False, batches=(1, 8), clock=time.perf_counter):
    """For each batch (batch, as shipped, with the plugin)."""
    data = encoder_model.Encoder(integers=integers).onnx()
    found = []
    for batch in batches:
        inputs = encoder_model.arranged(encoder_model.texts([128] * batch), 128, False)
        sessions = [runtime.session(data, provider=plugin, threads=threads) for plugin in (False, True)]
        found.append((batch, *map(statistics.median, host.seconds_in_turns(sessions, inputs, rounds, clock))))
    return found


def table(runtime, rounds, what):
    print("| encoder, %s | one thread: ms as shipped, with Attend, ratio | two threads |\n| --- | --- | --- |" % what, flush=True)
    for name, integers in (("float32", False), ("8 bits", True)):
        by_threads = [ratios(runtime, n, rounds, integers, clock=time.process_time if n == 1 else time.perf_counter) for n in (1, 2)]
        for row in zip(*by_threads):
            cells = ["%.1f, %.1f, **%.2f**" % (shipped * 1e3, ours * 1e3, ours / shipped) for _, shipped, ours in row]
            print("| %s, batch of %d | %s |" % (name, row[0][0], " | ".join(cells)), flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--integers", action="store_true")
    arguments.add_argument("--what")
    asked = arguments.parse_args()
    runtime = host.Runtime(os.environ["ORT_LIBRARY"])
    runtime.register(os.environ["ORT_PLUGIN"])
    if asked.what:
        return table(runtime, asked.rounds, asked.what)
    for threads in (1, 2):
        for batch, shipped, ours in ratios(runtime, threads, asked.rounds, asked.integers):
            print("%d threads, batch of %d texts of 128 tokens: %.1f ms as shipped, %.1f ms with the plugin, ratio %.2f" % (
                threads, batch, shipped * 1e3, ours * 1e3, ours / shipped), flush=True)


if __name__ == "__main__":
    sys.exit(main())
