// Random problems through the npm package, as a file for problems.cpp: node problems.mjs PACKAGE FILE [COUNT]
//
// Of each problem: its numbers as int32, in the order of `fields`; scale, soft cap and slopes as floats; arrays; then the output.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [folder, file, count = '500'] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/index.js`));
const attend = await load();
let state = 7;

function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const between = (low, high) => low + Math.floor(random() * (high - low + 1));
const flip = () => random() < 0.5;
const floats = (length, spread = 1) => Float32Array.from({ length }, () => (2 * random() - 1) * spread);

const records = [];
const formats = ['float32', 'float16', 'bfloat16', 'int8'];

for (let i = 0; i < Number(count); ++i) {
  const cached = random() < 0.25, batch = cached ? 1 : between(1, 2), kvHeads = between(1, 3), heads = kvHeads * between(1, 3);
  const headDim = between(1, 70), valueDim = between(1, 70), queries = between(1, 20), keys = flip() ? between(1, 60) : between(1, 700);
  const causal = flip(), left = flip() ? -1 : between(0, 50), right = flip() ? -1 : between(0, 50), heads_first = !cached && flip();
  const masked = flip(), biased = flip(), format = cached ? between(0, 3) : 0, weights = random() < 0.2, alibi = flip();
  const offset = causal || left >= 0 || right >= 0 || alibi ? keys - queries : undefined, sinks = left >= 0 && flip() ? between(1, 4) : 0;
  const scale = Math.fround(random()), softCap = flip() ? 0 : Math.fround(1 + 20 * random());
  const q = floats(batch * queries * heads * headDim, 2), k = floats(batch * keys * kvHeads * headDim, 2), v = floats(batch * keys * kvHeads * valueDim);
  const mask = Uint8Array.from({ length: queries * keys }, () => Number(random() < 0.8)), bias = floats(heads * queries * keys), slopes = floats(heads);
  const options = {
    batch, heads, kvHeads, headDim, valueDim, scale,
    ...(heads_first ? { layout: 'heads' } : {}), ...(causal ? { causal } : {}), ...(offset === undefined ? {} : { offset }),
    ...(left >= 0 || right >= 0 ? { window: [left, right].map((side) => (side < 0 ? null : side)) } : {}), ...(sinks ? { sinkTokens: sinks } : {}),
    ...(softCap ? { softCap } : {}), ...(masked ? { mask } : {}), ...(biased ? { bias } : {}), ...(alibi ? { alibiSlopes: slopes } : {}),
    ...(weights ? { scores: 'weights' } : {}), lse: true,
  };
  let found;
  if (cached) {
    const cache = new attend.Cache({ kvHeads, headDim, valueDim, maxTokens: keys, format: formats[format] });
    const some = between(0, keys);
    cache.append(k.subarray(0, some * kvHeads * headDim), v.subarray(0, some * kvHeads * valueDim));
    cache.append(k.subarray(some * kvHeads * headDim), v.subarray(some * kvHeads * valueDim));
    found = attend.attention(q, cache, null, options);
    cache.free();
  } else {
    found = attend.attention(q, k, v, options);
  }
  const numbers = Int32Array.of(batch, heads, kvHeads, headDim, valueDim, queries, keys, Number(causal), left, right, Number(heads_first),
    Number(masked), Number(biased), Number(cached), format, Number(weights), Number(alibi), offset === undefined ? 0 : 1, sinks);
  const padded = new Uint8Array(Math.ceil(mask.length / 4) * 4);
  padded.set(mask);
  const arrays = [numbers, Float32Array.of(scale, softCap), q, k, v, padded, bias, slopes, found.output, found.lse, ...(weights ? [found.scores] : [])];
  records.push(...arrays.map((array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength)));
}
writeFileSync(file, Buffer.concat(records));
