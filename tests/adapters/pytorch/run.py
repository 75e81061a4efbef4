"""Runs tests in one process, because PyTorch takes seconds to start: run.py TEST:ARGUMENT:… …

Tests are problems:COUNT, bits:small|full:COUNT, modules, refusals:COUNT and digest. Each says when it begins.
"""
import importlib
import sys

import torch

threads = torch.get_num_threads()
with torch.no_grad():
    for test in sys.argv[1:]:
        name, *arguments = test.split(':')
        print(f'begins {name}', flush=True)
        torch.set_num_threads(threads)
        importlib.import_module(name).main(*arguments)
