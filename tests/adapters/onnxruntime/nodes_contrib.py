"""Forms of com.microsoft's attention: MultiHeadAttention, GroupQueryAttention, Attention, RotaryEmbedding."""
import itertools

import numpy

from form import CRASHES, Numbers, form
from model import DOMAIN
from reference import Result, product, wide
from reference_attention import attention, causal, hidden_unless, join_heads, joined, rotated, split_heads, window


# MultiHeadAttention. How query, key and value come: three arrays, key and value by head, or packed.
MASKS = {"no mask": None, "lengths": [3, 7], "mask by key": "2D", "mask by token": "3D"}


def multi_head(name, layout="three", batch=2, heads=4, width=8, value_width=8, tokens=5, keys=7, past=0, mask=None, bias=False, scores=None, left=None, shipped=None,
               **attributes):
    random = Numbers("MultiHeadAttention" + name)
    keys = tokens if layout == "packed QKV" else keys
    q, k, v = (random.normal(batch, heads, n, w) for n, w in ((tokens, width), (keys, width), (keys, value_width)))
    biases = [random.normal(heads * w) for w in (width, width, value_width)] if bias else None
    added = [a + (split_heads(b[None, None], heads) if bias else 0) for a, b in zip((q, k, v), biases or (0, 0, 0))]
    if layout == "by head":
        added[1:] = [k, v]  # keys by head are of another sequence, whose biases were added
    stored = [random.normal(batch, heads, past, w) for w in (width, value_width)] if past else [None, None]
    whole = [numpy.concatenate([a, b], 2) if past else b for a, b in zip(stored, added[1:])]
    n = past + keys
    visible, used = numpy.ones((1, 1, 1, n), bool), None
    if mask == "2D":
        chosen = random.chosen(batch, n)
        visible, used = chosen[:, None, None], chosen.astype(numpy.int32)
    elif mask == "3D":
        chosen = random.chosen(batch, tokens, n)
        visible, used = chosen[:, None], chosen.astype(numpy.int32)
    elif mask is not None:
        used = numpy.array(mask[:batch], numpy.int32)
        visible = (numpy.arange(n) < used.reshape(-1, 1, 1, 1))
    total = hidden_unless(visible)
    if attributes.get("unidirectional"):
        total = total + causal(tokens, n, n - tokens)
    extra = None
    if scores:
        extra = random.normal(*scores, tokens, n)
        total = total + extra
    exact = joined(attention(added[0], *whole, attributes.get("scale"), total))
    if layout == "packed QKV":
        inputs = {"q": numpy.stack([a.transpose(0, 2, 1, 3) for a in (q, k, v)], 3), "k": None, "v": None}
    elif layout == "packed KV":
        inputs = {"q": join_heads(q), "k": numpy.stack([a.transpose(0, 2, 1, 3) for a in (k, v)], 3), "v": None}
    elif layout == "by head":
        inputs = {"q": join_heads(q), "k": k, "v": v}
    else:
        inputs = {"q": join_heads(q), "k": join_heads(k), "v": join_heads(v)}
    inputs.update(bias=None if biases is None else numpy.concatenate(biases), mask=used, extra=extra, past_key=stored[0], past_value=stored[1])
    results = [exact] + ([Result(wide(w), 1e-6 if bias else 0) for w in whole] if past else [])
    form(name, "MultiHeadAttention", inputs, results, attributes=dict(num_heads=heads, **attributes), domain=DOMAIN, constants=("bias",), left=left, shipped=shipped)


for layout, bias in itertools.product(("three", "packed QKV", "packed KV", "by head"), (False, True)):
    if bias and layout in ("packed KV", "packed QKV"):
        continue
    for (mask_name, mask), uni in itertools.product(MASKS.items(), (0, 1)):
        if layout in ("packed QKV",) and mask_name == "lengths":
            mask = [3, 5]
        if layout in ("packed KV", "by head") and uni or (layout == "three" and uni):
            continue  # the operator says nothing of causal masks over keys of another sequence
        multi_head("%s%s, %s%s" % (layout, ", bias" if bias else "", mask_name, ", causal" if uni else ""), layout, mask=mask, bias=bias,
                   shipped="has none for packed arrays" if "packed" in layout else None,
                   **(dict(unidirectional=1) if uni else {}))
