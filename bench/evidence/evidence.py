"""Writes what is known about the library: evidence.py BUILD FOLDER, from the project's top folder.

FOLDER gets index.html, evidence.json, MANIFEST and sbom.spdx.json: the same bytes for the same sources and runs. Nothing is measured here: rows
have what `make test`, `make check` and other commands have left in BUILD, and what pages of results hold; each names the command that
repeats it, and says so where its figures are missing.
"""
import hashlib
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

sys.path.insert(0, 'tests/scripts')
from check_requirements import ELSEWHERE, FAILED, LEFT_OUT, PASSED, UNKNOWN, Runs, load

MISSING, STATED, STALE = 'missing', 'stated', 'of other files'
STATES = (FAILED, UNKNOWN, MISSING, STALE, ELSEWHERE, LEFT_OUT, STATED, PASSED)  # the worst comes first


# Commands whose folder in build/ says which files they have read.
OTHER_RUNS = {'coverage': 'coverage', 'proofs': 'proofs', 'rules': 'rules', 'thread-sanitizer': 'races', 'fuzz-depth': 'fuzz'}
# Rows that pass only where these have read the files that are here.
ROWS_OF = {'Stack': ['make test'], 'Bits': ['make test', 'make check'], 'Error bound': ['make test'], 'Requirements': ['make test', 'make check'], 'No allocation, no recursion': ['make test'], 'Fuzzing': ['make check'],
           'Fuzzing at depth': ['make fuzz-depth'], 'Threads': ['make thread-sanitizer'], 'Coverage': ['make coverage'], 'Proofs': ['make proofs'], 'MISRA C++:2023': ['make rules'], 'Complexity': ['make rules'],
           'Memory': ['make check'], 'Sizes': ['make check'], 'Targets and compilers': ['make check']}

# Tool, use, what an error of it would hide, what would notice it.
COMPILED = 'code that computes something else', 'digests of two other compilers, at other levels, and the definition, which shares no code'
CROSS = COMPILED[0], 'the same digests as other targets, and on a part `make board-tests`; of Arm boards Clang and the vendor builds of `make targets` too'
EMULATED = 'an instruction that the emulator has otherwise than the processor', 'digests of other targets; `make board-tests` on a part'
TOOLS = (('g++', 'library and tests', *COMPILED), ('clang++', 'the same; sanitizers, fuzzers', *COMPILED), ('arm-none-eabi-g++', 'boards, sizes, stack frames', *CROSS),
         ('riscv64-unknown-elf-g++', 'boards', *CROSS), ('qemu-arm', 'Linux targets', *EMULATED), ('qemu-system-arm', 'boards', *EMULATED), ('qemu-system-arm', 'counted instructions', 'a count that is not the processor\'s', 'nothing here: a cycle counter on a part'),
         ('clang++-22', 'coverage, rules', 'a line that no test reaches', 'mutants: `make mutants`'), ('cppcheck', 'rules', 'a departure from a guideline', 'mistakes that `make rules` plants'), ('gappa', 'roundings of 2^f', 'a bound that does not hold', 'every float: `make proofs`'),
         ('sollya', 'polynomials beside functions', 'the same', 'the same'), ('python3', 'this page, scripts of checks', 'a check that finds nothing', 'mistakes that scripts plant before they look'))


def worst(states):
    found = set(states)
    return next((state for state in STATES if state in found), MISSING)


def table(path, heading=''):
    """The first table below a heading of a page, or of the page, as rows of cells."""
    lines = pathlib.Path(path).read_text().split(f'\n## {heading}\n' if heading else '\n', 1)[1].split('\n## ')[0].split('\n')
    first = next(number for number, line in enumerate(lines) if line.startswith('|'))
    rows = []
    for line in lines[first:]:
        if not line.startswith('|'):
            break
        rows.append([cell.strip().replace('\\|', '|') for cell in re.split(r'(?<!\\)\|', line.strip().strip('|'))])
    return [rows[0], *rows[2:]]


