"""Functions that programs in C hold where they call them, by their names; a pattern for those that come together."""
from .integer_steps import LIMITS, ROUND
from .numbers_in_c import number

PROBLEM = '''static void set_shape(attend_problem* problem, const struct heads* heads, ptrdiff_t queries, ptrdiff_t keys) {
  problem->query_heads = heads->query_heads;
  problem->kv_heads = heads->kv_heads;
  problem->head_dim = heads->head_dim;
  problem->value_dim = heads->value_dim;
  problem->queries = queries;
  problem->keys = keys;
}
'''
NEW_PROBLEM = '''static attend_status KIND_problem(attend_problem* problem, const struct heads* heads, ptrdiff_t queries, ptrdiff_t keys) {
  const attend_status status = attend_PREFIXproblem_init(problem, sizeof *problem);
  if (status == ATTEND_OK) set_shape(problem, heads, queries, keys);
  return status;
}

'''
MAKE_CACHE = '''// An empty cache of so many tokens or, with a window, a ring that keeps the last `window` ones.
static attend_status make_cache(void* memory, size_t bytes, const struct heads* heads, ptrdiff_t tokens, ptrdiff_t window, int integers) {
  attend_cache_shape shape;
  const attend_status status = attend_cache_shape_init(&shape, sizeof shape);
  if (status != ATTEND_OK) return status;
  shape.kv_heads = heads->kv_heads;
  shape.head_dim = heads->head_dim;
  shape.value_dim = heads->value_dim;
  shape.max_tokens = tokens;
  shape.window_keys = window;
  shape.integers = integers;
  return attend_cache_init(&shape, memory, bytes, NULL);
}

'''
APPEND = '''// Adds a token to a cache.
static attend_status append_KIND(attend_cache* cache, const TYPE* key, const TYPE* value) {
  const attend_input keys = {key, 0, ATTEND_DENSE, ATTEND_DENSE}, values = {value, 0, ATTEND_DENSE, ATTEND_DENSE};
  return attend_PREFIXcache_append(cache, 1, &keys, &values);
}

'''
PROJECT = '''static attend_status project(const float* x, ptrdiff_t tokens, const attend_weights* weights, float* y, void* work, size_t size) {
  attend_projection projection;
  projection.weights = *weights;
  projection.y = y;
  return attend_project(x, tokens, &projection, 1, work, size);
}

'''
ROTATE = '''// Turns heads of [tokens][heads][width] in place.
static attend_status rotate(const attend_rotary* rotary, ptrdiff_t tokens, ptrdiff_t heads, ptrdiff_t width, ptrdiff_t position, float* y) {
  const attend_output turned = {y, 0, heads * width, width};
  return attend_rotate(rotary, &turned, tokens, heads, width, position);
}

'''
LARGER = '''// A NaN is larger than every number.
static float larger(float a, float b) { return a < b || b != b ? b : a; }

'''
SOFTMAX = '''static attend_status softmax(const float* x, int width, float* y) {
  attend_status status;
  float most = x[0], total = 0;
  for (int i = 0; i < width; ++i) most = most < x[i] || x[i] != x[i] ? x[i] : most;
  for (int i = 0; i < width; ++i) y[i] = -most;
  status = attend_add(x, 1.0f, width, y);  // a difference that no compiler fuses with the product before it
  if (status == ATTEND_OK) status = attend_activate(ATTEND_EXP, y, NULL, width, y);
  for (int i = 0; i < width; ++i) total += y[i];
  for (int i = 0; i < width; ++i) y[i] /= total;
  return status;
}

'''
LOG_SOFTMAX = '''static attend_status log_softmax(const float* x, int width, float* y) {
  attend_status status;
  float most = x[0], total = 0, log = 0, power;
  for (int i = 0; i < width; ++i) most = most < x[i] || x[i] != x[i] ? x[i] : most;
  for (int i = 0; i < width; ++i) y[i] = -most;
  status = attend_add(x, 1.0f, width, y);
  for (int i = 0; i < width && status == ATTEND_OK; ++i) {
    status = attend_activate(ATTEND_EXP, y + i, NULL, 1, &power);
    total += power;
  }
  for (int i = 0; i < 16 && status == ATTEND_OK; ++i) {  // Halley's method
    status = attend_activate(ATTEND_EXP, &log, NULL, 1, &power);
    log += 2 * (total - power) / (total + power);
  }
  for (int i = 0; i < width; ++i) y[i] -= log;
  return status;
}

'''
ARG_MAX = '''static int32_t place_of_largest(const float* x, int32_t width) {
  int32_t place = 0;
  for (int32_t i = 1; i < width; ++i) {
    if (x[place] < x[i]) place = i;
  }
  return place;
}

'''
GATE = '''// y = f(x) * by: f by interpolation between 257 numbers, products times factor / 2^shift, to the nearest.
static void gate(const int16_t* x, const int16_t* by, const int16_t* f, int32_t factor, int shift, int zero, int8_t* y, int count) {
  for (int i = 0; i < count; ++i) {
    const int place = (x[i] >> 8) + 128, part = x[i] & 255;
    const int32_t between = (f[place] * 256 + (f[place + 1] - f[place]) * part + 128) >> 8;
    const int64_t product = (int64_t)(between * by[i]) * factor + ((int64_t)1 << (shift - 1));
    const int64_t found = (product >> shift) + zero;
    y[i] = (int8_t)(found < -128 ? -128 : found > 127 ? 127 : found);
  }
}

'''
CLAMPED = '''static int32_t clamped(int64_t number, int32_t lowest, int32_t most) {
  return (int32_t)(number < lowest ? lowest : number > most ? most : number);
}

'''
TO_WHOLE = f'''// number = x / scale + zero, to the nearest, ties to even, clamped; of at most 8 floats. The library's multiply-add rounds at the last
// digit before the point, whatever the compiler would make of a product and a sum.
static attend_status to_whole(const float* x, int count, float factor, int zero, int lowest, int32_t* y) {{
  const float point = {number(ROUND)}, low = point + (float)(lowest - zero), high = point + (float)(-1 - lowest - zero);
  float given[8] = {{0}}, moved[8];
  attend_status status;
  for (int i = 0; i < 8; ++i) moved[i] = point;
  for (int i = 0; i < count; ++i) given[i] = x[i];
  status = attend_add(given, factor, 8, moved);
  for (int i = 0; i < count; ++i) {{
    const float number = moved[i] > low ? moved[i] < high ? moved[i] : high : low;
    y[i] = (int32_t)(number - point) + zero;
  }}
  return status;
}}
'''
TO_TYPE = '''static attend_status to_TYPE(const float* x, int count, float factor, int zero, TYPE_t* y) {
  for (int first = 0; first < count; first += 8) {
    const int here = count - first < 8 ? count - first : 8;
    int32_t numbers[8];
    const attend_status status = to_whole(x + first, here, factor, zero, LOWEST, numbers);
    if (status != ATTEND_OK) return status;
    for (int i = 0; i < here; ++i) y[first + i] = (TYPE_t)numbers[i];
  }
  return ATTEND_OK;
}

'''
OF_TYPE = '''static void floats_of_TYPE(const TYPE_t* x, int count, int zero, float scale, float* y) {
  for (int i = 0; i < count; ++i) y[i] = (float)(x[i] - zero) * scale;
}

'''
INT4_GROUP = '''struct int4_group {
  uint8_t scale[2], numbers[16];
};
'''
INT4_PANEL = '''struct int4_panel {
  uint16_t scales[16];
  uint8_t numbers[4][16][4];
};
'''

