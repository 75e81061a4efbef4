"""Receipts of a device beside what this computer makes of the same inputs: attend.replay."""
import pathlib
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from ._replay_program import SILENTLY, ReceiptProgram, as_array
from ._shared import AttendError

LOCATING = 48  # the bits of a receipt that tell the step, from the highest on
AFTER = 64     # tokens after the first that differs, which are asked for the step as well


class Replay(NamedTuple):
    """What came of it. token: the first that differs, None where all is equal. item: of that token, a dict with its step (-1: an input), what it is, its
    name, type and count; layer: of that name, where it has one. is_exact: the step is named by the digests of steps; otherwise by bits of
    receipts: of `differing` tokens that differ, from that one on, `agreeing` do so first at this step, and none before it; own_step: where that token's
    own receipt first differs, if that is later. began_anew:
    from that token on all is as after clear(). bits, numbers: how many of that step's differ, and first_number: which is the first,
    where they were given."""

    name: str
    tokens: int
    token: Optional[int] = None
    item: Optional[Dict[str, Any]] = None
    is_exact: bool = False
    differing: int = 0
    agreeing: int = 0
    own_step: Optional[int] = None
    began_anew: bool = False
    bits: Optional[int] = None
    numbers: Optional[int] = None
    first_number: Optional[int] = None
    values: Any = None  # of that number: there, and here

    @property
    def step(self) -> Optional[int]:
        return None if self.item is None else self.item['step']

    @property
    def layer(self) -> Optional[int]:
        found = re.search(r'(?:^|[./_])(?:blocks?|layers?|h)[._](\d+)', self.item['name']) if self.item else None
        return int(found[1]) if found else None

    def text(self) -> str:
        if self.token is None or self.item is None:
            return f'{self.name}: {self.tokens} tokens: all receipts are equal\n'
        item = self.item
        layer = '' if self.layer is None else f'layer {self.layer}, '
        step = 'the inputs, which are not those that were recorded' if item['step'] < 0 else f'step {item["step"]}, {item["what"]} ({item["name"]})'
        lines = [f'{self.name}: the first of {self.tokens} tokens that differs is {self.token}: {layer}{step}']
        if not self.is_exact:
            lines.append(f'  by the bits of receipts: {self.agreeing} of {self.differing} tokens that differ from here on do so first at this step; a fault '
                         'that came only once may lie a step or two before it, and the digests of steps tell (--steps)')
        if self.own_step is not None:
            lines.append(f'  the receipt of token {self.token} itself differs first at step {self.own_step}, later ones at the step above: one fault that stays, or two')
        if self.began_anew:
            lines.append('  from here on the device computes as after clear(): its memory was lost, or the program began anew')
        if self.bits is not None:
            lines.append(f'  {self.bits} of its bits differ, in {self.numbers} of {item["count"]} numbers' + (
                f'; the first is number {self.first_number}: {self.values[0]} there, {self.values[1]} here' if self.bits else ''))
        return '\n'.join(lines) + '\n'


def replay(folder: Any, inputs: Any, receipts: Any, *, steps: Any = None, numbers: Any = None, begins: Sequence[int] = ()) -> Replay:
    """Whether a device has computed what this computer computes of the same inputs, and otherwise where it left the path.

    folder    what `attend export --receipts` has written; it is compiled, as attend.load does
    inputs    a file: of each token what append() was given or, of a model that has none, of each call what run() was given, as the numbers lie
              in memory, lowest byte first, one array behind another
    receipts  a file: what receipt() gave after each, 8 bytes, lowest first, or a line of 16 hexadecimal digits
    steps     a file: the digests that receipt_observer was told, of all tokens or of the first that differs, 4 bytes or 8 digits each
    numbers   a file: what the step that is named has written there, for the bits that differ
    begins    tokens before which the program called clear(), beside the first
    """
    program = ReceiptProgram(folder)
    given = numbers_in('receipts', receipts, 8)
    rows, kind = rows_of(program, pathlib.Path(inputs).read_bytes(), len(given))
    comparison = Comparison(program, rows, given, kind, set(begins))
    token, items = comparison.first_by_bits()
    item = min(items, default=None)
    is_exact = False
    if steps is not None:
        found = comparison.first_by_steps(numbers_in('steps', steps, 4), token)
        is_exact = found is not None
        token, item = found or (token, item)
    if token is None or item is None:
        return Replay(program.name, len(given))
    all_items = program.items(comparison.kind_of(token))
    own = None if is_exact or items[0] <= item else all_items[items[0]]['step']
    result = Replay(program.name, len(given), token, all_items[item], is_exact, len(items), items.count(item), own, comparison.began_anew_at(token))
    return result if numbers is None else result._replace(**comparison.bits_of(pathlib.Path(numbers).read_bytes(), token, item))


