// Keys and values that stay: a cache from token to token, states from one range of keys to the next.
import * as C from './c.js';
import { Owned, named, only, refuse, whole } from './memory.js';
import { counted, formats, problemNames, problemOf, requireBatch, run, setResults, shapeOf } from './problem.js';

const nextKeyPlace = 36; // in saved bytes, which include/attend/core/saved.h describes
// Whether some floats are too large for a format.
const hasEnd = (format) => format === 'float16' || format === 'int4';
const pair = (value) => (Array.isArray(value) ? value : [value, value]);

export class Cache extends Owned {
  constructor(memory, options) {
    only(options, ['kvHeads', 'headDim', 'valueDim', 'maxTokens', 'format', 'windowKeys', 'sinkTokens', 'saturate']);
    const widest = C.ATTEND_MAX_WIDTH, kvHeads = whole('kvHeads', options.kvHeads ?? 1, 1, widest), headDim = whole('headDim', options.headDim, 1, widest);
    const words = pair(options.format ?? 'float32'), { saturate = false } = options;
    if (saturate && !words.some(hasEnd)) refuse('saturate', 'expected a format in which numbers can be too large: float16 or int4');
    const [keyFormat, valueFormat] = words.map((word, i) => named('format', i ? { ...formats, inKeys: C.ATTEND_IN_KEYS } : formats, word)
      + (saturate && hasEnd(word) ? C.ATTEND_SATURATED : 0));
    const inKeys = valueFormat === C.ATTEND_IN_KEYS, windowKeys = whole('windowKeys', options.windowKeys ?? 0), sinkTokens = whole('sinkTokens', options.sinkTokens ?? 0);
    if (inKeys && words[0] === 'int4') refuse('format', "expected one of float32, float16, bfloat16, int8 for keys that begin with their values, found 'int4'");
    if (inKeys && windowKeys > 0) refuse('windowKeys', "leave it out: a ring keeps values of their own, not 'inKeys'");
    const valueDim = whole('valueDim', options.valueDim ?? headDim, 1, inKeys ? headDim : widest);
    const members = {
      kv_heads: kvHeads, head_dim: headDim, value_dim: valueDim, max_tokens: whole('maxTokens', options.maxTokens, windowKeys > 0 ? 0 : 1, C.ATTEND_MAX_TOKENS), key_format: keyFormat,
      value_format: valueFormat, window_keys: windowKeys, sink_tokens: sinkTokens,
    };
    const bytes = memory.scoped((scope) => {
      const shape = scope.struct(C.attend_cache_shape, 'attend_cache_shape_init').set(members);
      const size = memory.c.attend_cache_size(shape.address);
      if (size === 0) memory.require(memory.c.attend_cache_init(shape.address, 0, 0, 0));
      return size;
    });
    super(memory, bytes);
    Object.assign(this, { kvHeads, headDim, valueDim, bytes, inKeys, windowKeys, sinkTokens });
    memory.scoped((scope) => {
      const shape = scope.struct(C.attend_cache_shape, 'attend_cache_shape_init').set(members);
      memory.require(memory.c.attend_cache_init(shape.address, this.address, bytes, 0));
    });
  }

  // What queries see of a ring, a call must say: more than its window would be seen only until it has overwritten the first keys.
  requireVisible({ window, sinkTokens }) {
    const { windowKeys } = this;
    if (windowKeys > 0 && window === undefined) {
      refuse('window', `give it: window: [${windowKeys - 1}, 0] is as many tokens as this ring keeps, ${windowKeys}; [null, null] is all tokens, until it has overwritten some`);
    }
    if (this.sinkTokens > 0 && sinkTokens === undefined && Array.isArray(window) && window[0] !== null) {
      refuse('sinkTokens', `give them: ${this.sinkTokens} are the first tokens, which this ring keeps; 0 leaves them out`);
    }
  }

  // Keys and values of tokens, [token][kvHeads][width]; with values 'inKeys', keys alone.
  append(key, value) {
    const tokens = counted('key', key, this.kvHeads * this.headDim), given = value !== undefined && value !== null;
    if (this.inKeys === given) refuse('value', given ? "leave it out: with the format 'inKeys' it is a part of the key" : 'give it: it is missing');
    if (given && value.length !== tokens * this.kvHeads * this.valueDim) refuse('value', `expected ${tokens} tokens as key has, found ${value.length} numbers`);
    const dense = { batch_stride: C.ATTEND_DENSE, token_stride: C.ATTEND_DENSE, head_stride: C.ATTEND_DENSE };
    this.memory.scoped((scope) => {
      const [k, v] = [key, value].map((array, i) => (i && !given ? 0 : scope.struct(C.attend_input).set({ ...dense, data: scope.input(i ? 'value' : 'key', array) }).address));
      this.memory.require(this.memory.c.attend_cache_append(this.live(this.memory), tokens, k, v));
    });
    return this;
  }

