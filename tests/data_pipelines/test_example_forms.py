"""Examples that are read by their common form are those that protobuf reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock as tf
from penstock.kernels.example_forms import ExampleForms
from penstock.kernels.example_parsing import Dense

COLUMNS = [Dense("pair", tf.float32, (2,)), Dense("id", tf.int64, ())]


def _example(
    number: int, pair: Any = (1.5, -2.0), note: bytes | None = None, **more: list[int]
) -> bytes:
    example = tf.train.Example()
    feature = example.features.feature
    feature["id"].int64_list.value.append(number)
    feature["pair"].float_list.value.extend(pair)
    if note is not None:
        feature["note"].bytes_list.value.append(note)
    for key, values in more.items():
        feature[key].int64_list.value.extend(values)
    return bytes(example.SerializeToString())


@given(
    st.lists(st.sampled_from([0, 1, 127, 128, 300, -1, 2**40, -(2**63)]), min_size=64, max_size=80)
)
@settings(max_examples=30, deadline=None)
def test_numbers_of_any_length(numbers: list[int]) -> None:
    records = [
        _example(number, (place, -place), note=b"%03d" % place)
        for place, number in enumerate(numbers)
    ]
    found = ExampleForms(COLUMNS).read(records)
    if found is None:  # too many lengths for so few records
        assert len({len(record) for record in records}) > len(records) // 8
        return
    pairs, ids = found
    assert ids.tolist() == numbers
    np.testing.assert_array_equal(pairs[:, 0], np.arange(len(numbers)))
    np.testing.assert_array_equal(pairs[:, 1], -np.arange(len(numbers)))


def test_is_used_for_records_alike() -> None:
    records = [_example(number) for number in range(40)]
    forms = ExampleForms(COLUMNS)
    for _ in range(2):  # the second time the form is known
        found = forms.read(records)
        assert found is not None
        assert found[1].tolist() == list(range(40))
    assert forms.read(records[:3]) is None, "too few"


def test_features_in_another_order() -> None:
    def written(number: int, keys: tuple[str, str]) -> bytes:
        values = {
            "id": b"\x1a\x03\x0a\x01" + bytes([number]),
            "pair": b"\x12\x0a\x0a\x08" + np.array([number, 7], "<f4").tobytes(),
        }
        entries = b""
        for key in keys:
            entry = b"\x0a" + bytes([len(key)]) + key.encode()
            entry += b"\x12" + bytes([len(values[key])]) + values[key]
            entries += b"\x0a" + bytes([len(entry)]) + entry
        return b"\x0a" + bytes([len(entries)]) + entries

    orders = ("id", "pair"), ("pair", "id")
    records = [written(number, orders[number % 3 == 0]) for number in range(32)]
    assert len({len(record) for record in records}) == 1
    found = ExampleForms(COLUMNS).read(records)
    assert found is not None
    assert found[1].tolist() == list(range(32))
    assert found[0][:, 0].tolist() == list(range(32))


UNUSUAL = {
    "missing": [tf.train.Example().SerializeToString()],
    "other size": [_example(1, (1.0, 2.0, 3.0))],
    "other type": [_example(5).replace(b"\x1a\x03\x0a\x01", b"\x0a\x03\x0a\x01")],
    "no end of a number": [_example(1).replace(b"\x1a\x03\x0a\x01\x01", b"\x1a\x03\x0a\x01\x81")],
    "cut off": [_example(1)[:-3]],
    "not an example": [b"\xff" * len(_example(1))],
}


@pytest.mark.parametrize("what", UNUSUAL)
def test_unusual_records_are_left_to_the_general_way(what: str) -> None:
    records = [_example(number) for number in range(32)] + UNUSUAL[what]
    assert ExampleForms(COLUMNS).read(records) is None


@pytest.mark.parametrize("what", UNUSUAL)
def test_errors_are_those_of_the_general_way(what: str) -> None:
    features = {
        "pair": tf.FixedLenFeature([2], tf.float32),
        "id": tf.FixedLenFeature([], tf.int64),
    }
    serialized = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(serialized, features)
    messages = []
    with tf.Session() as sess:
        for before in (40, 0):
            records = [_example(number) for number in range(before)] + UNUSUAL[what]
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                sess.run(parsed, {serialized: records})
            first_line = caught.value.message.split("\n")[0].split(" (inputs")[0]
            messages.append(first_line.replace("Index: 40", "Index: 0"))
    assert messages[0] == messages[1]


def test_a_default_stands_for_what_is_missing() -> None:
    features = {"id": tf.FixedLenFeature([], tf.int64, default_value=-5)}
    records = [_example(number) for number in range(40)]
    records[7] = bytes(tf.train.Example().SerializeToString())
    with tf.Session() as sess:
        found = sess.run(tf.parse_example(records, features))["id"]
    assert found.tolist() == [*range(7), -5, *range(8, 40)]


def test_an_empty_map_entry_of_a_feature_nobody_asks_for() -> None:
    records = [_example(number, other=[1, 2]) for number in range(20)]
    found = ExampleForms(COLUMNS).read(records)
    assert found is not None
    assert found[1].tolist() == list(range(20))
