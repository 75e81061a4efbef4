"""A model as a list of calls of the library, with the arrays that they read and write.

A View is a numpy array over the memory of its buffer: transposing, slicing and reshaping it is done by numpy, and so is running the
program, which has the bits of the C++ that is written from it. One item of a batch is computed, so axes of one element do not matter.
"""
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import numpy


class Visible(NamedTuple):
    """Which keys queries see: causal with an offset, from `window` keys before their own on (None: all); and a bias."""

    causal: bool
    offset: int
    window: Optional[int]
    bias: Any

    def is_causal(self, queries: int, keys: int) -> bool:
        """Whether queries see no key after their own, whose place is counted from the first or from the last one. Others may see some after it."""
        return self.causal and self.offset in (0, keys - queries)

    def part(self, queries: int, keys: int) -> float:
        """Of all products of queries and keys."""
        return 0.5 if self.is_causal(queries, keys) and queries == keys else 1

    def text(self, queries: int, keys: int) -> str:
        if not self.causal:
            return ''
        after = ', causal' if self.is_causal(queries, keys) else f', keys up to {self.offset} places after its own' if self.offset < keys - 1 else ''
        return after + (f', the last {self.window + 1}' if self.window is not None else '')

    def options(self) -> Dict[str, Any]:
        """Of attend.attention, without the bias."""
        options: Dict[str, Any] = {'causal': True, 'offset': self.offset} if self.causal else {}
        return options if self.window is None else {**options, 'window': (self.window, None)}


class Buffer:
    """An array of the program: 'input', 'output', or 'memory', which may share its place with others. type: float32, int32, int16, int8, or uint8 of bools."""

    def __init__(self, kind: str, count: int, name: str = '', type: str = 'float32'):
        self.kind, self.count, self.name, self.type = kind, count, name, type
        self.base = numpy.zeros(count, type)
        self.place: Any = self    # another buffer, in whose place this one lies
        self.offset = 0           # of memory, in bytes
        self.scale: Any = None    # of integers that stand for other numbers: a Scale

    @property
    def bytes(self) -> int:
        return self.base.nbytes


class View:
    def __init__(self, buffer: Buffer, array: Any = None, shape: Any = None):
        self.buffer = buffer
        self.array = buffer.base if array is None else array
        if shape is not None:
            self.array = self.array.reshape(shape)

    @property
    def shape(self) -> Any:
        return self.array.shape

    @property
    def count(self) -> int:
        return self.array.size

    @property
    def offset(self) -> int:
        """Of the first element in its buffer, in elements."""
        address = lambda array: array.__array_interface__['data'][0]
        return (address(self.array) - address(self.buffer.base)) // self.array.itemsize

    @property
    def strides(self) -> Any:
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def changed(self, function: Callable[[Any], Any]) -> Optional['View']:
        """What a function of numpy's makes of it, where that is the same memory in other axes; otherwise None."""
        array = function(self.array)
        return View(self.buffer, array) if array.size and numpy.may_share_memory(array, self.buffer.base) else None

    @property
    def type(self) -> str:
        return self.buffer.type

    def over(self, buffer: Buffer, offset: int, strides: Any) -> 'View':
        """As many elements of another buffer, from an element on."""
        base = buffer.base
        return View(buffer, numpy.lib.stride_tricks.as_strided(base[offset:], self.shape, [base.itemsize * stride for stride in strides]))

    def is_dense(self) -> bool:
        return self.array.flags.c_contiguous

    def is_whole(self) -> bool:
        return self.is_dense() and self.count == self.buffer.count


class Step:
    """A call. operands: views, and constant arrays; writes: a dense view. in_place: which of the reads may lie where it writes."""

    in_place: List[int] = []

    def __init__(self, name: str, operands: List[Any], writes: View):
        self.name, self.operands, self.writes = name, operands, writes

    @property
    def reads(self) -> List[View]:
        return [each for each in self.operands if isinstance(each, View)]

    def arrays(self) -> List[Any]:
        return [each.array if isinstance(each, View) else each for each in self.operands]

    def text(self) -> str:
        raise NotImplementedError

    def run(self) -> None:
        raise NotImplementedError

    def multiply_adds(self) -> int:
        return 0

    def constants(self) -> int:
        """Bytes in flash."""
        return sum(each.nbytes for each in self.operands if not isinstance(each, View) and each.size > 1)


class Program:
    def __init__(self, name: str, inputs: List[View], outputs: List[View], steps: List[Step]):
        self.name, self.inputs, self.outputs, self.steps = name, inputs, outputs, steps
        self.views: Dict[str, View] = {}  # by the names of the graph
        self.split = 0  # of a program for a token: the steps before this one fill caches, those from it on compute outputs
        self.text: Optional[int] = None  # which input has tokens, rows of a table, of which a sample may have fewer than the model takes
        self.tops: List[int] = []  # where the last array ends that lives at each step, in bytes from the beginning of memory
        self.live: List[int] = []  # bytes of all arrays that live at each step

    @numpy.errstate(all='ignore')
    def run(self, arrays: List[Any], after: Optional[Callable[[int, Step], None]] = None) -> List[Any]:
        """The outputs for arrays of the inputs, as the exported program computes them. after: called with each step."""
        for view, array in zip(self.inputs, arrays):
            view.buffer.base[...] = numpy.asarray(array).reshape(-1)
        for index, step in enumerate(self.steps):
            step.run()
            if after:
                after(index, step)
        return [view.array.copy() for view in self.outputs]

    def buffers(self) -> List[Buffer]:
        found = [view.buffer for view in self.inputs]
        for step in self.steps:
            found += [view.buffer for view in step.reads + [step.writes]]
        return list({id(buffer): buffer for buffer in found}.values())

    def used(self, sample: List[Any]) -> Any:
        """How many tokens a sample has of how many, and its arrays: after the end of a text, where it has -1, they have row 0."""
        if self.text is None:
            return 1, 1, sample
        tokens = numpy.asarray(sample[self.text]).reshape(-1)
        arrays = [numpy.maximum(array, 0) if index == self.text else array for index, array in enumerate(map(numpy.asarray, sample))]
        return int((tokens >= 0).sum()), tokens.size, arrays

    def multiply_adds(self) -> int:
        return sum(step.multiply_adds() for step in self.steps)


def used_part(array: Any, shape: Any, used: int, tokens: int) -> Any:
    """Flat, what an array of this shape has of the tokens that a text has; all, where its first axis is not that of tokens."""
    flat, sizes = array.reshape(-1), [size for size in shape if size != 1]
    return flat[:flat.size // tokens * used] if sizes[:1] == [tokens] else flat
