"""Trains the model of gestures and writes gestures.onnx, recordings to calibrate by, and held-out ones: bench/exporter/examples/gestures/train.py FOLDER"""
import pathlib
import sys

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F

from recordings import GESTURES, SAMPLES, as_floats, recordings

WIDTH, EPOCHS, BATCH = 32, 24, 64


class Gestures(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Conv1d(6, 24, 5, 2, 2), nn.BatchNorm1d(24), nn.Conv1d(24, WIDTH, 5, 4, 2)
        self.positions = nn.Parameter(torch.randn(1, SAMPLES // 8, WIDTH) * 0.1)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, 0.1, 'gelu', batch_first=True, norm_first=True)
        self.encoder, self.last, self.head = nn.TransformerEncoder(layer, 2), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(GESTURES))

    def forward(self, motion):
        x = F.relu(self.second(F.relu(self.norm(self.first(motion))))).transpose(1, 2) + self.positions
        return self.head(self.last(self.encoder(x)).mean(1))


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, labels = recordings(6400, 1)
    x, labels = torch.tensor(as_floats(x)), torch.tensor(labels)
    held_out, right = recordings(320, 2)
    model = Gestures()
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=EPOCHS * (len(x) // BATCH))
    for epoch in range(EPOCHS):
        model.train()
        order = torch.randperm(len(x))
        for batch in order.split(BATCH):
            loss = F.cross_entropy(model(x[batch]), labels[batch], label_smoothing=0.05)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        model.eval()
        with torch.no_grad():
            found = model(torch.tensor(as_floats(held_out))).argmax(1).numpy()
        print(f'epoch {epoch + 1}: loss {loss.item():.3f}, held out {100 * (found == right).mean():.1f} %', flush=True)
    torch.onnx.export(model, torch.zeros(1, 6, SAMPLES), str(folder / 'gestures.onnx'), opset_version=14, input_names=['motion'],
                      output_names=['logits'])
    numpy.save(folder / 'calibration.npy', as_floats(recordings(128, 3)[0]))
    (folder / 'held_out.bin').write_bytes(held_out.tobytes())


main()
