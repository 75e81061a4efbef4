"""Modules in the place of torch.nn's, the function for transformers, and what PyTorch does with operators: scripts, traces, shapes, memory."""
import copy
import io
import itertools
import pickle
from types import SimpleNamespace

import torch
from torch import nn

import attend_torch
from checks import attention_in_doubles, check, checked, same_bits
from models import encoder, padded, swapped

ops = torch.ops.attend


def close(one, other, bound=3e-6):
    return one.shape == other.shape and bool(((one.double() - other.double()).abs() <= bound).all())


def multihead_attention_options():
    """Every combination of the constructor's and the call's options, beside torch.nn's in float64."""
    count, wrong = 0, []
    constructions = itertools.product((True, False), (None, 24), (None, 20), (True, False), (True, False), (True, False))
    for number, (batch_first, kdim, vdim, bias, add_bias_kv, add_zero_attn) in enumerate(constructions):
        torch.manual_seed(number)
        plain = nn.MultiheadAttention(32, 4, bias=bias, add_bias_kv=add_bias_kv, add_zero_attn=add_zero_attn, kdim=kdim, vdim=vdim,
                                      batch_first=batch_first).eval()
        for parameter in plain.parameters():
            parameter.data.normal_(0, 0.3)
        own = attend_torch.MultiheadAttention(32, 4, bias=bias, add_bias_kv=add_bias_kv, add_zero_attn=add_zero_attn, kdim=kdim, vdim=vdim,
                                              batch_first=batch_first).eval()
        own.load_state_dict(plain.state_dict())
        wide = copy.deepcopy(plain).double()
        for form in range(6):
            batched = form != 0
            shape = lambda tokens, width: (tokens, width) if not batched else (2, tokens, width) if batch_first else (tokens, 2, width)
            q, k, v = torch.randn(shape(5, 32)), torch.randn(shape(7, kdim or 32)), torch.randn(shape(7, vdim or 32))
            padding = None if form in (0, 1) else torch.tensor([[False] * 7, [True, True] + [False] * 4 + [True]])
            mask = {0: None, 1: None, 2: None, 3: torch.ones(5, 7, dtype=torch.bool).triu(3), 4: torch.randn(8, 5, 7), 5: torch.randn(5, 7)}[form]
            average = form % 2 == 0
            doubles = [padding, mask.double() if mask is not None and mask.is_floating_point() else mask]
            if form == 5:  # PyTorch 1 leaves a padding of floats out beside a mask of floats
                padding = torch.zeros(2, 7).masked_fill(padding, float('-inf'))
            expected = wide(q.double(), k.double(), v.double(), key_padding_mask=doubles[0], attn_mask=doubles[1], average_attn_weights=average)
            found = own(q, k, v, key_padding_mask=padding, attn_mask=mask, average_attn_weights=average)
            without, nothing = own(q, k, v, key_padding_mask=padding, attn_mask=mask, need_weights=False)
            count += 1
            if not (close(found[0], expected[0], 1e-5) and close(found[1], expected[1], 1e-5) and same_bits(without, found[0]) and nothing is None):
                wrong.append((number, form))
    check(f'MultiheadAttention: {count} combinations of its options are those of torch.nn in float64', not wrong, wrong[:5])


def causal_hint():
    torch.manual_seed(1)
    own, x = attend_torch.MultiheadAttention(32, 4, batch_first=True).eval(), torch.randn(2, 9, 32)
    mask = torch.ones(9, 9, dtype=torch.bool).triu(1)
    by_mask, hinted, alone = own(x, x, x, attn_mask=mask), own(x, x, x, attn_mask=mask, is_causal=True), own(x, x, x, is_causal=True)
    return None if same_bits(by_mask[0], hinted[0]) and same_bits(by_mask[0], alone[0]) and same_bits(by_mask[1], alone[1]) else 'bits differ'


def masked_rows():
    own, x = attend_torch.MultiheadAttention(32, 4, batch_first=True).eval(), torch.randn(1, 4, 32)
    output, weights = own(x, x, x, key_padding_mask=torch.ones(1, 4, dtype=torch.bool))
    return None if same_bits(output[0], own.out_proj.bias.detach().expand(4, 32)) and bool((weights == 0).all()) else 'expected zeros before the last projection'


