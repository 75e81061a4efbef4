"""The library of operators, which lies beside this file, loaded once."""
import os

import torch

library = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'libattend_torch.so')
try:
    torch.ops.load_library(library)
except OSError as error:
    raise ImportError(f'{library} does not load into PyTorch {torch.__version__}, for which it has to be built by '
                      f'bench/adapters/pytorch/build.sh: {error}') from error
