"""A test that replaces a function of a TensorFlow module replaces it for Penstock's own code."""

from __future__ import annotations

from unittest import mock

from penstock.python.platform import tf_logging

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
