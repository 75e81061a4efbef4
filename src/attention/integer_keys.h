// The keys of a call of integer attention: where they lie, which a row sees, and what options do to their scores.

// Where number d of key k, or column c of value k, lies behind the first number of a chunk.
constexpr ptrdiff_t key_in_quads(int k, int d) { return ptrdiff_t(d / 4) * (4 * integer_chunk) + 4 * k + d % 4; }
constexpr ptrdiff_t value_in_quads(int k, int c, int width) { return (ptrdiff_t(k / 4) * width + c) * 4 + k % 4; }

// `count` rows of a chunk, one behind the other.
inline void rows_of_key_quads(const int8_t* quads, int count, int head_dim, int8_t* rows) {
  for (int k = 0; k < count; ++k, rows += head_dim) {
    const int8_t* from = quads + key_in_quads(k, 0);
    int d = 0;
    for (; d + 4 <= head_dim; d += 4, from += 4 * integer_chunk) ATTEND_MEMCPY(rows + d, from, 4);
    for (int i = 0; d + i < head_dim; ++i) rows[d + i] = from[i];
  }
}
inline void rows_of_value_quads(const int8_t* quads, int count, int width, int8_t* rows) {
  for (int k = 0; k < count; k += 4, rows += 4 * ptrdiff_t(width)) {
    const int quad_keys = count - k < 4 ? count - k : 4;
    for (int c = 0; c < width; ++c, quads += 4) {
      for (int i = 0; i < quad_keys; ++i) rows[i * ptrdiff_t(width) + c] = quads[i];
    }
  }
}

// Rows of a chunk's keys and values.
struct IntegerChunk {
  const int8_t* keys;
  const int8_t* values;
  ptrdiff_t key_stride;
  ptrdiff_t value_stride;
};

// A place in the work memory of a call.
template <class Type>
Type* at_memory(const core::Problem& problem, ptrdiff_t offset) {
  return static_cast<Type*>(static_cast<void*>(static_cast<char*>(problem.scratch) + offset));
}

// The options of a call that has none.
struct NoIntegerOptions {};

template <class Options>
class IntegerKeys {
 public:
  static constexpr bool has_options = sizeof(Options) > sizeof(NoIntegerOptions);

  IntegerKeys(const core::Problem& problem, const Options& options) : problem_(problem), options_(options) {}

  bool has_states() const {
    if constexpr (has_options) return options_.states.data != nullptr;
    return false;
  }
  // The keys that a block goes over, from the first that its first row sees to the last that its last one does. A call into
  // states goes over all of its own: the open segment of a state must end where segments do, whatever is seen then.
  int begin(int token) const {
    if constexpr (has_options) {
      if (has_states()) return first_key(options_);
      const Visibility by = visibility_of(problem_, options_, token);
      return by.sink_tokens > by.call_begin ? by.call_begin : at_least(by.window_begin, by.call_begin);
    }
    return 0;
  }
  // The key with whose segment sums begin, where `key` is the first to take.
  int first_of_sums(int key) const {
    if constexpr (has_options) return has_states() ? options_.first_key : key;
    return key;
  }
  // The next key to take, from `key` on: windows leave out the keys between sink tokens and the first row's first key.
  int next(int token, int key) const {
    if constexpr (has_options) {
      if (has_states() || key < options_.sink_tokens) return key;
      return at_least(key, visibility_of(problem_, options_, token).window_begin & -integer_chunk);
    }
    return key;
  }
  int end(int token) const {
    if (has_states()) return problem_.keys;
    if constexpr (has_options) return visibility_of(problem_, options_, token).end;
    return visible_keys(problem_, token);
  }

  // The first key or value of a chunk of a key/value head.
  const int8_t* first(const core::Tensor<const void>& tensor, int kv_head, int chunk) const {
    return element<int8_t>(tensor, slot(chunk), kv_head);
  }

  // `count` rows of a chunk: where they lie or, from quads, brought into `memory`.
  IntegerChunk rows(int kv_head, int chunk, int count, [[maybe_unused]] int8_t* memory) const {
    const int8_t* const keys = first(problem_.key, kv_head, chunk);
    const int8_t* const values = first(problem_.value, kv_head, chunk);
    if constexpr (!config::embedded) {
      if (problem_.key_panels) return rows_of_quads(keys, values, count, memory);
    }
    return {keys, values, problem_.key.token_stride, problem_.value.token_stride};
  }

