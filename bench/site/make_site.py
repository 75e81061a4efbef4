"""The site, from the project's top folder: bench/site/make_site.py build/site

Pages are every *.md of the project, the reference is made from headers, the Python package, the types of the npm package and the command, and sources that either names have
a page, too. Nothing is fetched, then or later; the same sources make the same bytes.

bench/site/playground/fragment.html, where there is one, stands on the first page before the first table.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'packages'))

import command_api
import comments
import declarations
import description
import errors
import headers
import javascript_api
import layout
import links
import names
import naming
import pages as pages_module
import python_api
import reference
import search
import sources
import tree

ROOT = pathlib.Path('.')


class Site:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.described = description.describe(root, '')
        self.tree, self.names = tree.Tree(root, self.filled), names.Names()
        self.headers = headers.Headers(root)
        self.package = python_api.Package(root, self.filled)
        self.others = [javascript_api.module(root), command_api.module(root)]
        self.c_errors, self.cpp_errors = errors.CErrors(root), errors.CppErrors(root, self.headers.cpp_unit)
        self.links = links.Links(root, self.tree.markdown, self.names, self.headers.pages)
        self.search, self.written = search.Index(), {}
        naming.name_all(self.names, self.headers, self.package, self.others)
        self.owners = errors.owners_of(self.names.find('cpp', 'Status').item.members)

    def filled(self, text):
        """What packages are made of has the version and other words of the project as @NAMES@."""
        return re.sub(r'@([A-Z_]+)@', lambda name: self.described.get(name[1], name[0]), text)

    def errors(self, item):
        if item.path.startswith(f'{headers.INCLUDE}/c/') or item.name.startswith('attend_'):
            return self.c_errors.of(item.name)
        return sorted(self.cpp_errors.of(item.name, item.path, item.line, self.owners))

    def render(self):
        renderer = pages_module.Renderer(self.links.resolve, self.links.figure, self.links.name_in_page, self.links.word_in_page)
        self.rendered = {address: renderer.page(path, self.tree.texts[path]) for path, address in sorted(self.tree.markdown.items())}
        for name in self.names.by_full.values():
            for page, anchor in name.pages.items():
                name.pages[page] = (anchor, self.rendered[page].title)
        self.tree.group_all(self.rendered, self.headers.pages.values(), self.package.modules + self.others)
        self._write_pages()
        self._write_reference()
        self._write_sources()
        for address, text in self.links.figures.items():
            self._write(address, text)
        self._write('search.js', self.search.script())
        for name in ('style.css', 'script.js', 'icon.svg'):
            self._write(name, (HERE / name).read_text())

    def _write_pages(self):
        playground = HERE / 'playground' / 'fragment.html'
        for path, address in sorted(self.tree.markdown.items()):
            page = self.rendered[address]
            body, kind = page.html, 'page'
            if path == 'README.md':
                kind = 'first'
                fragment = playground.read_text() if playground.exists() else ''
                body = body.replace('<div class="table"', f'{fragment}<div class="table"', 1)
            edit = f'<p class="origin">This page is <a href="{layout.attribute(layout.between(address, self.links.source(path)))}"><code>{path}</code></a>.</p>'
            title = page.title if path == 'README.md' else f'{page.title} · Attend'
            self._frame(address, title, page.lead, body + edit, page.headings, kind)
            self.search.page(address, page)

    def _write_reference(self):
        sections = {language: [] for language in tree.LANGUAGES}
        for page in self.headers.pages.values():
            writer = reference.Headers(page.address, page.language, self.names, self.links.source)
            writer.at = ''
            body = writer.body(page, self.errors)
            title = page.path.removeprefix('include/')
            headings = [(2, part.id, part.title) if isinstance(part, declarations.Prose) else (2, part.items[0].id, part.name) for part in page.parts
                        if isinstance(part, declarations.Entry) or part.title]
            lead = comments.first_sentence(page.intro)
            self._frame(page.address, f'{title} · Attend', lead, body, headings, 'reference')
            listed = [(item.name, f'{page.address}#{item.id}', item.names[0].summary) for part in page.entries() for item in part.items]
            sections[page.language].append((page.address, title, lead, listed))
        for module in self.package.modules + self.others:
            writer = reference.Modules(module.address, module.language, self.names, self.links.source)
            writer.at = ''
            headings = [(2, each.full, each.full) for each in module.members]
            lead = comments.first_sentence(module.doc)
            self._frame(module.address, f'{module.full} · Attend', lead, writer.body(module), headings, 'reference')
            listed = [(each.full, f'{module.address}#{each.full}', comments.first_sentence(each.doc)) for each in module.members]
            sections[module.language].append((module.address, module.full, lead, listed))
        address = 'reference/index.html'
        shown = [('cpp', 'C++', 'Shapes known at compile time: <code>#include &lt;attend/attend.h&gt;</code>, namespace <code>attend</code>.', sections['cpp']),
                 ('c', 'C', 'Shapes known at run time: <code>#include &lt;attend/attend_c.h&gt;</code>.', sections['c']),
                 ('python', 'Python', '<code>import attend</code>.', sections['python']),
                 ('javascript', 'JavaScript', '<code>import { load } from \'attend\'</code>.', sections['javascript']),
                 ('command', 'Command', 'From a trained model to C++ or C, and receipts of a device: <code>python3 -m attend</code>.', sections['command'])]
        headings = [(2, anchor, title) for anchor, title, _, _ in shown]
        self._frame(address, 'Reference · Attend', 'Every public name of all surfaces.', reference.overview(address, shown), headings, 'reference')
        for name in self.names.all:
            self.search.name(name)

    def _write_sources(self):
        at = 0
        while at < len(self.links.wanted):  # folders want their files
            path, address = self.links.wanted[at]
            at += 1
            place = self.root / path
            if place.is_dir():
                below = sorted(each for each in place.iterdir() if each.name not in tree.SKIPPED and not each.name.startswith('__') and
                               (each.is_dir() or each.is_file()))
                # Folders of folders are not shown: it would be the whole project.
                entries = [(f'{each.name}/', '') if each.is_dir() else (each.name, self.links.source(str(each.relative_to(self.root)))) for each in below]
                self._frame(address, f'{path} · Attend', '', sources.folder_body(address, path, entries), [], 'sources')
            elif sources.is_text(place):
                body = sources.source_body(path, place.read_text(errors='replace'), None)
                self._frame(address, f'{path} · Attend', '', body, [], 'sources')
            else:
                self._write(address, place.read_bytes())

    def _frame(self, address, title, lead, body, headings, kind):
        self._write(address, layout.framed(address, title, lead, body, self.tree.beside(address, kind), headings, kind, self.tree.around(address)))

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
