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

// A field that excludes another, or needs one that is not set: whether the problem has a place for it.
struct Clash {
  attend_error error;
  attend_argument argument;
  bool (*make)(World&, attend_problem&, Random&);
};
inline const Clash clashes[] = {
    {ATTEND_UNKNOWN, ATTEND_ARG_OPTIONS,
     [](World&, attend_problem& p, Random& r) { return (p.options |= 1u << r.between(2, 31)) != 0; }},
    {ATTEND_NEWER, ATTEND_ARG_SIZE,
     [](World&, attend_problem& p, Random& r) {
       const int more = r.between(1, 64);
       put(p, sizeof p + std::size_t(r.between(0, more - 1)), static_cast<unsigned char>(1));
       p.size = sizeof p + std::size_t(more);
       return true;
     }},
    {ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE,
     [](World&, attend_problem& p, Random& r) {
       const std::size_t sizes[] = {0, 1, sizeof p - 1, sizeof p / 2, 4097, SIZE_MAX};
       p.size = sizes[r.between(0, 5)];
       return true;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_KV_HEADS,
     [](World&, attend_problem& p, Random& r) {
       p.query_heads = r.between(1, 5) * 2 + 1, p.kv_heads = r.between(0, 1) == 0 ? 2 : 16;
       return p.cache == nullptr;
     }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_QUERIES,
     [](World&, attend_problem& p, Random& r) {
       p.query_heads = p.kv_heads * r.between(3, 1000), p.queries = ATTEND_MAX_TOKENS - r.between(0, 100);
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALE,
     [](World&, attend_problem& p, Random& r) {
       const float infinity = std::numeric_limits<float>::infinity(), bad[] = {infinity, -infinity, infinity - infinity};
       p.scale = bad[r.between(0, 2)];
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SOFT_CAP,
     [](World&, attend_problem& p, Random& r) {
       const float bad[] = {-1.0f, 1e-39f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
       p.soft_cap = bad[r.between(0, 3)];
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEY_LENGTHS,
     [](World& w, attend_problem& p, Random& r) {
       w.add(p, ATTEND_ARG_KEY_LENGTHS);
       w.lengths()[r.between(0, int(p.batch) - 1)] = outside(0, p.states != nullptr ? ATTEND_MAX_TOKENS : World::keys(p), r);
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES,
     [](World& w, attend_problem& p, Random& r) {
       if (!is_read(p, ATTEND_ARG_PAGES)) return false;
       w.add(p, ATTEND_ARG_PAGES);
       const std::int32_t bad[] = {-1, 2, INT32_MIN, INT32_MAX};
       w.pages.as<std::int32_t>()[8] = bad[r.between(0, 3)];
       w.pages.remember();
       p.pages.table += 8, p.key_lengths = nullptr;
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCORES_KEYS,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_SCORES);
       p.scores.keys = World::keys(p) - 1;
       return p.scores.keys > 0;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET,
     [](World&, attend_problem& p, Random&) {
       p.options = ATTEND_CAUSAL, p.offset = ATTEND_DEFAULT_OFFSET;
       if (p.cache != nullptr) p.queries = World::held + 1;
       return p.cache != nullptr || p.queries != p.keys;
     }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_OFFSET,
     [](World&, attend_problem& p, Random& r) { return p.offset = r.between(-9, 9), !World::is_positioned(p); }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_OPTIONS,
     [](World&, attend_problem& p, Random&) { return p.options |= ATTEND_QUERIES_LAST, !World::is_positioned(p); }},
    {ATTEND_CONFLICT, ATTEND_ARG_OFFSET,
     [](World&, attend_problem& p, Random& r) {
       p.options |= ATTEND_CAUSAL | ATTEND_QUERIES_LAST, p.offset = r.between(-9, 9);
       return p.states == nullptr;
     }},
    {ATTEND_CONFLICT, ATTEND_ARG_OPTIONS,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_STATES);
       p.options |= ATTEND_CAUSAL | ATTEND_QUERIES_LAST, p.offset = ATTEND_DEFAULT_OFFSET;
       return true;
     }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS,
     [](World&, attend_problem& p, Random& r) {
       p.window_left = ATTEND_NO_LIMIT, p.sink_tokens = r.between(1, 9);
       World::place(p);
       return true;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_MASK_KIND,
     [](World& w, attend_problem& p, Random&) { return w.add(p, ATTEND_ARG_MASK), p.mask.kind = ATTEND_MASK_NONE, true; }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_SCORES_STAGE,
     [](World& w, attend_problem& p, Random&) {
       return w.add(p, ATTEND_ARG_SCORES), p.scores.stage = ATTEND_SCORES_NONE, true;
     }},
    {ATTEND_CONFLICT, ATTEND_ARG_SCORES_STAGE,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_STATES), w.add(p, ATTEND_ARG_SCORES);
       p.scores.stage = ATTEND_SCORES_WEIGHTS;
       return true;
     }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_FIRST_KEY,
     [](World&, attend_problem& p, Random& r) {
       p.first_key = r.between(0, int(World::keys(p)));
       return p.states == nullptr && p.first_key > 0;
     }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_PAGES,
     [](World&, attend_problem& p, Random& r) {
       p.pages = no_problem().pages;
       (r.between(0, 1) == 0 ? p.pages.count : p.pages.page_keys) = 16;
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES_PAGE_KEYS,
     [](World& w, attend_problem& p, Random& r) {
       if (!is_read(p, ATTEND_ARG_PAGES)) return false;
       w.add(p, ATTEND_ARG_PAGES);
       p.pages.page_keys = 16 * r.between(0, 3) + r.between(1, 15);
       return true;
     }},
    {ATTEND_CONFLICT, ATTEND_ARG_ORIGIN,
     [](World& w, attend_problem& p, Random&) {
       if (p.cache == nullptr) w.add(p, ATTEND_ARG_PAGES);
       p.origin = 1;
       return World::keys(p) > 0;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_MASK_KEYS,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_MASK), w.add(p, ATTEND_ARG_STATES);
       p.mask.keys = ATTEND_ALL_KEYS;
       return true;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_BIAS_KEYS,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_BIAS), w.add(p, ATTEND_ARG_STATES);
       p.bias.keys = ATTEND_ALL_KEYS;
       return true;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_KEY,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_STATES);
       p.key.batch_stride = ATTEND_DENSE;
       return World::has_arrays(p) && p.batch > 1 && p.pages.table == nullptr;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_VALUE,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_STATES);
       p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM, p.value.head_stride = ATTEND_DENSE;
       if (p.kv_heads > 1) p.key.head_stride = p.head_dim;
       return World::has_arrays(p) && p.kv_heads > 1 && p.pages.table == nullptr;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_PAGES,
     [](World& w, attend_problem& p, Random&) {
       if (!is_read(p, ATTEND_ARG_PAGES)) return false;
       w.add(p, ATTEND_ARG_PAGES), w.add(p, ATTEND_ARG_STATES);
       p.pages.batch_stride = ATTEND_DENSE;
       return p.batch > 1;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_KEY_SCALES,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_STATES);
       if (!World::has_arrays(p) || p.kv_heads == 1 || p.pages.table != nullptr) return false;
       w.add(p, ATTEND_ARG_KEY_SCALES);
       p.key_scales.head_stride = ATTEND_DENSE;
       return true;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_STATES,
     [](World& w, attend_problem& p, Random&) {
       w.add(p, ATTEND_ARG_STATES);
       p.queries = p.queries > 1 ? p.queries - 1 : 2;
       World::place(p);
       return p.cache == nullptr;
     }},
    {ATTEND_CORRUPT, ATTEND_ARG_STATES,
     [](World& w, attend_problem& p, Random& r) {
       w.add(p, ATTEND_ARG_STATES);
       w.states.data[r.between(0, 23)] ^= static_cast<unsigned char>(1 << r.between(0, 7));
       w.states.remember();
       return true;
     }},
    {ATTEND_CORRUPT, ATTEND_ARG_CACHE,
     [](World& w, attend_problem& p, Random& r) {
       w.cache.data[r.between(0, World::head_bytes - 1)] ^= static_cast<unsigned char>(1 << r.between(0, 7));
       w.cache.remember();
       return p.cache != nullptr;
     }},
    {ATTEND_UNALIGNED, ATTEND_ARG_CACHE,
     [](World&, attend_problem& p, Random& r) {
       const bool there = p.cache != nullptr;
       if (there)
         put(p, offsetof(attend_problem, cache),
             get<std::uintptr_t>(p, offsetof(attend_problem, cache)) + std::uintptr_t(r.between(1, 7)));
       return there;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_CACHE, [](World&, attend_problem& p, Random& r) { return set_shape_of_cache(p, r); }},
    {ATTEND_CONFLICT, ATTEND_ARG_KEY,
     [](World& w, attend_problem& p, Random& r) {
       if (r.between(0, 1) == 0) p.key.data = w.key.data;
       if (p.key.data == nullptr) p.key.token_stride = 10;
       return p.cache != nullptr;
     }},
    {ATTEND_CONFLICT, ATTEND_ARG_VALUE,
     [](World& w, attend_problem& p, Random&) { return p.value.data = w.value.data, p.cache != nullptr; }},
    {ATTEND_CONFLICT, ATTEND_ARG_KEY_FORMAT,
     [](World&, attend_problem& p, Random& r) { return p.key_format = r.between(1, 3), p.cache != nullptr; }},
    {ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT,
     [](World&, attend_problem& p, Random& r) { return p.value_format = r.between(1, 3), p.cache != nullptr; }},
    {ATTEND_CONFLICT, ATTEND_ARG_BATCH,
     [](World&, attend_problem& p, Random& r) { return p.batch = r.between(2, 3), p.cache != nullptr; }},
    {ATTEND_CONFLICT, ATTEND_ARG_PAGES,
     [](World& w, attend_problem& p, Random&) {
       if (p.cache != nullptr) w.add(p, ATTEND_ARG_PAGES);
       return p.cache != nullptr;
     }},
};

// Of parameters.
struct Parameter {
  attend_error error;
  attend_argument argument;
  bool (*make)(World&, Call&, Random&);
};
inline const Parameter parameters[] = {
    {ATTEND_MISSING, ATTEND_ARG_PROBLEM, [](World&, Call& c, Random&) { return c.problem = nullptr, true; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_PROBLEM,
     [](World&, Call& c, Random& r) {
       c.problem =
           reinterpret_cast<attend_problem*>(reinterpret_cast<std::uintptr_t>(c.problem) + std::uintptr_t(r.between(1, 3)));
       return true;
     }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PARTS,
     [](World&, Call& c, Random& r) { return c.part = 0, c.parts = outside(1, ATTEND_MAX_PARTS, r), true; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PART,
     [](World&, Call& c, Random& r) { return c.part = outside(0, c.parts - 1, r), true; }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_PARTS,
     [](World& w, Call& c, Random& r) {
       attend_problem& p = *c.problem;  // all keys and queries are one
       p = no_problem();
       p.query_heads = p.kv_heads = p.head_dim = p.value_dim = 1;
       p.queries = 1 << 19, p.keys = 1 << 28;
       p.query = {w.query.data, 0, 0, 0}, p.key = p.value = {w.key.data, 0, 0, 0};
       static std::vector<float> large(1 << 19);
       p.output.data = large.data();
       c.parts = r.between(2, ATTEND_MAX_PARTS), c.part = r.between(0, int(c.parts) - 1);
       return true;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY,
     [](World& w, Call& c, Random& r) {
       w.add(*c.problem, ATTEND_ARG_STATES);
       c.problem->first_key = r.between(0, int(World::keys(*c.problem)));
       c.part = 0, c.parts = 1;  // one that is empty does not see it
       return c.problem->first_key > 0;
     }},
    {ATTEND_MISSING, ATTEND_ARG_WORKSPACE, [](World&, Call& c, Random&) { return c.workspace = nullptr, true; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_WORKSPACE,
     [](World& w, Call& c, Random& r) { return c.workspace = w.workspace.data + r.between(1, 7), true; }},
    {ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE_SIZE,
     [](World&, Call& c, Random& r) {
       const std::size_t bytes = attend_workspace_size(c.problem);
       c.workspace_size = r.between(0, 1) == 0 || bytes == 0 ? bytes - 1 : std::size_t(r.between(0, int(bytes) - 1));
       return bytes > 0;
     }},
};

inline const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> made;
    add_number_faults(made);
    add_address_faults(made);
    add_stride_faults(made);
    for (const Clash& clash : clashes) {
      made.push_back([&clash](World& w, Call& c, Random& r) {
        return clash.make(w, *c.problem, r) ? Answers{wrong(clash.error, clash.argument)} : Answers{};
      });
    }
    for (const Parameter& parameter : parameters) {
      made.push_back([&parameter](World& w, Call& c, Random& r) {
        return parameter.make(w, c, r) ? Answers{wrong(parameter.error, parameter.argument)} : Answers{};
      });
    }
    return made;
  }();
  return all;
}

}  // namespace attend_test
