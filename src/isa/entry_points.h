// What each instruction set defines, as members of its `Backend`: attention/host_backend.h or embedded_backend.h,
// attention/integer_backend.h, and layer/. Each function is one of its own, so that linkers drop what a program does not call.
// Those that compute in floats are not inlined, also where all sources are one file: see float_environment.h.

// Computes a problem.
ATTEND_NOINLINE static void run(const core::Problem& problem);
// The same with options.
ATTEND_NOINLINE static void run_options(const core::Problem& problem, const core::Options& options);

static void run_integers(const core::IntegerProblem& problem);
static void run_integer_options(const core::IntegerProblem& problem, const core::IntegerOptions& options);

// Projections in integers: outputs of 1, 2 or 4 bytes. Hosts only; of embedded processors see isa/embedded_integers.cpp.
static void run_integer_linear(const core::IntegerLinear& linear, int output_bytes, bool panels);
// types: integer_sum_types of a, b and the output.
static void run_integer_sum(const core::IntegerSum& sum, int types);

ATTEND_NOINLINE static void rms_norm(const core::Normalisation& normalisation);
ATTEND_NOINLINE static void layer_norm(const core::Normalisation& normalisation);
ATTEND_NOINLINE static void add(const float* x, float factor, int count, float* y);
ATTEND_NOINLINE static void rotary_angles(const uint64_t* turns, int pairs, int position, float* cosines, float* sines);
ATTEND_NOINLINE static void rotate(const core::Rotation& rotation);

// Activations, by their names, and projections, by the format of the weights.
#define ATTEND_ENTRY_POINT(activation) \
  ATTEND_NOINLINE static void activation(const float* from, const float* by, int count, float* to);
ATTEND_EACH_ACTIVATION(ATTEND_ENTRY_POINT)
#undef ATTEND_ENTRY_POINT
#define ATTEND_ENTRY_POINT(format) ATTEND_NOINLINE static void project_##format(const core::Linear& linear);
ATTEND_EACH_FORMAT(ATTEND_ENTRY_POINT)
#undef ATTEND_ENTRY_POINT