for scores in ((1, 1), (1, 4), (2, 1), (2, 4)):
    for past in (0, 6):
        multi_head("added %d by %d%s" % (*scores, ", past" if past else ""), scores=scores, past=past, keys=5)
for past, mask_name, uni in itertools.product((6, 1), ("no mask", "mask by key", "mask by token"), (0, 1)):
    for tokens in (1, 5):
        multi_head("past %d, %s, %d tokens%s" % (past, mask_name, tokens, ", causal" if uni else ""), past=past, mask=MASKS[mask_name], tokens=tokens, keys=tokens,
                   **(dict(unidirectional=1) if uni else {}))
for heads, width, value_width in ((1, 8, 8), (12, 32, 32), (3, 8, 16), (2, 5, 5), (4, 64, 32)):
    multi_head("heads %d of %d and %d" % (heads, width, value_width), heads=heads, width=width, value_width=value_width)
    multi_head("heads %d of %d and %d, scale, causal" % (heads, width, value_width), heads=heads, width=width, value_width=value_width, keys=5, scale=0.2, unidirectional=1)
multi_head("long", heads=2, tokens=70, keys=600)
multi_head("one token of many keys", heads=2, tokens=1, keys=700)
multi_head("filter value", mask="2D", mask_filter_value=-1e9)


# GroupQueryAttention: always causal; the number of each sequence's keys less one is an input.
def grouped(name, heads=(4, 2), width=16, batch=2, tokens=5, past=0, lengths=None, packed=False, rotary=None, local=-1, room=0, extra=None, sink=False, positions=False,
            left=None, shipped=None, **attributes):
    """lengths: keys of each sequence, with the new ones; room: further places that the arrays of past keys have."""
    random = Numbers("GroupQueryAttention" + name)
    h, g = heads
    q, k, v = (random.normal(batch, n, tokens, width) for n in (h, g, g))
    inputs = {"q": join_heads(q), "k": join_heads(k), "v": join_heads(v)}
    if packed:
        inputs = {"q": numpy.concatenate(list(inputs.values()), -1), "k": None, "v": None}
    lengths = [past + tokens] * batch if lengths is None else lengths
    before = [n - tokens if past else 0 for n in lengths]  # of a prompt that is padded on the right, all tokens are there
    place = numpy.array(before)[:, None] + numpy.arange(tokens)
    if rotary:
        w = rotary[1] // 2
        angles = random.random.uniform(-3, 3, (64, w))
        cosines, sines = numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)
        q, k = (rotated(x, cosines[place], sines[place], rotary[0] == "pairs") for x in (q, k))
        off, q, k = k.bound, q.values, k.values
        attributes.update(do_rotary=1, **(dict(rotary_interleaved=1) if rotary[0] == "pairs" else {}))
    else:
        cosines = sines = None
        off = numpy.zeros_like(k, numpy.float64)
    stored = [random.normal(batch, g, past + room, width) for _ in (0, 1)] if past else [None, None]
    n = max(lengths)
    extent = max(past + room, n)
    cache, bound, there = [], [], numpy.zeros((batch, g, extent, width), bool)
    for new, old, of_new in ((k, stored[0], off), (v, stored[1], None)):
        whole, error = numpy.zeros((batch, g, extent, width)), numpy.zeros((batch, g, extent, width))
        for b in range(batch):
            first = before[b]
            if past:
                whole[b, :, :first] = old[b, :, :first]
            whole[b, :, first:first + tokens] = new[b]
            error[b, :, first:first + tokens] = of_new[b] if of_new is not None else 0
            there[b, :, :lengths[b]] = True
        cache.append(whole)
        bound.append(error)
    after = numpy.reshape(before, (-1, 1, 1, 1))
    total = causal(tokens, n, after)
    if local >= 0:
        total = total + window(tokens, n, after, local - 1)
        attributes.update(local_window_size=local)
    added = None
    if extra:
        added = random.normal(*extra, tokens, n)
        total = total + added
    sinks = random.normal(h) if sink else numpy.zeros(h) if attributes.get("smooth_softmax") else None
    exact = joined(attention(q, cache[0][:, :, :n], cache[1][:, :, :n], attributes.get("scale"), total, attributes.get("softcap", 0.0), sinks, bool(rotary)))
    exact.where = (place < numpy.array(lengths)[:, None])[..., None]  # of padding nothing is said
    inputs.update(past_key=stored[0], past_value=stored[1], lengths=numpy.array(lengths, numpy.int32) - 1, total=numpy.array([n], numpy.int32),
                  cosines=cosines, sines=sines, positions=place if positions else None, extra=added, sinks=sinks if sink else None)
    form(name, "GroupQueryAttention", inputs, [exact] + [Result(c, e, e * 2, there) for c, e in zip(cache, bound)],
         attributes=dict(num_heads=h, kv_num_heads=g, **attributes), domain=DOMAIN, constants=("cosines", "sines"), left=left, shipped=shipped)


