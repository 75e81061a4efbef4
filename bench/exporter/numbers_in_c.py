"""Names and numbers as C and C++ have them."""
import ctypes
import re
from typing import Any, NamedTuple, Optional

import numpy

from .steps import Linear

PANEL = 16  # outputs of a panel of packed weights
WIDTH = 120


# Of C++, of what written programs use, and of numbers' types.
RESERVED = set("""remember gate alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr continue decltype default
delete do double else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register return short signed sizeof static struct switch template this throw true try
typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
at attend std main memory memory_bytes token_memory token_memory_bytes caches run run_observed append clear detail aligned largest larger
softmax place_of_largest to_integers to_floats observe context status options rotary position work row sum gate scaled restrict problem
project rotate clamped set_shape float_problem integer_problem make_cache append_floats append_integers to_whole to_int8 to_int16
floats_of_int8 floats_of_int16 floats_of_int32 floats_of_uint8 remember caches_are_made
receipt receipt_observer receipt_state receipt_with receipt_mixed receipt_begin receipt_note receipt_end receipt_floats receipt_integers""".split())


def identifier(name: str) -> str:
    """A name for C and C++ that is none of the names above, nor of constants that written programs have."""
    text = re.sub(r'_+', '_', re.sub(r'[^A-Za-z0-9_]', '_', name)).strip('_') or 'value'
    taken = text in RESERVED or len(text) == 1 or text.endswith('_t') or not text[0].islower() or re.search(r'_\d+$', text)
    return 'x_' + text if taken else text


def identifiers(names: Any, prefix: str = '') -> Any:
    """One for each, all different. prefix: of names that the written program has itself; none begins with it."""
    found: Any = []
    for name in names:
        own = identifier(name)
        own = 'x_' + own if prefix and own.startswith(prefix) else own
        text, count = own, 2
        while text in found:
            text, count = f'{own}_{count}', count + 1
        found.append(text)
    return found


def comment(text: str) -> str:
    """Of a name from a model's file: one line, which ends no comment and begins no other."""
    return re.sub(r'[^ -~]|[\\\\"?]', '_', text)


def number(value: Any) -> str:
    """A float, which reads back as the same."""
    if numpy.isinf(value):
        return '-__builtin_inff()' if value < 0 else '__builtin_inff()'
    text = f'{float(value):.9g}'
    return text + ('f' if re.search('[.e]', text) else '.0f')


def element_in_c(value: Any) -> str:
    return number(value) if numpy.asarray(value).dtype.kind == 'f' else str(int(value))


def braced(array: Any, deep: int = 0) -> str:
    """An initialiser with a brace for each axis, and `deep` more around all; of floats, or of whole numbers."""
    array = numpy.asarray(array)
    if array.ndim > 1:
        inner = ',\n'.join(braced(row) for row in array)
        return '{' * (1 + deep) + inner + '}' * (1 + deep)
    words = [element_in_c(value) for value in array]
    lines, line = [], ''
    for word in words:
        if len(line) + len(word) > WIDTH:
            lines.append(line)
            line = ''
        line += word + ', '
    return '{' + '\n '.join(lines + [line])[:-2] + '}'


def is_packed(step: Linear) -> bool:
    """Panels of 16 outputs are read faster; where few outputs would leave most of one empty, rows take less flash."""
    outputs = step.weight.shape[0]
    return -(-outputs // PANEL) * PANEL <= 1.13 * outputs


class WeightArrays(NamedTuple):
    """A projection's weights as they lie in memory."""

    packed: bool
    numbers: str           # an initialiser
    extents: str           # of it; those of int4 are of groups
    scales: Optional[str]  # an initialiser, of int8


def weight_arrays(step: Linear) -> WeightArrays:
    outputs, inputs = step.weight.shape
    weights = step.weights()
    packed = is_packed(step)
    if packed:
        weights = weights.packed()
    size = {'float32': 4, 'float16': 2, 'bfloat16': 2, 'int8': 1, 'int4': 1}[step.format]
    rows = -(-outputs // PANEL) * PANEL if packed else outputs
    count = rows * inputs // 32 * 18 if step.format == 'int4' else rows * inputs * size
    data = ctypes.string_at(weights.c.data, count)
    if step.format == 'int4':
        extents = f'[{rows // PANEL if packed else rows}][{inputs // 32}]'
        return WeightArrays(packed, int4_in_c(data, rows, inputs, packed), extents, None)
    shape = (rows // PANEL, inputs, PANEL) if packed else (rows, inputs)
    numbers = numpy.frombuffer(data, {4: 'float32', 2: 'uint16', 1: 'int8'}[size]).reshape(shape)
    scales = None
    if step.format == 'int8':
        scales = braced(numpy.frombuffer(ctypes.string_at(weights.c.scales, 4 * outputs), 'float32'))
    return WeightArrays(packed, braced(numbers), ''.join(f'[{each}]' for each in shape), scales)


def int4_in_c(data: bytes, rows: int, inputs: int, packed: bool) -> str:
    groups = inputs // 32
    if not packed:
        numbers = numpy.frombuffer(data, 'uint8').reshape(rows, groups, 18)
        return '{' + ',\n'.join('{' + ', '.join(f'{{{braced(group[:2])}, {braced(group[2:])}}}' for group in row) + '}' for row in numbers) + '}'
    panels = numpy.frombuffer(data, 'uint8').reshape(rows // PANEL, groups, 18 * PANEL)
    group_text = lambda group: f'{{{braced(group[:32].copy().view("uint16"))}, {braced(group[32:].reshape(4, PANEL, 4))}}}'
    return '{' + ',\n'.join('{' + ',\n'.join(group_text(group) for group in panel) + '}' for panel in panels) + '}'
