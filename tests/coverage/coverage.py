"""What the compiled tests reach of include/ and src/: coverage.py FOLDER PROFILE PROGRAM…, by Clang's own tools.

Prints for each file lines, branches and conditions (MC/DC) that were reached, and the lines that were not; FOLDER/coverage.json
has the sums. Templates count as one where any of their instances was reached.
"""
import json
import pathlib
import subprocess
import sys


def exported(profile, programs, *options):
    objects = [word for program in programs[1:] for word in ('-object', program)]
    command = ['llvm-cov-22', 'export', programs[0], *objects, '-instr-profile', profile, *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def ours(path):
    """A path below the project's folder, or nothing."""
    path = str(path).removeprefix(str(pathlib.Path.cwd()) + '/')
    return path if path.startswith(('include/', 'src/')) else ''


def ranges(numbers):
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ' '.join(f'{first}' if first == last else f'{first}-{last}' for first, last in found)


def main():
    folder, profile, *programs = sys.argv[1:]
    counts, missed, name = {}, {}, ''
    for file in json.loads(exported(profile, programs, '-summary-only'))['data'][0]['files']:
        if ours(file['filename']):
            counts[ours(file['filename'])] = {kind: file['summary'][kind] for kind in ('lines', 'branches', 'mcdc')}
    for line in exported(profile, programs, '-format=lcov').splitlines():
        kind, _, rest = line.partition(':')
        if kind == 'SF':
            name = ours(rest)
        elif kind == 'DA' and name and rest.split(',')[1] == '0':
            missed.setdefault(name, []).append(int(rest.split(',')[0]))
    share = lambda count: f'{100 * count["covered"] / count["count"]:.1f}' if count['count'] else '-'
    print(f'{"":54} {"lines":>7} {"branches":>9} {"MC/DC":>6}  lines that were not reached')
    for file in sorted(counts):
        print(f'{file:54} {share(counts[file]["lines"]):>7} {share(counts[file]["branches"]):>9} {share(counts[file]["mcdc"]):>6}  {ranges(missed.get(file, []))}'.rstrip())
    total = {kind: {key: sum(each[kind][key] for each in counts.values()) for key in ('count', 'covered')} for kind in ('lines', 'branches', 'mcdc')}
    print(f'{"all":54} {share(total["lines"]):>7} {share(total["branches"]):>9} {share(total["mcdc"]):>6}')
    pathlib.Path(folder, 'coverage.json').write_text(json.dumps({'files': len(counts), **total}, indent=1, sort_keys=True) + '\n')


main()
