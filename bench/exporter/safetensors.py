"""Reads a model as its authors publish it: config.json and model.safetensors in one folder."""
import json
import pathlib
from typing import Any, Dict, Tuple

import numpy

from .errors import ExportError

TYPES = {'F64': 'float64', 'F32': 'float32', 'F16': 'float16', 'BF16': 'uint16', 'I64': 'int64', 'I32': 'int32', 'U8': 'uint8', 'BOOL': 'bool'}
MOST_HEADER = 100 << 20


def read_tensors(path: pathlib.Path) -> Dict[str, Any]:
    """Arrays by name; bfloat16 as float32."""
    try:
        data = path.read_bytes()
        length = int.from_bytes(data[:8], 'little')
        if not 2 <= length <= min(MOST_HEADER, len(data) - 8):
            raise ValueError(f'a header of {length} bytes in a file of {len(data)}')
        header, body = json.loads(data[8:8 + length]), memoryview(data)[8 + length:]
        header.pop('__metadata__', None)
        return {name: _array(each, body) for name, each in header.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ExportError(f'{path}: this is no safetensors file, or it is damaged: {error}') from None


def _array(entry: Any, body: Any) -> Any:
    kind, (begin, end) = numpy.dtype(TYPES[entry['dtype']]), entry['data_offsets']
    shape = [int(size) for size in entry['shape']]
    count = int(numpy.prod(shape, dtype=object)) if shape else 1
    if not 0 <= begin <= end <= len(body) or min(shape, default=1) < 0 or count * kind.itemsize != end - begin:
        raise ValueError(f'an array of shape {shape} in bytes {begin} to {end} of {len(body)}')
    array = numpy.frombuffer(body[begin:end], kind).reshape(shape).copy()  # its address in the file is any
    return (array.astype(numpy.uint32) << 16).view(numpy.float32) if entry['dtype'] == 'BF16' else array


def read_folder(folder: pathlib.Path) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The configuration, and the arrays."""
    for name in ('config.json', 'model.safetensors'):
        if not (folder / name).is_file():
            raise ExportError(f'{folder} has no {name}: expected a folder with config.json and model.safetensors')
    try:
        config = json.loads((folder / 'config.json').read_text())
    except (ValueError, OSError, RecursionError) as error:
        raise ExportError(f'{folder / "config.json"}: this is no JSON: {error}') from None
    if not isinstance(config, dict):
        raise ExportError(f'{folder / "config.json"}: expected an object')
    return config, read_tensors(folder / 'model.safetensors')
