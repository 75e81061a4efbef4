// Faults that are no field's own: what excludes, needs or must fit something else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "malformed.h"

namespace attend_test {

inline attend_problem no_problem() {
  attend_problem p;
  attend_problem_init(&p, sizeof p);
  return p;
}

inline bool set_shape_of_cache(attend_problem& p, Random& random) {
  std::ptrdiff_t* const extents[] = {&p.kv_heads, &p.head_dim, &p.value_dim};
  *extents[random.between(0, 2)] = 1;
  return p.cache != nullptr;
}

// Where a setting is a fault.
inline bool always(const attend_problem&) { return true; }
inline bool over_cache(const attend_problem& p) { return p.cache != nullptr; }
inline bool no_states(const attend_problem& p) { return p.states == nullptr && World::keys(p) > 0; }
inline bool no_pages(const attend_problem& p) { return p.pages.table == nullptr && p.cache == nullptr; }
inline bool may_be_paged(const attend_problem& p) { return is_read(p, ATTEND_ARG_PAGES); }
inline bool many_paged(const attend_problem& p) { return is_read(p, ATTEND_ARG_PAGES) && p.batch > 1; }
inline bool many_rows(const attend_problem& p) { return World::has_arrays(p) && no_pages(p) && p.batch > 1; }
inline bool many_heads(const attend_problem& p) { return World::has_arrays(p) && no_pages(p) && p.kv_heads > 1; }

// A number that needs, or excludes, something else.
struct Setting {
  attend_error error;
  attend_argument argument, needs, and_needs;
  std::size_t at, size;
  std::ptrdiff_t value;
  bool (*is_fault)(const attend_problem&);
};
constexpr attend_argument nothing = ATTEND_ARG_NONE;
constexpr std::size_t int_size = sizeof(int), long_size = sizeof(std::ptrdiff_t);
inline const Setting settings[] = {
    {ATTEND_AMBIGUOUS, ATTEND_ARG_MASK_KIND, ATTEND_ARG_MASK, nothing, offsetof(P, mask.kind), int_size, 0, always},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_SCORES_STAGE, ATTEND_ARG_SCORES, nothing, offsetof(P, scores.stage), int_size, 0, always},
    {ATTEND_CONFLICT, ATTEND_ARG_SCORES_STAGE, ATTEND_ARG_STATES, ATTEND_ARG_SCORES, offsetof(P, scores.stage), int_size,
     ATTEND_SCORES_WEIGHTS, always},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_MASK_KEYS, ATTEND_ARG_MASK, ATTEND_ARG_STATES, offsetof(P, mask.keys), long_size,
     ATTEND_ALL_KEYS, always},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_BIAS_KEYS, ATTEND_ARG_BIAS, ATTEND_ARG_STATES, offsetof(P, bias.keys), long_size,
     ATTEND_ALL_KEYS, always},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_KEY, ATTEND_ARG_STATES, nothing, offsetof(P, key.batch_stride), long_size, ATTEND_DENSE,
     many_rows},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_PAGES, ATTEND_ARG_PAGES, ATTEND_ARG_STATES, offsetof(P, pages.batch_stride), long_size,
     ATTEND_DENSE, many_paged},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_KEY_SCALES, ATTEND_ARG_STATES, ATTEND_ARG_KEY_SCALES, offsetof(P, key_scales.head_stride),
     long_size, ATTEND_DENSE, many_heads},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_VALUE_SCALES, ATTEND_ARG_STATES, ATTEND_ARG_VALUE_SCALES,
     offsetof(P, value_scales.batch_stride), long_size, ATTEND_DENSE, many_rows},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES_PAGE_KEYS, ATTEND_ARG_PAGES, nothing, offsetof(P, pages.page_keys), long_size, 24,
     may_be_paged},
    {ATTEND_NO_EFFECT, ATTEND_ARG_PAGES, nothing, nothing, offsetof(P, pages.page_keys), long_size, 16, no_pages},
    {ATTEND_NO_EFFECT, ATTEND_ARG_PAGES, nothing, nothing, offsetof(P, pages.count), long_size, 2, no_pages},
    {ATTEND_NO_EFFECT, ATTEND_ARG_FIRST_KEY, nothing, nothing, offsetof(P, first_key), long_size, 1, no_states},
    {ATTEND_CONFLICT, ATTEND_ARG_ORIGIN, ATTEND_ARG_PAGES, nothing, offsetof(P, origin), long_size, 1, may_be_paged},
    {ATTEND_CONFLICT, ATTEND_ARG_ORIGIN, nothing, nothing, offsetof(P, origin), long_size, 1, over_cache},
    {ATTEND_CONFLICT, ATTEND_ARG_PAGES, ATTEND_ARG_PAGES, nothing, offsetof(P, pages.count), long_size, 1, over_cache},
    {ATTEND_CONFLICT, ATTEND_ARG_BATCH, nothing, nothing, offsetof(P, batch), long_size, 2, over_cache},
    {ATTEND_CONFLICT, ATTEND_ARG_KEY, nothing, nothing, offsetof(P, key.token_stride), long_size, 10, over_cache},
    {ATTEND_CONFLICT, ATTEND_ARG_VALUE, nothing, nothing, offsetof(P, value.data), long_size, 64, over_cache},
    {ATTEND_CONFLICT, ATTEND_ARG_KEY_FORMAT, nothing, nothing, offsetof(P, key_format), int_size, ATTEND_INT8, over_cache},
    {ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT, nothing, nothing, offsetof(P, value_format), int_size, 1, over_cache},
};

