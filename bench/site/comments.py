"""Comments of sources: which lines belong to a declaration, and what they are made of: paragraphs, lists of terms, code.

A declaration has the comment lines directly above it, at its own indentation, and those that follow it on its last line, with the lines
below that begin in the same column. Both are the library's own layout, in C and in C++.
"""
import re

# One comment of C or of C++ in a line, whatever stands before it. Strings of the headers hold no comment signs but those of URLs.
TRAILING = re.compile(r'(?P<code>.*?\S)\s+(?P<sign>//|/\*)(?P<text>.*)$')
FULL = re.compile(r'(?P<indent>\s*)(?P<sign>//|/\*)(?P<text>.*)$')


def blank(line):
    return not line.strip()


class Lines:
    """The lines of a source, counted from 1."""

    def __init__(self, text):
        self.lines = [''] + text.split('\n')
        self.in_comment = self._comments()

    def _comments(self):
        """For each line, whether it holds comment alone, and the line with which that comment of C begins."""
        found, open_at = {}, None
        for number, line in enumerate(self.lines):
            if open_at is not None:
                found[number] = open_at
                if '*/' in line:
                    open_at = None
                continue
            match = FULL.match(line)
            if match:
                found[number] = number
                if match['sign'] == '/*' and '*/' not in line:
                    open_at = number
            elif '/*' in line and '*/' not in line[line.rindex('/*'):]:
                open_at = number
        return found

    def column(self, number):
        """Where the comment of a line begins, which may be the end of a declaration."""
        line = self.lines[number]
        return min((at for at in (line.find('//'), line.find('/*')) if at >= 0), default=-1)

    def above(self, number):
        """The comment that ends on the line before, as text lines; None where there is none of this indentation."""
        indent = len(self.lines[number]) - len(self.lines[number].lstrip())
        last = number - 1
        if last not in self.in_comment:
            return None
        first = self.in_comment[last]
        if self.lines[first].lstrip().startswith('//'):
            while first - 1 in self.in_comment and FULL.match(self.lines[first - 1]) and self.column(first - 1) == indent:
                first -= 1
        if self.column(first) != indent or not FULL.match(self.lines[first]):
            return None
        return first, text_of(self.lines[first:last + 1])

    def behind(self, number):
        """The comment that follows a declaration on its last line: (its last line, text lines)."""
        match = TRAILING.match(self.lines[number])
        if not match:
            return number, []
        last, column = number, self.column(number)
        if match['sign'] == '/*':
            while '*/' not in self.lines[last]:
                last += 1
        else:
            while FULL.match(self.lines[last + 1]) and self.column(last + 1) == column:
                last += 1
        taken = [match['sign'] + match['text']] + self.lines[number + 1:last + 1]
        return last, text_of(taken)


def text_of(lines):
    """Without the signs of comments and directives of the formatter, with what is indented more than the rest."""
    found = []
    for number, line in enumerate(lines):
        line = line.strip() if number == 0 or line.lstrip().startswith(('//', '*')) else line
        line = re.sub(r'\s*\*/\s*$', '', line)
        line = re.sub(r'^(//|/\*|\*) ?', '', line)
        if not line.startswith('clang-format o'):
            found.append(line.rstrip())
    # Later lines of a comment of C have the column of its first word: below its sign, or behind a declaration.
    rest = [len(line) - len(line.lstrip()) for line in found[1:] if line.strip()]
    margin = min(rest, default=0)
    if margin <= 8:
        begins = re.match(r'\s*/\* ', lines[0]) if lines else None
        margin = min(margin, begins.end()) if begins else 0
    found[1:] = [line[margin:] for line in found[1:]]
    while found and blank(found[0]):
        found.pop(0)
    while found and blank(found[-1]):
        found.pop()
    return found


def is_code(lines):
    """Whether indented lines are an example: the same rule as of the tests, which compile them."""
    first = re.sub(r'\s*(//|#).*', '', lines[0].strip())
    return bool(re.match(r'(?! *for each).*[;{]$', first)) or bool(re.match(r'\w+(\.\w+)* = |[\w.]+\(.*\)$|from |import ', lines[0].strip()))


def runs(lines):
    """Lines as runs of (indented, lines); blank lines between indented ones stay."""
    found = []
    for line in lines:
        indented = line.startswith('  ')
        if blank(line):
            if found and found[-1][0]:
                found[-1][1].append('')
            else:
                found.append((False, []))
        elif found and found[-1][0] == indented:
            found[-1][1].append(line)
        else:
            found.append((indented, [line]))
    for _, run in found:
        while run and blank(run[-1]):
            run.pop()
    return [(indented, run) for indented, run in found if run]


TERM = re.compile(r'(?P<indent> *)(?P<term>\S(?:.{0,44}?\S)??) {2,}(?P<text>\S.*)$')


def terms(lines):
    """[(term, text)] of lines in two columns, where every line is one of them or goes on in the second; otherwise None."""
    found = []
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    for line in lines:
        if blank(line):
            continue
        match = TERM.match(line)
        indent = len(line) - len(line.lstrip())
        if match and indent == margin:
            found.append([match['term'], match['text']])
        elif found and indent > margin:
            found[-1][1] += ' ' + line.strip()
        else:
            return None
    return [(term, re.sub(' {2,}', ' · ', text)) for term, text in found] if found else None  # a third column


def dedented(lines):
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]


def blocks(lines):
    """[('text', words)], [('terms', pairs)], [('code', lines)], [('lines', lines)] of a comment."""
    found = []
    for indented, run in _with_columns(lines):
        if indented == 'columns':
            found.append(('terms', terms(run)))
        elif not indented:
            found.append(('text', ' '.join(line.strip() for line in run)))
        elif is_code(run):
            found.append(('code', dedented(run)))
        else:
            pairs = terms(run)
            found.append(('terms', pairs) if pairs else ('lines', dedented(run)))
    return found


def _with_columns(lines):
    """runs(), but lines in two columns at the margin, with those that go on below them, are runs of their own."""
    at, plain = 0, []
    while at < len(lines):
        match = TERM.match(lines[at])
        if match and not match['indent'] and re.match(r"[\w`'*.,()=<>/ -]+$", match['term']) and not match['term'].endswith('.'):
            yield from runs(plain)
            plain, run = [], []
            while at < len(lines) and not blank(lines[at]) and (TERM.match(lines[at]) or lines[at].startswith(' ')):
                run.append(lines[at])
                at += 1
            yield 'columns', run
            continue
        plain.append(lines[at])
        at += 1
    yield from runs(plain)


def first_sentence(lines):
    for kind, content in blocks(lines):
        if kind == 'text':
            match = re.match(r'(.{20,}?[.:])(?= [A-Z(]|$)', content)
            return (match[1] if match else content).rstrip(':')
    return ''
