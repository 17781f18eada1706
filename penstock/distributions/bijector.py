"""Transformations of random variables that can be undone, and how they change densities."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.shapes import TensorShape, as_shape

__all__ = ["Bijector"]


class Bijector:
    """A function with an inverse, and the logarithms of its Jacobian's determinant.

    A subclass defines `_forward`, `_inverse`, and `_forward_log_det_jacobian` or
    `_inverse_log_det_jacobian`; of the two, each is the other's negative.

    Args:
      graph_parents: the tensors that it is made of.
      is_constant_jacobian: whether the Jacobian does not depend on the argument.
      validate_args: whether to check arguments when the graph runs.
      dtype: the type of arguments; any if None.
      forward_min_event_ndims: the least number of dimensions that `forward` works on at once.
      inverse_min_event_ndims: the same for `inverse`.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Bijector:
        if cls is Bijector:
            raise TypeError(
                "Can't instantiate abstract class Bijector with abstract methods __init__"
            )
        return super().__new__(cls)

    def __init__(
        self,
        graph_parents: Sequence[Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: Any = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ):
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError(
                "Must specify at least one of `forward_min_event_ndims` and "
                "`inverse_min_event_ndims`."
            )
        if forward_min_event_ndims is None:
            forward_min_event_ndims = inverse_min_event_ndims
        if inverse_min_event_ndims is None:
            inverse_min_event_ndims = forward_min_event_ndims
        for count, which in (
            (forward_min_event_ndims, "forward_min_event_ndims"),
            (inverse_min_event_ndims, "inverse_min_event_ndims"),
        ):
            if not isinstance(count, (int, np.integer)):
                raise TypeError(f"Expected `{which}` to be an integer, got {type(count).__name__}")
            if count < 0:
                raise ValueError(f"{which} must be a non-negative integer.")
        for i, parent in enumerate(graph_parents or ()):
            if not isinstance(parent, (tf.Tensor, tf.Variable)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._graph_parents = list(graph_parents or ())
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._forward_min_event_ndims = forward_min_event_ndims
        self._inverse_min_event_ndims = inverse_min_event_ndims
        self._name = name or _snake_case(type(self).__name__.lstrip("_"))
        # What has been computed: the inverse of a result is the argument itself.
        self._argument_of: dict[Any, Any] = {}
        self._result_of: dict[Any, Any] = {}
        # Log determinants at arguments and at results, each with the number of its dimensions.
        self._forward_log_dets: dict[tuple[Any, Any], Any] = {}
        self._inverse_log_dets: dict[tuple[Any, Any], Any] = {}

    # Facts ------------------------------------------------------------------------------------

    @property
    def graph_parents(self) -> list[Any]:
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> Any:
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> Any:
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        return self._is_constant_jacobian

    @property
    def _is_injective(self) -> bool:
        return True

    @property
    def validate_args(self) -> bool:
        return self._validate_args

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def name(self) -> str:
        return self._name

    # Shapes -----------------------------------------------------------------------------------

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape of a result, as far as it is known."""
        return as_shape(self._forward_event_shape(as_shape(input_shape)))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The shape of an argument, as far as it is known."""
        return as_shape(self._inverse_event_shape(as_shape(output_shape)))

    def forward_event_shape_tensor(
        self, input_shape: Any, name: str = "forward_event_shape_tensor"
    ) -> Any:
        """The shape of a result."""
        with self._name_scope(name, [input_shape]):
            shape = tf.convert_to_tensor(input_shape, dtype=tf.int32, name="input_shape")
            return self._forward_event_shape_tensor(shape)

    def inverse_event_shape_tensor(
        self, output_shape: Any, name: str = "inverse_event_shape_tensor"
    ) -> Any:
        """The shape of an argument."""
        with self._name_scope(name, [output_shape]):
            shape = tf.convert_to_tensor(output_shape, dtype=tf.int32, name="output_shape")
            return self._inverse_event_shape_tensor(shape)

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape

    # The function -----------------------------------------------------------------------------

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented.")

    def forward(self, x: Any, name: str = "forward") -> Any:
        """The result for an argument."""
        with self._name_scope(name, [x]):
            x = self._argument(x, "x")
            if x not in self._result_of:
                y = self._forward(x)
                self._result_of[x] = y
                self._argument_of[y] = x
            return self._result_of[x]

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """The argument for a result."""
        with self._name_scope(name, [y]):
            y = self._argument(y, "y")
            if y not in self._argument_of:
                x = self._inverse(y)
                self._argument_of[y] = x
                self._result_of[x] = y
            return self._argument_of[y]

    def _argument(self, value: Any, name: str) -> Any:
        value = tf.convert_to_tensor(value, name=name, preferred_dtype=self.dtype)
        if self.dtype is not None and value.dtype.base_dtype != tf.as_dtype(self.dtype):
            raise TypeError(
                f"Input had dtype {value.dtype} but expected {tf.as_dtype(self.dtype)}."
            )
        return value

    # The Jacobian -----------------------------------------------------------------------------

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """The logarithm of the determinant at an argument, summed over an event's dimensions."""
        with self._name_scope(name, [x]):
            x = self._argument(x, "x")
            key = event_ndims if isinstance(event_ndims, Hashable) else str(event_ndims)
            known = self._forward_log_dets.get((x, key))
            if known is not None:
                return known
            undone = self._inverse_log_dets.get((self._result_of.get(x), key))
            if undone is not None:
                return -undone
            with self._checking_ndims(event_ndims, self.forward_min_event_ndims):
                log_det = self._new_forward_log_det(x, _known_ndims(event_ndims))
            self._forward_log_dets[x, key] = log_det
            return log_det

    def _new_forward_log_det(self, x: Any, event_ndims: Any) -> Any:
        if not self._is_injective:
            raise NotImplementedError(
                "forward_log_det_jacobian cannot be implemented for non-injective transforms."
            )
        if _has(self, "_forward_log_det_jacobian") or not _has(self, "_inverse_log_det_jacobian"):
            result = self._forward_log_det_jacobian(x)
            return self._over_event(x, result, self.forward_min_event_ndims, event_ndims)
        y = self.forward(x)
        ndims = event_ndims + self.inverse_min_event_ndims - self.forward_min_event_ndims
        return -self.inverse_log_det_jacobian(y, ndims)

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """The logarithm of the inverse's determinant at a result."""
        with self._name_scope(name, [y]):
            y = self._argument(y, "y")
            key = event_ndims if isinstance(event_ndims, Hashable) else str(event_ndims)
            known = self._inverse_log_dets.get((y, key))
            if known is not None:
                return known
            undone = self._forward_log_dets.get((self._argument_of.get(y), key))
            if undone is not None:
                return -undone
            with self._checking_ndims(event_ndims, self.inverse_min_event_ndims):
                log_det = self._new_inverse_log_det(y, _known_ndims(event_ndims))
            self._inverse_log_dets[y, key] = log_det
            return log_det

    def _new_inverse_log_det(self, y: Any, event_ndims: Any) -> Any:
        if not self._is_injective:  # one for each of the arguments that have this result
            return tuple(
                self._over_event(y, each, self.inverse_min_event_ndims, event_ndims)
                for each in self._inverse_log_det_jacobian(y)
            )
        if _has(self, "_inverse_log_det_jacobian") or not _has(self, "_forward_log_det_jacobian"):
            result = self._inverse_log_det_jacobian(y)
            return self._over_event(y, result, self.inverse_min_event_ndims, event_ndims)
        x = self.inverse(y)
        ndims = event_ndims + self.forward_min_event_ndims - self.inverse_min_event_ndims
        return -self.forward_log_det_jacobian(x, ndims)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _over_event(self, value: Any, log_det: Any, least: int, event_ndims: Any) -> Any:
        """A log determinant per `least` dimensions, summed to one per event."""
        if isinstance(event_ndims, int):
            axes: Any = [-i for i in range(1, event_ndims - least + 1)]
        else:
            axes = tf.range(-1, least - event_ndims - 1, -1)
        if self.is_constant_jacobian:
            rank = tf.rank(value)
            sizes = tf.shape(value)[rank - event_ndims : rank - least]
            log_det = tf.ones(sizes, log_det.dtype) * log_det
        return tf.reduce_sum(log_det, axis=axes)

    def _checking_ndims(self, event_ndims: Any, least: int) -> AbstractContextManager[None]:
        """Refuses a wrong number of dimensions: here, or else (`validate_args`) in the step."""
        ndims = tf.convert_to_tensor(event_ndims, name="event_ndims")
        if not ndims.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {ndims.dtype}")
        if ndims.shape.ndims:
            raise ValueError(f"Expected scalar event_ndims, got shape {ndims.shape}")
        known = constant_value(ndims)
        if known is not None and known < least:
            raise ValueError(
                f"event_ndims ({int(known)}) must be larger than min_event_ndims ({least})"
            )
        checks = []
        if self.validate_args and known is None:
            checks.append(tf.assert_greater_equal(ndims, least))
        if self.validate_args and ndims.shape.ndims is None:
            checks.append(tf.assert_rank(ndims, 0, message="Expected scalar."))
        context: AbstractContextManager[None] = tf.control_dependencies(checks)
        return context

    @contextmanager
    def _name_scope(self, name: str | None = None, values: Sequence[Any] = ()) -> Iterator[str]:
        with (
            tf.name_scope(self.name),
            tf.name_scope(name, values=[*values, *self.graph_parents]) as scope,
        ):
            yield scope


def _snake_case(name: str) -> str:
    words = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", words).lower()


def _has(bijector: Bijector, method: str) -> bool:
    return getattr(type(bijector), method) is not getattr(Bijector, method)


def _known_ndims(event_ndims: Any) -> Any:
    """The number of dimensions, as a Python number where it is known."""
    known = constant_value(tf.convert_to_tensor(event_ndims, name="event_ndims"))
    return event_ndims if known is None else int(known)
