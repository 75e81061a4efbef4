"""Code as HTML: coloured by Pygments (Debian: python3-pygments), with the names of the reference as links."""
import re
from html import escape as _escape

import pygments.lexers
import pygments.token

# Five colours are enough to read by, and one letter for each keeps pages small.
COLOURS = [(pygments.token.Comment.Preproc, 'p'), (pygments.token.Comment.PreprocFile, 's'), (pygments.token.Comment, 'c'), (pygments.token.String, 's'),
           (pygments.token.Keyword.Type, 't'), (pygments.token.Keyword, 'k'), (pygments.token.Operator.Word, 'k'), (pygments.token.Number, 'n')]
LANGUAGES = {'cpp': 'cpp', 'c': 'c', 'python': 'python', 'sh': 'bash', 'cmake': 'cmake', 'json': 'json', 'js': 'javascript', 'html': 'html', 'ini': 'ini',
             'yaml': 'yaml', 'make': 'make', 'ts': 'typescript'}
SUFFIXES = {'.h': 'cpp', '.cpp': 'cpp', '.c': 'c', '.inc': 'cpp', '.py': 'python', '.sh': 'sh', '.ino': 'cpp', '.json': 'json', '.js': 'js', '.mk': 'make',
            '.in': 'cpp', '.yml': 'yaml', '.mjs': 'js'}
_lexers, _colours = {}, {}


def escaped(text):
    return _escape(str(text), quote=False)


def attribute(text):
    return _escape(str(text), quote=True)


def ticked(text):
    """Words in which code stands between backticks."""
    return ''.join(f'<code>{part}</code>' if at % 2 else part for at, part in enumerate(escaped(text).split('`')))


def tokens(text, language):
    """(class or '', text) of each token."""
    name = LANGUAGES.get(language)
    if name is None:
        return [('', text)]
    if name not in _lexers:
        _lexers[name] = pygments.lexers.get_lexer_by_name(name, stripnl=False, ensurenl=False)
    found = []
    ended = text + '\n'  # without which a comment on the last line is none to the lexer
    for kind, piece in _lexers[name].get_tokens(ended):
        colour = _colours.get(kind)
        if colour is None:
            colour = _colours[kind] = next((colour for parent, colour in COLOURS if kind in parent), '')
        if found and found[-1][0] == colour and colour:
            found[-1] = (colour, found[-1][1] + piece)
        else:
            found.append((colour, piece))
    found[-1] = (found[-1][0], found[-1][1].removesuffix('\n'))
    return found


def highlighted(text, language, link=None):
    """link(name, the code before it): where a name leads, or None."""
    found, before = [], ''
    for colour, piece in tokens(text, language):
        target = None
        if link is not None and not colour and re.fullmatch(r'[A-Za-z_]\w*', piece):
            target = link(piece, before)
        if target:
            found.append(f'<a href="{attribute(target)}">{escaped(piece)}</a>')
        elif colour and piece.strip():
            found.append(f'<i class="{colour}">{escaped(piece)}</i>')
        else:
            found.append(escaped(piece))
        before = (before + piece)[-80:]
    return ''.join(found)


def block(text, language='', link=None, label=''):
    """A block that scrolls by itself, so it can be reached by the keyboard."""
    name = f' aria-label="{attribute(label)}"' if label else ' aria-label="code"'
    return f'<div class="code"><pre tabindex="0" role="group"{name}><code>{highlighted(text, language, link)}</code></pre></div>'
