// Calls of the npm package: node calls.mjs PACKAGE NATIVE.JS. Prints a line for each thing that was looked at.
import { readFileSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [folder, nativeFile] = process.argv.slice(2);
const { load, digest, AttendError } = await import(pathToFileURL(`${folder}/index.js`));
const { Household } = await import(pathToFileURL(`${folder}/household.js`));
const C = await import(pathToFileURL(`${folder}/c.js`));
const native = await import(pathToFileURL(nativeFile));

function check(right, what, found = '') {
  console.log(right ? `ok   ${what}` : `FAIL ${what}: ${found}`);
}
const equal = (a, b) => Buffer.compare(Buffer.from(a.buffer, a.byteOffset, a.byteLength), Buffer.from(b.buffer, b.byteOffset, b.byteLength)) === 0;
const fill = (length, step = 0.37) => Float32Array.from({ length }, (_, i) => Math.sin(i * step));
function refused(what, work, words) {
  try {
    work();
    check(false, `${what} is refused`, 'it is not');
  } catch (error) {
    check(error instanceof AttendError && error.message.includes(words), `${what} is refused: ${error.message}`, error.stack);
  }
}

const attend = await load();
const small = await load(readFileSync(`${folder}/attend-small.wasm`));
check(attend.backend === 'simd128' && small.backend === 'simd128', 'both modules compute with vectors', `${attend.backend}, ${small.backend}`);
check(C.functions.every((name) => typeof attend.c[name] === 'function'), 'every function of the C surface is exported');

// ---- Household commands
for (const [name, library] of [['attend.wasm', attend], ['attend-small.wasm', small]]) {
  const household = await Household.load(library);
  const wrong = native.sentences.filter(({ sentence, action, digest: scores }) => household.answer(sentence).action !== action || household.digest(sentence) !== scores);
  check(wrong.length === 0 && native.sentences.length > 0, `${name}: ${native.sentences.length} household commands have the native action and digest`, JSON.stringify(wrong[0]));
}
const bytes = statSync(`${folder}/attend-small.wasm`).size + statSync(`${folder}/household.bin`).size;
check(bytes <= 450000, `attend-small.wasm and the model have ${bytes} bytes, at most 450,000`, bytes);

// ---- Parts of a sequence, and the pieces of a block
const options = { heads: 4, kvHeads: 2, headDim: 16 }, keys = 1500;
const [q, k, v] = [fill(3 * 64), fill(keys * 32, 0.53), fill(keys * 32, 0.71)];
const whole = attend.attention(q, k, v, options);
const parts = [0, 512, 1024].map((first) => {
  const end = Math.min(first + 512, keys) * 32;
  return new attend.State(q, { ...options, firstKey: first }).take(k.subarray(first * 32, end), v.subarray(first * 32, end));
});
const sent = new attend.State(q, options).load(parts[2].save(), keys);
check(equal(sent.merge(parts[0]).merge(parts[1]).finish(), whole), 'three states, one of them sent as bytes, merged in another order: the same bits');
const early = new attend.State(q, options).take(k.subarray(0, 300 * 32), v.subarray(0, 300 * 32));
const shorter = attend.attention(q, k.subarray(0, 300 * 32), v.subarray(0, 300 * 32), options);
check(equal(early.merge(new attend.State(q, { ...options, firstKey: 512 })).finish(), shorter), 'a state that has taken nothing changes nothing where it is merged');
check(equal(attend.alibiSlopes(3), new Float32Array([2 ** -4, 2 ** -8, 0.25])), 'slopes of ALiBi for three heads');
// ---- Nothing to do, as the table of empty work in include/guide/options.md has it
const one = (count) => new Float32Array(count).fill(1), [five, none, two] = [one(20), one(0), one(8)], narrow = { headDim: 4 };
const gives = (what, count, { output, lse }) => check(output.length === count && output.every((number) => number === 0) && lse.every((number) => number === -Infinity), what, output);
const over = (query, key, more) => attend.attention(query, key, key instanceof attend.Cache ? null : key, { ...narrow, lse: true, ...more });
const bare = new attend.Cache({ headDim: 4, maxTokens: 9 }).append(none, none);
check(new attend.Cache({ headDim: 4, maxTokens: 0, windowKeys: 3 }).append(two, two).tokens === 2, 'a ring without a capacity takes tokens');
refused('a cache without a capacity', () => new attend.Cache({ headDim: 4, maxTokens: 0 }), 'maxTokens');
gives('no keys', 8, over(two, none));
gives('no keys, causal', 8, over(two, none, { causal: true, offset: 0 }));
refused('no keys, causal, without an offset', () => over(two, none, { causal: true }), 'offset');
gives('no queries', 0, over(none, five));
gives('neither', 0, over(none, none, { causal: true }));
gives('an empty batch', 0, over(none, none, { batch: 0 }));
gives('no lengths', 8, over(two, five, { batch: 1, keyLengths: [0] }));
gives('a mask', 8, over(two, five, { mask: new Uint8Array(5) }));
gives('empty ranges', 8, over(two, five, { ranges: { first: [2, 0], end: [2, 0] } }));
check(equal(over(two, two, { documents: [0, 2, 0] }).output, over(two, two).output), 'empty documents');
for (const documents of [[], [0]]) gives(`documents [${documents}]`, 0, over(none, none, { documents }));
refused('an empty cache', () => over(two, bare), 'the cache has no tokens');
gives('an empty cache that is said to be', 8, over(two, bare, { keyLengths: [0] }));
gives('no queries over an empty cache', 0, over(none, bare));
const [begun, took] = [0, 512].map((firstKey) => new attend.State(two, { ...narrow, firstKey }));
gives('a state that was begun', 8, begun.finish({ lse: true }));
gives('a state of no keys', 8, begun.take(none, none).finish({ lse: true }));
const both = new attend.State(two, narrow).merge(took);
gives('two states that have taken nothing, merged', 8, both.finish({ lse: true }));
check(took.take(none, none).next === 512, 'nothing at 512');
const taken = begun.take(five, five).save();
check(equal(begun.take(none, none).save(), taken), 'nothing after others');
check(equal(new attend.State(two, narrow).load(took.save(), 512).merge(begun).save(), taken), 'what was taken, merged into nothing that was sent');
check(begun.merge(took).next === 5, 'a merge of what has taken nothing goes on where it was');
check(new attend.State(none, narrow).take(five, five).finish().length === 0, 'a state of no queries');
const [x, w] = [fill(3 * 32), fill(32 * 32, 1.1)], square = (format) => new attend.Weights(w, { outputs: 32, inputs: 32, ...(format ? { format } : {}) });
for (const format of [undefined, 'float16', 'bfloat16', 'int8', 'int4']) {
  const y = attend.project(x, square(format)), exact = x.subarray(0, 32).reduce((sum, number, i) => sum + number * w[i], 0);
  check(Math.abs(y[0] - exact) < 0.5 && y.length === 96, `weights of ${format ?? 'float32'} project`, [y[0], exact]);
}
for (const [format, end] of [['float16', 65520], ['int4', 524160]]) {
  const row = fill(32), large = row.slice(), shape = { headDim: 32, maxTokens: 9, format: ['bfloat16', format] };
  large[31] = -end;
  const kept = new attend.Cache(shape), limited = new attend.Cache({ ...shape, saturate: true });
  refused(`${end} in ${format}`, () => kept.append(row, large), 'too large');
  check(kept.tokens === 0 && limited.append(row, large).tokens === 1, `${end} in ${format}: taken where the cache saturates`);
  refused(`a weight of ${end} in ${format}`, () => new attend.Weights(large, { outputs: 1, inputs: 32, format }), 'too large');
}
refused('bfloat16 that saturates', () => new attend.Cache({ headDim: 32, maxTokens: 9, format: 'bfloat16', saturate: true }), 'float16 or int4');
const weights = square(), rotary = new attend.Rotary({ dim: 8, pairs: 'halves' }), cache = new attend.Cache({ kvHeads: 4, headDim: 8, maxTokens: 9 });
const layer = new attend.Layer({ query: weights, key: weights, value: weights, output: weights, rotary, cache });
const layered = layer.selfAttention(x, { heads: 4, headDim: 8, causal: true });
const [lq, lk] = attend.project(x, [weights, weights]).map((each) => rotary.rotate(each, { heads: 4, headDim: 8 }));
const composed = attend.project(attend.attention(lq, lk, attend.project(x, weights), { heads: 4, headDim: 8, causal: true }), weights);
check(equal(layered, composed), 'a layer has the bits of the calls that it is made of');
check(cache.tokens === 3 && cache.truncate(1).tokens === 1, 'caches count and truncate');
const inPlace = new attend.Floats(x);
attend.rmsNorm(inPlace, { width: 32, out: inPlace });
check(equal(inPlace.array, attend.rmsNorm(x, { width: 32 })), 'Floats in place have the same bits');
check(digest(new Float32Array(0)) === 'cbf29ce484222325', 'the digest of nothing');

// ---- Refusals
refused('an unknown option', () => attend.attention(q, k, v, { ...options, casual: true }), 'no such option');
refused('a negative cap', () => attend.attention(q, k, v, { ...options, softCap: -1 }), 'soft_cap');
refused('heads that do not divide', () => attend.attention(fill(48), fill(32), fill(32), { heads: 3, kvHeads: 2, headDim: 16 }), 'kv_heads');
refused('a half token', () => attend.attention(fill(65), k, v, options), 'multiple of 64');
refused('values of another length', () => attend.attention(q, k, fill(32), options), 'value');
refused('an array of doubles', () => attend.attention(Float64Array.from(q), k, v, options), 'Float32Array');
refused('causal without an offset', () => attend.attention(q, k, v, { ...options, causal: true }), 'offset');
refused('a word for a number', () => attend.attention(q, k, v, { ...options, heads: '4' }), 'whole number');
refused('a full cache', () => cache.append(fill(9 * 32), fill(9 * 32)), 'cache');
cache.free();
refused('a cache that was freed', () => cache.tokens, 'freed');

// ---- Memory comes back
attend.attention(q, k, v, options);
const before = attend.c.memory.buffer.byteLength;
for (let i = 0; i < 300; ++i) {
  attend.attention(q, k, v, options);
  new attend.Cache({ kvHeads: 4, headDim: 64, maxTokens: 2000 }).free();
}
check(attend.c.memory.buffer.byteLength - before < 8e6, 'calls and freed caches leave no memory behind', attend.c.memory.buffer.byteLength - before);