_of = lambda text, type: text.replace('TYPE', type).replace('LOWEST', str(LIMITS[type][0]))
_of_kind = lambda text, kind, type, prefix: text.replace('KIND', kind).replace('TYPE', type).replace('PREFIX', prefix)
IN_BOTH = {'place_of_largest': ARG_MAX, 'larger': LARGER, 'gate': GATE}  # C99 and C++17 alike
HELPERS = {
    'float_problem|integer_problem': PROBLEM, 'float_problem': _of_kind(NEW_PROBLEM, 'float', '', ''),
    'integer_problem': _of_kind(NEW_PROBLEM, 'integer', '', 'integer_'),
    'append_floats': _of_kind(APPEND, 'floats', 'float', ''), 'append_integers': _of_kind(APPEND, 'integers', 'int8_t', 'integer_'), 'make_cache': MAKE_CACHE,
    'project': PROJECT, 'rotate': ROTATE, 'softmax': SOFTMAX, 'log_softmax': LOG_SOFTMAX, **IN_BOTH, 'clamped': CLAMPED,
    'to_int8|to_int16': TO_WHOLE, 'to_int8': _of(TO_TYPE, 'int8'), 'to_int16': _of(TO_TYPE, 'int16'),
    **{f'floats_of_{type}': OF_TYPE.replace('TYPE', type) for type in ('int8', 'int16', 'int32', 'uint8')},
}
