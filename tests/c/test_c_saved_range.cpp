// Saved states of the C surface whose scores, values or sinks lie far apart: their outputs are right, and those of the call
// that was not saved.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "c_run.h"

using namespace attend_test;

namespace {

// The output of one query, whose scores are the keys, and of the same from states that go on as bytes after `stop` keys and at
// the end.
float finished(const std::vector<float>& keys, const std::vector<float>& values, int stop, const float* sink) {
  const float query = 1.0f;
  float expected = -7.0f, found = -7.0f;
  attend_problem p;
  attend_problem_init(&p, sizeof p);
  p.query_heads = p.kv_heads = p.head_dim = p.value_dim = p.queries = 1, p.scale = 1.0f;
  p.query.data = &query, p.key.data = keys.data(), p.value.data = values.data();
  p.keys = std::ptrdiff_t(keys.size()), p.sink_logits = sink, p.output.data = &expected;
  CHECK(run_with_exact_workspace(p) == ATTEND_OK);

  std::vector<float> states(attend_state_size(&p) / sizeof(float));
  p.states = states.data(), p.origin = 0, p.first_key = 0;
  std::vector<unsigned char> bytes(attend_saved_size(&p));
  CHECK(attend_begin(&p) == ATTEND_OK);
  p.sink_logits = nullptr, p.output.data = nullptr;
  for (const std::ptrdiff_t end : {std::ptrdiff_t(stop), std::ptrdiff_t(keys.size())}) {
    p.keys = end;
    if (end > p.first_key) CHECK(run_with_exact_workspace(p) == ATTEND_OK);
    CHECK(attend_save(&p, bytes.data(), bytes.size(), nullptr) == ATTEND_OK);
    states.assign(states.size(), 1e9f);
    CHECK(attend_load(&p, bytes.data(), bytes.size()) == ATTEND_OK);
    p.first_key = end;
  }
  p.first_key = 0, p.sink_logits = sink, p.output.data = &found;
  CHECK(attend_finish(&p) == ATTEND_OK);
  CHECK(std::memcmp(&found, &expected, sizeof found) == 0);
  return found;
}

}  // namespace

TEST_CASE("c saved: scores, values and a sink that lie far apart") {
  for_each_backend([&](const char* backend) {
    CAPTURE(std::string(backend));
    for (float score = -84.5f; score >= -85.5f; score -= 0.125f) {
      std::vector<float> keys(513, -300.0f);
      keys[0] = 0.0f, keys[512] = score;
      CHECK(finished(keys, std::vector<float>(513, 1.0f), 513, nullptr) == 1.0f);
    }
    std::vector<float> keys(1536, -300.0f);
    keys[0] = 0.0f, keys[1024] = -82.0f;
    CHECK(finished(keys, std::vector<float>(1536, 1.0f), 1024, nullptr) == 1.0f);
    CHECK(finished({0.0f, 0.0f}, {1e37f, 1e37f}, 1, nullptr) == 1e37f);
    const float sink = 82.0f;
    const std::vector<float> threes(600, 3.0f);
    CHECK(std::fabs(finished(std::vector<float>(600, 0.0f), threes, 600, &sink) / 4.39668e-33f - 1.0f) < 1e-4f);
    keys.assign(600, -300.0f), keys[0] = keys[1] = 0.0f;
    CHECK(std::fabs(finished(keys, threes, 512, &sink) / 1.46556e-35f - 1.0f) < 1e-4f);
  });
}
