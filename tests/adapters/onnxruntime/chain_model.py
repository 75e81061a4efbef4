"""Attention that is spelled out by small nodes, as exporters write it, and the same in float64."""
import math

import numpy
from onnx import TensorProto, helper

import model
from reference import Result, wide
from reference_attention import attention

HIDDEN = -numpy.inf
LOWEST = float(numpy.finfo(numpy.float32).min)


class Chain:
    """A model and inputs for it: q, k and v of numbers [batch, heads, tokens, width], or [batch, tokens, width].

    heads: "ready"; "turned", which come with tokens before heads, or before the batch where there are none, and are transposed, keys twice; "at once", whose
    keys are transposed once.
    steps: what becomes of scores, in turn: ("add", mask), ("hide", condition, filling) for Where(condition, filling, scores), ("show", condition, filling)
    for Where(condition, scores, filling), ("divide", number). scaling: the node that scales scores, "Div" or "Mul" of queries and keys apiece, or None.
    safe: what a Where behind the softmax puts in the place of NaN, or None. constant: masks and conditions are constants of the model.
    changes: what near misses change, see below.
    """

    def __init__(self, arrays, heads="ready", steps=(), scaling="Div", safe=None, opset=17, axis=-1, constant=False, **changes):
        self.arrays, self.heads, self.steps, self.safe, self.opset, self.changes = arrays, heads, steps, safe, opset, changes
        self.nodes, self.constants, self.fed, self.outputs = [], {}, {}, ["y"]
        self.scale = 1 / math.sqrt(arrays[0].shape[-1]) if scaling else 1.0
        rank = arrays[0].ndim
        inner = (*range(rank - 2), rank - 1, rank - 2)
        self.order = order = (0, 2, 1, 3) if rank == 4 else (1, 0, 2)
        q, k, v = (self._input(n, array if heads == "ready" else array.transpose(order)) for n, array in zip("qkv", arrays))
        if heads != "ready":
            q, v = (self.put("Transpose", x, perm=order) for x in (q, v))
            k = self.put("Transpose", k, perm=order) if heads == "turned" else k
        if "rotary" in changes:
            q, k = (self._turned_by_position(x, array) for x, array in ((q, arrays[0]), (k, arrays[1])))
        k = self.put("Transpose", k, perm=inner if heads != "at once" else order[:rank - 2] + (rank - 1, order[rank - 2]))
        if scaling == "Mul":
            q, k = (self.put("Mul", x, self.number(math.sqrt(self.scale))) for x in (q, k))
        scores = self.put("MatMul", q, k)
        if scaling == "Div":
            scores = self.put("Div", scores, self.number(1 / self.scale))
        self.unmasked = scores
        for place, (kind, what, *filling) in enumerate(steps):
            scores = self._step(scores, kind, what, filling, "mask%d" % place, constant)
        if "used" in changes:
            self.outputs.append(self.put("Relu", self.unmasked))
        weights = self.put("Softmax", scores, **({} if axis is None else {"axis": axis}))
        if safe is not None:
            parts = [self.put(changes.get("nan", "IsNaN"), scores if "nan_of_scores" in changes else weights), self.number(safe), weights]
            weights = self.put("Where", *(parts if "swapped" not in changes else (parts[0], weights, parts[1])))
        y = self.put("MatMul", weights, v)
        self.turned = heads != "ready" and "output_ready" not in changes
        if self.turned:
            y = self.put("Transpose", y, perm=order)
        self.nodes[-1].output[0] = "y"
        self.outputs += {"scores": [scores], "weights": [weights]}.get(changes.get("shown"), [])

    def _input(self, name, array):
        self.fed[name] = array
        return name

    def _turned_by_position(self, x, array):
        """Rotary positions of halves as decoders write them: x * cosines + concat(-second half, first half) * sines."""
        half = array.shape[-1] // 2
        angles = numpy.arange(array.shape[-2])[:, None] / 100.0**(numpy.arange(2 * half) % half / half)
        ends = [self.constant(numpy.array([n])) for n in (0, half, 2 * half, -1)]
        first, second = (self.put("Slice", x, *ends[i:i + 2], ends[3]) for i in (0, 1))
        other = self.put("Concat", self.put("Neg", second), first, axis=-1)
        parts = [self.put("Mul", part, self.constant(f(angles).astype(numpy.float32))) for part, f in ((x, numpy.cos), (other, numpy.sin))]
        return self.put("Add", *parts)

    def _step(self, scores, kind, what, filling, name, constant):
        if kind == "divide":
            return self.put("Div", scores, self.number(what))
        if constant:
            self.constants[name] = what
        else:
            self._input(name, what)
        if kind == "add":
            return self.put("Add", *((scores, name) if "first" not in self.changes else (name, scores)))
        value = self.constant(numpy.asarray(filling[0], numpy.float32))
        if "filling_fed" in self.changes:
            self._input(value, self.constants.pop(value))
        if "expanded" in self.changes:
            name = self.put("Expand", name, self.put("Shape", self.changes["expanded"] or scores, **self.changes.get("shape", {})))
        return self.put("Where", name, *((value, scores) if kind == "hide" else (scores, value)))

    def onnx(self):
        inputs = [(n, model.number_of(a), None if "no_ranks" in self.changes else ["%s%d" % (n, i) for i in range(a.ndim)]) for n, a in self.fed.items()]
        return model.model(self.nodes, inputs, self.outputs, self.constants, self.opset)

    def put(self, kind, *inputs, **attributes):
        name = "%s_%d" % (kind.lower(), len(self.nodes))
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def number(self, value):
        return self.constant(numpy.float32(value))

    def constant(self, array):
        name = "constant_%d" % len(self.constants)
        self.constants[name] = numpy.asarray(array)
        return name

    def exact(self):
        """A Result of y, for fillings that hide. A query that sees no key has zeros, where numbers are filled in it has what the model says."""
        q, k, v = (wide(a if a.ndim == 4 else a[:, None]) for a in self.arrays)
        four = [step for step in self.steps if step[0] != "divide"]
        if self.arrays[0].ndim == 3:
            four = [(kind, what[:, None] if what.ndim == 3 else what, *more) for kind, what, *more in four]
        scale = self.scale / math.prod(what for kind, what, *_ in self.steps if kind == "divide")
        seen, bias, of_hidden, filled = numpy.bool_(True), numpy.zeros((1, 1, 1, 1)), numpy.zeros((1, 1, 1, 1)), None
        for kind, what, *filling in four:
            if kind == "add":
                bias, of_hidden = bias + wide(what), of_hidden + wide(what)
            else:
                seen, filled, of_hidden = seen & (what if kind == "show" else ~what), float(filling[0]), numpy.full((1, 1, 1, 1), float(filling[0]))
        shape = numpy.broadcast_shapes(q.shape[:3] + (1,), v.shape[:2] + (1, 1), k.shape[:2] + (1, k.shape[2]), bias.shape, numpy.shape(seen))
        q = numpy.broadcast_to(q, shape[:3] + q.shape[3:])
        k, v = (numpy.broadcast_to(a, shape[:2] + (shape[3], a.shape[3])) for a in (k, v))
        seen, bias, of_hidden = (numpy.broadcast_to(a, shape) for a in (seen, bias, of_hidden))
        result = attention(q, k, v, scale, numpy.where(seen, bias, HIDDEN))
        blind = ~seen.any(-1)
        if filled is not None and numpy.isfinite(filled) and blind.any():
            weights = of_hidden[blind] - of_hidden[blind].max(-1, keepdims=True, initial=HIDDEN)
            weights = numpy.exp(weights) / numpy.exp(weights).sum(-1, keepdims=True)
            values = numpy.broadcast_to(v[:, :, None], blind.shape + v.shape[2:])[blind]
            result.values[blind] = numpy.einsum("nk,nkw->nw", weights, values)
            # Sums of the filling and the mask are rounded, as in the model.
            result.bound[blind] = 2e-6 * abs(v).max(initial=0) + abs(filled) * 2.0**-22 * bool(numpy.any(of_hidden != filled))
        values, bound = (a if self.arrays[0].ndim == 4 else a[:, 0] for a in (result.values, result.bound))
        return Result(values.transpose(self.order), bound.transpose(self.order)) if self.turned else Result(values, bound)
