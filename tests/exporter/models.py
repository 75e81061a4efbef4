"""Small models with random weights as ONNX graphs, spelled out as exporters of training frameworks do it."""
import math

import numpy
import onnx
import onnx.helper
import onnx.numpy_helper


class Builder:
    """Adds nodes; values are their names. Constants are put into the graph as initialisers."""

    def __init__(self, opset=14, seed=1):
        self.opset, self.random = opset, numpy.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def constant(self, array):
        array = numpy.asarray(array)
        name = f'constant_{len(self.constants)}'
        self.constants.append(onnx.numpy_helper.from_array(array.astype('float32') if array.dtype == 'float64' else array, name))
        return name

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype('float32') / math.sqrt(shape[-1])

    def __call__(self, kind, *inputs, outputs=1, **attributes):
        names = [f'{kind}_{len(self.nodes)}' + (f'_{i}' if i else '') for i in range(outputs)]
        given = [self.constant(each) if isinstance(each, (numpy.ndarray, numpy.generic, float, list)) else each for each in inputs]
        self.nodes.append(onnx.helper.make_node(kind, given, names, name=f'/{names[0]}', **attributes))
        return names[0] if outputs == 1 else names

    def input(self, name, *shape, kind=onnx.TensorProto.FLOAT):
        self.inputs.append(onnx.helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, *names, kind=onnx.TensorProto.FLOAT):
        self.outputs += [onnx.helper.make_tensor_value_info(name, kind, None) for name in names]

    def model(self):
        graph = onnx.helper.make_graph(self.nodes, 'model', self.inputs, self.outputs, self.constants)
        return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', self.opset)])

    # What models are made of

    def linear(self, x, inputs, outputs, bias=True):
        y = self('MatMul', x, self.normal(inputs, outputs))
        return self('Add', self.normal(outputs), y) if bias else y

    def layer_norm(self, x, width):
        weight, bias = self.random.random(width).astype('float32') + 0.5, self.normal(width)
        if self.opset >= 17:
            return self('LayerNormalization', x, weight, bias, axis=-1)
        centred = self('Sub', x, self('ReduceMean', x, axes=[-1]))
        variance = self('ReduceMean', self('Pow', centred, numpy.float32(2)), axes=[-1])
        return self('Add', self('Mul', self('Div', centred, self('Sqrt', self('Add', variance, numpy.float32(1e-5)))), weight), bias)

    def rms_norm(self, x, width):
        square = self('ReduceMean', self('Pow', x, numpy.float32(2)), axes=[-1])
        root = self('Reciprocal', self('Sqrt', self('Add', square, numpy.float32(1e-6))))
        return self('Mul', self.random.random(width).astype('float32') + 0.5, self('Mul', x, root))

    def activation(self, kind, x):
        if kind == 'gelu':
            erf = self('Add', self('Erf', self('Div', x, numpy.float32(math.sqrt(2)))), numpy.float32(1))
            return self('Mul', self('Mul', x, erf), numpy.float32(0.5))
        if kind == 'gelu_tanh':
            cube = self('Mul', self('Pow', x, numpy.float32(3)), numpy.float32(0.044715))
            inner = self('Tanh', self('Mul', self('Add', x, cube), numpy.float32(math.sqrt(2 / math.pi))))
            return self('Mul', self('Mul', numpy.float32(0.5), x), self('Add', numpy.float32(1), inner))
        if kind == 'silu':
            return self('Mul', x, self('Sigmoid', x))
        if kind == 'relu6':
            return self('Clip', x, numpy.float32(0), numpy.float32(6))
        return self({'relu': 'Relu', 'tanh': 'Tanh', 'sigmoid': 'Sigmoid', 'leaky': 'LeakyRelu'}[kind], x)

    def heads(self, x, tokens, heads, width):
        return self('Transpose', self('Reshape', x, numpy.array([1, tokens, heads, width])), perm=[0, 2, 1, 3])

    def joined(self, x, tokens, width):
        return self('Reshape', self('Transpose', x, perm=[0, 2, 1, 3]), numpy.array([1, tokens, width]))

    def attention(self, query, key_transposed, value, scale, mask=None):
        scores = self('Mul', self('MatMul', query, key_transposed), numpy.float32(scale))
        return self('MatMul', self('Softmax', scores if mask is None else self('Add', scores, mask), axis=-1), value)

    def self_attention(self, x, tokens, width, heads, mask=None):
        each = width // heads
        query, key, value = self('Split', self.linear(x, width, 3 * width), numpy.array([width] * 3), outputs=3, axis=2)
        query, key, value = (self.heads(part, tokens, heads, each) for part in (query, key, value))
        y = self.attention(query, self('Transpose', key, perm=[0, 1, 3, 2]), value, 1 / math.sqrt(each), mask)
        return self.linear(self.joined(y, tokens, width), width, width)

    def rotated(self, x, width, cosines, sines):
        """Halves of the last axis, as Llama has them in Transformers."""
        first, second = (self('Slice', x, numpy.array([at]), numpy.array([end]), numpy.array([-1])) for at, end in ((0, width // 2), (width // 2, 2**62)))
        return self('Add', self('Mul', x, cosines), self('Mul', self('Concat', self('Neg', second), first, axis=-1), sines))

    def block(self, x, tokens, width, heads, activation='relu', mask=None):
        x = self('Add', x, self.self_attention(self.layer_norm(x, width), tokens, width, heads, mask))
        return self('Add', x, self.linear(self.activation(activation, self.linear(self.layer_norm(x, width), width, 2 * width)), 2 * width, width))


def causal(tokens, lowest=-math.inf):
    return numpy.triu(numpy.full((tokens, tokens), lowest, 'float32'), 1)


def encoder(tokens=10, width=32, heads=4, opset=14, activation='gelu', layers=1):
    b = Builder(opset)
    x = b.input('x', 1, tokens, width)
    for _ in range(layers):
        x = b.block(x, tokens, width, heads, activation)
    b.output(b.layer_norm(x, width))
    return b.model()


def decoder(tokens=17, width=32, heads=4, vocabulary=50):
    """Tokens in, logits out; causal by Where, as a model with a buffer of booleans."""
    b = Builder()
    tokens_in = b.input('tokens', 1, tokens, kind=onnx.TensorProto.INT64)
    x = b('Add', b('Gather', b.normal(vocabulary, width), tokens_in), b.normal(1, tokens, width))
    y, each = b.layer_norm(x, width), width // heads
    query, key, value = (b.heads(b.linear(y, width, width), tokens, heads, each) for _ in range(3))
    scores = b('Div', b('MatMul', query, b('Transpose', key, perm=[0, 1, 3, 2])), numpy.float32(math.sqrt(each)))
    scores = b('Where', numpy.tri(tokens, dtype=bool)[None, None], scores, numpy.float32(-3.4028235e38))
    y = b('MatMul', b('Softmax', scores, axis=-1), value)
    x = b('Add', x, b.linear(b.joined(y, tokens, width), width, width))
    b.output(b.linear(x, width, vocabulary, bias=False))
    return b.model()


def scaled_dot_product(tokens=9, width=32, heads=4):
    """scaled_dot_product_attention of PyTorch 2: queries and keys are both multiplied by the root of the scale."""
    b, each = Builder(), width // heads
    x = b.input('x', 1, tokens, width)
    parts = b('Transpose', b('Reshape', b.linear(x, width, 3 * width), numpy.array([1, tokens, 3, heads, each])), perm=[2, 0, 3, 1, 4])
    query, key, value = (b('Gather', parts, numpy.array(i), axis=0) for i in range(3))
    root = numpy.float32(math.sqrt(1 / math.sqrt(each)))
    scores = b('Add', b('MatMul', b('Mul', query, root), b('Mul', b('Transpose', key, perm=[0, 1, 3, 2]), root)), causal(tokens))
    b.output(b.joined(b('MatMul', b('Softmax', scores, axis=-1), value), tokens, width))
    return b.model()


def grouped(tokens=11, width=48, heads=6, kv_heads=2):
    """Heads that share keys, repeated by Expand; a root mean square normalisation, and a gated product."""
    b, each = Builder(), width // heads
    x = b.input('x', 1, tokens, width)
    y = b.rms_norm(x, width)
    query = b.heads(b.linear(y, width, width), tokens, heads, each)
    repeated = []
    for _ in range(2):
        part = b('Unsqueeze', b.heads(b.linear(y, width, kv_heads * each), tokens, kv_heads, each), numpy.array([2]))
        part = b('Expand', part, numpy.array([1, kv_heads, heads // kv_heads, tokens, each]))
        repeated.append(b('Reshape', part, numpy.array([1, heads, tokens, each])))
    y = b.attention(query, b('Transpose', repeated[0], perm=[0, 1, 3, 2]), repeated[1], each ** -0.5)
    x = b('Add', x, b.linear(b.joined(y, tokens, width), width, width))
    y = b.rms_norm(x, width)
    y = b('Mul', b.activation('silu', b.linear(y, width, 80, False)), b.linear(y, width, 80, False))
    b.output(b('Add', x, b.linear(y, 80, width, False)))
    return b.model()


def repeated_keys(tokens=7, heads=4, each=8):
    """Keys that two heads share, where each head has values of its own."""
    b, width = Builder(), heads * each
    x = b.input('x', 1, tokens, width)
    query, value = (b.heads(b.linear(x, width, width), tokens, heads, each) for _ in range(2))
    key = b('Unsqueeze', b.heads(b.linear(x, width, width // 2), tokens, heads // 2, each), numpy.array([2]))
    key = b('Reshape', b('Expand', key, numpy.array([1, heads // 2, 2, tokens, each])), numpy.array([1, heads, tokens, each]))
    b.output(b.joined(b.attention(query, b('Transpose', key, perm=[0, 1, 3, 2]), value, each ** -0.5), tokens, width))
    return b.model()


def cross(queries=5, keys=12, width=20, heads=2):
    """Cross attention of three-dimensional arrays, as torch.nn.MultiheadAttention, with its weights as a second output."""
    b, each = Builder(), width // heads
    x, memory = b.input('x', queries, 1, width), b.input('memory', keys, 1, width)
    split = lambda y, tokens: b('Transpose', b('Reshape', y, numpy.array([tokens, heads, each])), perm=[1, 0, 2])
    query = b('Div', split(b.linear(x, width, width), queries), numpy.float32(math.sqrt(each)))
    key, value = (split(b.linear(memory, width, width), keys) for _ in range(2))
    weights = b('Softmax', b('MatMul', query, b('Transpose', key, perm=[0, 2, 1])), axis=-1)
    y = b('Reshape', b('Transpose', b('MatMul', weights, value), perm=[1, 0, 2]), numpy.array([queries, width]))
    y = b('Gemm', y, b.normal(width, width), b.normal(width), transB=1)
    b.output(b('Tanh', b('Reshape', y, numpy.array([queries, 1, width]))), b('ReduceMean', weights, axes=[0]))
    return b.model()


def biased(tokens=17, width=32, heads=4):
    """A bias for each head by distance, and a mask of -10000, in one attention."""
    b = Builder()
    x = b.input('x', 1, tokens, width)
    distance = numpy.abs(numpy.arange(tokens)[:, None] - numpy.arange(tokens)[None])
    slopes = 0.5 ** numpy.arange(1, heads + 1)
    bias = (-distance * slopes[:, None, None]).astype('float32')[None] + causal(tokens, -10000.0)
    b.output(b.self_attention(x, tokens, width, heads, bias))
    return b.model()


def windowed(tokens=40, width=24, heads=2, window=7):
    """Queries see the last few keys; no positions: a stream without end."""
    b = Builder()
    x = b.input('x', 1, tokens, 5)
    mask = causal(tokens) + numpy.tril(numpy.full((tokens, tokens), -numpy.inf, 'float32'), -window)
    x = b.linear(x, 5, width)
    for _ in range(2):
        x = b.block(x, tokens, width, heads, 'gelu', mask)
    b.output(b.linear(x, width, 5))
    return b.model()


def fused(tokens=9, width=32, heads=4, kv_heads=2):
    """The operators of version 23: Attention with grouped heads, and a root mean square normalisation."""
    b, each = Builder(23), width // heads
    x = b.input('x', 1, tokens, width)
    y = b('RMSNormalization', x, b.random.random(width).astype('float32') + 0.5, epsilon=1e-6)
    query, key, value = (b.linear(y, width, count * each) for count in (heads, kv_heads, kv_heads))
    y = b('Attention', query, key, value, is_causal=1, q_num_heads=heads, kv_num_heads=kv_heads)
    mask = b.random.random((tokens, tokens)) < 0.7
    z = b('Attention', *(b.heads(b.linear(x, width, width), tokens, heads, each) for _ in range(3)), mask | numpy.eye(tokens, dtype=bool), scale=0.2)
    b.output(b('Add', b('Add', x, b.linear(y, width, width)), b.joined(z, tokens, width)))
    return b.model()


def text(tokens=14, width=24, heads=3, vocabulary=50):
    """Token ids, and 1 for each that is no padding, as BERT takes them."""
    b = Builder()
    ids = b.input('ids', 1, tokens, kind=onnx.TensorProto.INT64)
    given = b('Cast', b('Unsqueeze', b.input('attention_mask', 1, tokens, kind=onnx.TensorProto.INT64), numpy.array([1, 2])), to=1)
    mask = b('Mul', b('Sub', numpy.float32(1), given), numpy.float32(-10000))
    x = b('Add', b('Gather', b.normal(vocabulary, width), ids), b.normal(1, tokens, width))
    x = b.layer_norm(b.block(b.layer_norm(x, width), tokens, width, heads, 'gelu', mask), width)
    b.output(b('Tanh', b.linear(b('Gather', x, numpy.array(0), axis=1), width, 7)))
    return b.model()


def vision(size=16, patch=4, width=24, heads=3, classes=5):
    b, count = Builder(), (size // patch) ** 2
    x = b.input('image', 1, 3, size, size)
    x = b('Conv', x, b.normal(width, 3, patch, patch), b.normal(width), strides=[patch, patch], kernel_shape=[patch, patch])
    x = b('Transpose', b('Reshape', x, numpy.array([1, width, count])), perm=[0, 2, 1])
    x = b('Add', b('Concat', b.normal(1, 1, width), x, axis=1), b.normal(1, count + 1, width))
    x = b.layer_norm(b.block(x, count + 1, width, heads), width)
    x = b('Gather', x, numpy.array(0), axis=1)
    b.output(b('Softmax', b.linear(x, width, classes), axis=-1))
    return b.model()


def sensor(samples=64, channels=6, width=32, heads=4, classes=8):
    """Convolutions with a normalisation over batches, an encoder, a mean over time."""
    b = Builder(13)
    x = b.input('motion', 1, channels, samples)
    x = b('Conv', x, b.normal(16, channels, 5), b.normal(16), strides=[2], pads=[2, 2])
    numbers = lambda: b.random.random(16).astype('float32') + 0.5
    x = b('Relu', b('BatchNormalization', x, numbers(), numbers(), numbers(), numbers()))
    x = b('Relu', b('Conv', x, b.normal(width, 16, 3), b.normal(width), strides=[2], pads=[1, 1]))
    x = b('Add', b('Transpose', x, perm=[0, 2, 1]), b.normal(1, samples // 4, width))
    x = b.block(x, samples // 4, width, heads)
    b.output(b('Gemm', b('ReduceMean', x, axes=[1], keepdims=0), b.normal(classes, width), b.normal(classes), transB=1))
    return b.model()


def front_end():
    """Groups, pools, edges, slices; the decision."""
    b, zero = Builder(), onnx.helper.make_tensor('zero', onnx.TensorProto.INT64, [1], [0])
    x = b.input('x', 1, 4, 20)
    x = b('LeakyRelu', b('Conv', x, b.normal(8, 4, 3), b.normal(8), pads=[1, 1]), alpha=0.1)
    x = b('MaxPool', x, kernel_shape=[3], strides=[2], pads=[1, 1])
    x = b('Clip', b('Conv', x, b.normal(8, 2, 3), pads=[1, 1], group=4), numpy.float32(0), numpy.float32(6))
    pads = b('Reshape', b('Concat', numpy.array([1, 1]), b('ConstantOfShape', numpy.array([4]), value=zero), axis=0), numpy.array([-1, 2]))
    pads = b('Slice', pads, numpy.array([-1]), numpy.array([-2**63 + 1]), numpy.array([0]), numpy.array([-1]))  # as PyTorch reverses them
    pads = b('Cast', b('Reshape', b('Transpose', pads, perm=[1, 0]), numpy.array([-1])), to=7)
    x = b('AveragePool', b('Pad', x, pads), kernel_shape=[2], strides=[2])
    x = b('Slice', x, numpy.array([1]), numpy.array([6]), numpy.array([2]), numpy.array([2]))
    x = b('Gemm', b('Flatten', x), b.normal(24, 5), b.normal(5))
    b.output(x)
    b.output(b('ArgMax', x, axis=1, keepdims=0), kind=onnx.TensorProto.INT64)
    return b.model()


def activations(tokens=3):
    b = Builder()
    x = b.input('x', tokens, 17)
    for kind in ('relu', 'gelu', 'gelu_tanh', 'silu', 'tanh', 'sigmoid', 'leaky', 'relu6'):
        x = b.linear(b.activation(kind, b.linear(x, 17, 65)), 65, 17)
    b.output(x)
    return b.model()


def parts(operation):
    """A result beside a part of the array that it is made of: it must not be written over it."""
    b = Builder()
    y = b('MatMul', b.input('x', 1, 4, 8), b.normal(8, 8))
    part = b('Slice', y, numpy.array([0]), numpy.array([1]), numpy.array([1]))
    b.output(b('MatMul', b(operation, y, part), b.normal(8, 3)))
    return b.model()


def names():
    """Inputs and outputs with names that C++ or the written program has for other things."""
    b = Builder()
    inputs = [b.input(name, 2, 3) for name in ('a', 'y', 'for', 'size_t', 'memory', 'a.b', 'a_b', 'weights_0', 'input_0', 'i', 'unused')]
    total = inputs[0]
    for name in inputs[1:-1]:
        total = b('Add', total, name)
    for output in ('run', 'x_run', 'o\n#error\n//\\', '2\u00b2'):
        b.nodes.append(onnx.helper.make_node('Mul', [total, inputs[0]], [output]))
        b.output(output)
    return b.model()


def tokens_alone():
    """Of integers: rows of a table, and no float that becomes one."""
    b = Builder()
    b.output(b.linear(b('Gather', b.normal(9, 8), b.input('ids', 1, 4, kind=onnx.TensorProto.INT64)), 8, 3))
    return b.model()


def clamped_output():
    """A projection that is an output and goes through a ReLU: in integers it is not clamped."""
    b = Builder()
    y = b.linear(b.input('x', 1, 5, 8), 8, 8)
    b.output(y, b.linear(b('Relu', y), 8, 3))
    return b.model()


def joined_constant():
    """In integers: a constant that is larger than the array that it is joined to."""
    b = Builder()
    x = b('Concat', numpy.full((1, 1, 8), 4.0, 'float32'), b('Sigmoid', b.linear(b.input('x', 1, 5, 8), 8, 8)), axis=1)
    b.output(b.linear(b('Pad', x, numpy.array([0, 1, 0, 0, 1, 0]), numpy.float32(6)), 8, 3))
    return b.model()


def channels():
    """A normalisation over batches whose channels are tokens, as many as the projection before it has outputs; and one beside its input."""
    b = Builder()
    numbers = lambda: b.random.random(8).astype('float32') + 0.5
    y = b.linear(b.input('x', 1, 8, 8), 8, 8)
    z = b('Conv', 'x', b.normal(8, 8, 1), b.normal(8))
    both = b('Add', b('BatchNormalization', b('Identity', z), numbers(), numbers(), numbers(), numbers()), z)
    b.output(b('Add', b('BatchNormalization', y, numbers(), numbers(), numbers(), numbers()), both))
    return b.model()


def rows_of_biases():
    """Masks that are large for all keys of a query, and one that is scaled down until it is none."""
    b = Builder()
    x = b.input('x', 1, 2, 5, 8)
    key = b('Transpose', x, perm=[0, 1, 3, 2])
    padded = numpy.zeros((5, 5), 'float32')
    padded[2], padded[3] = [-10000, -10000.5, -10001, -9999.5, -9999], -6000
    scores = b('Add', b('Add', b('MatMul', x, key), padded), padded)
    y = b('MatMul', b('Softmax', scores, axis=-1), x)
    small = b('Mul', b('Add', b('MatMul', y, key), causal(5, -10000.0)), numpy.float32(1e-4))
    b.output(b('MatMul', b('Softmax', small, axis=-1), x))
    return b.model()


def diagonals():
    """Views of a projection that step over its rows and columns at once."""
    b = Builder()
    y = b('Reshape', b('MatMul', b.input('x', 4, 8), b.normal(8, 6)), numpy.array([24]))
    slices = [b('Slice', y, numpy.array([first]), numpy.array([first + 15]), numpy.array([0]), numpy.array([7])) for first in (0, 1)]
    b.output(b('Sub', *slices))
    return b.model()


def other_statistics(b):
    """What looks like a normalisation and is none: means without the axis, which repeat along the other one."""
    x = b.input('x', 6, 6)
    mean = lambda y: b('ReduceMean', y, axes=[-1], keepdims=0)
    centred = b('Sub', x, mean(x))
    b.output(b('Div', centred, b('Sqrt', b('Add', mean(b('Mul', centred, centred)), numpy.float32(1e-5)))))


def rotary(tokens=11, width=32, heads=4):
    """RotaryEmbedding of version 23: tables and positions, whole heads and a part of each, halves and neighbours."""
    b, each = Builder(23), width // heads
    x = b.input('x', 1, tokens, width)
    y = b.layer_norm(x, width)
    angles = numpy.arange(tokens + 3)[:, None] * 10000.0 ** (-numpy.arange(each // 2) / (each // 2))
    tables = [function(angles).astype('float32') for function in (numpy.cos, numpy.sin)]
    query, key = (b('RotaryEmbedding', b.linear(y, width, width), *tables, numpy.arange(tokens)[None], num_heads=heads) for _ in range(2))
    x = b('Add', x, b.linear(b('Attention', query, key, b.linear(y, width, width), is_causal=1, q_num_heads=heads, kv_num_heads=heads), width, width))
    part = [table[None, :tokens, :2] for table in tables]
    query, key = (b('RotaryEmbedding', b.heads(b.linear(x, width, width), tokens, heads, each), *part, rotary_embedding_dim=4, interleaved=1) for _ in range(2))
    z = b('Attention', query, key, b.heads(b.linear(x, width, width), tokens, heads, each), is_causal=1)
    b.output(b('Add', x, b.joined(z, tokens, width)))
    return b.model()


def two_outputs(tokens=6, width=16):
    """A decoder whose first output a later layer reads, so that caches cannot be filled without outputs."""
    b = Builder()
    x = b.input('x', 1, tokens, width)
    y = b('Add', x, b.self_attention(x, tokens, width, 2, causal(tokens)))
    b.output(b('Add', y, b.self_attention(y, tokens, width, 2, causal(tokens))), y)
    return b.model()


def columns(tokens=5, width=16, heads=2):
    """A decoder whose tokens are computed in parts: queries turn by the squares of positions, neighbours by hand, with a constant for each token
    and pair; keys likewise, halves of heads that lie before tokens."""
    b, each = Builder(), width // heads
    x = b.input('x', 1, tokens, width)
    angles = numpy.arange(tokens)[:, None] ** 2 * 100.0 ** (-numpy.arange(each // 2) / (each // 2))
    cosine, sine = (function(angles)[:, None].astype('float32') for function in (numpy.cos, numpy.sin))
    y = b('Reshape', b.linear(x, width, width), numpy.array([1, tokens, heads, each]))
    first, second = (b('Slice', y, numpy.array([at]), numpy.array([each]), numpy.array([3]), numpy.array([2])) for at in (0, 1))
    parts = (b('Sub', b('Mul', first, cosine), b('Mul', second, sine)), b('Add', b('Mul', second, cosine), b('Mul', first, sine)))
    pairs = [b('Unsqueeze', part, numpy.array([4])) for part in parts]
    query = b('Transpose', b('Reshape', b('Concat', *pairs, axis=4), numpy.array([1, tokens, heads, each])), perm=[0, 2, 1, 3])
    tables = [numpy.concatenate([table[:, 0]] * 2, 1) for table in (cosine, sine)]
    key = b.rotated(b.heads(b.linear(x, width, width), tokens, heads, each), each, *tables)
    y = b.attention(query, b('Transpose', key, perm=[0, 1, 3, 2]), b.heads(b.linear(x, width, width), tokens, heads, each), each ** -0.5, causal(tokens))
    x = b('Add', x, b.joined(y, tokens, width))
    b.output(b('Mul', *b('Split', b.layer_norm(x, width), numpy.array([width // 2] * 2), outputs=2, axis=-1)))
    return b.model()


def llama(tokens=11, width=32, heads=4, kv_heads=2, vocabulary=50):
    """Tokens to logits; cosines and sines are computed in the graph, heads lie before tokens and share keys."""
    b, each = Builder(), width // heads
    positions = b('Range', *(numpy.array(number, 'float32') for number in (0, tokens, 1)))
    angles = b('Einsum', positions, (10000.0 ** (-numpy.arange(each // 2) / (each // 2))).astype('float32'), equation='i,j->ij')
    tables = [b('Unsqueeze', b(function, b('Concat', angles, angles, axis=-1)), numpy.array([0, 1])) for function in ('Cos', 'Sin')]
    table = b.normal(vocabulary, width)
    x = b('Gather', table, b.input('ids', 1, tokens, kind=onnx.TensorProto.INT64))
    for _ in range(2):
        y = b.rms_norm(x, width)
        query, key, value = (b.heads(b.linear(y, width, count * each, False), tokens, count, each) for count in (heads, kv_heads, kv_heads))
        query, key = (b.rotated(part, each, *tables) for part in (query, key))
        shared = numpy.array([1, kv_heads, heads // kv_heads, tokens, each])
        key, value = (b('Reshape', b('Expand', b('Unsqueeze', part, numpy.array([2])), shared), numpy.array([1, heads, tokens, each])) for part in (key, value))
        y = b.attention(query, b('Transpose', key, perm=[0, 1, 3, 2]), value, each ** -0.5, causal(tokens, -3.4028235e38))
        x = b('Add', x, b.linear(b.joined(y, tokens, width), width, width, False))
        y = b.rms_norm(x, width)
        gate = b('Mul', b.activation('silu', b.linear(y, width, 56, False)), b.linear(y, width, 56, False))
        x = b('Add', x, b.linear(gate, 56, width, False))
    b.output(b('MatMul', b.rms_norm(x, width), numpy.ascontiguousarray(table.T)))
    return b.model()


def apart_joined():
    """Two arrays side by side whose scales are far apart: both or neither are integers."""
    b = Builder()
    x = b.layer_norm(b.input('x', 1, 6, 8), 8)
    joined = b('Concat', *(b('MatMul', x, b.normal(8, 8) * numpy.float32(2.0 ** power)) for power in (-30, 20)), axis=-1)
    b.output(b.linear(b('Max', joined, b('Mul', joined, numpy.float32(0.5))), 16, 4))
    return b.model()


def far_apart():
    """A sum whose parts differ by 2^50: no integers of 32 bits bring them to one scale, so it is computed in floats."""
    b = Builder()
    x = b.input('x', 1, 6, 8)
    small = b('Mul', b.linear(x, 8, 16), numpy.float32(2.0 ** -30))
    large = b('Mul', b.linear(x, 8, 16), numpy.float32(2.0 ** 20))
    b.output(b.linear(b('Add', small, large), 16, 4))
    return b.model()


def padded(tokens=9, width=24, heads=3):
    """Two layers with one mask of bools, 1 for padding, as nn.TransformerEncoder has it, and the mean of what is no padding."""
    b = Builder()
    x, mask = b.input('x', 1, tokens, width), b.input('padding_mask', 1, tokens, kind=onnx.TensorProto.BOOL)
    for _ in range(2):
        x = b.block(x, tokens, width, heads, 'relu', b('Where', b('Unsqueeze', mask, numpy.array([1, 2])), numpy.float32(-math.inf), numpy.float32(0)))
    kept = b('Cast', b('Not', b('Unsqueeze', mask, numpy.array([2]))), to=1)
    total = b('Max', b('ReduceSum', kept, numpy.array([1]), keepdims=0), numpy.float32(1))
    b.output(b.linear(b('Div', b('ReduceSum', b('Mul', x, kept), numpy.array([1]), keepdims=0), total), width, 5))
    return b.model()


def capped(tokens=12, width=32, heads=4, vocabulary=40):
    """A decoder whose scores go through a soft cap, as Gemma's: of one layer over all tokens, and one over the last five."""
    b, each = Builder(), width // heads
    x = b('Gather', b.normal(vocabulary, width), b.input('tokens', 1, tokens, kind=onnx.TensorProto.INT64))
    for mask in (causal(tokens, -1e9), causal(tokens) + numpy.tril(numpy.full((tokens, tokens), -numpy.inf, 'float32'), -5)):
        y = b.rms_norm(x, width)
        query, key, value = (b.heads(b.linear(y, width, width), tokens, heads, each) for _ in range(3))
        scores = b('Div', b('Mul', b('MatMul', query, b('Transpose', key, perm=[0, 1, 3, 2])), numpy.float32(each ** -0.5)), numpy.float32(2))
        scores = b('Add', b('Mul', b('Tanh', scores), numpy.float32(2)), mask)
        y = b.joined(b('MatMul', b('Softmax', scores, axis=-1), value), tokens, width)
        x = b('Add', x, b.linear(y, width, width))
    b.output(b.linear(x, width, vocabulary, bias=False))
    return b.model()


MODELS = {
    'encoder': encoder, 'encoder_17': lambda: encoder(10, 24, 2, 17), 'encoder_one': lambda: encoder(1, 3, 3, activation='relu'),
    'encoder_65': lambda: encoder(65, 65, 5, activation='gelu_tanh'), 'decoder': decoder, 'scaled_dot_product': scaled_dot_product,
    'grouped': grouped, 'repeated_keys': repeated_keys, 'cross': cross, 'biased': biased, 'fused': fused, 'text': text, 'windowed': windowed, 'vision': vision, 'sensor': sensor, 'front_end': front_end,
    'activations': activations, 'parts_sub': lambda: parts('Sub'), 'parts_mul': lambda: parts('Mul'), 'names': names,
    'tokens_alone': tokens_alone, 'clamped_output': clamped_output, 'joined_constant': joined_constant, 'channels': channels,
    'rows_of_biases': rows_of_biases, 'diagonals': diagonals, 'far_apart': far_apart, 'apart_joined': apart_joined, 'two_outputs': two_outputs, 'columns': columns, 'llama': llama, 'rotary_node': rotary,
    'padded': padded, 'capped': capped,
}
IN_FLOATS = ('rows_of_biases', 'parts_mul')  # 8 bits do not hold their quotients and differences
