"""Builds and runs the unit tests with a mistake: what mutants.py does with each."""
import glob
import atexit
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time

FLAGS = ["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-Iinclude"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SANITIZED = ["tests/typed/test_allocation.cpp"]  # has an allocation of its own, which only its sanitized form shares with theirs
FOLDERS = ["include", "src", "tests", "bench"]
NOT_EMULATED = "errors*,soft floats*,dispatch*,*of x86*"  # tests of accuracy, and of what the processor itself has
MEMORY = 8 << 30  # bytes that a test run may ask for


class Base:
    """The build without a mistake: its objects, and what each was made of."""

    def __init__(self, folder, compiler):
        self.compiler, self.folder = compiler, os.path.abspath(folder)
        self.commands = commands_of(os.path.join(folder, "commands"))
        sources = sorted(glob.glob("src/*/*.cpp"))
        self.made_of = {source: self.dependencies(source) for source in sources}
        self.sources = sources
        tests = ["tests/support/main.cpp"] + sorted(glob.glob("tests/*/test_*.cpp"))
        self.made_of.update({test: self.dependencies(test) for test in tests})
        # Tests of the application are tests of other code.
        self.tests = [test for test in tests if not any(name.startswith("bench/") for name in self.made_of[test])]
        self.main = self.tests.pop(0)
        # What instruction sets that this processor may lack are compiled to with emulated intrinsics, in the place of sources of the
        # same names.
        self.emulated = sorted(glob.glob("tests/emulated/*.cpp"))
        self.made_of.update({source: self.dependencies(source) for source in self.emulated})
        self.live = self.live_lines()

    def object_of(self, source):
        return os.path.join(self.folder, source[: -len(".cpp")] + ".o")

    def size_of(self, source):
        return os.path.getsize(self.object_of(source))

    def dependencies(self, source):
        with open(self.object_of(source)[:-2] + ".d") as file:
            names = file.read().split("\n\n")[0].replace("\\\n", " ").split(":", 1)[1].split()
        return {os.path.normpath(name) for name in names}

    def live_lines(self):
        """The lines that this target compiles: {path: line numbers from 0}."""
        live = {}
        for text in ['#include "%s"\n' % source for source in self.sources] + ['#include "include/attend/layers.h"\n']:
            command = [self.compiler] + FLAGS + ["-I.", "-E", "-x", "c++", "-"]
            output = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
            path, number = "", 0
            for line in output.split("\n"):
                marker = re.match(r'# (\d+) "([^"]*)"', line)
                if marker:
                    path, number = os.path.normpath(marker[2]), int(marker[1]) - 1
                    continue
                if line.strip():
                    live.setdefault(path, set()).add(number)
                number += 1
        return {path: lines for path, lines in live.items() if path.startswith(("include/", "src/"))}

    def link(self, output, objects, flags):
        command = [self.compiler] + flags + objects + ["-o", output, "-lpthread"]
        return subprocess.run(command, capture_output=True).returncode == 0


def commands_of(path):
    """How make compiles each source, but for what goes in and out. Objects can be compared with make's only where they were compiled
    alike: even warnings that are switched on make other objects."""
    commands = {}
    with open(path) as file:
        for line in file:
            found = re.match(r"(.* )-c (\S+\.cpp) -o \S+\.o\b", line)
            if not found:
                continue
            words = [word for word in shlex.split(found[1]) if word not in ("-Werror", "-MMD", "-MP")]
            commands[found[2]] = [os.path.abspath(word) if word.startswith("build/") else word for word in words]
    return commands


def limit_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory():
    limit_cores()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run_tests(program, timeout, arguments=(), limit=limit_memory):
    """The name of the test case that fails, what else happened, or None."""
    environment = dict(os.environ, ATTEND_QUICK="1")
    command = [program, "--abort-after=1", "--no-colors=true", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, env=environment, timeout=timeout, preexec_fn=limit, text=True, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    if done.returncode == 0:
        return None
    names = re.findall(r"TEST CASE: +(.*)", done.stdout)  # of messages too; it stopped at the last
    return names[-1] if names else "status %d" % done.returncode


class Order:
    """Test files, those that take least first, and in how many runs."""

    def __init__(self, base, program):
        self.seconds = {}
        for test in base.tests:
            begun = time.monotonic()
            failed = run_tests(program, 1800, ["--source-file=*" + test])
            if failed:
                sys.exit("mutants: without a mistake, %s fails: %s" % (test, failed))
            self.seconds[test] = time.monotonic() - begun
        self.files = sorted(self.seconds, key=self.seconds.get)

    def runs(self, files):
        """Arguments and a timeout for each run: files in groups, each of which takes about three times as long as the last."""
        groups, limit, total = [[]], 1.0, 0.0
        for test in [test for test in self.files if test in files]:
            if groups[-1] and total + self.seconds[test] > limit:
                groups.append([])
                limit, total = limit * 3, 0.0
            groups[-1].append(test)
            total += self.seconds[test]
        for group in filter(None, groups):
            patterns = ",".join("*" + test for test in group)
            yield ["--source-file=" + patterns], 20 + 5 * sum(self.seconds[test] for test in group)


class Worker:
    """A copy of the sources in which one mistake at a time is made."""

    def __init__(self, base, order, number, sanitizes):
        self.base, self.order, self.sanitizes = base, order, sanitizes
        self.folder = os.path.abspath("build/mutants/worker%d.%d" % (os.getpid(), number))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        for name in FOLDERS:
            shutil.copytree(name, os.path.join(self.folder, name))
        self.objects = os.path.join(self.folder, "objects")
        self.extra = []  # flags for the sanitizers

    def compile(self, source):
        target = os.path.join(self.objects, source.replace("/", "_") + ".o")
        command = self.base.commands[source] + self.extra + ["-c", source, "-o", target]
        done = subprocess.run(command, cwd=self.folder, capture_output=True)
        return target if done.returncode == 0 else None

    def expect_same(self, sources):
        """Ends the program where sources without a mistake give other objects than make's."""
        os.makedirs(self.objects, exist_ok=True)
        for source in sources:
            compiled = self.compile(source)
            if not compiled or not same_file(compiled, self.base.object_of(source)):
                sys.exit("mutants: %s gives another object than make made: remove build/mutants and try again" % source)

    def judge(self, mistake):
        """(verdict, by what) of a mistake."""
        path, number, _, after = mistake
        target = os.path.join(self.folder, path)
        with open(target) as file:
            text = file.read()
        lines = text.split("\n")
        lines[number] = after
        shutil.rmtree(self.objects, ignore_errors=True)
        os.makedirs(self.objects)
        try:
            with open(target, "w") as file:
                file.write("\n".join(lines))
            return self.compile_and_run(path)
        finally:
            with open(target, "w") as file:
                file.write(text)

    def compile_and_run(self, path):
        objects = sorted((source for source in self.base.sources if path in self.base.made_of[source]), key=self.base.size_of)
        tests = [test for test in self.order.files if path in self.base.made_of[test]]
        changed = {}
        verdict, by = self.try_library(path, objects, changed)
        if verdict == "":
            verdict, by = self.try_tests(path, tests, changed)
        if verdict in ("survived", "same code"):
            verdict, by = self.try_emulated(path, changed) or (verdict, by)
        if verdict != "survived" or not self.sanitizes:
            return verdict, by
        self.extra = SANITIZERS
        try:
            changed = {source: self.compile(source) for source in list(changed) + SANITIZED}
            refused = [source for source in changed if changed[source] is None]
            failed = refused[0] + " does not compile" if refused else self.run(changed, self.base.tests)
        finally:
            self.extra = []
        return ("killed", "sanitizers: " + failed) if failed else (verdict, "")

    def try_library(self, path, library, changed):
        """A verdict, or "" and in `changed` the objects that are not the base's."""
        public = path.startswith("include/")
        for source in [self.base.main] * (path in self.base.made_of[self.base.main]) + library:
            compiled = self.compile(source)
            if not compiled:
                return "not compiling", source
            if same_file(compiled, self.base.object_of(source)):
                continue
            changed[source] = compiled
            if not public and len(changed) == 1:
                failed = self.run(changed, self.base.tests)
                if failed:
                    return "killed", failed
        if changed and (public or len(changed) > 1):
            tests = [test for test in self.base.tests if not public or path not in self.base.made_of[test]]
            failed = self.run(changed, tests)
            if failed:
                return "killed", failed
        return "", ""

    def try_tests(self, path, tests, changed):
        """A verdict after the test files that include what has the mistake."""
        library_changed = bool(changed)
        for test in tests:
            compiled = self.compile(test)
            if not compiled:
                return "not compiling", test
            if library_changed or not same_file(compiled, self.base.object_of(test)):
                changed[test] = compiled
                failed = self.run(changed, [test])
                if failed:
                    return "killed", failed
        return ("survived" if changed else "same code"), ""

    def try_emulated(self, path, changed):
        """The verdict where a mistake is in what the processor may lack, with all test files; None where it changes nothing there."""
        objects = {source: self.compile(source) for source in self.base.emulated if path in self.base.made_of[source]}
        if None in objects.values() or all(same_file(objects[source], self.base.object_of(source)) for source in objects):
            return None
        program = os.path.join(self.objects, "emulated")
        replaced = {os.path.basename(source) for source in self.base.emulated}
        sources = [self.base.main] + self.base.emulated + self.base.tests + self.base.sources
        library = [name for name in sources if not (name.startswith("src/") and os.path.basename(name) in replaced)]
        objects.update({source: compiled for source, compiled in changed.items() if source in library and source not in objects})
        same = [self.base.object_of(source) for source in library if source not in objects]
        if not self.base.link(program, list(objects.values()) + same, []):
            raise RuntimeError("what is emulated does not link with " + " ".join(objects))
        failed = run_tests(program, 900, ["--test-case-exclude=" + NOT_EMULATED])
        return ("killed", "emulated: " + failed) if failed else ("survived", "")

    def run(self, changed, tests):
        """Links all and runs some test files: what fails, or None. Of inline functions the linker takes the first: the changed."""
        program = os.path.join(self.objects, "unit")
        sources = [self.base.main] + self.base.tests + self.base.sources
        same = [self.base.object_of(source) for source in sources if source not in changed]
        if not self.base.link(program, list(changed.values()) + same, self.extra):
            raise RuntimeError("tests and library do not link with " + " ".join(changed))
        for arguments, timeout in self.order.runs(tests):
            limit, slower = (limit_cores, 5) if self.extra else (limit_memory, 1)  # sanitizers ask for more than there is
            failed = run_tests(program, timeout * slower, arguments, limit)
            if failed:
                return failed
        return None


def same_file(one, other):
    with open(one, "rb") as first, open(other, "rb") as second:
        return first.read() == second.read()
