// What the statuses of the C surface say, in words.
#include "c_api/surface.h"

namespace attend {
namespace c_surface {
namespace {

// In the order of attend_error and of attend_argument: one that is missing does not compile, and tests know their names.
constexpr const char* texts[] = {
    "ok",
    "set it: it is null, and the call needs it",
    "align it: to the size of its numbers, or to what attend_c.h asks for of structs, caches and work memory",
    "set it to a number within its range, which attend_c.h says beside it; not NaN or infinity",
    "set it to a value that attend_c.h lists for it, or use a newer library, which may know this one",
    "make several calls with fewer elements each, or look for bytes where strides count numbers: it reaches beyond "
    "what "
    "can be addressed or counted",
    "pass as many bytes as the function that gives the size says",
    "give it memory of its own: what a call writes must not overlap what else it reads or writes, with gaps",
    "leave it as it was initialised, or what excludes it: the two cannot be had together",
    "make it fit the other arguments: heads must divide, a cache or states be of the same extents, and first_key and "
    "later states go on where the states stand",
    "set strides that keep its elements apart: sorted by size, each must be at least what the smaller ones span",
    "say what is meant: without it there is more than one thing that it could be",
    "set what it needs too, or leave it as it was initialised: by itself it would be ignored",
    "make it with attend_cache_init or attend_begin, run all parts, and look for who writes there: its own records "
    "are "
    "not as the library leaves them",
    "truncate the cache, or make it for more max_tokens: it has no room for so many tokens",
    "set a shorter window_left or fewer sink_tokens, make the ring for more of both, or ask for no raw or capped "
    "scores: the ring no longer holds keys that are asked for",
    "call the struct's init function with sizeof of it first, and leave its size alone",
    "use a newer library, or leave alone the fields that this version does not know",
    "choose another backend: this processor cannot run it",
};
constexpr const char* names[] = {"nothing",
                                 "problem",
                                 "size",
                                 "options",
                                 "layout",
                                 "scale",
                                 "batch",
                                 "query_heads",
                                 "kv_heads",
                                 "head_dim",
                                 "value_dim",
                                 "queries",
                                 "keys",
                                 "offset",
                                 "key_lengths",
                                 "query.data",
                                 "key.data",
                                 "value.data",
                                 "output.data",
                                 "cache",
                                 "window_left",
                                 "window_right",
                                 "sink_tokens",
                                 "mask.data",
                                 "mask.keys",
                                 "mask.kind",
                                 "bias.data",
                                 "bias.keys",
                                 "alibi_slopes",
                                 "relative_bias.data",
                                 "relative_bias.left",
                                 "relative_bias.right",
                                 "sink_logits",
                                 "soft_cap",
                                 "query_format",
                                 "key_format",
                                 "value_format",
                                 "output_format",
                                 "key_scales.data",
                                 "value_scales.data",
                                 "lse.data",
                                 "scores.data",
                                 "scores.keys",
                                 "scores.stage",
                                 "origin",
                                 "pages.table",
                                 "pages.page_keys",
                                 "pages.count",
                                 "states",
                                 "first_key",
                                 "later",
                                 "part",
                                 "parts",
                                 "workspace",
                                 "workspace_size",
                                 "shape",
                                 "max_tokens",
                                 "window_keys",
                                 "memory",
                                 "memory_size",
                                 "tokens",
                                 "name"};
constexpr int errors = ATTEND_UNAVAILABLE + 1, arguments = ATTEND_ARG_NAME + 1;
static_assert(sizeof texts / sizeof *texts == errors && sizeof names / sizeof *names == arguments, "a name is missing");

// Whether it is a status: ATTEND_OK, or an error and an argument.
bool is_status(attend_status status) {
  const int error = status & 0xff, argument = status >> 8;
  return error < errors && argument >= 0 && argument < arguments && (error == ATTEND_OK) == (argument == ATTEND_ARG_NONE);
}

}  // namespace
}  // namespace c_surface
}  // namespace attend

using namespace attend::c_surface;

extern "C" {

int attend_status_error(attend_status status) { return is_status(status) ? status & 0xff : -1; }

int attend_status_argument(attend_status status) { return is_status(status) ? status >> 8 : -1; }

const char* attend_error_text(attend_status status) {
  return is_status(status) ? texts[status & 0xff] : "pass a status that a function of attend_c.h has returned";
}

const char* attend_argument_name(attend_status status) { return is_status(status) ? names[status >> 8] : "status"; }

}  // extern "C"
