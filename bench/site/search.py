"""The index of the search: names of the reference, headings of pages, and the words below each. A script sets it, so that the site works
from a folder, too, and it is loaded only when somebody searches."""
import json
import re


class Index:
    def __init__(self):
        self.entries, self.addresses = [], {}

    def _address(self, page):
        return self.addresses.setdefault(page, len(self.addresses))

    def name(self, name):
        text = re.sub(r'\s+', ' ', name.summary.replace('`', ''))[:140]
        label = {'cpp': 'C++', 'c': 'C', 'python': 'Python', 'javascript': 'JavaScript', 'command': 'attend'}[name.language]
        shown = name.full.replace('.', {'cpp': '::', 'command': ' '}.get(name.language, '.')) if name.language != 'c' else \
            name.full if not name.owner or name.kind == 'enumerator' else f'{name.owner}.{name.short}'
        self.entries.append([name.short, shown, f'{label} {name.kind}', self._address(name.page), name.anchor, text])

    def page(self, address, page):
        words = {}
        for anchor, text in page.sections:
            words.setdefault(anchor, []).append(text)
        for level, anchor, heading in page.headings:
            seen = dict.fromkeys(re.findall(r'[\w.+-]*\w', ' '.join(words.get(anchor, [])).lower()))
            where = page.title if level > 1 else 'page'
            self.entries.append(['', heading, where, self._address(address), '' if level == 1 else anchor, ' '.join(seen)])

    def script(self):
        index = {'pages': list(self.addresses), 'entries': self.entries}
        return f'attendSearch({json.dumps(index, ensure_ascii=False, separators=(",", ":"))});\n'
