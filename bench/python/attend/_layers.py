"""Projections and whole layers, over vectors of float32: [tokens, width], side by side."""
import ctypes
import math
import threading
from typing import Any, List, Optional

from . import _c
from ._arrays import Array, Memory, empty, release, workspaces
from ._cache import FORMATS, Cache
from ._options import Options, options_of, require_mask_columns, set_options
from ._problem import MOST_THREADS, on_threads
from ._rotary import Rotary
from ._rows import Held, vectors_of
from ._shared import knows_its_options, made, new, real, require, shared, whole, word


class Weights:
    """The weights of a projection y = W x + b: [outputs, inputs] of float32, float16 or bfloat16, or of int8 with scales [outputs], which an
    output's weights are multiplied by, or [outputs, inputs / 32 * 18] of uint8, which are 4-bit weights as GGUF files have them
    (Q4_0); bias [outputs]. The arrays are not copied: what is written into them changes the weights."""

    @knows_its_options
    def __init__(self, weights: Any, bias: Any = None, scales: Any = None):
        self._held = Held()
        array = Array('weights', weights, 'feEbB', 2, 2, self._held.buffers)
        array.require_dense()
        outputs, inputs = array.shape
        if array.code == 'B':
            if inputs % _c.ATTEND_INT4_BYTES:
                raise ValueError(f'weights of uint8 have {inputs} bytes in a row, expected 18 for each 32 inputs')
            inputs = inputs // _c.ATTEND_INT4_BYTES * _c.ATTEND_INT4_INPUTS
        self.c = _c.attend_weights(data=array.address, outputs=outputs, inputs=inputs,
                                   format=_c.ATTEND_INT4 if array.code == 'B' else array.format,
                                   bias=self._held.address('bias', bias, outputs), scales=self._held.address('scales', scales, outputs))
        self.outputs, self.inputs = outputs, inputs

    def packed(self) -> 'Weights':
        """A copy in the order in which it is read fastest: the same bits."""
        return self._copy(shared.attend_packed_size(ctypes.byref(self.c)), lambda memory, copy: shared.attend_pack_weights(
            ctypes.byref(self.c), memory.address, memory.size, ctypes.byref(copy.c)))

    def converted(self, format: str) -> 'Weights':
        """A copy of float32 weights as float16, bfloat16, int8 with a scale for each output, or int4 with one for each 32 inputs."""
        kind = word('format', format, FORMATS)
        scales = Memory(4 * self.outputs) if format == 'int8' else None
        bits = {'float16': 16, 'bfloat16': 16, 'int8': 8, 'int4': 8 * _c.ATTEND_INT4_BYTES / _c.ATTEND_INT4_INPUTS}.get(format, 32)
        copy = self._copy(int(self.outputs * self.inputs * bits / 8), lambda memory, copy: shared.attend_convert_weights(
            ctypes.byref(self.c), kind, memory.address, memory.size, scales.address if scales else None, ctypes.byref(copy.c)))
        copy._scales = scales
        return copy

    def _copy(self, size: int, write: Any) -> 'Weights':
        copy = Weights.__new__(Weights)
        copy.c, copy.outputs, copy.inputs, copy._held = _c.attend_weights(), self.outputs, self.inputs, self  # the bias is still there
        copy._memory = Memory(size)
        require(write(copy._memory, copy))
        return copy


