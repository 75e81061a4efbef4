"""ONNX's RotaryEmbedding: its tables of cosines and sines, and the frequencies that they are made of."""
from typing import Any, List, Optional, Tuple

import numpy

from . import onnx_attention

NEAR, NEAR_EACH = 1e-5, 2e-7  # errors of cosines in 32-bit floats: in any case, and more by the position, whose angle was rounded too


def _angles(cosines: Any, sines: Any, positions: Any, tokens: int) -> Tuple[Any, Any]:
    """[batch or 1, tokens, pairs] each."""
    rows = [numpy.asarray(each) if positions is None else numpy.asarray(each)[numpy.asarray(positions).astype(int)] for each in (cosines, sines)]
    cosine, sine = (each.reshape((-1,) + each.shape[-2:]) for each in rows)
    if cosine.shape != sine.shape or cosine.shape[1] != tokens:
        raise ValueError(f'angles of {list(cosine.shape)} and {list(sine.shape)}; expected both of {tokens} tokens')
    return cosine, sine


def evaluate(node: Any, opset: int, x: Any, cosines: Any, sines: Any, positions: Any = None) -> Any:
    heads = onnx_attention.heads_of(x, node.attributes.whole('num_heads', 0) or None)
    cosine, sine = (each[:, None] for each in _angles(cosines, sines, positions, heads.shape[2]))
    width = 2 * cosine.shape[-1]
    if width > heads.shape[-1] or width != (node.attributes.whole('rotary_embedding_dim', 0) or heads.shape[-1]):
        raise ValueError(f'{width // 2} angles for heads of {heads.shape[-1]}')
    turning, rest = heads[..., :width], heads[..., width:]
    side_by_side = node.attributes.flag('interleaved', 0)
    first, second = (turning[..., ::2], turning[..., 1::2]) if side_by_side else (turning[..., :width // 2], turning[..., width // 2:])
    turned = first * cosine - second * sine, second * cosine + first * sine
    y = numpy.stack(turned, -1).reshape(turning.shape) if side_by_side else numpy.concatenate(turned, -1)
    y = numpy.concatenate([y, rest], -1)
    return y if x.ndim == 4 else y.transpose(0, 2, 1, 3).reshape(x.shape)


def frequencies(cosines: Any, sines: Any, positions: Any, tokens: int) -> Optional[List[float]]:
    """Radians from one position to the next of each pair, where the tables are those of positions 0, 1 …; otherwise None."""
    cosine, sine = _angles(cosines, sines, positions, tokens)
    if cosine.shape[0] != 1:
        raise ValueError('angles of several items; expected one item of a batch')
    angles = numpy.arctan2(numpy.float64(sine[0]), numpy.float64(cosine[0]))
    found, position = angles[min(1, tokens - 1)], 1
    while 2 * position < tokens:  # the farther the position, the more digits its angle has of the frequency
        position *= 2
        turns = numpy.rint((found * position - angles[position]) / (2 * numpy.pi))
        found = (angles[position] + 2 * numpy.pi * turns) / position
    expected, near = numpy.arange(tokens)[:, None] * found, NEAR + NEAR_EACH * numpy.arange(tokens)[:, None]
    same = (numpy.abs(numpy.cos(expected) - cosine[0]) <= near).all() and (numpy.abs(numpy.sin(expected) - sine[0]) <= near).all()
    possible = ((found >= 0) & (found < 4)).all() and found[0] > 0  # what the library turns by
    return [float(each) for each in found] if same and possible else None
