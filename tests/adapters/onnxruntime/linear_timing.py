"""Linear attention and its convolution beside the runtime's own operators, in one process and in turns: linear_timing.py [--seconds N] [--without LIBRARY]

A table; --without adds columns, of a process whose LD_PRELOAD is that library. The least seconds of the processor of each, with one thread, where inputs and outputs lie in memory that stays; the environment has ORT_LIBRARY
and ORT_PLUGIN. Sizes are those of Qwen3-Next.
"""
import argparse
import ctypes
import os
import subprocess
import sys
import time

import numpy

import host
import nodes_linear  # noqa: F401, lets the runtime load opset 27
import model
from model import DOMAIN

random = numpy.random.default_rng(1)


def linear(tokens, heads, keys, past):
    draw = lambda *shape: random.standard_normal(shape, numpy.float32)
    key = draw(1, tokens, keys, 128)
    key /= numpy.linalg.norm(key, axis=-1, keepdims=True)
    arrays = {"query": draw(1, tokens, keys * 128), "key": key.reshape(1, tokens, -1), "value": draw(1, tokens, heads * 128),
              "past": draw(1, heads, 128, 128) * numpy.float32(0.1) if past else None, "decay": -0.1 * abs(draw(1, tokens, heads)),
              "beta": random.random((1, tokens, heads), numpy.float32)}
    return "LinearAttention", arrays, {"q_num_heads": keys, "kv_num_heads": heads}, ()


def conv(tokens, past, **attributes):
    draw = lambda *shape: random.standard_normal(shape, numpy.float32)
    last = attributes.get("channels_last")
    arrays = {"input": draw(1, tokens, 8192) if last else draw(1, 8192, tokens), "weight": draw(8192, 1, 4), "bias": None,
              "past": (draw(1, 3, 8192) if last else draw(1, 8192, 3)) if past else None}
    return "CausalConvWithState", arrays, {"activation": "silu", **attributes}, ("weight",)


ROWS = (("gated delta, 32 value heads that share 16 keys, 128 x 128: 1024 tokens", lambda: linear(1024, 32, 16, False)),
        ("the same, 64 tokens behind a past", lambda: linear(64, 32, 16, True)),
        ("the same, a token behind a past", lambda: linear(1, 32, 16, True)),
        ("convolution of 8192 channels, 4 wide, with silu: 1024 tokens", lambda: conv(1024, False)),
        ("the same, channels last", lambda: conv(1024, False, channels_last=1)),
        ("the same, a token behind a past", lambda: conv(1, True)))


def aligned(array):
    """A copy that begins where a line of the cache does, as the runtime's own memory."""
    room = numpy.empty(array.nbytes + 64, numpy.uint8)
    begin = -room.ctypes.data % 64
    copy = room[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Bound:
    """A session over arrays that stay where they are."""

    def __init__(self, session, fed):
        self.session, self.results = session, [aligned(array) for array in session.run(fed)]
        self.names, self.values = [], []
        for names, arrays in ((session.inputs, [fed[name] for name in session.inputs]), (session.outputs, self.results)):
            values = []
            for array in arrays:
                value = ctypes.c_void_p()
                session.runtime.api.CreateTensorWithDataAsOrtValue(
                    session.runtime.memory, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), (ctypes.c_int64 * array.ndim)(*array.shape),
                    ctypes.c_size_t(array.ndim), ctypes.c_int(1), ctypes.byref(value))
                values.append(value.value)
            self.names.append((ctypes.c_char_p * len(names))(*[name.encode() for name in names]))
            self.values.append((ctypes.c_void_p * len(values))(*values))
        self.fed = fed

    def run(self):
        (inputs, outputs), (given, results) = self.names, self.values
        self.session.runtime.api.Run(self.session.handle, None, inputs, given, ctypes.c_size_t(len(given)), outputs, ctypes.c_size_t(len(results)), results)


def least(runtime, made, seconds):
    """Milliseconds as shipped and with the plugin."""
    kind, arrays, attributes, constants = made
    data = model.one_node(kind, arrays, 2, attributes, DOMAIN, constants=constants)
    fed = {name: aligned(array) for name, array in arrays.items() if array is not None and name not in constants}
    sessions = [runtime.session(data, provider=plugin) for plugin in (False, True)]
    assert not sessions[1].left()
    bound = [Bound(session, fed) for session in sessions]
    for shipped, ours in zip(*(each.results for each in bound)):
        off = abs(shipped - ours).max() / abs(shipped).max()
        assert off <= 1e-5, "the runtime's own operator is %g of the largest number away" % off
    begin, best = time.perf_counter(), [float("inf")] * 2
    while time.perf_counter() - begin < seconds:
        for which in (0, 1):
            start = time.process_time()
            bound[which].run()
            best[which] = min(best[which], time.process_time() - start)
    return [each * 1e3 for each in best]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=float, default=8.0)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--without")
    arguments.add_argument("--cells", action="store_true")
    asked = arguments.parse_args()
    rows = [(name, made) for name, made in ROWS if asked.only in name]
    if asked.cells:
        runtime = host.Runtime(os.environ["ORT_LIBRARY"])
        runtime.register(os.environ["ORT_PLUGIN"])
        for _, made in rows:
            shipped, ours = least(runtime, made(), asked.seconds)
            print("%.3g, %.3g, **%.2f**" % (shipped, ours, ours / shipped), flush=True)
        return 0
    columns = {"with AVX-512" if asked.without else "here": {}}
    columns.update({"AVX-512 hidden from both": {"LD_PRELOAD": asked.without}} if asked.without else {})
    again = [sys.executable, __file__, "--cells", "--seconds", str(asked.seconds), "--only", asked.only]
    found = [subprocess.run(again, env={**os.environ, **more}, check=True, capture_output=True, text=True).stdout.splitlines() for more in columns.values()]
    print("| | " + " | ".join(name + ": ms as shipped, with Attend, ratio" for name in columns) + " |\n| --- |" + " --- |" * len(columns))
    for (name, _), *cells in zip(rows, *found):
        print("| %s | %s |" % (name, " | ".join(cells)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
