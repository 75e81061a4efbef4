"""The page of families, include/guide/families.md: what its lines compute, beside models in float64 that are written here from what
the families publish: tests/python/wheel_families.py. Needs numpy."""
import pathlib
import re

import attend
import numpy as np
from onnx_attention import float64
from published_rotary import published
from wheel_checks import check, finish, same

BOUND = 1e-5  # of the largest number
page = pathlib.Path(__file__).resolve().parents[2] / 'include/guide/families.md'
page_names = {}
worst = 0.0


def blocks():
    """(heading, lines) of each block."""
    heading, lines = '', None
    for line in page.read_text().splitlines():
        if line.startswith('## '):
            heading = line[3:]
        elif line == '```python':
            lines = []
        elif line == '```' and lines is not None:
            yield heading, '\n'.join(lines)
            lines = None
        elif lines is not None:
            lines.append(line)


def linear(rows, number):
    weights, bias = page_names['matrices'][number].astype(float), page_names['biases'][number]
    return rows @ weights.T + (0 if bias is None else bias)


def split(rows, count):
    return rows.reshape(len(rows), count, -1).transpose(1, 0, 2)


def join(rows):
    return rows.transpose(1, 0, 2).reshape(rows.shape[1], -1)


def normed(rows, weight=1.0):
    return rows / np.sqrt((rows * rows).mean(-1, keepdims=True) + 1e-6) * weight


def gain(number):
    return page_names['gains'][number].astype(float)


def radians_of(dim, config=None, positions=None, base=10000.0):
    config = config or {'rope_type': 'linear', 'rope_theta': base, 'factor': 1.0}
    return np.array([float(turn) for turn in published(dim, config, positions)])


def turned(rows, radians, halves=True, places=None, factor=1.0):
    places = np.arange(rows.shape[1])[:, None] if places is None else places
    cosines, sines, n = np.cos(places * radians) * factor, np.sin(places * radians) * factor, len(radians)
    mine = (slice(0, n), slice(n, 2 * n)) if halves else (slice(0, 2 * n, 2), slice(1, 2 * n, 2))
    a, b, found = rows[..., mine[0]], rows[..., mine[1]], rows.copy()
    found[..., mine[0]], found[..., mine[1]] = a * cosines - b * sines, b * cosines + a * sines
    return found


def attention(*arrays, **options):
    return float64.attention(*arrays, **options).output


def causal(window=None, queries=24):
    q, k = np.arange(queries)[:, None], np.arange(queries)[None]
    return (k <= q) & (True if window is None else k >= q - window)


def layer(rows, first, count, kv_count, memory=None, turn=None, norms=None, factors=None, gate=None, **options):
    """matrices first, first + 1 … are those of queries, keys, values and the output."""
    memory = rows if memory is None else memory
    query = split(linear(rows, first), count)
    key, value = (split(linear(memory, first + i), kv_count) for i in (1, 2))
    if norms is not None:
        query, key = normed(query, norms[0]), normed(key, norms[1])
    if turn is not None:
        query, key = turn(query), turn(key)
    if factors is not None:
        query = query * factors[:, None]
    found = join(attention(query, key, value, **options))
    if gate is not None:
        found = found / (1 + np.exp(-linear(rows, gate)))
    return linear(found, first + 3)


def near(what, found, wanted):
    global worst
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    worst = max(worst, error)
    check(found.shape == wanted.shape and error < BOUND, f'{what}: an error of {error:.1e}')


def in_pieces(what, names):
    """The layer of a block, in one call, in chunks and token by token: the same bits."""
    own, x, options = names['layer'], names['x'], names['options']
    for cuts in ([0, 5, 6, 18, 24], range(25)):
        cache, found = attend.Cache(own.kv_heads, own.head_dim, 100, value_dim=own.value_dim), []
        for begin, end in zip(cuts, cuts[1:]):
            now = dict(options)
            if 'ranges' in now:
                now['ranges'] = (now['ranges'][0][begin:end], None)
            found.append(own.self_attention(x[begin:end], cache, **now))
        same(f'{what} in {len(cuts) - 1} pieces', np.concatenate(found), names['y'])


