// What integer attention from C refuses: each fault with its error and its argument, before anything is written.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "c_integer_world.h"

using namespace attend_test;

namespace {

// A problem without a fault.
struct Small {
  static constexpr int batch = 2, query_heads = 4, kv_heads = 2, dim = 8, queries = 3, keys = 5;
  std::vector<std::int8_t> query = std::vector<std::int8_t>(batch * queries * query_heads * dim, 1);
  std::vector<std::int8_t> key = std::vector<std::int8_t>(batch * keys * kv_heads * dim, 1), value = key;
  std::vector<float> output = std::vector<float>(query.size(), -7.0f);
  std::vector<std::uint16_t> scales = std::vector<std::uint16_t>(batch * kv_heads * keys, 9);
  std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(batch * query_heads * queries * keys, 1);
  std::ptrdiff_t lengths[batch] = {keys, keys};
  attend_integer_constants constants[query_heads];
  Aligned workspace = Aligned(1 << 16);
  std::size_t workspace_size = 1 << 16;
  std::ptrdiff_t part = 0, parts = 1;
  attend_integer_problem p;

  Small() {
    for (attend_integer_constants& of : constants) of = prepared(integer_scales(), dim);
    attend_integer_problem_init(&p, sizeof p);
    p.batch = batch, p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = p.value_dim = dim;
    p.queries = queries, p.keys = keys;
    p.query.data = query.data(), p.key.data = key.data(), p.value.data = value.data(), p.output.data = output.data();
    p.constants = constants;
  }
  attend_status run() { return attend_integer_attention_part(&p, part, parts, workspace.data(), workspace_size); }
  bool untouched() const { return output == std::vector<float>(output.size(), -7.0f); }
};

std::set<int>& seen() {
  static std::set<int> arguments;
  return arguments;
}

template <class Fault>
void refuses(attend_error error, attend_argument argument, Fault fault) {
  Small small;
  fault(small);
  const attend_status check = attend_integer_check(&small.p), run = small.run();
  INFO("expected ", explain(wrong(error, argument)), "; found ", explain(run));
  CHECK(run == wrong(error, argument));
  CHECK(small.untouched());
  const bool of_call = argument >= ATTEND_ARG_PART && argument <= ATTEND_ARG_WORKSPACE_SIZE;
  CHECK(check == (of_call ? ATTEND_OK : run));
  CHECK((attend_integer_workspace_size(&small.p) > 0) == of_call);
  seen().insert(argument);
}

template <class Fault>
void refuses_scales(attend_error error, attend_argument argument, Fault fault) {
  attend_integer_scales scales = integer_scales();
  attend_integer_constants constants, before;
  std::memset(&constants, 0x5a, sizeof constants);
  before = constants;
  fault(scales);
  const attend_status status = attend_integer_prepare(&scales, 64, &constants);
  INFO("expected ", explain(wrong(error, argument)), "; found ", explain(status));
  CHECK(status == wrong(error, argument));
  CHECK(std::memcmp(&constants, &before, sizeof before) == 0);
  seen().insert(argument);
}

}  // namespace

