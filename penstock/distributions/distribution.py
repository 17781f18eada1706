"""What all distributions have in common: shapes, samples, and methods that follow from others."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.shapes import TensorShape, as_shape

__all__ = ["FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Distribution", "ReparameterizationType"]


class ReparameterizationType:
    """Whether gradients flow from samples to parameters; two instances say yes and no."""

    def __init__(self, rep_type: str):
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def _recording(init: Callable[..., None]) -> Callable[..., None]:
    """An `__init__` that keeps what it was called with, for `parameters` and `copy`."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def recorded(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        init(self, *args, **kwargs)
        given = dict(list(bound.arguments.items())[1:])
        given.update(given.pop("kwargs", {}))
        self._parameters = given

    # Programs ask inspect.getfullargspec, which doesn't look through decorators.
    recorded.__signature__ = signature  # type: ignore[attr-defined]
    return recorded


class Distribution:
    """A batch of distributions of one kind.

    A subclass defines `_sample_n`, `_log_prob` or `_prob`, `_cdf` or `_log_cdf`, `_mean`,
    `_variance` or `_stddev` and so on, as far as it can: a public method uses what there is.

    Args:
      dtype: The type of samples.
      reparameterization_type: FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED.
      validate_args: Whether to check parameters and arguments when the graph runs.
      allow_nan_stats: Whether an undefined statistic is NaN, or an error.
      graph_parents: The tensors that the distribution is made of.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = _recording(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: Sequence[Any] | None = None,
        name: str | None = None,
    ):
        for i, parent in enumerate(graph_parents or ()):
            if not isinstance(parent, (tf.Tensor, tf.Variable, tf.SparseTensor)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with tf.name_scope(name or type(self).__name__) as scope:
                name = scope
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters: dict[str, Any] = dict(parameters or {})
        self._graph_parents = list(graph_parents or ())
        self._name: str = name

    # Facts ------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name scope of the distribution."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The type of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What the distribution was made with."""
        return {
            key: value
            for key, value in self._parameters.items()
            if not key.startswith("__") and key != "self"
        }

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients flow through samples."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether an undefined statistic is NaN, and not an error."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and arguments are checked."""
        return self._validate_args

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> Any:
        """The shapes that parameters must have for samples of a shape, by their names."""
        with tf.name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """The same as static shapes."""
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        known = {key: constant_value(s) for key, s in cls.param_shapes(sample_shape).items()}
        if any(shape is None for shape in known.values()):
            raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
        return {key: TensorShape(shape.tolist()) for key, shape in known.items()}  # type: ignore[union-attr]

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Any:
        raise NotImplementedError("_param_shapes not implemented")

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A distribution of the same kind with some parameters replaced."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    # Shapes -----------------------------------------------------------------------------------

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch of distributions, as far as it is known."""
        return as_shape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one draw, as far as it is known."""
        return as_shape(self._event_shape())

    def _batch_shape(self) -> Any:
        return TensorShape(None)

    def _event_shape(self) -> Any:
        return TensorShape(None)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """The shape of the batch of distributions."""
        with self._name_scope(name):
            return self._shape_tensor(self.batch_shape, "_batch_shape_tensor", "batch_shape")

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """The shape of one draw."""
        with self._name_scope(name):
            return self._shape_tensor(self.event_shape, "_event_shape_tensor", "event_shape")

    def _shape_tensor(self, known: TensorShape, method: str, name: str) -> Any:
        if known.is_fully_defined():
            return tf.convert_to_tensor(known.as_list(), dtype=tf.int32, name=name)
        return self._own(method)()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Any:
        """Whether a draw is a number."""
        with self._name_scope(name):
            return self._is_scalar(self.event_shape, self.event_shape_tensor, "is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Any:
        """Whether there is one distribution, in a batch of no dimensions."""
        with self._name_scope(name):
            return self._is_scalar(self.batch_shape, self.batch_shape_tensor, "is_scalar_batch")

    def _is_scalar(self, known: TensorShape, dynamic: Callable[[], Any], name: str) -> Any:
        if known.ndims is not None:
            return tf.convert_to_tensor(known.ndims == 0, name=name)
        return tf.equal(tf.size(dynamic()), 0, name=name)

    # Samples ----------------------------------------------------------------------------------

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Any:
        """Draws of shape `sample_shape + batch_shape + event_shape`."""
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [sample_shape]):
            shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
            if shape.shape.ndims is not None and shape.shape.ndims > 1:
                raise ValueError("Input is neither scalar nor vector.")
            known = constant_value(shape)
            n = tf.reduce_prod(shape) if known is None else np.prod(known, dtype=np.int32)
            if known is not None and known.ndim == 0:
                shape = tf.convert_to_tensor(known[np.newaxis], name="sample_shape")
            elif shape.shape.ndims != 1:
                shape = tf.reshape(shape, [-1])
            drawn = self._own("_sample_n")(n, seed, **kwargs)
            drawn = tf.reshape(drawn, tf.concat([shape, tf.shape(drawn)[1:]], 0))
            sizes = None if known is None else known.reshape(-1).tolist()
            return self._set_sample_static_shape(drawn, TensorShape(sizes))

    def _set_sample_static_shape(self, x: Any, sample_shape: TensorShape) -> Any:
        parts = (sample_shape, self.batch_shape, self.event_shape)
        if all(part.ndims is not None for part in parts):
            whole = sample_shape.concatenate(self.batch_shape).concatenate(self.event_shape)
            x.set_shape(whole)
        return x

    # Probabilities ----------------------------------------------------------------------------

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """The logarithm of the density, or of the probability of a discrete value."""
        return self._call_log_prob(value, name)

    def prob(self, value: Any, name: str = "prob") -> Any:
        """The density, or the probability of a discrete value."""
        return self._call_prob(value, name)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Any:
        """The logarithm of the probability of at most `value`."""
        return self._call_log_cdf(value, name)

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """The probability of at most `value`."""
        return self._call_cdf(value, name)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Any:
        """The logarithm of the probability of more than `value`."""
        return self._call_log_survival_function(value, name)

    def survival_function(self, value: Any, name: str = "survival_function") -> Any:
        """The probability of more than `value`."""
        return self._call_survival_function(value, name)

    def quantile(self, value: Any, name: str = "quantile") -> Any:
        """The value with a cumulative probability of `value`."""
        return self._call_quantile(value, name)

    def _call_log_prob(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, "_log_prob", ("_prob", tf.log), kwargs)

    def _call_prob(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, "_prob", ("_log_prob", tf.exp), kwargs)

    def _call_log_cdf(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, "_log_cdf", ("_cdf", tf.log), kwargs)

    def _call_cdf(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, "_cdf", ("_log_cdf", tf.exp), kwargs)

    def _call_log_survival_function(self, value: Any, name: str, **kwargs: Any) -> Any:
        complement = ("cdf", lambda p: tf.log1p(-p))
        return self._of_value(value, name, "_log_survival_function", complement, kwargs)

    def _call_survival_function(self, value: Any, name: str, **kwargs: Any) -> Any:
        complement = ("cdf", lambda p: 1.0 - p)
        return self._of_value(value, name, "_survival_function", complement, kwargs)

    def _call_quantile(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, "_quantile", None, kwargs)

    def _of_value(
        self,
        value: Any,
        name: str,
        method: str,
        other: tuple[str, Callable[[Any], Any]] | None,
        kwargs: dict[str, Any],
    ) -> Any:
        """What a method gives for a value; where it is missing, a function of another's."""
        with self._name_scope(name, [value]):
            value = tf.convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            return self._either(method, other, value, **kwargs)

    # Statistics -------------------------------------------------------------------------------

    def entropy(self, name: str = "entropy") -> Any:
        """Shannon's entropy in nats."""
        with self._name_scope(name):
            return self._own("_entropy")()

    def mean(self, name: str = "mean") -> Any:
        """The mean."""
        with self._name_scope(name):
            return self._own("_mean")()

    def variance(self, name: str = "variance") -> Any:
        """The variance."""
        with self._name_scope(name):
            return self._either("_variance", ("_stddev", tf.square))

    def stddev(self, name: str = "stddev") -> Any:
        """The standard deviation."""
        with self._name_scope(name):
            return self._either("_stddev", ("_variance", tf.sqrt))

    def covariance(self, name: str = "covariance") -> Any:
        """The covariance of the components of a draw."""
        with self._name_scope(name):
            return self._own("_covariance")()

    def mode(self, name: str = "mode") -> Any:
        """The most probable value."""
        with self._name_scope(name):
            return self._own("_mode")()

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Any:
        """The cross entropy to another distribution."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Any:
        """The Kullback-Leibler divergence from another distribution."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    def _cross_entropy(self, other: Any) -> Any:
        from penstock.distributions.kullback_leibler import cross_entropy

        return cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def _kl_divergence(self, other: Any) -> Any:
        from penstock.distributions.kullback_leibler import kl_divergence

        return kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    # How methods are found --------------------------------------------------------------------

    def _own(self, method: str) -> Callable[..., Any]:
        """A method of the subclass; NotImplementedError where it has none."""
        found = getattr(self, method, None)
        if found is None:
            raise NotImplementedError(
                f"{method.lstrip('_')} is not implemented: {type(self).__name__}"
            )
        return found

    def _either(
        self,
        method: str,
        other: tuple[str, Callable[[Any], Any]] | None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        try:
            return self._own(method)(*args, **kwargs)
        except NotImplementedError:
            if other is None:
                raise
            try:
                return other[1](self._own(other[0])(*args, **kwargs))
            except NotImplementedError:
                pass
            raise

    @contextmanager
    def _name_scope(self, name: str | None = None, values: Sequence[Any] = ()) -> Iterator[str]:
        with (
            tf.name_scope(self.name),
            tf.name_scope(name, values=[*values, *self._graph_parents]) as scope,
        ):
            yield scope

    def __str__(self) -> str:
        parts = [f'"{self.name}"']
        if self.batch_shape.ndims is not None:
            parts.append(f"batch_shape={self.batch_shape}")
        if self.event_shape.ndims is not None:
            parts.append(f"event_shape={self.event_shape}")
        return f"tfp.distributions.{type(self).__name__}({', '.join(parts)}, dtype={self._type})"

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' "
            f"batch_shape={self.batch_shape} event_shape={self.event_shape} dtype={self._type}>"
        )

    @property
    def _type(self) -> str:
        return str(tf.as_dtype(self.dtype).name)