def numbers_in(what: str, path: Any, width: int) -> List[int]:
    """Of a file of numbers of so many bytes, or of lines of digits."""
    data = pathlib.Path(path).read_bytes()
    words = data.split()
    if words and all(re.fullmatch(rb'[0-9a-fA-F]{%d}' % (2 * width), word) for word in words):
        return [int(word, 16) for word in words]
    if not data or len(data) % width:
        raise AttendError(f'{path} has {len(data)} bytes; expected {what} of {width} bytes each, or lines of {2 * width} hexadecimal digits')
    return [int.from_bytes(data[at:at + width], 'little') for at in range(0, len(data), width)]


def rows_of(program: ReceiptProgram, data: bytes, count: int) -> Any:
    """The inputs of each call, and which function it is."""
    for kind in ('append', 'run'):
        if kind in program.programs and len(data) == count * program.input_bytes(kind):
            each = program.input_bytes(kind)
            return [data[i * each:(i + 1) * each] for i in range(count)], kind
    expected = ', '.join(f'{program.input_bytes(kind)} for each {what}' for kind, what in (('append', 'token'), ('run', 'call of run()')) if kind in program.programs)
    raise AttendError(f'there are {count} receipts and {len(data)} bytes of inputs; expected {expected}')


class Comparison:
    def __init__(self, program: ReceiptProgram, rows: List[bytes], given: List[int], kind: str, begins: Any):
        self.program, self.rows, self.given, self.kind, self.begins = program, rows, given, kind, begins
        outside = [token for token in begins if not 0 <= token < len(given)]
        if outside:
            raise AttendError(f'begins: there is no token {outside[0]}; expected 0 to {len(given) - 1}')

    def kind_of(self, token: int) -> str:
        """The lowest bit tells whether outputs were computed."""
        silent = self.kind == 'append' and not self.given[token] & 1 and self.program.programs['append']['split']
        return SILENTLY if silent else self.kind

    def call(self, token: int) -> int:
        """The next token, in order from the first; its receipt here."""
        if token == 0 or token in self.begins:
            self.program.clear()
        return self.program.call(self.kind_of(token), self.rows[token])

    def first_by_bits(self) -> Any:
        """The first token whose receipt differs, and the items at which it and those of the tokens after it first differ, by their bits."""
        first: Optional[int] = None
        items: List[int] = []
        for token in range(len(self.rows)):
            if first is not None and token > first + AFTER:
                break
            other = self.call(token) ^ self.given[token]
            if other:
                first = token if first is None else first
                items.append(self._item(other, token))
        return first, items

    def _item(self, other: int, token: int) -> int:
        items, bit = self.program.items(self.kind_of(token)), 64 - other.bit_length()
        return next((index for index, item in enumerate(items) if bit < item['at'] + item['width']), len(items) - 1)

    def first_by_steps(self, digests: List[int], token: Optional[int]) -> Any:
        """(token, item) of the first digest that differs: of all tokens, or of that token alone."""
        counts = [len(self.program.items(self.kind_of(each))) for each in range(len(self.rows))]
        if token is not None and len(digests) == counts[token] and len(self.rows) > 1:
            tokens = [token]
        elif len(digests) == sum(counts):
            tokens = list(range(len(self.rows)))
        else:
            of_one = '' if token is None else f', or {counts[token]} of token {token} alone'
            raise AttendError(f'there are {len(digests)} digests of steps; expected {sum(counts)} of {len(counts)} tokens{of_one}')
        at = 0
        for each in range(tokens[-1] + 1):
            self.call(each)
            if each < tokens[0]:
                continue
            for item, digest in enumerate(self.program.digests(self.kind_of(each))):
                if digest != digests[at + item]:
                    return each, item
            at += counts[each]
        return None

    def began_anew_at(self, token: int) -> bool:
        if self.kind == 'run' or token == 0 or token in self.begins:
            return False
        self.program.clear()
        return self.program.call(self.kind_of(token), self.rows[token]) == self.given[token]

    def bits_of(self, data: bytes, token: int, item: int) -> Dict[str, Any]:
        for each in range(token):
            self.call(each)
        if token == 0 or token in self.begins:
            self.program.clear()
        about = self.program.items(self.kind_of(token))[item]
        here = self.program.numbers_of(self.kind_of(token), item, self.rows[token])
        if len(data) != len(here) * here.itemsize:
            raise AttendError(f'there are {len(data)} bytes of numbers; expected {len(here) * here.itemsize} of step {about["step"]}, {about["count"]} numbers of {about["type"]}')
        there = as_array(data, about['type'])
        bits = [bin(int.from_bytes(there[i:i + 1].tobytes(), 'little') ^ int.from_bytes(here[i:i + 1].tobytes(), 'little')).count('1') for i in range(len(here))]
        first = next((i for i, count in enumerate(bits) if count), None)
        return {'bits': sum(bits), 'numbers': sum(count > 0 for count in bits), 'first_number': first,
                'values': None if first is None else (there[first], here[first])}
