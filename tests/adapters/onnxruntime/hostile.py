"""Models and inputs that are wrong: hostile.py LIBRARY --plugin PLUGIN [--only TEXT]

Each batch runs in a process of its own. Whatever is asked, the runtime answers with outputs or with an error that has a sentence, and the process
lives; after an error a right call still gives what it gave before. Sentences of the plugin's own are counted.
"""
import argparse
import os
import random
import subprocess
import sys

import numpy
from onnx import ModelProto

import form
import host
import model
import nodes_attention  # noqa: F401, adds forms
import nodes_contrib  # noqa: F401
import nodes_linear  # noqa: F401
import nodes_products  # noqa: F401
import nodes_rows  # noqa: F401

# AddressSanitizer's end of a process that asks for more memory than there is, where otherwise an exception is thrown, and the call is refused.
OUT_OF_MEMORY = "AddressSanitizer: allocator is out of memory"
KINDS = (numpy.float32, numpy.float16, numpy.float64, numpy.int8, numpy.uint8, numpy.int32, numpy.int64, numpy.bool_)


def one_of_each(every=1):
    """Some forms of each operator, so that each optional input appears."""
    seen, chosen = set(), []
    for one in form.FORMS:
        key = (one.operator(), tuple(sorted(n for n, a in one.inputs.items() if a is not None)), tuple(sorted(one.attributes)))
        if key not in seen:
            seen.add(key)
            chosen.append(one)
    return chosen[::every]


def reshaped(array, dice):
    """An array of another shape: an axis more or less, another extent, none."""
    shape = list(array.shape)
    way = dice.randrange(5)
    if way == 0:
        shape.insert(dice.randrange(len(shape) + 1), dice.choice((1, 2)))
    elif way == 1 and shape:
        del shape[dice.randrange(len(shape))]
    elif way == 2 and shape:
        shape[dice.randrange(len(shape))] += dice.choice((-1, 1, 2))
    elif way == 3 and shape:
        shape[dice.randrange(len(shape))] = 0
    elif shape:
        dice.shuffle(shape)
    shape = [max(n, 0) for n in shape]
    return numpy.resize(array, shape).astype(array.dtype) if numpy.prod(shape, dtype=int) else numpy.zeros(shape, array.dtype)


