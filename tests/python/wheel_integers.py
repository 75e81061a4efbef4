"""The Python package's attention in integers beside an exact model: tests/python/wheel_integers.py [PROBLEMS]

Random problems over arrays, batches, parts, threads, pages, caches, rings and states: equal bits. 2,000 problems, unless it is told;
ATTEND_QUICK=N asks for an Nth; N is 12 where it is 1. Needs numpy.
"""
import collections
import os
import sys

import attend
import numpy as np
import integer_model

random = np.random.default_rng(20)
ways = collections.Counter()
wrong = collections.Counter()


def pick(*of):
    return of[random.integers(len(of))]


def below(most, least=0):
    return int(random.integers(least, most + 1))


def numbers(*shape):
    """Of all sizes, and often of the largest."""
    array = random.normal(0, pick(3, 30, 200), shape).clip(-128, 127)
    return array.round().astype(np.int8)


def with_gaps(array):
    """The same numbers with other strides."""
    return array[:, :, ::-1].repeat(2, 2)[:, :, ::-2] if array.ndim == 4 and random.random() < 0.4 else array


class Case:
    def __init__(self):
        self.for_cache = random.random() < 0.5
        self.batch, self.kv_heads, self.queries = 1 if self.for_cache else below(3, 1), below(3, 1), pick(1, 1, below(4, 1), below(20, 1))
        self.heads, self.keys = self.kv_heads * below(3, 1), pick(below(40), below(200), below(200), below(1100))
        self.dim, self.value_dim = pick(below(70, 1), below(130, 1)), pick(below(70, 1), below(130, 1))
        self.output = pick('int8', 'int8', 'int16', 'float32')
        self.token_scales = not self.for_cache and pick(False, True)
        self.query, self.key, self.value = (numbers(self.batch, heads, tokens, width) for heads, tokens, width in (
            (self.heads, self.queries, self.dim), (self.kv_heads, self.keys, self.dim), (self.kv_heads, self.keys, self.value_dim)))
        by_token = lambda: random.integers(0, 32769, (self.batch, self.kv_heads, self.keys), np.uint16)
        self.scales = [by_token() if self.token_scales and pick(True, False) else None for _ in range(2)]
        self.meanings = self._meanings()
        self.options, self.sees = {}, np.ones((self.batch, self.heads, self.queries, self.keys), bool)
        self._positions()
        self._others()
        self.expected = np.empty((self.batch, self.heads, self.queries, self.value_dim), self.output)
        for b in range(self.batch):
            for h in range(self.heads):
                kv = h * self.kv_heads // self.heads
                self.expected[b, h] = integer_model.attention(
                    self.query[b, h], self.key[b, kv], self.value[b, kv], self.sees[b, h], self.meanings[h], self.output,
                    *(None if scales is None else scales[b, kv] for scales in self.scales))

    def _meanings(self):
        zero = lambda: pick(0, 0, below(127, -128))
        zeros = lambda: dict(key_zero_point=0 if self.scales[0] is not None else zero(),
                             value_zero_point=0 if self.scales[1] is not None else zero(),
                             output_zero_point=0 if self.output == 'float32' else zero())
        shared = dict(query_zero_point=zero(), output_scale=2.0 ** random.uniform(-12, 4))
        one = lambda: dict(query_scale=2.0 ** random.uniform(-9, -4), key_scale=2.0 ** random.uniform(-9, -4),
                           value_scale=shared['output_scale'] * 2.0 ** random.uniform(-4, 6), scale=pick(None, None, 0.3, 0.0),
                           **zeros(), **shared)
        meanings = [one() for _ in range(self.heads)] if pick(True, False) else [one()] * self.heads
        made = [attend.Quantisation(**meaning) for meaning in meanings]
        self.quantisation = made[0] if meanings[0] is meanings[-1] else made
        return meanings

    def _positions(self):
        self.offset = self.keys - self.queries if self.for_cache else pick(self.keys - self.queries, below(50, -50))
        position = self.offset + np.arange(self.queries)[:, None]
        keys = np.arange(self.keys)
        if pick(True, False):
            self.options['causal'] = True
            self.sees &= keys <= position
        self.left = pick(None, below(60))
        if self.for_cache or pick(True, False):
            right = pick(None, below(5))
            self.sinks = below(6) if self.left is not None and pick(True, False) else 0
            self.options.update(window=(self.left, right), sink_tokens=self.sinks)
            self.sees &= True if right is None else keys <= position + right
            self.sees &= True if self.left is None else (keys >= position - self.left) | (keys < self.sinks)
        else:
            self.left, self.sinks = None, 0
        if self.options.get('causal') or self.options.get('window', (None, None)) != (None, None):
            self.options['offset'] = self.offset

    def _others(self):
        self.mask = None
        if random.random() < 0.3:
            columns = pick(self.keys, max(self.keys - below(5), min(self.keys, 2)), self.keys + 3)  # one of many is refused
            shape = pick((columns,), (self.queries, columns), (self.heads, self.queries, columns), (self.batch, 1, 1, columns))
            self.mask = random.random(shape) < 0.7
            whole = np.zeros((*self.sees.shape[:3], max(columns, self.keys)), bool)
            whole[..., :columns] = self.mask
            self.options['mask'] = self.mask
            self.sees &= whole[..., :self.keys]
        self.lengths = None
        if random.random() < (0.1 if self.for_cache else 0.4):
            self.lengths = random.integers(0, self.keys + 1, self.batch)
            self.sees &= (np.arange(self.keys) < self.lengths[:, None])[:, None, None]

    def compare(self, way, found):
        ways[way] += 1
        if found.dtype != self.expected.dtype or found.tobytes() != self.expected.tobytes():
            wrong[way] += 1
            print(f'FAIL {way}: batch {self.batch}, heads {self.heads}/{self.kv_heads}, queries {self.queries}, keys {self.keys}, '
                  f'dims {self.dim}, {self.value_dim}, {self.output}, {sorted(self.options)}')

    def compute(self):
        given = dict(self.options, quantisation=self.quantisation)
        scales = {name: array for name, array in zip(('key_scales', 'value_scales'), self.scales) if array is not None}
        lengths = {} if self.lengths is None else dict(key_lengths=self.lengths)
        query, key, value = map(with_gaps, (self.query, self.key, self.value))
        arrays = dict(given, **scales, **lengths)
        self.compare('arrays', attend.attention(query, key, value, output=self.output, threads=pick(1, 1, 2, 3), **arrays))
        for _ in range(2):  # the second one is remembered
            self.compare('arrays again', attend.attention(query, key, value, output=self.output, **arrays))
        if pick(True, False):
            out, count = np.full_like(self.expected, 99), below(4, 1)
            for index in random.permutation(count):
                attend.attention(query, key, value, out=out, part=(int(index), count), **arrays)
            self.compare('parts', out)
        way = self.over_caches if self.for_cache and self.keys > 0 else pick(self.over_states, self.over_pages)
        way(query, key, value, given, scales, lengths)

    def over_states(self, query, key, value, given, scales, lengths):
        lengths = lengths or dict(key_lengths=[self.keys] * self.batch)  # where keys end, queries may have positions behind them
        state, merged = attend.State(query, **given, **lengths), None
        cut = 512 * below((self.keys - 1) // 512, 1) if self.keys > 512 else self.keys
        if self.keys > 512:
            merged = attend.State(query, first_key=cut, **given, **lengths)
        for taker, end in ((state, cut), (merged, self.keys)):
            while taker is not None and (taker.next < end or taker._memory is None):
                first = taker.next
                stop = min(end, (first // 32 + below(9, 1)) * 32)
                now = slice(first, stop)
                part = {name: array[..., now] for name, array in scales.items()}
                if pick(True, False):
                    taker.accumulate(key[:, :, now], value[:, :, now], threads=pick(1, 1, 2), **part)
                else:  # the same arrays each time
                    taker.accumulate(key, value, origin=0, up_to=stop, **scales)
                if pick(True, False):
                    kept = taker.save()
                    again = attend.State.load(kept, query, **given, **lengths)
                    state, merged = (again if one is taker else one for one in (state, merged))
                    taker = again
        if merged is not None:
            to, other = pick((state, merged), (merged, state))  # in either order
            to.merge(other)
            state = to
        self.compare('states' if merged is None else 'merged states', state.finish(output=self.output))

    def over_pages(self, query, key, value, given, scales, lengths):
        page = 32 * below(3, 1)
        entries = -(-self.keys // page)
        pages = self.batch * entries + below(3)
        table = random.permutation(pages)[:self.batch * entries].reshape(self.batch, entries).astype(np.int32)
        pools = [numbers(self.kv_heads, pages, page, width) for width in (self.dim, self.value_dim)]
        pool_scales = {name: np.full((self.kv_heads, pages, page), 77, np.uint16) for name in scales}
        for b in range(self.batch):
            for j in range(0, self.keys, page):
                at, now = table[b, j // page], slice(j, min(j + page, self.keys))
                count = now.stop - j
                pools[0][:, at, :count], pools[1][:, at, :count] = self.key[b, :, now], self.value[b, :, now]
                for name, pool in pool_scales.items():
                    pool[:, at, :count] = scales[name][b, :, now]
        if pages == 0:
            return
        ends = self.lengths if self.lengths is not None else [self.keys] * self.batch
        pool_scales = {name: pool.reshape(self.kv_heads, -1) for name, pool in pool_scales.items()}
        self.compare('pages', attend.attention(query, *pools, pages=table, key_lengths=ends, output=self.output, **given, **pool_scales))

    def over_caches(self, query, key, value, given, scales, lengths):
        rings = self.left is not None and self.lengths is None
        ring = dict(window_keys=self.left + self.queries, sink_tokens=self.sinks) if rings and random.random() < 0.8 else {}
        cache = attend.Cache(self.kv_heads, self.dim, self.keys + below(100), value_dim=self.value_dim, integers=True, **ring)
        while len(cache) < self.keys:
            now = slice(len(cache), min(self.keys, len(cache) + below(90, 1)))
            cache.append(key[0, :, now], value[0, :, now])
        for _ in range(3):  # the third one is remembered
            self.compare('a ring' if ring else 'a cache', attend.attention(query, cache, output=self.output, **given, **lengths))
        if not ring:
            state = attend.State(query, **given, **lengths)
            for stop in (self.keys // 2 // 32 * 32, self.keys):
                if stop > state.next or stop == self.keys:
                    state.accumulate(cache, up_to=stop)
            self.compare('states over a cache', state.finish(output=self.output))


problems = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
asked = os.environ.get('ATTEND_QUICK')
problems = -(-problems // (int(asked) if asked != '1' else 12)) if asked else problems
for _ in range(problems):
    Case().compute()
for way in ('arrays', 'parts', 'states', 'merged states', 'pages', 'a cache', 'a ring', 'states over a cache'):
    if ways[way] < problems // 100:
        wrong[way] += 1
        print(f'FAIL {way}: {ways[way]} of {problems} problems')
print(f'{problems} problems in integers, {sum(ways.values())} outputs, {sum(wrong.values())} failed:',
      ', '.join(f'{way} {count}' for way, count in ways.items()))
sys.exit(sum(wrong.values()) > 0)
