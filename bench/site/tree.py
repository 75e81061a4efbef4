"""Which pages of the project the site has, their addresses, and the list of pages beside each."""
import os
import pathlib
import re

import headers

SKIPPED = {'build', 'node_modules', '.git'}
# A page belongs to the group whose folder is the longest that it is in.
GROUPS = [('Start', ''), ('Guides', 'include/guide'), ('Reference', 'reference'), ('Inside of runtimes', 'bench/adapters'), ('Built on it', 'bench'),
          ('Measured', 'bench/speed'), ('How it works', 'src'), ('Project', '.github')]
FIRST = 'README.md'  # of a folder
LANGUAGES = {'cpp': 'Names in C++', 'c': 'Names in C', 'python': 'Names in Python', 'javascript': 'Names in JavaScript', 'command': 'Options of the command'}
LONGEST = 48  # letters of an entry


def markdown_files(root):
    found = []
    for folder, below, files in os.walk(root):
        below[:] = sorted(name for name in below if name not in SKIPPED and not name.startswith('.') or name == '.github')
        found += [str((pathlib.Path(folder) / name).relative_to(root)) for name in sorted(files) if name.endswith('.md')]
    return found


def address_of(path):
    """The page of the site that a page of the project becomes."""
    parts = [part.lstrip('.') for part in pathlib.PurePosixPath(path).parts]
    stem = parts[-1].removesuffix('.md')
    parts[-1] = 'index.html' if stem == 'README' else f'{stem.lower() if stem.isupper() else stem}.html'
    return '/'.join(parts).removeprefix('include/')


class Tree:
    def __init__(self, root, filled):
        self.markdown = {path: address_of(path) for path in markdown_files(root)}
        self.texts = {path: filled((root / path).read_text()) for path in self.markdown}

    def group_all(self, rendered, pages, modules):
        """rendered: {address: page}; pages and modules of the reference."""
        self.groups = {prefix: self._group(title, prefix, rendered) for title, prefix in GROUPS if prefix != 'reference'}
        self.listed = {language: [(page.address, page.path.removeprefix(f'{headers.INCLUDE}/')) for page in pages if page.language == language]
                       for language in ('cpp', 'c')}
        self.listed |= {language: [(module.address, module.full) for module in modules if module.language == language] for language in LANGUAGES if language not in self.listed}
        self.groups['reference'] = [('reference/index.html', 'All names')] + [page for each in LANGUAGES for page in self.listed[each]]
        self.order = [page for _, prefix in GROUPS for page in self.groups[prefix]]

    def around(self, address):
        """The entries before and after a page, or None."""
        at = [each for each, _ in self.order].index(address) if address in dict(self.order) else None
        return (None, None) if at is None else (self.order[at - 1] if at else None, self.order[at + 1] if at + 1 < len(self.order) else None)

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

    def _group(self, title, prefix, rendered):
        chosen = [path for path in self.markdown if folder(path) == prefix]
        if prefix == 'include/guide':
            chosen = by_reading_order(chosen, self.texts['README.md'])
        every = [short(page.title) for page in rendered.values()]
        entries = []
        for whole in [rendered[self.markdown[path]].title for path in chosen]:
            name = whole if every.count(short(whole)) > 1 else short(whole)
            entries.append('Overview' if name == title else re.sub(r'^.*?\b[Ii]n(side of)? ', '', name) if prefix == 'bench/adapters' else name)
        return list(zip([self.markdown[path] for path in chosen], entries))


def folder(path):
    """The group's; what no other group has belongs to the project."""
    inside = [prefix for _, prefix in GROUPS if prefix and path.startswith(prefix + '/')]
    return max(inside, key=len) if inside else '.github' if '/' in path else ''


def by_reading_order(paths, readme):
    """As the first page names them."""
    places = {path: readme.find(f'({path}') for path in paths}
    return sorted(paths, key=lambda path: (places[path] < 0, places[path], path))


def short(title):
    """For the list of pages: without what follows a colon, or a comma of a long one."""
    title = title.split(': ')[0]
    return title if len(title) <= LONGEST else title.split(', ')[0]
