"""Functions of strings that give ragged tensors."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from tests.ragged.rows import rows


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def test_words() -> None:
    text = [["a b", "c"], ["", "d e f"]]
    expected = [[[b"a", b"b"], [b"c"]], [[], [b"d", b"e", b"f"]]]
    assert rows(tf.strings.split(text, result_type="RaggedTensor")) == expected
    sparse = tf.strings.split(text)
    assert rows(sparse.values) == [b"a", b"b", b"c", b"d", b"e", b"f"]
    assert rows(tf.strings.split("a b", result_type="RaggedTensor")) == [b"a", b"b"]
    ragged = tf.string_split(["a,b", "c"], ",", result_type="RaggedTensor")
    assert rows(ragged) == [[b"a", b"b"], [b"c"]]
    for split in (tf.strings.split, tf.string_split):
        with pytest.raises(
            ValueError, match="result_type must be 'RaggedTensor' or 'SparseTensor'"
        ):
            split(["a"], result_type="list")


def test_characters() -> None:
    text = ["aé".encode(), b""]
    assert rows(tf.strings.unicode_decode(text, "UTF-8")) == [[97, 233], []]
    assert rows(tf.strings.unicode_split(text, "UTF-8")) == [[b"a", "é".encode()], []]
    assert rows(tf.strings.bytes_split(["ab", "c"])) == [[b"a", b"b"], [b"c"]]
    pairs = list(tf.strings.unicode_decode_with_offsets(["éa".encode()], "UTF-8"))
    assert rows(pairs) == [[[233, 97]], [[0, 2]]]
    pairs = list(tf.strings.unicode_split_with_offsets("éa".encode(), "UTF-8"))
    assert rows(pairs) == [["é".encode(), b"a"], [0, 2]]


def test_code_points() -> None:
    nested = tf.ragged.constant([[[97, 98], []], [[233]]])
    assert rows(tf.strings.unicode_encode(nested, "UTF-8")) == [[b"ab", b""], ["é".encode()]]
    assert rows(tf.strings.unicode_encode([97, 98], "UTF-8")) == b"ab"
    cube = tf.strings.unicode_encode([[[97], [98]], [[99], [100]]], "UTF-8")
    assert rows(cube) == [[b"a", b"b"], [b"c", b"d"]]
    with pytest.raises(ValueError, match="rank must be at least 1"):
        tf.strings.unicode_encode(97, "UTF-8")


def test_ngrams() -> None:
    text = tf.ragged.constant([["a", "b", "c"], ["d"]])
    assert rows(tf.strings.ngrams(text, 2)) == [[b"a b", b"b c"], []]
    padded = tf.strings.ngrams(text, 2, separator="|", pad_values=("<", ">"))
    assert rows(padded) == [[b"<|a", b"a|b", b"b|c", b"c|>"], [b"<|d", b"d|>"]]
    assert rows(tf.strings.ngrams(["a", "b"], [1, 2])) == [b"a", b"b", b"a b"]
    assert rows(tf.strings.ngrams([["a", "b"], ["c", "d"]], 2)) == [[b"a b"], [b"c d"]]
    with pytest.raises(ValueError, match="All ngram_widths must be greater than 0"):
        tf.strings.ngrams(text, 0)
    with pytest.raises(ValueError, match="pad_values must be provided if padding_width is set"):
        tf.strings.ngrams(text, 1, padding_width=1)
