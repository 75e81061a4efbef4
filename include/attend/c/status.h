/* The result of a call of the C surface: ATTEND_OK, or what is wrong and with which argument. attend_c.h includes this header.
 */
#ifndef ATTEND_STATUS_H
#define ATTEND_STATUS_H

/* Symbols of the shared library. In Windows, define ATTEND_DLL to use one, and ATTEND_BUILD_DLL to build it. */
#if defined(_WIN32) && defined(ATTEND_BUILD_DLL)
#define ATTEND_API __declspec(dllexport)
#elif defined(_WIN32) && defined(ATTEND_DLL)
#define ATTEND_API __declspec(dllimport)
#elif !defined(_WIN32) && (defined(__GNUC__) || defined(__clang__))
#define ATTEND_API __attribute__((visibility("default")))
#else
#define ATTEND_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ATTEND_OK, or what is wrong (attend_error) and with which argument (attend_argument), in one number: error + 256 * argument.
 * When several things are wrong it is any of them. */
typedef int attend_status;

enum attend_error {
  ATTEND_OK = 0,           /* done */
  ATTEND_MISSING = 1,      /* null, where something is needed */
  ATTEND_UNALIGNED = 2,    /* an address that is no multiple of the size of a number, or of what the header asks for */
  ATTEND_OUT_OF_RANGE = 3, /* a number outside of its range; NaN and infinite scales too */
  ATTEND_UNKNOWN = 4,      /* a value, bit or name that this version does not know or the field does not take */
  ATTEND_TOO_LARGE = 5,    /* extents and strides beyond the address space, or more work than can be counted */
  ATTEND_TOO_SMALL = 6,    /* memory, or the room in states */
  ATTEND_OVERLAP = 7,      /* memory that is written overlaps other memory of the call, from first to last byte, with gaps */
  ATTEND_CONFLICT = 8,     /* set together with something that excludes it */
  ATTEND_MISMATCH = 9,     /* does not fit another argument */
  ATTEND_SHARED_ELEMENTS = 10, /* strides let two elements of what is written be one */
  ATTEND_AMBIGUOUS = 11,       /* not set, and it could be more than one thing */
  ATTEND_NO_EFFECT = 12,       /* set, while what it needs is not */
  ATTEND_CORRUPT = 13,         /* a cache or states that the library did not make, or that were overwritten */
  ATTEND_FULL = 14,            /* a cache has fewer free places than tokens */
  ATTEND_LOST = 15,            /* a ring no longer holds keys that a query sees, or whose score is shown */
  ATTEND_WRONG_SIZE = 16,      /* a struct that was not initialised, or is not of this version */
  ATTEND_NEWER = 17,           /* a struct sets fields that this version does not know */
  ATTEND_UNAVAILABLE = 18,     /* a backend that this processor cannot run; options, formats or parts
                                   of a problem or cache that is plain */
  ATTEND_OTHER_BITS = 19       /* saved with another ATTEND_BITS_VERSION */
};

/* What is wrong: a parameter of the function, or a field of a struct that it takes. A mask, pages and other structs within a
 * struct are one argument each, and the text says which of their fields. */
