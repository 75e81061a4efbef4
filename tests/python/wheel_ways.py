"""The Python package's states, threads, remembered calls and refusals: tests/python/wheel_ways.py. Needs numpy."""
import inspect
import sys
import threading

import attend
import attend._memo as memo
import attend._sentences as sentences
import numpy as np
from attend._arrays import release
from onnx_attention import float64
from wheel_checks import check, draw, finish, random, refused, same


def states():
    query, key, value = draw(2, 4, 5, 16), draw(2, 2, 700, 16), draw(2, 2, 700, 9)
    options = dict(causal=True, offset=695, window=(600, None), soft_cap=5.0, mask=random.random(700) < 0.8)
    whole = attend.attention(query, key, value, return_lse=True, **options)
    state = attend.State(query, **options)
    for stop in (1, 100, 512, 700):
        now = slice(state.next, stop)
        state.accumulate(key[:, :, now], value[:, :, now], threads=1 + stop % 3)
    same('a state', state.finish(return_lse=True), whole)
    first, later = attend.State(query, **options), attend.State(query, first_key=512, **options)
    first.accumulate(key, value, origin=0, up_to=512)
    later.accumulate(key[:, :, 512:], value[:, :, 512:])
    later = attend.State.load(later.save(), query, **options)
    first.merge(later)
    check(first.next == 700, 'next after a merge')
    same('merged states', first.finish(return_lse=True), whole)
    here, there, all_tokens = (attend.Cache(2, 16, 700, value_dim=9, key_format='float16') for _ in range(3))
    for cache, tokens in ((here, slice(0, 512)), (there, slice(512, 700)), (all_tokens, slice(0, 700))):
        cache.append(key[0, :, tokens], value[0, :, tokens])
    of_one = dict(options, mask=None)
    near, far = attend.State(query[0], **of_one), attend.State(query[0], first_key=512, **of_one)
    near.accumulate(here)
    for stop in (600, 700):
        far.accumulate(there, origin=512, up_to=stop)
    refused('a cache that begins anywhere', 'origin is 10; expected a multiple of 512', lambda: far.accumulate(there, origin=10))
    far.merge(near)
    same('states of two caches', far.finish(), attend.attention(query[0], all_tokens, **of_one))
    of_one.pop('offset')
    near, far = attend.State(query[0], **of_one), attend.State(query[0], first_key=512, **of_one)
    near.accumulate(here)
    refused('an offset that would follow one cache of several', 'offset', lambda: far.accumulate(there, origin=512))
    far.accumulate(all_tokens)
    refused('states whose offsets follow caches of two lengths', 'set offset', lambda: far.merge(near))
    refused('a state whose offset would follow another length', 'set offset', lambda: near.accumulate(all_tokens))
    check(near.next == 512 and far.next == 700, 'what was refused changed nothing')

    # A rank that has no keys: C begins its states anywhere, and they have taken nothing.
    of_one['offset'] = 507
    nothing = attend.State(query[0], first_key=2048, value_dim=9, **of_one)
    nothing = attend.State.load(nothing.save(), query[0], **of_one)
    near = attend.State(query[0], **of_one)
    near.accumulate(here)
    expected = near.finish()
    near.merge(nothing)
    followed = {name: option for name, option in of_one.items() if name != 'offset'}
    late, known = attend.State(query[0], first_key=512, **followed), attend.State(query[0], **followed)
    known.accumulate(here)
    late.merge(known)
    check(late._offset == known._offset is not None, 'the offset that a cache has given goes along')
    check((nothing.next, near.next) == (2048, 512), f'next after a merge of nothing: {near.next}')
    same('a state that nothing was added to', near.finish(), expected)

    half = attend.State(query.astype(np.float16), **options)
    half.accumulate(key, value)
    out = np.empty((2, 4, 5, 9), np.float32)
    check(half.finish(out=out) is out, 'out of a state')
    same('a state of halves', out, attend.attention(query.astype(np.float16), key, value, output='float32', **options))
    sinks = draw(4)
    state = attend.State(query, sink_logits=sinks)
    state.accumulate(key, value)
    same('sink logits of a state', state.finish(), attend.attention(query, key, value, sink_logits=sinks))

    natural, both = whole[1].astype(np.float64), attend.attention(query, key, value, return_lse=True, lse_base=2, **options)
    check(both[0].tobytes() == whole[0].tobytes() and np.abs(both[1] - natural / np.log(2)).max() < 1e-5, 'log-sum-exps in base 2')
    same('a state in base 2', first.finish(return_lse=True, lse_base=2), both)
    refused('lse_base without a log-sum-exp', 'lse_base', lambda: attend.attention(query, key, value, lse_base=2, **options))
    refused('lse_base without one of a state', 'lse_base', lambda: first.finish(lse_base=2))
    refused('another base', 'expected 2', lambda: attend.attention(query, key, value, return_lse=True, lse_base=10, **options))
    refused('lse_base of a state', 'no option lse_base', lambda: attend.State(query, lse_base=2), TypeError)
    refused('a state without keys', 'accumulate', lambda: attend.State(query).finish())
    refused('an option that a state does not have', 'queries_last', lambda: attend.State(query, queries_last=True), TypeError)
    refused('keys that were taken', 'expected', lambda: state.accumulate(key, value, origin=0, up_to=701))
    refused('keys between', 'next key', lambda: state.accumulate(key, value, origin=800))
    refused('a merge of the same keys twice', 'the other state: merge', lambda: first.merge(later))
    refused('a merge of other options', 'options', lambda: first.merge(state))
    saved = state.save()
    again = attend.State.load(bytearray(saved), query, sink_logits=sinks)
    check(again.save() == saved and again.next == 700, 'the same bytes after load')
    same('a state that was loaded', again.finish(), state.finish())
    in_steps = attend.State(query)
    in_steps.accumulate(key, value, up_to=33)
    in_steps.accumulate(key, value, origin=0)
    check(in_steps.save() == saved, 'bytes depend on neither steps nor sinks')
    for size in (0, 1, 39, 40, 79, len(saved) - 1):
        refused(f'{size} bytes of a state', 'saved: pass all', lambda: attend.State.load(saved[:size], query))
    for at in range(0, len(saved), 501):
        changed = bytearray(saved)
        changed[at] ^= 16
        refused(f'byte {at} changed', 'saved: pass all', lambda: attend.State.load(changed, query))
    other = bytearray(saved)
    other[4] ^= 1
    refused('bytes of another version of bits', 'other bits', lambda: attend.State.load(other, query))
    refused('bytes of something else', 'saved: pass all', lambda: attend.State.load(b'12345678' * 19, query))
    refused('no bytes', 'bytes-like', lambda: attend.State.load(7, query), TypeError)
    refused('bytes of another query', 'saved: load it', lambda: attend.State.load(saved, query[:, :2]))
    refused('more nodes than there is room for', 'nodes: make', lambda: attend.State.load(saved, query, nodes=0))
    refused('a state of no keys', 'accumulate', lambda: attend.State(query).save())
    check(state.next == 700, 'refusals change nothing')


