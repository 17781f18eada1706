"""The words in which losses refuse their arguments while a graph is built."""

import pytest

import penstock as tf

sparse = tf.nn.sparse_softmax_cross_entropy_with_logits
sigmoid = tf.nn.sigmoid_cross_entropy_with_logits

CASES = [
    (sparse, [[0, 2]], [[0.0, 1.0]], r"Rank mismatch: Rank of labels \(received 2\) should equal"),
    (sparse, [0, 2, 1], [[0.0, 1.0]], r"Shape mismatch: The shape of labels \(received \(3,\)\)"),
    (sparse, 0, 1.0, "Logits cannot be scalars"),
    (sigmoid, [1.0, 2.0], [[1.0, 2.0]], "logits and labels must have the same shape"),
    (tf.nn.softmax_cross_entropy_with_logits, [1.0], None, "Both labels and logits must be prov"),
]


@pytest.mark.parametrize(("function", "labels", "logits", "words"), CASES)
def test_refused(function, labels, logits, words):
    with pytest.raises(ValueError, match=words):
        function(labels=labels, logits=logits)
