"""Attention problems of the tests: random ones, their float64 results, and the models that compute them."""
import os
import sys

import numpy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import float64
from flat import Model, flex


def quantise(real, scale, zero):
    return numpy.clip(numpy.rint(real / scale) + zero, -128, 127).astype(numpy.int8)


class Problem:
    """query [batch, tokens, heads, head_dim], key and value [batch, keys, kv_heads, ...] as float32, or as int8 with (scale, zero) each."""

    def __init__(self, rng, batch, tokens, keys, heads, kv_heads, head_dim, value_dim, int8=False, scale=None, cap=None, spread=1.0):
        self.batch, self.tokens, self.keys, self.heads, self.kv_heads = batch, tokens, keys, heads, kv_heads
        self.head_dim, self.value_dim, self.int8, self.scale, self.cap = head_dim, value_dim, int8, scale, cap
        shapes = (batch, tokens, heads, head_dim), (batch, keys, kv_heads, head_dim), (batch, keys, kv_heads, value_dim)
        arrays = [rng.normal(size=shape) * spread for shape in shapes]
        self.steps = [None] * 4
        if int8:
            self.steps = [(numpy.float32(rng.uniform(0.01, 0.04)), int(rng.integers(-30, 30))) for _ in range(4)]
            self.query, self.key, self.value = [quantise(a, *s) for a, s in zip(arrays, self.steps)]
        else:
            self.query, self.key, self.value = [a.astype(numpy.float32) for a in arrays]
        self.mask = None

    def add_mask(self, rng, shape, kind):
        """kind: added (any floats and minus infinity), hiding (0 and -1e9), bool. Each row shows at least one key."""
        hidden = rng.random(shape) < 0.3
        hidden[..., int(rng.integers(self.keys))] = False
        if kind == "bool":
            self.mask = ~hidden
        else:
            added = rng.normal(size=shape) if kind == "added" else numpy.zeros(shape)
            self.mask = numpy.where(hidden, -numpy.inf if kind == "added" else -1e9, added).astype(numpy.float32)
        return self

    def real(self):
        """Query, key and value as real numbers, [batch, heads, ...]."""
        arrays = [self.query, self.key, self.value]
        if self.int8:
            arrays = [(a.astype(float) - zero) * float(scale) for a, (scale, zero) in zip(arrays, self.steps)]
        return [a.astype(float).transpose(0, 2, 1, 3) for a in arrays]

    def exact(self):
        """The result in float64, [batch, tokens, heads, value_dim], and how far off it the library may be."""
        added = numpy.zeros(1) if self.mask is None else numpy.where(self.mask, 0, -numpy.inf) if self.mask.dtype == bool else self.mask.astype(float)
        seen = added > -1e6
        found = float64.attention(*self.real(), seen, self.scale, numpy.where(seen, added, 0), self.cap)
        result = found.output.transpose(0, 2, 1, 3)
        if self.int8:
            scale, zero = self.steps[3]
            return numpy.clip(result / float(scale) + zero, -128, 127), 1.5
        return result, found.bound.transpose(0, 2, 1, 3)

    def quantisation(self, which):
        return {} if not self.int8 else {"scale": self.steps[which][0], "zero": self.steps[which][1]}

    @property
    def type(self):
        return "int8" if self.int8 else "float32"


def operator(problem):
    """A model of the custom operator, its inputs and its output's shape."""
    model = Model()
    inputs = [model.input(a.shape, problem.type, **problem.quantisation(i)) for i, a in enumerate([problem.query, problem.key, problem.value])]
    data = [problem.query, problem.key, problem.value]
    if problem.mask is not None:
        inputs.append(model.input(problem.mask.shape, problem.mask.dtype.name))
        data.append(problem.mask)
    shape = (problem.batch, problem.tokens, problem.heads, problem.value_dim)
    to = model.tensor(shape, problem.type, **problem.quantisation(3))
    attributes = {}
    if problem.scale is not None:
        attributes["scale"] = float(problem.scale)
    if problem.cap is not None:
        attributes["logit_cap"] = float(problem.cap)
    model.operator("CUSTOM", inputs, [to], custom="odml.scaled_dot_product_attention", attributes=flex(attributes))
    return model, [to], data


