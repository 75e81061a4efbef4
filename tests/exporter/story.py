"""A real Llama through the exporter: tests/exporter/story.py CHECKPOINT TOKENIZER STORY FOLDER. Writes the checkpoint of llama2.c as a folder
that its authors would publish, FOLDER/hf, with pairs of rotary positions as halves; the likeliest tokens by the exported program are
those of the story. FOLDER/story is exported, with a token at a time, in 8 bits."""
import json
import pathlib
import struct
import sys

import numpy

from attend.exporter.export import export, load

TOKENS = 64


def write_safetensors(path, arrays):
    header, body = {}, b''
    for name, array in arrays.items():
        data = numpy.ascontiguousarray(array).tobytes()
        header[name] = {'dtype': {'float32': 'F32', 'float16': 'F16'}[str(array.dtype)], 'shape': list(array.shape),
                        'data_offsets': [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, 'little') + text + body)


def convert(checkpoint, folder):
    data = pathlib.Path(checkpoint).read_bytes()
    width, inner, layers, heads, kv_heads, vocabulary, positions = struct.unpack_from('<7i', data)
    numbers, each = numpy.frombuffer(data, '<f4', offset=28), width // heads
    at = 0

    def take(*shape):
        nonlocal at
        count = int(numpy.prod(shape))
        at += count
        return numbers[at - count:at].reshape(shape)

    table, first = take(abs(vocabulary), width), take(layers, width)
    query, key, value = take(layers, width, width), take(layers, kv_heads * each, width), take(layers, kv_heads * each, width)
    output, second = take(layers, width, width), take(layers, width)
    gate, down, up = take(layers, inner, width), take(layers, width, inner), take(layers, inner, width)
    halves = lambda rows: rows.reshape(-1, each // 2, 2, width).transpose(0, 2, 1, 3).reshape(rows.shape)
    arrays = {'model.embed_tokens.weight': table, 'model.norm.weight': take(width)}
    for i in range(layers):
        name = f'model.layers.{i}.'
        arrays.update({name + 'input_layernorm.weight': first[i], name + 'post_attention_layernorm.weight': second[i],
                       name + 'self_attn.q_proj.weight': halves(query[i]), name + 'self_attn.k_proj.weight': halves(key[i]),
                       name + 'self_attn.v_proj.weight': value[i], name + 'self_attn.o_proj.weight': output[i],
                       name + 'mlp.gate_proj.weight': gate[i], name + 'mlp.up_proj.weight': up[i], name + 'mlp.down_proj.weight': down[i]})
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(folder / 'model.safetensors', arrays)
    (folder / 'config.json').write_text(json.dumps({
        'model_type': 'llama', 'hidden_size': width, 'intermediate_size': inner, 'num_hidden_layers': layers, 'num_attention_heads': heads,
        'num_key_value_heads': kv_heads, 'rms_norm_eps': 1e-5, 'rope_theta': 10000.0, 'hidden_act': 'silu', 'tie_word_embeddings': True}))


def text_of(tokens, path):
    data, pieces = pathlib.Path(path).read_bytes(), []
    at = 4
    while at < len(data):
        length = struct.unpack_from('<i', data, at + 4)[0]
        pieces.append(data[at + 8:at + 8 + length])
        at += 8 + length
    return b''.join(pieces[token] for token in tokens).replace(b'<0x0A>', b'\n').lstrip().decode()


def main():
    checkpoint, tokenizer, story, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    convert(checkpoint, folder / 'hf')
    program, _ = load(folder / 'hf', 'story', None, 'float32', TOKENS)
    tokens = [1]
    for position in range(TOKENS - 1):
        logits, = program.run([numpy.array(tokens + [0] * (TOKENS - len(tokens)), numpy.int32)])
        tokens.append(int(logits.reshape(TOKENS, -1)[position].argmax()))
    text = text_of(tokens[1:], tokenizer)
    print('ok   the story' if pathlib.Path(story).read_text().startswith(text) else f'FAIL the story: {text}')
    export(folder / 'hf', folder / 'story', weights='int8', decoder=True, tokens=TOKENS)


if __name__ == '__main__':
    main()
