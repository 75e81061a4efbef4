"""What changes bits in ONNX Runtime, as shipped and with the plugin: lines for the table, see invariance.sh.

float32: an encoder of two layers and a decoder of two; numbers of 8 bits: the same encoder with products in integers.
"""
import os
import sys

import numpy

import decoder
import decoder_model
import encoder
import encoder_model
import host
import machines
import timing

NAME = "ONNX Runtime"
TOKENS = 24


def of_encoder(found, integers):
    """{what changes: (as shipped, with the plugin)}"""
    path = os.path.join(machines.WORK, "invariance.%d.onnx" % integers)
    with open(path, "wb") as out:
        out.write(encoder_model.Encoder(layers=2, width=192, heads=6, inner=768, integers=integers).onnx())
    texts, answers = encoder_model.texts((9, 17, 5, 12, 70)), {}

    def ask(machine, plugin, arrangements):
        return [rows for _, rows in encoder.ask(found[machine], path, texts, plugin, arrangements)]

    def compared(pairs):
        """The worst of pairs of rows."""
        said = [b if isinstance(b, str) else machines.difference(a, b) for a, b in pairs]
        return max(said, key=lambda text: text != "same")

    for plugin in (False, True):
        alone, *others = ask("here", plugin, [encoder.ALONE] + encoder.ARRANGEMENTS)
        threads = [rows for a, rows in zip(encoder.ARRANGEMENTS, others) if a.what == "threads 1 to 4"]
        said = {"threads 1 to 4": compared([(threads[0], rows) for rows in threads[1:]])}
        for what in ("batch", "padding on the right", "padding on the left"):
            said[what] = compared([(alone, rows) for a, rows in zip(encoder.ARRANGEMENTS, others) if a.what == what])
        without = [(alone, ask("scalar", plugin, [encoder.ALONE])[0])] if plugin else []
        if "Nehalem" in found:
            # Fused multiply-adds in software on an emulated processor take their time: a small encoder, of few tokens.
            small = os.path.join(machines.WORK, "small.%d.onnx" % integers)
            with open(small, "wb") as out:
                out.write(encoder_model.Encoder(layers=1, width=64, heads=2, inner=128, integers=integers).onnx())
            without.append([encoder.ask(found[m], small, texts[:3], plugin, [encoder.ALONE])[0][1] for m in ("here", "Nehalem")])
        said["x86-64 with AVX2 or without"] = compared(without) if without else "not here: no qemu-x86_64"
        said["x86-64 or AArch64"] = compared([(alone, ask("AArch64", plugin, [encoder.ALONE])[0])]) if "AArch64" in found else "not here: no qemu-aarch64"
        said["x86-64 AVX2 or AVX-512"] = avx512(found["here"], ask, compared, alone, plugin)
        for what, text in said.items():
            answers.setdefault(what, []).append(text)
    return answers


def avx512(here, ask, compared, alone, plugin):
    with open("/proc/cpuinfo") as file:
        if "avx512f" not in file.read():
            return "not here: the processor has no AVX-512"
    if not plugin:
        return "not here: ONNX Runtime has no switch for it"
    here.environment["ATTEND_BACKEND"] = "avx2"
    rows = ask("here", plugin, [encoder.ALONE])[0]
    del here.environment["ATTEND_BACKEND"]
    return compared([(alone, rows)])


def of_decoder(runtime):
    model, answers = decoder_model.Decoder("group"), {}
    ids = numpy.random.default_rng(3).integers(0, model.words, (3, TOKENS))
    for plugin in (False, True):
        run = runtime.session(model.onnx(), provider=plugin).run

        def calls(cuts):
            return decoder.generate(run, model, ids[:1], cuts)

        whole = calls((TOKENS,))
        one_by_one = calls((TOKENS - 8,) + (1,) * 8)
        said = {what: machines.difference(whole, calls(cuts)) for what, cuts in decoder.CUTS.items()}
        # The first half's cache comes from a call that went on differently.
        other = ids[:1].copy()
        other[:, TOKENS // 2:] = 0
        stored = [a[:, :, :TOKENS // 2] for a in run(model.feed(other, None, 0))[1:]]
        rest = run(model.feed(ids[:1, TOKENS // 2:], stored, TOKENS // 2))
        said["reused cache"] = machines.difference([whole[0][:, TOKENS // 2:], *whole[1:]], rest)
        widths = [machines.difference(one_by_one, calls((TOKENS - 8,) + tuple([width] * (8 // width) + [8 % width] * (8 % width > 0)))) for width in range(2, 9)]
        said["speculation of 2 to 8 tokens"] = max(widths, key=lambda text: text != "same")
        for what, text in said.items():
            answers.setdefault(what, []).append(text)
    answers["flash attention on or off"] = answers["neighbours in the cache"] = ["-", "-"]
    return answers


def main():
    os.makedirs(machines.WORK, exist_ok=True)
    runtime = host.Runtime(os.environ["ORT_LIBRARY"])
    runtime.register(os.environ["ORT_PLUGIN"])
    found = machines.machines()
    order = ["threads 1 to 4", "batch", "padding on the right", "padding on the left", "prompt at once or by chunks", "prompt at once or token by token", "reused cache",
             "flash attention on or off", "neighbours in the cache", "speculation of 2 to 8 tokens", "x86-64 with AVX2 or without", "x86-64 AVX2 or AVX-512",
             "x86-64 or AArch64"]
    for name, answers in ((NAME, {**of_encoder(found, False), **of_decoder(runtime)}), (NAME + ", 8 bits", of_encoder(found, True))):
        for what in order:
            if what in answers:
                print("\t".join([name, what, *answers[what]]), flush=True)
        for threads, what in ((1, "time, one thread"), (2, "time, two threads")):
            # Of batches of 1 and 8 the less favourable.
            worst = max(ours / shipped for _, shipped, ours in timing.ratios(runtime, threads, 5, name != NAME))
            print("%s\t%s\t1\t%.2f" % (name, what, worst), flush=True)


if __name__ == "__main__":
    sys.exit(main())
