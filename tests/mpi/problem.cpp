#include "problem.h"

#include <algorithm>
#include <cstring>

namespace distributed {

namespace {

bool is_in_cache(Kind kind) { return kind == Kind::float16_cache || kind == Kind::int8_cache || kind == Kind::integer_cache; }

}  // namespace

const char* name_of(Kind kind) {
  static const char* const names[] = {"float32, a batch with lengths",
                                      "float32, grouped heads, causal",
                                      "float32, windows and sink tokens",
                                      "a cache of float16",
                                      "a cache of int8",
                                      "integers",
                                      "integers, a cache"};
  return names[int(kind)];
}

World::World(Form form, Kind kind, std::uint64_t shape, std::uint64_t seed, int ranks)
    : form_(form), kind_(kind), shape_(shape), random_(seed), integers_(kind >= Kind::integers), has_cache_(is_in_cache(kind)) {
  integers_ ? attend_integer_problem_init(&p, sizeof p) : attend_problem_init(&p, sizeof p);
  choose_extents();
  choose_options();
  const std::size_t rows = std::size_t(p.batch * p.queries * p.query_heads);
  query_ = numbers(rows * std::size_t(p.head_dim));
  key_ = numbers(std::size_t(p.batch * keys_ * p.kv_heads * p.head_dim));
  value_ = numbers(std::size_t(p.batch * keys_ * p.kv_heads * p.value_dim));
  output_ = Memory(rows * std::size_t(p.value_dim) * sizeof(float)), lse_ = Memory(rows * sizeof(float));
  form == Form::decode ? divide_for_decode(ranks) : divide_for_prefill(ranks);
}

// ---- Choosing it ----

Memory World::numbers(std::size_t count) {
  Memory memory(count * number_bytes());
  if (!integers_) return random_.fill(memory.of<float>(), count, 2.0f), memory;
  for (std::size_t i = 0; i < count; ++i) memory.of<std::int8_t>()[i] = std::int8_t(random_.between(-128, 127));
  return memory;
}

void World::choose_extents() {
  p.batch = has_cache_ ? 1 : shape_.between(1, 3);
  p.kv_heads = shape_.between(1, 2), p.query_heads = p.kv_heads * (kind_ == Kind::plain ? 1 : shape_.between(1, 3));
  p.head_dim = shape_.between(1, 20), p.value_dim = shape_.between(1, 20);
  p.queries = shape_.between(1, form_ == Form::decode ? 5 : 700);
  keys_ = segment * random_.between(0, 12) + random_.between(0, 1) * random_.between(1, segment - 1);
  if (keys_ == 0) keys_ = random_.between(1, 40);
  if (form_ == Form::prefill && random_.between(0, 2) == 0) p.queries = keys_ = random_.between(1, 2000);
  p.keys = keys_, p.state_nodes = 13;
  p.layout = ATTEND_BATCH_TOKEN_HEAD_DIM;
}

void World::choose_options() {
  const int past = keys_ - int(p.queries);  // behind it, queries of causal calls would lack their own keys
  if (kind_ == Kind::grouped || kind_ == Kind::int8_cache || random_.between(0, 2) == 0) p.options = ATTEND_CAUSAL;
  p.offset = random_.between(0, 2) == 0 ? past - random_.between(0, keys_) : past;
  if (kind_ == Kind::windows || (kind_ >= Kind::integers && random_.between(0, 1) == 0)) {
    p.window_left = random_.between(0, keys_), p.sink_tokens = random_.between(0, 700);
    if (random_.between(0, 2) == 0) p.window_right = random_.between(0, 600);
  }
  if (p.options == 0 && p.window_left < 0 && p.window_right < 0) p.offset = ATTEND_DEFAULT_OFFSET;
  if (kind_ == Kind::plain) {
    for (int row = 0; row < p.batch; ++row) lengths_.push_back(random_.between(0, keys_));
  }
  if (integers_) {
    attend_integer_scales scales;
    must(attend_integer_scales_init(&scales, sizeof scales));
    scales.query_scale = 0.021, scales.key_scale = 0.033, scales.value_scale = 0.011, scales.output_scale = 0.007;
    must(attend_integer_prepare(&scales, p.head_dim, &constants_));
  }
}

// At random multiples of 512, more of them the same than not where there are few, in any order of ranks. Who has none begins
// at 0.
void World::divide_for_decode(int ranks) {
  std::vector<int> at = {0, keys_};
  for (int i = 1; i < ranks; ++i) at.push_back(segment * random_.between(0, keys_ / segment));
  std::sort(at.begin(), at.end());
  std::vector<int> order;
  for (int i = 0; i < ranks; ++i) order.insert(order.begin() + random_.between(0, i), i);
  for (const int i : order) {
    const int first = at[std::size_t(i)], end = at[std::size_t(i) + 1];
    division_.keys.push_back({first < end ? Range{first, end} : Range{0, 0}});
  }
}

// A zigzag, or as many blocks as in one, of random lengths and for random ranks: keys at multiples of 512, queries anywhere.
void World::divide_for_prefill(int ranks) {
  if (p.queries == keys_ && random_.between(0, 1) == 0) {
    division_ = zigzag(keys_, ranks);
    return;
  }
  const auto divide = [&](int tokens, int step) {
    std::vector<int> at = {0, tokens};
    for (int i = 1; i < 2 * ranks; ++i) at.push_back(step * random_.between(0, tokens / step));
    std::sort(at.begin(), at.end());
    std::vector<Ranges> of{std::size_t(ranks)};
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      Ranges& ranges = of[std::size_t(random_.between(0, ranks - 1))];
      if (at[i] < at[i + 1]) ranges.push_back({at[i], at[i + 1]});
    }
    return of;
  };
  division_.queries = divide(int(p.queries), 1), division_.keys = divide(keys_, segment);
}

