"""The messages of a step that carry tensors, cut and joined by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from penstock import errors, proto
from penstock.distributed.tensor_codec import decoded, encoded
from penstock.distributed.wire_fields import Buffer, DamagedMessage, cut, field
from penstock.dtypes import DType


class Sent(NamedTuple):
    """A tensor to be sent: what it is called, its value and its type."""

    name: str
    value: Any
    dtype: DType


def _cut(message: bytes, number: int) -> tuple[list[memoryview], bytes]:
    try:
        return cut(memoryview(message), number)
    except DamagedMessage as error:
        raise unreadable(str(error)) from None


def _named(message: memoryview) -> tuple[str, np.ndarray]:
    tensors, rest = _cut(message, 2)  # type: ignore[arg-type]
    name: str = parse(proto.NamedTensorProto, rest).name
    if not tensors:
        raise errors.InvalidArgumentError(None, None, f"{name!r} has no tensor in the message")
    return name, decoded(tensors[-1])


def _named_parts(number: int, tensors: Iterable[Sent]) -> list[Buffer]:
    parts: list[Buffer] = []
    for each in tensors:
        name = proto.NamedTensorProto(name=each.name).SerializeToString()
        parts += field(number, [name, *field(2, encoded(each.value, each.dtype))])
    return parts


def parse(kind: Any, message: bytes) -> Any:
    """A message from its bytes."""
    try:
        return kind.FromString(message)
    except DecodeError as error:
        raise unreadable(f"{error} in a {kind.DESCRIPTOR.name}") from None


def unreadable(why: str) -> errors.InternalError:
    """The error of bytes that are no message, of TensorFlow's class."""
    return errors.InternalError(None, None, f"Unable to parse request: {why}")


# RunStep --------------------------------------------------------------------------------------

_FEED = 2  # of RunStepRequest
_TENSOR = 1  # of RunStepResponse


def run_step_request(head: Any, feeds: Iterable[Sent]) -> bytes:
    """A RunStepRequest without feeds, and its feeds."""
    return b"".join([head.SerializeToString(), *_named_parts(_FEED, feeds)])


def parse_run_step_request(message: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """The RunStepRequest without its feeds, and those."""
    feeds, rest = _cut(message, _FEED)
    head = parse(proto.RunStepRequest, rest)
    named = [_named(feed) for feed in feeds]
    values = dict(named)
    if len(values) != len(named):
        raise errors.InvalidArgumentError(None, None, "a tensor is fed more than once")
    return head, values


def run_step_response(head: Any, tensors: Iterable[Sent]) -> bytes:
    """A RunStepResponse without tensors, and its tensors."""
    return b"".join([*_named_parts(_TENSOR, tensors), head.SerializeToString()])


def parse_run_step_response(message: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """The RunStepResponse without its tensors, and those."""
    tensors, rest = _cut(message, _TENSOR)
    return parse(proto.RunStepResponse, rest), dict(_named(tensor) for tensor in tensors)


# RunCallable ----------------------------------------------------------------------------------


def parse_run_callable_request(message: bytes) -> tuple[Any, list[np.ndarray]]:
    """The RunCallableRequest without its feeds, and those in their order."""
    feeds, rest = _cut(message, 3)
    return parse(proto.RunCallableRequest, rest), [decoded(feed) for feed in feeds]


def run_callable_response(head: Any, tensors: Sequence[Sent]) -> bytes:
    """A RunCallableResponse without its tensors, and those in their order."""
    parts: list[Buffer] = [head.SerializeToString()]
    for each in tensors:
        parts += field(1, encoded(each.value, each.dtype))
    return b"".join(parts)
