"""Trains the model of vibration, which says what comes next, and writes anomaly.onnx, what to calibrate by, and held-out machines:
bench/exporter/examples/anomaly/train.py FOLDER"""
import math
import pathlib
import sys

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F

from machines import PATCH, as_floats, held_out, normalised, vibration

WIDTH, HEADS, TOKENS, WINDOW = 32, 4, 64, 24
MACHINES, EPOCHS, BATCH = 240, 14, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(3 * WIDTH, WIDTH)
        rows, columns = torch.arange(TOKENS)[:, None], torch.arange(TOKENS)[None]
        self.register_buffer('mask', torch.where((columns <= rows) & (columns > rows - WINDOW), 0.0, float('-inf')))

    def forward(self, x):
        batch, tokens, _ = x.shape
        split = lambda part: part.view(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)
        query, key, value = map(split, self.qkv(self.first(x)).split(WIDTH, 2))
        scores = query @ key.transpose(-2, -1) / math.sqrt(WIDTH // HEADS) + self.mask
        x = x + self.output((scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, WIDTH))
        return x + self.down(F.gelu(self.up(self.second(x))))


class Vibration(nn.Module):
    """The next samples from those before."""

    def __init__(self):
        super().__init__()
        self.input, self.output = nn.Linear(PATCH, WIDTH), nn.Linear(WIDTH, PATCH)
        self.blocks, self.last = nn.Sequential(Block(), Block()), nn.LayerNorm(WIDTH)

    def forward(self, patches):
        return self.output(self.last(self.blocks(self.input(patches))))


def sequences(first, count, each):
    """Patches of machines that are well, [count * each][TOKENS + 1][PATCH]."""
    found = []
    for machine in range(first, first + count):
        signal = vibration(machine, PATCH * (TOKENS + 1) * each)
        found.append(as_floats(normalised(signal, signal)).reshape(each, TOKENS + 1, PATCH))
    return numpy.concatenate(found)


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x = torch.tensor(sequences(0, MACHINES, 12))
    check = torch.tensor(sequences(5000, 20, 4))
    model = Vibration()
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=EPOCHS * (len(x) // BATCH))
    loss_of = lambda part: F.smooth_l1_loss(model(part[:, :-1]), part[:, 1:])
    for epoch in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(BATCH):
            loss = loss_of(x[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        with torch.no_grad():
            print(f'epoch {epoch + 1}: error {loss_of(check).item():.4f} of other machines', flush=True)
    model.eval()
    torch.onnx.export(model, torch.zeros(1, TOKENS, PATCH), str(folder / 'anomaly.onnx'), opset_version=14, input_names=['patches'],
                      output_names=['next'])
    numpy.save(folder / 'calibration.npy', sequences(6000, 32, 4)[:, :-1])
    (folder / 'held_out.bin').write_bytes(held_out(PATCH * 2048).tobytes())


main()
