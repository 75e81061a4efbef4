"""Calls of linear attention and its convolution, as C++ over the typed surface."""
from typing import Any, List

from .linear_steps import Convolution, LinearAttention, Remembers
from .numbers_in_c import number

LINEAR_WORK = '''
template <class Shape, int tokens, class State>
struct LinearWork {
  attend::Gates<Shape, tokens> gates;
  State state;
};

'''


class LinearCalls:
    """What Writer takes for these steps: _stepname(index, step), lines of C++."""

    def state(self: Any, step: Remembers, kind: str, work: str) -> Any:
        """The expression of a state that moves on, and lines before its call: it is that of a stream, or begins empty in work memory."""
        if step.cache is None:
            return work, [f'{work}.clear();'] if step.past is None else []
        self.caches.append(f'{kind} cache_{step.cache};')
        return f'caches.cache_{step.cache}', []

    def _linearattention(self: Any, index: int, step: LinearAttention) -> List[str]:
        text = f'  static constexpr auto rule = attend::LinearRule::{step.rule};\n' + ('  static constexpr auto decay = attend::Decay::per_key;\n' if step.by_key else '')
        text += f'  static constexpr int query_heads = {step.heads}, kv_heads = {step.kv_heads}, value_heads = {step.value_heads};\n'
        text += f'  static constexpr int head_dim = {step.head_dim}, value_dim = {step.value_dim};\n'
        shape = self.shapes.setdefault(text, f'Heads{len(self.shapes)}')
        stays = step.cache is None and step.past is None and not step.present
        kind = f'attend::Linear{"Workspace" if stays else "State"}<{shape}>'
        state, lines = ('attend::empty_state', []) if stays else self.state(step, kind, 'work.state')
        own = kind if step.cache is None else 'int'
        lines.insert(0, f'auto& work = {self.work(index, f"LinearWork<{shape}, {step.tokens}, {own}>")};')
        for view, name in ((step.decay, 'log_decay'), (step.beta, 'beta')):
            if view is not None:
                numbers = f'at<float[{view.count}]>(&work.gates.{name}, 0)'
                lines.append(f'for (int i = 0; i < {view.count}; ++i) {numbers}[i] = {self.numbers(view, view.count)}[i];')
        of_state = f'float[{step.value_heads}][{step.head_dim}][{step.value_dim}]'
        if step.past is not None:
            lines.append(f'attend::set_numbers({state}, {self.array(step.past, of_state)});')
        arrays = [self.array(view, f'attend::{name}<{shape}, {step.tokens}>') for view, name in zip(step.reads, ('Query', 'Key', 'Value'))]
        arrays += ['work.gates', state, self.array(step.writes, f'attend::Output<{shape}, {step.tokens}>')]
        call = f'attend::attention({", ".join(arrays)}, work.state, options)' if stays else f'attend::prefill({", ".join(arrays)}, options)'
        lines += ['attend::LinearOptions options;', f'options.scale = {number(step.scale)};', *self.checked(call)]
        if step.present:
            lines.append(f'attend::get_numbers({state}, {self.array(step.writes, of_state, str(step.tokens * step.out_heads * step.value_dim))});')
        return ['{', *('  ' + line for line in lines), '}']

    def _convolution(self: Any, index: int, step: Convolution) -> List[str]:
        state, lines = 'attend::empty_state', []  # type: str, List[str]
        kind = f'attend::ConvState<{step.channels}, {step.width}>'
        if step.past is not None or step.cache is not None:
            state, lines = self.state(step, kind, self.work(index, kind) if step.cache is None else '')
        if step.past is not None:
            lines += [f'auto& state = {state};', 'state.clear();', *self.checked(f'state.append({self.floats(step.past, step.width - 1, step.channels)})')]
            state = 'state'
        weights = f'at<const float[{step.channels}][{step.width}]>({self.float_constant("weights", step.weight)}, 0)'
        bias = 'attend::none' if step.bias is None else self.float_constant('bias', step.bias)
        x, y = (self.floats(view, step.tokens, step.channels) for view in (step.reads[0], step.writes))
        activation = 'silu' if step.silu else 'identity'
        lines += self.checked(f'attend::causal_conv<attend::ConvActivation::{activation}>({x}, {weights}, {bias}, {state}, {y})')
        return ['{', *('  ' + line for line in lines), '}']
