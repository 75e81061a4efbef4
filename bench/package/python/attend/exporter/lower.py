"""From a graph to a program: which calls compute what the outputs need, and in what arrays."""
import math
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy

from . import operators
from .errors import ExportError
from .graph import Graph, Node
from .patterns import Match, Patterns
from .program import Buffer, Program, Step, View
from .steps import Activate, ArgMax, Attention, Copy, Elementwise, Linear, Norm, Reduce, Rows, Softmax

# Operators that only choose or order elements.
MOVING = ('Identity', 'Dropout', 'Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Transpose', 'Slice', 'Expand')
ACTIVATIONS = {'Relu': 'relu', 'Sigmoid': 'sigmoid', 'Tanh': 'tanh', 'Exp': 'exp', 'Erf': 'erf'}
ELEMENTWISE = {'Add': 'add', 'Sub': 'subtract', 'Mul': 'multiply', 'Div': 'divide', 'Min': 'minimum', 'Max': 'maximum'}


def lower(graph: Graph, name: str) -> Program:
    return Lowering(graph, name).program()


class Lowering:
    def __init__(self, graph: Graph, name: str):
        self.graph, self.name, self.patterns = graph, name, Patterns(graph)
        self.views: Dict[str, View] = {}
        self.steps: List[Step] = []
        self.copied: Dict[int, View] = {}  # what a buffer is a copy of

    def program(self) -> Program:
        chosen = self._choose()
        inputs = []
        for name, shape in self.graph.inputs.items():
            integers = self.graph.types[name].kind in 'iu'
            if not integers and self.graph.types[name].kind != 'f':
                raise ExportError(f'input "{name}" has the type {self.graph.types[name]}; expected floats, or whole numbers for tokens')
            self.views[name] = View(Buffer('input', math.prod(shape), name, 'int32' if integers else 'float32'), shape=shape)
            inputs.append(self.views[name])
        for node in self.graph.nodes:
            wanted = [name for name in node.outputs if name in chosen]
            match = chosen[wanted[0]] if wanted else None
            if match:
                self.place = wanted[0]
                result = getattr(self, '_match_' + match.kind)(match)
                self._keep(wanted[0], result)
            elif wanted:
                self.place = wanted[0]
                self._emit(node)
        outputs = [self._output(name) for name in self.graph.outputs]
        program = Program(self.name, inputs, outputs, self.steps)
        program.views = self.views
        return program

    def _choose(self) -> Dict[str, Optional[Match]]:
        """What is computed, from the outputs backwards: each value by a pattern, or (None) by its node alone."""
        chosen: Dict[str, Optional[Match]] = {}
        open_ = [name for name in self.graph.outputs]
        while open_:
            name = open_.pop()
            if name in chosen or name in self.graph.constants or name in self.graph.inputs or not name:
                continue
            chosen[name] = match = self.patterns.find(name)
            open_ += match.values if match else self.graph.producers[name].inputs
        return chosen

    def _keep(self, name: str, view: View) -> None:
        shape = self.graph.shapes[name]
        self.views[name] = view if view.shape == shape else self._moved(view, lambda array: array.reshape(shape))

    # Arrays

    def _new(self, shape: Any, type: str = 'float32') -> View:
        return View(Buffer('memory', math.prod(shape), self.place, type), shape=shape)

    def _view(self, node: Any, name: str) -> View:
        """A value that is computed; a constant is put into memory."""
        if name in self.views:
            return self.views[name]
        array = self.graph.constants.get(name)
        if array is None:
            raise ExportError(f'{node}: "{name}" is not computed')
        to = self._new(array.shape)
        self.steps.append(Copy(name, self._finite(name, array), to))
        return to

    def _operand(self, name: str) -> Any:
        return self.views[name] if name in self.views else self._finite(name, self.graph.constants[name])

    def _finite(self, name: str, array: Any) -> Any:
        if not numpy.isfinite(array).all():
            raise ExportError(f'constant "{name}" has numbers that are not finite: the model was trained or saved wrongly')
        return array

    def _moved(self, view: View, function: Callable[[Any], Any]) -> View:
        """The same elements in other axes: without a copy where strides can say it."""
        moved = view.changed(function)
        if moved is not None:
            return moved
        found = self._dense(view).changed(function)
        if found is not None:
            return found
        result = function(view.array)
        raise ExportError(f'"{self.place}": an array of {list(view.shape)} cannot be put into {list(result.shape)}')

    def _dense(self, view: View) -> View:
        if view.is_dense():
            return view
        to = self._new(view.shape, view.type)
        self.steps.append(Copy(self.place, view, to))
        self.copied[id(to.buffer)] = view
        return to

    def _without_repetition(self, view: View) -> View:
        """Heads [..., heads, tokens, width] that were repeated for each head of a group: those that they were made of. Attention
        repeats them by itself."""
        source = self.copied.get(id(view.buffer))
        if source is None or len(source.shape) < 4 or source.shape[-3] == 1 or source.strides[-3] != 0:
            return view
        found = View(source.buffer, source.array[..., 0, :, :])
        whole = (-1,) + source.shape[-2:]
        expected = view.buffer.base.reshape(source.shape).reshape(whole)
        seen = view.array.reshape(whole) if view.shape[-2:] == source.shape[-2:] else numpy.swapaxes(view.array, -1, -2).reshape(whole)
        same = seen.shape == expected.shape and numpy.may_share_memory(seen, expected) and seen.strides == expected.strides
        return found if same else view

    def _output(self, name: str) -> View:
        """An output of the model: the buffer that its last step writes, or a copy of a part of one."""
        self.place = name
        view = self.views[name]
        if not view.is_whole() or view.buffer.kind != 'memory':
            to = self._new(view.shape, view.type)
            self.steps.append(Copy(name, view, to))
            view = to
        view.buffer.kind, view.buffer.name = 'output', name
        return view

    def _add(self, step: Step) -> View:
        self.steps.append(step)
        return step.writes

    # Patterns

    def _match_biased(self, match: Match) -> View:
        weight = self.graph.constants[match.node.inputs[1]].T
        return self._linear(match.node, self._view(match.node, match.values[0]), weight, match.settings['bias'])

    def _match_layer_norm(self, match: Match) -> View:
        x = self._dense(self._view(match.node, match.values[0]))
        settings = match.settings
        return self._add(Norm(match.kind, self.place, x, self._new(x.shape), x.shape[-1], settings['weight'], settings['bias'],
                              self._epsilon(match.node, settings['epsilon'])))

    _match_rms_norm = _match_layer_norm

    def _epsilon(self, node: Node, epsilon: float) -> float:
        if not 1e-30 <= epsilon <= 1e30:
            raise ExportError(f'{node}: an epsilon of {epsilon}; expected 1e-30 to 1e30')
        return epsilon

    def _match_gelu(self, match: Match) -> View:
        return self._activation(match.kind, self._view(match.node, match.values[0]))

    _match_gelu_tanh = _match_silu = _match_gelu

    def _match_gated(self, match: Match) -> View:
        x, by = (self._dense(self._view(match.node, name)) for name in match.values)
        return self._add(Activate(match.settings['function'], self.place, x, self._new(x.shape), by))

    def _match_weights(self, match: Match) -> View:
        node, settings = match.node, match.settings
        query, key = (self._view(node, name) for name in match.values)
        if settings['transposed'] is not None:
            key = self._moved(key, lambda array: array.transpose(settings['transposed']))
        key = self._without_repetition(self._moved(key, lambda array: numpy.swapaxes(array, -1, -2)))
        y = self._attention(node, query, key, None, settings['scale'], settings['bias'])
        return self._moved(y, lambda array: array.reshape(self.graph.shapes[node.outputs[0]]))

    def _match_attention(self, match: Match) -> View:
        node, settings = match.node, match.settings
        query, key, value = (self._view(node, name) for name in match.values)
        if settings['transposed'] is not None:
            key = self._moved(key, lambda array: array.transpose(settings['transposed']))
        key = self._moved(key, lambda array: numpy.swapaxes(array, -1, -2))
        key, value = self._without_repetition(key), self._without_repetition(value)
        return self._attention(node, query, key, value, settings['scale'], settings['bias'])

    def _attention(self, node: Node, query: View, key: View, value: Optional[View], scale: float, bias: Any) -> View:
        """Of [..., heads, tokens, width] each; leading axes have one element. Without values: the weights [heads, queries, keys]."""
        views = []
        for which, view in (('queries', query), ('keys', key), ('values', value)):
            if view is None:
                continue
            if math.prod(view.shape[:-3]) != 1:
                raise ExportError(f'{node}: {which} of shape {list(view.shape)}; expected [1, heads, tokens, width], one item of a batch')
            heads = view.shape[-3] if len(view.shape) > 2 else 1
            split = lambda array: array.reshape((heads,) + array.shape[-2:]).transpose(1, 0, 2)
            views.append(self._dense(self._moved(view, split)))
        query, key = views[:2]
        if query.shape[1] % key.shape[1] or key.shape[:2] != views[-1].shape[:2] or query.shape[2] != key.shape[2]:
            raise ExportError(f'{node}: queries, keys and values of shapes {[list(view.shape) for view in views]} ([tokens, heads, width]) '
                              'do not fit each other')
        if not (math.isfinite(scale) and abs(scale) <= 2.0**127):
            raise ExportError(f'{node}: a scale of {scale}')
        causal, offset, bias = causal_of(bias, query.shape[0], key.shape[0])
        if value is None:
            y = self._new((query.shape[0], query.shape[1], key.shape[0]))
            self._add(Attention(self.place, query, key, None, y, scale, causal, offset, bias))
        else:
            y = self._new((query.shape[0], query.shape[1], views[2].shape[2]))
            self._add(Attention(self.place, query, key, views[2], y, scale, causal, offset, bias))
        return self._moved(y, lambda array: array.transpose(1, 0, 2))

    # Projections

    def _linear(self, node: Node, x: View, weight: Any, bias: Any) -> View:
        """x [..., inputs], weight [outputs, inputs]."""
        outputs, inputs = weight.shape
        self._finite(node.inputs[1], weight)
        if bias is not None:
            self._finite(str(node), bias)
        rows = self._dense(self._moved(self._dense(x), lambda array: array.reshape(-1, inputs)))
        y = self._new((rows.shape[0], outputs))
        self._add(Linear(self.place, rows, y, weight, bias))
        return self._moved(y, lambda array: array.reshape(x.shape[:-1] + (outputs,)))

    def _matmul(self, node: Node) -> View:
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

    def _gemm(self, node: Node) -> View:
        given, x = node.attributes, self._view(node, node.inputs[0])
        weight = self.graph.constants.get(node.inputs[1])
        if weight is None or (len(node.inputs) > 2 and node.inputs[2] and node.inputs[2] not in self.graph.constants):
            raise ExportError(f'{node}: its weights or its bias are computed; expected constants')
        weight = (weight if given.get('transB') else weight.T) * given.get('alpha', 1.0)
        if given.get('transA'):
            x = self._moved(x, lambda array: array.T)
        bias = None
        if len(node.inputs) > 2 and node.inputs[2]:
            bias = numpy.broadcast_to(self.graph.constants[node.inputs[2]] * given.get('beta', 1.0), self.graph.shapes[node.outputs[0]])
            if (bias != bias[:1]).any():
                y = self._linear(node, x, weight, None)
                return self._add(Elementwise('add', self.place, y, bias, self._new(y.shape)))
            bias = bias[0]
        return self._linear(node, x, weight, bias)

    def _conv(self, node: Node) -> View:
        x, weight = self._view(node, node.inputs[0]), self.graph.constants.get(node.inputs[1])
        bias = self.graph.constants.get(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else None
        if weight is None or (bias is None and len(node.inputs) > 2 and node.inputs[2]):
            raise ExportError(f'{node}: its weights or its bias are computed; expected constants')
        window, groups = operators.Window(node, x.array, weight.shape[2:]), node.attributes.get('group', 1)
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

    def _patches(self, x: View, window: Any, fill: float = 0.0) -> View:
        """[channels, kernel..., windows...], overlapping, of x with edges."""
        x = self._padded(x, [(0, 0), (0, 0), *zip(window.before, window.after)], fill)
        window = window.inside()
        return self._moved(x, lambda array: window.patches(array, 0.0))

    def _padded(self, x: View, pads: Any, fill: float) -> View:
        if not any(before or after for before, after in pads):
            return x
        padded = self._new(tuple(size + before + after for size, (before, after) in zip(x.shape, pads)))
        self._add(Copy(self.place, numpy.full(1, fill), padded))
        inside = tuple(slice(before, before + size) for size, (before, _) in zip(x.shape, pads))
        self._add(Copy(self.place, x, View(padded.buffer, padded.array[inside])))
        return padded

    def _pad(self, node: Node) -> View:
        x, given = self._view(node, node.inputs[0]), (node.inputs + ['', ''])[1:3]
        fill = node.attributes.get('value', 0.0) if not given[1] else self.patterns.scalar(given[1])
        pads = operators.pads(node, x.array, self.graph.constants.get(given[0]))
        if fill is None or (given[0] and given[0] not in self.graph.constants):
            raise ExportError(f'{node}: what it pads by is computed; expected constants')
        return self._padded(x, pads, fill)

    def _batch_norm(self, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        parameters = [self.graph.constants.get(name) for name in node.inputs[1:5]]
        if any(each is None for each in parameters):
            raise ExportError(f'{node}: its parameters are computed; expected constants')
        weight, bias, mean, variance = parameters
        factor = weight / numpy.sqrt(variance + node.attributes.get('epsilon', 1e-5))
        bias = bias - mean * factor
        last = self.steps[-1] if self.steps else None
        if isinstance(last, Linear) and last.writes.buffer is x.buffer and self.graph.uses[node.inputs[0]] == 1 and \
                last.weight.shape[0] == len(factor):
            last.weight = numpy.ascontiguousarray(last.weight * factor[:, None], numpy.float32)
            last.bias = numpy.ascontiguousarray(bias if last.bias is None else last.bias * factor + bias, numpy.float32)
            return x
        column = (slice(None),) + (None,) * (len(x.shape) - 2)
        product = self._add(Elementwise('multiply', self.place, x, factor[column], self._new(x.shape)))
        return self._add(Elementwise('add', self.place, product, bias[column], self._new(x.shape)))

    # Everything else

    def _activation(self, function: str, x: View) -> View:
        return self._in_memory_order(x, lambda x: self._add(Activate(function, self.place, x, self._new(x.shape))))

    def _in_memory_order(self, x: View, compute: Callable[[View], View]) -> View:
        """What is computed element by element, without a copy where axes have only been exchanged."""
        order = sorted(range(len(x.shape)), key=lambda axis: -x.strides[axis])
        back = [order.index(axis) for axis in range(len(order))]
        y = compute(self._dense(self._moved(x, lambda array: array.transpose(order))))
        return self._moved(y, lambda array: array.transpose(back))

    def _by_number(self, function: str, x: View, number: float) -> View:
        return self._in_memory_order(x, lambda x: self._add(Elementwise(function, self.place, x, numpy.full(1, number), self._new(x.shape))))

    def _norm_node(self, node: Node) -> View:
        x = self._dense(self._view(node, node.inputs[0]))
        axis = node.attributes.get('axis', -1) % len(x.shape)
        weight, bias = (self.graph.constants.get(name) for name in (node.inputs + [''])[1:3])
        if weight is None:
            raise ExportError(f'{node}: its weight is computed; expected a constant')
        kind = 'layer_norm' if node.kind == 'LayerNormalization' else 'rms_norm'
        return self._add(Norm(kind, self.place, x, self._new(x.shape), math.prod(x.shape[axis:]), weight, bias,
                              self._epsilon(node, node.attributes.get('epsilon', 1e-5))))

    def _elementwise(self, node: Node) -> View:
        a, b = (self._operand(name) for name in node.inputs[:2])
        if len(node.inputs) != 2:
            raise ExportError(f'{node}: {len(node.inputs)} inputs; expected 2')
        function, shape = ELEMENTWISE[node.kind], self.graph.shapes[node.outputs[0]]
        number = self.patterns.scalar(node.inputs[1])
        if isinstance(a, View) and number is not None and a.shape == shape and function not in ('add', 'subtract'):
            return self._by_number(function, a, number)
        if not isinstance(a, View) and function in ('add', 'multiply', 'minimum', 'maximum'):
            a, b = b, a
        if function in ('add', 'subtract') and b.shape[-1:] != shape[-1:]:  # the library adds whole rows
            if isinstance(b, View):
                b = self._dense(self._moved(b, lambda array: numpy.broadcast_to(array, shape)))
            else:
                b = numpy.broadcast_to(b, shape)
        return self._add(Elementwise(function, self.place, a, b, self._new(shape)))

    def _power(self, node: Node) -> View:
        x, exponent = self._view(node, node.inputs[0]), self.patterns.scalar(node.inputs[1])
        if exponent != 2:
            raise ExportError(f'{node}: a power of {exponent}; expected 2, or what makes a normalisation or GELU of it')
        return self._add(Elementwise('multiply', self.place, x, x, self._new(x.shape)))

    def _clip(self, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        for function, index, key in (('maximum', 1, 'min'), ('minimum', 2, 'max')):
            limit = self.patterns.scalar(node.inputs[index]) if len(node.inputs) > index and node.inputs[index] else node.attributes.get(key)
            if limit is not None and math.isfinite(limit):
                x = self._by_number(function, x, limit)
        return x

    def _leaky(self, node: Node) -> View:
        x, alpha = self._view(node, node.inputs[0]), node.attributes.get('alpha', 0.01)
        if not 0 <= alpha <= 1:
            raise ExportError(f'{node}: a slope of {alpha}; expected 0 to 1')
        small = self._by_number('multiply', x, alpha)
        return self._add(Elementwise('maximum', self.place, x, small, self._new(x.shape)))

    def _negative(self, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        return self._by_number('multiply', x, -1.0)

    def _reduce(self, node: Node) -> View:
        x, function = self._view(node, node.inputs[0]), 'maximum' if 'Max' in node.kind else 'mean'
        axes = range(2, len(x.shape)) if node.kind.startswith('Global') else None
        if axes is None:
            given = self.graph.constants.get(node.inputs[1]) if len(node.inputs) > 1 and node.inputs[1] else node.attributes.get('axes')
            axes = range(len(x.shape)) if given is None else [int(axis) % len(x.shape) for axis in given]
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        rows = self._moved(x, lambda array: array.transpose(list(axes) + kept))
        rows = self._dense(self._moved(rows, lambda array: array.reshape(math.prod(x.shape[axis] for axis in axes), -1)))
        y = self._add(Reduce(function, self.place, rows, self._new((rows.shape[1],))))
        if node.kind == 'ReduceSum':
            y = self._by_number('multiply', y, float(rows.shape[0]))
        return y

    def _pool(self, node: Node) -> View:
        x, is_mean = self._view(node, node.inputs[0]), node.kind == 'AveragePool'
        window = operators.Window(node, x.array, node.attributes['kernel_shape'])
        if is_mean and any(window.before + window.after) and not node.attributes.get('count_include_pad'):
            raise ExportError(f'{node}: a mean that leaves out its edges; expected no pads, or count_include_pad=1')
        patches = self._patches(x, window, 0.0 if is_mean else -3.4028235e38)
        kernel = range(1, 1 + len(window.kernel))
        rows = self._moved(patches, lambda array: numpy.moveaxis(array, kernel, range(len(window.kernel))))
        rows = self._dense(self._moved(rows, lambda array: array.reshape(math.prod(window.kernel), -1)))
        return self._add(Reduce('mean' if is_mean else 'maximum', self.place, rows, self._new((rows.shape[1],))))

    def _softmax(self, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        axis = node.attributes.get('axis', -1 if self.graph.opset >= 13 else 1) % len(x.shape)
        if axis != len(x.shape) - 1:
            raise ExportError(f'{node}: softmax along axis {axis}; expected the last one: put a Transpose before it')
        x = self._dense(x)
        return self._add(Softmax(self.place, [x], self._new(x.shape)))

    def _arg_max(self, node: Node) -> View:
        x = self._view(node, node.inputs[0])
        axis = node.attributes.get('axis', 0) % len(x.shape)
        rows = self._dense(self._moved(x, lambda array: numpy.moveaxis(array, axis, -1)))
        return self._add(ArgMax(self.place, [rows], self._new(rows.shape[:-1], 'int32')))

    def _gather(self, node: Node) -> View:
        axis, table, indices = node.attributes.get('axis', 0), self.graph.constants.get(node.inputs[0]), node.inputs[1]
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
        steps = numpy.diff(whole.reshape(-1))
        if whole.ndim == 0:
            return self._moved(x, lambda array: array[(slice(None),) * axis + (int(whole),)])
        if len(steps) == 0 or (steps == steps[0]).all() and steps[0] > 0:
            step = int(steps[0]) if len(steps) else 1
            place = (slice(None),) * axis + (slice(int(whole.reshape(-1)[0]), int(whole.reshape(-1)[-1]) + 1, step),)
            return self._moved(self._moved(x, lambda array: array[place]), lambda array: array.reshape(
                x.shape[:axis] + whole.shape + x.shape[axis + 1:]))
        parts = [self._moved(x, lambda array: array[(slice(None),) * axis + (slice(i, i + 1),)])
                 for i in map(int, whole.reshape(-1))]
        return self._joined(parts, axis)

    def _concat(self, node: Node) -> View:
        axis = node.attributes['axis'] % len(self.graph.shapes[node.outputs[0]])
        return self._joined([self._operand(name) for name in node.inputs], axis)

    def _joined(self, parts: List[Any], axis: int) -> View:
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        y, at = self._new(shape), 0
        for part in parts:
            place = (slice(None),) * axis + (slice(at, at + part.shape[axis]),)
            at += part.shape[axis]
            self._add(Copy(self.place, part, View(y.buffer, y.array[place])))
        return y

    def _emit(self, node: Node) -> None:
        """A node that no pattern takes."""
        if node.kind == 'Split':
            x = self._view(node, node.inputs[0])
            axis = node.attributes.get('axis', 0)
            sizes = self.graph.constants.get(node.inputs[1]) if len(node.inputs) > 1 else None
            ends = operators.split_ends(node, x.array, sizes, axis)
            for name, begin, end in zip(node.outputs, [0] + ends, ends):
                if end > begin:
                    self._keep(name, self._moved(x, lambda array: array[(slice(None),) * (axis % array.ndim) + (slice(begin, end),)]))
        elif node.kind in MOVING or (node.kind == 'Cast' and node.attributes['to'] in (1, 10, 11, 16, 6, 7)):
            x = self._view(node, node.inputs[0])
            others = [self.graph.constants.get(name) for name in node.inputs[1:]]
            if node.kind == 'Cast' and (x.type == 'int32') != (node.attributes['to'] in (6, 7)):
                raise ExportError(f'{node}: floats of computed whole numbers, or the reverse; expected a model without it')
            self._keep(node.outputs[0], x if node.kind == 'Cast' else self._moved(x, lambda array: operators.OPERATORS[node.kind](
                node, self.graph.opset, array, *others)))
        else:
            if node.kind not in HANDLERS:
                raise ExportError(f'{node}: this operator is known for constants only. Express it by these: {", ".join(sorted([*HANDLERS, *MOVING]))}.')
            self._keep(node.outputs[0], HANDLERS[node.kind](self, node))


def causal_of(bias: Any, queries: int, keys: int) -> Tuple[bool, int, Any]:
    """Whether a bias is a causal mask, with which offset, and what is left of it. Its infinities are those of a mask."""
    if bias is None:
        return False, 0, None
    bias = numpy.where(bias <= -1e4, -numpy.inf, bias)
    hidden = numpy.isneginf(bias[0])
    offset = int((~hidden[0]).sum()) - 1
    causal = ~numpy.tri(queries, keys, offset, dtype=bool)
    if bias.shape[1] == queries and queries > 1 and (numpy.isneginf(bias) >= causal).all() and offset < keys:
        bias = numpy.where(causal, 0.0, bias)
        return True, offset, bias if (bias != 0).any() else None
    return False, 0, bias


HANDLERS: Dict[str, Callable[[Lowering, Node], View]] = {
    **{kind: (lambda function: lambda self, node: self._activation(function, self._view(node, node.inputs[0])))(function)
       for kind, function in ACTIVATIONS.items()},
    **{kind: Lowering._elementwise for kind in ELEMENTWISE},
    **{kind: Lowering._reduce for kind in ('ReduceMean', 'ReduceSum', 'ReduceMax', 'GlobalAveragePool', 'GlobalMaxPool')},
    **{kind: Lowering._norm_node for kind in ('LayerNormalization', 'RMSNormalization', 'SimplifiedLayerNormalization')},
    **{kind: Lowering._pool for kind in ('MaxPool', 'AveragePool')},
    'Gelu': lambda self, node: self._activation('gelu' if node.attributes.get('approximate', 'none') == 'none' else 'gelu_tanh',
                                                self._view(node, node.inputs[0])),
    'MatMul': Lowering._matmul, 'Gemm': Lowering._gemm, 'Conv': Lowering._conv, 'BatchNormalization': Lowering._batch_norm,
    'Pow': Lowering._power, 'Clip': Lowering._clip, 'LeakyRelu': Lowering._leaky, 'Neg': Lowering._negative,
    'Softmax': Lowering._softmax, 'Pad': Lowering._pad, 'ArgMax': Lowering._arg_max, 'Gather': Lowering._gather, 'Concat': Lowering._concat,
}
