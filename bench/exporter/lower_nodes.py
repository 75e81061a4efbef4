"""How each operator becomes steps: projections and convolutions, and everything that no pattern takes."""
import math
from typing import Any, Callable, Dict, List

import numpy

from . import operators, rotary_node
from .errors import ExportError
from .graph import Node
from .linear_nodes import LinearNodes
from .lower_others import OTHERS, OtherNodes, memory_order
from .onnx_attention import heads_of
from .program import View
from .steps import Activate, ArgMax, Copy, Elementwise, Linear, Rotate, Rows

ACTIVATIONS = {'Relu': 'relu', 'Sigmoid': 'sigmoid', 'Tanh': 'tanh', 'Exp': 'exp', 'Erf': 'erf', 'Softplus': 'softplus'}
ELEMENTWISE = {'Add': 'add', 'Sub': 'subtract', 'Mul': 'multiply', 'Div': 'divide', 'Min': 'minimum', 'Max': 'maximum'}

REDUCED = {'ReduceMax': 'maximum', 'GlobalMaxPool': 'maximum', 'ReduceMin': 'minimum', 'ReduceL2': 'length'}


class Nodes(LinearNodes, OtherNodes):
    """What Lowering takes for the operators in HANDLERS: each gives the view of a node's output."""

    # Projections

    def _linear(self: Any, node: Node, x: View, weight: Any, bias: Any) -> View:
        """x [..., inputs], weight [outputs, inputs]."""
        outputs, inputs = weight.shape
        self._finite(node.inputs[1], weight)
        if bias is not None:
            self._finite(str(node), bias)
        rows = self._dense(self._moved(self._dense(x), lambda array: array.reshape(-1, inputs)))
        y = self._new((rows.shape[0], outputs))
        self._add(Linear(self.place, rows, y, weight, bias))
        return self._moved(y, lambda array: array.reshape(x.shape[:-1] + (outputs,)))

    def _matmul(self: Any, node: Node) -> View:
        left, right = (self.graph.constants.get(name) for name in node.inputs[:2])
        if left is None and right is None:
            raise ExportError(f'{node}: a product of two computed arrays that is no attention, softmax(scale * query key^T + mask) value. '
                              'Write it so, or compute it outside the model')
        constant = right if left is None else left
        while constant.ndim > 2 and constant.shape[0] == 1:
            constant = constant[0]
        if constant.ndim > 2:
            raise ExportError(f'{node}: constant weights of shape {list(constant.shape)}; expected a matrix')
        if left is None:
            return self._linear(node, self._view(node, node.inputs[0]), constant.T if constant.ndim == 2 else constant[None], None)
        x = self._moved(self._view(node, node.inputs[1]), lambda array: numpy.swapaxes(array, -1, -2))
        y = self._linear(Node(node.kind, node.name, node.inputs[::-1], node.outputs, {}), x, constant if constant.ndim == 2 else constant[None], None)
        return self._moved(y, lambda array: numpy.swapaxes(array, -1, -2))

    def _gemm(self: Any, node: Node) -> View:
        given, x, (weight, bias, _) = node.attributes, self._view(node, node.inputs[0]), self._constants(node, 'weights or its bias are')
        weight = (weight if given.flag('transB', 0) else weight.T) * given.number('alpha', 1.0)
        beta = given.number('beta', 1.0)
        if given.flag('transA', 0):
            x = self._moved(x, lambda array: array.T)
        if bias is not None:
            bias = numpy.broadcast_to(bias * beta, self.graph.shapes[node.outputs[0]])
            if (bias != bias[:1]).any():
                y = self._linear(node, x, weight, None)
                return self._add(Elementwise('add', self.place, y, bias, self._new(y.shape)))
            bias = bias[0]
        return self._linear(node, x, weight, bias)

    def _conv(self: Any, node: Node) -> View:
        x, (weight, bias, _) = self._view(node, node.inputs[0]), self._constants(node, 'weights or its bias are')
        window, groups = operators.Window(node, self.graph.opset, x.array, weight.shape[2:]), node.attributes.whole('group', 1)
        patches = self._patches(x, window)
        each, inputs, y = weight.shape[0] // groups, weight.shape[1], None
        if groups > 1:
            y = self._new(tuple(window.counts) + (weight.shape[0],))
        for group in range(groups):
            rows = self._moved(patches, lambda array: numpy.moveaxis(
                array[group * inputs:(group + 1) * inputs], range(1 + len(window.kernel)), range(-1 - len(window.kernel), 0)))
            rows = self._moved(rows, lambda array: array.reshape(tuple(window.counts) + (-1,)))
            chosen = slice(group * each, (group + 1) * each)
            of_group = self._linear(node, rows, weight[chosen].reshape(each, -1), None if bias is None else bias[chosen])
            if y is not None:
                self._add(Copy(self.place, of_group, View(y.buffer, y.array[..., chosen])))
        y = y or of_group
        return self._moved(y, lambda array: numpy.moveaxis(array, -1, 0)[None])

    def _patches(self: Any, x: View, window: Any, fill: float = 0.0) -> View:
        """[channels, kernel..., windows...], overlapping, of x with edges."""
        x = self._padded(x, [(0, 0), (0, 0), *zip(window.before, window.after)], fill)
        window = window.inside()
        return self._moved(x, lambda array: window.patches(array, 0.0))

    def _padded(self: Any, x: View, pads: Any, fill: float) -> View:
        if not any(before or after for before, after in pads):
            return x
        padded = self._new(tuple(size + before + after for size, (before, after) in zip(x.shape, pads)))
        self._add(Copy(self.place, numpy.full(1, fill), padded))
        inside = tuple(slice(before, before + size) for size, (before, _) in zip(x.shape, pads))
        self._add(Copy(self.place, x, View(padded.buffer, padded.array[inside])))
        return padded

    def _batch_norm(self: Any, node: Node) -> View:
        x, (weight, bias, mean, variance) = self._view(node, node.inputs[0]), self._constants(node, 'parameters are')
        factor = weight / numpy.sqrt(variance + node.attributes.number('epsilon', 1e-5))
        bias = bias - mean * factor
        last = self.steps[-1] if self.steps else None
        # Into the projection before it, if nothing else reads what that writes, and its outputs are the channels.
        if isinstance(last, Linear) and last.writes.buffer is x.buffer and last.name == node.inputs[0] and \
                self.graph.uses[node.inputs[0]] == 1 and last.weight.shape[0] == len(factor) == x.shape[1] and x.strides[1] == 1:
            last.weight = numpy.ascontiguousarray(last.weight * factor[:, None], numpy.float32)
            last.bias = numpy.ascontiguousarray(bias if last.bias is None else last.bias * factor + bias, numpy.float32)
            last.name = self.place
            del self.views[node.inputs[0]]  # nothing has these numbers any more
            return x
        column = (slice(None),) + (None,) * (len(x.shape) - 2)
        product = self._add(Elementwise('multiply', self.place, x, factor[column], self._new(x.shape)))
        return self._add(Elementwise('add', self.place, product, bias[column], self._new(x.shape)))

    def _rotate(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        rows = self._moved(x, lambda array: array.reshape(array.shape[-3:]).transpose(1, 0, 2))
        y = self._turned(rows, node.attributes.numbers('frequencies'), node.attributes.choice('pairs', None, 'halves', 'neighbours'))
        return self._moved(y, lambda array: array.transpose(1, 0, 2))

    def _turned(self: Any, rows: View, frequencies: Any, pairs: str) -> View:
        """Of [tokens, heads, head_dim]; a part of each head, where there are fewer frequencies."""
        rows = self._dense(rows)
        return self._add(Rotate(self.place, rows, self._new(rows.shape), frequencies, pairs))

    def _rotary_embedding(self: Any, node: Node) -> View:
        x, tables = self._view(node, node.inputs[0]), self._constants(node, 'angles or positions are')
        heads = self._moved(x, lambda array: heads_of(array, node.attributes.whole('num_heads', 0) or None))
        frequencies = rotary_node.frequencies(*tables, heads.shape[2])
        if frequencies is None:
            raise ExportError(f'{node}: its angles are not those of positions 0, 1 and so on; expected these, or the rotation by Slice, Mul, Add and Concat')
        width = 2 * len(frequencies)
        if node.attributes.whole('rotary_embedding_dim', 0) not in (0, width):
            raise ExportError(f'{node}: angles of {width} numbers of a head, which is not its rotary_embedding_dim')
        rows = self._moved(heads, lambda array: array.reshape(array.shape[-3:]).transpose(1, 0, 2))
        y = self._turned(rows, frequencies, 'neighbours' if node.attributes.flag('interleaved', 0) else 'halves')
        back = lambda array: array.transpose(1, 0, 2)[None] if len(x.shape) == 4 else array.reshape(x.shape)
        return self._moved(y, back)

    # Everything else

    def _activation(self: Any, function: str, x: View) -> View:
        return self._in_memory_order(x, lambda x: self._add(Activate(function, self.place, x, self._new(x.shape))))

    def _in_memory_order(self: Any, x: View, compute: Callable[[View], View]) -> View:
        """What is computed element by element, without a copy where axes have only been exchanged."""
        order = memory_order(x)
        back = [order.index(axis) for axis in range(len(order))]
        y = compute(self._dense(self._moved(x, lambda array: array.transpose(order))))
        return self._moved(y, lambda array: array.transpose(back))

    def _by_number(self: Any, function: str, x: View, number: float) -> View:
        return self._combined(function, x, numpy.full(1, number), x.shape)

    def _combined(self: Any, function: str, a: Any, b: Any, shape: Any) -> View:
        """a and b are views or constants, whose axes may repeat; the result has its axes in the order that one of them has in memory."""
        if not shape:  # a single number: a row of one
            row = lambda array: array.reshape(1)
            y = self._combined(function, *(self._moved(each, row) if isinstance(each, View) else row(each) for each in (a, b)), (1,))
            return self._moved(y, lambda array: array.reshape(()))
        adds = function in ('add', 'subtract')  # whole rows of b, by the library
        ordered = next((each for each in ((b, a) if adds else (a, b)) if isinstance(each, View) and each.shape == tuple(shape)), None)
        order = memory_order(ordered) if ordered else list(range(len(shape)))
        in_order = lambda array: array.reshape((1,) * (len(order) - array.ndim) + array.shape).transpose(order)
        a, b = (self._moved(each, in_order) if isinstance(each, View) else in_order(each) for each in (a, b))
        shape = tuple(shape[axis] for axis in order)
        if adds:
            if not isinstance(b, View):
                b = numpy.broadcast_to(b, b.shape[:-1] + shape[-1:])
            elif b.shape[-1:] != shape[-1:]:
                b = self._dense(self._moved(b, lambda array: numpy.broadcast_to(array, shape)))
            a, b = (self._dense(each) if isinstance(each, View) and min(each.strides, default=0) < 0 else each for each in (a, b))
        y = self._add(Elementwise(function, self.place, a, b, self._new(shape)))
        return self._moved(y, lambda array: array.transpose(numpy.argsort(order)))

    def _norm_node(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        axis, epsilon = operators.norm_attributes(node, len(x.shape))
        weight, bias = (None if each is None else self._finite(str(node), numpy.broadcast_to(each, x.shape[axis:]))
                        for each in self._constants(node, 'weight or bias is')[:2])
        kind = 'layer_norm' if node.kind == 'LayerNormalization' else 'rms_norm'
        if len(node.outputs) > 1 and self.graph.uses.get(node.outputs[1]):
            self._keep(node.outputs[1], self._reduced('mean', x, list(range(axis, len(x.shape)))))
        return self._norm(kind, x, math.prod(x.shape[axis:]), weight, bias, self._epsilon(node, epsilon))

    def _elementwise(self: Any, node: Node) -> View:
        if len(node.inputs) != 2:
            raise ExportError(f'{node}: {len(node.inputs)} inputs; expected 2')
        a, b = (self._operand(name) for name in node.inputs)
        function, shape = ELEMENTWISE[node.kind], self.graph.shapes[node.outputs[0]]
        number = self.patterns.scalar(node.inputs[1])
        if isinstance(a, View) and number is not None and a.shape == shape and function not in ('add', 'subtract'):
            return self._by_number(function, a, number)
        if not isinstance(a, View) and function in ('add', 'multiply', 'minimum', 'maximum'):
            a, b = b, a
        return self._combined(function, a, b, shape)

    def _power(self: Any, node: Node) -> View:
        x, exponent = self._view(node, node.inputs[0]), self.patterns.scalar(node.inputs[1])
        if exponent != 2:
            raise ExportError(f'{node}: a power of {exponent}; expected 2, or what makes a normalisation or GELU of it')
        return self._add(Elementwise('multiply', self.place, x, x, self._new(x.shape)))

    def _clip(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        for function, index, key in (('maximum', 1, 'min'), ('minimum', 2, 'max')):
            given = len(node.inputs) > index and node.inputs[index] != ''
            limit = self.patterns.scalar(node.inputs[index]) if given else node.attributes.number(key, None)
            if given and limit is None:
                raise ExportError(f'{node}: its limits are computed or several; expected one constant each')
            if limit is not None and math.isfinite(limit):
                x = self._by_number(function, x, limit)
        return x

    def _leaky(self: Any, node: Node) -> View:
        x, alpha = self._view(node, node.inputs[0]), node.attributes.number('alpha', 0.01)
        if not 0 <= alpha <= 1:
            raise ExportError(f'{node}: a slope of {alpha}; expected 0 to 1')
        small = self._by_number('multiply', x, alpha)
        return self._add(Elementwise('maximum', self.place, x, small, self._new(x.shape)))

    def _negative(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        return self._by_number('multiply', x, -1.0)

    def _reduce(self: Any, node: Node) -> View:
        x, function = self._view(node, node.inputs[0]), REDUCED.get(node.kind, 'mean')
        axes = range(2, len(x.shape)) if node.kind.startswith('Global') else None
        if axes is None:
            axes = self.patterns.axes_of(node, len(x.shape))
            node.attributes.flag('keepdims', 1)  # as the shape of the output says
            if node.attributes.flag('noop_with_empty_axes', 0) and not axes:
                return x
            axes = axes or range(len(x.shape))
        y = self._reduced(function, x, list(axes))
        if node.kind == 'ReduceSum':
            y = self._by_number('multiply', y, float(math.prod(x.shape[axis] for axis in axes)))
        return y

    def _pool(self: Any, node: Node) -> View:
        x, is_mean = self._view(node, node.inputs[0]), node.kind == 'AveragePool'
        window, x = operators.Window(node, self.graph.opset, x.array), self._moved(x, operators.of_channels)
        patches = self._patches(x, window, 0.0 if is_mean else -3.4028235e38)
        y = self._reduced('mean' if is_mean else 'maximum', patches, list(range(1, 1 + len(window.kernel))))
        if is_mean and not node.attributes.flag('count_include_pad', 0) and any(window.before + window.after):
            y = self._moved(y, lambda array: array.reshape(x.shape[1], -1))
            y = self._combined('multiply', y, math.prod(window.kernel) / window.inside_counts(x.shape), y.shape)
        return y

    def _arg_max(self: Any, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        axis = node.attributes.whole('axis', 0) % len(x.shape)
        node.attributes.flag('keepdims', 1)  # as the shape of the output says
        rows = self._dense(self._moved(x, lambda array: numpy.moveaxis(array, axis, -1)))
        return self._add(ArgMax(self.place, [rows], self._new(rows.shape[:-1], 'int32')))

    def _gather(self: Any, node: Node) -> View:
        axis, table, indices = node.attributes.whole('axis', 0), self.graph.constants.get(node.inputs[0]), node.inputs[1]
        if table is not None:
            x = self._view(node, indices)
            if table.ndim != 2 or axis != 0 or x.type != 'int32':
                raise ExportError(f'{node}: rows of a table of shape {list(table.shape)}; expected a matrix, axis 0 and whole numbers')
            x = self._dense(x)
            return self._add(Rows(self.place, x, self._new(x.shape + (table.shape[1],)), self._finite(node.inputs[0], table)))
        x, numbers = self._view(node, node.inputs[0]), self.graph.constants.get(indices)
        if numbers is None:
            raise ExportError(f'{node}: computed indices into a computed array; expected a constant table, or constant indices')
        axis %= len(x.shape)
        whole = numpy.asarray(numbers).astype(int) % x.shape[axis]
        if whole.ndim == 0:
            return self._moved(x, lambda array: array[(slice(None),) * axis + (int(whole),)])
        return self._moved(self._chosen(x, axis, whole.reshape(-1)), lambda array: array.reshape(x.shape[:axis] + whole.shape + x.shape[axis + 1:]))

    def _concat(self: Any, node: Node) -> View:
        axis = node.attributes.whole('axis') % len(self.graph.shapes[node.outputs[0]])
        return self._joined([self._operand(name) for name in node.inputs], axis)

    def _joined(self: Any, parts: List[Any], axis: int) -> View:
        """With axes in the order that those of the first computed part have in memory."""
        shape, first = list(parts[0].shape), next(part for part in parts if isinstance(part, View))
        shape[axis] = sum(part.shape[axis] for part in parts)
        order, at = memory_order(first), 0
        if first.shape[axis] == 1:  # it has no place of its own: behind the axis before it
            order.remove(axis)
            order.insert(order.index(axis - 1) + 1 if axis else 0, axis)
        y = self._moved(self._new([shape[each] for each in order]), lambda array: array.transpose(numpy.argsort(order)))
        for part in parts:
            place = (slice(None),) * axis + (slice(at, at + part.shape[axis]),)
            at += part.shape[axis]
            self._add(Copy(self.place, part, View(y.buffer, y.array[place])))
        return y


HANDLERS: Dict[str, Callable[[Any, Node], View]] = {
    **OTHERS,
    **{kind: (lambda function: lambda self, node: self._activation(function, self._view(node, node.inputs[0])))(function)
       for kind, function in ACTIVATIONS.items()},
    **{kind: Nodes._elementwise for kind in ELEMENTWISE},
    **{kind: Nodes._reduce for kind in ('ReduceMean', 'ReduceSum', 'GlobalAveragePool', *REDUCED)},
    **{kind: Nodes._norm_node for kind in ('LayerNormalization', 'RMSNormalization', 'SimplifiedLayerNormalization')},
    **{kind: Nodes._pool for kind in ('MaxPool', 'AveragePool')},
    'Gelu': lambda self, node: self._activation('gelu' if operators.gelu_kind(node) == 'none' else 'gelu_tanh', self._view(node, node.inputs[0])),
    'Rotate': Nodes._rotate, 'RotaryEmbedding': Nodes._rotary_embedding,
    'MatMul': Nodes._matmul, 'Gemm': Nodes._gemm, 'Conv': Nodes._conv, 'BatchNormalization': Nodes._batch_norm,
    'Pow': Nodes._power, 'Clip': Nodes._clip, 'LeakyRelu': Nodes._leaky, 'Neg': Nodes._negative,
    'LinearAttention': Nodes._linear_attention, 'CausalConvWithState': Nodes._causal_conv,
    'ArgMax': Nodes._arg_max, 'Gather': Nodes._gather, 'Concat': Nodes._concat,
}
