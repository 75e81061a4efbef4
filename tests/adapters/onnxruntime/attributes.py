"""Nodes with one attribute that is unknown, or changed: attributes.py LIBRARY --plugin PLUGIN [--count N] [--seed N]

Refused by name, left to the runtime, or computed right, by the provider and by custom operators: nothing is ignored in silence. A changed
attribute is right where the runtime's own kernels give the same. Windows of Attention 25 are compared with float64; a runtime that does not know
them refuses them in its own domain before the provider is asked.

Each part of the nodes runs in a process of its own: the runtime's kernels do not survive all attributes.
"""
import argparse
import itertools
import random
import subprocess
import sys

import numpy
from onnx import ModelProto, helper

import form
import host
import model
import nodes_attention  # noqa: F401, adds forms
import nodes_contrib  # noqa: F401
import nodes_linear  # noqa: F401
import nodes_products  # noqa: F401
import nodes_rows  # noqa: F401
from custom import KINDS, moved
from form import Numbers
from hostile import one_of_each
from reference_attention import additive, attention, causal, hidden_unless, join_heads, joined

# Attributes that forms never have, with their defaults.
OTHERS = {"LayerNormalization": {"stash_type": 1}, "Attention": {"softmax_precision": 1}, "com.microsoft.EmbedLayerNormalization": {"mask_index_type": 0},
          "com.microsoft.GroupQueryAttention": {"qk_output": 0, "k_quant_type": "NONE", "kv_cache_bit_width": 0, "causal": 1, "sliding_window_cache": 0},
          "com.microsoft.MultiHeadAttention": {"mask_filter_value": -10000.0}, "com.microsoft.RotaryEmbedding": {"scale": 1.0, "is_packed_batching": 0},
          "com.microsoft.Attention": {"mask_filter_value": -10000.0, "do_rotary": 0, "past_present_share_buffer": 0, "rotary_embedding_dim": 0}}
# Names that other operators have. A kernel of a custom operator is told of attributes that it asks for by name, so that these can be refused; the
# provider is told of all.
SPECIFIED = ("left_window_size", "local_window_size", "is_causal", "unidirectional", "softcap", "scale", "do_rotary", "interleaved", "rotary_interleaved", "num_heads",
             "q_num_heads", "kv_num_heads", "smooth_softmax", "qk_output", "mask_filter_value", "rotary_embedding_dim", "transA", "alpha", "causal", "k_quant_type")
UNKNOWN = SPECIFIED + ("nonsense", "axis_", "keepdim", "Scale", "window")
NEAR = 2e-3  # of the largest number: how far off the runtime's own kernels may be


def all_attributes():
    """By operator: every attribute that a form of it has."""
    found = {}
    for one in form.FORMS:
        found.setdefault(one.operator(), dict(OTHERS.get(one.operator(), {}))).update(one.attributes)
    return found


def another(value, dice):
    if isinstance(value, int):
        return dice.choice((0, 1, 2, 3, -1, 8))
    if isinstance(value, float):
        return dice.choice((0.25, 0.5, 1.0, 2.0, 1e-3))
    if isinstance(value, str):
        return dice.choice(("none", "tanh", "NONE", "PER_TENSOR", "other"))
    return [n + dice.choice((0, 1)) for n in value]


def tried(runtime, data, fed, **options):
    """The outputs, or the sentence of an error; and whether the plugin computes it, or refuses it."""
    session = None
    try:
        session = runtime.session(data, **options)
        outputs = session.run(fed)
        return outputs, bool(options.get("custom")) or not session.left()
    except host.Error as error:
        return error.sentence, "Attend" in error.sentence or bool(session and not options.get("custom") and not session.left())


def apart(expected, found):
    """What is wrong, or None."""
    if [a.shape for a in expected] != [a.shape for a in found]:
        return "outputs of shapes %s, expected %s" % ([a.shape for a in found], [a.shape for a in expected])
    for a, b in zip(expected, found):
        a, b = a.astype(numpy.float64), b.astype(numpy.float64)
        same = (a == b) | (numpy.isnan(a) & numpy.isnan(b)) | ((a < -1e30) & (b < -1e30))
        off = numpy.where(same, 0, abs(numpy.nan_to_num(a) - numpy.nan_to_num(b))).max(initial=0)
        if off > NEAR * max(abs(numpy.where(abs(a) < 1e30, numpy.nan_to_num(a), 0)).max(initial=0), 1e-30):
            return "off by %.2g" % off
    return None


