"""Batch normalization."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.layers import identifiers
from penstock.layers.core_layer import CoreLayer
from penstock.layers.identifiers import ONES, ZEROS
from penstock.layers.input_spec import InputSpec
from penstock.layers.kinds.renormalization import Renormalization
from penstock.layers.learning_phase import training_or_phase
from penstock.layers.smart_cond import smart_cond, smart_constant_value
from penstock.ops.activations import relu
from penstock.ops.batch_norm import fused_batch_norm
from penstock.ops.casts import cast
from penstock.ops.conditionals import cond
from penstock.ops.constants import constant
from penstock.ops.elementwise import sqrt
from penstock.ops.filling import ones_like, zeros_like
from penstock.ops.normalization import batch_normalization, moments
from penstock.ops.reductions import reduce_mean
from penstock.ops.select import where_v2 as where
from penstock.ops.shaping import reshape, size
from penstock.ops.shaping import shape as shape_of
from penstock.ops.variable_updates import assign, assign_sub
from penstock.ops.variables import VariableAggregation, VariableSynchronization
from penstock.shapes import TensorShape
from penstock.train.replicas import has_strategy


class BatchNormalization(CoreLayer):
    """Normalizes each feature by its mean and variance, then scales and shifts it.

    While training these are the batch's, and the moving averages are updated by the operations in
    `updates`; otherwise the moving averages are used.

    Args:
      axis: axis of the features, or a list of axes.
      momentum: how much of a moving average stays at an update.
      center: whether to shift by `beta`.
      scale: whether to scale by `gamma`.
      renorm: whether to normalize by the moving averages while training too (batch
        renormalization), with the corrections clipped by `renorm_clipping`: rmin, rmax, dmax.
      fused: whether to use the fused op; None uses it where possible.
      virtual_batch_size: splits a batch into ones of that size, which are normalized separately.
      adjustment: function of the inputs' shape that gives a random scale and shift for training.
    """

    # Whether `fused` and `training` mean what they do in TensorFlow 2.
    _USE_V2_BEHAVIOR = False

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = ZEROS,
        gamma_initializer: Any = ONES,
        moving_mean_initializer: Any = ZEROS,
        moving_variance_initializer: Any = ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: dict[str, Any] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: Any = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: Any = axis[:] if isinstance(axis, list) else axis
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = identifiers.initializer(beta_initializer)
        self.gamma_initializer = identifiers.initializer(gamma_initializer)
        self.moving_mean_initializer = identifiers.initializer(moving_mean_initializer)
        self.moving_variance_initializer = identifiers.initializer(moving_variance_initializer)
        self.beta_regularizer = identifiers.regularizer(beta_regularizer)
        self.gamma_regularizer = identifiers.regularizer(gamma_regularizer)
        self.beta_constraint = identifiers.constraint(beta_constraint)
        self.gamma_constraint = identifiers.constraint(gamma_constraint)
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self.renorm = renorm
        self._renormalization: Renormalization | None = None
        if renorm:
            self.renorm_clipping = renorm_clipping or {}
            self.renorm_momentum = renorm_momentum
            self._renormalization = Renormalization(self, self.renorm_clipping, renorm_momentum)
            self.moving_stddev: Any = None
        self.fused = self._settled_fused(fused)
        self.supports_masking = True
        self.gamma: Any = None
        self.beta: Any = None
        self._data_format = ""
        # Tests set it to False: the fused op's variance is then over n, as the other path's.
        self._bessels_correction_test_only = True

    # Whether the fused op can be used -----------------------------------------------------------

    def _settled_fused(self, fused: bool | None) -> bool | None:
        if not self._USE_V2_BEHAVIOR:
            return True if fused is None else fused
        obstacle = self._obstacle_to_fusing()
        if fused and obstacle:
            raise ValueError(obstacle)
        return False if fused is None and obstacle else fused

    def _obstacle_to_fusing(self) -> str | None:
        if self.renorm:
            return "Passing both fused=True and renorm=True is unsupported"
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        if len(axes) > 1 or axes[0] not in (-3, -1, 1, 3):
            return "Passing fused=True is only supported when axis is 1 or 3"
        if self.virtual_batch_size is not None:
            return "Passing fused=True is unsupported when virtual_batch_size is specified."
        if self.adjustment is not None:
            return "Passing fused=True is unsupported when adjustment is specified."
        return None

    def _settle_fused_for(self, rank: int) -> None:
        if self._USE_V2_BEHAVIOR and self.fused and rank != 4:
            raise ValueError(
                "Batch normalization layers with fused=True only support 4D input tensors."
            )
        if self._USE_V2_BEHAVIOR and self.fused is None:
            self.fused = rank == 4
        elif self.fused:
            self.fused = rank == 4 and self._obstacle_to_fusing() is None
        if self.fused:
            formats = {1: "NCHW", 3: "NHWC"}
            if self.axis[0] not in formats:
                raise ValueError(
                    "Unsupported axis, fused batch norm only supports axis == [1] or axis == [3]"
                )
            self._data_format = formats[self.axis[0]]

    # Variables ----------------------------------------------------------------------------------

    @property
    def _param_dtype(self) -> dtypes.DType:
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        return dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if not shape.ndims:
            raise ValueError("Input has undefined rank:", shape)
        self._settle_axes(shape.ndims)
        self._check_virtual_batches()
        self._settle_fused_for(shape.ndims)
        param_shape = self._statistics_shape = self._param_shape(shape)
        self._add_trained(param_shape)
        with self._without_partitioner():
            self.moving_mean = self._add_statistic(
                "moving_mean", param_shape, self.moving_mean_initializer
            )
            self.moving_variance = self._add_statistic(
                "moving_variance", param_shape, self.moving_variance_initializer
            )
            if self._renormalization is not None:
                self._renormalization.build(param_shape)
        self.built = True

    def _settle_axes(self, rank: int) -> None:
        given = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [rank + axis if axis < 0 else axis for axis in given]
        for axis in self.axis:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(self.axis) != len(set(self.axis)):
            raise ValueError(f"Duplicate axis: {self.axis}")

    def _check_virtual_batches(self) -> None:
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true batch size "
                "of the input Tensor"
            )
        if 0 in self.axis:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot "
                "include 0"
            )
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def _param_shape(self, shape: TensorShape) -> list[int]:
        sizes = shape.as_list()
        size_of = {axis: sizes[axis] for axis in self.axis}
        if None in size_of.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", shape)
        self.input_spec = InputSpec(ndim=len(sizes), axes=size_of)
        if len(size_of) == 1 and self.virtual_batch_size is None:
            return list(size_of.values())
        param_shape = [size_of.get(axis, 1) for axis in range(len(sizes))]
        if self.virtual_batch_size is not None:
            param_shape.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]  # behind the axis of virtual batches
        return param_shape

    def _add_trained(self, shape: list[int]) -> None:
        dtype = self._param_dtype
        if self.scale:
            self.gamma = self.add_weight(
                name="gamma",
                shape=shape,
                dtype=dtype,
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
                trainable=True,
                experimental_autocast=False,
            )
        elif self.fused:
            self._constant_gamma = self._constant_parameter(1.0)
        if self.center:
            self.beta = self.add_weight(
                name="beta",
                shape=shape,
                dtype=dtype,
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
                trainable=True,
                experimental_autocast=False,
            )
        elif self.fused:
            self._constant_beta = self._constant_parameter(0.0)

    def _add_statistic(self, name: str, shape: list[int], initializer: Any) -> Any:
        return self.add_weight(
            name=name,
            shape=shape,
            dtype=self._param_dtype,
            initializer=initializer,
            synchronization=VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=VariableAggregation.MEAN,
            experimental_autocast=False,
        )

    @contextmanager
    def _without_partitioner(self) -> Iterator[None]:
        """Keeps statistics in one part: they are updated as a whole."""
        scope: Any = getattr(self, "_scope", None)
        if not scope or scope.partitioner is None:
            yield
            return
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        try:
            yield
        finally:
            scope.set_partitioner(partitioner)

    # Updates ------------------------------------------------------------------------------------

    def _assign_moving_average(self, variable: Any, value: Any, momentum: Any) -> Any:
        graph = get_default_graph()
        with name_scope("AssignMovingAvg") as scope, graph.colocate_with(variable):
            dtype = variable.dtype.base_dtype
            decay = cast(convert_to_tensor(1.0 - momentum, name="decay"), dtype)
            delta = (variable - cast(value, dtype)) * decay
            return assign_sub(variable, delta, name=scope)

    def _assign_new_value(self, variable: Any, value: Any) -> Any:
        graph = get_default_graph()
        with name_scope("AssignNewValue") as scope, graph.colocate_with(variable):
            return assign(variable, value, name=scope)

    def _update_variance(self, variance: Any, momentum: Any) -> Any:
        if self._renormalization is None:
            return self._assign_moving_average(self.moving_variance, variance, momentum)
        moving = self._assign_moving_average(
            self.moving_stddev, sqrt(variance + self.epsilon), momentum
        )
        return self._assign_new_value(self.moving_variance, relu(moving * moving - self.epsilon))

    # Computing ----------------------------------------------------------------------------------

    def call(self, inputs: Any, training: Any = False) -> Any:
        training = training_or_phase(training)
        if self.virtual_batch_size is None:
            return self._normalized(inputs, training)
        sizes = inputs.shape.as_list()[1:]
        batches = reshape(inputs, [self.virtual_batch_size, -1, *sizes])
        return reshape(self._normalized(batches, training), [-1, *sizes])

    def _normalized(self, inputs: Any, training: Any) -> Any:
        if self.fused:
            return self._fused_batch_norm(inputs, training)
        return self._composed_batch_norm(inputs, training)

    def _fused_batch_norm(self, inputs: Any, training: Any) -> Any:
        beta = self.beta if self.center else self._in_this_graph(self._constant_beta, 0.0)
        gamma = self.gamma if self.scale else self._in_this_graph(self._constant_gamma, 1.0)

        def fused(is_training: bool, **averages: Any) -> Any:
            return fused_batch_norm(
                inputs,
                gamma,
                beta,
                epsilon=self.epsilon,
                is_training=is_training,
                data_format=self._data_format,
                **averages,
            )

        def by_batch() -> Any:
            if not may_have_no_rows():
                return fused(True)
            # Without rows there is nothing to normalize by, and the averages stay as they are.
            averages = (
                convert_to_tensor(self.moving_mean),
                convert_to_tensor(self.moving_variance),
            )
            return cond(shape_of(inputs)[0] > 0, lambda: fused(True), lambda: (inputs, *averages))

        def by_averages() -> Any:
            return fused(False, mean=self.moving_mean, variance=self.moving_variance)

        outputs, mean, variance = smart_cond(training, by_batch, by_averages)
        variance = self._over_all_elements(inputs, variance)
        known = smart_constant_value(training)
        # An average that keeps all of itself is an update that changes nothing.
        momentum: Any = (
            smart_cond(training, lambda: self.momentum, lambda: 1.0)
            if known is None
            else convert_to_tensor(self.momentum)
        )
        if known is False:
            return outputs
        self.add_update(lambda: self._assign_moving_average(self.moving_mean, mean, momentum))
        self.add_update(lambda: self._update_variance(variance, momentum))
        return outputs

    def _constant_parameter(self, value: float) -> Any:
        """What stands for a parameter that the layer does not have."""
        return constant(value, dtype=self._param_dtype, shape=self._statistics_shape)

    def _in_this_graph(self, made: Any, value: float) -> Any:
        """A constant of when the layer was built, or the same for another graph than then."""
        return made if made._op.graph is get_default_graph() else self._constant_parameter(value)

    def _over_all_elements(self, inputs: Any, variance: Any) -> Any:
        """A variance over n - 1 made one over n; only where a test asks for it."""
        if self._bessels_correction_test_only:
            return variance
        count = cast(size(inputs) / size(variance), variance.dtype)
        return variance * ((count - cast(1.0, variance.dtype)) / count)

    def _composed_batch_norm(self, inputs: Any, training: Any) -> Any:
        dtype = inputs.dtype.base_dtype
        is_short = dtype in (dtypes.float16, dtypes.bfloat16)
        if is_short:  # a variance may not fit into 16 bits
            inputs = cast(inputs, dtypes.float32)
        shape = inputs.shape
        scale, offset = self._broadcast(self.gamma, shape), self._broadcast(self.beta, shape)
        if smart_constant_value(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment:
                scale, offset = self._adjusted(inputs, training, scale, offset)
            mean, variance = self._statistics(inputs, training)
            new_mean, new_variance = mean, variance
            if self.virtual_batch_size is not None:
                new_mean = reduce_mean(mean, axis=1, keepdims=True)
                new_variance = reduce_mean(variance, axis=1, keepdims=True)
            if self._renormalization is not None:
                r, d, new_mean, new_variance = self._renormalization.corrections(
                    new_mean, new_variance, training
                )
                r, d = self._broadcast(r, shape), self._broadcast(d, shape)
                scale, offset = _composed(r, d, scale, offset)
            self._add_composed_updates(new_mean, new_variance, training)
        outputs = batch_normalization(
            inputs,
            self._broadcast(cast(mean, inputs.dtype), shape),
            self._broadcast(cast(variance, inputs.dtype), shape),
            None if offset is None else cast(offset, inputs.dtype),
            None if scale is None else cast(scale, inputs.dtype),
            self.epsilon,
        )
        if is_short:
            outputs = cast(outputs, dtype)
        outputs.set_shape(shape)
        return outputs

    def _reduction_axes(self, rank: int) -> list[int]:
        axes = [axis for axis in range(rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del axes[1]
        return axes

    def _broadcast(self, value: Any, shape: TensorShape) -> Any:
        """A value per feature in a form that broadcasts with the inputs."""
        rank = shape.ndims
        assert rank is not None
        if value is None or value.shape.ndims == rank:
            return value
        if self._reduction_axes(rank) == list(range(rank - 1)):
            return value
        wanted = [1] * rank
        wanted[self.axis[0]] = shape.as_list()[self.axis[0]]
        return reshape(value, wanted)

    def _adjusted(self, inputs: Any, training: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
        more_scale, more_offset = self.adjustment(shape_of(inputs))
        more_scale = smart_cond(training, lambda: more_scale, lambda: ones_like(more_scale))
        more_offset = smart_cond(training, lambda: more_offset, lambda: zeros_like(more_offset))
        return _composed(more_scale, more_offset, scale, offset)

    def _statistics(self, inputs: Any, training: Any) -> tuple[Any, Any]:
        mean, variance = moments(
            cast(inputs, self._param_dtype),
            self._reduction_axes(inputs.shape.ndims),
            keep_dims=self.virtual_batch_size is not None or len(self.axis) > 1,
        )
        moving_mean, moving_variance = self.moving_mean, self.moving_variance
        if may_have_no_rows():
            has_rows = size(inputs) > 0
            mean = where(has_rows, mean, convert_to_tensor(moving_mean))
            variance = where(has_rows, variance, convert_to_tensor(moving_variance))
        return (
            smart_cond(training, lambda: mean, lambda: convert_to_tensor(moving_mean)),
            smart_cond(training, lambda: variance, lambda: convert_to_tensor(moving_variance)),
        )

    def _add_composed_updates(self, mean: Any, variance: Any, training: Any) -> None:
        def update_mean() -> Any:
            return smart_cond(
                training,
                lambda: self._assign_moving_average(self.moving_mean, mean, self.momentum),
                lambda: self.moving_mean,
            )

        def update_variance() -> Any:
            return smart_cond(
                training,
                lambda: self._update_variance(variance, self.momentum),
                lambda: self.moving_variance,
            )

        self.add_update(update_mean)
        self.add_update(update_variance)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


def may_have_no_rows() -> bool:
    """Whether this is a replica that takes part in incomplete steps with a batch without rows."""
    if not has_strategy():
        return False
    from penstock.distribute import get_strategy

    extended = get_strategy().extended
    return bool(getattr(extended, "experimental_enable_get_next_as_optional", False))


def _composed(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """One scale and offset that do what two after each other do."""
    if then_scale is not None:
        scale *= then_scale
        offset *= then_scale
    if then_offset is not None:
        offset += then_offset
    return scale, offset
