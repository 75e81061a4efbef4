"""Changes files and reads them again and again: fuzz_exporter.py onnx|safetensors|gguf RUNS SECONDS SEED RESULT FILE…

Each is refused by the exporter's own error, or read; of safetensors, to the bytes that a few lines of struct find where its header says. What
many.cpp does for readers in C++, with the same RESULT. An input at which a reader fails in another way is left as RESULT.input.
"""
import importlib
import json
import os
import pathlib
import random
import sys
import time
import types

import numpy

# The readers alone, without the package that they are part of.
package = types.ModuleType('exporter')
package.__path__ = ['bench/exporter']
sys.modules['exporter'] = package
errors, gguf, onnx_file, safetensors = (importlib.import_module(f'exporter.{name}') for name in ('errors', 'gguf', 'onnx_file', 'safetensors'))

EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, (1 << 63) - 1, (1 << 64) - 1, 1 << 24]
# What text of headers is made of.
WORDS = [b'null', b'-1', b'1e999', b'[]', b'{}', b'"F32"', b'[1,[2]]', b'NaN', b'0', b'18446744073709551616', b'\xff', b',', b'"', b'9' * 30]


class Bytes:
    """Instead of a path."""

    given = b''

    def read_bytes(self):
        return self.given


def change(data, draw):
    data = bytearray(data)
    for _ in range(1 if draw() < 0.7 else 2 + int(draw() * 3)):
        at, length, kind = int(draw() * (len(data) + 1)), 1 << int(draw() * 4), int(draw() * 16)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            del data[at:at + length]
        elif kind == 2:
            data[at:at] = data[int(draw() * len(data)):][:length]
        elif kind == 3:
            data[at:at + length] = EDGES[int(draw() * len(EDGES))].to_bytes(8, 'little')[:length]
        elif kind == 4:
            data[at:at + length] = WORDS[int(draw() * len(WORDS))]
        elif at < len(data):
            data[at] = data[at] ^ 1 << int(draw() * 8) if kind < 13 else int(draw() * 256)
    return bytes(data)


def check_safetensors(data):
    found = safetensors.read_tensors(Bytes())
    length = int.from_bytes(data[:8], 'little')
    for name, entry in json.loads(data[8:8 + length]).items():
        if name != '__metadata__':
            begin, end = entry['data_offsets']
            raw = data[8 + length + begin:8 + length + end]
            if entry['dtype'] == 'BF16':
                raw = b''.join(b'\0\0' + raw[i:i + 2] for i in range(0, len(raw), 2))
            assert found[name].tobytes() == raw, name


def check_onnx(data):
    graph = onnx_file.read_onnx(Bytes())
    assert graph.nodes and graph.outputs and all(min(shape, default=1) >= 1 for shape in graph.inputs.values())


def main():
    kind, runs, seconds, seed, result = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    files = [pathlib.Path(path).read_bytes() for path in sys.argv[6:]]
    draw = random.Random(seed).random
    if kind == 'onnx':
        import onnx
        onnx.load = lambda _: onnx.ModelProto.FromString(Bytes.given)  # read_onnx knows a path
    check = {'onnx': check_onnx, 'safetensors': check_safetensors, 'gguf': lambda data: gguf.read_gguf(Bytes())}[kind]
    numpy.seterr(all='ignore')
    begin, done, read, told = time.monotonic(), 0, 0, 0
    while done < runs and time.monotonic() - begin < seconds:
        for _ in range(256):
            data = files[done] if done < len(files) else change(files[int(draw() * len(files))], draw)
            done += 1
            Bytes.given = data
            try:
                check(data)
                read += 1
            except errors.ExportError:
                pass
            except BaseException:
                pathlib.Path(result + '.input').write_bytes(data)
                raise
        elapsed = time.monotonic() - begin
        if elapsed > told + 5 or done >= runs or elapsed >= seconds:
            told = elapsed
            pathlib.Path(result + '.new').write_text(json.dumps({'executions': done, 'seconds': int(elapsed), 'seed': seed}) + '\n')
            os.replace(result + '.new', result)
    print(f'fuzz: {read} read, {done - read} refused')


if __name__ == '__main__':
    main()
