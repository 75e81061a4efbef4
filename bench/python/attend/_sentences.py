"""What is wrong with a call, in the words of this package: C's sentences name structs and functions that are not seen here."""
from typing import Optional

from . import _c

_OF_ERRORS = {
    _c.ATTEND_MISSING: 'give it: the call needs it',
    _c.ATTEND_UNALIGNED: 'first set it to a copy, as with numpy.array(…): its address is no multiple of the size of its numbers',
    _c.ATTEND_OUT_OF_RANGE: 'give a number within its range, which help(attend) has beside it; not NaN or infinity',
    _c.ATTEND_UNKNOWN: 'give one of the values that help(attend) lists for it',
    _c.ATTEND_TOO_LARGE: 'make several calls with fewer elements each: it reaches beyond what can be addressed or counted',
    _c.ATTEND_TOO_SMALL: 'give more memory',
    _c.ATTEND_OVERLAP: 'give it memory of its own: what a call writes must not overlap what else it reads or writes, with gaps',
    _c.ATTEND_CONFLICT: 'leave it out, or what excludes it: the two cannot be had together',
    _c.ATTEND_MISMATCH: 'make it fit the other arguments: heads must divide, and a cache or a state be of the same extents',
    _c.ATTEND_SHARED_ELEMENTS: 'pass an array whose elements lie apart, such as a new one: what is written is not broadcast',
    _c.ATTEND_AMBIGUOUS: 'give it: without it there is more than one thing that it could be',
    _c.ATTEND_NO_EFFECT: 'give what it needs too, or leave it out: by itself it would be ignored',
    _c.ATTEND_CORRUPT: 'make it anew: its own records are not as the library leaves them',
    _c.ATTEND_FULL: 'truncate the cache, or make it with more max_tokens: it has no room for so many tokens',
    _c.ATTEND_LOST: 'give a shorter window, make the ring with more window_keys, give fewer sink_tokens or make it with sink_tokens, or ask '
                    'for no raw or capped scores: the ring no longer holds keys that are asked for (window_keys counts the query\'s own token, '
                    'window does not)',
    _c.ATTEND_WRONG_SIZE: 'install the package anew: its modules and its shared object are of different versions',
    _c.ATTEND_NEWER: 'install the package anew: its modules and its shared object are of different versions',
    _c.ATTEND_UNAVAILABLE: 'choose another backend: this processor cannot run it',
    _c.ATTEND_OTHER_BITS: 'take the keys again, or load it with the version that saved it: sums of that version have other bits',
}
_OF_OTHERS = 'leave it out: this kind of attention does not have it, and in integers the scale belongs to the quantisation'
_SPECIAL = {
    (_c.ATTEND_AMBIGUOUS, _c.ATTEND_ARG_KEYS): 'append to the cache first (Cache.append, or Layer.project_memory): it has no tokens; '
    'where there are none, attend.attention takes key_lengths=[0]',
    (_c.ATTEND_AMBIGUOUS, _c.ATTEND_ARG_OFFSET): 'give it: offset=0 if the queries are the first tokens, queries_last=True if they are the '
    'last, the keys of a cache being appended before the call',
    (_c.ATTEND_AMBIGUOUS, _c.ATTEND_ARG_BATCH): 'give every array the axis of the batch',
    (_c.ATTEND_NO_EFFECT, _c.ATTEND_ARG_OFFSET): 'leave it out, or give what looks at positions too: causal=True, a window, ALiBi or '
    'relative biases',
    (_c.ATTEND_NO_EFFECT, _c.ATTEND_ARG_SINK_TOKENS): 'leave them out, or give what passes them: a call a window such as '
    'window=(5, 0), a Cache window_keys',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_KEYS): 'give at most the tokens that the cache holds: len(cache)',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_CACHE): "a key or value is too large for the cache's format: the largest number of float16 is "
    '65504, of int4 524032; make it of bfloat16 or int8, or with saturate=True',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_WEIGHTS): 'convert to bfloat16 or int8: a weight is too large for the format; the largest number '
    'of float16 is 65504, of int4 524032',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_PAGES): 'give each of its entries that queries see the number of a page of the pools',
    (_c.ATTEND_CONFLICT, _c.ATTEND_ARG_BATCH): 'pass one batch row: a cache, or documents side by side, are of one sequence',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_RANGES): 'give first keys of at least 0, and let no end lie before the first key of its query',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_DOCUMENTS): 'give as many tokens in all as there are queries, and as there are keys; '
    'in linear attention as many as count',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_PART): 'give part=(index, count) with 0 <= index < count',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_FIRST_KEY): f'begin at a multiple of {_c.ATTEND_SEGMENT_KEYS}, and in integers stop at one of '
    f'{_c.ATTEND_INTEGER_CHUNK} but for the last time',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_ORIGIN): f'in integers, let arrays begin at a multiple of {_c.ATTEND_SEGMENT_KEYS}, or of '
    f'{_c.ATTEND_INTEGER_CHUNK} for a state',
    (_c.ATTEND_OUT_OF_RANGE, _c.ATTEND_ARG_PAGES_PAGE_KEYS): 'make pages of a multiple of 16 tokens, in integers of 32',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_QUERY_ZERO_POINT): 'give the quantisations of all heads the same one',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_KEYS): 'stop at the next key of the state or behind it; '
    f'in integers at a multiple of {_c.ATTEND_INTEGER_CHUNK} but for the last time',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_ORIGIN): 'let the arrays begin with the next key of the state, or before',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_LATER): f'merge a state of the same query that took other segments of {_c.ATTEND_SEGMENT_KEYS} keys; '
    'only the last one of both may have keys still to come',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_STATES): 'merge or take first all keys that queries see, with the same query: up to their own '
    'positions where they are causal, unless key_lengths says where keys end',
    (_c.ATTEND_CORRUPT, _c.ATTEND_ARG_BYTES): 'pass all that save() of the state has returned, as it was: these are other bytes, fewer or damaged',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_BYTES): 'load it with the query that it was taken with, and with a quantisation if it had one',
    (_c.ATTEND_TOO_SMALL, _c.ATTEND_ARG_STATE_NODES): 'make the state with more, or merge first what lies side by side',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_CACHE): 'give a cache of as many key/value heads and of the same widths; one of integers goes with '
    'a quantisation, and no other does',
    **{(_c.ATTEND_MISMATCH, argument): 'give it the outputs and inputs that the heads, their widths and the other weights ask for'
       for argument in (_c.ATTEND_ARG_QUERY, _c.ATTEND_ARG_KEY, _c.ATTEND_ARG_VALUE, _c.ATTEND_ARG_OUTPUT, _c.ATTEND_ARG_GATE)},
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_KV_HEADS): 'give as many query heads as key/value heads, or a multiple',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_SOFT_CAP): 'give a larger cap or a smaller scale: scores reach the cap at once, and scale / '
    'soft_cap leaves the range of floats',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_QUERY_SCALE): 'give smaller scales: scale * query_scale * key_scale must be below ln 2',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_KEY_SCALE): 'give smaller scales: scale * query_scale * key_scale must be below ln 2',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_OUTPUT_SCALE): 'give value_scale or a number near it: value_scale / output_scale must be within '
    '2**-10 ... 2**18, and with outputs of floats the same for all heads',
    (_c.ATTEND_TOO_LARGE, _c.ATTEND_ARG_KEYS): 'give a window or fewer keys: in integers a query sees at most '
    f'{_c.ATTEND_INTEGER_MAX_KEYS}',
    (_c.ATTEND_CONFLICT, _c.ATTEND_ARG_OFFSET): 'leave it out: tokens of a layer are at the positions after those of its cache',
    (_c.ATTEND_CONFLICT, _c.ATTEND_ARG_KEY_ZERO_POINT): 'quantise with the zero point 0 where single tokens have scales of their own',
    (_c.ATTEND_CONFLICT, _c.ATTEND_ARG_VALUE_ZERO_POINT): 'quantise with the zero point 0 where single tokens have scales of their own',
    (_c.ATTEND_MISSING, _c.ATTEND_ARG_LOG_DECAY): 'give it: this rule has a gate',
    (_c.ATTEND_MISSING, _c.ATTEND_ARG_DECAY): 'give the gate, as log_decay: this rule has one',
    (_c.ATTEND_NO_EFFECT, _c.ATTEND_ARG_DECAY): 'leave log_decay out: this rule has no gate',
    (_c.ATTEND_MISSING, _c.ATTEND_ARG_BETA): 'give it: this is a delta rule',
    (_c.ATTEND_NO_EFFECT, _c.ATTEND_ARG_LOG_DECAY): 'leave it out: this rule has no gate',
    (_c.ATTEND_NO_EFFECT, _c.ATTEND_ARG_BETA): 'leave it out: this is no delta rule',
    (_c.ATTEND_MISMATCH, _c.ATTEND_ARG_VALUE_HEADS): 'give as many value heads as key heads, or a multiple, and as many query heads as value '
    'heads, a divisor or a multiple',
    **{(_c.ATTEND_CONFLICT, argument): _OF_OTHERS for argument in (
        _c.ATTEND_ARG_SCALE, _c.ATTEND_ARG_SOFT_CAP, _c.ATTEND_ARG_BIAS, _c.ATTEND_ARG_ALIBI_SLOPES, _c.ATTEND_ARG_RELATIVE_BIAS,
        _c.ATTEND_ARG_SINK_LOGITS, _c.ATTEND_ARG_LSE, _c.ATTEND_ARG_SCORES)},
}
_NAMES = {'window_left': 'window', 'window_right': 'window', 'output': 'out', 'scores': 'return_scores', 'lse': 'return_lse',
          'parts': 'part', 'later': 'the other state', 'bytes': 'saved', 'states': 'the state', 'state_nodes': 'nodes', 'constants': 'quantisation',
          'options': 'queries_last'}


def sentence(error: int, argument: int) -> Optional[str]:
    return _SPECIAL.get((error, argument)) or _OF_ERRORS.get(error)


def name_of(argument: str, error: int) -> str:
    """C's name of an argument, as it is called here: 'pages.page_keys', say. What does not fit is the output of a layer."""
    field = argument.split('.')[0]
    return field if error == _c.ATTEND_MISMATCH and field == 'output' else _NAMES.get(field, field)
