// The module's memory: what is allocated in it, structs of the C surface, and refusals as exceptions.

export class AttendError extends Error {
  constructor(argument, sentence, status) {
    super(`${argument}: ${sentence}`);
    this.name = 'AttendError';
    this.argument = argument; // such as 'kv_heads' or 'pages.page_keys'
    this.status = status; // attend_status, where the library refused the call
  }
}

export function refuse(argument, sentence) {
  throw new AttendError(argument, sentence);
}

const alignment = 64;
const page = 65536;

// Few sizes, so that memory that was freed fits again: multiples of 64 bytes, and above 512 eighths of a power of two.
function rounded(bytes) {
  const step = Math.max(alignment, 2 ** (Math.floor(Math.log2(Math.max(bytes, 1))) - 3));
  return Math.max(step, Math.ceil(bytes / step) * step);
}

const forgotten = new FinalizationRegistry(({ memory, address }) => memory.release(address));

export class Memory {
  constructor(instance) {
    this.c = instance.exports;
    this.top = Math.ceil(this.c.__heap_base.value / alignment) * alignment;
    this.sizes = new Map(); // of what is allocated, by address
    this.spare = new Map(); // addresses of what was freed, by size
  }

  // Growing makes a new buffer, and views of the old one are empty then: take them anew after each allocation.
  get view() {
    if (this.held?.buffer !== this.c.memory.buffer) this.held = new DataView(this.c.memory.buffer);
    return this.held;
  }

  floats(address, length) {
    return new Float32Array(this.c.memory.buffer, address, length);
  }

  bytes(address, length) {
    return new Uint8Array(this.c.memory.buffer, address, length);
  }

  allocate(bytes) {
    const size = rounded(bytes);
    const address = this.spare.get(size)?.pop() ?? this.extend(size);
    this.sizes.set(address, size);
    return address;
  }

  extend(size) {
    const address = this.top;
    const missing = address + size - this.c.memory.buffer.byteLength;
    if (missing > 0) {
      try {
        this.c.memory.grow(Math.ceil(missing / page));
      } catch {
        throw new RangeError(`attend: ${size} bytes more than WebAssembly's memory can have; free() what is no longer needed`);
      }
    }
    this.top += size;
    return address;
  }

  release(address) {
    const size = this.sizes.get(address);
    this.sizes.delete(address);
    if (!this.spare.has(size)) this.spare.set(size, []);
    this.spare.get(size).push(address);
  }

  text(address) {
    const all = new Uint8Array(this.c.memory.buffer);
    return new TextDecoder().decode(all.slice(address, all.indexOf(0, address)));
  }

  require(status) {
    if (status === 0) return;
    throw new AttendError(this.text(this.c.attend_argument_name(status)), this.text(this.c.attend_error_text(status)), status);
  }

  // Calls work(scope); what it has allocated in the scope is freed afterwards.
  scoped(work) {
    const scope = new Scope(this);
    try {
      return work(scope);
    } finally {
      scope.taken.forEach((address) => this.release(address));
    }
  }
}

const writers = { i32: 'setInt32', u32: 'setUint32', f32: 'setFloat32', f64: 'setFloat64' };

// A struct of the C surface at an address; members of members have names such as 'query.data'.
export class Struct {
  constructor(memory, layout, address) {
    this.memory = memory;
    this.layout = layout;
    this.address = address;
  }

  set(values) {
    for (const name in values) {
      const [offset, kind] = this.layout.members[name];
      this.memory.view[writers[kind]](this.address + offset, values[name], true);
    }
    return this;
  }
}

class Scope {
  constructor(memory) {
    this.memory = memory;
    this.taken = [];
  }

  allocate(bytes) {
    const address = this.memory.allocate(bytes);
    this.taken.push(address);
    return address;
  }

  struct(layout, initialise) {
    const struct = new Struct(this.memory, layout, this.allocate(layout.size));
    if (initialise) this.memory.require(this.memory.c[initialise](struct.address, layout.size));
    else this.memory.bytes(struct.address, layout.size).fill(0);
    return struct;
  }

