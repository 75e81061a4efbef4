"""Recordings of a motion sensor on a wrist, simulated: eight gestures, 128 samples of three accelerations (g) and three rates of turning
(radians a second) at 50 Hz, as bytes of a sensor set to 4 g and 8 radians a second."""
import numpy

GESTURES = ['circle', 'circle back', 'swipe left', 'swipe right', 'lift', 'push', 'shake', 'double tap']
SAMPLES, RATE = 128, 50.0
ACCELERATION, TURNING = 4.0 / 127, 8.0 / 127  # of one step of a byte


def _stroke(time, begin, length):
    """From 0 to 1 and with a soft beginning and end."""
    x = numpy.clip((time - begin) / length, 0, 1)
    return x ** 3 * (10 - 15 * x + 6 * x * x)


def _path(gesture, time, random):
    """Metres to the right, away and up, and radians of turning about these axes."""
    size, begin, length = random.uniform(0.15, 0.4), random.uniform(0.2, 0.9), random.uniform(0.5, 1.1)
    there = _stroke(time, begin, length)
    still = numpy.zeros_like(time)
    if gesture in (0, 1):
        turn = 2 * numpy.pi * random.integers(1, 3) * there * (1 if gesture == 0 else -1)
        first = random.uniform(0, 2 * numpy.pi)
        place = size / 2 * numpy.stack([numpy.sin(turn + first), still, numpy.cos(turn + first)])
        lean = random.uniform(0.1, 0.4) * numpy.stack([numpy.cos(turn + first), still, numpy.sin(turn + first)])
        return place, lean * (there > 0) * (there < 1)
    if gesture in (2, 3):
        sign = -1 if gesture == 2 else 1
        return size * sign * numpy.stack([there, 0.15 * there * (1 - there), still]), random.uniform(0.3, 0.9) * sign * numpy.stack([still, still, -there])
    if gesture == 4:
        return size * numpy.stack([still, still, there]), random.uniform(0.2, 0.8) * numpy.stack([there, still, still])
    if gesture == 5:
        return size * numpy.stack([still, there, still]), random.uniform(0.1, 0.4) * numpy.stack([-there, still, still])
    if gesture == 6:
        swing = numpy.sin(2 * numpy.pi * random.uniform(2.5, 5) * time) * ((there > 0) & (there < 1))
        axis = random.standard_normal(3) * [1, 0.3, 0.3]
        return size / 6 * (axis / numpy.linalg.norm(axis))[:, None] * swing, random.uniform(0.2, 0.6) * numpy.stack([still, swing, swing])
    taps = sum(numpy.exp(-((time - begin - gap) / 0.018) ** 2) for gap in (0, random.uniform(0.2, 0.4)))
    return 0.004 * numpy.stack([still, still, -taps]), random.uniform(0.01, 0.03) * numpy.stack([taps, still, still])


def _turned(random):
    """How the sensor sits on the wrist and the arm is held."""
    a, b, c = random.normal(0, 0.35), random.normal(0, 0.35), random.normal(0, 0.5)
    about_x = numpy.array([[1, 0, 0], [0, numpy.cos(a), -numpy.sin(a)], [0, numpy.sin(a), numpy.cos(a)]])
    about_y = numpy.array([[numpy.cos(b), 0, numpy.sin(b)], [0, 1, 0], [-numpy.sin(b), 0, numpy.cos(b)]])
    about_z = numpy.array([[numpy.cos(c), -numpy.sin(c), 0], [numpy.sin(c), numpy.cos(c), 0], [0, 0, 1]])
    return about_x @ about_y @ about_z


def recording(gesture, random):
    """int8 [6][128]."""
    fine = 4  # steps of the simulation for each sample
    time = numpy.arange(SAMPLES * fine) / (RATE * fine)
    place, turning = _path(gesture, time, random)
    step = 1 / (RATE * fine)
    acceleration = numpy.gradient(numpy.gradient(place, step, axis=1), step, axis=1) / 9.81
    tremor = numpy.cumsum(random.standard_normal((3, time.size)), 1) * 0.002
    acceleration = acceleration + numpy.array([[0.0], [0.0], [1.0]]) + tremor - tremor.mean(1, keepdims=True)
    turned = _turned(random)
    rate = turned @ numpy.gradient(turning, step, axis=1)
    acceleration = turned @ acceleration
    mean = lambda signal: signal.reshape(3, SAMPLES, fine).mean(2)
    noise = random.uniform(0.01, 0.05)
    acceleration = mean(acceleration) + noise * random.standard_normal((3, SAMPLES)) + random.normal(0, 0.03, (3, 1))
    rate = mean(rate) + 2 * noise * random.standard_normal((3, SAMPLES)) + random.normal(0, 0.05, (3, 1))
    steps = numpy.concatenate([acceleration / ACCELERATION, rate / TURNING])
    return numpy.clip(numpy.rint(steps), -127, 127).astype(numpy.int8)


def recordings(count, seed):
    """int8 [count][6][128] and the gestures, in turns."""
    random = numpy.random.default_rng(seed)
    labels = numpy.arange(count) % len(GESTURES)
    return numpy.stack([recording(label, random) for label in labels]), labels


def as_floats(bytes_):
    """What the model takes: about 1 at most."""
    return bytes_.astype(numpy.float32) / 127
