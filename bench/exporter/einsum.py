"""Einsum of two arrays as the product of matrices that it is, which patterns and projections know."""
import re
from typing import List

from .graph import Node


def as_product(node: Node) -> List[Node]:
    """Transposes and a MatMul; or the node itself, where it sums something else than one axis that both arrays have."""
    equation = node.attributes.given.get('equation')
    found = re.fullmatch(r'([A-Za-z]+),([A-Za-z]+)->([A-Za-z]+)', equation.replace(' ', '')) if isinstance(equation, str) else None
    if node.kind != 'Einsum' or found is None or len(node.inputs) != 2 or len(node.attributes.given) != 1:
        return [node]
    a, b, y = found.groups()
    both, summed = [each for each in y if each in a and each in b], [each for each in a if each in b and each not in y]
    of_a, of_b = ([each for each in y if each in one and each not in other] for one, other in ((a, b), (b, a)))
    if any(len(set(each)) != len(each) for each in (a, b, y)) or len(summed) != 1 or len(of_b) != 1 or not of_a or len(of_a) > 1 and both or \
            len(both + summed + of_a) != len(a) or len(both + summed + of_b) != len(b) or len(both + of_a + of_b) != len(y):
        return [node]
    nodes, names = [], []
    for name, which, letters, order in zip(node.inputs, 'ab', (a, b), (both + of_a + summed, both + summed + of_b)):
        names.append(name if list(letters) == order else f'{node.outputs[0]}.{which}')
        if list(letters) != order:
            nodes.append(Node('Transpose', node.name, [name], names[-1:], {'perm': [letters.index(each) for each in order]}))
    found_order = both + of_a + of_b
    product = node.outputs[0] if list(y) == found_order else f'{node.outputs[0]}.product'
    nodes.append(Node('MatMul', node.name, names, [product], {}))
    if list(y) != found_order:
        nodes.append(Node('Transpose', node.name, [product], node.outputs, {'perm': [found_order.index(each) for each in y]}))
    return nodes
