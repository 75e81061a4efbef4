"""Outputs of a run of the models that cases.py has written, beside float64, and those of chains beside the operator's, bit by bit:
judge.py FOLDER RUN"""
import os
import pickle
import sys

import numpy


def contents(folder, run, name):
    path = os.path.join(folder, run, name + ".out")
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def numbers(folder, run, case):
    """The output as [batch, tokens, heads, value_dim]; None where there are not as many numbers."""
    p = case.get("problem") or case["padded"]
    found = numpy.frombuffer(contents(folder, run, case["name"]), p.type)
    count = p.batch * p.tokens * p.heads * p.value_dim
    if case.get("last"):  # of two calls
        found = found[count:]
    if found.size != count:
        return None
    return case["chain"].normal(found) if "chain" in case else found.reshape(p.batch, p.tokens, p.heads, p.value_dim)


def judge(folder, run):
    with open(os.path.join(folder, "cases"), "rb") as file:
        cases = pickle.load(file)
    wrong, outputs, worst = [], {}, 0.0
    for case in cases:
        name = case["name"]
        if "bytes" in case and contents(folder, run, name) != case["bytes"]:
            wrong.append("%s: other bytes than expected" % name)
        if "same_file" in case and (contents(folder, run, name) != contents(folder, run, case["same_file"]) or not contents(folder, run, name)):
            wrong.append("%s: other bytes than %s" % (name, case["same_file"]))
        if "padded" in case:
            outputs[name] = numbers(folder, run, case)
        if "problem" not in case:
            continue
        output = outputs[name] = numbers(folder, run, case)
        if output is None:
            wrong.append("%s: no output" % name)
            continue
        exact, bound = case["problem"].exact()
        off = (numpy.abs(output.astype(float) - exact) / bound).max()
        worst = max(worst, off)
        if not off <= 1:
            wrong.append("%s: off by %.3g of what is allowed" % (name, off))
        if "same" in case and outputs[case["same"]] is not None:
            if numpy.ascontiguousarray(outputs[case["same"]]).tobytes() != numpy.ascontiguousarray(output).tobytes():
                wrong.append("%s: other bits than %s" % (name, case["same"]))
        if "row" in case:
            other, row = case["row"]
            if outputs[other] is None or numpy.ascontiguousarray(outputs[other][row : row + 1, -output.shape[1] :]).tobytes() != output.tobytes():
                wrong.append("%s: other bits than row %d of %s" % (name, row, other))
    print("%d cases, at most %.2f of the bound" % (len(cases), worst))
    for line in wrong[:8]:
        print("wrong: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(judge(sys.argv[1], sys.argv[2]))
