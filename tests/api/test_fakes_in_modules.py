"""A test that replaces a function of a TensorFlow module replaces it for Penstock's own code."""

from __future__ import annotations

from unittest import mock

from penstock.python.ops import random_ops, sparse_ops
from penstock.python.platform import tf_logging

import penstock as tf
from penstock.ops import initializers, random
from penstock.platform import logging


def test_patches_reach_the_source_and_are_undone() -> None:
    original = logging.info
    for _ in range(2):  # the second time the name has been looked up before
        with mock.patch.object(tf_logging, "info") as fake:
            logging.info("text")
        assert fake.call_args == mock.call("text")
        assert logging.info is original and tf_logging.info is original


def test_assignments_reach_the_source() -> None:
    original = tf_logging.info
    lines: list[str] = []
    tf_logging.info = lines.append
    try:
        logging.info("text")
    finally:
        tf_logging.info = original
    assert lines == ["text"] and logging.info is original


def test_patches_reach_those_who_imported_the_function() -> None:
    original = random.truncated_normal
    with mock.patch.object(random_ops, "truncated_normal", wraps=original) as fake:
        tf.variance_scaling_initializer()([2, 3])
    assert fake.called
    assert initializers.truncated_normal is random.truncated_normal is original


def test_modules_have_the_generated_ones_among_their_names() -> None:
    assert sparse_ops.gen_sparse_ops.sparse_reduce_max.__name__ == "sparse_reduce_max"
