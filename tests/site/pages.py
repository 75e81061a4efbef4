"""Looks at the pages of a site: tests/site/pages.py FOLDER. Prints a line for each check: links and anchors, what would be fetched, how
elements are nested, names for what has no words, the size of the first page.
"""
import pathlib
import re
import sys
import urllib.parse
from html.parser import HTMLParser

VOID = {'area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr'}
# What can stand in a paragraph, and in a link or a button.
PHRASES = {'a', 'b', 'br', 'button', 'canvas', 'code', 'em', 'i', 'img', 'input', 'kbd', 'label', 'math', 'output', 'progress', 'q', 'samp', 's', 'select', 'small',
           'span', 'strong', 'sub', 'sup', 'svg', 'textarea', 'u', 'var', 'wbr', 'option', 'text', 'g', 'path', 'rect', 'circle', 'line', 'title'}
INSIDE = {'li': {'ul', 'ol'}, 'tr': {'thead', 'tbody', 'table', 'tfoot'}, 'td': {'tr'}, 'th': {'tr'}, 'dt': {'dl', 'div'}, 'dd': {'dl', 'div'},
          'thead': {'table'}, 'tbody': {'table'}, 'figcaption': {'figure'}, 'summary': {'details'}, 'option': {'select', 'datalist', 'optgroup'}}
FIRST_PAGE = 300_000  # bytes, with all that it loads before the playground's own files


class Page(HTMLParser):
    def __init__(self, name, text):
        super().__init__(convert_charrefs=True)
        self.name, self.wrong, self.ids, self.links, self.loads, self.stack = name, [], set(), [], [], []
        self.nav, self.entries, self.contents, self.beside, self.heads = '', [], [], {}, []  # [(target, words)] and anchors; {rel: target}; anchors of h2
        self.titles = 0
        if not text.startswith('<!DOCTYPE html>'):
            self.wrong.append('has no doctype')
        self.feed(text)
        self.close()
        if self.stack:
            self.wrong.append(f'does not close {self.stack[-1]}')
        if self.titles < 1:
            self.wrong.append('has no h1')
        if 'lang' not in self.root:
            self.wrong.append('has no language')

    root = {}

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        where = f'line {self.getpos()[0]}'
        if len(attributes) != len(attrs):
            self.wrong.append(f'{where}: {tag} has an attribute twice')
        if tag == 'html':
            self.root = attributes
        self.titles += tag == 'h1'
        self.nav = attributes.get('id', 'other') if tag == 'nav' else self.nav
        if tag == 'h2' and attributes.get('id', 'playground-title') != 'playground-title':
            self.heads.append(attributes['id'])
        if tag == 'a' and self.nav == 'site-pages' and not attributes.get('href', '#').startswith('#'):
            self.entries.append([attributes['href'], ''])
        if tag == 'a' and self.nav == 'site-contents':
            self.contents.append(attributes['href'].removeprefix('#'))
        if tag == 'a' and attributes.get('rel') in ('prev', 'next'):
            self.beside[attributes['rel']] = resolved(self.name, attributes['href'])
        if 'id' in attributes:
            if attributes['id'] in self.ids or not attributes['id'] or ' ' in attributes['id']:
                self.wrong.append(f'{where}: the id {attributes["id"]} is there twice, or is none')
            self.ids.add(attributes['id'])
        if tag == 'a' and attributes.get('href') is not None:
            self.links.append((where, attributes['href']))
        for name in ('src', 'srcset', 'poster', 'data'):
            if name in attributes and tag != 'option':
                self.loads.append((where, attributes[name]))
        if tag == 'link':
            self.loads.append((where, attributes.get('href', '')))
        if tag == 'img' and not attributes.get('alt'):
            self.wrong.append(f'{where}: a picture has no words in its place')
        parent = self.stack[-1] if self.stack else ''
        if tag in INSIDE and parent not in INSIDE[tag]:
            self.wrong.append(f'{where}: {tag} stands in {parent}')
        if parent in ('ul', 'ol') and tag != 'li' or parent == 'tr' and tag not in ('td', 'th') or parent == 'dl' and tag not in ('dt', 'dd', 'div'):
            self.wrong.append(f'{where}: {tag} stands in {parent}')
        if 'p' in self.stack and tag not in PHRASES and 'svg' not in self.stack:
            self.wrong.append(f'{where}: {tag} stands in a paragraph')
        if tag == 'a' and 'a' in self.stack:
            self.wrong.append(f'{where}: a link stands in a link')
        if tag not in VOID:
            self.stack.append(tag)

    def handle_data(self, data):
        if self.nav == 'site-pages' and self.stack and self.stack[-1] == 'a' and self.entries:
            self.entries[-1][1] += data

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag in VOID or not self.stack or self.stack[-1] != tag:
            self.wrong.append(f'line {self.getpos()[0]}: {tag} is closed within {self.stack[-1] if self.stack else "nothing"}')
            while tag in self.stack and self.stack.pop() != tag:
                pass
        else:
            self.stack.pop()
        if tag == 'nav':
            self.nav = ''


