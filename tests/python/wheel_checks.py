"""Checks of the Python package that are counted. Needs numpy."""
import sys

import numpy as np

passed = failed = 0
random = np.random.default_rng(3)


def draw(*shape):
    return random.standard_normal(shape, dtype=np.float32)


def check(right, what):
    global passed, failed
    passed += bool(right)
    failed += not right
    if not right:
        print('FAIL', what)


def same(what, found, wanted):
    found, wanted = (array if isinstance(array, tuple) else (array,) for array in (found, wanted))
    check(all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(found, wanted)),
          f'{what}: the bits differ')


def refused(what, text, call, error=ValueError):
    try:
        call()
        check(False, f'{what}: taken')
    except error as refusal:
        check(text in str(refusal), f'{what}: {refusal}')


def finish():
    print(f'{passed} checks, {failed} failed')
    sys.exit(failed > 0)