ROTARY = (None, ("halves", 16), ("pairs", 16), ("part", 16))  # the part: of heads of 32
STAGES = {"prompt": {}, "prompt, padding": dict(lengths=[3, 5]), "one token": dict(tokens=1, past=6), "one token, room": dict(tokens=1, past=6, room=10),
          "one token, lengths": dict(tokens=1, past=6, lengths=[4, 7]), "a chunk": dict(batch=1, past=6), "a chunk, room": dict(batch=1, past=6, room=9)}
for (stage, options), rotary, packed in itertools.product(STAGES.items(), ROTARY, (False, True)):
    grouped("%s%s%s" % (stage, ", packed" if packed else "", ", rotary %s of %d" % rotary if rotary else ""), packed=packed, rotary=rotary,
            width=32 if rotary == ROTARY[3] else 16, **options)
for (stage, options), local in itertools.product(STAGES.items(), (1, 3, 100)):
    grouped("%s, window %d" % (stage, local), local=local, **options)
for (stage, options), heads in itertools.product(STAGES.items(), ((4, 4), (6, 1), (8, 2))):
    grouped("%s, heads %d of %d" % (stage, *heads), heads=heads, rotary=ROTARY[1], **options)
for stage in ("prompt", "one token", "a chunk"):
    grouped(stage + ", scale", scale=0.3, **STAGES[stage])
    grouped(stage + ", cap", softcap=2.0, **STAGES[stage])
    grouped(stage + ", smooth softmax", smooth_softmax=1, **STAGES[stage])
    grouped(stage + ", sinks", sink=True, **STAGES[stage])
    batch = STAGES[stage].get("batch", 2)
    for extra in ((1, 1), (batch, 4)):
        grouped("%s, added %d by %d" % (stage, *extra), extra=extra, **STAGES[stage])
    grouped(stage + ", positions", rotary=ROTARY[1], positions=True, **STAGES[stage])
grouped("long prompt", tokens=70, rotary=None)
grouped("one token after many", tokens=1, past=600, heads=(2, 1))