def say(wrong, what):
    print(f'FAIL {what}: {"; ".join(wrong[:12])}{" and more" if len(wrong) > 12 else ""}' if wrong else f'ok   {what}')


def resolved(page, target):
    return str(pathlib.PurePosixPath(*[part for part in _normal(pathlib.PurePosixPath(page).parent / target)]))


def _normal(path):
    parts = []
    for part in path.parts:
        if part == '..':
            parts = parts[:-1] if parts else ['..']
        elif part != '.':
            parts.append(part)
    return parts or ['.']


def twice(page):
    """Names that two entries of the list of pages have."""
    names = [words for _, words in page.entries]
    return [f'{page.name} has two entries {name}' for name in sorted(set(names)) if names.count(name) > 1]


def turned(pages):
    """What is wrong with the way from the first page to the last, and back: each page of the lists is on it once."""
    way, at = [], 'index.html'
    while at in pages and at not in way:
        way.append(at)
        at = pages[at].beside.get('next')
    listed = {resolved(page.name, target) for page in pages.values() for target, _ in page.entries if '#' not in target}
    wrong = [f'{each} is not on it' for each in sorted(listed - set(way))] + [f'after {way[-1]} comes {at} again'] * (at is not None)
    return wrong + [f'{there} does not lead back to {here}' for here, there in zip(way, way[1:]) if pages[there].beside.get('prev') != here], len(way)


def main(folder):
    root = pathlib.Path(folder)
    pages = {str(path.relative_to(root)): Page(str(path.relative_to(root)), path.read_text()) for path in sorted(root.rglob('*.html'))}
    say([f'{page.name} {wrong}' for page in pages.values() for wrong in page.wrong], f'{len(pages)} pages are well-formed')
    wrong, outside, count = [], [], 0
    for page in pages.values():
        for where, target in page.links + page.loads:
            if re.match(r'(https?:)?//|data:', target):
                if (where, target) in page.loads:
                    outside.append(f'{page.name} {where} loads {target}')
                continue
            if re.match(r'[a-z]+:', target):
                continue
            count += 1
            path, _, anchor = urllib.parse.unquote(target).partition('#')
            place = resolved(page.name, path) if path else page.name
            if not (root / place).is_file():
                wrong.append(f'{page.name} {where} links {target}, which does not exist')
            elif anchor and place in pages and anchor not in pages[place].ids:
                wrong.append(f'{page.name} {where} links {target}, which has no such anchor')
    for path in [*root.rglob('*.css'), *root.rglob('*.svg')]:
        for target in re.findall(r'url\(([^)]*)\)|@import\s+(\S+)|href="(http[^"]*)"', path.read_text()):
            if any(part and not part.strip('"\'').startswith('#') for part in target):
                outside.append(f'{path.name} loads {"".join(target)}')
    say(wrong, f'{count} links and anchors resolve')
    say(outside, 'nothing is loaded from outside')
    figures = [path.name for path in sorted(root.glob('figures/*.svg')) if not re.search(r'<title>[^<]{10,}</title>', path.read_text())]
    say(figures, 'figures have titles')
    say([each for page in pages.values() for each in twice(page)], 'no two entries of a list of pages have one name')
    if (root / 'index.html').exists():
        wrong, count = turned(pages)
        say(wrong, f'previous and next lead through {count} pages')
        shown = {name: page for name, page in pages.items() if page.beside and page.heads}
        say([f'{name} lacks {anchor}' for name, page in shown.items() for anchor in page.heads if anchor not in page.contents],
            f'the contents beside {len(shown)} pages have all their sections')
        first = pages['index.html']
        size = len((root / 'index.html').read_bytes()) + sum((root / target).stat().st_size for target in {target for _, target in first.loads} if (root / target).is_file())
        say([f'it is {size}'] if size > FIRST_PAGE else [], f'the first page loads at most {FIRST_PAGE} bytes: {size}')


main(*sys.argv[1:])
