"""Bijectors of numbers, and those that combine others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.distributions.bijector import Bijector

__all__ = [
    "AffineScalar",
    "Chain",
    "Exp",
    "Gumbel",
    "Identity",
    "Inline",
    "Invert",
    "Kumaraswamy",
    "PowerTransform",
    "Sigmoid",
    "SinhArcsinh",
    "Softplus",
    "Softsign",
    "Square",
    "Weibull",
]


class _Elementwise(Bijector):
    """A function of each number."""

    def __init__(
        self,
        validate_args: bool = False,
        name: str | None = None,
        graph_parents: Sequence[Any] | None = None,
        is_constant_jacobian: bool = False,
    ):
        super().__init__(
            graph_parents=graph_parents,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            forward_min_event_ndims=0,
            name=name,
        )

    def _checked(self, assertion: Callable[[], Any], value: Any) -> Any:
        if not self.validate_args:
            return value
        with tf.control_dependencies([assertion()]):
            return tf.identity(value)


class Identity(_Elementwise):
    """`y = x`."""

    def __init__(self, validate_args: bool = False, name: str = "identity"):
        super().__init__(validate_args, name, is_constant_jacobian=True)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0.0, dtype=x.dtype)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.constant(0.0, dtype=y.dtype)


class PowerTransform(_Elementwise):
    """`y = (1 + power * x) ** (1 / power)`, and `exp(x)` for a power of 0."""

    def __init__(
        self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform"
    ):
        if power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = power
        super().__init__(validate_args, name)

    @property
    def power(self) -> float:
        return self._power

    def _forward(self, x: Any) -> Any:
        if self.power == 0:
            return tf.exp(x)
        x = self._checked(lambda: tf.assert_non_negative(1.0 + x * self.power), x)
        return tf.exp(tf.log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        y = self._checked(lambda: tf.assert_positive(y), y)
        if self.power == 0:
            return tf.log(y)
        return tf.expm1(tf.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._checked(lambda: tf.assert_positive(y), y)
        return (self.power - 1.0) * tf.log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.power == 0:
            return tf.identity(x)
        return (1.0 / self.power - 1.0) * tf.log1p(x * self.power)


class Exp(PowerTransform):
    """`y = exp(x)`."""

    def __init__(self, validate_args: bool = False, name: str = "exp"):
        super().__init__(validate_args=validate_args, name=name)


class Sigmoid(_Elementwise):
    """`y = 1 / (1 + exp(-x))`."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return tf.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return tf.log(y) - tf.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.log(y) - tf.log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.nn.softplus(-x) - tf.nn.softplus(x)


