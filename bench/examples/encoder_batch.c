/* An encoder layer over a batch of sequences of different lengths, in C99: x = norm(x + attention(x)), x = norm(x + mlp(x)).
 * What stands in the padding changes no bit of the tokens. */
#include <attend/attend_c.h>
#include <attend/c/layers.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batch = 3, tokens = 8, heads = 4, head_dim = 8, width = heads * head_dim, hidden = 4 * width };

/* Weights are [output][input]. Queries, keys and values are made by one matrix. */
static float qkv[3 * width][width], qkv_bias[3 * width], mix[width][width], mix_bias[width];
static float up[hidden][width], up_bias[hidden], down[width][hidden], down_bias[width], gain[width], shift[width];
static float x[batch][tokens][width], fused[batch][tokens][3][heads][head_dim], seen[batch][tokens][heads][head_dim];
static float y[batch][tokens][width], opened[batch][tokens][hidden];
static const ptrdiff_t lengths[batch] = {8, 5, 2};

/* [errors] */
/* Every call returns a status, which has words for what is wrong with which argument. */
static void print_error(FILE* to, attend_status status) {
  fprintf(to, "refused: %s: %s\n", attend_argument_name(status), attend_error_text(status));
}

static void require(attend_status status) {
  if (status == ATTEND_OK) return;
  print_error(stderr, status);
  exit(1);
}
/* [/errors] */

/* [memory] */
/* The first address in memory that is aligned as the library asks for; the memory has ATTEND_ALIGNMENT bytes to spare. */
static void* aligned(char* memory) { return memory + (ATTEND_ALIGNMENT - (uintptr_t)memory % ATTEND_ALIGNMENT); }
/* [/memory] */

/* One projection of all tokens of the batch. */
static void project(const float* from, const float* weights, const float* bias, ptrdiff_t inputs, ptrdiff_t outputs,
                    float* to) {
  attend_projection projection = {0};
  projection.weights.data = weights;
  projection.weights.bias = bias;
  projection.weights.inputs = inputs;
  projection.weights.outputs = outputs;
  projection.y = to;
  require(attend_project(from, batch * tokens, &projection, 1, NULL, 0)); /* work memory would make it faster */
}

/* x = norm(x + y) */
static void add_and_normalise(void) {
  attend_norm norm = {0};
  norm.weight = gain;
  norm.bias = shift;
  norm.width = width;
  norm.epsilon = 1e-12f;
  require(attend_add(y[0][0], 1.0f, batch * tokens * width, x[0][0]));
  require(attend_layer_norm(&norm, x[0][0], batch * tokens, x[0][0]));
}

/* [attention] */
/* Queries, keys and values are read where the projection has put them: [batch][token][query, key, value][head][dim]. */
static attend_problem attention_problem(void) {
  attend_problem problem;
  require(attend_problem_init(&problem, sizeof problem));
  problem.batch = batch;
  problem.queries = problem.keys = tokens;
  problem.key_lengths = lengths; /* what is behind them does not exist */
  problem.query_heads = problem.kv_heads = heads;
  problem.head_dim = problem.value_dim = head_dim;
  problem.query.data = fused[0][0][0];
  problem.query.batch_stride = tokens * 3 * width;
  problem.query.token_stride = 3 * width;
  problem.query.head_stride = head_dim;
  problem.key = problem.value = problem.query;
  problem.key.data = fused[0][0][1];
  problem.value.data = fused[0][0][2];
  problem.output.data = seen; /* dense: its strides stay as they are */
  return problem;
}
/* [/attention] */

/* [layer] */
static void run_layer(const attend_problem* attention, void* work, size_t work_size) {
  project(x[0][0], qkv[0], qkv_bias, width, 3 * width, fused[0][0][0][0]);
  require(attend_run(attention, work, work_size));
  project(seen[0][0][0], mix[0], mix_bias, width, width, y[0][0]);
  add_and_normalise();
  project(x[0][0], up[0], up_bias, width, hidden, opened[0][0]);
  require(attend_activate(ATTEND_GELU, opened[0][0], NULL, batch * tokens * hidden, opened[0][0]));
  project(opened[0][0], down[0], down_bias, hidden, width, y[0][0]);
  add_and_normalise();
}
/* [/layer] */

/* Uniform numbers in the place of a checkpoint, the same on every machine. */
static void fill(float* to, size_t bytes, float scale) {
  static uint32_t seed = 1;
  size_t i;
  for (i = 0; i < bytes / sizeof *to; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = (float)((int)(seed >> 16) - 32768) / 32768.0f * scale;
  }
}

int main(void) {
  static float start[batch][tokens][width], first[batch][tokens][width];
  int row, token, c, same = 1;
  fill(qkv[0], sizeof qkv, 0.4f);
  fill(mix[0], sizeof mix, 0.2f);
  fill(up[0], sizeof up, 0.2f);
  fill(down[0], sizeof down, 0.1f);
  fill(gain, sizeof gain, 1.0f);
  fill(start[0][0], sizeof start, 1.0f);

  /* [size] */
  attend_problem problem = attention_problem();
  require(attend_check(&problem)); /* where it is refused, the size is 0 */
  const size_t work_size = attend_workspace_size(&problem);
  char* const memory = malloc(work_size + ATTEND_ALIGNMENT); /* the library never allocates: any memory will do */
  if (memory == NULL) return 1;
  void* const work = aligned(memory);
  /* [/size] */

  memcpy(x, start, sizeof x);
  run_layer(&problem, work, work_size);
  memcpy(first, x, sizeof x);

  memcpy(x, start, sizeof x);
  for (row = 0; row < batch; ++row) {
    for (token = (int)lengths[row]; token < tokens; ++token) {
      for (c = 0; c < width; ++c) x[row][token][c] = NAN;
    }
  }
  run_layer(&problem, work, work_size);
  for (row = 0; row < batch; ++row) {
    if (memcmp(x[row], first[row], (size_t)lengths[row] * sizeof x[row][0]) != 0) same = 0;
    printf("sequence %d, tokens: %d, the first: %.6f %.6f\n", row, (int)lengths[row], (double)x[row][0][0],
           (double)x[row][0][1]);
  }
  printf("with NaN in the padding: %s\n", same ? "the same bits" : "OTHER BITS");

  problem.kv_heads = 3; /* a mistake, to see what it is called */
  print_error(stdout, attend_check(&problem));
  free(memory);
  return same ? 0 : 1;
}