def cases(count, seed):
    """(form, attributes, name, whether it is unknown, how it runs)."""
    dice, every = random.Random(seed), [f for f in one_of_each() if not f.left and not f.shipped]
    known = all_attributes()
    del known["com.microsoft.MultiHeadAttention"]["unidirectional"]  # of as many queries as keys: no page tells what it means of others
    del known["com.microsoft.CausalConvWithState"]["ndim"]  # others than 1 end the process as shipped
    del known["com.microsoft.FusedMatMul"]["transBatchB"]  # of matrices without a batch, which the runtime refuses and the plugin multiplies
    custom = [f for f in every if f.operator() in KINDS and f.domain != "attend"]
    for i in range(count):
        how = dice.choice(("provider", "provider", "custom", "attend"))
        one = dice.choice(every if how == "provider" else custom)
        names = list(known[one.operator()])
        if names and dice.random() < 0.6:
            name = dice.choice(names)
            yield one, {**one.attributes, name: another(known[one.operator()][name], dice)}, name, False, how
        else:
            # A custom operator is not told of the model's version, so that windows are of all versions.
            skipped = ("left_window_size",) * (how != "provider" and one.operator() == "Attention") + ("unidirectional",) * (one.kind == "MultiHeadAttention")
            name = dice.choice([n for n in (UNKNOWN if how == "provider" else SPECIFIED) if n not in known[one.operator()] and n not in skipped])
            yield one, {**one.attributes, name: another(dice.choice((1, 0.5, "none", [1, 1])), dice)}, name, True, how


def check(runtime, plugin, one, attributes, name, unknown, how, say):
    """A sentence about what is wrong; otherwise "right", "refused" or "left"."""
    data, fed = (model.one_node(one.kind, one.inputs, [r is not None for r in one.results], attributes, one.domain, one.opset, one.constants, one.free), one.fed())
    options = {"provider": True} if how == "provider" else {"custom": plugin}
    found, ours = tried(runtime, moved(data) if how == "attend" else data, fed, **options)
    if isinstance(found, str) and (name in found or ours and not unknown):
        return "refused"
    if not ours and (how == "provider" or not isinstance(found, str)):
        return "left"
    if isinstance(found, str):
        return found
    if unknown:
        return "it was computed"
    say()
    expected, _ = tried(runtime, data, fed)
    if isinstance(expected, str):
        return "it was computed, and the runtime says: " + expected
    return apart(expected, found) or "right"


def child(asked):
    runtime = host.Runtime(asked.runtime)
    runtime.register(asked.plugin)
    for i, case in enumerate(cases(asked.count, asked.seed)):
        if i < asked.begin:
            continue
        print("%d" % i, flush=True)
        one, attributes, name, unknown, how = case
        outcome = check(runtime, asked.plugin, *case, lambda: print("shipped", flush=True))
        if outcome not in ("right", "refused", "left"):
            print("FAIL %s, %s = %r, %s: %s" % (one.name, name, attributes[name], how, outcome[:200]))
        print("outcome " + outcome.split()[0], flush=True)
    print("end")


def random_nodes(asked):
    """Counts of outcomes; a process that the runtime's own kernels end goes on behind the node."""
    counts, begin = {}, 0
    while True:
        done = subprocess.run([sys.executable, __file__, asked.runtime, "--plugin", asked.plugin, "--count", str(asked.count), "--seed", str(asked.seed), "--begin", str(begin)],
                              capture_output=True, text=True, timeout=600)
        lines = done.stdout.splitlines()
        for line in lines:
            if line.startswith("FAIL"):
                print(line)
                counts["failed"] = counts.get("failed", 0) + 1
            elif line.startswith("outcome"):
                outcome = line.split()[1]
                counts[outcome] = counts.get(outcome, 0) + (outcome in ("right", "refused", "left"))
        if lines and lines[-1] == "end":
            return counts
        numbers = [int(line) for line in lines if line.isdigit()]
        if not numbers or lines[-1] != "shipped":
            print("FAIL the process ended at %s: %s" % (lines[-1:] or "its beginning", done.stderr[-300:]))
            counts["failed"] = counts.get("failed", 0) + 1
            if not numbers:
                return counts
        begin = numbers[-1] + 1