  truncate(tokens) {
    this.memory.require(this.memory.c.attend_cache_truncate(this.live(this.memory), whole('tokens', tokens, 0, this.tokens)));
    return this;
  }

  get tokens() {
    return this.memory.c.attend_cache_tokens(this.live(this.memory), 0);
  }

  get maxTokens() {
    return this.memory.scoped((scope) => {
      const tokens = scope.allocate(4);
      this.memory.c.attend_cache_tokens(this.live(this.memory), tokens);
      return this.memory.view.getInt32(tokens, true);
    });
  }
}

// What queries have seen of keys so far. Keys are taken in several calls, on several machines: see save, load and merge.
export class State extends Owned {
  constructor(memory, query, options) {
    only(options, [...problemNames, 'firstKey', 'nodes']);
    const { firstKey = 0, nodes, ...rest } = options, shape = shapeOf(rest);
    requireBatch(rest);
    const queries = counted('query', query, shape.batch * shape.heads * shape.headDim);
    super(memory, memory.scoped((scope) => {
      const problem = problemOf(scope, {}, shape, queries, 0).set({ batch: shape.batch, ...(nodes === undefined ? {} : { state_nodes: whole('nodes', nodes) }) });
      return memory.c.attend_state_size(problem.address);
    }));
    Object.assign(this, { query: query.slice(), options: rest, shape, queries, nodes, next: whole('firstKey', firstKey) });
    this.with((problem) => memory.require(memory.c.attend_begin(problem.address)), {});
  }

  with(work, options) {
    return this.memory.scoped((scope) => {
      const problem = problemOf(scope, options, this.shape, this.queries, this.next).set({ states: this.live(this.memory), first_key: this.next });
      if (options.batch === undefined && this.shape.batch !== 1) problem.set({ batch: this.shape.batch });
      if (this.nodes !== undefined) problem.set({ state_nodes: this.nodes });
      return work(problem, scope);
    });
  }

  // The next keys and values, [batch][token][kvHeads][width] or by the layout.
  take(key, value) {
    const { batch, kvHeads, headDim, valueDim } = this.shape;
    const tokens = counted('key', key, batch * kvHeads * headDim);
    if (value.length !== tokens * batch * kvHeads * valueDim) refuse('value', `expected ${tokens} tokens as key has, found ${value.length} numbers`);
    this.with((problem, scope) => {
      problem.set({ 'query.data': scope.input('query', this.query), 'key.data': scope.input('key', key), 'value.data': scope.input('value', value),
        keys: this.next + tokens, origin: this.next });
      run(this.memory, scope, problem);
    }, this.options);
    this.next += tokens;
    return this;
  }

  // Adds the keys of another state of the same queries, in any order.
  merge(other) {
    if (!(other instanceof State)) refuse('other', 'expected a State');
    this.with((problem) => this.memory.require(this.memory.c.attend_merge(problem.address, other.live(this.memory))), {});
    this.next = new DataView(this.save().buffer).getInt32(nextKeyPlace, true);
    return this;
  }

  // The output of all keys that were taken; with lse: true, { output, lse }.
  finish(options = {}) {
    only(options, ['lse']);
    const { batch, heads, valueDim } = this.shape;
    return this.with((problem, scope) => {
      const output = scope.output('output', batch * this.queries * heads * valueDim);
      problem.set({ 'output.data': output.address, keys: this.next, first_key: 0 });
      const results = setResults(scope, problem, options, this.shape, this.queries, this.next);
      this.memory.require(this.memory.c.attend_finish(problem.address));
      return results.lse ? { output: output.result(), lse: results.lse() } : output.result();
    }, this.options);
  }

  // Bytes for another machine, the same wherever and however the keys were taken.
  save() {
    return this.with((problem, scope) => {
      const size = this.memory.c.attend_saved_size(problem.address), bytes = scope.allocate(size), saved = scope.allocate(4);
      this.memory.require(this.memory.c.attend_save(problem.address, bytes, size, saved));
      return this.memory.bytes(bytes, this.memory.view.getUint32(saved, true)).slice();
    }, {});
  }

  // Becomes what was saved; nextKey: where its keys stopped.
  load(bytes, nextKey) {
    this.with((problem, scope) => this.memory.require(this.memory.c.attend_load(problem.address, scope.input('bytes', bytes, Uint8Array), bytes.length)), {});
    this.next = whole('nextKey', nextKey);
    return this;
  }
}
