"""The list of functions that take ragged tensors."""

from __future__ import annotations

import re

import pytest

from penstock.ragged.op_list import ragged_op_list

NAMES = (
    "batch_gather bitwise.invert cast clip_by_value concat debugging.check_numerics dtypes.complex "
    "io.decode_compressed math.add math.divide_no_nan math.is_nan reduce_all strings.to_number "
    "truncatediv where zeros_like"
).split()


def test_names_are_tensorflows() -> None:
    text = ragged_op_list()
    found = re.findall(r"\* `tf\.([\w.]+)`\(", text)
    assert set(NAMES) <= set(found) and len(set(found)) == 121
    assert found == sorted(found, key=lambda name: f"{name}`")
    assert "* `tf.math.pow`(**x**, **y**, name=`None`)" in text
    assert "out_type=`tf.int32`" in text


@pytest.mark.parametrize("name", ["batch_gather", "where"])
def test_version_2_has_fewer(name: str) -> None:
    assert f"`tf.{name}`" not in ragged_op_list(tf_version=2)
