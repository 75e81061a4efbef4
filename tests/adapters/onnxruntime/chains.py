"""Attention that is spelled out, which the plugin makes one node of: chains.py LIBRARY --plugin PLUGIN [--machines here,scalar,AArch64]

Every spelling that it takes has to be taken whole, and is compared with float64; it has the same bits with any number of threads, with padding that
masks hide, and a share of them on other machines (machines.py). What is nearly such a chain has to stay as it is, and is compared with the runtime's own kernels.
"""
import argparse
import os
import sys

import numpy

import host
import machines
from chain_model import HIDDEN, LOWEST, Chain
from form import Numbers

BATCH, HEADS, TOKENS, KEYS, WIDTH = 2, 4, 5, 70, 8
# Extents of masks and conditions, which are broadcast.
SHAPES = ((BATCH, HEADS, TOKENS, KEYS), (1, 1, TOKENS, KEYS), (BATCH, 1, 1, KEYS), (1, HEADS, 1, KEYS), (TOKENS, KEYS), (KEYS,), (BATCH, 1, TOKENS, 1), (1,), ())


class Tally:
    def __init__(self):
        self.failed = 0

    def say(self, right, what, why=""):
        print("%s %s%s" % ("ok  " if right else "FAIL", what, "" if right else ": " + str(why)), flush=True)
        self.failed += not right


def arrays(random, batch=BATCH, heads=HEADS, tokens=TOKENS, keys=KEYS):
    """q, k and v; without heads, where there are none."""
    return [random.normal(*((batch, heads) if heads else (batch,)), *extents) for extents in ((tokens, WIDTH), (keys, WIDTH), (keys, WIDTH + 2))]


def hiding(random, shape):
    """What hides some keys, and of the first row of several all."""
    hidden = random.random.random(shape) < 0.4
    if hidden.ndim > 1 and hidden.shape[-2] > 1:
        hidden[..., 0, :] = True
    return hidden


def spellings():
    """(name, a Chain) of all that is taken."""
    for heads in ("ready", "turned", "at once"):
        random = Numbers("chains " + heads)
        for i, shape in enumerate(SHAPES):
            hidden = hiding(random, shape)
            bias = random.normal(*shape)
            lowest = numpy.where(hidden, numpy.float32(HIDDEN), bias)
            for j, (name, steps) in enumerate((
                    ("Add", [("add", bias)]), ("Add of -inf", [("add", lowest)]), ("Where of -inf", [("hide", hidden, HIDDEN)]), ("Where of -inf, other side", [("show", ~hidden, HIDDEN)]),
                    ("Where of -1e9", [("hide", hidden, -1e9)]), ("Where of the lowest number", [("show", ~hidden, LOWEST)]), ("Where of -1e4", [("hide", hidden, -1e4)]),
                    ("Add, Where", [("add", bias), ("hide", hidden, HIDDEN)]), ("Add, Where of -1e4", [("add", bias), ("hide", hidden, -1e4)]), ("Where, Add", [("show", ~hidden, HIDDEN), ("add", bias)]),
                    ("Where of -1e4, Add", [("hide", hidden, -1e4), ("add", bias)]))):
                more = dict(scaling=("Div", "Mul", None)[(i + j) % 3], safe=(None, 0, -0.0)[(i + 2 * j) % 3], constant=(i + j) % 5 == 4)
                more.update({"first": 1} if j % 2 else {}, opset=(17, 12, 20)[(2 * i + j) % 3], axis=(-1, 3)[j % 2])
                yield "%s, heads %s, %s of %s" % (name, heads, {n: v for n, v in more.items() if v is not None}, list(shape)), Chain(arrays(random), heads, steps, **more)
        for safe in (None, 0):
            yield "no mask, heads %s, safe %s" % (heads, safe), Chain(arrays(random), heads, safe=safe)
    random = Numbers("chains without heads")
    for shape in ((BATCH, TOKENS, KEYS), (BATCH, 1, KEYS), (TOKENS, KEYS), (1, 1, 1)):
        hidden = hiding(random, shape)
        for name, steps in (("Add", [("add", numpy.where(hidden, numpy.float32(HIDDEN), random.normal(*shape)))]), ("Where of -1e9", [("hide", hidden, -1e9)])):
            yield "%s of %s, three axes" % (name, list(shape)), Chain(arrays(random, heads=0), "ready", steps, safe=0, axis=2)
            for heads in ("turned", "at once"):
                yield "%s of %s, three axes, tokens first, %s, masks of any axes" % (name, list(shape), heads), Chain(arrays(random, heads=0), heads, steps, no_ranks=1)
    hidden, other, bias = hiding(random, (TOKENS, KEYS)), random.random.random((BATCH, 1, 1, KEYS)) < 0.4, random.normal(1, HEADS, 1, KEYS)
    for filling in (HIDDEN, -1e9):
        two = [("hide", hidden, filling), ("show", ~other, filling)]
        yield "two conditions, filled with %g" % filling, Chain(arrays(random), "turned", two)
        yield "two conditions of few axes, filled with %g" % filling, Chain(arrays(random), "ready", [("show", ~hidden[:, :1], filling), ("hide", other[0, 0], filling)])
        yield "scaled behind a filling of %g" % filling, Chain(arrays(random), "ready", [("hide", hidden, filling), ("divide", 3)])
        for scaling in ("Div", "Mul", None):
            yield "conditions that are expanded, filled with %g, scaled by %s" % (filling, scaling), Chain(arrays(random), "ready", [("hide", other, filling)], scaling, expanded="")
    for place in range(3):
        yield "two conditions, and a mask at %d" % place, Chain(arrays(random), "ready", mixed(hidden, other, bias, place))
    for extents in (dict(tokens=1), dict(keys=1), dict(batch=1, tokens=130, keys=130), dict(heads=1, keys=600), dict(tokens=0), dict(keys=0), dict(batch=0)):
        some = {"tokens": TOKENS, "keys": KEYS, **extents}
        hidden = random.random.random((1, 1, some["tokens"], some["keys"])) < 0.4
        yield "extents %s" % extents, Chain(arrays(random, **extents), "ready", [("hide", hidden, -1e9)])
    for which in range(3):
        some = arrays(random)
        some[which] = some[which][:, :1]
        yield "one head of %s for all" % "qkv"[which], Chain(some, "ready", [("show", random.chosen(BATCH, 1, 1, KEYS), HIDDEN)])


