// States of linear attention on Cortex-M4F, M7 and M33: 8 columns of a chain. Sums are in s0-s7, a factor in s8, a key in s9,
// numbers of the state in s10-s17, u in s20-s27.

struct VfpState : Scalar {
  static Vec broadcast(float a) { return Vfp::broadcast(a); }
  template <StateGate has>
  ATTEND_ALWAYS_INLINE static void pass_state(const StateChain& c) {
    float* state = c.state;
    const float *factors = c.factors, *keys = c.keys, *gates = c.gates;
    float gate = c.gate;
    int dims = c.dims;
    __asm__ volatile(
        ".irpc i, 0123\n"
        "vmov d\\i, %[zero], %[zero]\n"
        ".endr\n"
        "cmp %[keys], #0\n"
        "bne 2f\n"
        "1:\n"
        "vldmia %[state], {s10-s17}\n"
        "vldmia %[factors]!, {s8}\n"
        "add %[state], %[state], %[stride]\n"
        "subs %[dims], %[dims], #1\n"
        "vmul.f32 s8, s8, %[by]\n"
        ".irpc i, 01234567\n"
        "vfma.f32 s\\i, s8, s1\\i\n"
        ".endr\n"
        "bne 1b\n"
        "b 3f\n"
        "2:\n"
        "vldmia %[u], {s20-s27}\n"
        "4:\n"
        "vldmia %[state], {s10-s17}\n"
        "vldmia %[keys]!, {s9}\n"
        ".if %c[each]\n"
        "vldmia %[gates]!, {%[gate]}\n"
        ".endif\n"
        "vldmia %[factors]!, {s8}\n"
        ".if %c[any]\n"
        ".irpc i, 01234567\n"
        "vmul.f32 s1\\i, s1\\i, %[gate]\n"
        ".endr\n"
        ".endif\n"
        "vmul.f32 s8, s8, %[by]\n"
        ".irpc i, 01234567\n"
        "vfma.f32 s1\\i, s9, s2\\i\n"
        ".endr\n"
        "subs %[dims], %[dims], #1\n"
        "vstmia %[state], {s10-s17}\n"
        "add %[state], %[state], %[stride]\n"
        ".irpc i, 01234567\n"
        "vfma.f32 s\\i, s8, s1\\i\n"
        ".endr\n"
        "bne 4b\n"
        "3:\n"
        "cmp %[to], #0\n"
        "beq 5f\n"
        "vldmia %[to], {s10-s17}\n"
        ".irpc i, 01234567\n"
        "vadd.f32 s\\i, s\\i, s1\\i\n"
        ".endr\n"
        "vstmia %[to], {s0-s7}\n"
        "5:\n"
        : [state] "+&r"(state), [factors] "+&r"(factors), [keys] "+&r"(keys), [gates] "+&r"(gates), [gate] "+&t"(gate),
          [dims] "+&r"(dims)
        : [stride] "r"(c.stride * 4), [u] "r"(c.u), [to] "r"(c.to), [zero] "r"(0), [by] "t"(c.by),
          [each] "i"(int(has == StateGate::each)), [any] "i"(int(has != StateGate::none))
        : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d10", "d11", "d12", "d13", "cc", "memory");
  }
};
template <>
constexpr int state_columns<VfpState> = 8;
