"""What the compiled tests reach of include/ and src/: coverage.py FOLDER PROGRAM…, by Clang's own tools; beside each
program lies its .profile. With AT_MOST=lines,branches,conditions in the environment so many may be missing: they are listed in FOLDER/missing.

All programs and all instances of a template count as one: a line, a side of a branch is reached when one of them reaches it, and a condition
decides (MC/DC) when two runs through its decision, in whichever instances, differ in it and in the result and in no other condition. Sides that
are constant in every instance are not counted, nor are conditions that each instance knows. tests/coverage/exceptions.toml has what need not be reached, with the reason; what is missing beyond it
is printed and fails, and so does an exception that nothing needs. FOLDER/coverage.json has the sums, the exceptions and what is missing.
"""
import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

KINDS = {'lines': 'lines', 'branches': 'branches', 'mcdc': 'conditions (MC/DC)'}
EXCEPTIONS, MOST_PLACES = 'tests/coverage/exceptions.toml', 60


def told(program, verb, *options):
    command = ['llvm-cov-22', verb, program, '-instr-profile', f'{program}.profile', *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def ours(path):
    """A path below the project's folder, or nothing."""
    path = path.removeprefix(f'{pathlib.Path.cwd()}/')
    return path if path.startswith(('include/', 'src/')) else ''


def lines_and_branches(text, reached, asked):
    """From the sources with counts beside their lines: {kind: {(file, line, what): whether reached}}, and conditions that an instance asks."""
    name = ''
    for line in text.splitlines():
        if line.startswith('/') and line.endswith(':'):
            name = ours(line[:-1])
        elif name and (found := re.match(r'(?:  \|)? *(\d+)\| *([0-9.kMGTPE]+)\| *(?!//|#|$| )', line)):
            key = name, int(found[1]), ''
            reached['lines'][key] = reached['lines'].get(key, False) or found[2] != '0'
        elif name and (found := re.match(r'(?:  \|)? *\|  Branch \((\d+):(\d+)\): \[(.*), (.*)\]$', line)):
            if 'Folded' not in line:
                asked.add((name, int(found[1]), int(found[2])))
            for side, count in (('true', found[3]), ('false', found[4])):
                if count != 'Folded':
                    key = name, int(found[1]), f'{found[2]}: never {side}'
                    reached['branches'][key] = reached['branches'].get(key, False) or not count.endswith((': 0', ': 18.4E'))  # below 0


def decides(vectors, condition):
    """Whether two of [(conditions, result)] differ in the result, in this condition, and in no other that both have asked."""
    def differ_in_it_alone(one, other):
        return one[1] != other[1] and None not in (one[0][condition], other[0][condition]) and one[0][condition] != other[0][condition] and all(
            None in (a, b) or a == b or i == condition for i, (a, b) in enumerate(zip(one[0], other[0])))
    return any(differ_in_it_alone(*pair) for pair in itertools.combinations(vectors, 2))


class Code:
    """What the regions of functions say of lines. Clang gives a function that nothing calls its body alone, with each line of it that the
    preprocessor leaves out; and the line behind an `if constexpr` that holds has the count of the side that is discarded."""
    def __init__(self):
        self.compiled, self.left_out, self.behind, self.functions = set(), set(), set(), {}

    def read(self, functions):
        for function in functions:
            files, regions = [ours(name) for name in function['filenames']], function['regions']
            body, has_code = regions[0], function['count'] > 0 or len(regions) > 1
            if name := files[body[5]]:
                self.functions[name, body[0], body[2]] = self.functions.get((name, body[0], body[2]), False) or has_code
            of_kind = lambda kind: [each for each in regions if each[7] == kind and files[each[5]]]
            lines = lambda some: {(files[each[5]], line) for each in some for line in range(each[0], each[2] + 1)}
            if has_code:
                self.left_out |= (out := lines(each for each in of_kind(2) if each[1] == 1))
                self.compiled |= lines(of_kind(0)) - out
                begins = {(each[5], each[0], each[1]) for each in of_kind(0)}
                if function['count'] > 0:
                    self.behind.update((files[each[5]], each[2]) for each in of_kind(3) if each[4] == 0 and (each[5], *each[2:4]) not in begins)

    def uncounted(self):
        """Lines of which no count is true: those that no program has code of, which the preprocessor leaves out of every copy, or which only
        constant expressions call, and those behind an `if constexpr`."""
        yield from self.left_out - self.compiled
        yield from self.behind
        for (name, first, last), has_code in self.functions.items():
            if not has_code and is_constexpr(pathlib.Path(name).read_text().splitlines(), first - 1):
                yield from ((name, line) for line in range(first, last + 1))


def is_constexpr(source, line):
    """Whether the function whose body begins in this line is declared constexpr."""
    declared = source[line]
    while line > 0 and source[line - 1].strip() and not re.search(r'[;{}>:]$|^ *[#/]', source[line - 1]):
        line, declared = line - 1, source[line - 1] + declared
    return re.search(r'\bconstexpr\b[^{]*\(', declared)


def decisions(data, vectors, places):
    """From an export: of each decision {(conditions, result)} of its runs, and of each file where conditions stand."""
    for file in data['files']:
        if name := ours(file['filename']):
            places[name].update(tuple(branch[:2]) for branch in file['branches'] if branch[8] == 6)
            for record in file['mcdc_records']:
                seen = vectors[name, *record[:4], len(record[9])]
                seen.update((tuple(each['conditions']), each['result']) for each in record[10] if each['executed'])


def conditions(vectors, places, asked, reached):
    for (file, line, column, last, end, count), seen in vectors.items():
        here = sorted(place for place in places[file] if (line, column) <= place < (last, end))
        if len(here) == count:
            for i, place in enumerate(here):
                if (file, *place) in asked:
                    reached['mcdc'][file, place[0], f'{place[1]}: decides nothing'] = decides(seen, i)
        else:  # a fold over arguments, whose conditions stand in one place
            key = file, line, f'{column}: decides nothing'
            reached['mcdc'][key] = reached['mcdc'].get(key, False) or any(decides(seen, i) for i in range(count))


class Exception_:
    """A row of the file of exceptions, which says what it is."""
    def __init__(self, row, files):
        self.reason, self.kinds = row['reason'], row.get('kinds', list(KINDS))
        self.shown = row['shown'] if not self.reason.startswith('Open') else 'not yet'
        self.uses, self.lines = dict.fromkeys(row['places'], 0), collections.defaultdict(list)
        for place in row['places']:
            file, text = place.split(': ', 1)
            has = re.compile(text).search if file == '*' else lambda line: text == '*' or text in line
            for path in files if file == '*' else {file} & files:
                for line in self.stretches(pathlib.Path(path).read_text().splitlines(), has):
                    self.lines[path, line].append(place)

    @staticmethod
    def stretches(source, has):
        for start, line in enumerate(source):
            if not has(line):
                continue
            end, indent = start, len(line) - len(line.lstrip())
            if 'switch (' in line:  # of which no case is left out
                yield start + 1
                continue
            while end + 1 < len(source) and not re.sub(r' *//.*', '', source[end]).endswith(('{', ';', '}')):
                end += 1
            if re.sub(r' *//.*', '', source[end]).endswith('{'):
                while end + 1 < len(source) and not re.match(f' {{{indent}}}}}', source[end]):
                    end += 1
            yield from range(start + 1, end + 2)

    def takes(self, kind, file, line):
        places = self.lines.get((file, line), ()) if kind in self.kinds else ()
        for place in places:
            self.uses[place] += 1
        return bool(places)


def main():
    folder, *programs = sys.argv[1:]
    reached, asked, vectors, places, code = {kind: {} for kind in KINDS}, set(), collections.defaultdict(set), collections.defaultdict(set), Code()
    for program in programs:
        lines_and_branches(told(program, 'show', '-show-branches=count', *(f'{pathlib.Path.cwd()}/{room}' for room in ('include', 'src'))), reached, asked)
        data = json.loads(told(program, 'export', '-skip-expansions'))['data'][0]
        decisions(data, vectors, places)
        code.read(data['functions'])
    conditions(vectors, places, asked, reached)
    for name, line in code.uncounted():
        if not reached['lines'].get((name, line, ''), True):
            del reached['lines'][name, line, '']
    files = {key[0] for key in reached['lines']}
    exceptions = [Exception_(row, files) for row in tomllib.loads(pathlib.Path(EXCEPTIONS).read_text())['exception']]
    missing, sums = collections.defaultdict(list), {}
    for kind, all_of in reached.items():
        excepted = 0
        for (file, line, what), is_reached in all_of.items():
            if is_reached:
                continue
            if any([each.takes(kind, file, line) for each in exceptions]):
                excepted += 1
            else:
                missing[file, line].append(what or 'not reached')
        sums[kind] = {'count': len(all_of), 'covered': sum(all_of.values()), 'excepted': excepted}
    listed = [f'{file}:{line}: {"; ".join(what)}' for (file, line), what in sorted(missing.items())]
    unneeded = [place for each in exceptions for place, uses in each.uses.items() if not uses]
    places_count = sum(len(each.uses) for each in exceptions)
    limits = dict(zip(KINDS, map(int, os.environ['AT_MOST'].split(',')))) if 'AT_MOST' in os.environ else None
    if limits:  # some of the programs: the rest is missed for want of tests
        pathlib.Path(folder, 'missing').write_text('\n'.join([*listed, '']))
        failures = [f'{name}: {left} are missing, {limits[kind]} were: which is new? {folder}/missing' for kind, name in KINDS.items()
                    if (left := sums[kind]['count'] - sums[kind]['covered'] - sums[kind]['excepted']) > limits[kind]]
    else:
        failures = listed + [f'{EXCEPTIONS}: nothing needs {each}' for each in unneeded]
        failures += [f'{EXCEPTIONS}: {places_count} places, at most {MOST_PLACES} may be'] if places_count > MOST_PLACES else []
    for each in failures:
        print(f'FAIL {each}')
    for kind, name in KINDS.items():
        each = sums[kind]
        print(f'{name}: {each["covered"]} of {each["count"]} reached, {100 * each["covered"] / each["count"]:.1f} %; {each["excepted"]} are exceptions, '
              f'{each["count"] - each["covered"] - each["excepted"]} are missing')
    rows = [{'reason': each.reason, 'shown': each.shown, 'places': len(each.uses), 'uses': sum(each.uses.values())} for each in exceptions]
    data = {**sums, 'exceptions': rows, 'missing': listed}
    pathlib.Path(folder, 'coverage.json').write_text(json.dumps(data, indent=1, sort_keys=True) + '\n')
    print(f'{len(exceptions)} exceptions in {places_count} places')
    sys.exit(bool(failures))


main()