def wild(array, dice):
    """Values that indices and lengths must not have, or floats that are none."""
    wrong = numpy.array(array, copy=True)
    if wrong.size == 0:
        return wrong
    at = tuple(dice.randrange(n) for n in wrong.shape)
    if wrong.dtype.kind == "f":
        wrong[at] = dice.choice((numpy.nan, numpy.inf, -numpy.inf, 3e38))
    elif wrong.dtype.kind in "iu":
        limits = numpy.iinfo(wrong.dtype)
        wrong[at] = dice.choice((limits.min, limits.max, limits.max // 2, -1 if limits.min else 200, 0))
    else:
        wrong[...] = False
    return wrong


def wild_attributes(one, dice):
    """Attributes of other values: negative, zero, huge."""
    attributes = dict(one.attributes)
    names = [n for n, v in attributes.items() if isinstance(v, (int, float))]
    if not names:
        return None
    name = dice.choice(names)
    if isinstance(attributes[name], int):
        attributes[name] = dice.choice((-1, 0, 3, 7, 2**31, 2**62, -2**63))
    else:
        attributes[name] = dice.choice((-1.0, 0.0, float("nan"), float("inf"), 1e38))
    return attributes


def variations(one, dice):
    """(what, model, inputs) for one form."""
    fed, names = one.fed(), list(one.inputs)
    present = [n for n in names if one.inputs[n] is not None]
    plain = one.model()
    for _ in range(4):
        name = dice.choice(list(fed) or present)
        if name in fed:
            yield "another shape", plain, {**fed, name: reshaped(fed[name], dice)}
            yield "wild values", plain, {**fed, name: wild(fed[name], dice)}
    constants = [n for n in one.constants if one.inputs[n] is not None]
    parts = (one.kind, [r is not None for r in one.results])
    more = (one.domain, one.opset, one.constants)
    for name in constants[:2]:
        for change in (reshaped, wild):
            yield "another weight", model.one_node(parts[0], {**one.inputs, name: change(one.inputs[name], dice)}, parts[1], one.attributes, *more), fed
    for _ in range(2):
        name, kind = dice.choice(present), dice.choice(KINDS)
        changed = {**one.inputs, name: one.inputs[name].astype(kind)}
        yield "another type", model.one_node(parts[0], changed, parts[1], one.attributes, *more), {n: a for n, a in changed.items() if a is not None and n not in one.constants}
    name = dice.choice(present)
    less = {n: a for n, a in one.inputs.items() if n != name} if dice.random() < 0.5 else {**one.inputs, name: None}
    yield "an input less", model.one_node(parts[0], less, parts[1], one.attributes, *more), {n: a for n, a in less.items() if a is not None and n not in one.constants}
    yield "more outputs", model.one_node(parts[0], one.inputs, parts[1] + [True] * dice.choice((1, 5)), one.attributes, *more), fed
    for _ in range(2):
        attributes = wild_attributes(one, dice)
        if attributes is not None:
            yield "wild attribute", model.one_node(parts[0], one.inputs, parts[1], attributes, *more), fed
    yield "no attributes", model.one_node(parts[0], one.inputs, parts[1], {}, *more), fed
    yield "another opset", model.one_node(parts[0], one.inputs, parts[1], one.attributes, one.domain, dice.choice((1, 6, 12, 22, 24, 25, 26, 99)), one.constants), fed
    damaged = bytearray(plain)
    for _ in range(dice.choice((1, 3))):
        damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
    yield "damaged file", bytes(damaged), fed
    yield "short file", plain[:dice.randrange(len(plain))], fed


def batch(runtime, one, seed, trace, begin=0):
    """Runs all variations of a form, from one on. Answers counts: answered, refused, of these with a sentence of ours; or a sentence that is wrong."""
    dice, answered, refused, ours = random.Random(seed), 0, 0, 0
    right = runtime.session(one.model(), provider=True)
    if right.left():
        return 0, 0, 0  # nothing of ours
    before = right.run(one.fed())
    for number, (what, data, fed) in enumerate(variations(one, dice)):
        if number < begin:
            continue
        if trace:
            print("  %s" % what, flush=True)
        if sum(a.size for a in fed.values()) > 1 << 22 or too_large(data):
            continue
        try:
            session = runtime.session(data, provider=True)
            if session.left() and [n for n in session.assignment() if n[0] != host.PROVIDER]:
                continue  # the runtime's own kernels, whose failings are theirs
            session.run(fed)
            answered += 1
        except host.Error as error:
            refused += 1
            ours += "Attend" in error.sentence
            if len(error.sentence) < 12:
                return "%s: no sentence: %s" % (what, error)
    for a, b in zip(before, right.run(one.fed())):
        if not numpy.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            return "after that a right call gives something else"
    return answered, refused, ours


def too_large(data):
    """Damaged files may ask for memory that there is not."""
    try:
        whole = ModelProto.FromString(data)
    except Exception:
        return False
    return any(n > 1 << 24 for t in whole.graph.initializer for n in t.dims)


def versions(library):
    """Interfaces of versions that do not exist are refused."""
    for version in (0, 99, 2**31):
        try:
            host.Api(library, version)
            return "version %d was given out" % version
        except host.Error:
            pass
    return None


def children(asked, chosen, at_once=24):
    """Runs batches of forms in processes; a batch that dies is run again form by form."""
    totals, problems = [0, 0, 0], []
    waiting = [(list(range(i, min(i + at_once, len(chosen)))), 0) for i in range(0, len(chosen), at_once)]
    while waiting:
        indices, begin = waiting.pop(0)
        command = [sys.executable, __file__, asked.runtime, "--plugin", asked.plugin, "--only", asked.only, "--every", str(asked.every), "--forms", ",".join(map(str, indices)), "--begin", str(begin)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        for line in done.stdout.splitlines():
            if line.startswith("FAIL"):
                problems.append(line)
            elif line.startswith("counts"):
                totals = [a + int(b) for a, b in zip(totals, line.split()[1:])]
        if "counts" not in done.stdout:
            if len(indices) > 1:
                waiting = [([i], 0) for i in indices] + waiting
            elif OUT_OF_MEMORY in done.stderr and done.stdout.startswith("  "):
                waiting.insert(0, (indices, begin + len(done.stdout.splitlines())))  # behind the one that asked for it
                totals[1] += 1
            else:
                problems.append("FAIL %s: the process ended with %d after%s: %s" % (chosen[indices[0]].name, done.returncode, done.stdout[-40:].replace("\n", ""),
                                                                                   done.stderr.strip()[-600:]))
    return totals, problems


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("runtime")
    arguments.add_argument("--plugin", required=True)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--forms", help="of a child process")
    arguments.add_argument("--begin", type=int, default=0, help="of a child with one form: the first of its variations")
    asked = arguments.parse_args()
    chosen = [f for f in one_of_each() if asked.only in f.operator() + " " + f.name][::asked.every]
    if asked.forms is None:
        totals, problems = children(asked, chosen)
        problem = versions(asked.runtime)
        for line in problems + (["FAIL " + problem] if problem else []):
            print(line)
        print("%d forms, %d wrong uses were answered with numbers, %d refused, %d of these by the plugin; %d failed" % (len(chosen), *totals, len(problems)))
        return 1 if problems or problem or not totals[1] else 0
    runtime = host.Runtime(asked.runtime)
    runtime.register(asked.plugin)
    counts, failed = [0, 0, 0], 0
    indices = [int(i) for i in asked.forms.split(",")]
    for i in indices:
        result = batch(runtime, chosen[i], i, len(indices) == 1, asked.begin)
        if isinstance(result, str):
            failed += 1
            print("FAIL %s: %s" % (chosen[i].name, result))
        else:
            counts = [a + b for a, b in zip(counts, result)]
    print("counts %d %d %d" % tuple(counts))
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
