"""Writes sentences of the training, with their actions, for the scales of the model in integers: calibration.py FILE"""
import random
import sys

from sentences import TRAIN, Sentences

SENTENCES, SEED = 400, 77

if __name__ == "__main__":
    made, rng = Sentences(SEED), random.Random(SEED)
    with open(sys.argv[1], "w") as file:
        file.write("# Training sentences and their actions, written by bench/app/train/calibration.py: sentence, tab, action.\n")
        for _ in range(SENTENCES):
            text, action = made.command(TRAIN) if rng.random() < 0.7 else made.outsider(TRAIN)
            file.write(f"{text}\t{action}\n")
