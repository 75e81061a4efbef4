// The rest of a transformer block: weights, projections, normalisation, activations, whole layers.
import * as C from './c.js';
import { Owned, Struct, named, only, real, refuse, whole } from './memory.js';
import { counted, formats, problemOf, shapeOf } from './problem.js';

const activations = {
  relu: C.ATTEND_RELU, silu: C.ATTEND_SILU, gelu: C.ATTEND_GELU, geluTanh: C.ATTEND_GELU_TANH, sigmoid: C.ATTEND_SIGMOID, tanh: C.ATTEND_TANH,
  exp: C.ATTEND_EXP, erf: C.ATTEND_ERF,
};
const arrays = { float32: Float32Array, float16: Uint16Array, bfloat16: Uint16Array, int8: Int8Array, int4: Uint8Array };

function bytesOf(format, outputs, inputs) {
  return format === 'int4' ? (outputs * inputs * C.ATTEND_INT4_BYTES) / C.ATTEND_INT4_INPUTS : outputs * inputs * arrays[format].BYTES_PER_ELEMENT;
}

// The weights of a projection, in the order in which the library computes fastest.
export class Weights extends Owned {
  // data: [outputs][inputs] of the format; floats become numbers of another format.
  constructor(memory, data, options) {
    only(options, ['outputs', 'inputs', 'bias', 'scales', 'format']);
    const outputs = whole('outputs', options.outputs, 1), inputs = whole('inputs', options.inputs, 1);
    const format = options.format ?? (data instanceof Int8Array ? 'int8' : 'float32');
    named('format', formats, format);
    const convert = data instanceof Float32Array && format !== 'float32';
    const expected = convert ? outputs * inputs : bytesOf(format, outputs, inputs) / arrays[format].BYTES_PER_ELEMENT;
    if (data.length !== expected) refuse('data', `expected ${expected} numbers, found ${data.length}`);
    // As rows; work(rows) may take them over.
    const withRows = (work) => memory.scoped((scope) => {
      const rows = scope.struct(C.attend_weights).set({ data: scope.input('data', data, convert ? Float32Array : arrays[format]), outputs, inputs,
        format: convert ? formats.float32 : formats[format], layout: C.ATTEND_ROWS });
      if (options.scales !== undefined) rows.set({ scales: scope.input('scales', sized('scales', options.scales, outputs)) });
      if (convert) {
        const bytes = bytesOf(format, outputs, inputs), scales = format === 'int8' ? scope.allocate(4 * outputs) : 0;
        memory.require(memory.c.attend_convert_weights(rows.address, formats[format], scope.allocate(bytes), bytes, scales, rows.address));
      }
      return work(rows);
    });
    const vector = Math.ceil((4 * outputs) / C.ATTEND_ALIGNMENT) * C.ATTEND_ALIGNMENT; // room for scales, and for the bias
    const panels = withRows((rows) => {
      const bytes = memory.c.attend_packed_size(rows.address);
      if (bytes === 0) memory.require(memory.c.attend_pack_weights(rows.address, 0, 0, rows.address)); // which says why
      return bytes;
    });
    super(memory, C.ATTEND_ALIGNMENT + 2 * vector + panels);
    Object.assign(this, { outputs, inputs, format });
    this.struct = new Struct(memory, C.attend_weights, this.address);
    const scales = this.address + C.ATTEND_ALIGNMENT, bias = scales + vector;
    withRows((rows) => {
      memory.require(memory.c.attend_pack_weights(rows.address, bias + vector, panels, this.address));
      const given = memory.view.getUint32(rows.address + C.attend_weights.members.scales[0], true);
      if (given === 0) return;
      memory.bytes(scales, 4 * outputs).set(memory.bytes(given, 4 * outputs));
      this.struct.set({ scales });
    });
    if (options.bias === undefined) return;
    memory.floats(bias, outputs).set(sized('bias', options.bias, outputs));
    this.struct.set({ bias });
  }

  copyTo(address) {
    this.memory.bytes(address, C.attend_weights.size).set(this.memory.bytes(this.live(this.memory), C.attend_weights.size));
  }
}

function sized(name, array, length) {
  if (array?.length !== length) refuse(name, `expected ${length} numbers, found ${array?.length}`);
  return array;
}

// y = W x + b for each token of x[tokens][inputs]; of an array of weights an array of results. out: where they are written.
export function project(memory, x, weights, { out, ...others } = {}) {
  only(others, ['out']);
  const list = Array.isArray(weights) ? weights : [weights], outs = Array.isArray(weights) ? out ?? [] : [out];
  if (!list.every((each) => each instanceof Weights)) refuse('weights', 'expected Weights, or an array of them');
  const tokens = counted('x', x, list[0]?.inputs ?? 1);
  return memory.scoped((scope) => {
    const { size, members } = C.attend_projection, projections = scope.allocate(size * list.length), from = scope.input('x', x);
    const bytes = tokens > 1 ? C.ATTEND_PROJECTION_WORKSPACE_SIZE : 0, work = bytes === 0 ? 0 : scope.allocate(bytes);
    const results = list.map((each, i) => {
      const y = scope.output('out', tokens * each.outputs, outs[i]);
      each.copyTo(projections + i * size);
      memory.view.setUint32(projections + i * size + members.y[0], y.address, true);
      return y;
    });
    memory.require(memory.c.attend_project(from, tokens, projections, list.length, work, bytes));
    const read = results.map((y) => y.result());
    return Array.isArray(weights) ? read : read[0];
  });
}

