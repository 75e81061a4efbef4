"""A Llama in PyTorch as bench/app/llama.cpp computes it: root-mean-square normalisation, rotary positions of neighbouring pairs,
gated feed-forward, one embedding for input and output."""
import torch
import torch.nn.functional as F
from torch import nn


class Shape:
    dim, hidden_dim, layers, heads, kv_heads, seq_len = 64, 160, 3, 4, 2, 128


class Rounded(nn.Linear):
    """A projection whose weights can be those of the file: 8 bits and a scale for each row. Gradients ignore the rounding."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs, bias=False)
        nn.init.normal_(self.weight, std=inputs ** -0.5)
        self.rounds = False

    def rows(self):
        return round_rows(self.weight) if self.rounds else self.weight

    def forward(self, x):
        return F.linear(x, self.rows())


def round_rows(weight):
    rounded = dequantise(*quantise(weight.detach()))
    return weight + (rounded - weight).detach()


def quantise(weight):
    scale = weight.abs().amax(1).clamp(min=1e-8) / 127
    return torch.round(weight / scale[:, None]).clamp(-127, 127), scale


def dequantise(numbers, scale):
    return numbers * scale[:, None]


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.gain


def rotate(x, cosines, sines):
    """x: [batch][heads][tokens][head_dim]."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cosines - odd * sines, even * sines + odd * cosines), -1).flatten(-2)


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = shape.heads, shape.kv_heads, shape.dim // shape.heads
        kv_dim = self.kv_heads * self.head_dim
        self.attention_norm, self.feed_norm = Norm(shape.dim), Norm(shape.dim)
        self.query, self.output = Rounded(shape.dim, shape.dim), Rounded(shape.dim, shape.dim)
        self.key, self.value = Rounded(shape.dim, kv_dim), Rounded(shape.dim, kv_dim)
        self.gate, self.up = Rounded(shape.dim, shape.hidden_dim), Rounded(shape.dim, shape.hidden_dim)
        self.down = Rounded(shape.hidden_dim, shape.dim)

    def split(self, x, heads):
        batch, tokens, _ = x.shape
        return x.view(batch, tokens, heads, self.head_dim).transpose(1, 2)

    def forward(self, x, angles, mask):
        normed = self.attention_norm(x)
        query = rotate(self.split(self.query(normed), self.heads), *angles)
        group = self.heads // self.kv_heads
        key = rotate(self.split(self.key(normed), self.kv_heads), *angles).repeat_interleave(group, 1)
        value = self.split(self.value(normed), self.kv_heads).repeat_interleave(group, 1)
        weights = torch.softmax(query @ key.transpose(-1, -2) * self.head_dim ** -0.5 + mask, -1)
        x = x + self.output((weights @ value).transpose(1, 2).flatten(2))
        normed = self.feed_norm(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


class Model(nn.Module):
    def __init__(self, shape, vocab_size):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(vocab_size, shape.dim)
        nn.init.normal_(self.embedding.weight, std=0.5 * shape.dim ** -0.5)
        self.rounds = False
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.final_norm = Norm(shape.dim)
        head_dim = shape.dim // shape.heads
        frequencies = 10000.0 ** (-torch.arange(0, head_dim, 2).float() / head_dim)
        angles = torch.arange(shape.seq_len).float()[:, None] * frequencies
        self.cosines, self.sines = angles.cos(), angles.sin()

    def round_weights(self):
        """From here on computes with what the file holds."""
        self.rounds = True
        for module in self.modules():
            if isinstance(module, Rounded):
                module.rounds = True

    def forward(self, tokens, dropout=0.0):
        """tokens: [batch][tokens]; the embedding and the states after the last layer."""
        count = tokens.shape[1]
        embedding = round_rows(self.embedding.weight) if self.rounds else self.embedding.weight
        x = F.dropout(F.embedding(tokens, embedding), dropout, self.training)
        mask = torch.full((count, count), -1e9).triu(1)
        angles = self.cosines[:count], self.sines[:count]
        for layer in self.layers:
            x = layer(x, angles, mask)
        return embedding, self.final_norm(x)
