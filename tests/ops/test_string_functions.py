"""Functions of strings as programs call them, and the words of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


def _run(fetches: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches)


def test_words_counted_by_hash() -> None:
    words = tf.string_split(["the quick fox", "the end"]).values
    buckets = tf.string_to_hash_bucket_fast(words, 1000)
    the, *_, also_the, _ = _run(buckets).tolist()
    assert the == also_the


def test_all_strings_of_one_hash_call_are_hashed_alike() -> None:
    """One string at a time, and many of one length at once, are two ways through the code."""
    words = [f"word {i}" for i in range(1000)]
    together = _run(tf.string_to_hash_bucket_fast(words, 2**40))
    alone = [_run(tf.string_to_hash_bucket_fast(word, 2**40)) for word in words[::100]]
    assert together[::100].tolist() == alone


def test_a_bad_pattern_is_named() -> None:
    for pattern in (r"(\1", tf.constant(r"(\1")):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern: "):
            _run(tf.regex_replace("a", pattern, "b"))


def test_a_number_that_is_none_is_named() -> None:
    message = "StringToNumberOp could not correctly convert string: five"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(tf.string_to_number(["4", "five"]))


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (["1,2", "1"], "Expect 2 fields but have 1 in record 1"),
        (["1,x"], "Field 1 in record 0 is not a valid float: x"),
        ([",2"], "Field 0 is required but missing in record 0!"),
        (['1,"2'], "Quoted field has to end with quote followed by delim or end"),
    ],
)
def test_a_record_that_is_wrong_is_named(records: list[str], message: str) -> None:
    columns = tf.decode_csv(records, [tf.constant([], tf.int32), [0.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(columns)


def test_raw_bytes_of_another_size_are_refused() -> None:
    message = "DecodeRaw requires input strings to all be the same size"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(tf.decode_raw(["ab", "abc"], tf.uint8))


def test_decoded_bytes_are_their_own() -> None:
    decoded = tf.decode_raw("abcd", tf.uint8)
    with tf.Session() as sess:
        first = sess.run(decoded)
        first += 1
        assert sess.run(decoded).tobytes() == b"abcd"


def test_csv_of_many_records() -> None:
    rows = np.random.RandomState(0).uniform(-1, 1, [200, 3]).astype(np.float32)
    records = [",".join(map(str, row)) for row in rows]
    columns = _run(tf.decode_csv(records, [[0.0]] * 3))
    np.testing.assert_allclose(np.stack(columns, 1), rows, rtol=1e-6)