def columns(rows, *names):
    at = [next(i for i, cell in enumerate(rows[0]) if cell.startswith(name)) for name in names]
    return [[row[i] for i in at] for row in rows]


# How a requirement is verified: by running code, or, of these parts, by looking at sources, objects and graphs of calls.
ANALYSES = ('symbols', 'stack', 'wrong_code', 'unsafe_math', 'rooms', 'pages', 'check tiles', 'check clang/windows', 'check types', 'check release')
OF = {'A': 'attention', 'I': 'integers', 'Y': 'layers', 'L': 'linear attention', 'C': 'C surface', 'H': 'hosted', 'X': 'around the library'}


def kind(each):
    methods = {'analysis' if test['name'].split(': ')[0] in ANALYSES else 'test' for test in each['tests']}
    return f'{"safety-related" if each["is"][0] == "S" else "not safety-related"}, {OF[each["is"][1]]}, by {" and ".join(sorted(methods))}'


class Evidence:
    def __init__(self, build):
        self.runs = Runs(build)
        self.requirements = [{'number': number, **each, 'tests': [{'name': test, 'state': self.runs.state(test)} for test in each['tests']]}
                             for number, each in load('tests/requirements.toml')]
        self.rows = []
        self.files = subprocess.run(['sh', 'tests/support/files.sh'], capture_output=True, text=True).stdout.strip()
        runs = {'make test': self.runs.build / 'parts', 'make check': self.runs.rest / 'log', 'make targets': self.runs.build / 'targets/log', **{f'make {name}': pathlib.Path('build') / folder for name, folder in OTHER_RUNS.items()}}
        self.read = {run: ELSEWHERE if not (folder / 'files').exists() else PASSED if (folder / 'files').read_text().strip() == self.files else STALE for run, folder in runs.items()}

    def add(self, name, state, says, command, page, rows=()):
        if state == PASSED:
            state = worst([PASSED, *(self.read[run] for run in ROWS_OF.get(name, ()))])
        self.rows.append({'name': name, 'state': state, 'says': says, 'command': command, 'page': page, 'table': list(rows)})

    def log(self, part):
        path = self.runs.build / 'parts' / part / 'log'
        return path.read_text(errors='replace') if path.exists() else ''

    def stack(self):
        found = re.findall(r'^ok   -O2: (.*?): (\d+) bytes of stack, (\d+) promised$', self.log('stack'), re.M)
        found += [(f'{what}, {name}', needed, promised) for what, name, promised, needed in
                  re.findall(r'^ok   -O2: (.*) to (ATTEND_\w+), (\d+): .* takes (\d+)$', self.log('stack'), re.M)]
        self.add('Stack', FAILED if re.search('^FAIL', self.log('stack'), re.M) else PASSED if found else ELSEWHERE, 'The most stack of each kind of call on this machine at -O2, by the frames that the compiler reports, beside what the headers promise. Boards: Sizes.',
                 'make lib && LEVELS=-O2 sh tests/scripts/check_stack.sh g++ build/g++-O2', 'include/guide/assumptions.md#stack', [['call', 'bytes', 'promised'], *sorted(map(list, found))])

    def bits(self):
        digests = pathlib.Path('tests/conformance/digests.inc').read_bytes()
        rows = [['what', 'digests'], ['committed digests, tests/conformance/digests.inc', f'{digests.count(b"DIGEST(")}'], ['its SHA-256', f'`{hashlib.sha256(digests).hexdigest()}`']]
        backends = re.search(r'^backends: (.*); active', self.log('unit'), re.M)
        rows += [[f'this machine: {backends[1] if backends else "make test has not run"}', self.runs.state('unit: committed digests*')],
                 ['the same with emulated instruction sets of x86', self.runs.state('emulated: committed digests*')], ['another compiler: Clang', self.runs.state('check clang/unit: committed digests*')]]
        rows += [[name, state] for name, state in self.targets()]
        self.add('Bits', worst(row[1] for row in rows if row[1] in STATES), 'One table of digests is compared on every backend and target.', 'make test && make targets', 'include/guide/exactness.md#the-same-bits-everywhere', rows)

    def files_and_tools(self):
        """Whether what is read here is of the files that are here, and the tools that made it."""
        self.add('Files', worst(self.read.values()), f'What each command has read: one hash of sources, tests and pages, {self.files[:16]}… now.', 'make evidence RUN=1', 'tests/support/files.sh',
                 [['command', 'its files are those of this page'], *[[f'`{run}`', state] for run, state in self.read.items()]])
        tools = []
        for name, use, hides, notices in TOOLS:
            try:
                said = subprocess.run([name, '--version'], capture_output=True, text=True)
                version = next(line for line in (said.stdout + said.stderr).splitlines() if line.strip())
            except (OSError, StopIteration):
                version = LEFT_OUT
            tools.append([f'`{name}`', version, use, hides, notices])
        self.add('Tools', STATED, 'What results rest on, and what would notice an error of it. No tool is qualified, and none has a level of confidence; linkers and assemblers are those of the compilers.', 'sh .ci/run', 'bench/evidence/evidence.py', [['tool', 'version', 'for what', 'what an error of it would hide', 'what would notice'], *tools])

    def targets(self):
        """[(target, state of its tests)], from requirements."""
        tests = [(test['name'].partition(': ')[0][14:], test['state']) for each in self.requirements for test in each['tests'] if test['name'].startswith('check targets/')]
        return [(name, worst(state for other, state in tests if other == name)) for name in sorted({name for name, _ in tests})]

    def fuzz_depth(self):
        folder = pathlib.Path('build/fuzz')
        asked = {target: 10**8 if target == 'attention' else 10**7 for target in ('attention', 'integers', 'layers', 'states', 'c_surface', 'gguf', 'household', 'safetensors', 'onnx')}
        ran = {target: sum(json.loads(path.read_text())['executions'] for path in folder.glob(f'{target}.*.json')) for target in asked}
        found = {target for target in asked if any(folder.glob(f'{target}.*.input'))}
        states = [FAILED if target in found else PASSED if ran[target] >= asked[target] else ELSEWHERE for target in asked]
        self.add('Fuzzing at depth', worst(states), 'Small problems beside the definition and the model, saved states with damaged bytes, problems of C that are changed, and files: executions that found nothing.', 'make fuzz-depth',
                 'tests/README.md#sizes', [['what', 'executions', 'asked for', 'result'], *[[target, f'{ran[target]:,}', f'{asked[target]:,}', state] for target, state in zip(asked, states)]])

    def of_group(self, *groups):
        return worst(test['state'] for each in self.requirements if each['number'].split('.')[0] in groups for test in each['tests'] if not test['name'].startswith('check '))

    def collect(self):
        sizes, accuracy = 'bench/speed/results/sizes.md', 'bench/speed/results/accuracy.md'
        size = self.runs.part('check size')  # of boards that it took, it says whether pages still hold
        size = STATED if size is None else FAILED if size.failed else PASSED
        self.files_and_tools()
        self.stack()
        self.add('Memory', size, 'Nothing is allocated: sizeof of caches, workspaces and states is the whole bill. RAM of three models, in bytes.', 'make size', f'{sizes}#ram-of-three-models', table(sizes, 'RAM of three models'))
        self.add('Sizes', size, 'Flash, static RAM and stack of prefill and decode, float32, one head of 32, in bytes. The figures of the page, which make size wrote and holds to limits.', 'make size', f'{sizes}#plain-calls',
                 columns(table(sizes, 'Plain calls'), 'target', 'flash -Os', 'flash -O2', 'static RAM', 'stack -Os', 'stack -O2'))
        self.bits()
        self.add('Error bound', self.of_group('errors'), 'A formula for every input, derived on paper, and the tests that try to contradict it on this machine. The worst inputs that a search found, beside it, are published figures: make bound SECONDS=3600.', 'make test',
                 'include/guide/exactness.md#for-every-input', table(accuracy, 'The worst inputs that were found'))
        named = [each for each in self.requirements if each['number'].startswith('memory.') and re.search('alloc|undefined|initialiser|itself|stack|C library', each['says'])]
        self.add('No allocation, no recursion', worst(test['state'] for each in named for test in each['tests']), 'By the symbols of the objects, the graph of calls, and a trap for allocations.',
                 'LEVELS=built sh tests/scripts/check_symbols.sh g++ build/g++-O2; LEVELS=-O0 sh tests/scripts/check_stack.sh g++ build/g++-O2', 'README.md#attend',
                 [['requirement', 'says', 'result'], *[[each['number'], each['says'], worst(test['state'] for test in each['tests'])] for each in named]])
        self.add('Targets and compilers', worst(state for _, state in self.targets()), 'What is tested, what was tried, what was never run; what of it ran last on this machine: Bits.', 'make check && make targets', 'include/guide/targets.md#what-is-tested',
                 [['', 'what', 'command'], *table('include/guide/targets.md', 'What is tested')[1:]])
        fuzz = self.runs.part('check clang/fuzz')
        self.add('Fuzzing', ELSEWHERE if fuzz is None else FAILED if fuzz.failed else PASSED, 'Random problems by libFuzzer: every backend beside scalar code, the definition and the oracle; integers; inputs of the C surface, with sanitizers.',
                 'make fuzz CXX=clang++ FUZZ_SECONDS=600', 'tests/README.md#sizes', [['what has run'], *[[each] for each in sorted(fuzz.passed)]] if fuzz else ())
        self.fuzz_depth()
        self.add('Threads', PASSED if pathlib.Path('build/races/files').exists() else ELSEWHERE, 'Calls in parts, of states, teams and layers, and first calls of a program, under ThreadSanitizer.', 'make thread-sanitizer', 'include/guide/threads.md')
        mutants = pathlib.Path('build/mutants/result.txt')
        self.add('Mutation', STATED if mutants.exists() else ELSEWHERE, 'Random mistakes in include and src, one at a time: which do the tests not find?', 'make mutants N=300', 'tests/README.md#tests',
                 [['the last run'], [mutants.read_text().strip()]] if mutants.exists() else ())
        covered, proved = pathlib.Path('build/coverage/coverage.json'), pathlib.Path('build/proofs/log')
        kinds = json.loads(covered.read_text()) if covered.exists() else {}
        kinds = kinds if 'exceptions' in kinds else {}  # or of an older run
        named = (('lines', 'lines'), ('branches', 'branches'), ('conditions (MC/DC)', 'mcdc'))
        is_open = any(each['reason'].startswith('Open') for each in kinds.get('exceptions', ()))
        missing = [kinds[kind]['count'] - kinds[kind]['covered'] - kinds[kind]['excepted'] for _, kind in named] if kinds else []
        compiled = {os.path.normpath(word) for rule in covered.parent.rglob('*.d') for word in rule.read_text().split()}
        self.add('Coverage', (FAILED if any(missing) else STATED if is_open else PASSED) if kinds else ELSEWHERE, 'What the compiled tests reach of include and src in the form of hosts, with emulated instruction sets of x86, '
                 'in the form of boards, with floats by software, and as small code of 32 bits, all on this machine; templates count as one. What is not reached is an exception with a reason and what shows it, below, or missing.', 'make coverage', 'tests/coverage/exceptions.toml',
                 [['', 'reached', 'of', '%', 'exceptions', 'missing']] + [[name, f'{kinds[kind]["covered"]}', f'{kinds[kind]["count"]}', f'{100 * kinds[kind]["covered"] / kinds[kind]["count"]:.1f}', f'{kinds[kind]["excepted"]}', f'{left}']
                                                                        for (name, kind), left in zip(named, missing)]
                 + [[f'{each["reason"]} Shown by: {each["shown"]}. {each["uses"]} in {each["places"]} places.'] for each in kinds['exceptions']]
                 + [['Compiled by none of these programs, and so in no number above: ' + ', '.join(f'`{file}`' for file in sources() if file not in compiled) + '.']] if kinds else ())
        lines = proved.read_text().splitlines() if proved.exists() else []
        self.add('Proofs', (FAILED if any(line.startswith('FAIL') for line in lines) else PASSED) if lines else ELSEWHERE,
                 'Polynomials beside their functions by Sollya, the roundings of 2^f by Gappa; the same commands try functions of one float on every float. The derivation of the error bound is on paper.',
                 'make proofs && make every-float', 'src/guide/arithmetic.md#the-error-bound', [['what was proved'], *[[line[5:]] for line in lines]] if lines else ())
        self.rules()
        self.add('Assumptions of use', STATED, 'What has to hold around a call, who looks at it, and what happens otherwise.', 'make test', 'include/guide/assumptions.md',
                 table('include/guide/assumptions.md'))
        self.add('Not there', MISSING, 'What an assessor will ask and nobody has made.', 'none', 'tests/README.md#tests', [['what', 'so that whoever takes the library plans it'],
                 ['a level of integrity, safety requirements, an analysis of failures and of common causes', 'they are the integrator\'s; the page of assumptions has what stands against each failure'],
                 ['a review from outside', 'who writes code and tests also reviews them; no body has certified anything; there are no plans of safety and verification, no records of reviews or competence, no history in the field'],
                 ['runs on silicon', 'boards are emulated: `make board-tests` on the part, with its flags, is a condition of use (A18)'], ['coverage of the kernels of other processors, and of object code', 'it is of x86, by Clang: the row Coverage says which files it leaves out. Digests and tests of these run under emulators'],
                 ['a bound of linear attention in integers for every input', 'its errors are measured, over 3,000 tokens'], ['instructions in the worst case of floats, and in integers of all but plain attention; an analysis of worst cases without a fit', 'counts of pages are means; see the page on time'],
                 ['combinations of configurations', 'each macro has its own tests; compilers that were never run are named on the page of targets'],
                 ['evidence of a subset', 'rows here are of all files; the MANIFEST of what `make vendor` copies names the requirements of its parts, whose tests ran on all']])


    def rules(self):
        """Of MISRA C++:2023, what make rules holds to its file."""
        rules, log = tomllib.loads(pathlib.Path('tests/rules/rules.toml').read_text()), pathlib.Path('build/rules/log')
        log, followed, places = log.read_text() if log.exists() else '', rules['followed'], lambda each: ', '.join(f'{place} {count}' if count else place for place, count in each['where'].items())
        rows = [[number, each['is'], each['why'], places(each), ', '.join(sorted({check.split(' ')[0] for check in each['by']}))] for number, each in rules['deviations'].items()]
        rows += [['MISRA C:2012', 'headers of the C surface', rules['c2012']['why'], places(rules['c2012']), 'cppcheck']]
        rows += [[entry.split(' ')[0].replace(',', ', '), 'followed', entry.split(' ', 1)[1], '', 'reading'] for entry in followed['by_reading']]
        rows += [[entry.split(' ')[0].replace(',', ', '), 'followed', f'`{entry.split(" ", 2)[2]}`', '', entry.split(' ')[1]] for entry in followed['by_tool']]
        self.add('MISRA C++:2023', (FAILED if 'FAIL' in log else PASSED) if log else ELSEWHERE, f'No compliance is claimed: {len(rules["deviations"])} guidelines of 179 have deviations, which nobody outside has approved, and nobody here has '
                 'a certified checker. Embedded form and surfaces; numbers and categories from public tables. What tools found, or only people have read.', 'make rules', 'tests/rules/rules.toml',
                 [['guideline', 'what', 'why, and what controls it', 'times, where', 'seen by'], *rows])
        kinds, above = rules['functions']['limits'], rules['functions']['above']
        self.add('Complexity', (FAILED if 'FAIL' in log else PASSED) if log else ELSEWHERE, 'Functions of include/attend and src, in the forms of x86, AArch64 and three boards, as clang-tidy counts: '
                 + ', '.join(f'{kind} up to {most}' for kind, most in kinds.items()) + ', but for these. Recursion: two constant functions, see 8.2.10 above; no goto.', 'make rules', 'tests/rules/rules.toml',
                 [['function', 'cognitive complexity', 'lines', 'nesting'], *sorted(([at, *(str(each.get(kind, '')) for kind in kinds)] for at, each in above.items()), key=lambda row: -int(row[1] or 0))])