class Softplus(_Elementwise):
    """`y = c * log(1 + exp(x / c))`, where c is the `hinge_softness`, 1 if None."""

    def __init__(
        self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"
    ):
        with tf.name_scope(name, values=[] if hinge_softness is None else [hinge_softness]):
            self._hinge_softness = (
                None
                if hinge_softness is None
                else tf.convert_to_tensor(hinge_softness, name="hinge_softness")
            )
        parents = [] if self._hinge_softness is None else [self._hinge_softness]
        super().__init__(validate_args, name, parents)

    @property
    def hinge_softness(self) -> Any:
        return self._hinge_softness

    def _scaled(self, value: Any) -> Any:
        softness = self.hinge_softness
        return value if softness is None else value / tf.cast(softness, value.dtype)

    def _unscaled(self, value: Any) -> Any:
        softness = self.hinge_softness
        return value if softness is None else value * tf.cast(softness, value.dtype)

    def _forward(self, x: Any) -> Any:
        return self._unscaled(tf.nn.softplus(self._scaled(x)))

    def _inverse(self, y: Any) -> Any:
        y = self._scaled(y)
        # Exact also where y is tiny, and exp(-y) rounds to 1.
        return self._unscaled(y + tf.log(-tf.expm1(-y)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.log(-tf.expm1(-self._scaled(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.nn.softplus(-self._scaled(x))


class Softsign(_Elementwise):
    """`y = x / (1 + abs(x))`."""

    def __init__(self, validate_args: bool = False, name: str = "softsign"):
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + tf.abs(x))

    def _inverse(self, y: Any) -> Any:
        return y / (1.0 - tf.abs(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * tf.log1p(tf.abs(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * tf.log1p(-tf.abs(y))


class Square(_Elementwise):
    """`y = x ** 2` of numbers that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square"):
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return tf.square(self._checked(lambda: tf.assert_non_negative(x), x))

    def _inverse(self, y: Any) -> Any:
        return tf.sqrt(self._checked(lambda: tf.assert_non_negative(y), y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return math.log(2.0) + tf.log(self._checked(lambda: tf.assert_non_negative(x), x))


class AffineScalar(_Elementwise):
    """`y = scale * x + shift`."""

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ):
        with tf.name_scope(name, values=[v for v in (scale, shift) if v is not None]):
            self._shift = None if shift is None else tf.convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else tf.convert_to_tensor(scale, name="scale")
        super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def shift(self) -> Any:
        return self._shift

    @property
    def scale(self) -> Any:
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = tf.identity(x) if self.scale is None else x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = tf.identity(y) if self.shift is None else y - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return tf.constant(0.0, dtype=x.dtype.base_dtype)
        return tf.log(tf.abs(self.scale))


class _OfTwo(_Elementwise):
    """A function with two parameters, kept as tensors by their names."""

    def __init__(self, name: str, validate_args: bool, **parameters: Any):
        with tf.name_scope(name, values=list(parameters.values())):
            tensors = {key: tf.convert_to_tensor(v, name=key) for key, v in parameters.items()}
        for key, tensor in tensors.items():
            setattr(self, f"_{key}", tensor)
        super().__init__(validate_args, name)


class Gumbel(_OfTwo):
    """The cumulative function of the Gumbel distribution."""

    def __init__(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        validate_args: bool = False,
        name: str = "gumbel",
    ):
        super().__init__(name, validate_args, loc=loc, scale=scale)

    @property
    def loc(self) -> Any:
        return self._loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Any:
        return self._scale  # type: ignore[attr-defined]

    def _forward(self, x: Any) -> Any:
        return tf.exp(-tf.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * tf.log(-tf.log(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.log(self.scale / (-tf.log(y) * y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - tf.exp(-z) - tf.log(self.scale)


class Weibull(_OfTwo):
    """The cumulative function of the Weibull distribution."""

    def __init__(
        self,
        scale: Any = 1.0,
        concentration: Any = 1.0,
        validate_args: bool = False,
        name: str = "weibull",
    ):
        super().__init__(name, validate_args, scale=scale, concentration=concentration)

    @property
    def scale(self) -> Any:
        return self._scale  # type: ignore[attr-defined]

    @property
    def concentration(self) -> Any:
        return self._concentration  # type: ignore[attr-defined]

    def _forward(self, x: Any) -> Any:
        x = self._checked(lambda: tf.assert_non_negative(x), x)
        return -tf.expm1(-((x / self.scale) ** self.concentration))

    def _inverse(self, y: Any) -> Any:
        return self.scale * (-tf.log1p(-y)) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (
            -tf.log1p(-y)
            + (1 / self.concentration - 1) * tf.log(-tf.log1p(-y))
            + tf.log(self.scale / self.concentration)
        )

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return (
            -((x / self.scale) ** self.concentration)
            + (self.concentration - 1) * tf.log(x)
            + tf.log(self.concentration)
            - self.concentration * tf.log(self.scale)
        )


class Kumaraswamy(_OfTwo):
    """The quantile function of the Kumaraswamy distribution."""

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ):
        super().__init__(
            name, validate_args, concentration1=concentration1, concentration0=concentration0
        )

    @property
    def concentration1(self) -> Any:
        return self._concentration1  # type: ignore[attr-defined]

    @property
    def concentration0(self) -> Any:
        return self._concentration0  # type: ignore[attr-defined]

    def _forward(self, x: Any) -> Any:
        return tf.exp(tf.log1p(-tf.exp(tf.log1p(-x) / self.concentration0)) / self.concentration1)

    def _inverse(self, y: Any) -> Any:
        return tf.exp(tf.log1p(-((1 - y**self.concentration1) ** self.concentration0)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (
            tf.log(self.concentration1)
            + tf.log(self.concentration0)
            + (self.concentration1 - 1) * tf.log(y)
            + (self.concentration0 - 1) * tf.log1p(-(y**self.concentration1))
        )


class SinhArcsinh(_OfTwo):
    """`y = sinh((arcsinh(x) + skewness) * tailweight)`."""

    def __init__(
        self,
        skewness: Any = None,
        tailweight: Any = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ):
        skewness = 0.0 if skewness is None else skewness
        tailweight = 1.0 if tailweight is None else tailweight
        super().__init__(name, validate_args, skewness=skewness, tailweight=tailweight)

    @property
    def skewness(self) -> Any:
        return self._skewness  # type: ignore[attr-defined]

    @property
    def tailweight(self) -> Any:
        return self._tailweight  # type: ignore[attr-defined]

    def _forward(self, x: Any) -> Any:
        return tf.sinh((tf.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return tf.sinh(tf.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (
            tf.log(tf.cosh(tf.asinh(y) / self.tailweight - self.skewness))
            - 0.5 * tf.log1p(y**2)
            - tf.log(self.tailweight)
        )

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return (
            tf.log(tf.cosh((tf.asinh(x) + self.skewness) * self.tailweight))
            - 0.5 * tf.log1p(x**2)
            + tf.log(self.tailweight)
        )


class Invert(Bijector):
    """Another bijector with its directions exchanged."""

    def __init__(self, bijector: Any, validate_args: bool = False, name: str | None = None):
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self) -> Any:
        return self._bijector

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector.inverse_event_shape(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector.forward_event_shape(output_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector.inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector.forward_event_shape_tensor(output_shape)

    def _forward(self, x: Any) -> Any:
        return self.bijector.inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self.bijector.forward(y)

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """The inverse's at x."""
        return self.bijector.inverse_log_det_jacobian(x, event_ndims)

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """The function's at y."""
        return self.bijector.forward_log_det_jacobian(y, event_ndims)


class Chain(Bijector):
    """Bijectors one after another; the last one is applied first."""

    def __init__(self, bijectors: Any = None, validate_args: bool = False, name: str | None = None):
        self._bijectors = list(bijectors or ())
        for each in self._bijectors:
            if not each._is_injective:
                raise NotImplementedError("Chain is not implemented for non-injective bijectors.")
        dtypes = {each.dtype for each in self._bijectors} - {None}
        if len(dtypes) > 1:
            raise ValueError(f"incompatible dtypes: {[str(each) for each in dtypes]}")
        names = [each.name for each in self._bijectors]
        super().__init__(
            graph_parents=[parent for each in self._bijectors for parent in each.graph_parents],
            forward_min_event_ndims=self._least(forward=True),
            inverse_min_event_ndims=self._least(forward=False),
            is_constant_jacobian=all(each.is_constant_jacobian for each in self._bijectors),
            validate_args=validate_args,
            dtype=dtypes.pop() if dtypes else None,
            name=name or ("_of_".join(["chain", *names]) if names else "identity"),
        )

    @property
    def bijectors(self) -> list[Any]:
        return self._bijectors

    def _in_order(self, forward: bool) -> list[Any]:
        return self._bijectors[::-1] if forward else self._bijectors

    def _least(self, forward: bool) -> int:
        """The fewest dimensions with which every part gets those that it needs."""
        least, change = 0, 0
        for each in self._in_order(forward):
            needs, gives = each.forward_min_event_ndims, each.inverse_min_event_ndims
            if not forward:
                needs, gives = gives, needs
            least = max(least, needs - change)
            change += gives - needs
        return least

    def _forward_event_shape(self, input_shape: Any) -> Any:
        for each in self._in_order(forward=True):
            input_shape = each.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        for each in self._in_order(forward=False):
            output_shape = each.inverse_event_shape(output_shape)
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        for each in self._in_order(forward=True):
            input_shape = each.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        for each in self._in_order(forward=False):
            output_shape = each.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _forward(self, x: Any) -> Any:
        for each in self._in_order(forward=True):
            x = each.forward(x)
        return tf.identity(x) if not self._bijectors else x

    def _inverse(self, y: Any) -> Any:
        for each in self._in_order(forward=False):
            y = each.inverse(y)
        return tf.identity(y) if not self._bijectors else y

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """The sum over the parts, each at its own argument."""
        with self._name_scope(name, [x]):
            x = self._argument(x, "x")
            total = tf.constant(0.0, dtype=x.dtype, name="fldj")
            for each in self._in_order(forward=True):
                total += each.forward_log_det_jacobian(x, event_ndims)
                event_ndims += each.inverse_min_event_ndims - each.forward_min_event_ndims
                x = each.forward(x)
            return total

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """The sum over the parts, each at its own result."""
        with self._name_scope(name, [y]):
            y = self._argument(y, "y")
            total = tf.constant(0.0, dtype=y.dtype, name="ildj")
            for each in self._in_order(forward=False):
                total += each.inverse_log_det_jacobian(y, event_ndims)
                event_ndims += each.forward_min_event_ndims - each.inverse_min_event_ndims
                y = each.inverse(y)
            return total


def _missing(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"Cannot call `{name}` without `{name}_fn`.")

    return refuse


class Inline(Bijector):
    """A bijector of functions that are given."""

    def __init__(
        self,
        forward_fn: Any = None,
        inverse_fn: Any = None,
        inverse_log_det_jacobian_fn: Any = None,
        forward_log_det_jacobian_fn: Any = None,
        forward_event_shape_fn: Any = None,
        forward_event_shape_tensor_fn: Any = None,
        inverse_event_shape_fn: Any = None,
        inverse_event_shape_tensor_fn: Any = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ):
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        self._forward = forward_fn or _missing("forward")  # type: ignore[method-assign]
        self._inverse = inverse_fn or _missing("inverse")  # type: ignore[method-assign]
        self._fldj, self._ildj = forward_log_det_jacobian_fn, inverse_log_det_jacobian_fn
        for key, function in {
            "_forward_event_shape": forward_event_shape_fn,
            "_forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "_inverse_event_shape": inverse_event_shape_fn,
            "_inverse_event_shape_tensor": inverse_event_shape_tensor_fn,
        }.items():
            if function is not None:
                setattr(self, key, function)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._fldj is not None:
            return self._fldj(x)
        if self._ildj is None:
            _missing("forward_log_det_jacobian")()
        return -self._ildj(self.forward(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        if self._ildj is not None:
            return self._ildj(y)
        if self._fldj is None:
            _missing("inverse_log_det_jacobian")()
        return -self._fldj(self.inverse(y))
