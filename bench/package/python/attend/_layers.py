"""The rest of a transformer block, over vectors of float32: [tokens, width], side by side."""
import ctypes
import math
import threading
from typing import Any, List, Optional

from . import _c
from ._arrays import Array, Memory, empty, release, workspaces
from ._cache import FORMATS, Cache
from ._options import Options, options_of, set_options
from ._problem import MOST_THREADS, on_threads
from ._shared import new, real, require, shared, whole

_ACTIVATIONS = {name: getattr(_c, 'ATTEND_' + name.upper()) for name in
                ('relu', 'silu', 'gelu', 'gelu_tanh', 'sigmoid', 'tanh', 'exp', 'erf')}
_PAIRS = {'neighbours': _c.ATTEND_NEIGHBOURS, 'halves': _c.ATTEND_HALVES}


def _chosen(name: str, choice: Any, among: Any) -> Any:
    if choice not in among:
        raise ValueError(f'{name} is {choice!r}; expected one of {", ".join(among)}')
    return among[choice]


def _vectors(name: str, source: Any, held: List[Any], axes: int = 2, writable: bool = False, least: int = 1) -> Array:
    array = Array(name, source, 'f', least, axes, held, writable)
    array.require_dense()
    return array


class _Held:
    """Arrays whose addresses a struct keeps: they cannot be resized for as long as it is there."""

    def __init__(self) -> None:
        self.buffers: List[Any] = []

    def __del__(self) -> None:
        release(self.buffers)

    def address(self, name: str, source: Any, count: int) -> Optional[int]:
        if source is None:
            return None
        array = _vectors(name, source, self.buffers, 1)
        array.require_columns(count)
        return array.address


class Weights:
    """The weights of a projection y = W x + b: [outputs, inputs] of float32 or float16, or of int8 with scales [outputs], which an
    output's weights are multiplied by; bias [outputs]. The arrays are not copied: what is written into them changes the weights."""

    def __init__(self, weights: Any, bias: Any = None, scales: Any = None):
        self._held = _Held()
        array = Array('weights', weights, 'feb', 2, 2, self._held.buffers)
        array.require_dense()
        outputs, inputs = array.shape
        self.c = _c.attend_weights(data=array.address, outputs=outputs, inputs=inputs, format=array.format,
                                   bias=self._held.address('bias', bias, outputs), scales=self._held.address('scales', scales, outputs))
        self.outputs, self.inputs = outputs, inputs

    def packed(self) -> 'Weights':
        """A copy in the order in which it is read fastest: the same bits."""
        return self._copy(shared.attend_packed_size(ctypes.byref(self.c)), lambda memory, made: shared.attend_pack_weights(
            ctypes.byref(self.c), memory.address, memory.size, ctypes.byref(made.c)))

    def converted(self, format: str) -> 'Weights':
        """A copy of float32 weights as float16, bfloat16, or int8 with a scale for each output."""
        kind = _chosen('format', format, FORMATS)
        scales = Memory(4 * self.outputs) if format == 'int8' else None
        made = self._copy(4 * self.outputs * self.inputs, lambda memory, made: shared.attend_convert_weights(
            ctypes.byref(self.c), kind, memory.address, memory.size, scales.address if scales else None, ctypes.byref(made.c)))
        made._scales = scales
        return made

    def _copy(self, size: int, write: Any) -> 'Weights':
        made = Weights.__new__(Weights)
        made.c, made.outputs, made.inputs, made._held = _c.attend_weights(), self.outputs, self.inputs, self  # the bias is still there
        made._memory = Memory(size)
        require(write(made._memory, made))
        return made


def project(x: Any, *weights: Weights) -> Any:
    """W x + b of each token, [tokens, outputs] float32; of several weights a tuple, which takes less time than one after another."""
    held: List[Any] = []
    try:
        vectors = _vectors('x', x, held)
        for each in weights:
            if each.inputs != vectors.shape[1]:
                raise ValueError(f'x has vectors of {vectors.shape[1]} numbers where the weights have {each.inputs} inputs')
        results = [empty(x, 'f', (vectors.shape[0], each.outputs)[2 - vectors.given_axes:]) for each in weights]
        projections = (_c.attend_projection * len(weights))(*(
            _c.attend_projection(each.c, _vectors('y', result, held, 2, True).address) for each, result in zip(weights, results)))
        size = shared.attend_projection_workspace_size()
        memory = workspaces(1, size)[0]
        require(shared.attend_project(vectors.address, vectors.shape[0], projections, len(weights), memory.address, size))
        return results[0] if len(results) == 1 else tuple(results)
    finally:
        release(held)


