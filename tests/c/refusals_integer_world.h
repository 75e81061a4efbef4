// A problem of integer attention, and scales, without a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "c_integer_world.h"
#include "refusals.h"

namespace attend_test {
namespace refused_integers {

struct World : Choices {
  enum Calls { run = 1 };
  using P = attend_problem;
  static constexpr int batch = 2, query_heads = 4, kv_heads = 2, dim = 8, queries = 3, keys = 5;
  static constexpr std::ptrdiff_t most_head_dim = ATTEND_INTEGER_MAX_HEAD_DIM;

  World() {
    for (attend_integer_constants& of : constants) of = prepared(integer_scales(), dim);
    p = initial();
    p.batch = batch, p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = p.value_dim = dim;
    p.queries = queries, p.keys = keys;
    p.query.data = query.data(), p.key.data = key.data(), p.value.data = value.data(), p.output.data = output.data();
    p.constants = constants;
  }
  // attend_check and the workspace's size agree with the call, but where it is about the call's own parameters.
  attend_status call(unsigned) {
    const attend_status status = attend_run_part(passed, part, parts, work, work_size);
    const int argument = argument_of(status);
    const bool of_call = argument >= ATTEND_ARG_PART && argument <= ATTEND_ARG_WORKSPACE;
    CHECK(attend_check(passed) == (of_call ? ATTEND_OK : status));
    CHECK((attend_workspace_size(passed) > 0) == of_call);
    if (part == 0 && parts == 1) CHECK(attend_run(passed, work, work_size) == status);
    return status;
  }
  std::vector<unsigned char> bytes() {
    std::vector<unsigned char> all(reinterpret_cast<unsigned char*>(&whole), reinterpret_cast<unsigned char*>(&whole + 1));
    const auto add = [&](const void* from, std::size_t count) {
      const auto* const first = static_cast<const unsigned char*>(from);
      all.insert(all.end(), first, first + count);
    };
    add(output.data(), output.size() * sizeof(float)), add(memory.data(), 1 << 16), add(constants, sizeof constants);
    return all;
  }

  // What rows for both kinds of problem ask for.
  static P initial() {
    P p;
    attend_integer_problem_init(&p, sizeof p);
    return p;
  }
  static bool cached() { return false; }
  static bool has_states() { return false; }
  static std::ptrdiff_t least_keys() { return 0; }
  static std::ptrdiff_t most_keys() { return ATTEND_MAX_TOKENS; }
  static std::ptrdiff_t most_length() { return keys; }
  bool is_positioned() const { return p.options == ATTEND_CAUSAL || p.window_left >= 0 || p.window_right >= 0; }
  bool is_clear() const { return p.queries == p.keys; }
  void place() {
    const bool windows = p.window_left != ATTEND_NO_LIMIT || p.window_right != ATTEND_NO_LIMIT;
    if (windows || p.alibi_slopes != nullptr || p.relative_bias.data != nullptr) p.offset = 0;
  }
  void unplace() { p.options = 0, p.offset = ATTEND_DEFAULT_OFFSET; }
  std::ptrdiff_t* give_lengths() {
    p.key_lengths = lengths;
    return lengths;
  }
  bool finds(int) {
    p.mask.data = mask.data(), p.mask.kind = ATTEND_MASK_BYTES;
    return true;
  }
  std::size_t needed() const { return attend_workspace_size(passed); }
  unsigned char& after(int byte) { return whole.more[byte]; }

  // And those of integers.
  void set_strides() {
    const auto set = [](auto& tensor, int tokens, int heads) {
      tensor.batch_stride = tokens * heads * dim, tensor.token_stride = heads * dim, tensor.head_stride = dim;
    };
    set(p.query, queries, query_heads), set(p.key, keys, kv_heads), set(p.value, keys, kv_heads);
    set(p.output, queries, query_heads);
  }
  void take_head_constants() { p.head_constants = constants, p.constants = nullptr; }
  void take_constants_in_work() {
    std::memcpy(memory.data(), constants, sizeof *constants);
    p.constants = static_cast<const attend_integer_constants*>(memory.data());
  }

  std::vector<std::int8_t> query = std::vector<std::int8_t>(batch * queries * query_heads * dim, 1);
  std::vector<std::int8_t> key = std::vector<std::int8_t>(batch * keys * kv_heads * dim, 1), value = key;
  std::vector<float> output = std::vector<float>(query.size(), -7.0f);
  std::vector<std::uint16_t> scales = std::vector<std::uint16_t>(batch * kv_heads * keys, 9);
  std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(batch * query_heads * queries * keys, 1);
  std::ptrdiff_t lengths[batch] = {keys, keys};
  std::int32_t table[2] = {0, 1};
  attend_integer_constants constants[query_heads];
  struct {
    P problem;
    unsigned char more[64];
  } whole = {};
  P& p = whole.problem;
  P* passed = &p;
  Aligned memory = Aligned(1 << 16);
  void* work = memory.data();
  std::size_t work_size = 1 << 16;
  std::ptrdiff_t part = 0, parts = 1;
};

namespace of_scales {

struct World : Choices {
  enum Calls { prepare = 1 };

  attend_status call(unsigned) { return attend_integer_prepare(given, head_dim, made); }
  std::vector<unsigned char> bytes() const {
    const auto* const first = reinterpret_cast<const unsigned char*>(&whole);
    return std::vector<unsigned char>(first, first + sizeof whole);
  }

  struct Whole {
    attend_integer_scales scales;
    attend_integer_constants constants;
  } whole = {integer_scales(), {}};
  attend_integer_scales& s = whole.scales;
  const attend_integer_scales* given = &s;
  std::ptrdiff_t head_dim = 64;
  attend_integer_constants* made = &whole.constants;
};

}  // namespace of_scales
}  // namespace refused_integers
}  // namespace attend_test
