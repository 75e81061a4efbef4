// Options of a call, as the attend_problem of the C surface.
import * as C from './c.js';
import { named, only, real, refuse, truth, whole } from './memory.js';

export const formats = { float32: C.ATTEND_FLOAT32, float16: C.ATTEND_FLOAT16, bfloat16: C.ATTEND_BFLOAT16, int8: C.ATTEND_INT8, int4: C.ATTEND_INT4 };
const layouts = { tokens: C.ATTEND_BATCH_TOKEN_HEAD_DIM, heads: C.ATTEND_BATCH_HEAD_TOKEN_DIM };
const stages = { raw: C.ATTEND_SCORES_RAW, capped: C.ATTEND_SCORES_CAPPED, biased: C.ATTEND_SCORES_BIASED, weights: C.ATTEND_SCORES_WEIGHTS };
const biasStages = { afterCap: C.ATTEND_BIAS_AFTER_CAP, beforeCap: C.ATTEND_BIAS_BEFORE_CAP };
const bases = { natural: C.ATTEND_LSE_NATURAL, two: C.ATTEND_LSE_BASE_2 };

const shapeNames = ['batch', 'heads', 'kvHeads', 'headDim', 'valueDim', 'layout'];
const optionNames = ['causal', 'queriesLast', 'offset', 'window', 'sinkTokens', 'scale', 'softCap', 'mask', 'bias', 'biasStage', 'alibiSlopes',
  'relativeBias', 'sinkLogits', 'keyLengths', 'ranges', 'documents'];
const widest = C.ATTEND_MAX_WIDTH;
export const problemNames = [...shapeNames, ...optionNames];

// How many of something an array has, given how many numbers each takes.
export function counted(name, array, each) {
  const count = each === 0 && array.length === 0 ? 0 : array.length / each; // an empty batch
  if (!Number.isInteger(count)) refuse(name, `expected a multiple of ${each} numbers, as its heads and widths ask for, found ${array.length}`);
  return count;
}

// How many batch rows lengths are of must be said: `batch` left out would be one, however many the arrays have.
export function requireBatch(options) {
  if (options.keyLengths === undefined || options.batch !== undefined) return;
  refuse('batch', `give it, 1 too: keyLengths has ${options.keyLengths.length} number${options.keyLengths.length === 1 ? '' : 's'}, one for each batch row`);
}

export function shapeOf(options) {
  const heads = whole('heads', options.heads ?? 1, 1, widest), headDim = whole('headDim', options.headDim, 1, widest);
  return {
    batch: whole('batch', options.batch ?? 1, 0, C.ATTEND_MAX_TOKENS), heads, kvHeads: whole('kvHeads', options.kvHeads ?? heads, 1, widest), headDim,
    valueDim: whole('valueDim', options.valueDim ?? headDim, 1, widest),
  };
}

// A problem with shape and options set, but no tensors. keys: how many columns masks have.
export function problemOf(scope, options, shape, queries, keys, further = []) {
  only(options, [...problemNames, ...further]);
  const problem = scope.struct(C.attend_problem, 'attend_problem_init');
  problem.set({ query_heads: shape.heads, kv_heads: shape.kvHeads, head_dim: shape.headDim, value_dim: shape.valueDim, queries });
  if (options.batch !== undefined) problem.set({ batch: shape.batch });
  if (options.layout !== undefined) problem.set({ layout: named('layout', layouts, options.layout) });
  setPositions(problem, options);
  setScores(scope, problem, options, shape, queries, keys);
  setKeys(scope, problem, options, shape, queries);
  return problem;
}

function setPositions(problem, options) {
  let bits = 0;
  if (options.causal !== undefined && truth('causal', options.causal)) bits |= C.ATTEND_CAUSAL;
  if (options.queriesLast !== undefined && truth('queriesLast', options.queriesLast)) bits |= C.ATTEND_QUERIES_LAST;
  problem.set({ options: bits });
  if (options.offset !== undefined) problem.set({ offset: whole('offset', options.offset, -(2 ** 29), 2 ** 29) });
  if (options.window !== undefined) {
    if (!Array.isArray(options.window) || options.window.length !== 2) refuse('window', 'expected [left, right], each a number or null for no limit');
    const [left, right] = options.window.map((number) => (number === null ? C.ATTEND_NO_LIMIT : whole('window', number)));
    problem.set({ window_left: left, window_right: right });
  }
  if (options.sinkTokens !== undefined) problem.set({ sink_tokens: whole('sinkTokens', options.sinkTokens) });
}

// Strides of [batch][head][query][key], of which leading axes may be left out, or all but the last.
function columns(name, array, shape, queries, keys) {
  const square = queries * keys;
  const axes = { batch_stride: C.ATTEND_DENSE, head_stride: C.ATTEND_DENSE, query_stride: C.ATTEND_DENSE, keys: C.ATTEND_ALL_KEYS };
  if (array.length === shape.batch * shape.heads * square) return axes;
  if (array.length === shape.heads * square) return { ...axes, batch_stride: 0 };
  if (array.length === square) return { ...axes, batch_stride: 0, head_stride: 0 };
  if (array.length === keys) return { ...axes, batch_stride: 0, head_stride: 0, query_stride: 0 };
  return refuse(name, `expected [batch][heads][queries][keys] without some of the first axes, such as ${square} numbers, found ${array.length}`);
}

