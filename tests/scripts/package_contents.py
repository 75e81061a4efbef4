"""What lies in the packages below a folder: tests/scripts/package_contents.py FOLDER [URL], from the project's top folder. URL: the home
page that descriptions name.

Prints a line for each thing that was looked at, as the scripts beside it do.
"""
import base64
import email
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree
import zipfile

packages = pathlib.Path(sys.argv[1])
url = sys.argv[2] if len(sys.argv) > 2 else ''
numbers = re.findall(r'^#define ATTEND_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$', pathlib.Path('include/attend/core/version.h').read_text(), re.M)
version = '.'.join(numbers)


def check(right, what, found=''):
    print(f'ok   {what}' if right else f'FAIL {what}: {found}')


def contents(archive):
    if archive.name.endswith('.tar.gz'):
        with tarfile.open(archive) as tar:
            return {entry.name: tar.extractfile(entry).read() for entry in tar}
    with zipfile.ZipFile(archive) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def archive_of(folder, name, top):
    files = {str(path.relative_to(packages / folder)): path.read_bytes() for path in (packages / folder).rglob('*') if path.is_file()}
    archive = packages / name
    held = contents(archive) if archive.exists() else {}
    check(held == {top + path: content for path, content in files.items()} and files, f'{name} is the folder {folder}', 'it differs')
    check(any(path.endswith('LICENSE') for path in files), f'{folder}: a licence', 'none')
    left = [path for path, content in files.items() if re.search(rb'@[A-Z_]+@', content) and not path.endswith(('.md', '.so', '.a'))]
    check(not left, f'{folder}: no name of a template is left', left)
    return {path: content.decode(errors='replace') for path, content in files.items()}


def one_source():
    files = archive_of('amalgamation', f'attend-{version}-amalgamation.zip', f'attend-{version}/')
    for name in ('attend.h', 'attend_c.h', 'layers.h', 'attend.cpp'):
        first = files[name].splitlines()[0]
        check(f'Attend {version}, made from' in first, f'{name} says what it was made from', first)
        included = re.findall('^#include "(.*)"', files[name], re.M)
        check(set(included) <= {'attend_c.h': set(), 'attend.h': {'attend_c.h'}, 'layers.h': {'attend.h'}, 'attend.cpp': {'attend_c.h', 'attend.cpp'}}[name],
              f'{name} includes attend_c.h alone, attend.cpp itself, or nothing', included)


def arduino():
    files = archive_of('arduino/Attend', f'attend-{version}-arduino.zip', 'Attend/')
    properties = dict(line.split('=', 1) for line in files['library.properties'].splitlines())
    missing = [key for key in ('name', 'version', 'author', 'maintainer', 'sentence', 'paragraph', 'category', 'url', 'architectures', 'includes')
               if key not in properties]
    check(not missing, 'library.properties has every field', missing)
    check(properties['version'] == version, 'library.properties: the version', properties['version'])
    check(properties['url'] == url, 'library.properties: the home page', properties['url'])
    kinds = dict(line.split('\t') for line in files['keywords.txt'].splitlines())
    declared = set(re.findall(r'^ATTEND_API .*?(\w+)\(', files['src/attend_c.h'], re.M))
    check(declared and declared == {name for name, kind in kinds.items() if kind == 'KEYWORD2'}, 'keywords.txt: every function', declared)
    some = {'attend_problem': 'KEYWORD1', 'attend_cache': 'KEYWORD1', 'attend_status': 'KEYWORD1', 'ATTEND_OK': 'LITERAL1', 'ATTEND_ALIGNMENT': 'LITERAL1'}
    check(some.items() <= kinds.items(), 'keywords.txt: types and constants', set(some.items()) - set(kinds.items()))
    check(f'src/{properties["includes"]}' in files, 'library.properties: the header that it names exists', properties['includes'])
    sketches = [path for path in files if path.endswith('.ino')]
    check(sketches and all(path.split('/')[-2] + '.ino' == path.split('/')[-1] for path in sketches), 'a sketch is named as its folder', sketches)


def platformio():
    files = archive_of('platformio', f'attend-{version}-platformio.tar.gz', '')
    manifest = json.loads(files['library.json'])
    check(manifest['version'] == version, 'library.json: the version', manifest['version'])
    check(manifest.get('repository', {}).get('url', '') == url, 'library.json: the repository', manifest.get('repository'))
    example = manifest['examples'][0]
    named = [f'{manifest["build"]["includeDir"]}/{manifest["headers"]}', *(f'{example["base"]}/{name}' for name in example['files'])]
    check(all(path in files for path in named), 'library.json: the files that it names exist', named)


def esp_idf():
    files = archive_of('esp-idf/attend', f'attend-{version}-esp-idf.tar.gz', 'attend/')
    fields = dict(re.findall(r'^(\w+): *"?(.*?)"?$', files['idf_component.yml'], re.M))
    links = {'url': url, 'repository': f'{url}.git', 'documentation': f'{url}/blob/HEAD/README.md'} if url else {}
    expected = {'version': version, 'license': 'MIT', **links}
    check(expected.items() <= fields.items() and fields['description'], 'idf_component.yml has what the registry asks for', fields)
    check('url' in links or 'url' not in fields, 'idf_component.yml: no empty link', fields)
    tags = re.findall(r'"(.*?)"', fields['tags'] + '"')
    check(tags and all(re.fullmatch('[a-z0-9_-]{3,32}', tag) for tag in tags), 'idf_component.yml: tags are those that the registry takes', tags)
    check({'README.md', 'LICENSE', 'CMakeLists.txt'} <= set(files), 'the component has a page, a licence and a build')


