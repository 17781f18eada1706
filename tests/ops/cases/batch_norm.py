"""Fused batch normalization."""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, bf16, f16, f32

NOTHING = array([], "float32")
VERSIONS = ("", "V2", "V3")
FIXED = {"is_training": False}
AVERAGED = {"exponential_avg_factor": 0.3}


def _positive(*shape: int) -> np.ndarray:
    return f32(*shape, lo=0.5, hi=2.0)


def _forward(version: str, x: np.ndarray, attrs: dict[str, Any], label: str, **more: Any) -> Case:
    depth = x.shape[-1]
    fixed = attrs.get("is_training") is False or "exponential_avg_factor" in attrs
    statistics = (f32(depth), _positive(depth)) if fixed else (NOTHING, NOTHING)
    inputs = (x, _positive(depth), f32(depth), *statistics)
    # TensorFlow leaves the space that it reserves for the gradient as it is where it needs none.
    used = (0, 1, 2) if attrs.get("is_training") is False else (0, 1, 2, 3, 4)
    more = {"outputs": used, "grad": (0, 1, 2), **more}
    return Case(f"FusedBatchNorm{version}", inputs, attrs, label, **more)


def _backward(version: str, attrs: dict[str, Any], label: str) -> Case:
    reserved = (f32(3), _positive(3), *((NOTHING,) if version == "V3" else ()))
    inputs = (f32(2, 3, 2, 3), f32(2, 3, 2, 3), _positive(3), *reserved)
    return Case(f"FusedBatchNormGrad{version}", inputs, attrs, label, outputs=(0, 1, 2), grad=False)


CASES = [
    *(_forward(version, f32(4, 3, 2, 3), {}, "training") for version in VERSIONS),
    *(_forward(version, f32(4, 3, 2, 3), FIXED, "inference") for version in VERSIONS),
    *(_backward(version, {}, "training") for version in VERSIONS),
    *(_backward(version, FIXED, "inference") for version in VERSIONS),
    _forward("V3", f32(4, 3, 2, 3), {"epsilon": 0.5}, "epsilon"),
    _forward("V3", f32(4, 3, 2, 3), AVERAGED, "moving averages", grad=False),
    _forward("V3", f32(1, 1, 1, 3), {}, "one element", grad=False, atol=1e-5),
    _forward("V3", f32(0, 3, 2, 3), {}, "no images", grad=False),
    _forward("V3", f16(4, 3, 2, 3), {}, "half", rtol=2e-3, grad=False),
    _forward("V3", bf16(4, 3, 2, 3), {}, "bfloat16", grad=False),
    _forward("V3", f32(2, 3, 2, 2, 3), {"data_format": "NDHWC"}, "volumes"),
    Case("FusedBatchNormV3", (f32(2, 3, 3), *[f32(3)] * 4), label="rank", fails=True),
    Case("FusedBatchNormV3", (f32(2, 3, 3, 4), *[f32(3)] * 4), label="channels", fails=True),
]
