"""The pages of the reference: entries with signature, comment, members, errors, source line, and the guides that name them."""
import comments
from declarations import Entry
from layout import between
from markup import attribute, block, escaped, highlighted, ticked

KINDS = {'function': 'function', 'struct': 'struct', 'class': 'class', 'enum': 'enumeration', 'constant': 'constant', 'type': 'type', 'macro': 'macro',
         'interface': 'interface', 'command': 'command', 'option': 'option', 'method': 'method', 'field': 'field', 'enumerator': 'value', 'constructor': 'constructor', 'property': 'property', 'module': 'module'}


COLOURED = {'javascript': 'ts', 'command': 'sh'}  # as markup.py calls them


class Writer:
    """One page of a language: what it links, and how comments become HTML."""

    def __init__(self, page, language, names, source):
        self.page, self.language, self.names, self.source = page, language, names, source
        self.coloured = COLOURED.get(language, language)

    def link(self, url, words, kind=''):
        mark = f' class="{kind}"' if kind else ''
        return f'<a{mark} href="{attribute(between(self.page, url))}">{words}</a>'

    def words(self, text):
        """A comment's words: names become links, and what stands between backticks is code."""
        def linked(name, word):
            if name.url.startswith(self.page + '#') and name.anchor == self.at:
                return f'<code>{word}</code>'
            return self.link(name.url, f'<code>{word}</code>', 'name')
        parts = escaped(text).split('`')
        return ''.join(f'<code>{part}</code>' if at % 2 else self.names.in_comment(part, self.language, linked) for at, part in enumerate(parts))

    def comment(self, lines, anchor=''):
        self.at, parts = anchor, []
        for kind, content in comments.blocks(lines):
            if kind == 'text':
                parts.append(f'<p>{self.words(content)}</p>')
            elif kind == 'terms':
                rows = ''.join(f'<div><dt>{self.term(term, anchor)}</dt><dd>{self.words(text)}</dd></div>' for term, text in content)
                parts.append(f'<dl class="terms">{rows}</dl>')
            elif kind == 'code':
                parts.append(block('\n'.join(content), self.coloured, self.in_code))
            else:
                parts.append(block('\n'.join(content)))
        return '\n'.join(parts)

    def term(self, term, anchor):
        """A parameter that has a place of its own in the search."""
        name = self.names.find(self.language, f'{anchor}.{term}')
        mark = f' id="{attribute(name.anchor)}"' if name is not None and name.kind == 'parameter' else ''
        return f'<code{mark}>{escaped(term)}</code>'

    def in_code(self, word, before):
        name = self.names.in_code(word, before, self.language)
        return between(self.page, name.url) if name else None

    def signature(self, text):
        return f'<div class="code signature"><pre tabindex="0" role="group" aria-label="declaration"><code>{highlighted(text, self.coloured, self.known)}</code></pre></div>'

    def known(self, word, _):
        """Types of a declaration."""
        name = self.names.find(self.language, word) if self.language != 'python' else self.names.find('python', f'attend.{word}')
        if name is None or name.anchor == self.at or name.kind not in ('struct', 'class', 'interface', 'enum', 'type', 'macro', 'constant'):
            return None
        return between(self.page, name.url)

    def place(self, path, line):
        return self.link(f'{self.source(path)}#L{line}', f'{escaped(path)}:{line}', 'place')

    def head(self, anchor, name, kind, path, line):
        return (f'<h2 id="{attribute(anchor)}"><code>{escaped(name)}</code> <span class="kind">{KINDS[kind]}</span> '
                f'<a class="here" href="#{attribute(anchor)}" aria-label="Link to {attribute(name)}">#</a></h2>\n<p class="where">{self.place(path, line)}</p>')

    def guides(self, names):
        """Pages that name one of these."""
        found = {}
        for name in names:
            for page, (anchor, title) in name.pages.items():
                found.setdefault(page, (anchor, title))
        if not found:
            return ''
        links = ', '.join(self.link(f'{page}#{anchor}' if anchor else page, escaped(title)) for page, (anchor, title) in sorted(found.items()))
        return f'<p class="guides"><b>Named in</b> {links}</p>'


