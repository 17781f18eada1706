"""Values whose shapes become known at run time only: what the kernels refuse, in 1.15's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


Wrap = Callable[[Any], Any]

REFUSED: dict[str, tuple[str, Callable[[Wrap], Any]]] = {
    "partition": (
        r"data.shape must start with partitions.shape, got data.shape = \[3\], "
        r"partitions.shape = \[2\]",
        lambda p: tf.dynamic_partition(p([1.0, 2.0, 3.0]), p([0, 1]), 2),
    ),
    "stitch": (
        r"Need data\[0\].shape\[1:\] = data\[1\].shape\[1:\], got data\[0\].shape = \[1\], "
        r"data\[1\].shape = \[1,1\], indices\[0\].shape = \[1\], indices\[1\].shape = \[1\]",
        lambda p: tf.dynamic_stitch([p([0]), p([1])], [p([1]), p([[2]])]),
    ),
    "stitch of other rows": (
        r"data\[0\].shape = \[1\] does not start with indices\[0\].shape = \[2\]",
        lambda p: tf.dynamic_stitch([p([0, 1])], [p([1])]),
    ),
    "bitcast": (
        "Cannot bitcast from 4 to 3",
        lambda p: tf.bitcast(p(np.zeros([2, 3], np.uint8)), tf.float32),
    ),
    "depthwise": (
        "input and filter must have the same depth: 2 vs 3",
        lambda p: tf.nn.depthwise_conv2d(
            p(np.zeros([1, 4, 4, 2], np.float32)),
            p(np.zeros([1, 1, 3, 1], np.float32)),
            [1, 1, 1, 1],
            "SAME",
        ),
    ),
    "matmul": (
        r"In\[0\] ndims must be >= 2: 1",
        lambda p: tf.matmul(p([1.0]), p([[1.0]])),
    ),
    "fill": ("value must be a scalar", lambda p: tf.fill(p([2]), p([1]))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_fed_values_are_refused(name: str) -> None:
    message, build = REFUSED[name]
    feeds: dict[Any, Any] = {}

    def fed(value: Any) -> Any:
        value = tf.convert_to_tensor(value)
        key = tf.placeholder(value.dtype)
        feeds[key] = tf.get_static_value(value)
        return key

    fetched = build(fed)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(fetched, feeds)


@pytest.mark.parametrize("name", REFUSED)
def test_defaults_of_placeholders_are_refused(name: str) -> None:
    message, build = REFUSED[name]
    fetched = build(lambda value: tf.placeholder_with_default(value, None))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(fetched)
