"""Numbers of PyTorch for what stands around attention: writes tests/conformance/layer_numbers.inc to standard output.

    python3 tests/conformance/layer_numbers.py >tests/conformance/layer_numbers.inc        (needs python3-torch)

Inputs are made by whole-number arithmetic, in float64, so that PyTorch's results are exact but for float64's roundings. The test
makes the same inputs.
"""
import torch

torch.set_default_dtype(torch.float64)


def numbers(seed, count, spread):
    """Multiples of 2^-10 that look random: exact as floats."""
    out, state = [], seed
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        out.append((state // 2**11 % 2049 - 1024) / 1024 * spread)
    return torch.tensor(out)


def show(name, tensor):
    print(f"// {name}")
    print("{" + ", ".join(f"{x:.17g}" for x in tensor.reshape(-1).tolist()) + "},")


def rotate(x, base, scaling_factor, rotary_dim, halves, offset):
    """x[token][dim], as published: complex factors for neighbours, rotate_half for halves."""
    tokens = x.shape[0]
    frequency = base ** (-torch.arange(0, rotary_dim, 2) / rotary_dim) / scaling_factor
    angle = (torch.arange(tokens) + offset)[:, None] * frequency[None, :]
    turned, rest = x[:, :rotary_dim], x[:, rotary_dim:]
    if halves:
        cosine, sine = torch.cat((angle, angle), -1).cos(), torch.cat((angle, angle), -1).sin()
        first, second = turned.chunk(2, -1)
        turned = turned * cosine + torch.cat((-second, first), -1) * sine
    else:
        pairs = torch.view_as_complex(turned.reshape(tokens, -1, 2).contiguous())
        turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).reshape(tokens, rotary_dim)
    return torch.cat((turned, rest), -1)


x = numbers(1, 2 * 12, 4.0).reshape(2, 12)
weight, bias = numbers(2, 12, 2.0), numbers(3, 12, 2.0)
print("// made by tests/conformance/layer_numbers.py with PyTorch in float64")
epsilon = 2.0**-17
show("rms_norm", x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight)
show("layer_norm", torch.nn.functional.layer_norm(x, (12,), weight, bias, epsilon))
show("relu", torch.relu(x))
show("silu", torch.nn.functional.silu(x))
show("gelu", torch.nn.functional.gelu(x))
show("gelu_tanh", torch.nn.functional.gelu(x, approximate="tanh"))
show("sigmoid", torch.sigmoid(x))
show("tanh", torch.tanh(x))
show("exp", torch.exp(x))
show("erf", torch.erf(x))
show("silu(x[0]) * x[1]", torch.nn.functional.silu(x[0]) * x[1])
show("rotary: neighbours, base 10000, 12 of 12, from position 3", rotate(x, 10000.0, 1.0, 12, False, 3))
show("rotary: halves, base 10000, 12 of 12, from position 3", rotate(x, 10000.0, 1.0, 12, True, 3))
show("rotary: neighbours, base 500000, scaling factor 4, 8 of 12, from position 1048575", rotate(x, 500000.0, 4.0, 8, False, 1048575))
show("rotary: halves, base 500000, scaling factor 4, 8 of 12, from position 1048575", rotate(x, 500000.0, 4.0, 8, True, 1048575))
