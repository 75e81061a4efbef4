"""Reads the grammar files of this folder and expands their lines at random. words.txt says what the marks mean."""
import os
import re
import zlib

FOLDER = os.path.dirname(os.path.abspath(__file__))
TRAIN, DEVELOP, TEST = "train", "develop", "test"
SPLIT_OF_MARK = {"?": DEVELOP, "!": TEST}
TOKEN = re.compile(r"\(|\)|\||\{[^}]*\}|<\w+>|@\w+|[^\s()|{}<>@]+")


def read_lines(name):
    """Lines of a file without comments; a line that begins with two spaces continues the one before."""
    lines = []
    with open(os.path.join(FOLDER, name), encoding="ascii") as file:
        for line in file:
            line = line.rstrip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("  "):
                lines[-1] += " " + line.strip()
            else:
                lines.append(line)
    return lines


def split_of(line):
    """A line without its mark, and the split that the mark names."""
    if line[:2] in ("? ", "! "):
        return line[2:], SPLIT_OF_MARK[line[0]]
    return line, TRAIN


def parse(text):
    """A pattern as a list of alternatives, each a list of items: words, or alternatives again."""
    tokens = TOKEN.findall(text)
    alternatives, rest = _parse(tokens, 0)
    assert rest == len(tokens), text
    return alternatives


def _parse(tokens, at):
    alternatives = [[]]
    while at < len(tokens) and tokens[at] != ")":
        token = tokens[at]
        at += 1
        if token == "|":
            alternatives.append([])
        elif token == "(":
            inner, at = _parse(tokens, at)
            alternatives[-1].append(inner)
            at += 1
        else:
            alternatives[-1].append(token)
    return alternatives, at


class Words:
    """words.txt and the definitions of outside.txt."""

    def __init__(self):
        self.slots = {}    # room -> [(value, [texts])]
        self.nouns = {}    # light -> [texts]
        self.phrases = {}  # (name, held out) -> alternatives
        for line in read_lines("words.txt") + [l for l in read_lines("outside.txt") if self.is_definition(l)]:
            self.define(*split_of(line))

    @staticmethod
    def is_definition(line):
        return re.match(r"(! )?<\w+> [^()]*$", line) is not None and line.count("|") > 4

    def define(self, line, split):
        head, body = line.split(" ", 1)
        if head[0] == "{":
            key, texts = body.split(":", 1)
            self.slots.setdefault(head[1:-1], []).append((key, [t.strip() for t in texts.split("|")]))
        elif head[0] == "@":
            self.nouns[head[1:]] = [t.strip() for t in body.split("|")]
        else:
            self.phrases[head[1:-1], split == TEST] = parse(body)


def read_commands():
    """All lines of commands.txt as (action, split, is a statement, pattern)."""
    frames, lines, section, frame = {}, [], None, None
    for line in read_lines("commands.txt"):
        if line.startswith("frames "):
            frame = frames.setdefault(line.split()[1], [])
            section = None
        elif line.startswith("["):
            section = line[1:-1]
        elif section is None:
            frame.append(line)
        elif re.match(r"use \w+ [A-Z]+ [A-Z]+0?( |$)", line):
            name, full, bare, done = (line.split(" ", 4) + [""])[1:5]
            for text in frames[name]:
                number = zlib.crc32((section + text).encode()) % 10
                split = DEVELOP if number == 0 else TEST if number < 3 else TRAIN
                text = text.replace("<it>", f"<{full}>").replace("<it0>", f"<{bare}>").replace("<done>", done)
                lines.append((section, split, text))
        else:
            text, split = split_of(line)
            lines.append((section, split, text))
    trained = {(action, text) for action, split, text in lines if split == TRAIN}
    return [(action, split, *statement(text)) for action, split, text in lines if split == TRAIN or (action, text) not in trained]


def statement(text):
    """Whether a line is a statement, which one that begins with no verb is too, and its pattern."""
    marked = text.startswith("~ ")
    return marked or text[0] in "<{" and not text.startswith("<at>"), parse(text[2:] if marked else text)


def read_outside():
    return [(split, parse(text)) for text, split in
            (split_of(line) for line in read_lines("outside.txt") if not Words.is_definition(line))]


def read_wrappers():
    wrappers, section = {}, None
    for line in read_lines("wrappers.txt"):
        if line.startswith("["):
            section = line[1:-1]
        else:
            text, split = split_of(line)
            wrappers.setdefault((section, split), []).append(parse(text))
    return wrappers
