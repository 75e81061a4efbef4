"""Counted checks, one line for each, as tests/support/check.sh counts them."""
import hashlib
import traceback

import torch


def check(what, passed, why=''):
    print(f'ok   {what}' if passed else f'FAIL {what}: {why}', flush=True)


def checked(what):
    """A function that returns why it failed, or nothing, is a check of that name."""
    def run(function):
        try:
            why = function()
        except Exception:
            why = ' '.join(traceback.format_exc().split())[-300:]
        check(what, why is None, why)
    return run


def digest(*tensors):
    """Of shapes and bytes: two that differ in a bit have different ones."""
    found = hashlib.sha256()
    for tensor in tensors:
        found.update(f'{tensor.dtype} {tuple(tensor.shape)}'.encode())
        dense = tensor.detach().contiguous()
        found.update((dense.view(torch.int16) if dense.element_size() == 2 else dense).numpy().tobytes())
    return found.hexdigest()


def same_bits(one, other):
    return one.shape == other.shape and digest(one) == digest(other)


def difference(one, other):
    """'same', or how many numbers differ and by how much at most."""
    if same_bits(one, other):
        return 'same'
    apart = (one - other).abs()
    share = 100 * (apart != 0).double().mean().item()
    return f'differs ({share:.0f} % of numbers, at most {apart.max().item():.0e})'


def refuses(what, sentence, call):
    """The call must raise, saying the sentence."""
    try:
        call()
    except Exception as error:
        text = str(error)
        check(f'{what}: {sentence}', sentence in text, f'it says {text[:300]}')
    else:
        check(f'{what}: {sentence}', False, 'it is taken')


def attention_of_doubles(query, key, value, mask=None, causal=False, scale=None, offset=0, softcap=0.0, left=None, sinks=None):
    """The definition in float64: what is masked is absent, and a row that sees nothing is 0. Also the weights."""
    query, key, value = query.double(), key.double(), value.double()
    heads = query.shape[-3] if query.dim() > 2 else 1
    if key.dim() > 2 and 1 < key.shape[-3] < heads:
        key, value = (each.repeat_interleave(heads // each.shape[-3], -3) for each in (key, value))
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    position = torch.arange(query.shape[-2])[:, None] + offset
    keys = torch.arange(key.shape[-2])[None]
    if causal:
        scores = scores.masked_fill(keys > position, float('-inf'))
    if left is not None:
        scores = scores.masked_fill(keys < position - left, float('-inf'))
    if mask is not None:
        scores = scores.masked_fill(~mask, float('-inf')) if mask.dtype == torch.bool else scores + mask.double()
    if sinks is not None:
        sink = sinks.double().view(-1, 1, 1).expand(*scores.shape[:-1], 1)
        weights = torch.softmax(torch.cat((scores, sink), -1), -1)[..., :-1]
    else:
        weights = torch.softmax(scores, -1)
    weights = weights.nan_to_num(0.0)
    return weights @ value, weights
