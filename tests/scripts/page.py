"""A page of the project as lines, code blocks and comments: what pages.py reads."""
import pathlib
import re


class Page:
    """A page as lines: those of code blocks apart, comments with the lines that they are about."""

    def __init__(self, root, path):
        self.path, self.text = path, (root / path).read_text()
        self.prose, self.rows = [], []  # (number, line): without comments, and with those that stand in a line
        self.blocks, self.comments = [], []  # (number, language, lines, comment), (number, line before, comment)
        language, lines, comment, held, last = None, [], None, '', ''
        for number, line in enumerate(self.text.split('\n'), 1):
            if held:
                held += '\n' + line
                if '-->' in line:
                    comment, held = held[held.index('<!--') + 4:held.index('-->')], ''
            elif language is None and line.lstrip().startswith('```'):
                language, lines, first, margin = line.strip()[3:] or 'plain', [], number + 1, len(line) - len(line.lstrip())
            elif line.lstrip().startswith('```'):
                self.blocks.append((first, language, lines, comment))
                language, comment = None, None
            elif language is not None:
                lines.append(line[margin:])
            elif line.lstrip().startswith('<!--') and '-->' not in line:
                held = line
            elif line.lstrip().startswith('<!--') and line.rstrip().endswith('-->'):
                comment = line.strip()[4:-3].strip()
                self.comments.append((number, last, comment))
            else:
                found = re.findall(r'<!--(.*?)-->', line)
                self.rows.append((number, line))
                line = re.sub(r'<!--.*?-->', '', line)
                self.comments += [(number, line, text.strip()) for text in found]
                self.prose.append((number, line))
                if line.strip():
                    last, comment = line, None

    def name(self):
        return re.sub(r'\W+', '_', self.path.removesuffix('.md')).strip('_')

    def anchors(self):
        found = {}
        names = []
        for _, line in self.prose:
            heading = re.match(r'#+ (.*)', line)
            if heading:
                name = re.sub(r'\[(.*?)\]\(.*?\)', r'\1', heading[1])
                name = re.sub(r'[^\w\- ]', '', name.strip().lower()).replace(' ', '-')
                found[name] = found.get(name, -1) + 1
                names.append(f'{name}-{found[name]}' if found[name] else name)
        return set(names)

    def links(self):
        for number, line in self.prose:
            for target in re.findall(r'\]\(([^)\s]+)\)', line):
                yield number, target

    def tables(self):
        """Rows whose number of cells is not their header's."""
        cells = 0
        for number, line in self.rows:
            if not line.startswith('|'):
                cells = 0
                continue
            code = re.sub(r'`[^`]*`', lambda text: text[0].replace('\\|', ''), line)
            count = len(re.findall(r'(?<!\\)\|', code.rstrip())) - 1
            cells = cells or count
            if count != cells or not line.rstrip().endswith('|'):
                yield f'{self.path}:{number} has {count} cells for {cells}'


def pages_below(root):
    """Every page of the project or of a package, but what commands have written."""
    skipped = {'build', '.git', 'node_modules'}
    paths = (path.relative_to(root) for path in root.rglob('*.md'))
    return [Page(root, str(path)) for path in sorted(paths) if not skipped & set(path.parts)]


def resolved(folder, path):
    parts = list(folder.parts)
    for part in pathlib.PurePosixPath(path).parts:
        if part == '..' and parts:
            parts.pop()
        elif part != '.':
            parts.append(part)
    return parts or ['.']


def cells(line):
    """A row of a table, with commas between its cells."""
    return ', '.join(cell.strip() for cell in line.strip('| ').split('|')) if line.startswith('|') else ''


def numbers(text):
    return re.findall(r'(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?', re.sub(r'(?<=\d),(?=\d{3})', '', text))


def between(lines, begin, end):
    """Lines between the first that holds one text and the next that holds the other, without their common indentation."""
    starts = [at for at, line in enumerate(lines) if begin in line]
    ends = [at for at, line in enumerate(lines) if starts and at > starts[0] and end in line]
    if not ends:
        return None
    found = lines[starts[0] + 1:ends[0]]
    indents = [len(line) - len(line.lstrip()) for line in found if line.strip()]
    return [line[min(indents, default=0):] for line in found]
