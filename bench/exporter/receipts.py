"""Receipts: 8 bytes of each token, which `attend replay` compares with what another computer makes of the same inputs.

What a token is given and what each step writes are its items, in order. They go through one digest of 32 bits, and after each item some
bits of it into the receipt: item i of n has bits 48 i / n to 48 (i + 1) / n, counted from the highest. So the first bit that differs tells
the step, and where there are more than 48 items, a few steps. Below lie 15 bits of the digest in the end, and one that tells whether
outputs were computed.
"""
import json
import zlib
from typing import Any, Dict, List, NamedTuple, Optional

from .numbers_in_c import comment
from .program import Program, View
from .streaming import CacheAppend

LOCATING = 48  # bits that tell the step


class Item(NamedTuple):
    """step: its index, or -1 for an input. at: how many bits come before its `width` ones."""

    step: int
    view: View
    at: int
    width: int


def items(program: Program) -> List[Item]:
    """Inputs, and all steps but those that write parts of an array, which the steps that read it show, or nothing but a cache."""
    seen = [(-1, view) for view in program.inputs]
    seen += [(index, step.writes) for index, step in enumerate(program.steps) if step.writes.is_dense() and not isinstance(step, CacheAppend)]
    places = [LOCATING * i // len(seen) for i in range(len(seen) + 1)]
    return [Item(step, view, at, min(end - at, 32)) for (step, view), at, end in zip(seen, places, places[1:])]


def described(program: Program, tokenwise: Optional[Program], surface: str) -> str:
    """receipts.json: what `attend replay` has to know of a folder."""
    def array(view: View) -> Dict[str, Any]:
        return {'name': comment(view.buffer.name), 'type': view.type, 'shape': [size for size in view.shape if size != 1] or [1]}

    def of(each: Program) -> Dict[str, Any]:
        named = lambda step: {'what': 'the inputs', 'name': ''} if step < 0 else {'what': each.steps[step].text(), 'name': comment(each.steps[step].name)}
        return {'inputs': [array(view) for view in each.inputs], 'outputs': [array(view) for view in each.outputs], 'split': each.split,
                'items': [{'step': step, **named(step), 'type': view.type, 'count': view.count, 'at': at, 'width': width}
                          for step, view, at, width in items(each)]}

    programs = {'run': of(program), **({'append': of(tokenwise)} if tokenwise else {})}
    about = {'name': program.name, 'surface': surface, 'programs': programs}
    return json.dumps({**about, 'check': zlib.crc32(json.dumps(about).encode())}, indent=1) + '\n'


class Receipts:
    """The lines of a program that make them. numbers: an expression for a view, where it begins."""

    def __init__(self, program: Program, numbers: Any):
        self.of_step = {item.step: self.line(item, numbers(item.view)) for item in items(program) if item.step >= 0}
        self.begin = ''.join(f'  {line}\n' for line in ['receipt_begin();', *(self.line(item, numbers(item.view)) for item in items(program) if item.step < 0)])

    @staticmethod
    def line(item: Item, numbers: str) -> str:
        kind, bytes = ('floats', '') if item.view.type == 'float32' else ('integers', f', {item.view.array.itemsize}')
        return f'receipt_{kind}({item.step}, {item.at}, {item.width}, {numbers}, {item.view.count}{bytes});'

    @staticmethod
    def end(outputs: bool, condition: str = '') -> str:
        return f'  {condition and f"if ({condition}) "}receipt_end({int(outputs)});\n'


def source(calls: str, observer: str) -> str:
    """The functions that such lines call."""
    text = STATE + ''.join(text for name, text in (('floats', FLOATS), ('integers', INTEGERS)) if f'receipt_{name}(' in calls)
    return text.replace('OBSERVER', observer)


# All that follows is C99 and C++17 alike.

ABOUT = '''Receipts: 8 bytes that say what the last token was given and what each step has written, to be recorded with the inputs;
`python3 -m attend replay` tells whether another computer makes the same, or which step left the path. The observer, where it is set, is called
after each step (-1: with each input), with the digest so far and with what the step has written.'''

STATE = '''// A word that differs, and words that change places, make another digest. It begins anew with each token.
static struct {
  uint32_t digest;
  uint64_t bits, last;
} receipt_state;

static uint32_t receipt_with(uint32_t digest, uint32_t word) { return ((digest << 5 | digest >> 27) ^ word) * 0x9e3779b1u; }
static uint32_t receipt_mixed(uint32_t digest) { return (digest ^ digest >> 15) * 0x85ebca6bu; }

static void receipt_begin(void) {
  receipt_state.digest = 1;
  receipt_state.bits = 0;
}

// at: of the 48 highest bits of the receipt, how many come before those of this step.
static void receipt_note(uint32_t digest, int step, int at, int width, const void* numbers, size_t count, size_t bytes) {
  if (width > 0) receipt_state.bits |= (uint64_t)(receipt_mixed(digest) >> (32 - width)) << (64 - at - width);
  receipt_state.digest = digest;
  if (OBSERVER) OBSERVER(step, digest, numbers, count, bytes);
}

static void receipt_end(int outputs) {
  receipt_state.last = receipt_state.bits | (receipt_mixed(receipt_state.digest) >> 16 & 0xfffeu) | (uint64_t)outputs;
}

'''

FLOATS = '''// -0 counts as 0 and every NaN as one, because neither's bits are promised.
static void receipt_floats(int step, int at, int width, const void* numbers, size_t count) {
  uint32_t digest = receipt_state.digest;
  for (size_t i = 0; i < count; ++i) {
    uint32_t word;
    __builtin_memcpy(&word, (const float*)numbers + i, 4);
    const uint32_t positive = word << 1;
    if (positive - 1 >= 0xff000000u) word = positive ? 0x7fc00000u : 0;
    digest = receipt_with(digest, word);
  }
  receipt_note(digest, step, at, width, numbers, count, 4);
}

'''

INTEGERS = '''// Numbers lie behind each other in words, the first one lowest; the last word ends with zeros.
static void receipt_integers(int step, int at, int width, const void* numbers, size_t count, size_t bytes) {
  const unsigned char* const from = (const unsigned char*)numbers;
  const size_t all = count * bytes;
  uint32_t digest = receipt_state.digest;
  size_t i = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const size_t turned = 0;
  if (((uintptr_t)numbers & 3u) == 0) {
    for (; i + 16 <= all; i += 16) {
      uint32_t words[4];
      __builtin_memcpy(words, __builtin_assume_aligned(from + i, 4), 16);
      digest = receipt_with(receipt_with(receipt_with(receipt_with(digest, words[0]), words[1]), words[2]), words[3]);
    }
  }
#else
  const size_t turned = bytes - 1;  // the lowest byte of a number is its last
#endif
  for (; i < all; i += 4) {
    uint32_t word = 0;
    for (size_t j = i; j < i + 4 && j < all; ++j) word |= (uint32_t)from[j ^ turned] << 8 * (j & 3u);
    digest = receipt_with(digest, word);
  }
  receipt_note(digest, step, at, width, numbers, count, bytes);
}

'''