def sources():
    return sorted(str(path) for top in ('include', 'src') for path in pathlib.Path(top).rglob('*') if path.suffix in ('.h', '.c', '.cpp', '.inc'))


def marked(text, folder):
    """A cell of a page as HTML: code, links, emphasis. Links of pages are found from build/evidence."""
    text = html.escape(text, quote=False)
    text = re.sub(r'`([^`]+)`', r'<code>\1</code>', text)
    text = re.sub(r'\*\*(.+?)\*\*', r'<b>\1</b>', text)
    return re.sub(r'\[([^\]]+)\]\(([^)\s]+)\)', lambda link: link[0] if ':' in link[2] else f'<a href="../../{where(folder, link[2])}">{link[1]}</a>', text)


def where(page, target):
    path, _, anchor = target.partition('#')
    place = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    return f'{place}#{anchor}' if anchor else place


def coloured(state):
    return f'<span class="{"good" if state == PASSED else "bad" if state in STATES[:3] else "other"}">{state}</span>'


def as_table(rows, page):
    if len(rows) < 2:
        return ''
    cell = lambda text: coloured(text) if text in STATES else marked(text, page)
    head = ''.join(f'<th>{marked(text, page)}</th>' for text in rows[0])
    cells = lambda row: ''.join(f'<td>{cell(text)}</td>' for text in row) if len(row) > 1 else f'<td colspan="{len(rows[0])}"><div>{cell(row[0])}</div></td>'
    body = '\n'.join(f'<tr>{cells(row)}</tr>' for row in rows[1:])
    return f'<div class="table{" cards" if len(rows[0]) < 4 else ""}"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>\n'


