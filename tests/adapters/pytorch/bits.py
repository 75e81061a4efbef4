"""What changes no bit: of whole models with Attend inside, and of the operators by themselves."""
import random

import torch

import attend_torch  # noqa: F401, the operators
from changes import CHANGES
from checks import check, checked, difference, same_bits
from models import Decoder, encoder, swapped

ops = torch.ops.attend


def models_keep_bits(small):
    size = dict(layers=2, width=64, heads=4) if small else {}
    plain = encoder(**size), Decoder(layers=2, width=128) if small else Decoder()
    own = tuple(swapped(model) for model in plain)
    changed = []
    for what, outputs in CHANGES.items():
        found = outputs(*own)
        apart = [difference(found[0], each) for each in found[1:]]
        check(f'models: {what}: no bit changes', all(each == 'same' for each in apart), apart)
        shipped = outputs(*plain)
        if any(not same_bits(shipped[0], each) for each in shipped[1:]):
            changed.append(what)
        if what.startswith('padding'):
            close = all(torch.allclose(one, other, atol=2e-5) for one, other in zip(found, shipped))
            check(f'models: {what}: outputs are those of the shipped model, but for rounding', close)
    # The symptom that users of transformers report is that of padding: where PyTorch itself does not show it, nothing was compared above.
    # By which others bits change depends on the processor, for which PyTorch's products differ.
    check(f"models: as shipped, padding changes bits; all that does: {', '.join(changed) or 'nothing'}",
          any(what.startswith('padding') for what in changed), 'the test does not tell one from the other')


def operator_problem(choose):
    """A sequence alone, and somewhere in a batch with padding on both sides, of any numbers, NaN among them."""
    kind = choose.choice((torch.float32, torch.bfloat16, torch.float16))
    heads, keys, width = choose.choice((1, 2, 4)), choose.choice((1, 5, 64, 65, 200, 700)), choose.choice((8, 33, 64))
    causal = choose.random() < 0.5
    queries = keys if causal else choose.choice((1, 3, 20))
    q, k, v = torch.randn(1, heads, queries, width).to(kind), torch.randn(1, heads, keys, width).to(kind), torch.randn(1, heads, keys, width).to(kind)
    left, right, batch = choose.choice((0, 1, 15, 16, 100, 512)), choose.choice((0, 3, 40)), choose.randint(1, 3)
    row = choose.randrange(batch)
    junk = choose.choice((float('nan'), float('inf'), 3.0))
    wide_k, wide_v = torch.full((2, batch, heads, left + keys + right, width), junk).to(kind)
    wide_k[row, :, left:left + keys], wide_v[row, :, left:left + keys] = k[0], v[0]
    if causal:
        seen = torch.ones(queries, keys, dtype=torch.bool).tril()
        expected = ops.scaled_dot_product_attention(q, k, v, None, 0.0, True)
    else:
        seen = torch.ones(queries, keys, dtype=torch.bool)
        expected = ops.scaled_dot_product_attention(q, k, v)
    mask = torch.zeros(batch, 1, queries, left + keys + right, dtype=torch.bool)
    mask[row, 0, :, left:left + keys] = seen
    if choose.random() < 0.5:
        mask = torch.zeros(mask.shape).masked_fill(~mask, choose.choice((float('-inf'), torch.finfo(torch.float32).min)))
    many = torch.randn(batch, heads, queries, width).to(kind)
    many[row] = q[0]
    torch.set_num_threads(choose.randint(1, 4))
    return expected[0], ops.scaled_dot_product_attention(many, wide_k, wide_v, mask)[row]


def operators_keep_bits(count):
    wrong = []
    for number in range(count):
        choose = random.Random(number)
        torch.manual_seed(number)
        one, other = operator_problem(choose)
        if not same_bits(one, other) or one.isnan().any():
            wrong.append(f'problem {number}: {difference(one.float(), other.float())}')
    check(f'{count} random sequences in padding, batch and threads keep their bits', not wrong, '; '.join(wrong[:3]))


def windows_keep_bits():
    """A window that a mask says, whose keys a cache has dropped or kept."""
    torch.manual_seed(5)
    q, k, v = (torch.randn(1, 2, 150, 32) for _ in range(3))
    distance = torch.arange(150)[:, None] - torch.arange(150)[None]
    mask = (distance >= 0) & (distance < 40)
    whole = ops.scaled_dot_product_attention(q, k, v, mask)
    kept = torch.cat([ops.scaled_dot_product_attention(q[:, :, i:i + 1], k[:, :, max(0, i - 39):i + 1], v[:, :, max(0, i - 39):i + 1])
                      for i in range(150)], 2)
    return None if same_bits(whole, kept) else difference(whole, kept)


def softmax_keeps_bits():
    """Masked numbers in front of the rest and behind it."""
    torch.manual_seed(6)
    x = torch.randn(7, 100)
    for left, right, hidden in ((1, 0, float('-inf')), (13, 5, -1e4), (300, 1, torch.finfo(torch.float32).min)):
        wide = torch.nn.functional.pad(x, (left, right), value=hidden)
        own = ops.softmax(wide, -1)
        if not same_bits(own[:, left:left + 100], ops.softmax(x, -1)) or bool((own[:, :left] != 0).any()):
            return f'{left} in front and {right} behind'
    return None if bool((ops.softmax(torch.full((2, 5), float('-inf')), -1) == 0).all()) else 'expected zeros where all are masked'


def weights_keep_bits():
    """Weights in rows, which a call packs for itself where it has many rows of input, and weights that were packed before; rows changed in
    place, in a way that no version counts, are those of the next call."""
    torch.manual_seed(7)
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        for outputs, inputs in ((384, 96), (50, 512), (17, 1025)):
            weight = torch.randn(outputs, inputs + 3).to(kind)[:, :inputs]
            x = torch.randn(450, inputs)
            for turn in ('new', 'changed'):
                whole = ops.packed_linear(x, ops.pack_weight(weight), outputs)
                for tokens in (1, 2, 13, 192, 193, 450):
                    for threads in (1, 2):
                        torch.set_num_threads(threads)
                        own = ops.linear(x[:tokens], weight)
                        if not same_bits(own, whole[:tokens]):
                            return f'{turn} weights of {kind}, {outputs} by {inputs}, {tokens} tokens, {threads} threads: {difference(own, whole[:tokens])}'
                weight.data.mul_(-0.5)
    return None


def main(models, count):
    models_keep_bits(models == 'small')
    operators_keep_bits(int(count))
    checked('a window that a mask says has the bits of a cache that dropped what it has left behind')(windows_keep_bits)
    checked('linear: weights in rows have the bits of packed ones, and are read anew by each call')(weights_keep_bits)
    checked('softmax: numbers that are masked change no bit in front of the rest nor behind it')(softmax_keeps_bits)
