"""A model as a graph of operations on arrays of known shapes, whatever kind of file it came from."""
import collections
from typing import Any, Dict, List, Optional

import numpy

from .attributes import Attributes
from .errors import ExportError
from .operators import MOST_ELEMENTS, OPERATORS, Elements


class Node:
    """An operation: its kind is the name of ONNX's operator, which has the same name in other domains. Missing inputs are ''."""

    def __init__(self, kind: str, name: str, inputs: List[str], outputs: List[str], attributes: Dict[str, Any], domain: str = ''):
        self.kind, self.name, self.inputs, self.outputs, self.domain = kind, name, inputs, outputs, domain
        self.attributes = Attributes(self, attributes)
        self.unseen: Any = None  # of a softmax that became attention: a function of its scores, which queries see no key

    def __str__(self) -> str:
        return f'node "{self.name or self.outputs[0]}" ({self.kind})'


class Graph:
    """nodes: in an order in which each comes after what it reads. constants: arrays by name. inputs: shapes by name. opset: of ONNX."""

    def __init__(self, nodes: List[Node], inputs: Dict[str, Any], outputs: List[str], constants: Dict[str, Any], opset: int):
        self.nodes, self.inputs, self.outputs, self.constants, self.opset = nodes, inputs, outputs, constants, opset
        self.types = {name: numpy.dtype('float32') for name in inputs}
        self.shapes: Dict[str, Any] = {}
        self.kinds: Dict[str, str] = {}  # of numpy's types
        self.producers: Dict[str, Node] = {}
        self.uses: Dict[str, int] = {}

    def resolve(self) -> None:
        """Makes constants of all that depends on no input, and finds the shape of everything else, by computing it once."""
        defined = [*self.constants, *self.inputs, *(name for node in self.nodes for name in node.outputs if name)]
        for names in (defined, self.outputs):
            twice = {name for name, count in collections.Counter(names).items() if count > 1}
            if twice:
                raise ExportError(f'"{twice.pop()}" is defined several times')
        feeds = {name: numpy.zeros(shape, self.types[name]) for name, shape in self.inputs.items()}
        values = self.evaluate(feeds, fold=True)
        self.shapes = {name: value.shape for name, value in values.items()}
        self.kinds = {name: value.dtype.kind for name, value in values.items()}
        self.nodes = [node for node in self.nodes if not all(name in self.constants for name in node.outputs if name in values)]
        self.producers = {output: node for node in self.nodes for output in node.outputs if output in values}
        for name in [name for node in self.nodes for name in node.inputs] + self.outputs:
            self.uses[name] = self.uses.get(name, 0) + 1
        for name in self.outputs:
            if name in self.constants:
                raise ExportError(f'output "{name}" depends on no input: there is nothing to compute')
            if name not in self.producers:
                raise ExportError(f'output "{name}" is not computed by any node')

    def evaluate(self, feeds: Dict[str, Any], fold: bool = False) -> Dict[str, Any]:
        """Every value of the graph, floats in float64. fold: what depends on no input becomes a constant; shapes are constants too."""
        values: Dict[str, Any] = {'': None}
        constant = set(self.constants) | {''}
        values.update({name: Elements(array) for name, array in self.constants.items()})
        values.update({name: Elements(numpy.asarray(array, bool) if self.types[name].kind == 'b' else array) for name, array in feeds.items()})
        used = {*self.outputs, *(name for node in self.nodes for name in node.inputs)}
        for node in self.nodes:
            for name in node.inputs:
                if name not in values:
                    raise ExportError(f'{node}: its input "{name}" is not computed by any node before it')
            if node.kind not in OPERATORS:
                raise ExportError(f'{node}: this operator is not known. {advice(node.kind)}')
            operator, arrays = OPERATORS[node.kind], [values[name] for name in node.inputs]
            operator.require(node, self.opset)
            node.attributes.begin()
            try:
                with numpy.errstate(all='ignore'):
                    results = operator.compute(node, self.opset, *arrays)
            except ExportError:
                raise
            except (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError, OverflowError, MemoryError) as error:
                shapes = ', '.join('none' if array is None else str(list(array.shape)) for array in arrays)
                raise ExportError(f'{node}: its inputs, of shapes {shapes}, do not fit it: {error}') from None
            node.attributes.require_all()
            results = results if isinstance(results, tuple) else (results,)
            for place, name in enumerate(node.outputs[len(results):], len(results)):
                if name and name in used:
                    raise ExportError(f'{node}: its output {place}, "{name}", is used, and this exporter knows {len(results)} of its outputs')
            for name, result in zip(node.outputs, results):
                if not name:
                    continue
                values[name] = Elements(result)
                if values[name].size > MOST_ELEMENTS:
                    raise ExportError(f'{node}: its output has {values[name].size} elements, more than {MOST_ELEMENTS}')
            if fold and (node.kind in ('Shape', 'Size') or all(name in constant for name in node.inputs)):
                for name in node.outputs:
                    if name in values:
                        constant.add(name)
                        self.constants[name] = values[name]
        del values['']
        return values

    def require_finite(self) -> None:
        """Refuses weights that are no numbers; infinities are fine in masks, so they are looked at where they are used."""
        for name, array in self.constants.items():
            if name in self.uses and array.dtype.kind == 'f' and numpy.isnan(array).any():
                raise ExportError(f'constant "{name}" has a NaN: the model was trained or saved wrongly')

    def constant(self, name: str) -> Optional[Any]:
        return self.constants.get(name)


def advice(kind: str) -> str:
    """What to write in the stead of an operator that is not known."""
    known = {
        'LSTM': 'A causal transformer over a cache takes the place of a recurrent layer',
        'GRU': 'A causal transformer over a cache takes the place of a recurrent layer',
        'Loop': 'Export the body of the loop as a model of its own, and call it in a loop of yours',
        'Scan': 'What ONNX\'s LinearAttention is expanded to is a Scan. Save the model with that node, before its functions are inlined; of another loop export the body',
        'If': 'Export the branch that is taken as a model of its own',
        'ConvTranspose': 'Resize by repeating rows (Expand, Reshape), followed by Conv',
        'Einsum': 'Of computed arrays it is known as a product of matrices, such as "bhid,bhjd->bhij". Write it as Transpose and MatMul',
        'NonZero': 'Shapes must not depend on data: use a mask of 0 and 1, and Mul',
    }
    of_integers = 'Export the float model, and take --arithmetic int8 with --calibrate samples.npy, or --weights int8'
    known.update(dict.fromkeys(('QuantizeLinear', 'DequantizeLinear', 'DynamicQuantizeLinear', 'MatMulInteger', 'ConvInteger', 'QLinearMatMul', 'QLinearConv'),
                               of_integers))
    return known.get(kind, 'Express it by others, such as Add, Sub, Mul, Div, MatMul, Conv, Softmax, Sigmoid, Tanh, Clip, ReduceMean, Concat, Slice, Reshape or '
                     'Transpose') + '.'
