"""Writes a folder like those of exported models whose self-test asks the library whether c_work's sizes are enough: of work memory, and of
caches. Its result is the number of the first shape whose are not."""
import itertools

from attend.exporter import c_work

SHAPES = [(heads, kv_heads, head_dim, value_dim, queries, keys)
          for (heads, kv_heads), (head_dim, value_dim), (queries, keys) in itertools.product(
              ((1, 1), (4, 4), (8, 2), (20, 1)), ((1, 1), (24, 24), (64, 17), (5, 130)), ((1, 1), (1, 70), (3, 33), (17, 513), (500, 1100), (1, 5000)))]


def rows():
    for heads, kv_heads, head_dim, value_dim, queries, keys in SHAPES:
        for integers, window, cached in itertools.product((False, True), (0, 9), (False, True)):
            # A cache with a window is a ring.
            ring = c_work.ring_tokens(window, integers) if cached and window else 0
            shape = c_work.Shape(heads, kv_heads, head_dim, value_dim, 1 if cached else queries, c_work.MOST_TOKENS if ring else keys, cached, ring)
            sizes = c_work.of_integers(shape) if integers else c_work.of_floats(shape, window > 0)
            yield (heads, kv_heads, head_dim, value_dim, shape.queries, shape.keys, window, int(cached), int(integers), *sizes,
                   c_work.of_cache(shape, integers) if cached else 0)


def write_work_sizes(folder):
    folder.mkdir()
    table = list(rows())
    (folder / 'model.h').write_text('')
    (folder / 'model.c').write_text('typedef int no_model;\n')
    (folder / 'self_test.c').write_text(f'''#include <attend/attend_c.h>
#include <attend/c/integer.h>
#include <attend/c/layers.h>

#if {c_work.IS_HOST}
enum {{ IS_HOST = 1 }};
#else
enum {{ IS_HOST = 0 }};
#endif

static const int rows[{len(table)}][{len(table[0])}] = {{
{chr(10).join('{' + ', '.join(map(str, row)) + '},' for row in table)}
}};
__attribute__((aligned(ATTEND_ALIGNMENT))) static unsigned char memory[4096];

static void* address(unsigned number) {{
  return (void*)(uintptr_t)(0x8000000u * number);  // nothing is read there
}}

static attend_problem problem;

static size_t work_size(const int* row, int cached, int integers, attend_integer_constants* constants) {{
  attend_cache* cache = NULL;
  integers ? attend_integer_problem_init(&problem, sizeof problem) : attend_problem_init(&problem, sizeof problem);
  problem.query_heads = row[0], problem.kv_heads = row[1], problem.head_dim = row[2], problem.value_dim = row[3];
  problem.queries = row[4], problem.keys = cached ? ATTEND_ALL_KEYS : row[5];
  problem.query.data = address(1);
  problem.output.data = address(2);
  if (integers) problem.head_constants = constants;
  if (row[6] > 0) problem.window_left = row[6] - 1, problem.offset = 0;
  if (cached) {{
    attend_cache_shape shape;
    attend_cache_shape_init(&shape, sizeof shape);
    shape.kv_heads = row[1], shape.head_dim = row[2], shape.value_dim = row[3];
    shape.max_tokens = row[5], shape.window_keys = row[6], shape.integers = integers;
    if (attend_cache_size(&shape) > (size_t)row[11]) return (size_t)-1;
    if (attend_cache_init(&shape, memory, (size_t)row[11], &cache) != ATTEND_OK) return (size_t)-1;
    problem.cache = cache;
  }} else {{
    problem.key.data = address(3);
    problem.value.data = address(4);
    if (row[6] > 0) problem.options = ATTEND_CAUSAL;
  }}
  return attend_workspace_size(&problem);
}}

int work_sizes_self_test(void) {{
  attend_integer_scales scales;
  attend_integer_constants constants[32];
  attend_integer_scales_init(&scales, sizeof scales);
  scales.query_scale = scales.key_scale = scales.value_scale = scales.output_scale = 0.01;
  if (IS_HOST && {c_work.PROJECTION[0]} != ATTEND_PROJECTION_WORKSPACE_SIZE) return 0;
  for (int i = 0; i < {len(table)}; ++i) {{
    for (int head = 0; head < 32; ++head) {{
      if (attend_integer_prepare(&scales, rows[i][2], &constants[head]) != ATTEND_OK) return i;
    }}
    const size_t size = work_size(rows[i], rows[i][7], rows[i][8], constants), room = (size_t)rows[i][IS_HOST ? 9 : 10];
    if (size == 0 || size > room || (IS_HOST && sizeof(void*) == 8 && size != room)) return i;
  }}
  return -1;
}}

#ifdef ATTEND_SELF_TEST_MAIN
#include <stdio.h>
int main(void) {{
  const int wrong = work_sizes_self_test();
  if (wrong >= 0) {{
    for (int i = 0; i < {len(table[0])}; ++i) printf("%d ", rows[wrong][i]);
    printf("row %d: %lu bytes\\n", wrong, (unsigned long)attend_workspace_size(&problem));
  }}
  return wrong >= 0;
}}
#endif
''')

