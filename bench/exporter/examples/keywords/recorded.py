"""Held-out voices as what the model of keywords takes: bench/exporter/examples/keywords/recorded.py FOLDER. Writes voices.npy, float32 [32][64][144],
to export with --arithmetic int8, and tokens.bin, the inputs of 256 tokens, of other voices, as a device would record them."""
import pathlib
import sys

import numpy

BANDS, FRAMES, SEEN, CLIP = 24, 2, 6, 64  # frames that are new with a token, that it sees, and that a clip has


def tokens():
    """float32 [pairs of clips][64 tokens][SEEN * BANDS]."""
    levels = numpy.frombuffer((pathlib.Path(__file__).parent / 'held_out.bin').read_bytes(), numpy.int8)
    pairs = levels.reshape(-1, 2 * CLIP, BANDS)
    before = numpy.full((len(pairs), SEEN - FRAMES, BANDS), -64, numpy.int8)
    frames = numpy.concatenate([before, pairs], 1)
    seen = [frames[:, i:i + SEEN].reshape(len(pairs), -1) for i in range(0, 2 * CLIP, FRAMES)]
    return numpy.stack(seen, 1).astype(numpy.float32) / 32


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    found = tokens()
    numpy.save(folder / 'voices.npy', found[:32])
    (folder / 'tokens.bin').write_bytes(found[40:44].astype('<f4').tobytes())


if __name__ == '__main__':
    main()
