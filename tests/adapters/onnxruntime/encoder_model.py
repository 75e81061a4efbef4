"""A MiniLM-like encoder as exporters write it: attention spelled out, Gelu by Erf, weights of random numbers; and the same in float64.

inputs: input_ids, position_ids, attention_mask, all int64 [batch, tokens]; output: last_hidden_state [batch, tokens, width].
"""
import math

import numpy
from onnx import TensorProto, helper

import model
from reference import gelu
from reference_attention import attention, join_heads, split_heads


class Encoder:
    """integers: products by weights of 8 bits, whose inputs are quantised while it runs. chains: LayerNormalization spelled out, as before opset 17."""

    def __init__(self, layers=6, width=384, heads=12, inner=1536, words=1000, positions=512, integers=False, chains=False, seed=1):
        self.layers, self.width, self.heads, self.inner, self.integers, self.chains = layers, width, heads, inner, integers, chains
        random = numpy.random.default_rng(seed)

        def normal(*shape, scale=1.0):
            return (random.standard_normal(shape) * scale).astype(numpy.float32)

        self.weights = {"words": normal(words, width), "positions": normal(positions, width, scale=0.3)}
        self._norm(normal, "embeddings")
        for i in range(layers):
            for name, inputs, outputs in (("query", width, width), ("key", width, width), ("value", width, width), ("output", width, width),
                                          ("up", width, inner), ("down", inner, width)):
                self.weights["%d.%s.weight" % (i, name)] = normal(inputs, outputs, scale=1.2 / math.sqrt(inputs))
                self.weights["%d.%s.bias" % (i, name)] = normal(outputs, scale=0.1)
            self._norm(normal, "%d.attention" % i)
            self._norm(normal, "%d.feed" % i)

    def _norm(self, normal, name):
        self.weights[name + ".norm.weight"] = 1 + normal(self.width, scale=0.1)
        self.weights[name + ".norm.bias"] = normal(self.width, scale=0.1)

    def onnx(self):
        """Bytes of the model's file."""
        self.nodes, self.constants, self.names = [], {}, 0
        ids = [(n, TensorProto.INT64, ["batch", "tokens"]) for n in ("input_ids", "position_ids", "attention_mask")]
        mask = self.put("Cast", self.put("Unsqueeze", "attention_mask", self.constant(numpy.array([1, 2]))), to=TensorProto.FLOAT)
        mask = self.put("Mul", self.put("Sub", self.constant(numpy.float32(1)), mask), self.constant(numpy.finfo(numpy.float32).min))
        x = self.put("Add", self.put("Gather", self.weight("words"), "input_ids"), self.put("Gather", self.weight("positions"), "position_ids"))
        x = self.norm(x, "embeddings")
        for i in range(self.layers):
            x = self.norm(self.put("Add", self.attention(x, mask, "%d." % i), x), "%d.attention" % i)
            x = self.norm(self.put("Add", self.feed_forward(x, "%d." % i), x), "%d.feed" % i)
        self.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"], name="last"))
        return model.model(self.nodes, ids, [("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", self.width])], self.constants, 17)

    def put(self, kind, *inputs, outputs=1, **attributes):
        """Adds a node; answers the names of its outputs, or the only one."""
        results = ["%s_%d_%d" % (kind.lower(), self.names, k) for k in range(outputs)]
        self.names += 1
        self.nodes.append(helper.make_node(kind, list(inputs), results, name=results[0], **attributes))
        return results[0] if outputs == 1 else results

    def constant(self, array):
        name = "constant_%d" % len(self.constants)
        self.constants[name] = numpy.asarray(array)
        return name

    def weight(self, name):
        self.constants[name] = self.weights[name]
        return name

    def project(self, x, name):
        bias = self.weight(name + ".bias")
        if not self.integers:
            return self.put("Add", self.put("MatMul", x, self.weight(name + ".weight")), bias)
        whole, scale = eight_bits(self.weights[name + ".weight"])
        numbers, x_scale, zero = self.put("DynamicQuantizeLinear", x, outputs=3)
        product = self.put("Cast", self.put("MatMulInteger", numbers, self.constant(whole), zero, self.constant(numpy.int8(0))), to=TensorProto.FLOAT)
        return self.put("Add", self.put("Mul", product, self.put("Mul", x_scale, self.constant(scale))), bias)

    def attention(self, x, mask, layer):
        by_head = self.constant(numpy.array([0, 0, self.heads, self.width // self.heads]))
        q, k, v = (self.put("Transpose", self.put("Reshape", self.project(x, layer + name), by_head), perm=order)
                   for name, order in (("query", (0, 2, 1, 3)), ("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3))))
        scores = self.put("Div", self.put("MatMul", q, k), self.constant(numpy.float32(math.sqrt(self.width // self.heads))))
        weights = self.put("Softmax", self.put("Add", scores, mask), axis=-1)
        mixed = self.put("Transpose", self.put("MatMul", weights, v), perm=(0, 2, 1, 3))
        return self.project(self.put("Reshape", mixed, self.constant(numpy.array([0, 0, self.width]))), layer + "output")

    def feed_forward(self, x, layer):
        x = self.project(x, layer + "up")
        inner = self.put("Add", self.put("Erf", self.put("Div", x, self.constant(numpy.float32(math.sqrt(2))))), self.constant(numpy.float32(1)))
        return self.project(self.put("Mul", self.put("Mul", x, inner), self.constant(numpy.float32(0.5))), layer + "down")

    def norm(self, x, name):
        weight, bias = self.weight(name + ".norm.weight"), self.weight(name + ".norm.bias")
        if not self.chains:
            return self.put("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-12)
        apart = self.put("Sub", x, self.put("ReduceMean", x, axes=[-1]))
        variance = self.put("ReduceMean", self.put("Pow", apart, self.constant(numpy.float32(2))), axes=[-1])
        deviation = self.put("Sqrt", self.put("Add", variance, self.constant(numpy.float32(1e-12))))
        return self.put("Add", self.put("Mul", self.put("Div", apart, deviation), weight), bias)

    def exact(self, ids):
        """Of one text, in float64: [tokens, width]."""
        w = {n: a.astype(numpy.float64) for n, a in self.weights.items()}

        def norm(x, name):
            x = x - x.mean(-1, keepdims=True)
            return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * w[name + ".norm.weight"] + w[name + ".norm.bias"]

        def project(x, name):
            return x @ w[name + ".weight"] + w[name + ".bias"]

        x = norm(w["words"][ids] + w["positions"][:len(ids)], "embeddings")
        for i in range(self.layers):
            q, k, v = (split_heads(project(x, "%d.%s" % (i, n))[None], self.heads) for n in ("query", "key", "value"))
            x = norm(x + project(join_heads(attention(q, k, v).values)[0], "%d.output" % i), "%d.attention" % i)
            x = norm(x + project(gelu(project(x, "%d.up" % i)), "%d.down" % i), "%d.feed" % i)
        return x


def eight_bits(weight):
    """Whole numbers of 8 bits and their scale, as quantisers of dynamic models make them."""
    scale = numpy.float32(abs(weight).max() / 127)
    return numpy.rint(weight / scale).astype(numpy.int8), scale


def texts(lengths, words=1000, seed=5):
    random = numpy.random.default_rng(seed)
    return [random.integers(0, words, n) for n in lengths]


def arranged(some, extent, left):
    """Texts as one batch of `extent` tokens, padded on the right or on the left; positions count a text's own tokens. Padding is word 0."""
    ids, positions, mask = (numpy.zeros((len(some), extent), numpy.int64) for _ in range(3))
    for row, text in enumerate(some):
        at = slice(extent - len(text), extent) if left else slice(0, len(text))
        ids[row, at], positions[row, at], mask[row, at] = text, numpy.arange(len(text)), 1
    return {"input_ids": ids, "position_ids": positions, "attention_mask": mask}


def real_rows(output, some, left):
    """Of a batch's output the rows of real tokens, one array for each text."""
    return [output[row, output.shape[1] - len(text):] if left else output[row, :len(text)] for row, text in enumerate(some)]
