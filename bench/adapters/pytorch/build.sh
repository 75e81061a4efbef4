#!/bin/sh
# Builds attend_torch for the PyTorch of an interpreter: sh bench/adapters/pytorch/build.sh FOLDER [PYTHON] [LIBRARY], from the project's top.
#
# FOLDER/attend_torch is then a package: PYTHONPATH=FOLDER python3 -c 'import attend_torch'. CXX: the compiler, g++ by default. LIBRARY:
# libattend.a, which is made if it is not given. ADAPTER_FLAGS= has more flags.
set -e
folder=${1:?the folder that attend_torch is built in}
python=${2:-python3}
library=$3
cxx=${CXX:-g++}
if [ -z "$library" ]; then
  make lib CXX="$cxx" BUILD="$folder/library"
  library=$folder/library/libattend.a
fi
mkdir -p "$folder/attend_torch"
cp bench/adapters/pytorch/attend_torch/*.py "$folder/attend_torch/"
# Paths of PyTorch's headers and libraries, and which of the two forms of std::string it was compiled with.
flags=$("$python" - <<'END'
import torch
from torch.utils.cpp_extension import include_paths, library_paths
paths = include_paths()
libraries = library_paths()
print(' '.join([f'-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}'] + [f'-isystem {path}' for path in paths] +
               [f'-L{path}' for path in libraries]))
END
)
# shellcheck disable=SC2086
$cxx -std=c++17 -O2 -DAT_PER_OPERATOR_HEADERS -fPIC -shared -fopenmp -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude \
  ${ADAPTER_FLAGS:-}   bench/adapters/pytorch/operators.cpp "$library" $flags -ltorch_cpu -lc10 -o "$folder/attend_torch/libattend_torch.so"
