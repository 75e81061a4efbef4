"""ONNX's Attention: what it computes in float64, by its specification."""
from typing import Any

import numpy

OUTPUTS = ('raw', 'capped', 'biased', 'weights')  # what the fourth output has, by qk_matmul_output_mode
MOST_SCORES = 1 << 28


def heads_of(x: Any, heads: Any) -> Any:
    """[batch, heads, tokens, width] of an Attention's input, which may be [batch, tokens, heads * width]."""
    if heads is not None and (heads < 1 or x.shape[1 if x.ndim == 4 else 2] % heads or x.ndim == 4 and x.shape[1] != heads):
        raise ValueError(f'{heads} heads of {list(x.shape)}')
    return x if x.ndim == 4 else x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


class Given:
    """The attributes of a node."""

    def __init__(self, node: Any, opset: int):
        read = node.attributes
        self.heads = [read.whole(name, None) for name in ('q_num_heads', 'kv_num_heads', 'kv_num_heads')]
        self.scale, self.cap, self.causal = read.number('scale', None), read.number('softcap', 0.0), read.flag('is_causal', 0)
        self.left, self.right = (read.whole(f'{side}_window_size', -1) if opset >= 25 else -1 for side in ('left', 'right'))
        read.choice('softmax_precision', None, 1, 10, 16)
        self.stage = OUTPUTS[read.choice('qk_matmul_output_mode', 0, 1, 2, 3)]
        if min(self.left, self.right) < -1 or self.cap < 0:
            raise ValueError('a window below -1 or a soft cap below 0; expected none of these')
        if len(node.inputs) > 6 and node.inputs[6] and opset < 24:
            raise ValueError('nonpad_kv_seqlen, which this version does not have')

    def bounds(self) -> Any:
        """Of how many keys after a query's own the first ones that it does not see are; and of how many before it those on the other side."""
        after = [0] * bool(self.causal) + [self.right] * (self.right >= 0)
        return min(after, default=None), self.left if self.left >= 0 else None


def positions(queries: int, keys: int) -> Any:
    """How many keys a key comes after the one at the place of the query, [queries, keys]."""
    return numpy.arange(keys) - numpy.arange(queries)[:, None]


def evaluate(node: Any, opset: int, query: Any, key: Any, value: Any, mask: Any = None, past_key: Any = None, past_value: Any = None, lengths: Any = None) -> Any:
    given = Given(node, opset)
    q, k, v = (heads_of(*each) for each in zip((query, key, value), given.heads))
    if (past_key is None) != (past_value is None):
        raise ValueError('past keys without past values, or the reverse')
    if past_key is not None:
        k, v = numpy.concatenate([past_key, k], 2), numpy.concatenate([past_value, v], 2)
    if lengths is not None and (lengths.shape != query.shape[:1] or lengths.dtype.kind not in 'iu'):
        raise ValueError(f'nonpad_kv_seqlen of shape {list(lengths.shape)}; expected a whole number for each item of the batch')
    past = 0 if past_key is None else past_key.shape[2]
    (heads, queries, width), keys = q.shape[1:], k.shape[2]
    if heads * queries * keys > MOST_SCORES:
        raise ValueError(f'{heads * queries * keys} scores, more than {MOST_SCORES}; expected fewer tokens')
    repeated = [numpy.repeat(each, heads // each.shape[1], 1) for each in (k, v)]
    raw = q @ numpy.swapaxes(repeated[0], 2, 3) * (width ** -0.5 if given.scale is None else given.scale)
    capped = given.cap * numpy.tanh(raw / given.cap) if given.cap else raw
    offset = past if lengths is None or past_key is not None else lengths.reshape(-1, 1, 1, 1) - queries
    place, (after, before) = positions(queries, keys) - offset, given.bounds()
    hidden = (place > after if after is not None else False) | (place < -before if before is not None else False)
    if lengths is not None:
        hidden = hidden | (numpy.arange(keys) >= lengths.reshape(-1, 1, 1, 1))
    scores = capped
    if mask is not None:
        if keys != mask.shape[-1] != 1 and opset >= 24:
            edges = [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])]
            mask = numpy.pad(mask, edges, constant_values=False if mask.dtype == bool else -numpy.inf)
        scores = numpy.where(mask, scores, -numpy.inf) if mask.dtype == bool else scores + mask
    scores = numpy.where(hidden, -numpy.inf, scores)
    most = scores.max(-1, keepdims=True)
    none = numpy.isneginf(most) | (node.unseen(scores) if node.unseen else False)
    weights = numpy.exp(scores - numpy.where(none, 0.0, most))
    weights = numpy.where(none, 0.0, weights / numpy.where(none, 1.0, weights.sum(-1, keepdims=True)))
    y = weights @ repeated[1]
    y = y if query.ndim == 4 else y.transpose(0, 2, 1, 3).reshape(query.shape[0], query.shape[1], -1)
    return y, k, v, dict(zip(OUTPUTS, (raw, capped, scores, weights)))[given.stage]