def merged_states():
    query, key, value = draw(2, 2, 3, 8), draw(2, 2, 5000, 8), draw(2, 2, 5000, 8)
    options = dict(causal=True, offset=4990)
    whole = attend.attention(query, key, value, return_lse=True, **options)
    cuts = [0, 512, 2048, 2560, 4096, 5000]

    def took(first, end, **more):
        state = attend.State(query, first_key=first, **options, **more)
        state.accumulate(key, value, origin=0, up_to=end)
        return state
    for order in random.permuted([range(5)] * 6, axis=1):
        states = [took(cuts[n], cuts[n + 1]) for n in order]
        while len(states) > 1:
            other = states.pop(random.integers(len(states)))
            to = states[random.integers(len(states))]
            to.merge(attend.State.load(other.save(), query, **options))
        check(states[0].next == 5000, 'next after merges')
        same(f'states merged as {order}', states[0].finish(return_lse=True), whole)

    state, last = took(0, 512), took(4096, 5000)
    state.merge(last)
    before = state.save()
    refused('a hole', 'queries see', state.finish)
    refused('the same keys', 'the other state: merge', lambda: state.merge(last))
    refused('an open segment before others', 'still to come', lambda: took(512, 520).merge(took(1024, 1536)))
    refused('more nodes than there is room for', 'nodes: make', lambda: took(0, 512, nodes=1).merge(took(2048, 2560, nodes=1)))
    refused('keys that need more nodes', 'nodes: make', lambda: took(0, 1536, nodes=1))
    refused('other room', 'room for 3', lambda: state.merge(took(512, 1024, nodes=3)))
    refused('no number of nodes', 'nodes', lambda: attend.State(query, nodes=-1))
    check(state.save() == before, 'refusals change nothing')
    sides = took(512, 1024, nodes=1)
    sides.merge(took(0, 512, nodes=1))
    check(sides.next == 1024 and attend.State.load(sides.save(), query, nodes=1, **options).save() == sides.save(), 'room for one node')

    cache = attend.Cache(kv_heads=2, head_dim=8, max_tokens=600)
    cache.append(key[0, :, :600], value[0, :, :600])
    of_cache = attend.State(query[0], causal=True)  # the queries are its last tokens
    of_cache.accumulate(cache, up_to=100)
    of_cache.accumulate(cache)
    same('a state over a cache', of_cache.finish(), attend.attention(query[0], cache, causal=True))


