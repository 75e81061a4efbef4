"""Cases for the adapter in TensorFlow Lite: models, inputs and a script for `host`, which judge.py judges: cases.py FOLDER COUNT"""
import os
import pickle
import sys

import numpy

from flat import Model, flex
from problems import Chain, Problem, operator, quantise


def random_problem(rng, int8, kv_heads=None, **more):
    heads = int(rng.integers(1, 7))
    groups = [n for n in range(1, heads + 1) if heads % n == 0]
    if kv_heads == "all":
        groups = [heads]
    keys = int(rng.choice([rng.integers(1, 9), rng.integers(9, 80), rng.integers(500, 620)], p=[0.3, 0.6, 0.1]))
    scale = None if rng.random() < 0.3 else numpy.float32(rng.uniform(0.05, 0.5))
    return Problem(rng, int(rng.integers(1, 4)), int(rng.integers(1, 24)), keys, heads, int(rng.choice(groups)), int(rng.integers(1, 41)),
                   int(rng.integers(1, 41)), int8=int8, scale=scale, spread=float(rng.uniform(0.3, 2.0)) if not int8 else 1.0, **more)


def mask_shape(rng, p):
    shape = [p.batch if rng.random() < 0.5 else 1, p.heads if rng.random() < 0.3 else 1, p.tokens if rng.random() < 0.7 else 1, p.keys]
    return tuple(shape)


class Writer:
    def __init__(self, folder):
        self.folder, self.script, self.cases = folder, [], []
        os.makedirs(os.path.join(folder, "models"), exist_ok=True)

    def add(self, name, built, options, **about):
        model, outputs, data = built
        path = os.path.join(self.folder, "models", name)
        model.write(path + ".tflite", outputs)
        with open(path + ".in", "wb") as file:
            for array in data:
                file.write(array.tobytes())
        self.script += ["model ../models/%s.tflite %s threads=1" % (name, options), "run ../models/%s.in %s.out" % (name, name)]
        self.cases.append(dict(about, name=name))

    def session(self, name, built, options, runs, **about):
        """Several calls of one interpreter. runs: (extents of the inputs or None, inputs) each. Their outputs follow each other."""
        model, outputs = built
        path = os.path.join(self.folder, "models", name)
        model.write(path + ".tflite", outputs)
        self.script.append("model ../models/%s.tflite %s threads=1" % (name, options))
        for i, (extents, data) in enumerate(runs):
            with open("%s.%d.in" % (path, i), "wb") as file:
                file.write(b"".join(array.tobytes() for array in data))
            if extents is not None:
                self.script += ["resize %d %s" % (n, " ".join(map(str, shape))) for n, shape in enumerate(extents)]
            self.script.append("run ../models/%s.%d.in %s.out" % (name, i, name))
        self.cases.append(dict(about, name=name))

    def close(self):
        with open(os.path.join(self.folder, "script"), "w") as file:
            file.write("\n".join(self.script) + "\n")
        with open(os.path.join(self.folder, "cases"), "wb") as file:
            pickle.dump(self.cases, file)


def chain_form(rng, p):
    form = {"base": str(rng.choice(["fused", "tokens first", "heads first"])), "key": str(rng.choice(["adjoint", "transposed"])),
            "output": str(rng.choice(["fused", "heads first"])), "mask first": bool(rng.random() < 0.3), "constant mask": bool(rng.random() < 0.3)}
    form["scale"] = "scores" if p.cap is not None else str(rng.choice(["scores", "query"] if p.int8 else ["scores", "query", "divided", "both"]))
    if p.heads == p.kv_heads and (p.mask is None or len(p.mask.shape) == 4):
        form["merged"] = bool(rng.random() < 0.4)
    if p.batch == p.heads == 1 and p.mask is None:
        form["matrices"] = True
        form["fully connected"] = True
    return form


