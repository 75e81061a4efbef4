// Rotary positions, and how configurations of models scale them.
import * as C from './c.js';
import { Owned, named, only, real, refuse, truth, whole } from './memory.js';
import { counted } from './problem.js';

const rotaryPairs = { neighbours: C.ATTEND_NEIGHBOURS, halves: C.ATTEND_HALVES };
const most = 65536;
// What a scaling takes and what it may leave out, by the names of configurations; and its number in the C header.
const scalings = {
  default: { needs: [], may: [] },
  linear: { kind: C.ATTEND_ROTARY_LINEAR, needs: ['factor'], may: [] },
  llama3: { kind: C.ATTEND_ROTARY_LLAMA3, needs: ['factor', 'low_freq_factor', 'high_freq_factor', 'original_max_position_embeddings'], may: [] },
  yarn: { kind: C.ATTEND_ROTARY_YARN, needs: ['factor', 'original_max_position_embeddings'],
    may: ['beta_fast', 'beta_slow', 'truncate', 'mscale', 'mscale_all_dim', 'attention_factor'] },
  longrope: { kind: C.ATTEND_ROTARY_LONG, needs: ['short_factor', 'long_factor', 'factor', 'original_max_position_embeddings'], may: ['attention_factor'] },
  proportional: { kind: C.ATTEND_ROTARY_PROPORTIONAL, needs: ['partial_rotary_factor'], may: [] },
};

// As many numbers as there are pairs.
function listed(name, list, count, least, end) {
  if (list?.length !== count) refuse(name, `expected ${count} numbers, one for each pair, found ${list?.length ?? list}`);
  return Array.from(list, (number) => real(name, number, least, end));
}

// 0 for the usual one; DeepSeek's configurations have two factors of its logarithm, of which the quotient counts.
function attentionFactor(given) {
  if (given.attention_factor !== undefined) return real('attention_factor', given.attention_factor, 1 / most, most);
  if (given.mscale === undefined || given.mscale_all_dim === undefined) return 0;
  const [scale, over] = ['mscale', 'mscale_all_dim'].map((name) => 0.1 * real(name, given[name], 0, most) * Math.log(given.factor) + 1);
  return scale / over;
}

// The members of an attend_rotary_scaling; nothing where it scales nothing.
function scalingOf(scope, scaling, dim, positions) {
  const { rope_type: word = scaling.type, type, rope_theta: base, ...rest } = scaling, { kind, needs, may } = named('rope_type', scalings, word);
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null));
  for (const name of needs) if (given[name] === undefined) refuse('scaling', `'${name}' is missing, which '${word}' needs`);
  for (const name in given) {
    if (!needs.includes(name) && !may.includes(name)) refuse('scaling', `'${word}' does not use '${name}'; it takes ${[...needs, ...may].join(', ') || 'nothing'}`);
  }
  if (positions !== undefined && word !== 'longrope') refuse('positions', "leave it out: only a scaling of the rope_type 'longrope' asks how many there will be");
  if (kind === undefined) return undefined;
  const factor = given.factor === undefined ? 0 : real('factor', given.factor, 1, most), members = { kind, factor, attention_factor: attentionFactor(given) };
  const original = given.original_max_position_embeddings;
  if (original !== undefined) members.original_positions = whole('original_max_position_embeddings', original, 2, 2 ** 24);
  if (word === 'llama3' || word === 'yarn') {
    const [low, high] = word === 'llama3' ? ['low_freq_factor', 'high_freq_factor'] : ['beta_slow', 'beta_fast'];
    members.slow = real(low, given[low] ?? 1, 1, most);
    members.fast = real(high, given[high] ?? 32, 1, most);
    if (members.slow >= members.fast) refuse(low, `expected less than ${high}, ${members.fast}, found ${members.slow}`);
    members.fractions = truth('truncate', given.truncate ?? true) ? 0 : 1;
  } else if (word === 'longrope') {
    if (positions === undefined) refuse('positions', "give it: how many there will be decides between 'short_factor' and 'long_factor'");
    const lists = ['short_factor', 'long_factor'].map((name) => listed(name, given[name], dim / 2, 1 / 16, most));
    members.factors = scope.input('factors', Float32Array.from(lists[whole('positions', positions, 1) > original ? 1 : 0]));
  } else if (word === 'proportional') {
    members.turning = Math.floor(Math.floor(real('partial_rotary_factor', given.partial_rotary_factor, 2 / dim, 1) * dim) / 2);
  }
  return members;
}

