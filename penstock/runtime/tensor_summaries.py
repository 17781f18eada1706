"""What a watch on a tensor writes: the value, how many NaNs it has, or a summary of its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from penstock import dtypes, errors
from penstock.dtypes import DType
from penstock.shapes import Shape

_COMMON_ATTRS = ("device_name", "tensor_name", "debug_urls", "gated_grpc")
_SUMMARY_ATTRS = ("lower_bound", "upper_bound", "mute_if_healthy")

Write = Callable[[np.ndarray | None, DType, Shape], np.ndarray | None]


class DebugOp(NamedTuple):
    """A debug op of a watch: its name, and what it makes of a value (None: not initialized).

    The shape is the one that is known without a value.
    """

    name: str
    write: Write
    fits: Callable[[DType], bool]


def _identity(value: np.ndarray | None, dtype: DType, shape: Shape) -> np.ndarray | None:
    return value


def _nan_count(value: np.ndarray | None, dtype: DType, shape: Shape) -> np.ndarray:
    count = 0 if value is None else np.count_nonzero(np.isnan(value.astype(np.float64)))
    return np.array([count], dtype=np.int64)


class _NumericSummary:
    """Fourteen numbers and the dimensions, as the op DebugNumericSummary gives them."""

    def __init__(self, attrs: dict[str, str]):
        self._lower = float(attrs.get("lower_bound", "-inf"))
        self._upper = float(attrs.get("upper_bound", "inf"))
        self._mutes = attrs.get("mute_if_healthy", "false").lower() in ("true", "1")

    def __call__(self, value: np.ndarray | None, dtype: DType, shape: Shape) -> np.ndarray:
        kind = float(dtype.base_dtype.as_datatype_enum)
        if value is None:
            nothing = [0.0] * 8 + [np.inf, -np.inf, np.nan, np.nan]
            sizes = [-1 if size is None else size for size in shape or ()]
            return np.array([*nothing, kind, len(sizes), *sizes])
        numbers = value.astype(np.float64).reshape(-1)
        nan = np.isnan(numbers)
        low = (numbers == -np.inf) | (~nan & (numbers <= self._lower))
        high = (numbers == np.inf) | (~nan & (numbers >= self._upper))
        usual = ~(nan | low | high)
        counts = [
            np.count_nonzero(each)
            for each in (nan, low, usual & (numbers < 0), usual & (numbers == 0))
        ]
        counts += [np.count_nonzero(each) for each in (usual & (numbers > 0), high)]
        if self._mutes and not (nan.any() or low.any() or high.any()):
            return np.zeros(0)
        finite = numbers[np.isfinite(numbers)]
        spread = [np.inf, -np.inf, np.nan, np.nan]
        if finite.size:
            spread = [finite.min(), finite.max(), finite.mean(), finite.var()]
        about = [kind, value.ndim, *value.shape]
        return np.array([1.0, numbers.size, *counts, *spread, *about], dtype=np.float64)


def _is_number(dtype: DType) -> bool:
    base = dtype.base_dtype
    return bool(base.is_floating or base.is_integer or base.is_bool)


def debug_op(text: str, node: str, slot: int, number: int) -> DebugOp:
    """The debug op that a watch names, such as "DebugNumericSummary(lower_bound=-5;…)".

    `node`, `slot` and `number` (among the ops of the watch) name it in errors.
    """
    match = re.fullmatch(r"(\w+)\s*(?:\((.*)\))?", text.strip())
    if match is None:
        raise errors.InvalidArgumentError(None, None, f'Malformed debug op name "{text}"')
    name, given = match[1], match[2] or ""
    attrs = _attrs(given, text)
    known = _COMMON_ATTRS + (_SUMMARY_ATTRS if name == "DebugNumericSummary" else ())
    unknown = [key for key in attrs if key not in known]
    if unknown:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"{len(unknown)} attribute key(s) were not valid for debug node "
            f"__dbg_{node}:{slot}_{number}_{name}: {', '.join(unknown)}",
        )
    if name in ("DebugIdentity", "DebugIdentityV2"):
        return DebugOp(name, _identity, lambda dtype: True)
    if name == "DebugNanCount":
        return DebugOp(name, _nan_count, _is_number)
    if name == "DebugNumericSummary":
        return DebugOp(name, _NumericSummary(attrs), _is_number)
    raise errors.FailedPreconditionError(
        None,
        None,
        f"Failed to create debug node {name} for node {node}: there is no such debug op "
        "(known: DebugIdentity, DebugNanCount, DebugNumericSummary)",
    )


def _attrs(given: str, text: str) -> dict[str, str]:
    attrs: dict[str, str] = {}
    for part in given.replace(" ", "").split(";"):
        if not part:
            continue
        key, sign, value = part.partition("=")
        if not (key and sign and value):
            raise errors.InvalidArgumentError(
                None, None, f'Malformed attributes in debug op name "{text}"'
            )
        if key in attrs:
            raise errors.InvalidArgumentError(
                None, None, f'Encountered duplicate attribute keys in "{text}"'
            )
        attrs[key] = value
    return attrs


def readable(value: Any, dtype: DType) -> tuple[bool, np.ndarray | None]:
    """A runtime value as an array: whether it has one, and the array (None: not initialized)."""
    from penstock.kernels.values import to_array

    if dtype.is_ref_dtype:
        state = getattr(value, "value", None)
        return True, None if state is None else to_array(state).copy()
    if isinstance(value, (bool, int, float)):
        return True, np.array(value, dtype=dtype.as_numpy_dtype)
    if dtype.base_dtype in (dtypes.resource, dtypes.variant):
        return False, None  # a handle
    return True, to_array(value)
