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

// ---- Values in their keys
for (const format of ['float32', 'float16', 'bfloat16', 'int8']) {
  const shape = { kvHeads: 2, headDim: 16, maxTokens: 1500 }, latents = new attend.Cache({ ...shape, valueDim: 8, format: [format, 'inKeys'] });
  const wholes = new attend.Cache({ ...shape, format }).append(k, k), all = attend.attention(q, wholes, null, { heads: 4, causal: true });
  const found = attend.attention(q, latents.append(k.subarray(0, 32)).append(k.subarray(32), null), null, { heads: 4, causal: true });
  const beginnings = all.filter((_, i) => i % 16 < 8);
  check(equal(found, beginnings) && latents.bytes < 0.55 * wholes.bytes, `values in keys of ${format}: the bits of whole keys for values, in memory once`);
}
const latents = new attend.Cache({ kvHeads: 2, headDim: 16, maxTokens: 9, format: ['float16', 'inKeys'] });
refused('values beside keys that have them', () => latents.append(fill(32), fill(32)), "value: leave it out: with the format 'inKeys'");
refused('a value that is missing', () => new attend.Cache({ headDim: 4, maxTokens: 9 }).append(fill(4)), 'value: give it: it is missing');
refused('values wider than their keys', () => new attend.Cache({ headDim: 16, valueDim: 17, maxTokens: 9, format: ['float16', 'inKeys'] }), 'valueDim: expected a whole number within 1 to 16');
refused('a ring of values in keys', () => new attend.Cache({ headDim: 16, maxTokens: 9, format: ['float16', 'inKeys'], windowKeys: 3 }), 'windowKeys: leave it out');
refused('4 bits with values in them', () => new attend.Cache({ headDim: 32, maxTokens: 9, format: ['int4', 'inKeys'] }), 'format: expected one of float32, float16');
refused('keys in keys', () => new attend.Cache({ headDim: 16, maxTokens: 9, format: 'inKeys' }), 'format: expected one of float32');
refused('a layer over values in keys', () => new attend.Layer({ query: square(), key: square(), value: square(), output: square(), cache: latents }), 'a layer makes values');

// ---- Rotary positions of published configurations: the definition in float64, at position 1000
const angles = (of, turn) => check(of.radians.every((radians, i) => Math.abs(radians - turn(i)) < 1e-9 * (1 + turn(i))), `frequencies of ${of.dim}`, of.radians);
const turn = (dim, base) => (i) => base ** ((-2 * i) / dim);
angles(new attend.Rotary({ dim: 64, base: 5e5 }), turn(64, 5e5));
angles(new attend.Rotary({ dim: 64, factor: 4 }), (i) => turn(64, 1e4)(i) / 4);
angles(new attend.Rotary({ dim: 64, scaling: { rope_type: 'linear', factor: 4 } }), (i) => turn(64, 1e4)(i) / 4);
angles(new attend.Rotary({ dim: 128, pairs: 'halves', scaling: { rope_type: 'llama3', rope_theta: 5e5, factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 } }), (i) => {
  const plain = turn(128, 5e5)(i), turns = (8192 * plain) / (2 * Math.PI), smooth = Math.min(1, Math.max(0, (turns - 1) / 3));
  return plain * (smooth + (1 - smooth) / 8);
});
const yarn = { type: 'yarn', factor: 40, original_max_position_embeddings: 4096, beta_fast: 32, beta_slow: 1, mscale: 1, mscale_all_dim: 1 };
const byYarn = new attend.Rotary({ dim: 64, scaling: yarn }), pairOf = (turns) => (64 * Math.log(4096 / (turns * 2 * Math.PI))) / (2 * Math.log(1e4));
const [first, last] = [Math.floor(pairOf(32)), Math.ceil(pairOf(1))];
angles(byYarn, (i) => turn(64, 1e4)(i) * (1 - Math.min(1, Math.max(0, (i - first) / (last - first))) * (1 - 1 / 40)));
check(byYarn.factor === 1 && Math.abs(new attend.Rotary({ dim: 64, scaling: { ...yarn, mscale: undefined } }).factor - (1 + 0.1 * Math.log(40))) < 1e-6, 'attention factors of YaRN');
const lists = { short_factor: Array(32).fill(1.5), long_factor: Array.from({ length: 32 }, (_, i) => 2 + i), factor: 32, original_max_position_embeddings: 4096 };
angles(new attend.Rotary({ dim: 64, positions: 4096, scaling: { rope_type: 'longrope', ...lists } }), (i) => turn(64, 1e4)(i) / 1.5);
const byLong = new attend.Rotary({ dim: 64, positions: 131072, scaling: { rope_type: 'longrope', ...lists } });
angles(byLong, (i) => turn(64, 1e4)(i) / (2 + i));
check(Math.abs(byLong.factor - Math.sqrt(1 + Math.log(32) / Math.log(4096))) < 1e-6, 'the attention factor of LongRoPE', byLong.factor);
angles(new attend.Rotary({ dim: 64, scaling: { rope_type: 'proportional', partial_rotary_factor: 0.25 } }), (i) => (i < 8 ? turn(64, 1e4)(i) : 0));
angles(new attend.Rotary({ dim: 8, frequencies: [1, 0.5, 0.25, 0] }), (i) => [1, 0.5, 0.25, 0][i]);
const turned = byLong.rotate(fill(64), { headDim: 64, position: 1000 }), plain64 = fill(64);
check(turned.every((number, i) => {
  const [a, b, angle] = [plain64[i & ~1], plain64[i | 1], 1000 * byLong.radians[i >> 1]];
  return Math.abs(number - byLong.factor * (i & 1 ? b * Math.cos(angle) + a * Math.sin(angle) : a * Math.cos(angle) - b * Math.sin(angle))) < 1e-5;
}), 'scaled positions turn by these, and are multiplied by the factor');
for (const [what, more, words] of [
  ['no factor', { scaling: { rope_type: 'linear' } }, "'factor' is missing, which 'linear' needs"],
  ['a scaling of another name', { scaling: { rope_type: 'dynamic', factor: 2 } }, 'rope_type: expected one of default, linear, llama3, yarn, longrope, proportional'],
  ['what a scaling does not use', { scaling: { rope_type: 'linear', factor: 2, beta_fast: 32 } }, "'linear' does not use 'beta_fast'"],
  ['a factor below 1', { scaling: { rope_type: 'linear', factor: 0.5 } }, 'factor: expected a number within 1 to 65536, found 0.5'],
  ['positions of another scaling', { positions: 9, scaling: { rope_type: 'linear', factor: 2 } }, 'positions: leave it out'],
  ['longrope without positions', { scaling: { rope_type: 'longrope', ...lists } }, 'positions: give it'],
  ['a list of another length', { positions: 9, scaling: { rope_type: 'longrope', ...lists, short_factor: [1] } }, 'short_factor: expected 32 numbers'],
  ['slow above fast', { scaling: { ...yarn, beta_slow: 40 } }, 'beta_slow: expected less than beta_fast, 32'],
  ['a scaling beside a factor', { factor: 2, scaling: { rope_type: 'linear', factor: 2 } }, 'exclude each other'],
  ['a base beside frequencies', { base: 1e4, frequencies: Array(32).fill(1) }, 'base and positions have no effect'],
  ['a word for a scaling', { scaling: 'llama3' }, 'expected the object of a configuration'],
  ['a base out of range', { base: 1 }, 'base: expected a number within 2 to 1000000000000'],
  ['half a pair', { dim: 7 }, 'dim: expected an even number'],
]) refused(what, () => new attend.Rotary({ dim: 64, ...more }), words);