class Headers(Writer):
    def entry(self, entry, errors):
        first = entry.items[0]
        self.at = first.id
        parts = [f'<section class="entry">{self.head(first.id, first.name, first.kind, first.path, first.line)}']
        for item in entry.items:
            self.at = item.id
            mark = '' if item is first else f'<span id="{attribute(item.id)}"></span>'
            parts.append(mark + self.signature(item.signature))
            if item.comment:
                parts.append(self.comment(item.comment, item.id))
        parts.append(self.comment(entry.comment, first.id))
        for item in entry.items:
            if item.members:
                parts.append(self.members(item, errors))
        listed = [each for item in entry.items if item.returns_status for each in errors(item)]
        if listed:
            parts.append(self.errors(sorted(set(listed))))
        parts.append(self.guides([name for item in entry.items for name in item.names]))
        parts.append('</section>')
        return '\n'.join(part for part in parts if part)

    def members(self, item, errors):
        rows = []
        for member in item.members:
            self.at = member.id
            text = f'<code class="declaration">{highlighted(member.signature, self.language, self.known)}</code>'
            inner = self.comment(member.comment, member.id)
            if member.returns_status:
                inner += self.errors(sorted(errors(member)))
            there = '' if member.path == item.path else f'{member.path.split("/")[-1]}:'
            where = self.link(f'{self.source(member.path)}#L{member.line}', f'{there}{member.line}', 'place')
            rows.append(f'<div id="{attribute(member.id)}"><dt>{text} {where}</dt><dd>{inner}</dd></div>')
        return f'<dl class="members">{"".join(rows)}</dl>'

    def errors(self, found):
        """In C (error, argument), in C++ the status."""
        rows = []
        if self.language == 'c':
            by_error = {}
            for error, argument in found:
                by_error.setdefault(error, []).append(argument)
            for error, arguments in sorted(by_error.items()):
                words = ', '.join(f'<code>{escaped(argument.removeprefix("ATTEND_ARG_").lower())}</code>' for argument in arguments)
                rows.append(f'<div><dt>{self.named(error, error)}</dt><dd>{words}</dd></div>')
            count = f'{len(by_error)} errors, of {len({argument for _, argument in found})} arguments'
        else:
            for status in found:
                summary = self.names.find('cpp', f'Status.{status}').summary
                rows.append(f'<div><dt>{self.named(f"Status.{status}", status)}</dt><dd>{self.words(summary)}</dd></div>')
            count = f'{len(found)} statuses but ok' if len(found) != 1 else '1 status but ok'
        state = ' open' if len(rows) <= 3 else ''
        return f'<details class="errors"{state}><summary>Errors: {count}</summary><dl class="terms">{"".join(rows)}</dl></details>'

    def named(self, full, words):
        name = self.names.find(self.language, full)
        return self.link(name.url, f'<code>{escaped(words)}</code>', 'name')

    def body(self, page, errors):
        title = page.path.removeprefix('include/')
        parts = [f'<h1><code>{escaped(title)}</code></h1>', f'<p class="where">{self.place(page.path, 1)}</p>', self.comment(page.intro)]
        for part in page.parts:
            if isinstance(part, Entry):
                parts.append(self.entry(part, errors))
            else:
                head = f'<h2 class="part" id="{attribute(part.id)}">{escaped(part.title)}</h2>' if part.title else ''
                parts.append(head + self.comment(part.lines))
        return '\n'.join(parts)


class Modules(Writer):
    """Of Python, JavaScript and the command."""

    def body(self, module):
        parts = [f'<h1><code>{escaped(module.full)}</code></h1>', f'<p class="where">{self.place(module.path, module.line)}</p>', self.comment(module.doc)]
        for each in module.members:
            self.at = each.full
            parts.append(f'<section class="entry">{self.head(each.full, each.full, each.kind, each.path, each.line)}{self.signature(each.signature)}')
            parts.append(self.comment(each.doc, each.full))
            if each.members:
                parts.append(self.methods(each))
            parts.append(self.guides([self.names.find(self.language, each.full)]) + '</section>')
        return '\n'.join(parts)

    def methods(self, owner):
        rows = []
        for each in owner.members:
            self.at = each.full
            where = self.link(f'{self.source(each.path)}#L{each.line}', f'{each.path.split("/")[-1]}:{each.line}', 'place')
            rows.append(f'<div id="{attribute(each.full)}"><dt><code class="declaration">{highlighted(each.signature, self.coloured, self.known)}</code> {where}</dt>'
                        f'<dd>{self.comment(each.doc, each.full)}</dd></div>')
        return f'<dl class="members">{"".join(rows)}</dl>'


def overview(page, sections):
    """All names: sections [(title, language, [(words, address, [(name, words, summary)])])]."""
    parts = ['<h1>Reference</h1>', '<p>Every public name of all surfaces, from the headers, the Python package and the types of the npm package, with the comment that stands '
             'there. <kbd>/</kbd> searches all of them, fields and errors too.</p>']
    for anchor, title, blurb, groups in sections:
        parts.append(f'<h2 id="{anchor}">{escaped(title)}</h2><p>{blurb}</p>')
        for address, words, intro, listed in groups:
            parts.append(f'<h3><a href="{attribute(between(page, address))}"><code>{escaped(words)}</code></a></h3><p>{ticked(intro)}</p>')
            rows = ''.join(f'<tr><td><a class="name" href="{attribute(between(page, url))}"><code>{escaped(name)}</code></a></td><td>{ticked(summary)}</td></tr>'
                           for name, url, summary in listed)
            parts.append(f'<div class="table" tabindex="0" role="group" aria-label="{attribute(words)}"><table><thead><tr><th scope="col">name</th>'
                         f'<th scope="col">what it is</th></tr></thead><tbody>{rows}</tbody></table></div>')
    return '\n'.join(parts)
