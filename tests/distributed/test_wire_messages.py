"""Messages that are cut and joined by hand are the same as protobuf's own."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import dtypes, errors, proto
from penstock.distributed.step_messages import (
    Sent,
    parse_run_callable_request,
    parse_run_step_request,
    parse_run_step_response,
    run_callable_response,
    run_step_request,
    run_step_response,
)
from penstock.distributed.tensor_codec import decoded, encoded
from penstock.distributed.wire_fields import DamagedMessage, cut
from penstock.ir.tensor_codec import array_to_proto, proto_to_array
from penstock.state.containers import ResourceManager

NUMBERS = [
    (dtypes.float32, np.float32),
    (dtypes.int64, np.int64),
    (dtypes.bool, np.bool_),
    (dtypes.bfloat16, ml_dtypes.bfloat16),
    (dtypes.float16, np.float16),
    (dtypes.complex64, np.complex64),
]


@st.composite
def arrays(draw: Any) -> tuple[Any, np.ndarray]:
    shape = tuple(draw(st.lists(st.integers(0, 40), max_size=3)))
    if draw(st.booleans()):
        dtype, numpy_type = draw(st.sampled_from(NUMBERS))
        count = int(np.prod(shape))
        array = (np.arange(count) % 5).astype(numpy_type).reshape(shape)
        return dtype, array.T if draw(st.booleans()) else array
    words = np.empty(int(np.prod(shape)), dtype=object)
    words[:] = [draw(st.binary(max_size=3)) for _ in words] if len(words) < 50 else b"w"
    return dtypes.string, words.reshape(shape)


@settings(max_examples=60, deadline=None)
@given(arrays())
def test_a_tensor_there_and_back(case: tuple[Any, np.ndarray]) -> None:
    dtype, array = case
    message = b"".join(encoded(array, dtype))
    plain = proto_to_array(proto.TensorProto.FromString(message))
    for found in (plain, decoded(memoryview(message))):
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype and found.shape == array.shape


@settings(max_examples=40, deadline=None)
@given(arrays())
def test_protobufs_tensor_is_read(case: tuple[Any, np.ndarray]) -> None:
    dtype, array = case
    message = array_to_proto(array, dtype).SerializeToString()
    np.testing.assert_array_equal(decoded(memoryview(message)), array)


def test_a_large_tensor_is_not_copied() -> None:
    message = b"".join(encoded(np.zeros(10_000, np.float32), dtypes.float32))
    assert not decoded(memoryview(message)).flags.owndata


def test_strings_as_content() -> None:
    """TensorFlow's clients send the lengths of strings, then their bytes."""
    words = [b"a", b"", b"b" * 300]
    content = b"\x01\x00\xac\x02" + b"".join(words)
    tensor = proto.TensorProto(dtype=dtypes.string.as_datatype_enum, tensor_content=content)
    tensor.tensor_shape.dim.add(size=3)
    assert proto_to_array(tensor).tolist() == words
    tensor.tensor_content = content[:-1]
    with pytest.raises(ValueError, match="3 strings need"):
        proto_to_array(tensor)
    tensor.tensor_content = b"\xff\xff\xff"
    with pytest.raises(ValueError, match="no lengths"):
        proto_to_array(tensor)


def sent() -> list[Sent]:
    return [
        Sent("a:0", np.float32(1.5), dtypes.float32),
        Sent("b:0", np.arange(3000), dtypes.int64),
        Sent("c:1", b"word", dtypes.string),
    ]


def test_run_step_messages() -> None:
    head = proto.RunStepRequest(session_handle="s", fetch=["x:0"], request_id=-3)
    head.options.timeout_in_ms = 7
    message = run_step_request(head, sent())
    whole = proto.RunStepRequest.FromString(message)
    assert [feed.name for feed in whole.feed] == ["a:0", "b:0", "c:1"]
    found, feeds = parse_run_step_request(whole.SerializeToString())
    assert found == head
    assert feeds["a:0"] == 1.5 and feeds["b:0"].tolist() == list(range(3000))
    assert feeds["c:1"].item() == b"word"

    answer = run_step_response(proto.RunStepResponse(status_error_message="m"), sent())
    whole = proto.RunStepResponse.FromString(answer)
    assert [tensor.name for tensor in whole.tensor] == ["a:0", "b:0", "c:1"]
    found, tensors = parse_run_step_response(answer)
    assert found.status_error_message == "m" and tensors["b:0"][-1] == 2999


