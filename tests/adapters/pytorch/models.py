"""Models of the tests, with random weights: an encoder of torch.nn, and a decoder that calls attention as transformers' models do."""
import copy

import torch
from torch import nn

import attend_torch


def numbers(shape, size, generator):
    """Uniform within -size ... size, the same on every processor: PyTorch's normally distributed ones are not."""
    return torch.randint(-2 ** 20, 2 ** 20 + 1, shape, generator=generator) * (size / 2 ** 20)


def filled(model, seed):
    """The model with random parameters, of about the sizes that a trained one has."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        wide = parameter.dim() > 1
        parameter.data = numbers(parameter.shape, (3 / parameter.shape[-1]) ** 0.5 if wide else 0.2, generator)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.weight.data += 1
    return model.eval()


def encoder(layers=6, width=384, heads=12, seed=1, **options):
    """Of MiniLM's size: layers of torch.nn, GELU between their projections."""
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, activation='gelu', **options)
    return filled(nn.TransformerEncoder(layer, layers), seed)


def swapped(model):
    """A copy of the model with Attend inside."""
    made = attend_torch.replace(copy.deepcopy(model))
    for module in made.modules():
        if isinstance(module, Attention):
            module.attend = attend_torch.attention_forward
    return made


def eager_attention(module, query, key, value, attention_mask, scaling=None, **_):
    """As transformers' eager_attention_forward computes it."""
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling + attention_mask
    weights = torch.softmax(scores, -1)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), None


class Attention(nn.Module):
    is_causal = True

    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.head_dim = width // heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, count * self.head_dim) for count in (heads, kv_heads, kv_heads))
        self.o_proj = nn.Linear(width, width)
        self.attend = eager_attention

    def forward(self, x, mask, past):
        query, key, value = (each(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for each in (self.q_proj, self.k_proj, self.v_proj))
        if past:
            key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
        output, _ = self.attend(self, query, key, value, mask, scaling=self.head_dim ** -0.5)
        return self.o_proj(output.flatten(2)), (key, value)


class Decoder(nn.Module):
    """Logits of tokens [batch, tokens], with a cache: a list of keys and values for each layer. seen: [batch, past + tokens], false for padding."""

    def __init__(self, layers=4, width=256, heads=8, kv_heads=4, words=512, positions=2048, seed=2):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(positions, width)
        self.attention = nn.ModuleList(Attention(width, heads, kv_heads) for _ in range(layers))
        self.first = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.second = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.inner = nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.GELU('tanh'), nn.Linear(4 * width, width)) for _ in range(layers))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        filled(self, seed)

    def forward(self, tokens, seen=None, past=None):
        length = tokens.shape[1] + (past[0][0].shape[2] if past else 0)
        seen = torch.ones(tokens.shape[0], length, dtype=torch.bool) if seen is None else seen
        position = (seen.long().cumsum(1) - 1).clamp(min=0)[:, -tokens.shape[1]:]
        causal = torch.ones(length, length, dtype=torch.bool).tril()[-tokens.shape[1]:]
        mask = torch.zeros(1).masked_fill(~(causal & seen[:, None, None, :]), torch.finfo(torch.float32).min)
        x, cache = self.words(tokens) + self.positions(position), []
        for index, attention in enumerate(self.attention):
            found, entry = attention(self.first[index](x), mask, past[index] if past else None)
            cache.append(entry)
            x = x + found
            x = x + self.inner[index](self.second[index](x))
        return self.head(self.last(x)), cache

    def in_chunks(self, tokens, sizes):
        """Logits of all tokens, computed `sizes` tokens at a time."""
        found, past, begin = [], None, 0
        for size in sizes:
            logits, past = self(tokens[:, begin:begin + size], past=past)
            found.append(logits)
            begin += size
        return torch.cat(found, 1)


def padded(tokens, count, side, fill):
    """A sequence [1, tokens, ...] with `count` more before or behind it, and which of them are seen, [1, tokens + count]."""
    padding = torch.full((1, count, *tokens.shape[2:]), fill, dtype=tokens.dtype)
    seen = torch.ones(1, tokens.shape[1] + count, dtype=torch.bool)
    if side == 'left':
        seen[:, :count] = False
        return torch.cat((padding, tokens), 1), seen
    seen[:, tokens.shape[1]:] = False
    return torch.cat((tokens, padding), 1), seen
