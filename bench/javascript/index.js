// Attend for JavaScript: transformer attention with the same bits as on every other target. See README.md and index.d.ts.
import * as C from './c.js';
import { Cache, State } from './cache.js';
import { digest } from './digest.js';
import { Layer, Weights, activate, add, hadamard, normalise, project } from './layers.js';
import { AttendError, Floats, Memory, only, refuse, whole } from './memory.js';
import { counted, problemNames, problemOf, requireBatch, run, setResults, shapeOf } from './problem.js';
import { Rotary } from './rotary.js';

export { AttendError, digest };

async function moduleOf(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof Promise) return moduleOf(await source);
  if (typeof Response === 'function' && source instanceof Response) {
    if (!source.ok) throw new Error(`attend: ${source.url} answers ${source.status} ${source.statusText}`);
    return WebAssembly.compile(await source.arrayBuffer());
  }
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const url = new URL(source);
  if (url.protocol === 'file:' && typeof process === 'object' && process.versions?.node) {
    return WebAssembly.compile(await (await import('node:fs/promises')).readFile(url));
  }
  return moduleOf(await fetch(url));
}

// source: bytes, a WebAssembly.Module, a Response or a promise of one, or a URL; attend.wasm beside this file where it is left out.
export async function load(source = new URL('./attend.wasm', import.meta.url)) {
  return new Attend(await WebAssembly.instantiate(await moduleOf(source), {}));
}

function attention(memory, query, key, value, options) {
  const { out, ...rest } = options, cache = key instanceof Cache ? key : undefined;
  if (cache && value !== undefined && value !== null) refuse('value', 'a cache takes the place of keys and values: leave it out');
  if (!cache && !(value?.length >= 0)) {
    const found = value === undefined || value === null ? 'it is missing' : `found ${value.constructor?.name ?? value}`;
    refuse('value', `${found}; expected attention(query, key, value, options), or a Cache in the place of key and null in that of value`);
  }
  cache ? cache.requireVisible(rest) : requireBatch(rest);
  const shape = shapeOf(cache ? { kvHeads: cache.kvHeads, headDim: cache.headDim, valueDim: cache.valueDim, ...rest } : rest);
  const queries = counted('query', query, shape.batch * shape.heads * shape.headDim);
  const keys = cache ? cache.tokens : counted('key', key, shape.batch * shape.kvHeads * shape.headDim);
  if (!cache && value.length !== shape.batch * shape.kvHeads * shape.valueDim * keys) {
    refuse('value', `expected ${shape.batch * shape.kvHeads * shape.valueDim * keys} numbers for ${keys} tokens, as key has, found ${value.length}`);
  }
  for (const length of rest.keyLengths ?? []) whole('keyLengths', length, 0, keys);
  return memory.scoped((scope) => {
    const problem = problemOf(scope, rest, shape, queries, keys, ['lse', 'scores', 'out']);
    problem.set({ 'query.data': scope.input('query', query) });
    if (cache) problem.set({ cache: cache.live(memory), keys: C.ATTEND_ALL_KEYS });
    else problem.set({ 'key.data': scope.input('key', key), 'value.data': scope.input('value', value), keys });
    const output = scope.output('out', shape.batch * queries * shape.heads * shape.valueDim, out);
    problem.set({ 'output.data': output.address });
    const results = setResults(scope, problem, rest, shape, queries, keys);
    run(memory, scope, problem);
    const read = Object.entries(results).map(([name, result]) => [name, result()]);
    return read.length === 0 ? output.result() : { output: output.result(), ...Object.fromEntries(read) };
  });
}

function additiveAttention(memory, query, key, value, v, options) {
  only(options, [...problemNames, 'headDim', 'valueDim', 'out']);
  const { out, ...rest } = options, shape = shapeOf({ headDim: v.length, ...rest });
  const queries = counted('query', query, shape.headDim), keys = counted('key', key, shape.headDim);
  if (value.length !== keys * shape.valueDim) refuse('value', `expected ${keys} tokens as key has, found ${value.length} numbers`);
  return memory.scoped((scope) => {
    const output = scope.output('out', queries * shape.valueDim, out);
    const problem = problemOf(scope, rest, shape, queries, keys).set({ 'query.data': scope.input('query', query), 'key.data': scope.input('key', key),
      'value.data': scope.input('value', value), 'output.data': output.address, keys });
    const bytes = memory.c.attend_additive_workspace_size(problem.address), work = bytes === 0 ? 0 : scope.allocate(bytes);
    memory.require(memory.c.attend_additive_attention(problem.address, scope.input('v', v), work, bytes));
    return output.result();
  });
}

// One instance of the module, with memory of its own.
class Attend {
  #memory;

  constructor(instance) {
    const memory = (this.#memory = new Memory(instance));
    this.c = instance.exports; // the functions of the C surface
    const bound = (Class) => class extends Class {
      constructor(...given) {
        super(memory, ...given);
      }
    };
    // Named, so that messages name them.
    for (const Class of [Cache, State, Weights, Rotary, Layer, Floats]) {
      this[Class.name] = Object.defineProperty(bound(Class), 'name', { value: Class.name });
    }
  }

  attention(query, key, value, options = {}) {
    return attention(this.#memory, query, key, value, options);
  }

  additiveAttention(query, key, value, v, options = {}) {
    return additiveAttention(this.#memory, query, key, value, v, options);
  }

  project(x, weights, options = {}) {
    return project(this.#memory, x, weights, options);
  }

  rmsNorm(x, options = {}) {
    return normalise(this.#memory, 'rms', x, options);
  }

  layerNorm(x, options = {}) {
    return normalise(this.#memory, 'layer', x, options);
  }

  activate(name, x, options = {}) {
    return activate(this.#memory, name, x, options);
  }

  add(x, y, scale = 1) {
    return add(this.#memory, x, y, scale);
  }

  hadamard(x, options = {}) {
    return hadamard(this.#memory, x, options);
  }

  defaultScale(headDim) {
    return headDim > 0 ? Math.fround(1 / Math.sqrt(headDim)) : 0;
  }

  // The slopes of ALiBi for so many heads, as they were published.
  alibiSlopes(heads) {
    return this.#memory.scoped((scope) => {
      const slopes = scope.output('heads', whole('heads', heads, 1));
      this.#memory.require(this.c.attend_alibi_slopes(heads, slopes.address));
      return slopes.result();
    });
  }

  get bitsVersion() {
    return this.c.attend_bits_version();
  }

  get version() {
    const number = this.c.attend_version();
    return [Math.floor(number / 10000), Math.floor(number / 100) % 100, number % 100].join('.');
  }

  get backend() {
    return this.#memory.text(this.c.attend_backend_name(C.ATTEND_BACKEND_IN_USE));
  }
}
