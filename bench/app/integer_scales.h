// What a step of the 8-bit numbers of a layer's attention means, for the model in integers. All zero points are 0.
#pragma once

#include <vector>

namespace app {

struct LayerScales {
  float input = 0;                // of the normalised stream before query, key and value
  float attended = 0;             // of the attention's output
  std::vector<float> query;       // [heads], after rotation
  std::vector<float> key, value;  // [kv_heads], keys after rotation
};

using IntegerScales = std::vector<LayerScales>;  // [layers], or empty

}  // namespace app