def threads():
    query, key, value = draw(2, 4, 33, 24), draw(2, 2, 90, 24), draw(2, 2, 90, 20)
    whole = attend.attention(query, key, value, causal=True, offset=57)
    for count in (2, 3, 16):
        same(f'{count} threads', attend.attention(query, key, value, causal=True, offset=57, threads=count), whole)
        out = np.zeros_like(whole)
        for index in range(count):
            attend.attention(query, key, value, causal=True, offset=57, out=out, part=(index, count))
        same(f'{count} parts', out, whole)
    results = attend.attention(query, key, value, return_lse=True, return_scores='weights')
    same('lse and scores of threads', attend.attention(query, key, value, return_lse=True, return_scores='weights', threads=2), results)
    out = np.zeros_like(whole)
    attend.attention(query, key, value, causal=True, offset=57, out=out, part=(1, 3))
    check(0 < np.count_nonzero(out) < out.size, 'a part writes its share')
    call = lambda **options: attend.attention(query, key, value, **options)
    refused('a part without out', 'out', lambda: call(part=(0, 2)))
    refused('a part that there is not', 'expected 0 to 1', lambda: call(part=(2, 2), out=out))
    refused('a part that is a number', '(index, count)', lambda: call(part=2, out=out), TypeError)
    start, threading.Thread.start = threading.Thread.start, lambda self: refuse_third(self)
    started = []

    def refuse_third(thread):
        started.append(thread)
        if len(started) % 2 == 0:
            raise RuntimeError('no third thread')
        start(thread)

    weights = attend.Weights(np.eye(24, dtype=np.float32))
    layer = attend.Layer(*[weights] * 4, heads=2)
    refused('threads that do not start', 'no third', lambda: call(threads=3), RuntimeError)
    refused('threads of a layer that do not start', 'no third', lambda: layer.self_attention(draw(5, 24), threads=3), RuntimeError)
    threading.Thread.start = start
    check(threading.active_count() == 1, 'threads that are left')
    refused('no threads', 'threads', lambda: call(threads=0))
    refused('threads of a refused call', 'offset', lambda: call(causal=True, threads=2))


