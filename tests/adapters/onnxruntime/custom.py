"""The plugin as a library of custom operators: custom.py LIBRARY --plugin PLUGIN

In the domain `attend`, and in place of the runtime's own in their domains: the outputs have the bits of the execution provider's.
"""
import argparse
import sys

from onnx import ModelProto, helper

import form
import host
import machines
import nodes_attention  # noqa: F401, adds forms
import nodes_contrib  # noqa: F401

# Forms with these inputs are of types that an input of a custom operator can have: one type each, but for masks.
KINDS = ("Attention", "RotaryEmbedding", "MultiHeadAttention", "com.microsoft.MultiHeadAttention", "com.microsoft.GroupQueryAttention")


def moved(data):
    """The model with its node in the domain `attend`."""
    whole = ModelProto.FromString(data)
    whole.graph.node[0].domain = "attend"
    whole.opset_import.append(helper.make_opsetid("attend", 1))
    return whole.SerializeToString()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--every", type=int, default=1)
    asked, runtime = host.opened(arguments)
    count = failed = 0
    for one in [f for f in form.FORMS if f.operator() in KINDS and not f.left][::asked.every]:
        expected = runtime.session(one.model(), provider=True).run(one.fed())
        for what, data in (("in its own domain", one.model()), ("in the domain attend", moved(one.model()))):
            count += 1
            try:
                session = runtime.session(data, custom=asked.plugin)
                problem = machines.difference(expected, session.run(one.fed()))
            except host.Error as error:
                problem = str(error)
            if problem != "same":
                failed += 1
                print("FAIL %s, %s: %s" % (one.name, what, problem))
    print("%d custom operators, %d wrong" % (count, failed))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
