"""What `nn_impl` and `nn_ops` of TensorFlow have besides the public API."""

from __future__ import annotations

from typing import Any

from penstock.ir.tensor import Tensor
from penstock.nn import convolution
from penstock.ops.sampled_losses import _row_sums as _sum_rows  # noqa: F401
from penstock.ops.sampled_losses import _sampled_logits
from penstock.shapes import TensorShape


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
        self._options = {
            "padding": padding,
            "strides": strides,
            "dilation_rate": dilation_rate,
            "name": name,
            "data_format": data_format,
        }

    def __call__(self, inp: Any, filter: Any) -> Tensor:
        return convolution(inp, filter, **self._options)
