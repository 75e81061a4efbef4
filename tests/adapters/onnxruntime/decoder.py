"""A decoder with a cache: decoder.py [--shipped] [--machines here,scalar,AArch64]

A prompt at once, by chunks and token by token, one sequence alone or several together, with 1 to 4 threads, and on several processors: logits and
caches are compared in bits, and with float64.
"""
import argparse
import os
import sys

import numpy

import decoder_model
import encoder
import host
import machines

TOKENS, BOUND = 24, 2e-5  # of the largest logit
CUTS = {"prompt at once or by chunks": (7, 1, 11, 5), "prompt at once or token by token": (1,) * TOKENS}


def generate(run, decoder, ids, cuts):
    """run(inputs) answers outputs; ids [batch, tokens] in calls of so many tokens. Answers logits of all tokens, and the caches."""
    logits, past, first = [], None, 0
    for tokens in cuts:
        outputs = run(decoder.feed(ids[:, first:first + tokens], past, first))
        logits.append(outputs[0])
        past, first = outputs[1:], first + tokens
    return [numpy.concatenate(logits, 1), *past]


def check(tally, runtime, decoder, plugin):
    """In this process; answers inputs and outputs of one call with a cache and one without, for other processors."""
    name, data = "decoder by " + decoder.attention, decoder.onnx()
    ids = numpy.random.default_rng(3).integers(0, decoder.words, (3, TOKENS))
    sessions = {n: runtime.session(data, provider=plugin, threads=n) for n in (1, 2, 3, 4)}
    if plugin:
        left = [kind for kind in sessions[1].left() if kind not in ("Gather", "Add", "Mul")]
        tally.say(not left, name + ", the plugin takes products, norms and attention", "left: %s" % left if left else "")
    whole = generate(sessions[1].run, decoder, ids[:1], (TOKENS,))
    exact = decoder.exact(ids[0])
    off = abs(whole[0][0] - exact).max() / abs(exact).max()
    tally.say(off <= BOUND, name + ", beside float64", "%.1e of the largest logit, at most %.1e" % (off, BOUND))
    for what, cuts in CUTS.items():
        found = generate(sessions[1].run, decoder, ids[:1], cuts)
        same = machines.difference(whole, found)
        tally.say(same == "same", "%s, %s" % (name, what), same, required=plugin)
    for threads in (2, 3, 4):
        same = machines.difference(whole, generate(sessions[threads].run, decoder, ids[:1], (TOKENS,)))
        tally.say(same == "same", "%s, %d threads" % (name, threads), same, required=plugin)
    together = generate(sessions[2].run, decoder, ids, (TOKENS,))
    same = machines.difference(whole, [a[:1] for a in together])
    tally.say(same == "same", name + ", three sequences together", same, required=plugin)
    together = generate(sessions[2].run, decoder, ids, (TOKENS - 2, 1, 1)) if decoder.attention == "group" else generate(sessions[2].run, decoder, ids, (9, 10, 5))
    same = machines.difference(whole, [a[:1] for a in together])
    tally.say(same == "same", name + ", three sequences together in several calls", same, required=plugin)
    first = decoder.feed(ids[:1], None, 0)
    after = decoder.feed(ids[:1, -1:], [a[:, :, :-1] for a in whole[1:]], TOKENS - 1)
    return name, data, [first, after], [whole, sessions[1].run(after)]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--shipped", action="store_true")
    arguments.add_argument("--machines", default="here,scalar,AArch64")
    asked = arguments.parse_args()
    os.makedirs(machines.WORK, exist_ok=True)
    tally, plugin = encoder.Tally(), not asked.shipped
    runtime = host.Runtime(os.environ["ORT_LIBRARY"])
    if plugin:
        runtime.register(os.environ["ORT_PLUGIN"])
    found = machines.machines()
    for attention in ("group", "onnx"):
        name, data, feeds, expected = check(tally, runtime, decoder_model.Decoder(attention), plugin)
        path = os.path.join(machines.WORK, name.replace(" ", "-") + ".onnx")
        with open(path, "wb") as out:
            out.write(data)
        for machine in (found[m] for m in asked.machines.split(",") if m in found):
            for what, answer, outputs in zip(("a prompt", "a token after it"), machine.run([machines.Job(path, fed) for fed in feeds], plugin), expected):
                same = answer.error or machines.difference(outputs, answer.outputs)
                tally.say(same == "same", "%s, %s on %s" % (name, what, machine.name), same, required=plugin)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
