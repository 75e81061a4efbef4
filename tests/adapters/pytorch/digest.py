"""The digest of both models with Attend inside, which is the same on every instruction set."""
from changes import both
from checks import digest
from models import Decoder, encoder, swapped


def main():
    print(f'digest {digest(both(swapped(encoder(2, 96, 4)), swapped(Decoder(2, 64))))}', flush=True)
