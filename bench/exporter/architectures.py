"""Graphs of known architectures from their published weights, by the names that these have there."""
import re
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy

from .errors import ExportError
from .graph import Graph, Node

# What files hold besides weights.
BUFFERS = r'(attn\.(bias|masked_bias)|position_ids|rotary_emb\.inv_freq)$'


class Maker:
    """Adds nodes to a graph; values are their names. weights: by name, of which each is to be used."""

    def __init__(self, config: Dict[str, Any], weights: Dict[str, Any], tokens: int):
        self.config, self.weights, self.tokens = config, weights, tokens
        self.nodes: List[Node] = []
        self.constants: Dict[str, Any] = {}
        self.used: Dict[str, bool] = {}
        self.prefix = ''

    def setting(self, *names: str, default: Any = None) -> Any:
        for name in names:
            if self.config.get(name) is not None:
                return self.config[name]
        if default is None:
            raise ExportError(f'config.json has no "{names[0]}"')
        return default

    def has(self, name: str) -> bool:
        return self.prefix + name in self.weights

    def weight(self, name: str, *shape: Optional[int]) -> Any:
        """An array of a shape; None: any size."""
        full = self.prefix + name
        if full not in self.weights:
            raise ExportError(f'the weights have no "{full}", which a model of type "{self.config.get("model_type")}" has')
        array, self.used[full] = self.weights[full], True
        if shape and (len(shape) != array.ndim or any(size not in (None, found) for size, found in zip(shape, array.shape))):
            raise ExportError(f'"{full}" has the shape {list(array.shape)}; expected {[size or "any" for size in shape]}')
        return array

    def __call__(self, kind: str, *inputs: Any, name: str = '', **attributes: Any) -> str:
        output = f'{name or kind.lower()}.{len(self.nodes)}'
        given = []
        for each in inputs:
            if not isinstance(each, str):
                constant = f'constant.{len(self.constants)}'
                self.constants[constant] = numpy.asarray(each)
                each = constant
            given.append(each)
        self.nodes.append(Node(kind, output, given, [output], attributes))
        return output

    def linear(self, x: str, name: str, inputs: int, outputs: Optional[int] = None, transposed: bool = False) -> str:
        """transposed: weights that lie [inputs, outputs]."""
        weight = self.weight(name + '.weight', *((inputs, outputs) if transposed else (outputs, inputs)))
        y = self('MatMul', x, weight if transposed else weight.T, name=name)
        return self('Add', y, self.weight(name + '.bias', weight.shape[1 if transposed else 0]), name=name) if self.has(name + '.bias') else y

    def layer_norm(self, x: str, name: str, width: int, epsilon: float) -> str:
        return self('LayerNormalization', x, self.weight(name + '.weight', width), self.weight(name + '.bias', width), name=name, epsilon=epsilon)

    def rms_norm(self, x: str, name: str, width: int, epsilon: float) -> str:
        return self('RMSNormalization', x, self.weight(name + '.weight', width), name=name, epsilon=epsilon)

    def heads(self, x: str, heads: int, width: int, tokens: Optional[int] = None) -> str:
        return self('Transpose', self('Reshape', x, [1, tokens or self.tokens, heads, width]), perm=[0, 2, 1, 3])

    def joined(self, x: str, width: int, tokens: Optional[int] = None) -> str:
        return self('Reshape', self('Transpose', x, perm=[0, 2, 1, 3]), [1, tokens or self.tokens, width])

    def attention(self, query: str, key: str, value: str, causal: bool, **attributes: Any) -> str:
        return self('Attention', query, key, value, is_causal=int(causal), **attributes)

    def activation(self, name: str, x: str) -> str:
        kinds: Dict[str, Callable[[], str]] = {
            'gelu': lambda: self('Gelu', x), 'relu': lambda: self('Relu', x), 'silu': lambda: self('Mul', x, self('Sigmoid', x)),
            'gelu_new': lambda: self('Gelu', x, approximate='tanh'), 'gelu_pytorch_tanh': lambda: self('Gelu', x, approximate='tanh')}
        if name not in kinds:
            raise ExportError(f'config.json has the activation "{name}"; expected one of {", ".join(kinds)}')
        return kinds[name]()

    def positions(self, name: str, width: int) -> Any:
        found = self.weight(name, None, width)
        if self.tokens > len(found):
            raise ExportError(f'the model has {len(found)} positions; expected --tokens of at most that')
        return found[None, :self.tokens]

    def logits(self, x: str, table: Any) -> Graph:
        """By weights of their own, or those of the tokens' table."""
        self.prefix = ''
        y = self.linear(x, 'lm_head', table.shape[1]) if self.has('lm_head.weight') else self('MatMul', x, table.T, name='lm_head')
        return self.graph({'tokens': (1, self.tokens)}, {'tokens': 'int32'}, y)

    def graph(self, inputs: Dict[str, Any], types: Dict[str, str], output: str) -> Graph:
        unused = [name for name in self.weights if name not in self.used and not re.search(BUFFERS, name)]
        if unused:
            raise ExportError(f'{len(unused)} weights are not of a model of type "{self.config.get("model_type")}": {", ".join(sorted(unused)[:3])} …')
        graph = Graph(self.nodes, inputs, [output], self.constants, 25)
        graph.types.update({name: numpy.dtype(type) for name, type in types.items()})
        return graph


