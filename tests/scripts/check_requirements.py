"""Holds tests/requirements.toml to the pages and to what has run: check_requirements.py FILE RUNS test | check PART… | write

RUNS is the folder of a build; a folder that holds `parts`, `rest` or `targets` as `make test` and `make check` leave them there will do. `test` looks
at the tests of `make test`, `check` at those of all parts that it names, and of `make test` where that has run. From the project's top folder.

A requirement says what it is (two letters), one sentence, where it is promised (a page and a heading, or a header and a name in it), and which tests break with
it. What is wrong is a line "FAIL …": a requirement without a test, an unknown place, a test that does not exist, that failed, or that
did not run although its part did, or a * that stands for fewer tests than it says, in CI=true without ALL=1 also for more; `write` makes
that how many passed. What this machine left out is said, and is wrong only in `check` where CI=true.
"""
import functools
import os
import pathlib
import re
import sys
import tomllib

from page import Page

# What became of a test, from the best to the worst.
PASSED, LEFT_OUT, ELSEWHERE, FAILED, UNKNOWN = 'passed', 'not run here', 'not run yet', 'failed', 'unknown'


def load(path):
    """[(number, requirement)] in the order of the file: [("bits.01", {is, says, where, tests})]."""
    with open(path, 'rb') as file:
        return [(f'{group}.{number}', each) for group, numbers in tomllib.load(file).items() for number, each in numbers.items()]


@functools.lru_cache(None)
def is_there(where):
    path, _, anchor = where.partition('#')
    if not pathlib.Path(path).is_file():
        return False
    if path.endswith('.md'):
        return not anchor or anchor in Page(pathlib.Path(), path).anchors()
    return bool(anchor) and re.search(rf'\b{re.escape(anchor)}\b', pathlib.Path(path).read_text()) is not None


def pattern(name):
    return re.compile('.*'.join(map(re.escape, name.split('*'))))


def parsed(test):
    """The part of a test, its name, and for how many * stands: of "PART: NAME* (5)" 5, otherwise 1."""
    part, _, name = test.partition(': ')
    counted = re.fullmatch(r'(.*\*.*) \((\d+)\)', name)
    return (part, counted[1], int(counted[2])) if counted else (part, name, 1)


class Part:
    """What one part of a run has said: its checks and test cases that passed, those that failed, and what it left out."""
    def __init__(self, folder, log):
        text = log.read_text(errors='replace')
        cases = folder / 'cases'
        self.is_compiled = cases.exists()
        # Programs of boards say only how many of their cases passed.
        self.passed = set(re.findall('^ok   (.*)$', text + '\n' + (cases.read_text() if self.is_compiled else ''), re.M) + re.findall(r'^([a-z ]+): [1-9]\d* passed, 0 failed\r?$', text, re.M))
        self.failed = set(re.findall('^FAIL (.*)$', text, re.M) + re.findall(r'^([a-z ]+): \d+ passed, [1-9]\d* failed', text, re.M))
        # doctest names a test case above the first line of its failures; a case that runs twice in a part may have passed once.
        for block in re.split('^={20,}$', text, flags=re.M):
            if ': ERROR: ' in block and (name := re.search('^TEST CASE:  (.*)$', block, re.M)):
                self.failed.add(name[1])
        self.left_out = re.findall('^skip (.*)$', text, re.M)
        result = folder / 'result'
        self.status = int(result.read_text().split()[0]) if result.exists() else 1
        if folder.parent.parent.name == 'targets' and self.status not in (0, 77, 78):  # it ends with the first program that fails
            self.passed.clear()

    def count(self, name):
        return sum(bool(pattern(name).fullmatch(each)) for each in self.passed)

    def state(self, name, least=1):
        found, count = pattern(name), self.count(name)
        if any(found.match(each) for each in self.failed):
            return FAILED
        if count >= least or name == '*' and self.status == 0 and not self.left_out:
            return PASSED
        # What needs a program may say so by the program's name.
        named = any(found.match(each) for each in self.left_out)
        if count and self.is_compiled and not named:  # which leaves out cases by name
            return UNKNOWN
        return LEFT_OUT if named or self.left_out and not self.status else FAILED if self.status else UNKNOWN


