// A small problem over arrays without a fault, from which tests of single mistakes leave something out.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "../support/instance.h"
#include "c_run.h"

namespace attend_test {
namespace small_problem {

inline constexpr int batch = 2, query_heads = 4, kv_heads = 2, dim = 8, queries = 3, keys = 5;

struct Small {
  std::vector<float> query = std::vector<float>(batch * queries * query_heads * dim);
  std::vector<float> key = std::vector<float>(batch * keys * kv_heads * dim), value = key;
  std::vector<float> output = std::vector<float>(query.size(), -7.0f),
                     bias = std::vector<float>(batch * query_heads * queries * keys);
  std::vector<float> states;
  attend_problem p;

  Small() {
    Random random(9);
    for (std::vector<float>* floats : {&query, &key, &value, &bias}) random.fill(floats->data(), floats->size());
    attend_problem_init(&p, sizeof p);
    p.batch = batch, p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = p.value_dim = dim;
    p.queries = queries, p.keys = keys;
    p.query.data = query.data(), p.key.data = key.data(), p.value.data = value.data(), p.output.data = output.data();
  }

  attend_status check() const { return attend_check(&p); }
  bool says(attend_error error, attend_argument argument) const { return check() == wrong(error, argument); }
  std::vector<float> run() {
    output.assign(output.size(), -7.0f);
    const attend_status status = run_with_exact_workspace(p);
    INFO(explain(status));
    CHECK(status == ATTEND_OK);
    return output;
  }
  void begin() {
    p.key.batch_stride = p.value.batch_stride = keys * kv_heads * dim;
    p.key.token_stride = p.value.token_stride = kv_heads * dim;
    states.resize(attend_state_size(&p) / sizeof(float));
    p.states = states.data(), p.origin = 0;
    CHECK(attend_begin(&p) == ATTEND_OK);
  }
};

}  // namespace small_problem
}  // namespace attend_test