def decoder(p, tokens, places):
    """Both operators, for so many tokens a call: positions, key, value, query and a mask to the attention of the query over the cache."""
    model = Model()
    position = model.input([tokens], "int64")
    key, value, query = [model.input((1, tokens) + a.shape[2:], p.type, **p.quantisation(n)) for n, a in ((1, p.key), (2, p.value), (0, p.query))]
    mask = model.input([1, 1, tokens, places], "bool" if p.int8 else "float32")
    keys, values = [model.tensor((1, places) + a.shape[2:], p.type, **p.quantisation(n)) for n, a in ((1, p.key), (2, p.value))]
    model.operator("CUSTOM", [position, key, value], [keys, values], custom="odml.update_kv_cache",
                   attributes=flex({"kv_cache_max": places, "layer_index": 0, "num_layers": 1}))
    to = model.tensor((1, tokens, p.heads, p.value_dim), p.type, **p.quantisation(3))
    model.operator("CUSTOM", [query, keys, values, mask], [to], custom="odml.scaled_dot_product_attention", attributes=flex({"scale": float(p.scale)}))
    return model, [to]


def decoder_call(p, first, count, places):
    """Extents and inputs of a call with tokens first ... first + count - 1."""
    seen = numpy.arange(places)[None] <= numpy.arange(first, first + count)[:, None]
    mask = seen if p.int8 else numpy.where(seen, 0, -1e9).astype(numpy.float32)
    part = [a[:, first : first + count] for a in (p.key, p.value, p.query)]
    data = [numpy.arange(first, first + count, dtype=numpy.int64)] + [numpy.ascontiguousarray(a) for a in part] + [mask]
    return [[count]] + [a.shape for a in part] + [(1, 1, count, places)], data


def write_sequences(rng, writer):
    """A text at once, token by token, in chunks that an interpreter is resized for, and once more in a cache that was used."""
    for i in range(4):
        int8, length, places = i % 2 == 1, 40, 64 if i < 2 else 1100
        if i >= 2:
            length = 530
        p = Problem(rng, 1, length, length, 4, 2, 16, 16, int8=int8, scale=0.25)
        p.mask = numpy.tril(numpy.ones((length, length), bool))[None, None]
        name = "sequence%d" % i
        writer.session(name, decoder(p, length, places), "register", [(None, decoder_call(p, 0, length, places)[1])], problem=p)
        if i < 2:
            writer.session(name + "_steps", decoder(p, 1, places), "register", [(None, decoder_call(p, t, 1, places)[1]) for t in range(length)], problem=p, same=name)
        cuts = [0, 7, 8, 20, length - 1, length]
        chunks = [decoder_call(p, a, b - a, places) for a, b in zip(cuts, cuts[1:])]
        writer.session(name + "_chunks", decoder(p, 1, places), "register", chunks, problem=p, same=name)
        other = Problem(rng, 1, length, length, 4, 2, 16, 16, int8=int8)
        other.steps = p.steps
        used = decoder_call(other, 0, length, places)
        writer.session(name + "_reused", decoder(p, length, places), "register", [used, decoder_call(p, 0, length, places)], problem=p, same=name, last=True)


