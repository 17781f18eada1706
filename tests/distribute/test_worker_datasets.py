"""Shares of workers, copies of datasets, and sums of slices: what TensorFlow's own code asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths import slice_gradients, worker_datasets
from penstock.internal_paths.graph_mode import eager_mode
from penstock.testing import memory_growth


def _elements(dataset: Any) -> list[Any]:
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def test_a_worker_has_its_share_of_the_files(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"a{number}\nb{number}\n")
    names = [str(tmp_path / f"{number}.txt") for number in range(4)]
    with tf.Graph().as_default():
        lines = tf.data.TextLineDataset(names)
        share = worker_datasets.auto_shard_dataset(lines, 2, 1)
        assert _elements(share) == [b"a1", b"b1", b"a3", b"b3"]
        options = tf.data.Options()
        options.experimental_distribute.auto_shard = False
        whole = worker_datasets.auto_shard_dataset(lines.with_options(options), 2, 1)
        assert len(_elements(whole)) == 8


def test_copies_are_made_by_nodes_of_their_own() -> None:
    with tf.Graph().as_default():
        numbers = tf.data.Dataset.range(3)
        dataset = tf.data.Dataset.zip((numbers.map(tf.square), numbers))
        copy = worker_datasets._clone_dataset(dataset)
        assert copy._variant_tensor.op is not dataset._variant_tensor.op
        assert copy.element_spec == dataset.element_spec
        assert _elements(copy) == [(0, 0), (1, 1), (4, 2)]


def test_a_dataset_class_may_ask_for_its_elements_before_it_is_made() -> None:
    class Passed(tf.data.UnaryUnchangedStructureDataset):  # type: ignore[misc]
        def __init__(self, input_dataset: Any):
            self._input_dataset = input_dataset
            assert self._flat_structure["output_types"] == [tf.int64]
            super().__init__(input_dataset, input_dataset._variant_tensor)

    with tf.Graph().as_default():
        assert _elements(Passed(tf.data.Dataset.range(2))) == [0, 1]


def test_the_end_of_an_eager_iterator_as_an_error() -> None:
    with eager_mode():
        iterator = iter(tf.data.Dataset.range(1))
        assert iterator._next_internal().numpy() == 0
        with pytest.raises(tf.errors.OutOfRangeError):
            iterator._next_internal()


def test_sums_of_slices() -> None:
    with eager_mode():
        first = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]), [3, 1])
        second = tf.IndexedSlices(
            tf.constant([[5.0]]), tf.constant([2], tf.int64), tf.constant([3, 1])
        )
        total = slice_gradients.aggregate_indexed_slices_gradients([first, None, second])
        assert isinstance(total, tf.IndexedSlices) and total.indices.dtype == tf.int64
        np.testing.assert_array_equal(tf.convert_to_tensor(total).numpy(), [[1], [0], [7]])
        mixed = slice_gradients.aggregate_indexed_slices_gradients([second, tf.ones([3, 1])])
        np.testing.assert_array_equal(mixed.numpy(), [[1], [1], [6]])
        assert slice_gradients.aggregate_indexed_slices_gradients([]) is None
        assert slice_gradients.aggregate_indexed_slices_gradients([first]) is first
        nested = tf.IndexedSlices(
            tf.IndexedSlices(tf.constant([[9.0]]), tf.constant([1])), tf.constant([4, 6])
        )
        flat = slice_gradients.flatten_nested_indexed_slices(nested)
        assert flat.indices.numpy().tolist() == [6] and flat.values.numpy().tolist() == [[9.0]]


def test_growing_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    monkeypatch.setattr(memory_growth, "_used", lambda: float(len(kept)))
    memory_growth.assert_no_leak(lambda: None, num_iters=20)
    with pytest.raises(AssertionError, match="MB are too many"):
        memory_growth.assert_no_leak(lambda: kept.append(1), num_iters=20)
