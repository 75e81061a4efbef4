#!/usr/bin/env python3
"""A model of cost of attention over ranks, its parameters measured, beside measured runs: `make distributed-model`.

    model.py measure BUILD_DIR ROUNDS    adds rounds of parameters and of runs of 1 to 8 ranks to build/model.tsv
    model.py table                       the tables of build/model.tsv, and what the model says of more ranks
    model.py plot FILE.svg               the same as a picture (gnuplot)

Of times of processors the median of all rounds counts, by the clock the least: a machine that others use adds time and
takes none.
"""
import math
import os
import subprocess
import sys

from model_measured import CORES, DECODE_TOKENS, PIECE, PREFILL_TOKENS, RANKS, SEGMENT, Measured, measure

HEADS, DIM, KEY_BYTES, QUERY_BYTES = 8, 64, 1024, 2048  # of runs.h, in float32
NETWORK_LATENCY, NETWORK_BANDWIDTH, STATED_READ_RATE = 2e-6, 25e9, 200e9  # seconds, bytes a second: not measured


# ---- The model ----

def nodes_of(first, end):
    """As in ranges.h."""
    first, end, nodes = first // SEGMENT, end // SEGMENT, 0
    while first < end:
        size = 1
        while first % (2 * size) == 0 and first + 2 * size <= end:
            size *= 2
        first, nodes = first + size, nodes + 1
    return nodes


