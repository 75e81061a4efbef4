"""Trains the model of keywords with gated delta attention in the place of softmax, and writes its weights in 8 bits as model.cpp, which pack.py packs:
bench/exporter/examples/keywords/train_linear.py FOLDER. Its words are those of train.py."""
import pathlib
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from speech import BANDS, UNKNOWN, FrontEnd
from train import HEADS, SEEN, WIDTH, as_input, fit, heard, held_out

HEAD, TAPS, HIDDEN = WIDTH // HEADS, 4, 112  # HIDDEN is smaller than with softmax, so that there are as many parameters
VOICES, SEQUENCES, TOKENS, EPOCHS, BATCH = 75, 8000, 78, 8, 16
MOST = 0.999  # what is larger than so many numbers of a head is clamped
PARTS = [3 * WIDTH, HEADS, HEADS, WIDTH]     # of the first projection: query, key and value; decay; beta; the gate of the output


def normal(x):
    """Layer normalisation; what follows has the weights."""
    return F.layer_norm(x, x.shape[-1:])


def gated_delta(query, key, value, log_decay, beta):
    """What S_t = e^g S_(t-1) + k beta (v - k e^g S_(t-1)) gives its queries, of [batch][heads][tokens][dim], for all tokens at once: what each
    token writes solves a triangular system of equations."""
    tokens, total = query.shape[2], log_decay.cumsum(-1)
    later = torch.full((tokens, tokens), float('-inf')).triu(1)
    decay = (total[..., :, None] - total[..., None, :] + later).exp()
    written = torch.linalg.solve_triangular(decay * (beta[..., None] * key @ key.transpose(-2, -1)), beta[..., None] * value, upper=False,
                                            unitriangular=True)
    return (decay * (query @ key.transpose(-2, -1))) @ written / HEAD ** 0.5


