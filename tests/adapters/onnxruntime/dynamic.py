"""Products in integers of one input, as quantisers of dynamic models write them: dynamic.py LIBRARY --plugin PLUGIN

DynamicQuantizeLinear, and behind it some MatMulInteger, Cast, Mul, Add and perhaps Gelu spelled out. The plugin makes one node of it, in which
each row is quantised by itself: every step is one operation of float32, so that the bits are those of NumPy. Gelu has the bits of a Gelu.
"""
import math
import sys

import numpy
from onnx import TensorProto, helper

import host
import machines
import model
from reference import integer_product, quantised_rows

# (inputs, outputs of each product): panels are of 32 outputs, and 128 are computed at a time.
EXTENTS = ((1, (1,)), (5, (31, 33)), (64, (130, 128, 7)), (100, (300,)), (384, (64, 64, 64)))
ROWS = (1, 2, 7, 47, 49, 97)  # 48 are computed at a time


class Products:
    def __init__(self, inputs, outputs, kind, columns, bias, gelu, seed):
        random = numpy.random.default_rng(seed)
        self.nodes, self.constants, self.bias, self.gelu = [], {}, bias, gelu
        self.results = []
        self.inputs = inputs
        low, high = (-128, 128) if kind == numpy.int8 else (0, 256)
        self.parts = []
        for n in outputs:
            of_columns = (n,) if columns else ()
            self.parts.append((random.integers(low, high, (inputs, n)).astype(kind), numpy.asarray(random.uniform(0.001, 0.02, of_columns), numpy.float32),
                               numpy.asarray(random.integers(low, high, of_columns) if columns else low + 128, kind), random.standard_normal(n).astype(numpy.float32)))

    def put(self, kind, *inputs, outputs=1, **attributes):
        results = ["v%d_%d" % (len(self.nodes), k) for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), results, name=results[0], **attributes))
        return results[0] if outputs == 1 else results

    def constant(self, array):
        name = "c%d" % len(self.constants)
        self.constants[name] = numpy.asarray(array)
        return name

    def onnx(self):
        numbers, x_scale, x_zero = self.put("DynamicQuantizeLinear", "x", outputs=3)
        for weights, scale, zero, bias in self.parts:
            y = self.put("MatMulInteger", numbers, self.constant(weights), x_zero, self.constant(zero))
            y = self.put("Mul", self.put("Cast", y, to=TensorProto.FLOAT), self.put("Mul", x_scale, self.constant(scale)))
            if self.bias:
                y = self.put("Add", y, self.constant(bias))
            if self.gelu:
                inner = self.put("Erf", self.put("Div", y, self.constant(numpy.float32(math.sqrt(2)))))
                y = self.put("Mul", self.put("Mul", y, self.put("Add", inner, self.constant(numpy.float32(1)))), self.constant(numpy.float32(0.5)))
            self.results.append(y)
        results = [(y, TensorProto.FLOAT, ["batch", "tokens", bias.size]) for y, (_, _, _, bias) in zip(self.results, self.parts)]
        return model.model(self.nodes, [("x", TensorProto.FLOAT, ["batch", "tokens", self.inputs])], results, self.constants, 17)

    def exact(self, x):
        """Without Gelu."""
        numbers, scales, zeros = quantised_rows(x.reshape(-1, x.shape[-1]))
        for weights, scale, zero, bias in self.parts:
            y = integer_product(numbers, weights, zeros, zero).astype(numpy.float32) * (scales[:, None] * scale)
            yield (y + bias if self.bias else y).reshape(*x.shape[:-1], -1)


def rows_of(count, inputs, seed):
    """Of all ranges: normal ones, of one sign, of zeros, of one number that is far from the others."""
    random = numpy.random.default_rng(seed)
    x = random.standard_normal((count, inputs)) * 10.0 ** random.integers(-6, 7, (count, 1))
    x[1::7] = abs(x[1::7])
    x[2::7] = -abs(x[2::7])
    x[3::7] = 0
    x[4::7, ::5] = 0
    x[5::7, -1] *= 1e4
    return x.astype(numpy.float32)


def after_wide_rows(runtime):
    """Rows that an earlier node has cut to no inputs, for which the runtime has no memory: their products are the bias, whatever range the rows
    of the call before have left in the work memory. Answers what is wrong, or "same"."""
    bias, n = numpy.linspace(-1, 1, 5, dtype=numpy.float32), 5
    constants = {"zero": numpy.array([0]), "first": numpy.array([0]), "last": numpy.array([1]), "weights": numpy.ones((3, n), numpy.int8), "scale": numpy.float32(0.5),
                 "bias": bias}
    nodes = [helper.make_node("Slice", ["x", "zero", "inputs", "last"], ["rows"]), helper.make_node("Slice", ["weights", "zero", "inputs", "first"], ["columns"]),
             helper.make_node("DynamicQuantizeMatMul", ["rows", "columns", "scale", "", "bias"], ["y"], domain=model.DOMAIN)]
    data = model.model(nodes, [("x", TensorProto.FLOAT, ["rows", 3]), ("inputs", TensorProto.INT64, [1])], [("y", TensorProto.FLOAT, ["rows", n])], constants, 17)
    session = runtime.session(data, provider=True)
    if "com.microsoft.DynamicQuantizeMatMul" in session.left():
        return "the runtime computes it"
    for rows in ROWS:
        session.run({"x": numpy.full((rows, 3), numpy.inf, numpy.float32), "inputs": numpy.array([3])})
        found = session.run({"x": numpy.zeros((rows, 3), numpy.float32), "inputs": numpy.array([0])})
        problem = machines.difference([numpy.tile(bias, (rows, 1))], found)
        if problem != "same":
            return "%d rows: %s" % (rows, problem)
    return "same"


def main():
    _, runtime = host.opened()
    gelus = runtime.session(model.one_node("Gelu", {"x": numpy.zeros((1, 1, 1), numpy.float32)}, 1), provider=True)
    failed = count = 0
    for index, (inputs, outputs) in enumerate(EXTENTS):
        for form in range(16):
            kind, columns, bias, gelu = (numpy.uint8, numpy.int8)[form & 1], bool(form & 2), bool(form & 4), bool(form & 8)
            products = Products(inputs, outputs, kind, columns, bias, gelu, form)
            session = runtime.session(products.onnx(), provider=True, threads=1 + form % 3)
            name = "%d inputs, %s outputs, %s%s%s%s" % (inputs, outputs, kind.__name__, ", by column" * columns, ", bias" * bias, ", Gelu" * gelu)
            left = session.left()
            if left:
                failed += 1
                print("FAIL %s: the runtime computes %s" % (name, left))
            for rows in ROWS:
                x = rows_of(rows, inputs, index + rows)[None]
                expected = list(products.exact(x))
                if gelu:
                    expected = [gelus.run({"x": y})[0] for y in expected]
                problem = machines.difference(expected, session.run({"x": x}))
                count += 1
                if problem != "same":
                    failed += 1
                    print("FAIL %s, %d rows: %s" % (name, rows, problem))
    problem = after_wide_rows(runtime)
    count += len(ROWS)
    if problem != "same":
        failed += 1
        print("FAIL rows of no inputs: %s" % problem)
    print("%d products of rows, %d wrong" % (count, failed))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
