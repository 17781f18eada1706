"""Dimensions and vectors of images in another order of the dimensions."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.registry import not_differentiable, op, types
from penstock.ir.type_sets import INDEX
from penstock.shapes import Shape

_ATTRS: dict[str, Any] = {
    "T": types(INDEX, default=dtypes.int32),
    "src_format": "NHWC",
    "dst_format": "NCHW",
}

DataFormatDimMap = op("DataFormatDimMap(x: T) -> y: T", **_ATTRS)
DataFormatVecPermute = op("DataFormatVecPermute(x: T) -> y: T", **_ATTRS)
not_differentiable(DataFormatDimMap, DataFormatVecPermute)


@DataFormatDimMap.shape
@DataFormatVecPermute.shape
def _(op: Any, x: Shape) -> Shape:
    return x
