"""A folder of `attend export` as a shared object: what model.h declares, and the compiler of this machine."""
import ctypes
import filecmp
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
from typing import Any, Dict, List, NamedTuple, Tuple

from ._shared import AttendError

FLAGS = '-std=c++17 -O2 -fPIC -ffp-contract=off -fvisibility=hidden -fno-exceptions -fno-rtti'.split()
C_FLAGS = '-std=c99 -O2 -fPIC -ffp-contract=off -fvisibility=hidden'.split()
LIBRARY_FILES = ('attend.cpp', 'attend.h', 'attend_c.h')
FILES = ('model.h', 'model.cpp', 'self_test.cpp', 'attend/attend.h', 'attend/attend_c.h', 'attend/layers.h', 'attend/attend.cpp')
CODES = {'float': 'f', 'int8_t': 'b', 'int16_t': 'h', 'int32_t': 'i', 'uint8_t': 'B'}
_in_use: Dict[pathlib.Path, int] = {}  # shared objects of this process


class Parameter(NamedTuple):
    """An array of run() or append()."""
    name: str
    code: str
    shape: Tuple[int, ...]
    is_input: bool

    def declared(self) -> str:
        kind = next(kind for kind, code in CODES.items() if code == self.code)
        return ('const ' if self.is_input else '') + f'{kind} (*){"".join(f"[{size}]" for size in self.shape)}'


class Interface(NamedTuple):
    name: str
    run: List[Parameter]
    append: List[Parameter]  # none where the model is no decoder
    appends_silently: bool


def interface_of(folder: pathlib.Path) -> Interface:
    """What model.h declares."""
    if (folder / 'model.c').is_file():
        raise AttendError(f'{folder} is a model in C; attend.load takes one that was exported without --surface c')
    missing = [each for each in FILES if not (folder / each).is_file()]
    if missing:
        raise AttendError(f'{folder} has no {missing[0]}; expected a folder that `python3 -m attend export` has written, with {", ".join(FILES)}')
    text = ' '.join(re.sub('//.*', '', (folder / 'model.h').read_text(errors='replace')).split())
    name, run = re.search(r'namespace (\w+) \{', text), _declared(text, 'run')
    if name is None or not run:
        raise AttendError(f'{folder}/model.h declares no run(); expected the file that `python3 -m attend export` has written')
    append = _declared(text, 'append')
    return Interface(name[1], run[0], append[0] if append else [], len(append) > 1)


def _declared(text: str, function: str) -> List[List[Parameter]]:
    """The parameters of each function of that name; of append() there is one without outputs too, which comes second."""
    found = []
    for parameters in re.findall(rf'attend::Status {function}\(([^;]*)\);', text):
        arrays = re.findall(r'(const )?(\w+) \(&(\w+)\)((?:\[\d+\])+)', parameters)
        if len(arrays) != parameters.count('(&') or not arrays or any(kind not in CODES for _, kind, _, _ in arrays):
            raise AttendError(f'model.h declares {function}({parameters}), which this version of the package does not understand: export the '
                              'model again')
        sizes = lambda shape: tuple(map(int, re.findall(r'\d+', shape)))
        found.append([Parameter(name, CODES[kind], sizes(shape), bool(const)) for const, kind, name, shape in arrays])
    return found


def compiler() -> List[str]:
    """CXX= of the environment, else c++, g++ or clang++."""
    given = shlex.split(os.environ.get('CXX', ''))
    if given:
        if shutil.which(given[0]) is None:
            raise AttendError(f'CXX is {given[0]!r}, which was not found; expected a C++ compiler')
        return given
    for name in ('c++', 'g++', 'clang++'):
        if shutil.which(name):
            return [name]
    raise AttendError('there is no C++ compiler; expected c++, g++ or clang++, or CXX= of the environment (Debian: apt-get install g++)')


