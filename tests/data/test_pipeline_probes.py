"""Transformations and functions inside `tf.data` that TensorFlow's own tests use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from penstock.python.data.experimental.ops import counter, matching_files, optimization, sleep
from penstock.python.data.util import sparse, traverse

import penstock as tf


def _values(dataset: Any) -> list[Any]:
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def test_elements_stay_as_they_are(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        data = (
            tf.data.Dataset.range(3).apply(optimization.assert_next(["Map"])).map(lambda x: x * 2)
        )
        data = data.apply(sleep.sleep(1)).apply(optimization.non_serializable())
        data = data.apply(optimization.model()).apply(optimization.optimize(["map_fusion"]))
        assert _values(data) == [0, 2, 4]
        names = [op.type for op in traverse.obtain_all_variant_tensor_ops(data)]
        assert names[0] == "OptimizeDataset" and names[-2:] == ["AssertNextDataset", "RangeDataset"]
        assert _values(counter.CounterV2(1, 3).take(2)) == [1, 4]
        for name in ("b.txt", "a.txt"):
            (tmp_path / name).touch()
        files = matching_files.MatchingFilesDataset(str(tmp_path / "*.txt"))
        assert [Path(name.decode()).name for name in _values(files)] == ["a.txt", "b.txt"]
    with pytest.raises(ValueError, match="At least one transformation"):
        optimization.assert_next(None)


def test_sparse_tensors_travel_as_variants() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        element = {"a": tf.SparseTensor([[0, 1]], [5], [2, 2]), "b": tf.constant(1)}
        packed = sparse.serialize_sparse_tensors(element)
        assert packed["a"].dtype == tf.variant and packed["b"] is element["b"]
        classes = sparse.get_classes(element)
        types, shapes = {"a": tf.int32, "b": tf.int32}, {"a": tf.TensorShape([2, 2]), "b": None}
        again = sparse.deserialize_sparse_tensors(packed, types, shapes, classes)
        assert session.run(again["a"]).values.tolist() == [5]
        assert sparse.serialize_many_sparse_tensors(element)["a"].shape.as_list() == [None, 3]
