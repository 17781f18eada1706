"""`tf.compat`: text and bytes, forward compatibility, and the API under its version's name."""

from penstock.compat import v1, v2
from penstock.platform.compat import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    integral_types,
    path_to_str,
    real_types,
)
from penstock.platform.forward_compatibility import (
    forward_compatibility_horizon,
    forward_compatible,
)
from penstock.shapes import dimension_at_index, dimension_value

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatibility_horizon",
    "forward_compatible",
    "integral_types",
    "path_to_str",
    "real_types",
    "v1",
    "v2",
]
