"""Models that are wrong: refusals.py write FOLDER FUZZED writes them and a script for `host`; refusals.py judge FOLDER LOG looks for the runtime's
error with the adapter's sentence in what the host printed, one for each. FUZZED: how many damaged maps of attributes each operator is given beside."""
import os
import sys

import numpy

from flat import Model, flex

SDPA, UPDATE, EXTERNAL = "odml.scaled_dot_product_attention", "odml.update_kv_cache", "odml.update_external_kv_cache"
F, I, STEP = "float32", "int8", {"scale": 0.02, "zero": 1}
RUNS = "runs"  # in the place of a sentence


def tensor(shape, type=F, data=None, **quantisation):
    return dict(shape=list(shape), type=type, data=data, **quantisation)


class Cases:
    def __init__(self, folder):
        self.folder, self.script, self.expected = folder, [], []
        os.makedirs(os.path.join(folder, "wrong"), exist_ok=True)

    def add(self, operator, inputs, outputs, sentence, attributes=b"", data=None):
        """data: of the inputs, for what only a call can notice."""
        name = "wrong%d" % len(self.expected)
        model = Model()
        ids = []
        for one in inputs:
            if one is None:
                ids.append(-1)
                continue
            one = dict(one)
            contents = one.pop("data")
            ids.append(model.tensor(data=contents, **one))
            if contents is None:
                model.inputs.append(ids[-1])
        to = [model.tensor(**dict(one, data=None)) for one in outputs]
        model.operator("CUSTOM", ids, to, custom=operator, attributes=attributes)
        path = os.path.join(self.folder, "wrong", name)
        model.write(path + ".tflite", to)
        self.script += ["model ../wrong/%s.tflite register" % name, "allocate"]
        if data is not None:
            with open(path + ".in", "wb") as file:
                file.write(b"".join(array.tobytes() for array in data))
            self.script.append("run ../wrong/%s.in %s.out" % (name, name))
        self.expected.append((name, sentence))

    def close(self):
        with open(os.path.join(self.folder, "wrong", "script"), "w") as file:
            file.write("\n".join(self.script) + "\n")
        with open(os.path.join(self.folder, "wrong", "expected"), "w") as file:
            file.writelines("%s\t%s\n" % each for each in self.expected)