def rotary_frequencies(base: Any, width: int, scaling: Dict[str, Any], tokens: int) -> Tuple[List[float], float]:
    """Radians from one position to the next of each pair, and the factor of rotated numbers: by the library, scaled as a configuration says."""
    from .. import Rotary
    kind = scaling.get('rope_type', scaling.get('type', 'default'))
    try:
        rotary = Rotary(width, 'halves', base, scaling=scaling or None, positions=tokens if kind == 'longrope' else None)
    except (TypeError, ValueError, OverflowError) as error:
        raise ExportError(f'config.json asks for rotary positions of {width} numbers, a base of {base!r} and the scaling {scaling}: {error}') from None
    return rotary.radians, rotary.factor


def llama(m: Maker) -> Graph:
    """Llama, Mistral, Qwen 2 and 3: causal, rotary positions, grouped heads, gated products."""
    width, heads, epsilon = m.setting('hidden_size'), m.setting('num_attention_heads'), m.setting('rms_norm_eps', default=1e-6)
    kv_heads, each = m.setting('num_key_value_heads', default=heads), m.setting('head_dim', default=width // heads)
    if m.config.get('use_sliding_window'):
        raise ExportError('config.json has windows in some layers; expected none')
    window = m.config.get('sliding_window') if m.config.get('model_type') == 'mistral' else None
    if window is not None and (not isinstance(window, int) or window < 1):
        raise ExportError(f'config.json has a sliding_window of {window!r}; expected 1 or more tokens, or none')
    windows = {'left_window_size': window - 1} if window is not None and window < m.tokens else {}  # the token itself counts
    scaling = m.config.get('rope_scaling') or m.config.get('rope_parameters') or {}
    if not isinstance(scaling, dict) or m.config.get('partial_rotary_factor', 1.0) != 1.0:
        raise ExportError('config.json has a "rope_scaling" that is no object, or a "partial_rotary_factor", which these architectures do not have')
    base = scaling.get('rope_theta') or m.setting('rope_theta', default=10000.0)
    frequencies, factor = rotary_frequencies(base, each, {name: value for name, value in scaling.items() if name != 'rope_theta'}, m.tokens)
    m.prefix = 'model.' if any(name.startswith('model.') for name in m.weights) else ''
    table = m.weight('embed_tokens.weight', None, width)
    x = m('Gather', table, 'tokens', name='embed_tokens')
    for layer in range(m.setting('num_hidden_layers')):
        name = f'layers.{layer}.'
        y = m.rms_norm(x, name + 'input_layernorm', width, epsilon)
        parts = []
        for part, count in (('q', heads), ('k', kv_heads), ('v', kv_heads)):
            z = m.heads(m.linear(y, f'{name}self_attn.{part}_proj', width, count * each), count, each)
            if part != 'v' and m.has(f'{name}self_attn.{part}_norm.weight'):
                z = m.rms_norm(z, f'{name}self_attn.{part}_norm', each, epsilon)
            parts.append(m('Rotate', z, name=f'{name}{part}', frequencies=frequencies, pairs=m.setting('rope_pairs', default='halves')) if part != 'v' else z)
        y = m.joined(m.attention(*parts, True, name=name + 'attention', scale=factor * factor * each ** -0.5, **windows), heads * each)
        x = m('Add', x, m.linear(y, name + 'self_attn.o_proj', heads * each, width))
        y = m.rms_norm(x, name + 'post_attention_layernorm', width, epsilon)
        inner = m.setting('intermediate_size')
        gate = m.activation(m.setting('hidden_act', default='silu'), m.linear(y, name + 'mlp.gate_proj', width, inner))
        x = m('Add', x, m.linear(m('Mul', gate, m.linear(y, name + 'mlp.up_proj', width, inner)), name + 'mlp.down_proj', inner, width))
    x = m.rms_norm(x, 'norm', width, epsilon)
    return m.logits(x, table)


def gpt2(m: Maker) -> Graph:
    width, heads, epsilon = m.setting('n_embd'), m.setting('n_head'), m.setting('layer_norm_epsilon', default=1e-5)
    if m.config.get('scale_attn_weights', True) is not True or m.config.get('scale_attn_by_inverse_layer_idx'):
        raise ExportError('config.json has "scale_attn_weights": false or "scale_attn_by_inverse_layer_idx": true; expected a scale of 1 / sqrt(width of a head)')
    m.prefix = 'transformer.' if any(name.startswith('transformer.') for name in m.weights) else ''
    table = m.weight('wte.weight', None, width)
    x = m('Add', m('Gather', table, 'tokens', name='wte'), m.positions('wpe.weight', width), name='wpe')
    for layer in range(m.setting('n_layer')):
        name = f'h.{layer}.'
        y = m.linear(m.layer_norm(x, name + 'ln_1', width, epsilon), name + 'attn.c_attn', width, 3 * width, True)
        parts = [m.heads(m('Slice', y, [i * width], [(i + 1) * width], [2]), heads, width // heads) for i in range(3)]
        y = m.joined(m.attention(*parts, True, name=name + 'attention'), width)
        x = m('Add', x, m.linear(y, name + 'attn.c_proj', width, width, True))
        y = m.linear(m.layer_norm(x, name + 'ln_2', width, epsilon), name + 'mlp.c_fc', width, None, True)
        y = m.activation(m.setting('activation_function', default='gelu_new'), y)
        x = m('Add', x, m.linear(y, name + 'mlp.c_proj', m.weight(name + 'mlp.c_fc.weight').shape[1], width, True))
    x = m.layer_norm(x, 'ln_f', width, epsilon)
    return m.logits(x, table)


def encoder_layer(m: Maker, x: str, names: Dict[str, str], width: int, heads: int, epsilon: float, activation: str, first: bool, tokens: int,
                  mask: Any = None) -> str:
    """first: a normalisation before each half, and not after it."""
    norm = lambda which, y: m.layer_norm(y, names[which], width, epsilon)
    y = norm('norm_1', x) if first else x
    parts = [m.heads(m.linear(y, names[part], width, width), heads, width // heads, tokens) for part in ('query', 'key', 'value')]
    if mask is None:
        z = m.attention(*parts, False)
    else:
        scores = m('Mul', m('MatMul', parts[0], m('Transpose', parts[1], perm=[0, 1, 3, 2])), numpy.float64((width // heads) ** -0.5))
        z = m('MatMul', m('Softmax', m('Add', scores, mask), axis=-1), parts[2])
    x = m('Add', x, m.linear(m.joined(z, width, tokens), names['output'], width, width))
    x = x if first else norm('norm_1', x)
    y = m.linear(norm('norm_2', x) if first else x, names['up'], width)
    x = m('Add', x, m.linear(m.activation(activation, y), names['down'], m.weight(names['up'] + '.weight').shape[0], width))
    return x if first else norm('norm_2', x)


def bert(m: Maker) -> Graph:
    """Hidden states, or what a pooler makes of the first one; padding by attention_mask."""
    width, heads, epsilon = m.setting('hidden_size'), m.setting('num_attention_heads'), m.setting('layer_norm_eps', default=1e-12)
    m.prefix = 'bert.' if any(name.startswith('bert.') for name in m.weights) else ''
    fixed = m.weight('embeddings.position_embeddings.weight', None, width)[:m.tokens] + m.weight('embeddings.token_type_embeddings.weight', None, width)[0]
    x = m('Add', m('Gather', m.weight('embeddings.word_embeddings.weight', None, width), 'input_ids'), fixed[None])
    x = m.layer_norm(x, 'embeddings.LayerNorm', width, epsilon)
    given = m('Cast', m('Unsqueeze', 'attention_mask', [1, 2]), to=1)
    mask = m('Mul', m('Sub', numpy.float64(1), given), numpy.float64(-10000))
    for layer in range(m.setting('num_hidden_layers')):
        name = f'encoder.layer.{layer}.'
        names = {**{part: f'{name}attention.self.{part}' for part in ('query', 'key', 'value')}, 'output': name + 'attention.output.dense',
                 'norm_1': name + 'attention.output.LayerNorm', 'up': name + 'intermediate.dense', 'down': name + 'output.dense',
                 'norm_2': name + 'output.LayerNorm'}
        x = encoder_layer(m, x, names, width, heads, epsilon, m.setting('hidden_act', default='gelu'), False, m.tokens, mask)
    if m.has('pooler.dense.weight'):
        x = m('Tanh', m.linear(m('Gather', x, numpy.array(0), axis=1), 'pooler.dense', width, width))
    m.prefix = ''
    if m.has('classifier.weight'):
        x = m.linear(x, 'classifier', width)
    return m.graph({'input_ids': (1, m.tokens), 'attention_mask': (1, m.tokens)}, {'input_ids': 'int32', 'attention_mask': 'int32'}, x)


def vit(m: Maker) -> Graph:
    width, heads, epsilon = m.setting('hidden_size'), m.setting('num_attention_heads'), m.setting('layer_norm_eps', default=1e-12)
    size, patch, channels = m.setting('image_size'), m.setting('patch_size'), m.setting('num_channels', default=3)
    count = (size // patch) ** 2
    m.prefix = 'vit.' if any(name.startswith('vit.') for name in m.weights) else ''
    projection = 'embeddings.patch_embeddings.projection.'
    x = m('Conv', 'image', m.weight(projection + 'weight', width, channels, patch, patch), m.weight(projection + 'bias', width), strides=[patch] * 2)
    x = m('Transpose', m('Reshape', x, [1, width, count]), perm=[0, 2, 1])
    x = m('Concat', m.weight('embeddings.cls_token', 1, 1, width), x, axis=1)
    x = m('Add', x, m.weight('embeddings.position_embeddings', 1, count + 1, width))
    for layer in range(m.setting('num_hidden_layers')):
        name = f'encoder.layer.{layer}.'
        names = {**{part: f'{name}attention.attention.{part}' for part in ('query', 'key', 'value')}, 'output': name + 'attention.output.dense',
                 'norm_1': name + 'layernorm_before', 'up': name + 'intermediate.dense', 'down': name + 'output.dense',
                 'norm_2': name + 'layernorm_after'}
        x = encoder_layer(m, x, names, width, heads, epsilon, m.setting('hidden_act', default='gelu'), True, count + 1)
    x = m('Gather', m.layer_norm(x, 'layernorm', width, epsilon), numpy.array(0), axis=1)
    m.prefix = ''
    if m.has('classifier.weight'):
        x = m.linear(x, 'classifier', width)
    return m.graph({'image': (1, channels, size, size)}, {}, x)


def whisper(m: Maker) -> Graph:
    """The encoder: hidden states of `tokens` tokens, of a log-mel spectrogram of twice as many columns. The decoder's weights are left out."""
    width, heads, bins = m.setting('d_model'), m.setting('encoder_attention_heads'), m.setting('num_mel_bins', default=80)
    m.prefix = next((prefix for prefix in ('model.encoder.', 'encoder.') if prefix + 'conv1.weight' in m.weights), '')
    m.weights = {name: array for name, array in m.weights.items() if name.startswith(m.prefix)}
    positions = m.positions('embed_positions.weight', width)
    x = m('Gelu', m('Conv', 'spectrogram', m.weight('conv1.weight', width, bins, 3), m.weight('conv1.bias', width), pads=[1, 1]))
    x = m('Gelu', m('Conv', x, m.weight('conv2.weight', width, width, 3), m.weight('conv2.bias', width), pads=[1, 1], strides=[2]))
    x = m('Add', m('Transpose', x, perm=[0, 2, 1]), positions)
    for layer in range(m.setting('encoder_layers')):
        name = f'layers.{layer}.'
        names = {'query': name + 'self_attn.q_proj', 'key': name + 'self_attn.k_proj', 'value': name + 'self_attn.v_proj',
                 'output': name + 'self_attn.out_proj', 'norm_1': name + 'self_attn_layer_norm', 'up': name + 'fc1', 'down': name + 'fc2',
                 'norm_2': name + 'final_layer_norm'}
        x = encoder_layer(m, x, names, width, heads, 1e-5, m.setting('activation_function', default='gelu'), True, m.tokens)
    return m.graph({'spectrogram': (1, bins, 2 * m.tokens)}, {}, m.layer_norm(x, 'layer_norm', width, 1e-5))


ARCHITECTURES: Dict[str, Callable[[Maker], Graph]] = {
    'llama': llama, 'mistral': llama, 'qwen2': llama, 'qwen3': llama, 'gpt2': gpt2, 'bert': bert, 'vit': vit, 'whisper': whisper}


def graph_of(config: Dict[str, Any], weights: Dict[str, Any], tokens: int) -> Graph:
    kind = config.get('model_type')
    if kind not in ARCHITECTURES:
        raise ExportError(f'config.json has the model_type {kind!r}; expected one of {", ".join(ARCHITECTURES)}, or an ONNX file')
    return ARCHITECTURES[str(kind)](Maker(config, weights, tokens))
