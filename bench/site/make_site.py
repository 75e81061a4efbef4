"""The site, from the project's top folder: bench/site/make_site.py build/site

Pages are every *.md of the project, the reference is made from headers and from the Python package, and sources that either names have
a page, too. Nothing is fetched, then or later; the same sources make the same bytes.

bench/site/playground/fragment.html, where there is one, stands on the first page before the first table.
"""
import os
import pathlib
import re
import sys

import comments
import errors
import headers
import layout
import names as names_module
import pages as pages_module
import python_api
import reference
import search
import sources

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path('.')
SKIPPED = {'build', 'node_modules', '.git'}
# A page belongs to the group of its first folder.
GROUPS = [('Start', ''), ('Guides', 'include/guide'), ('Reference', 'reference'), ('Measured', 'bench'), ('Inside', 'src'), ('Project', '.github')]
FIRST = 'README.md'  # of a folder
LANGUAGES = {'cpp': 'C++', 'c': 'C', 'python': 'Python'}


def markdown_files(root):
    found = []
    for folder, below, files in os.walk(root):
        below[:] = sorted(name for name in below if name not in SKIPPED and not name.startswith('.') or name == '.github')
        found += [str((pathlib.Path(folder) / name).relative_to(root)) for name in sorted(files) if name.endswith('.md')]
    # What a package fills in is no page yet.
    return [path for path in found if not re.search(r'@[A-Z]+@', (root / path).read_text())]


def address_of(path):
    """The page of the site that a page of the project becomes."""
    parts = [part.lstrip('.') for part in pathlib.PurePosixPath(path).parts]
    stem = parts[-1].removesuffix('.md')
    parts[-1] = 'index.html' if stem == 'README' else f'{stem.lower() if stem.isupper() else stem}.html'
    return '/'.join(parts).removeprefix('include/')


