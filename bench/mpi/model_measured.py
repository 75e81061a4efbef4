"""Measures the parameters of the model of cost and the runs that it predicts, and reads them: see model.py."""
import math
import os
import re
import resource
import statistics
import subprocess
import sys

DATA = "build/model.tsv"
RANKS = range(1, 9)
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
DECODE_TOKENS, DECODE_STEPS, PREFILL_TOKENS, PIECE = 65536, 60, 16384, 256
SEGMENT = 512


def busy():
    """Seconds that all cores were busy, those that a hypervisor took among them; None where there is no /proc."""
    try:
        with open("/proc/stat", encoding="ascii") as stat:
            user, nice, system, _, _, irq, soft, steal = map(int, stat.readline().split()[1:9])
        return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return None


def own():
    """Seconds of processors of the runs that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def run(build, what, ranks, tokens, number):
    """The output of a run, and the cores that other processes used meanwhile."""
    before, mine, begin = busy(), own(), os.times().elapsed
    out = subprocess.run(["sh", "bench/mpi/run.sh", what, build, str(ranks), str(tokens), str(number)],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    os.environ["COMPILED"] = "1"  # for the next ones
    elapsed = os.times().elapsed - begin
    others = 0 if before is None else (busy() - before - (own() - mine)) / elapsed
    return out, max(others, 0)


def measure(build, rounds):
    # Ranks that wait let others run, as Open MPI does by itself only where it counts more ranks than cores.
    os.environ["OMPI_MCA_mpi_yield_when_idle"] = "1"
    with open(DATA, "a", encoding="ascii") as data:
        def put(*fields):
            data.write("\t".join(map(str, fields)) + "\n")
            data.flush()

        for number in range(rounds):
            # One rank alone, as many as cores, each with its part of the same keys, and twice as many, for messages.
            for ranks, tokens in (1, DECODE_TOKENS), (CORES, DECODE_TOKENS // CORES), (2 * CORES, 2 * SEGMENT):
                out, others = run(build, "costs", ranks, tokens, PIECE)
                for line in out.splitlines():
                    if "\t" in line:
                        kind, size, seconds = line.split("\t")
                        put(kind, ranks, size, seconds, "%.2f" % others)
            for ranks in RANKS:
                out, others = run(build, "decode", ranks, DECODE_TOKENS, DECODE_STEPS)
                times = re.search(r"a step takes (\S+) ms in the median, .* (\S+) ms of processors", out).groups()
                for kind, milliseconds in zip(("decode", "decode processors"), times):
                    put(kind, ranks, DECODE_TOKENS, float(milliseconds) / 1e3, "%.2f" % others)
                out, others = run(build, "prefill", ranks, PREFILL_TOKENS, PIECE)
                times = re.search(r"it takes (\S+) ms, and (\S+) ms of processors", out).groups()
                for kind, milliseconds in zip(("prefill", "prefill processors"), times):
                    put(kind, ranks, PREFILL_TOKENS, float(milliseconds) / 1e3, "%.2f" % others)
                print("round %d of %d, %d ranks, others used %.2f cores" % (number + 1, rounds, ranks, others),
                      file=sys.stderr)


class Measured:
    """The median of each figure over the rounds, and lines through them."""

    def __init__(self):
        all_seconds, all_others = {}, {}
        with open(DATA, encoding="ascii") as data:
            for line in data:
                kind, ranks, size, seconds, others = line.rstrip("\n").split("\t")
                key = kind, int(ranks), int(size)
                all_seconds.setdefault(key, []).append(float(seconds))
                all_others.setdefault(key, []).append(float(others))
        self.rounds = min(len(seconds) for seconds in all_seconds.values())
        self.seconds = {key: statistics.median(seconds) for key, seconds in all_seconds.items()}
        self.least = {key: min(seconds) for key, seconds in all_seconds.items()}
        self.others = {key: statistics.median(others) for key, others in all_others.items()}

    def at(self, kind, ranks, size):
        """Linear between measured sizes; in proportion beyond the largest one."""
        known = sorted((s, t) for (k, r, s), t in self.seconds.items() if k == kind and r == ranks)
        if len(known) == 1 or size <= known[0][0]:
            return known[0][1]
        if size > known[-1][0]:
            return known[-1][1] * size / known[-1][0]
        for (s0, t0), (s1, t1) in zip(known, known[1:]):
            if size <= s1:
                return t0 + (t1 - t0) * (size - s0) / (s1 - s0)
        return None
