"""Trains the model of household commands and writes it with its held-out sentences. `make train` runs this."""
import argparse
import math
import os
import random
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices this small gain nothing from more, and sums keep their order

import numpy
import torch
import torch.nn.functional as F

import evaluate
import weights_file
from model import Model, Shape
from sentences import TRAIN, Sentences, misspelt
from vocabulary import END, Vocabulary


def make_examples(vocabulary, count, seed):
    """[(tokens, length of the sentence)], and all texts."""
    sentences, rng, examples, texts = Sentences(seed), random.Random(seed), [], set()
    while len(examples) < count:
        text, action = sentences.command(TRAIN) if rng.random() < 0.7 else sentences.outsider(TRAIN)
        texts.add(text)
        if action != "unknown" and rng.random() < 0.03:
            text = misspelt(text, rng)
        tokens = vocabulary.encode(text)
        examples.append((tokens + vocabulary.encode_action(action), len(tokens)))
    return examples, texts


def batches(examples, size, rng):
    """Batches of sentences of similar length, in random order."""
    order = list(range(len(examples)))
    rng.shuffle(order)
    for begin in range(0, len(order), size * 64):
        chunk = sorted(order[begin:begin + size * 64], key=lambda i: len(examples[i][0]))
        groups = [chunk[i:i + size] for i in range(0, len(chunk), size)]
        rng.shuffle(groups)
        yield from ([examples[i] for i in group] for group in groups)


def tensors(batch):
    """Tokens [batch][longest], and where the tokens of actions are predicted."""
    longest = max(len(tokens) for tokens, _ in batch)
    padded = numpy.full((len(batch), longest), END)
    target = numpy.zeros((len(batch), longest), bool)
    for row, (tokens, sentence) in enumerate(batch):
        padded[row, :len(tokens)] = tokens
        target[row, sentence:len(tokens)] = True
    return torch.from_numpy(padded), torch.from_numpy(target)


def loss_of(model, batch, actions):
    tokens, target = tensors(batch)
    embedding, states = model(tokens[:, :-1], 0.05)
    logits = states[target[:, 1:]] @ embedding[:actions].T
    return F.cross_entropy(logits, tokens[target], label_smoothing=0.02)


def train(model, vocabulary, options):
    print(f"making {options.sentences} sentences", flush=True)
    examples, texts = make_examples(vocabulary, options.sentences, options.seed + 100)
    rng = random.Random(options.seed)
    steps = options.epochs * math.ceil(len(examples) / options.batch)
    rows = [p for p in model.parameters() if p.dim() > 1]
    gains = [p for p in model.parameters() if p.dim() == 1]
    optimiser = torch.optim.AdamW([{"params": rows, "weight_decay": 0.05}, {"params": gains, "weight_decay": 0}],
                                  betas=(0.9, 0.98))
    step, average, start = 0, 0.0, time.time()
    for _ in range(options.epochs):
        for batch in batches(examples, options.batch, rng):
            rate = min(1, step / 300) * (0.02 + 0.98 * (0.5 + 0.5 * math.cos(math.pi * step / steps)))
            for group in optimiser.param_groups:
                group["lr"] = options.rate * rate
            if step == steps * 4 // 5:
                model.round_weights()
            loss = loss_of(model, batch, vocabulary.first_letter)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            step += 1
            average += (loss.item() - average) / min(step, 100)
            if step % 250 == 0 or step == steps:
                print(f"step {step} of {steps}, loss {average:.3f}, {time.time() - start:.0f} s", flush=True)
            if step % options.check == 0 and step < steps:
                evaluate.report(model, vocabulary, "develop", 400)
                model.train()
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the file of weights to write")
    parser.add_argument("--held-out", required=True, help="the file of held-out sentences to write")
    parser.add_argument("--sentences", type=int, default=240000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2.5e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", type=int, default=2000, help="steps between looks at the development sentences")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    start = time.time()
    vocabulary = Vocabulary()
    model = Model(Shape, len(vocabulary.pieces))
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(vocabulary.pieces)} pieces", flush=True)
    texts = train(model, vocabulary, options)
    model.eval()
    weights_file.write(options.model, model, vocabulary)
    print(f"{options.model}: {os.path.getsize(options.model)} bytes, trained in {(time.time() - start) / 60:.1f} minutes")
    evaluate.report(model, vocabulary, "develop", 1000)
    return evaluate.held_out(model, vocabulary, texts, options.held_out)


if __name__ == "__main__":
    sys.exit(main())
