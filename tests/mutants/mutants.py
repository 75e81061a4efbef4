"""Makes random mistakes in include/ and src/, one at a time, and reports those that no unit test finds.

    mutants.py --base build/mutants/base [--count 300] [--seed 1] [--first 1] [--jobs 2] [--files PATTERN] [--no-sanitizers] [--compiler g++]

`make mutants` builds the base, objects of the library and of the tests without a mistake, writes the commands that do it to a file
beside them, and calls this. Every mistake is made in a copy under build/mutants. What includes the line is compiled, and the tests
run, stopping at the first failure; a crash and a timeout are failures too: once with the first object that differs, and once with
all of them. So a mistake may be found because only one backend has it, which is how backends are tested: against the definition and
each other. A public header is compiled for the whole library at once, and then test file by test file, each linked without the
others, because inline functions must agree. What survives is compiled and run once more with emulated instruction sets, where it is
in one of these, and with the sanitizers of `make check`.

    killed          a test fails
    same code       the compiler makes the same objects of it
    not compiling   the compiler refuses it
    equivalent      equivalent.txt says why no test can see it
    survived        printed as a diff: write a test, or a line in equivalent.txt

ATTEND_QUICK is set, so random tests take a twelfth of their rounds. Ends with status 1 if a mistake survived.
"""
import argparse
import concurrent.futures
import os
import random
import re
import sys
import threading
import time

import mistakes
import trial

HERE = os.path.dirname(os.path.abspath(__file__))


def equivalents():
    """equivalent.txt: {(path, line before, line after)}, lines without indentation."""
    known, path, before = set(), "", ""
    with open(os.path.join(HERE, "equivalent.txt")) as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("@ "):
                path = line[2:]
            elif line.startswith("- "):
                before = line[2:]
            elif line.startswith("+ "):
                known.add((path, before, line[2:]))
                with open(path) as source:
                    if before not in (code.strip() for code in source):
                        sys.exit("mutants: equivalent.txt has a line that %s has not: %s" % (path, before))
    return known


def sample(base, count, seed, files):
    """So many mistakes: a random line, and a random mistake in it, of all that are left."""
    lines = []
    for path in sorted(base.live):
        if not re.search(files, path):
            continue
        with open(path) as file:
            lines += [made for made in mistakes.mistakes(path, file.read()) if made[0][1] in base.live[path]]
    chance = random.Random(seed)
    chosen = []
    while lines and len(chosen) < count:
        line = chance.randrange(len(lines))
        chosen.append(lines[line].pop(chance.randrange(len(lines[line]))))
        if not lines[line]:
            lines.pop(line)
    return chosen


def diff_of(mistake):
    path, number, before, after = mistake
    return "%s:%d\n  - %s\n  + %s" % (path, number + 1, before.strip(), after.strip())


def judge_all(chosen, workers):
    known = equivalents()
    free = list(workers)
    lock = threading.Lock()
    counts = dict.fromkeys(["killed", "survived", "same code", "not compiling", "equivalent"], 0)

    def judge(mistake):
        begun = time.monotonic()
        path, _, before, after = mistake
        if (path, before.strip(), after.strip()) in known:
            verdict, by = "equivalent", ""
        else:
            with lock:
                worker = free.pop()
            verdict, by = worker.judge(mistake)
            with lock:
                free.append(worker)
        with lock:
            counts[verdict] += 1
            seconds = time.monotonic() - begun
            print("%-13s %s" % (verdict, diff_of(mistake)) + "\n  in %.0f s%s" % (seconds, " by " + by if by else ""), flush=True)
        return verdict, mistake

    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        results = list(pool.map(judge, chosen))
    summary = "%d mistakes: %s" % (len(chosen), ", ".join("%d %s" % (n, verdict) for verdict, n in sorted(counts.items())))
    print("\n" + summary)
    with open("build/mutants/result.txt", "w") as file:  # make evidence reads it
        file.write(summary + "\n")
    survivors = [mistake for verdict, mistake in results if verdict == "survived"]
    for mistake in survivors:
        print(diff_of(mistake))
    return survivors


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--base", required=True, help="folder of the build without a mistake")
    options.add_argument("--compiler", default="g++")
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=1, help="go on with this one of them")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--files", default="", help="only files whose path has this regular expression")
    options.add_argument("--no-sanitizers", dest="sanitizers", action="store_false", help="leave out the last step")
    options.add_argument("--list", action="store_true", help="print the mistakes, make none")
    given = options.parse_args()
    base = trial.Base(given.base, given.compiler)
    chosen = sample(base, given.count, given.seed, given.files)[given.first - 1 :]
    if given.list:
        print("\n".join(diff_of(mistake) for mistake in chosen))
        return 0
    order = trial.Order(base, os.path.join(given.base, "unit"))
    workers = [trial.Worker(base, order, number, given.sanitizers) for number in range(given.jobs)]
    workers[0].expect_same([base.sources[0], base.tests[0], base.emulated[0]])
    return 1 if judge_all(chosen, workers) else 0


if __name__ == "__main__":
    sys.exit(main())