class Site:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.markdown = {path: address_of(path) for path in markdown_files(root)}
        self.texts = {path: (root / path).read_text() for path in self.markdown}
        self.names = names_module.Names()
        self.headers = headers.Headers(root)
        self.package = python_api.Package(root)
        self.c_errors, self.cpp_errors = errors.CErrors(root), errors.CppErrors(root, self.headers.cpp_unit)
        self.figures, self.wanted, self.search, self.written = {}, [], search.Index(), {}
        self._name_all()

    # What has a name, and where it is shown.

    def _name_all(self):
        for page in self.headers.pages.values():
            used = set()
            page.address = f'reference/{page.language}/{pathlib.PurePosixPath(page.path).stem}.html'
            for part in page.parts:
                if isinstance(part, headers.Entry):
                    for item in part.items:
                        self._name_item(item, part, page, used)
                else:
                    part.id = unique(pages_module.slug(part.title), used) if part.title else ''
        status = self.names.find('cpp', 'Status')
        self.owners = errors.owners_of(status.item.members)
        for module in self.package.modules:
            module.address = f'reference/python/{module.name}.html'
            module.members = [each for each in module.members if not self._is_again(module, each)]
            for each in module.members:
                self._name_python(each, module.address)

    def _is_again(self, module, each):
        """attend.nn.Cache is attend.Cache."""
        return module.full != 'attend' and any((other.path, other.line) == (each.path, each.line) for other in self.package.modules[0].members)

    def _name_item(self, item, entry, page, used):
        item.id = unique(item.name, used)
        summary = comments.first_sentence(item.comment) or comments.first_sentence(entry.comment)
        item.names = [self.names.add(names_module.Name(item.name, page.language, item.kind, page.address, item.id, summary))]
        item.names[0].item = item
        for member in item.members:
            full = member.name if member.kind == 'enumerator' and page.language == 'c' else f'{item.name}.{member.name}'
            member.id = unique(member.name if member.kind == 'enumerator' and page.language == 'c' else f'{item.id}.{member.name}', used)
            text = ' '.join(content if kind == 'text' else '' for kind, content in comments.blocks(member.comment)).strip()
            if item.name == 'Status':
                text = text.split('  ')[-1]
            self.names.add(names_module.Name(full, page.language, member.kind, page.address, member.id, text or summary, item.name))

    def _name_python(self, each, address):
        self.names.add(names_module.Name(each.full, 'python', each.kind, address, each.full, comments.first_sentence(each.doc)))
        for kind, content in comments.blocks(each.doc):
            if kind == 'terms' and each.kind in ('function', 'class'):
                for term, text in content:
                    if re.fullmatch(r'[a-z]\w*', term) and self.names.find('python', f'{each.full}.{term}') is None:
                        self.names.add(names_module.Name(f'{each.full}.{term}', 'python', 'parameter', address, f'{each.full}.{term}', text, each.full))
        for member in each.members:
            self.names.add(names_module.Name(member.full, 'python', member.kind, address, member.full, comments.first_sentence(member.doc), each.full))

    def errors(self, item):
        if item.path.startswith(f'{headers.INCLUDE}/c/') or item.name.startswith('attend_'):
            return self.c_errors.of(item.name)
        return sorted(self.cpp_errors.of(item.name, item.path, item.line, self.owners))

    # Pages of the project.

    def _title(self, address):
        return self.rendered[address].title

    def _resolve(self, path, target):
        if re.match(r'[a-z]+:', target):
            return target
        place, anchor = pages_module.relative(path, target)
        address = self.markdown.get(place) or self.markdown.get(f'{place}/{FIRST}')
        if address is None:
            header = self.headers.pages.get((place, 'cpp')) or self.headers.pages.get((place, 'c'))
            address = header.address if header and not anchor else self.source(place)
        return layout.between(self.markdown[path], f'{address}#{anchor}' if anchor else address)

    def source(self, path):
        """The page of a file or folder, which is made then."""
        if not (self.root / path).exists():
            raise SystemExit(f'site: a page links {path}, which does not exist')
        address = f'{sources.address(path)}{"/index" if (self.root / path).is_dir() else ""}.html'
        if (self.root / path).is_file() and not sources.is_text(self.root / path):
            address = sources.address(path)
        if path not in [wanted for wanted, _ in self.wanted]:
            self.wanted.append((path, address))
        return address

    def _figure(self, path, target, title):
        place, _ = pages_module.relative(path, target)
        address = f'figures/{pathlib.PurePosixPath(place).name}'
        text = (self.root / place).read_text()
        # Its title is what the page says of it: gnuplot writes its own name there.
        text = re.sub(r'<title>.*?</title>\s*|<desc>.*?</desc>\s*', '', text, count=2, flags=re.S)
        text = re.sub(r'(<svg\b[^>]*>)', lambda match: f'{match[1]}\n<title>{layout.escaped(title)}</title>', text, count=1, flags=re.S)
        self.figures[address] = text
        box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', text)
        size = (round(float(box[1])), round(float(box[2]))) if box else ('', '')
        return layout.between(self.markdown[path], address), *size

    def _name_in_page(self, path, span, section):
        name = self.names.in_span(span, path)
        if name is not None:
            return self._link(path, name, section)
        place = span.strip().split('#')[0]
        if '/' in place and re.fullmatch(r'[\w./-]+', place):
            for candidate in (place, f'include/{place}'):
                if (self.root / candidate).exists() and not candidate.startswith(('/', '..')) and 'build' not in candidate.split('/'):
                    return self._resolve(path, '../' * path.count('/') + candidate.rstrip('/'))
        return None

    def _word_in_page(self, path, word, before, language, section):
        if language not in ('cpp', 'c', 'python'):
            return None
        name = self.names.in_code(word, before, language)
        return self._link(path, name, section) if name is not None else None

    def _link(self, path, name, section):
        page = self.markdown[path]
        for each in (name, self.names.find(name.language, name.owner) if name.owner else None):
            if each is not None and not 'CHANGELOG' in path:
                each.pages.setdefault(page, section)
        return layout.between(page, name.url)

    def render(self):
        renderer = pages_module.Renderer(self._resolve, self._figure, self._name_in_page, self._word_in_page)
        self.rendered = {address: renderer.page(path, self.texts[path]) for path, address in sorted(self.markdown.items())}
        for name in self.names.by_full.values():
            for page, anchor in name.pages.items():
                name.pages[page] = (anchor, self._title(page))
        self.groups = {prefix: self._group(prefix) for _, prefix in GROUPS if prefix != 'reference'}
        self.listed = {language: [(page.address, page.path.removeprefix(f'{headers.INCLUDE}/')) for page in self.headers.pages.values()
                                  if page.language == language] for language in ('cpp', 'c')}
        self.listed['python'] = [(module.address, module.full) for module in self.package.modules]
        self._write_pages()
        self._write_reference()
        self._write_sources()
        for address, text in self.figures.items():
            self._write(address, text)
        self._write('search.js', self.search.script())
        for name in ('style.css', 'script.js', 'icon.svg'):
            self._write(name, (HERE / name).read_text())

    def _groups(self, address, kind):
        """The list of pages beside a page: that of a reference has the headers of its language."""
        language = address.split('/')[1] if address.startswith('reference/') else ''
        found = []
        for title, prefix in GROUPS:
            if kind == 'sources' and title not in ('Start', 'Guides', 'Reference'):
                continue
            links = self.groups.get(prefix, [])
            if prefix == 'reference':
                links = [('reference/index.html', 'All names')]
                for each, words in LANGUAGES.items():
                    pages = self.listed[each]
                    links += [(page, name) for page, name in pages] if each == language else [(f'reference/index.html#{each}', words)]
            found.append((title, links))
        return found

    def _group(self, prefix):
        chosen = [path for path in self.markdown if path.startswith(prefix + '/')] if prefix else ['README.md']
        if prefix == '.github':  # and what no other group has
            chosen += [path for path in self.markdown if '/' in path and not any(path.startswith(other + '/') for _, other in GROUPS if other)]
        if prefix == 'include/guide':
            chosen = by_reading_order(chosen, self.texts['README.md'])
        return [(self.markdown[path], short(self.rendered[self.markdown[path]].title)) for path in chosen]

    def _write_pages(self):
        playground = HERE / 'playground' / 'fragment.html'
        for path, address in sorted(self.markdown.items()):
            page = self.rendered[address]
            body, kind = page.html, 'page'
            if path == 'README.md':
                kind = 'first'
                fragment = playground.read_text() if playground.exists() else ''
                body = body.replace('<div class="table"', f'{fragment}<div class="table"', 1)
            edit = f'<p class="origin">This page is <a href="{layout.attribute(layout.between(address, self.source(path)))}"><code>{path}</code></a>.</p>'
            title = page.title if path == 'README.md' else f'{page.title} · Attend'
            self._frame(address, title, page.lead, body + edit, page.headings, kind)
            self.search.page(address, page)

    def _write_reference(self):
        sections = {'cpp': [], 'c': [], 'python': []}
        for page in self.headers.pages.values():
            writer = reference.Headers(page.address, page.language, self.names, self.source)
            writer.at = ''
            body = writer.body(page, self.errors)
            title = page.path.removeprefix('include/')
            headings = [(2, part.id, part.title) if isinstance(part, headers.Prose) else (2, part.items[0].id, part.name) for part in page.parts
                        if isinstance(part, headers.Entry) or part.title]
            lead = comments.first_sentence(page.intro)
            self._frame(page.address, f'{title} · Attend', lead, body, headings, 'reference')
            listed = [(item.name, f'{page.address}#{item.id}', item.names[0].summary) for part in page.entries() for item in part.items]
            sections[page.language].append((page.address, title, lead, listed))
        for module in self.package.modules:
            writer = reference.Python(module.address, 'python', self.names, self.source)
            writer.at = ''
            headings = [(2, each.full, each.full) for each in module.members]
            lead = comments.first_sentence(module.doc)
            self._frame(module.address, f'{module.full} · Attend', lead, writer.body(module), headings, 'reference')
            listed = [(each.full, f'{module.address}#{each.full}', comments.first_sentence(each.doc)) for each in module.members]
            sections['python'].append((module.address, module.full, lead, listed))
        address = 'reference/index.html'
        shown = [('cpp', 'C++', 'Shapes known at compile time: <code>#include &lt;attend/attend.h&gt;</code>, namespace <code>attend</code>.', sections['cpp']),
                 ('c', 'C', 'Shapes known at run time: <code>#include &lt;attend/attend_c.h&gt;</code>.', sections['c']),
                 ('python', 'Python', '<code>import attend</code>.', sections['python'])]
        headings = [(2, anchor, title) for anchor, title, _, _ in shown]
        self._frame(address, 'Reference · Attend', 'Every public name of the three surfaces.', reference.overview(address, shown), headings, 'reference')
        for name in self.names.all:
            self.search.name(name)

    def _write_sources(self):
        at = 0
        while at < len(self.wanted):  # folders want their files
            path, address = self.wanted[at]
            at += 1
            place = self.root / path
            if place.is_dir():
                below = sorted(each for each in place.iterdir() if each.name not in SKIPPED and not each.name.startswith('__') and
                               (each.is_dir() or each.is_file()))
                # Folders of folders are not shown: it would be the whole project.
                entries = [(f'{each.name}/', '') if each.is_dir() else (each.name, self.source(str(each.relative_to(self.root)))) for each in below]
                self._frame(address, f'{path} · Attend', '', sources.folder_body(address, path, entries), [], 'sources')
            elif sources.is_text(place):
                body = sources.source_body(path, place.read_text(errors='replace'), None)
                self._frame(address, f'{path} · Attend', '', body, [], 'sources')
            else:
                self._write(address, place.read_bytes())

    def _frame(self, address, title, lead, body, headings, kind):
        self._write(address, layout.framed(address, title, lead, body, self._groups(address, kind), headings, kind))

    def _write(self, address, content):
        if address in self.written:
            raise SystemExit(f'site: two pages are {address}')
        self.written[address] = content if isinstance(content, bytes) else content.encode()

    def save(self):
        """What an earlier site has that this one has not is removed, but for what others write beside it."""
        record = self.out / 'pages.txt'
        for old in record.read_text().split('\n') if record.exists() else []:
            if old and old not in self.written:
                (self.out / old).unlink(missing_ok=True)
        for address, content in self.written.items():
            place = self.out / address
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists() or place.read_bytes() != content:
                place.write_bytes(content)
        record.write_text(''.join(f'{address}\n' for address in sorted(self.written)))


def unique(name, used):
    found, count = name, 1
    while found in used:
        count += 1
        found = f'{name}-{count}'
    used.add(found)
    return found


def by_reading_order(paths, readme):
    """As the first page names them."""
    places = {path: readme.find(f'({path}') for path in paths}
    return sorted(paths, key=lambda path: (places[path] < 0, places[path], path))


def short(title):
    """For the list of pages: without what follows a colon."""
    return title.split(': ')[0]


def main(out):
    site = Site(ROOT, pathlib.Path(out))
    site.render()
    site.save()
    print(f'{out}: {sum(address.endswith(".html") for address in site.written)} pages, {len(site.names.all)} names')
    return site


if __name__ == '__main__':
    if not (ROOT / 'include/attend').exists():
        raise SystemExit('site: run it from the project\'s top folder')
    main(*sys.argv[1:])