def attention(cases):
    q, k, o = tensor((1, 3, 4, 8)), tensor((1, 5, 2, 8)), tensor((1, 3, 4, 8))
    q8, k8, o8 = tensor((1, 3, 4, 8), I, **STEP), tensor((1, 5, 2, 8), I, **STEP), tensor((1, 3, 4, 8), I, **STEP)

    def add(inputs, sentence, outputs=(o,), attributes=b"", **more):
        cases.add(SDPA, inputs, outputs, sentence, attributes, **more)

    add([q, k, k], RUNS)
    add([q8, k8, k8], RUNS, [o8])
    add([q, k, k, None], RUNS)
    add([tensor((1, 0, 4, 8)), k, k], RUNS, [tensor((1, 0, 4, 8))])
    add([q, tensor((1, 0, 2, 8)), tensor((1, 0, 2, 8))], RUNS, data=[numpy.zeros((1, 3, 4, 8), F)])
    add([q, k], "inputs: query, key and value are needed")
    add([q, k, k, None, q], "inputs: query, key and value are needed")
    add([q, None, k], "inputs: query, key, value or the output is missing")
    add([q, k, k], "outputs: there is one", [o, o])
    for bad in ((3, 4, 8), (1, 1, 3, 4, 8), (8,)):
        add([tensor(bad), k, k], "query: four axes")
        add([q, tensor(bad), k], "key: four axes")
        add([q, k, tensor(bad)], "value: four axes")
    add([q, tensor((2, 5, 2, 8)), k], "key: its batch")
    add([q, k, tensor((2, 5, 2, 8))], "value: its batch")
    add([q, k, tensor((1, 6, 2, 8))], "value: it has not as many tokens")
    add([q, k, tensor((1, 5, 4, 8))], "value: it has not as many heads")
    add([q, tensor((1, 5, 2, 7)), k], "key: its head_dim")
    add([q, tensor((1, 5, 3, 8)), tensor((1, 5, 3, 8))], "kv_heads: ")
    add([tensor((1, 3, 0, 8)), tensor((1, 5, 0, 8)), tensor((1, 5, 0, 8))], "query_heads: ")
    add([tensor((1, 3, 4, 0)), tensor((1, 5, 2, 0)), tensor((1, 5, 2, 4))], "head_dim: ")
    add([tensor((1, 3, 4, 70000)), tensor((1, 5, 2, 70000)), k], "head_dim: ")
    add([tensor((1, 3, 70000, 1)), tensor((1, 5, 70000, 1)), tensor((1, 5, 70000, 1))], "query_heads: ")
    for type in ("int32", "uint8", "int16", "int64", "bool", "float16"):
        add([tensor((1, 3, 4, 8), type), k, k], "query: its type")
        add([q, tensor((1, 5, 2, 8), type), k], "key: its type")
        add([q, k, tensor((1, 5, 2, 8), type)], "value: its type")
        add([q, k, k], "output: its type", [tensor((1, 3, 4, 8), type)])
    for mask in ((3, 6), (1, 1, 3, 6), (1,), (1, 1, 1, 3, 5)):
        add([q, k, k, tensor(mask)], "mask: one to four axes")
    for mask in ((2, 5), (1, 3, 3, 5), (2, 1, 3, 5), (1, 2, 3, 5)):
        add([q, k, k, tensor(mask)], "mask: an axis")
    add([q, k, k, tensor((3, 5), "int32")], "mask: its type is neither float32 nor bool")
    add([q, k, k, tensor((3, 5), I, **STEP)], "mask: its type is neither float32 nor bool")
    add([q8, k8, k8, tensor((3, 5), "int32")], "mask: its type is none of", [o8])
    add([q8, k8, k8, tensor((3, 5), I)], "mask: an int8 tensor needs", [o8])
    for i, name in enumerate(("query", "key", "value", "output")):
        shape = (o8 if i == 3 else [q8, k8, k8][i])["shape"]
        for step in ({}, {"scale": [0.1] * 8}, {"scale": []}):
            each = [q8, k8, k8, o8]
            each[i] = tensor(shape, I, **step)
            add(each[:3], name + ": an int8 tensor needs", each[3:])
        for scale in (0.0, -1.0, numpy.inf, numpy.nan, 1e38 if i != 2 else 1e30):
            each = [q8, k8, k8, o8]
            each[i] = tensor(shape, I, scale=scale, zero=0)
            # The scales of queries and keys are refused together, where the step of a score is too large; so are those of values and outputs.
            add(each[:3], "scale: ", each[3:])
        each = [q8, k8, k8, o8]
        each[i] = tensor(shape, I, scale=0.02, zero=200)
        add(each[:3], "zero_point: ", each[3:])
    wide = [tensor(shape, I, **STEP) for shape in ((1, 3, 4, 5000), (1, 5, 2, 5000), (1, 5, 2, 8))]
    add(wide, "head_dim: ", [o8])
    add([q8, k8, k8], "logit_cap: attention of int8 tensors has none", [o8], flex({"logit_cap": 5.0}))
    for bad in (-1.0, numpy.nan, numpy.inf, 1e31, -3):
        add([q, k, k], "scale: a number from 0", attributes=flex({"scale": bad}))
        add([q, k, k], "logit_cap: a number from 0", attributes=flex({"logit_cap": bad}))
    add([q, k, k], "attributes: there is one beside scale", attributes=flex({"scale": 0.5, "window": 3}))
    for damaged in (b"\0", b"\1\2\3", b"\xff" * 40, flex({"scale": 0.5})[:-1], flex({"scale": 0.5})[4:], b"\x05\x04\x01", flex({"scale": 0.5})[:-2] + b"\x24\x08", flex({"scale": 0.5})[:-2] + b"\x2b\x01"):
        add([q, k, k], "attributes: they are damaged", attributes=damaged)
    zeros = [numpy.zeros(t["shape"], I) for t in (q8, k8, k8)]
    for number in (-999.0, 1.0, numpy.nan, numpy.inf, 1e-40):
        add([q8, k8, k8, tensor((1, 5))], "mask: beside int8 queries its numbers are 0", [o8], data=zeros + [numpy.full((1, 5), number, F)])
    for number in (0.0, -0.0, -1000.0, -numpy.inf, -3e38):
        add([q8, k8, k8, tensor((1, 5))], RUNS, [o8], data=zeros + [numpy.full((1, 5), number, F)])
    add([q8, k8, k8, tensor((1, 5), I, scale=40, zero=127)], RUNS, [o8], data=zeros + [numpy.asarray([[127, -128, 127, 102, -1]], I)])
    add([q8, k8, k8, tensor((1, 5), I, scale=40, zero=127)], "mask: beside int8", [o8], data=zeros + [numpy.asarray([[127, -128, 127, 103, -1]], I)])


