"""What the Python package has around linear attention, the causal convolution, gates and norms, beside float64:
tests/python/wheel_convolution.py. Needs numpy."""
import copy
import pickle

import attend
import numpy as np
from wheel_checks import check, draw, finish, fuzz_loads, refused, same


def defined(x, weights, bias=None, silu=False, before=None):
    """In float64; before: inputs in front."""
    channels, width = weights.shape
    rows = np.concatenate([np.zeros((width - 1, channels)) if before is None else before, x]).astype(float)
    sums = np.stack([(rows[t:t + width] * weights.astype(float).T).sum(0) for t in range(len(x))])
    sums = sums if bias is None else sums + bias
    return sums / (1 + np.exp(-sums)) if silu else sums


def near(what, found, wanted):
    check(np.abs(found - wanted).max() < 2e-6 * max(1, np.abs(wanted).max()), f'{what}: {np.abs(found - wanted).max():g}')


def bits():
    for channels, width in ((1, 2), (21, 4), (130, 3), (40, 16)):
        x, weights, bias = draw(33, channels), draw(channels, width), draw(channels)
        for how in ({}, {'bias': bias, 'activation': 'silu'}):
            what = f'{channels} channels, width {width}, {list(how)}'
            output = attend.causal_conv(x, weights, **how)
            near(what, output, defined(x, weights, how.get('bias'), 'activation' in how))
            # Any cut into calls, threads, strides, weights as a model has them: the same bits.
            state, found, wide = attend.ConvState(channels, width), np.full((33, channels + 2), np.nan, np.float32), np.zeros((33, 2 * channels), np.float32)
            wide[:, channels:] = x
            for tokens in (slice(0, 1), slice(1, 20), slice(20, 33)):
                out = found[tokens, 1:-1]
                check(attend.causal_conv(wide[tokens, channels:], weights[:, None], state=state, out=out, threads=3, **how) is out, 'out')
            same(what + ': cuts', np.ascontiguousarray(found[:, 1:-1]), output)
            check(np.isnan(found[:, [0, -1]]).all() and state.tokens == 33 and state.is_finite(), f'{what}: gaps stay')
            same(what + ': what it holds', state.numpy(), x[34 - width:])
            # Drafts, of which some are accepted.
            drafted = attend.ConvState(channels, width)
            drafted.append(x, count=11)
            before = drafted.save()
            same(what + ': drafts', attend.causal_conv(x, weights, state=drafted, stays=True, first=11, **how)[11:], output[11:])
            check(drafted.save() == before, f'{what}: drafts leave the state')
            drafted.append(x, first=11)
            check(drafted.save() == state.save() and drafted.nbytes == 64 + 4 * (width - 1) * channels, f'{what}: what was accepted')


def options():
    x, weights = draw(30, 8), draw(8, 4)
    outside = np.r_[0:4, 25:30]
    poisoned = x.copy()
    poisoned[outside] = np.nan
    state = attend.ConvState(8)
    held = draw(3, 8)
    state.append(held)
    output = attend.causal_conv(poisoned, weights, state=state, first=4, count=25, documents=[10, 0, 15])
    near('the first document goes on', output[4:10], defined(x[4:10], weights, before=held))
    near('the last one begins anew', output[10:25], defined(x[10:25], weights))
    check(not output[outside].any() and state.tokens == 24, 'what does not exist')
    for name, again in (('load', attend.ConvState.load(state.save())), ('copy', state.copy()), ('copy.copy', copy.copy(state)),
                        ('pickle', pickle.loads(pickle.dumps(state)))):
        check(again.tokens == 24 and (again.channels, again.width) == (8, 4) and again.save() == state.save(), name)
    saved = state.save()
    for at in (0, 4, 8, 12, 16, 20, 24, 28, 33, 45, len(saved) - 1):
        damaged = bytearray(saved)
        damaged[at] ^= 64
        refused(f'byte {at} damaged', '', lambda: attend.ConvState.load(damaged), attend.AttendError)
    fuzz_loads('damaged bytes', attend.ConvState.load, saved)
    large = saved[:24] + (16).to_bytes(4, 'little') + (65536).to_bytes(4, 'little') + saved[32:]  # no memory is taken for what is not there
    linear = attend.LinearState('linear', 1, 4, value_dim=8).save()
    for name, kind, saved_bytes in (('bytes cut short', attend.ConvState, saved[:-1]), ('bytes of a large state', attend.ConvState, large),
                                    ('no bytes', attend.ConvState, b''), ('bytes of linear attention', attend.ConvState, linear),
                                    ('bytes of a convolution', attend.LinearState, saved)):
        refused(name, 'pass all', lambda: kind.load(saved_bytes), attend.AttendError)
    state.append(poisoned)
    check(not state.is_finite(), 'NaN')
    state.clear()
    check(state.is_finite() and state.tokens == 0 and not state.numpy().any(), 'clear')
    check(attend.causal_conv(x[:0], weights).shape == (0, 8), 'no tokens')


