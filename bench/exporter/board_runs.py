"""Instructions of a model on a board, counted by an emulator whose clock moves with them."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Dict, List, NamedTuple, Optional

from .cpp import CppWriter
from .program import Program

FOLDER = pathlib.Path(__file__).parent.parent / 'board'  # bench/boards of the project, in the wheel: what starts a board and prints
SECONDS = 120


class Counted(NamedTuple):
    """steps: instructions of run(), by the index of a step. token: those of append() for the last token that the caches take."""

    steps: Dict[int, int]
    token: Optional[int]


def count(board: str, folder: pathlib.Path, program: Program, tokenwise: Optional[Program], surface: str) -> Optional[Counted]:
    """Of the model in a folder, compiled with -O2. None: there is no emulator or compiler, or the board has too little memory."""
    script = ['sh', 'tests/firmware/board.sh']
    if not FOLDER.is_dir() or shutil.which('sh') is None:
        return None
    ask = lambda *arguments: subprocess.run([*script, *arguments], cwd=FOLDER, capture_output=True, text=True)
    compiler, flags = ask('compiler', board).stdout.strip(), ask('flags', board).stdout.split()
    emulator = 'qemu-system-riscv32' if board.startswith('rv') else 'qemu-system-arm'
    if not compiler or shutil.which(compiler) is None or shutil.which(emulator) is None:
        return None
    build = pathlib.Path(tempfile.mkdtemp(prefix='count-', dir=folder)).resolve()
    try:
        (build / 'count.cpp').write_text(counting(program, tokenwise, surface))
        objects = []
        for source in (build / 'count.cpp', folder / ('model.c' if surface == 'c' else 'model.cpp'), folder / 'attend/attend.cpp'):
            objects.append(str(build / (source.stem + '.o')))
            language = [compiler.replace('g++', 'gcc'), '-std=c99'] if source.suffix == '.c' else [compiler, '-std=c++17', '-fno-exceptions', '-fno-rtti']
            made = subprocess.run([*language, *flags, '-O2', '-ffp-contract=off', '-ffunction-sections', '-fdata-sections', '-ffreestanding',
                                   f'-I{FOLDER}/tests/firmware', '-c', str(source.resolve()), '-o', objects[-1]], capture_output=True, text=True)
            if made.returncode:
                return None
        image = str(build / 'count.elf')
        if ask('link', board, image, *objects).returncode:
            return None
        ran = subprocess.run([*script, 'count', board, image], cwd=FOLDER, capture_output=True, text=True,
                             env={**os.environ, 'SECONDS_TO_LIVE': str(SECONDS)})
    finally:
        shutil.rmtree(build)
    steps = {int(index): int(number) for index, number in re.findall(r'^(\d+) (\d+)\r?$', ran.stdout, re.M)}
    token = re.search(r'^token (\d+)\r?$', ran.stdout, re.M)
    return Counted(steps, int(token[1]) if token else None) if ran.returncode == 0 and steps else None


def counting(program: Program, tokenwise: Optional[Program], surface: str) -> str:
    begin, no_error = (f'{program.name}_', 'ATTEND_OK') if surface == 'c' else (f'{program.name}::', 'attend::Status::ok')
    arrays: List[str] = []

    def arguments(of: Program, prefix: str) -> str:
        views = of.inputs + of.outputs
        extents = lambda view: CppWriter.extents([view.count] if surface == 'c' else view.shape)
        arrays.extend(f'{CppWriter.element_type(view)} {prefix}_{i}{extents(view)};\n' for i, view in enumerate(views))
        return ', '.join(f'{prefix}_{i}' for i in range(len(views)))

    whole = arguments(program, 'argument')
    token = ''
    if tokenwise is not None:
        tokens = program.inputs[0].count // tokenwise.inputs[0].count
        token = f'''
  for (int token = 0; token < {tokens - 1}; ++token) (void){begin}append({arguments(tokenwise, 'token')});
  const uint64_t last = firmware::count_instructions([] {{ (void){begin}append({', '.join(f'token_{i}' for i in range(len(tokenwise.inputs + tokenwise.outputs)))}); }});
  firmware::print("token ");
  firmware::print_number(last);
  firmware::print("\\n");'''
    return f'''#include "../model.h"
#include "instructions.h"

namespace {{

{''.join(arrays)}uint64_t begin;

void seen(void*, int step, const void*, size_t, size_t) {{
  const uint64_t instructions = (firmware::counting::ticks() - begin) * (2 * uint64_t(firmware::counting::known_rounds)) / firmware::counting::known_ticks;
  firmware::print_number(uint64_t(step));
  firmware::print(" ");
  firmware::print_number(instructions);
  firmware::print("\\n");
  begin = firmware::counting::ticks();
}}

}}  // namespace

int firmware::run() {{
  if (!start_counting()) return 1;
  begin = counting::ticks();
  if ({begin}run_observed({whole}, seen, nullptr) != {no_error}) return 1;{token}
  return 0;
}}
'''