def mixed(hidden, other, bias, place, filling=HIDDEN):
    """Two conditions, and a mask before, between or behind."""
    steps = [("hide", hidden, filling), ("show", ~other, filling)]
    return steps[:place] + [("add", bias)] + steps[place:]


def near_misses():
    """(name, an operator that has to be left to the runtime, a Chain)"""
    random = Numbers("near misses")
    hidden, bias = random.random.random((TOKENS, KEYS)) < 0.4, random.normal(TOKENS, KEYS)
    hide = [("hide", hidden, HIDDEN)]

    def chain(steps=(), **more):
        return Chain(arrays(random), "ready", steps, **more)

    for filling in (-9999, 0, 1e9, numpy.inf, numpy.nan):
        yield "a filling of %s" % filling, "Where", chain([("hide", hidden, filling)])
    yield "fillings of one for each key", "Where", chain([("hide", hidden, numpy.full(KEYS, -1e9))])
    yield "a filling of four axes", "Where", chain([("hide", hidden, numpy.full((1, 1, 1, 1), HIDDEN))])
    yield "a filling that is an input", "Where", chain(hide, filling_fed=1)
    yield "a condition of five axes", "Where", chain([("hide", hidden[None, None, None], HIDDEN)])
    yield "a mask of five axes", "Add", chain([("add", bias[None, None, None])])
    other = ("show", random.chosen(TOKENS, KEYS), HIDDEN)
    yield "three conditions", "Where", chain(hide * 2 + [other])
    yield "two conditions with fillings of their own", "Where", chain([("hide", hidden, -1e9), other])
    for place in range(3):
        yield "two conditions that fill in numbers, and a mask at %d" % place, "Where", chain(mixed(hidden, ~other[1], bias, place, -1e9))
    yield "scores that others use", "Where", chain(hide, expanded="", used=1)
    yield "scores that others use, a condition of another shape", "Where", chain(hide, expanded="mask0", used=1)
    yield "a condition of another shape", "Expand", chain(hide, expanded="mask0")
    yield "a condition of the last part of the scores' shape", "Expand", chain(hide, expanded="", shape=dict(start=2))
    yield "a condition of the first part of the scores' shape", "Expand", chain([("hide", hidden[:1, :1], HIDDEN)], expanded="", shape=dict(end=-4))
    yield "two masks", "Add", chain([("add", bias), ("add", bias)])
    yield "scaled behind a small filling", "Where", chain([("hide", hidden, -2e4), ("divide", 3)])
    yield "scaled by less than 0", "Where", chain([("hide", hidden, 1e9), ("divide", -3)])
    yield "scaled behind the filling and the mask", "Where", chain([("add", bias), ("hide", hidden, -1e9), ("divide", 3)])
    yield "scaled behind the mask", "Add", chain([("add", bias), ("divide", 3)])
    for safe in (1, numpy.nan, 1e-30):
        yield "%s in the place of NaN" % safe, "IsNaN", chain(hide, safe=safe)
    yield "0 where there is no NaN", "IsNaN", chain(hide, safe=0, swapped=1)
    yield "infinity in the place of NaN", "IsInf", chain(hide, safe=0, nan="IsInf")
    yield "NaN of the scores", "IsNaN", chain(hide, safe=0, nan_of_scores=1)
    yield "scores that are put out", "Where", chain(hide, shown="scores")
    yield "weights that are put out", "Where", chain(hide, shown="weights")
    for opset, axis in ((17, 2), (17, 1), (12, 2), (12, None)):
        yield "softmax %d of axis %s" % (opset, axis), "Where", chain(hide, opset=opset, axis=axis)
    yield "axes that nobody says", "Where", chain(hide, no_ranks=1)
    yield "axes of the mask that nobody says", "Where", Chain(arrays(random, heads=0), "turned", [("hide", hidden[None], HIDDEN)], no_ranks=1, output_ready=1)


