"""Cases for the adapter in TensorFlow Lite: cases.py write FOLDER COUNT writes models, inputs and a script for `host`; cases.py judge FOLDER RUN
compares the outputs of a run with float64, and those of chains with the operator's, bit by bit."""
import os
import pickle
import sys

import numpy

from problems import Chain, Problem, operator


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
    writer.close()


def read(folder, run, case):
    p = case["problem"]
    path = os.path.join(folder, run, case["name"] + ".out")
    if not os.path.exists(path):
        return None
    numbers = numpy.fromfile(path, p.type)
    if numbers.size != p.batch * p.tokens * p.heads * p.value_dim:
        return None
    return case["chain"].normal(numbers) if "chain" in case else numbers.reshape(p.batch, p.tokens, p.heads, p.value_dim)


def judge(folder, run):
    with open(os.path.join(folder, "cases"), "rb") as file:
        cases = pickle.load(file)
    wrong, outputs, worst = [], {}, 0.0
    for case in cases:
        output = read(folder, run, case)
        outputs[case["name"]] = output
        if output is None:
            wrong.append("%s: no output" % case["name"])
            continue
        exact, bound = case["problem"].exact()
        off = numpy.abs(output.astype(float) - exact).max() / bound
        worst = max(worst, off)
        if not off <= 1:
            wrong.append("%s: off by %.3g of what is allowed" % (case["name"], off))
        if "same" in case and outputs[case["same"]] is not None:
            if numpy.ascontiguousarray(outputs[case["same"]]).tobytes() != numpy.ascontiguousarray(output).tobytes():
                wrong.append("%s: other bits than %s %s" % (case["name"], case["same"], [c["chain"].form for c in cases if c["name"] == case["same"]]))
    print("%d cases, at most %.2f of the bound" % (len(cases), worst))
    for line in wrong[:8]:
        print("wrong: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(judge(sys.argv[2], sys.argv[3]))
