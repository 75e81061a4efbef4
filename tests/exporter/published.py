"""Models of known architectures with random weights, under the names that their authors publish, and what they compute by numpy in float64."""
import json
import math
import re
import struct

import float64
import numpy

from attend.exporter.gguf import GPT2, LLAMA
from attend.exporter.safetensors import read_tensors
from story import write_safetensors

random = numpy.random.default_rng(5)
normal = lambda *shape: (random.standard_normal(shape) / math.sqrt(shape[-1])).astype('float32')
erf = numpy.vectorize(math.erf)
gelu = lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))
gelu_new = lambda x: 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


class Weights(dict):
    """Made when they are first asked for; linear layers are y = x W^T + b, or with `transposed` weights y = x W + b."""

    def linear(self, x, name, outputs, bias=True, transposed=False):
        inputs = x.shape[-1]
        weight = self.setdefault(name + '.weight', normal(inputs, outputs) if transposed else normal(outputs, inputs))
        y = x @ (weight if transposed else weight.T).astype(float)
        return y + self.setdefault(name + '.bias', normal(outputs)) if bias else y

    def layer_norm(self, x, name, epsilon):
        weight, bias = self.setdefault(name + '.weight', normal(x.shape[-1]) + 1), self.setdefault(name + '.bias', normal(x.shape[-1]))
        centred = x - x.mean(-1, keepdims=True)
        return centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + epsilon) * weight + bias

    def rms_norm(self, x, name, epsilon):
        return x / numpy.sqrt((x ** 2).mean(-1, keepdims=True) + epsilon) * self.setdefault(name + '.weight', normal(x.shape[-1]) + 1)


def attention(query, key, value, heads, mask):
    """[tokens, heads * width] each; keys and values may have fewer heads."""
    split = lambda part, count: part.reshape(len(part), count, -1).transpose(1, 0, 2)
    kv_heads = key.shape[1] * heads // query.shape[1]
    found = float64.attention(split(query, heads), split(key, kv_heads), split(value, kv_heads), bias=mask)
    return found.output.transpose(1, 0, 2).reshape(query.shape)


def turned(x, heads, base, yarn):
    """By rotary positions that are scaled by 8, of 16 positions: as Llama 3.1 does with factors 1 and 4, or by YaRN with 2 and 1."""
    tokens, half = len(x), x.shape[1] // heads // 2
    x = x.reshape(tokens, heads, 2, half)
    frequencies = base ** (-numpy.arange(half) / half)
    if yarn:
        first, last = (half * math.log(16 / (turns * 2 * math.pi)) / math.log(base) for turns in (2, 1))
        first, last = max(math.floor(first), 0), min(math.ceil(last), 2 * half - 1)
        part = numpy.clip((numpy.arange(half) - first) / (last - first), 0, 1)
        frequencies = frequencies / 8 * part + frequencies * (1 - part)
        x = x * (0.1 * math.log(8) + 1)
    else:
        waves = 2 * numpy.pi / frequencies
        middle = (16 / waves - 1) / 3
        frequencies = numpy.where(waves < 4, frequencies, numpy.where(waves > 16, frequencies / 8, (1 - middle) * frequencies / 8 + middle * frequencies))
    angles = numpy.arange(tokens)[:, None, None] * frequencies
    first, second = x[:, :, 0], x[:, :, 1]
    return numpy.concatenate([first * numpy.cos(angles) - second * numpy.sin(angles), second * numpy.cos(angles) + first * numpy.sin(angles)],
                             -1).reshape(tokens, -1)


def causal(tokens):
    return numpy.where(numpy.tri(tokens, dtype=bool), 0, -numpy.inf)


