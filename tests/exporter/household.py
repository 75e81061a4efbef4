"""The model of household commands through the exporter: tests/exporter/household.py FOLDER [EVERY]. Writes bench/app/model/household.bin as its
authors would publish a Llama, FOLDER/published, and exports it in integers, FOLDER/household, with scales from some of the
calibration sentences. What it makes of every 20th held-out sentence is compared with its action."""
import json
import pathlib
import shutil
import struct
import sys

import numpy

sys.path.insert(0, 'bench/app/train')

from attend.exporter.export import export
from story import write_safetensors
from vocabulary import END, Vocabulary

MODEL, TOKENS = pathlib.Path('bench/app/model'), 116


class Words(Vocabulary):
    """The vocabulary that the file has."""

    def __init__(self, data):
        pieces, first_letter, first_word, text = struct.unpack_from('<i4x3i', data, 28)
        begin = 48 + -(-(pieces + 1) * 2 // 16) * 16
        self.pieces = data[begin:begin + text].decode().split('\0')[:pieces]
        self.first_letter, self.first_word = first_letter, first_word
        self.words = {word: first_word + i for i, word in enumerate(self.pieces[first_word:])}
        self.letters = {letter: first_letter + i for i, letter in enumerate(self.pieces[first_letter:first_word])}
        self.actions = {piece: i for i, piece in enumerate(self.pieces[:first_letter])}


def lines(name):
    for line in (MODEL / name).read_text().splitlines():
        if '\t' in line and line[0] != '#':
            yield line.split('\t')


def calibration(words):
    """int32 [sentences][TOKENS] with their actions; -1 behind them."""
    found = [words.encode(sentence) + words.encode_action(action)[:-1] for sentence, action in lines('calibration.txt')]
    return numpy.array([tokens + [-1] * (TOKENS - len(tokens)) for tokens in found], numpy.int32)


def publish(path, folder):
    data = path.read_bytes()
    width, inner, layers, heads, kv_heads, pieces, positions, _, _, text = struct.unpack_from('<10i', data, 8)
    each = width // heads
    padded = lambda count: -(-count // 16) * 16
    at = 48 + padded((pieces + 1) * 2) + padded(text)

    def take(type, *shape):
        nonlocal at
        found = numpy.frombuffer(data, type, int(numpy.prod(shape)), at).reshape(shape)
        at += padded(found.nbytes)
        return found

    def matrix(outputs, inputs):
        scales = take('<f4', outputs)
        return take('i1', outputs, inputs) * scales[:, None]

    halves = lambda rows: rows.reshape(-1, each // 2, 2, width).transpose(0, 2, 1, 3).reshape(rows.shape)
    arrays = {'model.embed_tokens.weight': matrix(pieces, width)}
    for i in range(layers):
        name = f'model.layers.{i}.'
        arrays[name + 'input_layernorm.weight'] = take('<f4', width)
        query, key, value, output = (matrix(outputs, width) for outputs in (width, kv_heads * each, kv_heads * each, width))
        arrays.update({name + 'self_attn.q_proj.weight': halves(query), name + 'self_attn.k_proj.weight': halves(key),
                       name + 'self_attn.v_proj.weight': value, name + 'self_attn.o_proj.weight': output,
                       name + 'post_attention_layernorm.weight': take('<f4', width)})
        for part, outputs, inputs in (('gate', inner, width), ('up', inner, width), ('down', width, inner)):
            arrays[f'{name}mlp.{part}_proj.weight'] = matrix(outputs, inputs)
    arrays['model.norm.weight'] = take('<f4', width)
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(folder / 'model.safetensors', arrays)
    (folder / 'config.json').write_text(json.dumps({
        'model_type': 'llama', 'hidden_size': width, 'intermediate_size': inner, 'num_hidden_layers': layers, 'num_attention_heads': heads,
        'num_key_value_heads': kv_heads, 'rms_norm_eps': 1e-5, 'rope_theta': 10000.0, 'hidden_act': 'silu', 'tie_word_embeddings': True}))


def exact(program, words, every):
    """How many held-out actions are right to the last piece, of how many."""
    right = count = 0
    for sentence, action in list(lines('held_out.txt'))[::every]:
        given, wanted = words.encode(sentence), words.encode_action(action)
        tokens = given + wanted
        logits, = program.run([numpy.array(tokens + [0] * (TOKENS - len(tokens)), numpy.int32)])
        scores = logits.reshape(TOKENS, -1)[len(given) - 1:len(tokens) - 1, END:words.first_letter]
        right += (END + scores.argmax(1)).tolist() == wanted
        count += 1
    return right, count


def main():
    folder, every = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    publish(MODEL / 'household.bin', folder / 'published')
    words = Words((MODEL / 'household.bin').read_bytes())
    (folder / 'words.bin').write_bytes(struct.pack('<2i', words.first_letter, len(words.pieces)) +
                                       b''.join(piece.encode() + b'\0' for piece in words.pieces))
    report = export(folder / 'published', folder / 'household', arithmetic='int8', samples=calibration(words)[::4], decoder=True, tokens=TOKENS)
    shutil.rmtree(folder / 'household' / 'attend')  # beside the application there is the library already
    right, count = exact(report.program, words, every)
    print(f'{"ok  " if right >= 0.95 * count else "FAIL"} household commands: {right} of {count} held-out actions in integers')


if __name__ == '__main__':
    main()
