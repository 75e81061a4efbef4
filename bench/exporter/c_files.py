"""Writes a program as C99 over the C surface of the library: model.h and model.c."""
from typing import Any, Dict, Tuple

from .c_text import HELPERS, INT4_GROUP, INT4_PANEL
from .c_work import ALIGNMENT, IS_HOST, up
from .receipts import ABOUT, source
from .streaming import capacity


class CFiles:
    """What CWriter takes for its files."""

    def write(self: Any) -> Dict[str, str]:
        return {'model.h': self.wrapped(self.header()), 'model.c': self.source()}

    def sizes(self: Any) -> Tuple[int, int]:
        """Bytes of the block of memory."""
        arrays = max([4, *self.program.tops])
        host, embedded = (max([arrays, *(work[which] for work in self.works)]) for which in (0, 1))
        return host, embedded

    def cache_places(self: Any) -> Tuple[Dict[int, int], int]:
        """Where each cache begins, and where the last ends."""
        places, end = {}, 0
        for cache, (size, *_) in sorted(self.caches.items()):
            places[cache] = end
            end += up(size, ALIGNMENT)
        return places, end

    def header(self: Any) -> str:
        name = self.program.name
        sizes = {f'{writer.memory_name.upper()}_BYTES': writer.sizes() for writer in (self, self.by_token) if writer}
        if any(host != embedded for host, embedded in sizes.values()):
            define = lambda which: '\n'.join(f'#define {each} {of_each[which]}' for each, of_each in sizes.items())
            memory = f'''/* Work memory is larger on processors that have much of it. */
#if {IS_HOST}
{define(0)}
#else
{define(1)}
#endif'''
        else:
            memory = '\n'.join(f'#define {each} {host}' for each, (host, _) in sizes.items())
        extents = ', '.join(f'{self.parameter_names[id(view.buffer)]}{self.extents(view.shape)}' for view in self.program.inputs + self.program.outputs)
        return f'''/* The model {name}, made from {self.origin} by `python3 -m attend export`: do not edit.
 *
 *   attend_status status = {name}_run({self.arguments()});
 *
 * Arrays are {extents}, their numbers side by side. All memory that it takes is {name}_memory, of
 * {name.upper()}_MEMORY_BYTES. It is not reentrant. */
#ifndef {name.upper()}_MODEL_H
#define {name.upper()}_MODEL_H

#include "attend/attend_c.h"

#ifdef __cplusplus
extern "C" {{
#endif

{memory}

extern unsigned char {name}_memory[{name.upper()}_MEMORY_BYTES];

/* Computes the model: ATTEND_OK, or what attend_error_text tells. Arrays must not overlap. */
attend_status {name}_run({self.parameters()});

/* The same, and calls observe(context, step, numbers, count, bytes of a number) after each step with what it has written: for tests. */
typedef void (*{name}_observer)(void* context, int step, const void* numbers, size_t count, size_t bytes);
attend_status {name}_run_observed({self.parameters()}, {name}_observer observe, void* context);
{self.token_header() if self.by_token else ""}{self.receipt_header() if self.receipts else ""}
/* Of self_test.c: -1, or the first step whose bits differ. */
int {name}_self_test(void);

#ifdef __cplusplus
}}
#endif

#endif
'''

    def token_header(self: Any) -> str:
        name, token = self.program.name, self.by_token
        most = capacity(token.program)
        end = f'There are at most {most} of them:\n * then it returns ATTEND_FULL.' if most else 'There is no end to them.'
        silent = f'''
/* The same where nobody reads the outputs, as those of a prompt but for its last token: only what later tokens look at is computed. */
attend_status {name}_append_silently({token.parameters(True)});
''' if token.program.split else ''
        return f'''
/* One token after another: appends a token and computes what {name}_run computes for it, with the same bits. {end}
 * {name}_clear begins anew. It takes the caches and {name}_token_memory, and nothing of what {name}_run takes. */
#define {name.upper()}_CACHES_BYTES {token.cache_places()[1]}
extern unsigned char {name}_caches[{name.upper()}_CACHES_BYTES];
extern unsigned char {name}_token_memory[{name.upper()}_TOKEN_MEMORY_BYTES];
extern int {name}_position; /* tokens so far */
attend_status {name}_append({token.parameters()});
{silent}attend_status {name}_clear(void);
'''

    def receipt_header(self: Any) -> str:
        name, about = self.program.name, ABOUT.replace('\n', '\n * ')
        return f'''
/* {about} */
uint64_t {name}_receipt(void);
typedef void (*{name}_receipt_observer_function)(int step, uint32_t digest, const void* numbers, size_t count, size_t bytes);
extern {name}_receipt_observer_function {name}_receipt_observer;
'''

    def token_source(self: Any) -> str:
        name, (places, _) = self.program.name, self.cache_places()
        most, split = capacity(self.program), self.program.split
        made = '\n'.join('\n'.join(f'  {line}' for line in self.checked(f'make_cache({name}_caches + {places[cache]}, {size}, &{shape}, {tokens}, {window}, {integers})'))
                         for cache, (size, shape, tokens, window, integers) in sorted(self.caches.items()))
        begin = f'caches_are_made ? ATTEND_OK : {name}_clear();\n  const int position = {name}_position;\n  if (status != ATTEND_OK) return status;\n' + \
            (f'  if (position >= {most}) return ATTEND_FULL;\n' if most else '') + '  (void)position;\n'
        first, rest = ('\n'.join(calls) for calls in (self.calls[:split], self.calls[split:]))
        silent = f'''// What later tokens look at.
static attend_status remember({self.parameters(True)}) {{
  attend_status status = {begin}{self.unused(first, True)}{self.wrapped(self.receipt())}
{self.wrapped(first)}

  return status;
}}

attend_status {name}_append_silently({self.parameters(True)}) {{
  const attend_status status = remember({self.arguments(True)});
  if (status == ATTEND_OK) ++{name}_position;
{self.receipt(False, 'status == ATTEND_OK')}  return status;
}}

''' if split else ''
        if split:
            begin = f'remember({self.arguments(True)});\n  const int position = {name}_position;\n  if (status != ATTEND_OK) return status;\n  (void)position;\n'
        return f'''
ALIGNED unsigned char {name}_caches[{name.upper()}_CACHES_BYTES];
ALIGNED unsigned char {name}_token_memory[{name.upper()}_TOKEN_MEMORY_BYTES];
int {name}_position = 0;
static int caches_are_made = 0;

attend_status {name}_clear(void) {{
  attend_status status;
  caches_are_made = 0;
{self.wrapped(made)}
  caches_are_made = 1;
  {name}_position = 0;
  return ATTEND_OK;
}}

{silent}{self.wrapped(f"attend_status {name}_append({self.parameters()}) {{")}
  attend_status status = {begin}{self.unused(f'{begin}{rest}')}{'' if split else self.wrapped(self.receipt())}
{self.wrapped(rest)}

  ++{name}_position;
{self.receipt(True)}  return status;
}}
'''

    def source(self: Any) -> str:
        name, calls = self.program.name, self.wrapped('\n\n'.join(self.calls))
        tokens = self.by_token.token_source() if self.by_token else ''
        constants = ''.join(self.constants)
        structs = ''.join(text for word, text in (('struct int4_group', INT4_GROUP), ('struct int4_panel', INT4_PANEL)) if word in constants)
        if 'struct heads' in constants:
            structs += 'struct heads {\n  int query_heads, kv_heads, head_dim, value_dim;\n};\n'
        places = self.by_token.cache_places()[0].items() if self.by_token else []
        structs += ''.join(f'#define CACHE_{cache} ((attend_cache*)({name}_caches + {place}))\n' for cache, place in places)
        receipts = ''
        if self.receipts:
            lines = f'{self.receipt()}{self.by_token.receipt() if self.by_token else ""}{calls}{tokens}'
            receipts = f'{name}_receipt_observer_function {name}_receipt_observer;\n\n{source(lines, f"{name}_receipt_observer")}' \
                f'uint64_t {name}_receipt(void) {{ return receipt_state.last; }}\n\n'
        status = '  attend_status status;\n\n' if 'status = ' in calls else ''
        return f'''// The model {name}, made from {self.origin} by `python3 -m attend export`: do not edit.
#include "model.h"

#ifndef ATTEND_LAYERS_H  // where the library's headers are not one file
#include "attend/c/integer.h"
#include "attend/c/layers.h"
#endif

#define ALIGNED __attribute__((aligned(ATTEND_ALIGNMENT)))

ALIGNED unsigned char {name}_memory[{name.upper()}_MEMORY_BYTES];

{structs}
{self.wrapped(self.helpers(calls + tokens, HELPERS))}{receipts}{constants}
{self.wrapped(f"attend_status {name}_run({self.parameters()}) {{")}
  return {name}_run_observed({self.arguments()}, NULL, NULL);
}}

{self.wrapped(f"attend_status {name}_run_observed({self.parameters()}, {name}_observer observe, void* context) {{")}
{self.unused(calls)}{status}{self.wrapped(self.receipt())}{calls}

{self.receipt(True)}  return ATTEND_OK;
}}
{tokens}'''
