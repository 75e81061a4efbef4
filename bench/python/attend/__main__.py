"""python3 -m attend export MODEL.onnx --out FOLDER, replay FOLDER --inputs X --receipts R: see attend.export and attend.replay."""
import argparse
import sys


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python3 -m attend', description='Transformer attention with the same bits on every processor.')
    commands = parser.add_subparsers(dest='command', required=True)
    export = commands.add_parser('export', help='write a trained model as C++ or C for a device, with a self-test of its bits')
    export.add_argument('model', help='an ONNX file, as torch.onnx.export writes it, or a folder with config.json and model.safetensors')
    export.add_argument('--out', required=True, help='the folder to write')
    export.add_argument('--name', help='of the C++ namespace, or what names in C begin with; that of the folder')
    export.add_argument('--weights', help='float32, float16, bfloat16, int8 or int4; float32, and what a GGUF file has in blocks of Q4_0 as it is')
    export.add_argument('--arithmetic', default='float32', help='float32, or int8: integers throughout, with scales from --calibrate')
    export.add_argument('--decoder', action='store_true', help='append() besides, a token at a time over caches, for causal models')
    export.add_argument('--surface', default='cpp', help='cpp: C++17 over the typed surface; c: C99 over the C surface, with the same bits')
    export.add_argument('--calibrate', '--samples', dest='samples', help='.npy or .npz: inputs that scales are made of and errors measured on')
    export.add_argument('--shape', action='append', default=[], metavar='INPUT=1,16,32', help='of an input whose size the file leaves open')
    export.add_argument('--tokens', type=int, default=64, help='of such a folder: how many tokens it takes at once (64)')
    export.add_argument('--chunk', type=int, help='tokens that feed-forward blocks compute at a time, for less memory')
    export.add_argument('--target', action='append', default=[], help='a board to report sizes for, cortex-m4, or with its RAM in KB, cortex-m4:64')
    export.add_argument('--receipts', action='store_true', help='receipt() besides: 8 bytes of each token, to be recorded for replay')
    replay = commands.add_parser('replay', help='compare receipts of a device with what this computer makes of the same inputs')
    replay.add_argument('folder', help='what export --receipts has written')
    replay.add_argument('--inputs', required=True, help='a file: the inputs of each token, as they lie in memory')
    replay.add_argument('--receipts', required=True, help='a file: the receipt of each token, 8 bytes or a line of 16 hexadecimal digits')
    replay.add_argument('--steps', help='a file: the digests of the steps of all tokens, or of the first one that differs, 4 bytes or 8 digits each')
    replay.add_argument('--numbers', help='a file: what the step that replay has named has written on the device')
    replay.add_argument('--begins', default='', metavar='16,32', help='tokens before which the program called clear()')
    return parser


def main() -> int:
    arguments = parser().parse_args()
    return run_replay(arguments) if arguments.command == 'replay' else run_export(arguments)


def run_replay(arguments: argparse.Namespace) -> int:
    """0: all is equal; 1: something differs; 2: that cannot be told."""
    from . import AttendError
    from ._replay import replay
    try:
        begins = [int(token) for token in arguments.begins.split(',') if token]
        found = replay(arguments.folder, arguments.inputs, arguments.receipts, steps=arguments.steps, numbers=arguments.numbers, begins=begins)
    except (AttendError, OSError, ValueError) as error:
        print(f'attend replay: {error}', file=sys.stderr)
        return 2
    print(found.text(), end='')
    return 0 if found.token is None else 1


def run_export(arguments: argparse.Namespace) -> int:
    try:
        from . import ExportError
        from . import export as write
    except ImportError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        shapes = {name: [int(size) for size in sizes.split(',')] for name, _, sizes in (each.partition('=') for each in arguments.shape)}
    except ValueError:
        print(f'attend export: --shape {arguments.shape[0]}; expected --shape x=1,16,32', file=sys.stderr)
        return 1
    try:
        print(write(arguments.model, arguments.out, name=arguments.name, weights=arguments.weights, arithmetic=arguments.arithmetic, decoder=arguments.decoder,
                    surface=arguments.surface, samples=arguments.samples, shapes=shapes, tokens=arguments.tokens, chunk=arguments.chunk,
                    targets=arguments.target, receipts=arguments.receipts).text(), end='')
    except ExportError as error:
        print(f'attend export: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