def zephyr():
    files = archive_of('zephyr/attend', f'attend-{version}-zephyr.tar.gz', 'attend/')
    named = dict(re.findall(r'^  (cmake|kconfig): (.*)$', files['zephyr/module.yml'], re.M))
    check(f'{named["cmake"]}/CMakeLists.txt' in files and named['kconfig'] in files, 'module.yml: the files that it names exist', named)
    check(re.search(r'^config ATTEND\n\tbool ".+"\n(\tdepends on .+\n)+\thelp\n(\t  .+\n|\n)+$', files['zephyr/Kconfig'], re.M), 'Kconfig has the option')


def cmsis_pack():
    pack = f'Attend.Attend.{version}.pack'
    files = archive_of('cmsis-pack', pack, '')
    root = xml.etree.ElementTree.fromstring(files['Attend.Attend.pdsc'])
    text = lambda name: (root.findtext(name) or '').strip()
    check(f'{text("vendor")}.{text("name")}.{version}.pack' == pack, 'the pack is named as its description says', text('name'))
    children = [child.tag for child in root]
    expected = ['vendor', 'name', 'description', 'url', *(['repository'] if url else []), 'license', 'licenseSets', 'releases', 'keywords', 'taxonomy',
                'conditions', 'components']
    check(root.tag == 'package' and root.get('schemaVersion') and children == expected, 'the description has its parts', children)
    check((text('url'), text('repository')) == ((f'{url}/', f'{url}.git') if url else ('', '')), 'the description: where it is', text('url'))
    sets = {licences.get('id'): [licence.get('spdx') for licence in licences] for licences in root.iter('licenseSet')}
    check(sets == {'MIT': ['MIT']} and all(c.get('licenseSet') in sets for c in root.iter('component')), 'components name their licence', sets)
    releases = [release.get('version') for release in root.iter('release')]
    components = list(root.iter('component'))
    check(releases[0] == version and all(c.get('Cversion') == version for c in components), 'the description: the version', releases)
    check(all(c.get(key) for c in components for key in ('Cclass', 'Cgroup', 'Cversion')) and all(c.findtext('description') for c in components),
          'components have what they must')
    conditions = {condition.get('id') for condition in root.iter('condition')}
    check({c.get('condition') for c in components} <= conditions, 'conditions that are named exist', conditions)
    categories = {'doc', 'image', 'header', 'include', 'sourceCpp'}
    listed = {file.get('name') for file in root.iter('file')} | {text('license')}
    check({file.get('category') for file in root.iter('file')} <= categories, 'categories are those of the schema')
    missing = [name for name in listed if name not in files and not (name.endswith('/') and any(path.startswith(name) for path in files))]
    check(not missing, 'every listed file exists', missing)
    check(set(files) - listed == {'Attend.Attend.pdsc'}, 'every file is listed', set(files) - listed)


def wheel():
    archive = next(packages.glob('*.whl'))
    name, named_version, *tag = archive.name[:-len('.whl')].split('-')
    check(name == 'attend' and named_version == version and len(tag) == 3, 'the name of the wheel', archive.name)
    files = archive_of('python', archive.name, '')
    information = f'attend-{version}.dist-info'
    held = contents(archive)
    metadata = email.message_from_string(files[f'{information}/METADATA'])
    check(metadata['Version'] == version, 'METADATA: the version', metadata['Version'])
    check((metadata['Home-page'] or '', metadata['Project-URL'] or '') == (url, url and f'Source, {url}'), 'METADATA: the home page', metadata['Home-page'])
    page = metadata.get_payload()
    check(metadata['Description-Content-Type'] == 'text/markdown' and all(part in page for part in ('# Attend\n', '| query |', '```python\n', 'attend.Cache(')),
          'METADATA: a description with the axes and programs', page[:80])
    check(f'\nTag: {"-".join(tag)}\n' in files[f'{information}/WHEEL'], "WHEEL: the file name's tag")
    # What its tag promises: no symbol of a newer glibc, and no library but the C library.
    shared = str(packages / 'python/attend/libattend.so')
    listed = subprocess.run(['readelf', '-W', '-d', '--dyn-syms', shared], capture_output=True, text=True, check=True).stdout
    least = tuple(map(int, re.fullmatch(r'manylinux_(\d+)_(\d+)_\w+', tag[-1]).groups()))
    newer = [number for number in re.findall(r'GLIBC_([\d.]+)', listed) if tuple(map(int, number.split('.'))) > least]
    check('libattend_c.so.1' in listed and not newer, f'the shared object runs with glibc {least[0]}.{least[1]}', newer)
    needed = set(re.findall(r'NEEDED.*\[(.*)\]', listed)) - {'libc.so.6'}
    check(not needed, 'the shared object needs no other library', needed)
    wrong, recorded = [], set()
    for line in files[f'{information}/RECORD'].splitlines():
        path, digest, size = line.rsplit(',', 2)
        recorded.add(path)
        right = 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(held[path]).digest()).rstrip(b'=').decode()
        if not path.endswith('/RECORD') and (digest, size) != (right, str(len(held[path]))):
            wrong.append(path)
    check(recorded == set(held) and not wrong, 'RECORD: every file, with its digest', wrong)


for look in (one_source, arduino, platformio, esp_idf, zephyr, cmsis_pack, wheel):
    try:
        look()
    except Exception as error:  # an unreadable package is a failure of its own
        check(False, f'{look.__name__} can be read', repr(error))
