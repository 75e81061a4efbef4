"""Makes what people vendor and install Attend with: bench/packages/package.py [--shared-object LIBATTEND.SO, with LIBATTEND.A beside it] [--wasm FOLDER] [--url URL]
[--only NAME] FOLDER

Below FOLDER, each as a folder and as an archive with reproducible bytes: the amalgamation, an Arduino library, a PlatformIO library,
an ESP-IDF component, a Zephyr module, a CMSIS-Pack, a Python wheel and, of --wasm, what `make wasm` writes, an npm package. A package is the files below bench/packages/<its name>
(of the wheel bench/python, of npm bench/javascript), where @NAMES@ are replaced by what description.py says and .in at the end of a name is dropped, and files of the project.
"""
import argparse
import base64
import hashlib
import pathlib
import platform
import re
import shutil
import sys

import archives
import c_to_ctypes
import c_to_js
import description
from amalgamate import amalgamate, self_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / 'bench'
# The shared object asks for memcpy, memset and memmove of no particular version: any glibc from 2.17 on, the oldest with a tag.
SYSTEM = 'manylinux_2_17'


class Packages:
    def __init__(self, shared_object, wasm, url):
        self.words = description.describe(ROOT, url)
        self.version = self.words['VERSION']
        self.wheel_tag = self.words['WHEEL_TAG'] = f'py3-none-{SYSTEM}_{platform.machine()}'
        self.shared_object, self.wasm = shared_object, wasm
        self.single = {name: text.encode() for name, text in amalgamate(ROOT, self.banner('/* ', ' */\n', 'include/attend and src')).items()}

    def banner(self, begin, end, source):
        return f'{begin}Attend {self.version}, made from {source} by `make package`: do not edit.{end}'

    def filled(self, text, **words):
        """A template with its names replaced. A line that asks for a URL goes where there is none."""
        words = {**self.words, **words}
        lines = [line for line in text.splitlines(keepends=True) if words['URL'] or '@URL@' not in line]
        return re.sub(r'@([A-Z_]+)@', lambda name: words[name[1]], ''.join(lines))

    def templates(self, name, **words):
        folder = BENCH / name
        return {str(path.relative_to(folder)).removesuffix('.in'): self.filled(path.read_text(), **words).encode()
                for path in sorted(folder.rglob('*')) if path.is_file() and '__pycache__' not in path.parts}

    def example(self, place, include='attend/attend.h'):
        return {f'{place}/wake.h': self.templates('packages/example', HEADER=include)['wake.h']}

    def self_test(self, place, header=''):
        """The tests of boards as one header, beside the program of `place` that runs them."""
        return {f'{place}/self_test.h': self_test(ROOT, self.banner('// ', '\n', 'tests'), header).encode()}

    def single_below(self, headers, **others):
        """The amalgamation, each file in a folder: attend_cpp='src/' …, and all other headers."""
        return {others.get(name.replace('.', '_'), headers) + name: content for name, content in self.single.items()}

    def amalgamation(self):
        return {**self.single, **description.documents(ROOT)}

    def arduino(self):
        # attend.h lies in a folder, because where upper and lower case are the same it could not lie beside Attend.h.
        return {**self.templates('packages/arduino', **description.household(ROOT)), **self.self_test('examples/SelfTest', '<Attend.h>'),
                'keywords.txt': description.arduino_keywords(ROOT).encode(),
                **self.single_below('src/attend/', attend_c_h='src/', attend_cpp='src/'),
                'src/attend/attend_c.h': b'#include "../attend_c.h"\n', **description.documents(ROOT)}

    def folders(self, name, example, test=''):
        """A package of the folders as they are."""
        return {**self.templates(f'packages/{name}'), **self.example(example), **(self.self_test(test) if test else {}),
                **description.project_files(ROOT), **description.documents(ROOT)}

    def cmsis_pack(self):
        return {**self.templates('packages/cmsis-pack'), **self.example('template', 'attend.h'),
                **self.single_below('include/', attend_cpp='src/'),
                **description.documents(ROOT)}

    def wheel(self):
        files = self.templates('python', GUIDE=description.python_guide(ROOT))
        files.update({f'attend/exporter/{path.name}': path.read_bytes() for path in sorted((BENCH / 'exporter').glob('*.py'))})
        files['attend/_c.py'] = c_to_ctypes.module(ROOT, self.banner('# ', '\n', 'include/attend/attend_c.h and include/attend/c')).encode()
        files['attend/libattend.so'] = self.shared_object.read_bytes()
        files['attend/libattend.a'] = self.shared_object.with_suffix('.a').read_bytes()  # what attend.load links models with
        files.update({f'attend/source/{name}': content for name, content in self.single.items()})  # what attend.export writes beside a model
        for name in ('board.sh', 'start.cpp', 'start_riscv.cpp', 'semihosting.cpp', 'memory.cpp', 'platform.h', 'instructions.h', 'link.ld'):
            files[f'attend/board/tests/firmware/{name}'] = (BENCH / 'boards' / name).read_bytes()  # what it counts instructions by
        files['attend/board/tests/support/sources.sh'] = (ROOT / 'tests/support/sources.sh').read_bytes()
        information = f'attend-{self.version}.dist-info'
        for name in ('METADATA', 'WHEEL'):
            files[f'{information}/{name}'] = files.pop(name)
        files[f'{information}/LICENSE'] = (ROOT / 'LICENSE').read_bytes()
        digest = lambda content: base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        record = [f'{name},sha256={digest(files[name])},{len(files[name])}\n' for name in sorted(files)]
        files[f'{information}/RECORD'] = ''.join([*record, f'{information}/RECORD,,\n']).encode()
        return files

    def npm(self):
        files = self.templates('javascript')
        del files['wasm/memory.cpp']  # of which the modules were made
        files['c.js'] = c_to_js.module(ROOT, self.banner('// ', '\n', 'include/attend/attend_c.h and include/attend/c')).encode()
        files.update({name: (self.wasm / name).read_bytes() for name in ('attend.wasm', 'attend-small.wasm')})
        files['household.bin'] = (ROOT / 'bench/app/model/household.bin').read_bytes()
        files['LICENSE'] = (ROOT / 'LICENSE').read_bytes()
        return files

    def all(self):
        """Folder, archive, the archive's own top folder, and the files of each."""
        version = self.version
        yield 'amalgamation', f'attend-{version}-amalgamation.zip', f'attend-{version}/', self.amalgamation()
        yield 'arduino/Attend', f'attend-{version}-arduino.zip', 'Attend/', self.arduino()
        yield 'platformio', f'attend-{version}-platformio.tar.gz', '', self.folders('platformio', 'examples/wake/src')
        yield 'esp-idf/attend', f'attend-{version}-esp-idf.tar.gz', 'attend/', self.folders('esp-idf', 'examples/wake/main', 'examples/self_test/main')
        yield 'zephyr/attend', f'attend-{version}-zephyr.tar.gz', 'attend/', self.folders('zephyr', 'samples/wake/src', 'samples/self_test/src')
        yield 'cmsis-pack', f'Attend.Attend.{version}.pack', '', self.cmsis_pack()
        if self.shared_object:
            yield 'python', f'attend-{version}-{self.wheel_tag}.whl', '', self.wheel()
        if self.wasm:
            yield 'npm', f'attend-{version}.tgz', 'package/', self.npm()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument('--shared-object', type=pathlib.Path)
    arguments.add_argument('--wasm', type=pathlib.Path)
    arguments.add_argument('--only', help='the folder of one package, without its archive')
    arguments.add_argument('--url', default='', type=lambda url: url.rstrip('/'))
    arguments.add_argument('folder', type=pathlib.Path)
    arguments = arguments.parse_args()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    if not arguments.wasm and not arguments.only:
        print('package: without --wasm there is no npm package; it needs clang and lld', file=sys.stderr)
    if not arguments.url and not arguments.only:
        print('package: without URL= of the project, descriptions name no home page, which registries ask for', file=sys.stderr)
    for folder, archive, top, files in Packages(arguments.shared_object, arguments.wasm, arguments.url).all():
        if arguments.only not in (None, folder):
            continue
        files = description.linked(files, arguments.url)
        for name, content in files.items():
            write((arguments.folder if arguments.only else arguments.folder / folder) / name, content)
        if arguments.only:
            continue
        write(arguments.folder / archive, archives.archived(archive, {top + name: content for name, content in files.items()}))
        print(arguments.folder / archive)


main()