def write_caches(rng, writer):
    """Caches alone: where tokens come to lie, byte by byte."""
    places, heads, dim = 6, 2, 3
    for int8 in (False, True):
        step = {"scale": 0.1, "zero": 5} if int8 else {}
        type = "int8" if int8 else "float32"

        def tokens(count):
            numbers = rng.normal(size=(1, count, heads, dim))
            return quantise(numbers, 0.1, 5) if int8 else numbers.astype(numpy.float32)

        model = Model()
        position, key, value = model.input([2], "int32"), model.input([1, 2, heads, dim], type, **step), model.input([1, 2, heads, dim], type, **step)
        keys, values = [model.tensor((1, places, heads, dim), type, **step) for _ in range(2)]
        model.operator("CUSTOM", [position, key, value], [keys, values], custom="odml.update_kv_cache", attributes=flex({"kv_cache_max": places}))
        runs, expected = [], b""
        held = [numpy.full((places, heads, dim), 5 if int8 else 0, type) for _ in range(2)]
        first = 0
        for at in (0, 2, 3, 5, 6, 8, 0):  # overwrites, moves on by one and by two, begins anew
            new = [tokens(2), tokens(2)]
            runs.append((None, [numpy.arange(at, at + 2, dtype=numpy.int32)] + new))
            if at == 0:
                first, held = 0, [numpy.full_like(a, 5 if int8 else 0) for a in held]
            gone = max(0, at + 2 - first - places)
            held = [numpy.concatenate([a[gone:], a[:gone]]) for a in held]
            first += gone
            for cache, token in zip(held, new):
                cache[at - first : at - first + 2] = token[0]
            expected += b"".join(a.tobytes() for a in held)
        writer.session("cache_" + type, (model, [keys, values]), "register", runs, bytes=expected)

        model = Model()
        inputs = [model.input((1, places, heads, dim), type, **step) for _ in range(2)] + [model.input([3], "int32")]
        inputs += [model.input((1, 3, heads, dim), type, **step) for _ in range(2)]
        outputs = [model.tensor((1, places, heads, dim), type, **step) for _ in range(2)]
        model.operator("CUSTOM", inputs, outputs, custom="odml.update_external_kv_cache", attributes=flex({}))
        caches, new = [tokens(places), tokens(places)], [tokens(3), tokens(3)]
        expected = [a.copy() for a in caches]
        for cache, token in zip(expected, new):
            cache[0, [1, 4]] = token[0, :2]
        data = caches + [numpy.asarray([1, 4, 0], numpy.int32)] + new
        writer.session("external_" + type, (model, outputs), "register", [(None, data)], bytes=b"".join(a.tobytes() for a in expected))


def chain_of_three_axes(p):
    """One head: query, key and value [batch, tokens, dim], scores and mask [batch, tokens or 1, keys]."""
    model = Model()
    chain = Chain(p, {"base": "fused", "output": "fused"})
    chain.model = model
    query, key, value = [model.input(a.shape[:2] + a.shape[3:], "float32") for a in (p.query, p.key, p.value)]
    scores = chain.times(chain.multiply(query, key, True, None, None), p.scale, None)
    mask = p.mask.reshape(p.batch, 1, p.keys)
    scores = chain.node("ADD", [scores, model.input(mask.shape)], chain.shape(scores), (11, {0: ("<b", 0)}))
    weights = chain.node("SOFTMAX", [scores], chain.shape(scores), (9, {0: ("<f", 1.0)}))
    return model, [chain.multiply(weights, value, False, None, None)], [p.query, p.key, p.value, mask]


def write_padded(rng, writer):
    """Texts behind padding, which a mask hides: the bits of each alone, for the operator and for a chain."""
    for i, kind in enumerate(("added", "hiding", "bool", "int8", "chain", "chain_of_one_head", "chain_of_three_axes")):
        lengths, longest = (150, 90, 117), 150  # sums are chains of 64 keys, so that padding matters from there on
        is_chain = kind.startswith("chain")
        heads = 1 if is_chain and kind != "chain" else 4  # one head: the batch could pass for heads
        p = Problem(rng, 3, longest, longest, heads, heads if is_chain else 2, 16, 16, int8=kind == "int8", scale=numpy.float32(0.25))
        seen = numpy.arange(longest)[None, None, None] >= longest - numpy.asarray(lengths)[:, None, None, None]
        if kind == "added":  # causal too: the queries of padding see nothing
            seen = seen & numpy.tril(numpy.ones((longest, longest), bool))
        p.mask = seen if kind == "bool" else numpy.where(seen, 0, -1e9 if kind == "hiding" or is_chain else -numpy.inf).astype(numpy.float32)
        if is_chain:
            chain = Chain(p, {"base": "fused", "key": "adjoint", "scale": "scores", "output": "fused"})
            built = chain_of_three_axes(p) if kind == "chain_of_three_axes" else chain.build()
            writer.add("padded_" + kind, built, "delegate", padded=p, chain=chain)
        else:
            writer.add("padded_" + kind, operator(p), "register", padded=p)
        for row, length in enumerate(lengths):
            alone = Problem(rng, 1, length, length, heads, p.kv_heads, 16, 16, int8=p.int8, scale=p.scale)
            alone.steps = p.steps
            for name in ("query", "key", "value"):
                setattr(alone, name, numpy.ascontiguousarray(getattr(p, name)[row : row + 1, longest - length :]))
            if kind == "added":
                alone.mask = numpy.where(numpy.tril(numpy.ones((length, length), bool)), 0, -numpy.inf).astype(numpy.float32)[None, None]
            writer.add("alone_%s%d" % (kind, row), operator(alone), "register", problem=alone, row=("padded_" + kind, row))


