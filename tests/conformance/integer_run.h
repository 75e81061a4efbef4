// An IntegerCase with memory of its own, run in the ways that must give the same bytes.
#pragma once

#include <new>
#include <string>
#include <vector>

#include "../support/core_numbers.h"
#include "attend/core/integer.h"
#include "integer_model.h"

namespace attend_test {

// Memory at a multiple of 64 bytes that ends where it says, so that a sanitizer sees what is beyond.
class ExactBytes {
 public:
  explicit ExactBytes(std::size_t count) : data_(static_cast<char*>(::operator new(count, std::align_val_t(64)))) {}
  ~ExactBytes() { ::operator delete(data_, std::align_val_t(64)); }
  ExactBytes(const ExactBytes&) = delete;
  ExactBytes& operator=(const ExactBytes&) = delete;
  char* data() { return data_; }

 private:
  char* const data_;
};

class IntegerRun {
 public:
  explicit IntegerRun(const IntegerCase& integer_case) : c(integer_case), memory_(bytes_of(integer_case)) {
    Bytes bytes(memory_.data());
    data = integer_data_of(c, bytes);
    draw_integer_data(c, data);
  }

  // One call, with these blocks.
  std::vector<char> whole(int row_block, int key_block) {
    return run(row_block, key_block, [&](const auto& problem) {
      if (c.has_options()) return attend::core::Integers::run(problem, options());
      attend::core::Integers::run(problem);
    });
  }
  std::vector<char> with_options(int row_block, int key_block) {
    return run(row_block, key_block, [&](const auto& problem) { attend::core::Integers::run(problem, options()); });
  }
  std::vector<char> parts(int count, int row_block, int key_block) {
    return run(row_block, key_block, [&](const auto& problem) {
      for (int part = 0; part < count; ++part) {
        if (c.has_options()) {
          attend::core::Integers::run_part(problem, options(), part, count);
        } else {
          attend::core::Integers::run_part(problem, part, count);
        }
      }
    });
  }
  std::vector<char> in_steps(int keys, int row_block, int key_block) {
    return run(row_block, key_block, [&](const auto& problem) {
      std::vector<std::int32_t> states(
          c.rows() * attend::core::integer_state_numbers(c.value_dim, attend::core::state_nodes(c.keys)), 0x55555555);
      IntegerCase stopping = c;
      stopping.state_keys = keys;
      IntegerData its = data;
      its.states = states.data();
      run_integer_states(stopping, its, problem, options());
    });
  }

  // Keys and values that no query sees change, and masks that count as the same.
  void poison() {
    const IntegerModel model(c, data);
    std::vector<bool> seen(std::size_t(c.places()) * std::size_t(c.kv_heads));
    for (int key = 0; key < c.keys; ++key) {
      for (int token = 0; token < c.queries; ++token) {
        for (int head = 0; head < c.query_heads; ++head) {
          if (!model.sees(token, head, key)) continue;
          seen[std::size_t(model.slot(key) * c.kv_heads + head / (c.query_heads / c.kv_heads))] = true;
        }
      }
    }
    for (std::size_t row = 0; row < seen.size(); ++row) {
      const std::size_t place = row % std::size_t(c.kv_heads) * std::size_t(c.places()) + row / std::size_t(c.kv_heads);
      if (seen[row]) continue;
      std::memset(data.key + row * std::size_t(c.head_dim), row % 2 ? 127 : -128, std::size_t(c.head_dim));
      std::memset(data.value + row * std::size_t(c.value_dim), row % 3 ? -128 : 127, std::size_t(c.value_dim));
      if (c.key_scales) data.key_scales[place] = 0x8000;
      if (c.value_scales) data.value_scales[place] = 0x8000;
    }
  }

  std::string text() const {
    const auto number = [](const char* name, auto value) { return std::string(" ") + name + " " + std::to_string(value); };
    return "heads " + std::to_string(c.query_heads) + ":" + std::to_string(c.kv_heads) + number("dim", c.head_dim) +
           number("value_dim", c.value_dim) + number("queries", c.queries) + number("keys", c.keys) +
           number("offset", c.offset) + number("causal", c.causal) + number("left", c.left) + number("right", c.right) +
           number("sinks", c.sink_tokens) + number("mask", int(c.mask)) + number("query_zero", c.query_zero) +
           number("format", int(c.format)) + number("scales", c.key_scales + 2 * c.value_scales) +
           number("ring", c.ring_chunks) + number("origin", c.origin) + number("seed", c.seed);
  }

  const IntegerCase c;
  IntegerData data;
  bool panels = false;  // keys and values are brought into panels before each call

 private:
  static std::size_t bytes_of(const IntegerCase& integer_case) {
    Bytes bytes(nullptr);
    integer_data_of(integer_case, bytes);
    return bytes.used();
  }

  attend::core::Options options() const { return integer_options_of(c, data); }

  template <class Call>
  std::vector<char> run(int row_block, int key_block, Call call) {
    attend::core::Problem problem = integer_problem_of(c, data);
    ExactBytes scratch(attend::core::integer_scratch_bytes(row_block, key_block, c.head_dim, c.value_dim, c.levels()));
    problem.row_block = row_block, problem.key_block = key_block, problem.scratch = scratch.data();
    const int room = panels ? attend::core::whole_chunks(c.places()) : 0;
    const std::size_t rows = std::size_t(c.kv_heads) * std::size_t(room);
    ExactBytes keys(rows * std::size_t(attend::core::whole_quads(c.head_dim))), values(rows * std::size_t(c.value_dim));
    if (panels) {
      // What no token is written to is anything.
      std::memset(keys.data(), 0x80, rows * std::size_t(attend::core::whole_quads(c.head_dim)));
      std::memset(values.data(), 0x7f, rows * std::size_t(c.value_dim));
      auto* const key = reinterpret_cast<std::int8_t*>(keys.data());
      auto* const value = reinterpret_cast<std::int8_t*>(values.data());
      const int first = c.places() / 3;
      const attend::core::IntegerCache to = {key, value, c.kv_heads, c.head_dim, c.value_dim, room};
      attend::core::store(to, 0, first, numbers_of<std::int8_t>(problem.key), numbers_of<std::int8_t>(problem.value));
      attend::core::store(to, first, c.places() - first, numbers_of<std::int8_t>(problem.key, first),
                          numbers_of<std::int8_t>(problem.value, first));
      problem.key = attend::core::key_quads(key, c.head_dim, room);
      problem.value = attend::core::value_quads(value, c.value_dim, room);
      problem.key_panels = true;
    }
    char* const output = static_cast<char*>(data.output);
    std::memset(output, 0x55, c.output_bytes());
    call(problem);
    return std::vector<char>(output, output + c.output_bytes());
  }

  ExactBytes memory_;
};

}  // namespace attend_test