def test_run_callable_messages() -> None:
    feeds = [
        array_to_proto(np.arange(2000), dtypes.int64),
        array_to_proto(np.ones(2), dtypes.float64),
    ]
    request = proto.RunCallableRequest(session_handle="s", handle=4, feed=feeds)
    head, values = parse_run_callable_request(request.SerializeToString())
    assert head.handle == 4 and [value.size for value in values] == [2000, 2]
    whole = proto.RunCallableResponse.FromString(
        run_callable_response(proto.RunCallableResponse(), sent())
    )
    assert [proto_to_array(each).size for each in whole.fetch] == [1, 3000, 1]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_damaged_message_is_read_or_refused(place: int, byte: int) -> None:
    tensors = [Sent("a:0", np.arange(6.0), dtypes.float64), Sent("b:0", b"word", dtypes.string)]
    head = proto.RunStepRequest(session_handle="s", fetch=["x:0"], request_id=3)
    message = bytearray(run_step_request(head, tensors))
    message[place % len(message)] = byte
    with suppress(errors.InvalidArgumentError, errors.InternalError):
        parse_run_step_request(bytes(message))


@pytest.mark.parametrize("message", [b"\x80", b"\x0a\x05ab", b"\x0b", b"\x09\x01", b"\xff" * 12])
def test_damaged_fields(message: bytes) -> None:
    with pytest.raises(DamagedMessage):
        cut(memoryview(message), 1)


@pytest.mark.parametrize(
    ("shape", "content", "message"),
    [
        ([2**40], b"", "no tensor of a message has the shape"),
        ([-1], b"", "no tensor of a message has the shape"),
        ([2**20, 2**20, 2**20, 2**20], b"", "no tensor of a message has the shape"),
        ([3], b"x" * 5000, "needs 12"),
    ],
)
def test_sizes_are_checked_before_memory_is_taken(
    shape: list[int], content: bytes, message: str
) -> None:
    tensor = proto.TensorProto(
        dtype=dtypes.float32.as_datatype_enum, float_val=[1.0], tensor_content=content
    )
    for size in shape:
        tensor.tensor_shape.dim.add(size=size)
    with pytest.raises(errors.InvalidArgumentError, match=message):
        decoded(memoryview(tensor.SerializeToString()))


def test_what_does_not_travel() -> None:
    with pytest.raises(errors.UnimplementedError, match="variant can't be sent"):
        encoded(object(), dtypes.variant)
    resource = proto.TensorProto(dtype=dtypes.resource.as_datatype_enum)
    with pytest.raises(errors.InvalidArgumentError, match="one by one"):
        decoded(memoryview(resource.SerializeToString()))
    variant = proto.TensorProto(dtype=dtypes.variant.as_datatype_enum)
    with pytest.raises(errors.InvalidArgumentError, match="don't travel"):
        decoded(memoryview(variant.SerializeToString()))


def test_handles_of_resources() -> None:
    # What TensorFlow 1.15.5 gave for a variable of a parameter server, and how its client feeds it:
    # as a string in the content, after the length of it.
    written = (
        b"\n%/job:ps/replica:0/task:0/device:CPU:0\x12\x02ps\x1a\x02rv \xe7\xb5\xe6\xb0\x9c\xaa"
        b"\x8c\xcc\xed\x01*\x12N10tensorflow3VarE2\x08\x08\x01\x12\x04\x12\x02\x08\x02"
    )
    kind = dtypes.resource.as_datatype_enum
    fed = proto.TensorProto(dtype=kind, tensor_content=bytes([len(written)]) + written)
    handle = decoded(memoryview(fed.SerializeToString()))
    assert handle.name == "rv" and handle.device == "/job:ps/replica:0/task:0/device:CPU:0"
    assert handle.types == (("float32", (2,)),)
    (sent,) = encoded(handle, dtypes.resource)
    (val,) = proto.TensorProto.FromString(sent).resource_handle_val
    assert val == proto.ResourceHandleProto.FromString(written)
    assert decoded(memoryview(sent)) == handle
    with pytest.raises(errors.InvalidArgumentError, match="Trying to access resource rv located"):
        handle.read()
    assert not hasattr(handle, "read")


def test_handles_come_home_as_what_they_name() -> None:
    class Kept:
        pass

    manager = ResourceManager("ps")
    kept = manager.get_or_create(Kept, "", "a", Kept)
    (sent,) = encoded(kept, dtypes.resource)
    assert decoded(memoryview(sent)) is kept
    manager.remove(Kept, "", "a")
    gone = decoded(memoryview(sent))
    with pytest.raises(errors.NotFoundError, match="Resource ps/a/Kept does not exist"):
        gone.read()
