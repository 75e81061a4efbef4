"""Forms of ONNX's own Attention (23, 24, 25) and RotaryEmbedding (23)."""
import itertools

import numpy

from form import Numbers, form
from reference import Result, wide
from reference_attention import HIDDEN, additive, attention, causal, hidden_unless, join_heads, joined, rotated, split_heads

BATCH, TOKENS, NEW, PAST = 2, 5, 7, 6
SCORES = {0: "raw", 1: "capped", 2: "biased", 3: "weights"}


def add(name, heads=(4, 4), widths=(8, 8), tokens=TOKENS, keys=NEW, past=0, mask=None, valid=None, three=False, opset=23, scores=None, present=None, left=None,
        shipped=None, **attributes):
    """One form. heads: of queries, of keys; widths: of keys, of values; mask: a function of (random, tokens, all keys); valid: how many keys of each
    sequence there are (opset 24); three: arrays [batch, tokens, heads * width]."""
    random = Numbers("Attention" + name)
    (h, g), (d, dv), batch = heads, widths, BATCH
    q, k, v = random.normal(batch, h, tokens, d), random.normal(batch, g, keys, d), random.normal(batch, g, keys, dv)
    of_past = [random.normal(batch, g, past, d), random.normal(batch, g, past, dv)] if past else [None, None]
    whole_k, whole_v = (numpy.concatenate([a, b], 2) if past else b for a, b in zip(of_past, (k, v)))
    n = past + keys
    used = None if mask is None else mask(random, tokens, n)
    bias = numpy.zeros((1, 1, 1, n)) if used is None else additive(used, n)
    if attributes.get("is_causal"):
        bias = bias + causal(tokens, n, past if valid is None else numpy.reshape(valid, (-1, 1, 1, 1)) - tokens)
    if valid is not None:
        bias = bias + hidden_unless(numpy.arange(n) < numpy.reshape(valid, (-1, 1, 1, 1)))
    exact = attention(q, whole_k, whole_v, attributes.get("scale"), bias, attributes.get("softcap", 0.0), scores_mode=SCORES.get(scores))
    y = exact[0] if isinstance(exact, tuple) else exact
    if three:
        q, k, v = join_heads(q), join_heads(k), join_heads(v)
        attributes.update(q_num_heads=h, kv_num_heads=g)
        y = joined(y)
    if scores is not None:
        attributes.update(qk_matmul_output_mode=scores)
    shown = past > 0 if present is None else present
    results = [y] + [Result(wide(whole_k)), Result(wide(whole_v))] * shown + [None, None] * (scores is not None and not shown) + ([exact[1]] if scores is not None else [])
    inputs = {"q": q, "k": k, "v": v, "mask": used, "past_key": of_past[0], "past_value": of_past[1], "valid": None if valid is None else numpy.array(valid, numpy.int64)}
    form(name, "Attention", inputs, results, attributes=attributes, opset=opset, left=left, shipped=shipped)


def boolean(*shape):
    return lambda random, tokens, keys: random.chosen(*shape, tokens, keys)


def floats(*shape):
    return lambda random, tokens, keys: random.normal(*shape, tokens, keys)


def hiding(*shape):
    def mask(random, tokens, keys):
        return numpy.where(random.chosen(*shape, tokens, keys), random.normal(*shape, tokens, keys), numpy.float32(HIDDEN)).astype(numpy.float32)
    return mask


def short(random, tokens, keys):
    """A mask that ends before the keys do, from opset 24 on."""
    return random.chosen(tokens, keys - 2)


def along(axes, kind):
    """A mask that has some of the axes batch, heads, tokens, keys (b, h, t, k), and extent 1 along the others."""
    def mask(random, tokens, keys):
        shape = [n if axis in axes else 1 for axis, n in zip("bhtk", (BATCH, 4, tokens, keys))]
        return random.random.random(shape) < 0.6 if kind == "booleans" else random.normal(*shape)
    return mask


MASKS = {"no mask": None, "booleans 2D": boolean(), "booleans 3D": boolean(4), "booleans 4D": boolean(BATCH, 4), "booleans by sequence": boolean(BATCH, 1),
         "floats 2D": floats(), "floats 4D": floats(BATCH, 4), "floats by head": floats(1, 4), "floats with -inf": hiding(BATCH, 1)}

for (mask_name, mask), is_causal, past, three in itertools.product(MASKS.items(), (0, 1), (0, PAST), (False, True)):
    add("%s%s%s%s" % (mask_name, ", causal" if is_causal else "", ", past" if past else "", ", 3D" if three else ""), mask=mask, past=past, three=three,
        **(dict(is_causal=1) if is_causal else {}))
