"""Arrays as datasets by way of variables: what `tensorflow.python.distribute.numpy_dataset` has."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import penstock as tf
from penstock.distribute import array_datasets
from penstock.internal_paths.graph_mode import eager_mode


def test_a_variable_is_filled_slice_by_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_datasets, "_SLICE_BYTES", 24)  # two rows of eight bytes, and a bit
    rows = np.arange(14, dtype=np.float32).reshape(7, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.zeros_like(rows))
        array_datasets.init_var_from_numpy(variable, rows, session)
        assert session.run(variable).tolist() == rows.tolist()
        with pytest.raises(AssertionError, match="needs a session"):
            array_datasets.init_var_from_numpy(variable, rows, None)


def test_a_variable_of_eager_mode_is_assigned() -> None:
    with eager_mode():
        variable = tf.Variable([0, 0])
        array_datasets.init_var_from_numpy(variable, np.array([1, 2], np.int32), None)
        assert variable.numpy().tolist() == [1, 2]


@pytest.mark.parametrize("in_scope", [False, True])
def test_a_dataset_of_the_rows_of_arrays(in_scope: bool) -> None:
    arrays = {"a": np.arange(6.0).reshape(3, 2), "b": np.arange(3)}
    place = array_datasets.SingleDevice("/cpu:0")
    with tf.Graph().as_default(), tf.Session() as session:
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        with strategy.scope() if in_scope else nullcontext():
            dataset = array_datasets.one_host_numpy_dataset(arrays, place, session)
        assert [v.trainable for v in tf.global_variables()] == [False, False]
        iterator = tf.data.make_initializable_iterator(dataset)
        session.run(iterator.initializer)
        following = iterator.get_next()
        found = [session.run(following) for _ in range(3)]
    assert [each["a"].tolist() for each in found] == arrays["a"].tolist()
    assert [each["b"] for each in found] == [0, 1, 2]
