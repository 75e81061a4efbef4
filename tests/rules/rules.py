"""Counts where the embedded form and the surfaces depart from MISRA C++:2023, and holds rules.toml to it: rules.py FOLDER [write]

From the project's top folder. What the tools find in the files of include/attend (without hosted) and src that the compiler takes for the targets
below must be what rules.toml says of each folder: nothing else, and nothing that is no longer there. `write` makes today's counts those of the file.
Each check of a guideline that is followed must find the mistake that planted.cpp has for it. Functions of all of include/attend and src, in the
forms of hosts and boards, that are more complex than the file's limits are those that it names.
FOLDER gets log.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

FILE, PLANTED = 'tests/rules/rules.toml', 'tests/rules/planted.cpp'
BOARD = '-std=c++17 -Os -Iinclude --target=arm-none-eabi -nostdlibinc -nostdinc++ -ffreestanding -fno-exceptions'
TARGETS = [f'{BOARD} -mcpu=cortex-{each}'.split() for each in ('m0plus', 'm4 -mfloat-abi=hard', 'm55 -mfloat-abi=hard')]
WHOLE = '-std=c++17 -O2 -Iinclude'.split()
# Calls of the C++ surface, whose templates show some conversions only when they are used.
HOST = '-std=c++17 -Iinclude -I. -DATTEND_EMBEDDED=1 -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS -isystem build/doctest/usr/include -w'.split()
PROGRAMS = [f'tests/typed/test_{each}.cpp' for each in ('surface', 'score_options', 'layers', 'linear_attention', 'integer', 'states', 'typed_caches')]
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')', re.S)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


def places(said, text):
    return {(os.path.relpath(file), int(line), int(column)) for file, line, column in re.findall(rf'^([^\s:]+):(\d+):(\d+): {said}', text, re.M)}


def ours(file):
    return file.startswith(('include/attend/', 'src/')) and '/hosted/' not in file


class Tools:
    """What each check, a tool and what it is asked for, finds: {check: {(file, line, column)}}."""
    def __init__(self, checks, folder):
        self.asked, self.folder = collections.defaultdict(list), folder
        for tool, what in sorted(check.split(' ', 1) for check in checks):
            self.asked[tool].append(what)

    def queries(self, source, flags):
        script, asked = self.folder / 'queries', self.asked['query']
        script.write_text('set output diag\n' + ''.join(f'set traversal {"IgnoreUnlessSpelledInSource" if each[0] == "=" else "AsIs"}\nmatch {each.split(" ~ ")[0].lstrip("=")}\n' for each in asked))
        said = re.split(r'^\d+ match(?:es)?\.$', run('clang-query-22', '-f', script, source, '--', *flags), flags=re.M)
        if len(said) != len(asked) + 1:
            sys.exit(f'{source}: clang-query-22 does not take "{asked[len(said) - 1]}": {said[-1].strip()[-300:]}')
        found = {}
        for each, text in zip(asked, said):
            reads = re.compile(each.partition(' ~ ')[2])
            found[f'query {each}'] = {at for at in places('note: "root" binds here', text) if reads.match(pathlib.Path(at[0]).read_text().split('\n')[at[1] - 1], at[2] - 1)}
        return found

    def warnings(self, source, flags):
        text = run('clang++-22', '-fsyntax-only', *flags, '-Wno-everything', *(flag for each in self.asked['warning'] for flag in each.split()), source)
        found = {f'warning {each}': set().union(*(places(rf'warning: .*\[{flag}\]', text) for flag in each.split())) for each in self.asked['warning']}
        text = run('clang-tidy-22', '--quiet', '--header-filter=.*', '--checks=-*,' + ','.join(self.asked['tidy']), source, '--', '-w', *flags)
        return found | {f'tidy {each}': set().union(*(places(rf'warning: .*\[{check}[],]', text) for check in each.split(','))) for each in self.asked['tidy']}

    def texts(self, files):
        """Expressions over texts without comments: `code` also without what is in strings, `header` of headers alone."""
        found = collections.defaultdict(set)
        for file in files:
            text = COMMENTS.sub(lambda part: part[1] or '', pathlib.Path(file).read_text())
            for tool, each in [(tool, each) for tool in ('text', 'code', 'header') for each in self.asked[tool] if tool != 'header' or file.endswith('.h')]:
                found[f'{tool} {each}'] |= {(file, 0, hit.start()) for hit in re.finditer(each, COMMENTS.sub('""', text) if tool == 'code' else text, re.M)}
        return found


def large_functions(sources, limits):
    """What clang-tidy counts above the limits: {"file function": {kind: the most of any form}}."""
    options = {'readability-function-cognitive-complexity': {'Threshold': limits['complexity'], 'DescribeBasicIncrements': False},
               'readability-function-size': {'LineThreshold': limits['lines'], 'NestingThreshold': limits['nesting'], 'StatementThreshold': 'none'}}
    config = json.dumps({'CheckOptions': {f'{check}.{name}': str(value).lower() for check, each in options.items() for name, value in each.items()}})
    found, at = collections.defaultdict(dict), ''
    for source, flags in [(source, flags) for source in sources for flags in (WHOLE, WHOLE + ['--target=aarch64-linux-gnu'], *TARGETS)]:
        text = run('clang-tidy-22', '--quiet', '--header-filter=.*', f'--config={config}', '--checks=-*,' + ','.join(options), source, '--', '-w', *flags)
        if 'error:' in text:
            sys.exit(text[-300:])
        for file, name, *numbers in re.findall(r"^([^\s:]+):\d+:\d+: (?:warning: function '([^'<]*)|note: )(?:.* has cognitive complexity of (\d+)|(\d+) lines including|nesting level (\d+) starts)?", text, re.M):
            at = f'{os.path.relpath(file)} {name}' if name else at
            found[at] |= {kind: max(int(number), found[at].get(kind, 0)) for kind, number in zip(limits, numbers) if number}
    return {at: {kind: each[kind] for kind in limits if kind in each} for at, each in sorted(found.items()) if each and ours(at)}


def folder_of(file):
    return '/'.join(file.split('/')[:2 if file[0] == 's' or file.count('/') == 2 else 3])


def main():
    folder, absent = pathlib.Path(sys.argv[1]), [each for each in ('clang++-22', 'clang-query-22', 'clang-tidy-22', 'cppcheck') if not shutil.which(each)]
    if absent:
        sys.exit(f'{", ".join(absent)} not found: apt-get install clang-22 clang-tools-22 clang-tidy-22 cppcheck')
    folder.mkdir(parents=True, exist_ok=True)
    text = pathlib.Path(FILE).read_text()
    data, wrong, lines = tomllib.loads(text), [], []
    followed, deviations = dict(entry.split(' ', 1) for entry in data['followed']['by_tool']), data['deviations']
    numbers = [number for group in [*followed, *(entry.split(' ')[0] for entry in data['followed']['by_reading']), *deviations] for number in group.split(',')]
    wrong += [f'{len(numbers)} guidelines, {len(set(numbers))} of them different, but there are 179'] if (len(numbers), len(set(numbers))) != (179, 179) else []
    tools = Tools({*followed.values(), *(check for each in deviations.values() for check in each['by'] if check != 'reading')}, folder)

    one, found, taken = folder / 'all.cpp', collections.defaultdict(set), set()
    halves = {folder / f'{top}.cpp': ''.join(f'#include "{path.absolute()}"\n' for path in sorted(pathlib.Path(top).rglob(what)) if 'hosted' not in path.parts) for top, what in (('src', '*.cpp'), ('include', '*.h'))}
    for path, text_of in [*halves.items(), (one, ''.join(halves.values()))]:
        path.write_text(text_of)
    looks = [tools.queries(program, HOST) for program in PROGRAMS]
    for flags in TARGETS:
        looks += [tools.queries(one, flags), tools.warnings(one, flags)]
        taken |= {os.path.relpath(name) for name in run('clang++-22', '-M', *flags, one).split() if name.endswith(('.h', '.cpp'))}
    for look in [*looks, tools.texts(filter(ours, sorted(taken)))]:
        for check, at in look.items():
            found[check] |= {place for place in at if ours(place[0])}
    in_c = folder / 'c.c'
    in_c.write_text(''.join(f'#include "{path}"\n' for path in ['attend/attend_c.h', *sorted(str(path)[8:] for path in pathlib.Path('include/attend/c').glob('*.h'))]))
    found['c2012'] = collections.Counter(re.findall(r'^include/.*\[misra-c2012-([\d.]+)\]', run('cppcheck', '--addon=misra', '--std=c99', '-q', '-Iinclude', in_c), re.M))
    planted = tools.queries(PLANTED, HOST[:2]) | tools.warnings(PLANTED, HOST[:2]) | tools.texts([PLANTED])

    for numbers_of, check in followed.items():
        wrong += [f'{numbers_of}: {file}:{line}: {check}' for file, line, _ in sorted(found[check])[:3]]
        wrong += [] if any(place[0] == PLANTED for place in planted[check]) else [f'{numbers_of}: {check} does not find what {PLANTED} has for it']
    for number, each in [*deviations.items(), ('c2012', {**data['c2012'], 'is': "findings of cppcheck's MISRA C:2012 in the C surface's headers"})]:
        at = set().union(*(found[check] for check in each.get('by', ())))
        now = found['c2012'] if number == 'c2012' else each['where'] if each['by'] == ['reading'] else collections.Counter(folder_of(place[0]) for place in at)
        wrong += [f'{number}: {place}: {now.get(place, 0)} found, {each["where"].get(place, 0)} in {FILE}' for place in sorted({*now, *each['where']}) if now.get(place, 0) != each['where'].get(place, 0)]
        lines.append(f'     {number}: {sum(now.values()) or "not counted"}, {each["is"]}')
        counts = ', '.join(f'"{place}" = {count}' for place, count in sorted(now.items()))
        text = re.sub(rf'(?ms)(^(?:"{re.escape(number)}" = |\[{number}\]).*?\bwhere = {{)[^}}]*', lambda part: part[1] + counts, text, count=1)
    large = large_functions(halves, data['functions']['limits'])
    wrong += [f'{at}: {large.get(at)}, {data["functions"]["above"].get(at)} in {FILE}' for at in sorted({*large, *data['functions']['above']}) if large.get(at) != data['functions']['above'].get(at)]
    rows = ', '.join(f'"{at}" = {{{", ".join(f"{kind} = {number}" for kind, number in each.items())}}}' for at, each in large.items())
    text = re.sub(r'(?<=\nabove = {).*(?=}\n)', lambda _: rows, text)
    if 'write' in sys.argv[2:]:
        pathlib.Path(FILE).write_text(text)
    lines += [f'FAIL {each}' for each in wrong] or [f'ok   179 guidelines of MISRA C++:2023: {len(deviations)} with deviations, all where {FILE} says; the others are followed; {len(large)} functions are large, those that it names']
    (folder / 'log').write_text('\n'.join(lines) + '\n')
    print('\n'.join(lines))
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
