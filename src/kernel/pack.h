// Packs keys into panels; small helpers that kernels and walks share.

constexpr int whole_panels(int keys) { return (keys + panel_keys - 1) & -panel_keys; }

constexpr int cache_line = 64;

// Prefetches lines twice: far ahead into the second-level cache, and nearer into the first.
template <int bytes>
ATTEND_ALWAYS_INLINE void prefetch_lines(const void* near, const void* far) {
  ATTEND_UNROLL
  for (int i = 0; i < bytes; i += cache_line) {
    ATTEND_PREFETCH(static_cast<const char*>(far) + i, 0, 2);
    ATTEND_PREFETCH(static_cast<const char*>(near) + i, 0, 3);
  }
}

// Work memory of a call in floats, from number `at` on.
inline float* floats_at(const core::Problem& problem, ptrdiff_t at) { return static_cast<float*>(problem.scratch) + at; }

// An element of a tensor; element<Number> of one whose numbers the problem says nothing about.
template <class Number>
Number* element(const core::Tensor<Number>& tensor, int token, int head) {
  return tensor.data + core::distance(tensor, token, head);
}
template <class Number>
Number* element(const core::Tensor<void>& tensor, int token, int head) {
  return static_cast<Number*>(tensor.data) + core::distance(tensor, token, head);
}
template <class Number>
const Number* element(const core::Tensor<const void>& tensor, int token, int head) {
  return static_cast<const Number*>(tensor.data) + core::distance(tensor, token, head);
}

// scale * log2(e) rounded once: log2(e) in two floats, so that the second product only corrects the first. With queries scaled
// by this, scores come out in base 2.
inline float base2_scale(float scale) {
  constexpr float high = 1.442695f, low = 1.925963e-08f;
  return Scalar::fma(scale, high, Scalar::mul(scale, low));
}

// Keys that lie in rows become one panel, panel[d][lane] = keys[lane][d]. Lanes past key_count get the last key, so that
// nothing beyond it is read; their scores are not read.
template <class Isa>
ATTEND_NOINLINE void pack_panel(const float* keys, ptrdiff_t key_stride, int key_count, int head_dim, float* panel) {
  if constexpr (panel_keys == Isa::lanes && Isa::transposes_rows) {
    // Whole lines at a time: halves of them would go through the caches twice.
    if (key_count >= panel_keys && head_dim % 4 == 0) {
      for (int d = 0; d < head_dim; d += 4, panel += 4 * panel_keys) {
        typename Isa::Vec four[4];
        Isa::columns_of_rows(keys + d, key_stride, four);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) Isa::store(panel + i * panel_keys, four[i]);
      }
      return;
    }
  }
  constexpr int at_once = Isa::transposed;  // rows and columns
  for (int lane = 0; lane < panel_keys; lane += at_once, panel += at_once) {
    const float* rows[at_once];
    ATTEND_UNROLL
    for (int i = 0; i < at_once; ++i) rows[i] = opaque(keys + at_most(lane + i, key_count - 1) * key_stride);
    int d = 0;
    for (; head_dim - d >= at_once; d += at_once) Isa::transpose(rows, d, panel + d * panel_keys);
    for (; d < head_dim; ++d) {
      ATTEND_UNROLL
      for (int i = 0; i < at_once; ++i) panel[d * panel_keys + i] = rows[i][d];
    }
  }
}
