// Digests of the gates and norms around linear attention. Freestanding, as plain_digest.h.
#pragma once

#include "attend/layers/gated_norm.h"
#include "attend/linear_attention/core_linear_attention.h"
#include "layer_digest.h"

namespace attend_test {

// Rows of 35, with a rate for each number, for seven and for all, with and without bias; then floats whose bits are random.
template <bool bounded>
uint64_t digest_of_gates(float* memory) {
  float *const z = memory, *const bias = memory + 600, *const rates = memory + 650;
  Random random(9);
  random.fill(bias, 35), random.fill(rates, 35, 3.0f);
  uint64_t hash = hash_begin;
  const int rate_counts[] = {35, 5, 1};
  for (const int rate_count : rate_counts) {
    random.fill(z, 3 * 35, 12.0f);
    if (rate_count == 1) {
      for (int i = 0; i < 16 * 35; ++i) {
        const uint32_t bits = random.bits();
        __builtin_memcpy(z + i, &bits, sizeof bits);
      }
    }
    const int tokens = rate_count == 1 ? 16 : 3;
    const attend::core::GateInputs gates = {z, rate_count == 5 ? nullptr : bias, rates, z, tokens, 35, rate_count, -5.0f};
    if (bounded) {
      attend::core::bounded_gates(gates);
    } else {
      attend::core::decay_gates(gates);
    }
    hash = hash_of(z, size_t(tokens * 35), hash);
  }
  return hash;
}

// Four rows by l2_norm, then by gated_rms_norm in either order, with groups, with and without weight.
template <int width>
uint64_t digest_of_gated_norms(float* memory) {
  using attend::GateOrder;
  using Rows = float[4][width];
  using Row = float[width];
  Rows &x = *reinterpret_cast<Rows*>(memory), &gate = *reinterpret_cast<Rows*>(memory + 4 * width);
  Row& weight = *reinterpret_cast<Row*>(memory + 8 * width);
  Random random(10);
  uint64_t hash = hash_begin;
  bool done = true;
  const auto draw = [&] {
    random.fill(x[0], 4 * width, 3.0f), random.fill(gate[0], 4 * width, 5.0f), random.fill(weight, width);
  };
  const auto take = [&](attend::Status status) {
    done = done && status == attend::Status::ok;
    hash = hash_of(x[0], 4 * width, hash);
    draw();
  };
  draw();
  take(attend::l2_norm(x, x));
  take(attend::gated_rms_norm<GateOrder::last>(x, gate, weight, x));
  take(attend::gated_rms_norm<GateOrder::last, 2, Activation::sigmoid>(x, gate, weight, x));
  take(attend::gated_rms_norm<GateOrder::first>(x, gate, attend::none, x));
  take(attend::gated_rms_norm<GateOrder::first, 2>(x, gate, weight, x, 1e-3f));
  return done ? hash : 0;
}

}  // namespace attend_test
