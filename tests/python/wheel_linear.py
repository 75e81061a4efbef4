"""The Python package's linear attention beside its definition in float64: tests/python/wheel_linear.py. Needs numpy."""
import copy
import pickle

import attend
import numpy as np
from wheel_checks import check, draw, finish, fuzz_loads, refused, same

KINDS = [('linear', 'per_head'), ('gated', 'per_head'), ('gated', 'per_key'), ('delta', 'per_head'), ('gated_delta', 'per_head'),
         ('gated_delta', 'per_key')]


def arrays(rule, decay, query_heads, key_heads, value_heads, tokens, head_dim, value_dim):
    """query, key, value and the gates that the rule has, as keywords."""
    key = draw(key_heads, tokens, head_dim)
    key /= np.linalg.norm(key, axis=2, keepdims=True)
    gates = {}
    if rule.startswith('gated'):
        gates['log_decay'] = -np.abs(draw(value_heads, tokens, head_dim) if decay == 'per_key' else draw(value_heads, tokens))
    if rule.endswith('delta'):
        gates['beta'] = np.abs(draw(value_heads, tokens)) % np.float32(1)
    return (draw(query_heads, tokens, head_dim), key, draw(value_heads, tokens, value_dim)), gates


def defined(query, key, value, log_decay=None, beta=None, scale=None, starts=()):
    """Outputs and S in float64."""
    query, key, value = (array.astype(float) for array in (query, key, value))
    heads, tokens, width = len(value), value.shape[1], key.shape[2]
    out_heads = max(heads, len(query))
    states, outputs = np.zeros((heads, width, value.shape[2])), np.zeros((out_heads, tokens, value.shape[2]))
    for t in range(tokens):
        for h in range(heads):
            k, s = key[h * len(key) // heads, t], states[h]
            if t in starts:
                s[:] = 0
            if log_decay is not None:
                s *= np.exp(log_decay[h, t].astype(float))[..., None]
            s += k[:, None] * (value[h, t] if beta is None else beta[h, t].astype(float) * (value[h, t] - k @ s))
        for o in range(out_heads):
            outputs[o, t] = (1 / np.sqrt(width) if scale is None else scale) * query[o * len(query) // out_heads, t] @ states[o * heads // out_heads]
    return outputs, states


def part(tokens, *given, **gates):
    """Tokens of arrays and of gates."""
    return [array[:, tokens] for array in given], {name: array[:, tokens] for name, array in gates.items()}


def rules():
    for rule, decay in KINDS:
        for heads in ((2, 2, 4), (4, 2, 2)):
            given, gates = arrays(rule, decay, *heads, 41, 20, 35)
            state = attend.LinearState(rule, heads[2], 20, value_dim=35, decay=decay)
            output = state.prefill(*given, **gates)
            wanted, states = defined(*given, **gates)
            what = f'{rule} {decay} of {heads} heads'
            check(np.abs(output - wanted).max() < 1e-5 * np.abs(wanted).max(), f'{what}: {np.abs(output - wanted).max():g}')
            check(np.abs(state.numpy() - states).max() < 1e-5 * np.abs(states).max(), f'{what}: its state')
            check(state.tokens == 41 and state.is_finite(), f'{what}: tokens')
            # Any cut into calls, tokens one by one, threads, arrays of other strides: the same bits.
            other, found = attend.LinearState(rule, heads[2], 20, value_dim=35, decay=decay), np.full_like(output, np.nan)
            for tokens in (slice(0, 1), slice(1, 24), slice(24, 25), slice(25, 41)):
                some, some_gates = part(tokens, *given, **gates)
                call = other.decode if tokens.stop - tokens.start == 1 else other.prefill
                out = found[:, tokens]
                check(call(*some, **some_gates, out=out, threads=3) is out, 'out')
            same(what + ': cuts', found, output)
            same(what + ': the state of cuts', other.numpy(), state.numpy())
            check(other.save() == state.save(), f'{what}: saved')
            turned = [array.transpose(1, 0, 2).copy().transpose(1, 0, 2) for array in given]
            turned_gates = {name: array.swapaxes(0, 1).copy().swapaxes(0, 1) for name, array in gates.items()}
            same(what + ': tokens before heads', attend.linear_attention(rule, *turned, **turned_gates, decay=decay, threads=2), output)
            # Drafts, of which some are accepted.
            drafted = attend.LinearState(rule, heads[2], 20, value_dim=35, decay=decay)
            some, some_gates = part(slice(0, 30), *given, **gates)
            same(what + ': drafts', drafted.attention(*some, **some_gates), output[:, :30])
            check(drafted.tokens == 0 and not drafted.numpy().any(), f'{what}: drafts leave the state')
            drafted.append(*some[1:], **some_gates, count=11)
            drafted.append(*given[1:], **gates, first=11)
            check(drafted.save() == state.save(), f'{what}: what was accepted')


def integers():
    """Beside the definition in float64 on the same numbers, whose outputs are 8 bits."""
    meaning = attend.LinearQuantisation(query_scale=1 / 127, key_scale=1 / 127, value_scale=0.02, output_scale=0.005)
    for rule, decay in KINDS:
        (query, key, value), gates = arrays(rule, decay, 2, 2, 4, 41, 20, 35)
        query, value = (np.rint(30 * array).clip(-128, 127).astype(np.int8) for array in (query, value))
        key = np.rint(127 * key).astype(np.int8)
        bits = {name: np.rint(2**15 * (np.exp(gate) if name == 'log_decay' else gate)).astype(np.uint16) for name, gate in gates.items()}
        exact = {name: np.log(np.maximum(gate / 2**15, 1e-30)) if name == 'log_decay' else gate / 2**15 for name, gate in bits.items()}
        wanted, states = defined(query / 127, key / 127, value * 0.02, **exact)
        what = f'integers: {rule} {decay}'
        state = attend.LinearState(rule, 4, 20, value_dim=35, decay=decay, quantisation=meaning)
        output = state.prefill(query, key, value, **bits)
        check(output.dtype == np.int8 and np.abs(output - (wanted / 0.005).clip(-128, 127)).max() < 1, f'{what}: {np.abs(output - (wanted / 0.005).clip(-128, 127)).max():g}')
        check(state.numpy().dtype == np.int32 and state.numpy().shape == states.shape and state.is_finite() and state.tokens == 41, f'{what}: its state')
        # Cuts, threads, drafts, scales of each head, whole sequences: the same bits.
        other, given = attend.LinearState(rule, 4, 20, value_dim=35, decay=decay, quantisation=[meaning] * 4), (query, key, value)
        some, some_gates = part(slice(0, 17), *given, **bits)
        found = other.prefill(*some, **some_gates, threads=3)
        before = other.save()
        drafts, drafted_gates = part(slice(17, 41), *given, **bits)
        same(what + ': drafts', np.concatenate([found, other.attention(*drafts, **drafted_gates)], axis=1), output)
        check(other.save() == before, f'{what}: drafts leave the state')
        other.append(*drafts[1:], **drafted_gates)
        check(other.save() == state.save() and state.nbytes == len(state.save()) + 24, f'{what}: saved')
        same(what + ': whole', attend.linear_attention(rule, *given, **bits, decay=decay, quantisation=meaning, threads=2), output)
        for name, again in (('load', attend.LinearState.load(state.save(), quantisation=meaning)), ('copy', state.copy()),
                            ('pickle', pickle.loads(pickle.dumps(other)))):
            same(f'{what}: {name}', again.prefill(*given, **bits), state.copy().prefill(*given, **bits))
        # The last head alone has scales and a factor of its own.
        own = attend.LinearQuantisation(1 / 127, 1 / 127, 0.02, 0.01, scale=0.3)
        all_own, one_own = (attend.linear_attention(rule, *given, **bits, decay=decay, quantisation=each) for each in (own, [meaning] * 3 + [own]))
        same(what + ': scales of each head', one_own, np.concatenate([output[:3], all_own[3:]]))
        wanted = defined(query / 127, key / 127, value * 0.02, **exact, scale=0.3)[0]
        check(np.abs(all_own - (wanted / 0.01).clip(-128, 127)).max() < 1, f'{what}: a factor of the scores')
        partly = other.prefill(*given, **bits, first=4, count=25)
        check(not partly[:, np.r_[0:4, 25:41]].any() and partly[:, 4:25].any(), f'{what}: what does not exist is 0')
    state, out = attend.LinearState('gated_delta', 4, 20, value_dim=35, quantisation=meaning), np.full((4, 41, 35), 7, np.int8)
    bits = {name: bits[name] if name == 'beta' else bits[name][..., 0] for name in bits}
    before, saved, floats = state.save(), bytearray(state.save()), attend.LinearState('delta', 4, 20)
    for what, text, call in (
            ('no quantisation of saved integers', 'quantisation: give it', lambda: attend.LinearState.load(before)),
            ('a quantisation of saved floats', 'quantisation: leave it out', lambda: attend.LinearState.load(floats.save(), meaning)),
            ('heads that are too wide', 'head_dim', lambda: attend.LinearState('delta', 4, 257, quantisation=meaning)),
            ('quantisations of other heads', '3 quantisations for 4 value heads', lambda: attend.LinearState('delta', 4, 20, quantisation=[meaning] * 3)),
            ('a key scale of 1', 'key_scale', lambda: attend.LinearState('delta', 4, 20, quantisation=attend.LinearQuantisation(1 / 127, 1.0, 0.02, 0.03))),
            ('outputs that are too fine', 'output_scale', lambda: attend.LinearState('delta', 4, 20, quantisation=attend.LinearQuantisation(1, 0.5, 1, 1e-6))),
            ('a scale of 0', 'query_scale is 0', lambda: attend.LinearQuantisation(0, 1 / 127, 0.02, 0.03)),
            ('a scale of a call', 'scale: leave it out', lambda: state.prefill(*given, **bits, scale=0.5, out=out)),
            ('no gate', 'as log_decay', lambda: state.prefill(*given, beta=bits['beta'], out=out)),
            ('no beta', 'beta: give it', lambda: state.prefill(*given, bits['log_decay'], out=out))):
        refused(what, text, call)
    for what, text, call in (
            ('floats', 'expected int8', lambda: state.prefill(draw(2, 41, 20), *given[1:], **bits, out=out)),
            ('gates of floats', 'expected uint16', lambda: state.prefill(*given, draw(4, 41), bits['beta'], out=out)),
            ('an out of floats', 'expected int8', lambda: state.prefill(*given, **bits, out=draw(4, 41, 35))),
            ('integers without a quantisation', 'int8', lambda: attend.linear_attention('gated_delta', *given, **bits)),
            ('a quantisation of attention', 'expected an attend.LinearQuantisation', lambda: attend.LinearState(
                'delta', 4, 20, quantisation=attend.Quantisation(0.01, 0.01, 0.02, 0.03)))):
        refused(what, text, call, TypeError)
    fuzz_loads('damaged bytes of integers', lambda changed: attend.LinearState.load(changed, meaning), before)
    saved[50] ^= 64
    refused('damaged integers', 'pass all', lambda: attend.LinearState.load(saved, meaning), attend.AttendError)
    check(state.save() == before and (out == 7).all(), 'what was refused in integers changed nothing')


def one_key_dimension():
    """Gates of each key dimension have three axes, also where there is one dimension."""
    given, gates = arrays('gated', 'per_key', 2, 2, 2, 4, 1, 3)
    output = attend.LinearState('gated', 2, 1, value_dim=3, decay='per_key').prefill(*given, **gates)
    wanted = attend.LinearState('gated', 2, 1, value_dim=3).prefill(*given, log_decay=gates['log_decay'][:, :, 0])
    same('gates of one key dimension', output, wanted)


def options():
    given, gates = arrays('gated_delta', 'per_head', 2, 2, 2, 30, 8, 8)
    state = attend.LinearState('gated_delta', 2, 8)
    outside = np.r_[0:4, 25:30]
    poisoned = [array.copy() for array in given]
    for array in poisoned:
        array[:, outside] = np.nan
    output = state.prefill(*poisoned, **gates, first=4, count=25, documents=[10, 0, 15], scale=0.5)
    some, some_gates = part(slice(4, 25), *given, **gates)
    wanted, states = defined(*some, **some_gates, scale=0.5, starts=(6, ))
    check(np.abs(output[:, 4:25] - wanted).max() < 1e-5 and np.abs(state.numpy() - states).max() < 1e-5, 'documents and padding')
    check(not output[:, outside].any() and state.tokens == 21, 'what does not exist')
    # Saved, loaded, copied, pickled, cleared.
    for name, again in (('load', attend.LinearState.load(state.save())), ('copy', state.copy()), ('copy.copy', copy.copy(state)),
                        ('pickle', pickle.loads(pickle.dumps(state)))):
        check(again.tokens == 21 and again.rule == 'gated_delta' and again.value_dim == 8, name)
        same(name, again.prefill(*given, **gates), state.copy().prefill(*given, **gates))
    saved = state.save()
    for at in (0, 4, 8, 12, 16, 20, 24, 28, 33, 45, len(saved) - 1):
        damaged = bytearray(saved)
        damaged[at] ^= 64
        refused(f'byte {at} damaged', '', lambda: attend.LinearState.load(damaged), attend.AttendError)
    refused('bytes cut short', 'pass all', lambda: attend.LinearState.load(saved[:-1]), attend.AttendError)
    fuzz_loads('damaged bytes', attend.LinearState.load, saved)
    large = saved[:24] + (65536).to_bytes(4, 'little') * 2 + saved[32:]  # no memory is taken for what is not there
    refused('bytes of a large state', 'pass all', lambda: attend.LinearState.load(large), attend.AttendError)
    refused('no bytes', 'pass all', lambda: attend.LinearState.load(b''), attend.AttendError)
    check(attend.LinearState.load(memoryview(saved + b'more')).save() == saved, 'bytes with others behind them')
    state.append(*poisoned[1:], **gates)
    check(not state.is_finite() and np.isnan(state.numpy()).any(), 'NaN stays')
    state.clear()
    check(state.is_finite() and state.tokens == 0 and not state.numpy().any(), 'clear')
    check(state.nbytes == len(saved) + 24, 'nbytes')


def refusals():
    given, gates = arrays('gated_delta', 'per_head', 2, 2, 4, 5, 8, 6)
    query, key, value = given
    state = attend.LinearState('gated_delta', 4, 8, value_dim=6)
    state.append(key, value, **gates)
    before, out = state.save(), np.full((4, 5, 6), np.nan, np.float32)
    shared, wide = value.copy(), arrays('gated', 'per_key', 2, 2, 4, 5, 8, 6)[1]['log_decay']
    for what, text, call in (
            ('no gate', 'log_decay: give it: this rule has a gate', lambda: state.prefill(*given, beta=gates['beta'], out=out)),
            ('no beta', 'beta: give it', lambda: state.prefill(*given, gates['log_decay'], out=out)),
            ('gates of another shape', 'expected (4, 5)', lambda: state.prefill(*given, gates['log_decay'][:2], gates['beta'], out=out)),
            ('gates of each key', 'log_decay has 3 axes', lambda: state.prefill(*given, wide, gates['beta'], out=out)),
            ('values of another width', 'do not go together', lambda: state.prefill(query, key, value[..., :4], **gates, out=out)),
            ('keys of other tokens', 'do not go together', lambda: state.append(key[:, :3], value, **gates)),
            ('queries of other tokens', 'like the key', lambda: state.attention(query[:, :3], key, value, **gates)),
            ('heads that do not divide', 'value_heads: give as many', lambda: state.prefill(query, key[[0, 1, 1]], value, **gates, out=out)),
            ('an out of another shape', 'where the output has', lambda: state.prefill(*given, **gates, out=out[:2])),
            ('a count beyond the arrays', 'count is 6', lambda: state.prefill(*given, **gates, count=6, out=out)),
            ('a first beyond count', 'first is 4', lambda: state.append(key, value, **gates, count=3, first=4)),
            ('documents of other tokens', 'as many as count', lambda: state.prefill(*given, **gates, documents=[2, 2], out=out)),
            ('documents that are one', 'documents is a list of lengths', lambda: state.prefill(*given, **gates, documents=5, out=out)),
            ('an infinite scale', 'scale is inf', lambda: state.prefill(*given, **gates, scale=float('inf'), out=out)),
            ('several tokens to decode', 'decode takes one token', lambda: state.decode(*given, **gates)),
            ('an output that is an input', 'out: give it memory of its own', lambda: state.prefill(query, key, shared, **gates, out=shared)),
            ('a rule of no name', 'rule is', lambda: attend.LinearState('rnn', 4, 8)),
            ('a decay of no name', 'decay is', lambda: attend.LinearState('gated', 4, 8, decay='key')),
            ('a decay without a gate', 'has no gate', lambda: attend.LinearState('delta', 4, 8, decay='per_key')),
            ('no heads', 'value_heads is 0', lambda: attend.LinearState('delta', 0, 8)),
            ('a state that is too large', 'head_dim', lambda: attend.LinearState('delta', 65536, 65536))):
        refused(what, text, call)
    refused('an unknown option', 'scale', lambda: state.prefill(*given, **gates, sm_scale=1.0), TypeError)
    refused('an option of calls that read', 'no option scale', lambda: state.append(key, value, **gates, scale=1.0), TypeError)
    refused('doubles', 'float32', lambda: state.append(key.astype(float), value, **gates), TypeError)
    gated = attend.LinearState('gated', 4, 8, value_dim=6)
    refused('beta without a delta rule', 'beta: leave it out: this is no delta rule', lambda: gated.append(key, value, **gates))
    delta = attend.LinearState('delta', 4, 8, value_dim=6)
    refused('a gate that the rule lacks', 'log_decay: leave it out: this rule has no gate', lambda: delta.append(key, value, **gates))
    check(state.save() == before and np.isnan(out).all(), 'what was refused changed nothing')


rules()
integers()
one_key_dimension()
options()
refusals()
finish()
