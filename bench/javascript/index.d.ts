// Attend for JavaScript. Arrays are [batch][token][head][dim], unless a comment says otherwise.

/** A call was refused: which argument, and why. Nothing has been changed. */
export class AttendError extends Error {
  readonly argument: string;
  /** attend_status, where the library itself refused the call. */
  readonly status?: number;
}

/** FNV-1a of 64 bits over floats, 16 hexadecimal digits; `from`: a digest to go on from. */
export function digest(floats: Float32Array, from?: string): string;

export type Source = BufferSource | WebAssembly.Module | Response | Promise<Response> | URL | string;
/** Loads attend.wasm, or another module of this package, into a memory of its own. */
export function load(source?: Source): Promise<Attend>;

export type Format = 'float32' | 'float16' | 'bfloat16' | 'int8' | 'int4';
export type Numbers = Float32Array | Floats;

export interface Owned {
  /** Gives the memory back; otherwise it is given back when nobody refers to the object. */
  free(): void;
}

/** Floats in the module's memory, which calls read and write without copying. */
export interface Floats extends Owned {
  readonly length: number;
  /** A view. It is empty after the memory has grown: take it anew after calls. */
  readonly array: Float32Array;
}

export interface Shape {
  /** Independent rows; 1. */
  batch?: number;
  /** Query heads; 1. */
  heads?: number;
  /** Key/value heads, which divide the query heads; as many as these. */
  kvHeads?: number;
  /** Width of a query and of a key; a cache has its own. */
  headDim?: number;
  /** Width of a value and of an output; headDim. */
  valueDim?: number;
  /** 'tokens': [batch][token][head][dim]; 'heads': [batch][head][token][dim]. */
  layout?: 'tokens' | 'heads';
}

export interface Options extends Shape {
  /** Query i sees keys 0 ... offset + i. */
  causal?: boolean;
  /** In place of offset: the queries are the last of the keys that their batch row has. */
  queriesLast?: boolean;
  /** Position of query 0 among the keys. To be given where what looks at positions has other than as many queries as keys. */
  offset?: number;
  /** [left, right]: a query at position p sees keys p - left ... p + right; null: no limit. */
  window?: [number | null, number | null];
  /** So many of the first tokens stay visible when the window has passed them. */
  sinkTokens?: number;
  /** 1 / sqrt(headDim), unless it is given. */
  scale?: number;
  /** cap * tanh(score / cap) in place of the score; 0: none. */
  softCap?: number;
  /** [batch][heads][queries][keys] without some of the first axes, or [keys]: 0 masks the key. */
  mask?: Uint8Array;
  /** Likewise: added to the scores; -Infinity masks the key. */
  bias?: Numbers;
  biasStage?: 'afterCap' | 'beforeCap';
  /** [heads]: slope * (the key's position - the query's) is added. */
  alibiSlopes?: Numbers;
  /** [left + 1 + right], or as many for each head, by distance. */
  relativeBias?: { data: Numbers; left: number; right: number };
  /** [heads]: a logit that joins the denominator and has no value. */
  sinkLogits?: Numbers;
  /** [batch]: keys at or after it do not exist. */
  keyLengths?: ArrayLike<number>;
  /** [queries] or [batch][queries]: query i sees keys first[i] ... end[i] - 1 alone. */
  ranges?: { first?: ArrayLike<number>; end?: ArrayLike<number> };
  /** Lengths of documents that lie side by side, each of which sees itself alone. */
  documents?: ArrayLike<number>;
}

export interface Results {
  /** Log-sum-exp of each query, [batch][query][head]; 'two': log2 of the same sum. */
  lse?: boolean | 'natural' | 'two';
  /** Scores at a stage, [batch][head][query][key]; 'weights': after the softmax. */
  scores?: 'raw' | 'capped' | 'biased' | 'weights';
}

export interface Out<Kind extends Numbers = Numbers> {
  /** Where the result is written, and which is returned then. */
  out?: Kind;
}

export interface Cache extends Owned {
  readonly tokens: number;
  readonly maxTokens: number;
  readonly bytes: number;
  /** Keys and values of tokens, [token][kvHeads][width]; keys alone where the values are in them. */
  append(key: Numbers, value?: Numbers | null): this;
  /** Keeps the first tokens. */
  truncate(tokens: number): this;
}

export interface CacheOptions {
  kvHeads?: number;
  headDim: number;
  valueDim?: number;
  /** Of a ring 0: positions go on to 2^29. */
  maxTokens: number;
  /** Of keys and values, or [of keys, of values]. 'inKeys': values are the first valueDim numbers of their keys, and in memory once. */
  format?: Format | [Format, Format | 'inKeys'];
  /** A ring that keeps the last so many tokens. */
  windowKeys?: number;
  /** Of a ring: the first tokens, which it keeps too. */
  sinkTokens?: number;
  /** Finite numbers that are too large for float16 or int4 become its largest; otherwise append refuses them. */
  saturate?: boolean;
}

/** What queries have seen of keys so far. */
export interface State extends Owned {
  take(key: Numbers, value: Numbers): this;
  /** Adds the keys of another state of the same queries, in any order. */
  merge(other: State): this;
  finish(): Float32Array;
  finish(options: { lse: boolean | 'natural' | 'two' }): { output: Float32Array; lse: Float32Array };
  save(): Uint8Array;
  /** nextKey: where the keys of what was saved stopped. */
  load(bytes: Uint8Array, nextKey: number): this;
}