TEST_CASE("c integer, refused: numbers") {
  refuses(ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, [](Small& s) { s.p.size -= 1; });
  refuses(ATTEND_UNKNOWN, ATTEND_ARG_OPTIONS, [](Small& s) { s.p.options = 4; });
  refuses(ATTEND_UNKNOWN, ATTEND_ARG_LAYOUT, [](Small& s) { s.p.layout = 2; });
  for (const int format : {int(ATTEND_FLOAT16), int(ATTEND_BFLOAT16), ATTEND_INT16 + 1, -1}) {
    refuses(ATTEND_UNKNOWN, ATTEND_ARG_OUTPUT_FORMAT, [&](Small& s) { s.p.output_format = format; });
  }
  const auto range = [](std::ptrdiff_t attend_integer_problem::*field, attend_argument argument, std::ptrdiff_t number) {
    refuses(ATTEND_OUT_OF_RANGE, argument, [&](Small& s) { s.p.*field = number; });
  };
  using P = attend_integer_problem;
  range(&P::batch, ATTEND_ARG_BATCH, -1), range(&P::batch, ATTEND_ARG_BATCH, ATTEND_MAX_TOKENS + 1);
  range(&P::queries, ATTEND_ARG_QUERIES, -1), range(&P::queries, ATTEND_ARG_QUERIES, ATTEND_MAX_TOKENS + 1);
  range(&P::keys, ATTEND_ARG_KEYS, -1), range(&P::keys, ATTEND_ARG_KEYS, PTRDIFF_MAX);
  range(&P::query_heads, ATTEND_ARG_QUERY_HEADS, 0), range(&P::query_heads, ATTEND_ARG_QUERY_HEADS, ATTEND_MAX_WIDTH + 1);
  range(&P::kv_heads, ATTEND_ARG_KV_HEADS, 0), range(&P::value_dim, ATTEND_ARG_VALUE_DIM, 0);
  range(&P::head_dim, ATTEND_ARG_HEAD_DIM, 0), range(&P::head_dim, ATTEND_ARG_HEAD_DIM, ATTEND_INTEGER_MAX_HEAD_DIM + 1);
  range(&P::window_left, ATTEND_ARG_WINDOW_LEFT, -2), range(&P::window_right, ATTEND_ARG_WINDOW_RIGHT, -2);
  range(&P::sink_tokens, ATTEND_ARG_SINK_TOKENS, -1);
  refuses(ATTEND_MISMATCH, ATTEND_ARG_KV_HEADS, [](Small& s) { s.p.kv_heads = 3; });
  refuses(ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS, [](Small& s) { s.p.sink_tokens = 1; });
  refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEY_LENGTHS, [](Small& s) { s.p.key_lengths = s.lengths, s.lengths[1] = 6; });
  refuses(ATTEND_AMBIGUOUS, ATTEND_ARG_BATCH, [](Small& s) { s.p.key_lengths = s.lengths, s.p.batch = ATTEND_DEFAULT_BATCH; });
  refuses(ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET, [](Small& s) { s.p.options = ATTEND_CAUSAL; });
  refuses(ATTEND_NO_EFFECT, ATTEND_ARG_OFFSET, [](Small& s) { s.p.offset = 0; });
  refuses(ATTEND_NO_EFFECT, ATTEND_ARG_OPTIONS, [](Small& s) { s.p.options = ATTEND_QUERIES_LAST; });
  refuses(ATTEND_CONFLICT, ATTEND_ARG_OFFSET,
          [](Small& s) { s.p.options = ATTEND_CAUSAL | ATTEND_QUERIES_LAST, s.p.offset = 2; });
  refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_PARTS, [](Small& s) { s.parts = 0; });
  refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_PART, [](Small& s) { s.parts = 2, s.part = 2; });
}

TEST_CASE("c integer: fields that a newer header adds are refused unless they are zero") {
  struct {
    attend_integer_problem known;
    std::ptrdiff_t more;
  } newer;
  REQUIRE(attend_integer_problem_init(&newer.known, sizeof newer) == ATTEND_OK);
  CHECK(newer.more == 0);
  Small small;
  newer.known = small.p, newer.known.size = sizeof newer;
  CHECK(attend_integer_check(&newer.known) == ATTEND_OK);
  newer.more = 1;
  CHECK(attend_integer_check(&newer.known) == wrong(ATTEND_NEWER, ATTEND_ARG_SIZE));
}

