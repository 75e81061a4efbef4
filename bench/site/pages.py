"""Pages of the project as HTML, by markdown-it-py (Debian: python3-markdown-it), which reads Markdown as GitHub does: CommonMark with
tables. Anchors of headings are GitHub's; links lead to the pages of the site, figures are copied, names of the reference are links."""
import pathlib
import re
import urllib.parse

from markdown_it import MarkdownIt

import markup
from markup import attribute, escaped

MARKDOWN = MarkdownIt('commonmark', {'html': True}).enable('table').enable('strikethrough')


def slug(text):
    """GitHub's anchor of a heading."""
    return re.sub(r'[^\w\- ]', '', text.strip().lower()).replace(' ', '-')


def plain(tokens):
    return ''.join(plain(token.children) if token.children else token.content for token in tokens
                   if token.type in ('text', 'code_inline', 'softbreak', 'inline', 'image')).replace('\n', ' ')


class Rendered:
    """A page's HTML, its title and headings [(level, anchor, text)], and the first words of it."""

    def __init__(self):
        self.html, self.title, self.headings, self.lead, self.anchors, self.sections = '', '', [], '', set(), []


class Renderer:
    """resolve(path of the page, target) gives a link's address; figure(page, target, title) a figure's; name(page, code span) and
    word(language) what code means, as addresses."""

    def __init__(self, resolve, figure, name, word):
        self.resolve, self.figure, self.name, self.word = resolve, figure, name, word

    def page(self, path, text):
        self.path, self.out, counts = path, Rendered(), {}
        tokens = MARKDOWN.parse(text)
        parts, at = [], 0
        section = ''
        while at < len(tokens):
            token = tokens[at]
            if token.type == 'heading_open':
                inline = tokens[at + 1]
                words = plain(inline.children)
                anchor = slug(words)
                counts[anchor] = counts.get(anchor, -1) + 1
                anchor = f'{anchor}-{counts[anchor]}' if counts[anchor] else anchor
                self.out.anchors.add(anchor)
                section = anchor
                level = int(token.tag[1])
                self.out.title = self.out.title or words
                self.out.headings.append((level, anchor, words))
                link = '' if level == 1 else f' <a class="here" href="#{anchor}" aria-label="Link to {attribute(words)}">#</a>'
                parts.append(f'<{token.tag} id="{anchor}">{self.inline(inline.children, section)}{link}</{token.tag}>\n')
                at += 3
                continue
            parts.append(self.token(token, tokens, at, section))
            at += 1
        self.out.html = ''.join(parts)
        return self.out

    def token(self, token, tokens, at, section):
        if token.type == 'inline':
            words = plain(token.children)
            if not self.out.lead and tokens[at - 1].type == 'paragraph_open':
                self.out.lead = words
            self.out.sections.append((section, words))
            return self.inline(token.children, section)
        if token.type in ('fence', 'code_block'):
            language = token.info.strip() if token.type == 'fence' else ''
            return markup.block(token.content.rstrip('\n'), language, lambda word, before: self.word(self.path, word, before, language, section))
        if token.type == 'html_block':
            return re.sub(r'<!--.*?-->\s*', '', token.content, flags=re.S)
        if token.type == 'table_open':
            return '<div class="table" tabindex="0" role="group" aria-label="table"><table>\n'
        if token.type == 'table_close':
            return '</table></div>\n'
        if token.type in ('th_open', 'td_open'):
            style = token.attrGet('style') or ''
            tag = token.tag
            # A header cell without words names nothing.
            if tag == 'th' and not plain(tokens[at + 1].children or []).strip():
                tag = 'td'
            align = ' class="right"' if 'right' in style else ''
            return f'<{tag}{align}>' if tag == 'td' else f'<th scope="col"{align}>'
        if token.type == 'th_close':
            return '</th>' if plain(tokens[at - 1].children or []).strip() else '</td>'
        if token.type == 'hr':
            return '<hr>\n'
        if token.type == 'paragraph_open' and (token.hidden or is_figure(tokens[at + 1])):
            return ''
        if token.type == 'paragraph_close' and (token.hidden or is_figure(tokens[at - 1])):
            return ''
        if token.nesting >= 0:
            start = f' start="{token.attrGet("start")}"' if token.attrGet('start') else ''
            return f'<{token.tag}{start}>'
        return f'</{token.tag}>\n'

    def inline(self, children, section):
        parts, in_link = [], 0
        for child in children:
            if child.type == 'text':
                parts.append(escaped(child.content))
            elif child.type == 'code_inline':
                target = None if in_link else self.name(self.path, child.content, section)
                text = f'<code>{escaped(child.content)}</code>'
                parts.append(f'<a class="name" href="{attribute(target)}">{text}</a>' if target else text)
            elif child.type == 'link_open':
                in_link += 1
                parts.append(f'<a href="{attribute(self.resolve(self.path, child.attrGet("href")))}">')
            elif child.type == 'link_close':
                in_link -= 1
                parts.append('</a>')
            elif child.type == 'image':
                title = plain(child.children)
                address, width, height = self.figure(self.path, child.attrGet('src'), title)
                size = f' width="{width}" height="{height}"' if width else ''
                parts.append(f'<figure><a href="{attribute(address)}"><img src="{attribute(address)}" alt="{attribute(title)}"{size} loading="lazy"></a>'
                             f'<figcaption>{escaped(title)}</figcaption></figure>')
            elif child.type == 'softbreak':
                parts.append('\n')
            elif child.type == 'hardbreak':
                parts.append('<br>')
            elif child.type == 'html_inline':
                parts.append('' if child.content.startswith('<!--') else child.content)
            else:
                parts.append(f'<{child.tag}>' if child.nesting > 0 else f'</{child.tag}>')
        return ''.join(parts)


def is_figure(token):
    return token.type == 'inline' and len(token.children) == 1 and token.children[0].type == 'image'


def relative(page, target):
    """A link's path from the project's top folder, and its anchor."""
    path, _, anchor = urllib.parse.unquote(target).partition('#')
    if not path:
        return page, anchor
    parts = list(pathlib.PurePosixPath(page).parent.parts)
    for part in pathlib.PurePosixPath(path).parts:
        if part == '..' and parts:
            parts.pop()
        elif part != '.':
            parts.append(part)
    return '/'.join(parts) or '.', anchor
