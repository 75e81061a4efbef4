"""Accuracy on sentences whose lines were not trained on."""
import random

import torch

from sentences import TEST, Sentences
from vocabulary import END

# The held-out sentences: what they are called, which there are, how many, their seed, and how many have to be right.
PARTS = (("commands", Sentences.command, 1000, 9, 0.97),
         ("outside sentences", Sentences.outsider, 500, 10, 0.95),
         ("times of alarms", Sentences.alarm, 300, 12, 0.96))


@torch.no_grad()
def answer(model, vocabulary, texts):
    """The most likely actions, token by token; sentences of one length at a time."""
    actions, lengths = {}, {}
    for text in texts:
        lengths.setdefault(len(vocabulary.encode(text)), []).append(text)
    for group in lengths.values():
        tokens = torch.tensor([vocabulary.encode(text) for text in group])
        sentence = tokens.shape[1]
        for _ in range(12):
            embedding, states = model(tokens)
            best = END + (states[:, -1] @ embedding[END:vocabulary.first_letter].T).argmax(-1)
            tokens = torch.cat((tokens, best[:, None]), 1)
            if ((tokens[:, sentence:] == END).any(1)).all():
                break
        for text, row in zip(group, tokens[:, sentence:].tolist()):
            actions[text] = vocabulary.decode_action(row[:row.index(END)] if END in row else row)
    return actions


def sample(split, count, kind, seed, without=()):
    """Different sentences with their actions; kind is Sentences.command or Sentences.outsider."""
    sentences, found = Sentences(seed), {}
    while len(found) < count:
        text, action = kind(sentences, split)
        if text not in without:
            found.setdefault(text, action)
    return found


def score(model, vocabulary, expected):
    given = answer(model, vocabulary, expected)
    wrong = [(text, action, given[text]) for text, action in expected.items() if given[text] != action]
    return 1 - len(wrong) / len(expected), wrong


def report(model, vocabulary, split, count):
    model.eval()
    commands, wrong_commands = score(model, vocabulary, sample(split, count, Sentences.command, 7))
    outside, wrong_outside = score(model, vocabulary, sample(split, count, Sentences.outsider, 8))
    print(f"{split}: {commands:.1%} of commands exact, {outside:.1%} of outside sentences unknown", flush=True)
    return wrong_commands + wrong_outside


def as_typed(text, rng):
    """With the capital and the full stop that some people type."""
    return (text[0].upper() + text[1:] if rng.random() < 0.3 else text) + rng.choice(("", "", "", "", ".", "!"))


def held_out(model, vocabulary, trained_texts, path):
    """Writes the held-out sentences, prints the accuracy on them; 1 where it is too low."""
    rng, failed, written = random.Random(11), 0, set(trained_texts)
    with open(path, "w", encoding="ascii") as file:
        file.write("# Held-out sentences and their actions, written by `make train`: sentence, tab, action.\n")
        for what, kind, count, seed, least in PARTS:
            expected = sample(TEST, count, kind, seed, written)
            written.update(expected)
            file.write(f"# {what}\n")
            for text, action in expected.items():
                file.write(f"{as_typed(text, rng)}\t{action}\n")
            right, wrong = score(model, vocabulary, expected)
            for text, action, given in wrong:
                print(f"  {text}: {given}, not {action}")
            print(f"held out: {right:.1%} of {count} {what} (at least {least:.0%} expected)")
            failed |= right < least
    return int(failed)
