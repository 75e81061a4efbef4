"""Writes models of TensorFlow Lite: FlatBuffers by hand, with as much of the schema as the tests need, and FlexBuffers maps for attributes."""
import struct

import numpy

TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9}
CODES = {"ADD": 0, "CONCATENATION": 2, "FULLY_CONNECTED": 9, "MUL": 18, "RESHAPE": 22, "SOFTMAX": 25, "TANH": 28, "TRANSPOSE": 39, "SUB": 41, "DIV": 42,
         "IF": 118, "BATCH_MATMUL": 126, "CUSTOM": 32}


class Writer:
    """A buffer whose objects lie behind the places that point to them."""

    def __init__(self):
        self.bytes = bytearray()

    def align(self, to, behind=0):
        while (len(self.bytes) + behind) % to:
            self.bytes.append(0)

    def point(self, at):
        struct.pack_into("<I", self.bytes, at, len(self.bytes) - at)

    def put(self, value):
        """Writes an object here: a table (dict of slot: (format, number) or object), bytes, a string, a numpy array or a list of objects."""
        if isinstance(value, dict):
            return self.table(value)
        if isinstance(value, str):
            self.align(4)
            start = len(self.bytes)
            self.bytes += struct.pack("<I", len(value)) + value.encode() + b"\0"
            return start
        if isinstance(value, numpy.ndarray):
            self.align(16, 4)
            start = len(self.bytes)
            self.bytes += struct.pack("<I", value.size) + value.tobytes()
            return start
        self.align(4)
        start = len(self.bytes)
        self.bytes += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for i, item in enumerate(value):
            self.later(start + 4 + 4 * i, item)
        return start

    def later(self, at, item):
        before = len(self.bytes)
        start = self.put(item)
        assert start >= before
        struct.pack_into("<I", self.bytes, at, start - at)

    def table(self, fields):
        slots = max(fields, default=-1) + 1
        self.align(4)
        vtable = len(self.bytes)
        self.bytes += bytes(4 + 2 * slots)
        self.align(4)
        start = len(self.bytes)
        self.bytes += struct.pack("<i", start - vtable)
        pointers = []
        for slot, value in sorted(fields.items()):
            if value is None:
                continue
            scalar = isinstance(value, tuple)
            format = value[0] if scalar else "<I"
            self.align(struct.calcsize(format))
            at = len(self.bytes)
            struct.pack_into("<H", self.bytes, vtable + 4 + 2 * slot, at - start)
            self.bytes += struct.pack(format, value[1] if scalar else 0)
            if not scalar:
                pointers.append((at, value))
        struct.pack_into("<HH", self.bytes, vtable, 4 + 2 * slots, len(self.bytes) - start)
        for at, value in pointers:
            self.later(at, value)
        return start


def flex(attributes):
    """A FlexBuffers map of floats (of 8 bytes) and integers."""
    out, keys = bytearray(), []
    for name in sorted(attributes):
        keys.append(len(out))
        out += name.encode() + b"\0"
    while len(out) % 8:
        out.append(0)
    out += struct.pack("<Q", len(keys))
    first = len(out)
    for at in keys:
        out += struct.pack("<Q", len(out) - at)
    out += struct.pack("<QQQ", len(out) - first, 8, len(keys))
    values, types = len(out), bytearray()
    for name in sorted(attributes):
        number = attributes[name]
        real = isinstance(number, float)
        out += struct.pack("<d" if real else "<q", number)
        types.append((3 if real else 1) << 2 | 3)
    out += types
    out += bytes([len(out) - values, 9 << 2 | 3, 1])
    return bytes(out)


class Model:
    """A graph that is filled from its inputs on; tensors are numbers."""

    def __init__(self):
        self.codes, self.tensors, self.operators, self.buffers, self.inputs = [], [], [], [{}], []

    def tensor(self, shape, type="float32", data=None, scale=None, zero=0, buffer=0):
        if data is not None:
            data = numpy.ascontiguousarray(data)
            type = data.dtype.name
            self.buffers.append({0: numpy.frombuffer(data.tobytes(), numpy.uint8)})
            buffer = len(self.buffers) - 1
        quantisation = None
        if scale is not None:
            scales = numpy.atleast_1d(numpy.asarray(scale, numpy.float32))
            # Several scales are those of the last axis.
            quantisation = {2: scales, 3: numpy.full(scales.size, zero, numpy.int64), 6: ("<i", len(shape) - 1 if scales.size > 1 else 0)}
        self.tensors.append({0: numpy.asarray(shape, numpy.int32), 1: ("<b", TYPES[type]), 2: ("<I", buffer), 3: "t%d" % len(self.tensors), 4: quantisation})
        return len(self.tensors) - 1

    def input(self, shape, type="float32", **more):
        self.inputs.append(self.tensor(shape, type, **more))
        return self.inputs[-1]

    def constant(self, data, **more):
        data = numpy.asarray(data)
        return self.tensor(data.shape, data=data, **more)

    def operator(self, name, inputs, outputs, options=None, custom=None, attributes=None):
        """options: (type of the union, table). custom: the name of a custom operator, with the bytes of its attributes."""
        code = (CODES[name], custom)
        if code not in self.codes:
            self.codes.append(code)
        self.operators.append({0: ("<I", self.codes.index(code)), 1: numpy.asarray(inputs, numpy.int32), 2: numpy.asarray(outputs, numpy.int32),
                               3: ("<B", options[0]) if options else None, 4: options[1] if options else None,
                               5: None if attributes is None else numpy.frombuffer(attributes, numpy.uint8)})

    def node(self, name, inputs, shape, options=None, type="float32", **quantisation):
        to = self.tensor(shape, type, **quantisation)
        self.operator(name, inputs, [to], options)
        return to

    def write(self, path, outputs):
        codes = [{0: ("<b", min(code, 127)), 1: custom, 2: ("<i", 1), 3: ("<i", code)} for code, custom in self.codes]
        graph = {0: self.tensors, 1: numpy.asarray(self.inputs, numpy.int32), 2: numpy.asarray(outputs, numpy.int32), 3: self.operators}
        writer = Writer()
        writer.bytes += bytes(4) + b"TFL3"
        writer.later(0, {0: ("<I", 3), 1: codes, 2: [graph], 4: self.buffers})
        with open(path, "wb") as file:
            file.write(writer.bytes)
