"""The vocabulary: pieces of actions, letters and words. The application divides sentences the same way (bench/app/words.cpp).

A sentence is lower-cased; apostrophes vanish and whatever else is neither letter, digit, ':' nor '%' divides words. A word of the
vocabulary is one token. Of any other word the first letters are tokens, at most longest_spelling of them; digits, ':' and '%' are
tokens of their own.
"""
import re
from collections import Counter

from sentences import PARAMETERS, UNKNOWN, Sentences

OTHER, BEGIN, END, ANSWER = 0, 1, 2, 3
CONTROL = ["?", "<begin>", "<end>", "=>"]
SYMBOLS = list("0123456789:%")
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
LONGEST_SPELLING = 6
NUMERIC = ("level", "degrees", "channel", "hours", "minutes", "seconds", "time")
PART = re.compile(r"[a-z]+|[0-9:%]|[^\x00-\x7f]")


class Vocabulary:
    def __init__(self):
        sentences = Sentences(1, disturbs=False)
        words, outside, actions = Counter(), Counter(), set()
        for _ in range(48000):
            text, action = sentences.command("train")
            words.update(text.split())
            actions.update(action.split())
            outside.update(sentences.topic("train")[0].split())
        slots = {word for (name, _), pattern in sentences.words.phrases.items() if name.islower() for word in flat(pattern)}
        chosen = {word for word, count in words.items() if count >= 16}
        chosen |= {word for word, count in outside.items() if count >= 100 and word not in slots}
        named = {part for part in actions if "=" in part and part.split("=")[0] not in NUMERIC}
        verbs = {part for part in actions if "=" not in part}
        self.pieces = CONTROL + SYMBOLS + [UNKNOWN] + sorted(verbs)
        for parameter in PARAMETERS:
            mine = sorted(part for part in named if part.startswith(parameter + "="))
            self.pieces += [" " + part for part in mine] if parameter not in NUMERIC else [f" {parameter}="]
        self.first_letter = len(self.pieces)
        self.pieces += LETTERS
        self.first_word = len(self.pieces)
        self.pieces += sorted(word for word in chosen if re.fullmatch("[a-z]{2,}", word))
        self.words = {word: self.first_word + i for i, word in enumerate(self.pieces[self.first_word:])}
        self.letters = {letter: self.first_letter + i for i, letter in enumerate(LETTERS)}
        self.actions = {piece: i for i, piece in enumerate(self.pieces[:self.first_letter])}

    def encode(self, text):
        tokens = [BEGIN]
        for part in PART.findall(text.lower().replace("'", "")):
            if part in self.words:
                tokens.append(self.words[part])
            elif part[0] in self.letters:
                tokens += [self.letters[letter] for letter in part[:LONGEST_SPELLING]]
            else:
                tokens.append(self.actions.get(part, OTHER))
        return tokens + [ANSWER]

    def encode_action(self, action):
        tokens = []
        for i, part in enumerate(action.split(" ")):
            piece = part if i == 0 else " " + part
            if piece in self.actions:
                tokens.append(self.actions[piece])
            else:
                name, number = piece.split("=")
                tokens += [self.actions[name + "="]] + [self.actions[digit] for digit in number]
        return tokens + [END]

    def decode_action(self, tokens):
        return "".join(self.pieces[token] for token in tokens)


def flat(pattern):
    for item in pattern:
        if isinstance(item, list):
            yield from flat(item)
        elif item[0] not in "<{@":
            yield item
