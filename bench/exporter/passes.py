"""Makes a program smaller: projections that write what is read from them, fewer copies, and where in memory each array lies."""
from typing import Dict, List, Tuple

from .program import Buffer, Program, Step, View
from .steps import Copy, Linear

GRAIN = 16  # arrays begin at multiples of so many bytes


def simplify(program: Program) -> None:
    drop_unread(program)
    split_projections(program)
    drop_copies(program)
    assign_memory(program)


def drop_unread(program: Program) -> None:
    """Leaves out steps whose results nobody reads."""
    kept: List[Step] = []
    read = {id(view.buffer) for view in program.outputs}
    for step in reversed(program.steps):
        if id(step.writes.buffer) in read:
            kept.append(step)
            read |= {id(view.buffer) for view in step.reads}
    program.steps = kept[::-1]


def _replace(program: Program, views: Dict[int, View]) -> None:
    """Steps read other views, by the identity of those that they read."""
    for step in program.steps:
        step.operands = [views.get(id(each), each) for each in step.operands]


def _columns(view: View, width: int) -> Tuple[int, int]:
    """Which columns of rows of so many numbers a view has; all, where it steps over rows in another way."""
    first = view.offset % width
    if any(stride < 0 or stride >= width and stride % width for stride in view.strides):
        return 0, width
    return first, first + 1 + sum((size - 1) * stride for size, stride in zip(view.shape, view.strides) if stride < width)


def split_projections(program: Program) -> None:
    """One projection to queries, keys and values becomes three, each of which writes its own array as attention reads it."""
    steps: List[Step] = []
    changed: Dict[int, View] = {}
    for step in program.steps:
        ranges = _ranges(program, step) if isinstance(step, Linear) and step.writes.buffer.kind == 'memory' else {}
        if not isinstance(step, Linear) or len(ranges) < 2:
            steps.append(step)
            continue
        for (first, end), readers in ranges.items():
            part = Buffer('memory', step.tokens * (end - first), step.writes.buffer.name)
            bias = None if step.bias is None else step.bias[first:end]
            steps.append(Linear(step.name, step.reads[0], View(part, shape=(step.tokens, end - first)), step.weight[first:end], bias))
            changed.update({id(view): _narrowed(view, part, step.weight.shape[0], first, end - first) for view in readers})
    program.steps = steps
    _replace(program, changed)


def _ranges(program: Program, step: Linear) -> Dict[Tuple[int, int], List[View]]:
    """The columns that are read of what a projection writes, and by which views; none, where they overlap."""
    width, ranges = step.weight.shape[0], {}  # type: int, Dict[Tuple[int, int], List[View]]
    for view in [view for other in program.steps for view in other.reads if view.buffer is step.writes.buffer]:
        ranges.setdefault(_columns(view, width), []).append(view)
    ordered = sorted(ranges)
    apart = all(end <= width for _, end in ordered) and all(a[1] <= b[0] for a, b in zip(ordered, ordered[1:]))
    return {each: ranges[each] for each in ordered} if apart else {}


def _narrowed(view: View, part: Buffer, width: int, first: int, to: int) -> View:
    """The same elements in an array that has these columns alone."""
    strides = [stride if stride < width else stride // width * to for stride in view.strides]
    offset = view.offset // width * to + view.offset % width - first
    return view.over(part, offset, strides)


def drop_copies(program: Program) -> None:
    """Copies of what is dense already: their readers read what they copy."""
    for step in list(program.steps):
        if not isinstance(step, Copy) or not step.reads or not step.reads[0].is_dense() or not step.writes.is_whole() or step.writes.buffer.kind != 'memory':
            continue
        source, copied, changed = step.reads[0], step.writes.buffer, {}
        for view in [view for other in program.steps for view in other.reads if view.buffer is copied]:
            changed[id(view)] = view.over(source.buffer, source.offset + view.offset, view.strides)
        program.steps.remove(step)
        _replace(program, changed)


def assign_memory(program: Program) -> None:
    """Places for all arrays in one block: those whose lives do not meet may share, and results lie in place of what they are made of."""
    born: Dict[int, int] = {}
    dies: Dict[int, int] = {}
    for buffer in program.buffers():
        buffer.place = buffer
    for index, step in enumerate(program.steps):
        born.setdefault(id(step.writes.buffer), index)
        for view in step.reads + [step.writes]:
            dies[id(view.buffer)] = index
    for index, step in enumerate(program.steps):
        _put_in_place(index, step, born, dies, program.split)
    buffers = [buffer for buffer in program.buffers() if buffer.kind == 'memory' and buffer.place is buffer]
    lives = {id(buffer): (born[id(buffer)], dies[id(buffer)]) for buffer in buffers}
    placed: List[Buffer] = []
    for buffer in sorted(buffers, key=lambda each: (-each.bytes, lives[id(each)])):
        begin, end = lives[id(buffer)]
        meets = sorted((other.offset, other.offset + _rounded(other.bytes)) for other in placed
                       if lives[id(other)][0] <= end and begin <= lives[id(other)][1])
        at = 0
        for low, high in meets:
            if at + _rounded(buffer.bytes) <= low:
                break
            at = max(at, high)
        buffer.offset = at
        placed.append(buffer)
    program.live = [sum(_rounded(place.bytes) for place in buffers if lives[id(place)][0] <= index <= lives[id(place)][1])
                    for index in range(len(program.steps))]
    program.tops = [max([place.offset + _rounded(place.bytes) for place in buffers
                         if lives[id(place)][0] <= index <= lives[id(place)][1]] or [0]) for index in range(len(program.steps))]


def _put_in_place(index: int, step: Step, born: Dict[int, int], dies: Dict[int, int], split: int) -> None:
    """split: the first step that may write to an output, because the steps before it are called without outputs."""
    y = step.writes.buffer
    if not step.writes.is_whole() or born[id(y)] != index:
        return
    for which in step.in_place:
        x = step.reads[which]
        place = root(x.buffer)
        if x.buffer.kind == 'input' or place.kind == 'input' or not x.is_whole() or x.buffer.bytes != y.bytes or x.type != y.type or dies[id(place)] != index:
            continue
        if place.kind == 'output' or (y.kind == 'output' and (place is not x.buffer or born[id(place)] < split)):
            continue
        others = [view for view in step.reads if root(view.buffer) is place]
        if any((view.shape, view.strides, view.offset) != (x.shape, x.strides, x.offset) for view in others):
            continue  # another part of the same array is still read while results are written
        if y.kind == 'output':  # what the output is made of lies in the output from its beginning
            place.place = y
            born[id(y)] = born[id(place)]
        else:
            y.place = place
            dies[id(place)] = dies[id(y)]
        return


def root(buffer: Buffer) -> Buffer:
    """The buffer in whose place it lies."""
    while buffer.place is not buffer:
        buffer = buffer.place
    return buffer


def _rounded(bytes: int) -> int:
    return -(-bytes // GRAIN) * GRAIN
