// The result of every call of the C++ surface.
#pragma once

#include "core/config.h"

namespace attend {

enum class [[nodiscard]] Status{
    ok,                // done
    bad_query_length,  // not within 0 … query tokens of the array; as the last tokens of a cache, more than it holds, or not
                       // set although the last append left some tokens of its arrays out
    bad_key_length,    // not within 0 … key tokens of the array or the cache
    empty_cache,       // nothing was appended to the cache, and key_length is not 0; not where a State takes its keys
    bad_scale,         // not within -2^127 … 2^127
    bad_offset,  // of calls with ScoreOptions, RingCache or State: offset + query tokens exceed the largest int; of a layer
                 // with steps: not the position that self_attention gives its tokens
    ambiguous_offset,  // over arrays of other numbers of queries and keys: a position matters, and offset is not set
    no_effect,  // offset where no position matters; sink_tokens without a window; score_stage without scores; a bias_stage
                // before the cap without a bias or a cap
    bad_part,   // count not within 1 … 65535, or index not within 0 … count - 1; of a layer: no barrier for several
                // threads, or work memory for fewer

    bad_output,  // of projections: it shares memory with the input or another output; of layers: y is neither x nor apart from
                 // it

    // Caches and states.
    bad_count,   // append, project, project_memory: negative, or more tokens than the arrays have; Documents::add: negative, or
                 // no room for it
    cache_full,  // append: the tokens do not fit
    out_of_range,  // append, convert, layers that append: a finite number is too large for the format that it is stored in
    bad_page,    // add_page: not of the pool, or here already, or more than fit; remove_page: there is none, or it holds tokens
    bad_length,  // truncate: negative, or more tokens than the cache holds
    bad_begin,   // State::begin: not a multiple of segment_keys, or negative
    bad_up_to,   // accumulate: before the key that the state takes next
    bad_state,  // accumulate, finish, merge: it has taken nothing since the last finish; it is of another number of queries; it
                // has taken more keys than there are; merge: both have keys of one segment, or keys are missing before others
    missing_keys,    // finish: a query sees keys that the state has not taken
    too_many_nodes,  // accumulate, merge: the state has no room for so many nodes
    other_options,   // accumulate, merge: not the options, the positions or the queries of the calls before; finish: not the
                     // same sink_logits, no lse where they had one, or a key_length that is not the number of keys taken
    bad_saved,       // load: no saved state, or damaged, or cut short
    other_bits,      // load: saved by a library of another ATTEND_BITS_VERSION, whose sums are others
    other_shape,     // load: of other heads, another value_dim or arithmetic, or more queries

    // Calls with ScoreOptions, RingCache or State.
    bad_window,       // window_left or window_right negative; over a RingCache: window_left larger than what it keeps
    bad_sink_tokens,  // negative; over a RingCache: more than it keeps
    bad_soft_cap,     // neither 0 nor within 1e-30 … 1e30, or scale / soft_cap is not below 2^124
    bad_origin,       // not 0 or a multiple of segment_keys; beyond the state's next key; over a RingCache or PagedCache, or in
                      // another call than accumulate into a State; so far that positions pass 2^31 - 512 or, of an integer
                      // shape, that a query sees more than 65535 keys, also on other machines
    bad_mask,         // a mask of fewer queries than query_length, and not of 1, or of fewer keys than key_length
    bad_bias,         // the same of a bias
    bad_ranges,       // of fewer queries than query_length; a first key below 0, or an end before it
    bad_documents,  // more tokens than the arrays of queries or keys have, or others than query_length or key_length; beside an
                    // offset; over a cache; of a layer with steps that use positions
    bad_lse,        // of fewer tokens than query_length
    bad_scores,     // of fewer tokens or keys than there are; raw or capped over a RingCache or in RangedOptions; weights into
                    // a State
    no_score_stage,  // scores without score_stage
    not_in_ring,     // a query sees tokens that a RingCache no longer has

    // Layers: projections, normalisation, rotary positions.
    bad_epsilon,   // of a normalisation: not within 1e-30 … 1e30
    bad_rotary,    // before init; init: base not within 2 … 1e12, or a scaling out of range; or axes with other pairs
    bad_position,  // of rotary positions: negative, or tokens beyond the table or 2^31 - 1; of scaled_queries: negative, or a
                   // period below 1, or a negative shift

    // Calls in integers.
    bad_quantisation,  // a scale or a projection's bias is out of range (integer.h, integer_linear.h)
    bad_zero_point,    // not within -128 … 127; of keys or values not 0 beside their token scales; of queries not one for all
                       // heads
    bad_token_scales,  // of fewer keys than key_length; over a RingCache or PagedCache
};

constexpr int status_count = int(Status::bad_token_scales) + 1;  // bad_token_scales is the last

// One English sentence for a status; never null. All sentences take 6 KB of flash: where src/call/status.cpp is compiled with
// -DATTEND_SHORT_TEXTS it is the name of the status alone, and all names take 0.6 KB.
const char* status_text(Status status);

}  // namespace attend
