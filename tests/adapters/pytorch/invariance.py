"""Rows of the scoreboard, of PyTorch as shipped and with Attend inside: invariance.py, see invariance.sh."""
import os
import statistics
import subprocess
import sys
import time
import warnings

import torch

from changes import CHANGES, both, on_threads
from checks import difference
from models import Decoder, encoder, swapped

warnings.filterwarnings('ignore')
HERE = os.path.abspath(__file__)


def models():
    plain = encoder(), Decoder()
    return plain, tuple(swapped(each) for each in plain)


def row(what, *fields):
    print('\t'.join(('PyTorch', what, *fields)), flush=True)


def furthest(outputs):
    """The largest of the differences from the first."""
    found = [difference(outputs[0], each) for each in outputs[1:]]
    return max(found, key=lambda text: (text != 'same', float(text.rsplit(' ', 1)[-1].rstrip(')')) if text != 'same' else 0.0))


def outputs_elsewhere(**environment):
    """Outputs of both models in a process with other variables of its environment, as shipped and with Attend."""
    done = subprocess.run([sys.executable, HERE, 'outputs'], env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE)
    return torch.frombuffer(bytearray(done.stdout), dtype=torch.float32).view(2, -1)


def time_ratio(first, second, x, clock):
    """The time of a call of the first by that of the second: the median of several pairs, because what else the machine does falls on both of
    a pair, and may fall on one of two long rows alone."""
    def seconds(model):
        begin = clock()
        model(x)
        return clock() - begin

    first(x), second(x)
    return statistics.median(seconds(first) / seconds(second) for _ in range(15))


def main():
    plain, own = models()
    for what, outputs in CHANGES.items():
        row(what, furthest(outputs(*plain)), furthest(outputs(*own)))
    row('flash attention on or off', '-', '-')
    row('neighbours in the cache', '-', '-')
    fast = outputs_elsewhere()
    slow = outputs_elsewhere(ATEN_CPU_CAPABILITY='default', ATTEND_BACKEND='scalar', DNNL_MAX_CPU_ISA='SSE41', OPENBLAS_CORETYPE='Nehalem')
    row('x86-64 with AVX2 or without', difference(fast[0], slow[0]), difference(fast[1], slow[1]))
    row('x86-64 AVX2 or AVX-512', *['not here: no processor or emulator with AVX-512'] * 2)
    row('x86-64 or AArch64', *['not here: PyTorch is installed for this processor alone'] * 2)
    x = torch.randn(4, 128, 384)
    for name, threads, clock in (('one thread', 1, time.process_time), ('two threads', 2, time.perf_counter)):
        ratio = on_threads(threads, lambda: time_ratio(own[0], plain[0], x, clock))
        row(f'time, {name}', '1', f'{ratio:.2f}')


if __name__ == '__main__':
    with torch.no_grad():
        if sys.argv[1:] == ['outputs']:
            sys.stdout.buffer.write(torch.stack([both(*pair) for pair in models()]).numpy().tobytes())
        else:
            main()
