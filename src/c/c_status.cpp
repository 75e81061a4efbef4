// The statuses of the C surface in words, versions and backends.
#include "surface.h"

#include "../../include/attend/backend.h"

namespace attend::c_surface {
namespace {

// In the order of attend_error.
constexpr const char* texts[] = {
    "ok",
    "set it: it is null, and the call needs it",
    "align it: to the size of its numbers, or to what the header asks for of structs, caches and work memory",
    "set it to a number within its range, which the header gives beside it; not NaN or infinity",
    "set it to a value that the header lists for it, or use a newer library, which may know this one",
    "make several calls with fewer elements each, or look for bytes where strides count numbers: it reaches beyond "
    "what can be addressed or counted",
    "pass as many bytes as the function for the size returns",
    "give it memory of its own: what a call writes must not overlap what else it reads or writes, with gaps",
    "leave it as it was initialised, or what excludes it: the two cannot be had together",
    "make it fit the other arguments: heads must divide, a cache or states be of the same extents, and first_key "
    "the states' next key",
    "set strides that keep its elements apart: sorted by size, each must be at least what the smaller ones span",
    "set it: without it there is more than one thing that it could be",
    "set what it needs too, or leave it as it was initialised: by itself it would be ignored",
    "make it with attend_cache_init or attend_begin, run all parts, and look for who writes there: its own records "
    "are not as the library leaves them",
    "truncate the cache, or make it for more max_tokens: it has no room for so many tokens",
    "set a shorter window_left or fewer sink_tokens, make the ring for more of both, or ask for no raw or capped "
    "scores: the ring no longer holds keys that are asked for (its window_keys count the query's own, window_left does not)",
    "call the struct's init function with sizeof of it first, and leave its size alone",
    "use a newer library, or leave alone the fields that this version does not know",
    "choose another backend: this processor cannot run it",
    "take the keys again, or load it with the library that saved it: sums of its version have other bits",
};

// The text for an error with one argument, or with one of several, where there is more advice than for all arguments. Numbers
// are bytes: there are many of these.
struct Special {
  uint8_t error;        // attend_error
  uint8_t first, last;  // attend_argument
  const char* text;
};
constexpr const char* strides_text =
    "set all of its strides: those that are set leave it open what the dense ones are, or these depend on how many keys there "
    "are, which a call with states does not have";
constexpr const char* matrix_text =
    "set all of its strides; and with states its keys, how many columns it has: the problem's keys is only where a call stops";
constexpr const char* columns_text =
    "set its keys to how many columns it has, scores to at least the problem's keys; bits have no negative strides";
constexpr Special specials[] = {
    {ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY, ATTEND_ARG_OUTPUT, strides_text},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_PAGES, ATTEND_ARG_VALUE_SCALES, strides_text},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_LSE, ATTEND_ARG_LSE, strides_text},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_MASK, ATTEND_ARG_MASK, matrix_text},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_BIAS, ATTEND_ARG_BIAS, matrix_text},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_SCORES, ATTEND_ARG_SCORES, matrix_text},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_BIAS, ATTEND_ARG_BIAS, columns_text},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCORES, ATTEND_ARG_SCORES, columns_text},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_MASK, ATTEND_ARG_MASK, columns_text},
    {ATTEND_UNKNOWN, ATTEND_ARG_MASK, ATTEND_ARG_MASK, "set its kind to one of attend_mask_kind"},
    {ATTEND_UNKNOWN, ATTEND_ARG_SCORES, ATTEND_ARG_SCORES, "set its stage to one of attend_score_stage"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_RELATIVE_BIAS, ATTEND_ARG_RELATIVE_BIAS,
     "set its left and right to 0 ... ATTEND_MAX_TOKENS"},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_KEYS, ATTEND_ARG_KEYS,
     "the cache has no tokens: append some first (attend_cache_append, attend_project_memory); where there are none, set it or "
     "key_lengths to 0"},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_BATCH, ATTEND_ARG_BATCH, "set it, to 1 too: key_lengths, pages or a batch_stride is set"},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET, ATTEND_ARG_OFFSET,
     "set it: 0 if the queries are the first tokens, keys - queries if they are the last; over a cache, append their keys and "
     "values before the call"},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_ORIGIN, ATTEND_ARG_ORIGIN,
     "set it to the position of the key that the arrays begin with: 0 if they have all keys"},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_QUERY_FORMAT, ATTEND_ARG_VALUE_FORMAT,
     "set it too: the other of query_format and output_format, or of key_format and value_format, is smaller than float32"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEYS, ATTEND_ARG_KEYS,
     "set it to how many keys there are: over a cache at most what the cache holds, or ATTEND_ALL_KEYS"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_CACHE, ATTEND_ARG_CACHE,
     "make it of ATTEND_BFLOAT16 or ATTEND_INT8, or of its format | ATTEND_SATURATED: a key or value is too large for it "
     "(the largest of ATTEND_FLOAT16 is 65504, of ATTEND_INT4 524032)"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_WEIGHTS, ATTEND_ARG_WEIGHTS,
     "convert them to ATTEND_BFLOAT16 or ATTEND_INT8: one is too large for the format (the largest of ATTEND_FLOAT16 is "
     "65504, of ATTEND_INT4 524032)"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES, ATTEND_ARG_PAGES,
     "set its count to the pages of the pool, and entries that queries see to 0 ... count - 1"},
    {ATTEND_MISMATCH, ATTEND_ARG_KEYS, ATTEND_ARG_KEYS,
     "for attend_finish set it to the states' next key after all runs and merges"},
    {ATTEND_MISMATCH, ATTEND_ARG_ORIGIN, ATTEND_ARG_ORIGIN,
     "set it to first_key or less: queries see keys between, which no call would take"},
    {ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY, ATTEND_ARG_FIRST_KEY,
     "set it to the states' next key: the keys of the run before, or the first_key of attend_begin"},
    {ATTEND_MISMATCH, ATTEND_ARG_STATES, ATTEND_ARG_STATES,
     "give the problem the extents that the states were begun with; and before attend_finish merge states with all keys that "
     "queries see, up to their own positions where they are causal, or set key_lengths, where keys end before"},
    {ATTEND_MISMATCH, ATTEND_ARG_LATER, ATTEND_ARG_LATER,
     "merge states of the same extents that took other segments of 512 keys; only one of both may have stopped within a "
     "segment, "
     "the last of all"},
    {ATTEND_TOO_SMALL, ATTEND_ARG_STATE_NODES, ATTEND_ARG_STATE_NODES,
     "make the states with more, before attend_state_size, or merge first what lies side by side"},
    {ATTEND_MISMATCH, ATTEND_ARG_BYTES, ATTEND_ARG_BYTES,
     "give the problem the batch, queries, query_heads, value_dim and arithmetic of the saved states"},
    {ATTEND_CORRUPT, ATTEND_ARG_BYTES, ATTEND_ARG_BYTES,
     "pass all bytes that attend_save or attend_linear_save has written, as they were: these are others, fewer or damaged"},
    {ATTEND_MISMATCH, ATTEND_ARG_CACHE, ATTEND_ARG_CACHE,
     "give kv_heads, head_dim and value_dim the numbers that the cache was made with; a cache of integers goes with problems "
     "of "
     "attend_integer_problem_init and with attend_integer_cache_append, and no other does"},
    {ATTEND_MISMATCH, ATTEND_ARG_SOFT_CAP, ATTEND_ARG_SOFT_CAP,
     "set a larger cap or a smaller scale: scores reach the cap at once, and scale / soft_cap leaves the range of floats"},
    {ATTEND_TOO_LARGE, ATTEND_ARG_WORKSPACE, ATTEND_ARG_MEMORY,
     "pass how many bytes there are: it would end behind the last address"},
    {ATTEND_MISSING, ATTEND_ARG_ARITHMETIC, ATTEND_ARG_ARITHMETIC,
     "call attend_problem_init, attend_plain_problem_init or attend_integer_problem_init first"},
    {ATTEND_UNAVAILABLE, ATTEND_ARG_ARITHMETIC, ATTEND_ARG_ARITHMETIC,
     "initialise the problem with attend_problem_init: one of attend_plain_problem_init has no options, states or other "
     "formats"},
    {ATTEND_UNAVAILABLE, ATTEND_ARG_CACHE, ATTEND_ARG_CACHE, "call attend_cache_append: it is no cache of float32, or a ring"},
    {ATTEND_CONFLICT, ATTEND_ARG_ARITHMETIC, ATTEND_ARG_ARITHMETIC,
     "initialise the problem with attend_problem_init: this call computes in floats only, with options"},
    {ATTEND_MISMATCH, ATTEND_ARG_KV_HEADS, ATTEND_ARG_KV_HEADS, "set it to a divisor of query_heads"},
    {ATTEND_MISSING, ATTEND_ARG_RULE, ATTEND_ARG_RULE, "call an init function first, attend_gated_delta_rule_init for example"},
    {ATTEND_MISMATCH, ATTEND_ARG_VALUE_HEADS, ATTEND_ARG_VALUE_HEADS,
     "set it to a multiple of kv_heads that query_heads divides, or that divides query_heads"},
    {ATTEND_NO_EFFECT, ATTEND_ARG_LOG_DECAY, ATTEND_ARG_LOG_DECAY,
     "leave it as it was initialised, or call the init function of a rule with a gate; in integers set decay"},
    {ATTEND_MISMATCH, ATTEND_ARG_STATE, ATTEND_ARG_STATE,
     "make the state with the rule and extents of the call, or of the bytes that it loads"},
    {ATTEND_CORRUPT, ATTEND_ARG_STATE, ATTEND_ARG_STATE,
     "make it with attend_linear_state_init or attend_conv_state_init, and look for who writes there"},
    {ATTEND_MISMATCH, ATTEND_ARG_QUERY, ATTEND_ARG_OUTPUT,
     "give the layer's weights the outputs and inputs that c/layers.h requires of them"},
    {ATTEND_MISMATCH, ATTEND_ARG_GATE, ATTEND_ARG_GATE,
     "give it query_heads * value_dim outputs and the inputs of query; value_dim is at most head_dim"},
    {ATTEND_CONFLICT, ATTEND_ARG_WEIGHTS_LAYOUT, ATTEND_ARG_WEIGHTS_LAYOUT,
     "compute weights of integer layouts with attend_integer_project, and those of other layouts with all other calls"},
    {ATTEND_CONFLICT, ATTEND_ARG_WEIGHTS_BIAS, ATTEND_ARG_WEIGHTS_BIAS,
     "leave it null: the bias of a projection in integers is attend_integer_linear::bias"},
    {ATTEND_MISMATCH, ATTEND_ARG_MULTIPLIERS, ATTEND_ARG_MULTIPLIERS,
     "set multiplier_count to 1, or to how many outputs there are"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_MULTIPLIERS, ATTEND_ARG_MULTIPLIERS,
     "make them with attend_integer_multiplier_of, of numbers from 2^-32 to below 2^29"},
    {ATTEND_CORRUPT, ATTEND_ARG_TURNS, ATTEND_ARG_TURNS, "make them with attend_rotary_init"},
    {ATTEND_UNKNOWN, ATTEND_ARG_SCALING, ATTEND_ARG_SCALING, "set its kind to one of attend_rotary_kind"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_POSITIONS, ATTEND_ARG_POSITIONS, "set its axes to 1 ... 8, interleaved to 0 or 1"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_QUERY_FACTORS, ATTEND_ARG_QUERY_FACTORS,
     "set its count and period to 1 or more, its shift to 0 or more"},
    {ATTEND_MISSING, ATTEND_ARG_TEAM, ATTEND_ARG_TEAM, "set its barrier"},
    {ATTEND_MISMATCH, ATTEND_ARG_PAIRS, ATTEND_ARG_PAIRS,
     "give the axes rotary_dim / 2 pairs in all, none of them past the last pair"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_RANGES, ATTEND_ARG_RANGES,
     "give each query a first key of at least 0, and an end that is not before it"},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_DOCUMENTS, ATTEND_ARG_DOCUMENTS,
     "set its count, begin boundaries with 0, and let no document end before it begins"},
    {ATTEND_MISMATCH, ATTEND_ARG_DOCUMENTS, ATTEND_ARG_DOCUMENTS,
     "end boundaries with as many tokens as there are queries and keys, or with count"},
    {ATTEND_CORRUPT, ATTEND_ARG_CONSTANTS, ATTEND_ARG_CONSTANTS,
     "make them with attend_integer_prepare, of linear attention with attend_linear_prepare"},
    {ATTEND_TOO_LARGE, ATTEND_ARG_KEYS, ATTEND_ARG_KEYS,
     "set windows or give fewer keys: a query of an integer call sees at most ATTEND_INTEGER_MAX_KEYS"},
    {ATTEND_MISMATCH, ATTEND_ARG_QUERY_SCALE, ATTEND_ARG_KEY_SCALE,
     "set smaller scales: scale * query_scale * key_scale must be below ln 2, or one step of a score is a factor of two or "
     "more"},
    {ATTEND_MISMATCH, ATTEND_ARG_OUTPUT_SCALE, ATTEND_ARG_OUTPUT_SCALE,
     "set it to value_scale or a number near it: value_scale / output_scale must be within 2^-10 ... 2^18; with head_constants "
     "and outputs of floats, to the same for all heads"},
    {ATTEND_MISMATCH, ATTEND_ARG_QUERY_ZERO_POINT, ATTEND_ARG_QUERY_ZERO_POINT,
     "give the queries of all heads the same zero point"},
    {ATTEND_CONFLICT, ATTEND_ARG_KEY_ZERO_POINT, ATTEND_ARG_VALUE_ZERO_POINT,
     "quantise symmetrically, with the zero point 0, where single tokens have scales of their own; or give none"},
};