def page_of(data):
    anchor = lambda name: re.sub('[^a-z]+', '-', name.lower())
    rows = data['rows']
    summary = [['evidence', 'state', 'command that repeats it']] + [[f'[{row["name"]}](#{anchor(row["name"])})', row['state'], f'`{row["command"]}`'] for row in rows]
    parts = [f'<h1>Attend {data["version"]}: evidence</h1>',
             f'<p>What is known about version {data["version"]}, bits version {data["bits_version"]}, from what commands have measured; the sources are those of <a href="MANIFEST">MANIFEST</a> '
             f'(SHA-256 {data["manifest"][:16]}…), the bill of materials is <a href="sbom.spdx.json">sbom.spdx.json</a>, and the data of this page <a href="evidence.json">evidence.json</a>. '
             '<q>Passed</q> is what the last run on this machine saw; <q>stated</q> stands on a page, from an earlier run or by nature; <q>not run here</q> is what this machine lacks a program or '
             'a processor for; <q>not run yet</q> is what the command would tell; <q>missing</q> is what nobody has made.</p>',
             as_table(summary, 'index').replace('../../index#', '#')]
    for row in rows:
        parts.append(f'<h2 id="{anchor(row["name"])}">{row["name"]}</h2>\n<p>{coloured(row["state"])}. {html.escape(row["says"])} <a href="../../{row["page"]}">{row["page"]}</a></p>\n'
                     f'<p><code>{html.escape(row["command"])}</code></p>')
        parts.append(as_table(row['table'], row['page'].split('#')[0]))
        if row['name'] == 'Requirements':
            for group in dict.fromkeys(each['number'].split('.')[0] for each in data['requirements']):
                tests = lambda each: '<br>'.join(f'{coloured(test["state"])} <code>{html.escape(test["name"])}</code>' for test in each['tests'])
                lines = '\n'.join(f'<tr id="{each["number"]}"><td>{each["number"]}</td><td>{html.escape(each["says"])} <i>{kind(each)}</i> <a href="../../{each["where"]}">{each["where"]}</a></td><td>{tests(each)}</td></tr>'
                                  for each in data['requirements'] if each['number'].startswith(group + '.'))
                parts.append(f'<h3>{group}</h3>\n<div class="table cards"><table><thead><tr><th></th><th>says; what it is, of what, how it is verified; where it is promised</th><th>tests</th></tr></thead><tbody>\n{lines}\n</tbody></table></div>\n')
    style = pathlib.Path('bench/site/style.css').read_text() + '''
main { max-width: var(--wide); margin: 0 auto; } .bad { color: light-dark(#a3160a, #ff9d92); font-weight: 620; } .good { color: light-dark(#0a6636, #8fd6a5); } .other { color: var(--soft); }
td code, td a { overflow-wrap: anywhere; } .table:not(.cards) td:first-child code { white-space: nowrap; } span { white-space: nowrap; } .cards th { white-space: normal; } main td[colspan] { max-width: none; } td div { max-width: calc(100vw - 3rem); } @media (min-width: 40.01rem) { tr[id] td:nth-child(2) { width: 50%; } }
@media (max-width: 40rem) { .cards thead { display: none; } .cards :is(table, tbody, tr, td) { display: block; } main .cards td { min-width: 0; max-width: none; position: static; border: 0; padding: .15rem 0; }
  .cards tr { border-bottom: 1px solid var(--line); padding: .6rem 0; } .cards td:first-child { font-weight: 620; box-shadow: none !important; } }'''
    return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Attend: evidence</title>\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="color-scheme" content="light dark">\n<style>\n{style}\n</style>\n</head>\n<body>\n<main>\n' + '\n'.join(parts) + '\n</main>\n</body>\n</html>\n')


