"""ONNX models by python3-onnx, whose checker is not asked: it is older than the operators here."""
import numpy
from onnx import TensorProto, helper, numpy_helper

OPSET = 23
DOMAIN = "com.microsoft"


def model(nodes, inputs, outputs, initialisers=None, opset=OPSET, name="graph"):
    """Bytes of a model. inputs: (name, element type, extents), extents being numbers or names; outputs: names or such triples;
    initialisers: arrays by name."""
    infos = [helper.make_tensor_value_info(n, kind, shape) for n, kind, shape in inputs]
    results = [helper.make_empty_tensor_value_info(o) if isinstance(o, str) else helper.make_tensor_value_info(*o) for o in outputs]
    constants = [numpy_helper.from_array(numpy.asarray(array, order="C"), n) for n, array in (initialisers or {}).items()]
    graph = helper.make_graph(nodes, name, infos, results, constants)
    imports = [helper.make_opsetid("", opset)]
    if any(node.domain == DOMAIN for node in nodes):
        imports.append(helper.make_opsetid(DOMAIN, 1))
    whole = helper.make_model(graph, opset_imports=imports)
    whole.ir_version = 10 if opset > 20 else 8
    return whole.SerializeToString()


def number_of(array):
    """The number that ONNX has for an array's element type."""
    return {numpy.dtype(numpy.float32): TensorProto.FLOAT, numpy.dtype(numpy.float16): TensorProto.FLOAT16,
            numpy.dtype(numpy.float64): TensorProto.DOUBLE, numpy.dtype(numpy.int8): TensorProto.INT8,
            numpy.dtype(numpy.uint8): TensorProto.UINT8, numpy.dtype(numpy.int32): TensorProto.INT32,
            numpy.dtype(numpy.int64): TensorProto.INT64, numpy.dtype(numpy.bool_): TensorProto.BOOL}[numpy.asarray(array).dtype]


def one_node(kind, inputs, outputs, attributes=None, domain="", opset=OPSET, constants=(), free=True):
    """A model of one node. inputs: arrays by name, or None for an optional one that is absent; outputs: how many, or a list of booleans,
    false where one is absent; constants: names of inputs that are weights of the model; free: extents of inputs are not in the model."""
    wanted = [True] * outputs if isinstance(outputs, int) else outputs
    results = ["y%d" % i if there else "" for i, there in enumerate(wanted)]
    names = [n if array is not None else "" for n, array in inputs.items()]
    while names and not names[-1]:
        names.pop()
    node = helper.make_node(kind, names, results, domain=domain, name="node", **(attributes or {}))
    fed = [(n, number_of(a), ["%s_%d" % (n, i) for i in range(a.ndim)] if free else a.shape)
           for n, a in inputs.items() if a is not None and n not in constants]
    return model([node], fed, [r for r in results if r], {n: inputs[n] for n in constants if inputs.get(n) is not None}, opset)
