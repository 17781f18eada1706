"""The updates of optimizers: one operation per rule, for a variable and its slots.

Each rule comes in up to four forms: for variables by reference and behind handles (Resource…), with
a dense gradient and with the rows `grad` at `indices` (Sparse…). They have no public functions:
`penstock.train` builds on them.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, WRITES, OpSpec, op
from penstock.ir.type_sets import INDEX, NUMERIC
from penstock.ops.resource_variables import handle_shape
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_least
from penstock.shapes import Shape

_GRADIENTS = ("grad", "delta")
# Behind handles TensorFlow leaves the check of a gradient's shape to the step, but for these.
_CHECKED_WHEN_BUILT = ("ResourceApplyGradientDescent", "ResourceApplyProximalAdagrad")
_TYPES = {"indices": "Tindices", "global_step": "int64"}


def _referenced(rule: str, variables: str, values: str, attrs: dict[str, Any]) -> OpSpec:
    arguments = [f"{name}: &T" for name in variables.split()] + _typed(values)
    spec = op(f"{rule}({', '.join(arguments)}) -> out: &T", WRITES, **attrs)
    spec.shape(_checked)
    return spec


def _behind_handles(rule: str, variables: str, values: str, attrs: dict[str, Any]) -> OpSpec:
    arguments = [f"{name}: resource" for name in variables.split()] + _typed(values)
    spec = op(f"Resource{rule}({', '.join(arguments)})", STATEFUL, WRITES, **attrs)
    spec.shape(_checked)
    return spec


def _typed(values: str) -> list[str]:
    return [f"{name}: {_TYPES.get(name, 'T')}" for name in values.split()]


def _attrs(values: str, extra: dict[str, Any]) -> dict[str, Any]:
    attrs: dict[str, Any] = {"T": NUMERIC}
    if "indices" in values.split():
        attrs["Tindices"] = INDEX
    return {**attrs, "use_locking": False, **extra}


def _update(rule: str, variables: str, values: str, **attrs: Any) -> tuple[OpSpec, OpSpec]:
    """Registers a rule's operation for references and the one for handles."""
    common = _attrs(values, attrs)
    return (
        _referenced(rule, variables, values, common),
        _behind_handles(rule, variables, values, common),
    )


def _checked(op: Operation, *given: Shape) -> Shape:
    """The shape rule of all of them: variables and gradient are alike, the rest are scalars."""
    variable: Shape = None
    gradient: Shape = None
    indices: Shape = None
    for arg, shape, tensor in zip(op.spec.inputs, given, op.inputs, strict=True):
        if arg.is_ref:
            variable = merge_shapes(variable, shape)
        elif arg.dtype is dtypes.resource:
            variable = merge_shapes(variable, handle_shape(tensor))
        elif arg.name in _GRADIENTS:
            gradient = shape
        elif arg.name == "indices":
            indices = with_rank(shape, 1)
        else:
            with_rank(shape, 0)
    if not op.spec.inputs[0].is_ref and op.spec.name not in _CHECKED_WHEN_BUILT:
        return None
    if "Tindices" not in op.spec.attrs:
        return merge_shapes(variable, gradient)
    return _checked_rows(variable, gradient, indices)


def _checked_rows(variable: Shape, gradient: Shape, indices: Shape) -> Shape:
    with_rank_at_least(gradient, 1)
    if variable is not None and gradient is not None:
        merge_shapes(variable[1:], gradient[1:])
    if gradient is not None and indices is not None:
        merge_shapes(gradient[:1], indices)
    return variable


# Dense gradients ------------------------------------------------------------------------------

