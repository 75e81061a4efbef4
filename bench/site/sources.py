"""Sources that pages name or that hold a declaration: one page each, with numbered lines; and folders, with the files in them."""
import pathlib

import markup
from layout import between
from markup import attribute, escaped

LARGEST = 200_000  # bytes of a file that is shown


def is_text(path):
    data = path.read_bytes()
    return len(data) <= LARGEST and b'\0' not in data


def address(path):
    """Of a file or folder of the project."""
    parts = [part.lstrip('.') if part != '..' else part for part in pathlib.PurePosixPath(path).parts]
    return f'source/{"/".join(parts)}'


def source_body(path, text, link):
    language = markup.SUFFIXES.get(pathlib.PurePosixPath(path).suffix, 'make' if path.endswith('Makefile') else '')
    lines = []
    for colour, piece in markup.tokens(text.rstrip('\n'), language):
        if not lines:
            lines.append('')
        for at, part in enumerate(piece.split('\n')):
            if at:
                lines.append('')
            if not part:
                continue
            target = link(part) if not colour and link else None
            if target:
                lines[-1] += f'<a href="{attribute(target)}">{escaped(part)}</a>'
            else:
                lines[-1] += f'<i class="{colour}">{escaped(part)}</i>' if colour and part.strip() else escaped(part)
    numbered = '\n'.join(f'<span id="L{number}">{line}</span>' for number, line in enumerate(lines, 1))
    return (f'<h1 class="file"><code>{escaped(path)}</code></h1>\n<div class="code source"><pre tabindex="0" role="group" aria-label="{attribute(path)}">'
            f'<code>{numbered}</code></pre></div>')


def folder_body(page, path, entries):
    items = ''.join(f'<li><a href="{attribute(between(page, target))}"><code>{escaped(name)}</code></a></li>' if target else
                    f'<li><code>{escaped(name)}</code></li>' for name, target in entries)
    return f'<h1 class="file"><code>{escaped(path)}/</code></h1>\n<ul class="files">{items}</ul>'