def caches(cases):
    p, k, c = tensor((2,), "int64"), tensor((1, 2, 3, 4)), tensor((1, 6, 3, 4))
    k8, c8 = tensor((1, 2, 3, 4), I, **STEP), tensor((1, 6, 3, 4), I, **STEP)
    six = {"kv_cache_max": 6}

    def add(inputs, sentence, outputs=(c, c), attributes=six, **more):
        cases.add(UPDATE, inputs, outputs, sentence, attributes if isinstance(attributes, bytes) else flex(attributes), **more)

    def add_external(inputs, sentence, outputs=(c, c), **more):
        cases.add(EXTERNAL, inputs, outputs, sentence, **more)

    add([p, k, k], RUNS)
    add([p, k, k], RUNS, attributes=b"", outputs=[tensor((1, 2048, 3, 4))] * 2)
    add([p, k], "inputs: position, key and value")
    add([p, k, k, k], "inputs: position, key and value")
    add([p, k, None], "inputs: one is missing")
    add([p, k, k], "outputs: there are two", [c])
    add([tensor((2,)), k, k], "position: its type")
    add([tensor((3,), "int64"), k, k], "position: one axis")
    add([tensor((1, 2), "int64"), k, k], "position: one axis")
    add([p, tensor((2, 3, 4)), k], "key: four axes")
    add([p, tensor((2, 2, 3, 4)), tensor((2, 2, 3, 4))], "key: a cache is of one sequence")
    add([tensor((0,), "int64"), tensor((1, 0, 3, 4)), tensor((1, 0, 3, 4))], "key: it has no tokens")
    add([tensor((7,), "int64"), tensor((1, 7, 3, 4)), tensor((1, 7, 3, 4))], "key: it has more tokens")
    add([p, k, tensor((1, 2, 3, 5))], "value: its shape")
    for type in ("int32", "uint8", "bool"):
        add([p, tensor((1, 2, 3, 4), type), k], "key: its type")
        add([p, k, tensor((1, 2, 3, 4), type)], "value: its type")
        add([p, k, k], "output: its type", [c, tensor((1, 6, 3, 4), type)])
    add([p, k8, k8], RUNS, [c8, c8])
    add([p, tensor((1, 2, 3, 4), I), k8], "key: int8 tensors need", [c8, c8])
    add([p, k8, k8], "output: its scale", [c8, tensor((1, 6, 3, 4), I, scale=0.5, zero=1)])
    for bad in (0, -5, 1.5, 2**31, 2**40, numpy.nan):
        add([p, k, k], "kv_cache_max: a whole number", attributes={"kv_cache_max": bad})
    for bad in (-1, 0.5, 2**31):
        add([p, k, k], "layer_index: a whole number", attributes={"layer_index": bad})
    add([p, k, k], "attributes: there is one beside", attributes={"kv_cache_max": 6, "ring": 1})
    add([p, k, k], "attributes: they are damaged", attributes=b"\1\2\3\4")
    new = [numpy.ones((1, 2, 3, 4), F)] * 2
    add([p, k, k], RUNS, data=[numpy.asarray([0, 1])] + new)
    for positions in ((0, 0), (0, 2), (1, 0)):
        add([p, k, k], "position: the positions do not follow", data=[numpy.asarray(positions)] + new)
    for first in (-1, -(2**63), 2**62, 2**63 - 2):
        add([p, k, k], "position: it is negative or beyond", data=[numpy.asarray([first, first + 1])] + new)
    add([p, k, k], "position: it leaves out positions", data=[numpy.asarray([9, 10])] + new)

    e = [c, c, tensor((2,), "int32"), k, k]
    add_external(e, RUNS)
    add_external(e[:4], "inputs: keys, values")
    add_external(e[:4] + [None], "inputs: one is missing")
    add_external([k] + e[1:], "values: its shape")
    add_external([tensor((1, 6, 3, 5)), c] + e[2:], "keys: its heads")
    add_external([tensor((1, 6, 3, 4), I, **STEP), c] + e[2:], "keys: its type")
    add_external([tensor((6, 3, 4)), c] + e[2:], "keys: four axes")
    add_external([tensor((1, 0, 3, 4)), c] + e[2:], "keys: four axes")
    held = [numpy.ones((1, 6, 3, 4), F)] * 2
    for positions in ((0, 6), (-1, 2), (5, 2**31 - 1)):
        add_external(e, "position: the cache has no such place", data=held + [numpy.asarray(positions, numpy.int32)] + new)


