"""Writes a model of household commands with floats in the place of 8-bit weights: float_weights.py household.bin floats.bin

bench/app/household.h describes both files. Each weight is the number that its 8 bits and the scale of its row stand for.
"""
import struct
import sys


def padded(count):
    return -(-count // 16) * 16


def main(source, target):
    with open(source, "rb") as file:
        data = file.read()
    assert data[:8] == b"ATHM0001", f"{source} is no model with 8-bit weights"
    dim, hidden_dim, layers, heads, kv_heads, pieces, _, _, _, text_bytes = struct.unpack_from("<10i", data, 8)
    at = 48 + padded((pieces + 1) * 2) + padded(text_bytes)
    written = [b"ATHM0002" + data[8:at]]

    def take(kind, count):
        nonlocal at
        found = struct.unpack_from(f"<{count}{kind}", data, at)
        at += padded(struct.calcsize(f"<{count}{kind}"))
        return found

    def put(floats):
        encoded = struct.pack(f"<{len(floats)}f", *floats)
        written.append(encoded + bytes(padded(len(encoded)) - len(encoded)))

    def vector(count):
        put(take("f", count))

    def matrix(outputs, inputs):
        scales = take("f", outputs)
        numbers = take("b", outputs * inputs)
        put([number * scales[i // inputs] for i, number in enumerate(numbers)])

    kv_dim = dim // heads * kv_heads
    matrix(pieces, dim)
    for _ in range(layers):
        vector(dim)
        for outputs in (dim, kv_dim, kv_dim, dim):
            matrix(outputs, dim)
        vector(dim)
        for outputs, inputs in ((hidden_dim, dim), (hidden_dim, dim), (dim, hidden_dim)):
            matrix(outputs, inputs)
    vector(dim)
    assert at <= len(data), f"{source} has {len(data)} bytes, its header says {at}"
    with open(target, "wb") as file:
        file.write(b"".join(written))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
