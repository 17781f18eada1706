"""DecodeProtoV2 and EncodeProto: messages of any type. What comes out is TensorFlow 1.15's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

import penstock as tf

# Protobuf's numbers of field types, and the type of tensors that hold them.
TYPES = {
    "double": (1, tf.float64, 3.25),
    "float": (2, tf.float32, 0.5),
    "int64": (3, tf.int64, -(2**40)),
    "uint64": (4, tf.uint64, 2**63 + 1),
    "int32": (5, tf.int32, -9),
    "fixed64": (6, tf.uint64, 9),
    "fixed32": (7, tf.uint32, 2**31 + 1),
    "bool": (8, tf.bool, True),
    "string": (9, tf.string, "hi"),
    "bytes": (12, tf.string, b"\xff\x00"),
    "uint32": (13, tf.uint32, 2**31),
    "enum": (14, tf.int32, 7),
    "sfixed32": (15, tf.int32, -3),
    "sfixed64": (16, tf.int64, -4),
    "sint32": (17, tf.int32, -5),
    "sint64": (18, tf.int64, -6),
}
DEFAULTS = {"double": "1.5", "string": "abc", "enum": "SEVEN", "bool": "true", "sint32": "-8"}
OPTIONAL, REPEATED = 1, 3


def _schema() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="fields.proto", package="fields", syntax="proto2"
    )
    enum = file.enum_type.add(name="Numbers")
    enum.value.add(name="ZERO", number=0)
    enum.value.add(name="SEVEN", number=7)
    file.message_type.add(name="Inner").field.add(name="value", number=1, type=5, label=OPTIONAL)
    message = file.message_type.add(name="Outer")
    for number, (name, (kind, _, _)) in enumerate(TYPES.items()):
        one = message.field.add(name=f"one_{name}", number=3 * number + 1, label=OPTIONAL)
        many = message.field.add(name=f"many_{name}", number=3 * number + 2, label=REPEATED)
        packed = message.field.add(name=f"packed_{name}", number=3 * number + 3, label=REPEATED)
        packed.options.packed = name not in ("string", "bytes")
        for field in (one, many, packed):
            field.type = kind
            if name == "enum":
                field.type_name = ".fields.Numbers"
        if name in DEFAULTS:
            one.default_value = DEFAULTS[name]
    inner = message.field.add(name="inner", number=200, type=11, label=REPEATED)
    inner.type_name = ".fields.Inner"
    return file


SCHEMA = _schema()
SERIALIZED_SET = descriptor_pb2.FileDescriptorSet(file=[SCHEMA]).SerializeToString()
SOURCE = b"bytes://" + SERIALIZED_SET


def _message_class() -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(SCHEMA.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("fields.Outer"))


Outer = _message_class()
NAMES = [f"{kind}_{name}" for name in TYPES for kind in ("one", "many", "packed")]
DTYPES = [TYPES[name.split("_", 1)[1]][1] for name in NAMES]


def _full() -> Any:
    message = Outer()
    for name, (_, _, value) in TYPES.items():
        setattr(message, f"one_{name}", value)
        getattr(message, f"many_{name}").extend([value] * 3)
        getattr(message, f"packed_{name}").extend([value] * 2)
    message.inner.add(value=-2)
    return message


def _decode(messages: Any, names: Any = NAMES, dtypes: Any = DTYPES, **settings: Any) -> Any:
    decoded = tf.io.decode_proto(
        messages, "fields.Outer", names, dtypes, **{"descriptor_source": SOURCE, **settings}
    )
    with tf.Session() as session:
        return session.run([decoded.sizes, decoded.values])


def test_fields_of_every_type() -> None:
    sizes, values = _decode([_full().SerializeToString(), b""])
    assert sizes.tolist() == [[1, 3, 2] * len(TYPES), [0] * len(NAMES)]
    for name, dtype, value in zip(NAMES, DTYPES, values, strict=True):
        kind, type_name = name.split("_", 1)
        wanted = TYPES[type_name][2]
        wanted = wanted.encode() if isinstance(wanted, str) else wanted
        count = {"one": 1, "many": 3, "packed": 2}[kind]
        assert value.shape == (2, count) and value[0].tolist() == [wanted] * count, name
        if dtype is not tf.string:
            assert value.dtype == dtype.as_numpy_dtype


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("double", 1.5),
        ("string", b"abc"),
        ("enum", 7),
        ("bool", True),
        ("sint32", -8),
        ("int64", 0),
    ],
)
def test_defaults_stand_where_there_is_nothing(name: str, default: Any) -> None:
    sizes, [value] = _decode([[b""]], [f"one_{name}"], [TYPES[name][1]])
    assert sizes.tolist() == [[[0]]] and value.tolist() == [[[default]]]


def test_inner_messages_stay_serialized() -> None:
    sizes, [value] = _decode(_full().SerializeToString(), ["inner"], [tf.string])
    assert sizes.tolist() == [1] and value.tolist() == [b"\x08\xfe" + b"\xff" * 8 + b"\x01"]


def test_the_last_of_several_values_counts() -> None:
    data = b"".join(Outer(one_int32=n).SerializeToString() for n in (1, 2, 3))
    sizes, [value] = _decode([data], ["one_int32"], [tf.int64])
    assert sizes.tolist() == [[1]] and value.tolist() == [[3]]


def test_text_and_files(tmp_path: Path) -> None:
    path = tmp_path / "set"
    path.write_bytes(SERIALIZED_SET)
    text = text_format.MessageToString(_full()).encode()
    sizes, [value] = _decode(
        [text], ["many_double"], [tf.float64], message_format="text", descriptor_source=str(path)
    )
    assert sizes.tolist() == [[3]] and value.tolist() == [[3.25] * 3]


def test_messages_of_tensorflow_are_known() -> None:
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.append(3)
    decoded = tf.io.decode_proto(
        [example.SerializeToString()], "tensorflow.Example", ["features"], [tf.string]
    )
    assert decoded.sizes.shape == (1, 1) and decoded.values[0].shape.as_list() == [1, None]
    with tf.Session() as session:
        [[features]] = session.run(decoded.values[0])
    assert tf.train.Features.FromString(features) == example.features


def test_messages_come_back() -> None:
    given = [_full().SerializeToString(), b"", Outer(many_sint32=[1, -1]).SerializeToString()]
    sizes, values = _decode(given, [*NAMES, "inner"], [*DTYPES, tf.string])
    encoded = tf.io.encode_proto(
        sizes, values, [*NAMES, "inner"], "fields.Outer", descriptor_source=SOURCE
    )
    with tf.Session() as session:
        assert session.run(encoded).tolist() == given


def test_a_wide_number_is_cut() -> None:
    encoded = tf.io.encode_proto(
        [[1]], [np.array([[2**33 + 5]])], ["many_int32"], "fields.Outer", descriptor_source=SOURCE
    )
    with tf.Session() as session:
        [data] = session.run(encoded)
    assert Outer.FromString(data).many_int32 == [5]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"names": ["nope"], "dtypes": [tf.int32]}, "InvalidArgument", "Unknown field: nope in"),
        ({"names": ["one_int64"], "dtypes": [tf.int32]}, "InvalidArgument", "Unexpected output"),
        ({"names": ["one_int64"], "dtypes": []}, "InvalidArgument", "must have the same length"),
        ({"message_format": "json"}, "InvalidArgument", "must be one of binary or text"),
        ({"descriptor_source": b"bytes://x"}, "InvalidArgument", "Source does not represent"),
        ({"descriptor_source": "/no/such/file"}, "InvalidArgument", "Source does not represent"),
        ({"descriptor_source": "local://"}, "InvalidArgument", "No descriptor found for message"),
        ({"messages": [b"\xff"]}, "DataLoss", "Failed to consume"),
        ({"messages": [b"\x0a\x7f"]}, "DataLoss", "127 bytes are announced"),
        ({"messages": [b"bad"], "message_format": "text"}, "DataLoss", "Unable to parse text"),
        ({"messages": np.zeros(0, "S")}, "InvalidArgument", "must contain at least one value"),
    ],
)
def test_refusals(settings: dict[str, Any], error: str, message: str) -> None:
    given = {"messages": [b""], **settings}
    with pytest.raises(getattr(tf.errors, f"{error}Error"), match=message):
        _decode(**given)


@pytest.mark.parametrize(
    ("sizes", "value", "message"),
    [
        ([[2]], [[5]], "must not be larger than value tensor; but saw: 2 > 1"),
        ([[1, 1]], [[5]], r"sizes should be batch_size \+ \[len\(field_names\)\].  Saw: \[1,2\]"),
        ([[1]], [[5.0]], "Incompatible type for field many_int32"),
    ],
)
def test_refusals_to_encode(sizes: Any, value: Any, message: str) -> None:
    encoded = tf.io.encode_proto(
        sizes, [tf.constant(value)], ["many_int32"], "fields.Outer", descriptor_source=SOURCE
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(encoded)
