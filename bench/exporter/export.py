"""From a model's file to a folder of C++ or C: reads, lowers, checks and writes, and reports what came of it."""
import math
import os
import pathlib
import re
import shutil
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Type

import numpy

from .architectures import graph_of
from .boards import Board
from .c_surface import CWriter
from .chunks import in_chunks
from .cpp import CppWriter
from .errors import ExportError
from .gguf import digest, read_gguf
from .graph import Graph
from .lower import lower
from .numbers_in_c import RESERVED
from .onnx_file import read_onnx
from .passes import assign_memory, simplify
from .project_files import project_files
from .quantise import quantise
from .receipts import described
from .report import Report
from .safetensors import read_folder
from .self_test import write_self_test
from .steps import FORMATS, Linear
from .streaming import by_token
from .writer import Writer

SURFACES: Dict[str, Type[Writer]] = {'cpp': CppWriter, 'c': CWriter}
SELF_TEST_INPUTS = 2
MOST_ERROR = 1e-3  # of the largest output, in float32: beyond it nothing is written


def export(model: Any, out: Any, *, name: Optional[str] = None, weights: Optional[str] = None, arithmetic: str = 'float32', decoder: bool = False,
           surface: str = 'cpp', samples: Any = None, shapes: Optional[Dict[str, Sequence[int]]] = None, tokens: int = 64,
           chunk: Optional[int] = None, targets: Sequence[str] = (), receipts: bool = False) -> Report:
    """Writes the folder `out`: model.h and model.cpp, self_test.cpp, a Makefile, an Arduino sketch, and the library as one source.

    model    path of an ONNX file; of a folder with config.json and model.safetensors (llama, mistral, qwen2, qwen3, gpt2, bert, vit, whisper); or of
             a GGUF file (llama, gpt2)
    name     of the C++ namespace, or what names in C begin with; that of the folder if it is left out
    weights  float32, float16, bfloat16, int8 (a scale for each output) or int4 (one for each 32 inputs, a multiple of which they must be;
             other projections stay float32). Left out: float32, but blocks of Q4_0 in a GGUF file stay what they are, which is int4
    arithmetic  float32, or int8: integers throughout, with scales from the samples, which must then be given; normalisations compute in
             floats between them
    decoder  append() besides, which computes a token at a time over caches, for models whose attention is causal
    surface  cpp: C++17 over the typed surface. c: C99 over the C surface, model.c and self_test.c in their stead, with the same bits
    samples  what the error is measured on and the self-test has: an array [samples, ...] of the only input, a dict of them by names, or
             the path of an .npy or .npz file; tokens of -1 after the end of a text that is shorter. Otherwise random numbers
    shapes   of inputs whose file leaves dimensions open, by name; a first one that is open is 1
    tokens   of such a folder's text model: how many it takes at once, and a decoder's caches hold
    chunk    of how many tokens at a time feed-forward blocks are computed, with the same bits: less memory, a little more code
    targets  boards to compile for, where a compiler is installed: cortex-m4 and so on
    receipts  receipt() besides: 8 bytes of each token or call of run(), which attend.replay compares with what this computer makes
    """
    path, folder = path_of(model), pathlib.Path(out)
    name = re.sub(r'\W', '_', folder.resolve().name) if name is None else name
    if not isinstance(name, str) or not re.fullmatch(r'[a-z][a-z0-9_]*', name) or '__' in name or name in RESERVED or name.endswith('_t'):
        raise ExportError(f'the name {name!r} is no namespace: give name= (--name), lower case letters, digits and single underscores')
    if weights is not None and weights not in FORMATS:
        raise ExportError(f'weights are {weights!r}; expected one of {", ".join(FORMATS)}')
    if arithmetic not in ('float32', 'int8'):
        raise ExportError(f'arithmetic is {arithmetic!r}; expected float32 or int8')
    if surface not in SURFACES:
        raise ExportError(f'the surface is {surface!r}; expected cpp or c')
    if isinstance(targets, str) or not all(isinstance(target, str) for target in targets or ()):
        raise ExportError(f'targets are {targets!r}; expected a list of boards')
    boards = [Board(target) for target in targets or ()]
    if not isinstance(tokens, int) or not 1 <= tokens <= 65535:
        raise ExportError(f'tokens are {tokens!r}; expected 1 to 65535')
    if chunk is not None and (not isinstance(chunk, int) or chunk < 1):
        raise ExportError(f'chunk is {chunk!r}; expected 1 or more tokens, or none')
    for each, sizes in (shapes or {}).items() if isinstance(shapes or {}, dict) else [(shapes, None)]:
        if not isinstance(sizes, (list, tuple)) or not sizes or not all(isinstance(size, int) for size in sizes):
            raise ExportError(f'the shape of {each!r} is {sizes!r}; expected whole numbers by the names of inputs')
    if folder.exists() and not (folder / 'model.h').exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExportError(f'{folder} exists and was not made by this command: give another folder')
    program, graph = load(path, name, shapes, weights, tokens)
    inputs = sample_inputs(graph, samples)
    if arithmetic == 'int8':
        if samples is None:
            raise ExportError('arithmetic of int8 takes its scales from samples of the inputs: give samples= (--calibrate), a hundred or more')
        try:
            quantise(program, inputs)
        except ValueError as error:
            raise ExportError(f'{path}: these samples make no scales of integers: {error}') from None
        assign_memory(program)
    tokenwise = by_token(program) if decoder else None
    if tokenwise:
        assign_memory(tokenwise)
    whole, program = program, program if chunk is None else in_chunks(program, chunk)
    report = Report(program, graph, inputs)
    report.whole = whole
    if arithmetic == 'float32' and weights in (None, 'float32') and not report.error <= MOST_ERROR:
        raise ExportError(f'{path}: the program differs from the model by {report.error:.1e} of the largest output, at "{report.worst()[1]}". These '
                          'samples make numbers that float32 does not hold, or the exporter has a mistake: please report the model')
    writer = SURFACES[surface](program, path.name, receipts=receipts)
    if tokenwise:
        writer.by_token = SURFACES[surface](tokenwise, path.name, writer, receipts)
    files = {**writer.write(), f'self_test{writer.suffix}': write_self_test(writer, [program.used(sample)[2] for sample in inputs[:SELF_TEST_INPUTS]])}
    files.update(project_files(program, files, surface))
    if receipts:
        files['receipts.json'] = described(program, tokenwise, surface)
    temporary = pathlib.Path(tempfile.mkdtemp(prefix='attend-export-'))
    try:
        for each, text in files.items():
            (temporary / each).parent.mkdir(parents=True, exist_ok=True)
            (temporary / each).write_text(text)
        report.measure(boards, temporary, tokenwise, surface)
        (temporary / 'report.txt').write_text(report.text())
        put(temporary, folder, name, writer.suffix)
    finally:
        shutil.rmtree(temporary)
    return report