def nodes_on_the_way(keys):
    return 2 * max(1, (keys // SEGMENT).bit_length())


def packed_bytes(nodes):
    return 4 * (20 + nodes + HEADS * (nodes * (DIM + 3) + 2 * DIM + 18))


def cuts(tokens, parts):
    segments = -(-tokens // SEGMENT)
    return [min(tokens, segments * i // parts * SEGMENT) for i in range(parts + 1)]


def message(m, ranks, size):
    """Between ranks of this machine, where there are more of them than cores if so many are."""
    return m.at("two messages", CORES if 1 < CORES >= ranks else 2 * CORES, size) / 2


def reading(ranks):
    """The ranks whose rates those of so many are taken to be: one rank alone was measured, and as many as cores."""
    return 1 if ranks == 1 else CORES


def rounds_of(ranks):
    """Messages and merges of recursive doubling: a rank beyond a power of two goes through another one."""
    doublings, beyond = ranks.bit_length() - 1, ranks & (ranks - 1) != 0
    return doublings + 2 * beyond, doublings + beyond


def merge(m, size):
    return m.at("copy and merge", 1, size) - m.at("copy", 1, size)


def ends(m, size):
    return m.at("pack", 1, size) + m.at("unpack", 1, size) + m.at("finish", 1, 1)


def together(ranks, of_rank, is_clock):
    """By the clock: a core does the work of its ranks one after another, and cores with fewer of them wait for others.
    Of processors: the work of all ranks, divided by the cores that they use."""
    return of_rank * (-(-ranks // CORES) if is_clock else ranks / min(ranks, CORES))


def decode(m, ranks, tokens, is_clock):
    """One step on this machine."""
    at_once = reading(ranks)
    cut = cuts(tokens, ranks)
    size = packed_bytes(max(nodes_on_the_way(tokens), sum(nodes_of(a, b) for a, b in zip(cut, cut[1:]))))
    # Seconds a key while as many cores read together all keys: all ranks share the caches that do not hold them.
    keys = max(b - a for a, b in zip(cut, cut[1:]))
    compute = keys * m.at("run", at_once, tokens // at_once) / (tokens // at_once)
    messages, merges = rounds_of(ranks)
    barrier = math.ceil(math.log2(ranks)) * message(m, ranks, 8)
    of_rank = compute + barrier + ends(m, size) + merges * merge(m, size) + messages * message(m, ranks, size)
    return together(ranks, of_rank, is_clock)


def prefill(m, ranks, tokens, is_clock):
    """All ranks have the same work; the list of pieces is gone through as prefill.cpp does."""
    at_once = reading(ranks)
    cut = cuts(tokens, 2 * ranks)
    owned = [[(cut[r], cut[r + 1]), (cut[2 * ranks - 1 - r], cut[2 * ranks - r])] for r in range(ranks)]
    merge_piece = (m.at("take keys again and merge piece", at_once, 0) - m.at("take keys again", at_once, 0))
    save, state_bytes = m.at("save piece", at_once, 0), 4 * PIECE * HEADS * (DIM + 3)
    memory = m.at("new memory", at_once, 40 << 20) / (40 << 20)
    state_nodes = max(nodes_on_the_way(tokens), sum(nodes_of(a, b) for ranges in owned for a, b in ranges))
    work = [0.0] * ranks
    for owner in range(ranks):
        for begin, end in owned[owner]:
            for first in range(begin, end, PIECE):
                count = min(PIECE, end - first)
                part = count / PIECE
                room = memory * (state_nodes * state_bytes + PIECE * QUERY_BYTES)
                work[owner] += part * (m.at("finish piece", at_once, PIECE) + room)
                for rank in range(ranks):
                    nodes = taken = 0
                    for a, b in owned[rank]:
                        keys = min(first + count / 2, b) - a  # half of the last ones, by causality
                        if keys <= 0:
                            continue
                        nodes, taken = nodes + nodes_of(a, b), taken + 1
                        work[rank] += part * min(1, keys / SEGMENT) * m.at("piece", at_once, keys)
                    if taken == 2:
                        work[rank] += part * merge_piece
                    if taken and rank != owner:
                        sent = (message(m, ranks, part * PIECE * QUERY_BYTES) +
                                message(m, ranks, part * nodes * state_bytes))
                        work[rank] += part * (nodes * save + memory * PIECE * QUERY_BYTES) + sent
                        work[owner] += part * nodes * (merge_piece + memory * state_bytes) + sent
    return together(ranks, sum(work) / ranks, is_clock)


def core_rate(m):
    """Keys a second of one core here, from memory: other layers' keys have had the caches meanwhile."""
    return DECODE_TOKENS / m.at("run", 1, DECODE_TOKENS)


def far(m, ranks, tokens, rate, ordered):
    """One step of one rank on each machine: seconds of compute, merges, network; bytes sent. rate: keys a second.
    ordered: the reduction merges neighbours, so that few nodes are enough."""
    keys = -(-tokens // ranks)
    nodes = nodes_on_the_way(tokens)
    if not ordered:
        nodes = max(nodes, ranks * nodes_of(0, keys))
    size = packed_bytes(nodes)
    messages, merges = rounds_of(ranks)
    return (keys / rate, ends(m, size) + merges * merge(m, size),
            messages * (NETWORK_LATENCY + size / NETWORK_BANDWIDTH), messages * size)


# ---- What it says ----

def ratios(m):
    """Rows of kind, ranks, predicted and measured seconds of processors, both by the clock, and what others used."""
    for kind, model, tokens in ("decode", decode, DECODE_TOKENS), ("prefill", prefill, PREFILL_TOKENS):
        for ranks in RANKS:
            key = kind + " processors", ranks, tokens
            yield (kind, ranks, model(m, ranks, tokens, False), m.seconds[key] / min(ranks, CORES),
                   model(m, ranks, tokens, True), m.least[kind, ranks, tokens], m.others[key])


def stops(m, tokens, rate, ordered):
    """The ranks from which twice as many save less than a tenth of the time, of powers of two with a segment each."""
    ranks = 1
    while 2 * ranks * SEGMENT <= tokens:
        if sum(far(m, 2 * ranks, tokens, rate, ordered)[:3]) > 0.9 * sum(far(m, ranks, tokens, rate, ordered)[:3]):
            return ranks
        ranks *= 2
    return ranks


def table():
    m = Measured()
    print("%d cores, decode over %d tokens, prefill of %d in pieces of %d, float32, 8 heads over 2 of 64" %
          (CORES, DECODE_TOKENS, PREFILL_TOKENS, PIECE))
    print("medians of %d rounds, by the clock the least; others: cores that other processes used\n" % m.rounds)
    print("| parameter | measured |\n| --- | --- |")
    for at_once in sorted({1, CORES}):
        keys = DECODE_TOKENS // at_once
        rate = keys / m.at("run", at_once, keys)
        print("| one query over %d keys, %d at once | %.2f million keys a second each, %.2f GB/s |" %
              (keys, at_once, rate / 1e6, rate * KEY_BYTES / 1e9))
    for size in sorted(s for k, r, s in m.seconds if k == "copy and merge" and r == 1):
        print("| packed states of %d bytes: pack, merge, unpack and finish | %.1f, %.1f, %.1f us |" %
              (size, m.at("pack", 1, size) * 1e6, merge(m, size) * 1e6,
               (m.at("unpack", 1, size) + m.at("finish", 1, 1)) * 1e6))
    for ranks, what in (CORES, "a core for each rank"), (2 * CORES, "two ranks on a core"):
        print("| a message of 8, 32768, 262144 bytes, %s | %.1f, %.1f, %.1f us |" %
              (what, *[m.at("two messages", ranks, size) / 2 * 1e6 for size in (8, 32768, 262144)]))
    print("\n| | ranks | of processors: predicted, ms | measured | ratio "
          "| by the clock: predicted, ms | measured | ratio | others |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind, ranks, *times, others in ratios(m):
        model, processors, clock_model, clock = (1e3 * time for time in times)
        print("| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |" %
              (kind, ranks, model, processors, model / processors, clock_model, clock, clock_model / clock, others))
    print("\nStated: messages take %.0f us and %.0f GB/s; a rank has a machine, reads as a core here or %.0f GB/s\n" %
          (NETWORK_LATENCY * 1e6, NETWORK_BANDWIDTH / 1e9, STATED_READ_RATE / 1e9))
    print("| tokens | ranks | keys a rank reads | nodes in packed states for | sent by a rank | a token takes "
          "| of it merges; network | twice as many ranks save less than a tenth from |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for tokens, name in (1 << 20, "1 M"), (1 << 30, "1 G"):
        for rate, of in (core_rate(m), "one core"), (STATED_READ_RATE / KEY_BYTES, "200 GB/s"):
            for ordered in False, True:
                compute, merges, network, sent = far(m, 1024, tokens, rate, ordered)
                total = compute + merges + network
                print("| %s | 1,024 | %.1f MB, %s | %s | %.2f MB | %.2f ms | %.1f %%; %.1f %% | %s ranks |" %
                      (name, tokens / 1024 * KEY_BYTES / 1e6, of, "neighbours" if ordered else "any order", sent / 1e6,
                       total * 1e3, 100 * merges / total, 100 * network / total,
                       format(stops(m, tokens, rate, ordered), ",")))


def plot(file):
    """Points and lines, for model.gp."""
    m = Measured()
    os.makedirs("build/plots", exist_ok=True)
    def put(name, rows):
        with open("build/plots/" + name, "w", encoding="ascii") as out:
            for row in rows:
                out.write(" ".join("%.9g" % x for x in row) + "\n")
    for wanted in "decode", "prefill":
        rows = [row for row in ratios(m) if row[0] == wanted]
        put("model_measured_" + wanted, [(row[1], row[3] * 1e3) for row in rows])
        put("model_line_" + wanted, [(row[1], row[2] * 1e3) for row in rows])
    for exponent in 16, 20, 30:
        for ordered, name in (False, "any"), (True, "neighbours"):
            most = min(1 << (exponent - 9), 1 << 16)
            rows = [(1 << e, 1e3 * sum(far(m, 1 << e, 1 << exponent, core_rate(m), ordered)[:3]))
                    for e in range(most.bit_length())]
            put("model_%s_%d" % (name, exponent), rows)
    terminal = "svg size 760,440 dynamic background rgb 'white' font 'sans-serif,13'"
    subprocess.run(["gnuplot", "-e", "set terminal %s; set output '%s'" % (os.environ.get("TERMINAL", terminal), file),
                    "bench/speed/style.gp", "bench/mpi/model.gp"], check=True)
    if file.endswith(".svg"):
        subprocess.run([sys.executable, "bench/speed/compact_svg.py", file], check=True)


def main():
    what, *arguments = sys.argv[1:] or [""]
    if what == "measure" and len(arguments) == 2:
        measure(arguments[0], int(arguments[1]))
    elif what == "table" and not arguments:
        table()
    elif what == "plot" and len(arguments) == 1:
        plot(arguments[0])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
