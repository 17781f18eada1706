"""Comparing protocol messages, with a readable account of the difference."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import Message

_MAX_TEXT = 2**16  # unittest's own comparison of longer texts takes minutes

# How many decimals of floating-point fields count, by the number of bits that they have.
_DECIMALS = {"float": 6, "double": 7}


def ProtoEq(a: Any, b: Any) -> bool:
    """Whether two messages, or two values of their fields, are equal."""
    if isinstance(a, Message) and isinstance(b, Message):
        return ProtoEq(_fields(a), _fields(b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(ProtoEq(a[key], b[key]) for key in a)
    if _is_repeated(a) and _is_repeated(b):
        return len(a) == len(b) and all(ProtoEq(*pair) for pair in zip(a, b, strict=True))
    return bool(a == b)


def _fields(message: Message) -> dict[int, Any]:
    return {field.number: value for field, value in message.ListFields()}


def _is_repeated(value: Any) -> bool:
    # A repeated field of numbers has no __iter__, but says that it is a sequence.
    is_series = hasattr(value, "__iter__") or isinstance(value, Sequence)
    return is_series and not isinstance(value, (str, bytes, Mapping))


def NormalizeNumberFields(pb: Message) -> Message:
    """Rounds the floating-point fields of a message in place, and of those in it."""
    for field, value in pb.ListFields():
        decimals = _decimals(field)
        if decimals is not None:
            _round(pb, field.name, value, decimals)
        elif isinstance(value, Message):
            NormalizeNumberFields(value)
        elif isinstance(value, Mapping):
            for entry in value.values():
                if isinstance(entry, Message):
                    NormalizeNumberFields(entry)
        elif _is_repeated(value):
            for entry in value:
                if isinstance(entry, Message):
                    NormalizeNumberFields(entry)
    return pb


def _decimals(field: Any) -> int | None:
    if field.type == field.TYPE_FLOAT:
        return _DECIMALS["float"]
    return _DECIMALS["double"] if field.type == field.TYPE_DOUBLE else None


def _round(pb: Message, name: str, value: Any, decimals: int) -> None:
    if _is_repeated(value):
        value[:] = [round(entry, decimals) for entry in value]
    else:
        setattr(pb, name, round(value, decimals))


def parse_text(text: str, message_type: type[Message]) -> Message:
    """A message from its text form, with the other types that it may hold."""
    pool = message_type.DESCRIPTOR.file.pool
    return text_format.Merge(text, message_type(), descriptor_pool=pool)


def assertProtoEqual(
    self: Any,
    a: Any,
    b: Message,
    check_initialized: bool = True,
    normalize_numbers: bool = False,
    msg: str | None = None,
) -> None:
    """Fails a test case (`self`) if two messages differ; `a` may be text."""
    if isinstance(a, str):
        a = parse_text(a, type(b))
    for message in (a, b):
        if check_initialized and message.FindInitializationErrors():
            self.fail(f"Initialization errors: {message.FindInitializationErrors()}\n{message}")
    if normalize_numbers:
        a, b = (NormalizeNumberFields(_copy(message)) for message in (a, b))
    texts = [_text(message) for message in (a, b)]
    if max(map(len, texts)) < _MAX_TEXT:
        self.assertMultiLineEqual(*texts, msg=msg)
    elif texts[0] != texts[1]:
        before, after = (text.splitlines(True) for text in texts)
        lines = difflib.unified_diff(before, after)
        self.fail(f"{msg} : \n{''.join(lines)}")


def _copy(message: Message) -> Message:
    copied = type(message)()
    copied.CopyFrom(message)
    return copied


def _text(message: Message) -> str:
    return text_format.MessageToString(message, descriptor_pool=message.DESCRIPTOR.file.pool)


class ProtoAssertions:
    """Gives a test case `assertProtoEqual`."""

    def assertProtoEqual(self, *args: Any, **kwargs: Any) -> None:
        assertProtoEqual(self, *args, **kwargs)