// kind: 'rms' or 'layer', of each row of x[rows][width].
export function normalise(memory, kind, x, { weight, bias, epsilon, width, out, ...others }) {
  only(others, ['weight', 'bias', 'epsilon', 'width', 'out']);
  const row = whole('width', width ?? weight?.length ?? x.length, 1), rows = counted('x', x, row);
  return memory.scoped((scope) => {
    const norm = scope.struct(C.attend_norm).set({ width: row, epsilon: real('epsilon', epsilon ?? 1e-5, 1e-30, 1e30) });
    if (weight !== undefined) norm.set({ weight: scope.input('weight', sized('weight', weight, row)) });
    if (bias !== undefined) norm.set({ bias: scope.input('bias', sized('bias', bias, row)) });
    const from = scope.input('x', x), y = scope.output('out', x.length, out);
    memory.require(memory.c[`attend_${kind}_norm`](norm.address, from, rows, y.address));
    return y.result();
  });
}

export function activate(memory, name, x, { by, out, ...others } = {}) {
  only(others, ['by', 'out']);
  return memory.scoped((scope) => {
    const from = scope.input('x', x), gate = by === undefined ? 0 : scope.input('by', sized('by', by, x.length));
    const y = scope.output('out', x.length, out);
    memory.require(memory.c.attend_activate(named('activation', activations, name), from, gate, x.length, y.address));
    return y.result();
  });
}

// y += x * scale, in place: y is the result.
export function add(memory, x, y, scale = 1) {
  return memory.scoped((scope) => {
    const from = scope.input('x', sized('x', x, y.length)), to = scope.output('y', y.length, y);
    memory.require(memory.c.attend_add(from, real('scale', scale), y.length, to.address));
    return to.result();
  });
}

export function hadamard(memory, x, { width = x.length, out, ...others } = {}) {
  only(others, ['width', 'out']);
  return memory.scoped((scope) => {
    const from = scope.input('x', x), y = scope.output('out', x.length, out);
    memory.require(memory.c.attend_hadamard(from, counted('x', x, whole('width', width, 1)), width, y.address));
    return y.result();
  });
}

// A multi-head layer: projections of queries, keys, values and outputs around attention.
export class Layer {
  constructor(memory, options) {
    const weights = ['query', 'key', 'value', 'output', 'gate'];
    only(options, [...weights, 'queryNorm', 'keyNorm', 'epsilon', 'rotary', 'cache']);
    for (const name of weights.slice(0, 4)) if (!(options[name] instanceof Weights)) refuse(name, 'expected Weights');
    if (options.cache?.inKeys) refuse('cache', "give it another format of values than 'inKeys': a layer makes values that are no part of their keys");
    Object.assign(this, { memory, options });
  }

  with(scope, work) {
    const { options, memory } = this, layer = scope.struct(C.attend_layer, 'attend_layer_init');
    for (const name of ['query', 'key', 'value', 'output', 'gate']) options[name]?.copyTo(layer.address + C.attend_layer.members[`${name}.data`][0]);
    if (options.queryNorm !== undefined) layer.set({ query_norm: scope.input('queryNorm', options.queryNorm) });
    if (options.keyNorm !== undefined) layer.set({ key_norm: scope.input('keyNorm', options.keyNorm) });
    if (options.epsilon !== undefined) layer.set({ epsilon: real('epsilon', options.epsilon, 1e-30, 1e30) });
    if (options.rotary !== undefined) layer.set({ rotary: options.rotary.live(memory) });
    if (options.cache !== undefined) layer.set({ cache: options.cache.live(memory) });
    return work(layer);
  }

  // x[tokens][inputs] to [tokens][outputs]; with a cache, its tokens are appended first.
  selfAttention(x, options) {
    return this.run('attend_self_attention', x, options);
  }

  // Attention of x to the tokens that projectMemory has put into the cache.
  crossAttention(x, options) {
    return this.run('attend_cross_attention', x, options);
  }

  run(name, x, { out, ...options }) {
    const { query, output, cache } = this.options, queries = counted('x', x, query.inputs), { memory } = this;
    cache?.requireVisible(options);
    return memory.scoped((scope) => {
      const self = name === 'attend_self_attention', held = cache?.tokens ?? 0, keys = self ? held + queries : held;
      const problem = problemOf(scope, options, shapeOf(options), queries, keys).set({ keys: cache ? C.ATTEND_ALL_KEYS : keys });
      return this.with(scope, (layer) => {
        const from = scope.input('x', x), y = scope.output('out', queries * output.outputs, out);
        const bytes = memory.c.attend_layer_workspace_size(problem.address, layer.address), work = bytes === 0 ? 0 : scope.allocate(bytes);
        memory.require(memory.c[name](problem.address, layer.address, from, y.address, work, bytes));
        return y.result();
      });
    });
  }

  // Projects tokens of an encoder to keys and values of the cache.
  projectMemory(x) {
    const tokens = counted('x', x, this.options.key.inputs), { memory } = this;
    memory.scoped((scope) => this.with(scope, (layer) => {
      const from = scope.input('x', x), bytes = memory.c.attend_memory_workspace_size(layer.address, tokens);
      const work = bytes === 0 ? 0 : scope.allocate(bytes);
      memory.require(memory.c.attend_project_memory(layer.address, from, tokens, work, bytes));
    }));
  }
}