def fuzzed(cases, count):
    """Maps of attributes with bytes changed, cut off and put in: whatever comes of them, the host has to survive it."""
    rng = numpy.random.default_rng(7)
    q, k, c = tensor((1, 3, 4, 8)), tensor((1, 5, 2, 8)), tensor((1, 6, 2, 8))
    for i in range(count):
        update = i % 2 == 1
        whole = bytearray(flex({"kv_cache_max": 6, "layer_index": 1, "num_layers": 2} if update else {"scale": 0.5, "logit_cap": 3.0}))
        if i % 3 == 0:
            del whole[int(rng.integers(len(whole))) :]
        if i % 5 == 0:
            del whole[: int(rng.integers(len(whole) + 1))]
        for _ in range(int(rng.integers(1, 4))):
            if whole:
                at = int(rng.integers(len(whole)) if rng.random() < 0.5 else len(whole) - 1 - rng.integers(min(len(whole), 36)))
                whole[at] = int(rng.choice([rng.integers(256), 0, 1, 255, 0x24, 0x27]))
        if update:
            cases.add(UPDATE, [tensor((5,), "int64"), k, k], [c, c], "any", bytes(whole))
        else:
            cases.add(SDPA, [q, k, k], [q], "any", bytes(whole))


def judge(folder, log):
    with open(log, encoding="utf-8", errors="replace") as file:
        said = {}
        for line in file:
            if line.startswith("refused "):
                said.setdefault(line.split("(model ../wrong/")[-1].split(".")[0], line)
    wrong = []
    with open(os.path.join(folder, "wrong", "expected"), encoding="utf-8") as file:
        expected = [line.rstrip("\n").split("\t") for line in file]
    for name, sentence in expected:
        line = said.get(name, "")
        if sentence == RUNS and line:
            wrong.append("%s should run: %s" % (name, line.strip()))
        elif sentence not in (RUNS, "any") and not ("attend: odml." in line and sentence in line):
            wrong.append('%s: expected "%s", found "%s"' % (name, sentence, line.strip()))
    print("%d models" % len(expected))
    for line in wrong[:12]:
        print("wrong: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1] == "write":
        it = Cases(sys.argv[2])
        attention(it)
        caches(it)
        fuzzed(it, int(sys.argv[3]))
        it.close()
    else:
        sys.exit(judge(sys.argv[2], sys.argv[3]))
