"""Builds the site and looks at its reference: tests/site/reference.py OUT, from the project's top folder. Prints a line for each check.

Which names must be there is found by other means than the site's: what the shared library exports, what the headers of C define, what
guides, examples and tests write after `attend::`, and the lists of the Python package.
"""
import ast
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, 'bench/site')
sys.dont_write_bytecode = True

import comments
import cursors
import make_site

ROOT = pathlib.Path('.')
# Names of C that are no declarations for users, and why.
NOT_FOR_USERS = {'ATTEND_STRUCTS', 'ATTEND_BUILD_DLL', 'ATTEND_DLL'}
# Namespaces of what stands inside.
INSIDE = {'detail', 'core', 'config', 'c_surface'}


def say(wrong, what):
    print(f'FAIL {what}: {"; ".join(wrong[:12])}{" and more" if len(wrong) > 12 else ""}' if wrong else f'ok   {what}')


def code_of(path):
    """Without comments."""
    return re.sub(r'/\*.*?\*/|//[^\n]*', ' ', path.read_text(), flags=re.S)


def expected_c(library):
    found = set()
    if library.exists():
        listed = subprocess.run(['nm', '-D', '--defined-only', str(library)], capture_output=True, text=True, check=True).stdout
        found |= set(re.findall(r' T (attend_\w+)', listed))
    for path in [ROOT / 'include/attend/attend_c.h', ROOT / 'include/attend/core/version.h', *sorted((ROOT / 'include/attend/c').glob('*.h'))]:
        text = code_of(path)
        found |= set(re.findall(r'^#define (ATTEND_\w+)', text, re.M)) | set(re.findall(r'\b(ATTEND_\w+)(?: = [^,}]+)?(?=,|\s*\})', text))
        found |= set(re.findall(r'(?:typedef (?:struct|int) |enum |struct )(attend_\w+)', text))
        found |= set(re.findall(r'\b(attend_\w+)\(', text))
    return {name for name in found if not name.endswith('_H') and name not in NOT_FOR_USERS and name not in cursors.CHECKS}


def expected_cpp():
    """What others write after attend::."""
    found = set()
    places = [*sorted((ROOT / 'include/guide').glob('*.md')), ROOT / 'README.md', *sorted((ROOT / 'bench/examples').glob('*.cpp')),
              *sorted((ROOT / 'tests/typed').glob('*.cpp')), *sorted((ROOT / 'bench/app').glob('*.cpp'))]
    for path in places:
        found |= set(re.findall(r'\battend::(\w+)\b(?!::)', path.read_text() if path.suffix == '.md' else code_of(path)))
        found |= set(re.findall(r'\battend::([A-Z]\w+)::', path.read_text()))
    return found


def expected_python():
    found = set()
    for module, path in (('attend', '__init__.py'), ('attend.nn', 'nn/__init__.py')):
        tree = ast.parse((ROOT / 'bench/python/attend' / path).read_text())
        for node in tree.body:
            if isinstance(node, ast.Assign) and node.targets[0].id == '__all__':
                found |= {f'{module}.{name}' for name in ast.literal_eval(node.value)}
    return found


def expected_javascript():
    """What index.js exports, what examples call, and the options that the package's page lists."""
    exported = re.search(r'^export \{ (.*) \}', (ROOT / 'bench/javascript/index.js').read_text(), re.M)
    found = set(re.findall(r'^export (?:async )?(?:function|class|const) (\w+)', (ROOT / 'bench/javascript/index.js').read_text(), re.M)) | \
        set(re.findall(r'\w+', exported[1]) if exported else [])
    for path in [ROOT / 'include/guide/javascript.md', ROOT / 'bench/javascript/README.md', ROOT / 'bench/javascript/household.js', *(ROOT / 'tests/javascript').glob('*.mjs')]:
        found |= {f'Attend.{name}' for name in re.findall(r'\battend\.(\w+)\(|\bnew attend\.(\w+)', path.read_text()) for name in name if name}
    listed = next(line for line in (ROOT / 'bench/javascript/README.md').read_text().split('\n') if line.startswith('Options of a call: '))
    return found, set(re.findall(r'`([a-z]\w+)', listed.split('index.d.ts')[0]))


