// A search for inputs that break the error bound. It starts from inputs that make many roundings go the same way, and then
// changes one number after another, and keeps what makes the error a larger part of its bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../support/random.h"
#include "error_case.h"

namespace attend_test {

// How the first scores are made.
enum class Start {
  mixed,       // dimensions of both signs, which cancel
  alike,       // the same score for all keys
  one_high,    // the first key's is so much higher that each weight after it is about half of a last bit of its own
  half_digits  // two keys' are high, made by their first dimension, to which others add half of a last bit or take it away
};
constexpr Start all_starts[] = {Start::mixed, Start::alike, Start::one_high, Start::half_digits};

enum class Target { output, lse };

class ErrorSearch {
 public:
  ErrorSearch(ErrorCase& searched, Target target, std::uint64_t seed) : at_(searched), target_(target), random_(seed) {}

  void begin(Start start) {
    make_scores(start, float(at_.score_size * 0.99));
    for (int j = 0; j < at_.keys; ++j) {
      for (int c = 0; c < ErrorCase::columns; ++c) at_.value_row(j)[c] = new_value(c);
    }
  }

  // Keys join one by one, or some by some, and each gets the best of so many values: so the roundings of a chain go the same
  // way from its first key on, which climbing cannot do, because a change of one key changes all roundings after it.
  void grow(int tries) {
    if (tries == 0) return;
    const int some = (at_.keys + 255) / 256;
    for (int first = 0; first < at_.keys; first += some) {
      seen_ = std::min(first + some, at_.keys);
      errors_ = measure();
      for (int i = 0; i < tries; ++i) {
        const int j = random_.between(first, seen_ - 1);
        if (i % 4 == 3 || target_ == Target::lse) {
          change_one(at_.key_row(j)[random_.between(0, at_.head_dim - 1)]);
        } else {
          change_values(j);
        }
      }
    }
  }

  void climb(int steps) {
    seen_ = at_.keys;
    errors_ = measure();
    for (int i = 0; i < steps; ++i) {
      const int j = random_.between(0, at_.keys - 1), d = random_.between(0, at_.head_dim - 1);
      const int kind = random_.between(0, 15);
      if (kind < 7 && target_ == Target::output) {
        change_values(j);
      } else if (kind < 14) {
        change_one(at_.key_row(j)[d]);
      } else if (kind < 15) {
        change_one(at_.query[std::size_t(d)]);
      } else {
        change_one(at_.scale());
      }
    }
  }

  // The largest error of the case, as a part of the bound for scores of its size.
  double found() const { return part(errors_); }
  // The largest part of its own bound that any input reached, on the way too.
  double hardest() const { return hardest_; }

 private:
  ErrorCase::Errors measure() {
    const ErrorCase::Errors errors = at_.measure(seen_);
    hardest_ = std::max(hardest_, errors.hardest);
    return errors;
  }

  double part(const ErrorCase::Errors& errors) const { return target_ == Target::lse ? errors.lse : errors.output(); }

  float between_half_and_one() { return 0.75f + 0.25f * random_.uniform(); }

  // Some columns have values of both signs and all sizes, some of one sign, some of one size.
  float new_value(int column) {
    const float uniform = random_.uniform(), size = std::fabs(uniform);
    switch (column % 4) {
      case 0:
        return uniform;
      case 1:
        return 0.5f + 0.5f * size;
      case 2:
        return 1.0f - 0x1p-12f * size;
      default:
        return std::copysign(1.0f - 0x1p-8f * size, uniform);
    }
  }

  void make_scores(Start start, float size) {
    constexpr float apart = 8.5f;  // e^-17 is 0.7 * 2^-24
    if (start == Start::one_high) size = std::min(size, apart);
    at_.scale() = between_half_and_one();
    for (float& q : at_.query) q = start == Start::mixed ? random_.uniform() : between_half_and_one();
    const int high = start == Start::alike ? at_.keys : start == Start::half_digits ? 2 : 1;
    for (int j = 0; j < at_.keys; ++j) {
      for (int d = 0; d < at_.head_dim; ++d) {
        const float product = at_.query[std::size_t(d)] * at_.scale(), sign = j < high ? 1.0f : -1.0f;
        float& number = at_.key_row(j)[d];
        if (start == Start::mixed) {
          number = random_.uniform() * size / float(at_.head_dim);
        } else if (start != Start::half_digits) {
          number = sign * size / float(at_.head_dim) / product;
        } else if (d == 0) {
          number = sign * size / product;
        } else {
          number = (j == 0 ? 1.0f : -1.0f) * size * between_half_and_one() * 0x1p-23f / product;
        }
      }
    }
  }

  // Changes a key's values in all columns at once, and each column keeps what makes its own error larger.
  void change_values(int j) {
    float before[ErrorCase::columns];
    float* const values = at_.value_row(j);
    for (int c = 0; c < ErrorCase::columns; ++c) {
      before[c] = values[c];
      values[c] = random_.between(0, 1) == 0 ? new_value(c) : changed(values[c]);
    }
    const ErrorCase::Errors now = measure();
    for (int c = 0; c < ErrorCase::columns; ++c) {
      if (now.column[c] > errors_.column[c]) {
        errors_.column[c] = now.column[c];
      } else {
        values[c] = before[c];
      }
    }
  }

  void change_one(float& number) {
    const float before = number;
    number = changed(number);
    const ErrorCase::Errors now = measure();
    if (part(now) > found() && now.score_size <= at_.score_size) {
      errors_ = now;
    } else {
      number = before;
    }
  }

  float changed(float number) {
    switch (random_.between(0, 4)) {
      case 0:
        return -number;
      case 1:
        return number * (1.0f + random_.uniform() * 0.5f);
      case 2:
        return number * (1.0f + random_.uniform() * 0x1p-8f);
      default:
        return number * (1.0f + float(random_.between(-8, 8)) * 0x1p-23f);
    }
  }

  ErrorCase& at_;
  Target target_;
  Random random_;
  int seen_ = 0;
  double hardest_ = 0.0;
  ErrorCase::Errors errors_{};
};

struct Found {
  double part;     // of the bound for scores of the case's size
  double hardest;  // of an input's own bound
};

// One search from one start, of about so many multiply-adds. What it finds depends on its arguments only.
inline Found search_errors(ErrorCase& searched, Target target, Start start, std::uint64_t seed, double multiply_adds) {
  const double each = double(searched.keys) * (searched.head_dim + ErrorCase::columns + 30.0);  // 30: an exponential's time
  const int steps = int(std::clamp(multiply_adds / each, 20.0, 1e5));
  ErrorSearch search(searched, target, seed);
  search.begin(start);
  search.grow(std::min(2 * steps / std::min(searched.keys, 256), 64));
  search.climb(steps);
  return {search.found(), search.hardest()};
}

}  // namespace attend_test
