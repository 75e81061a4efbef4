"""Calls of the steps in integers, as C++ over the typed surface."""
from typing import Any, List

import numpy

from .integer_steps import IntegerAttention, IntegerLinear, IntegerSum, Scale
from .numbers_in_c import braced, number
from .program import View
from .streaming import ByPosition


def tensor_scale(scale: Scale) -> str:
    of_all = scale.scale if numpy.ndim(scale.scale) == 0 else scale.scale[0]
    return f'{{{float(of_all)!r}, {scale.zero}}}'


class IntegerCalls:
    """What Writer takes for these steps: _stepname(index, step), lines of C++."""

    def vectors(self: Any, view: View, tokens: int, width: int) -> str:
        return self.array(view, f'attend::Vectors<{tokens}, {width}, {view.type}_t>')

    def scales(self: Any, kind: str, prefix: str, arguments: str) -> str:
        """A constant of scales, which the compiler makes and checks."""
        key = (kind, arguments)
        if key not in self.names:
            name = self.names[key] = f'{prefix}_{len(self.names)}'
            made = arguments if arguments.startswith('[]') else f'{kind}({arguments})'
            self.constants.append(f'constexpr auto {name} = {made};\nstatic_assert({name}.status() == attend::Status::ok, "");\n')
        return self.names[key]

    def integer_weights(self: Any, weight: Any, bias: Any) -> str:
        outputs, inputs = weight.shape
        return str(self.constant('weights', f'attend::Weights<{outputs}, {inputs}, attend::integer>', f'{{{braced(weight)},\n{braced(bias)}}}'))

    def integer_weight_rows(self: Any, weight: Any, bias: Any) -> str:
        """An expression, [row][column]."""
        return f'{self.integer_weights(weight, bias)}.data'

    def _integerlinear(self: Any, index: int, step: IntegerLinear) -> List[str]:
        outputs, inputs = step.weight.shape
        weights = self.integer_weights(step.weight, step.bias)
        by_output = '{' + ', '.join(repr(float(scale)) for scale in step.weight_scales) + '}'
        x, y = step.reads[0], step.writes
        scales = self.scales(f'attend::ProjectionScales<{outputs}>', 'scales',
                             f'{tensor_scale(x.buffer.scale)}, {by_output if outputs > 1 else by_output[1:-1]}, {tensor_scale(y.buffer.scale)}')
        return self.checked(f'attend::project({self.vectors(x, step.tokens, inputs)}, {weights}, {scales}, {self.vectors(y, step.tokens, outputs)})')

    def quantisation(self: Any, step: IntegerAttention, shape: str) -> str:
        """The name of the scales of attention of a shape."""
        value, output = step.reads[2].buffer.scale, step.writes.buffer.scale
        heads = [f'{query!r}, {key!r}, {{{of_value!r}, {value.zero}}}, {tensor_scale(output)}, {step.scale!r}' for query, key, of_value in step.scales()]
        kind = f'attend::Quantisation<{shape}, {step.heads}>'
        if len(set(heads)) == 1:
            kind, made = f'attend::Quantisation<{shape}>', heads[0]
        else:
            made = f'[] {{\n  {kind} made({heads[0]});\n' + ''.join(
                f'  made.set_head({head}, {text});\n' for head, text in enumerate(heads) if head) + '  return made;\n}()'
        return str(self.scales(kind, 'quantisation', made))

    def _integerattention(self: Any, index: int, step: IntegerAttention) -> List[str]:
        shape = f'attend::Integer<{self.shape(step)}>'
        quantisation = self.quantisation(step, shape)
        arrays = [self.array(view, f'attend::{name}<{shape}, {tokens}>') for view, name, tokens in
                  zip(step.reads[:3] + [step.writes], ('Query', 'Key', 'Value', 'Output'), (step.queries, step.keys, step.keys, step.queries))]
        work = self.work(index, f'attend::Workspace<{shape}, {step.queries}, {step.keys}>')
        if step.seen.window is None and not step.masked:
            options = f', attend::causal({step.seen.offset})' if step.seen.causal else ''
            return self.checked(f'attend::attention({", ".join(arrays)}, {work}, {quantisation}{options})')
        call = self.checked(f'attend::attention({", ".join(arrays)}, {work}, {quantisation}, options)')
        causal = f' = attend::causal({step.seen.offset})' if step.seen.causal else ''
        window = [] if step.seen.window is None else [f'  options.window_left = {step.seen.window};']
        mask = [f'  options.mask = {self.mask(step.reads[3])};'] if step.masked else []
        return ['{', f'  attend::ScoreOptions<{shape}> options{causal};', *window, *mask, *('  ' + line for line in call), '}']

    def _integersum(self: Any, index: int, step: IntegerSum) -> List[str]:
        count, given = step.writes.count, [step.reads[0].buffer.scale, *([] if step.b_scale is None else [step.b_scale]), step.writes.buffer.scale]
        scales = self.scales('attend::SumScales', 'scales', ', '.join(f'attend::TensorScale{tensor_scale(each)}' for each in given))
        operands = []
        for each in step.operands:
            if isinstance(each, View):
                operands.append(self.vectors(each, 1, count))
            elif isinstance(each, ByPosition):
                kind = f'{each.dtype}_t'
                rows = self.constant('constant', kind, braced(each.rows.reshape(-1)), f'[{each.rows.size}]')
                operands.append(f'at<attend::Vectors<1, {count}, {kind}>>({rows}, {each.dtype.itemsize} * size_t(position * {count}))')
            else:
                operands.append(self.constant('constant', f'attend::Vectors<1, {count}, {each.dtype}_t>', f'{{{{{braced(each.reshape(-1))}}}}}'))
        name = 'requantise' if step.b_scale is None else 'add'
        return self.checked(f'attend::{name}({", ".join(operands)}, {scales}, {self.vectors(step.writes, 1, count)})')

    def to_integers(self: Any, x: str, view: View, y: str, count: int) -> List[str]:
        scale = view.buffer.scale
        return [f'to_integers({x}, {number(numpy.float32(1.0 / scale.of_all()))}, {scale.zero}, {y});']

    def to_floats(self: Any, x: str, view: View, y: str, count: int) -> str:
        scale = view.buffer.scale
        return f'to_floats({x}, {scale.zero}, {number(numpy.float32(scale.of_all()))}, {y});'

    def local(self: Any, index: int, name: str, width: int) -> str:
        return f'float(&{name})[{width}] = {self.work(index, f"float[{width}]")};'
