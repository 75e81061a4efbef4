"""python3 -m attend export MODEL.onnx --out FOLDER: see attend.export."""
import argparse
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog='python3 -m attend', description='Transformer attention with the same bits on every processor.')
    commands = parser.add_subparsers(dest='command', required=True)
    export = commands.add_parser('export', help='write a trained model as C++ or C for a device, with a self-test of its bits')
    export.add_argument('model', help='an ONNX file, as torch.onnx.export writes it, or a folder with config.json and model.safetensors')
    export.add_argument('--out', required=True, help='the folder to write')
    export.add_argument('--name', help='of the C++ namespace, or what names in C begin with; that of the folder')
    export.add_argument('--weights', default='float32', help='float32, float16, bfloat16, int8 or int4')
    export.add_argument('--arithmetic', default='float32', help='float32, or int8: integers throughout, with scales from --calibrate')
    export.add_argument('--decoder', action='store_true', help='append() besides, a token at a time over caches, for causal models')
    export.add_argument('--surface', default='cpp', help='cpp: C++17 over the typed surface; c: C99 over the C surface, with the same bits')
    export.add_argument('--calibrate', '--samples', dest='samples', help='.npy or .npz: inputs that scales are made of and errors measured on')
    export.add_argument('--shape', action='append', default=[], metavar='INPUT=1,16,32', help='of an input whose size the file leaves open')
    export.add_argument('--tokens', type=int, default=64, help='of such a folder: how many tokens it takes at once (64)')
    export.add_argument('--chunk', type=int, help='tokens that feed-forward blocks compute at a time, for less memory')
    export.add_argument('--target', action='append', default=[], help='a board to report sizes for, cortex-m4, or with its RAM in KB, cortex-m4:64')
    arguments = parser.parse_args()
    try:
        import numpy  # noqa: F401
    except ImportError:
        print('attend export: it takes numpy (Debian: apt-get install python3-numpy)', file=sys.stderr)
        return 1
    from .exporter import ExportError
    from .exporter import export as write
    try:
        shapes = {name: [int(size) for size in sizes.split(',')] for name, _, sizes in (each.partition('=') for each in arguments.shape)}
    except ValueError:
        print(f'attend export: --shape {arguments.shape[0]}; expected --shape x=1,16,32', file=sys.stderr)
        return 1
    try:
        print(write(arguments.model, arguments.out, name=arguments.name, weights=arguments.weights, arithmetic=arguments.arithmetic, decoder=arguments.decoder,
                    surface=arguments.surface, samples=arguments.samples, shapes=shapes, tokens=arguments.tokens, chunk=arguments.chunk,
                    targets=arguments.target).text(), end='')
    except ExportError as error:
        print(f'attend export: {error}', file=sys.stderr)
        return 1
    return 0


sys.exit(main())
