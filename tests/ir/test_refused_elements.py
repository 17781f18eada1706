"""What graphs and specs refuse, in the words of TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf
from penstock.ir.bounded_tensor_spec import BoundedTensorSpec


def _entered(block: Any) -> None:
    with block:
        pass


def _other() -> Any:
    with tf.Graph().as_default():
        return tf.constant([1.0, 2.0], name="a")


def _graph() -> Any:
    return tf.get_default_graph()


CASES: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    'Tensor Tensor("a:0", shape=(2,), dtype=float32) is not an element of this graph.': (
        ValueError,
        lambda: _graph().as_graph_element(_other()),
    ),
    "but ignore_existing is not True": (ValueError, lambda: _entered(tf.colocate_with(None))),
    "op_type_map must be a dictionary mapping strings to strings": (
        TypeError,
        lambda: _entered(_graph().gradient_override_map({"a": 3})),
    ),
    "Op type not registered 'Foo'": (
        tf.errors.NotFoundError,
        lambda: _graph().create_op("Foo", [], []),
    ),
    "Input #0 is not a tensor: 3": (
        TypeError,
        lambda: _graph().create_op("Identity", [3], [tf.float32]),
    ),
    "op must be an Operation: 3": (TypeError, lambda: tf.no_op()._add_control_input(3)),
    "`tensor` should be a tf.Tensor": (ValueError, lambda: tf.TensorSpec.from_tensor(3)),
    "Incompatible shapes for broadcasting: (3,) and (2,)": (
        ValueError,
        lambda: BoundedTensorSpec([2], tf.float32, [1, 2, 3], 1),
    ),
}


@pytest.mark.parametrize("words", CASES)
def test_refused(words: str) -> None:
    error, build = CASES[words]
    with tf.Graph().as_default(), pytest.raises(error) as refused:
        build()
    assert words in str(refused.value)


def test_a_number_is_compared_with_a_spec() -> None:
    assert not tf.TensorSpec([1]).is_compatible_with(3)
    assert tf.TensorSpec([], tf.int32).is_compatible_with(3)
