#!/usr/bin/env python3
"""Numbers of an independent implementation for test_textbook.cpp: PyTorch, in float64, on inputs that both sides generate.

    python3 tests/conformance/textbook.py > tests/conformance/textbook.inc

It needs PyTorch and NumPy (Debian: python3-torch). The numbers are committed, so that the test needs neither."""
import numpy as np
import torch
import torch.nn.functional as F

MASK = np.uint64(0xFFFFFFFFFFFFFFFF)


def uniform(seed, *shape, spread=1.0):
    """What attend_test::Random(seed).fill(…, spread) makes (splitmix64), as float64 of the same float32 numbers."""
    count = int(np.prod(shape))
    start = (seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & int(MASK)
    with np.errstate(over="ignore"):
        z = np.uint64(start) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits = (z ^ (z >> np.uint64(31))) >> np.uint64(32)
    numbers = ((bits >> np.uint64(8)).astype(np.int64) - 0x800000).astype(np.float32) * np.float32(2.0**-23)
    return torch.from_numpy((numbers * np.float32(spread)).astype(np.float64).reshape(shape))


def show(name, tensor):
    """All numbers of a small result; of a large one every n-th, such that about 240 are left. n is odd, so that columns vary."""
    flat = tensor.reshape(-1)
    step = max(1, flat.numel() // 240) | 1
    numbers = ", ".join("%.9g" % x for x in flat[::step].tolist())
    print('{"%s", %d, %d, {%s}},' % (name, flat.numel(), step, numbers))


def one_head(x, wq, wk, wv, causal=False):
    """Softmax(Q K^T / sqrt(d_k)) V, and the weights."""
    q, k, v = x @ wq.T, x @ wk.T, x @ wv.T
    scores = q @ k.T / k.shape[1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    weights = F.softmax(scores, dim=1)
    return weights @ v, weights


def multi_head(x, memory, weights, biases, heads, kv_heads=None, causal=False):
    wq, wk, wv, wo = weights
    bq, bk, bv, bo = biases
    kv_heads = kv_heads or heads
    dim = wq.shape[0] // heads
    split = lambda y, count: y.reshape(y.shape[0], count, dim).transpose(0, 1)
    q = split(F.linear(x, wq, bq), heads)
    k = split(F.linear(memory, wk, bk), kv_heads).repeat_interleave(heads // kv_heads, 0)
    v = split(F.linear(memory, wv, bv), kv_heads).repeat_interleave(heads // kv_heads, 0)
    scores = q @ k.transpose(1, 2) / dim**0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    context = F.softmax(scores, dim=2) @ v
    return F.linear(context.transpose(0, 1).reshape(x.shape[0], -1), wo, bo)


def layer_inputs(seed, width, inner, memory_width=None):
    memory_width = memory_width or width
    spread = 1.7 / width**0.5
    weights = (uniform(seed, width, width, spread=spread), uniform(seed + 1, inner, memory_width, spread=spread),
               uniform(seed + 2, inner, memory_width, spread=spread), uniform(seed + 3, width, width, spread=spread))
    biases = (uniform(seed + 4, width, spread=0.1), uniform(seed + 5, inner, spread=0.1), uniform(seed + 6, inner, spread=0.1),
              uniform(seed + 7, width, spread=0.1))
    return weights, biases


def block(x, seed, heads, causal, approximate):
    """A transformer block with normalisation before each part: x + attention(norm(x)), then x + mlp(norm(x))."""
    width = x.shape[1]
    gains = [1 + uniform(seed + i, width, spread=0.2) for i in (20, 22)]
    shifts = [uniform(seed + i, width, spread=0.1) for i in (21, 23)]
    weights, biases = layer_inputs(seed, width, width)
    normal = F.layer_norm(x, (width,), gains[0].float().double(), shifts[0], 1e-5)
    x = x + multi_head(normal, normal, weights, biases, heads, causal=causal)
    normal = F.layer_norm(x, (width,), gains[1].float().double(), shifts[1], 1e-5)
    spread = 1.7 / width**0.5
    up = F.linear(normal, uniform(seed + 24, 4 * width, width, spread=spread), uniform(seed + 25, 4 * width, spread=0.1))
    active = F.gelu(up, approximate=approximate)
    return x + F.linear(active, uniform(seed + 26, width, 4 * width, spread=spread / 2), uniform(seed + 27, width, spread=0.1))


def with_torch_module(x, memory, seed, heads):
    """torch.nn.MultiheadAttention itself, with the weights of layer_inputs."""
    width = x.shape[1]
    weights, biases = layer_inputs(seed, width, width, memory.shape[1])
    module = torch.nn.MultiheadAttention(width, heads, kdim=memory.shape[1], vdim=memory.shape[1], batch_first=True).double()
    with torch.no_grad():
        if memory.shape[1] == width:
            module.in_proj_weight.copy_(torch.cat(weights[:3]))
        else:
            module.q_proj_weight.copy_(weights[0])
            module.k_proj_weight.copy_(weights[1])
            module.v_proj_weight.copy_(weights[2])
        module.in_proj_bias.copy_(torch.cat(biases[:3]))
        module.out_proj.weight.copy_(weights[3])
        module.out_proj.bias.copy_(biases[3])
        result = module(x[None], memory[None], memory[None], need_weights=False)[0][0]
    return result


def additive(state, keys, wq, wk, v, bias):
    """Bahdanau: softmax over v^T tanh(W_q s + W_k h + b), then the sum of h."""
    scores = torch.tanh((state @ wq.T)[:, None, :] + (keys @ wk.T)[None, :, :] + bias) @ v
    return F.softmax(scores, dim=1) @ keys


def main():
    print("// Made by textbook.py with PyTorch %s: name, numbers of the whole result, step between those that follow."
          % torch.__version__.split("+")[0].split("a")[0])
    # Life is short, eat dessert first: six words of 16 numbers, d_k 24, d_v 28.
    words = uniform(1, 6, 16)
    wq, wk, wv = uniform(2, 24, 16, spread=0.5), uniform(3, 24, 16, spread=0.5), uniform(4, 28, 16, spread=0.5)
    show("six words", one_head(words, wq, wk, wv)[0])
    show("six words, weights", one_head(words, wq, wk, wv)[1])
    show("six words, causal", one_head(words, wq, wk, wv, True)[0])
    show("six words, causal weights", one_head(words, wq, wk, wv, True)[1])
    # Cross-attention of the six words to eight others.
    others = uniform(5, 8, 16)
    scores = (words @ wq.T) @ (others @ wk.T).T / 24**0.5
    show("six words to eight others", F.softmax(scores, dim=1) @ (others @ wv.T))
    # Four vectors of six numbers, d_k 3.
    four = uniform(6, 4, 6)
    show("four vectors", one_head(four, uniform(7, 3, 6), uniform(8, 3, 6), uniform(9, 3, 6))[0])

    x = uniform(30, 10, 32)
    show("torch.nn.MultiheadAttention", with_torch_module(x, x, 31, 4))
    memory = uniform(40, 13, 20)
    show("torch.nn.MultiheadAttention, cross", with_torch_module(x, memory, 41, 4))
    weights, biases = layer_inputs(31, 32, 8)
    show("grouped heads", multi_head(x, x, (weights[0], weights[1], weights[2], weights[3]), biases, 4, 1, causal=True))

    show("GPT-2 block, 12 heads", block(uniform(100, 16, 768), 101, 12, True, "tanh"))
    show("GPT-2 block, 25 heads", block(uniform(200, 8, 1600), 201, 25, True, "tanh"))
    show("ViT-B/16 block", block(uniform(300, 197, 768), 301, 12, False, "none"))

    state, encoded = uniform(400, 3, 10), uniform(401, 12, 14)
    show("additive attention", additive(state, encoded, uniform(402, 9, 10, spread=0.5), uniform(403, 9, 14, spread=0.5),
                                        uniform(404, 9), uniform(405, 9, spread=0.2)))


main()