def expected_command():
    """As the program itself prints it."""
    found = set()
    for command in ('export', 'replay'):
        text = subprocess.run([sys.executable, str(ROOT / 'bench/python/attend/__main__.py'), command, '--help'], capture_output=True, text=True, check=True).stdout
        found |= {f'{command}.{option}' for option in re.findall(r'^  (--[a-z]+)', text, re.M)}
    return found


def known(site, language):
    return {name.full for name in site.names.all if name.language == language}


def check_names(site, library):
    c = known(site, 'c')
    say(sorted(expected_c(library) - c), f'every name of the C surface is in the reference: {len(c)}')
    cpp = known(site, 'cpp')
    # Names of include/attend/hosted, which needs a C++ library, and of private namespaces are others.
    hosted = {name for path in (ROOT / 'include/attend/hosted').glob('*.h') for name in re.findall(r'\b(?:class|struct) (\w+)|\b(\w+)\(', path.read_text()) for name in name if name}
    say(sorted(expected_cpp() - cpp - INSIDE - hosted - {'attend'}), f'every name that is written after attend:: is in the reference: {len(cpp)}')
    python = known(site, 'python')
    again = {f'attend.nn.{name}' for name in ('Rotary', 'Cache', 'State')}
    say(sorted(expected_python() - python - {'attend.nn'} - again), f'every name of the Python package is in the reference: {len(python)}')


    javascript, (names, options) = known(site, 'javascript'), expected_javascript()
    calls = {name.rsplit('.', 1)[-1] for name in javascript if name.split('.')[0] in ('Options', 'Shape', 'Results', 'Out')}
    say(sorted(names - javascript) + sorted(options - calls), f'every name that JavaScript exports, calls or lists is in the reference: {len(javascript)}')
    command = known(site, 'command')
    say(sorted(expected_command() - command), f'every option that the command prints is in the reference: {len(command)}')


# Whose names pages may mean without a prefix or an owner; on all others they are words.
SURFACES = {'c': 'c', 'linear_attention_c': 'c', 'python': 'python', 'families': 'python', 'javascript': 'javascript', 'export': 'command', 'receipts': 'command'}


def check_pages(site):
    version = re.findall(r'#define ATTEND_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)', (ROOT / 'include/attend/core/version.h').read_text())
    texts = {address: text.decode() for address, text in site.written.items() if address.endswith('.html') and not address.startswith('source/')}
    say([f'{address} has {each}' for address, text in texts.items() for each in re.findall(r'@[A-Z_]+@', text)], 'no page has a word that a package fills in')
    say([] if f'This is Attend {".".join(version)}' in texts['reference/python/attend.html'] else ['it does not'], 'the page of the Python package says its version')
    wrong, count = [], 0
    for address, text in texts.items():
        own = 'cpp' if address == 'index.html' else SURFACES.get(address.removeprefix('guide/').removesuffix('.html'), 'cpp') if address.startswith('guide/') else \
            {'bench/javascript/index.html': 'javascript', 'bench/mpi/python.html': 'python'}.get(address)
        for language, code in re.findall(r'class="name" href="(?:\.\./)*reference/(\w+)/[^"]*"><code>(.*?)</code>', text) if not address.startswith('reference/') else []:
            count += 1
            if not re.match(r'attend\b|attend_|ATTEND_|python3 -m attend|\w+(\.|::)\w|.*/', code) and language != own:
                wrong.append(f'{address} links {code} to {language}')
    say(wrong, f'of {count} names in pages, bare ones lead to the surface that the page is about')


def without_comment(site):
    found = []
    for page in site.headers.pages.values():
        for entry in page.entries():
            if not entry.comment and not all(item.comment or item.members for item in entry.items):
                found.append(f'{entry.path}:{entry.first_line} {entry.name}')
            for item in entry.items:
                for member in item.members:
                    if not member.comment and not speaks(entry, item, member):
                        found.append(f'{member.path}:{member.line} {item.name}::{member.name}')
    for module in site.package.modules:
        for each in module.members:
            found += [f'{each.path}:{each.line} {each.full}'] if not each.doc else []
            found += [f'{member.path}:{member.line} {member.full}' for member in each.members if not member.doc and not member.name.startswith('__')]
    return found


