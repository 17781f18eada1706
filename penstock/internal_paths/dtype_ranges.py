"""What `tensorflow.python.framework.dtypes` has besides the types."""

from __future__ import annotations

from typing import Any

import numpy as np

#: The least and the largest value of images of a NumPy type.
dtype_range: dict[Any, tuple[Any, Any]] = {
    np.bool_: (False, True),
    **{
        integer: (int(np.iinfo(integer).min), int(np.iinfo(integer).max))
        for integer in (
            *(np.uint8, np.uint16, np.uint32, np.uint64),
            *(np.int8, np.int16, np.int32, np.int64),
        )
    },
    np.float32: (-1, 1),
    np.float64: (-1, 1),
}
#: The type of a structured array that stands for resources.
np_resource = np.dtype([("resource", np.ubyte)])