def project(x: Any, *weights: Weights) -> Any:
    """W x + b of each token, [tokens, outputs] float32, with a batch in front where x has one; of several weights a tuple, which takes less
    time than one after another."""
    held: List[Any] = []
    try:
        vectors = vectors_of('x', x, held, 4)
        for each in weights:
            if made('weights', each, Weights).inputs != vectors.shape[3]:
                raise ValueError(f'x has vectors of {vectors.shape[3]} numbers where the weights have {each.inputs} inputs')
        results = [empty(x, 'f', (*vectors.shape[:3], each.outputs)[4 - vectors.given_axes:]) for each in weights]
        projections = (_c.attend_projection * len(weights))(*(
            _c.attend_projection(each.c, vectors_of('y', result, held, 4, True).address) for each, result in zip(weights, results)))
        size = _c.ATTEND_PROJECTION_WORKSPACE_SIZE
        memory = workspaces(1, size)[0]
        require(shared.attend_project(vectors.address, math.prod(vectors.shape[:3]), projections, len(weights), memory.address, size))
        return results[0] if len(results) == 1 else tuple(results)
    finally:
        release(held)


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
    query_factors: (factors, period) or (factors, period, shift): queries at position p are multiplied by
    factors[(p + shift) // period], or by the last factor; attend.logarithmic_factors(0.1, 128), 8192, 1 of Llama 4.
    gate: weights of as many outputs as output has inputs; attention is multiplied by the sigmoid of this projection of x
    (Qwen3-Next).
    """

    @knows_its_options
    def __init__(self, query: Weights, key: Weights, value: Weights, output: Weights, *, heads: int, kv_heads: Optional[int] = None,
                 rotary: Optional[Rotary] = None, query_norm: Any = None, key_norm: Any = None, epsilon: float = 1e-5,
                 query_factors: Any = None, gate: Optional[Weights] = None):
        self.heads = whole('heads', heads, 1, _c.ATTEND_MAX_WIDTH)
        self.kv_heads = self.heads if kv_heads is None else whole('kv_heads', kv_heads, 1, _c.ATTEND_MAX_WIDTH)
        for name, weights, count in (('query', query, self.heads), ('key', key, self.kv_heads), ('value', value, self.kv_heads)):
            if made(name, weights, Weights).outputs % count:
                raise ValueError(f'{name} has {weights.outputs} outputs, which {count} heads do not divide')
        self.head_dim, self.value_dim = query.outputs // self.heads, value.outputs // self.kv_heads
        self._held = Held()
        self._parts = (query, key, value, output, rotary, gate)
        self.c = new(_c.attend_layer, shared.attend_layer_init)
        self.c.query, self.c.key, self.c.value, self.c.output = query.c, key.c, value.c, made('output', output, Weights).c
        self.c.query_norm = self._held.address('query_norm', query_norm, self.head_dim)
        self.c.key_norm = self._held.address('key_norm', key_norm, self.head_dim)
        self.c.epsilon = real('epsilon', epsilon, 1e-30, 1e30)
        if query_factors is not None:
            self._set_factors(query_factors)
        if gate is not None:
            self.c.gate = made('gate', gate, Weights).c
        self.c.rotary = ctypes.addressof(made('rotary', rotary, Rotary).c) if rotary else None

    def _set_factors(self, given: Any) -> None:
        if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
            raise TypeError('query_factors is no tuple; expected (factors, period) or (factors, period, shift)')
        factors = self.c.query_factors
        factors.data, factors.count = self._held.address('query_factors', given[0], len(given[0])), len(given[0])
        factors.period = whole('period of query_factors', given[1], 1)
        factors.shift = whole('shift of query_factors', given[2]) if len(given) == 3 else 0

    def _with(self, cache: Optional[Cache], team: Any = None) -> Any:
        layer = _c.attend_layer.from_buffer_copy(self.c)
        if cache is not None:
            made('cache', cache, Cache).require_own_values()
            layer.cache = cache.address
        layer.team = ctypes.addressof(team) if team else None
        return layer

    def self_attention(self, x: Any, cache: Optional[Cache] = None, *, threads: int = 1, **options: Any) -> Any:
        """Attention of the tokens x to each other, or to all that the cache has, which takes them first. Options are those of
        attend.attention: causal, offset, window, sink_tokens, scale, soft_cap, mask, bias, alibi_slopes, relative_bias, sink_logits,
        ranges; without a cache, rotary positions and query_factors documents."""
        return self._run(shared.attend_self_attention, x, cache, threads, options)

    def cross_attention(self, x: Any, cache: Cache, *, threads: int = 1, **options: Any) -> Any:
        """Attention of the tokens x to the tokens of an encoder, which project_memory has put into the cache."""
        return self._run(shared.attend_cross_attention, x, cache, threads, options)

    def _run(self, function: Any, x: Any, cache: Optional[Cache], threads: int, options: Any) -> Any:
        given: Options = options_of('a layer', options, ['queries_last', 'key_lengths', 'quantisation', 'lse_base'])
        if cache is not None:
            made('cache', cache, Cache).require_visible(given)
        held: List[Any] = []
        try:
            vectors = self._tokens(x, self.c.query, held)
            result = empty(x, 'f', (vectors.shape[0], self.c.output.outputs))
            y = vectors_of('y', result, held, 2, True)
            c = new(_c.attend_problem, shared.attend_problem_init)
            c.query_heads, c.kv_heads, c.head_dim, c.value_dim = self.heads, self.kv_heads, self.head_dim, self.value_dim
            c.queries = vectors.shape[0]
            keep = set_options(c, given, (1, self.heads, c.queries), held)
            own = 0 if function is shared.attend_cross_attention else c.queries
            require_mask_columns(c, own + (0 if cache is None else len(cache)))
            call = lambda layer, memory, size: function(ctypes.byref(c), ctypes.byref(layer), vectors.address, y.address, memory, size)
            team = _Team(whole('threads', threads, 1, MOST_THREADS))
            layers = [self._with(cache, member) for member in team.members]
            size = shared.attend_layer_workspace_size(ctypes.byref(c), ctypes.byref(layers[0]))
            memory = workspaces(1, size)[0]
            on_threads(threads, 0, lambda index, own: function(ctypes.byref(c), ctypes.byref(layers[index]), vectors.address, y.address,
                                                               memory.address, size), team.barrier.abort)
            team.require_whole()
            del keep
            return result
        finally:
            release(held)

    def _tokens(self, x: Any, weights: Any, held: List[Any]) -> Array:
        vectors = vectors_of('x', x, held, least=2)
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