// Of each pair of a head's first `dim` numbers.
export class Rotary extends Owned {
  constructor(memory, options) {
    only(options, ['dim', 'pairs', 'base', 'factor', 'scaling', 'positions', 'frequencies']);
    const { factor, scaling, positions, frequencies } = options, dim = whole('dim', options.dim, 2, most);
    if (dim % 2 !== 0) refuse('dim', `expected an even number, because numbers turn in pairs, found ${dim}`);
    if ([factor, scaling, frequencies].filter((each) => each !== undefined).length > 1) refuse('scaling', 'factor, scaling and frequencies exclude each other');
    if (frequencies !== undefined && (options.base ?? positions) !== undefined) refuse('frequencies', 'base and positions have no effect beside it: leave them out');
    if (scaling !== undefined && (scaling === null || typeof scaling !== 'object')) refuse('scaling', "expected the object of a configuration: { rope_type: 'llama3', factor: 8, … }");
    const pairs = named('pairs', rotaryPairs, options.pairs ?? 'neighbours');
    const base = frequencies === undefined ? real('base', options.base ?? scaling?.rope_theta ?? 10000, 2, 1e12) : 0;
    super(memory, C.ATTEND_ALIGNMENT + 4 * dim);
    this.dim = dim;
    const places = [this.address, this.turns, dim, pairs, base];
    try {
      memory.scoped((scope) => {
        const members = frequencies === undefined ? scalingOf(scope, scaling ?? { rope_type: 'default' }, dim, positions) : {
          kind: C.ATTEND_ROTARY_FREQUENCIES,
          frequencies: scope.input('frequencies', Float64Array.from(listed('frequencies', frequencies, dim / 2, 0, 4)), Float64Array),
        };
        if (members === undefined) return memory.require(memory.c.attend_rotary_init(...places, real('factor', factor ?? 1, 1, most)));
        return memory.require(memory.c.attend_rotary_init_scaled(...places, scope.struct(C.attend_rotary_scaling).set(members).address));
      });
    } catch (error) {
      this.free();
      throw error;
    }
  }

  get turns() {
    return this.address + C.ATTEND_ALIGNMENT;
  }

  // How far each pair turns from one position to the next.
  get radians() {
    this.live(this.memory);
    return Array.from({ length: this.dim / 2 }, (_, i) => (Number(this.memory.view.getBigUint64(this.turns + 8 * i, true)) * 2 * Math.PI) / 2 ** 64);
  }

  // What a scaling multiplies rotated numbers by; otherwise 1.
  get factor() {
    return this.memory.view.getFloat32(this.live(this.memory) + C.attend_rotary.members.factor[0], true);
  }

  // Turns x[tokens][heads][headDim] in place, from a position on.
  rotate(x, { heads = 1, headDim, position = 0, ...others }) {
    only(others, ['heads', 'headDim', 'position']);
    const tokens = counted('x', x, whole('heads', heads, 1) * whole('headDim', headDim, 1));
    return this.memory.scoped((scope) => {
      const to = scope.output('x', x.length, x), dense = { batch_stride: C.ATTEND_DENSE, token_stride: C.ATTEND_DENSE, head_stride: C.ATTEND_DENSE };
      const tensor = scope.struct(C.attend_output).set({ data: to.address, ...dense });
      this.memory.require(this.memory.c.attend_rotate(this.live(this.memory), tensor.address, tokens, heads, headDim, whole('position', position, -(2 ** 31))));
      return to.result();
    });
  }
}
