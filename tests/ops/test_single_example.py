"""The quick way for one Example gives what the general way gives, errors too."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from penstock import dtypes, errors, proto
from penstock.kernels.example_parsing import ExampleParser
from penstock.kernels.values import to_array

KEYS = ("a", "b", "c")
TYPES = {"float_list": dtypes.float32, "int64_list": dtypes.int64, "bytes_list": dtypes.string}
LISTS = {
    "float_list": st.lists(st.floats(width=32, allow_nan=False), max_size=5),
    "int64_list": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5)
    | st.lists(st.integers(0, 300), max_size=30),
    "bytes_list": st.lists(st.binary(max_size=6), max_size=3),
}
SHAPES = st.sampled_from([(), (1,), (2,), (5,), (2, 1), (1, 3), (0,)])


@st.composite
def features(draw: st.DrawFn) -> bytes:
    """A Feature as protobuf writes it, or with each number under a tag of its own."""
    field = draw(st.sampled_from(sorted(LISTS)))
    values = draw(LISTS[field])
    if field == "float_list" and draw(st.booleans()):
        parts = b"".join(b"\x0d" + np.float32(value).tobytes() for value in values)
        return b"\x12" + bytes([len(parts)]) + parts
    message = proto.Feature()
    getattr(message, field).value.extend(values)
    if not values:
        getattr(message, field).SetInParent()
    return bytes(message.SerializeToString())


@st.composite
def examples(draw: st.DrawFn) -> bytes:
    example = proto.Example()
    for key in draw(st.sets(st.sampled_from(KEYS))):
        example.features.feature[key].ParseFromString(draw(features()))
    data = bytes(example.SerializeToString())
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data


def _default(dtype: Any, shape: tuple[int, ...], is_given: bool) -> Any:
    size = shape if is_given else (0,)
    if dtype is dtypes.string:
        return np.full(size, b"-", dtype=object)
    return torch.ones(size, dtype=torch.float32 if dtype is dtypes.float32 else torch.int64)


def _outcome(parser: ExampleParser, serialized: bytes, defaults: list[Any]) -> Any:
    try:
        outputs = parser.parse([serialized], [], tuple(defaults), single=True)
    except errors.OpError as error:
        return type(error), error.message
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return [(to_array(value).dtype, to_array(value).tolist()) for value in outputs]


@given(
    serialized=st.lists(examples(), min_size=1, max_size=3),
    columns=st.lists(
        st.tuples(st.sampled_from(sorted(TYPES)), SHAPES, st.booleans()), min_size=1, max_size=3
    ),
)
def test_one_example_is_read_as_a_batch_is(
    serialized: list[bytes], columns: list[tuple[str, tuple[int, ...], bool]]
) -> None:
    dense = [
        (key, TYPES[field], shape) for key, (field, shape, _) in zip(KEYS, columns, strict=False)
    ]
    defaults = [_default(TYPES[field], shape, given_) for field, shape, given_ in columns]
    quick, general = ExampleParser((), dense), ExampleParser((), dense)
    assert quick._single is not None
    general._single = None
    for data in serialized:
        assert _outcome(quick, data, defaults) == _outcome(general, data, defaults)
