// ONNX Runtime on one thread, on the shapes of a benchmark run: node bench/speed/peers/onnxruntime.js build/bench.tsv BENCHMARKS
//
// Adds lines as bench/speed/medians.awk writes them, of the fastest of the ways in which a model can have attention. It runs in a process
// of its own; so our benchmark of the same shape runs before and after each, and the line's last field is what it gave.
'use strict';
const fs = require('fs');
const path = require('path');
const {execFileSync} = require('child_process');
const ort = require('onnxruntime-node');
const {model, ways} = require('./onnx_model.js');

const tolerance = 1e-5;
const repetitions = 5;
const seconds = 0.1;
const profile = `build/onnxruntime/profile_${process.pid}`;
const mostFloats = 1 << 24;  // of keys
const operationsOfARun = 2e6;  // at least, by more layers

function random(floats, seed) {
  const values = new Float32Array(floats);
  for (let i = 0, state = seed; i < floats; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = state / 2147483648 - 1;
  }
  return values;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

// The definition, in float64, for the last head of the first, a middle and the last token.
function check(name, shape, {query, key, value}, output) {
  const head = shape.heads - 1, kvHead = shape.kvHeads - 1;
  const tokenStride = shape.decode ? shape.dim : shape.kvHeads * shape.dim;
  const first = kvHead * shape.dim * (shape.decode ? shape.keys : 1);
  for (const token of [0, shape.queries >> 1, shape.queries - 1]) {
    const at = (token * shape.heads + head) * shape.dim;
    const visible = shape.causal ? token + 1 : shape.keys;
    const scores = [];
    for (let j = 0; j < visible; ++j) {
      let sum = 0;
      for (let d = 0; d < shape.dim; ++d) sum += query[at + d] * key[first + j * tokenStride + d];
      scores.push(sum / Math.sqrt(shape.dim));
    }
    const largest = scores.reduce((a, b) => Math.max(a, b));
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((a, b) => a + b);
    for (let d = 0; d < shape.dim; ++d) {
      let sum = 0;
      for (let j = 0; j < visible; ++j) sum += weights[j] * value[first + j * tokenStride + d];
      const error = Math.abs(sum / total - output[at + d]);
      if (!(error <= tolerance)) throw new Error(`${name}: token ${token} is wrong by ${error}`);
    }
  }
}

// The last token of a cache [head][token][dim].
function newest(rows, [, heads, tokens, dim]) {
  const token = new Float32Array(heads * dim);
  for (let head = 0; head < heads; ++head) token.set(rows.subarray(((head + 1) * tokens - 1) * dim, (head + 1) * tokens * dim), head * dim);
  return token;
}

async function start(made, data, options = {}) {
  const session = await ort.InferenceSession.create(made.bytes,
    {intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', logSeverityLevel: 3, ...options});
  const {query, key, value} = data;
  const floats = (numbers, extents) => new ort.Tensor('float32', numbers, extents);
  const feeds = {
    query: floats(query, made.query),
    key: floats(made.past ? newest(key, made.past) : key, made.rows),
    value: floats(made.past ? newest(value, made.past) : value, made.rows),
  };
  if (made.mask) feeds.mask = floats(data.mask(), data.maskExtents);
  if (!made.past) return {session, run: () => session.run(feeds)};
  // The cache is written in place: what goes in as past comes out as present, in the same memory.
  Object.assign(feeds, {past_key: floats(key, made.past), past_value: floats(value, made.past)});
  const fetches = {output: null};
  for (const layer of made.presents) {
    fetches[`${layer}.key`] = feeds.past_key;
    fetches[`${layer}.value`] = feeds.past_value;
  }
  return {session, run: () => session.run(feeds, fetches)};
}

// Processor time of one run, on average over as many as fit: what it computed, not what others on the machine did meanwhile.
async function time(run, long) {
  const from = process.cpuUsage();
  for (let calls = 1; ; ++calls) {
    await run();
    const used = process.cpuUsage(from);
    const took = (used.user + used.system) * 1e-6;
    if (took >= long) return took / calls;
  }
}

// Seconds of one layer, on average or, where a cache is an output, the median of what the session's profile says of the operator:
// the package copies every output for JavaScript, which a program with that cache would not do.
async function timer(way, shape, copies, data) {
  const made = model(way, shape, copies);
  if (!made.past) {
    const {session, run} = await start(made, data);
    await run();
    return {seconds: async (long) => await time(run, long) / copies, end: () => session.release()};
  }
  return {end: () => {}, async seconds(long) {
    const {session, run} = await start(made, data, {enableProfiling: true, profileFilePrefix: profile});
    await time(run, long);
    session.endProfiling();
    await session.release();
    const folder = path.dirname(profile);
    const [file] = fs.readdirSync(folder).filter((name) => name.startsWith(path.basename(profile)));
    const events = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'));
    fs.unlinkSync(path.join(folder, file));
    return median(events.filter(({args}) => args && args.op_name === way).map(({dur}) => dur)) * 1e-6;
  }};
}

// Seconds of one attention by the fastest way.
async function secondsOf(name, shape, copies) {
  const rows = shape.keys * shape.kvHeads * shape.dim;
  const data = {
    query: random(shape.queries * shape.heads * shape.dim, 1), key: random(rows, 2), value: random(rows, 3),
    maskExtents: [shape.queries, shape.keys],
    mask() {
      const mask = new Float32Array(shape.queries * shape.keys);
      for (let i = 0; i < shape.queries; ++i) mask.fill(-Infinity, i * shape.keys + i + 1, (i + 1) * shape.keys);
      return mask;
    },
  };
  let best = null;
  for (const way of ways) {
    const one = model(way, shape, 1);
    if (!one) continue;
    const checked = await start(one, data);
    check(`${name} by ${way}`, shape, data, (await checked.run()).output.data);
    await checked.session.release();
    const timed = await timer(way, shape, copies, data);
    const took = await timed.seconds(seconds / 3);
    if (process.env.SHOW_WAYS) console.error(`  ${name} by ${way}: ${(took * 1e6).toFixed(2)} us`);
    if (best && best.took <= took) {
      await timed.end();
    } else {
      if (best) await best.timed.end();
      best = {took, timed};
    }
  }
  const times = [];
  for (let i = 0; i < repetitions; ++i) times.push(await best.timed.seconds(seconds));
  await best.timed.end();
  return median(times);
}

// Our rate now, in a process that times nothing else.
function ours(benchmarks, operation, backend, shape) {
  const output = execFileSync(benchmarks, [`--benchmark_filter=^${operation}/f32/${backend}/${shape}$`, '--benchmark_min_time=0.05',
    '--benchmark_repetitions=3', '--benchmark_format=json'], {stdio: ['ignore', 'pipe', 'ignore']});
  const runs = JSON.parse(output).benchmarks.filter((run) => run.run_type === 'iteration');
  return median(runs.map((run) => run.gflops || run.gbps));
}

async function main(file, benchmarks) {
  const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n').filter((line) => line.split('\t')[2] !== 'onnxruntime');
  const fastest = new Map();
  for (const [operation, shape, who, rate] of lines.map((line) => line.split('\t'))) {
    const name = `${operation}\t${shape}`;
    if (!/^(scalar|avx2|avx512|neon)$/.test(who)) continue;
    if (!fastest.has(name) || Number(rate) > fastest.get(name).rate) fastest.set(name, {who, rate: Number(rate)});
  }
  for (const [name, {who}] of fastest) {
    const parts = /^(prefill|decode)\t(q(\d+)_k(\d+)_d(\d+)_h(\d+)(?:_kv(\d+))?(_causal)?)$/.exec(name);
    if (!parts) continue;  // threads and prefill over a cache
    const [operation, text] = [parts[1], parts[2]];
    const [queries, keys, dim, heads, kvHeads] = [3, 4, 5, 6, 7].map((i) => Number(parts[i] || parts[6]));
    if (keys * kvHeads * dim > mostFloats) continue;
    const shape = {queries, keys, dim, heads, kvHeads, causal: parts[8] !== undefined, decode: operation === 'decode'};
    const operations = 4 * (shape.causal ? queries * (queries + 1) / 2 : queries * keys) * heads * dim;
    const copies = Math.min(64, Math.ceil(operationsOfARun / operations));
    const before = ours(benchmarks, operation, who, text);
    const took = await secondsOf(text, shape, copies);
    const beside = (before + ours(benchmarks, operation, who, text)) / 2;
    const rate = (shape.decode ? 8 * keys * kvHeads * dim : operations) / took * 1e-9;
    lines.push([name, 'onnxruntime', rate, '', shape.decode ? 'GB/s' : 'GFLOP/s', beside].join('\t'));
  }
  fs.writeFileSync(file, lines.join('\n') + '\n');
}

main(process.argv[2], process.argv[3]).catch((error) => {
  console.error(`bench: ${error.message}`);
  process.exit(1);
});
