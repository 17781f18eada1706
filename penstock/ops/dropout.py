"""Dropout: entries set to zero at random, the others scaled up to keep the expected sum."""

from __future__ import annotations

import numbers
from typing import Any

from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
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
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        dtype = x.dtype.base_dtype
        if not dtype.is_floating:
            raise ValueError(
                "x has to be a floating point tensor since it's going to be scaled. "
                f"Got a {x.dtype!r} tensor instead."
            )
        if isinstance(rate, numbers.Real) and not 0 <= float(rate) < 1:
            raise ValueError(
                f"rate must be a scalar tensor or a float in the range [0, 1), got {float(rate):g}"
            )
        if isinstance(rate, numbers.Real) and rate == 0:
            return x
        rate = convert_to_tensor(rate, dtype, "rate")
        rate.get_shape().assert_has_rank(0)
        if constant_value(rate) == 0:
            return x
        return _dropped(x, rate, _noise_shape(x, noise_shape), seed)


def _dropped(x: Tensor, rate: Tensor, noise_shape: Any, seed: int | None) -> Tensor:
    from penstock.ops.random import random_uniform

    noise = random_uniform(noise_shape, seed=seed, dtype=x.dtype.base_dtype)
    scale = 1 / (1 - rate)
    kept = noise >= rate
    result = x * scale * cast(kept, x.dtype.base_dtype)
    result.set_shape(x.get_shape())  # a rate of unknown shape hides it
    return result


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