// What a fault is made of.
struct Scene {
  World& w;
  Call& c;
  attend_problem& p;
  Random& r;
};

struct Clash {
  attend_error error;
  attend_argument argument;
  bool (*make)(Scene);  // whether the call has a place for it
};
inline const Clash clashes[] = {
    {ATTEND_UNKNOWN, ATTEND_ARG_OPTIONS, [](Scene s) { return (s.p.options |= 1u << s.r.between(2, 31)) != 0; }},
    {ATTEND_NEWER, ATTEND_ARG_SIZE,
     [](Scene s) {
       const int more = s.r.between(1, 64);
       put(s.p, sizeof s.p + std::size_t(s.r.between(0, more - 1)), static_cast<unsigned char>(1));
       s.p.size = sizeof s.p + std::size_t(more);
       return true;
     }},
    {ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE,
     [](Scene s) {
       const std::size_t sizes[] = {0, 1, sizeof s.p - 1, sizeof s.p / 2, 4097, SIZE_MAX};
       s.p.size = sizes[s.r.between(0, 5)];
       return true;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_KV_HEADS,
     [](Scene s) {
       s.p.query_heads = s.r.between(1, 5) * 2 + 1, s.p.kv_heads = s.r.between(0, 1) == 0 ? 2 : 16;
       return s.p.cache == nullptr;
     }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_QUERIES,
     [](Scene s) {
       s.p.kv_heads = 2, s.p.query_heads = 2 * s.r.between(3, 1000), s.p.queries = ATTEND_MAX_TOKENS - s.r.between(0, 100);
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE,
     [](Scene s) {
       const float infinity = std::numeric_limits<float>::infinity(), bad[] = {infinity, -infinity, infinity - infinity};
       s.p.scale = bad[s.r.between(0, 2)];
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SOFT_CAP,
     [](Scene s) {
       const float bad[] = {-1.0f, 1e-39f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
       s.p.soft_cap = bad[s.r.between(0, 3)];
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEY_LENGTHS,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_KEY_LENGTHS);
       s.w.lengths()[0] = outside(0, s.p.states != nullptr ? ATTEND_MAX_TOKENS : World::keys(s.p), s.r);
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES,
     [](Scene s) {
       if (!is_read(s.p, ATTEND_ARG_PAGES)) return false;
       s.w.add(s.p, ATTEND_ARG_PAGES);
       const std::int32_t bad[] = {-1, 2, INT32_MIN, INT32_MAX};
       s.w.pages.as<std::int32_t>()[8] = bad[s.r.between(0, 3)];
       s.w.pages.remember();
       s.p.pages.table += 8, s.p.key_lengths = nullptr;
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCORES_KEYS,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_SCORES);
       s.p.scores.keys = World::keys(s.p) - 1;
       return s.p.scores.keys > 0;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET,
     [](Scene s) {
       s.p.options = ATTEND_CAUSAL, s.p.offset = ATTEND_DEFAULT_OFFSET;
       if (s.p.cache != nullptr) s.p.queries = World::held + 1;
       return s.p.cache != nullptr || s.p.queries != s.p.keys;
     }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_OFFSET, [](Scene s) { return s.p.offset = s.r.between(-9, 9), !World::is_positioned(s.p); }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_OPTIONS,
     [](Scene s) { return s.p.options |= ATTEND_QUERIES_LAST, !World::is_positioned(s.p); }},
    {ATTEND_CONFLICT, ATTEND_ARG_OFFSET,
     [](Scene s) {
       s.p.options |= ATTEND_CAUSAL | ATTEND_QUERIES_LAST, s.p.offset = s.r.between(-9, 9);
       return s.p.states == nullptr;
     }},
    {ATTEND_CONFLICT, ATTEND_ARG_OPTIONS,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_STATES);
       s.p.options |= ATTEND_CAUSAL | ATTEND_QUERIES_LAST, s.p.offset = ATTEND_DEFAULT_OFFSET;
       return true;
     }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS,
     [](Scene s) {
       s.p.window_left = ATTEND_NO_LIMIT, s.p.sink_tokens = s.r.between(1, 9);
       World::place(s.p);
       return true;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_VALUE,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_STATES);
       s.p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM, s.p.value.head_stride = ATTEND_DENSE;
       if (s.p.kv_heads > 1) s.p.key.head_stride = s.p.head_dim;
       return World::has_arrays(s.p) && s.p.kv_heads > 1 && s.p.pages.table == nullptr;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_STATES,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_STATES);
       s.p.queries = s.p.queries > 1 ? s.p.queries - 1 : 2;
       World::place(s.p);
       return s.p.cache == nullptr;
     }},
    {ATTEND_CORRUPT, ATTEND_ARG_STATES,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_STATES);
       s.w.states.data[s.r.between(0, 23)] ^= static_cast<unsigned char>(1 << s.r.between(0, 7));
       s.w.states.remember();
       return true;
     }},
    {ATTEND_CORRUPT, ATTEND_ARG_CACHE,
     [](Scene s) {
       s.w.cache.data[s.r.between(0, World::head_bytes - 1)] ^= static_cast<unsigned char>(1 << s.r.between(0, 7));
       s.w.cache.remember();
       return s.p.cache != nullptr;
     }},
    {ATTEND_UNALIGNED, ATTEND_ARG_CACHE,
     [](Scene s) {
       const bool there = s.p.cache != nullptr;
       if (there)
         put(s.p, offsetof(P, cache), get<std::uintptr_t>(s.p, offsetof(P, cache)) + std::uintptr_t(s.r.between(1, 7)));
       return there;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_CACHE, [](Scene s) { return set_shape_of_cache(s.p, s.r); }},

    {ATTEND_MISSING, ATTEND_ARG_PROBLEM, [](Scene s) { return s.c.problem = nullptr, true; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_PROBLEM,
     [](Scene s) {
       s.c.problem =
           reinterpret_cast<attend_problem*>(reinterpret_cast<std::uintptr_t>(s.c.problem) + std::uintptr_t(s.r.between(1, 3)));
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PARTS,
     [](Scene s) { return s.c.part = 0, s.c.parts = outside(1, ATTEND_MAX_PARTS, s.r), true; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PART, [](Scene s) { return s.c.part = outside(0, s.c.parts - 1, s.r), true; }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_PARTS,
     [](Scene s) {
       // all keys and queries are one
       s.p = no_problem();
       s.p.query_heads = s.p.kv_heads = s.p.head_dim = s.p.value_dim = 1;
       s.p.queries = 1 << 19, s.p.keys = 1 << 28;
       s.p.query = {s.w.query.data, 0, 0, 0}, s.p.key = s.p.value = {s.w.key.data, 0, 0, 0};
       static std::vector<float> large(1 << 19);
       s.p.output.data = large.data();
       s.c.parts = s.r.between(2, ATTEND_MAX_PARTS), s.c.part = s.r.between(0, int(s.c.parts) - 1);
       return true;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_STATES);
       if (World::keys(s.p) == 0) return false;
       s.p.first_key = s.r.between(0, int(World::keys(s.p)) - 1);
       s.c.part = 0, s.c.parts = 1;  // one that is empty does not see it
       return s.p.first_key > 0;
     }},
    {ATTEND_MISSING, ATTEND_ARG_WORKSPACE, [](Scene s) { return s.c.workspace = nullptr, true; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_WORKSPACE,
     [](Scene s) { return s.c.workspace = s.w.workspace.data + s.r.between(1, 7), true; }},
    {ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE_SIZE,
     [](Scene s) {
       const std::size_t bytes = attend_workspace_size(s.c.problem);
       s.c.workspace_size = s.r.between(0, 1) == 0 || bytes == 0 ? bytes - 1 : std::size_t(s.r.between(0, int(bytes) - 1));
       return bytes > 0;
     }},
};

}  // namespace attend_test
