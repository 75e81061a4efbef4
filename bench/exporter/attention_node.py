"""ONNX's Attention: which keys its queries see, and its steps."""
from typing import Any, List

import numpy

from .errors import ExportError
from .few_values import FewValues
from .onnx_attention import Given, heads_of, positions
from .program import View
from .scores import Scores


def scores_of_node(search: Any, node: Any) -> Scores:
    """What an Attention does to its scores."""
    graph, given = search.graph, Given(node, search.graph.opset)
    names: List[str] = (node.inputs + [''] * 7)[:7]
    shapes = [heads_of(numpy.broadcast_to(0, graph.shapes[name]), heads).shape for name, heads in zip(names, given.heads)]
    past = graph.shapes[names[4]][2] if names[4] else 0
    (items, heads, queries, width), keys = shapes[0], shapes[1][2] + past
    columns = graph.shapes[names[3]][-1] if names[3] else 1
    if columns not in (1, keys) and len(node.outputs) > 3:
        raise ExportError(f'{node}: its mask has {columns} columns for {keys} keys, and its scores are an output; expected as many columns')
    keys = keys if columns == 1 else min(keys, columns)  # those behind a mask are masked
    found = Scores((items, heads, queries, keys))
    place, (after, before) = positions(queries, keys), given.bounds()
    known, lengths = graph.constants.get(names[6]) if names[6] else None, names[6]
    count, computed = (keys if known is None else known.reshape(-1, 1, 1, 1)), bool(lengths) and known is None
    compare = lambda relation, numbers: found.see(search.masks.condition(relation, numbers.astype('int64'), lengths, axes=(-1, 1, 1, 1)))
    if computed:
        compare('<', numpy.arange(keys))
    if computed and not names[4]:  # the last query has the place of the last key
        if after is not None:
            compare('<=', place + queries - after)
        if before is not None:
            compare('>=', place + queries + before)
    else:
        offset = past if known is None or names[4] else count - queries
        seen = (place <= offset + after if after is not None else True) & (place >= offset - before if before is not None else True)
        found.see(FewValues([], {(): numpy.asarray(seen & (numpy.arange(keys) < count))}))
    if names[3] and not _add_mask(search, names[3], found):
        raise ExportError(f'{node}: its mask "{names[3]}" is neither constant, nor an input, nor made of inputs by comparisons, nor computed floats for all {keys} '
                          'keys; expected one of these, or is_causal=1')
    node.unseen = found.settle()
    found.factor, found.cap = width ** -0.5 if given.scale is None else given.scale, given.cap
    found.bias = search.bias_of(found, node)
    return found


def _add_mask(search: Any, name: str, found: Scores) -> bool:
    few, added = search.masks.few(name), Scores(found.shape)
    if few is not None and search.graph.kinds[name] == 'b':
        found.see(few)
        return True
    if not search.added(name, 1.0, added):
        return False
    found.add(added.bias, added.exact)
    found.never, found.visible = found.never | added.never, found.visible + added.visible
    found.computed, found.limit = added.computed, max(found.limit, added.limit)
    return True


class AttentionNode:
    """What Lowering takes for it."""

    def _match_attention_node(self: Any, match: Any) -> View:
        node, found = match.node, match.settings['scores']
        given = Given(node, self.graph.opset)
        split = [self._moved(self._view(node, name), lambda array, heads=heads: heads_of(array, heads)) for name, heads in zip(node.inputs, given.heads)]
        query, (key, value) = split[0], (self._joined([self._view(node, name), view], 2) if name else view for name, view in
                                         zip((node.inputs + [''] * 3)[4:6], split[1:]))
        outputs = dict(zip(node.outputs[1:3], (key, value)))
        if len(node.outputs) > 3:
            others = found if given.stage in ('biased', 'weights') else found.unmasked()
            outputs[node.outputs[3]] = self._attention(node, query, key, None, others, given.stage)
        for name, view in outputs.items():
            if name:
                self._keep(name, view)
        shorter = [self._moved(view, lambda array: array[:, :, :found.shape[3]]) for view in (key, value)]
        y = self._attention(node, query, *shorter, found)
        flat = len(self.graph.shapes[node.inputs[0]]) == 3
        y = self._moved(y, lambda array: array.swapaxes(-3, -2).reshape(self.graph.shapes[node.outputs[0]])) if flat else y
        self._keep(node.outputs[0], y)
        return self.views[self.place]