def gpt2(tokens):
    width, heads, vocabulary = 24, 3, 40
    w = Weights({'transformer.h.0.attn.bias': numpy.ones((1, 1, 64, 64), 'float32')})
    ids = random.integers(0, vocabulary, tokens)
    table, places = w.setdefault('transformer.wte.weight', normal(vocabulary, width)), w.setdefault('transformer.wpe.weight', normal(64, width))
    x = table[ids] + places[:tokens].astype(float)
    for i in range(2):
        name = f'transformer.h.{i}.'
        parts = numpy.split(w.linear(w.layer_norm(x, name + 'ln_1', 1e-5), name + 'attn.c_attn', 3 * width, transposed=True), 3, 1)
        x = x + w.linear(attention(*parts, heads, causal(tokens)), name + 'attn.c_proj', width, transposed=True)
        y = gelu_new(w.linear(w.layer_norm(x, name + 'ln_2', 1e-5), name + 'mlp.c_fc', 4 * width, transposed=True))
        x = x + w.linear(y, name + 'mlp.c_proj', width, transposed=True)
    return {'model_type': 'gpt2', 'n_embd': width, 'n_head': heads, 'n_layer': 2}, w, [ids], w.layer_norm(x, 'transformer.ln_f', 1e-5) @ table.T


def qwen3(tokens, yarn=False, window=99):
    """With Qwen 2's biases besides, which the names allow: what Llama has, and a normalisation of each head."""
    width, heads, kv_heads, each, vocabulary = 24, 4, 2, 10, 40
    w, ids = Weights(), random.integers(0, vocabulary, tokens)
    x = w.setdefault('model.embed_tokens.weight', normal(vocabulary, width))[ids].astype(float)
    for i in range(2):
        name = f'model.layers.{i}.'
        y, parts = w.rms_norm(x, name + 'input_layernorm', 1e-6), []
        for part, count in (('q', heads), ('k', kv_heads), ('v', kv_heads)):
            z = w.linear(y, f'{name}self_attn.{part}_proj', count * each)
            if part != 'v':
                z = w.rms_norm(z.reshape(tokens, count, each), f'{name}self_attn.{part}_norm', 1e-6).reshape(tokens, -1)
                z = turned(z, count, 50000.0, yarn)
            parts.append(z)
        seen = causal(tokens) + numpy.where(numpy.tri(tokens, k=-window, dtype=bool), -numpy.inf, 0)
        x = x + w.linear(attention(*parts, heads, seen), name + 'self_attn.o_proj', width, False)
        y = w.rms_norm(x, name + 'post_attention_layernorm', 1e-6)
        gate, up = w.linear(y, name + 'mlp.gate_proj', 56, False), w.linear(y, name + 'mlp.up_proj', 56, False)
        x = x + w.linear(gate / (1 + numpy.exp(-gate)) * up, name + 'mlp.down_proj', width, False)
    config = {'model_type': 'qwen3', 'hidden_size': width, 'num_attention_heads': heads, 'num_key_value_heads': kv_heads, 'head_dim': each,
              'num_hidden_layers': 2, 'intermediate_size': 56, 'rms_norm_eps': 1e-6, 'rope_theta': 50000.0, 'hidden_act': 'silu',
              'rope_scaling': {'factor': 8.0, 'original_max_position_embeddings': 16, **(
                  {'rope_type': 'yarn', 'beta_fast': 2.0, 'beta_slow': 1.0} if yarn else
                  {'rope_type': 'llama3', 'low_freq_factor': 1.0, 'high_freq_factor': 4.0})}}
    return config, w, [ids], w.linear(w.rms_norm(x, 'model.norm', 1e-6), 'lm_head', vocabulary, False)


def qwen3_yarn(tokens):
    return qwen3(tokens, True)


def mistral(tokens):
    """Each token sees itself and the four before it."""
    config, *others = qwen3(tokens, window=5)
    return {**config, 'model_type': 'mistral', 'sliding_window': 5}, *others


def encoder_layer(w, x, names, heads, first, mask=0.0, epsilon=1e-12):
    width = x.shape[-1]
    y = w.layer_norm(x, names['norm_1'], epsilon) if first else x
    z = attention(*(w.linear(y, names[part], width) for part in ('query', 'key', 'value')), heads, mask)
    x = x + w.linear(z, names['output'], width)
    x = x if first else w.layer_norm(x, names['norm_1'], epsilon)
    y = w.layer_norm(x, names['norm_2'], epsilon) if first else x
    x = x + w.linear(gelu(w.linear(y, names['up'], 3 * width)), names['down'], width)
    return x if first else w.layer_norm(x, names['norm_2'], epsilon)


