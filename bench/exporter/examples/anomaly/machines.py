"""Vibration of machines with a turning shaft, simulated: harmonics of its speed, a resonance of the housing that a bearing excites, noise.
Each machine has its own speed, weights and resonance; a fault grows: chips of a bearing, an unbalanced shaft, or a loose foot."""
import numpy

RATE, PATCH = 2000.0, 16  # samples a second, and those of a token
FAULTS = ('bearing', 'unbalance', 'looseness')
HELD_OUT = ((9001, 'bearing'), (9002, 'looseness'))  # chosen before any training


def vibration(machine, count, fault=None, grows=None, seed=0):
    """float [count]. machine: its number; fault: one of FAULTS, and grows: how strong it is at each sample, 0 to 1."""
    own, random = numpy.random.default_rng(machine), numpy.random.default_rng((machine, seed))
    speed = own.uniform(15, 45)
    drift = 1 + 0.01 * numpy.cumsum(random.standard_normal(count)) / numpy.sqrt(RATE * 20)
    turn = 2 * numpy.pi * numpy.cumsum(speed * drift) / RATE + random.uniform(0, 2 * numpy.pi)
    weights, phases = own.uniform(0.1, 1, 5) / numpy.arange(1, 6), own.uniform(0, 2 * numpy.pi, 5)
    strength = numpy.zeros(count) if grows is None else grows
    first = 1 + (3.0 * strength if fault == 'unbalance' else 0)
    signal = sum(weight * (first if order == 0 else 1) * numpy.sin((order + 1) * turn + phase)
                 for order, (weight, phase) in enumerate(zip(weights, phases)))
    if fault == 'looseness':
        signal = signal + strength * (1.2 * numpy.sin(turn / 2 + 1) + 0.8 * numpy.sin(1.5 * turn + 2))
    resonance, damping = own.uniform(300, 700), own.uniform(100, 250)
    ticks = random.standard_normal(count) * 0.2
    if fault == 'bearing':
        often = 3.6 * turn / (2 * numpy.pi)
        ticks = ticks + 6 * strength * (numpy.diff(numpy.floor(often), prepend=numpy.floor(often[0])) > 0) * random.uniform(0.6, 1.4, count)
    time = numpy.arange(64) / RATE
    ring = numpy.exp(-damping * time) * numpy.sin(2 * numpy.pi * resonance * time)
    return signal + numpy.convolve(ticks, ring)[:count] + 0.1 * random.standard_normal(count)


def normalised(signal, healthy):
    """In units of what the machine does when it is well, as bytes: 32 is its root mean square."""
    return numpy.clip(numpy.rint(signal * 32 / numpy.sqrt((healthy ** 2).mean())), -127, 127).astype(numpy.int8)


def held_out(count):
    """int8 [machines][count]: well in the first half, then a fault grows."""
    found = []
    for machine, fault in HELD_OUT:
        grows = numpy.clip((numpy.arange(count) - count / 2) / (count / 4), 0, 1)
        signal = vibration(machine, count, fault, grows, 1)
        found.append(normalised(signal, signal[:count // 4]))
    return numpy.stack(found)


def as_floats(bytes_):
    return bytes_.astype(numpy.float32) / 32
