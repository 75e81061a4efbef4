"""Sentences and their actions, made at random from the grammar files. The same seed makes the same sentences."""
import random
import re
import zlib

import clock
import numbers_in_words as numbers
from gerunds import with_gerund
from grammar import DEVELOP, TEST, TRAIN, Words, read_commands, read_outside, read_wrappers

UNKNOWN = "unknown"
PARAMETERS = ("room", "door", "color", "genre", "name", "level", "degrees", "channel", "hours", "minutes", "seconds", "time")
CONTRACTIONS = (("it is", "its"), ("what is", "whats"), ("i am", "im"), ("do not", "dont"), ("i would", "id"), ("we are", "were"),
                ("can not", "cant"), ("i have", "ive"))
FOREIGN = ("device", "device", "device", "room", "room", "room", "number")
REFUSALS = ("do not", "do not", "never", "please do not", "you must not", "you should not", "i did not")
DISPENSABLE = set("the a my our that some to is are of me i it you please be this an will has have".split())
AT_A_DAY = re.compile(r"\bat (this|tomorrow|tonight)\b")
NUMERIC_ACTIONS = ["alarm.set", "timer.start"]  # twice as often: their numbers are the hardest to learn
HARDEST = ["alarm.set"] * 14  # in the training: times are said in more ways than anything else
SLOTS = dict(numbers.SLOTS, time=clock.time)
NUMBER_WORDS = set(numbers.ONES + numbers.TENS + ["hundred", "quarter", "half"])


class Sentences:
    def __init__(self, seed, disturbs=True):
        """disturbs: some sentences of the training have sounds and words that the grammar lacks."""
        self.random, self.disturbs = random.Random(seed), disturbs
        self.words = Words()
        self.wrappers = read_wrappers()
        self.commands = {}  # split -> action -> [(is a statement, pattern)]
        for action, split, is_statement, pattern in read_commands():
            self.commands.setdefault(split, {}).setdefault(action, []).append((is_statement, pattern))
        self.outside = {}
        for split, pattern in read_outside():
            self.outside.setdefault(split, []).append(pattern)

    def line(self, split, more=(), only=None):
        """An action, whether its line is a statement, and the pattern of the line."""
        action = only or self.random.choice(list(self.commands[split]) + list(more))
        return (action, *self.random.choice(self.commands[split][action]))

    def alarm(self, split):
        """A command with a time."""
        return self.command(split, "alarm.set")

    def command(self, split, only=None):
        """One sentence of a split, and its action."""
        while True:
            action, is_statement, pattern = self.line(split, NUMERIC_ACTIONS + (HARDEST if split == TRAIN else []), only)
            found = Expansion(self, split)
            text = found.expand(pattern)
            if text is None or split == TRAIN and held_out(action, found.values):
                continue
            text = self.wrap(AT_A_DAY.sub(r"\1", text), is_statement, split)
            return text, action_text(action, found.values)

    def near_miss(self, split):
        """A command for a device or a room that the house does not have, or to a level that is none."""
        while True:
            _, is_statement, pattern = self.line(split)
            found = Expansion(self, split, foreign=self.random.choice(FOREIGN))
            text = found.expand(pattern)
            if text is not None and found.foreign is None:
                return self.wrap(text, is_statement, split), UNKNOWN

    def topic(self, split):
        """What people say otherwise."""
        text = Expansion(self, split).expand(self.random.choice(self.outside[split]))
        return self.wrap(text, True, split), UNKNOWN

    def refusal(self, split):
        """A command that is not to be carried out."""
        while True:
            _, is_statement, pattern = self.line(split)
            text = Expansion(self, split).expand(pattern)
            if not is_statement and text is not None and not text.startswith("dont"):
                return self.wrap(self.random.choice(REFUSALS) + " " + text, True, split), UNKNOWN

    def salad(self, split):
        """Words of the house in an order that means nothing."""
        words = []
        for _ in range(self.random.randrange(1, 4)):
            words += self.command(split)[0].split()
        self.random.shuffle(words)
        return " ".join(words[: self.random.randrange(2, 10)]), UNKNOWN

    def outsider(self, split):
        kind = self.random.random()
        if split == TRAIN and kind < 0.03:
            return self.salad(split)
        return self.near_miss(split) if kind < 0.45 else self.refusal(split) if kind < 0.52 else self.topic(split)

    def wrap(self, text, is_statement, split):
        """The sentence with what people say around it."""
        rng = self.random
        if not is_statement and rng.random() < 0.55:
            mind = with_gerund(text) if rng.random() < 0.15 else None
            text = self.around("mind", split) + " " + mind if mind else self.around("before", split) + " " + text
        if rng.random() < (0.15 if is_statement else 0.3):
            text += " " + self.around("after", split)
        if rng.random() < 0.2:
            text = self.around("opening", split) + " " + text
        if rng.random() < 0.08:
            text = insert(text, self.around("filler", split), rng)
        if self.disturbs and split == TRAIN and rng.random() < 0.25:
            text = disturbed(text, rng)
        for long, short in CONTRACTIONS:
            if rng.random() < 0.5:
                text = (" " + text + " ").replace(f" {long} ", f" {short} ").strip()
            elif rng.random() < 0.5:
                text = (" " + text + " ").replace(f" {short} ", f" {long} ").strip()
        return text

    def around(self, section, split):
        held = self.wrappers.get((section, split), [])
        use_held = held and split != TRAIN and self.random.random() < 0.5
        pattern = self.random.choice(held if use_held else self.wrappers[section, TRAIN])
        return Expansion(self, split).expand(pattern)


