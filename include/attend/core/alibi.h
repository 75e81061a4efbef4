// The slopes of ALiBi.
#pragma once

namespace attend {
namespace core {

// slopes[heads], heads within 1 ... 65536, by the published rule (Press, Smith and Lewis, 2022): powers of 2^(-8 / n), n being
// the largest power of two up to `heads`; heads beyond n take the odd powers of its square root. Each is rounded to the nearest
// float once, the same bits on every target.
void alibi_slopes(int heads, float* slopes);

}  // namespace core
}  // namespace attend