const char* text_of(int error, int argument) {
  for (const Special& special : specials) {
    if (special.error == error && special.first <= argument && argument <= special.last) return special.text;
  }
  return texts[error];
}

// In the order of attend_argument, which tests know: each ends with a zero.
constexpr char names[] =
    "nothing\0problem\0size\0arithmetic\0options\0layout\0batch\0query_heads\0kv_heads\0head_dim\0value_dim\0queries\0keys\0"
    "key_lengths\0query_format\0output_format\0key_format\0value_format\0query\0key\0value\0output\0constants\0cache\0pages\0"
    "pages.page_keys\0key_scales\0value_scales\0origin\0offset\0window_left\0window_right\0sink_tokens\0mask\0ranges\0"
    "documents\0scale\0soft_cap\0alibi_slopes\0relative_bias\0sink_logits\0bias\0bias_stage\0lse_base\0lse\0scores\0states\0"
    "first_key\0state_nodes\0part\0parts\0workspace\0memory\0later\0bytes\0result\0heads\0count\0shape\0max_tokens\0"
    "window_keys\0integers\0tokens\0name\0scales\0query_scale\0key_scale\0value_scale\0output_scale\0query_zero_point\0"
    "key_zero_point\0value_zero_point\0output_zero_point\0x\0y\0v\0by\0rows\0width\0activation\0norm\0norm.weight\0epsilon\0"
    "projections\0weights\0weights.scales\0weights.bias\0weights.format\0weights.layout\0outputs\0inputs\0format\0linear\0"
    "linear.bias\0multipliers\0input_zero_point\0rotary\0turns\0rotary_dim\0pairs\0base\0scaling\0scaling_factor\0"
    "scaling.original_positions\0scaling.slow\0scaling.fast\0scaling.fractions\0scaling.turning\0scaling.frequencies\0"
    "scaling.attention_factor\0factors\0beta\0position\0positions\0layer\0query_norm\0key_norm\0gate\0query_"
    "factors\0team\0rule\0value_heads\0first\0"
    "log_decay\0state\0conv\0channels\0input\0z\0rates\0rate_count\0lower_bound\0groups\0order\0decay";

