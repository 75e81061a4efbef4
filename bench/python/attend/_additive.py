"""Additive attention (Bahdanau, Cho and Bengio, 2014)."""
import ctypes
from typing import Any, List, Optional

from ._arrays import Array, release, workspaces
from ._options import options_of
from ._problem import Problem
from ._shared import require, shared


def additive_attention(query: Any, key: Any, value: Any, v: Any, *, out: Any = None, return_scores: Optional[str] = None,
                       **options: Any) -> Any:
    """softmax(v . tanh(query_i + key_j)) value, of one head: query [queries, dim] and key [keys, dim], which are projected already, value
    [keys, value_dim] and v [dim], float32. Options are those of attend.attention that leave scores as they are: causal, offset, window,
    sink_tokens, mask, sink_logits. return_scores: 'biased' or 'weights'."""
    given = options_of('additive_attention', options, ['queries_last', 'scale', 'soft_cap', 'bias', 'alibi_slopes', 'relative_bias',
                                                       'key_lengths', 'quantisation', 'lse_base', 'ranges',
                                                       'documents'])
    held: List[Any] = []
    try:
        problem = Problem(query, given, held)
        columns = problem.set_keys(key, value, None, 0, None, None)
        results = [problem.set_output(query, out, None)]
        if return_scores is not None:
            results.append(problem.new_scores(query, return_scores, columns))
        direction = Array('v', v, 'f', 1, 1, held)
        direction.require_columns(problem.c.head_dim)
        reference = ctypes.byref(problem.c)
        size = shared.attend_additive_workspace_size(reference)
        memory = workspaces(1, size)[0]
        require(shared.attend_additive_attention(reference, direction.address, memory.address, size))
        return results[0] if len(results) == 1 else tuple(results)
    finally:
        release(held)
