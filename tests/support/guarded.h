// Arrays of exactly their size between pages that cannot be touched: flush against the page behind, where reading past the end
// is seen, or against the page before, where reading before the beginning is. What is left of their own pages holds a pattern.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#define ATTEND_TEST_GUARDS 1

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "instance.h"
#include "number_formats.h"
#include "random.h"
#include "rounds.h"

namespace attend_test {

enum class Flush { end, begin };

class Guarded {
 public:
  // With an alignment the end may lie up to so many bytes before the page behind.
  Guarded(std::size_t bytes, Flush flush, std::size_t alignment = 1) : bytes_(bytes) {
    const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE)), room = (bytes + alignment - 1) / alignment * alignment;
    inner_ = (room + page - 1) / page * page;
    outer_ = inner_ + 2 * page;
    void* const base = mmap(nullptr, outer_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base != MAP_FAILED);
    base_ = static_cast<unsigned char*>(base);
    first_ = base_ + page;
    if (inner_ > 0) REQUIRE(mprotect(first_, inner_, PROT_READ | PROT_WRITE) == 0);
    data_ = flush == Flush::begin ? first_ : first_ + inner_ - room;
    std::memset(first_, pattern, inner_);
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(base_, outer_); }

  unsigned char* data() { return data_; }
  std::size_t bytes() const { return bytes_; }
  template <class Number>
  Number* as() {
    return reinterpret_cast<Number*>(data_);
  }

  // Takes some of its own pages away.
  void protect(std::size_t page, std::size_t pages) {
    const std::size_t bytes = std::size_t(sysconf(_SC_PAGESIZE));
    REQUIRE(mprotect(first_ + page * bytes, pages * bytes, PROT_NONE) == 0);
  }

  // Whether nothing was written beside the array.
  bool is_intact() const {
    const auto is_pattern = [](const unsigned char* from, const unsigned char* to) {
      while (from < to && *from == pattern) ++from;
      return from == to;
    };
    return is_pattern(first_, data_) && is_pattern(data_ + bytes_, first_ + inner_);
  }

 private:
  static constexpr unsigned char pattern = 0xb5;
  std::size_t bytes_, inner_, outer_;
  unsigned char *base_, *first_, *data_;
};

struct GuardedCopy : Guarded {
  GuardedCopy(const void* bytes, std::size_t count, Flush flush = Flush::end) : Guarded(count, flush) {
    if (count > 0) std::memcpy(data(), bytes, count);
  }
};

// The arrays of some calls. What is drawn depends on the number and sizes of the arrays before.
class GuardedArrays {
 public:
  explicit GuardedArrays(Flush flush, std::uint64_t seed = 0) : flush_(flush), random_(seed) {}

  template <class Number = float>
  Number* zeros(std::size_t count) {
    Number* const data = static_cast<Number*>(take(count * sizeof(Number), 1));
    std::memset(static_cast<void*>(data), 0, count * sizeof(Number));
    return data;
  }
  float* floats(std::size_t count) {
    float* const data = zeros(count);
    random_.fill(data, count);
    return data;
  }
  // Of whole numbers of any size: random bytes.
  template <class Number = std::int8_t>
  Number* integers(std::size_t count) {
    Number* const data = zeros<Number>(count);
    draw_bytes(data, count * sizeof(Number));
    return data;
  }
  // Of a format, behind the pointer of floats that problems have.
  float* numbers(Format format, std::size_t count) {
    Numbers made(format, count);
    for (std::size_t i = 0; format == Format::int4 && i < count; i += 32) made.set_scale(i, 0x2c00);  // 1 / 16
    for (std::size_t i = 0; i < count; ++i)
      made.set(i, format == Format::int8   ? 127.0f * random_.uniform()
                  : format == Format::int4 ? float(random_.between(-8, 7)) / 16
                                           : random_.uniform());
    void* const data = take(made.bytes(), 1);
    if (count > 0) std::memcpy(data, made.data(), made.bytes());
    return static_cast<float*>(data);
  }
  // Outputs: their bytes are results.
  template <class Number = float>
  Number* output(std::size_t count) {
    Number* const data = zeros<Number>(count);
    outputs_.push_back(arrays_.back().get());
    return data;
  }
  // Objects; those made of random floats or bytes; and outputs.
  template <class Object>
  Object& object() {
    return *new (take(sizeof(Object), alignof(Object))) Object();
  }
  template <class Object>
  Object& float_object() {
    Object& object_of = object<Object>();
    random_.fill(reinterpret_cast<float*>(&object_of), sizeof(Object) / sizeof(float));
    return object_of;
  }
  template <class Object>
  Object& byte_object() {
    Object& object_of = object<Object>();
    draw_bytes(&object_of, sizeof(Object));
    return object_of;
  }
  template <class Object>
  Object& output_object() {
    Object& object_of = object<Object>();
    outputs_.push_back(arrays_.back().get());
    return object_of;
  }
  // Work memory, which holds no numbers before.
  template <class Number = float>
  Number* work(std::size_t count) {
    void* const data = take(count * sizeof(Number), attend::config::alignment);
    std::memset(data, 0xff, count * sizeof(Number));
    return static_cast<Number*>(data);
  }

  std::vector<unsigned char> results() const {
    std::vector<unsigned char> all;
    for (Guarded* output : outputs_) all.insert(all.end(), output->data(), output->data() + output->bytes());
    return all;
  }
  bool are_intact() const {
    for (const auto& array : arrays_) {
      if (!array->is_intact()) return false;
    }
    return true;
  }

 private:
  void* take(std::size_t bytes, std::size_t alignment) {
    arrays_.push_back(std::make_unique<Guarded>(bytes, flush_, alignment));
    return arrays_.back()->data();
  }

  void draw_bytes(void* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(random_.bits() >> 24);
  }

  Flush flush_;
  Random random_;
  std::vector<std::unique_ptr<Guarded>> arrays_;
  std::vector<Guarded*> outputs_;
};

// Some calls, calls(arrays), on every backend, with arrays on either side of their pages. All must write the same results, and
// nothing beside them.
template <class Calls>
void check_guarded(int width, Calls calls) {
  std::vector<unsigned char> first;
  for_each_backend([&](const char* backend) {
    for (const Flush flush : {Flush::end, Flush::begin}) {
      INFO(std::string(backend), ", width ", width, flush == Flush::end ? ", before a page" : ", behind a page");
      GuardedArrays arrays(flush, std::uint64_t(width));
      calls(arrays);
      if (first.empty()) first = arrays.results();
      CHECK(arrays.results() == first);
      CHECK(arrays.are_intact());
    }
  });
}

// Calls of every width from 1 to 130: calls(arrays, width, other), where `other` takes all these values too. Quick runs try a
// third of the widths, emulators and sanitizers a seventh.
template <class Calls>
void for_each_guarded_width(Calls calls) {
  constexpr int widths = 130;
  const int step = stride();
  for (int width = step; width <= widths; width += step) {
    check_guarded(width, [&](GuardedArrays& arrays) { calls(arrays, width, 1 + width * 37 % (widths + 1) % widths); });
  }
}

}  // namespace attend_test

#endif
