"""A decoder with a cache as exporters write it: normalisation by roots of mean squares, rotary positions, grouped heads, a gated feed-forward.

attention "group": com.microsoft.GroupQueryAttention, which turns queries and keys itself; "onnx": RotaryEmbedding and Attention of ONNX's opset 23.
inputs: input_ids [batch, tokens], position_ids the same, past.I.key and past.I.value [batch, groups, past, width of a head], and for "group" lengths
int32 [batch], keys of each sequence less one, and total int32 [1]. outputs: logits [batch, tokens, words], present.I.key and present.I.value.
"""
import math

import numpy
from onnx import TensorProto, helper

import model
from model import DOMAIN
from reference import sigmoid
from reference_attention import attention, causal, join_heads, rotated, split_heads

ROOM = 128  # positions of the rotary tables


class Decoder:
    def __init__(self, attention="group", layers=2, heads=8, groups=2, head=32, inner=512, words=300, seed=2):
        self.attention, self.layers, self.heads, self.groups, self.head, self.words = attention, layers, heads, groups, head, words
        self.width = width = heads * head
        random = numpy.random.default_rng(seed)

        def normal(*shape):
            return (random.standard_normal(shape) / math.sqrt(shape[0])).astype(numpy.float32)

        self.weights = {"words": random.standard_normal((words, width)).astype(numpy.float32), "logits": normal(width, words), "norm": 1 + normal(width)}
        for i in range(layers):
            for name, inputs, outputs in (("query", width, width), ("key", width, groups * head), ("value", width, groups * head), ("output", width, width),
                                          ("gate", width, inner), ("up", width, inner), ("down", inner, width)):
                self.weights["%d.%s" % (i, name)] = normal(inputs, outputs)
            self.weights["%d.norm1" % i], self.weights["%d.norm2" % i] = 1 + normal(width), 1 + normal(width)
        angles = numpy.arange(ROOM)[:, None] / 10000.0**(numpy.arange(head // 2) / (head // 2))
        self.cosines, self.sines = numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)

    def onnx(self):
        self.nodes, self.constants = [], {"cosines": self.cosines, "sines": self.sines, **self.weights}
        inputs = [(n, TensorProto.INT64, ["batch", "tokens"]) for n in ("input_ids", "position_ids")]
        if self.attention == "group":
            inputs += [("lengths", TensorProto.INT32, ["batch"]), ("total", TensorProto.INT32, [1])]
            del inputs[1]
        outputs = ["logits"]
        x = self.put("Gather", ["words", "input_ids"])
        for i in range(self.layers):
            names = ["past.%d.key" % i, "past.%d.value" % i]
            inputs += [(n, TensorProto.FLOAT, ["batch", self.groups, "past", self.head]) for n in names]
            outputs += [n.replace("past", "present") for n in names]
            y = self.norm(x, "%d.norm1" % i)
            q, k, v = (self.put("MatMul", [y, "%d.%s" % (i, n)]) for n in ("query", "key", "value"))
            x = self.put("Add", [x, self.put("MatMul", [self.attend(i, q, k, v, names), "%d.output" % i])])
            y = self.norm(x, "%d.norm2" % i)
            gate, up = self.put("MatMul", [y, "%d.gate" % i]), self.put("MatMul", [y, "%d.up" % i])
            y = self.put("Mul", [self.put("Mul", [gate, self.put("Sigmoid", [gate])]), up])
            x = self.put("Add", [x, self.put("MatMul", [y, "%d.down" % i])])
        self.put("MatMul", [self.norm(x, "norm"), "logits_weight"], result="logits")
        self.constants["logits_weight"] = self.constants.pop("logits")
        return model.model(self.nodes, inputs, outputs, self.constants, 23)

    def put(self, kind, inputs, domain="", result=None, **attributes):
        result = result or "%s_%d" % (kind, len(self.nodes))
        results = result if isinstance(result, list) else [result]
        self.nodes.append(helper.make_node(kind, inputs, results, name=results[0], domain=domain, **attributes))
        return results[0]

    def norm(self, x, weight):
        if self.attention == "onnx":
            return self.put("RMSNormalization", [x, weight], axis=-1, epsilon=1e-5)
        return self.put("SimplifiedLayerNormalization", [x, weight], axis=-1, epsilon=1e-5)

    def attend(self, i, q, k, v, past):
        present = [n.replace("past", "present") for n in past]
        if self.attention == "group":
            return self.put("GroupQueryAttention", [q, k, v, *past, "lengths", "total", "cosines", "sines"], DOMAIN, ["attended_%d" % i, *present],
                            num_heads=self.heads, kv_num_heads=self.groups, do_rotary=1)
        q, k = (self.put("RotaryEmbedding", [x, "cosines", "sines", "position_ids"], num_heads=n) for x, n in ((q, self.heads), (k, self.groups)))
        return self.put("Attention", [q, k, v, "", *past], result=["attended_%d" % i, *present], q_num_heads=self.heads, kv_num_heads=self.groups, is_causal=1)

    def feed(self, ids, past, first):
        """Inputs of a call with ids [batch, tokens], whose first token's position is `first`; past: arrays of the previous call, or None."""
        batch, tokens = ids.shape
        empty = numpy.zeros((batch, self.groups, 0, self.head), numpy.float32)
        fed = {"input_ids": ids}
        if self.attention == "group":
            fed["lengths"] = numpy.full(batch, first + tokens - 1, numpy.int32)
            fed["total"] = numpy.array([first + tokens], numpy.int32)
        else:
            fed["position_ids"] = numpy.arange(first, first + tokens)[None].repeat(batch, 0)
        for i in range(self.layers):
            fed["past.%d.key" % i], fed["past.%d.value" % i] = (empty, empty) if past is None else past[2 * i:2 * i + 2]
        return fed

    def exact(self, ids):
        """Logits of one text [tokens, words] in float64."""
        w = {n: a.astype(numpy.float64) for n, a in self.weights.items()}

        def norm(x, weight):
            return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w[weight]

        x, n = w["words"][ids], len(ids)
        for i in range(self.layers):
            y = norm(x, "%d.norm1" % i)
            q, k, v = (split_heads((y @ w["%d.%s" % (i, name)])[None], h) for name, h in (("query", self.heads), ("key", self.groups), ("value", self.groups)))
            q, k = (rotated(a, self.cosines[None, :n], self.sines[None, :n]).values for a in (q, k))
            x = x + join_heads(attention(q, k, v, bias=causal(n, n, 0)).values)[0] @ w["%d.output" % i]
            y = norm(x, "%d.norm2" % i)
            gate = y @ w["%d.gate" % i]
            x = x + (gate * sigmoid(gate) * (y @ w["%d.up" % i])) @ w["%d.down" % i]
        return norm(x, "norm") @ w["logits"]