def insert(text, word, rng):
    words = text.split()
    at = rng.randrange(len(words) + 1)
    return " ".join(words[:at] + [word] + words[at:])


def disturbed(text, rng):
    """What people say that is in no grammar: a sound, a word too few or one said twice. The action stays the same."""
    words = text.split()
    kind = rng.random()
    if kind < 0.5:
        sound = pseudo_word(rng)[: rng.randrange(1, 5)]
        return sound + " " + text if kind < 0.3 else text + " " + sound if kind < 0.4 else insert(text, sound, rng)
    if kind < 0.85:
        small = [i for i, word in enumerate(words) if word in DISPENSABLE and not (i > 0 and tells_time(words[i - 1]))]
        if small:
            del words[rng.choice(small)]
    else:
        i = rng.randrange(len(words))
        if words[i].isalpha() and words[i] not in NUMBER_WORDS:
            words.insert(i, words[i])
    return " ".join(words)


def tells_time(word):
    """Whether a small word after this one can be part of a time: ten to five, seven a m."""
    return word in NUMBER_WORDS or word in ("minutes", "clock", "oclock") or word[-1].isdigit()


class Expansion:
    """One random way through a pattern, and the parameters that it found."""

    def __init__(self, sentences, split, foreign=None):
        self.rng, self.words, self.split = sentences.random, sentences.words, split
        self.foreign = foreign  # "device", "room" or "number" until one was replaced
        self.values = {}

    # The text, or None where one parameter would have two values.
    def expand(self, alternatives):
        parts = []
        for item in self.rng.choice(alternatives):
            part = self.expand(item) if isinstance(item, list) else self.word(item)
            if part is None:
                return None
            parts.append(part)
        return " ".join(part for part in parts if part)

    def word(self, item):
        if item[0] == "<":
            return self.expand(self.phrase(item[1:-1]))
        if item[0] == "@":
            if self.foreign == "device" and self.rng.random() < 0.9:
                return self.stranger("device")
            return self.rng.choice(self.words.nouns[item[1:]])
        if item[0] == "{":
            return self.slot(item[1:-1])
        return item

    def phrase(self, name):
        held = self.words.phrases.get((name, True))
        return held if held and self.split == TEST else self.words.phrases[name, False]

    def stranger(self, kind):
        self.foreign = None
        if self.split == TRAIN and self.rng.random() < 0.4:
            return pseudo_word(self.rng)
        return self.expand(self.phrase({"device": "device", "room": "location"}[kind]))

    def slot(self, name):
        if "=" in name:
            key, value = name.split("=")
            text = ""
        elif self.foreign == "number" and name in ("level", "degrees", "speed"):
            self.foreign = None
            return numbers.excess(self.rng)[1] + self.rng.choice((" percent", "", ""))
        elif name in SLOTS:
            found, text = SLOTS[name](self.rng)
            if name == "time" and self.split == TRAIN and clock.held_out(text):
                return None
            (key, value), = found.items()
        elif name == "room" and self.foreign == "room":
            return self.stranger("room")
        else:
            key = name
            value, texts = self.rng.choice(self.words.slots[name])
            text = self.rng.choice(texts)
        if key in self.values:
            return None
        self.values[key] = value
        return text


def action_text(action, values):
    return " ".join([action] + [f"{key}={values[key]}" for key in PARAMETERS if key in values])


def held_out(action, values):
    """Combinations of an action and a room or a number that training never sees: about one in eight."""
    return any(zlib.crc32(f"{action} {key}={values[key]}".encode()) % 8 == 0
               for key in ("room", "level", "degrees") if key in values)


BEGINNINGS = "b c d f g h j k l m n p r s t v w z st tr br gr sh ch pl cl".split()


def pseudo_word(rng):
    word = ""
    for _ in range(rng.randrange(1, 4)):
        word += rng.choice(BEGINNINGS) + rng.choice("a e i o u ee oo ai".split())
        word += rng.choice(("", "", "n", "r", "s", "t", "ck", "m"))
    return word


def misspelt(text, rng):
    """One of the longer words with a letter left out, doubled or two letters exchanged."""
    words = text.split()
    places = [i for i, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not places:
        return text
    i = rng.choice(places)
    word, at = words[i], rng.randrange(1, len(words[i]) - 1)
    before, letter, after = word[:at], word[at], word[at + 1:]
    words[i] = rng.choice((before + after, before + 2 * letter + after, before + after[0] + letter + after[1:]))
    return " ".join(words)