TEST_CASE("c integer, refused: where tensors and work memory lie") {
  refuses(ATTEND_MISSING, ATTEND_ARG_QUERY, [](Small& s) { s.p.query.data = nullptr; });
  refuses(ATTEND_MISSING, ATTEND_ARG_KEY, [](Small& s) { s.p.key.data = nullptr; });
  refuses(ATTEND_MISSING, ATTEND_ARG_VALUE, [](Small& s) { s.p.value.data = nullptr; });
  refuses(ATTEND_MISSING, ATTEND_ARG_OUTPUT, [](Small& s) { s.p.output.data = nullptr; });
  refuses(ATTEND_AMBIGUOUS, ATTEND_ARG_KEY, [](Small& s) { s.p.key.batch_stride = 1000; });
  refuses(ATTEND_TOO_LARGE, ATTEND_ARG_VALUE,
          [](Small& s) { s.p.value.batch_stride = s.p.value.token_stride = PTRDIFF_MAX, s.p.value.head_stride = Small::dim; });
  refuses(ATTEND_SHARED_ELEMENTS, ATTEND_ARG_OUTPUT, [](Small& s) { s.p.output.token_stride = 0; });
  const auto moved = [](const void* data, std::ptrdiff_t bytes) {
    return const_cast<char*>(static_cast<const char*>(data)) + bytes;
  };
  for (const int format : {ATTEND_INT16, ATTEND_FLOAT32}) {
    refuses(ATTEND_UNALIGNED, ATTEND_ARG_OUTPUT,
            [&](Small& s) { s.p.output_format = format, s.p.output.data = moved(s.p.output.data, 1); });
  }
  refuses(ATTEND_OVERLAP, ATTEND_ARG_OUTPUT, [&](Small& s) { s.p.query.data = s.p.output.data; });
  refuses(ATTEND_OVERLAP, ATTEND_ARG_OUTPUT, [&](Small& s) { s.p.value.data = moved(s.p.output.data, 100); });
  refuses(ATTEND_OVERLAP, ATTEND_ARG_OUTPUT, [&](Small& s) { s.p.output.data = moved(s.constants, 4); });
  refuses(ATTEND_OVERLAP, ATTEND_ARG_WORKSPACE, [](Small& s) {
    const attend_integer_constants constants = s.constants[0];
    std::memcpy(s.workspace.data(), &constants, sizeof constants);
    s.p.constants = static_cast<const attend_integer_constants*>(s.workspace.data());
    CHECK(attend_integer_check(&s.p) == ATTEND_OK);
  });
  refuses(ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE_SIZE,
          [](Small& s) { s.workspace_size = attend_integer_workspace_size(&s.p) - 1; });
  refuses(ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE_SIZE, [](Small& s) {
    s.workspace_size = attend_integer_workspace_size(&s.p);  // enough for one pair of constants
    s.p.head_constants = s.constants, s.p.constants = nullptr;
  });
  Small s;
  const std::size_t size = s.workspace_size;
  CHECK(attend_integer_attention(&s.p, nullptr, size) == wrong(ATTEND_MISSING, ATTEND_ARG_WORKSPACE));
  CHECK(attend_integer_attention(&s.p, moved(s.workspace.data(), 4), size) == wrong(ATTEND_UNALIGNED, ATTEND_ARG_WORKSPACE));
  CHECK(attend_integer_attention(nullptr, s.workspace.data(), size) == wrong(ATTEND_MISSING, ATTEND_ARG_PROBLEM));
  CHECK(attend_integer_workspace_size(nullptr) == 0);
  CHECK(attend_integer_problem_init(nullptr, sizeof s.p) == wrong(ATTEND_MISSING, ATTEND_ARG_PROBLEM));
  CHECK(attend_integer_problem_init(&s.p, sizeof s.p - 1) == wrong(ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE));
  CHECK(s.untouched());
}

TEST_CASE("c integer, refused: masks and scales of tokens") {
  refuses(ATTEND_AMBIGUOUS, ATTEND_ARG_MASK_KIND, [](Small& s) { s.p.mask.data = s.mask.data(); });
  refuses(ATTEND_MISSING, ATTEND_ARG_MASK, [](Small& s) { s.p.mask.kind = ATTEND_MASK_BITS; });
  refuses(ATTEND_NO_EFFECT, ATTEND_ARG_MASK, [](Small& s) { s.p.mask.head_stride = 0; });
  refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_MASK_KEYS,
          [](Small& s) { s.p.mask.data = s.mask.data(), s.p.mask.kind = ATTEND_MASK_BYTES, s.p.mask.keys = -2; });
  refuses(ATTEND_OVERLAP, ATTEND_ARG_OUTPUT,
          [](Small& s) { s.p.mask.data = s.output.data(), s.p.mask.kind = ATTEND_MASK_BYTES; });
  refuses(ATTEND_NO_EFFECT, ATTEND_ARG_KEY_SCALES, [](Small& s) { s.p.key_scales.head_stride = 0; });
  refuses(ATTEND_NO_EFFECT, ATTEND_ARG_VALUE_SCALES, [](Small& s) { s.p.value_scales.batch_stride = 0; });
  refuses(ATTEND_UNALIGNED, ATTEND_ARG_KEY_SCALES, [](Small& s) {
    s.p.key_scales.data = reinterpret_cast<const std::uint16_t*>(reinterpret_cast<std::uintptr_t>(s.scales.data()) + 1);
  });
  refuses(ATTEND_OVERLAP, ATTEND_ARG_OUTPUT, [](Small& s) {
    s.p.value_scales.data = static_cast<const std::uint16_t*>(static_cast<const void*>(s.output.data()));
  });
  refuses(ATTEND_CONFLICT, ATTEND_ARG_KEY_ZERO_POINT,
          [](Small& s) { s.p.key_scales.data = s.scales.data(), s.constants[0].key_zero_point = 1; });
  refuses(ATTEND_CONFLICT, ATTEND_ARG_VALUE_ZERO_POINT,
          [](Small& s) { s.p.value_scales.data = s.scales.data(), s.constants[0].value_zero_point = 1; });
}

