"""What kernels say of values that shape rules could not see: key phrases of TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.joining import ConcatOffset


def _late(value: Any) -> tf.Tensor:
    """A value of which a graph knows neither the elements nor the rank."""
    return tf.placeholder_with_default(value, None)


CASES: list[tuple[str, Callable[[], Any]]] = [
    (
        r"All dimensions except 1 must match. Input 1 has shape \[2 7 6\] and doesn't match "
        r"input 0 with shape \[2 3 5\]",
        lambda: ConcatOffset(_late(1), [_late([2, 3, 5]), _late([2, 7, 6])]),
    ),
    (
        "input 1 should contain 3 elements, but got 4",
        lambda: ConcatOffset(_late(1), [_late([2, 3, 5]), _late([2, 7, 5, 1])]),
    ),
    (
        r"input 1 should be a vector, but got shape \[1,3\]",
        lambda: ConcatOffset(_late(0), [_late([[2, 3, 5]]), _late([2, 7, 5])]),
    ),
    (
        r"Concat dim tensor should be a scalar integer, but got shape \[1\]",
        lambda: ConcatOffset(_late([0]), [_late([2, 3]), _late([2, 3])]),
    ),
    ("params must be at least 1 dimensional", lambda: tf.gather(_late(7), [0])),
    (
        r"Requested more than 0 entries, but params is empty.*\[0,2\]",
        lambda: tf.gather_nd(_late(tf.zeros([0, 2])), [[0], [0]]),
    ),
    ("indices must be at least a vector", lambda: tf.gather_nd(_late([1, 2]), _late(0))),
    ("Paddings must be non-negative: -1 0", lambda: tf.pad([1, 2], _late([[-1, 0]]))),
    (
        r"Rank of input \(2\) must be no greater than rank of output shape \(1\)",
        lambda: tf.broadcast_to([[1, 2]], _late([2])),
    ),
    (
        "Expected multiples argument to be a vector of length 2 but got length 3",
        lambda: tf.tile(_late([[1], [2]]), _late([1, 2, 3])),
    ),
    (
        r"value_range\[0\] < value_range\[1\], but got '\[10, 0\]'",
        lambda: tf.histogram_fixed_width([1.0], _late([10.0, 0.0])),
    ),
    ("diagonal must be at least 1-dim", lambda: tf.matrix_diag(_late(0.0))),
    ("input must be at least 2-dim", lambda: tf.matrix_diag_part(_late([0.0]))),
    ("input must be at least 2-dim", lambda: tf.matrix_set_diag(_late([0.0]), _late([1.0]))),
    (
        r"num_lower must be scalar, got shape \[1\]",
        lambda: tf.matrix_band_part([[1.0]], _late([0]), _late(0)),
    ),
    (
        "cannot be a resource variable",
        lambda: tf.guarantee_const(tf.Variable(1, use_resource=True).handle),
    ),
]


@pytest.mark.parametrize(("message", "build"), CASES)
def test_message(message: str, build: Callable[[], Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fetched = build()
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(fetched)


def test_a_part_of_a_constant_cannot_be_assigned() -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="Sliced assignment is only supported for variables"),
    ):
        tf.constant([1, 2])[0].assign(5)


@pytest.mark.parametrize(
    ("error", "message", "build"),
    [
        (
            ValueError,
            '"EXPLICIT" is not a valid value for the padding parameter',
            lambda: tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1]), 1, "EXPLICIT"),
        ),
        (
            ValueError,
            "strides should be of length 1, 2 or 4 but was 3",
            lambda: tf.nn.convolution(
                tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1]), "SAME", strides=[1, 1, 1]
            ),
        ),
        (TypeError, "t_list should be a sequence", lambda: tf.clip_by_global_norm(np.ones(2), 1.0)),
        (ValueError, "Dimension must be 3 but is 2 for", lambda: tf.cross([[1, 2]], [[1, 2]])),
    ],
)
def test_refusals_of_functions(error: Any, message: str, build: Callable[[], Any]) -> None:
    with pytest.raises(error, match=message):
        build()
