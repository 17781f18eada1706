"""`tf.debugging`: assertions about values, shapes and types."""

from penstock.client.session_defaults import check_change, session_defaults
from penstock.ops.debugging import Assert
from penstock.ops.elementwise import is_finite, is_inf, is_nan
from penstock.ops.identity import check_numerics
from penstock.ops.identity import verify_tensor_all_finite as assert_all_finite
from penstock.ops.rank_assertions import (
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_scalar,
)
from penstock.ops.shape_assertions import assert_shapes
from penstock.ops.type_assertions import (
    assert_integer,
    assert_proper_iterable,
    assert_same_float_dtype,
    assert_type,
    is_numeric_tensor,
)
from penstock.ops.value_assertions import (
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    is_non_decreasing,
    is_strictly_increasing,
)


def get_log_device_placement() -> bool:
    """Whether new sessions print where operations run."""
    return bool(session_defaults().log_device_placement)


def set_log_device_placement(enabled: bool) -> None:
    """Says whether new sessions print where operations run."""
    message = "Device placement logging must be set at program startup"
    check_change(get_log_device_placement(), enabled, message)
    session_defaults().log_device_placement = enabled


__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "check_numerics",
    "get_log_device_placement",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_non_decreasing",
    "is_numeric_tensor",
    "is_strictly_increasing",
    "set_log_device_placement",
]
