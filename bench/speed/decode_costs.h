// Decode of many heads over one head of latents, and over a few blocks of very many keys, to be timed with options.
#pragma once

#include <string>

namespace bench {

struct Row {
  std::string what, name;
  double ratio;     // times of the call that it is held against
  double fraction;  // of the FMA peak, or 0
};
using Put = void (*)(const std::string& backend, const Row& row);

// 128 query heads over one head of keys whose first numbers are the values, as in DeepSeek's latent attention.
void time_latents(const std::string& backend, Put put);

// One token over 2,048 keys: those of a cache of so many, beside chosen blocks of 131,072 that a mask of bits shows,
// in pages of 4 KB and of 2 MB.
void time_chosen_blocks(const std::string& backend, Put put);

}  // namespace bench
