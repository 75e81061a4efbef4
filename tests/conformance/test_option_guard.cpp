// Memory that an option masks, or that lies outside of something, is not even read.
#include <doctest/doctest.h>

#include "../support/guarded.h"

#if ATTEND_TEST_GUARDS

#include <cstring>
#include <memory>

#include "option_random.h"
#include "option_ways.h"

using namespace attend_test;

namespace {

template <class T>
std::size_t bytes_of(const std::vector<T>& numbers) {
  return numbers.size() * sizeof(T);
}

auto guarded_copy(Flush flush) {
  return [flush](const void* bytes, std::size_t count) {
    const auto guarded = std::make_shared<GuardedCopy>(bytes, count, flush);
    return std::shared_ptr<float>(guarded, guarded->as<float>());
  };
}

// A copy of keys or values, of which `keys_of_page` of one head fill a page; pages that no token sees any of are gone.
template <class Sees>
std::shared_ptr<float> without_unseen(const void* bytes, std::size_t count, const OptionInstance& in, int keys_of_page,
                                      Sees sees) {
  // What ends with a page begins with one only if it is whole pages.
  const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE)), whole = (count + page - 1) / page * page;
  std::vector<char> padded(whole);
  std::memcpy(padded.data(), bytes, count);
  const auto guarded = std::make_shared<GuardedCopy>(padded.data(), whole);
  for (int first = 0; first < in.s.keys; first += keys_of_page) {
    bool seen = false;
    for (int j = first; j < std::min(in.s.keys, first + keys_of_page); ++j) {
      for (int t = 0; t < in.s.queries; ++t) seen = seen || sees(t, j);
    }
    if (!seen) guarded->protect(std::size_t(first / keys_of_page), 1);
  }
  return std::shared_ptr<float>(guarded, guarded->as<float>());
}

// All of some ways of a call, of whose keys and values no page is there that no token sees any of.
template <class Sees>
void check_unseen(RandomInstance& in, int number, int keys_of_page, Sees sees) {
  const OptionResults defined = defined_results(in);
  const std::string problem = in.text();
  for_each_backend([&](const char* backend) {
    for (Way way : some_ways(in)) {
      way.guard = [&](const void* bytes, std::size_t count) { return without_unseen(bytes, count, in, keys_of_page, sees); };
      const std::string wrong = difference(in, run_options(in, way), defined, true);
      if (!wrong.empty())
        FAIL_CHECK(number, ": ", wrong, "; ", std::string(backend), " rows ", way.rows, " keys ", way.keys, "; ", problem);
    }
  });
}

}  // namespace

TEST_CASE("options: nothing is read outside a mask, table, page, scale, key or value") {
  for (const int number : each_round(200)) {
    Random random(std::uint64_t(number) + 90);
    unsigned wishes = random.bits();
    if (number < 4 * wish_count) wishes = 1u << number % wish_count;
    RandomInstance in(std::uint64_t(number) + 80000, wishes, number % 4 == 3 ? 40 : 0);
    if (in.has(bit_masks) && number % 4 == 3) {  // its memory ends with the last bit of a panel, which shows its key
      in.options.mask = {in.options.mask.data, 0, 0, 0, in.s.keys & -16};
      in.visible.resize(std::size_t(in.s.keys / 16 * 2));
      in.visible.back() = 0xff;
    }
    const OptionResults defined = defined_results(in);
    const Flush flush = number % 2 != 0 ? Flush::end : Flush::begin;
    const auto guarded = [&](const auto& numbers) { return GuardedCopy(numbers.data(), bytes_of(numbers), flush); };
    GuardedCopy visible = guarded(in.visible), biases = guarded(in.biases), slope_row = guarded(in.slope_numbers),
                sink_row = guarded(in.sink_numbers), relative = guarded(in.relative), pages = guarded(in.pages),
                key_scales = guarded(in.key_scales), value_scales = guarded(in.value_scales);
    core::Options& o = in.options;
    if (o.mask.data != nullptr) o.mask.data = visible.as<void>();
    if (o.bias.data != nullptr) o.bias.data = biases.as<void>();
    if (o.alibi_slopes != nullptr) o.alibi_slopes = slope_row.as<float>();
    if (o.sink_logits != nullptr) o.sink_logits = sink_row.as<float>();
    if (o.relative != nullptr) o.relative = relative.as<float>();
    if (o.paging.pages != nullptr) o.paging.pages = pages.as<std::int32_t>();
    if (o.key_scales != nullptr) o.key_scales = key_scales.as<float>();
    if (o.value_scales != nullptr) o.value_scales = value_scales.as<float>();
    const std::string problem = in.text();
    for_each_backend([&](const char* backend) {
      for (Way way : some_ways(in)) {
        way.guard = guarded_copy(flush);
        const std::string wrong = difference(in, run_options(in, way), defined, true);
        if (!wrong.empty())
          FAIL_CHECK(number, ": ", wrong, "; ", std::string(backend), " rows ", way.rows, " keys ", way.keys, "; ", problem);
      }
    });
  }
}

TEST_CASE("options: nothing is read outside values of any format and width") {
  for (int dim = 1; dim <= 33; ++dim) {
    for (const unsigned formats : {unsigned(half_formats), unsigned(int8_formats)}) {
      RandomInstance in(std::uint64_t(dim) + 85000, formats, {2, 1, 7, dim, 1, 20, 19, 0.3f, 1.0f, true});
      const OptionResults defined = defined_results(in);
      const std::string problem = in.text();
      INFO(problem);
      for_each_backend([&](const char* backend) {
        INFO(std::string(backend));
        for (Way way : some_ways(in)) {
          way.guard = guarded_copy(dim % 2 == 0 ? Flush::end : Flush::begin);
          CHECK(difference(in, run_options(in, way), defined, true) == "");
        }
      });
    }
  }
}

