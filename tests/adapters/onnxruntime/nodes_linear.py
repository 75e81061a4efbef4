"""Forms of LinearAttention and CausalConvWithState, in the domains of ONNX and of com.microsoft."""
import os
import pathlib
import sys

import numpy

from form import form
from model import DOMAIN, OPSET
from reference import Result

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import linear_cases as cases  # noqa: E402

# ONNX Runtime 1.30 says of opset 27 that it is not released yet, and loads it when it is asked to.
os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"
NEAR = 1e-5  # of the largest number


def add(case, domain, **options):
    name, kind, _, order, arrays, attributes, reference = case
    half = arrays[order[0]].dtype == numpy.float16
    results = [Result(exact, 2e-2 if half else NEAR * max(abs(exact).max(initial=1), 1), 2e-2 if half else NEAR * max(abs(exact).max(initial=1), 1)) for exact in
               reference(*[arrays.get(each) for each in order], **{each: value for each, value in attributes.items() if each != "ndim"})]
    form(name, kind, {each: arrays.get(each) for each in order}, results, attributes=attributes, domain=domain, opset=OPSET if domain else 27,
         left="float16" if half else None, free=bool(domain), **options)  # the runtime expands ONNX's nodes where it knows their extents


for case in [*cases.linear_cases(), *cases.conv_cases()]:
    half = case[4][case[3][0]].dtype == numpy.float16
    add(case, "")
    add(case, DOMAIN, shipped="has none for float16" if half else None)
for case in cases.microsoft_cases():
    add(case, DOMAIN)
# One head of the widths of Qwen3-Next, and rows of channels in blocks; heads of several queries, and of no tokens; an extent of 1 by head or by key.
large = {"batch": 1, "tokens": 70, "dim": 128, "width": 128}
for domain in ("", DOMAIN):
    add(cases.linear_case("128 by 128", heads=2, values=2, per_head=True, past=0.1, **large), domain)
    add(cases.linear_case("no tokens", tokens=0, past=0.5), domain, shipped=None if domain else "refuses no tokens")
    add(cases.linear_case("heads of one", "gated", dim=1, width=1), domain)
    add(cases.conv_case("wide and long", channels=70, length=150, width=3, bias=True, past=True, activation="silu"), domain)
    add(cases.conv_case("17 wide", channels=3, length=40, width=17, bias=True, past=True, activation="silu"), domain)
    add(cases.conv_case("decode of many channels", batch=1, channels=8200, length=1, past=True, activation="silu"), domain)
add(cases.linear_case("several queries", "delta", heads=8, values=2, keys=1, per_head=True), DOMAIN)
add(cases.linear_case("linear, shared", "linear", heads=2, values=6, keys=3), DOMAIN)
add(cases.conv_case("channels last", channels=70, length=150, bias=True, past=True, activation="silu", channels_last=1), DOMAIN)
add(cases.conv_case("channels last, 17 wide", channels=7, length=9, width=17, past=True, channels_last=1), DOMAIN)
add(cases.conv_case("channels last, 1 wide", channels=7, length=9, width=1, channels_last=1), DOMAIN)
