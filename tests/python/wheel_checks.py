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


def fuzz_loads(what, load, saved):
    """Loads bytes of a state after random changes: they are refused, or are a state that saves them again."""
    refusals = loads = 0
    for _ in range(300):
        changed = bytearray(saved)
        for _ in range(random.integers(1, 4)):
            at = random.integers(0, 40) if random.integers(0, 2) else random.integers(0, len(saved))
            changed[at] = random.choice([0, 1, 2, 127, 128, 255, random.integers(0, 256)])
        if random.integers(0, 2):  # with a check sum of theirs
            total = 0x4c537441
            for place in range(0, len(changed) - 3, 4):
                if place != 8:
                    total = (total ^ int.from_bytes(changed[place:place + 4], 'little')) * 0x9e3779b1 & 0xffffffff
                    total ^= total >> 15
            changed[8:12] = total.to_bytes(4, 'little')
        changed = bytes(changed[:random.integers(0, len(saved) + 1)] if random.integers(0, 8) == 0 else changed)
        try:
            state = load(changed)
            again = state.save()
            check(len(again) <= len(changed) and state.is_finite() in (True, False), f'{what}: {changed[:40].hex()}')
            check(load(again).save() == again, f'{what}: saved again')
            loads += 1
        except ValueError:
            refusals += 1
    check(refusals > 50 and loads > 5, f'{what}: {refusals} refused, {loads} loaded')


def finish():
    print(f'{passed} checks, {failed} failed')
    sys.exit(failed > 0)
