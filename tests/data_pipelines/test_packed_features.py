"""Features decoded from their bytes have the values that protobuf reads, whatever their form."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given
from hypothesis import strategies as st

import penstock as tf
from penstock import proto
from penstock.kernels.packed_features import KINDS, WrongKind, split_examples, varint

_FIELDS = {tf.string: "bytes_list", tf.float32: "float_list", tf.int64: "int64_list"}
_TAGS = {"bytes_list": b"\x0a", "float_list": b"\x12", "int64_list": b"\x1a"}
_VALUES = {
    "bytes_list": st.binary(max_size=140),
    "float_list": st.floats(width=32, allow_nan=False),
    "int64_list": st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 127)),
}


def _written(field, values):
    feature = proto.Feature()
    getattr(feature, field).value.extend(values)
    getattr(feature, field).SetInParent()
    return feature.SerializeToString()


def _one_by_one(field, values):
    """A list whose values are not packed: each has a tag of its own."""
    if field == "int64_list":
        parts = b"".join(b"\x08" + varint(value % 2**64) for value in values)
    elif field == "float_list":
        parts = b"".join(b"\x0d" + np.float32(value).tobytes() for value in values)
    else:
        return _written(field, values)
    return _TAGS[field] + varint(len(parts)) + parts


def _in_two_lists(field, values):
    half = len(values) // 2
    return _written(field, values[:half]) + _written(field, values[half:])


def _with_unknown_field(field, values):
    return _written(field, values) + b"\x48\x05"


_FORMS = (_written, _one_by_one, _in_two_lists, _with_unknown_field)


@st.composite
def _column(draw):
    field = draw(st.sampled_from(sorted(_VALUES)))
    lists = draw(st.lists(st.lists(_VALUES[field], max_size=40), min_size=1, max_size=8))
    return field, [draw(st.sampled_from(_FORMS))(field, values) for values in lists]


@given(_column())
def test_values_are_those_of_protobuf(column):
    field, messages = column
    dtype = next(each for each in _FIELDS if _FIELDS[each] == field)
    kind = KINDS[dtype]
    payloads = kind.payloads(messages)
    present = [kind.nothing if payload is None else payload for payload in payloads]
    values, counts = kind.decoded(present)
    expected = [list(getattr(proto.Feature.FromString(each), field).value) for each in messages]
    assert counts.tolist() == [len(each) for each in expected]
    assert values.tolist() == [value for each in expected for value in each]


@example(tf.float32, b"\xff", False)
@example(tf.int64, b"\xff" * 9 + b"\x7f" + b"\x01" * 20, True)
@example(tf.int64, b"\xff" * 10 + b"\x01" * 20, True)
@given(st.sampled_from(sorted(_FIELDS, key=str)), st.binary(max_size=40), st.booleans())
def test_any_bytes_are_read_or_refused_as_by_protobuf(dtype, data, framed):
    field = _FIELDS[dtype]
    if framed:  # with the beginning that a list of these values has
        data = _TAGS[field] + varint(len(data) + 2) + b"\x0a" + varint(len(data)) + data
    try:
        message = proto.Feature.FromString(data)
    except DecodeError:
        message = None
    kind = KINDS[dtype]
    try:
        (payload,) = kind.payloads([data])
        found = [] if payload is None else kind.decoded([payload])[0].tolist()
    except WrongKind:
        assert message is not None and message.WhichOneof("kind") != field
        return
    except tf.errors.InvalidArgumentError:
        assert message is None
        return
    assert message is not None
    np.testing.assert_array_equal(found, list(getattr(message, field).value))


def test_examples_keep_the_last_of_equal_keys():
    def entry(key, feature):
        body = b"\x0a" + varint(len(key)) + key + b"\x12" + varint(len(feature)) + feature
        return b"\x0a" + varint(len(body)) + body

    features = entry(b"a", _written("int64_list", [1])) + entry(b"a", _written("int64_list", [2]))
    serialized = b"\x0a" + varint(len(features)) + features
    (example,) = split_examples([serialized])
    assert example.get("a") == _written("int64_list", [2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
        split_examples([b"\x0a\xff"])
