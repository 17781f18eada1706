"""Types that ops have no kernel for on a GPU: there ATen lacks code that it has for the host.

A kernel is registered for an op type as a whole; this is what is left out of that for GPUs.
"""

from __future__ import annotations

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.registry import CONTROL_FLOW
from penstock.ir.step_graph import Node
from penstock.ir.type_sets import COMPLEX, INTEGER, QUANTIZED

_NOWHERE = frozenset({dtypes.uint16, dtypes.uint32, dtypes.uint64, *QUANTIZED})
# Ops that pass values on without a look at them.
_PASS_ON = frozenset(
    "Identity IdentityN Const Placeholder PlaceholderV2 PlaceholderWithDefault StopGradient "
    "PreventGradient Snapshot NoOp".split()
)

_PRODUCTS = (
    "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 SparseMatMul Einsum SparseTensorDenseMatMul "
    "Conv2D Conv2DBackpropInput Conv2DBackpropFilter Conv3D Conv3DBackpropInput "
    "Conv3DBackpropInputV2 Conv3DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNative "
    "DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter"
)
_POOLS = (
    "MaxPool MaxPoolV2 MaxPoolGrad MaxPoolGradV2 MaxPoolGradGrad MaxPoolGradGradV2 "
    "MaxPoolWithArgmax MaxPoolGradWithArgmax MaxPoolGradGradWithArgmax MaxPool3D MaxPool3DGrad "
    "MaxPool3DGradGrad AvgPool AvgPoolGrad AvgPool3D AvgPool3DGrad Dilation2D "
    "Dilation2DBackpropInput Dilation2DBackpropFilter"
)
_ROW_PRODUCTS = "SegmentProd UnsortedSegmentProd"

_MISSING: dict[str, frozenset[DType]] = {
    **dict.fromkeys((_PRODUCTS + " " + _POOLS).split(), frozenset(INTEGER)),
    **dict.fromkeys(_ROW_PRODUCTS.split(), frozenset(COMPLEX)),
}


def has_gpu_types(node: Node) -> bool:
    """Whether a node's types are such that its op, if it has a kernel for GPUs, has one for it."""
    if node.type in _PASS_ON or CONTROL_FLOW in node.spec.traits:
        return True
    missing = _MISSING.get(node.type)
    if missing and not missing.isdisjoint(node.attrs.get(key) for key in ("T", "Ta", "Tb")):
        return False
    if any(kept in _NOWHERE for kept in (node.attrs.get("dtype"), *node.dtypes)):
        return False
    return not any(edge.dtype.base_dtype in _NOWHERE for edge in node.inputs)
