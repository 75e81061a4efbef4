"""A projection whose weights are packed once."""
from typing import Any, List, Optional

from .._arrays import NAMES, Array, View, release
from .._cache import FORMATS
from .._dlpack import BFLOAT16
from .._layers import Weights, project
from .._rows import Held
from .._shared import AttendError, word
from ._state import REFUSALS, Refusals, require_names, take, take_if, vector


class Linear:
    """y = W x + b of each token: weight [outputs, inputs], bias [outputs].

        linear = attend.nn.Linear(weight, bias, format='int8')
        y = linear(x)                     # x [tokens, inputs], or with a batch in front

    weight: float32, float16, bfloat16, int8 with scales [outputs], or 4 bits as attend.Weights has them (uint8).
    format: 'float16', 'bfloat16', 'int8' or 'int4': what float32 weights are rounded to."""

    def __init__(self, weight: Any, bias: Any = None, scales: Any = None, *, format: Optional[str] = None):
        with REFUSALS:
            _require_weight(weight, scales)
            rows = Weights(weight, None, scales)
            if format is not None and word('format', format, FORMATS) != rows.c.format:
                if rows.c.format != FORMATS['float32']:
                    raise AttendError(f'weight is not float32, and format is {format!r}; expected float32 weights, or no format')
                rows = rows.converted(format)
            self.outputs, self.inputs = rows.outputs, rows.inputs
            self.weights = rows.packed()
            # Nothing of the arrays is needed from here on: panels have the numbers, and these are copies.
            self._vectors = Held()
            self._scales = rows._scales if hasattr(rows, '_scales') else vector('scales', scales, self.outputs)
            if not hasattr(rows, '_scales'):
                self.weights.c.scales = self._vectors.address('scales', self._scales, self.outputs)
            self.weights.c.bias = self._vectors.address('bias', vector('bias', bias, self.outputs), self.outputs)
            self.weights._held = self._vectors

    @classmethod
    def from_state(cls, state: Any, prefix: str = '', *, format: Optional[str] = None) -> 'Linear':
        """Of weight, and bias if it is there."""
        require_names(state, prefix, 'a Linear', ('weight', 'bias'))
        weight, bias = take(state, prefix + 'weight', 'a Linear'), take_if(state, prefix + 'bias')
        with Refusals(prefix):
            return cls(weight, bias, format=format)

    def __call__(self, x: Any) -> Any:
        with REFUSALS:
            return project(x, self.weights)


def _require_weight(weight: Any, scales: Any) -> None:
    """In the words of a Linear, before those of Weights."""
    held: List[Any] = []
    try:
        array = Array('weight', weight, 'fe' + BFLOAT16 + 'bB', 2, 2, held)
        array.require_dense()
        if (array.code == 'b') != (scales is not None):
            found = 'missing' if scales is None else 'given'
            raise AttendError(f'weight is {NAMES[array.code]}, and scales are {found}; expected them with int8 alone')
    finally:
        release(held)


def split(weight: Any, bias: Any, parts: List[int], format: Optional[str]) -> List[Linear]:
    """Projections whose weights lie one behind the other in the rows of in_proj_weight; parts: the proportions of their outputs."""
    held: List[Any] = []
    try:
        array = Array('in_proj_weight', weight, 'fe' + BFLOAT16, 2, 2, held)
        array.require_dense()
        rows, inputs = array.shape
        biases, made, first = vector('in_proj_bias', bias, rows), [], 0
        if rows % sum(parts):
            raise AttendError(f'in_proj_weight has {rows} rows; expected a multiple of {sum(parts)}, the heads of queries, keys and values')
        for count in (rows // sum(parts) * each for each in parts):
            part = View(array.address + first * inputs * held[0].item_bytes, array.code, (count, inputs))
            made.append(Linear(part, None if biases is None else biases[first:first + count], format=format))
            first += count
        return made
    finally:
        release(held)
