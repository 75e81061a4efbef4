"""What every package says of the project, once: its name, its version (from include/attend/core/version.h alone), its files."""
import pathlib
import posixpath
import re
import struct

NAME = 'Attend'
SENTENCE = 'Transformer attention without allocation or dependencies, with the same bits on every processor'
PARAGRAPH = ('Self- and cross-attention, key/value caches, projections, normalisation and rotary positions for C++17 and C, from '
             'Cortex-M0+ to AVX-512: memory known at compile time, no run-time library, and integer attention without floats.')
KEYWORDS = ['attention', 'transformer', 'inference', 'kv-cache', 'machine-learning', 'embedded', 'simd']


def files(root, *patterns):
    return sorted(str(path.relative_to(root)) for pattern in patterns for path in root.glob(pattern) if path.is_file())


def describe(root, url):
    """What templates may name between @ and @."""
    version = (root / 'include/attend/core/version.h').read_text()
    number = lambda part: re.search(rf'^#define ATTEND_VERSION_{part} (\d+)$', version, re.M)[1]
    sources = files(root, 'src/*/*.cpp')
    return {
        'NAME': NAME,
        'VERSION': '.'.join(number(part) for part in ('MAJOR', 'MINOR', 'PATCH')),
        'SENTENCE': SENTENCE,
        'PARAGRAPH': PARAGRAPH,
        'KEYWORDS': ', '.join(KEYWORDS),
        'KEYWORD_LIST': ', '.join(f'"{word}"' for word in KEYWORDS),
        'AUTHORS': re.search(r'^Copyright \(c\) \d+ (.*)$', (root / 'LICENSE').read_text(), re.M)[1],
        'URL': url,
        'URL_OR_NOTHING': url,
        'URL_FOLDER': url and f'{url}/',
        'DOCUMENTS': document_entries(root),
        'SOURCES': '\n'.join(f'    "src/{source[4:]}"' for source in sources),
        'SOURCES_ABOVE': '\n'.join(f'    "../src/{source[4:]}"' for source in sources),
    }


def project_files(root):
    """Everything that takes part in compiling the library, in the places where it lies: what vendors copy."""
    return {path: (root / path).read_bytes()
            for path in files(root, 'include/attend/*.h', 'include/attend/*/*.h', 'src/*/*.cpp', 'src/*/*.h', 'src/*/*/*.h')}


def household(root):
    """The model of household commands as C: the numbers that its header has, and its bytes."""
    model = (root / 'bench/app/model/household.bin').read_bytes()
    assert model[:8] == b'ATHM0001'  # weights of 8 bits
    names = ('dim', 'hidden_dim', 'layers', 'heads', 'kv_heads', 'pieces', 'seq_len', 'first_letter', 'first_word', 'text_bytes')
    numbers = struct.unpack_from(f'<{len(names)}i', model, 8)
    lines = [','.join(map(str, model[at:at + 40])) for at in range(0, len(model), 40)]
    return {'MODEL_NUMBERS': '\n'.join(f'  household_{name} = {number},' for name, number in zip(names, numbers)),
            'MODEL_BYTES': ',\n'.join(lines)}


def python_guide(root):
    """The page for users of Python, from what a call looks like on: how it is installed is what its readers know."""
    return (root / 'include/guide/python.md').read_text().split('\n\n', 2)[2].rstrip()


def arduino_keywords(root):
    """The names of the C surface, as Arduino's editor colours them: types, functions and constants, a tab between a name and its kind."""
    headers = files(root, 'include/attend/attend_c.h', 'include/attend/c/*.h', 'include/attend/core/version.h')
    text = re.sub(r'/\*.*?\*/', '', ''.join((root / header).read_text() for header in headers), flags=re.S)
    kinds = {'KEYWORD1': r'(?:typedef [^{};]*|\}) (attend_\w+);', 'KEYWORD2': r'ATTEND_API [^;()]*?\b(attend_\w+)\(',
             'LITERAL1': r'\b(ATTEND_(?!API\b)[A-Z0-9_]+(?<!_H))\b'}
    return ''.join(f'{name}\t{kind}\n' for kind, names in kinds.items() for name in sorted(set(re.findall(names, text))))


def documents(root):
    """The licence and the pages that users read, in the places where they lie."""
    paths = files(root, 'LICENSE', 'README.md', 'include/guide/*.md', 'include/guide/*.svg', 'bench/speed/results/*.md', 'bench/speed/results/*.svg')
    return {path: (root / path).read_bytes() for path in paths}


def document_entries(root):
    kinds = {'.md': 'doc', '.svg': 'image'}
    return '\n'.join(f'        <file category="{kinds[pathlib.PurePath(path).suffix]}" name="{path}"/>'
                     for path in documents(root) if path != 'LICENSE')


def linked(held, url):
    """The files of a package, with links from its pages to what it does not hold: they lead to the project, or are words alone."""
    folders = {str(folder) for name in held for folder in pathlib.PurePosixPath(name).parents}

    def relinked(page, link):
        text, target = link.groups()
        path, _, anchor = target.partition('#')
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if ':' in target or place in held or place in folders:
            return link[0]
        return f'[{text}]({url}/blob/HEAD/{place}{"#" * bool(anchor)}{anchor})' if url else text

    return {name: re.sub(r'(?<!!)\[([^\]]*)\]\(([^)\s]+)\)', lambda link: relinked(name, link), content.decode()).encode()
            if name.endswith('.md') else content for name, content in held.items()}