// ---- Problems with arrays ----

// The problem with the arrays of the keys first ... end - 1.
attend_problem World::given(int first, int end) {
  attend_problem q = p;
  q.query.data = query_.data(), q.keys = end;
  q.key_lengths = lengths_.empty() ? nullptr : lengths_.data();
  if (integers_) q.constants = &constants_;
  if (has_cache_) return q;
  const auto part = [&](attend_input& input, Memory& all, std::ptrdiff_t width) {
    input.token_stride = p.kv_heads * width, input.head_stride = width, input.batch_stride = keys_ * input.token_stride;
    input.data = all.at(std::size_t(first * input.token_stride) * number_bytes());
  };
  part(q.key, key_, p.head_dim), part(q.value, value_, p.value_dim);
  q.origin = first;
  return q;
}

void World::write_to(attend_problem& q) {
  q.output.data = output_.data();
  if (!integers_) q.lse.data = lse_.data();
}

void World::spoil_outputs() { std::memset(output_.data(), 0x5a, output_.size()), std::memset(lse_.data(), 0x5a, lse_.size()); }

// A cache of the tokens first ... end - 1 alone.
Memory World::cached(attend_problem& q, int first, int end) {
  if (!has_cache_) return Memory();
  attend_cache_shape shape;
  must(attend_cache_shape_init(&shape, sizeof shape));
  shape.kv_heads = p.kv_heads, shape.head_dim = p.head_dim, shape.value_dim = p.value_dim, shape.max_tokens = end - first;
  shape.integers = integers_;
  if (!integers_) shape.key_format = shape.value_format = kind_ == Kind::int8_cache ? ATTEND_INT8 : ATTEND_FLOAT16;
  Memory memory(attend_cache_size(&shape));
  attend_cache* cache = nullptr;
  must(attend_cache_init(&shape, memory.data(), memory.size(), &cache));
  append(cache, end - first, std::size_t(first));
  q.cache = cache, q.origin = first;
  return memory;
}

void World::append(attend_cache* cache, int tokens, std::size_t from) {
  const auto input = [&](Memory& all, std::ptrdiff_t width) {
    return attend_input{all.at(from * std::size_t(p.kv_heads * width) * number_bytes()), ATTEND_DENSE, ATTEND_DENSE,
                        ATTEND_DENSE};
  };
  const attend_input keys = input(key_, p.head_dim), values = input(value_, p.value_dim);
  must(integers_ ? attend_integer_cache_append(cache, tokens, &keys, &values)
                 : attend_cache_append(cache, tokens, &keys, &values));
}

}  // namespace distributed
