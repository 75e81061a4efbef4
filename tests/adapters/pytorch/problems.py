"""Random problems beside PyTorch's own float64."""
import random

import torch

import attend_torch  # noqa: F401, the operators
from checks import attention_in_doubles, check

ops = torch.ops.attend
TYPES = {torch.float32: 0.0, torch.bfloat16: 2.0 ** -8, torch.float16: 2.0 ** -11}  # and the rounding of their results


def tensor(choose, shape, kind):
    """Random numbers of the shape, at random strides: a slice of something larger, its axes in another order."""
    order = list(range(len(shape) - 1))
    choose.shuffle(order)
    order.append(len(shape) - 1)
    gaps = [choose.choice((0, 0, 1, 3)) for _ in shape]
    large = torch.randn([shape[axis] + gaps[axis] for axis in order]).to(kind)
    made = large.permute([order.index(axis) for axis in range(len(shape))])
    return made[tuple(slice(gap, None) for gap in gaps)]


def attention_problem(choose):
    kind = choose.choice((torch.float32, torch.float32, torch.float32, torch.bfloat16, torch.float16))
    small = choose.choice((kind, torch.bfloat16, torch.float16)) if kind == torch.float32 else kind  # keys may be smaller than queries
    axes = choose.randint(0, 3)
    leading = [choose.randint(1, 3) for _ in range(axes)]
    queries, keys = choose.choice((1, 2, 7, 33, 65)), choose.choice((1, 3, 16, 40, 130, 600))
    width, value_width = choose.choice((1, 5, 16, 32, 64)), choose.choice((1, 8, 24, 64))
    grouped = axes > 0 and choose.random() < 0.3
    heads = choose.choice((1, 2, 3))
    lead_q = leading[:-1] + [heads * choose.choice((1, 2, 4))] if grouped else list(leading)
    lead_k = leading[:-1] + [heads] if grouped else list(leading)
    lead_v = list(lead_k)
    if not grouped:  # an axis of 1, or none, is shared
        for lead in (lead_q, lead_k, lead_v):
            for axis in range(len(lead)):
                if choose.random() < 0.15:
                    lead[axis] = 1
            while lead and lead[0] == 1 and choose.random() < 0.5:
                del lead[0]
    q, k, v = (tensor(choose, lead + rest, kind if lead is lead_q else small) for lead, rest in
               ((lead_q, [queries, width]), (lead_k, [keys, width]), (lead_v, [keys, value_width])))
    full = lead_q if grouped else list(torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2]))
    mask, causal = None, False
    form = choose.choice(('none', 'causal', 'bool', 'float', 'lowest'))
    if form == 'causal':
        causal = True
    elif form != 'none':
        shape = [choose.choice((1, size)) for size in full + [queries]] + [choose.choice((keys, keys, 1))]
        while len(shape) > 2 and shape[0] == 1 and choose.random() < 0.5:
            del shape[0]
        mask = torch.rand(shape) > choose.choice((0.1, 0.5, 0.9))
        if form != 'bool':
            masked = float('-inf') if form == 'float' else torch.finfo(torch.float32).min
            mask = torch.randn(shape).masked_fill(~mask, masked) if form == 'float' else torch.zeros(shape).masked_fill(~mask, masked)
            if choose.random() < 0.3 and form == 'float':
                mask = mask.to(kind)
        if choose.random() < 0.3:
            mask = mask.transpose(-1, -2).contiguous().transpose(-1, -2)
    scale = choose.choice((None, None, 0.3, -0.2))
    output = ops.scaled_dot_product_attention(q, k, v, mask, 0.0, causal, scale, grouped)
    meant = mask
    if form == 'lowest':  # what is masked by the lowest number is absent
        meant = mask == 0
    return kind, output, *attention_in_doubles(q, k, v, meant, causal, scale)


def row_problem(choose, name):
    kind = choose.choice(list(TYPES))
    lead = [choose.randint(1, 5) for _ in range(choose.randint(0, 3))]
    width = choose.choice((1, 5, 16, 48, 100, 257))
    x = tensor(choose, lead + [width], kind)
    wide, functional = x.double(), torch.nn.functional
    if name in ('linear', 'packed_linear'):
        outputs = choose.choice((1, 3, 16, 40))
        weight, bias = tensor(choose, [outputs, width], choose.choice(list(TYPES))), choose.choice((None, torch.randn(outputs)))
        output = (ops.linear(x, weight, bias) if name == 'linear' else ops.packed_linear(x, ops.pack_weight(weight), outputs, bias))
        return kind, output, functional.linear(wide, weight.double(), None if bias is None else bias.double()), 4e-5 * width ** 0.5
    if name == 'layer_norm':
        weight, bias = choose.choice(((None, None), (torch.randn(width), None), (torch.randn(width), torch.randn(width))))
        doubles = [None if each is None else each.double() for each in (weight, bias)]
        return kind, ops.layer_norm(x, [width], weight, bias, 1e-5), functional.layer_norm(wide, [width], *doubles, 1e-5), 2e-4
    if name == 'rms_norm':
        weight = choose.choice((None, torch.randn(width)))
        expected = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * (1 if weight is None else weight.double())
        return kind, ops.rms_norm(x, [width], weight, 1e-6), expected, 1e-4
    if name == 'gelu':
        how = choose.choice(('none', 'tanh'))
        return kind, ops.gelu(x, how), functional.gelu(wide, approximate=how), 4e-5
    if name == 'silu':
        return kind, ops.silu(x), functional.silu(wide), 4e-5
    axis = choose.randrange(-x.dim(), x.dim())
    return kind, ops.softmax(x, axis), torch.softmax(wide, axis), 1e-5


def run(name, count, make):
    worst, failed = 0.0, []
    for number in range(count):
        choose = random.Random(f'{name} {number}')
        torch.manual_seed(number)
        try:
            kind, output, expected, bound = make(choose)
        except Exception as error:
            failed.append(f'problem {number}: {str(error)[:200]}')
            continue
        bound = bound + TYPES[kind] * (expected.abs() + bound + torch.finfo(kind).tiny)
        if output.shape != expected.shape or output.dtype != kind or not bool(((output.double() - expected).abs() <= bound).all()):
            failed.append(f'problem {number}: {tuple(output.shape)}, {tuple(expected.shape)}, {output.dtype}')
        elif kind == torch.float32:
            worst = max(worst, ((output.double() - expected).abs() / bound).nan_to_num(0.0).max().item())
    what = f'{count} random problems of {name} are those of float64, the worst {worst:.2f} of the bound'
    check(what, not failed, '; '.join(failed[:3]))


def main(count):
    count = int(count)
    run('attention', count, attention_problem)
    for each in ('linear', 'packed_linear', 'layer_norm', 'rms_norm', 'gelu', 'silu', 'softmax'):
        run(each, max(20, count // 10), lambda choose, name=each: row_problem(choose, name))