def speaks(entry, item, member):
    """Whether a member without a comment of its own is explained all the same: by its owner's comment, by the members before it of the
    same name, or, of values of an enumeration, by all of them together."""
    if member.kind == 'enumerator':
        return bool(entry.comment)
    if member.kind in ('constructor', 'type') or member.name.startswith('operator'):
        return True
    words = ' '.join(entry.comment + item.comment)
    if re.search(rf'\b{re.escape(member.name)}s?\b', words) or member.name == 'data':
        return True
    # Strides and columns of a tensor are explained where the first of them is; a struct in a struct has a comment itself.
    if member.name.endswith(('_stride', 'keys')) or re.search(r'\battend_\w+ \w+$', member.signature):
        return True
    at = item.members.index(member)
    before = item.members[at - 1] if at else None
    if before is not None and before.path == member.path and before.line < member.line <= before.end + 1 and member.kind == 'method':
        return bool(before.comment) or speaks(entry, item, before)
    return any(other.name == member.name and other.comment for other in item.members)


def without_errors(site):
    found = []
    for page in site.headers.pages.values():
        for entry in page.entries():
            for item in entry.items:
                for each in [item, *item.members]:
                    never_fails = each.name == 'save'  # returns a status as load does
                    if each.returns_status and not never_fails and not site.errors(each):
                        found.append(f'{each.path}:{each.line} {each.name}')
    return found


def without_guide(site):
    found = []
    for page in site.headers.pages.values():
        for entry in page.entries():
            for item in entry.items:
                if not any(name.pages for name in item.names):
                    found.append(f'{item.name} ({entry.path})')
    for module in site.package.modules:
        found += [each.full for each in module.members if not site.names.find('python', each.full).pages]
    return found


def missing_statuses(site):
    """Statuses that tests of the typed surface expect of a call, in one line with it."""
    found, count = [], 0
    lists = {}
    for page in site.headers.pages.values():
        for entry in page.entries():
            for item in entry.items:
                for each in [item, *item.members]:
                    if each.returns_status and page.language == 'cpp':
                        lists.setdefault(each.name, set()).update(site.errors(each))
    for path in sorted((ROOT / 'tests/typed').glob('test_*.cpp')):
        for call, status in re.findall(r'\battend::(\w+)\((?:[^;]*?)\) == (?:attend::)?Status::(\w+)', path.read_text()):
            if call in lists and status != 'ok':
                count += 1
                if status not in lists[call]:
                    found.append(f'{path.name}: {call} returns {status}')
    return sorted(set(found)), count


def check_model(site):
    say(without_comment(site), 'every public declaration has a comment')
    say(without_errors(site), 'every call that returns a status has a list of errors')
    say(without_guide(site), 'every public declaration is named by a guide')
    wrong, count = missing_statuses(site)
    say(wrong, f'lists of statuses have what {count} calls of the typed surface return')


def check_mistakes(site):
    """Each check finds a mistake that is made for it."""
    page = site.headers.pages['include/attend/attend_c.h', 'c']
    entry = next(entry for entry in page.entries() if entry.name == 'attend_run')
    kept, entry.comment = entry.comment, []
    say([] if any('attend_run' in each for each in without_comment(site)) else ['it is not'], 'a declaration without a comment is found')
    entry.comment = kept
    name = site.names.find('c', 'attend_run')
    kept, name.pages = name.pages, {}
    say([] if any(each.startswith('attend_run ') for each in without_guide(site)) else ['it is not'], 'a declaration that no guide names is found')
    name.pages = kept
    usr = site.c_errors.functions['attend_cache_append']
    kept, site.c_errors.pairs[usr] = site.c_errors.pairs[usr], set()
    site.c_errors.refused.pop('attend_cache_append')
    found = [any('attend_cache_append' in each for each in without_errors(site))]
    say([] if all(found) else ['it is not'], 'a list of errors that is empty is found')
    site.c_errors.pairs[usr] = kept
    assert comments.first_sentence(['A sentence of some length. Another one.']) == 'A sentence of some length.'


def main(out, library):
    site = make_site.main(out)
    check_names(site, pathlib.Path(library))
    check_pages(site)
    check_model(site)
    check_mistakes(site)


main(*sys.argv[1:])
