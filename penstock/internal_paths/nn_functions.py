"""What `nn_impl` and `nn_ops` of TensorFlow have besides the public API."""

from __future__ import annotations

from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly
from penstock.ir.tensor import Tensor
from penstock.ops.dilated import convolve_by_rate, strides_and_rates
from penstock.ops.sampled_losses import _row_sums as _sum_rows  # noqa: F401
from penstock.ops.sampled_losses import _sampled_logits
from penstock.shapes import TensorShape, dimension_at_index


def _compute_sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Logits and targets of the true and the sampled classes."""
    return _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        seed,
        subtract_log_q,
    )


def _get_sequence(value: Any, n: int, channel_index: int, name: str) -> list[Any]:
    """A number for each axis, from one for all, or from those of the spatial axes."""
    if value is None:
        value = [1]
    elif not hasattr(value, "__len__"):
        value = [value]
    given = len(value)
    if given == n + 2:
        return list(value)
    if given not in (1, n):
        raise ValueError(f"{name} should be of length 1, {n} or {n + 2} but was {given}")
    spatial = list(value) * (n if given == 1 else 1)
    return [1, 1, *spatial] if channel_index == 1 else [1, *spatial, 1]


class Convolution:
    """A convolution of tensors of known shapes, to be applied more than once."""

    def __init__(
        self,
        input_shape: Any,
        filter_shape: Any,
        padding: str,
        strides: Any = None,
        dilation_rate: Any = None,
        name: str | None = None,
        data_format: str | None = None,
    ):
        self.input_shape = TensorShape(input_shape)
        self.filter_shape = TensorShape(filter_shape)
        self.data_format, self.padding, self.name = data_format, padding, name
        count = self._count_of_spatial_dimensions()
        self.strides, self.dilation_rate = strides_and_rates(strides, dilation_rate, count)
        self._default_name = "conv1d" if count == 1 else f"Conv{count}D"
        if all(self.dilation_rate == 1) and not executing_eagerly():
            # Nothing reads this node; without dilation it only stands in TensorFlow's graphs.
            convert_to_tensor(self.dilation_rate, name="dilation_rate")

    def _count_of_spatial_dimensions(self) -> int:
        rank = (
            self.input_shape.ndims if self.filter_shape.ndims is None else self.filter_shape.ndims
        )
        if rank is None:
            raise ValueError("rank of input or filter must be known")
        for what, shape in (("input", self.input_shape), ("filter", self.filter_shape)):
            if shape.ndims not in (None, rank):
                raise ValueError(f"{what} tensor must have rank {rank}")
        is_second = self.data_format is not None and self.data_format.startswith("NC")
        channels = dimension_at_index(self.input_shape, 1 if is_second else rank - 1)
        taken = dimension_at_index(self.filter_shape, rank - 2)
        if not channels.is_compatible_with(taken):
            raise ValueError(
                "number of input channels does not match corresponding dimension of filter, "
                f"{channels} != {taken}"
            )
        return rank - 2

    def __call__(self, inp: Any, filter: Any) -> Tensor:
        return convolve_by_rate(
            convert_to_tensor(inp),
            filter,
            strides=self.strides,
            padding=self.padding,
            dilation_rate=self.dilation_rate,
            data_format=self.data_format,
            name=self.name or self._default_name,
        )