def bert(tokens):
    width, heads = 24, 3
    w, ids, given = Weights(), random.integers(0, 40, tokens), (numpy.arange(tokens) < tokens - 4).astype('int64')
    x = w.setdefault('bert.embeddings.word_embeddings.weight', normal(40, width))[ids].astype(float)
    x = x + w.setdefault('bert.embeddings.position_embeddings.weight', normal(64, width))[:tokens]
    x = w.layer_norm(x + w.setdefault('bert.embeddings.token_type_embeddings.weight', normal(2, width))[0], 'bert.embeddings.LayerNorm', 1e-12)
    for i in range(2):
        name = f'bert.encoder.layer.{i}.'
        x = encoder_layer(w, x, {**{part: f'{name}attention.self.{part}' for part in ('query', 'key', 'value')},
                                 'output': name + 'attention.output.dense', 'norm_1': name + 'attention.output.LayerNorm',
                                 'up': name + 'intermediate.dense', 'down': name + 'output.dense', 'norm_2': name + 'output.LayerNorm'},
                          heads, False, (1 - given) * -10000.0)
    y = w.linear(numpy.tanh(w.linear(x[:1], 'bert.pooler.dense', width)), 'classifier', 5)
    return {'model_type': 'bert', 'hidden_size': width, 'num_attention_heads': heads, 'num_hidden_layers': 2, 'hidden_act': 'gelu'}, w, [ids, given], y


