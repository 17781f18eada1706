"""Ragged tensors as elements of datasets; RaggedTensorToVariant, RaggedTensorFromVariant."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from tests.ragged.rows import rows


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def _first(dataset: Any) -> Any:
    return tf.data.make_one_shot_iterator(dataset).get_next()


def test_whole() -> None:
    ragged = tf.ragged.constant([["a"], [], ["b", "c"]])
    element, number = _first(tf.data.Dataset.from_tensors((ragged, 7)))
    assert rows([element, number]) == [[[b"a"], [], [b"b", b"c"]], 7]
    assert element.shape.as_list() == [3, None]


def test_row_by_row() -> None:
    ragged = tf.ragged.constant([[[1, 2], []], [], [[3]]])
    dataset = tf.data.Dataset.from_tensor_slices(ragged)
    assert rows(_first(dataset)) == [[1, 2], []]
    batches = dataset.map(lambda row: row + 1).batch(3)
    assert rows(_first(batches)) == [[[2, 3], []], [], [[4]]]


def test_encoded() -> None:
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    whole = tf.RaggedTensor._from_variant(ragged._to_variant(), tf.float32, 1, 1)
    by_rows = tf.RaggedTensor._from_variant(ragged._to_variant(True), tf.float32, 1, 0)
    assert rows([whole, by_rows]) == [[[1.0, 2.0], [3.0]]] * 2
    with pytest.raises(ValueError, match="output_ragged_rank must be equal"):
        tf.RaggedTensor._from_variant(ragged._to_variant(), tf.float32, 3, 1)