def llama4(names, first):
    at = np.arange(24)
    chunks = causal() & (at[:, None] // 10 == at // 10)
    turn = lambda rows: turned(rows, radians_of(128, names['scaling']), halves=False)
    near('Llama 4', names['y'], layer(names['x'], first, 5, 1, turn=lambda rows: normed(turn(rows)), seen=chunks))
    factors = 1 + 0.1 * np.log(1 + np.minimum((at + 1) // 6, 3))
    near('Llama 4 without positions', names['unplaced_y'], layer(names['x'], first + 4, 5, 1, factors=factors, seen=causal()))


def qwen3_vl(names, first, gains):
    x, axis = names['x'], np.array([(1, 2)[i % 3 - 1] if i % 3 and i < 60 else 0 for i in range(64)])
    query, key, value = (split(linear(x, first + i), count) for i, count in enumerate((4, 2, 2)))
    places = names['places'][:, axis].astype(float)
    turn = lambda rows: turned(rows, radians_of(128, base=5000000.0), places=places)
    found = attention(turn(normed(query, gain(gains))), turn(normed(key, gain(gains + 1))), value, causal())
    near('Qwen3-VL', names['y'], linear(join(found), first + 3))


def gemma3(names, first, gains):
    at, image, x = np.arange(24), names['image'], names['x']
    both = image[:, None] & image
    config = {'rope_type': 'linear', 'rope_theta': 1000000.0, 'factor': 8.0}
    for name, matrices, weights, radians, window in (('y', first, gains, radians_of(256, config), None),
                                                     ('local_y', first + 4, gains + 2, radians_of(256), 3)):
        near(f'Gemma 3, {name}', names[name], layer(x, matrices, 2, 1, norms=(gain(weights), gain(weights + 1)), seen=causal(window) | both,
                                                    turn=lambda rows: turned(rows, radians)))


def gemma3n(names, first, gains):
    x, turn = names['x'], lambda rows: turned(rows, radians_of(256, base=1000000.0))
    query, key, value = (split(linear(x, first + i), count) for i, count in enumerate((2, 1, 1)))
    key, value = turn(normed(key, gain(gains + 1))), normed(value)
    near('Gemma 3n', names['y'], linear(join(attention(turn(normed(query, gain(gains))), key, value, causal(), 1.0)), first + 3))
    query = turn(normed(split(linear(names['y'].astype(float), first + 4), 2), gain(gains + 2)))
    near('Gemma 3n, a layer that reads', names['reader_y'], linear(join(attention(query, key, value, causal(), 1.0)), first + 5))


def gemma4(names, first, gains):
    config = {'rope_type': 'proportional', 'rope_theta': 1000000.0, 'partial_rotary_factor': 0.25}
    x, turn = names['x'], lambda rows: turned(rows, radians_of(512, config))
    query, shared = split(linear(x, first), 2), split(linear(x, first + 1), 1)
    found = attention(turn(normed(query, gain(gains))), turn(normed(shared, gain(gains + 1))), normed(shared), causal(), 1.0)
    near('Gemma 4', names['y'], linear(join(found), first + 2))


def deepseek(names, first, gains):
    x, radians = names['x'], radians_of(64, {'type': 'yarn', 'factor': 40, 'original_max_position_embeddings': 4096})
    query = split(linear(normed(linear(x, first), gain(gains)), first + 1), 4)
    rows = linear(x, first + 2)
    both = split(linear(normed(rows[:, :512], gain(gains + 1)), first + 3), 4)
    turn = lambda part: turned(part, radians, halves=False)
    query[..., 128:] = turn(query[..., 128:])
    key = np.concatenate([both[..., :128], np.broadcast_to(turn(rows[None, :, 512:]), (4, 24, 64))], -1)
    found = linear(join(attention(query, key, both[..., 128:], causal(), 192 ** -0.5 * (0.1 * np.log(40) + 1) ** 2)), first + 4)
    near('DeepSeek V3', names['y'], found)
    if 'absorbed_y' in names:
        near('DeepSeek V3, absorbed', names['absorbed_y'], found)
        check(np.shares_memory(names['latents'], names['latents'][..., :512]), 'values are a part of the keys')


def with_layer(*heads, **of_model):
    def model(names, first, gains):
        more = {name: value(names) if callable(value) and name != 'turn' else value for name, value in of_model.items()}
        if more.pop('norms', False):
            more['norms'] = gain(gains), gain(gains + 1)
        near(names['heading'], names['y'], layer(names['x'], first, *heads, **more))
    return model


def whisper(names, first, gains):
    near('Whisper', names['y'], layer(names['x'], first, 3, 3, seen=causal()))
    near('Whisper, across', names['across_y'], layer(names['y'].astype(float), first + 4, 3, 3, memory=names['encoded'].astype(float)))


def t5_bias(names):
    apart = np.arange(24)[None] - np.arange(24)[:, None]
    far = 8 + (np.log(np.maximum(abs(apart), 1) / 8) / np.log(16) * 8).astype(int)
    bucket = 16 * (apart > 0) + np.where(abs(apart) < 8, abs(apart), np.minimum(far, 15))
    return names['buckets'].astype(float)[bucket].transpose(2, 0, 1)


def phi_factors(names):
    return {**names['scaling'], 'original_max_position_embeddings': 4096}


YARN = {'rope_type': 'yarn', 'rope_theta': 150000.0, 'factor': 32.0, 'truncate': False, 'original_max_position_embeddings': 4096}
LLAMA = {'rope_type': 'llama3', 'rope_theta': 500000.0, 'factor': 32.0, 'low_freq_factor': 1.0, 'high_freq_factor': 4.0,
         'original_max_position_embeddings': 8192}
PHI = {'type': 'longrope', 'short_factor': [1.0] * 48, 'long_factor': [1.0 + 0.8 * i for i in range(48)], 'factor': 32.0,
       'original_max_position_embeddings': 4096}
by = lambda radians, factor=1.0: lambda rows: turned(rows, radians, factor=factor)
MODELS = {
    'BERT': with_layer(4, 4, seen=lambda names: np.arange(24) < 20),
    'ViT': with_layer(3, 3),
    'Whisper': whisper,
    'T5': with_layer(4, 4, bias=t5_bias, scale=1.0),
    'GPT-2': with_layer(3, 3, seen=causal()),
    'Llama 3.2': with_layer(8, 2, seen=causal(), turn=by(radians_of(64, LLAMA))),
    'Llama 4': lambda names, first, gains: llama4(names, first),
    'Qwen3': with_layer(4, 2, seen=causal(), norms=True, turn=by(radians_of(128, base=1000000.0))),
    'Qwen3-VL': qwen3_vl,
    'Qwen3-Next': lambda names, first, gains: with_layer(4, 1, seen=causal(), norms=True, turn=by(radians_of(64, base=10000000.0)),
                                                         gate=first + 4)(names, first, gains),
    'Gemma 2': with_layer(2, 1, seen=causal(7), cap=50.0, scale=224 ** -0.5, turn=by(radians_of(256))),
    'Gemma 3': gemma3,
    'Gemma 3n': gemma3n,
    'Gemma 4': gemma4,
    'gpt-oss': with_layer(8, 1, seen=causal(5), sinks=lambda names: names['sinks'], turn=by(radians_of(64, YARN), 0.1 * np.log(32) + 1)),
    'Phi-4-mini': with_layer(3, 1, seen=causal(), turn=by(radians_of(96, PHI, 131072), np.sqrt(1 + np.log(32) / np.log(4096)))),
    'SmolLM3': with_layer(4, 1, seen=causal()),
    'MiMo-V2': with_layer(4, 1, seen=causal(6), sinks=lambda names: names['sinks'], turn=by(radians_of(64))),
    'DeepSeek V3': deepseek,
}
seen_headings = set()
for heading, lines in blocks():
    first, gains = (len(page_names.get(name, ())) for name in ('matrices', 'gains'))
    if heading in seen_headings:  # a second block of a family goes on with the first one's weights
        first, gains = page_names['began']
    page_names.pop('options', None)
    exec(lines, page_names)
    if not heading:
        continue
    seen_headings.add(heading)
    page_names['heading'], page_names['began'] = heading, (first, gains)
    MODELS[heading](page_names, first, gains)
    if 'options' in page_names:
        in_pieces(heading, page_names)
check(seen_headings == set(MODELS), f'a model for each family: {seen_headings ^ set(MODELS)}')
links = set(re.findall(r'^\| \[([^]]+)\]\(#', page.read_text(), re.M))
check(links == set(MODELS), f'a row of the table for each family: {links ^ set(MODELS)}')
print(f'{len(MODELS)} families: the largest error is {worst:.1e} of the largest number')
finish()
