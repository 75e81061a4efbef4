"""What a page of the guide tells its readers to type, typed as they would: blocks of sh, and below each what its last command prints."""
import os
import pathlib
import re
import subprocess
import sys

import attend

MARK = '---- the last command'


def blocks(page, section):
    """[(language, lines)] of a section."""
    text = pathlib.Path(page).read_text().split(f'\n## {section}\n')[1].split('\n## ')[0]
    return [(language, lines.rstrip('\n').split('\n')) for language, lines in re.findall(r'^```(\w+)\n(.*?)^```', text, re.M | re.S)]


def project(where):
    """The project's folders with a `build` of its own, in which there is already what takes long: the package, and the boards' library."""
    (where / 'build/packages').mkdir(parents=True)
    (where / 'bin').mkdir()
    pathlib.Path('build/boards').mkdir(parents=True, exist_ok=True)
    for link, target in (*((each, each) for each in ('bench', 'include', 'src', 'tests')), ('build/boards', 'build/boards'),
                         ('build/packages/python', pathlib.Path(attend.__file__).parents[1])):
        (where / link).symlink_to(pathlib.Path(target).resolve())
    for name, line in (('make', '[ "$*" = package ]'), ('python3', f'exec {sys.executable} "$@"')):
        (where / 'bin' / name).write_text(f'#!/bin/sh\n{line}\n')
        (where / 'bin' / name).chmod(0o755)
    return {**{name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}, 'PATH': f'{(where / "bin").resolve()}:{os.environ["PATH"]}'}


def check_receipts_page(ok, where):
    """The ten minutes of receipts: all is equal; then, with a fault, its block and the last two commands again."""
    (_, first), (_, equal), (_, fault), (_, named) = blocks('include/guide/receipts.md', 'Ten minutes')
    environment = project(where)
    before = [line for line in first if line.startswith('export ')]
    for what, commands, expected, status in (('all receipts are equal', first, equal, 0), ('a fault is named', [*before, *fault, *first[-2:]], named, 1)):
        script = '\n'.join(['set -e', *commands[:-1], f"echo '{MARK}'", commands[-1]])
        done = subprocess.run(['sh', '-c', script], cwd=where, env=environment, capture_output=True, text=True)
        printed = done.stdout.split(f'{MARK}\n')[-1].rstrip('\n').split('\n')
        ok(f'the page of receipts, typed as it stands: {what}', (printed, done.returncode) == (expected, status),
           f'status {done.returncode}, {printed[-3:]}; expected {expected}; {done.stderr[-300:]}')
