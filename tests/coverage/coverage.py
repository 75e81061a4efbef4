"""What the compiled tests reach of include/ and src/: coverage.py FOLDER PROGRAM…, by Clang's own tools; beside each
program lies its .profile.

All programs and all instances of a template count as one: a line, a side of a branch is reached when one of them reaches it, and a condition
decides (MC/DC) when two runs through its decision, in whichever instances, differ in it and in the result and in no other condition. Sides that
are constant in every instance are not counted, nor are conditions that each instance knows. tests/coverage/exceptions.toml has what need not be reached, with the reason; what is missing beyond it
is printed and fails, and so does an exception that nothing needs. FOLDER/coverage.json has the sums, the exceptions and what is missing.
"""
import collections
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tomllib

KINDS = {'lines': 'lines', 'branches': 'branches', 'mcdc': 'conditions (MC/DC)'}
EXCEPTIONS = 'tests/coverage/exceptions.toml'


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
                    reached['branches'][key] = reached['branches'].get(key, False) or not count.endswith(': 0')


def decides(vectors, condition):
    """Whether two of [(conditions, result)] differ in the result, in this condition, and in no other that both have asked."""
    def differ_in_it_alone(one, other):
        return one[1] != other[1] and None not in (one[0][condition], other[0][condition]) and one[0][condition] != other[0][condition] and all(
            None in (a, b) or a == b or i == condition for i, (a, b) in enumerate(zip(one[0], other[0])))
    return any(differ_in_it_alone(*pair) for pair in itertools.combinations(vectors, 2))


def decisions(exported, vectors, places):
    """From an export: of each decision {(conditions, result)} of its runs, and of each file where conditions stand."""
    for file in json.loads(exported)['data'][0]['files']:
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
    reached, asked, vectors, places = {kind: {} for kind in KINDS}, set(), collections.defaultdict(set), collections.defaultdict(set)
    for program in programs:
        lines_and_branches(told(program, 'show', '-show-branches=count', *(f'{pathlib.Path.cwd()}/{room}' for room in ('include', 'src'))), reached, asked)
        decisions(told(program, 'export', '-skip-expansions', '-skip-functions'), vectors, places)
    conditions(vectors, places, asked, reached)
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
    for (file, line), what in sorted(missing.items()):
        print(f'FAIL {file}:{line}: {"; ".join(what)}')
    unneeded = [place for each in exceptions for place, uses in each.uses.items() if not uses]
    for each in unneeded:
        print(f'FAIL {EXCEPTIONS}: nothing needs {each}')
    for kind, name in KINDS.items():
        each = sums[kind]
        print(f'{name}: {each["covered"]} of {each["count"]} reached, {100 * each["covered"] / each["count"]:.1f} %; {each["excepted"]} are exceptions, '
              f'{each["count"] - each["covered"] - each["excepted"]} are missing')
    rows = [{'reason': each.reason, 'places': len(each.uses), 'uses': sum(each.uses.values())} for each in exceptions]
    data = {**sums, 'exceptions': rows, 'missing': [f'{file}:{line}: {"; ".join(what)}' for (file, line), what in sorted(missing.items())]}
    pathlib.Path(folder, 'coverage.json').write_text(json.dumps(data, indent=1, sort_keys=True) + '\n')
    print(f'{len(exceptions)} exceptions in {sum(len(each.uses) for each in exceptions)} places')
    sys.exit(bool(missing or unneeded or len(exceptions) > 60))


main()
