"""Attention in integers once more, exactly: what src/guide/integers.md defines, in numpy's numbers of 64 bits, and nothing of the
library's. A head of a batch row at a time, its queries side by side."""
import math

import numpy as np


def down(number, bits):
    """floor(number / 2^bits), of a negative count of bits too."""
    bits = np.clip(bits, -40, 62)
    return np.where(bits < 0, number << np.maximum(-bits, 0), number >> np.maximum(bits, 0))


def nearest(number, bits):
    """To the nearest, ties up; as it is shifted to the left where there are no bits to lose."""
    bits = np.clip(bits, -40, 62)
    return np.where(bits <= 0, number << np.maximum(-bits, 0), (number + (1 << np.maximum(bits - 1, 0))) >> np.maximum(bits, 1))


def score_scale(step):
    """factor and right."""
    if step == 0:
        return 0, 13
    part, exponent = math.frexp(step * 2048)
    mantissa = math.floor(part * 65536 + 0.5)
    if mantissa == 65536:
        mantissa, exponent = 32768, exponent + 1
    if exponent > 11:
        mantissa, exponent = 65535, 11
    if exponent < -13:
        mantissa, exponent = mantissa >> min(-13 - exponent, 62), -13
    return mantissa << max(exponent, 0), max(-exponent, 0)


def output_scale(steps):
    """factor and shift."""
    part, exponent = math.frexp(steps)
    factor = math.floor(part * 32768 + 0.5)
    return (16384, 14 - exponent) if factor == 32768 else (factor, 15 - exponent)


class Sums:
    """Of each row: a sum for each column, in 2^-7 of 2^exponent, and the denominator, in 2^-15 of it."""

    def __init__(self, rows, columns):
        self.empty = np.ones(rows, bool)
        self.exponent, self.denominator = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        self.values = np.zeros((rows, columns), np.int64)

    def add(self, other, bits):
        exponent = np.where(self.empty, other.exponent, np.maximum(self.exponent, other.exponent))
        old, added = exponent - self.exponent, np.minimum(exponent - other.exponent, 30 - bits)
        takes = ~other.empty
        denominator = np.where(self.empty, 0, down(self.denominator, old)) + nearest(other.denominator, added)
        values = np.where(self.empty[:, None], 0, down(self.values, old[:, None])) + nearest(other.values, added[:, None] + bits)
        self.exponent = np.where(takes, exponent, self.exponent)
        self.denominator = np.where(takes, denominator, self.denominator)
        self.values = np.where(takes[:, None], values, self.values)
        self.empty &= other.empty


def chunk_sums(scores, sees, values, value_scales, factor, right):
    """scores, sees [rows][keys], values [keys][columns]."""
    chunk = Sums(len(scores), values.shape[1])
    chunk.empty = ~sees.any(1)
    largest = np.where(sees, scores, np.iinfo(np.int64).min // 4).max(1)
    largest = np.where(chunk.empty, 0, largest)
    place = largest * factor >> 16 + right
    chunk.exponent = (place >> 11) + 1
    below = (np.where(sees, largest[:, None] - scores, 0) >> right) * factor >> 16
    t = below + (2048 * chunk.exponent - place)[:, None]
    x = t % 2048
    power = 65531 - (x * (45287 - (x * (15075 - (x * 2554 >> 11)) >> 11)) >> 11)
    weights = np.where(sees & (below < 15 * 2048), nearest(power, (t >> 11) + 1), 0)
    chunk.denominator = weights.sum(1)
    chunk.values = (weights if value_scales is None else nearest(weights * value_scales, 15)) @ values
    return chunk


def attention(query, key, value, sees, meaning, output, key_scales=None, value_scales=None):
    """query [rows][head_dim], key and value [keys][…], sees [rows][keys], of positions from 0 on; meaning: the arguments of
    attend.Quantisation. As numbers of the type `output`."""
    query, key, value = (array.astype(np.int64) for array in (query, key, value))
    scale = meaning['scale'] if meaning['scale'] is not None else float(np.float32(1 / math.sqrt(query.shape[1])))
    factor, right = score_scale(math.log2(math.e) * scale * meaning['query_scale'] * meaning['key_scale'])
    scores = (query - meaning['query_zero_point']) @ key.T
    if key_scales is not None:
        scores = scores * key_scales.astype(np.int64) >> 15
    total, segment = Sums(len(query), value.shape[1]), Sums(len(query), value.shape[1])
    for first in range(0, len(key), 32):
        if first % 512 == 0:
            total.add(segment, 0)
            segment = Sums(len(query), value.shape[1])
        keys = slice(first, first + 32)
        segment.add(chunk_sums(scores[:, keys], sees[:, keys], value[keys], None if value_scales is None else
                               value_scales[keys].astype(np.int64), factor, right), 8)
    total.add(segment, 0)
    return finish(total, meaning, output)


def finish(total, meaning, output):
    factor, shift = output_scale(meaning['value_scale'] / meaning['output_scale'])
    denominator = np.where(total.empty, 1, total.denominator)
    bits = np.array([int(number).bit_length() for number in denominator], np.int64)
    divisor = nearest(denominator, bits - 16)
    reciprocal = ((1 << 31) + (divisor >> 1)) // divisor
    zero = meaning['value_zero_point'] * down(denominator, bits - 22)
    y = (down(total.values, (bits - 30)[:, None]) - zero[:, None]) * (reciprocal * factor)[:, None] >> 32
    y = np.where(total.empty[:, None], 0, y)
    if output == 'float32':
        lost = np.maximum(np.array([[int(number).bit_length() - 24 for number in row] for row in np.abs(y)]).reshape(y.shape), 0)
        kept = np.sign(y) * (np.abs(y) >> lost << lost)
        return (np.ldexp(kept.astype(float), -(shift + 5)) * float(np.float32(meaning['output_scale']))).astype(np.float32)
    kind = np.iinfo(output)
    return np.clip(nearest(y, np.int64(shift + 5)) + meaning['output_zero_point'], kind.min, kind.max).astype(output)
