// odml.update_kv_cache, which keeps the keys and values of a layer from call to call, and odml.update_external_kv_cache, which
// is given them, for either runtime:
//
//   position  int64 or int32 [tokens]: where the new tokens belong, one behind the other
//   key       [1, tokens, heads, head_dim], float32 or int8; value likewise
//   outputs   the whole keys and values [1, kv_cache_max, heads, head_dim], of which tokens that were never given are zeros
//
// Tokens at and behind position 0 begin a new sequence. Those behind the last place move the others on: the oldest go.
#pragma once

#include <cstdint>
#include <cstring>

#include "attributes.h"
#include "tensors.h"

namespace attend_tflite {

constexpr const char* update_kv_cache_name = "odml.update_kv_cache";
constexpr const char* update_external_kv_cache_name = "odml.update_external_kv_cache";

struct CacheAttributes {
  int kv_cache_max = 2048;  // tokens
  int layer_index = 0;
};

inline Refusal read(const void* data, std::size_t size, CacheAttributes& attributes) {
  Refusal refused;
  const bool whole = read_attributes(data, size, [&](const char* name, double number) {
    const bool is_max = same_name(name, "kv_cache_max"), is_layer = same_name(name, "layer_index");
    if (!is_max && !is_layer && !same_name(name, "num_layers")) {
      refused = {"attributes", "there is one beside kv_cache_max, layer_index and num_layers, and it could change the result"};
    } else if (!(number >= (is_max ? 1.0 : 0.0) && number <= 536870912.0) || number != double(int(number))) {
      refused = {is_max     ? "kv_cache_max"
                 : is_layer ? "layer_index"
                            : "num_layers",
                 "a whole number of at most 2^29 is needed, and of tokens at least 1"};
    } else if (is_max || is_layer) {
      (is_max ? attributes.kv_cache_max : attributes.layer_index) = int(number);
    }
    return !refused;
  });
  if (!refused && !whole) refused = {"attributes", "they are damaged: a FlexBuffers map of numbers is needed"};
  return refused;
}

// What calls need beside addresses. Keys and values have the same extents.
struct CacheUpdate {
  std::ptrdiff_t places;  // tokens that the cache holds
  std::ptrdiff_t tokens;  // that a call brings
  std::size_t token_bytes;
  TfLiteType position_type;
  int zero_key, zero_value;  // the numbers that mean 0
  std::size_t bytes() const { return std::size_t(places) * token_bytes; }
};

// An output's dims are to be output_dims. Types and scales are those of what comes in.
inline Refusal prepare_update(int places, const TfLiteTensor& position, const TfLiteTensor& key, const TfLiteTensor& value,
                              const TfLiteTensor& keys, const TfLiteTensor& values, CacheUpdate& update,
                              int (&output_dims)[4]) {
  if (key.type != kTfLiteFloat32 && key.type != kTfLiteInt8) return {"key", "its type is neither float32 nor int8"};
  if (value.type != key.type) return {"value", "its type is not the key's"};
  if (keys.type != key.type || values.type != key.type) return {"output", "its type is not that of the key"};
  if (!has_four_axes(key, sizeof(float))) return {"key", "four axes are needed: batch, tokens, heads and head_dim"};
  if (!same_shape(key, value)) return {"value", "its shape is not the key's"};
  if (dim(key, 0) != 1) return {"key", "a cache is of one sequence: its batch is to be 1"};
  if (dim(key, 1) < 1) return {"key", "it has no tokens"};
  if (dim(key, 1) > places) return {"key", "it has more tokens than the cache holds"};
  if (position.type != kTfLiteInt64 && position.type != kTfLiteInt32)
    return {"position", "its type is neither int64 nor int32"};
  if (rank(position) != 1 || dim(position, 0) != dim(key, 1))
    return {"position", "one axis is needed, with a number for each token of the key"};
  update.zero_key = update.zero_value = 0;
  if (key.type == kTfLiteInt8) {
    Scale of_key, of_value;
    if (!scale_of(key, &of_key) || !scale_of(value, &of_value))
      return {"key", "int8 tensors need one scale and one zero point each"};
    if (!same_scale(key, keys) || !same_scale(value, values))
      return {"output", "its scale or zero point is not that of what comes in"};
    update.zero_key = of_key.zero;
    update.zero_value = of_value.zero;
  }
  const std::size_t number = key.type == kTfLiteFloat32 ? sizeof(float) : 1;
  update.places = places;
  update.tokens = dim(key, 1);
  update.token_bytes = std::size_t(dim(key, 2)) * std::size_t(dim(key, 3)) * number;
  update.position_type = position.type;
  if (update.token_bytes > std::size_t(PTRDIFF_MAX) / std::size_t(places)) return {"kv_cache_max", "the cache is too large"};
  output_dims[0] = 1;
  output_dims[1] = places;
  output_dims[2] = dim(key, 2);
  output_dims[3] = dim(key, 3);
  return {};
}

// The keys and values of a layer, and the position of its first place.
struct CacheContents {
  char* keys;
  char* values;
  std::int64_t* first;
};

inline void empty(const CacheUpdate& update, const CacheContents& contents) {
  std::memset(contents.keys, update.zero_key, update.bytes());
  std::memset(contents.values, update.zero_value, update.bytes());
  *contents.first = 0;
}

inline std::int64_t position_at(const CacheUpdate& update, const void* positions, std::ptrdiff_t i) {
  return update.position_type == kTfLiteInt64 ? static_cast<const std::int64_t*>(positions)[i]
                                              : static_cast<const std::int32_t*>(positions)[i];
}

// Puts a call's tokens into the cache. What is refused has changed nothing.
inline Refusal put(const CacheUpdate& update, const void* positions, const void* key, const void* value,
                   const CacheContents& contents) {
  if (positions == nullptr || ((key == nullptr || value == nullptr) && update.token_bytes > 0))
    return {"key", "it has no data"};
  const std::int64_t begin = position_at(update, positions, 0);
  if (begin < 0 || begin > PTRDIFF_MAX / 2) return {"position", "it is negative or beyond the address space"};
  for (std::ptrdiff_t i = 1; i < update.tokens; ++i) {
    if (position_at(update, positions, i) != begin + i) return {"position", "the positions do not follow each other"};
  }
  std::int64_t first = begin == 0 ? 0 : *contents.first;
  if (begin < first) return {"position", "the token that was there has gone: only position 0 begins anew"};
  if (begin > first + update.places) return {"position", "it leaves out positions that the cache is to hold"};
  if (begin == 0) empty(update, contents);
  const std::int64_t gone = begin + update.tokens - (first + update.places);
  if (gone > 0) {
    const std::size_t shift = std::size_t(gone) * update.token_bytes;
    std::memmove(contents.keys, contents.keys + shift, update.bytes() - shift);
    std::memmove(contents.values, contents.values + shift, update.bytes() - shift);
    first += gone;
    *contents.first = first;
  }
  if (update.token_bytes == 0) return {};
  const std::size_t at = std::size_t(begin - first) * update.token_bytes,
                    bytes = std::size_t(update.tokens) * update.token_bytes;
  std::memcpy(contents.keys + at, key, bytes);
  std::memcpy(contents.values + at, value, bytes);
  return {};
}

// The same where the cache is another's, which has places from position 0 on: tokens belong where each position says, up to the
// first one that is smaller than the one before it, as behind a prompt that is padded.
inline Refusal put_each(const CacheUpdate& update, const void* positions, const void* key, const void* value, char* keys,
                        char* values) {
  if (positions == nullptr || ((key == nullptr || value == nullptr) && update.token_bytes > 0))
    return {"key", "it has no data"};
  std::ptrdiff_t tokens = 0;
  for (; tokens < update.tokens; ++tokens) {
    const std::int64_t at = position_at(update, positions, tokens);
    if (tokens > 0 && at < position_at(update, positions, tokens - 1)) break;
    if (at < 0 || at >= update.places) return {"position", "the cache has no such place"};
  }
  for (std::ptrdiff_t i = 0; i < tokens && update.token_bytes > 0; ++i) {
    const std::size_t at = std::size_t(position_at(update, positions, i)) * update.token_bytes,
                      from = std::size_t(i) * update.token_bytes;
    std::memcpy(keys + at, static_cast<const char*>(key) + from, update.token_bytes);
    std::memcpy(values + at, static_cast<const char*>(value) + from, update.token_bytes);
  }
  return {};
}

}  // namespace attend_tflite
