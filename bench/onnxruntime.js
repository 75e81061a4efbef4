// ONNX Runtime's fused attention on one thread, on the shapes of a benchmark run: node bench/onnxruntime.js build/bench.tsv
//
// Adds lines as bench/medians.awk writes them. It runs in a process of its own, after the others, and each call comes from
// JavaScript, which takes some microseconds: figures of tiny shapes are mostly that.
'use strict';
const fs = require('fs');
const ort = require('onnxruntime-node');

const tolerance = 1e-5;
const repetitions = 5;
const seconds = 0.1;

// A model is a message of protocol buffers: fields of a number and a whole number, a float, or bytes.
function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  bytes.push(value);
  return Buffer.from(bytes);
}
const whole = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
function bytes(field, ...parts) {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

function model(shape) {
  const attribute = (name, value) => bytes(5, bytes(1, name), whole(3, value), whole(20, 2));
  const tensor = (field, name, tokens) => {
    const extents = [1, tokens, shape.heads * shape.dim].map((extent) => bytes(1, whole(1, extent)));
    return bytes(field, bytes(1, name), bytes(2, bytes(1, whole(1, 1), bytes(2, ...extents))));
  };
  const node = bytes(1, bytes(1, 'query'), bytes(1, 'key'), bytes(1, 'value'), bytes(2, 'output'), bytes(4, 'MultiHeadAttention'),
    attribute('num_heads', shape.heads), attribute('unidirectional', shape.causal ? 1 : 0), bytes(7, 'com.microsoft'));
  const graph = bytes(7, node, bytes(2, 'attention'), tensor(11, 'query', shape.queries), tensor(11, 'key', shape.keys),
    tensor(11, 'value', shape.keys), tensor(12, 'output', shape.queries));
  const operators = (domain, version) => bytes(8, bytes(1, domain), whole(2, version));
  return Buffer.concat([whole(1, 8), graph, operators('', 17), operators('com.microsoft', 1)]);
}

function random(floats, seed) {
  const values = new Float32Array(floats);
  for (let i = 0, state = seed; i < floats; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = state / 2147483648 - 1;
  }
  return values;
}

// The definition, in float64, for the first head of the first, a middle and the last token.
function check(name, shape, query, key, value, output) {
  const width = shape.heads * shape.dim;
  for (const token of [0, shape.queries >> 1, shape.queries - 1]) {
    const visible = shape.causal ? shape.keys - shape.queries + token + 1 : shape.keys;
    const scores = [];
    for (let j = 0; j < visible; ++j) {
      let sum = 0;
      for (let d = 0; d < shape.dim; ++d) sum += query[token * width + d] * key[j * width + d];
      scores.push(sum / Math.sqrt(shape.dim));
    }
    const largest = scores.reduce((a, b) => Math.max(a, b));
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((a, b) => a + b);
    for (let d = 0; d < shape.dim; ++d) {
      let sum = 0;
      for (let j = 0; j < visible; ++j) sum += weights[j] * value[j * width + d];
      const error = Math.abs(sum / total - output[token * width + d]);
      if (!(error <= tolerance)) throw new Error(`${name}: token ${token} is wrong by ${error}`);
    }
  }
}

async function secondsOfACall(name, shape) {
  const width = shape.heads * shape.dim;
  const query = random(shape.queries * width, 1), key = random(shape.keys * width, 2), value = random(shape.keys * width, 3);
  const session = await ort.InferenceSession.create(model(shape),
    {intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', logSeverityLevel: 3});
  const feeds = {
    query: new ort.Tensor('float32', query, [1, shape.queries, width]),
    key: new ort.Tensor('float32', key, [1, shape.keys, width]),
    value: new ort.Tensor('float32', value, [1, shape.keys, width]),
  };
  check(name, shape, query, key, value, (await session.run(feeds)).output.data);
  const times = [];
  for (let i = 0; i < repetitions; ++i) {
    const start = process.cpuUsage();
    let calls = 0, took = 0;
    for (; took < seconds; ++calls) {
      await session.run(feeds);
      const used = process.cpuUsage(start);  // what it computed, not what others on the machine did meanwhile
      took = (used.user + used.system) * 1e-6;
    }
    times.push(took / calls);
  }
  await session.release();
  return times.sort((a, b) => a - b)[repetitions >> 1];
}

async function main(file) {
  const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n').filter((line) => line.split('\t')[2] !== 'onnxruntime');
  const names = new Set(lines.map((line) => line.split('\t').slice(0, 2).join('\t')));
  for (const name of names) {
    const parts = /^(prefill|decode)\tq(\d+)_k(\d+)_d(\d+)_h(\d+)(_causal)?$/.exec(name);
    if (!parts) continue;  // threads, caches, shared key heads
    const [queries, keys, dim, heads] = parts.slice(2, 6).map(Number);
    if (keys * heads * dim > 1 << 24) continue;
    const shape = {queries, keys, dim, heads, causal: parts[6] !== undefined};
    const time = await secondsOfACall(name, shape);
    const pairs = shape.causal ? queries * (keys - queries) + queries * (queries + 1) / 2 : queries * keys;
    const decode = parts[1] === 'decode';
    const rate = (decode ? 8 * keys * heads * dim : 4 * pairs * heads * dim) / time * 1e-9;
    lines.push([name, 'onnxruntime', rate, '', decode ? 'GB/s' : 'GFLOP/s'].join('\t'));
  }
  fs.writeFileSync(file, lines.join('\n') + '\n');
}

main(process.argv[2]).catch((error) => {
  console.error(`bench: ${error.message}`);
  process.exit(1);
});
