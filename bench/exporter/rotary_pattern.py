"""Finds rotary positions that are spelled out: x * C + rotated(x) * S, however it is written, of constant cosines and sines.

What is made of one value by products with constants, sums and moves alone is linear in it. So the pattern does not ask how that is spelled,
but what comes out of it where one half of each pair is 1 and the other 0: the factors of both.
"""
import itertools
from typing import Any, Dict, List, Optional

import numpy

from . import rotary_node
from .attention_pattern import Match
from .graph import Graph, Node
from .graph_search import Search

# Operators that are linear in their inputs, all of which are computed; and in the first one, where the others are constants.
BOTH = ('Add', 'Sub', 'Concat')
FIRST = ('Identity', 'Dropout', 'Cast', 'Div', 'Neg', 'Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Transpose', 'Slice', 'Split', 'Gather')
MOST_NODES, NEAR = 32, 1e-6


class RotaryPattern(Search):
    def rotary(self, node: Node) -> Optional[Match]:
        """Of the nearest value of the same shape that all of it is made of."""
        shape = self.graph.shapes[node.outputs[0]]
        if node.kind not in ('Add', 'Concat', 'Reshape', 'Flatten') or len(shape) < 2 or shape[-1] < 2:
            return None
        open_, region = [node.outputs[0]], []  # type: List[str], List[Node]
        while len(region) < MOST_NODES:
            last = max((self.graph.producers[name] for name in open_ if name in self.graph.producers), key=lambda each: self.places[id(each)], default=None)
            computed = [name for name in last.inputs if name and name not in self.graph.constants] if last else []
            if last is None or not (last.kind in BOTH and len(computed) == len(last.inputs) or last.kind == 'Mul' and len(computed) == 1 or
                                    last.kind in FIRST and computed == last.inputs[:1]):
                return None
            region.insert(0, last)
            open_ = list(dict.fromkeys([name for name in open_ if name not in last.outputs] + computed))
            if len(open_) == 1 and len(region) > 3 and self.graph.shapes[open_[0]] == shape:
                settings = self._turns(region, open_[0], node.outputs[0], shape)
                if settings:
                    return Match('rotary', node, open_, settings)
        return None

    def _turns(self, region: List[Node], x: str, y: str, shape: Any) -> Optional[Dict[str, Any]]:
        """tokens: the axis that the angles depend on. factor: what is multiplied by beside turning."""
        constants = {name: self.graph.constants[name] for node in region for name in node.inputs if name in self.graph.constants}
        part, known = Graph(region, {x: shape}, [y], constants, self.graph.opset), [node.attributes.known for node in region]
        made = lambda array: part.evaluate({x: array})[y]
        probe = numpy.random.default_rng(0).standard_normal(shape)
        right = made(probe)
        turning = numpy.flatnonzero((numpy.abs(right - probe) > NEAR).any(tuple(range(len(shape) - 1))))
        some = turning[-1] + 2 & ~1 if len(turning) else shape[-1]
        for width, pairs in itertools.product({int(some), shape[-1] & ~1}, ('halves', 'neighbours')):
            halves = pairs == 'halves'
            first, second = (slice(0, width // 2), slice(width // 2, width)) if halves else (slice(0, width, 2), slice(1, width, 2))
            ones, expected = numpy.zeros(shape), probe.copy()
            ones[..., first] = 1
            cosine, sine = (made(ones)[..., each] for each in (first, second))
            expected[..., first] = probe[..., first] * cosine - probe[..., second] * sine
            expected[..., second] = probe[..., second] * cosine + probe[..., first] * sine
            axes = [axis for axis in range(len(shape) - 1) if any((each != each.take([0], axis)).any() for each in (cosine, sine))]
            factor = float(numpy.hypot(cosine, sine).max())
            alone = abs(factor - 1) <= NEAR
            if not numpy.allclose(right, expected, rtol=0, atol=NEAR) or len(axes) != 1 or not (alone or 0 < factor < 1e9 and width == shape[-1]):
                continue
            tables = [numpy.moveaxis(each, axes[0], 0).reshape(shape[axes[0]], -1, width // 2)[:, 0] / factor for each in (cosine, sine)]
            frequencies = rotary_node.frequencies(*tables, None, shape[axes[0]])
            if frequencies:
                return {'frequencies': frequencies, 'pairs': pairs, 'tokens': axes[0], 'factor': 1.0 if alone else factor}
        for node, read in zip(region, known):  # nobody has read these attributes for what is written
            node.attributes.known = read
        return None
