"""Fifty models with random weights, as PyTorch's own exporter writes them, with what PyTorch computes."""
import io
import math
import warnings

import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings('ignore')
random = torch.randn


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))


def causal(tokens):
    return torch.triu(torch.full((tokens, tokens), float('-inf')), 1)


class Block(nn.Module):
    """As GPT-2's: one projection to queries, keys and values, a mask by masked_fill."""

    def __init__(self, width, heads, causal=True, activation=gelu_tanh, tokens=70):
        super().__init__()
        self.heads, self.activation, self.causal = heads, activation, causal
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer('mask', torch.tril(torch.ones(tokens, tokens)).bool()[None, None])

    def forward(self, x):
        batch, tokens, width = x.shape
        split = lambda part: part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
        query, key, value = map(split, self.qkv(self.first(x)).split(width, 2))
        scores = query @ key.transpose(-2, -1) / math.sqrt(width // self.heads)
        if self.causal:
            scores = scores.masked_fill(~self.mask[:, :, :tokens, :tokens], torch.finfo(scores.dtype).min)
        x = x + self.output((scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(self.activation(self.up(self.second(x))))


class Gpt(nn.Module):
    def __init__(self, width=32, heads=4, tokens=17, layers=2, vocabulary=50):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Parameter(random(1, tokens, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions[:, :tokens.shape[1]])))


class RootMeanSquare(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


class Grouped(nn.Module):
    """As Llama's: heads that share keys, a gated product; positions, if any, computed in the graph."""

    def __init__(self, width=48, heads=6, kv_heads=2, rotary=False):
        super().__init__()
        self.rotary = rotary
        self.heads, self.kv_heads, self.each = heads, kv_heads, width // heads
        self.query, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.key, self.value = (nn.Linear(width, kv_heads * self.each) for _ in range(2))
        self.norm = RootMeanSquare(width)
        self.gate, self.up, self.down = nn.Linear(width, 80, False), nn.Linear(width, 80, False), nn.Linear(80, width, False)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = lambda part, heads: part.view(batch, tokens, heads, self.each).transpose(1, 2)
        repeated = lambda part: part[:, :, None].expand(batch, self.kv_heads, self.heads // self.kv_heads, tokens, self.each).reshape(
            batch, self.heads, tokens, self.each)
        query, key, value = (split(part(x), heads) for part, heads in ((self.query, self.heads), (self.key, self.kv_heads), (self.value, self.kv_heads)))
        if self.rotary:
            frequencies = 10000.0 ** (-torch.arange(0, self.each, 2).float() / self.each)
            angles = torch.cat([torch.einsum('i,j->ij', torch.arange(tokens).float(), frequencies)] * 2, -1)
            swapped = lambda part: torch.cat([-part[..., self.each // 2:], part[..., :self.each // 2]], -1)
            query, key = (part * angles.cos() + swapped(part) * angles.sin() for part in (query, key))
        scores = query @ repeated(key).transpose(-2, -1) * self.each ** -0.5
        value = repeated(value)
        x = x + self.output((scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, width))
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Vision(nn.Module):
    def __init__(self, size=16, patch=4, width=24, heads=3, classes=5):
        super().__init__()
        count = (size // patch) ** 2
        self.patches, self.first = nn.Conv2d(3, width, patch, patch), nn.Parameter(random(1, 1, width))
        self.positions = nn.Parameter(random(1, count + 1, width))
        self.blocks = nn.Sequential(*(Block(width, heads, False, F.gelu) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = self.blocks(torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.positions)
        return self.head(self.norm(x)[:, 0]).softmax(-1)


class Sensor(nn.Module):
    """Convolutions with a normalisation over batches, PyTorch's own encoder, a pool over time."""

    def __init__(self, channels=6, samples=64, width=32, classes=8, pool='mean'):
        super().__init__()
        self.first, self.norm, self.second = nn.Conv1d(channels, 16, 5, 2, 2), nn.BatchNorm1d(16), nn.Conv1d(16, width, 3, 2, 1)
        self.positions = nn.Parameter(random(1, samples // 4, width) * 0.1)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 64, batch_first=True, norm_first=True), 2)
        self.head, self.pool = nn.Linear(width, classes), pool
        with torch.no_grad():
            self.norm.running_mean.uniform_(-1, 1)
            self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = F.relu(self.second(F.relu(self.norm(self.first(x))))).transpose(1, 2) + self.positions
        x = self.encoder(x)
        if self.pool == 'mean':
            return self.head(x.mean(1))
        return self.head(x.max(1)[0] if self.pool == 'max' else F.adaptive_avg_pool1d(x.transpose(1, 2), 1).squeeze(-1))


class Groups(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), nn.BatchNorm1d(8), nn.LeakyReLU(0.1), nn.MaxPool1d(2),
                                   nn.Conv1d(8, 8, 3, padding=1, groups=4), nn.ReLU6(), nn.AvgPool1d(2))
        self.head = nn.Linear(8 * 5, 3)

    def forward(self, x):
        return self.head(self.front(x).flatten(1))


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.Conv2d(8, 12, 3, padding=1), nn.Sigmoid())
        self.attention, self.head = nn.MultiheadAttention(12, 2, batch_first=True), nn.Linear(12, 4)

    def forward(self, x):
        y = self.front(x).flatten(2).transpose(1, 2)
        return self.head((y + self.attention(y, y, y, need_weights=False)[0]).mean(1))


class Cross(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, kdim=20, vdim=28, batch_first=True)

    def forward(self, x, key, value):
        return torch.tanh(self.attention(x, key, value, need_weights=False)[0])


class Linear(nn.Module):
    """ALiBi: a bias by distance for each head."""

    def __init__(self, tokens=17, heads=4, width=32):
        super().__init__()
        self.qkv, self.heads, place = nn.Linear(width, 3 * width), heads, torch.arange(tokens)
        slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625])[:, None, None]
        self.register_buffer('bias', -(place[:, None] - place[None]).abs()[None] * slopes)

    def forward(self, x):
        batch, tokens, width = x.shape
        query, key, value = self.qkv(x).reshape(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5 + self.bias
        return (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, width)


class Masked(nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, attn_mask=causal(x.shape[1]), need_weights=False)[0]


class Decoder(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(24, 3, 48, batch_first=True, **options), 2)

    def forward(self, x, memory):
        return self.decoder(x, memory, tgt_mask=causal(x.shape[1]))


class Step(nn.Module):
    """A decoder's step with the keys and values of the tokens before as inputs, and of all as outputs."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.qkv, self.output = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, past_key, past_value):
        batch, tokens, width = x.shape
        split = lambda part: part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
        query, key, value = map(split, self.qkv(x).chunk(3, -1))
        key, value = torch.cat([past_key, key], 2), torch.cat([past_value, value], 2)
        scores = query @ key.transpose(-2, -1) / math.sqrt(width // self.heads)
        scores = scores + torch.triu(torch.full(scores.shape[-2:], float('-inf')), 1 + key.shape[2] - tokens)
        return x + self.output((scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, width)), key, value


class Text(nn.Module):
    """As BERT: a mask of the tokens that are no padding is an input."""

    def __init__(self, width=24, heads=3, tokens=14):
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, width), nn.Parameter(random(1, tokens, width))
        self.heads, self.qkv, self.norm, self.head = heads, nn.Linear(width, 3 * width), nn.LayerNorm(width), nn.Linear(width, 5)

    def forward(self, ids, mask):
        x = self.norm(self.tokens(ids) + self.places)
        batch, tokens, width = x.shape
        query, key, value = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / math.sqrt(width // self.heads) + (1.0 - mask[:, None, None].float()) * -10000.0
        return self.head((x + (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, width))[:, 0])


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), nn.Linear(32, 3)

    def forward(self, x, mask):
        return self.head(self.layer(x, src_key_padding_mask=mask).mean(1))


class MaskedBy(nn.Module):
    """nn.MultiheadAttention with a mask of bools, and its weights."""

    def __init__(self, argument):
        super().__init__()
        self.attention, self.argument = nn.MultiheadAttention(16, 2, batch_first=True), argument

    def forward(self, x, mask):
        return self.attention(x, x, x, **{self.argument: mask})


MASKS = {
    'filled': lambda scores, m: scores.masked_fill(m == 0, float('-inf')),
    'kept': lambda scores, m: torch.where(m > 0, scores, torch.tensor(-1e9)),
    'counted': lambda scores, m: torch.where(torch.arange(scores.shape[-1]) < m, scores, torch.tensor(-1e9)),
    'added': lambda scores, m: scores + torch.where(m.bool(), torch.tensor(0.0), torch.tensor(-1e9)),
    'old': lambda scores, m: scores * m - 1e4 * (1 - m),
    'inverted': lambda scores, m: scores + (1.0 - m.float()).masked_fill((1.0 - m.float()).to(torch.bool), torch.finfo(torch.float32).min),
    'capped': lambda scores, m: torch.tanh(scores / 30) * 30 + causal(scores.shape[-1]) + (1 - m.float()) * -1e9,
}


class ByHand(nn.Module):
    def __init__(self, mask, width=32, heads=4):
        super().__init__()
        self.qkv, self.heads, self.mask = nn.Linear(width, 3 * width), heads, MASKS[mask]

    def forward(self, x, m):
        batch, tokens, width = x.shape
        query, key, value = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = self.mask(query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5, m)
        return (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, width)


class Activation(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.first, self.activation, self.second = nn.Linear(17, 65), activation, nn.Linear(65, 3)

    def forward(self, x):
        return self.second(self.activation(self.first(x)))


class Pooled(nn.Module):
    """Groups of channels, gated linear units, a sum of tokens by a softmax over them, logarithms of probabilities."""

    def __init__(self, width=24):
        super().__init__()
        self.groups, self.gates, self.score, self.head = nn.GroupNorm(4, width), nn.Linear(width, 2 * width), nn.Linear(width, 1), nn.Linear(width, 5)

    def forward(self, x):
        x = F.glu(self.gates(self.groups(x).transpose(1, 2)), -1)
        return F.log_softmax(self.head((F.softmax(self.score(torch.tanh(x)), 1) * x).sum(1)), -1)


class Windows(nn.Module):
    """As Swin's: four windows of nine tokens, biases by a table, and masks of windows that are shifted."""

    def __init__(self, width=24, heads=3, windows=4):
        super().__init__()
        self.heads, self.windows, self.qkv, self.output = heads, windows, nn.Linear(width, 3 * width), nn.Linear(width, width)
        places = torch.stack(torch.meshgrid(torch.arange(3), torch.arange(3))).flatten(1)
        apart = (places[:, :, None] - places[:, None]).permute(1, 2, 0) + 2
        self.table = nn.Parameter(random(25, heads))
        self.register_buffer('index', apart[..., 0] * 5 + apart[..., 1])
        self.register_buffer('mask', torch.where(torch.rand(windows, 9, 9) < 0.3, -100.0, 0.0))

    def forward(self, x):
        items, tokens, width = x.shape
        query, key, value = self.qkv(x).reshape(items, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = query * (width // self.heads) ** -0.5 @ key.transpose(-2, -1)
        scores = scores + self.table[self.index.view(-1)].view(tokens, tokens, -1).permute(2, 0, 1)[None]
        scores = scores.view(items // self.windows, self.windows, self.heads, tokens, tokens) + self.mask[None, :, None]
        scores = scores.view(-1, self.heads, tokens, tokens)
        return self.output((scores.softmax(-1) @ value).transpose(1, 2).reshape(items, tokens, width))


def tokens(count):
    return torch.randint(0, 50, (1, count))


def models():
    """Names, modules and their arguments; the first twelve are PyTorch's own, unchanged."""
    layer, decoder = nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
    yield 'encoder_relu', layer(32, 4, 64, batch_first=True), (random(1, 10, 32),)
    yield 'encoder_gelu', layer(32, 4, 64, activation='gelu', norm_first=True), (random(10, 1, 32),)
    yield 'encoder_odd', layer(51, 3, 65, batch_first=True), (random(1, 17, 51),)
    yield 'encoder_one', layer(12, 1, 3, batch_first=True), (random(1, 1, 12),)
    yield 'encoder_three', layer(3, 3, 1, batch_first=True), (random(1, 3, 3),)
    yield 'encoder_65', layer(65, 5, 17, batch_first=True), (random(1, 65, 65),)
    yield 'encoders', nn.TransformerEncoder(layer(16, 2, 32, batch_first=True), 3, nn.LayerNorm(16)), (random(1, 9, 16),)
    yield 'decoder_layer', decoder(32, 4, 64, batch_first=True), (random(1, 5, 32), random(1, 10, 32))
    yield 'decoder_gelu', decoder(32, 4, 64, activation='gelu', norm_first=True), (random(5, 1, 32), random(10, 1, 32))
    yield 'attention', nn.MultiheadAttention(16, 4, batch_first=True), (random(1, 7, 16), random(1, 9, 16), random(1, 9, 16))
    yield 'attention_first', nn.MultiheadAttention(17, 1), (random(3, 1, 17), random(65, 1, 17), random(65, 1, 17))
    yield 'transformer', nn.Transformer(16, 2, 1, 1, 32, batch_first=True), (random(1, 6, 16), random(1, 4, 16))
    yield 'decoders', Decoder(), (random(1, 6, 24), random(1, 11, 24))
    yield 'decoders_first', Decoder(norm_first=True, activation='gelu'), (random(1, 6, 24), random(1, 11, 24))
    yield 'masked', Masked(), (random(1, 13, 16),)
    yield 'gpt', Gpt(), (tokens(17),)
    yield 'gpt_one', Gpt(tokens=1, layers=1), (tokens(1),)
    yield 'gpt_65', Gpt(65, 5, 65, 1), (tokens(65),)
    yield 'grouped', Grouped(), (random(1, 11, 48),)
    yield 'llama_block', Grouped(rotary=True), (random(1, 11, 48),)
    yield 'one_key_head', Grouped(48, 3, 1), (random(1, 17, 48),)
    yield 'grouped_one', Grouped(), (random(1, 1, 48),)
    yield 'vision', Vision(), (random(1, 3, 16, 16),)
    yield 'vision_narrow', Vision(20, 4, 12, 1, 2), (random(1, 3, 20, 20),)
    yield 'sensor_mean', Sensor(), (random(1, 6, 64),)
    yield 'sensor_largest', Sensor(pool='max'), (random(1, 6, 64),)
    yield 'sensor_pool', Sensor(3, 32, 32, 2, 'pool'), (random(1, 3, 32),)
    yield 'groups', Groups(), (random(1, 4, 20),)
    yield 'image', Image(), (random(1, 1, 28, 28),)
    yield 'cross', Cross(), (random(1, 3, 32), random(1, 8, 20), random(1, 8, 28))
    yield 'cross_one', Cross(), (random(1, 1, 32), random(1, 1, 20), random(1, 1, 28))
    yield 'alibi', Linear(), (random(1, 17, 32),)
    yield 'step', Step(), (random(1, 1, 32), random(1, 4, 9, 8), random(1, 4, 9, 8))
    yield 'step_of_three', Step(), (random(1, 3, 32), random(1, 4, 16, 8), random(1, 4, 16, 8))
    yield 'text', Text(), (tokens(14), (torch.arange(14)[None] < 9).long())
    yield 'block', Block(32, 4, True, F.gelu), (random(1, 20, 32),)
    yield 'block_wide', Block(130, 1, True, F.relu), (random(1, 70, 130),)
    yield 'pooled', Pooled(), (random(1, 24, 11),)
    yield 'windows', Windows(), (random(4, 9, 24),)
    padding, seen = torch.arange(10)[None] >= 7, (torch.arange(10) < 7).long()[None, None, None]
    yield 'encoder_padded', Padded(), (random(1, 10, 32), padding)
    yield 'attention_padded', MaskedBy('key_padding_mask'), (random(1, 10, 16), padding)
    yield 'attention_masked', MaskedBy('attn_mask'), (random(1, 10, 16), torch.triu(torch.ones(10, 10), 2).bool())
    for name in MASKS:
        yield f'mask_{name}', ByHand(name), (random(1, 10, 32), torch.tensor(7) if name == 'counted' else seen.float() if name == 'old' else seen)
    for name, activation in (('relu', nn.ReLU()), ('gelu', nn.GELU()), ('silu', nn.SiLU()), ('tanh', nn.Tanh()), ('sigmoid', nn.Sigmoid()),
                             ('leaky', nn.LeakyReLU(0.2)), ('relu6', nn.ReLU6()), ('hardtanh', nn.Hardtanh()),
                             ('elu', nn.ELU(0.7)), ('hardswish', nn.Hardswish()), ('prelu', nn.PReLU())):
        yield f'act_{name}', Activation(activation), (random(1, 3, 17),)


def torch_models(folder, names):
    """Of each model its name, the ONNX file, samples of its inputs, and PyTorch's outputs."""
    torch.manual_seed(0)
    for index, (name, module, arguments) in enumerate(models()):
        if names and name not in names:
            continue
        module.eval()
        file = io.BytesIO()
        torch.onnx.export(module, arguments, file, opset_version=9 + index % 9 if name.startswith('act_') else 14)
        model = onnx.load_from_string(file.getvalue())
        with torch.no_grad():
            outputs = module(*arguments)
        outputs = [each.numpy() for each in (outputs if isinstance(outputs, tuple) else (outputs,))]
        inputs = [each for each in model.graph.input]
        yield name, model, {each.name: array.numpy()[None] for each, array in zip(inputs, arguments)}, outputs
