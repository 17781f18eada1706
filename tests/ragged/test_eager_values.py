"""Ragged tensors that have values."""

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode


def test_they_show_and_give_their_rows():
    with eager_mode():
        ragged = tf.ragged.constant([[[1], []], [[2, 3]]])
        assert repr(ragged) == str(ragged) == "<tf.RaggedTensor [[[1], []], [[2, 3]]]>"
        assert [row.to_list() for row in ragged] == [[[1], []], [[2, 3]]]
        assert ragged._eager_value().to_list() == ragged.to_list()
        flat = tf.ragged.constant([[1, 2], [3]])
        assert [row.numpy().tolist() for row in flat] == [[1, 2], [3]]
