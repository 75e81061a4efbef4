// Faults of what was left out beside what was said: one of a pair of formats, some strides of an array, what is new in a call
// with states that goes on. And the list of all faults.
#pragma once

#include <vector>

#include "malformed_special.h"

namespace attend_test {

inline const Clash left_out[] = {
    {ATTEND_MISMATCH, ATTEND_ARG_KEYS,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_STATES);
       return (s.p.first_key = World::keys(s.p)) > 0;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_ORIGIN,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_STATES);
       s.p.first_key = 1, s.p.origin = ATTEND_DEFAULT_ORIGIN;
       return s.p.cache == nullptr && s.p.pages.table == nullptr && s.p.keys > 1;
     }},
    {ATTEND_MISMATCH, ATTEND_ARG_ORIGIN,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_STATES);
       s.p.window_left = ATTEND_NO_LIMIT, s.p.sink_tokens = 0, s.p.origin = 1;
       World::place(s.p);
       return s.p.cache == nullptr && s.p.pages.table == nullptr && s.p.keys > 0;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY_FORMAT,
     [](Scene s) {
       s.p.query_format = ATTEND_DEFAULT_FORMAT, s.p.output_format = s.r.between(1, 2);
       return true;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_OUTPUT_FORMAT,
     [](Scene s) {
       s.p.output_format = ATTEND_DEFAULT_FORMAT, s.p.query_format = s.r.between(1, 2);
       return s.p.states == nullptr;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_KEY_FORMAT,
     [](Scene s) {
       s.p.key_format = ATTEND_DEFAULT_FORMAT, s.p.value_format = s.r.between(1, 3);
       return s.p.cache == nullptr;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_VALUE_FORMAT,
     [](Scene s) {
       s.p.value_format = ATTEND_DEFAULT_FORMAT, s.p.key_format = s.r.between(1, 3);
       return s.p.cache == nullptr;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_MASK,
     [](Scene s) {
       s.w.add(s.p, ATTEND_ARG_MASK);
       s.p.mask.query_stride = 2 * World::columns, s.p.mask.head_stride = ATTEND_DENSE;
       return s.p.queries > 0 && s.p.query_heads > 1;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_BATCH,
     [](Scene s) {
       s.p.batch = ATTEND_DEFAULT_BATCH;
       return s.p.cache == nullptr && (s.p.key_lengths != nullptr || s.p.pages.table != nullptr);
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY,
     [](Scene s) {
       s.p.layout = ATTEND_BATCH_TOKEN_HEAD_DIM, s.p.query.token_stride = 1000;
       return s.p.queries > 0 && s.p.batch > 1 && s.p.states == nullptr;
     }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_OUTPUT,
     [](Scene s) {
       s.p.layout = ATTEND_BATCH_TOKEN_HEAD_DIM, s.p.output.token_stride = s.p.value_dim;
       return s.p.queries > 1 && s.p.query_heads > 1 && s.p.states == nullptr;
     }},
};

inline const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> made;
    add_number_faults(made);
    add_address_faults(made);
    add_stride_faults(made);
    for (const Setting& setting : settings) {
      made.push_back([&setting](World& w, Call& c, Random&) -> Answers {
        attend_problem& p = *c.problem;
        if (!setting.is_fault(p)) return {};
        w.add(p, setting.needs), w.add(p, setting.and_needs);
        setting.size == int_size ? put(p, setting.at, int(setting.value)) : put(p, setting.at, setting.value);
        return {wrong(setting.error, setting.argument)};
      });
    }
    const auto add = [&made](const Clash& clash) {
      made.push_back([&clash](World& w, Call& c, Random& r) {
        return clash.make({w, c, *c.problem, r}) ? Answers{wrong(clash.error, clash.argument)} : Answers{};
      });
    };
    for (const Clash& clash : clashes) add(clash);
    for (const Clash& clash : left_out) add(clash);
    return made;
  }();
  return all;
}

}  // namespace attend_test