// ---- Refusals
refused('an unknown option', () => attend.attention(q, k, v, { ...options, casual: true }), 'no such option');
refused('an option of another library', () => attend.attention(q, k, v, { ...options, isCausal: true }), 'there is no such option; write causal, one of batch, heads');
refused('a cap out of range', () => attend.attention(q, k, v, { ...options, softCap: -1 }), 'softCap: expected a number within 1e-30 to 1e+30, found -1');
refused('a scale out of range', () => attend.attention(q, k, v, { ...options, scale: 1e39 }), 'scale: expected a number within');
refused('no value', () => attend.attention(q, k), 'value: it is missing; expected attention(query, key, value, options)');
refused('options in the place of values', () => attend.attention(q, k, options), 'value: found Object');
refused('lengths without a batch', () => attend.attention(q, k, v, { ...options, keyLengths: [3, 4] }), 'batch: give it, 1 too: keyLengths has 2 numbers');
refused('one length without a batch', () => attend.attention(q, k, v, { ...options, keyLengths: [3] }), 'batch: give it, 1 too: keyLengths has 1 number,');
refused('lengths of a state without a batch', () => new attend.State(q, { ...options, keyLengths: [3] }), 'batch: give it');
refused('a length beyond the keys', () => attend.attention(q, k, v, { ...options, batch: 1, keyLengths: [1501] }), 'keyLengths: expected a whole number within 0 to 1500, found 1501');
refused('a width out of range', () => attend.attention(q, k, v, { headDim: 65537 }), 'headDim: expected a whole number within 1 to 65536');
refused('an epsilon out of range', () => attend.rmsNorm(x, { epsilon: 0 }), 'epsilon: expected a number within 1e-30 to 1e+30');
const ring = new attend.Cache({ headDim: 4, maxTokens: 0, windowKeys: 6, sinkTokens: 2 }).append(fill(16), fill(16));
refused('a ring without a window', () => attend.attention(fill(4), ring, null, { causal: true }), 'window: give it: window: [5, 0] is as many tokens as this ring keeps, 6');
refused('a ring without its sink tokens', () => attend.attention(fill(4), ring, null, { window: [5, 0] }), 'sinkTokens: give them: 2 are the first tokens');
check(attend.attention(fill(4), ring, null, { window: [5, 0], sinkTokens: 0 }).length === 4, 'a ring with both');
check(attend.attention(fill(4), ring, null, { window: [null, null] }).length === 4, 'a ring without an end of the window');
const ringed = new attend.Layer({ query: square(), key: square(), value: square(), output: square(), cache: new attend.Cache({ kvHeads: 4, headDim: 8, maxTokens: 9, windowKeys: 3 }) });
refused('a layer over a ring without a window', () => ringed.selfAttention(x, { heads: 4, headDim: 8, causal: true }), 'window: give it');
refused('more tokens than a cache has', () => ring.truncate(5), 'tokens: expected a whole number within 0 to 4, found 5');
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
