"""Serialized `tf.train.Example`s made by hand, for cases that import no library of messages."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any


def _varint(number: int) -> bytes:
    number &= 2**64 - 1
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def feature(values: Sequence[Any] | None, kind: type | None = None) -> bytes:
    """A Feature of floats, integers or strings; of none of these if `values` is None.

    `kind` tells the type of an empty list.
    """
    if values is None:
        return b""
    kind = type(values[0]) if values else kind
    if kind is bytes:
        return _field(1, b"".join(_field(1, value) for value in values))
    if kind is float:
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    assert kind is int
    return _field(3, _field(1, b"".join(_varint(value) for value in values)))


def _entry(key: str, value: bytes) -> bytes:
    """An entry of a map."""
    return _field(1, _field(1, key.encode()) + _field(2, value))


def _features(features: Mapping[str, Any]) -> bytes:
    entries = ((k, v if isinstance(v, bytes) else feature(v)) for k, v in features.items())
    return b"".join(_entry(key, value) for key, value in entries)


def example(features: Mapping[str, Any]) -> bytes:
    """An Example; a feature is a list of values, or what `feature` makes."""
    return _field(1, _features(features))


def sequence_example(context: Mapping[str, Any], lists: Mapping[str, Sequence[Any]]) -> bytes:
    """A SequenceExample; a list has a feature for each step."""
    steps = {
        key: b"".join(_field(1, v if isinstance(v, bytes) else feature(v)) for v in values)
        for key, values in lists.items()
    }
    feature_lists = b"".join(_entry(key, value) for key, value in steps.items())
    return _field(1, _features(context)) + _field(2, feature_lists)