def glue(interface: Interface) -> str:
    """A source with functions that ctypes can call: of pointers to arrays."""
    name = interface.name

    def call(function: str, parameters: List[Parameter], suffix: str = '') -> str:
        arrays = ', '.join(f'*static_cast<{each.declared()}>(arrays[{i}])' for i, each in enumerate(parameters))
        return f'VISIBLE int exported_{function}{suffix}(void* const* arrays) {{ return int({name}::{function}({arrays})); }}\n'

    text = f'''// Made by attend.load: do not edit.
#include "../model.h"

#define VISIBLE extern "C" __attribute__((visibility("default")))

int {name}_self_test();
VISIBLE int exported_self_test() {{ return {name}_self_test(); }}
VISIBLE const char* exported_status_text(int status) {{
  if (status == int(attend::Status::bad_count)) return "a number is no row of the table that it is looked up in";
  return attend::status_text(attend::Status(status));
}}
VISIBLE size_t exported_memory_bytes() {{ return {name}::memory_bytes; }}
''' + call('run', interface.run)
    if interface.append:
        text += f'VISIBLE size_t exported_token_memory_bytes() {{ return {name}::token_memory_bytes + sizeof({name}::Caches); }}\n'
        text += f'VISIBLE void exported_clear() {{ {name}::clear(); }}\n' + call('append', interface.append)
    if interface.appends_silently:
        text += call('append', [each for each in interface.append if each.is_input], '_silently')
    return text


def library_object(folder: pathlib.Path) -> pathlib.Path:
    """The library: this package's own, where the folder has the sources that it was made of and CXX= has no flags, which could change how structs
    lie; otherwise in folder/build, compiled where it is missing or older than its source."""
    package = pathlib.Path(__file__).parent
    archive = package / 'libattend.a'
    sources = [(folder / 'attend' / each, package / 'source' / each) for each in LIBRARY_FILES]
    flags = [word for word in shlex.split(os.environ.get('CXX', '')) if word.startswith('-')]
    if archive.is_file() and not flags and all(filecmp.cmp(*pair, shallow=False) for pair in sources):
        return archive
    library = folder / 'build/shared_attend.o'
    if is_older(library, [source for source, _ in sources]):
        compile_to(library, [*FLAGS, '-c', str(folder / 'attend/attend.cpp')])
    return library


def shared_object(folder: pathlib.Path, interface: Interface) -> pathlib.Path:
    """Its path; compiled where it is missing or older than a source."""
    build = folder / 'build'
    result, source, text = build / f'lib{interface.name}.so', build / 'shared_model.cpp', glue(interface)
    try:
        build.mkdir(exist_ok=True)
        library = library_object(folder)
        if not source.is_file() or source.read_text() != text:
            source.write_text(text)
        if is_older(result, [library, source, *(folder / each for each in FILES[:3])]):
            compile_to(result, [*FLAGS, '-shared', *map(str, (source, folder / 'model.cpp', folder / 'self_test.cpp', library))])
    except OSError as error:
        raise AttendError(f'{build}: the model cannot be compiled into this folder: {error.strerror}') from error
    return result


def is_older(made: pathlib.Path, sources: List[pathlib.Path]) -> bool:
    return not made.exists() or any(source.stat().st_mtime > made.stat().st_mtime for source in sources)


def compile_to(to: pathlib.Path, arguments: List[str]) -> None:
    """The file appears when it is whole."""
    command, part = compiler(), to.with_name(f'{to.name}.{os.getpid()}')
    try:
        done = subprocess.run([*command, *arguments, '-o', str(part)], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors='replace')
        if done.returncode or not part.exists():
            lines = '\n'.join((done.stderr or done.stdout).strip().split('\n')[:8])
            raise AttendError(f'{" ".join(command)} does not compile the model (exit code {done.returncode}):\n{lines}')
        os.replace(part, to)
    finally:
        part.unlink(missing_ok=True)


def opened(path: pathlib.Path) -> Any:
    """Each time with memory of its own: a shared object that this process has opened already is opened as a copy."""
    path = path.resolve()
    count = _in_use[path] = _in_use.get(path, 0) + 1
    try:
        if count == 1:
            return ctypes.CDLL(str(path))
        with tempfile.NamedTemporaryFile(suffix='.so') as copy:
            shutil.copyfile(path, copy.name)
            return ctypes.CDLL(copy.name)
    except OSError as error:
        raise AttendError(f'{path} cannot be opened: remove its folder, and load the model again ({error})') from error
