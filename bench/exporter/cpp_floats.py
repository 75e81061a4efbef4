"""Calls of the steps in floats, as C++ over the typed surface."""
from typing import Any, List

from .integer_steps import IntegerAttention
from .numbers_in_c import braced, number, weight_arrays
from .passes import root
from .steps import Activate, Attention, Linear, Norm, Rotate
from .streaming import CacheAppend, CachedAttention


class FloatCalls:
    """What Writer takes for these steps: _stepname(index, step), lines of C++."""

    def _linear(self: Any, index: int, step: Linear) -> List[str]:
        outputs, inputs = step.weight.shape
        made = weight_arrays(step)
        format = '' if step.format == 'float32' else f', attend::{step.format}'
        kind = f'attend::{"Packed" if made.packed else ""}Weights<{outputs}, {inputs}{format}>'
        weights = self.constant('weights', kind, f'{{{made.numbers}' + (f',\n{made.scales}}}' if made.scales else '}'))
        bias = '' if step.bias is None else self.float_constant('bias', step.bias) + ', '
        work = ''
        if step.tokens > 1:
            work = ', ' + self.work(index, 'attend::Workspace<attend::Projections>')
        x, y = self.floats(step.reads[0], step.tokens, inputs), self.floats(step.writes, step.tokens, outputs)
        return self.checked(f'attend::project({x}, {weights}, {bias}{y}{work})')

    def _attention(self: Any, index: int, step: Attention) -> List[str]:
        shape, options = self.shape(step), step.has_options()
        kind = f'attend::{"Option" if options else ""}Workspace<{shape}, {step.queries}, {step.keys}>'
        arrays = [self.array(view, f'attend::{name}<{shape}, {tokens}>') for view, name, tokens in
                  zip(step.reads, ('Query', 'Key', 'Value'), (step.queries, step.keys, step.keys))]
        lines = [f'attend::{f"ScoreOptions<{shape}>" if options else "Options"} options;', f'options.scale = {number(step.scale)};']
        if step.seen.causal:
            lines += ['options.causal = true;', f'options.offset = {step.seen.offset};']
        if step.seen.window is not None:
            lines.append(f'options.window_left = {step.seen.window};')
        if step.bias is not None:
            heads, queries, keys = step.bias.shape
            order = step.bias.transpose(1, 0, 2)
            lines.append(f'options.bias = {self.constant("bias", f"attend::Bias<{queries}, {heads}, {keys}>", braced(order, 1))};')
        lines += [f'options.{name} = {self.mask(view, name)};' for name, view in zip(('bias', 'mask'), step.added()) if view is not None]
        if step.cap:
            lines.append(f'options.soft_cap = {number(step.cap)};')
        if step.stage:  # the output that comes with them is not used
            lines += [f'options.scores = {self.array(step.writes, f"attend::Scores<{shape}, {step.queries}, {step.keys}>")};',
                      f'options.score_stage = attend::ScoreStage::{step.stage};',
                      'auto& work = ' + self.work(index, f'WithOutput<{shape}, {step.queries}, {step.keys}>') + ';']
            arrays = arrays[:2] + [arrays[1].replace('attend::Key<', 'attend::Value<'), 'work.output', 'work.work']
        else:
            arrays = arrays[:3] + [self.array(step.writes, f'attend::Output<{shape}, {step.queries}>'), self.work(index, kind)]
        call = self.checked(f'attend::attention({", ".join(arrays)}, options)')
        return ['{', *('  ' + line for line in lines + call), '}']

    def mask(self: Any, view: Any, name: str = 'mask') -> str:
        queries, heads, keys = view.shape
        return str(self.array(view, f'attend::{name.capitalize()}<{queries}, {heads}, {keys}>'))

    def _cachedattention(self: Any, index: int, step: CachedAttention) -> List[str]:
        shape, cache = self.shape(step.of, step.capacity or 0), f'caches.cache_{step.cache}'
        integers = isinstance(step.of, IntegerAttention)
        shape, keys = f'attend::Integer<{shape}>' if integers else shape, ''
        if step.capacity:
            self.caches.append(f'attend::KvCache<{shape}> cache_{step.cache};')
        else:
            self.rings.add(step.of.seen.window + 1)
            ring = f'Last{step.of.seen.window + 1}'
            self.caches.append(f'attend::RingCache<{shape}, {ring}> cache_{step.cache};')
            keys = f', 1, attend::over_ring<{ring}>'
        query, y = (self.array(view, f'attend::{name}<{shape}>') for view, name in ((step.reads[0], 'Query'), (step.writes, 'Output')))
        lines = self.appending(step) if step.appends else []
        if integers:
            quantisation = self.quantisation(step.of, shape)
            return lines + self.checked(f'attend::decode({query}, {cache}, {y}, {self.work(index, f"attend::Workspace<{shape}{keys}>")}, {quantisation})')
        cap = [f'  options.soft_cap = {number(step.of.cap)};'] if step.of.cap else []
        work = '' if step.capacity and not cap else ', ' + self.work(index, f'attend::OptionWorkspace<{shape}{keys}>')
        call = self.checked(f'attend::decode({query}, {cache}, {y}{work}, options)')
        kind = f'attend::ScoreOptions<{shape}>' if cap else 'attend::Options'
        return lines + ['{', f'  {kind} options;', f'  options.scale = {number(step.of.scale)};', *cap, *('  ' + line for line in call), '}']

    def appending(self: Any, step: CachedAttention) -> List[str]:
        shape = self.shape(step.of, step.capacity or 0)
        shape = f'attend::Integer<{shape}>' if isinstance(step.of, IntegerAttention) else shape
        key, value = (self.array(view, f'attend::{name}<{shape}>') for view, name in zip(step.reads[1:], ('Key', 'Value')))
        return list(self.checked(f'caches.cache_{step.cache}.append({key}, {value})'))

    def _cacheappend(self: Any, index: int, step: CacheAppend) -> List[str]:
        return self.appending(step.attention)

    def _norm(self: Any, index: int, step: Norm) -> List[str]:
        rows = step.writes.count // step.width
        x, y = self.floats(step.reads[0], rows, step.width), self.floats(step.writes, rows, step.width)
        return list(self.norm(step, rows, x, y))

    def norm(self: Any, step: Any, rows: int, x: str, y: str) -> List[str]:
        weight = 'attend::none' if step.weight is None else self.float_constant('weight', step.weight)
        bias = [] if step.kind == 'rms_norm' else ['attend::none' if step.bias is None else self.float_constant('bias', step.bias)]
        return list(self.checked(f'attend::{step.kind}({", ".join([x, weight, *bias, y])}, {number(step.epsilon)})'))

    def _activate(self: Any, index: int, step: Activate) -> str:
        arrays = [self.floats(view, step.writes.count) for view in step.reads + [step.writes]]
        if step.function == 'softplus':
            rate = self.constant('rate', 'float', '{1.0f}', '[1]')
            return f'attend::decay_gate({arrays[0]}, {rate}, attend::none, {arrays[1]});'
        return f'attend::activate<attend::Activation::{step.function}>({", ".join(arrays)});'

    def _rotate(self: Any, index: int, step: Rotate) -> List[str]:
        heads, width = step.writes.shape[-2:]
        tokens = step.writes.count // (heads * width)
        y = self.floats(step.writes, tokens, heads, width)
        in_place = root(step.reads[0].buffer) is root(step.writes.buffer)
        lines = [] if in_place else self.loops(step.writes, [step.reads[0]], lambda elements: elements[0])
        frequencies = self.constant('frequencies', 'double', '{' + ', '.join(map(repr, step.frequencies)) + '}', f'[{len(step.frequencies)}]')
        position = 'position' if self.tokenwise else '0'
        calls = [f'attend::Rotary<{2 * len(step.frequencies)}> rotary;', *self.checked(f'rotary.init({frequencies})'),
                 *self.checked(f'rotary.rotate<attend::RotaryPairs::{step.pairs}>({y}, {position})')]
        return lines + ['{', *('  ' + line for line in calls), '}']
