// Visibility by position, by masks, and by ranges and documents.

// Where the keys end that a token of a causal call sees by position; below 0 or past all keys, it sees none or all.
inline int causal_end(const core::Problem& problem, int token) {
  // The same keys are seen with an offset beyond these, and the sum cannot overflow.
  return (problem.offset < problem.keys ? problem.offset : problem.keys) + token + 1;
}

// The number of keys that a token sees where there are no options: keys 0 … visible_keys - 1.
inline int visible_keys(const core::Problem& problem, int token) {
  if (!problem.causal) return problem.keys;
  const int seen = causal_end(problem, token);
  if (seen > problem.keys) return problem.keys;
  return seen > 0 ? seen : 0;
}

// The keys that a token sees by position: window_begin ... end - 1, and sink tokens 0 ... sink_tokens - 1, at most
// window_begin; but only keys from call_begin on. From token to token, each of the four stays or grows.
struct Visibility {
  int call_begin;    // the first of the call's keys
  int window_begin;  // the first key of the window
  int end;
  int sink_tokens;

  bool has(int key) const { return key < end && (key >= window_begin || key < sink_tokens); }  // of the call's keys
  // Whether it has any of the keys from `key` up to `to`.
  bool has_any(int key, int to) const {
    const int low = at_least(key, call_begin), high = at_most(to, end);
    return low < high && (high > window_begin || low < sink_tokens);
  }
};

// The keys that a block of rows sees by position: all that any of its rows sees.
struct BlockVisibility {
  Visibility earliest;  // of the first row: begins where it does
  Visibility latest;    // of the last row
  bool shows_masked;    // scores of masked keys are a result, so all keys count as seen

  bool has_any(int key, int to) const {
    return shows_masked ||
           Visibility{earliest.call_begin, earliest.window_begin, latest.end, latest.sink_tokens}.has_any(key, to);
  }
  // Whether any row sees some of each panel of keys, where it sees some of the first and of the last.
  bool has_all_panels(int key, int to) const {
    return shows_masked || key + panel_keys > earliest.window_begin || to - panel_keys < latest.sink_tokens;
  }
};

inline bool has_states(const core::Options& options) { return options.states.data != nullptr; }

// The first key that a call goes over. Where it takes all of them, options.first_key is 0.
inline int first_key(const core::Options& options) { return at_least(options.first_key, options.origin); }

// Whether scores of masked keys are a result too.
inline bool shows_masked(const core::Options& options) {
  return options.scores.data != nullptr &&
         (options.score_stage == core::Scores::raw || options.score_stage == core::Scores::capped);
}

inline Visibility visibility_of(const core::Problem& problem, const core::Options& options, int token) {
  const int64_t at = int64_t(problem.offset) + token;
  const auto within = [](int64_t a, int low, int high) { return a < low ? low : a > high ? high : int(a); };
  int end = visible_keys(problem, token);
  if (options.right >= 0) end = within(at + options.right + 1, 0, end);
  const int begin = first_key(options);
  const int first = options.left < 0 ? 0 : within(at - options.left, 0, end);
  return {begin, first, end, at_most(options.sink_tokens, first)};
}

// The keys that any token sees by position, as core::Floats::seen_keys.
inline core::SeenKeys seen_by_queries(const core::Problem& problem, const core::Options& options) {
  if (problem.queries == 0) return {0, 0, 0};
  if (options.scores.data != nullptr) return {0, 0, problem.keys};
  const Visibility earliest = visibility_of(problem, options, 0), latest = visibility_of(problem, options, problem.queries - 1);
  return {latest.sink_tokens, at_most(earliest.window_begin, latest.end), latest.end};
}

inline ptrdiff_t mask_row(const core::Mask& mask, int token, int head) {
  return mask.first + token * mask.token_stride + head * mask.head_stride;
}

inline bool bit_of(const uint8_t* bytes, ptrdiff_t n) { return (bytes[n >> 3] >> (n & 7) & 1) != 0; }

// Whether the boolean mask shows the key of its n-th number.
inline bool is_shown(const core::Options& options, ptrdiff_t n) {
  const uint8_t* bytes = static_cast<const uint8_t*>(options.mask.data);
  return options.mask_bits ? bit_of(bytes, n) : bytes[n] != 0;
}

// How many bits are 0 before the first 1, in four bytes of a mask that are not all 0.
inline int zeros_before(uint32_t bytes) {
  bytes = detail::little_endian(bytes);
  int zeros = 0;
  for (int half = 16; half > 0; half /= 2) {
    const int none = (bytes & ((1u << half) - 1)) == 0 ? half : 0;
    zeros += none;
    bytes >>= none;
  }
  return zeros;
}

