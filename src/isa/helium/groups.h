// Weights, keys and values of 4 bits with Helium. A number n of four bits becomes n - 8 as the signed number of n ^ 8.

struct HeliumGroups : HeliumRow {
  // One of the two chains of a group, its numbers `stride` floats apart.
  ATTEND_HOT ATTEND_NOINLINE static void widen_chain(const Int4Numbers& from, int chain, float* to, ptrdiff_t stride) {
    const float scale = ATTEND_ISA::widen(scale_of(from));
    const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), uint32_t(stride));
    const uint8_t* bytes = from.bytes;
    for (int words = 4; words > 0; --words, bytes += from.step, to += 4 * stride) {
      const uint32x4_t numbers = vandq_u32(vshlq_r_u32(vldrbq_u32(bytes), -4 * chain), vdupq_n_u32(15));
      const float32x4_t wide = vmulq_n_f32(vsubq_n_f32(vcvtq_f32_u32(numbers), 8.0f), scale);
      if (stride == 1) {
        vst1q_f32(to, wide);
      } else {
        vstrwq_scatter_shifted_offset_f32(to, places, wide);
      }
    }
  }

  // Outputs of a panel, 4 at a time: the sums of both chains of a group side by side.
  ATTEND_HOT ATTEND_NOINLINE static void outputs_of_groups(const GroupOutputs& c) {
    if (c.panels == nullptr) return Scalar::outputs_of_groups(c);
    const float* input = c.input;
    for (int group = 0; group < c.groups; ++group, input += core::int4_group) {
      const core::Int4Panel& panel = c.panels[group];
      float scales[panel_keys];
      widen_as<half>(panel.scales, panel_keys, scales);
      for (int o = 0; o < c.outputs; o += 4) {
        const mve_pred16_t here = vctp32q(uint32_t(c.outputs - o));
        const float32x4_t scale = vld1q_f32(scales + o);
        float32x4_t low, high;
        // A scale that is infinite becomes NaN.
        add_group(input, panel.numbers[0][o], vaddq_f32(scale, vsubq_f32(scale, scale)), low, high);
        const float32x4_t before = group > 0 ? vld1q_z_f32(c.to + o, here) : vdupq_n_f32(0.0f);
        vst1q_p_f32(c.to + o, vaddq_f32(vaddq_f32(before, low), high), here);
      }
    }
  }

 private:
  ATTEND_ALWAYS_INLINE static void add_group(const float* input, const uint8_t* numbers, float32x4_t scale, float32x4_t& low,
                                             float32x4_t& high) {
    low = high = vdupq_n_f32(0.0f);
    for (int word = 0; word < 4; ++word, numbers += 4 * panel_keys, input += 4) {
      const void* const from = numbers;
      const int32x4_t words = veorq_s32(vld1q_s32(static_cast<const int32_t*>(from)), vdupq_n_s32(int(0x88888888u)));
      multiply_add<0>(words, scale, input, low, high);
      multiply_add<1>(words, scale, input, low, high);
      multiply_add<2>(words, scale, input, low, high);
      multiply_add<3>(words, scale, input, low, high);
    }
  }
  template <int byte>
  ATTEND_ALWAYS_INLINE static void multiply_add(int32x4_t words, float32x4_t scale, const float* input, float32x4_t& low,
                                                float32x4_t& high) {
    low = vfmaq_n_f32(low, weights<28 - 8 * byte>(words, scale), input[byte]);
    high = vfmaq_n_f32(high, weights<24 - 8 * byte>(words, scale), input[chain_dims + byte]);
  }
  // The four bits that a shift to the left brings to the top.
  template <int shift>
  ATTEND_ALWAYS_INLINE static float32x4_t weights(int32x4_t words, float32x4_t scale) {
    if constexpr (shift > 0) words = vshlq_n_s32(words, shift);
    return vmulq_f32(vcvtq_f32_s32(vshrq_n_s32(words, 28)), scale);
  }
};