def refusals():
    x, weights, bias, state = draw(5, 6), draw(6, 3), draw(6), attend.ConvState(6, 3)
    state.append(x)
    before, out = state.save(), np.full((5, 6), np.nan, np.float32)
    shared = x.copy()
    for what, text, call in (
            ('inputs of other channels', 'input has 5 numbers for 6', lambda: attend.causal_conv(x[:, :5], weights, state=state, out=out)),
            ('a bias of other channels', 'bias has 5 numbers for 6', lambda: attend.causal_conv(x, weights, bias[:5], state, out=out)),
            ('weights of another width', 'the state has 6 channels and the width 3', lambda: attend.causal_conv(x, draw(6, 4), bias, state, out=out)),
            ('weights of three axes', 'expected [channels, width]', lambda: attend.causal_conv(x, draw(6, 2, 3), out=out)),
            ('weights that are one', 'weights has 1 axes', lambda: attend.causal_conv(x, bias, out=out)),
            ('weights with gaps', 'weights is not contiguous', lambda: attend.causal_conv(x, draw(6, 5)[:, :3], out=out)),
            ('a width of 1', 'width is 1', lambda: attend.causal_conv(x, weights[:, :1].copy(), out=out)),
            ('a width of 17', 'width is 17', lambda: attend.ConvState(6, 17)),
            ('no channels', 'channels is 0', lambda: attend.ConvState(0)),
            ('an activation of no name', 'activation is', lambda: attend.causal_conv(x, weights, activation='relu', out=out)),
            ('an out of another shape', 'where the output has', lambda: attend.causal_conv(x, weights, out=out[:4])),
            ('an output that is the input', 'out: give it memory of its own', lambda: attend.causal_conv(shared, weights, state=state, out=shared)),
            ('a count beyond the input', 'count is 6', lambda: state.append(x, count=6)),
            ('a first beyond count', 'first is 4', lambda: attend.causal_conv(x, weights, state=state, count=3, first=4, out=out)),
            ('documents of other tokens', 'as many as count', lambda: attend.causal_conv(x, weights, state=state, documents=[2, 2], out=out)),
            ('no threads', 'threads is 0', lambda: attend.causal_conv(x, weights, state=state, threads=0, out=out))):
        refused(what, text, call)
    refused('a state of linear attention', 'expected an attend.ConvState',
            lambda: attend.causal_conv(x, weights, state=attend.LinearState('linear', 1, 3)), TypeError)
    refused('a word for yes', 'stays', lambda: attend.causal_conv(x, weights, state=state, stays='no'), TypeError)
    refused('an unknown option', 'has no option scale', lambda: attend.causal_conv(x, weights, scale=1.0), TypeError)
    refused('doubles', 'float32', lambda: state.append(x.astype(float)), TypeError)
    check(state.save() == before and np.isnan(out).all(), 'what was refused changed nothing')


def gates_and_norms():
    for shape in ((7, 4), (7, 4, 6)):
        z, rates, bias = 4 * draw(*shape), draw(4), draw(*shape[1:])
        rate = rates.astype(float).reshape(4, *(1,) * (len(shape) - 2))
        for shift in (None, bias):
            x = z.astype(float) + (0 if shift is None else shift)
            near(f'decay_gate {shape}', attend.decay_gate(z, rates, shift), rate * np.log1p(np.exp(x)))
            near(f'bounded_gate {shape}', attend.bounded_gate(z, rates, shift, lower_bound=-5), -5 / (1 + np.exp(-rate * x)))
    state = attend.LinearState('gated', 4, 6)  # which takes what comes of them, heads first
    state.append(draw(4, 7, 6), draw(4, 7, 6), attend.decay_gate(z[..., 0].copy(), -np.abs(rates)).swapaxes(0, 1))
    x, gate, weight = draw(3, 5, 24), 3 * draw(3, 5, 24), draw(24)
    wide, sigmoid = x.astype(float), 1 / (1 + np.exp(-gate.astype(float)))
    normal = lambda rows: rows / np.sqrt((rows ** 2).mean(-1, keepdims=True) + 1e-5)
    near('l2_norm', attend.l2_norm(x), wide / np.sqrt((wide ** 2).sum(-1, keepdims=True) + 1e-6))
    near('the gate last', attend.gated_rms_norm(x, gate, weight), normal(wide) * weight * gate * sigmoid)
    near('another activation', attend.gated_rms_norm(x, gate, activation='sigmoid'), normal(wide) * sigmoid)
    first = normal((wide * gate * sigmoid).reshape(3, 5, 3, 8)).reshape(3, 5, 24) * weight
    near('the gate first, in groups', attend.gated_rms_norm(x, gate, weight, order='first', groups=3), first)
    for what, text, call in (
            ('rates of other heads', 'rates has 3 numbers for 4', lambda: attend.decay_gate(z, rates[:3])),
            ('a bias of other heads', 'bias has 6 numbers for 24', lambda: attend.decay_gate(z, rates, bias[0])),
            ('a z of one axis', 'z has 1 axes', lambda: attend.decay_gate(rates, rates)),
            ('a bound of 0', 'lower_bound: give a number within its range', lambda: attend.bounded_gate(z, rates, lower_bound=0)),
            ('a gate of another shape', 'gate has the shape', lambda: attend.gated_rms_norm(x, gate[:2])),
            ('groups that do not divide', 'groups: ', lambda: attend.gated_rms_norm(x, gate, groups=5)),
            ('no groups', 'groups is 0', lambda: attend.gated_rms_norm(x, gate, groups=0)),
            ('an order of no name', 'order is', lambda: attend.gated_rms_norm(x, gate, order='middle')),
            ('an epsilon of 0', 'epsilon is 0', lambda: attend.l2_norm(x, 0))):
        refused(what, text, call)


bits()
gates_and_norms()
options()
refusals()
finish()
