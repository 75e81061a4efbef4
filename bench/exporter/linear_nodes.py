"""LinearAttention and CausalConvWithState, of ONNX and of ONNX Runtime: what they compute in float64, by their specifications, and their steps."""
from typing import Any, List, Tuple

import numpy

from .errors import ExportError
from .linear_steps import Convolution, LinearAttention
from .onnx_attention import heads_of
from .program import View
from .steps import Copy, Elementwise

RULES = ('gated_delta', 'linear', 'gated', 'delta')  # the first one is the default
MOST_WIDTH = 16  # of a convolution in the library


def _refuse(is_so: bool, what: str) -> None:
    if is_so:
        raise ValueError(what)


def _states_of_window(node: Any) -> None:
    if node.domain:
        count = node.attributes.whole('state_window', 0)
        _refuse(count != 0, f'a state_window of {count}; expected 0, the state after the last token alone. In place of earlier ones keep a copy of the state')


class LinearGiven:
    """What a LinearAttention says. arrays: query, key, value, past state, decay and beta, as its inputs have them; None for those that are missing."""

    def __init__(self, node: Any, arrays: Any):
        read = node.attributes
        self.heads, self.value_heads, self.rule = read.whole('q_num_heads'), read.whole('kv_num_heads'), read.choice('update_rule', *RULES)
        self.scale = read.number('scale', 0.0)
        read.irrelevant('chunk_size')
        _refuse(abs(self.scale) > 2.0**127, f'a scale of {self.scale:g}; expected one of -2^127 to 2^127')
        _states_of_window(node)
        query, key, value, past, decay, beta, *erase = [*arrays, *[None] * (6 - len(arrays))]
        _refuse(bool(erase) and erase[0] is not None, 'an erase_gate; expected none: the key that is written is the one that is erased. Scale keys before the node')
        _refuse(min(self.heads, self.value_heads) < 1, f'{self.heads} query heads and {self.value_heads} value heads; expected one or more')
        for name, array in (('query', query), ('key', key), ('value', value), ('decay', decay), ('beta', beta)):
            _refuse(array is not None and (array.ndim != 3 or array.shape[:2] != query.shape[:2]),
                    f'its {name} does not have the batch and tokens of its query; expected [batch, tokens, heads * width]')
        self.width = query.shape[2] // self.heads
        self.key_heads, self.value_width = key.shape[2] // max(self.width, 1), value.shape[2] // self.value_heads
        counts = sorted((self.heads, self.value_heads))
        _refuse(bool(not self.width or key.shape[2] != self.key_heads * self.width or not self.key_heads or counts[1] % counts[0] or self.value_heads % self.key_heads or
                self.heads % self.key_heads and self.key_heads % self.heads),
                f'{self.heads} query heads, keys of {key.shape[2]} numbers and {self.value_heads} value heads; expected heads that share each other evenly')
        _refuse(not node.domain and (self.key_heads != self.value_heads or self.heads < self.value_heads),
                'value heads that share keys or queries, which ONNX Runtime\'s operator of this name has: take that of "com.microsoft"')
        for name, array, wanted in (('decay', decay, 'gated' in self.rule), ('beta', beta, 'delta' in self.rule)):
            _refuse(wanted and array is None, f'the rule {self.rule} without {name}; expected it as an input')
            _refuse(not wanted and array is not None, f'the rule {self.rule} with {name}, which it does not have; expected another rule, or none')
        _refuse(decay is not None and decay.shape[2] not in (self.value_heads, self.value_heads * self.width), 'a decay of neither each head nor each key dimension')
        _refuse(beta is not None and beta.shape[2] not in (self.value_heads, 1), 'a beta of neither each head nor each token')
        self.by_key = decay is not None and self.width > 1 and decay.shape[2] == self.value_heads * self.width
        state = (query.shape[0], self.value_heads, self.width, self.value_width)
        _refuse(past is not None and past.shape != state, f'a past_state of {list(past.shape) if past is not None else 0}; expected {list(state)}')

    def factor(self) -> float:
        return self.scale if self.scale else float(self.width ** -0.5)

    @property
    def out_heads(self) -> int:
        return max(self.heads, self.value_heads)