def windows(runtime, asked):
    """Attention 25 with every window, of fewer and more queries than keys, with past keys and with lengths, in both domains."""
    failed = computed = refused = 0
    for (tokens, keys), left, right, is_causal, past, three in itertools.product(((4, 4), (3, 9), (9, 3), (1, 6)), (-1, 0, 1, 4), (-1, 0, 2), (0, 1), (0, 5), (False, True)):
        n, lengths = past + keys, [n for n in (keys, keys - 1)] if not past and keys > tokens else None
        numbers = Numbers("window %d %d %d" % (tokens, keys, past))
        q, k, v = numbers.normal(2, 4, tokens, 8), numbers.normal(2, 2, n, 8), numbers.normal(2, 2, n, 6)
        offset = numpy.reshape(lengths, (-1, 1, 1, 1)) - tokens if lengths else past
        place, at = numpy.arange(tokens)[:, None] + offset, numpy.arange(n)
        seen = ((left < 0) | (at >= place - left)) & ((right < 0) | (at <= place + right)) & (not lengths or at < numpy.reshape(lengths or [0], (-1, 1, 1, 1)))
        bias = hidden_unless(seen) + (causal(tokens, n, offset) if is_causal else 0)
        mask = numbers.chosen(tokens, n) if left == 1 else None
        if mask is not None:
            bias = bias + additive(mask, n)
        exact = attention(q, k, v, None, bias)
        shape = join_heads if three else lambda x: x
        inputs = {"q": shape(q), "k": shape(k[:, :, past:]), "v": shape(v[:, :, past:]), "mask": mask, "past_key": k[:, :, :past] if past else None,
                  "past_value": v[:, :, :past] if past else None, "lengths": numpy.array(lengths) if lengths else None}
        attributes = {"is_causal": is_causal, "left_window_size": left, "right_window_size": right, **({"q_num_heads": 4, "kv_num_heads": 2} if three else {})}
        data = model.one_node("Attention", inputs, 1, attributes, "", 25)
        fed = {name: array for name, array in inputs.items() if array is not None}
        for how, of_how, options in (("provider", data, {"provider": True}), ("custom", data, {"custom": asked.plugin}), ("attend", moved(data), {"custom": asked.plugin})):
            found, _ = tried(runtime, of_how, fed, **options)
            if isinstance(found, str):
                wrong = None if how == "provider" and "Unrecognized attribute: " in found and "window_size" in found else found
                refused += 1
            else:
                wrong = (joined(exact) if three else exact).error(found[0], False)
                computed += 1
            if wrong:
                failed += 1
                print("FAIL %d tokens, %d keys after %d, %s, %s: %s" % (tokens, keys, past, attributes, how, wrong[:200]))
    for attributes in ({"left_window_size": -2}, {"right_window_size": -2}, {"left_window_size": 1.5}, {"is_causal": 2}, {"scale": 1}, {"softmax_precision": 11}):
        data = model.one_node("Attention", {n: Numbers(n).normal(1, 1, 2, 4) for n in "qkv"}, 1, attributes, "", 25)
        for of_how in (data, moved(data)):
            found, ours = tried(runtime, of_how, {n: Numbers(n).normal(1, 1, 2, 4) for n in "qkv"}, custom=asked.plugin)
            if not isinstance(found, str) or not ours or list(attributes)[0] not in found:
                failed += 1
                print("FAIL %s is not refused by name: %s" % (attributes, str(found)[:200]))
    return failed, computed, refused


def chain(runtime):
    """A chain of nodes is not taken as one where one of them has an attribute that is not known."""
    failed = 0
    for attributes in ({}, {"nonsense": 3}):
        nodes = [helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("LayerNormalization", ["sum", "weight"], ["y"], **attributes)]
        data = model.model(nodes, [(name, 1, [2, 8]) for name in "ab"], ["y"], {"weight": numpy.ones(8, numpy.float32)}, 17)
        left = runtime.session(data, provider=True).left()
        if left != (["Add", "LayerNormalization"] if attributes else []):
            failed += 1
            print("FAIL Add and LayerNormalization, %s: the runtime computes %s" % (attributes, left))
    return failed


def beside_the_provider(runtime, plugin):
    """A session that has the provider and custom operators refuses every name that these do not read."""
    failed, fed = 0, {name: Numbers(name).normal(1, 1, 2, 4) for name in "qkv"}
    for attributes in ({}, {"nonsense": 3}, {"Is_causal": 1}):
        data = moved(model.one_node("Attention", fed, 1, {"is_causal": 1, **attributes}, "", 23))
        found, _ = tried(runtime, data, fed, provider=True, custom=plugin)
        if isinstance(found, str) != bool(attributes) or attributes and list(attributes)[0] not in found:
            failed += 1
            print("FAIL attend.Attention beside the provider, %s: %s" % (attributes, str(found)[:200]))
    return failed


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("runtime")
    arguments.add_argument("--plugin", required=True)
    arguments.add_argument("--count", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=60)
    arguments.add_argument("--begin", type=int, help="of a child process: its first node")
    asked = arguments.parse_args()
    if asked.begin is not None:
        return child(asked)
    counts = random_nodes(asked)
    runtime = host.Runtime(asked.runtime)
    runtime.register(asked.plugin)
    failed, computed, refused = windows(runtime, asked)
    failed += chain(runtime) + beside_the_provider(runtime, asked.plugin)
    print("%d nodes: %s; %d windows computed, %d not known to the runtime, %d wrong" % (
        asked.count, ", ".join("%d %s" % (n, outcome) for outcome, n in sorted(counts.items()) if n), computed, refused, failed))
    return 1 if failed or counts.get("failed") or not counts.get("right") or not computed else 0


if __name__ == "__main__":
    sys.exit(main())