class Chain:
    """The same, spelled out, in one of the forms that converters write."""

    def __init__(self, problem, form):
        self.problem, self.form, self.model, self.data = problem, form, Model(), []
        self.kept = []  # tensors that are outputs too

    def node(self, name, inputs, shape, options=None, step=None):
        quantisation = {} if step is None else {"scale": step[0], "zero": step[1]}
        return self.model.node(name, inputs, shape, options, type=self.problem.type, **quantisation)

    def shape(self, tensor):
        return tuple(int(n) for n in self.model.tensors[tensor][0])

    def reshape(self, tensor, shape, step):
        if self.shape(tensor) == tuple(shape):
            return tensor
        return self.node("RESHAPE", [tensor, self.model.constant(numpy.asarray(shape, numpy.int32))], shape, (17, {0: numpy.asarray(shape, numpy.int32)}), step)

    def transpose(self, tensor, order, step):
        shape = [self.shape(tensor)[axis] for axis in order]
        return self.node("TRANSPOSE", [tensor, self.model.constant(numpy.asarray(order, numpy.int32))], shape, (26, {}), step)

    def times(self, tensor, number, step, divide=False):
        if self.problem.int8:
            constant = self.model.tensor([1], data=numpy.asarray([127], numpy.int8), scale=number / 127, zero=0)
        else:
            constant = self.model.constant(numpy.asarray(number, numpy.float32))
        return self.node("DIV" if divide else "MUL", [tensor, constant], self.shape(tensor), (29 if divide else 21, {0: ("<b", 0)}), step)

    def operand(self, array, base, step):
        """[batch, tokens, heads, dim] as an input, brought to [batch, heads, tokens, dim]."""
        batch, tokens, heads, dim = array.shape
        if base == "heads first":
            array = numpy.ascontiguousarray(array.transpose(0, 2, 1, 3))
        self.data.append(array)
        quantisation = {} if step is None else {"scale": step[0], "zero": step[1]}
        shape = (batch, tokens, heads * dim) if base == "fused" else array.shape
        to = self.model.input(shape, self.problem.type, **quantisation)
        if base == "heads first":
            return to
        return self.transpose(self.reshape(to, (batch, tokens, heads, dim), step), (0, 2, 1, 3), step)

    def multiply(self, x, y, adj_y, y_step, step):
        shape_x, shape_y = self.shape(x), self.shape(y)
        shape = shape_x[:-1] + (shape_y[-2] if adj_y else shape_y[-1],)
        if self.form.get("fully connected"):
            if not adj_y:
                y = self.transpose(y, (1, 0), y_step)
            return self.node("FULLY_CONNECTED", [x, y, -1], shape, (8, {0: ("<b", 0), 2: ("<?", True)}), step)
        return self.node("BATCH_MATMUL", [x, y], shape, (101, {0: ("<?", False), 1: ("<?", adj_y)}), step)

    def build(self):
        problem, form, model = self.problem, self.form, self.model
        steps = problem.steps
        batch, tokens, keys, heads, groups = problem.batch, problem.tokens, problem.keys, problem.heads, problem.kv_heads
        scale = numpy.float32(1.0 / numpy.sqrt(problem.head_dim)) if problem.scale is None else numpy.float32(problem.scale)
        query = self.operand(problem.query, form["base"], steps[0])
        key = self.operand(problem.key, form["base"], steps[1])
        value = self.operand(problem.value, form["base"], steps[2])
        score_step = (numpy.float32(0.1), 3) if problem.int8 else None
        where = form["scale"]
        if where in ("query", "both"):
            query = self.times(query, scale if where == "query" else numpy.float32(numpy.sqrt(scale)), steps[0])
        if where == "both":
            key = self.times(key, numpy.float32(numpy.sqrt(scale)), steps[1])
        lead = (batch, heads)
        if form.get("matrices"):
            query, key, value = [self.reshape(t, self.shape(t)[2:], s) for t, s in zip((query, key, value), steps)]
            lead = ()
        elif form.get("merged"):
            query = self.reshape(query, (batch * heads,) + self.shape(query)[2:], steps[0])
            key = self.reshape(key, (batch * heads,) + self.shape(key)[2:], steps[1])
            value = self.reshape(value, (batch * heads,) + self.shape(value)[2:], steps[2])
            lead = (batch * heads,)
        elif groups not in (1, heads):
            lead = (batch * groups, heads // groups)
            query = self.reshape(query, lead + self.shape(query)[2:], steps[0])
            key = self.reshape(key, (batch * groups, 1) + self.shape(key)[2:], steps[1])
            value = self.reshape(value, (batch * groups, 1) + self.shape(value)[2:], steps[2])
        if form["key"] == "transposed":
            axes = len(self.shape(key))
            key = self.transpose(key, tuple(range(axes - 2)) + (axes - 1, axes - 2), steps[1])
        scores = self.multiply(query, key, form["key"] != "transposed", steps[1], score_step)
        if where == "scores":
            scores = self.times(scores, scale if problem.cap is None else scale / numpy.float32(problem.cap), score_step)
        if where == "divided":
            scores = self.times(scores, 1 / scale, score_step, divide=True)
        if problem.cap is not None:
            scores = self.times(self.node("TANH", [scores], self.shape(scores)), numpy.float32(problem.cap), None)
        if problem.mask is not None:
            shape = self.shape(scores)
            scores = self.reshape(scores, (batch, heads, tokens, keys), score_step)
            mask = problem.mask
            if problem.int8:
                hides = numpy.where(mask < 0, -128, 127).astype(numpy.int8)
                to = model.tensor(hides.shape, data=hides, scale=(100 if form.get("small mask") else 1e4) / 255, zero=127)
            elif form.get("constant mask"):
                to = model.constant(mask)
            else:
                to = model.input(mask.shape)
                self.data.append(mask)
            both = [to, scores] if form.get("mask first") else [scores, to]
            scores = self.node("ADD", both, self.shape(scores), (11, {0: ("<b", 0)}), score_step)
            scores = self.reshape(scores, shape, score_step)
        weights = self.node("SOFTMAX", [scores], self.shape(scores), (9, {0: ("<f", 1.0)}), (numpy.float32(1 / 256), -128) if problem.int8 else None)
        if form.get("weights too"):
            self.kept.append(weights)
        result = self.multiply(weights, value, False, steps[2], steps[3])
        if form["output"] == "fused":
            result = self.reshape(result, (batch, heads, tokens, problem.value_dim), steps[3])
            result = self.transpose(result, (0, 2, 1, 3), steps[3])
            result = self.reshape(result, (batch, tokens, heads * problem.value_dim), steps[3])
        return model, [result] + self.kept, self.data

    def normal(self, output):
        """The output's numbers as [batch, tokens, heads, value_dim]."""
        p = self.problem
        if self.form["output"] == "fused":
            return output.reshape(p.batch, p.tokens, p.heads, p.value_dim)
        return output.reshape(p.batch, p.heads, p.tokens, p.value_dim).transpose(0, 2, 1, 3)
