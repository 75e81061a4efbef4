#!/bin/sh
# Rows of the scoreboard, of PyTorch: tests/adapters/pytorch/invariance.sh CXX BUILD_DIR
#
# "PyTorch, what changes, as shipped, with Attend", with tabs between them: an encoder of torch.nn, of 6 layers of 384, and a decoder of 4 layers
# of 256, with random weights. `make lib` has made BUILD_DIR/libattend.a.
cxx=$1
build=$2/adapters/pytorch
python=${PYTHON:-/usr/bin/python3}
mkdir -p "$build"
CXX=$cxx sh bench/adapters/pytorch/build.sh "$build" "$python" "$2/libattend.a" >"$build/build.log" 2>&1 || { cat "$build/build.log" >&2; exit 1; }
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$build:tests/adapters/pytorch:tests/support "$python" tests/adapters/pytorch/invariance.py 2>"$build/invariance.log" || { cat "$build/invariance.log" >&2; exit 1; }