// How many elements of the boolean mask hide their keys, from the n-th one on, of at most `count`.
inline int hidden_elements(const core::Options& options, ptrdiff_t n, int count) {
  const int in_byte = options.mask_bits ? 8 : 1;
  int i = 0;
  while (i < count && (n + i) % in_byte != 0 && !is_shown(options, n + i)) ++i;
  if (i < count && (n + i) % in_byte == 0) {
    // From a whole byte on, eight words at a time, then one.
    const uint8_t* bytes = static_cast<const uint8_t*>(options.mask.data) + (n + i) / in_byte;
    uint32_t word[8];
    for (const int step = int(sizeof word) * in_byte; count - i >= step; i += step, bytes += sizeof word) {
      ATTEND_MEMCPY(word, bytes, sizeof word);
      if ((word[0] | word[1] | word[2] | word[3] | word[4] | word[5] | word[6] | word[7]) != 0) break;
    }
    for (const int step = int(sizeof *word) * in_byte; count - i >= step; i += step, bytes += sizeof *word) {
      ATTEND_MEMCPY(word, bytes, sizeof *word);
      if (word[0] != 0) return i + zeros_before(word[0]) * in_byte / 8;
    }
    for (; count - i >= in_byte && *bytes == 0; ++bytes) i += in_byte;
  }
  while (i < count && !is_shown(options, n + i)) ++i;
  return i;
}

// Where a distance has its number in the table of relative positions.
inline int relative_index(const core::Options& options, int64_t distance) {
  if (distance < -options.relative_left) distance = -options.relative_left;
  if (distance > options.relative_right) distance = options.relative_right;
  return int(distance) + options.relative_left;
}

// Whether a mask lets any of some keys through; is_seen(k) tells it of key k.
template <class IsSeen>
bool lets_any_through(const core::Mask& mask, int key, int count, IsSeen is_seen) {
  if (mask.data == nullptr) return true;
  const int there = at_most(count, mask.keys - key);
  for (int k = 0; k < there; ++k) {
    if (is_seen(key + k)) return true;
  }
  return false;
}

// Whether a row of the masks lets any of some keys through; biases by position are not looked at.
inline bool lets_any_through(const core::Options& options, ptrdiff_t mask_at, ptrdiff_t bias_at, int key, int count) {
  const float* bias = static_cast<const float*>(options.bias.data);
  const auto is_visible = [&](int k) { return is_shown(options, mask_at + k); };
  return lets_any_through(options.mask, key, count, is_visible) && lets_any_through(options.bias, key, count, [&](int k) {
           return bits_to<uint32_t>(bias[bias_at + k]) != minus_infinity;
         });
}

// Whether masks and biases let a query head's token see a key that it sees by position.
inline bool is_let_through(const core::Problem& problem, const core::Options& options, int token, int head, int key) {
  if (options.mask.data != nullptr) {
    if (key >= options.mask.keys) return false;
    if (!is_shown(options, mask_row(options.mask, token, head) + key)) return false;
  }
  if (options.bias.data != nullptr) {
    if (key >= options.bias.keys) return false;
    const float* bias = static_cast<const float*>(options.bias.data);
    if (bits_to<uint32_t>(bias[mask_row(options.bias, token, head) + key]) == minus_infinity) return false;
  }
  if (options.relative != nullptr) {
    const int at = relative_index(options, int64_t(key) - problem.offset - token);
    if (bits_to<uint32_t>(options.relative[head * options.relative_head_stride + at]) == minus_infinity) return false;
  }
  return true;
}

// Keys, or tokens, first ... end - 1, of ranges and documents (core/ranges.h).
struct KeyRange {
  int first;
  int end;
};

// The document of a query: the first document that ends behind it; without documents, all keys.
inline KeyRange document_of(const core::Ranges& ranges, int token, int keys) {
  if (ranges.boundaries == nullptr) return {0, keys};
  int low = 0, high = ranges.documents - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (ranges.boundaries[middle + 1] <= ranges.token + token) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {ranges.boundaries[low], ranges.boundaries[low + 1]};
}

// What a query's range leaves of the keys of its document.
inline KeyRange range_of(const core::Ranges& ranges, int token, const KeyRange& document) {
  KeyRange range = document;
  if (ranges.first != nullptr) range.first = at_least(range.first, ranges.first[ranges.token + token]);
  if (ranges.end != nullptr) range.end = at_most(range.end, ranges.end[ranges.token + token]);
  return range;
}

// How many keys a query sees by position. (In documents too, positions count from the call's first token.)
inline int keys_seen(const core::Problem& problem, const core::Options& options, int token) {
  const Visibility visibility = visibility_of(problem, options, token);
  return visibility.end - visibility.window_begin + visibility.sink_tokens;
}
inline int keys_seen(const core::Problem& problem, const core::RangedOptions& options, int token) {
  const Visibility visibility = visibility_of(problem, options, token);
  const KeyRange range = range_of(options.ranges, token, document_of(options.ranges, token, problem.keys));
  const int seen = at_most(visibility.end, range.end) - at_least(visibility.window_begin, range.first);
  return at_least(seen, 0) + visibility.sink_tokens;
}