class Runs:
    """The parts of a build's last `make test` and `make check`, by the names that requirements give them."""

    def __init__(self, build):
        self.build, self.parts = pathlib.Path(build), {}
        self.rest = max((self.build / name for name in ('rest', 'rest-all')), key=lambda folder: folder.stat().st_mtime if folder.exists() else 0)

    def part(self, name):
        if name not in self.parts:
            self.parts[name] = self._part(name)
        return self.parts[name]

    def _part(self, name):
        if not name.startswith('check '):
            folder, log = self.build / 'parts' / name, None
        elif name == 'check size':
            folder, log = self.rest, self.rest / 'size.log'
        elif name.startswith('check targets/'):
            folder, log = self.build / 'targets/log' / name[14:].replace('/', '-'), None
        elif '/' in name:
            folder, log = self.rest / name[6:].split('/')[0] / 'parts' / name.split('/')[1], None
        else:
            folder, log = self.rest / 'log' / name[6:], None
        log = log or folder / 'log'
        return Part(folder, log) if log.exists() and log.stat().st_size else None

    def state(self, test):
        part, name, least = parsed(test)
        part = self.part(part)
        return ELSEWHERE if part is None else part.state(name, least)


@functools.lru_cache(None)
def texts():
    paths = [path for top in ('tests', 'bench/speed/sizes') for path in pathlib.Path(top).rglob('*') if path.suffix in ('.sh', '.py', '.mjs', '.cpp', '.h')]
    return '\n'.join(path.read_text(errors='replace') for path in paths if path.stem != 'check_requirements')


def is_spelt(name):
    """Whether it can be the name of a test that did not run: each longer piece of it stands in the text of a test."""
    return name != '' and all(len(piece.strip()) < 8 or piece.strip() in texts() for piece in re.split('[*:]', name))


def main():
    file, build, stage, *parts = sys.argv[1:]
    runs, requirements, wrong, gone, left, count = Runs(build), load(file), [], [], [], 0
    exact, text = os.environ.get('CI') == 'true' and not os.environ.get('ALL'), pathlib.Path(file).read_text()
    for number, each in requirements:
        if not each.get('says') or not each.get('tests'):
            wrong.append(f'{number} has no {"test" if each.get("says") else "sentence"}')
        if not re.fullmatch('[SQ][AIYLCHX]', each.get('is', '')):
            wrong.append(f'{number} does not say whether it is safety-related, and of what')
        if not is_there(each.get('where', '')):
            wrong.append(f'{number} is promised in {each.get("where")}, which is not there')
        for test in each.get('tests', ()):
            (part, name, least), state = parsed(test), runs.state(test)
            found = runs.part(part).count(name) if '*' in name and name != '*' and runs.part(part) else 0
            if stage == 'write' and found:
                text = text.replace(f'"{test}"', f'"{part}: {name}' + (f' ({found})"' if found > 1 else '"'))
            # Of PART= of `make check`, what other parts would say is left to them.
            mine = not part.startswith('check ') if stage == 'test' else state != ELSEWHERE or part[6:].split('/')[0] in parts
            count += mine
            if mine and (found and state == UNKNOWN or found > least and exact):
                wrong.append(f'{number}: "{test}" stands for {found} tests: check_requirements.py {file} {build} write')
            elif mine and state == UNKNOWN or (not mine or state == LEFT_OUT) and not is_spelt(name):
                wrong.append(f'{number}: "{test}" is not the name of a test')
            elif mine and state == LEFT_OUT:
                left.append(f'{number}: "{test}"')
            elif mine and state == ELSEWHERE:
                gone.append(part)
            elif mine and state == FAILED:
                wrong.append(f'{number}: "{test}" failed')
    if stage == 'write':
        return pathlib.Path(file).write_text(text) == 0
    wrong += [f'tests: {part} did not run, which has {gone.count(part)} of them' for part in sorted(set(gone))]
    for each in left:
        print(f'     not run here: {each}')
        wrong += [f'{each} is not run here'] if stage == 'check' and os.environ.get('CI') == 'true' else []
    for each in wrong:
        print(f'FAIL requirement {each}')
    if not wrong:
        print(f'ok   {len(requirements)} requirements have their pages, and {count} tests of them their place in this run')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
