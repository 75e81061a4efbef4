"""What changes bits in TensorFlow Lite: attention that a graph spells out, as shipped and with the adapter's delegate. invariance.py FOLDER HOST ARM…
prints a line for each thing that may change; HOST is the program for this processor, ARM the command that runs the one for AArch64 (or nothing)."""
import os
import shutil
import subprocess
import sys

import numpy

from problems import Chain, Problem

RUNTIME = "TensorFlow Lite 2.9, attention"
FORM = {"base": "fused", "key": "adjoint", "scale": "scores", "output": "fused"}


class Bench:
    def __init__(self, folder, host, arm):
        self.folder, self.host, self.arm, self.count = os.path.abspath(folder), [host], arm, 0

    def model(self, problem):
        """Returns a path without its ending."""
        self.count += 1
        path = os.path.join(self.folder, "model%d" % self.count)
        chain = Chain(problem, FORM)
        model, outputs, data = chain.build()
        model.write(path + ".tflite", outputs)
        with open(path + ".in", "wb") as file:
            file.write(b"".join(a.tobytes() for a in data))
        return path, chain

    def run(self, model, delegate, threads=1, command=None, environment=None, times=0):
        """The output as [batch, tokens, heads, dim]; with times, the median time of so many calls instead, in microseconds."""
        path, chain = model
        output, script = path + ".out", path + ".script"
        if os.path.exists(output):
            os.remove(output)
        with open(script, "w") as file:
            file.write("model %s.tflite %s threads=%d\nrun %s.in %s\n" % (path, "delegate" if delegate else "", threads, path, output))
            if times:
                file.write("repeat %d\n" % times)
        done = subprocess.run((command or self.host) + [script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, **(environment or {})))
        if done.returncode != 0 or b"refused" in done.stdout:
            sys.exit("invariance: %s: %s" % (path, (done.stdout + done.stderr).decode(errors="replace")))
        if times:
            return float(done.stdout.split(b"time ")[1].split()[0])
        return chain.normal(numpy.fromfile(output, "float32"))


def told(a, b):
    differ = a.view(numpy.int32) != b.view(numpy.int32)
    if not differ.any():
        return "same"
    return "differs (%.0f %% of numbers, at most %.0e)" % (max(1, 100 * differ.mean()), numpy.abs(a - b).max())


def part(problem, batch=slice(None), tokens=slice(None), keys=slice(None)):
    """Some batch rows, query tokens and keys of a problem."""
    result = Problem.__new__(Problem)
    result.__dict__.update(problem.__dict__)
    result.query = numpy.ascontiguousarray(problem.query[batch, tokens])
    result.key, result.value = [numpy.ascontiguousarray(a[batch, keys]) for a in (problem.key, problem.value)]
    result.batch, result.tokens, result.keys = result.query.shape[0], result.query.shape[1], result.key.shape[1]
    if problem.mask is not None:
        rows = batch if problem.mask.shape[0] > 1 else slice(None)
        result.mask = numpy.ascontiguousarray(problem.mask[rows, :, tokens if problem.mask.shape[2] > 1 else slice(None), keys])
    return result


def main():
    bench = Bench(sys.argv[1], sys.argv[2], sys.argv[3:])
    rng = numpy.random.default_rng(9)

    def line(what, shipped, ours):
        print("\t".join([RUNTIME, what, shipped, ours]), flush=True)

    def both(what, compare):
        line(what, compare(False), compare(True))

    p = Problem(rng, 4, 48, 70, 12, 12, 32, 32)
    whole = bench.model(p)
    base = [bench.run(whole, delegate) for delegate in (False, True)]

    small = bench.model(Problem(rng, 2, 5, 9, 4, 4, 8, 8))

    def threads(delegate):
        for model in (whole, small):
            on_one = bench.run(model, delegate)
            for count in (2, 3, 4):
                result = told(on_one, bench.run(model, delegate, threads=count))
                if result != "same":
                    return result
        return "same"

    both("threads 1 to 4", threads)
    alone = bench.model(part(p, batch=slice(2, 3)))
    both("batch", lambda d: told(base[d][2:3], bench.run(alone, d)))

    # A text of 40 tokens alone, and with 81 tokens of padding, which a mask hides.
    def padded(left):
        q = Problem(rng, 1, 121, 121, 12, 12, 32, 32)
        real = slice(81, 121) if left else slice(0, 40)
        hidden = numpy.ones(121, bool)
        hidden[real] = False
        q.mask = numpy.where(hidden, -1e9, 0).astype(numpy.float32).reshape(1, 1, 1, 121)
        with_padding, without = bench.model(q), bench.model(part(q, tokens=real, keys=real))
        return lambda d: told(bench.run(without, d), bench.run(with_padding, d)[:, real])

    both("padding on the right", padded(False))
    both("padding on the left", padded(True))

    # The cache is an input of 64 places, of which a mask shows those that are filled.
    q = Problem(rng, 1, 40, 64, 12, 12, 32, 32)
    q.mask = numpy.where(numpy.arange(64) <= numpy.arange(40)[:, None], 0, -1e9).astype(numpy.float32)[None, None]
    at_once = bench.model(q)
    prompt = [bench.run(at_once, d) for d in (False, True)]

    def in_calls(width):
        models = [bench.model(part(q, tokens=slice(t, min(t + width, 40)))) for t in range(0, 40, width)]
        return lambda d: told(prompt[d], numpy.concatenate([bench.run(m, d) for m in models], 1))

    both("prompt at once or by chunks", in_calls(16))
    both("prompt at once or token by token", in_calls(1))
    both("speculation of 2 to 8 tokens", in_calls(5))

    used = part(q)
    used.key[:, 40:], used.value[:, 40:] = rng.normal(size=used.key[:, 40:].shape), rng.normal(size=used.value[:, 40:].shape)
    again = bench.model(used)
    both("reused cache", lambda d: told(prompt[d], bench.run(again, d)))
    for what in ("flash attention on or off", "neighbours in the cache"):
        line(what, "-", "-")

    emulator = shutil.which("qemu-x86_64")
    if emulator:
        old = [emulator, "-cpu", "Nehalem"] + bench.host
        both("x86-64 with AVX2 or without", lambda d: told(base[d], bench.run(whole, d, command=old)))
    else:
        line("x86-64 with AVX2 or without", *["not here: qemu-x86_64 is not installed"] * 2)
    line("x86-64 AVX2 or AVX-512", *["not here: this needs a processor with AVX-512"] * 2)
    if bench.arm:
        both("x86-64 or AArch64", lambda d: told(base[d], bench.run(whole, d, command=bench.arm)))
    else:
        line("x86-64 or AArch64", *["not here: the cross compiler or qemu-aarch64 is not installed"] * 2)

    timed = bench.model(Problem(rng, 1, 256, 256, 8, 8, 64, 64))
    for count, what in ((1, "time, one thread"), (2, "time, two threads")):
        ratios = []
        for _ in range(5):
            shipped, ours = [bench.run(timed, d, threads=count, times=15) for d in (False, True)]
            ratios.append(ours / shipped)
        line(what, "1", "%.2f" % sorted(ratios)[2])


main()