def vit(tokens):
    width, heads, size, patch = 24, 3, 12, 4
    w, image = Weights(), random.standard_normal((3, size, size)).astype('float32')
    name, count = 'vit.embeddings.patch_embeddings.projection.', (size // patch) ** 2
    weight = w.setdefault(name + 'weight', normal(width, 3, patch, patch))
    pieces = image.reshape(3, size // patch, patch, size // patch, patch).transpose(1, 3, 0, 2, 4).reshape(count, -1)
    x = pieces @ weight.reshape(width, -1).T.astype(float) + w.setdefault(name + 'bias', normal(width))
    x = numpy.concatenate([w.setdefault('vit.embeddings.cls_token', normal(1, 1, width))[0], x])
    x = x + w.setdefault('vit.embeddings.position_embeddings', normal(1, count + 1, width))[0]
    for i in range(2):
        name = f'vit.encoder.layer.{i}.'
        x = encoder_layer(w, x, {**{part: f'{name}attention.attention.{part}' for part in ('query', 'key', 'value')},
                                 'output': name + 'attention.output.dense', 'norm_1': name + 'layernorm_before', 'up': name + 'intermediate.dense',
                                 'down': name + 'output.dense', 'norm_2': name + 'layernorm_after'}, heads, True)
    y = w.linear(w.layer_norm(x[:1], 'vit.layernorm', 1e-12), 'classifier', 5)
    return {'model_type': 'vit', 'hidden_size': width, 'num_attention_heads': heads, 'num_hidden_layers': 2, 'image_size': size, 'patch_size': patch}, w, [image], y


def whisper(tokens):
    width, heads, bins = 24, 3, 10
    w, mel = Weights({'model.decoder.layers.0.fc1.weight': normal(4, 4)}), random.standard_normal((bins, 2 * tokens)).astype('float32')
    x = mel.astype(float)
    for name, channels, step in (('conv1', bins, 1), ('conv2', width, 2)):
        weight, bias = (w.setdefault(f'model.encoder.{name}.{part}', normal(*shape)) for part, shape in (('weight', (width, channels, 3)), ('bias', (width,))))
        padded = numpy.pad(x, [(0, 0), (1, 1)])
        x = gelu(sum(weight[:, :, i].astype(float) @ padded[:, i:i + x.shape[1]] for i in range(3)) + bias[:, None])[:, ::step]
    x = x.T + w.setdefault('model.encoder.embed_positions.weight', normal(tokens, width))
    for i in range(2):
        name, saved = f'model.encoder.layers.{i}.', w.linear
        w.linear = lambda x, which, outputs: saved(x, which, outputs, not which.endswith('k_proj'))  # keys have no bias
        x = encoder_layer(w, x, {'query': name + 'self_attn.q_proj', 'key': name + 'self_attn.k_proj', 'value': name + 'self_attn.v_proj',
                                 'output': name + 'self_attn.out_proj', 'norm_1': name + 'self_attn_layer_norm', 'up': name + 'fc1',
                                 'down': name + 'fc2', 'norm_2': name + 'final_layer_norm'}, heads, True, epsilon=1e-5)
        w.linear = saved
    config = {'model_type': 'whisper', 'd_model': width, 'encoder_attention_heads': heads, 'encoder_layers': 2, 'num_mel_bins': bins,
              'activation_function': 'gelu'}
    return config, w, [mel], w.layer_norm(x, 'model.encoder.layer_norm', 1e-5)


def q8(array):
    blocks = array.reshape(-1, 32)
    scales = (abs(blocks).max(1, keepdims=True) / 127).astype('float16')
    numbers = numpy.clip(numpy.rint(blocks / scales.astype(float)), -127, 127).astype('int8')
    return numpy.concatenate([scales.view('uint8').reshape(-1, 2), numbers.view('uint8')], 1).tobytes(), (scales.astype('float32') * numbers).reshape(array.shape)


def write_gguf(path, settings, arrays, kinds):
    """kinds: of arrays that are not F32: F16, Q8_0, and Q4_0, whose bytes are given."""
    text = lambda words: struct.pack('<Q', len(words)) + words.encode()
    value = lambda each: struct.pack('<I', 8) + text(each) if isinstance(each, str) else struct.pack('<If', 6, each) if isinstance(each, float) else \
        struct.pack('<II', 4, each) if isinstance(each, int) else struct.pack('<IIQ', 9, 8, len(each)) + b''.join(map(text, each))
    head = b'GGUF' + struct.pack('<IQQ', 3, len(arrays), len(settings)) + b''.join(text(name) + value(each) for name, each in settings.items())
    body = b''
    for name, array in arrays.items():
        kind = kinds.get(name, 0)
        data = array.tobytes() if kind == 2 else q8(array)[0] if kind == 8 else array.astype('<f2' if kind == 1 else '<f4').tobytes()
        shape = (len(array), array.shape[1] // 18 * 32) if kind == 2 else array.shape
        head += text(name) + struct.pack('<I', len(shape)) + struct.pack(f'<{len(shape)}Q', *shape[::-1]) + struct.pack('<IQ', kind, len(body))
        body += data + bytes(-len(data) % 32)
    path.write_bytes(head + bytes(-len(head) % 32) + body)


def as_gguf(folder):
    """The Llama and the GPT-2 of a folder that was written before, as GGUF files: name, the folder, the file."""
    for kind, names in (('gpt2', GPT2), ('qwen3', LLAMA)):
        config, weights = json.loads((folder / kind / 'config.json').read_text()), read_tensors(folder / kind / 'model.safetensors')
        settings = {'general.architecture': 'gpt2', 'gpt2.embedding_length': 24, 'gpt2.block_count': 2, 'gpt2.attention.head_count': 3,
                    'gpt2.attention.layer_norm_epsilon': 1e-5, 'tokenizer.ggml.tokens': ['a', 'bc']}
        if kind == 'qwen3':  # without what a Llama does not have
            weights = {name: array for name, array in weights.items() if not re.search('bias|[qk]_norm', name)}
            config.update(model_type='llama', head_dim=None, rope_scaling={'rope_type': 'linear', 'factor': 4.0}, num_attention_heads=4)
            settings = {'general.architecture': 'llama', 'llama.embedding_length': 24, 'llama.block_count': 2, 'llama.feed_forward_length': 56,
                        'llama.attention.head_count': 4, 'llama.attention.head_count_kv': 2, 'llama.attention.layer_norm_rms_epsilon': 1e-6,
                        'llama.rope.freq_base': 50000.0, 'llama.rope.scaling.type': 'linear', 'llama.rope.scaling.factor': 4.0,
                        'llama.rope.dimension_count': 6}
            square = lambda name: name.endswith(('q_proj.weight', 'k_proj.weight', 'v_proj.weight', 'o_proj.weight'))
            weights = {name: normal(12 if 'k_proj' in name or 'v_proj' in name else 24, 24) if square(name) else array for name, array in weights.items()}
            (folder / 'llama').mkdir(exist_ok=True)
            (folder / 'llama/config.json').write_text(json.dumps(config))
            write_safetensors(folder / 'llama/model.safetensors', weights)
        arrays = {}
        for name, array in weights.items():
            stem, _, end = name.rpartition('.')
            for pattern, published in names.items():
                found = re.fullmatch(re.sub(r'\\[12]', lambda group: r'(\d+)' if group[0] == r'\1' else '(q|k|v|gate|up|down)', published), stem)
                if found and not name.endswith('.attn.bias'):
                    groups = iter(found.groups())
                    short = re.sub(r'\([^)]*\)', lambda _: next(groups), pattern).replace('\\.', '.')
                    if kind == 'gpt2' and '.h.' in name and array.ndim == 2:
                        array = array.T
                    if short.endswith(('attn_q', 'attn_k')):  # pairs side by side
                        array = array.reshape(-1, 2, 3, 24).transpose(0, 2, 1, 3).reshape(array.shape)
                    arrays[f'{short}.{end}'] = numpy.ascontiguousarray(array)
        path = folder / f'{config["model_type"]}.gguf'
        write_gguf(path, settings, arrays, {})
        yield config['model_type'], folder / config['model_type'], path


def write_blocks(path):
    """A Llama whose matrices are blocks of 4 bits, with scales that no number of theirs is -8 of: as tools write them that search for scales."""
    def blocks(outputs, inputs):
        made = random.integers(0, 256, (outputs, inputs // 32, 18)).astype('uint8')
        made[..., 2:] |= 0x11
        made[..., :2] = (random.random((outputs, inputs // 32, 1)) / 32).astype('<f2').view('uint8')
        return made.reshape(outputs, -1)
    settings = {'general.architecture': 'llama', 'llama.embedding_length': 32, 'llama.block_count': 1, 'llama.feed_forward_length': 64,
                'llama.attention.head_count': 2, 'llama.attention.layer_norm_rms_epsilon': 1e-6}
    arrays = {'token_embd.weight': blocks(40, 32), 'output_norm.weight': normal(32) + 1, 'blk.0.attn_norm.weight': normal(32) + 1, 'blk.0.ffn_norm.weight': normal(32) + 1,
              **{f'blk.0.attn_{part}.weight': blocks(32, 32) for part in ('q', 'k', 'v', 'output')},
              'blk.0.ffn_gate.weight': blocks(64, 32), 'blk.0.ffn_up.weight': blocks(64, 32), 'blk.0.ffn_down.weight': blocks(32, 64)}
    write_gguf(path, settings, arrays, {name: 2 for name, array in arrays.items() if array.ndim == 2})


def write_all(folder, tokens):
    """Of each model its name, inputs and what it computes; written to FOLDER/NAME."""
    for make in (gpt2, qwen3, qwen3_yarn, mistral, bert, vit, whisper):
        config, weights, inputs, output = make(tokens)
        (folder / make.__name__).mkdir(parents=True, exist_ok=True)
        (folder / make.__name__ / 'config.json').write_text(json.dumps(config))
        write_safetensors(folder / make.__name__ / 'model.safetensors', {name: array.astype('float32') for name, array in weights.items()})
        yield make.__name__, inputs, output
