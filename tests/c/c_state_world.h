// States of the C surface that took different keys, in floats and in integers.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "attend/core/integer.h"
#include "c_integer_world.h"

namespace attend_test {
namespace taken_apart {

inline constexpr int dim = 4, value_dim = 5, segment = ATTEND_SEGMENT_KEYS;

// One sequence or two with the same keys, and what one call gives.
class Merged {
 public:
  using States = std::vector<float>;

  Merged(bool in_integers, int keys_, int batch, int queries, Random& random)
      : integers(in_integers), keys(keys_), constants(prepared(integer_scales(), dim)) {
    integers ? attend_integer_problem_init(&p, sizeof p) : attend_problem_init(&p, sizeof p);
    p.batch = batch, p.query_heads = 2, p.kv_heads = 1, p.head_dim = dim, p.value_dim = value_dim;
    p.queries = queries, p.keys = keys;
    p.query.data = numbers(query_, batch * queries * 2 * dim, random);
    p.key.data = numbers(key_, keys * dim, random), p.value.data = numbers(value_, keys * value_dim, random);
    for (attend_input* input : {&p.key, &p.value}) input->batch_stride = 0;
    p.key.token_stride = p.key.head_stride = dim, p.value.token_stride = p.value.head_stride = value_dim;
    output_.resize(std::size_t(batch * queries * 2 * value_dim));
    p.output.data = output_.data();
    if (integers) p.constants = &constants, p.output_format = ATTEND_FLOAT32;
  }

  std::vector<float> whole() {
    output_.assign(output_.size(), -7.0f);
    CHECK(run_with_exact_workspace(p) == ATTEND_OK);
    return output_;
  }

  // New states, which take the keys first ... end - 1, some at a time, in parts or not.
  States took(int first, int end, Random& random) const {
    States states(attend_state_size(&p) / sizeof(float), 1e9f);
    attend_problem q = p;
    q.states = states.data(), q.origin = 0, q.first_key = first;
    REQUIRE(attend_begin(&q) == ATTEND_OK);
    while (q.first_key < end) {
      const int step = 32 * random.between(1, 60), stop = int(q.first_key) + step;
      q.keys = stop < end ? stop : end;
      const int parts = random.between(0, 2) == 0 ? 3 : 1;
      for (int part = 0; part < parts; ++part) {
        const attend_status status = run_with_exact_workspace(q, part, parts);
        REQUIRE_MESSAGE(status == ATTEND_OK, explain(status));
      }
      q.first_key = q.keys;
    }
    return states;
  }

  attend_status merge(States& to, const States& from) const {
    attend_problem q = p;
    q.states = to.data();
    const States before = to;
    const attend_status status = attend_merge(&q, from.data());
    if (status != ATTEND_OK) CHECK(same_bits(to, before));
    return status;
  }
  attend_status finish(States& states, int end) {
    attend_problem q = p;
    q.states = states.data(), q.keys = end;
    const States before = states;
    output_.assign(output_.size(), -7.0f);
    const attend_status status = attend_finish(&q);
    const std::size_t sums = integers && status == ATTEND_OK ? value_dim : 0;  // behind the states
    CHECK(std::memcmp(states.data(), before.data(), (states.size() - sums) * sizeof(float)) == 0);
    if (status != ATTEND_OK) CHECK(same_bits(output_, std::vector<float>(output_.size(), -7.0f)));
    return status;
  }
  const std::vector<float>& output() const { return output_; }
  std::size_t floats_of_state(int nodes) const {
    return integers ? attend::core::integer_state_numbers(value_dim, nodes) : attend::core::state_floats(value_dim, nodes);
  }

  attend_problem p;
  const bool integers;
  const int keys;

 private:
  const void* numbers(std::vector<float>& to, int count, Random& random) const {
    to.resize(std::size_t(count));
    if (!integers) return random.fill(to.data(), to.size()), to.data();
    const std::vector<std::int8_t> bytes = random_bytes(to.size(), random);
    return std::memcpy(to.data(), bytes.data(), bytes.size());
  }

  attend_integer_constants constants;
  std::vector<float> query_, key_, value_, output_;
};

// Of each backend, in floats and in integers.
template <class Test>
void for_each_arithmetic(int count, Test test) {
  for_each_backend([&](const char* backend) {
    for (const bool integers : {false, true}) {
      for (const int round : each_round(count)) {
        INFO(std::string(backend), std::string(integers ? " integers " : " floats "), round);
        Random random(std::uint64_t(round) * 2 + integers);
        test(integers, random);
      }
    }
  });
}

// Cuts the keys at so many multiples of 512, and takes what lies between by states of their own.
inline std::vector<Merged::States> cut(const Merged& merged, int states, Random& random) {
  std::vector<int> cuts = {0, merged.keys};
  while (int(cuts.size()) <= states) {
    const int at = segment * random.between(1, (merged.keys - 1) / segment);
    if (std::find(cuts.begin(), cuts.end(), at) == cuts.end()) cuts.push_back(at);
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<Merged::States> all;
  for (int i = 0; i < states; ++i) all.push_back(merged.took(cuts[std::size_t(i)], cuts[std::size_t(i) + 1], random));
  return all;
}

}  // namespace taken_apart
}  // namespace attend_test
