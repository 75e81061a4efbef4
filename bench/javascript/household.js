// The model of household commands: a small Llama, computed by the library from end to end. It is an example to copy from.
import { digest } from './digest.js';
import { beginAction, encode, endAction, longestAction, longestTokens } from './words.js';

const fields = ['dim', 'hidden', 'layers', 'heads', 'kvHeads', 'pieces', 'context', 'firstLetter', 'firstWord', 'textBytes'];
const headerBytes = 48;

// The parts of the file one after the other; each begins at a multiple of 16 bytes.
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = headerBytes;
  }

  take(Kind, count) {
    const from = this.at, size = count * Kind.BYTES_PER_ELEMENT;
    this.at += Math.ceil(size / 16) * 16;
    if (from + size > this.bytes.length) throw new RangeError('the model of household commands ends too soon');
    return new Kind(this.bytes.slice(from, from + size).buffer);
  }
}

export class Household {
  // bytes: of household.bin, or a promise of them; that of this package where they are left out.
  static async load(attend, bytes) {
    const url = new URL('./household.bin', import.meta.url);
    const given = await (bytes ?? (url.protocol === 'file:' ? (await import('node:fs/promises')).readFile(url) : fetch(url).then((r) => r.arrayBuffer())));
    return new Household(attend, new Uint8Array(given));
  }

  constructor(attend, bytes) {
    if (new TextDecoder().decode(bytes.slice(0, 8)) !== 'ATHM0001') throw new RangeError('expected a model of household commands, which begins with ATHM0001');
    const header = new Int32Array(bytes.slice(8, headerBytes).buffer), reader = new Reader(bytes);
    const c = (this.config = Object.fromEntries(fields.map((name, i) => [name, header[i]])));
    c.headDim = c.dim / c.heads;
    this.attend = attend;
    const places = reader.take(Uint16Array, c.pieces + 1), text = reader.take(Uint8Array, c.textBytes);
    this.pieces = Array.from({ length: c.pieces }, (_, i) => new TextDecoder().decode(text.slice(places[i], places[i + 1] - 1)));
    const vector = () => new attend.Floats(reader.take(Float32Array, c.dim));
    // Rows of 8 bits, each with a scale.
    const rows = (outputs, inputs) => ({ scales: reader.take(Float32Array, outputs), numbers: reader.take(Int8Array, outputs * inputs), outputs, inputs });
    const weights = ({ numbers, scales, outputs, inputs }) => new attend.Weights(numbers, { outputs, inputs, scales });
    const matrix = (outputs, inputs) => weights(rows(outputs, inputs));
    const kvDim = c.kvHeads * c.headDim;
    this.embedding = rows(c.pieces, c.dim);
    this.classifier = weights(this.embedding);
    this.layers = Array.from({ length: c.layers }, () => ({
      attentionNorm: vector(), query: matrix(c.dim, c.dim), key: matrix(kvDim, c.dim), value: matrix(kvDim, c.dim), output: matrix(c.dim, c.dim),
      feedNorm: vector(), gate: matrix(c.hidden, c.dim), up: matrix(c.hidden, c.dim), down: matrix(c.dim, c.hidden),
      cache: new attend.Cache({ kvHeads: c.kvHeads, headDim: c.headDim, maxTokens: longestTokens + longestAction }),
    }));
    this.finalNorm = vector();
    this.rotary = new attend.Rotary({ dim: c.headDim });
    const sizes = { stream: c.dim, normed: c.dim, query: c.dim, key: kvDim, value: kvDim, attended: c.dim, update: c.dim, gate: c.hidden, up: c.hidden, logits: c.pieces };
    this.memory = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, new attend.Floats(size)]));
    this.restart();
  }

  restart() {
    this.length = 0;
    this.layers.forEach((layer) => layer.cache.truncate(0));
  }

  // Takes the next token. watch(layer, weights): what each head looked at, [heads][tokens].
  advance(token, watch) {
    const { dim } = this.config, { scales, numbers } = this.embedding, { stream } = this.memory;
    const row = stream.array;
    for (let i = 0; i < dim; ++i) row[i] = numbers[token * dim + i] * scales[token];
    this.layers.forEach((layer, i) => {
      this.attendLayer(layer, watch && ((weights) => watch(i, weights)));
      this.feedForward(layer);
    });
    ++this.length;
  }

  // stream += output(attention(query, keys, values)), of the normalised stream
  attendLayer(layer, watch) {
    const { attend, memory: m, config: c } = this;
    attend.rmsNorm(m.stream, { weight: layer.attentionNorm, out: m.normed });
    attend.project(m.normed, [layer.query, layer.key, layer.value], { out: [m.query, m.key, m.value] });
    this.rotary.rotate(m.query, { heads: c.heads, headDim: c.headDim, position: this.length });
    this.rotary.rotate(m.key, { heads: c.kvHeads, headDim: c.headDim, position: this.length });
    layer.cache.append(m.key, m.value);
    const options = { heads: c.heads, causal: true, out: m.attended };
    if (watch) watch(attend.attention(m.query, layer.cache, null, { ...options, scores: 'weights' }).scores);
    else attend.attention(m.query, layer.cache, null, options);
    attend.project(m.attended, layer.output, { out: m.update });
    attend.add(m.update, m.stream);
  }

  // stream += down(silu(gate x) * (up x)), x the normalised stream
  feedForward(layer) {
    const { attend, memory: m } = this;
    attend.rmsNorm(m.stream, { weight: layer.feedNorm, out: m.normed });
    attend.project(m.normed, [layer.gate, layer.up], { out: [m.gate, m.up] });
    attend.activate('silu', m.gate, { by: m.up, out: m.gate });
    attend.project(m.gate, layer.down, { out: m.update });
    attend.add(m.update, m.stream);
  }

  // A score for each piece that may come next: a view, until the next call.
  logits() {
    const { attend, memory: m } = this;
    attend.rmsNorm(m.stream, { weight: this.finalNorm, out: m.normed });
    return attend.project(m.normed, this.classifier, { out: m.logits }).array;
  }

  // Throws a RangeError for what is no sentence.
  encode(text) {
    return encode(text, this.pieces, this.config.firstLetter);
  }

  // The action that a sentence asks for, its pieces and the sentence as tokens. watch(position, layer, weights) as of advance;
  // choose(position, logits) sees the scores of which each piece is chosen.
  answer(text, { watch, choose } = {}) {
    const sentence = this.encode(text), pieces = [];
    const take = (token) => {
      const position = this.length;
      this.advance(token, watch && ((layer, weights) => watch(position, layer, weights)));
    };
    this.restart();
    sentence.tokens.forEach(take);
    while (pieces.length < longestAction) {
      const logits = this.logits(), token = this.likeliest(logits);
      choose?.(this.length - 1, logits);
      if (token === endAction) break;
      pieces.push(this.pieces[token]);
      take(token);
    }
    return { action: pieces.join(''), pieces, sentence, tokens: this.length };
  }

  // Among the pieces of actions and their end.
  likeliest(logits) {
    let best = endAction;
    for (let token = beginAction; token < this.config.firstLetter; ++token) if (logits[token] > logits[best]) best = token;
    return best;
  }

  // The digest of all scores after each token of a sentence.
  digest(text) {
    let hash = '0'.repeat(16);
    const { tokens } = this.encode(text);
    this.restart();
    for (const token of tokens) {
      this.advance(token);
      hash = digest(this.logits(), hash);
    }
    return hash;
  }
}
