// Products of matrices, and attention.
#include <algorithm>

#include "forms.h"

namespace forms {
namespace {

Tensor* product(const Forms& all, const Room& room, Tensor* weights, Tensor* input) {
  return all.runtime.call<Tensor*>("ggml_mul_mat", room.context(), weights, input);
}

void check_product(Forms& all, const std::string& name, const Room& room, Tensor* weights, Tensor* input) {
  const Values w(room, *weights), x(room, *input);
  const std::int64_t thirds = input->extents[2] / weights->extents[2], fourths = input->extents[3] / weights->extents[3];
  all.check(name, room, product(all, room, weights, input), [&](auto o, auto t, auto k, auto l) {
    double sum = 0, size = 0;
    for (std::int64_t i = 0; i < w.extent(0); ++i) {
      const double term = w(i, o, k / thirds, l / fourths) * x(i, t, k, l);
      sum += term, size += std::fabs(term);
    }
    return Number{sum, 1e-6 * size + 1e-30};
  });
}

}  // namespace

void products(Forms& all) {
  struct Shape {
    std::int64_t inputs, outputs, tokens;
    Extents outer, repeats;
  };
  const Shape shapes[] = {{32, 1, 1, {1, 1}, {1, 1}},    {64, 16, 1, {1, 1}, {1, 1}}, {96, 17, 5, {1, 1}, {1, 1}},
                          {256, 48, 33, {1, 1}, {1, 1}}, {64, 5, 3, {3, 1}, {1, 1}},  {32, 18, 2, {2, 3}, {1, 1}},
                          {64, 7, 4, {2, 1}, {3, 1}},    {32, 3, 2, {1, 2}, {2, 2}},  {512, 130, 1, {1, 1}, {1, 1}},
                          {320, 40, 200, {1, 1}, {1, 1}}};
  for (const int type : number_types) {
    for (const Shape& s : shapes) {
      Room room(all.runtime);
      Tensor* const weights = room.random(type, {s.inputs, s.outputs, s.outer[0], s.outer[1]});
      Tensor* const input =
          room.random(type_float32, {s.inputs, s.tokens, s.outer[0] * s.repeats[0], s.outer[1] * s.repeats[1]});
      const std::string name = std::string("MUL_MAT ") + type_name(type) + " " + std::to_string(s.inputs) + " x " +
                               std::to_string(s.outputs) + ", " + std::to_string(s.tokens) + " tokens";
      check_product(all, name, room, weights, input);
    }
    // Heads between the rows, as of a cache; and tokens in another order.
    Room room(all.runtime);
    Tensor* const heads = room.random(type, {64, 3, 9});
    Tensor* const weights = all.runtime.call<Tensor*>("ggml_permute", room.context(), heads, 0, 2, 1, 3);
    Tensor* const tokens = room.random(type_float32, {64, 6, 5});
    Tensor* const input = all.runtime.call<Tensor*>("ggml_permute", room.context(), tokens, 0, 2, 1, 3);
    check_product(all, std::string("MUL_MAT ") + type_name(type) + " of views", room, weights, input);
  }
}

namespace {

struct Problem {
  const char* name;
  std::int64_t dim, value_dim, queries, cells, heads, kv_heads, batch, kv_batch;
  int mask;  // 0: none, 1: causal, 2: with gaps, 3: numbers, 4: by head, 5: hides everything from some rows
  float largest_bias, soft_cap;
  bool sinks;
};

constexpr Problem problems[] = {
    {"plain", 64, 64, 3, 20, 2, 2, 1, 1, 0, 0, 0, false},
    {"one token", 64, 64, 1, 33, 4, 2, 1, 1, 0, 0, 0, false},
    {"causal", 64, 64, 40, 50, 4, 2, 1, 1, 1, 0, 0, false},
    {"wide values", 32, 96, 7, 19, 2, 1, 1, 1, 1, 0, 0, false},
    {"gaps", 64, 32, 6, 70, 4, 4, 1, 1, 2, 0, 0, false},
    {"numbers in the mask", 32, 32, 5, 31, 2, 2, 1, 1, 3, 0, 0, false},
    {"ALiBi", 64, 64, 9, 40, 4, 2, 1, 1, 3, 8, 0, false},
    {"ALiBi, 6 heads", 32, 32, 3, 17, 6, 3, 1, 1, 3, 8, 0, false},
    {"soft cap", 64, 64, 4, 21, 2, 1, 1, 1, 1, 0, 5, false},
    {"sinks", 64, 64, 4, 21, 4, 2, 1, 1, 1, 0, 0, true},
    {"sequences side by side", 32, 32, 2, 24, 4, 2, 3, 3, 2, 0, 0, false},
    {"a mask for each head", 32, 32, 5, 18, 4, 2, 1, 1, 4, 0, 0, false},
    {"rows that see nothing", 32, 32, 5, 18, 2, 2, 1, 1, 5, 0, 0, true},
    {"a segment and more", 32, 32, 3, 1100, 2, 1, 1, 1, 2, 0, 0, false},
    {"everything", 64, 32, 70, 90, 4, 2, 2, 2, 3, 8, 3, true},
};

double slope(double largest, std::int64_t heads, std::int64_t h) {
  if (largest == 0) return 1;
  std::int64_t whole = 1;
  while (whole * 2 <= heads) whole *= 2;
  return h < whole ? std::pow(2.0, -largest / double(whole) * double(h + 1))
                   : std::pow(2.0, -largest / 2 / double(whole) * double(2 * (h - whole) + 1));
}

Tensor* mask_of(const Problem& p, Room& room) {
  if (p.mask == 0) return nullptr;
  const std::int64_t heads = p.mask == 4 ? p.heads : 1;
  Tensor* const mask = room.empty(type_float16, {p.cells, p.queries, heads, p.batch});
  std::vector<float> numbers;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < p.queries; ++i) {
        for (std::int64_t j = 0; j < p.cells; ++j) {
          const bool causal = j <= p.cells - p.queries + i, gaps = causal && (j / 3 + b) % 3 != 0 && j > 4;
          bool seen = causal;
          if (p.mask == 2) seen = gaps;
          if (p.mask == 4) seen = (j * 7 + i * 3 + h) % 4 != 0;
          if (p.mask == 5) seen = causal && i % 2 == 0;
          numbers.push_back(!seen ? -INFINITY : p.mask == 3 ? -float((j * 5 + i) % 11) * 0.25f : 0.0f);
        }
      }
    }
  }
  room.store(*mask, numbers);
  return mask;
}