def path_of(model: Any) -> pathlib.Path:
    """Who has a model in memory reads how it becomes a file."""
    if isinstance(model, (str, os.PathLike)):
        return pathlib.Path(model)
    first = 'torch.onnx.export(model.eval(), inputs, "model.onnx", opset_version=14)' if hasattr(model, 'state_dict') else \
        'onnx.save(model, "model.onnx")' if hasattr(model, 'SerializeToString') else ''
    remedy = f'call {first} first, and give "model.onnx"' if first else 'expected the path of an ONNX or GGUF file, or of a published folder'
    raise ExportError(f'the model is a {type(model).__name__}, not a file: {remedy}')


def put(written: pathlib.Path, folder: pathlib.Path, name: str, suffix: str) -> None:
    """Copies what was written to its folder, which may have an earlier export."""
    written.chmod(0o755)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / 'receipts.json').unlink(missing_ok=True)
        shutil.copytree(written, folder, dirs_exist_ok=True)
        for other in {each.suffix for each in SURFACES.values()} - {suffix}:
            for source in ('model', 'self_test'):
                for place in (folder, folder / f'arduino/{name}'):
                    (place / f'{source}{other}').unlink(missing_ok=True)
    except OSError as error:  # those of shutil have a list of more
        raise ExportError(f'{folder} cannot be written: {error}') from None


@numpy.errstate(all='ignore')  # of damaged weights, which are refused
def load(path: pathlib.Path, name: str, shapes: Optional[Dict[str, Any]], weights: Optional[str], tokens: int) -> Any:
    """The program of a model, and its graph."""
    if not path.exists():
        raise ExportError(f'{path}: there is no such file')
    if path.suffix not in ('.onnx', '.gguf') and not path.is_dir():
        raise ExportError(f'{path}: expected an ONNX file, model.onnx, a GGUF file, or a folder with config.json and model.safetensors')
    published = path.is_dir() or path.suffix == '.gguf'
    config, arrays, blocks = (*read_folder(path), {}) if path.is_dir() else read_gguf(path) if published else (None, None, {})
    try:
        graph = graph_of(config, arrays, tokens) if published else read_onnx(path, shapes)
        graph.resolve()
        graph.require_finite()
        program = lower(graph, name)
        simplify(program)
        rows = table_rows(graph)
        program.text = next((index for index, each in enumerate(graph.inputs) if each in rows), None)
    except ExportError as error:
        raise ExportError(f'{path}: {error}') from None
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError, OverflowError, MemoryError) as error:
        raise ExportError(f'{path}: the model is damaged, or has what this exporter does not handle ({type(error).__name__}: {error})') from error
    for step in program.steps:
        rows = [blocks.get(digest(row)) for row in step.weight] if weights is None and blocks and isinstance(step, Linear) else [None]
        if None not in rows:
            step.format, step.blocks = 'int4', numpy.frombuffer(b''.join(rows), 'uint8').reshape(len(rows), -1)
        elif weights and isinstance(step, Linear) and (weights != 'int4' or step.weight.shape[1] % 32 == 0):
            step.format = weights
            most = numpy.abs(step.weight).max()
            if most > {'float16': 65504.0, 'int4': 524000.0}.get(weights, numpy.inf):
                raise ExportError(f'{path}: "{step.name}" has a weight of {most:g}, which {weights} does not hold')
    return program, graph


