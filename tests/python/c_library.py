"""The shared library that the first argument names, as `attend`, with the constants, structs and functions that its headers declare, as `c`."""
import ctypes
import pathlib
import sys
import types

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(root / 'bench/packages'))
import c_to_ctypes

c = types.ModuleType('c')
exec(c_to_ctypes.module(root, ''), c.__dict__)
attend = ctypes.CDLL(sys.argv[1])
c.declare(attend)
