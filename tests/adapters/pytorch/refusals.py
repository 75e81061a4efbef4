"""Bad arguments get an error with a sentence, and whatever is passed nothing crashes."""
import random

import torch
from torch import nn

import attend_torch
from checks import check, refuses

ops = torch.ops.attend
sdpa = ops.scaled_dot_product_attention


def sentences():
    q, k = torch.randn(2, 4, 5, 16), torch.randn(2, 4, 9, 16)
    refuses('float64', 'query is of Double; expected Float, Half or BFloat16', lambda: sdpa(q.double(), k, k))
    refuses('integers', 'key is of Int', lambda: sdpa(q, k.int(), k))
    refuses('one axis', 'expected [..., tokens, width]', lambda: sdpa(q[0, 0, 0], k, k))
    refuses('widths', 'shapes do not go together', lambda: sdpa(q, k[..., :8], k))
    refuses('tokens', 'shapes do not go together', lambda: sdpa(q, k, k[:, :, :3]))
    refuses('batches', 'leading axes do not go together', lambda: sdpa(q, torch.randn(3, 4, 9, 16), k))
    refuses('heads', 'query has 4 heads, key 3 and value 3', lambda: sdpa(q, k[:, :3], k[:, :3], None, 0.0, False, None, True))
    refuses('no heads', 'expected at least three axes', lambda: sdpa(q[0, 0], k, k, None, 0.0, False, None, True))
    refuses('dropout', 'dropout_p is 0.1; expected 0', lambda: sdpa(q, k, k, None, 0.1))
    refuses('mask and causal', 'attn_mask and is_causal are both given', lambda: sdpa(q, k, k, torch.ones(5, 9) > 0, 0.0, True))
    refuses('mask of integers', 'attn_mask is of Int', lambda: sdpa(q, k, k, torch.ones(5, 9).int()))
    refuses('shape of a mask', 'does not expand to [2, 4, 5, 9]', lambda: sdpa(q, k, k, torch.ones(5, 8) > 0))
    refuses('axes of a mask', 'does not expand to', lambda: sdpa(q, k, k, torch.ones(1, 1, 1, 5, 9) > 0))
    refuses('scale', 'scale', lambda: sdpa(q, k, k, None, 0.0, False, float('nan')))
    refuses('no width', 'head_dim', lambda: sdpa(q[..., :0], k[..., :0], k))
    refuses('soft cap', 'soft_cap', lambda: ops.attention(q, k, k, None, False, None, None, -1.0))
    refuses('window', 'a window of -3 keys', lambda: ops.attention(q, k, k, None, True, None, 4, 0.0, -3))
    refuses('offset', 'offset', lambda: ops.attention(q, k, k, None, True, None, 2 ** 40))
    refuses('sinks', 'expected 4 numbers', lambda: ops.attention(q, k, k, None, False, None, None, 0.0, None, None, torch.zeros(3)))
    refuses('another device', 'key is on meta beside a tensor on cpu', lambda: sdpa(q, k.to('meta'), k))
    refuses('sparse', 'attend::scaled_dot_product_attention', lambda: sdpa(q.to_sparse(), k, k))
    x = torch.randn(3, 12)
    refuses('inputs', 'do not go together; expected [..., inputs] and [outputs, inputs]', lambda: ops.linear(x, torch.randn(4, 11)))
    refuses('axes of weights', 'do not go together', lambda: ops.linear(x, torch.randn(12)))
    refuses('bias', 'bias has the shape [5]; expected 4 numbers', lambda: ops.linear(x, torch.randn(4, 12), torch.randn(5)))
    refuses('bias of two axes', 'bias has 2 axes; expected 1', lambda: ops.linear(x, torch.randn(4, 12), torch.randn(4, 1)))
    refuses('packed', 'expected what attend::pack_weight gives of 17 outputs and 12 inputs', lambda: ops.packed_linear(x, torch.randn(192), 17))
    refuses('packed elsewhere', 'does not begin at a multiple of 64 bytes', lambda: ops.packed_linear(x, torch.randn(193)[1:], 16))
    refuses('negative outputs', 'weights of -1 outputs', lambda: ops.packed_linear(x, torch.randn(192), -1))
    refuses('many outputs', 'weights of 4611686018427387904 outputs', lambda: ops.packed_linear(x, torch.randn(192), 2 ** 62))
    refuses('axes of a norm', 'whose last axes are not normalized_shape', lambda: ops.layer_norm(x, [11]))
    refuses('no axes of a norm', 'whose last axes are not normalized_shape', lambda: ops.rms_norm(x, []))
    refuses('epsilon', 'epsilon', lambda: ops.layer_norm(x, [12], None, None, -1.0))
    refuses('approximation', "approximate is 'erf'", lambda: ops.gelu(x, 'erf'))
    refuses('axis of a softmax', 'dim is 2 of 2 axes', lambda: ops.softmax(x, 2))
    refuses('type of a softmax', 'dtype is Double', lambda: ops.softmax(x, 1, dtype=torch.float64))
    refuses('attention_forward', 'dropout is 0.5', lambda: attend_torch.attention_forward(None, q, k, k, dropout=0.5))
    refuses('attention_forward', 'output_attentions is not taken', lambda: attend_torch.attention_forward(None, q, k, k, output_attentions=True))
    own, y = attend_torch.MultiheadAttention(16, 2, dropout=0.1), torch.randn(3, 4, 16)
    refuses('training', 'call model.eval()', lambda: own(y, y, y))
    own.eval()
    refuses('widths of MultiheadAttention', 'query has vectors of 8 numbers; expected 16', lambda: own(y[..., :8], y, y))
    refuses('axes of MultiheadAttention', 'expected 3 each, or 2', lambda: own(y[None], y, y))
    refuses('padding of MultiheadAttention', 'key_padding_mask has the shape', lambda: own(y, y, y, key_padding_mask=torch.ones(3, 4) > 0))
    refuses('mask of MultiheadAttention', 'attn_mask has the shape', lambda: own(y, y, y, attn_mask=torch.ones(3, 4) > 0))
    refuses('axis of Softmax', 'expected one with an axis', lambda: attend_torch.replace(nn.Softmax()))


