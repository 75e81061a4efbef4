// Attention as models for ONNX Runtime, in each of the ways that its users write it. Nothing but bytes is needed to make them.
'use strict';

// A model is a message of protocol buffers: fields of a number and a whole number, a float, or bytes.
function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  bytes.push(value);
  return Buffer.from(bytes);
}
const whole = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
function float(field, value) {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([varint(field * 8 + 5), bytes]);
}
function bytes(field, ...parts) {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

// A node's attributes: whole numbers, or lists of them.
function attribute([name, value]) {
  if (Array.isArray(value)) return bytes(5, bytes(1, name), ...value.map((v) => whole(8, v)), whole(20, 7));
  return bytes(5, bytes(1, name), whole(3, value), whole(20, 2));
}
const node = (operator, inputs, outputs, attributes = {}, domain = '') => bytes(1, ...inputs.map((name) => bytes(1, name)),
  ...[outputs].flat().map((name) => bytes(2, name)), bytes(4, operator), ...Object.entries(attributes).map(attribute), bytes(7, domain));
const tensor = (field, name, extents) =>
  bytes(field, bytes(1, name), bytes(2, bytes(1, whole(1, 1), bytes(2, ...extents.map((extent) => bytes(1, whole(1, extent)))))));
// Initializers: a number without extents, and a whole number of 32 bits as a list of one.
const scalar = (name, value) => bytes(5, whole(2, 1), float(4, value), bytes(8, name));
const integer = (name, value) => bytes(5, whole(1, 1), whole(2, 6), whole(5, value), bytes(8, name));

// Each way: the extents of query, keys and values, and the nodes from one query to one output of the same extents. Memory is
// [token][head][dim], and keys and values are [head][token][dim] where one token reads a cache. With `past` that cache is an
// input and an output of each node besides, and `rows` are the extents of the token that the node adds to it.
const ways = {
  // The fused operator of the package's own.
  MultiHeadAttention(s) {
    if (s.kvHeads !== s.heads) return null;
    const width = s.heads * s.dim;
    const rows = s.decode ? [1, s.heads, s.keys, s.dim] : [1, s.keys, width];
    return {query: [1, s.queries, width], rows,
      nodes: (from, to) => [node('MultiHeadAttention', [from, 'key', 'value'], to,
        {num_heads: s.heads, unidirectional: s.causal ? 1 : 0}, 'com.microsoft')]};
  },
  // The standard's operator.
  Attention(s) {
    const extents = (tokens, heads) => s.decode ? [1, heads, tokens, s.dim] : [1, tokens, heads * s.dim];
    const counts = s.decode ? {} : {q_num_heads: s.heads, kv_num_heads: s.kvHeads};
    return {query: extents(s.queries, s.heads), rows: extents(s.keys, s.kvHeads),
      nodes: (from, to) => [node('Attention', [from, 'key', 'value'], to, {is_causal: s.causal ? 1 : 0, ...counts})]};
  },
  // The package's own for decoders, which is always causal. It writes the newest token into a cache that has room for it.
  GroupQueryAttention(s) {
    if (!s.causal && !s.decode) return null;
    const tokens = s.decode ? 1 : s.keys;
    const past = s.decode ? [1, s.kvHeads, s.keys, s.dim] : null;
    return {query: [1, s.queries, s.heads * s.dim], rows: [1, tokens, s.kvHeads * s.dim], past,
      constants: [integer('last', s.keys - 1), integer('tokens', s.keys)],
      nodes: (from, to) => [node('GroupQueryAttention', [from, 'key', 'value', past ? 'past_key' : '', past ? 'past_value' : '', 'last', 'tokens'],
        [to, `${to}.key`, `${to}.value`], {num_heads: s.heads, kv_num_heads: s.kvHeads}, 'com.microsoft')]};
  },
  // Products and a softmax, as exporters wrote it before there was an operator. Query heads that share a key head are its rows.
  products(s) {
    const turned = !s.decode && s.heads > 1;  // [token][head][dim] to [head][token][dim]
    if (s.kvHeads !== s.heads && !s.decode) return null;
    const rows = turned ? [s.keys, s.heads, s.dim] : [s.kvHeads, s.keys, s.dim];
    const query = turned ? [s.queries, s.heads, s.dim] : [s.kvHeads, s.queries * s.heads / s.kvHeads, s.dim];
    return {query, rows, mask: s.causal,
      nodes(from, to) {
        const at = (name) => `${to}.${name}`;
        const list = [node('Transpose', ['key'], at('key'), {perm: turned ? [1, 2, 0] : [0, 2, 1]})];
        if (turned) list.push(node('Transpose', [from], at('query'), {perm: [1, 0, 2]}), node('Transpose', ['value'], at('value'), {perm: [1, 0, 2]}));
        list.push(node('MatMul', [turned ? at('query') : from, at('key')], at('product')), node('Mul', [at('product'), 'scale'], at('scores')));
        if (s.causal) list.push(node('Add', [at('scores'), 'mask'], at('masked')));
        list.push(node('Softmax', [at(s.causal ? 'masked' : 'scores')], at('weights'), {axis: 2}));
        list.push(node('MatMul', [at('weights'), turned ? at('value') : 'value'], turned ? at('output') : to));
        if (turned) list.push(node('Transpose', [at('output')], to, {perm: [1, 0, 2]}));
        return list;
      }};
  },
};

// One way as a model of `copies` layers, each with the output before it as query and all with the same keys and values: a call
// from JavaScript takes some microseconds, and many layers share it. Null where the way cannot have the shape.
function model(way, shape, copies) {
  const made = ways[way](shape);
  if (!made) return null;
  const nodes = [], outputs = [tensor(12, 'output', made.query)], presents = [];
  for (let i = 0, from = 'query'; i < copies; ++i) {
    const to = i + 1 < copies ? `layer${i}` : 'output';
    nodes.push(...made.nodes(from, to));
    if (made.past) presents.push(to);
    from = to;
  }
  const inputs = [tensor(11, 'query', made.query), tensor(11, 'key', made.rows), tensor(11, 'value', made.rows)];
  if (made.mask) inputs.push(tensor(11, 'mask', [shape.queries, shape.keys]));
  if (made.past) inputs.push(tensor(11, 'past_key', made.past), tensor(11, 'past_value', made.past));
  for (const to of presents) outputs.push(tensor(12, `${to}.key`, made.past), tensor(12, `${to}.value`, made.past));
  const graph = bytes(7, ...nodes, bytes(2, 'attention'), scalar('scale', 1 / Math.sqrt(shape.dim)), ...(made.constants || []), ...inputs, ...outputs);
  const operators = (domain, version) => bytes(8, bytes(1, domain), whole(2, version));
  return {bytes: Buffer.concat([whole(1, 10), graph, operators('', 23), operators('com.microsoft', 1)]), query: made.query,
    rows: made.rows, mask: made.mask, past: made.past, presents};
}

module.exports = {model, ways: Object.keys(ways)};
