"""Counted checks, one line for each, as tests/support/check.sh counts them."""
import hashlib
import traceback

import float64
import numpy
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


def attention_in_doubles(query, key, value, mask=None, causal=False, scale=None, offset=0, softcap=0.0, left=None, sinks=None):
    """The definition in float64, and the most that outputs of float32 may be off."""
    position, keys = numpy.ogrid[offset:offset + query.shape[-2], :key.shape[-2]]
    seen, bias = keys <= position if causal else True, 0.0
    if left is not None:
        seen = seen & (keys >= position - left)
    if mask is not None:
        seen, bias = (seen & mask.numpy(), bias) if mask.dtype == torch.bool else (seen, mask.double().numpy())
    arrays = [each.double().numpy() for each in (query, key, value)]
    found, axes = float64.attention(*arrays, seen, scale, bias, softcap, sinks), max(each.ndim for each in arrays)
    return [torch.from_numpy(each.reshape(each.shape[-axes:])) for each in (found.output, found.bound)]