def gradients():
    q, layer = torch.randn(2, 3, 16, requires_grad=True), attend_torch.replace(nn.Linear(16, 4))
    with torch.enable_grad():
        refuses('gradients', 'query requires a gradient, which Attend does not compute: call it within torch.no_grad()', lambda: sdpa(q, q, q))
        refuses('gradients', 'weight requires a gradient, which Attend does not compute', lambda: layer(torch.randn(3, 16)))
        refuses('gradients', 'input requires a gradient', lambda: ops.gelu(q))
    check('a tensor that requires a gradient is taken without one', sdpa(q, q, q).shape == q.shape)


def hostile(choose):
    """Any tensor, or none."""
    shape = [choose.choice((0, 1, 1, 2, 3, 5, 16)) for _ in range(choose.randint(0, 5))]
    kind = choose.choice((torch.float32, torch.float32, torch.float32, torch.bfloat16, torch.float16, torch.bool, torch.int64, torch.float64))
    made = (torch.randn(shape) * choose.choice((1, 1e30, float('nan')))).to(kind) if kind != torch.bool else torch.rand(shape) > 0.5
    if made.dim() > 1 and choose.random() < 0.4:
        made = made.transpose(*choose.sample(range(made.dim()), 2))
    if made.dim() and choose.random() < 0.2:
        made = made.expand(choose.randint(1, 3), *made.shape)
    if choose.random() < 0.03:
        made = made.to('meta')
    return made


def nothing_crashes(count):
    """Wherever a call is taken, its result has the shape of PyTorch's rules for it."""
    taken, wrong = 0, []
    for number in range(count):
        choose = random.Random(number)
        torch.manual_seed(number)
        maybe = lambda make, share=0.5: make() if choose.random() < share else None
        q, k, v = (hostile(choose) for _ in range(3))
        if choose.random() < 0.7:
            k = v = torch.randn(*q.shape[:-2], choose.randint(0, 9), q.shape[-1]) if q.dim() > 1 else q
        number_of = lambda: choose.choice((0, 1, -1, 3, 2 ** 31, 2 ** 63 - 1, -2 ** 63))
        float_of = lambda: choose.choice((0.0, 0.5, -1.0, 1e38, 1e300, float('inf'), float('nan')))
        calls = [
            lambda: sdpa(q, k, v, maybe(lambda: hostile(choose)), choose.choice((0.0, 0.0, float_of())), choose.random() < 0.3, maybe(float_of, 0.2), choose.random() < 0.3),
            lambda: ops.attention_with_weights(q, k, v, maybe(lambda: hostile(choose), 0.3), choose.random() < 0.5, maybe(float_of, 0.2), maybe(number_of, 0.3),
                                               choose.choice((0.0, 0.0, float_of())), maybe(number_of, 0.3), maybe(number_of, 0.3), maybe(lambda: hostile(choose), 0.2))[0],
            lambda: ops.linear(q, k, maybe(lambda: hostile(choose))),
            lambda: ops.packed_linear(q, ops.pack_weight(k), choose.choice((number_of(), k.shape[0])), maybe(lambda: hostile(choose), 0.2)),
            lambda: ops.layer_norm(q, choose.choice((list(q.shape[-1:]), list(k.shape))), maybe(lambda: hostile(choose), 0.3), None, choose.choice((1e-5, float_of()))),
            lambda: ops.rms_norm(q, choose.choice((list(q.shape[-2:]), [number_of()])), maybe(lambda: hostile(choose), 0.3), maybe(float_of)),
            lambda: ops.gelu(q, choose.choice(('none', 'tanh', ''))),
            lambda: ops.softmax(q, choose.choice((-1, 0, 1, number_of()))),
        ]
        try:
            which = choose.randrange(len(calls))
            result = calls[which]()
        except (RuntimeError, IndexError):
            continue
        taken += 1
        last = v.shape[-1] if which < 2 else k.shape[0] if which == 2 else result.shape[-1] if which == 3 else q.shape[-1] if q.dim() else 1
        if q.dim() and result.shape[-1:] != (last,):
            wrong.append((number, which, tuple(result.shape)))
    check(f'{count} calls with any arguments: {taken} are taken, the others are refused, and none crashes', not wrong and 0 < taken < count, wrong[:3])


def main(count):
    sentences()
    gradients()
    nothing_crashes(int(count))
