#!/bin/sh
# Trains an example anew and exports it: bench/exporter/examples/train.sh NAME PACKAGE, the folder of the Python package. PYTHON= has torch and onnx.
name=$1 folder=bench/exporter/examples/$1 work=build/train-$1
export PYTHONPATH="$2" PYTHONDONTWRITEBYTECODE=1
case $name in anomaly | keywords) decoder=--decoder ;; esac
mkdir -p "$work" &&
  "$PYTHON" "$folder/train.py" "$work" &&
  "$PYTHON" -m attend export "$work/$name.onnx" --out "$work/model" --name "$name" --arithmetic int8 --calibrate "$work/calibration.npy" $decoder &&
  "$PYTHON" "${folder%/*}/pack.py" "$work/model" "$folder/model" &&
  { [ ! -e "$folder/train_linear.py" ] || { mkdir -p "$work/linear" && "$PYTHON" "$folder/train_linear.py" "$work/linear" && "$PYTHON" "${folder%/*}/pack.py" "$work/linear" "$folder/linear/model"; }; } &&
  cp "$work/$name.onnx" "$work/held_out.bin" "$folder/" && { [ ! -e "$work/$name.wav" ] || cp "$work/$name.wav" "$folder/"; }