ApplyGradientDescent, ResourceApplyGradientDescent = _update(
    "ApplyGradientDescent", "var", "alpha delta"
)
ApplyProximalGradientDescent, ResourceApplyProximalGradientDescent = _update(
    "ApplyProximalGradientDescent", "var", "alpha l1 l2 delta"
)
ApplyMomentum, ResourceApplyMomentum = _update(
    "ApplyMomentum", "var accum", "lr grad momentum", use_nesterov=False
)
ResourceApplyKerasMomentum = _behind_handles(
    "ApplyKerasMomentum",
    "var accum",
    "lr grad momentum",
    _attrs("", {"use_nesterov": False}),
)
ApplyAdagrad, ResourceApplyAdagrad = _update(
    "ApplyAdagrad", "var accum", "lr grad", update_slots=True
)
ApplyAdagradV2, ResourceApplyAdagradV2 = _update(
    "ApplyAdagradV2", "var accum", "lr epsilon grad", update_slots=True
)
ApplyProximalAdagrad, ResourceApplyProximalAdagrad = _update(
    "ApplyProximalAdagrad", "var accum", "lr l1 l2 grad"
)
ApplyAdagradDA, ResourceApplyAdagradDA = _update(
    "ApplyAdagradDA",
    "var gradient_accumulator gradient_squared_accumulator",
    "grad lr l1 l2 global_step",
)
ApplyAdadelta, ResourceApplyAdadelta = _update(
    "ApplyAdadelta", "var accum accum_update", "lr rho epsilon grad"
)
ApplyRMSProp, ResourceApplyRMSProp = _update(
    "ApplyRMSProp", "var ms mom", "lr rho momentum epsilon grad"
)
ApplyCenteredRMSProp, ResourceApplyCenteredRMSProp = _update(
    "ApplyCenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad"
)
ApplyAdam, ResourceApplyAdam = _update(
    "ApplyAdam",
    "var m v",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    use_nesterov=False,
)
ResourceApplyAdamWithAmsgrad = _behind_handles(
    "ApplyAdamWithAmsgrad",
    "var m v vhat",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    _attrs("", {}),
)
ApplyAdaMax, ResourceApplyAdaMax = _update(
    "ApplyAdaMax", "var m v", "beta1_power lr beta1 beta2 epsilon grad"
)
ApplyFtrl, ResourceApplyFtrl = _update(
    "ApplyFtrl", "var accum linear", "grad lr l1 l2 lr_power", multiply_linear_by_lr=False
)
ApplyFtrlV2, ResourceApplyFtrlV2 = _update(
    "ApplyFtrlV2",
    "var accum linear",
    "grad lr l1 l2 l2_shrinkage lr_power",
    multiply_linear_by_lr=False,
)
ApplyAddSign, ResourceApplyAddSign = _update(
    "ApplyAddSign", "var m", "lr alpha sign_decay beta grad"
)
ApplyPowerSign, ResourceApplyPowerSign = _update(
    "ApplyPowerSign", "var m", "lr logbase sign_decay beta grad"
)

# Rows of gradients ----------------------------------------------------------------------------

SparseApplyProximalGradientDescent, ResourceSparseApplyProximalGradientDescent = _update(
    "SparseApplyProximalGradientDescent", "var", "alpha l1 l2 grad indices"
)
SparseApplyMomentum, ResourceSparseApplyMomentum = _update(
    "SparseApplyMomentum", "var accum", "lr grad indices momentum", use_nesterov=False
)
ResourceSparseApplyKerasMomentum = _behind_handles(
    "SparseApplyKerasMomentum",
    "var accum",
    "lr grad indices momentum",
    _attrs("indices", {"use_nesterov": False}),
)
SparseApplyAdagrad, ResourceSparseApplyAdagrad = _update(
    "SparseApplyAdagrad", "var accum", "lr grad indices", update_slots=True
)
SparseApplyAdagradV2, ResourceSparseApplyAdagradV2 = _update(
    "SparseApplyAdagradV2", "var accum", "lr epsilon grad indices", update_slots=True
)
SparseApplyProximalAdagrad, ResourceSparseApplyProximalAdagrad = _update(
    "SparseApplyProximalAdagrad", "var accum", "lr l1 l2 grad indices"
)
SparseApplyAdagradDA, ResourceSparseApplyAdagradDA = _update(
    "SparseApplyAdagradDA",
    "var gradient_accumulator gradient_squared_accumulator",
    "grad indices lr l1 l2 global_step",
)
SparseApplyAdadelta, ResourceSparseApplyAdadelta = _update(
    "SparseApplyAdadelta", "var accum accum_update", "lr rho epsilon grad indices"
)
SparseApplyRMSProp, ResourceSparseApplyRMSProp = _update(
    "SparseApplyRMSProp", "var ms mom", "lr rho momentum epsilon grad indices"
)
SparseApplyCenteredRMSProp, ResourceSparseApplyCenteredRMSProp = _update(
    "SparseApplyCenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad indices"
)
SparseApplyFtrl, ResourceSparseApplyFtrl = _update(
    "SparseApplyFtrl",
    "var accum linear",
    "grad indices lr l1 l2 lr_power",
    multiply_linear_by_lr=False,
)
SparseApplyFtrlV2, ResourceSparseApplyFtrlV2 = _update(
    "SparseApplyFtrlV2",
    "var accum linear",
    "grad indices lr l1 l2 l2_shrinkage lr_power",
    multiply_linear_by_lr=False,
)
