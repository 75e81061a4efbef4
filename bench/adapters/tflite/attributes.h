// The attributes of a custom operator: a FlexBuffers map of numbers by their names, as converters write it. Every offset in it
// is checked, because models come from anywhere. Nothing is copied or allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace attend_tflite {

// Bytes that are read by offset. A width is 1, 2, 4 or 8 bytes, little-endian.
class FlexBytes {
 public:
  FlexBytes(const void* bytes, std::size_t size) : bytes_(static_cast<const std::uint8_t*>(bytes)), size_(size) {}

  std::size_t size() const { return size_; }
  bool holds(std::size_t at, std::size_t count) const { return at <= size_ && count <= size_ - at; }
  std::uint8_t byte(std::size_t at) const { return bytes_[at]; }
  const char* text(std::size_t at) const { return reinterpret_cast<const char*>(bytes_ + at); }

  bool unsigned_number(std::size_t at, std::size_t width, std::uint64_t* number) const {
    if (!holds(at, width)) return false;
    *number = 0;
    for (std::size_t i = 0; i < width; ++i) *number |= std::uint64_t(bytes_[at + i]) << 8 * i;
    return true;
  }
  // Follows the offset that lies at `at`, which points backwards.
  bool follow(std::size_t at, std::size_t width, std::size_t* target) const {
    std::uint64_t offset = 0;
    if (!unsigned_number(at, width, &offset) || offset > at) return false;
    *target = at - std::size_t(offset);
    return true;
  }
  // Whether a text begins there and ends within the bytes.
  bool ends(std::size_t at) const {
    for (; at < size_; ++at) {
      if (bytes_[at] == 0) return true;
    }
    return false;
  }

 private:
  const std::uint8_t* bytes_;
  std::size_t size_;
};

namespace flex {

// Types of values, of the upper six bits of a packed type; the lower two are the logarithm of a width.
enum Type : int {
  integer = 1,
  unsigned_integer = 2,
  floating = 3,
  indirect_integer = 6,
  indirect_unsigned = 7,
  indirect_float = 8,
  map = 9,
  boolean = 26
};

inline std::size_t width_of(unsigned packed) { return std::size_t(1) << (packed & 3); }

// The number at `at`. False of other types, of floats of 16 bits, and where it lies outside of the bytes.
inline bool number(const FlexBytes& bytes, std::size_t at, std::size_t width, unsigned packed, double* value) {
  int type = int(packed >> 2);
  if (type >= indirect_integer && type <= indirect_float) {
    if (!bytes.follow(at, width, &at)) return false;
    width = width_of(packed);
    type -= indirect_integer - integer;
  }
  std::uint64_t bits = 0;
  if (!bytes.unsigned_number(at, width, &bits)) return false;
  if (type == integer) {
    const int unused = 64 - int(8 * width);
    *value = double(std::int64_t(bits << unused) >> unused);
  } else if (type == unsigned_integer || type == boolean) {
    *value = double(bits);
  } else if (type == floating && width == 8) {
    std::memcpy(value, &bits, sizeof *value);
  } else if (type == floating && width == 4) {
    const std::uint32_t low = std::uint32_t(bits);
    float single;
    std::memcpy(&single, &low, sizeof single);
    *value = double(single);
  } else {
    return false;
  }
  return true;
}

}  // namespace flex

inline bool same_name(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// Calls visit(const char* name, double number) for each attribute, until it returns false. False where it did, where a value is
// not a number, and where the bytes are not such a map. No bytes at all are a map without attributes.
template <class Visit>
bool read_attributes(const void* data, std::size_t size, const Visit& visit) {
  if (size == 0) return true;
  const FlexBytes bytes(data, data == nullptr ? 0 : size);
  // The root is at the end: its value, its packed type, and the width of the value.
  if (bytes.size() < 3) return false;
  const std::size_t root_width = bytes.byte(bytes.size() - 1);
  const unsigned root = bytes.byte(bytes.size() - 2);
  if ((root_width != 1 && root_width != 2 && root_width != 4 && root_width != 8) || root_width > bytes.size() - 2) return false;
  if (root >> 2 != flex::map) return false;
  std::size_t values = 0;
  if (!bytes.follow(bytes.size() - 2 - root_width, root_width, &values)) return false;
  // In front of the values: where the keys are, the width of their offsets, and how many there are. Behind them: their types.
  const std::size_t width = flex::width_of(root);
  std::size_t keys = 0;
  std::uint64_t keys_width = 0, count = 0;
  if (values < 3 * width || !bytes.follow(values - 3 * width, width, &keys)) return false;
  if (!bytes.unsigned_number(values - 2 * width, width, &keys_width) || !bytes.unsigned_number(values - width, width, &count))
    return false;
  if (keys_width != 1 && keys_width != 2 && keys_width != 4 && keys_width != 8) return false;
  if (count > bytes.size() || !bytes.holds(values, std::size_t(count) * (width + 1))) return false;
  for (std::size_t i = 0; i < std::size_t(count); ++i) {
    std::size_t key = 0;
    double value = 0.0;
    if (!bytes.follow(keys + i * std::size_t(keys_width), std::size_t(keys_width), &key) || !bytes.ends(key)) return false;
    if (!flex::number(bytes, values + i * width, width, bytes.byte(values + std::size_t(count) * width + i), &value))
      return false;
    if (!visit(bytes.text(key), value)) return false;
  }
  return true;
}

}  // namespace attend_tflite