enum attend_argument {
  ATTEND_ARG_NONE = 0,
  /* attend_problem */
  ATTEND_ARG_PROBLEM,
  ATTEND_ARG_SIZE,
  ATTEND_ARG_ARITHMETIC,
  ATTEND_ARG_OPTIONS,
  ATTEND_ARG_LAYOUT,
  ATTEND_ARG_BATCH,
  ATTEND_ARG_QUERY_HEADS,
  ATTEND_ARG_KV_HEADS,
  ATTEND_ARG_HEAD_DIM,
  ATTEND_ARG_VALUE_DIM,
  ATTEND_ARG_QUERIES,
  ATTEND_ARG_KEYS,
  ATTEND_ARG_KEY_LENGTHS,
  ATTEND_ARG_QUERY_FORMAT,
  ATTEND_ARG_OUTPUT_FORMAT,
  ATTEND_ARG_KEY_FORMAT,
  ATTEND_ARG_VALUE_FORMAT,
  ATTEND_ARG_QUERY,
  ATTEND_ARG_KEY,
  ATTEND_ARG_VALUE,
  ATTEND_ARG_OUTPUT,
  ATTEND_ARG_CONSTANTS,
  ATTEND_ARG_CACHE,
  ATTEND_ARG_PAGES,
  ATTEND_ARG_PAGES_PAGE_KEYS,
  ATTEND_ARG_KEY_SCALES,
  ATTEND_ARG_VALUE_SCALES,
  ATTEND_ARG_ORIGIN,
  ATTEND_ARG_OFFSET,
  ATTEND_ARG_WINDOW_LEFT,
  ATTEND_ARG_WINDOW_RIGHT,
  ATTEND_ARG_SINK_TOKENS,
  ATTEND_ARG_MASK,
  ATTEND_ARG_RANGES,
  ATTEND_ARG_DOCUMENTS,
  ATTEND_ARG_SCALE,
  ATTEND_ARG_SOFT_CAP,
  ATTEND_ARG_ALIBI_SLOPES,
  ATTEND_ARG_RELATIVE_BIAS,
  ATTEND_ARG_SINK_LOGITS,
  ATTEND_ARG_BIAS,
  ATTEND_ARG_BIAS_STAGE,
  ATTEND_ARG_LSE_BASE,
  ATTEND_ARG_LSE,
  ATTEND_ARG_SCORES,
  ATTEND_ARG_STATES,
  ATTEND_ARG_FIRST_KEY,
  ATTEND_ARG_STATE_NODES,
  /* Calls */
  ATTEND_ARG_PART,
  ATTEND_ARG_PARTS,
  ATTEND_ARG_WORKSPACE,
  ATTEND_ARG_MEMORY,
  ATTEND_ARG_LATER,
  ATTEND_ARG_BYTES,
  ATTEND_ARG_RESULT,
  ATTEND_ARG_HEADS,
  ATTEND_ARG_COUNT,
  /* Caches and backends */
  ATTEND_ARG_SHAPE,
  ATTEND_ARG_MAX_TOKENS,
  ATTEND_ARG_WINDOW_KEYS,
  ATTEND_ARG_INTEGERS,
  ATTEND_ARG_TOKENS,
  ATTEND_ARG_NAME,
  /* c/integer.h */
  ATTEND_ARG_SCALES,
  ATTEND_ARG_QUERY_SCALE,
  ATTEND_ARG_KEY_SCALE,
  ATTEND_ARG_VALUE_SCALE,
  ATTEND_ARG_OUTPUT_SCALE,
  ATTEND_ARG_QUERY_ZERO_POINT,
  ATTEND_ARG_KEY_ZERO_POINT,
  ATTEND_ARG_VALUE_ZERO_POINT,
  ATTEND_ARG_OUTPUT_ZERO_POINT,
  /* c/layers.h */
  ATTEND_ARG_X,
  ATTEND_ARG_Y,
  ATTEND_ARG_V,
  ATTEND_ARG_BY,
  ATTEND_ARG_ROWS,
  ATTEND_ARG_WIDTH,
  ATTEND_ARG_ACTIVATION,
  ATTEND_ARG_NORM,
  ATTEND_ARG_NORM_WEIGHT,
  ATTEND_ARG_EPSILON,
  ATTEND_ARG_PROJECTIONS,
  ATTEND_ARG_WEIGHTS,
  ATTEND_ARG_WEIGHTS_SCALES,
  ATTEND_ARG_WEIGHTS_BIAS,
  ATTEND_ARG_WEIGHTS_FORMAT,
  ATTEND_ARG_WEIGHTS_LAYOUT,
  ATTEND_ARG_OUTPUTS,
  ATTEND_ARG_INPUTS,
  ATTEND_ARG_FORMAT,
  ATTEND_ARG_LINEAR,
  ATTEND_ARG_LINEAR_BIAS,
  ATTEND_ARG_MULTIPLIERS,
  ATTEND_ARG_INPUT_ZERO_POINT,
  ATTEND_ARG_ROTARY,
  ATTEND_ARG_TURNS,
  ATTEND_ARG_ROTARY_DIM,
  ATTEND_ARG_PAIRS,
  ATTEND_ARG_BASE,
  ATTEND_ARG_SCALING,
  ATTEND_ARG_SCALING_FACTOR,
  ATTEND_ARG_SCALING_ORIGINAL_POSITIONS,
  ATTEND_ARG_SCALING_SLOW,
  ATTEND_ARG_SCALING_FAST,
  ATTEND_ARG_SCALING_FRACTIONS,
  ATTEND_ARG_SCALING_TURNING,
  ATTEND_ARG_SCALING_FREQUENCIES,
  ATTEND_ARG_SCALING_ATTENTION_FACTOR,
  ATTEND_ARG_FACTORS,
  ATTEND_ARG_BETA,
  ATTEND_ARG_POSITION,
  ATTEND_ARG_POSITIONS,
  ATTEND_ARG_LAYER,
  ATTEND_ARG_QUERY_NORM,
  ATTEND_ARG_KEY_NORM,
  ATTEND_ARG_GATE,
  ATTEND_ARG_QUERY_FACTORS,
  ATTEND_ARG_TEAM,
  /* c/linear_attention.h */
  ATTEND_ARG_RULE,
  ATTEND_ARG_VALUE_HEADS,
  ATTEND_ARG_FIRST,
  ATTEND_ARG_LOG_DECAY,
  ATTEND_ARG_STATE,
  ATTEND_ARG_CONV,
  ATTEND_ARG_CHANNELS,
  ATTEND_ARG_INPUT,
  ATTEND_ARG_Z,
  ATTEND_ARG_RATES,
  ATTEND_ARG_RATE_COUNT,
  ATTEND_ARG_LOWER_BOUND,
  ATTEND_ARG_GROUPS,
  ATTEND_ARG_ORDER,
  ATTEND_ARG_DECAY
};

/* In words: an English sentence about what to do, of this error with this argument, and the argument as it is written in a
 * program, such as "kv_heads" or "pages.page_keys". Neither is ever null, for any number. */
ATTEND_API const char* attend_error_text(attend_status status);
ATTEND_API const char* attend_argument_name(attend_status status);

#ifdef __cplusplus
}
#endif

#endif
