"""Encoders that torch.onnx.export writes from PyTorch's own nn.TransformerEncoder: exported.py [--shipped] [--machines here,scalar,AArch64]

Attention is a chain of MatMul, Add, Softmax, MatMul among Reshape and Transpose, the padding mask is made by Where. Rows of real tokens are compared
in bits between batches, padding on either side, threads and processors (the encoder knows no positions), and with PyTorch in float64.
"""
import argparse
import io
import os
import sys
import warnings

import numpy
import torch

import encoder
import machines

LENGTHS = (9, 4, 70)
BOUND = 2e-5
WIDTH = 96


def export(norm_first, opset):
    """A model's bytes and the module in float64."""
    torch.manual_seed(4)
    layer = torch.nn.TransformerEncoderLayer(WIDTH, 6, 2 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm_first)
    module = torch.nn.TransformerEncoder(layer, 2).train()  # training, without dropout: the fused form for inference is no ONNX
    file, axes = io.BytesIO(), {0: "batch", 1: "tokens"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, (torch.randn(2, 5, WIDTH), None, torch.zeros(2, 5, dtype=torch.bool)), file, input_names=["x", "padding"], output_names=["y"],
                          opset_version=opset, training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
                          dynamic_axes={"x": axes, "padding": axes, "y": axes})
    return file.getvalue(), module.double()


class Arrangement(encoder.Arrangement):
    def jobs(self, model, texts):
        return [machines.Job(model, self.inputs(group), self.threads) for group in self.groups(texts)]

    def inputs(self, group):
        extent = max(map(len, group)) + self.extra
        x, padding = numpy.full((len(group), extent, WIDTH), 0.25, numpy.float32), numpy.ones((len(group), extent), numpy.bool_)
        for row, text in enumerate(group):
            at = slice(extent - len(text), extent) if self.left else slice(0, len(text))
            x[row, at], padding[row, at] = text, False
        return {"x": x, "padding": padding}


ALONE = Arrangement("alone")
ARRANGEMENTS = [Arrangement("batch", 3), Arrangement("batch", 2, threads=2), Arrangement("padding on the right", 1, 37), Arrangement("padding on the left", 1, 37, True),
                Arrangement("padding on the left", 3, 0, True, 2)]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--shipped", action="store_true")
    arguments.add_argument("--machines", default="here,scalar,AArch64")
    asked = arguments.parse_args()
    os.makedirs(machines.WORK, exist_ok=True)
    found, tally = machines.machines(), encoder.Tally()
    random = numpy.random.default_rng(6)
    texts = [random.standard_normal((n, WIDTH)).astype(numpy.float32) for n in LENGTHS]
    for norm_first, opset in ((False, 17), (True, 17), (False, 13)):
        data, module = export(norm_first, opset)
        name = "exported encoder, opset %d%s" % (opset, ", norms first" if norm_first else "")
        path = os.path.join(machines.WORK, "exported.%d.%d.onnx" % (opset, norm_first))
        with open(path, "wb") as out:
            out.write(data)
        exact = [module(torch.from_numpy(text)[None].double()).detach().numpy()[0] for text in texts]
        reference = None
        for machine in (found[m] for m in asked.machines.split(",") if m in found):
            for arrangement, rows in encoder.ask(machine, path, texts, not asked.shipped, [ALONE] + ARRANGEMENTS):
                what = "%s, %s, %s" % (name, machine.name, arrangement)
                if isinstance(rows, str):
                    tally.say(False, what, rows)
                elif reference is None:
                    reference, off = rows, encoder.apart(exact, rows)
                    tally.say(off <= BOUND, what + ", beside float64", "%.1e of the largest number, at most %.1e" % (off, BOUND))
                else:
                    same = machines.difference(reference, rows)
                    tally.say(same == "same", what, same, required=not asked.shipped)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