def write_left(rng, writer):
    """Graphs that the delegate leaves alone, wholly or in part: what comes out is what the runtime computes without it."""
    def chain(name, p, options="delegate", **form):
        it = Chain(p, dict({"base": "fused", "key": "adjoint", "scale": "scores", "output": "fused"}, **form))
        built = it.build()
        writer.add(name, built, options)
        writer.add(name + "_without", built, "", same_file=name)

    p = Problem(rng, 2, 5, 9, 4, 4, 8, 8)
    chain("left_weights", p, **{"weights too": True})
    chain("left_int8_mask", Problem(rng, 2, 5, 9, 4, 4, 8, 8, int8=True).add_mask(rng, (1, 1, 5, 9), "hiding"), **{"small mask": True})
    chain("left_int8", Problem(rng, 2, 5, 9, 4, 4, 8, 8, int8=True), options="plugin int8=0")


def write(folder, count):
    rng = numpy.random.default_rng(35)
    writer = Writer(folder)
    for i in range(count):
        p = random_problem(rng, int8=False, cap=float(rng.uniform(1, 30)) if rng.random() < 0.2 else None)
        kind = str(rng.choice(["none", "added", "hiding", "bool"]))
        if kind != "none":
            p.add_mask(rng, mask_shape(rng, p), kind)
        writer.add("float%d" % i, operator(p), "register", problem=p)
    for i in range(count // 2):
        p = random_problem(rng, int8=True)
        kind = str(rng.choice(["none", "hiding", "bool"]))
        if kind != "none":
            p.add_mask(rng, mask_shape(rng, p), kind)
        writer.add("int8%d" % i, operator(p), "register", problem=p)
    for i in range(count):
        int8 = i % 4 == 3
        p = random_problem(rng, int8, kv_heads="all" if int8 else None, cap=8.0 if not int8 and rng.random() < 0.1 else None)
        if i % 8 == 6:
            p = Problem(rng, 1, int(rng.integers(2, 20)), int(rng.integers(2, 40)), 1, 1, 16, 24, int8=int8, scale=0.25)
        elif rng.random() < 0.7:
            p.add_mask(rng, mask_shape(rng, p), "hiding" if int8 else str(rng.choice(["added", "hiding"])))
        chain = Chain(p, chain_form(rng, p))
        # Where the chain has another scale than the attribute's, of two roundings, its own is the operator's.
        scale = numpy.float32(1 / numpy.sqrt(p.head_dim)) if p.scale is None else numpy.float32(p.scale)
        if chain.form["scale"] == "divided":
            scale = numpy.float32(1) / numpy.float32(1 / scale)
        if chain.form["scale"] == "both":
            scale = numpy.float32(numpy.sqrt(scale)) * numpy.float32(numpy.sqrt(scale))
        if p.cap is not None:
            scale = numpy.float32(scale / numpy.float32(p.cap)) * numpy.float32(p.cap)
        if int8:
            scale = numpy.float32(float(numpy.float32(scale / 127)) * 127)
        p.scale = scale
        writer.add("chain%d" % i, chain.build(), "plugin" if i % 2 else "delegate", problem=p, chain=chain)
        writer.add("chain%d_operator" % i, operator(p), "register", problem=p, same="chain%d" % i)
    write_sequences(rng, writer)
    write_caches(rng, writer)
    write_padded(rng, writer)
    write_left(rng, writer)
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
