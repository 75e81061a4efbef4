"""Trains the model of keywords and writes keywords.onnx, what to calibrate by, held-out voices, and a recording of one of them:
bench/exporter/examples/keywords/train.py FOLDER. It takes espeak-ng (Debian: espeak-ng)."""
import math
import pathlib
import sys
import wave

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F

from speech import (ACCENTS, BANDS, HELD_OUT, HOP, KEYWORDS, OTHERS, RATE, SPAN, UNHEARD, UNKNOWN, VARIANTS, FrontEnd, mixed, spoken)

WIDTH, HEADS, TOKENS, WINDOWS = 48, 4, 64, (12, 24)  # a token is 40 ms
FRAMES, SEEN = 2, 6  # frames that are new with a token, and those that it sees
CLIP = 32            # tokens of a held-out recording
VOICES, SEQUENCES, EPOCHS, BATCH = 150, 24000, 14, 32


class Block(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(3 * WIDTH, WIDTH)
        rows, columns = torch.arange(TOKENS)[:, None], torch.arange(TOKENS)[None]
        self.register_buffer('mask', torch.where((columns <= rows) & (columns > rows - window), 0.0, float('-inf')))

    def forward(self, x):
        batch, tokens, _ = x.shape
        split = lambda part: part.view(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)
        query, key, value = map(split, self.qkv(self.first(x)).split(WIDTH, 2))
        scores = query @ key.transpose(-2, -1) / math.sqrt(WIDTH // HEADS) + self.mask[:tokens, :tokens]
        x = x + self.output((scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, WIDTH))
        return x + self.down(F.gelu(self.up(self.second(x))))


class Keywords(nn.Module):
    """Which word has just ended, for each token."""

    def __init__(self):
        super().__init__()
        self.input, self.output = nn.Linear(SEEN * BANDS, WIDTH), nn.Linear(WIDTH, UNKNOWN + 1)
        self.blocks, self.last = nn.Sequential(*map(Block, WINDOWS)), nn.LayerNorm(WIDTH)

    def forward(self, frames):
        return self.output(self.last(self.blocks(self.input(frames))))


def tokens_of(frames):
    """float [tokens][SEEN * BANDS] of int8 [frames][BANDS]: before the first one is silence."""
    before = numpy.concatenate([numpy.full((SEEN - FRAMES, BANDS), -64, numpy.int8), frames])
    return numpy.stack([before[i:i + SEEN].reshape(-1) for i in range(0, len(frames), FRAMES)]).astype(numpy.float32) / 32


def pool(voice, random, others, each):
    """(what it is, sound) of one voice at many speeds and pitches."""
    words = [(i, word) for i, word in enumerate(KEYWORDS)] * each + [(UNKNOWN, str(word)) for word in others]
    return [(label, spoken(word, voice, int(random.integers(110, 210)), int(random.integers(20, 80)))) for label, word in words]


def sequence(words, random, front_end, tokens):
    """Some words of a voice after each other, as frames; and for each token which word has just ended, or -1 while nobody could know."""
    count = SPAN + (FRAMES * tokens - 1) * HOP
    begin, chosen, begins = int(random.integers(0, RATE // 2)), [], []
    while True:
        label, sound = words[random.integers(len(words))]
        if begin + sound.size > count:
            break
        chosen.append((label, sound))
        begins.append(begin)
        begin += sound.size + int(random.uniform(0.1, 0.9) * RATE)
    sound, _ = mixed([sound for _, sound in chosen], begins, count, random)
    labels = numpy.full(tokens, UNKNOWN)
    for (label, word), begin in zip(chosen, begins):
        token = lambda sample: max(0, math.ceil(((sample - SPAN) / HOP - FRAMES + 1) / FRAMES))
        end = token(begin + word.size)
        if label != UNKNOWN:
            labels[max(token(begin), end - 6):end + 1] = -1
            labels[end + 1:end + 8] = label
    return front_end(sound), labels


def clip(word, random, front_end):
    count = SPAN + (FRAMES * CLIP - 1) * HOP
    begin = count - int(random.uniform(0.25, 0.4) * RATE) - word.size
    return front_end(mixed([word], [max(begin, 0)], count, random)[0])


def held_out(front_end):
    """int8 [voices][6 * 7][frames][BANDS]: each keyword three times, and six other words."""
    random, found = numpy.random.default_rng(2), []
    for voice in HELD_OUT:
        for label, word in pool(voice, random, random.choice(UNHEARD, 6, replace=False), 3):
            found.append(clip(word, random, front_end))
    return numpy.stack(found)


def recording(folder):
    """keywords.wav, of 8 bits: a voice that training never heard."""
    random, words, begins, begin = numpy.random.default_rng(4), [], [], RATE // 2
    for word in 'yes lemon louder stop mountain left go off'.split():
        words.append(spoken(word, HELD_OUT[0], 150, 50))
        begins.append(begin)
        begin += words[-1].size + int(0.45 * RATE)
    sound, _ = mixed(words, begins, begin, random)
    with wave.open(str(folder / 'keywords.wav'), 'wb') as file:
        file.setparams((1, 1, RATE, 0, 'NONE', ''))
        file.writeframes(numpy.clip(sound * (100 / numpy.abs(sound).max()) + 128, 0, 255).round().astype(numpy.uint8).tobytes())


def decisions(logits):
    """What a clip is taken for: the likeliest keyword of the mean of four tokens, if it is likelier than not. [clips] of [clips][tokens][kinds]."""
    likely = torch.softmax(logits, -1)
    smooth = F.avg_pool1d(likely.transpose(1, 2), 4, 1)[:, :UNKNOWN].amax(-1)
    best = smooth.max(-1)
    return torch.where(best.values > 0.5, best.indices, UNKNOWN)


def as_input(part):
    return torch.tensor(numpy.stack([tokens_of(frames) for frames in part]))


def heard(front_end, voices=VOICES, sequences=SEQUENCES, tokens=TOKENS):
    """What training hears: int8 [sequences][frames][BANDS], and for each token its label."""
    random = numpy.random.default_rng(1)
    names = [f'{random.choice(ACCENTS)}+{variant}' for variant in list(VARIANTS) * 3][:voices]
    known = [word for word in OTHERS if word not in UNHEARD]
    pools = [pool(voice, random, random.choice(known, 60), 3) for voice in names]
    print(f'{voices} voices have spoken', flush=True)
    made = [sequence(pools[i % voices], random, front_end, tokens) for i in range(sequences)]
    return numpy.stack([frames for frames, _ in made]), torch.tensor(numpy.stack([labels for _, labels in made]))


def fit(kind, x, labels, clips, epochs=EPOCHS, size=BATCH):
    """A model of a kind, trained; after each epoch it prints how many of the held-out clips it understands."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    right = torch.tensor((list(range(UNKNOWN)) * 3 + [UNKNOWN] * 6) * len(HELD_OUT))
    model = kind()
    weights = torch.tensor([1.0] * UNKNOWN + [0.4])
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=epochs * (len(x) // size))
    for epoch in range(epochs):
        for batch in torch.randperm(len(x)).split(size):
            logits = model(as_input(x[batch.numpy()]))
            loss = F.cross_entropy(logits.flatten(0, 1), labels[batch].flatten(), weights, ignore_index=-1, label_smoothing=0.02)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        with torch.no_grad():
            found = decisions(model(as_input(clips)))
        share = (found == right).float().view(len(HELD_OUT), -1).mean(1)
        print(f'epoch {epoch + 1}: loss {loss.item():.3f}, held-out voices {[round(100 * part.item(), 1) for part in share]} %', flush=True)
    return model.eval()


def main():
    folder = pathlib.Path(sys.argv[1])
    front_end = FrontEnd(folder)
    x, labels = heard(front_end)
    clips = held_out(front_end)
    model = fit(Keywords, x, labels, clips)
    torch.onnx.export(model, torch.zeros(1, TOKENS, SEEN * BANDS), str(folder / 'keywords.onnx'), opset_version=14, input_names=['frames'],
                      output_names=['logits'])
    numpy.save(folder / 'calibration.npy', as_input(x[:32]).numpy())
    (folder / 'held_out.bin').write_bytes(clips.tobytes())
    recording(folder)


if __name__ == '__main__':
    main()
