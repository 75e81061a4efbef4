// What linear attention of embedded processors and in integers have in common: one panel of columns of a value head after
// another takes the tokens of a call.

template <class Number>
Number* at(const core::Tensor<Number>& tensor, int token, int head) {
  return tensor.data + token * tensor.token_stride + head * tensor.head_stride;
}

// Thumb's first processors have no division: this is less code than the compiler's, for a few heads and panels.
inline int quotient_of(size_t a, int b) {
  if (!ATTEND_THUMB1 || !code_is_small) return int(a / size_t(b));
  size_t whole = 0;
  for (int bit = 31; bit >= 0; --bit) {
    if (a >> bit >= size_t(b)) a -= size_t(b) << bit, whole += size_t(1) << bit;
  }
  return int(whole);
}

// A value head's panel, and which heads of keys and queries go with it.
template <class Call, class Number>
struct HeadPanel {
  const Call& c;
  int head, column, width;
  int key_head, first_query, queries;  // that read it, 1 where there are none
  Number* state;

  explicit HeadPanel(const Call& call) : c(call) {}
  int count() const { return c.head_dim * width; }
};

// A part of a call: some panels.
template <class Panel, class Call>
ATTEND_ALWAYS_INLINE void run_panels(const Call& c, int part, int parts) {
  const int panels = core::panel_count(c.value_dim), units = c.value_heads * panels;
  const int whole = quotient_of(size_t(units), parts), rest = units - whole * parts;
  const int end = whole * (part + 1) + quotient_of(size_t(rest) * size_t(part + 1), parts);
  for (int unit = whole * part + quotient_of(size_t(rest) * size_t(part), parts); unit < end; ++unit) {
    Panel p(c);
    p.head = quotient_of(size_t(unit), panels);
    p.column = (unit - p.head * panels) * panel_keys;
    p.width = at_most(c.value_dim - p.column, panel_keys);
    p.key_head = quotient_of(size_t(p.head) * size_t(c.kv_heads), c.value_heads);
    p.first_query = quotient_of(size_t(p.head) * size_t(c.query_heads), c.value_heads);
    p.queries = at_least(quotient_of(size_t(c.query_heads), c.value_heads), 1);
    const size_t numbers = core::linear_head_floats(c.head_dim, c.value_dim), place = size_t(p.column) * size_t(c.head_dim);
    const size_t in_state = size_t(p.head) * numbers + place,
                 kept = size_t(c.value_heads) * numbers + size_t(Panel::kept * unit);
    const auto* const from = c.state != nullptr ? c.state : c.from;
    p.state = c.state != nullptr ? c.state + in_state : c.work + place;
    bool is_empty = from == nullptr;
    if (!is_empty) p.get(from + kept);
    for (int i = 0; i < p.count() && from != c.state; ++i) p.state[i] = from[in_state + size_t(i)];
    core::for_each_document(c, [&](bool begins, int token, int end_token) ATTEND_INLINE_LAMBDA {
      if (begins || is_empty) p.clear(), is_empty = false;
      for (; token < end_token; ++token) p.take(token);
    });
    if (c.state != nullptr) p.keep(c.state + kept);
  }
}
