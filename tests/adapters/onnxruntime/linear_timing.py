"""Linear attention and its convolution beside the runtime's own operators, in one process and in turns: linear_timing.py [--seconds N] [--threads N]

The least seconds of each, with one thread those of the processor, where inputs and outputs lie in memory that stays; the environment has ORT_LIBRARY
and ORT_PLUGIN. Sizes are those of Qwen3-Next.
"""
import argparse
import ctypes
import os
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


ROWS = (("gated delta, prefill of 1024 tokens, 32 value heads, 16 key heads, 128 x 128", lambda: linear(1024, 32, 16, False)),
        ("the same, 64 tokens behind a past", lambda: linear(64, 32, 16, True)),
        ("the same, a token behind a past", lambda: linear(1, 32, 16, True)),
        ("convolution of 8192 channels with silu, 1024 tokens", lambda: conv(1024, False)),
        ("the same, channels last", lambda: conv(1024, False, channels_last=1)),
        ("the same, a token behind a past", lambda: conv(1, True)))


class Bound:
    """A session over arrays that stay where they are."""

    def __init__(self, session, fed):
        self.session, self.results = session, session.run(fed)
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


def least(runtime, made, threads, seconds):
    """Milliseconds as shipped and with the plugin."""
    kind, arrays, attributes, constants = made
    data = model.one_node(kind, arrays, 2, attributes, DOMAIN, constants=constants)
    fed = {name: array for name, array in arrays.items() if array is not None and name not in constants}
    sessions = [runtime.session(data, provider=plugin, threads=threads) for plugin in (False, True)]
    assert not sessions[1].left()
    bound = [Bound(session, fed) for session in sessions]
    for shipped, ours in zip(*(each.results for each in bound)):
        assert abs(shipped - ours).max() <= 1e-5 * abs(shipped).max(), abs(shipped - ours).max() / abs(shipped).max()
    clock = time.process_time if threads == 1 else time.perf_counter
    begin, best = time.perf_counter(), [float("inf")] * 2
    while time.perf_counter() - begin < seconds:
        for which in (0, 1):
            start = clock()
            bound[which].run()
            best[which] = min(best[which], clock() - start)
    return [each * 1e3 for each in best]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=float, default=4.0)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--only", default="")
    asked = arguments.parse_args()
    runtime = host.Runtime(os.environ["ORT_LIBRARY"])
    runtime.register(os.environ["ORT_PLUGIN"])
    for name, made in ROWS:
        if asked.only in name:
            shipped, ours = least(runtime, made(), asked.threads, asked.seconds)
            print("%s: %.3f ms as shipped, %.3f ms with the plugin, %.2f times as fast" % (name, shipped, ours, shipped / ours), flush=True)


if __name__ == "__main__":
    sys.exit(main())