def _norm(function: Any, x: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    held = _Held()
    vectors = _vectors('x', x, held.buffers, 4)
    width = vectors.shape[3]
    norm = _c.attend_norm(held.address('weight', weight, width), held.address('bias', bias, width), width, real('epsilon', epsilon))
    result = empty(x, 'f', vectors.shape[4 - vectors.given_axes:])
    y = _vectors('y', result, held.buffers, 4, True)
    require(function(ctypes.byref(norm), vectors.address, math.prod(vectors.shape[:3]), y.address))
    return result


def rms_norm(x: Any, weight: Any = None, epsilon: float = 1e-5) -> Any:
    """x / sqrt(mean(x^2) + epsilon) * weight, along the last axis."""
    return _norm(shared.attend_rms_norm, x, weight, None, epsilon)


def layer_norm(x: Any, weight: Any = None, bias: Any = None, epsilon: float = 1e-5) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, along the last axis."""
    return _norm(shared.attend_layer_norm, x, weight, bias, epsilon)


def activate(activation: str, x: Any, by: Any = None) -> Any:
    """f(x), and times `by` where that is given: relu, silu, gelu, gelu_tanh, sigmoid, tanh, exp or erf."""
    held = _Held()
    kind = _chosen('activation', activation, _ACTIVATIONS)
    vectors = _vectors('x', x, held.buffers, 4)
    factor = None if by is None else _vectors('by', by, held.buffers, 4)
    if factor and factor.shape != vectors.shape:
        raise ValueError(f'by has the shape {factor.shape} where x has {vectors.shape}')
    result = empty(x, 'f', vectors.shape[4 - vectors.given_axes:])
    y = _vectors('y', result, held.buffers, 4, True)
    require(shared.attend_activate(kind, vectors.address, factor.address if factor else None, math.prod(vectors.shape), y.address))
    return result


class Rotary:
    """Rotary positions: the first rotary_dim numbers of a head turn. pairs: 'neighbours', which are 2 i and 2 i + 1 (GPT-J, LLaMA as
    published), or 'halves', i and i + rotary_dim / 2 (GPT-NeoX, LLaMA in Hugging Face's Transformers)."""

    def __init__(self, rotary_dim: int, pairs: str, base: float = 10000.0, scaling_factor: float = 1.0):
        rotary_dim = whole('rotary_dim', rotary_dim, 2, _c.ATTEND_MAX_WIDTH)
        self.c = _c.attend_rotary()
        self._turns = (ctypes.c_uint64 * (rotary_dim // 2))()
        require(shared.attend_rotary_init(ctypes.byref(self.c), ctypes.addressof(self._turns), rotary_dim, _chosen('pairs', pairs, _PAIRS),
                                          real('base', base), real('scaling_factor', scaling_factor)))


def rotate(x: Any, rotary: Rotary, position: int = 0) -> None:
    """Turns x, [heads, tokens, head_dim] float32, in place: at positions position, position + 1 and so on."""
    held = _Held()
    array = Array('x', x, 'f', 3, 3, held.buffers, writable=True)
    tensor = _c.attend_output(data=array.address, batch_stride=0, head_stride=array.strides[0], token_stride=array.strides[1])
    heads, tokens, head_dim = array.shape
    position = whole('position', position, 0, 2**31)
    require(shared.attend_rotate(ctypes.byref(rotary.c), ctypes.byref(tensor), tokens, heads, head_dim, position))


class _Team:
    """Threads that compute a layer together."""

    def __init__(self, threads: int):
        self.barrier, self._errors = threading.Barrier(threads), []
        self._wait = type(_c.attend_team().barrier)(self._meet)
        self.members = [_c.attend_team(index, threads, self._wait, None) if threads > 1 else None for index in range(threads)]

    def _meet(self, context: Any) -> None:
        try:
            self.barrier.wait()
        except BaseException as error:  # C cannot be left by one: the numbers are wrong from here on
            self._errors.append(error)

    def require_whole(self) -> None:
        for error in self._errors:
            raise error


class Layer:
    """A multi-head layer: the projections of queries, keys and values, attention, and the projection of its output.

        layer = attend.Layer(wq, wk, wv, wo, heads=8, kv_heads=2, rotary=attend.Rotary(64, 'halves'))   # attend.Weights each
        y = layer.self_attention(x, cache, causal=True)   # x [tokens, width]; appends the tokens to the cache

    query_norm and key_norm, [head_dim] each: weights by which each head of queries and of keys is normalised, as by rms_norm.
    """

    def __init__(self, query: Weights, key: Weights, value: Weights, output: Weights, *, heads: int, kv_heads: Optional[int] = None,
                 rotary: Optional[Rotary] = None, query_norm: Any = None, key_norm: Any = None, epsilon: float = 1e-5):
        self.heads = whole('heads', heads, 1, _c.ATTEND_MAX_WIDTH)
        self.kv_heads = self.heads if kv_heads is None else whole('kv_heads', kv_heads, 1, _c.ATTEND_MAX_WIDTH)
        for name, weights, count in (('query', query, self.heads), ('key', key, self.kv_heads), ('value', value, self.kv_heads)):
            if weights.outputs % count:
                raise ValueError(f'{name} has {weights.outputs} outputs, which {count} heads do not divide')
        self.head_dim, self.value_dim = query.outputs // self.heads, value.outputs // self.kv_heads
        self._held = _Held()
        self._parts = (query, key, value, output, rotary)
        self.c = new(_c.attend_layer, shared.attend_layer_init)
        self.c.query, self.c.key, self.c.value, self.c.output = query.c, key.c, value.c, output.c
        self.c.query_norm = self._held.address('query_norm', query_norm, self.head_dim)
        self.c.key_norm = self._held.address('key_norm', key_norm, self.head_dim)
        self.c.epsilon = real('epsilon', epsilon)
        self.c.rotary = ctypes.addressof(rotary.c) if rotary else None

    def _with(self, cache: Optional[Cache], team: Any = None) -> Any:
        layer = _c.attend_layer.from_buffer_copy(self.c)
        layer.cache = cache.address if cache is not None else None
        layer.team = ctypes.addressof(team) if team else None
        return layer

    def self_attention(self, x: Any, cache: Optional[Cache] = None, *, threads: int = 1, **options: Any) -> Any:
        """Attention of the tokens x to each other, or to all that the cache has, which takes them first. Options are those of
        attend.attention: causal, offset, window, sink_tokens, scale, soft_cap, mask, bias, alibi_slopes, relative_bias, sink_logits."""
        return self._run(shared.attend_self_attention, x, cache, threads, options)

    def cross_attention(self, x: Any, cache: Cache, *, threads: int = 1, **options: Any) -> Any:
        """Attention of the tokens x to the tokens of an encoder, which project_memory has put into the cache."""
        return self._run(shared.attend_cross_attention, x, cache, threads, options)

    def _run(self, function: Any, x: Any, cache: Optional[Cache], threads: int, options: Any) -> Any:
        chosen: Options = options_of('a layer', options, ['queries_last', 'key_lengths', 'quantisation'])
        held: List[Any] = []
        try:
            vectors = self._tokens(x, self.c.query, held)
            result = empty(x, 'f', (vectors.shape[0], self.c.output.outputs))
            y = _vectors('y', result, held, 2, True)
            c = new(_c.attend_problem, shared.attend_problem_init)
            c.query_heads, c.kv_heads, c.head_dim, c.value_dim = self.heads, self.kv_heads, self.head_dim, self.value_dim
            c.queries = vectors.shape[0]
            set_options(c, chosen, (1, self.heads, c.queries), held)
            call = lambda layer, memory, size: function(ctypes.byref(c), ctypes.byref(layer), vectors.address, y.address, memory, size)
            team = _Team(whole('threads', threads, 1, MOST_THREADS))
            layers = [self._with(cache, member) for member in team.members]
            size = shared.attend_layer_workspace_size(ctypes.byref(c), ctypes.byref(layers[0]))
            memory = workspaces(1, size)[0]
            try:
                on_threads(threads, 0, lambda index, own: function(ctypes.byref(c), ctypes.byref(layers[index]), vectors.address, y.address,
                                                                   memory.address, size))
            except BaseException:
                team.barrier.abort()
                raise
            team.require_whole()
            return result
        finally:
            release(held)

    def _tokens(self, x: Any, weights: Any, held: List[Any]) -> Array:
        vectors = _vectors('x', x, held, least=2)
        if vectors.shape[1] != weights.inputs:
            raise ValueError(f'x has vectors of {vectors.shape[1]} numbers where the layer has {weights.inputs} inputs')
        return vectors

    def project_memory(self, x: Any, cache: Cache) -> None:
        """Projects an encoder's tokens x to keys and values, and appends them to the cache: once for each sequence."""
        held: List[Any] = []
        try:
            vectors = self._tokens(x, self.c.key, held)
            layer = ctypes.byref(self._with(cache))
            size = shared.attend_memory_workspace_size(layer, vectors.shape[0])
            memory = workspaces(1, size)[0]
            require(shared.attend_project_memory(layer, vectors.address, vectors.shape[0], memory.address, size))
        finally:
            release(held)
