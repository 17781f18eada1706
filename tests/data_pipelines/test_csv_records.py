"""The records of CSV files: quotes, ends of lines, and what is wrong with a record."""

from __future__ import annotations

import io
from unittest import mock

import pytest

import penstock as tf
from penstock.kernels.datasets import csv_parsing

_UNQUOTED = "Unquoted fields cannot have quotes inside"
_UNESCAPED = "Quote inside a string has to be escaped by another quote"
_UNCLOSED = "Reached end of file without closing quoted field in record"

CASES = {
    b"": [],
    b"\n": [([b""], None)],
    b"a,b\nc,": [([b"a", b"b"], None), ([b"c", b""], None)],
    b"a\r\nb\rc\n\nd": [([each], None) for each in (b"a", b"b", b"c", b"", b"d")],
    b'"x,y","1\n2\r\n3"\nz,"""q"""\n': [
        ([b"x,y", b"1\n2\r\n3"], None),
        ([b"z", b'"q"'], None),
    ],
    b'1,2"3,4\nok': [([b"1", b'2"3', b"4"], _UNQUOTED), ([b"ok"], None)],
    b'"a"b",c\nok': [([b'a"b', b"c"], _UNESCAPED), ([b"ok"], None)],
    b'a,"b': [([b"a", b"b"], _UNCLOSED)],
    b'"",""': [([b"", b""], None)],
}


@pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
@pytest.mark.parametrize("content", CASES)
def test_records(content, chunk):
    with mock.patch.object(csv_parsing, "_CHUNK", chunk):
        file = csv_parsing.CsvFile(io.BytesIO(content), b",", quotes=True)
        found = []
        while (record := file.read()) is not None:
            found.append(record)
        file.close()
    assert found == CASES[content]


def test_quotes_may_be_letters_as_others():
    file = csv_parsing.CsvFile(io.BytesIO(b'"a,b"\n'), b",", quotes=False)
    assert file.read() == ([b'"a', b'b"'], None)
    file.close()


WRONG = {
    "1,2,3": (r"Expect 2 fields but have more in record", {}),
    "1": (r"Expect 2 fields but have 1 in record", {}),
    "1,": (r"Field 1 is required but missing in record!", {"record_defaults": [[0], tf.int32]}),
    "1,x": (r"Field 1 in record is not a valid int32: x", {}),
    "1,2": (r"buffer_size should be positive", {"buffer_size": 0}),
    "": (r"Can't read header of file", {"header": True}),
}


@pytest.mark.parametrize("content", WRONG)
def test_what_is_wrong(content, tmp_path):
    message, settings = WRONG[content]
    (tmp_path / "a.csv").write_text(content)
    settings = {"record_defaults": [[0], [0]], **settings}
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.experimental.CsvDataset(str(tmp_path / "a.csv"), **settings)
        element = dataset.make_one_shot_iterator().get_next()
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(element)


def test_the_records_behind_a_wrong_one_are_read(tmp_path):
    (tmp_path / "a.csv").write_text('1,"2"3",4\na,b"c,d\ne,f,g\n')
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.experimental.CsvDataset(str(tmp_path / "a.csv"), [[""]] * 3)
        dataset = dataset.apply(tf.data.experimental.ignore_errors())
        element = dataset.make_one_shot_iterator().get_next()
        assert sess.run(element) == (b"e", b"f", b"g")
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(element)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([2, 0], "strictly increasing"),
        ([-1, 0], "non-negative"),
        ([1], "should match output size"),
    ],
)
def test_wrong_choices_of_columns(tmp_path, columns, message):
    path = tmp_path / "a.csv"
    path.write_text("1,2,3\n")
    dataset = tf.data.experimental.CsvDataset(str(path), [tf.int32] * 2, select_cols=columns)
    iterator = dataset.make_initializable_iterator()
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(iterator.initializer)


def test_the_first_thing_that_is_wrong_is_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\nx\n1\n1,2,3\n")
    dataset = tf.data.experimental.CsvDataset(str(path), [tf.int32] * 2)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        for message in (
            "Field 0 is required but missing",
            "Field 0 in record is not a valid int32: x",
            "Expect 2 fields but have 1 in record",
            "Expect 2 fields but have more in record",
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(element)
