// The scale that a call of the C surface has where none was set.
#include "checks.h"

#include "../call/portable.h"

namespace attend {
namespace c_surface {

// Newton's iteration without divisions, y = y * (1.5 - n / 2 * y^2), begun within 4 % by halving the exponent. Its last step is
// from the exact remainder 1 - n * y^2 but for its own rounding, so that the result is the nearest float (tests go through
// all).
float usual_scale(int head_dim) {
  const float n = float(head_dim), half = 0.5f * n;
  float y = bits_to<float>(0x5f375a86u - bits_to<uint32_t>(n) / 2);
  for (int step = 0; step < 3; ++step) {
    const float square = Scalar::mul(y, y);
    y = Scalar::mul(y, Scalar::fma(-half, square, 1.5f));
  }
  const float product = Scalar::mul(n, y), lost = Scalar::fma(n, y, -product);
  const float remainder = Scalar::sub(Scalar::fma(-product, y, 1.0f), Scalar::mul(lost, y));
  return Scalar::fma(0.5f * y, remainder, y);
}

}  // namespace c_surface
}  // namespace attend

using namespace attend::c_surface;

extern "C" float attend_default_scale(ptrdiff_t head_dim) {
  return head_dim >= 1 && head_dim <= ATTEND_MAX_WIDTH ? usual_scale(int(head_dim)) : 0.0f;
}
