"""Functions under the names that TensorFlow gives their second signature."""

from __future__ import annotations

import importlib
import inspect

import pytest

import penstock as tf
from penstock.internal_paths import second_signatures

array_ops, math_ops, nn_ops, sparse_ops, string_ops = (
    importlib.import_module(f"penstock.python.ops.{name}")
    for name in ("array_ops", "math_ops", "nn_ops", "sparse_ops", "string_ops")
)


@pytest.mark.parametrize("name", sorted(second_signatures._lines()))
def test_the_public_function_takes_the_arguments(name: str) -> None:
    rest = second_signatures._lines()[name].partition(")")[2]
    path, *changes = rest.split()
    names = dict(change.split(">") for change in changes if ">" in change)
    taken = inspect.signature(second_signatures._public(path.removeprefix("."))).parameters
    own = inspect.signature(getattr(second_signatures, name)).parameters
    for argument in own:
        target = names.get(argument, argument)
        assert not target or target in taken
    fixed = {change.partition("=")[0] for change in changes if "=" in change}
    assert fixed <= taken.keys() - own.keys()


@pytest.mark.parametrize("name", sorted(second_signatures._SAME))
def test_other_names_lead_to_public_functions(name: str) -> None:
    assert callable(getattr(second_signatures, name))


def test_values() -> None:
    sparse = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 5.0], [2, 2])
    with tf.Session() as session:
        assert session.run(math_ops.argmax_v2([[1, 3], [4, 2]], 1)).tolist() == [1, 0]
        assert session.run(array_ops.boolean_mask_v2([1, 2], [True, False], 0)).tolist() == [1]
        assert session.run(nn_ops.in_top_k_v2([1], [[0.1, 0.9]], 1)).tolist() == [True]
        assert session.run(string_ops.reduce_join_v2([["a", "b"]], 1, True, "-")).tolist() == [
            [b"a-b"]
        ]
        assert session.run(sparse_ops.sparse_reduce_sum_v2(sparse, 0)).tolist() == [1.0, 5.0]
        found = session.run(sparse_ops.sparse_reduce_max_v2(sparse, 0, output_is_sparse=True))
        assert found.values.tolist() == [1.0, 5.0]


def test_arguments_in_their_second_order() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'rate'"):
        nn_ops.dropout_v2([1.0])
    x, w = tf.zeros([1, 5, 5, 2]), tf.zeros([3, 3, 2, 4])
    assert nn_ops.conv2d_v2(x, w, 1, "VALID").shape == [1, 3, 3, 4]
    assert nn_ops.convolution_v2(x, w, dilations=2).shape == [1, 1, 1, 4]