def linear_attention(node: Any, opset: int, *arrays: Any) -> Any:
    given = LinearGiven(node, arrays)
    query, key, value, past, decay, beta = [*arrays, *[None] * (6 - len(arrays))]
    (items, tokens), heads = query.shape[:2], given.value_heads
    split = lambda array, count: heads_of(array, count).transpose(2, 0, 1, 3)  # [tokens, batch, heads, width]
    repeated = lambda array, count: numpy.repeat(array, count // array.shape[2], 2)
    q, k, v = split(query, given.heads), repeated(split(key, given.key_heads), heads), split(value, heads)
    q = repeated(q, given.out_heads)
    state = numpy.zeros((items, heads, given.width, given.value_width)) if past is None else past.copy()
    y = numpy.zeros((tokens, items, given.out_heads, given.value_width))
    for t in range(tokens):
        if decay is not None:
            state *= numpy.exp(split(decay, heads)[t])[..., None]
        u = v[t]
        if beta is not None:
            u = beta[:, t, :, None] * (u - (k[t, :, :, None] @ state)[:, :, 0])
        state = state + k[t, ..., None] * u[:, :, None]
        y[t] = given.factor() * (q[t, :, :, None] @ numpy.repeat(state, given.out_heads // heads, 1))[:, :, 0]
    return y.transpose(1, 0, 2, 3).reshape(items, tokens, -1), state


def _conv_given(node: Any, x: Any, weight: Any, bias: Any, past: Any) -> Tuple[str, bool]:
    """The activation, and whether channels are last."""
    activation = node.attributes.choice('activation', 'none', 'silu', 'swish')
    last = False
    if node.domain:
        axes, dilation, last = node.attributes.whole('ndim', 1), node.attributes.whole('dilation', 1), node.attributes.flag('channels_last', 0)
        _refuse(axes != 1, f'ndim is {axes}; expected 1: put further axes into the batch by a Reshape before it')
        _refuse(dilation != 1, f'a dilation of {dilation}; expected 1: write Pad and Conv')
    _states_of_window(node)
    _refuse(x.ndim != 3 or weight.ndim != 3, 'an input or weight that has not three axes; expected [batch, channels, length] and [channels, 1, width]')
    channels, width = x.shape[2 if last else 1], weight.shape[2]
    _refuse(weight.shape[:2] != (channels, 1) or width < 1, f'a weight of {list(weight.shape)}; expected [{channels}, 1, width]')
    _refuse(bias is not None and bias.shape != (channels, ), f'a bias of other than {channels} channels')
    state = (x.shape[0], width - 1, channels) if last else (x.shape[0], channels, width - 1)
    _refuse(past is not None and past.shape != state, f'a past_state of other than {list(state)}')
    return activation, last


def causal_conv(node: Any, opset: int, x: Any, weight: Any, bias: Any = None, past: Any = None) -> Any:
    activation, last = _conv_given(node, x, weight, bias, past)
    turned = lambda array: array.swapaxes(1, 2) if last else array
    x, before = turned(x), numpy.zeros((x.shape[0], weight.shape[0], weight.shape[2] - 1)) if past is None else turned(past)
    padded, length, width = numpy.concatenate([before, x], 2), x.shape[2], weight.shape[2]
    y = sum(weight[:, 0, j, None] * padded[:, :, j:j + length] for j in range(width)) + (0 if bias is None else bias[:, None])
    y = y if activation == 'none' else y / (1 + numpy.exp(-y))
    return turned(y), turned(padded[:, :, length:])


class LinearNodes:
    """What Lowering takes for them: the view of the first output; the state is kept under its name."""

    def _optional(self: Any, node: Any, count: int) -> List[Any]:
        return [self._view(node, name) if name else None for name in (node.inputs + [''] * count)[:count]]

    def _has_state(self: Any, node: Any) -> bool:
        return len(node.outputs) > 1 and bool(node.outputs[1]) and self.graph.uses.get(node.outputs[1], 0) > 0

    def _items(self: Any, node: Any, parts: List[View]) -> View:
        return parts[0] if len(parts) == 1 else self._joined(parts, 0)

    def _linear_attention(self: Any, node: Any) -> View:
        views = self._optional(node, 6)
        given = LinearGiven(node, [view and view.array for view in views])
        items, tokens = views[0].shape[:2]
        part = lambda view, at, *shape: self._dense(self._moved(view, lambda array: array[at].reshape(shape)))
        outputs: List[List[View]] = [[], []]
        for at in range(items):
            query, key, value = (part(view, at, tokens, heads, width) for view, heads, width in zip(
                views, (given.heads, given.key_heads, given.value_heads), (given.width, given.width, given.value_width)))
            if given.heads % given.key_heads:  # the typed surface has no fewer queries than keys
                repeats = given.key_heads // given.heads
                query = self._dense(self._moved(query, lambda array: numpy.broadcast_to(array[:, :, None], (tokens, given.heads, repeats, given.width))))
                query = self._moved(query, lambda array: array.reshape(tokens, given.key_heads, given.width))
            past = part(views[3], at, *views[3].shape[1:]) if views[3] else None
            decay = part(views[4], at, tokens, given.value_heads, given.width if given.by_key else 1) if views[4] else None
            beta = self._dense(self._moved(views[5], lambda array: numpy.broadcast_to(array[at], (tokens, given.value_heads)))) if views[5] else None
            state, y = (given.value_heads, given.width, given.value_width), (tokens, given.out_heads, given.value_width)
            count, more = int(numpy.prod(y)), int(numpy.prod(state)) if self._has_state(node) else 0
            written = self._new((count + more, ))
            self._add(LinearAttention(self.place, given, query, key, value, (decay, beta, past), written, more > 0))
            outputs[0].append(self._moved(View(written.buffer, written.array[:count]), lambda array: array.reshape(1, tokens, -1)))
            if more:
                outputs[1].append(self._moved(View(written.buffer, written.array[count:]), lambda array: array.reshape((1, ) + state)))
        if outputs[1]:
            self._keep(node.outputs[1], self._items(node, outputs[1]))
        return self._items(node, outputs[0])

    def _causal_conv(self: Any, node: Any) -> View:
        x, names = self._view(node, node.inputs[0]), (node.inputs + ['', ''])[:4]
        weight, bias = (self.graph.constants.get(name) for name in names[1:3])
        if weight is None or names[2] and bias is None:
            raise ExportError(f'{node}: its weights or its bias are computed; expected constants')
        past = self._view(node, names[3]) if names[3] else None
        activation, last = _conv_given(node, x.array, weight, bias, past and past.array)
        width, turned = weight.shape[2], lambda array: array if last else array.swapaxes(1, 2)
        if not 1 <= width <= MOST_WIDTH:
            raise ExportError(f'{node}: a width of {width}; expected 1 to {MOST_WIDTH}: write Pad and Conv')
        if width == 1 and self._has_state(node):
            raise ExportError(f'{node}: a width of 1, whose state "{node.outputs[1]}" has no numbers; expected a node whose second output is not used')
        rows, before = self._moved(x, turned), self._moved(past, turned) if past else None
        parts, states = [], []
        for at in range(rows.shape[0]):
            part = lambda view: self._dense(self._moved(view, lambda array: array[at]))
            own, old = part(rows), part(before) if before else None
            y = self._convolved(node, own, self._finite(names[1], weight[:, 0]), bias, activation != 'none', old)
            parts.append(self._moved(y, lambda array: array[None]))
            if self._has_state(node):
                states.append(self._moved(self._last_rows(own, old, width - 1), lambda array: array[None]))
        if states:
            self._keep(node.outputs[1], self._moved(self._items(node, states), turned))
        return self._moved(self._items(node, parts), turned)

    def _convolved(self: Any, node: Any, x: View, weight: Any, bias: Any, silu: bool, past: Any) -> View:
        if bias is not None:
            self._finite(str(node), bias)
        if weight.shape[1] > 1:
            return self._add(Convolution(self.place, x, self._new(x.shape), weight, bias, silu, past))
        y = self._add(Elementwise('multiply', self.place, x, weight[:, 0], self._new(x.shape)))
        y = y if bias is None else self._add(Elementwise('add', self.place, y, bias, self._new(x.shape)))
        return self._activation('silu', y) if silu else y

    def _last_rows(self: Any, rows: View, before: Any, count: int) -> View:
        """The last rows of those before, or of 0, and `rows`."""
        if rows.shape[0] >= count:
            return self._moved(rows, lambda array: array[len(array) - count:])
        y, kept = self._new((count, rows.shape[1])), count - rows.shape[0]
        old = numpy.zeros(1) if before is None else self._moved(before, lambda array: array[count - kept:])
        self._add(Copy(self.place, old, View(y.buffer, y.array[:kept])))
        self._add(Copy(self.place, rows, View(y.buffer, y.array[kept:])))
        return y
