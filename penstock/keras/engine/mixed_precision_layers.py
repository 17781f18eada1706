"""Layers and models with a policy of types: `tf.keras.mixed_precision`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import penstock as tf
from penstock.ir.auto_casts import read_dtype, reading_as
from penstock.keras.mixed_precision.experimental import policy as policies
from penstock.keras.mixed_precision.experimental.policy import Policy
from penstock.layers.core_layer import make_variable
from penstock.platform import logging


def settled_policy(dtype: Any) -> Policy | None:
    """The policy of a layer that is given a type or a policy; None if it is a plain type."""
    if isinstance(dtype, Policy):
        return dtype
    return policies.global_policy() if dtype is None else None


class MixedPrecision:
    """What a layer does with its policy."""

    _given_policy: Policy | None = None
    _autocast = False

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What the layer has that this is mixed into."""

    @property
    def _dtype_policy(self) -> Policy:
        given = self._given_policy
        if given is not None and given.variable_dtype == self._dtype_name:
            return given
        return Policy(self._dtype_name or "infer")

    @_dtype_policy.setter
    def _dtype_policy(self, policy: Policy) -> None:
        self._given_policy = policy
        self._dtype_name = policy.variable_dtype

    @property
    def _is_mixed(self) -> bool:
        """Whether variables are kept in another type than is computed in."""
        return self._given_policy is not None and self._given_policy.should_cast_variables

    @property
    def _compute_dtype(self) -> str | None:
        """The name of the type that the layer computes in; None if that is up to its inputs."""
        if self._is_mixed:
            assert self._given_policy is not None
            return self._given_policy.compute_dtype
        name: str | None = self._dtype_name
        return name

    def _infer_policy(self, inputs: Any) -> None:
        """Settles a policy that leaves the type to the inputs, but not that of variables."""
        given = self._given_policy
        leaves = tf.nest.flatten(inputs)
        if self._is_mixed and leaves and given is not None and given.compute_dtype is None:
            self._given_policy = policies.with_input_dtype(given, leaves[0].dtype.base_dtype)

    def _cast_reads_of_weights(self, arguments: dict[str, Any]) -> None:
        """Lets a new weight be read in the type that is computed in, where that is another one."""
        if not arguments.pop("experimental_autocast", True) or not self._is_mixed:
            return
        from penstock.keras.mixed_precision.experimental.autocast_variable import auto_cast

        make = arguments.get("getter", make_variable)
        arguments["getter"] = lambda *args, **kwargs: auto_cast(make(*args, **kwargs))

    def _computing(self) -> AbstractContextManager[Any]:
        """The block of a call: weights are read in the layer's own type, not an outer layer's."""
        if not self._is_mixed and read_dtype() is None:
            return nullcontext()
        name = self._compute_dtype
        dtype = None if name is None else tf.as_dtype(name)
        return reading_as(dtype if dtype is not None and dtype.is_floating else None)

    def _cast_inputs(self, inputs: Any) -> Any:
        name = self._compute_dtype
        if not self._autocast or name is None or not tf.as_dtype(name).is_floating:
            return inputs
        wanted = tf.as_dtype(name)
        return tf.nest.map_structure(lambda each: _cast_if_real(each, wanted), inputs)


def _cast_if_real(value: Any, dtype: Any) -> Any:
    is_real = isinstance(value, (tf.Tensor, tf.SparseTensor)) and value.dtype.is_floating
    return tf.cast(value, dtype) if is_real and value.dtype.base_dtype != dtype else value


def with_loss_scale(optimizer: Any, policy: Policy) -> Any:
    """The optimizer of a model, with the loss scale that the model's policy has."""
    from penstock.keras.mixed_precision.experimental.loss_scale_optimizer import LossScaleOptimizer
    from penstock.keras.optimizers.base import OptimizerV2

    scale = policy.loss_scale
    if scale is None:
        return optimizer
    if isinstance(optimizer, LossScaleOptimizer):
        if optimizer.loss_scale != scale:
            logging.warning(
                "LossScale of LossScaleOptimizer passed to compile (%s) is not the same as the "
                "dtype policy's loss scale (%s). Because the dtype policy has a loss scale, you "
                "should pass an optimizer that is not wrapped with a LossScaleOptimizer,",
                optimizer.loss_scale,
                scale,
            )
        return optimizer
    if isinstance(optimizer, list):
        raise ValueError(
            "When a dtype policy with a loss scale is used, you can only pass a single optimizer. "
            f"Using policy {policy} and got optimizers: {optimizer}"
        )
    if not isinstance(optimizer, OptimizerV2):
        raise ValueError(
            '"optimizer" must be an instance of tf.keras.optimizers.Optimizer when a dype policy '
            f"with a loss scale  used, but got: {optimizer}. Using policy: {policy}"
        )
    return LossScaleOptimizer(optimizer, scale)
