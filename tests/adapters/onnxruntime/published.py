"""The cases that ONNX publishes for its operators, as far as the installed python3-onnx has them: published.py LIBRARY [--plugin PLUGIN]

Those of one node of an operator that the plugin takes, in float32; the expected outputs are ONNX's own, within their tolerance (1e-3, 1e-7 absolute).
"""
import importlib
import pkgutil
import sys

import numpy

import host

for name in ("bool", "float", "int", "object"):  # what older versions of python3-onnx expect of numpy
    if name not in vars(numpy):
        setattr(numpy, name, getattr(__import__("builtins"), name))

import onnx.backend.test.case.node as published  # noqa: E402

KINDS = {"MatMul", "Gemm", "Softmax", "LayerNormalization", "RMSNormalization", "Gelu", "Erf", "Tanh", "Sigmoid", "Exp", "Attention", "RotaryEmbedding", "ReduceMean",
         "ReduceSum", "DynamicQuantizeLinear", "MatMulInteger"}


def wrong(session, case):
    """A sentence, or None."""
    for inputs, outputs in case.data_sets:
        found = session.run(dict(zip(session.inputs, (numpy.asarray(a) for a in inputs))))
        for i, (array, expected) in enumerate(zip(found, outputs)):
            if array.shape != numpy.shape(expected):
                return "output %d has the shape %s instead of %s" % (i, array.shape, numpy.shape(expected))
            if not numpy.allclose(array, expected, rtol=1e-3, atol=1e-7, equal_nan=True):
                return "output %d is %g off" % (i, abs(array.astype(numpy.float64) - expected).max())
    return None


def main():
    asked, runtime = host.opened()
    count = failed = 0
    # Each module makes its cases when it is imported, those of poolings for seconds.
    for found in pkgutil.iter_modules(published.__path__):
        if found.name.replace("_", "") in {kind.lower() for kind in KINDS}:
            importlib.import_module(published.__name__ + "." + found.name)
    for case in published._NodeTestCases:
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type not in KINDS or any(numpy.asarray(a).dtype in (numpy.float64, numpy.float16) for a in case.data_sets[0][0]):
            continue
        try:
            session = runtime.session(case.model.SerializeToString(), provider=bool(asked.plugin))
            problem = "the plugin leaves it" if asked.plugin and session.left() else wrong(session, case)
        except host.Error as error:
            problem = str(error)
        count += 1
        if problem:
            failed += 1
            print("FAIL %s: %s" % (case.name, problem))
    print("%d published cases, %d wrong" % (count, failed))
    return 1 if failed or count < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