// One query of a head over all cells.
class Row {
 public:
  Row(const Problem& p, const Values& q, const Values& k, const Values* mask, const Values* sinks, std::int64_t i,
      std::int64_t h, std::int64_t b)
      : weights_(std::size_t(p.cells)) {
    const std::int64_t kv_head = h / (p.heads / p.kv_heads), kv_row = b / (p.batch / p.kv_batch);
    double largest = sinks == nullptr ? -INFINITY : (*sinks)(h);
    for (std::int64_t j = 0; j < p.cells; ++j) {
      double score = 0;
      for (std::int64_t d = 0; d < p.dim; ++d) score += q(d, i, h, b) * k(d, j, kv_head, kv_row);
      score *= 0.25;
      if (p.soft_cap > 0) score = double(p.soft_cap) * std::tanh(score / double(p.soft_cap));
      if (mask != nullptr) score += slope(double(p.largest_bias), p.heads, h) * (*mask)(j, i, h, b);
      weights_[std::size_t(j)] = score;
      largest = std::max(largest, score);
    }
    if (largest == -INFINITY) {
      for (double& weight : weights_) weight = 0;
      return;
    }
    double sum = sinks == nullptr ? 0 : std::exp((*sinks)(h)-largest);
    for (double& weight : weights_) sum += weight = std::exp(weight - largest);
    for (double& weight : weights_) weight /= sum;
  }
  double operator[](std::int64_t cell) const { return weights_[std::size_t(cell)]; }

 private:
  std::vector<double> weights_;
};

}  // namespace

void attention(Forms& all) {
  for (const int type : number_types) {
    for (const Problem& p : problems) {
      Room room(all.runtime);
      // Heads beside each other for each token, as projections write them and caches keep them.
      const auto heads_first = [&](Tensor* t) {
        return all.runtime.call<Tensor*>("ggml_permute", room.context(), t, 0, 2, 1, 3);
      };
      Tensor* const q = heads_first(room.random(type_float32, {p.dim, p.heads, p.queries, p.batch}));
      Tensor* const k = heads_first(room.random(type, {p.dim, p.kv_heads, p.cells, p.kv_batch}));
      Tensor* const v = heads_first(room.random(type, {p.value_dim, p.kv_heads, p.cells, p.kv_batch}));
      Tensor *const mask = mask_of(p, room), *const sinks = p.sinks ? room.random(type_float32, {p.heads}) : nullptr;
      Tensor* const node =
          all.runtime.call<Tensor*>("ggml_flash_attn_ext", room.context(), q, k, v, mask, 0.25f, p.largest_bias, p.soft_cap);
      if (sinks != nullptr) all.runtime.call<void>("ggml_flash_attn_ext_add_sinks", node, sinks);
      const Values qs(room, *q), ks(room, *k), vs(room, *v);
      std::vector<Values> more;
      if (mask != nullptr) more.emplace_back(room, *mask);
      std::vector<Values> logits;
      if (sinks != nullptr) logits.emplace_back(room, *sinks);
      std::vector<Row> known;
      const std::int64_t shared = p.heads / p.kv_heads;
      all.check(std::string("FLASH_ATTN_EXT ") + type_name(type) + ", " + p.name, room, node,
                [&](auto c, auto h, auto i, auto b) {
                  if (c == 0)
                    known.assign(
                        1, Row(p, qs, ks, more.empty() ? nullptr : &more[0], logits.empty() ? nullptr : &logits[0], i, h, b));
                  double sum = 0;
                  for (std::int64_t j = 0; j < p.cells; ++j)
                    sum += known[0][j] * vs(c, j, h / shared, b / (p.batch / p.kv_batch));
                  return Number{sum, 2e-6};
                });
    }
  }
}

}  // namespace forms
