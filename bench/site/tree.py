"""Which pages of the project the site has, their addresses, and the list of pages beside each."""
import os
import pathlib
import re

import headers

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


class Tree:
    def __init__(self, root):
        self.markdown = {path: address_of(path) for path in markdown_files(root)}
        self.texts = {path: (root / path).read_text() for path in self.markdown}

    def group_all(self, rendered, pages, modules):
        """rendered: {address: page}; pages and modules of the reference."""
        self.groups = {prefix: self._group(prefix, rendered) for _, prefix in GROUPS if prefix != 'reference'}
        self.listed = {language: [(page.address, page.path.removeprefix(f'{headers.INCLUDE}/')) for page in pages if page.language == language]
                       for language in ('cpp', 'c')}
        self.listed['python'] = [(module.address, module.full) for module in modules]

    def beside(self, address, kind):
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

    def _group(self, prefix, rendered):
        chosen = [path for path in self.markdown if path.startswith(prefix + '/')] if prefix else ['README.md']
        if prefix == '.github':  # and what no other group has
            chosen += [path for path in self.markdown if '/' in path and not any(path.startswith(other + '/') for _, other in GROUPS if other)]
        if prefix == 'include/guide':
            chosen = by_reading_order(chosen, self.texts['README.md'])
        return [(self.markdown[path], short(rendered[self.markdown[path]].title)) for path in chosen]


def by_reading_order(paths, readme):
    """As the first page names them."""
    places = {path: readme.find(f'({path}') for path in paths}
    return sorted(paths, key=lambda path: (places[path] < 0, places[path], path))


def short(title):
    """For the list of pages: without what follows a colon."""
    return title.split(': ')[0]
