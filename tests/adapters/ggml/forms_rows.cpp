// Operations on rows, and rotary positions.
#include <algorithm>

#include "forms.h"

namespace forms {

void rows(Forms& all) {
  const Extents shapes[] = {{1}, {7}, {64, 3}, {33, 2, 3, 2}, {512, 40}};
  for (const Extents& extents : shapes) {
    Room room(all.runtime);
    Tensor* const from = room.random(type_float32, extents, 3);
    const Values x(room, *from);
    const std::int64_t width = from->extents[0];
    const std::string name = " of rows of " + std::to_string(width);
    const auto sums = [&](std::int64_t j, std::int64_t k, std::int64_t l) {
      double sum = 0, squares = 0;
      for (std::int64_t i = 0; i < width; ++i) sum += x(i, j, k, l), squares += x(i, j, k, l) * x(i, j, k, l);
      return std::pair<double, double>(sum / double(width), squares / double(width));
    };
    all.check("RMS_NORM" + name, room, all.runtime.call<Tensor*>("ggml_rms_norm", room.context(), from, 1e-5f),
              [&](auto i, auto j, auto k, auto l) {
                return Number{x(i, j, k, l) / std::sqrt(sums(j, k, l).second + 1e-5), 4e-6};
              });
    all.check("NORM" + name, room, all.runtime.call<Tensor*>("ggml_norm", room.context(), from, 1e-2f),
              [&](auto i, auto j, auto k, auto l) {
                const auto [mean, square] = sums(j, k, l);
                return Number{(x(i, j, k, l) - mean) / std::sqrt(square - mean * mean + 1e-2), 1e-5};
              });
    all.check("RMS_NORM without epsilon" + name, room, all.runtime.call<Tensor*>("ggml_rms_norm", room.context(), from, 0.0f),
              [&](auto i, auto j, auto k, auto l) {
                return Number{x(i, j, k, l) / std::sqrt(sums(j, k, l).second), 4e-6};
              });
    all.check("L2_NORM" + name, room, all.runtime.call<Tensor*>("ggml_l2_norm", room.context(), from, 1e-6f),
              [&](auto i, auto j, auto k, auto l) {
                return Number{x(i, j, k, l) / std::sqrt(sums(j, k, l).second * double(width)), 1e-6};
              });
    all.check("SUM_ROWS" + name, room, all.runtime.call<Tensor*>("ggml_sum_rows", room.context(), from),
              [&](auto, auto j, auto k, auto l) {
                return Number{sums(j, k, l).first * double(width), 1e-4};
              });
    all.check("MEAN" + name, room, all.runtime.call<Tensor*>("ggml_mean", room.context(), from),
              [&](auto, auto j, auto k, auto l) {
                return Number{sums(j, k, l).first, 1e-6};
              });
  }
  {
    Room room(all.runtime);
    Tensor* const from = room.random(type_float32, {6, 5, 8, 2});
    const Values x(room, *from);
    all.check("GROUP_NORM", room, all.runtime.call<Tensor*>("ggml_group_norm", room.context(), from, 4, 1e-5f),
              [&](auto i, auto j, auto k, auto l) {
                double sum = 0, squares = 0;
                for (std::int64_t c = k / 2 * 2; c < k / 2 * 2 + 2; ++c) {
                  for (int at = 0; at < 30; ++at)
                    sum += x(at % 6, at / 6, c, l), squares += x(at % 6, at / 6, c, l) * x(at % 6, at / 6, c, l);
                }
                const double mean = sum / 60;
                return Number{(x(i, j, k, l) - mean) / std::sqrt(squares / 60 - mean * mean + 1e-5), 1e-5};
              });
  }
  for (int form = 0; form < 8; ++form) {
    const bool sinks = form % 2 != 0;
    const int mask_type = form / 2 == 0 ? -1 : form / 2 == 1 ? int(type_float32) : int(type_float16);
    Room room(all.runtime);
    Tensor* const from = room.random(type_float32, {37, 5, 4, 2}, 4);
    Tensor* const mask = mask_type < 0 ? nullptr : room.empty(mask_type, {37, 5, 1, 2});
    if (mask != nullptr) {
      std::vector<float> numbers;
      for (int i = 0; i < 37 * 5 * 2; ++i)
        numbers.push_back((i * 13) % 7 < 2 ? -INFINITY : form > 5 ? 0.5f * float(i % 3) : 0.0f);
      room.store(*mask, numbers);
    }
    Tensor* const node = all.runtime.call<Tensor*>("ggml_soft_max_ext", room.context(), from, mask, 0.5f, 0.0f);
    Tensor* const logits = sinks ? room.random(type_float32, {4}) : nullptr;
    if (sinks) all.runtime.call<void>("ggml_soft_max_add_sinks", node, logits);
    const Values x(room, *from);
    std::vector<Values> more;
    if (mask != nullptr) more.emplace_back(room, *mask);
    const auto score = [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
      return 0.5 * x(i, j, k, l) + (more.empty() ? 0 : more[0](i, j, 0, l));
    };
    all.check("SOFT_MAX, form " + std::to_string(form), room, node, [&](auto i, auto j, auto k, auto l) {
      double sum = sinks ? std::exp(double(static_cast<const float*>(logits->data)[k])) : 0;
      for (std::int64_t c = 0; c < 37; ++c) sum += std::exp(score(c, j, k, l));
      return Number{std::exp(score(i, j, k, l)) / sum, 1e-6};
    });
  }
}

void rotary(Forms& all) {
  struct Form {
    const char* name;
    int dims;
    float scale, mix, factor;
    bool factors;
  };
  const Form all_forms[] = {{"plain", 32, 1, 0, 1, false},      {"of some dims", 20, 1, 0, 1, false},
                            {"linear", 32, 0.25f, 0, 1, false}, {"with factors", 32, 1, 0, 1.19f, true},
                            {"YaRN", 32, 0.125f, 1, 1, false},  {"part YaRN", 32, 0.5f, 0.5f, 0.9f, true}};
  for (const Form& f : all_forms) {
    for (const int mode : {0, 2}) {
      Room room(all.runtime);
      Tensor* const from = room.random(type_float32, {32, 3, 7, 2});
      Tensor* const positions = room.empty(type_int32, {7});
      const std::int32_t at[] = {0, 1, 2, 100, 5000, 7, 131071};
      std::memcpy(positions->data, at, sizeof at);
      Tensor* const factors = f.factors ? room.empty(type_float32, {f.dims / 2}) : nullptr;
      if (factors != nullptr) {
        for (int i = 0; i < f.dims / 2; ++i) static_cast<float*>(factors->data)[i] = 1 + 0.5f * float(i);
      }
      Tensor* const node = all.runtime.call<Tensor*>("ggml_rope_ext", room.context(), from, positions, factors, f.dims, mode,
                                                     4096, 10000.0f, f.scale, f.mix, f.factor, 32.0f, 1.0f);
      const Values x(room, *from);
      const double scale = double(f.scale), mix = double(f.mix);
      const auto corner = [&](double turns) { return f.dims * std::log(4096 / (turns * 2 * M_PI)) / (2 * std::log(10000.0)); };
      const double low = std::max(0.0, std::floor(corner(32))), high = std::min(double(f.dims - 1), std::ceil(corner(1)));
      all.check(std::string("ROPE ") + f.name + ", mode " + std::to_string(mode), room, node,
                [&](auto i, auto head, auto token, auto b) {
                  if (i >= f.dims) return Number{x(i, head, token, b), 0};
                  const std::int64_t half = f.dims / 2, pair = mode == 0 ? i / 2 : i % half;
                  const bool second = mode == 0 ? i % 2 == 1 : i >= half;
                  const double ramp =
                      (1 - std::min(1.0, std::max(0.0, (double(pair) - low) / std::max(0.001, high - low)))) * mix;
                  double angle =
                      std::pow(10000.0, -2.0 * double(pair) / f.dims) * at[token] / (f.factors ? 1 + 0.5 * double(pair) : 1);
                  angle *= scale * (1 - ramp) + ramp;
                  const double factor = double(f.factor) * (mix != 0 ? 1 + 0.1 * std::log(1 / scale) : 1);
                  const double a = x(mode == 0 ? pair * 2 : pair, head, token, b),
                               c = x(mode == 0 ? pair * 2 + 1 : pair + half, head, token, b);
                  return Number{
                      factor * (second ? a * std::sin(angle) + c * std::cos(angle) : a * std::cos(angle) - c * std::sin(angle)),
                      2e-6};
                });
    }
  }
}

}  // namespace forms