export interface Weights extends Owned {
  readonly outputs: number;
  readonly inputs: number;
  readonly format: Format;
}

export interface WeightOptions {
  outputs: number;
  inputs: number;
  /** [outputs] */
  bias?: Float32Array;
  /** [outputs], of data that are int8 already. */
  scales?: Float32Array;
  /** What floats are rounded to, or what the data are. */
  format?: Format;
}

/** "rope_scaling" or "rope_parameters" of a model's configuration; what stands elsewhere in it, such as Phi's original_max_position_embeddings, is added. */
export interface RotaryScaling {
  rope_type?: 'default' | 'linear' | 'llama3' | 'yarn' | 'longrope' | 'proportional';
  /** As older configurations call it. */
  type?: string;
  rope_theta?: number;
  factor?: number;
  original_max_position_embeddings?: number;
  low_freq_factor?: number;
  high_freq_factor?: number;
  beta_fast?: number;
  beta_slow?: number;
  truncate?: boolean;
  mscale?: number;
  mscale_all_dim?: number;
  attention_factor?: number;
  short_factor?: ArrayLike<number>;
  long_factor?: ArrayLike<number>;
  partial_rotary_factor?: number;
}

export interface RotaryOptions {
  /** The first numbers of a head, which turn: an even number. */
  dim: number;
  pairs?: 'neighbours' | 'halves';
  /** 10000, or rope_theta of the scaling. */
  base?: number;
  /** All pairs turn so many times more slowly. */
  factor?: number;
  /** In place of the factor. */
  scaling?: RotaryScaling;
  /** Of 'longrope': how many positions there will be, which decides between its two lists. */
  positions?: number;
  /** In place of base and scaling: the radians of each pair. */
  frequencies?: ArrayLike<number>;
}

export interface Rotary extends Owned {
  /** How far each pair turns from one position to the next. */
  readonly radians: number[];
  /** What a scaling multiplies rotated numbers by; otherwise 1. */
  readonly factor: number;
  /** Turns x[token][head][headDim] in place, from a position on. */
  rotate<Kind extends Numbers>(x: Kind, options: { heads?: number; headDim: number; position?: number }): Kind;
}

export interface LayerOptions {
  query: Weights;
  key: Weights;
  value: Weights;
  output: Weights;
  /** Outputs of attention are multiplied by the sigmoid of this projection. */
  gate?: Weights;
  queryNorm?: Numbers;
  keyNorm?: Numbers;
  epsilon?: number;
  rotary?: Rotary;
  cache?: Cache;
}

export interface Layer {
  selfAttention(x: Numbers, options: Options & Out<Float32Array>): Float32Array;
  crossAttention(x: Numbers, options: Options & Out<Float32Array>): Float32Array;
  projectMemory(x: Numbers): void;
}

export interface NormOptions extends Out<Numbers> {
  weight?: Numbers;
  bias?: Numbers;
  epsilon?: number;
  /** Of a row; the length of the weight, or of x. */
  width?: number;
}

export type Activation = 'relu' | 'silu' | 'gelu' | 'geluTanh' | 'sigmoid' | 'tanh' | 'exp' | 'erf';

export interface Attend {
  readonly version: string;
  /** Changes when any result changes by any bit. */
  readonly bitsVersion: number;
  readonly backend: string;
  /** The module's exports: the functions of attend_c.h, for what is not here. */
  readonly c: Record<string, any>;

  readonly Floats: new (from: number | ArrayLike<number>) => Floats;
  readonly Cache: new (options: CacheOptions) => Cache;
  readonly State: new (query: Float32Array, options: Options & { firstKey?: number; nodes?: number }) => State;
  readonly Weights: new (data: Float32Array | Uint16Array | Int8Array | Uint8Array, options: WeightOptions) => Weights;
  readonly Rotary: new (options: RotaryOptions) => Rotary;
  readonly Layer: new (options: LayerOptions) => Layer;

  attention(query: Numbers, key: Numbers | Cache, value: Numbers | null | undefined, options: Options & { out: Floats }): Floats;
  attention(query: Numbers, key: Numbers | Cache, value: Numbers | null | undefined,
    options: Options & Results & Out & ({ lse: true | 'natural' | 'two' } | { scores: string })): { output: Float32Array; lse?: Float32Array; scores?: Float32Array };
  attention(query: Numbers, key: Numbers | Cache, value: Numbers | null | undefined, options: Options & Out<Float32Array>): Float32Array;
  /** Scores are v . tanh(query + key). */
  additiveAttention(query: Numbers, key: Numbers, value: Numbers, v: Numbers, options?: Options & Out<Float32Array>): Float32Array;
  /** y = W x + b of each token; of an array of weights an array of results. */
  project(x: Numbers, weights: Weights, options?: Out<Numbers>): Float32Array;
  project(x: Numbers, weights: Weights[], options?: { out?: Numbers[] }): Float32Array[];
  rmsNorm(x: Numbers, options?: NormOptions): Float32Array;
  layerNorm(x: Numbers, options?: NormOptions): Float32Array;
  activate(name: Activation, x: Numbers, options?: { by?: Numbers; out?: Numbers }): Float32Array;
  /** y += x * scale, in place. */
  add<Kind extends Numbers>(x: Numbers, y: Kind, scale?: number): Kind;
  hadamard(x: Numbers, options?: { width?: number; out?: Numbers }): Float32Array;
  defaultScale(headDim: number): number;
  /** [heads]: the slopes of ALiBi as they were published, for Options.alibiSlopes. */
  alibiSlopes(heads: number): Float32Array;
}