def whole(runtime, name, chain):
    """Whether a chain is taken as one node, and is right; its name; what is wrong."""
    data = chain.onnx()
    try:
        session = runtime.session(data, provider=True)
        if session.left():
            return False, name, "left: %s" % session.left()
        found = session.run(chain.fed)
        error = chain.exact().error(found[0], False)
        for threads in (2, 3):
            same = machines.difference(found, runtime.session(data, provider=True, threads=threads).run(chain.fed))
            error = error or (None if same == "same" else "%d threads: %s" % (threads, same))
    except host.Error as refused:
        error = refused
    return not error, name, error


def left(runtime, name, kind, chain):
    """The same of one whose operator `kind` is left to the runtime."""
    data = chain.onnx()
    session = runtime.session(data, provider=True)
    if kind not in session.left():
        return False, name, "%s is not left: %s" % (kind, session.left())
    try:
        pairs = list(zip(runtime.session(data).run(chain.fed), session.run(chain.fed)))
    except host.Error as refused:
        return False, name, refused
    off = [abs(a - b).max() for a, b in pairs if not numpy.allclose(a, b, rtol=1e-5, atol=1e-5, equal_nan=True)]
    return not off, name, "off by %s" % off


def check_refusals(runtime, tally):
    """Extents that do not fit are refused with a sentence."""
    random = Numbers("refusals")
    for what, some, shape in (("queries of another width", dict(q=(BATCH, HEADS, TOKENS, WIDTH - 1)), (KEYS,)), ("heads of keys", dict(k=(BATCH, HEADS - 1, KEYS, WIDTH)), (KEYS,)),
                              ("values of fewer tokens", dict(v=(BATCH, HEADS, KEYS - 1, WIDTH)), (KEYS,)), ("batch rows of values", dict(v=(BATCH + 1, HEADS, KEYS, WIDTH)), (KEYS,)),
                              ("keys of a condition", {}, (KEYS - 1,)), ("queries of a condition", {}, (TOKENS + 1, KEYS)), ("heads of a condition", {}, (1, HEADS + 1, 1, KEYS)),
                              ("batch rows of a condition", {}, (BATCH + 1, 1, 1, KEYS))):
        fine = Chain(arrays(random), "ready", [("hide", numpy.zeros((1, 1, 1, KEYS), numpy.bool_), -1e9)])
        fed = {**fine.fed, **{n: random.normal(*extents) for n, extents in some.items()}, "mask0": numpy.zeros((1,) * (4 - len(shape)) + shape, numpy.bool_)}
        try:
            runtime.session(fine.onnx(), provider=True).run(fed)
            tally.say(False, what, "it was answered with numbers")
        except host.Error as error:
            tally.say("Attend: several nodes as one: " in str(error), what + " is refused", error)


def random_chain(seed):
    """A chain of any masks of any extents, and which queries see a key by all of them, or none by conditions alone."""
    numbers = Numbers("random chain %d" % seed)
    dice, steps, seen = numbers.random, [], numpy.ones((2, 3, 4, 9), numpy.bool_)
    some = [numbers.normal(2, 3, n, WIDTH) for n in (4, 9, 9)]
    for kind in dice.choice(["add", "hide", "show", "divide"], dice.integers(0, 4), p=[0.35, 0.3, 0.25, 0.1]):
        shape = [n if dice.random() < 0.6 else 1 for n in seen.shape][dice.integers(0, 4):]
        hidden, filling = dice.random(shape) < dice.choice([0.2, 0.5, 0.9]), dice.choice([HIDDEN, HIDDEN, -1e9, -1e4, LOWEST, -9999])
        if kind == "divide":
            steps.append((kind, dice.choice([0.5, 2])))
        elif kind == "add":
            steps.append((kind, numpy.where(hidden, numpy.float32(filling), numbers.normal(*shape))))
        else:
            steps.append((kind, hidden if kind == "hide" else ~hidden, filling))
        if kind != "divide":
            seen &= ~hidden
    chain = Chain(some, dice.choice(["ready", "turned", "at once"]), steps, [None, "Div", "Mul"][dice.integers(3)], [None, 0][dice.integers(2)])
    alone = bool(steps) and all(kind in ("hide", "show") and filling[0] > HIDDEN for kind, _, *filling in steps)
    sees = seen.any(-1, keepdims=True) | alone
    return chain, sees.transpose(chain.order) if chain.turned else sees