TEST_CASE("options: blocks of 64 keys that no window reaches or a mask masks for all are not read") {
  // As wide as lets 64 keys of one head fill a page.
  const int dim = int(sysconf(_SC_PAGESIZE) / 64 / 4), keys = 700;
  if (dim > 64) return;  // pages of 64 KB would take their time
  for (const int number : each_round(60)) {
    Random random(std::uint64_t(number) + 91);
    const unsigned wishes = windows | (number % 2 == 0 ? pins : 0u) | (number % 3 == 0 ? unsigned(bias_masks) : 0u) | lse |
                            (number % 5 == 0 ? unsigned(alibi_slopes) : 0u) | (number % 7 > 3 ? unsigned(byte_masks) : 0u);
    const int queries = random.between(1, 12);
    RandomInstance in(std::uint64_t(number) + 90000, wishes,
                      {1, 1, dim, dim, queries, keys, random.between(0, keys), 0.3f, 1.0f, number % 4 == 1});
    in.options.left = random.between(0, 150);
    in.options.right = random.between(0, 100);
    in.options.sink_tokens = in.has(pins) ? random.between(1, 100) : 0;
    in.places = keys;
    const core::Mask& mask = in.options.mask;
    const auto element = [&](int token, int key) { return std::size_t(mask.first + token * mask.token_stride + key); };
    for (int key = 0; in.has(byte_masks) && key < mask.keys; ++key) {
      if (key / 64 % 3 == number % 3) {
        for (int t = 0; t < queries; ++t) in.visible[element(t, key)] = 0;
      }
    }
    in.poison_masked();
    check_unseen(in, number, 64, [&](int t, int j) {
      const int p = in.s.offset + t;
      const bool let_through = !in.has(byte_masks) || (j < mask.keys && in.visible[element(t, j)] != 0);
      return let_through && (j >= p - in.options.left || j < in.options.sink_tokens) && j <= p + in.options.right &&
             (!in.s.causal || j <= p);
    });
  }
}

TEST_CASE("options: panels of 16 keys that no window reaches are not read, be they between sink tokens and the window") {
  const int dim = int(sysconf(_SC_PAGESIZE) / 16 / 4);  // as wide as lets 16 keys of one head fill a page
  if (dim > 256) return;
  for (const int number : each_round(60)) {
    Random random(std::uint64_t(number) + 95);
    const int queries = number % 3 == 0 ? 1 : random.between(2, 20), keys = random.between(60, 400);
    RandomInstance in(std::uint64_t(number) + 95000, windows | pins | lse,
                      {1, 1, dim, dim, queries, keys, random.between(0, keys), 0.3f, 1.0f, true});
    in.options.left = random.between(0, 60);
    in.options.right = -1;
    in.options.sink_tokens = random.between(0, 40);
    in.places = keys;
    in.poison_masked();
    check_unseen(in, number, 16, [&](int t, int j) {
      const int p = in.s.offset + t;
      return j <= p && (j >= p - in.options.left || j < in.options.sink_tokens);
    });
  }
}

TEST_CASE("options: states read no block of 64 keys that they have been through") {
  const int dim = int(sysconf(_SC_PAGESIZE) / 64 / 4), keys = 400;
  if (dim > 64) return;
  for (const int first : {64, 100, 130, 320, 399}) {
    RandomInstance in(std::uint64_t(first) + 95000, bias_masks | lse, {2, 1, dim, dim, 9, keys, 395, 0.3f, 1.0f, true});
    in.places = keys;
    const OptionResults defined = defined_results(in);
    for_each_backend([&](const char* backend) {
      for (const bool panels : {false, true}) {
        INFO(std::string(backend), " ", first, " ", panels);
        InstanceMemory memory(in, panels);
        const std::size_t page = std::size_t(64 * dim) * 4;
        std::vector<char> padded((memory.keys.bytes() + page - 1) / page * page);
        std::memcpy(padded.data(), memory.keys.data(), memory.keys.bytes());
        GuardedCopy key(padded.data(), padded.size());
        std::memcpy(padded.data(), memory.values.data(), memory.values.bytes());
        GuardedCopy value(padded.data(), padded.size());
        const std::ptrdiff_t row = std::ptrdiff_t(core::state_floats(dim, core::state_nodes(keys)));
        std::vector<float> states(row_count(in) * std::size_t(row), 0.0f);
        OptionResults found;
        found.output.assign(row_count(in) * output_stride(in), untouched);
        found.lse.assign(row_count(in), untouched);
        core::Problem p = memory.problem;
        p.query = {in.query.data(), 2 * dim, dim};
        core::Options options = in.options;
        options.states = {states.data(), 2 * row, row};
        options.begins = true;
        p.keys = first;
        run_with_scratch(p, options, {});
        key.protect(0, std::size_t(first / 64)), value.protect(0, std::size_t(first / 64));
        p.key.data = key.as<float>(), p.value.data = value.as<float>();
        options.begins = false;
        options.first_key = first;
        p.keys = keys;
        run_with_scratch(p, options, {});
        options.lse = {found.lse.data(), 2, 1};
        p.output = {found.output.data(), 2 * std::ptrdiff_t(output_stride(in)), std::ptrdiff_t(output_stride(in))};
        finish_states(p, options);
        CHECK(difference(in, found, defined, true) == "");
      }
    });
  }
}

#endif
