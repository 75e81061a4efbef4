"""Calls of the steps in floats, as C over the C surface."""
import ctypes
from typing import Any, List

from . import c_work
from .integer_steps import IntegerAttention
from .numbers_in_c import number, weight_arrays
from .passes import root
from .steps import Activate, Attention, Linear, Norm, Rotate
from .streaming import CacheAppend, CachedAttention

NUMBER_TYPES = {'float32': 'float', 'float16': 'uint16_t', 'bfloat16': 'uint16_t', 'int8': 'int8_t'}


class CFloatCalls:
    """What CWriter takes for these steps: _stepname(index, step), lines of C."""

    def _linear(self: Any, index: int, step: Linear) -> List[str]:
        outputs, inputs = step.weight.shape
        made = weight_arrays(step)
        kind = f'struct int4_{"panel" if made.packed else "group"}' if step.format == 'int4' else NUMBER_TYPES[step.format]
        weights = self.constant('weights', f'ALIGNED {kind}', made.numbers, made.extents)
        scales = 'NULL' if made.scales is None else self.constant('scales', 'float', made.scales, f'[{outputs}]')
        bias = 'NULL' if step.bias is None else self.float_constant('bias', step.bias)
        layout = 'ATTEND_PANELS' if made.packed else 'ATTEND_ROWS'
        projection = self.constant('projection', 'attend_weights',
                                   f'{{{weights}, {scales}, {bias}, {outputs}, {inputs}, ATTEND_{step.format.upper()}, {layout}}}')
        work = self.work(index, c_work.PROJECTION) if step.tokens > 1 else 'NULL, 0'
        x, y = self.address(step.reads[0]), self.address(step.writes)
        return list(self.checked(f'project({x}, {step.tokens}, &{projection}, {y}, {work})'))

    def problem(self: Any, kind: str, step: Any, queries: int, keys: Any, fields: Any, work: str) -> List[str]:
        """A call of attention: its problem, but for the extents and with the fields that are set, and work memory."""
        lines = ['attend_problem problem;', *self.checked(f'{kind}_problem(&problem, &{self.heads(step)}, {queries}, {keys})'),
                 *(f'problem.{field} = {value};' for field, value in fields.items()), *self.checked(f'attend_run(&problem, {work})')]
        return ['{', *('  ' + line for line in lines), '}']

    def seen(self: Any, step: Any) -> Any:
        """Fields of a problem, of which keys a step sees."""
        fields = {'options': 'ATTEND_CAUSAL', 'offset': step.seen.offset} if step.seen.causal else {}
        return fields if step.seen.window is None else {**fields, 'window_left': step.seen.window}

    def added(self: Any, data: str, heads: int, queries: int, keys: int, query_stride: int, head_stride: int, name: str = 'bias') -> Any:
        """Fields of a problem, of a bias or mask: axes of one element are shared."""
        return {f'{name}.data': data, f'{name}.batch_stride': 0, f'{name}.head_stride': head_stride if heads > 1 else 0,
                f'{name}.query_stride': query_stride if queries > 1 else 0, f'{name}.keys': keys}

    def computed(self: Any, view: Any, name: str) -> Any:
        queries, heads, keys = view.shape
        kind = {'mask.kind': 'ATTEND_MASK_BYTES'} if name == 'mask' else {}
        return {**self.added(self.address(view), heads, queries, keys, heads * keys, keys, name), **kind}

    def _attention(self: Any, index: int, step: Attention) -> List[str]:
        shape = c_work.Shape(step.heads, step.kv_heads, step.head_dim, step.value_dim, step.queries, step.keys)
        arrays = step.reads[:2] + [step.reads[1 if step.stage else 2]]
        fields = {f'{name}.data': self.address(view) for view, name in zip(arrays, ('query', 'key', 'value'))}
        fields.update({'scale': number(step.scale), **self.seen(step)})
        if step.bias is not None:
            heads, queries, keys = step.bias.shape
            fields.update(self.added(self.float_constant('bias', step.bias), heads, queries, keys, keys, queries * keys))
        for name, view in zip(('bias', 'mask'), step.added()):
            fields.update(self.computed(view, name) if view is not None else {})
        if step.cap:
            fields['soft_cap'] = number(step.cap)
        sizes, output = c_work.of_floats(shape, step.has_options()), 0
        if step.stage:  # the output that comes with them is not used, and lies before the work memory
            fields.update({'scores.data': self.address(step.writes), 'scores.batch_stride': 0, 'scores.head_stride': step.keys,
                           'scores.query_stride': step.heads * step.keys, 'scores.keys': step.keys, 'scores.stage': f'ATTEND_SCORES_{step.stage.upper()}'})
            output = 4 * step.queries * step.heads * step.value_dim
            fields['output.data'] = f'(float*)({self.work_address(index)})'
        else:
            fields['output.data'] = self.address(step.writes)
        return list(self.problem('float', step, step.queries, step.keys, fields, self.work(index, sizes, output)))

    def cached_shape(self: Any, step: CachedAttention) -> c_work.Shape:
        of = step.of
        ring = 0 if step.capacity else c_work.ring_tokens(of.seen.window + 1, isinstance(of, IntegerAttention))
        return c_work.Shape(of.heads, of.kv_heads, of.head_dim, of.value_dim, 1, step.capacity or c_work.MOST_TOKENS, True, ring)

    def _cachedattention(self: Any, index: int, step: CachedAttention) -> List[str]:
        integers, shape = isinstance(step.of, IntegerAttention), self.cached_shape(step)
        self.caches[step.cache] = (c_work.of_cache(shape, integers), self.heads(step.of), shape.keys,
                                   0 if step.capacity else step.of.seen.window + 1, int(integers))
        lines = self.appending(step) if step.appends else []
        fields = {'query.data': self.address(step.reads[0]), 'output.data': self.address(step.writes), 'cache': f'CACHE_{step.cache}'}
        if integers:
            fields['head_constants'] = self.head_constants(step.of)
        else:
            fields['scale'] = number(step.of.scale)
            fields.update({'soft_cap': number(step.of.cap)} if step.of.cap else {})
        if not step.capacity:
            fields['window_left'] = step.of.seen.window
        sizes = c_work.of_integers(shape) if integers else c_work.of_floats(shape, not step.capacity or step.of.cap != 0)
        return lines + list(self.problem('integer' if integers else 'float', step.of, 1, 'ATTEND_ALL_KEYS', fields, self.work(index, sizes)))

    def appending(self: Any, step: CachedAttention) -> List[str]:
        key, value = (self.address(view) for view in step.reads[1:])
        numbers = 'integers' if isinstance(step.of, IntegerAttention) else 'floats'
        return list(self.checked(f'append_{numbers}(CACHE_{step.cache}, {key}, {value})'))

    def _cacheappend(self: Any, index: int, step: CacheAppend) -> List[str]:
        return list(self.appending(step.attention))

    def _norm(self: Any, index: int, step: Norm) -> List[str]:
        return list(self.norm(step, step.writes.count // step.width, self.address(step.reads[0]), self.address(step.writes)))

    def norm(self: Any, step: Any, rows: int, x: str, y: str) -> List[str]:
        weight, bias = ('NULL' if each is None else self.float_constant(name, each) for name, each in (('weight', step.weight), ('bias', step.bias)))
        norm = self.constant('norm', 'attend_norm', f'{{{weight}, {bias}, {step.width}, {number(step.epsilon)}}}')
        return list(self.checked(f'attend_{step.kind}(&{norm}, {x}, {rows}, {y})'))

    def _activate(self: Any, index: int, step: Activate) -> List[str]:
        if step.function == 'softplus':
            return list(self._linearattention(index, step))
        x, *by = (self.address(view) for view in step.reads)
        count, y = step.writes.count, self.address(step.writes)
        return list(self.checked(f'attend_activate(ATTEND_{step.function.upper()}, {x}, {by[0] if by else "NULL"}, {count}, {y})'))

    def _rotate(self: Any, index: int, step: Rotate) -> List[str]:
        from .. import Rotary
        heads, width = step.writes.shape[-2:]
        pairs, tokens = len(step.frequencies), step.writes.count // (heads * width)
        in_place = root(step.reads[0].buffer) is root(step.writes.buffer)
        lines = [] if in_place else self.loops(step.writes, [step.reads[0]], lambda elements: elements[0])
        made = Rotary(2 * pairs, step.pairs, frequencies=step.frequencies)
        angles = ctypes.cast(made.c.turns, ctypes.POINTER(ctypes.c_uint64))
        turns = self.constant('turns', 'uint64_t', '{' + ', '.join(f'{angles[pair]}u' for pair in range(pairs)) + '}', f'[{pairs}]')
        rotary = self.constant('rotary', 'attend_rotary', f'{{{turns}, {2 * pairs}, ATTEND_{step.pairs.upper()}, {number(made.c.factor)}}}')
        position = 'position' if self.tokenwise else '0'
        return lines + list(self.checked(f'rotate(&{rotary}, {tokens}, {heads}, {width}, {position}, {self.address(step.writes)})'))
