"""Where links, figures and code of the project's pages lead: to pages of the site, to the reference, and to sources, which have a page then."""
import pathlib
import re

import layout
import sources
from pages import relative
from tree import FIRST


class Links:
    """pages: those of the reference by header and language."""

    def __init__(self, root, markdown, names, pages):
        self.root, self.markdown, self.names, self.pages = root, markdown, names, pages
        self.figures, self.wanted = {}, []

    def resolve(self, path, target):
        if re.match(r'[a-z]+:', target):
            return target
        place, anchor = relative(path, target)
        address = self.markdown.get(place) or self.markdown.get(f'{place}/{FIRST}')
        if address is None:
            header = self.pages.get((place, 'cpp')) or self.pages.get((place, 'c'))
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

    def figure(self, path, target, title):
        place, _ = relative(path, target)
        address = f'figures/{pathlib.PurePosixPath(place).name}'
        text = (self.root / place).read_text()
        # Its title is what the page says of it: gnuplot writes its own name there.
        text = re.sub(r'<title>.*?</title>\s*|<desc>.*?</desc>\s*', '', text, count=2, flags=re.S)
        text = re.sub(r'(<svg\b[^>]*>)', lambda match: f'{match[1]}\n<title>{layout.escaped(title)}</title>', text, count=1, flags=re.S)
        self.figures[address] = text
        box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', text)
        size = (round(float(box[1])), round(float(box[2]))) if box else ('', '')
        return layout.between(self.markdown[path], address), *size

    def name_in_page(self, path, span, section):
        name = self.names.in_span(span, path)
        if name is not None:
            return self._link(path, name, section)
        place = span.strip().split('#')[0]
        if '/' in place and re.fullmatch(r'[\w./-]+', place):
            for candidate in (place, f'include/{place}') if '.' in place else (place, ):
                if (self.root / candidate).exists() and not candidate.startswith(('/', '..')) and 'build' not in candidate.split('/'):
                    return self.resolve(path, '../' * path.count('/') + candidate.rstrip('/'))
        return None

    def word_in_page(self, path, word, before, language, section):
        if language not in ('cpp', 'c', 'python', 'js'):
            return None
        name = self.names.in_code(word, before, language)
        return self._link(path, name, section) if name is not None else None

    def _link(self, path, name, section):
        page = self.markdown[path]
        for each in (name, self.names.find(name.language, name.owner) if name.owner else None):
            if each is not None and not 'CHANGELOG' in path:
                each.pages.setdefault(page, section)
        return layout.between(page, name.url)