const prefixed = (prefix, values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value]));

function perHead(scope, name, array, shape) {
  if (array.length !== shape.heads) refuse(name, `expected ${shape.heads} numbers, one for each head, found ${array.length}`);
  return scope.input(name, array);
}

function setScores(scope, problem, options, shape, queries, keys) {
  if (options.scale !== undefined) problem.set({ scale: real('scale', options.scale, -(2 ** 127), 2 ** 127) });
  if (options.softCap !== undefined) problem.set({ soft_cap: options.softCap === 0 ? 0 : real('softCap', options.softCap, 1e-30, 1e30) });
  if (options.mask !== undefined) {
    const data = scope.input('mask', options.mask, Uint8Array);
    problem.set(prefixed('mask', { ...columns('mask', options.mask, shape, queries, keys), data, kind: C.ATTEND_MASK_BYTES }));
  }
  if (options.bias !== undefined) {
    const data = scope.input('bias', options.bias);
    problem.set(prefixed('bias', { ...columns('bias', options.bias, shape, queries, keys), data }));
  }
  if (options.biasStage !== undefined) problem.set({ bias_stage: named('biasStage', biasStages, options.biasStage) });
  if (options.alibiSlopes !== undefined) problem.set({ alibi_slopes: perHead(scope, 'alibiSlopes', options.alibiSlopes, shape) });
  if (options.sinkLogits !== undefined) problem.set({ sink_logits: perHead(scope, 'sinkLogits', options.sinkLogits, shape) });
  if (options.relativeBias !== undefined) {
    const { data, left, right, ...others } = options.relativeBias;
    only(others, ['data', 'left', 'right']);
    const width = whole('relativeBias.left', left) + 1 + whole('relativeBias.right', right);
    if (data.length !== width && data.length !== width * shape.heads) refuse('relativeBias.data', `expected ${width} numbers, or as many for each head, found ${data.length}`);
    problem.set(prefixed('relative_bias', { data: scope.input('relativeBias.data', data), head_stride: data.length === width ? 0 : width, left, right }));
  }
}

function numbers(scope, name, list, count) {
  if (count !== undefined && list.length !== count) refuse(name, `expected ${count} numbers, found ${list.length}`);
  return scope.input(name, Int32Array.from(list, (number) => whole(name, number)), Int32Array);
}

function setKeys(scope, problem, options, shape, queries) {
  if (options.keyLengths !== undefined) problem.set({ key_lengths: numbers(scope, 'keyLengths', options.keyLengths, shape.batch) });
  if (options.ranges !== undefined) {
    const { first, end, ...others } = options.ranges;
    only(others, ['first', 'end']);
    const length = (first ?? end ?? []).length;
    if (length !== queries && length !== shape.batch * queries) refuse('ranges', `expected ${queries} numbers, or as many for each batch row, found ${length}`);
    problem.set({ 'ranges.batch_stride': length === queries ? 0 : queries });
    if (first) problem.set({ 'ranges.first': numbers(scope, 'ranges.first', first, length) });
    if (end) problem.set({ 'ranges.end': numbers(scope, 'ranges.end', end, length) });
  }
  if (options.documents !== undefined) {
    const boundaries = [0];
    for (const length of options.documents) boundaries.push(boundaries.at(-1) + whole('documents', length));
    problem.set({ 'documents.boundaries': numbers(scope, 'documents', boundaries), 'documents.count': options.documents.length });
  }
}

// Runs a problem; one that takes no work memory may be wrong, and attend_check says how.
export function run(memory, scope, problem) {
  const bytes = memory.c.attend_workspace_size(problem.address);
  if (bytes === 0) memory.require(memory.c.attend_check(problem.address));
  memory.require(memory.c.attend_run(problem.address, bytes === 0 ? 0 : scope.allocate(bytes), bytes));
}

// Asks for log-sum-exp and scores; returns what reads them.
export function setResults(scope, problem, options, shape, queries, keys) {
  const results = {};
  if (options.lse !== undefined && options.lse !== false) {
    const lse = scope.output('lse', shape.batch * queries * shape.heads);
    problem.set({ 'lse.data': lse.address, lse_base: options.lse === true ? bases.natural : named('lse', bases, options.lse) });
    results.lse = lse.result;
  }
  if (options.scores !== undefined) {
    const scores = scope.output('scores', shape.batch * shape.heads * queries * keys);
    problem.set({ 'scores.data': scores.address, 'scores.stage': named('scores', stages, options.scores) });
    results.scores = scores.result;
  }
  return results;
}
