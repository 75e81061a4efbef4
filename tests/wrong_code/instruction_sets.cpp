//! backend_without_max: at Vec (*max)(Vec a, Vec b) = &Isa::max;
#define ATTEND_ISA tested
#include "src/backend/begin.h"

struct WithoutMax : attend::tested::Scalar {
  static float max(const float* numbers, int count);
};
static_assert(attend::tested::has_embedded_operations<WithoutMax>(), "");
//! integer_backend_with_another_largest: at int32_t (*largest)(const int32_t* scores) = &Isa::largest;
#define ATTEND_ISA tested
#include "src/backend/begin.h"

struct OtherLargest : attend::tested::IntegerScalar {
  static int32_t largest(const int16_t* scores);
};
static_assert(attend::tested::HasIntegerOperations<OtherLargest>::all, "");
//! integer_host_without_kernels: at void (*scores)(const Query* const* query, const int8_t* keys, int head_dim, Tile tile)
#define ATTEND_ISA tested
#include "src/backend/begin.h"

struct WithoutKernels : attend::tested::IntegerScalar {
  static constexpr bool packs = true, reads_quads = false;
};
static_assert(attend::tested::HasIntegerOperations<WithoutKernels>::all, "");
//! integer_host_without_quads: at Tile tile) = &Isa::scores_in_quads;
#define ATTEND_ISA tested
#include "src/backend/begin.h"

struct WithoutPanels : attend::tested::IntegerScalar {
  static constexpr bool packs = true, reads_quads = true;
};
static_assert(attend::tested::HasIntegerOperations<WithoutPanels>::all, "");
