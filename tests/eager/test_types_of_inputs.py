"""What eager execution says of inputs whose types don't go together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf
from penstock.eager.context import eager_mode

CASES: dict[str, Callable[[], Any]] = {
    "AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a float tensor "
    "[Op:AddV2] name: add/": lambda: tf.ones([1], tf.int32) + 1.0,
    "MatMul as input #1(zero-based) was expected to be a float tensor but is a int32 tensor "
    "[Op:MatMul]": lambda: tf.matmul([[1.0]], tf.ones([1, 1], tf.int32)),
    "ConcatV2 as input #1(zero-based) was expected to be a float tensor but is a int32 tensor "
    "[Op:ConcatV2]": lambda: tf.concat([tf.ones([1]), tf.ones([1], tf.int32)], 0),
}


@pytest.mark.parametrize("words", CASES)
def test_refused(words: str) -> None:
    with eager_mode(), pytest.raises(tf.errors.InvalidArgumentError) as refused:
        CASES[words]()
    assert f"cannot compute {words}" in str(refused.value)