constexpr int zeros_in(const char* text, size_t length) {
  return length == 1 ? *text == '\0' : zeros_in(text, length / 2) + zeros_in(text + length / 2, length - length / 2);
}
constexpr int errors = ATTEND_OTHER_BITS + 1, arguments = ATTEND_ARG_DECAY + 1;
static_assert(sizeof texts / sizeof *texts == errors && zeros_in(names, sizeof names) == arguments, "one is missing");

const char* name_of(int argument) {
  const char* name = names;
  while (argument > 0) argument -= *name++ == '\0';
  return name;
}

// Whether it is a status: ATTEND_OK, or an error and an argument.
bool is_status(attend_status status) {
  const int error = status & 0xff, argument = status >> 8;
  return error < errors && argument >= 0 && argument < arguments && (error == ATTEND_OK) == (argument == ATTEND_ARG_NONE);
}

}  // namespace
}  // namespace attend::c_surface

using namespace attend::c_surface;

extern "C" {

const char* attend_error_text(attend_status status) {
  return is_status(status) ? text_of(status & 0xff, status >> 8) : "pass a status that a function of attend_c.h has returned";
}

const char* attend_argument_name(attend_status status) { return is_status(status) ? name_of(status >> 8) : "status"; }

int attend_version(void) { return ATTEND_VERSION; }

int attend_bits_version(void) { return ATTEND_BITS_VERSION; }

const char* attend_backend_name(int index) {
  if (index == ATTEND_BACKEND_IN_USE) return attend::active_backend();
  return index >= 0 && index < attend::backend_count() ? attend::backend_name(index) : nullptr;
}

attend_status attend_backend_use(const char* name) {
  Check check;
  check.require(name != nullptr, ATTEND_MISSING, ATTEND_ARG_NAME);
  if (check.failed() || attend::use_backend(name)) return check.status();
  for (int i = 0; i < attend::backend_count(); ++i) {
    const char *wanted = name, *known = attend::backend_name(i);
    while (*wanted != '\0' && *wanted == *known) ++wanted, ++known;
    check.require(*wanted != *known, ATTEND_UNAVAILABLE, ATTEND_ARG_NAME);
  }
  check.require(false, ATTEND_UNKNOWN, ATTEND_ARG_NAME);
  return check.status();
}

}  // extern "C"