def main():
    build, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    defined = dict(re.findall(r'#define ATTEND_(\w+) (\d+)', pathlib.Path('include/attend/core/version.h').read_text()))
    version = '.'.join(defined[f'VERSION_{part}'] for part in ('MAJOR', 'MINOR', 'PATCH'))
    files = ['LICENSE', *sources()]
    manifest = ''.join(f'{hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()}  {file}\n' for file in files)
    (folder / 'MANIFEST').write_text(manifest)
    evidence = Evidence(build)
    states = [worst(test['state'] for test in each['tests']) for each in evidence.requirements]
    tests = [test['state'] for each in evidence.requirements for test in each['tests']]
    evidence.add('Requirements', worst(states), f'{len(states)} promises of the pages, {sum(each["is"][0] == "S" for each in evidence.requirements)} of them safety-related, with {len(tests)} tests that were chosen to go red when one is broken, which was tried for 55 promises, and what became of these in the last run: '
                 + ', '.join(f'{tests.count(state)} {state}' for state in reversed(STATES) if state in tests) + '.', 'make test && make check', 'tests/requirements.toml')
    evidence.collect()
    commit = subprocess.run(['git', 'rev-parse', 'HEAD'], capture_output=True, text=True).stdout.strip()
    data = {'version': version, 'bits_version': defined['BITS_VERSION'], 'files': evidence.files, 'commit': commit, 'manifest': hashlib.sha256(manifest.encode()).hexdigest(), 'rows': evidence.rows, 'requirements': evidence.requirements}
    (folder / 'evidence.json').write_text(json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + '\n')
    (folder / 'index.html').write_text(page_of(data))
    made = subprocess.run(['git', 'log', '-1', '--format=%ct'], capture_output=True, text=True).stdout.strip() or '0'
    with open(folder / 'sbom.spdx.json', 'w') as file:
        subprocess.run(['sh', 'bench/packages/spdx.sh', folder, version], stdout=file, check=True, env={**os.environ, 'SOURCE_DATE_EPOCH': os.environ.get('SOURCE_DATE_EPOCH', made), 'FILES': '.'})
    print(f'{folder}/index.html: {len(evidence.rows)} rows, {sum(row["state"] == MISSING for row in evidence.rows)} of them missing')


if __name__ == '__main__':
    main()
