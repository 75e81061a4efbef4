"""Finds attention whose scores are no products of queries and keys: softmax(f(x)) y over tokens, as pooling has it."""
from typing import Any, List, Optional, Set

import numpy

from .attention_pattern import AttentionPattern, Match
from .graph import Node
from .operators import OPERATORS, softmax_axes

MOVES = ('Transpose', 'Reshape', 'Squeeze', 'Unsqueeze', 'Flatten')


class PoolingPattern(AttentionPattern):
    def pooling(self, node: Node) -> Optional[Match]:
        """By a product, or by a sum over tokens of y times a weight each. To be asked before attention, which refuses what is none."""
        shape, choices = self.graph.shapes[node.outputs[0]], []
        if node.kind == 'MatMul':
            choices = [tuple(node.inputs)]
        product = self.producer(node.inputs[0], 'Mul') if node.kind == 'ReduceSum' else None
        for weights, values in self.sides(product):
            tokens = self.graph.shapes[node.inputs[0]]
            if len(tokens) > 1 and self.graph.shapes[weights][-2:] == (tokens[-2], 1) and self.axes_of(node, len(tokens)) == [len(tokens) - 2]:
                choices.append((weights, values))
        for weights, values in choices:
            moves: List[Node] = []
            while self.producer(self.past_identities(weights), *MOVES):
                moves.insert(0, self.producer(self.past_identities(weights), *MOVES))  # type: ignore[arg-type]
                weights = moves[0].inputs[0]
            softmax, moved = self.producer(weights, 'Softmax'), lambda array: self._moved(moves, array, node)
            if softmax is None or values in self.graph.constants or self._of_queries(softmax):
                continue
            scores = self.past_identities(softmax.inputs[0])
            before, count = self.graph.shapes[scores], self.graph.shapes[values][-2:-1]
            axes = [axis for axis in softmax_axes(softmax, self.graph.opset, len(before)) if before[axis] != 1]
            place = numpy.broadcast_to(numpy.arange(before[axes[0]]).reshape([-1 if axis == axes[0] else 1 for axis in range(len(before))]), before) \
                if len(axes) == 1 else numpy.zeros(before)
            last = moved(place)
            if last.shape[-1:] != count or (last != numpy.arange(*count)).any() or numpy.prod(last.shape[:-2] + self.graph.shapes[values][:-2]) != 1 or len(axes) != 1:
                continue
            linear = self._linear(scores, int(count[0])) if place.size == count[0] else None
            if node.kind == 'ReduceSum':
                node.attributes.flag('keepdims', 1)  # as the shape of the output says
            settings = {'moved': moved, 'query': linear and linear[1], 'shape': shape}
            return Match('pooling', node, [linear[0] if linear else scores, values], settings)
        return None

    def _of_queries(self, softmax: Node) -> bool:
        """Whether its scores have a product of computed arrays: however that is scaled and masked, it is attention."""
        open_, seen = [softmax.inputs[0]], set()  # type: List[str], Set[str]
        while open_:
            name = open_.pop()
            node = self.graph.producers.get(name)
            if node is None or name in seen or node.kind in ('Gemm', 'Conv', 'Attention'):
                continue
            seen.add(name)
            if node.kind == 'MatMul':
                if not any(each in self.graph.constants for each in node.inputs):
                    return True
                continue
            open_ += node.inputs
        return False

    def _moved(self, moves: List[Node], array: Any, node: Node) -> Any:
        """[queries, tokens] of an array that lies as the scores do."""
        for move in moves:
            array = OPERATORS[move.kind].compute(move, self.graph.opset, array, *(self.graph.constants[name] for name in move.inputs[1:]))
        return numpy.swapaxes(array, -1, -2) if node.kind == 'ReduceSum' else array

    def _linear(self, scores: str, count: int) -> Any:
        """Keys and the query of scores that are a projection of keys to one number; what is added to all of them makes no difference."""
        move = self.producer(scores, *MOVES)
        while move:
            move.attributes.irrelevant('perm', 'axis', 'axes', 'allowzero')  # of one number for each token
            scores = move.inputs[0]
            move = self.producer(scores, *MOVES)
        for inner, other in self.sides(self.producer(scores, 'Add')):
            if other in self.graph.constants and self.graph.constants[other].size == 1:
                scores = inner
        scores, factor = self.scaled(scores)
        product = self.producer(scores, 'MatMul')
        query = self.graph.constant(product.inputs[1]) if product else None
        if product is None or query is None or query.ndim != 2 or query.shape[1] != 1 or numpy.prod(self.graph.shapes[scores]) != count:
            return None
        return product.inputs[0], query.reshape(-1) * factor