def remembered():
    """The first two calls of a kind are general ones."""
    for case in range(60):
        dtype, heads, tokens = random.choice([np.float32, np.float16]), int(random.integers(1, 5)), int(random.integers(1, 9))
        cache = attend.Cache(1, 8, 50) if case % 3 == 2 else None
        options = dict(causal=bool(case % 2), window=[None, (case, 1)][case % 5 == 4], scale=[None, 0.5, 0.0, -0.0][case % 4])
        if cache is None:
            options['offset'] = 3 if options['causal'] or options['window'] else None
        results = []
        for again in range(4):
            query, key, value = (draw(*shape).astype(dtype) for shape in ((heads, tokens, 8), (1, 20, 8), (1, 20, 8)))
            if case % 7 == 6:
                query = np.repeat(query, 2, 1)[:, ::2]
            if cache is not None:
                cache.append(key[:, :10].astype(np.float32), value[:, :10].astype(np.float32))
                key, value = cache, None
            out = np.empty_like(query) if case % 2 else None
            found = attend.attention(query, key, value, out=out, **options)
            attend.run_again, run_again = (lambda *others: None), attend.run_again
            results.append((found, attend.attention(query, key, value, **options)))
            attend.run_again = run_again
            check(out is None or found is out, 'out of a remembered call')
        for again, (found, wanted) in enumerate(results):
            same(f'case {case}, call {again}', found, wanted)
    used = []
    attend.run_again, run_again = (lambda *others: used.append(memo.run_again(*others)) or used[-1]), attend.run_again
    query, key = draw(2, 3, 8), draw(2, 3, 8)
    usual = dict(causal=True, window=(5, 0))
    for _ in range(3):
        attend.attention(query, key, key, **usual)
    check(used[-1] is not None, 'the third call is not remembered')
    # Each is refused or differs although an equal one was taken, because what is remembered goes by types too.
    refused('1 for True', 'True', lambda: attend.attention(query, key, key, causal=1, window=(5, 0)), TypeError)
    refused('5.0 for 5', 'whole', lambda: attend.attention(query, key, key, causal=True, window=(5.0, 0)), TypeError)
    out = np.empty_like(query)
    for _ in range(3):
        attend.attention(query, key, key, out=out)
    check(used[-1] is out, 'the third call with out is not remembered')
    out.flags.writeable = False
    refused('out that became read-only', 'read-only', lambda: attend.attention(query, key, key, out=out))
    for _ in range(3):
        attend.attention(query, key, key)
    for name in ('query', 'key', 'value', 'out'):  # the same shapes with other strides
        arrays = dict(query=query, key=key, value=draw(2, 3, 8), out=np.zeros_like(query))
        wanted = attend.attention(**arrays).copy()
        arrays[name] = np.repeat(arrays[name], 2, 1)[:, ::2]
        same(f'other strides of {name} than are remembered', attend.attention(**arrays).copy(), wanted)
    refused('out that overlaps', 'overlap', lambda: attend.attention(query, key, key, out=query))
    attend.attention(query, key, key, out=np.empty_like(query))
    refused('out that overlaps what is remembered', 'overlap', lambda: attend.attention(query, key, key, out=key))
    attend.run_again = run_again
    for tokens in range(1, 2 * memo.MOST):
        attend.attention(query, np.empty((2, tokens, 8), np.float32), np.empty((2, tokens, 8), np.float32))
    check(len(memo._memo) <= memo.MOST, 'what is remembered has a limit')
    # One remembered problem, many threads.
    wanted = [attend.attention(query * np.float32(n), key, key) for n in range(4)]
    wrong = []

    def many(n):
        mine = query * np.float32(n)
        wrong.extend(1 for _ in range(300) if attend.attention(mine, key, key).tobytes() != wanted[n].tobytes())

    sys.setswitchinterval(1e-6)
    workers = [threading.Thread(target=many, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.setswitchinterval(0.005)
    check(not wrong, f'{len(wrong)} calls of several threads at a time differ')


def decoding():
    """Token by token over rings, most of it by what is remembered."""
    tokens, window = 120, (20, 0)
    arrays = [draw(heads, tokens, 16) for heads in (4, 2, 2)]
    integers = [np.rint(array * 30).clip(-128, 127).astype(np.int8) for array in arrays]
    meaning = attend.Quantisation(0.05, 0.05, 0.05, 0.04)
    for (query, key, value), quantisation in ((arrays, None), (integers, meaning), (integers, [meaning] * 4)):
        options = dict(window=window, sink_tokens=3, quantisation=quantisation)
        wanted = attend.attention(query, key, value, offset=0, **options)
        ring = attend.Cache(2, 16, tokens, window_keys=21, sink_tokens=3, integers=quantisation is not None)
        for token in range(tokens):
            now = slice(token, token + 1)
            ring.append(key[:, now], value[:, now])
            found = attend.attention(query[:, now], ring, **options)
            if found.tobytes() != wanted[:, now].tobytes():
                check(False, f'token {token} over a ring of {found.dtype}')
        check(ring.nbytes < attend.Cache(2, 16, tokens, integers=ring.integers).nbytes, 'a ring is smaller')
    lost = dict(window=(100, 0), quantisation=meaning)
    refused('a window that the ring has lost', 'window_keys', lambda: attend.attention(query[:, now], ring, sink_tokens=3, **lost))
    short = attend.Cache(2, 16, tokens, window_keys=21)
    for token in range(tokens):
        now = slice(token, token + 1)
        short.append(arrays[1][:, now], arrays[2][:, now])
    refused('sink tokens that the ring was not made with', 'or make it with sink_tokens',
            lambda: attend.attention(arrays[0][:, now], short, window=window, sink_tokens=3))


def rings_and_what_queries_see():
    """A ring knows what it keeps; a call that does not say which of it queries see is refused from the first token on."""
    query, key, value, x = draw(4, 1, 16), draw(2, 1, 16), draw(2, 1, 16), draw(1, 64)
    weights = [attend.Weights(draw(outputs, 64)) for outputs in (64, 32, 32, 64)]
    layer = attend.Layer(*weights, heads=4, kv_heads=2)
    ring, kept = attend.Cache(2, 16, 100, window_keys=21, sink_tokens=3), attend.Cache(2, 16, 100)
    for cache in (ring, kept):
        cache.append(key, value)
    for name, call in (('attention', lambda **options: attend.attention(query, ring, causal=True, **options)),
                       ('a state', lambda **options: attend.State(query, causal=True, **options).accumulate(ring)),
                       ('a layer', lambda **options: layer.self_attention(x, ring, causal=True, **options)),
                       ('cross-attention', lambda **options: layer.cross_attention(x, ring, causal=True, **options))):
        refused(f'{name} over a ring without a window', 'window=(20, 0)', lambda: call(sink_tokens=3), attend.AttendError)
        refused(f'{name} over a ring without sink tokens', 'sink_tokens=3', lambda: call(window=(20, 0)), attend.AttendError)
        check(len(ring) == 1, f'{name}: a refusal changed the ring')
    for options in ({'window': (None, None), 'sink_tokens': 0}, {'window': (None, None)}, {'window': (None, 0)}):
        same(f'all of a ring by {options}', attend.attention(query, ring, causal=True, **options), attend.attention(query, kept, causal=True))
    first, second = attend.State(query, sink_tokens=0, window=(5, 0), offset=512), attend.State(query, window=(5, 0), offset=512, first_key=512)
    first.accumulate(draw(2, 512, 16), draw(2, 512, 16))
    second.accumulate(key, value)
    first.merge(second)
    check(first.next == 513, 'no sink tokens, given and left out, are the same option')


def empty_work():
    """Calls with nothing to do, as the table in include/guide/options.md has them."""
    for kind, zero, options in ((np.float32, 0, {}), (np.int8, -3, dict(quantisation=attend.Quantisation(0.02, 0.02, 0.2, 0.2, output_zero_point=-3)))):
        of = lambda *shape: np.ones(shape, kind)
        five, none, queries = of(1, 5, 4), of(1, 0, 4), of(1, 2, 4)
        with_lse = {} if options else dict(return_lse=True)

        def gives(what, shape, found):
            output, lse = (found, np.full(1, -np.inf)) if options else found
            check(output.shape == shape and (output == zero).all() and (lse == -np.inf).all(), f'{what}, {kind.__name__}')

        def attention(query, key, **more):
            return attend.attention(query, key, None if isinstance(key, attend.Cache) else key, **options, **with_lse, **more)

        gives('no keys', (1, 2, 4), attention(queries, none))
        gives('no keys, causal', (1, 2, 4), attention(queries, none, causal=True, offset=0))
        refused('no keys, causal, without an offset', 'offset: give it', lambda: attention(queries, none, causal=True))
        gives('no queries', (1, 0, 4), attention(none, five))
        gives('no queries, causal', (1, 0, 4), attention(none, five, causal=True))
        gives('neither', (1, 0, 4), attention(none, none, causal=True))
        gives('an empty batch', (0, 1, 2, 4), attention(of(0, 1, 2, 4), of(0, 1, 5, 4)))
        gives('no lengths', (1, 2, 4), attention(queries, five, key_lengths=[0]))
        gives('a mask', (1, 2, 4), attention(queries, five, mask=np.zeros(5, bool)))
        gives('a mask without columns', (1, 2, 4), attention(queries, five, mask=np.zeros((1, 0), bool)))
        at = np.array([2, 0], np.int32)
        gives('empty ranges', (1, 2, 4), attention(queries, five, ranges=(at, at)))
        same('empty documents', attention(queries, queries, documents=[0, 2, 0]), attention(queries, queries))
        for documents in ([], [0]):
            gives(f'documents {documents}', (1, 0, 4), attention(none, none, documents=documents))
        cache = attend.Cache(1, 4, 9, integers=bool(options))
        cache.append(none, none)
        check(len(cache) == 0, 'an append of nothing')
        refused('an empty cache', 'append to the cache first', lambda: attention(queries, cache))
        gives('an empty cache that is said to be', (1, 2, 4), attention(queries, cache, key_lengths=[0]))
        gives('no queries over an empty cache', (1, 0, 4), attention(none, cache))

        state, taken = attend.State(queries, **options), attend.State(queries, **options)
        refused('a new state', 'value_dim', state.finish)
        wide = lambda **more: attend.State(queries, value_dim=4, **options, **more)
        gives('a new state that knows how wide values are', (1, 2, 4), wide().finish(**with_lse))
        taken.merge(state)
        state.merge(wide(first_key=512))
        check((state.next, wide().next) == (0, 0), 'merges of what has taken nothing')
        loaded = attend.State.load(wide(first_key=512).save(), queries, **options)
        check(loaded.next == 512, 'a new state that was saved')
        loaded.merge(state)
        gives('two that have taken nothing', (1, 2, 4), loaded.finish(**with_lse))
        first = wide(first_key=512)
        first.merge(attend.State(queries, **options))
        gives('one of unknown width, merged', (1, 2, 4), first.finish(**with_lse))
        refused('other values', '4 wide', lambda: wide().accumulate(queries, queries[..., :3]))
        state.accumulate(none, none)
        gives('a state of no keys', (1, 2, 4), state.finish(**with_lse))
        late = attend.State(queries, first_key=512, **options)
        late.accumulate(none, none)
        taken.accumulate(five, five)
        whole, before = taken.finish(), taken.save()
        taken.accumulate(none, none)
        taken.merge(late)
        check(taken.save() == before, 'nothing after others, and merged')
        taken.merge(attend.State.load(state.save(), queries, **options))
        state.merge(taken)
        same('merged with nothing', (taken.finish(), state.finish()), (whole, whole))
        check(taken.next == state.next == 5, 'next after a merge with nothing')
        nobody = attend.State(none, **options)
        nobody.accumulate(five, five)
        check(nobody.finish().shape == (1, 0, 4), 'a state of no queries')
    check(attend.additive_attention(np.ones((2, 4), np.float32), np.ones((0, 4), np.float32), np.ones((0, 4), np.float32),
                                    np.ones(4, np.float32)).tolist() == [[0] * 4] * 2, 'additive attention over nothing')


def traps():
    a = draw(1, 3, 4)
    call = lambda *arrays, **options: (lambda: attend.attention(*(arrays or (a, a, a)), **options))
    refused('a window of one number', 'window=(5, 0)', call(window=5), TypeError)
    refused('a scale in words', 'scale=1.0', call(scale='1'), TypeError)
    refused('a soft cap in words', 'soft_cap=1.0', call(soft_cap='1'), TypeError)
    refused('causal in words', 'causal=True', call(causal='yes'), TypeError)
    refused('queries_last in words', 'queries_last=True', call(queries_last='no'), TypeError)
    refused('return_lse in words', 'return_lse=True', call(return_lse='no'), TypeError)
    same('causal of numpy', attend.attention(a, a, a, causal=np.bool_(True)), attend.attention(a, a, a, causal=True))
    refused('sink tokens in words', 'whole number', call(sink_tokens='3'), TypeError)
    refused('a relative bias alone', '(biases, left)', call(relative_bias=a[0, 0]), TypeError)
    for place, name in enumerate(('query', 'key', 'value')):
        arrays = [a.astype(float) if n == place else a for n in range(3)]
        refused(f'{name} in float64', f'{name}.astype(numpy.float32)', call(*arrays), TypeError)
    refused('a bias in float64', 'bias.astype(numpy.float32)', call(bias=np.zeros((3, 3))), TypeError)
    refused('a mask of numbers', 'mask.astype(numpy.bool_)', call(mask=np.ones((3, 3))), TypeError)
    # What a call writes into is no argument to convert on the way: the result would be lost.
    for name, out, text, error in (('float64', a.astype(float), 'expected float32 or float16 or bfloat16: make it with', TypeError),
                                   ('a list', a.tolist(), 'expected an array: make it with', TypeError),
                                   ('gaps', draw(1, 3, 8)[..., ::2], 'not contiguous: make it with', ValueError)):
        refused(f'out: {name}', text, call(out=out), error)
        refused(f'out: {name}: no copy', 'leave it away and copy the result', call(out=out), error)
    refused('x to rotate: float64', 'first set x = x.astype(numpy.float32)',
            lambda: attend.rotate(a.astype(float), attend.Rotary(4, 'halves'), position=0), TypeError)
    # What another library has is named as it is called here, and what is out of range has its range.
    refused('is_causal', 'attend.attention has no option is_causal: write causal=, one of query, key, value, causal, offset', call(is_causal=True), TypeError)
    refused('an option of nobody', 'attend.attention has no option colour: expected some of query, key', call(colour=3), TypeError)
    refused('what is wrong within a call is told as it is', 'mask.astype(numpy.bool_)', call(mask=np.ones((3, 3))), TypeError)
    refused('an option of a cache', 'attend.Cache has no option dtype: expected some of kv_heads, head_dim', lambda: attend.Cache(1, 4, 9, dtype='float16'), TypeError)
    refused('an option of rotary positions', 'attend.Rotary has no option theta: write base=', lambda: attend.Rotary(8, 'halves', theta=1e6), TypeError)
    refused('an option of a state', 'a state has no option attn_mask: write mask=', lambda: attend.State(a, attn_mask=None), TypeError)
    refused('no value', 'value is missing: expected attention(query, key, value)', call(a, a), TypeError)
    held = attend.Cache(1, 4, 9)
    held.append(draw(1, 6, 4), draw(1, 6, 4))
    for what, text, wrong in (
            ('a part', 'index of part is 7; expected 0 to 6', call(part=(7, 7), out=a.copy())),
            ('tokens that stay', 'tokens is 7; expected 0 to 6', lambda: held.truncate(7)),
            ('lengths of keys', 'key_lengths has 4; expected 0 to 3', call(key_lengths=[4])),
            ('lengths of a cache', 'key_lengths has 7; expected 0 to 6', call(a, held, key_lengths=[7])),
            ('a cap', 'soft_cap is 1e-31; expected 1e-30 to 1e+30, or 0 for none', call(soft_cap=1e-31)),
            ('a scale', 'scale is 1e+39; expected -1.70141e+38 to 1.70141e+38', call(scale=1e39)),
            ('heads', 'kv_heads is 0; expected 1 to 65536', lambda: attend.Cache(0, 4, 9)),
            ('a width', 'head_dim is 65537; expected 1 to 65536', lambda: attend.Cache(1, 65537, 9)),
            ('a capacity', 'max_tokens is 0; expected 1 to 536870912', lambda: attend.Cache(1, 4, 0)),
            ('a zero point', 'key_zero_point is 128; expected -128 to 127', lambda: attend.Quantisation(1, 1, 1, 1, key_zero_point=128)),
            ('a scale of integers', 'value_scale is 0; expected 1.17549e-38', lambda: attend.Quantisation(1, 1, 0, 1)),
            ('an epsilon', 'epsilon is 0; expected 1e-30 to 1e+30', lambda: attend.rms_norm(a, epsilon=0)),
            ('a base', 'base is 1; expected 2 to 1e+12', lambda: attend.Rotary(8, 'halves', 1)),
            ('a state that begins anywhere', 'first_key is 7; expected a multiple of 512', lambda: attend.State(a, first_key=7)),
            ('half a pair', 'rotary_dim is 7; expected an even number', lambda: attend.Rotary(7, 'halves'))):
        refused(f'{what} out of range', text, wrong)
    refused('output: an array', 'an array that takes the output is out=', call(output=a), TypeError)
    refused('scores: an array', 'return_scores is a ndarray; expected one of raw', call(return_scores=a), TypeError)
    refused('scores: a word', "return_scores is 'all'; expected one of raw", call(return_scores='all'))
    refused('output beside out', 'beside out', call(output='float32', out=a.copy()))
    refused('a format: an array', 'key_format is a ndarray; expected one of float32', lambda: attend.Cache(1, 4, 9, key_format=a), TypeError)
    for name, rows in (('mask', np.ones((3, 1), bool)), ('bias', np.zeros((1, 3, 1), np.float32))):
        repeated = attend.attention(a, a, a, **{name: np.repeat(rows, 3, -1)})
        refused(f'{name}: one column', f'numpy.repeat({name}, 3, -1)', call(**{name: rows}))
        same(f'{name}: the column repeated', repeated, attend.attention(a, a, a))
        refused(f'{name} of a state: one column', 'columns', lambda: attend.State(a, **{name: rows}).accumulate(a, a))
    layer = attend.Layer(*(attend.Weights(draw(4, 4)) for _ in range(4)), heads=1)
    refused('a layer: a mask of one column', 'columns', lambda: layer.self_attention(a[0], mask=np.ones((3, 1), bool)))
    same('a mask of the only key', attend.attention(a, a[:, :1], a[:, :1], mask=np.ones((3, 1), bool)), attend.attention(a, a[:, :1], a[:, :1]))
    integers = a.astype(np.int8)
    meaning = attend.Quantisation(0.1, 0.1, 0.1, 0.1)
    refused('integers without a meaning', 'attend.Quantisation', call(*[integers] * 3), TypeError)
    refused('floats with a quantisation', 'numpy.int8', call(quantisation=meaning), TypeError)
    refused('a scale beside a quantisation', 'quantisation', call(*[integers] * 3, quantisation=meaning, scale=0.5))
    in_integers = lambda **scales: call(*[integers] * 3, quantisation=meaning, **scales)
    refused('scales of tokens in floats', 'numpy.rint(key_scales * 2**15)', in_integers(key_scales=np.full((1, 3), 0.5)), TypeError)
    refused('scales of tokens above 1', '32768', in_integers(value_scales=np.full((1, 3), 32769, np.uint16)))
    many = np.ones((1, 70, 4), np.int8)
    state = attend.State(integers, quantisation=meaning)
    state.accumulate(many[:, :33], many[:, :33])
    refused('a state of integers that stopped anywhere', 'one of 32', lambda: state.accumulate(many[:, 33:], many[:, 33:]))
    refused('arrays of integers that begin anywhere', 'multiple of 512', call(integers, many, many, quantisation=meaning, origin=32))
    pool, table = np.ones((1, 2, 24, 4), np.int8), np.zeros((1, 1), np.int32)
    refused('pages of integers', 'of 32', call(integers, pool, pool, quantisation=meaning, pages=table))
    two = np.ones((2, 3, 4), np.int8)
    other = attend.Quantisation(0.1, 0.1, 0.1, 0.1, query_zero_point=1)
    refused('zero points of heads', 'the same one', call(two, two, two, quantisation=[meaning, other]))
    refused('a quantisation too few', '2 quantisations for 1', call(*[integers] * 3, quantisation=[meaning] * 2))
    refused('a quantisation of something', 'attend.Quantisation', call(*[integers] * 3, quantisation=0.1), TypeError)
    wide = attend.Quantisation(1, 1, 1, 1)  # right for some widths
    check(attend.attention(*[integers] * 3, quantisation=wide).dtype == np.int8, 'scales of some widths')
    refused('scales of other widths', 'ln 2', call(*[integers[..., :1]] * 3, quantisation=wide))
    refused('scales that are too large', 'ln 2', lambda: attend.Quantisation(100, 100, 1, 1))
    refused('a type of outputs', 'int16', call(*[integers] * 3, quantisation=meaning, output='float16'))
    floats, ints = attend.Cache(1, 4, 8), attend.Cache(1, 4, 8, integers=True)
    refused('an empty cache', 'Cache.append', call(a, floats))
    refused('floats for a cache of integers', 'numpy.int8', lambda: ints.append(a, a), TypeError)
    ints.append(integers, integers)
    refused('a cache of integers for floats', 'quantisation', call(a, ints))
    refused('a full cache', 'max_tokens', lambda: floats.append(draw(1, 9, 4), draw(1, 9, 4)))
    refused('where queries are', 'queries_last=True', call(a, draw(1, 5, 4), draw(1, 5, 4), causal=True))
    # No sentence of C's, whatever is wrong with whatever.
    for error in range(1, attend._c.ATTEND_OTHER_BITS + 1):
        for argument in range(1, attend._c.ATTEND_ARG_TEAM + 1):
            text = sentences.sentence(error, argument) or ''
            name = sentences.name_of(attend.shared.attend_argument_name(error | argument << 8).decode(), error)
            of_c = ('ATTEND_', 'attend_', 'header', 'sizeof', 'window_left', '.data', 'head_constants')
            leaks = [word for word in of_c if word in name + text]
            if leaks or not text:
                check(False, f'error {error} of {name}: {leaks} in {text!r}')
    check(inspect.getdoc(attend).startswith('Transformer attention over numpy'), 'what help(attend) begins with')
    check(all(getattr(attend, name).__doc__ for name in attend.__all__), 'help of each name')


def ranges_and_documents():
    query, key, value = draw(2, 4, 70, 16), draw(2, 2, 70, 16), draw(2, 2, 70, 9)
    at = np.arange(70)
    first = np.stack([at // 16 * 16, np.maximum(0, at - 20)]).astype(np.int32)
    end = np.stack([at + 1, np.maximum(at + 1, 33)]).astype(np.int32)
    for begins, ends in ((first, end), (first, None), (None, end), (first[0], end[1])):
        low = np.zeros((2, 70)) if begins is None else np.broadcast_to(begins, (2, 70))
        high = np.full((2, 70), 99) if ends is None else np.broadcast_to(ends, (2, 70))
        mask = (at >= low[..., None]) & (at < high[..., None])
        for options in ({}, dict(causal=True, window=(30, None), sink_tokens=2, soft_cap=3.0)):
            same('ranges', attend.attention(query, key, value, ranges=(begins, ends), threads=2, return_lse=True, **options),
                 attend.attention(query, key, value, mask=mask[:, None], return_lse=True, **options))
    cache = attend.Cache(2, 16, 70, value_dim=9, key_format='float16')
    cache.append(key[0], value[0])
    mask = (at >= first[0][:, None]) & (at < end[0][:, None])
    same('ranges over a cache', attend.attention(query[0], cache, ranges=(first[0], end[0])), attend.attention(query[0], cache, mask=mask))
    lengths = [1, 37, 0, 32]
    for options in (dict(causal=True), dict(window=(5, 3), sink_tokens=1), dict(alibi_slopes=draw(4))):
        packed, at = attend.attention(query[0], key[0], value[0], documents=lengths, **options), 0
        for length in lengths:
            now = slice(at, at + length)
            at += length
            if length:
                alone = attend.attention(query[0][:, now], key[0][:, now], value[0][:, now], **options)
                same('a document', np.ascontiguousarray(packed[:, now]), alone)
    whole = lambda **options: lambda: attend.attention(query[0], key[0], value[0], **options)
    refused('a range that begins before all keys', 'at least 0', whole(ranges=(first[0] - 1, None)))
    refused('a range that ends before it begins', 'no end lie', whole(ranges=(end[0], first[0])))
    refused('ranges of other numbers', 'astype(numpy.int32)', whole(ranges=(first[0].astype(np.int64), None)), TypeError)
    refused('ranges of fewer queries', '69 numbers for 70', whole(ranges=(first[0][:69], None)))
    refused('ranges that are no pair', 'expected (first, end)', whole(ranges=first), TypeError)
    refused('raw scores of ranges', 'return_scores', whole(ranges=(first[0], None), return_scores='raw'))
    refused('documents of fewer tokens', 'as many tokens', whole(documents=[1, 37]))
    refused('a document of less than nothing', 'expected 0', whole(documents=[-1, 71]))
    refused('documents of a batch', 'one batch row', lambda: attend.attention(query, key, value, documents=lengths))
    refused('documents over a cache', 'cannot be had together', lambda: attend.attention(query[0], cache, documents=lengths))
    refused('ranges of a state', 'no option ranges', lambda: attend.State(query, ranges=(first, None)), TypeError)
    bias = draw(70, 70)
    raw = float64.attention(query[0], key[0], value[0], bias=bias)
    wanted = float64.attention(0 * query[0], key[0], value[0], bias=2 * np.tanh(raw.biased / 2)).output
    found = attend.attention(query[0], key[0], value[0], bias=bias, soft_cap=2.0, bias_stage='before_cap')
    check(np.abs(found - wanted).max() < 1e-5, 'a bias before the cap')
    refused('a bias before a cap that is not there', 'bias_stage', whole(bias=bias, bias_stage='before_cap'))
    refused('another stage', 'expected one of after_cap', whole(bias=bias, bias_stage='before'))
    weights = [draw(12, 12) for _ in range(4)]
    layer = attend.Layer(*map(attend.Weights, weights), heads=2)
    x = draw(70, 12)
    same('a layer with ranges', layer.self_attention(x, ranges=(first[0], end[0])), layer.self_attention(x, mask=mask))
    same('a layer of documents', layer.self_attention(x, documents=lengths, threads=2, causal=True)[1:38],
         layer.self_attention(x[1:38], causal=True))


for part in (ranges_and_documents, states, merged_states, threads, remembered, decoding, rings_and_what_queries_see, empty_work, traps):
    part()
finish()