def check_random(runtime, tally, count):
    """Whether it is taken or not, the numbers are those of the runtime's own kernels. A query that sees no key may have zeros."""
    taken = 0
    for seed in range(count):
        chain, sees = random_chain(seed)
        data = chain.onnx()
        session = runtime.session(data, provider=True)
        expected, found = (s.run(chain.fed)[0] for s in (runtime.session(data), session))
        taken += not session.left()
        wrong = ~numpy.isclose(found, expected, rtol=1e-4, atol=1e-4, equal_nan=True) & (sees | ~numpy.isfinite(found))
        wrong &= ~(numpy.isnan(expected) & (found == 0))
        if wrong.any():
            tally.say(False, "random chain %d, %s, %s" % (seed, "apart" if session.left() else "taken", [(k, *map(numpy.shape, w)) for k, *w in chain.steps]), found[wrong][0])
    tally.say(taken > count // 3, "%d random chains, %d of them taken" % (count, taken), "too few")


def check_rotary(runtime, tally):
    """Rotary positions between heads and scores stay with the runtime, and what is behind them is one node."""
    random = Numbers("rotary")
    for heads in ("ready", "turned"):
        chain = Chain(arrays(random), heads, [("hide", hiding(random, (TOKENS, KEYS)), HIDDEN)], safe=0, rotary=1)
        tally.say(*left(runtime, "rotary positions, heads %s" % heads, "Concat", chain))
        others = set(runtime.session(chain.onnx(), provider=True).left()) - {"Add", "Concat", "Mul", "Neg", "Slice"}
        tally.say(others == ({"Transpose"} if heads == "turned" else set()), "attention behind them is one node, heads %s" % heads, others)


def check_padding(runtime, tally):
    """A sequence has the same bits alone and with padding on either side, which a condition of [batch, 1, 1, keys] hides."""
    random, keys = Numbers("padding"), 41
    q, k, v = arrays(random, 1, HEADS, keys, keys)
    for filling in (HIDDEN, -1e9):
        alone = Chain([q, k, v], "ready", [("show", numpy.ones((1, 1, 1, keys), numpy.bool_), filling)])
        expected = runtime.session(alone.onnx(), provider=True).run(alone.fed)[0]
        for before, after in ((0, 3), (3, 0), (70, 1), (1, 70)):
            padded = [numpy.pad(a, ((0, 1), (0, 0), (before, after), (0, 0)), constant_values=0.5) for a in (q, k, v)]
            seen = numpy.zeros((2, 1, 1, before + keys + after), numpy.bool_)
            seen[..., before:before + keys] = True
            chain = Chain(padded, "ready", [("show", seen, filling)])
            found = runtime.session(chain.onnx(), provider=True, threads=2).run(chain.fed)[0][:1, :, before:before + keys]
            same = machines.difference([expected], [found])
            tally.say(same == "same", "padding of %d and %d, filled with %g" % (before, after, filling), same)


def check_machines(names, tally):
    found, jobs, reference = machines.machines() if names else {}, [], None
    os.makedirs(machines.WORK, exist_ok=True)
    for i, (_, chain) in enumerate(list(spellings())[::13]):
        path = os.path.join(machines.WORK, "chain.%d.onnx" % i)
        with open(path, "wb") as out:
            out.write(chain.onnx())
        jobs.append(machines.Job(path, chain.fed, threads=1 + i % 2))
    for machine in (found[m] for m in names.split(",") if m in found):
        answers = machine.run(jobs)
        reference = reference or answers
        problems = [b.error or machines.difference(a.outputs, b.outputs) for a, b in zip(reference, answers) if not a.error] or ["it does not run here"]
        tally.say(all(p == "same" for p in problems), "%d spellings on %s" % (len(jobs), machine.name), [p for p in problems if p != "same"][:1])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--machines", default="")
    asked, runtime = host.opened(arguments)
    tally = Tally()
    for name, chain in spellings():
        tally.say(*whole(runtime, name, chain))
    for name, kind, chain in near_misses():
        tally.say(*left(runtime, name, kind, chain))
    check_refusals(runtime, tally)
    check_random(runtime, tally, 300)
    check_rotary(runtime, tally)
    check_padding(runtime, tally)
    check_machines(asked.machines, tally)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
