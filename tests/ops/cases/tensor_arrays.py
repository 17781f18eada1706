"""Cases of tensor arrays: what an array gives after accesses of all kinds."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, Made, array, f32, f64, strings


def _array(size: int, dtype: str = "float32", **attrs: object) -> Made:
    return Made("TensorArrayV3", (array(size, "int32"),), {"dtype": dtype, **attrs})


def _written(made: Made, value: np.ndarray, *indices: int) -> Made:
    places = array(list(indices), "int32")
    return Made("TensorArrayScatterV3", (made[0], places, value, made[1]))


_numbers = _array(3, clear_after_read=False)
_rows = _written(_numbers, f32(3, 2), 0, 1, 2)
_doubles = _array(4, "float64", dynamic_size=True, identical_element_shapes=True)
_late = _written(_doubles, f64(2, 1, 2), 5, 2)
_words = _array(2, "string")
_said = _written(_words, strings("one", "two"), 1, 0)
_loose = _array(2)
_parts = Made("TensorArraySplitV3", (_loose[0], f32(5, 2), array([2, 3], "int64"), _loose[1]))
_closed = _array(2)
_fresh = _array(2, element_shape=[2])

CASES = [
    Case("TensorArrayReadV3", (_numbers[0], array(1, "int32"), _rows), {"dtype": "float32"}),
    Case("TensorArrayReadV3", (_doubles[0], array(5, "int32"), _late), {"dtype": "float64"}),
    Case("TensorArrayReadV3", (_words[0], array(0, "int32"), _said), {"dtype": "string"}),
    Case(
        "TensorArrayReadV3",
        (_fresh[0], array(1, "int32"), _fresh[1]),
        {"dtype": "float32"},
        label="unwritten",
    ),
    Case(
        "TensorArrayReadV3",
        (_numbers[0], array(3, "int32"), _rows),
        {"dtype": "float32"},
        label="beyond",
        fails=True,
    ),
    Case(
        "TensorArrayReadV3",
        (_numbers[0], array(0, "int32"), _rows),
        {"dtype": "int32"},
        label="of another type",
        fails=True,
    ),
    Case("TensorArrayWriteV3", (_fresh[0], array(0, "int32"), f32(2), _fresh[1])),
    Case(
        "TensorArrayWriteV3",
        (_fresh[0], array(2, "int32"), f32(2), _fresh[1]),
        label="beyond",
        fails=True,
    ),
    Case(
        "TensorArrayWriteV3",
        (_numbers[0], array(0, "int32"), f32(2), _rows),
        label="twice",
        fails=True,
    ),
    Case(
        "TensorArrayGatherV3", (_numbers[0], array([2, 0, 2], "int32"), _rows), {"dtype": "float32"}
    ),
    Case(
        "TensorArrayGatherV3",
        (_doubles[0], array([0, 2], "int32"), _late),
        {"dtype": "float64", "element_shape": [1, 2]},
    ),
    Case("TensorArrayGatherV3", (_words[0], array([1, 0], "int32"), _said), {"dtype": "string"}),
    Case(
        "TensorArrayGatherV3",
        (_fresh[0], array([], "int32"), _fresh[1]),
        {"dtype": "float32", "element_shape": [2]},
        label="nothing",
    ),
    Case("TensorArrayScatterV3", (_fresh[0], array([1, 0], "int32"), f32(2, 2), _fresh[1])),
    Case("TensorArrayConcatV3", (_loose[0], _parts), {"dtype": "float32"}),
    Case("TensorArrayConcatV3", (_numbers[0], _rows), {"dtype": "float32"}, label="even"),
    Case(
        "TensorArraySplitV3",
        (_closed[0], f32(3), array([1, 1], "int64"), _closed[1]),
        label="too short",
        fails=True,
    ),
    # The gradient reads the parts that a gradient of their readers has written: here none has.
    Case(
        "TensorArraySplitV3", (_closed[0], f32(3), array([1, 2], "int64"), _closed[1]), grad=False
    ),
    Case("TensorArraySizeV3", (_doubles[0], _late)),
]