  // The address of a copy, or of Floats themselves. kind: what the array must be.
  input(name, array, kind = Float32Array) {
    if (array instanceof Floats && kind === Float32Array) return array.live(this.memory);
    if (!(array instanceof kind)) refuse(name, `expected a ${kind.name}${kind === Float32Array ? ' or Floats' : ''}, found ${array?.constructor?.name ?? array}`);
    const address = this.allocate(array.byteLength);
    this.memory.bytes(address, array.byteLength).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return address;
  }

  // Where a call shall write `length` floats, and what reads them after it: of `out` where it is given.
  output(name, length, out) {
    if (out === undefined) {
      const address = this.allocate(4 * length);
      return { address, result: () => this.memory.floats(address, length).slice() };
    }
    if (out?.length !== length) refuse(name, `expected ${length} numbers, found ${out?.length}`);
    if (out instanceof Floats) return { address: out.live(this.memory), result: () => out };
    if (!(out instanceof Float32Array)) refuse(name, `expected a Float32Array or Floats, found ${out?.constructor?.name}`);
    const address = this.input(name, out);
    return { address, result: () => (out.set(this.memory.floats(address, length)), out) };
  }
}

// Memory that an object has until free(), or until nobody refers to it.
export class Owned {
  constructor(memory, bytes) {
    this.memory = memory;
    this.address = memory.allocate(bytes);
    forgotten.register(this, { memory, address: this.address }, this);
  }

  live(memory) {
    if (this.address === 0) refuse(this.constructor.name, 'it was freed');
    if (this.memory !== memory) refuse(this.constructor.name, 'it belongs to another load() of the library');
    return this.address;
  }

  free() {
    if (this.address === 0) return;
    forgotten.unregister(this);
    this.memory.release(this.address);
    this.address = 0;
  }
}

// Floats in the module's memory, which calls read and write without copying.
export class Floats extends Owned {
  constructor(memory, from) {
    const length = typeof from === 'number' ? whole('length', from) : from.length;
    super(memory, 4 * length);
    this.length = length;
    if (typeof from === 'number') this.array.fill(0);
    else this.array.set(from);
  }

  // A view, which is empty after the memory has grown: do not keep it over calls.
  get array() {
    return this.memory.floats(this.live(this.memory), this.length);
  }
}

export function whole(name, number, least = 0, most = 2 ** 31 - 1) {
  if (!Number.isInteger(number) || number < least || number > most) {
    refuse(name, `expected a whole number within ${least} to ${most}, found ${typeof number === 'string' ? JSON.stringify(number) : number}`);
  }
  return number;
}

export function real(name, number, least = -3.4e38, most = 3.4e38) {
  if (typeof number !== 'number' || !(number >= least && number <= most)) refuse(name, `expected a number within ${least} to ${most}, found ${number}`);
  return number;
}

export function truth(name, flag) {
  if (typeof flag !== 'boolean') refuse(name, `expected true or false, found ${JSON.stringify(flag)}`);
  return flag;
}

// One of the names of a table.
export function named(name, table, word) {
  if (!Object.hasOwn(table, word)) refuse(name, `expected one of ${Object.keys(table).join(', ')}, found ${JSON.stringify(word)}`);
  return table[word];
}

// What other libraries call an option.
const elsewhere = {
  isCausal: 'causal', is_causal: 'causal', numHeads: 'heads', num_heads: 'heads', attnMask: 'mask', attn_mask: 'mask', attentionMask: 'mask', attnBias: 'bias',
  windowSize: 'window', softcap: 'softCap', softmaxScale: 'scale', theta: 'base', ropeTheta: 'base', ropeScaling: 'scaling', kv_heads: 'kvHeads',
};

// What would be ignored is refused.
export function only(options, names) {
  for (const name in options) {
    if (names.includes(name)) continue;
    const meant = names.includes(elsewhere[name]) ? `write ${elsewhere[name]}, one of` : 'there are';
    refuse(name, `there is no such option; ${meant} ${names.join(', ')}`);
  }
  return options;
}
