"""Reads GGUF files of Llama and GPT-2 as the configurations and weights that their authors publish."""
import hashlib
import pathlib
import re
import struct
from typing import Any, Dict, List, Tuple

import numpy

from .errors import ExportError

ALIGNMENT, MOST_ITEMS = 32, 1 << 24
SCALARS = {0: 'B', 1: 'b', 2: 'H', 3: 'h', 4: 'I', 5: 'i', 6: 'f', 7: '?', 10: 'Q', 11: 'q', 12: 'd'}
TEXT, ARRAY = 8, 9
# Numbers and bytes of a block, by the type of a tensor: F32, F16, Q4_0, Q8_0, BF16.
BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34), 30: (1, 2)}
LLAMA = {r'token_embd': 'model.embed_tokens', r'output_norm': 'model.norm', r'output': 'lm_head', r'blk\.(\d+)\.attn_norm': r'model.layers.\1.input_layernorm',
         r'blk\.(\d+)\.attn_([qkv])': r'model.layers.\1.self_attn.\2_proj', r'blk\.(\d+)\.attn_output': r'model.layers.\1.self_attn.o_proj',
         r'blk\.(\d+)\.ffn_norm': r'model.layers.\1.post_attention_layernorm', r'blk\.(\d+)\.ffn_(gate|up|down)': r'model.layers.\1.mlp.\2_proj'}
GPT2 = {r'token_embd': 'transformer.wte', r'position_embd': 'transformer.wpe', r'output_norm': 'transformer.ln_f', r'output': 'lm_head',
        r'blk\.(\d+)\.attn_norm': r'transformer.h.\1.ln_1', r'blk\.(\d+)\.ffn_norm': r'transformer.h.\1.ln_2',
        r'blk\.(\d+)\.attn_qkv': r'transformer.h.\1.attn.c_attn', r'blk\.(\d+)\.attn_output': r'transformer.h.\1.attn.c_proj',
        r'blk\.(\d+)\.ffn_up': r'transformer.h.\1.mlp.c_fc', r'blk\.(\d+)\.ffn_down': r'transformer.h.\1.mlp.c_proj'}


class Reader:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, format: str) -> Any:
        found = struct.unpack_from('<' + format, self.data, self.at)
        self.at += struct.calcsize('<' + format)
        return found[0]

    def text(self) -> str:
        length = self.take('Q')
        if length > len(self.data) - self.at:
            raise ValueError(f'a text of {length} bytes')
        self.at += length
        return self.data[self.at - length:self.at].decode('utf-8', 'replace')

    def value(self, kind: int) -> Any:
        if kind == TEXT:
            return self.text()
        if kind != ARRAY:
            return self.take(SCALARS[kind])
        kind, count = self.take('I'), self.take('Q')
        if count > MOST_ITEMS or kind == ARRAY:
            raise ValueError(f'a list of {count} items')
        return [self.value(kind) for _ in range(count)]


def read_gguf(path: pathlib.Path) -> Tuple[Dict[str, Any], Dict[str, Any], Dict[bytes, bytes]]:
    """The configuration, the arrays by published names, and rows of matrices in blocks of 4 bits, by digests of their numbers."""
    try:
        reader = Reader(path.read_bytes())
        if reader.data[:4] != b'GGUF':
            raise ValueError('it does not begin with GGUF')
        reader.at = 4
        version, tensors, items = reader.take('I'), reader.take('Q'), reader.take('Q')
        if version not in (2, 3) or max(tensors, items) > MOST_ITEMS:
            raise ValueError(f'version {version}, {tensors} tensors and {items} items')
        settings = {}
        for _ in range(items):
            name = reader.text()
            if name in settings:
                raise ValueError(f'two values of "{name}"')
            settings[name] = reader.value(reader.take('I'))
        entries = [_entry(reader) for _ in range(tensors)]
        if len({entry[0] for entry in entries}) < len(entries):
            raise ValueError('two arrays of one name')
        alignment = settings.get('general.alignment', ALIGNMENT)
        begin = -(-reader.at // alignment) * alignment
        arrays = {name: _array(reader.data, begin + offset, shape, kind) for name, shape, kind, offset in entries}
        blocks: Dict[bytes, bytes] = {}
        for name, shape, kind, offset in entries:
            if kind == 2 and len(shape) == 2:
                length = shape[1] // 32 * BLOCKS[2][1]
                blocks.update((digest(row), reader.data[begin + offset + at * length:][:length]) for at, row in enumerate(arrays[name]))
        return (*_published(settings, arrays), blocks)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError, ZeroDivisionError, struct.error) as error:
        raise ExportError(f'{path}: this is no GGUF file of a Llama or GPT-2 in F32, F16, BF16, Q8_0 or Q4_0, or it is damaged: {error}') from None