def whole_models():
    for norm_first, activation in itertools.product((True, False), ('relu', 'gelu', nn.functional.gelu, nn.GELU(), nn.SiLU())):
        torch.manual_seed(2)
        plain = nn.Transformer(48, 4, 2, 2, 96, batch_first=True, norm_first=norm_first, activation=activation).eval()
        own, wide = swapped(plain), copy.deepcopy(plain).double()
        left = [type(each).__name__ for each in own.modules() if type(each) in (nn.Linear, nn.LayerNorm, nn.MultiheadAttention, nn.GELU, nn.SiLU)]
        source, target = torch.randn(2, 11, 48), torch.randn(2, 6, 48)
        padding = torch.tensor([[False] * 11, [False] * 8 + [True] * 3])
        mask = torch.ones(6, 6, dtype=torch.bool).triu(1)
        options = dict(tgt_mask=mask, src_key_padding_mask=padding, memory_key_padding_mask=padding)
        if left or not close(own(source, target, **options), wide(source.double(), target.double(), **options), 2e-5):
            return f'norm_first={norm_first}, {activation}: {left}'
    return None


def others_of_a_model():
    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.variance_epsilon = nn.Parameter(torch.randn(8)), 1e-6

    model = attend_torch.replace(nn.Sequential(Norm(), nn.Softmax(-1)), {Norm: lambda layer: attend_torch.RMSNorm.with_weight(layer.weight, layer.variance_epsilon)})
    x = torch.randn(3, 8)
    expected = torch.softmax(x.double() / (x.double().pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * model[0].weight.double(), -1)
    return None if close(model(x), expected) else 'other numbers'


def changed_weights():
    own, x = attend_torch.Linear(8, 5), torch.randn(3, 8)
    before = own(x)
    with torch.no_grad():
        own.weight.mul_(2)
        own.bias.mul_(2)
    doubled = own(x)
    own.weight.data = own.weight.data.clone().mul_(2)
    own.weight.data.mul_(3)  # which no count of versions shows
    copied, pickled = copy.deepcopy(own), pickle.loads(pickle.dumps(own))
    again = nn.functional.linear(x.double(), own.weight.double(), own.bias.double())
    return None if close(doubled, 2 * before) and close(own(x), again) and same_bits(copied(x), own(x)) and same_bits(pickled(x), own(x)) else 'stale weights'


def attention_forward():
    """Beside the definition, with a module as transformers has it."""
    torch.manual_seed(6)
    q, k, v = torch.randn(2, 8, 6, 16), torch.randn(2, 4, 20, 16), torch.randn(2, 4, 20, 24)
    seen = torch.ones(2, 1, 6, 24, dtype=torch.bool).tril(14)
    seen[1, :, :, :5] = False
    added = torch.zeros(2, 1, 6, 24).masked_fill(~seen, torch.finfo(torch.float32).min)
    sinks, module = torch.randn(8), SimpleNamespace(is_causal=True, num_key_value_groups=2)
    cases = {
        'mask of bools': (dict(attention_mask=seen, scaling=0.3), dict(mask=seen[..., :20], scale=0.3)),
        'mask of floats': (dict(attention_mask=added), dict(mask=seen[..., :20])),
        'causal after a cache': (dict(attention_mask=None), dict(causal=True, offset=14)),
        'not causal': (dict(attention_mask=None, is_causal=False), dict()),
        'softcap': (dict(attention_mask=None, softcap=2.0), dict(causal=True, offset=14, softcap=2.0)),
        'sliding window': (dict(attention_mask=None, sliding_window=5), dict(causal=True, offset=14, left=4)),
        'sinks': (dict(attention_mask=None, s_aux=sinks), dict(causal=True, offset=14, sinks=sinks)),
        'one token': (dict(attention_mask=None, sliding_window=None, cache_position=None, use_cache=True), dict(causal=True, offset=19)),
    }
    for name, (options, meant) in cases.items():
        query = q[:, :, :1] if name == 'one token' else q
        output, weights = attend_torch.attention_forward(module, query, k, v, **options)
        expected, bound = (each.transpose(1, 2) for each in attention_in_doubles(query, k, v, **meant))
        if weights is not None or not output.is_contiguous() or not close(output, expected, bound):
            return name
    return None


def script_and_trace():
    class Model(nn.Module):
        def forward(self, q, k, v):
            return torch.ops.attend.scaled_dot_product_attention(torch.ops.attend.silu(q), k, v, None, 0.0, True)

    q, k, v = (torch.randn(2, 3, 7, 16) for _ in range(3))
    eager, made = Model()(q, k, v), [torch.jit.script(Model()), torch.jit.trace(Model(), (q, k, v))]
    for each in list(made):
        stored = io.BytesIO()
        torch.jit.save(each, stored)
        stored.seek(0)
        made.append(torch.jit.load(stored))
    traced = torch.jit.trace(swapped(encoder(2, 32, 4)), torch.randn(1, 5, 32), check_trace=False)
    x = torch.randn(1, 5, 32)
    return None if all(same_bits(each(q, k, v), eager) for each in made) and same_bits(traced(x), swapped(encoder(2, 32, 4))(x)) else 'bits differ'


def shapes_on_meta():
    q, k = torch.empty(2, 8, 5, 16, device='meta'), torch.empty(2, 4, 9, 16, device='meta')
    x, weight = torch.empty(3, 7, 12, device='meta', dtype=torch.bfloat16), torch.empty(20, 12, device='meta')
    found = [ops.scaled_dot_product_attention(q, k, k, None, 0.0, False, None, True), *ops.attention_with_weights(q, k, k), ops.linear(x, weight),
             ops.packed_linear(x, ops.pack_weight(weight), 20), ops.layer_norm(x, [12]), ops.rms_norm(x, [12]), ops.gelu(x), ops.silu(x), ops.softmax(x, 1)]
    shapes = [tuple(each.shape) for each in found]
    expected = [(2, 8, 5, 16), (2, 8, 5, 16), (2, 8, 5, 9), (3, 7, 20), (3, 7, 20)] + [(3, 7, 12)] * 5
    return None if shapes == expected and all(each.is_meta for each in found) and found[3].dtype == torch.bfloat16 else shapes


def nothing_is_copied():
    """Bytes that PyTorch allocates in a call: those of the output. Queries, keys and values are slices of larger tensors, of their own formats."""
    from torch.profiler import ProfilerActivity, profile

    def taken(*arguments):
        ops.scaled_dot_product_attention(*arguments)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
            output = ops.scaled_dot_product_attention(*arguments)
        return output, sum(max(0, event.nbytes()) for event in record.profiler.kineto_results.events() if event.name() == '[memory]')

    for kind in (torch.float32, torch.bfloat16, torch.float16):
        fused = torch.randn(2, 50, 3, 4, 16).to(kind)  # [batch, token, query key value, head, dim]
        q, k, v = (fused[:, :, part].transpose(1, 2) for part in range(3))
        mask = torch.ones(50, 50, dtype=torch.bool).tril()
        output, bytes_taken = taken(q, k, v, mask)
        if bytes_taken != output.numel() * output.element_size() or output.transpose(1, 2).flatten(2).data_ptr() != output.data_ptr():
            return f'{kind}: {bytes_taken} bytes for an output of {output.numel() * output.element_size()}'
        columns = k.transpose(-1, -2).contiguous().transpose(-1, -2)  # numbers of a key that do not lie side by side are copied
        if taken(q, columns, v, mask)[1] <= bytes_taken:
            return 'a copy does not show'
    return None


def in_threads_of_python():
    """Operators called from several threads at once, each with its own work memory."""
    from concurrent.futures import ThreadPoolExecutor
    inputs = [torch.randn(1, 4, 40 + 10 * number, 32) for number in range(8)]
    alone = [ops.scaled_dot_product_attention(x, x, x) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda x: ops.scaled_dot_product_attention(x, x, x), inputs * 5))
    return None if all(same_bits(alone[number % 8], each) for number, each in enumerate(together)) else 'bits differ'


def main():
    multihead_attention_options()
    checked('MultiheadAttention: is_causal, with a mask and without, has the bits of the mask')(causal_hint)
    checked('MultiheadAttention: a query that sees nothing has a context of zeros')(masked_rows)
    checked('replace: whole transformers are those of float64, and no layer of torch.nn is left')(whole_models)
    checked('replace: other classes by functions')(others_of_a_model)
    checked('Linear: weights that change, through .data too, are seen; copies and pickles have their own')(changed_weights)
    checked('attention_forward: masks, caches, windows, caps and sinks beside float64')(attention_forward)
    checked('scripts and traces, saved and loaded, have the bits of eager calls')(script_and_trace)
    checked('the device meta: shapes alone')(shapes_on_meta)
    checked('queries, keys and values are not copied, and heads join again without a copy')(nothing_is_copied)
    checked('calls from several threads at once')(in_threads_of_python)
