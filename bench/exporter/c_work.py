"""How much memory calls of the C surface and its caches take, as constants: pairs of bytes, of hosts and of embedded processors.

The library tells these sizes when it runs (attend_workspace_size, attend_cache_size); a program in C needs them before. So the layouts of
include/attend/core/work_memory.h, core/integer.h and src/c stand here once more. A call checks what it is given: where a size were too
small, it would return ATTEND_TOO_SMALL, and so would the self-test. Where embedded processors differ, it is the largest of them.
"""
from typing import Any, NamedTuple, Tuple

Sizes = Tuple[int, int]

# The processors that are no embedded ones: the condition of include/attend/core/config.h.
IS_HOST = """(defined(ATTEND_EMBEDDED) && !ATTEND_EMBEDDED) || \\
    (!defined(ATTEND_EMBEDDED) && (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__riscv_v) || \\
                                   defined(__wasm_simd128__) || (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A')))"""
ALIGNMENT = 64                    # ATTEND_ALIGNMENT
PROJECTION: Sizes = (278528, 1024)  # ATTEND_PROJECTION_WORKSPACE_SIZE, and what boards need
MOST_TOKENS = 536870912           # ATTEND_MAX_TOKENS
SEGMENT, PANEL, CHAIN, CHUNK = 512, 16, 64, 32


def up(number: int, to: int) -> int:
    """The next multiple."""
    return -(-number // to) * to


class Shape(NamedTuple):
    """Of attention: what work memory depends on."""

    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int
    queries: int
    keys: int               # or how many tokens a cache has room for
    cached: bool = False
    ring: int = 0           # tokens that a ring has room for

    @property
    def rows(self) -> int:
        return self.heads // self.kv_heads * self.queries

    @property
    def levels(self) -> int:
        """Nodes of finished segments of keys."""
        levels = (up(self.keys, SEGMENT) // SEGMENT).bit_length() - 1 if self.keys > SEGMENT else 0
        return min(levels, ((self.ring + SEGMENT - 2) // SEGMENT).bit_length()) if self.ring else levels


def of_floats(shape: Shape, options: bool) -> Sizes:
    """attend_workspace_size. options: anything but scale, causal and offset; a ring too."""
    chains = up(max(shape.keys, 1), CHAIN)

    def largest(most_rows: int, one_row_keys: int, floats: Any) -> int:
        rows = min(shape.rows, most_rows)
        sizes = [floats(1, min(chains, one_row_keys))]
        if rows > 1:
            sizes.append(floats(rows, min(chains, CHAIN)))
        return 4 * int(max(sizes))

    host = largest(384, 512 if shape.cached else CHAIN, lambda rows, keys: host_floats(shape, rows, keys, options))
    if options:
        return max(host, largest(384, CHAIN, lambda rows, keys: option_floats(shape, rows))), largest(16, CHAIN, lambda rows, keys: option_floats(shape, rows))
    return host, largest(4, CHAIN, lambda rows, keys: rows * (CHAIN + PANEL + 1 + shape.head_dim + shape.levels * (shape.value_dim + 2)))


def host_floats(shape: Shape, rows: int, keys: int, options: bool) -> int:
    """core::HostWorkMemory."""
    copied = keys if options or not shape.cached else 0
    of_options = PANEL * shape.head_dim + 10 * rows + 2 * keys + rows * shape.value_dim if options else 0
    scores = (keys if rows == 1 else 128) * min(rows, 12)
    of_rows = rows * (PANEL + shape.head_dim + shape.value_dim + 3 + shape.levels * (shape.value_dim + 2))
    return copied * (shape.head_dim + shape.value_dim) + of_options + scores + of_rows


def option_floats(shape: Shape, row_block: int) -> int:
    """core::EmbeddedOptionMemory."""
    rows = min(row_block, 16)
    numbers = PANEL * max(shape.head_dim, PANEL if row_block < 8 else 64)
    of_rows = rows * (18 + 3 + PANEL + shape.value_dim + CHAIN + shape.head_dim + shape.levels * (shape.value_dim + 2))
    return of_rows + shape.value_dim + numbers


def of_integers(shape: Shape) -> Sizes:
    """attend_workspace_size of a problem in integers, with constants for each head."""
    constants = 32 * shape.heads
    nodes = shape.value_dim * 4 + shape.levels * (shape.value_dim + 2) * 4
    query = 2 * up(shape.head_dim, 16)
    rows, keys = min(shape.rows, 192), min(up(max(shape.keys, 1), CHUNK), 256)
    host = up(keys * up(shape.head_dim, 4), 64) + up(keys * up(shape.value_dim, 16) * 2, 64) + 16 * CHUNK * 4 + rows * (query + 64) + \
        up(rows * 8 + 64, 64) + up(CHUNK * (shape.head_dim + shape.value_dim), 64) + rows * nodes
    rows = min(shape.rows, 2)
    embedded = rows * (CHUNK * 4 + query + nodes)
    return up(host, 16) + constants, up(embedded, 16) + constants


def ring_tokens(window: int, integers: bool) -> int:
    """That a ring has room for which keeps so many."""
    group = CHUNK if integers else PANEL
    return up(window - 1, group) + group


def of_cache(shape: Shape, integers: bool) -> int:
    """attend_cache_size, on any processor."""
    tokens = shape.ring or shape.keys
    if integers:
        tokens = up(tokens, CHUNK)
        return ALIGNMENT + up(shape.kv_heads * tokens * up(shape.head_dim, 4), ALIGNMENT) + shape.kv_heads * tokens * shape.value_dim
    return ALIGNMENT + 4 * shape.kv_heads * (up(tokens, PANEL) * shape.head_dim + tokens * shape.value_dim)