def digest(row: Any) -> bytes:
    return hashlib.blake2b(numpy.ascontiguousarray(row, numpy.float32), digest_size=16).digest()


def _entry(reader: Reader) -> Tuple[str, List[int], int, int]:
    name, axes = reader.text(), reader.take('I')
    if axes > 4:
        raise ValueError(f'"{name}" has {axes} axes')
    shape = [reader.take('Q') for _ in range(axes)][::-1]
    return name, shape, reader.take('I'), reader.take('Q')


def _array(data: bytes, begin: int, shape: List[int], kind: int) -> Any:
    if kind not in BLOCKS:
        raise ValueError(f'an array of type {kind}')
    numbers, size = BLOCKS[kind]
    count = int(numpy.prod(shape, dtype=object))
    length = count // numbers * size
    if count % numbers or not 0 <= begin <= begin + length <= len(data):
        raise ValueError(f'an array of shape {shape} in bytes {begin} to {begin + length} of {len(data)}')
    raw = data[begin:begin + length]
    if kind in (0, 1):
        return numpy.frombuffer(raw, '<f4' if kind == 0 else '<f2').astype('float32').reshape(shape)
    if kind == 30:
        return (numpy.frombuffer(raw, '<u2').astype('uint32') << 16).view('float32').reshape(shape)
    blocks = numpy.frombuffer(raw, 'uint8').reshape(-1, size)
    scales = blocks[:, :2].copy().view('<f2').astype('float32')
    if kind == 8:
        return (scales * blocks[:, 2:].view('int8')).reshape(shape)
    return (scales * (numpy.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], 1).astype('float32') - 8)).reshape(shape)


def _linear_factor(settings: Dict[str, Any]) -> float:
    """By how much positions turn more slowly than in the original model. Without a type of scaling it is linear."""
    kind = settings.get('llama.rope.scaling.type', 'linear')
    if kind not in ('none', 'linear'):
        raise ValueError(f'rotary positions that are scaled by "{kind}"; expected "none" or "linear", or the folder with config.json that the file was made of')
    factors = [settings.get(name) for name in ('llama.rope.scaling.factor', 'llama.rope.scale_linear')] if kind == 'linear' else []
    return next((factor for factor in factors if factor), 1.0)


def _published(settings: Dict[str, Any], arrays: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    kind = settings['general.architecture']
    of = lambda name: settings[f'{kind}.{name}']
    if kind == 'llama':
        config = {'model_type': 'llama', 'hidden_size': of('embedding_length'), 'intermediate_size': of('feed_forward_length'),
                  'num_hidden_layers': of('block_count'), 'num_attention_heads': of('attention.head_count'),
                  'num_key_value_heads': settings.get('llama.attention.head_count_kv', of('attention.head_count')),
                  'rms_norm_eps': of('attention.layer_norm_rms_epsilon'), 'rope_theta': settings.get('llama.rope.freq_base', 10000.0),
                  'rope_pairs': 'neighbours', 'rope_scaling': {'rope_type': 'linear', 'factor': _linear_factor(settings)}}
        each = of('embedding_length') // of('attention.head_count')
        for name in ('llama.attention.key_length', 'llama.attention.value_length', 'llama.rope.dimension_count'):
            if settings.get(name, each) != each:
                raise ValueError(f'{name} is {settings[name]}; expected embedding_length / head_count, which is {each}')
    elif kind == 'gpt2':
        config = {'model_type': 'gpt2', 'n_embd': of('embedding_length'), 'n_layer': of('block_count'), 'n_head': of('attention.head_count'),
                  'layer_norm_epsilon': of('attention.layer_norm_epsilon')}
    else:
        raise ValueError(f'the architecture "{kind}"; expected llama or gpt2')
    weights = {}
    for name, array in arrays.items():
        stem, _, end = name.rpartition('.')
        found = [re.sub(f'^{pattern}$', published, stem) for pattern, published in (LLAMA if kind == 'llama' else GPT2).items() if re.fullmatch(pattern, stem)]
        if not found:
            raise ValueError(f'the array "{name}", which this exporter does not read; the folder with config.json and model.safetensors that the '
                             'file was made of may say the same otherwise')
        is_transposed = kind == 'gpt2' and '.h.' in found[0] and array.ndim == 2
        weights[f'{found[0]}.{end}'] = numpy.ascontiguousarray(array.T) if is_transposed else array
    return config, weights
