"""Reads ONNX files, with python3-onnx, as graphs."""
import math
import pathlib
from typing import Any, Dict, Optional

import numpy

from .einsum import as_product
from .errors import ExportError
from .graph import MOST_ELEMENTS, Graph, Node


# Operators of others that mean what ours of the same name do.
OTHERS = tuple(('com.microsoft', kind) for kind in ('Gelu', 'SimplifiedLayerNormalization', 'LinearAttention', 'CausalConvWithState'))

# Of ONNX's elements, which the package has a table of in other places from version to version. 0: not said.
TYPES = {0: 'float32', 1: 'float32', 2: 'uint8', 3: 'int8', 4: 'uint16', 5: 'int16', 6: 'int32', 7: 'int64', 9: 'bool', 10: 'float16', 11: 'float64',
         12: 'uint32', 13: 'uint64', 16: 'float32'}


def read_onnx(path: pathlib.Path, shapes: Optional[Dict[str, Any]] = None) -> Graph:
    """shapes: of inputs whose file leaves dimensions open. An open first dimension is 1, a batch of one."""
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise ExportError('reading ONNX files takes the Python package "onnx" (Debian: apt-get install python3-onnx)') from None
    try:
        model = onnx.load(str(path))
        graph, opset = model.graph, max([each.version for each in model.opset_import if each.domain in ('', 'ai.onnx')] or [1])
        for each in model.opset_import:
            if each.domain in {domain for domain, _ in OTHERS} and each.version != 1:
                raise ExportError(f'{path}: operators of version {each.version} of "{each.domain}"; expected 1')
        constants = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
        nodes = [made for each in graph.node for made in as_product(_node(onnx, each))]
        given = [each for each in graph.input if each.name not in constants]
        outputs = [each.name for each in graph.output]
    except ExportError:
        raise
    except Exception as error:  # of protobuf and of onnx, which have no common class
        raise ExportError(f'{path}: this is no ONNX file, or it is damaged: {error or type(error).__name__}') from None
    if not nodes or not given or not outputs:
        raise ExportError(f'{path}: the model has {len(nodes)} nodes, {len(given)} inputs and {len(outputs)} outputs: it is empty or damaged')
    if not 7 <= opset <= 27:
        raise ExportError(f'{path}: operators of version {opset}; expected 7 to 27 (torch.onnx.export takes opset_version=14)')
    inputs = {each.name: _shape(each, shapes or {}) for each in given}
    for name in shapes or {}:
        if name not in inputs:
            raise ExportError(f'--shape names "{name}", which is no input: the model has {", ".join(inputs)}')
    read = Graph(nodes, inputs, outputs, constants, opset)
    for each in given:
        read.types[each.name] = numpy.dtype(TYPES.get(each.type.tensor_type.elem_type, 'object'))
    return read


def _node(onnx: Any, node: Any) -> Node:
    if node.domain not in ('', 'ai.onnx') and (node.domain, node.op_type) not in OTHERS:
        raise ExportError(f'node "{node.name}": its operator {node.op_type} is of "{node.domain}", not of ONNX')
    if node.op_type == 'Rotate':
        raise ExportError(f'node "{node.name}": its operator Rotate is not of ONNX')
    attributes = {}
    for each in node.attribute:
        value = onnx.helper.get_attribute_value(each)
        if each.type == onnx.AttributeProto.TENSOR:
            value = onnx.numpy_helper.to_array(value)
        elif isinstance(value, bytes):
            value = value.decode()
        if each.name in attributes or each.ref_attr_name:
            raise ExportError(f'node "{node.name}" ({node.op_type}): its attribute "{each.name}" is there twice, or of a function')
        attributes[each.name] = value
    if not node.output:
        raise ExportError(f'node "{node.name}" ({node.op_type}) has no output')
    return Node(node.op_type, node.name, list(node.input), list(node.output), attributes, '' if node.domain == 'ai.onnx' else node.domain)


def _shape(given: Any, shapes: Dict[str, Any]) -> Any:
    sizes = [(each.dim_value if each.HasField('dim_value') else 0, each.dim_param) for each in given.type.tensor_type.shape.dim]
    if given.name in shapes:
        shape = shapes[given.name]
        if len(shape) != len(sizes) or not sizes or any(size not in (0, asked) for (size, _), asked in zip(sizes, shape)) or min(shape) < 1:
            raise ExportError(f'input "{given.name}": the shape {list(shape)} was given where the model has {[size or name for size, name in sizes]}')
        return tuple(shape)
    if math.prod(size or 1 for size, _ in sizes) > MOST_ELEMENTS:
        raise ExportError(f'input "{given.name}" has more than {MOST_ELEMENTS} elements')
    shape = [1 if size == 0 and axis == 0 and len(sizes) > 1 else size for axis, (size, _) in enumerate(sizes)]
    if min(shape, default=int(given.type.tensor_type.HasField('shape'))) < 1:
        raise ExportError(f'input "{given.name}" has the shape {[size or name or "?" for size, name in sizes]}, which leaves a size open: '
                          f'--shape {given.name}=1,16,32')
    return tuple(shape)