class Seeing(nn.Module):
    """It sees how large the numbers of its steps are, when it does not train: the largest, or in each of several heads the largest but for some."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def see(self, name, x):
        if not self.training:
            self.seen[name] = x.abs().max().item()
        return x

    def see_heads(self, name, x):
        if not self.training:
            large = x.abs().transpose(0, 1).flatten(1)
            self.seen[name] = large.kthvalue(int(MOST * large.shape[1]), 1).values.tolist()
        return x


class Block(Seeing):
    def __init__(self):
        super().__init__()
        self.input, self.output = nn.Linear(WIDTH, sum(PARTS)), nn.Linear(WIDTH, WIDTH)
        self.taps = nn.Parameter(torch.empty(3 * WIDTH, TAPS).uniform_(-0.5, 0.5))
        # Memories from a few tokens to some hundreds.
        self.rate, self.bias = nn.Parameter(torch.linspace(0, 1.4, HEADS)), nn.Parameter(torch.linspace(-1, -5, HEADS))
        self.norm = nn.Parameter(torch.ones(HEAD))
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x):
        batch, tokens, _ = x.shape
        heads = lambda part: part.reshape(batch, tokens, HEADS, -1).transpose(1, 2)
        qkv, z, beta, gate = self.see('projected', self.input(self.see('first', normal(x)))).split(PARTS, 2)
        before = F.pad(qkv, (0, 0, TAPS - 1, 0))
        qkv = F.silu(sum(before[:, i:i + tokens] * self.taps[:, i] for i in range(TAPS)))
        query, key, value = map(heads, qkv.split(WIDTH, 2))
        unit = lambda part: part * (part.square().sum(-1, keepdim=True) + 1e-6).rsqrt()
        log_decay = -self.rate.exp() * F.softplus(z + self.bias)
        read = gated_delta(unit(query), unit(key), self.see_heads('value', value), log_decay.transpose(1, 2), beta.sigmoid().transpose(1, 2))
        read = self.see_heads('read', read).transpose(1, 2)
        read = read * (read.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * self.norm
        mixed = self.see('mixed', read.reshape(batch, tokens, WIDTH) * F.silu(gate))
        x = x + self.see('written', self.output(mixed))
        opened = self.see('opened', F.gelu(self.see('hidden', self.up(self.see('second', normal(x))))))
        return x + self.see('added', self.down(opened))


class Keywords(Seeing):
    def __init__(self):
        super().__init__()
        self.input, self.output = nn.Linear(SEEN * BANDS, WIDTH), nn.Linear(WIDTH, UNKNOWN + 1)
        self.blocks = nn.Sequential(Block(), Block())

    def forward(self, frames):
        x = self.blocks(self.see('input', self.input(frames)))
        return self.see('logits', self.output(self.see('normal', normal(x))))


def numbers(values):
    return '{' + ', '.join(map(str, values)) + '}'


def rows(matrix):
    return '{' + ',\n'.join(map(numbers, matrix)) + '}'


def floats(values):
    return '{' + ', '.join(f'{float(value):.9g}' + ('' if set('.e') & set(f'{float(value):.9g}') else '.0') + 'f' for value in values) + '}'


class Text:
    """model.cpp: weights in 8 bits with a scale for each output, and constants of both arithmetics that are made of them."""

    def __init__(self):
        self.constants, self.count = [], 0

    def projection(self, linear, largest_input, outputs):
        """The expression of one whose inputs are at most so large; its outputs are seen in `outputs`, the largest first."""
        name, weights, scale = self.count, linear.weight.double(), largest_input / 127
        self.count += 1
        steps = weights.abs().amax(1) / 127
        data = (weights / steps[:, None]).round().int().tolist()
        bias = (linear.bias.double() / (steps * scale)).round().long().tolist()
        self.constants.append(f'constexpr attend::Weights<{len(data)}, {len(data[0])}, attend::integer> weights_{name} = {{{rows(data)},\n{numbers(bias)}}};\n'
                              f'constexpr double scales_{name}[{len(data)}] = {numbers(steps.tolist())};\n')
        return f'{{weights_{name}, scales_{name}, {scale!r}, {outputs / 32767!r}}}'

    def block(self, block):
        seen = block.seen
        return ('{' + ',\n'.join([self.projection(block.input, seen['first'], seen['projected']),
                                  floats(block.taps.flatten()),
                                  floats(-block.rate.double().exp()), floats(block.bias), floats(block.norm),
                                  f"{{{', '.join(numbers([most / 127 for most in seen[name]]) for name in ('value', 'read'))}}}",
                                  self.projection(block.output, seen['mixed'], seen['written']),
                                  self.projection(block.up, seen['second'], seen['hidden']),
                                  self.projection(block.down, seen['opened'], seen['added'])]) + '}')

    def write(self, file, model):
        made = ',\n'.join([self.projection(model.input, 127 / 32, model.seen['input']), '{' + ',\n'.join(map(self.block, model.blocks)) + '}',
                           self.projection(model.output, model.seen['normal'], model.seen['logits'])])
        file.write_text('// Weights of keywords with gated delta attention, made by train_linear.py: do not edit.\n#include "model.h"\n\nnamespace keywords {\n'
                        'namespace linear {\nnamespace {\n\n' + ''.join(self.constants) +
                        f'\ntemplate <class Numbers>\nconstexpr Weights<Numbers> made() {{\nreturn {{{made}}};\n}}\n\n}}  // namespace\n\n'
                        'constexpr Weights<float> floats = made<float>();\nconstexpr Weights<attend::integer> integers = made<attend::integer>();\n\n'
                        '}  // namespace linear\n}  // namespace keywords\n')


def main():
    folder = pathlib.Path(sys.argv[1])
    front_end = FrontEnd(folder)
    x, labels = heard(front_end, VOICES, SEQUENCES, TOKENS)
    model = fit(Keywords, x, labels, held_out(front_end), EPOCHS, BATCH)
    with torch.no_grad():
        model(as_input(x[:256]))  # which sees how large numbers are
    Text().write(folder / 'model.cpp', model)


if __name__ == '__main__':
    main()
