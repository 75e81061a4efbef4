"""Writes the file that bench/app/household.cpp reads and bench/app/household.h describes."""
import struct

import numpy

from model import quantise

MAGIC = b"ATHM0001"


def padded(data):
    return data + bytes(-len(data) % 16)


def matrix(weight):
    numbers, scale = quantise(weight.detach())
    return padded(scale.numpy().astype("<f4").tobytes()) + padded(numbers.numpy().astype(numpy.int8).tobytes())


def vector(gain):
    return padded(gain.detach().numpy().astype("<f4").tobytes())


def write(path, model, vocabulary):
    shape = model.shape
    texts = [piece.encode() + b"\0" for piece in vocabulary.pieces]
    offsets = numpy.cumsum([0] + [len(text) for text in texts]).astype("<u2")
    data = MAGIC + struct.pack("<10i", shape.dim, shape.hidden_dim, shape.layers, shape.heads, shape.kv_heads, len(texts),
                               shape.seq_len, vocabulary.first_letter, vocabulary.first_word, int(offsets[-1]))
    data = padded(data) + padded(offsets.tobytes()) + padded(b"".join(texts))
    data += matrix(model.embedding.weight)
    for layer in model.layers:
        data += vector(layer.attention_norm.gain)
        for projection in (layer.query, layer.key, layer.value, layer.output):
            data += matrix(projection.weight)
        data += vector(layer.feed_norm.gain)
        for projection in (layer.gate, layer.up, layer.down):
            data += matrix(projection.weight)
    data += vector(model.final_norm.gain)
    with open(path, "wb") as file:
        file.write(data)
