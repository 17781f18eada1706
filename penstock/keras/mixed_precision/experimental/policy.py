"""Policies: in which types layers keep variables, and in which they compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock import dtypes
from penstock.client import mixed_precision_state
from penstock.keras.backend.config import floatx
from penstock.keras.dtype_behavior import v2_dtype_behavior_enabled
from penstock.platform import logging
from penstock.train import loss_scale as loss_scales

__all__ = ["Policy", "global_policy", "policy_scope", "set_policy", "with_input_dtype"]

USE_DEFAULT = "USE_DEFAULT"
_FLOAT32_VARIABLES = "_with_float32_vars"
_MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}


class Policy:
    """The types of a layer; give it as the layer's `dtype`.

    Args:
      name: "mixed_float16" or "mixed_bfloat16" for layers that compute in 16 bits and keep float32
        variables; the name of a type for layers that do both in it; "infer" for the type of the
        inputs. "_with_float32_vars" behind the latter two keeps variables in float32.
      loss_scale: a `tf.train.experimental.LossScale`, number or "dynamic", which models train with;
        "dynamic" by default for "mixed_float16".
    """

    def __init__(self, name: Any, loss_scale: Any = USE_DEFAULT):
        if isinstance(name, dtypes.DType):
            raise TypeError(
                f"'name' must be a string, not a DType. Instead, pass DType.name. Got: {name.name}"
            )
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, but got: {name}")
        name = {
            "infer_float32_vars": "infer_with_float32_vars",
            "float32_with_float32_vars": "float32",
        }.get(name, name)
        self._name: str = name
        self._compute_dtype, self._variable_dtype = _types_of(name)
        if loss_scale == USE_DEFAULT:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        if loss_scale and self._compute_dtype not in (None, "float16"):
            logging.warn(
                "Creating a Policy with a loss scale is only useful for float16 policies. You "
                "passed loss_scale=%r for policy %s. Consider not passing any loss_scale instead.",
                loss_scale,
                name,
            )
        self._loss_scale = loss_scales.get(loss_scale)

    @property
    def name(self) -> str:
        return self._name

    @property
    def variable_dtype(self) -> str | None:
        """The type of variables; None for that of the inputs."""
        return self._variable_dtype

    @property
    def compute_dtype(self) -> str | None:
        """The type that is computed in; None for that of the inputs."""
        return self._compute_dtype

    @property
    def should_cast_variables(self) -> bool:
        """Whether variables are kept in another type than is computed in."""
        return self.variable_dtype != self.compute_dtype

    @property
    def loss_scale(self) -> Any:
        """The `LossScale` of models, or None."""
        return self._loss_scale

    def __repr__(self) -> str:
        return f'<Policy "{self._name}", loss_scale={self.loss_scale}>'


def _types_of(name: str) -> tuple[str | None, str | None]:
    if name in _MIXED:
        return _MIXED[name], "float32"
    base = name.removesuffix(_FLOAT32_VARIABLES)
    try:
        dtype = None if base == "infer" else dtypes.as_dtype(base).name
    except TypeError:
        more = ""
        if base != name:
            more = (
                f" The value {name} ends with {_FLOAT32_VARIABLES}, but {base} cannot be converted "
                "to a DType"
            )
        raise ValueError(
            f"Cannot convert value {name} to a mixed precision Policy. Valid policies include "
            'include those in the form "<dtype>" and "<dtype>_with_float32_vars", where <dtype> is '
            f"the name of a dtype.{more}"
        ) from None
    return dtype, dtype if base == name else "float32"


def with_input_dtype(policy: Policy, dtype: Any) -> Policy:
    """What an "infer" policy becomes for inputs of a type."""
    assert not policy.compute_dtype
    name = dtypes.as_dtype(dtype).name
    return Policy(name if policy.variable_dtype is None else name + _FLOAT32_VARIABLES)


class _Global:
    """The policy that the program set, or None."""

    policy: Policy | None = None


def global_policy() -> Policy:
    """The policy of layers that are given none."""
    if _Global.policy is None:
        return Policy(floatx() if v2_dtype_behavior_enabled() else "infer")
    return _Global.policy


def policy_defaults_to_floatx() -> bool:
    """Whether layers that are given no policy have the type `floatx()`."""
    return _Global.policy is None and v2_dtype_behavior_enabled()


def set_policy(policy: Policy | str | None) -> None:
    """Sets the policy of layers that are given none."""
    if mixed_precision_state.mixed_precision_graph_rewrite_is_enabled:
        raise ValueError(
            "The mixed precision policy cannot be set, because the mixed precision graph rewrite "
            "has already been enabled. At most, one of the following functions can be called: "
            "tf.train.experimental.enable_mixed_precision_graph_rewrite() and "
            "tf.keras.mixed_precision.experimental.set_policy()"
        )
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy(policy)
    if policy and not v2_dtype_behavior_enabled() and policy.compute_dtype:
        raise ValueError("The global policy can only be set to a non-infer policy in TensorFlow 2")
    _Global.policy = policy
    mixed_precision_state.using_default_mixed_precision_policy = policy is None


@contextmanager
def policy_scope(policy: Policy | str | None) -> Iterator[None]:
    """A block with another global policy."""
    before = _Global.policy
    try:
        set_policy(policy)
        yield
    finally:
        set_policy(before)