for heads, widths, is_causal, past in itertools.product(((4, 2), (6, 1), (9, 3), (1, 1)), ((8, 8), (8, 10), (32, 16), (5, 3)), (0, 1), (0, PAST)):
    add("heads %d of %d, width %d and %d%s%s" % (*heads, *widths, ", causal" if is_causal else "", ", past" if past else ""), heads=heads, widths=widths, past=past,
        three=heads[0] == 6, **(dict(is_causal=1) if is_causal else {}))
for scale, cap in itertools.product((None, 0.01, 1.0), (0.0, 2.0, 30.0)):
    for name, mask in (("no mask", None), ("booleans 2D", boolean()), ("floats 2D", floats())):
        add("%s, scale %s, cap %g" % (name, scale, cap), mask=mask, **({} if scale is None else dict(scale=scale)), **(dict(softcap=cap) if cap else {}))
for scores, opset in itertools.product((0, 1, 2, 3), (23, 24)):
    for past in (0, PAST):
        add("scores %d%s" % (scores, ", past" if past else ""), scores=scores, past=past, opset=opset)
        add("scores %d%s, booleans, causal, cap" % (scores, ", past" if past else ""), scores=scores, past=past, mask=boolean(), is_causal=1, softcap=2.0, opset=opset,
            shipped="writes the least number in place of -inf" if scores == 2 else None)
        add("scores %d%s, floats" % (scores, ", past" if past else ""), scores=scores, past=past, mask=floats(BATCH, 4), softcap=2.0, opset=opset)
for tokens, keys, past in ((1, 1, 0), (1, 1, 40), (1, 100, 0), (40, 40, 0), (3, 3, 61), (70, 70, 0), (33, 600, 0), (2, 1030, 0)):
    for is_causal in (0, 1):
        add("%d tokens, %d keys after %d%s" % (tokens, keys, past, ", causal" if is_causal else ""), tokens=tokens, keys=keys, past=past, heads=(2, 1), widths=(16, 16),
            **(dict(is_causal=1) if is_causal else {}))
for opset in (24, 25):
    add("plain", opset=opset)
    add("booleans, causal, past", mask=boolean(), past=PAST, is_causal=1, opset=opset)
    add("short mask", mask=short, opset=opset, shipped="asks for a mask of all keys")
    add("cap and bias", mask=floats(), softcap=3.0, opset=opset)
    for heads in ((4, 4), (4, 2)):
        for three in (False, True):
            add("valid keys %d of %d%s" % (*heads, ", 3D" if three else ""), heads=heads, valid=[3, 7], three=three, opset=opset)
            add("valid keys, mask, %d of %d%s" % (*heads, ", 3D" if three else ""), heads=heads, valid=[7, 5], mask=floats(BATCH, 1), three=three, opset=opset)
    add("valid keys, causal", tokens=3, valid=[4, 7], is_causal=1, opset=opset)
add("present without past", present=True)
# Extents of 1 stand for all batch rows, heads and tokens; along the keys, of which there is one then, too. A query may see none.
for axes, kind, opset in itertools.product(("k", "tk", "hk", "bk", "bhk", "btk", "htk", "bhtk"), ("booleans", "floats"), (23, 24)):
    missing = "gives queries that see no key numbers of masked ones" if kind == "booleans" else None
    shipped = missing if "t" in axes else "asks for a mask of all tokens"
    add("%s along %s" % (kind, axes), mask=along(axes, kind), opset=opset, shipped=shipped)
    add("%s along %s, one key" % (kind, axes), keys=1, mask=along(axes, kind), opset=opset, shipped=shipped)

# RotaryEmbedding: the halves, or pairs, of each head's first numbers are turned, by tables of positions or by rows of their own.
for three, interleaved, part, positions in itertools.product((False, True), (0, 1), (0, 4), ("table", "rows")):
    for shape in ((2, 3, 5, 8), (1, 2, 1, 16), (2, 1, 33, 8)):
        name = "%s%s, %s, %s" % ("x".join(map(str, shape)), ", 3D" if three else "", "pairs" if interleaved else "halves", positions) + (", the first %d" % part if part else "")
        random = Numbers("RotaryEmbedding" + name)
        batch, heads, tokens, width = shape
        w = (part or width) // 2
        x, place = random.normal(*shape), random.whole(0, 50, batch, tokens)
        angles = random.random.uniform(-3, 3, (50, w) if positions == "table" else (batch, tokens, w))
        cosines, sines = numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)
        exact = rotated(x, *((cosines[place], sines[place]) if positions == "table" else (cosines, sines)), interleaved)
        attributes = {**(dict(interleaved=1) if interleaved else {}), **(dict(rotary_embedding_dim=part) if part else {})}
        if three:
            x, attributes["num_heads"] = join_heads(x), heads
            exact = joined(exact)
        elif part:
            attributes["num_heads"] = heads  # the runtime asks for it
        form(name, "RotaryEmbedding", {"x": x, "cosines": cosines, "sines": sines, "positions": place if positions == "table" else None}, exact, attributes=attributes,
             opset=23, constants=("cosines", "sines") if positions == "table" else ())