# Attention of com.microsoft: projects its input first.
def projecting(name, batch=2, tokens=5, past=0, inner=24, heads=4, sizes=(32, 32, 32), mask=None, bias=True, extra=None, left=None, shipped=None, **attributes):
    random = Numbers("MsAttention" + name)
    x, weights = random.normal(batch, tokens, inner), random.normal(inner, sum(sizes), scale=0.3)
    b = random.normal(sum(sizes)) if bias else None
    projected = product(x, weights, 0.0 if b is None else b)
    q, k, v = (split_heads(part, heads) for part in numpy.split(projected.values, numpy.cumsum(sizes)[:2], -1))
    stored = random.normal(2, batch, heads, past, sizes[0] // heads) if past else None
    if past:
        k, v = (numpy.concatenate([wide(s), new], 2) for s, new in zip(stored, (k, v)))
    n = past + tokens
    total, used = numpy.zeros((1, 1, 1, n)), None
    if mask == "ends":
        used = numpy.array([n - 2, n], numpy.int32)
        total = hidden_unless(numpy.arange(n) < used.reshape(-1, 1, 1, 1))
    elif mask == "ends and starts":
        used = numpy.array([n, n, 2, 0], numpy.int32)
        total = hidden_unless((numpy.arange(n) < used[:2].reshape(-1, 1, 1, 1)) & (numpy.arange(n) >= used[2:].reshape(-1, 1, 1, 1)))
    elif mask in ("2D", "3D"):
        chosen = random.chosen(batch, n) if mask == "2D" else random.chosen(batch, tokens, n)
        total, used = hidden_unless(chosen[:, None, None] if mask == "2D" else chosen[:, None]), chosen.astype(numpy.int32)
    if attributes.get("unidirectional"):
        total = total + causal(tokens, n, past)
    added = None
    if extra:
        added = random.normal(*extra, tokens, n)
        total = total + added
    exact = joined(attention(q, k, v, attributes.get("scale"), total))
    exact.bound = exact.bound * 4 + projected.bound.max() * 12
    exact.shipped = exact.shipped + projected.shipped.max() * 12
    if len(set(sizes)) > 1:
        attributes.update(qkv_hidden_sizes=list(sizes))
    # What a row that starts after its token has seen is not said.
    exact.where = None if mask != "ends and starts" else (numpy.isfinite(numpy.broadcast_to(total, (batch, 1, tokens, n))).any(-1)[:, 0])[..., None]
    present = [Result(numpy.stack([k, v]), projected.bound.max(), projected.shipped.max())] if past else []
    form(name, "Attention", {"x": x, "weights": weights, "bias": b, "mask": used, "past": stored, "extra": added}, [exact] + present,
         attributes=dict(num_heads=heads, **attributes), domain=DOMAIN, constants=("weights", "bias"), left=left, shipped=shipped)


for mask, uni, past in itertools.product((None, "ends", "ends and starts", "2D", "3D"), (0, 1), (0, 6)):
    projecting("%s%s%s" % (mask or "no mask", ", causal" if uni else "", ", past" if past else ""), mask=mask, past=past, **(dict(unidirectional=1) if uni else {}))
for sizes in ((32, 32, 32), (32, 32, 16), (16, 16, 64)):
    for bias in (False, True):
        projecting("sizes %d %d %d%s" % (*sizes, ", bias" if bias else ""), sizes=sizes, bias=bias, shipped=None if bias else CRASHES)
projecting("scale", scale=0.5)
projecting("filter value", mask="2D", mask_filter_value=-3e38)
for extra in ((1, 1), (1, 4), (2, 4)):
    projecting("added %d by %d" % extra, extra=extra)
projecting("MiniLM", inner=384, heads=12, sizes=(384, 384, 384), tokens=9, mask="2D", batch=2)

# RotaryEmbedding of com.microsoft: positions are one for the first token of all sequences, or one for each token.
for four, interleaved, part, first in itertools.product((False, True), (0, 1), (0, 4), (False, True)):
    for shape in ((2, 3, 5, 8), (1, 2, 1, 16)):
        name = "%s%s, %s%s%s" % ("x".join(map(str, shape)), ", 4D" if four else "", "pairs" if interleaved else "halves", ", the first %d" % part if part else "",
                                 ", one position" if first else "")
        random = Numbers("MsRotary" + name)
        batch, heads, tokens, width = shape
        w = (part or width) // 2
        x, angles = random.normal(*shape), random.random.uniform(-3, 3, (50, w))
        place = numpy.array([11]) if first else random.whole(0, 50, batch, tokens)
        cosines, sines = numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)
        rows = (numpy.arange(tokens) + 11)[None].repeat(batch, 0) if first else place
        exact = rotated(x, cosines[rows], sines[rows], interleaved)
        attributes = {**(dict(interleaved=1) if interleaved else {}), **(dict(rotary_embedding_dim=part) if part else {}), **(dict(num_heads=heads) if part else {})}
        form(name, "RotaryEmbedding", {"x": x if four else join_heads(x), "positions": place, "cosines": cosines, "sines": sines}, exact if four else joined(exact),
             attributes=attributes, domain=DOMAIN, constants=("cosines", "sines"))
