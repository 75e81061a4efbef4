"""How much a small Llama loses in weights of fewer bits: its perplexity on text of its own.

    perplexity.py CHECKPOINT [TOKENS]     of llama2.c's format; `make perplexity` calls it with the wheel in its path

The text is 5,000 tokens that the model in float32 has drawn at temperature 1, in windows of its context, each from the beginning of
a story. Then each kind of weights reads the same windows. Matrices whose inputs are no multiple of 32 have no groups of 4 bits, and
stay float32; so does the embedding where tokens are looked up.
"""
import sys

import numpy as np

import attend

BEGIN = 1  # the token before a story


class Llama:
    """A checkpoint whose matrices go through convert(array)."""

    def __init__(self, path, convert):
        header = np.fromfile(path, '<i4', 7)
        self.dim, self.hidden, self.layers, self.heads, self.kv_heads, vocabulary, self.context = (int(n) for n in header)
        self.head_dim = self.dim // self.heads
        numbers, at = np.fromfile(path, '<f4', offset=28), 0

        def take(*shape):
            nonlocal at
            count = int(np.prod(shape))
            at += count
            return np.ascontiguousarray(numbers[at - count:at].reshape(shape))

        kv_dim, tables = self.kv_heads * self.head_dim, 2 * self.context * (self.head_dim // 2)
        self.embedding = take(abs(vocabulary), self.dim)
        self.attention_norm = take(self.layers, self.dim)
        shapes = [(self.dim, self.dim), (kv_dim, self.dim), (kv_dim, self.dim), (self.dim, self.dim)]
        matrices = [take(self.layers, *shape) for shape in shapes]
        self.feed_norm = take(self.layers, self.dim)
        matrices += [take(self.layers, *shape) for shape in [(self.hidden, self.dim), (self.dim, self.hidden), (self.hidden, self.dim)]]
        self.final_norm = take(self.dim)
        at += tables
        classifier = self.embedding if vocabulary > 0 else take(-vocabulary, self.dim)
        self.kept = [[np.ascontiguousarray(matrix[layer]) for matrix in matrices] for layer in range(self.layers)]
        self.weights = [[convert(matrix) for matrix in layer] for layer in self.kept]
        self.classifier = convert(classifier)
        self.rotary = attend.Rotary(self.head_dim, 'neighbours')

    def caches(self):
        return [attend.Cache(self.kv_heads, self.head_dim, self.context) for _ in range(self.layers)]

    def heads_of(self, x, heads):
        return np.ascontiguousarray(x.reshape(len(x), heads, self.head_dim).transpose(1, 0, 2))

    def logits(self, tokens, caches):
        """After each of some tokens, which follow those in the caches."""
        stream, position = self.embedding[tokens], len(caches[0])
        for layer, (query, key, value, output, gate, down, up) in enumerate(self.weights):
            normal = attend.rms_norm(stream, self.attention_norm[layer])
            q, k, v = (self.heads_of(attend.project(normal, matrix), heads)
                       for matrix, heads in ((query, self.heads), (key, self.kv_heads), (value, self.kv_heads)))
            attend.rotate(q, self.rotary, position)
            attend.rotate(k, self.rotary, position)
            caches[layer].append(k, v)
            attended = attend.attention(q, caches[layer], causal=True).transpose(1, 0, 2).reshape(len(tokens), self.dim)
            stream = stream + attend.project(np.ascontiguousarray(attended), output)
            normal = attend.rms_norm(stream, self.feed_norm[layer])
            opened = attend.activate('silu', attend.project(normal, gate), by=attend.project(normal, up))
            stream = stream + attend.project(opened, down)
        return attend.project(attend.rms_norm(stream, self.final_norm), self.classifier)


def log_probabilities(logits):
    wide = logits.astype(float)
    wide -= wide.max(1, keepdims=True)
    return wide - np.log(np.exp(wide).sum(1, keepdims=True))


def own_text(model, count, seed=1):
    """Windows of the context, drawn by the model."""
    chance, windows = np.random.Generator(np.random.PCG64(seed)), []
    while count > 0:
        window, caches = [BEGIN], model.caches()
        while len(window) < min(model.context, count + 1):
            likely = np.exp(log_probabilities(model.logits([window[-1]], caches))[0])
            window.append(int(np.searchsorted(likely.cumsum(), chance.random() * likely.sum())))
        count -= len(window) - 1
        windows.append(window)
    return windows


def perplexity(model, windows):
    surprise = 0.0
    for window in windows:
        found = log_probabilities(model.logits(window[:-1], model.caches()))
        surprise -= found[np.arange(len(window) - 1), window[1:]].sum()
    return np.exp(surprise / sum(len(window) - 1 for window in windows))


def converted(kind):
    def convert(matrix):
        weights = attend.Weights(matrix)
        if kind == 'float32' or (kind == 'int4' and matrix.shape[1] % 32 != 0):
            return weights.packed()
        return weights.converted(kind).packed()
    return convert


def main():
    path, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    windows = own_text(Llama(path, converted('float32')), count)
    print(f'| weights | perplexity, {sum(len(window) - 1 for window in windows)} tokens of its own text |\n| --- | --- |')
    for kind in ('float32', 'float16', 'int8', 'int4'):
        print(f'| {kind} | {perplexity(Llama(path, converted(kind)), windows):.3f} |')


main()
