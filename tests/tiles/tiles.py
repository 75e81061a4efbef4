"""Shows the hot loops of each backend as each compiler makes them, and holds them to limits.

    tiles.py [--compilers "gcc clang-22"] [--backends "avx2 neon64"] [--models apple-m1] [--all] [--parts] [--write] [--jobs 2]

From the project's top folder; `make tiles` calls this. A compiler that is missing is skipped, with a line that says what to
install; where CI=true, that is a failure. So it is with llvm-mca, of the version that the limits of cycles are for. Other models
than those of the row, which have no limits, are asked for by --models. All figures go to build/tiles.tsv.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys

import builds
import limits
import measure
import parts
import self_check
import table
import whole_tile

FOLDER = "build/tiles"  # of object files
TABLE = "build/tiles.tsv"


class Part:
    """One backend by one compiler: its loops, and the limits of the processors."""

    def __init__(self, backend, compiler):
        self.backend, self.compiler = backend, compiler
        self.loops, self.peaks, self.problem, self.absent = [], {}, "", ""
        self.parts = {}  # of a whole tile: by processor, the cycles of each

    def names(self):
        return self.backend.name, self.compiler.name

    def work(self, tools, newest, asks_parts):
        try:
            for source in builds.sources_of(self.backend):
                path = builds.compile_source(self.backend, self.compiler, source, FOLDER, newest)
                found = measure.hot_loops(tools.objdump, self.backend.machine, path)
                if found and tools.mca:
                    self.peaks = measure.ask_models(tools.mca, self.backend, found)
                self.loops += found
            measure.mark_tiles(self.loops)
            self.add_whole_tile(tools, newest, asks_parts)
            if not self.loops:
                self.problem = "no hot loop was found"
        except (RuntimeError, OSError, subprocess.SubprocessError) as problem:
            self.problem = str(problem)
        return self

    def add_whole_tile(self, tools, newest, asks_parts):
        """Where there is an emulator."""
        if not self.backend.emulator:
            return
        self.absent = whole_tile.missing(self.backend)
        if self.absent:
            return
        tile = whole_tile.of(self.backend, self.compiler, tools.objdump, FOLDER, newest)
        if tools.mca:
            measure.ask_models(tools.mca, self.backend, [tile], whole_tile.ROUNDS)
        if tools.mca and asks_parts:
            self.parts = {model: parts.cycles(tools.mca, self.backend, model, tile.body, tile.parts) for model in self.backend.models}
        self.loops.append(tile)


class Tools:
    """objdump and llvm-mca of the newest LLVM that is installed. Before LLVM 19, llvm-mca stops at what a model does not know."""

    def __init__(self):
        self.objdump, _ = newest("llvm-objdump", ["22", "19", "14", ""])
        self.mca, self.mca_version = newest("llvm-mca", ["22", "19"])


def newest(tool, versions):
    """The first of these versions of a tool that is installed, as a path, and which it is."""
    for version in versions:
        path = shutil.which("-".join([tool, version]).rstrip("-"))
        if path:
            return path, version
    return None, ""


def parts_of(given):
    """What to work on, and what would be worked on if its compiler were here."""
    parts, absent = [], []
    for backend in builds.backends():
        if builds.chosen(backend.name, given.backends.split()):
            backend.models = given.models.split() or backend.models
            found, missing = builds.compilers_of(backend)
            parts += [Part(backend, compiler) for compiler in found if builds.chosen(compiler.name, given.compilers.split())]
            absent += [Part(backend, compiler) for compiler in missing if builds.chosen(compiler.name, given.compilers.split())]
    return parts, absent


def judge(parts, absent, tools, judges_all, judges_cycles):
    """What passes its limit, and what is not judged."""
    sections = limits.read()
    limited = {compiler for _, compiler in sections}  # a compiler that came after them has none
    wrong = []
    unjudged = ["%s, %s: was not found: apt-get install %s" % (*part.names(), part.compiler.package) for part in absent]
    if judges_all:
        known = [part.names() for part in parts + absent]
        unjudged += ["%s, %s: has limits, and was not found" % key for key in sections if key not in known]
    unjudged += ["%s, %s: no whole tile, because %s was not found: apt-get install qemu-user %s"
                 % (*part.names(), part.absent, part.backend.gcc_package) for part in parts if part.absent]
    for part in parts:
        rows = sections.get(part.names())
        if part.problem:
            wrong.append("%s, %s: %s" % (*part.names(), part.problem))
        elif rows is None and part.compiler.name not in limited:
            unjudged.append("%s, %s: no backend has limits for this compiler" % part.names())
        elif rows is None:
            wrong.append("%s, %s: there are no limits for it: make tiles BACKENDS=%s LIMITS=write"
                         % (*part.names(), part.backend.name))
        else:
            wrong += limits.judge(part, rows, judges_cycles and tools.mca_version == limits.MCA)
    if tools.mca_version != limits.MCA:
        unjudged.append("cycles: limits are of llvm-mca %s: apt-get install llvm-%s" % (limits.MCA, limits.MCA))
    return wrong, unjudged


def arguments():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--compilers", default="", help="gcc or clang-%d" % builds.CLANG)
    options.add_argument("--backends", default="", help="some of the backends")
    options.add_argument("--models", default="", help="processors of llvm-mca instead of those of the rows")
    options.add_argument("--all", action="store_true", help="print every loop")
    options.add_argument("--parts", action="store_true", help="print the parts of whole tiles")
    options.add_argument("--write", action="store_true", help="write today's figures as limits instead of judging them")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    return options.parse_args()


def main():
    given = arguments()
    rows = [backend.name for backend in builds.backends()]
    for pattern in given.backends.split():
        if not any(builds.chosen(name, [pattern]) for name in rows):
            sys.exit("tiles: tests/tiles/builds.py has no row %s. The rows are %s" % (pattern, " ".join(rows)))
    miscounted = self_check.check()
    if miscounted:
        sys.exit("\n".join("tiles: counts wrongly: " + text for text in miscounted))
    tools = Tools()
    if not tools.objdump:
        sys.exit("tiles: llvm-objdump was not found: apt-get install llvm-%s" % limits.MCA)
    os.makedirs(FOLDER, exist_ok=True)
    parts, absent = parts_of(given)
    if not parts and not absent:
        sys.exit("tiles: these rows have no compiler %s. The compilers are gcc clang-%d" % (given.compilers, builds.CLANG))
    newest_source = builds.newest_source()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        parts = list(pool.map(lambda part: part.work(tools, newest_source, given.parts), parts))
    print(table.LEGEND)
    for part in parts:
        table.show(part, given.all)
    table.write(parts, TABLE)
    if given.write:
        if given.models:
            sys.exit("tiles: limits are of the models in tests/tiles/builds.py alone")
        if tools.mca_version != limits.MCA:
            sys.exit("tiles: llvm-mca %s was not found: apt-get install llvm-%s" % (limits.MCA, limits.MCA))
        limits.write([part for part in parts if not part.problem])
        return 0
    wrong, unjudged = judge(parts, absent, tools, not given.backends and not given.compilers, not given.models)
    if os.environ.get("CI") == "true":
        wrong, unjudged = unjudged + wrong, []
    print()
    for text in unjudged:
        print("skipped  " + text)
    for text in wrong:
        print("wrong    " + text)
    print("%d loops, %d wrong; all figures are in %s" % (sum(len(part.loops) for part in parts), len(wrong), TABLE))
    return 1 if wrong or not parts else 0


if __name__ == "__main__":
    sys.exit(main())
