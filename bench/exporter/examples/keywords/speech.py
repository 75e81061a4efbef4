"""Words spoken by espeak-ng in many voices, speeds and noises, and what the program's own front end makes of the sound."""
import ctypes
import io
import pathlib
import subprocess
import wave

import numpy

RATE, HOP, SPAN, BANDS = 16000, 320, 512, 24
KEYWORDS = ['yes', 'no', 'up', 'down', 'left', 'right', 'on', 'off', 'stop', 'go', 'louder', 'softer']
UNKNOWN = len(KEYWORDS)  # another word, or none
OTHERS = '''about after again air all animal apple arm ask autumn baby back bag ball banana bank bed bell big bird black blue boat book box boy bread bridge
brother brown bus call camera car cat chair cheese child city clean clock close cloud coat coffee cold come corner country cup dance day dear desk dinner
doctor dog door dream dress drink drive early east easy egg eight empty evening eye face family farm fast father fifteen fire fish five floor flower food
forest fork four fox friend fruit full game garden girl give glass gold good grass green guitar hair hand happy hat heart hello help hill home horse hot
hour house hundred ice island jacket job key kitchen knife lake lamp language late lemon letter library light listen little long low lunch machine man many
map market meat message milk minute money monkey month moon morning mother mountain mouse music name near neck new nine north nose now number ocean office
old open orange order paper park pencil people person phone picture plane plate please pocket present question quiet rabbit radio rain red rice ring river
road room round salt school sea seven shirt shoe shop silver sister six sky sleep slow small snow soap song soup south speak spoon spring square star
station stone story street strong sugar summer sun table tea teacher ten thank thirty three ticket time tomorrow tooth tower train tree twelve twenty two
umbrella under uncle valley village visit voice wait walk wall warm wash water week west wheel white wife wind window winter wood word work world write
year yellow young zero'''.split()
UNHEARD = OTHERS[-30:]  # words that training never hears
ACCENTS = ['en-us', 'en-gb', 'en-gb-x-rp', 'en-gb-x-gbclan', 'en-gb-x-gbcwmd', 'en-029', 'en-us-nyc']
VARIANTS = '''m1 m2 m3 m4 m6 m7 m8 f1 f2 f4 f5 adam Alex Alicia Andrea Andy Annie antonio aunty benjamin boris caleb david Denis Diogo Gene gustave
Henrique hugo iven2 Jacky john kaukovalta Lee linda Marco Mario max michael Michel miguel mike pablo paul pedro quincy rob robert steph steph3 travis victor
anika norbert sandro shelby grandma grandpa'''.split()
# Voices that training never hears, one of them with an accent of its own: chosen before any training.
HELD_OUT = ['en-us+f3', 'en-gb+m5', 'en-gb-scotland+belinda', 'en-us+edward', 'en-gb-x-rp+Nguyen']


def spoken(word, voice, speed, pitch):
    """float [samples] at 16 kHz without the silence around it; speed in words a minute, pitch of 0 to 99."""
    output = subprocess.run(['espeak-ng', '--stdout', '-v', voice, '-s', str(speed), '-p', str(pitch), word], capture_output=True, check=True)
    with wave.open(io.BytesIO(output.stdout)) as file:
        rate = file.getframerate()
        sound = numpy.frombuffer(file.readframes(1 << 24), '<i2').astype(float)
    count = sound.size * RATE // rate
    sound = numpy.fft.irfft(numpy.fft.rfft(sound)[:count // 2 + 1], count) * count / sound.size
    loud = numpy.flatnonzero(numpy.abs(sound) > 0.02 * numpy.abs(sound).max())
    return sound[loud[0]:loud[-1] + 1]


def noise(count, random):
    """float [count] of root mean square 1: hiss, rumble or hum, in any mixture."""
    spectrum = numpy.fft.rfft(random.standard_normal(count))
    frequency = numpy.maximum(numpy.fft.rfftfreq(count, 1 / RATE), 30)
    spectrum *= frequency ** -random.uniform(0, 1.0)
    time = numpy.arange(count) / RATE
    found = numpy.fft.irfft(spectrum, count)
    found /= found.std() + 1e-9
    hum = numpy.sin(2 * numpy.pi * random.choice([50, 60, 100, 120]) * time + random.uniform(0, 6)) * random.choice([0, 0, 0.5, 1])
    beat = 1 + 0.5 * numpy.sin(2 * numpy.pi * random.uniform(0.3, 3) * time + random.uniform(0, 6)) * random.integers(0, 2)
    found = (found + hum) * beat
    return found / (found.std() + 1e-9)


def room(sound, random):
    """The sound with what a microphone and a room add: echoes, and more or less of the high tones."""
    echo = numpy.zeros(int(RATE * random.uniform(0.02, 0.15)))
    echo[0] = 1
    tail = numpy.arange(1, echo.size)
    echo[1:] = random.standard_normal(tail.size) * numpy.exp(-5 * tail / echo.size) * random.uniform(0, 0.06)
    count = sound.size + echo.size - 1
    length = 1 << (count - 1).bit_length()
    sound = numpy.fft.irfft(numpy.fft.rfft(sound, length) * numpy.fft.rfft(echo, length), length)[:count]  # the convolution with the echo
    tilt = random.uniform(-0.5, 0.4)
    return numpy.append(sound[0], sound[1:] - tilt * sound[:-1])


def mixed(words, begins, count, random):
    """int16 [count]: the words from where they begin, with noise 8 to 40 dB below them, soft or loud. Also where each ends."""
    sound, ends = numpy.zeros(count), []
    for word, begin in zip(words, begins):
        word = room(word / (numpy.sqrt((word ** 2).mean()) + 1e-9), random) if word.size else word
        end = min(begin + word.size, count)
        sound[begin:end] += word[:end - begin]
        ends.append(end)
    sound += noise(count, random) * 10 ** (-random.uniform(8, 40) / 20)
    return numpy.clip(sound * 10 ** random.uniform(2.3, 3.7), -32768, 32767).astype(numpy.int16), ends


class FrontEnd:
    """front_end.h, compiled; int8 [frames][BANDS] of int16 samples."""

    def __init__(self, folder):
        here, source, library = pathlib.Path(__file__).parent, folder / 'front_end.cpp', folder / 'front_end.so'
        source.write_text('#include "front_end.h"\n'
                          'extern "C" void frames(const int16_t* sound, int count, int8_t (*frame)[keywords::bands]) {\n'
                          '  for (int i = 0; i < count; ++i, sound += keywords::hop) {\n'
                          '    keywords::log_mel(*reinterpret_cast<const int16_t(*)[keywords::span]>(sound), frame[i]);\n  }\n}\n')
        subprocess.run(['c++', '-std=c++17', '-O2', '-shared', '-fPIC', f'-I{here}', str(source), '-o', str(library)], check=True)
        self.compiled = ctypes.CDLL(str(library.resolve()))

    def __call__(self, sound):
        sound = numpy.ascontiguousarray(sound, numpy.int16)
        frames = numpy.zeros(((sound.size - SPAN) // HOP + 1, BANDS), numpy.int8)
        self.compiled.frames(sound.ctypes.data_as(ctypes.c_void_p), len(frames), frames.ctypes.data_as(ctypes.c_void_p))
        return frames