  // Bit k: whether a row sees key chunk + k.
  uint32_t seen(int token, int head, int chunk, int count) const {
    const auto first_bits = [](int bits) { return bits >= 32 ? ~0u : bits <= 0 ? 0u : (1u << bits) - 1; };
    if constexpr (!has_options) {
      return first_bits(at_most(visible_keys(problem_, token) - chunk, count));
    } else {
      const Visibility by = visibility_of(problem_, options_, token);
      uint32_t bits = first_bits(at_most(by.end - chunk, count)) &
                      (~first_bits(by.window_begin - chunk) | first_bits(by.sink_tokens - chunk)) &
                      ~first_bits(by.call_begin - chunk);
      if (options_.mask.data != nullptr && bits != 0) {
        const ptrdiff_t mask = mask_row(options_.mask, token, head) + chunk;
        bits &= first_bits(options_.mask.keys - chunk);
        for (int k = 0; k < integer_chunk; ++k) {
          if ((bits >> k & 1) != 0 && !is_shown(options_, mask + k)) bits &= ~(1u << k);
        }
      }
      return bits;
    }
  }

  // Masks the scores of other keys.
  ATTEND_ALWAYS_INLINE static void mask(int32_t* scores, uint32_t seen) {
    for (int k = 0; k < integer_chunk; ++k) {
      const int32_t keeps = -int32_t(seen >> k & 1);
      scores[k] = (scores[k] & keeps) | (masked_integer_score & ~keeps);
    }
  }

  // Applies zero points of queries and scales of single keys to scores.
  ATTEND_NOINLINE void modify(int rows, int32_t (*tile)[integer_chunk], int kv_head, int chunk, int count) const {
    const int8_t* const keys = first(problem_.key, kv_head, chunk);
    if (options_.query_zero != 0) {
      const bool in_quads = !config::embedded && problem_.key_panels;
      for (int k = 0; k < count; ++k) {
        int32_t sum = 0;
        for (int d = 0; d < problem_.head_dim; ++d)
          sum += keys[in_quads ? key_in_quads(k, d) : k * problem_.key.token_stride + d];
        for (int i = 0; i < rows; ++i) tile[i][k] -= options_.query_zero * sum;
      }
    }
    if (options_.key_scales != nullptr) {
      const uint16_t* const scales =
          static_cast<const uint16_t*>(options_.key_scales) + kv_head * options_.key_scale_stride + slot(chunk);
      for (int k = 0; k < count; ++k) {
        for (int i = 0; i < rows; ++i) tile[i][k] = scaled(tile[i][k], scales[k]);
      }
    }
  }

  // The scales of a chunk's values; null: none.
  const uint16_t* value_scales(int kv_head, int chunk) const {
    if (options_.value_scales == nullptr) return nullptr;
    return static_cast<const uint16_t*>(options_.value_scales) + kv_head * options_.value_scale_stride + slot(chunk);
  }

 private:
  ATTEND_NOINLINE IntegerChunk rows_of_quads(const int8_t* keys, const int8_t* values, int count, int8_t* memory) const {
    int8_t* const behind = memory + ptrdiff_t(integer_chunk) * problem_.head_dim;
    rows_of_key_quads(keys, count, problem_.head_dim, memory);
    rows_of_value_quads(values, count, problem_.value_dim, behind);
    return {memory, behind, problem_.head_dim, problem_.value_dim};
  }

  // (score * scale) >> 15, |score| <= 2^27 and scale <= 2^15.
  static int32_t scaled(int32_t score, uint16_t scale) {
    return (score >> 15) * scale + int32_t((uint32_t(score) & 0x7fffu) * scale >> 15);
  }

  // Where a chunk of keys lies.
  int slot(int chunk) const {
    if constexpr (has_options) {
      const core::Paging& paging = options_.paging;
      const int taken = keys_taken(paging, problem_.keys);
      return slot_panel(paging, taken, chunk / integer_chunk, integer_chunk) * integer_chunk - options_.origin;
    }
    return chunk;
  }

  const core::Problem& problem_;
  const Options& options_;
};
