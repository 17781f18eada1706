"""Dropout: entries set to zero at random, the others scaled up to keep the expected sum."""

from __future__ import annotations

import numbers
from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.binary import Mul, RealDiv, Sub
from penstock.ops.comparison import GreaterEqual
from penstock.ops.constants import constant
from penstock.ops.select import SelectV2
from penstock.ops.shaping import shape
from penstock.shapes import TensorShape

__all__ = ["dropout"]


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """Keeps each entry of `x` with probability `keep_prob`, scaled by 1 / keep_prob.

    Args:
      keep_prob: A number or a scalar tensor.
      noise_shape: The shape of the random choices, which broadcast to that of `x`: [n, 1, 1, c]
        keeps or drops whole channels.
      rate: The probability of dropping an entry, in place of `keep_prob`.
    """
    if keep_prob is not None:
        if rate is not None:
            raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
        try:
            rate = 1 - keep_prob
        except TypeError:
            raise ValueError(
                f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})"
            ) from None
    if rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    with name_scope(name, "dropout", [x]):
        is_number = isinstance(rate, numbers.Real)
        if is_number and not 0 <= rate < 1:
            raise ValueError(
                f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}"
            )
        x = convert_to_tensor(x, name="x")
        dtype = x.dtype.base_dtype
        if not dtype.is_floating:
            raise ValueError(
                "`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
                f"x_dtype={x.dtype}"
            )
        if is_number and rate == 0:
            return x
        if is_number:
            scaled = Mul(x, constant(1 / (1 - rate), dtype))
        else:
            rate = _checked_rate(rate, dtype)
            scaled = RealDiv(x, Sub(constant(1, dtype), rate))
        kept = _masked(scaled, rate, _noise_shape(x, noise_shape), seed)
        kept.set_shape(x.get_shape())  # a rate of unknown shape hides it
        return kept


def _checked_rate(rate: Any, dtype: Any) -> Tensor:
    rate = convert_to_tensor(rate)
    rate.get_shape().assert_has_rank(0)
    if rate.dtype.base_dtype is not dtype:
        raise ValueError(
            "`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype="
            f"{dtype} and rate.dtype={rate.dtype}"
        )
    return rate


def _noise_shape(x: Tensor, given: Any) -> Any:
    """The shape of the random choices; sizes that `given` leaves open are those of `x`."""
    if given is None:
        return shape(x)
    if isinstance(given, Tensor):
        return given
    try:
        wanted = TensorShape(given)
    except (TypeError, ValueError):
        return given  # sizes that are tensors
    own = x.get_shape()
    if own.ndims is not None and own.ndims == wanted.ndims:
        sizes = zip(wanted.as_list(), own.as_list(), strict=True)
        return TensorShape([have if want is None else want for want, have in sizes])
    return given


def _masked(scaled: Tensor, rate: Any, noise_shape: Any, seed: int | None) -> Tensor:
    from penstock.ops.random import random_uniform

    dtype = scaled.dtype.base_dtype
    noise = random_uniform(noise_shape, seed=seed, dtype=dtype)
    kept = GreaterEqual(noise, rate)
    return SelectV2(kept, scaled, constant(0, dtype))