def sample_inputs(graph: Graph, samples: Any) -> List[List[Any]]:
    """Arrays of all inputs, for each sample."""
    if samples is None:
        return random_inputs(graph)
    try:
        read = numpy.load(samples, allow_pickle=False) if isinstance(samples, (str, pathlib.Path)) else samples
        read = {each: read[each] for each in read.files} if hasattr(read, 'files') else read
    except Exception as error:  # of numpy and of zip files, which have no common class
        raise ExportError(f'{samples}: this is no .npy or .npz file, or it is damaged: {error or type(error).__name__}') from None
    samples = read
    if not isinstance(samples, dict):
        if len(graph.inputs) > 1:
            raise ExportError(f'samples of one input, where the model has {", ".join(graph.inputs)}: give an .npz file with an array for each')
        samples = {next(iter(graph.inputs)): samples}
    arrays, rows = [], table_rows(graph)
    for name, shape in graph.inputs.items():
        if name not in samples:
            raise ExportError(f'there are no samples of input "{name}"')
        try:
            array = numpy.asarray(samples[name])
        except ValueError as error:
            raise ExportError(f'samples of input "{name}" are no array: {error}') from None
        inner = tuple(shape[1:] if shape[:1] == (1,) else shape)
        if array.ndim < 1 or len(array) < 1 or array.shape[1:] not in (inner, tuple(shape)):
            raise ExportError(f'samples of input "{name}" have the shape {list(array.shape)}; expected {["samples", *inner]}')
        if array.dtype.kind != graph.types[name].kind and not (array.dtype.kind in 'iu' and graph.types[name].kind in 'iu'):
            raise ExportError(f'samples of input "{name}" are {array.dtype}; expected {graph.types[name]}')
        with numpy.errstate(all='ignore'):
            array = array.astype({'f': 'float32', 'b': 'uint8'}.get(array.dtype.kind, 'int32'))
        if array.dtype.kind == 'f' and not (array < numpy.inf).all():  # -infinity masks a key
            raise ExportError(f'samples of input "{name}" have numbers that are not finite')
        flat = array.reshape(len(array), -1)
        if name in rows and (flat[:, :1].min() < 0 or ((flat[:, :-1] < 0) & (flat[:, 1:] >= 0)).any()):
            raise ExportError(f'samples of input "{name}" have -1 before a token; expected at least one token, and -1 only after the end of a text')
        if array.min() < -1 and name in rows or array.max() >= rows.get(name, numpy.inf):
            raise ExportError(f'samples of input "{name}" have rows {array.min()} to {array.max()} of a table that has {rows[name]}; expected these, '
                              'and -1 after the end of a text that is shorter')
        arrays.append(array.reshape((len(array),) + tuple(shape)))
    if len({len(array) for array in arrays}) > 1:
        raise ExportError('there are more samples of one input than of another')
    return [list(sample) for sample in zip(*arrays)]


def random_inputs(graph: Graph) -> List[List[Any]]:
    """Normal numbers; rows of the table that an input of whole numbers chooses from, otherwise 0 and 1, as masks have them; of one number up to 9,
    as numbers of tokens are."""
    random, rows = numpy.random.default_rng(0), table_rows(graph)
    draw = lambda name, shape: random.standard_normal(shape).astype('float32') if graph.types[name].kind == 'f' else \
        random.integers(0, rows.get(name, 10 if math.prod(shape) == 1 and graph.types[name].kind != 'b' else 2), shape).astype(
            'uint8' if graph.types[name].kind == 'b' else 'int32')
    return [[draw(name, shape) for name, shape in graph.inputs.items()] for _ in range(4)]


def table_rows(graph: Graph) -> Dict[str, int]:
    """Inputs that choose rows of a table, and how many it has."""
    return {node.inputs[1]: graph.constants[node.inputs[0]].shape[0] for node in graph.nodes
            if node.kind == 'Gather' and node.inputs[0] in graph.constants and graph.constants[node.inputs[0]].ndim == 2}
