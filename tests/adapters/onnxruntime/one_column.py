"""Masks of one column beside several keys: one_column.py LIBRARY --plugin PLUGIN

The column could be that of every key, as ONNX broadcasts extents of 1, or that of the first one, as opset 24 pads masks that end before the keys do.
The plugin guesses neither: it refuses the call with a sentence, as the runtime's own kernel does, and goes on.
"""
import sys

import numpy

import form
import host

SHAPES = [(1,), (1, 1), (5, 1), (4, 1, 1), (4, 5, 1), (1, 1, 1, 1), (2, 1, 1, 1), (2, 4, 5, 1)]  # of batch 2, 4 heads, 5 tokens


def node(shape, kind, opset, past):
    random = form.Numbers("one column of %s" % (shape,))
    q, k, v = random.normal(2, 4, 5, 8), random.normal(2, 4, 7, 8), random.normal(2, 4, 7, 8)
    old = [random.normal(2, 4, 3, 8) if past else None for _ in range(2)]
    inputs = {"q": q, "k": k, "v": v, "mask": numpy.ones(shape, kind), "past_key": old[0], "past_value": old[1]}
    return form.Form("", "Attention", inputs, [1] + [1, 1] * past, opset=opset)


def main():
    _, runtime = host.opened()
    failed = 0
    for shape in SHAPES:
        for kind, opset, past in ((numpy.bool_, 23, 0), (numpy.float32, 23, 1), (numpy.bool_, 24, 1), (numpy.float32, 24, 0), (numpy.float32, 25, 0)):
            one = node(shape, kind, opset, past)
            what = "%s of %s, opset %d%s" % (kind.__name__, list(shape), opset, ", past" if past else "")
            session = runtime.session(one.model(), provider=True)
            try:
                session.run(one.fed())
                error = "it was answered with numbers"
            except host.Error as refused:
                error = str(refused)
            right = "attn_mask of shape" in error and "cannot be broadcast to {2, 4, 5, %d}" % (10 if past else 7) in error.replace("[", "{").replace("]", "}")
            print("ok   %s is refused" % what if right else "FAIL %s: %s" % (what, error))
            failed += not right
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