TEST_CASE("c integer, refused: constants") {
  refuses(ATTEND_MISSING, ATTEND_ARG_CONSTANTS, [](Small& s) { s.p.constants = nullptr; });
  refuses(ATTEND_CONFLICT, ATTEND_ARG_CONSTANTS, [](Small& s) { s.p.head_constants = s.constants; });
  refuses(ATTEND_UNALIGNED, ATTEND_ARG_CONSTANTS, [](Small& s) {
    s.p.constants = reinterpret_cast<const attend_integer_constants*>(reinterpret_cast<std::uintptr_t>(s.constants) + 1);
  });
  const auto of_heads = [](Small& s) { s.p.head_constants = s.constants, s.p.constants = nullptr; };
  refuses(ATTEND_MISMATCH, ATTEND_ARG_QUERY_ZERO_POINT, [&](Small& s) { of_heads(s), s.constants[3].query_zero_point = 1; });
  refuses(ATTEND_MISMATCH, ATTEND_ARG_OUTPUT_SCALE,
          [&](Small& s) { of_heads(s), s.p.output_format = ATTEND_FLOAT32, s.constants[3].output_scale *= 2; });
  refuses(ATTEND_CORRUPT, ATTEND_ARG_HEAD_CONSTANTS, [&](Small& s) { of_heads(s), s.constants[3].score_right = 14; });
  refuses(ATTEND_NO_EFFECT, ATTEND_ARG_OUTPUT_ZERO_POINT,
          [](Small& s) { s.p.output_format = ATTEND_FLOAT32, s.constants[0].output_zero_point = 1; });
  for (const int zero : {-129, 128}) {
    refuses(ATTEND_OUT_OF_RANGE, ATTEND_ARG_OUTPUT_ZERO_POINT, [&](Small& s) { s.constants[0].output_zero_point = zero; });
  }
  using C = attend_integer_constants;
  const auto corrupt = [](auto C::*field, auto number) {
    refuses(ATTEND_CORRUPT, ATTEND_ARG_CONSTANTS, [&](Small& s) { s.constants[0].*field = number; });
  };
  corrupt(&C::score_factor, 1u << 27), corrupt(&C::score_factor, 0u), corrupt(&C::score_end, 1u);
  for (const std::int32_t number : {-1, 14, 31}) corrupt(&C::score_right, number);
  for (const std::int32_t number : {-1, 12, 31}) corrupt(&C::score_left, number);
  corrupt(&C::output_factor, std::int32_t(1 << 15)), corrupt(&C::output_factor, std::int32_t((1 << 14) - 1));
  for (const std::int32_t number : {-5, 26}) corrupt(&C::output_shift, number);
  for (auto field : {&C::query_zero_point, &C::key_zero_point, &C::value_zero_point}) {
    corrupt(field, std::int32_t(-129)), corrupt(field, std::int32_t(128));
  }
  corrupt(&C::output_zero_point, std::int32_t(32768)), corrupt(&C::output_zero_point, std::int32_t(-32769));
  for (const float scale : {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    corrupt(&C::output_scale, scale);
  }
}

TEST_CASE("c integer, refused: scales") {
  using S = attend_integer_scales;
  constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto range = [](auto S::*field, attend_argument argument, auto number) {
    refuses_scales(ATTEND_OUT_OF_RANGE, argument, [&](S& s) { s.*field = number; });
  };
  for (const double number : {0.0, -1.0, infinite, nan, 1e300}) {
    range(&S::query_scale, ATTEND_ARG_QUERY_SCALE, number), range(&S::key_scale, ATTEND_ARG_KEY_SCALE, number);
    range(&S::value_scale, ATTEND_ARG_VALUE_SCALE, number), range(&S::output_scale, ATTEND_ARG_OUTPUT_SCALE, number);
  }
  for (const double number : {-0.1, infinite, nan, 1e300}) range(&S::scale, ATTEND_ARG_SCALE, number);
  for (const std::int32_t number : {-129, 128}) {
    range(&S::query_zero_point, ATTEND_ARG_QUERY_ZERO_POINT, number);
    range(&S::key_zero_point, ATTEND_ARG_KEY_ZERO_POINT, number);
    range(&S::value_zero_point, ATTEND_ARG_VALUE_ZERO_POINT, number);
  }
  for (const std::int32_t number : {-32769, 32768}) range(&S::output_zero_point, ATTEND_ARG_OUTPUT_ZERO_POINT, number);
  refuses_scales(ATTEND_MISMATCH, ATTEND_ARG_QUERY_SCALE, [](S& s) { s.scale = 1, s.query_scale = 1, s.key_scale = 0.694; });
  refuses_scales(ATTEND_MISMATCH, ATTEND_ARG_OUTPUT_SCALE, [](S& s) { s.output_scale = 1, s.value_scale = 0.00097; });
  refuses_scales(ATTEND_MISMATCH, ATTEND_ARG_OUTPUT_SCALE, [](S& s) { s.output_scale = 1, s.value_scale = 262145; });
  refuses_scales(ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, [](S& s) { s.size = 0; });
  S scales = integer_scales();
  attend_integer_constants constants;
  const auto refused = [&](attend_status status, attend_error error, attend_argument argument) {
    CHECK(status == wrong(error, argument));
    seen().insert(argument);
  };
  refused(attend_integer_prepare(nullptr, 64, &constants), ATTEND_MISSING, ATTEND_ARG_SCALES);
  refused(attend_integer_prepare(&scales, 64, nullptr), ATTEND_MISSING, ATTEND_ARG_CONSTANTS);
  refused(attend_integer_prepare(&scales, 0, &constants), ATTEND_OUT_OF_RANGE, ATTEND_ARG_HEAD_DIM);
  refused(attend_integer_prepare(&scales, 4097, &constants), ATTEND_OUT_OF_RANGE, ATTEND_ARG_HEAD_DIM);
  refused(attend_integer_prepare(&scales, 64, reinterpret_cast<attend_integer_constants*>(&scales.value_scale)), ATTEND_OVERLAP,
          ATTEND_ARG_CONSTANTS);
  refused(attend_integer_scales_init(&scales, sizeof scales - 1), ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE);
  refused(attend_integer_scales_init(nullptr, sizeof scales), ATTEND_MISSING, ATTEND_ARG_SCALES);
  S unset;
  attend_integer_scales_init(&unset, sizeof unset);
  refused(attend_integer_prepare(&unset, 64, &constants), ATTEND_OUT_OF_RANGE, ATTEND_ARG_QUERY_SCALE);
  for (int argument = ATTEND_ARG_QUERY_SCALE; argument <= ATTEND_ARG_HEAD_CONSTANTS; ++argument) {
    CHECK_MESSAGE(seen().count(argument) == 1, attend_argument_name(wrong(ATTEND_MISSING, attend_argument(argument))));
  }
}

TEST_CASE("c integer: a query sees at most 65,535 keys; there may be more where windows keep them away") {
  Small s;
  attend_integer_problem p = s.p;
  p.batch = 1, p.keys = 100000;
  for (attend_input* input : {&p.key, &p.value}) input->token_stride = 0, input->head_stride = Small::dim;
  const attend_status too_many = wrong(ATTEND_TOO_LARGE, ATTEND_ARG_KEYS);
  CHECK(attend_integer_check(&p) == too_many);
  p.keys = ATTEND_INTEGER_MAX_KEYS;
  CHECK(attend_integer_check(&p) == ATTEND_OK);
  p.keys = 100000, p.options = ATTEND_CAUSAL;
  p.offset = ATTEND_INTEGER_MAX_KEYS - p.queries;
  CHECK(attend_integer_check(&p) == ATTEND_OK);
  ++p.offset;
  CHECK(attend_integer_check(&p) == too_many);
  p.window_left = ATTEND_INTEGER_MAX_KEYS - 1;
  CHECK(attend_integer_check(&p) == ATTEND_OK);
  p.sink_tokens = 1;
  CHECK(attend_integer_check(&p) == too_many);
  p.sink_tokens = 0, ++p.window_left;
  CHECK(attend_integer_check(&p) == too_many);  // the last query stands at 65,535, and sees key 0
  p.offset = 90000;
  CHECK(attend_integer_check(&p) == too_many);
  p.options = 0, p.window_left = 30000;
  CHECK(attend_integer_check(&p) == ATTEND_OK);  // from 60,000 on
  p.offset = 64000;
  CHECK(attend_integer_check(&p) == too_many);
  p.window_right = 35534;
  CHECK(attend_integer_check(&p) == ATTEND_OK);
  ++p.window_right;
  CHECK(attend_integer_check(&p) == too_many);
  p.window_left = p.window_right = ATTEND_NO_LIMIT, p.options = ATTEND_CAUSAL | ATTEND_QUERIES_LAST;
  p.offset = ATTEND_DEFAULT_OFFSET;
  CHECK(attend_integer_check(&p) == too_many);
  p.window_left = 1000;
  CHECK(attend_integer_check(&p) == ATTEND_OK);
}
