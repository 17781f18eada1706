"""Protocol buffer messages of any type: their fields as tensors, and tensors as fields."""

from __future__ import annotations

from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import merge_shapes, with_rank_at_least
from penstock.shapes import Shape

__all__ = ["decode_proto", "encode_proto"]

DecodeProtoV2 = op(
    "DecodeProtoV2(bytes: string) -> sizes: int32, values: *output_types",
    message_type=attr("string"),
    field_names=attr("list(string)"),
    output_types=attr("list(type)", minimum=0),
    descriptor_source="local://",
    message_format="binary",
    sanitize=False,
)
EncodeProto = op(
    "EncodeProto(sizes: int32, values: *Tinput_types) -> bytes: string",
    field_names=attr("list(string)"),
    message_type=attr("string"),
    descriptor_source="local://",
)
not_differentiable(DecodeProtoV2, EncodeProto)


@DecodeProtoV2.shape
def _(op: Operation, messages: Shape) -> list[Shape]:
    types = op.attrs["output_types"]
    if messages is None:
        return [None] * (1 + len(types))
    return [(*messages, len(op.attrs["field_names"])), *[(*messages, None) for _ in types]]


@EncodeProto.shape
def _(op: Operation, sizes: Shape, *values: Shape) -> Shape:
    with_rank_at_least(sizes, 2)
    batch: Shape = None
    for shape in values:
        with_rank_at_least(shape, 2)
        if shape is not None:
            batch = merge_shapes(batch, shape[:-1])
    return batch


def decode_proto(
    bytes: Any,
    message_type: str,
    field_names: Any,
    output_types: Any,
    descriptor_source: Any = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> Any:
    """Fields of serialized messages: how often each occurs in each message, and their values.

    Values of a field have one more dimension than `bytes`. Where a message has fewer than others,
    the field's default value stands.

    Args:
      bytes: serialized messages.
      message_type: the full name of their type.
      field_names: the fields to decode.
      output_types: the type of each field's values.
      descriptor_source: "local://" for types that this process knows, the name of a file with a
        `FileDescriptorSet`, or "bytes://" and such a message.
      message_format: "binary" or "text".
      sanitize: whether to parse and serialize messages first, so that fields come in order.
    """
    return DecodeProtoV2(
        bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=output_types,
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


def encode_proto(
    sizes: Any,
    values: Any,
    field_names: Any,
    message_type: str,
    descriptor_source: Any = "local://",
    name: str | None = None,
) -> Tensor:
    """Serialized messages of given fields; `decode_proto` the other way round.

    Args:
      sizes: how many of its values each field has, for each message.
      values: a tensor of values for each field.
    """
    encoded: Tensor = EncodeProto(
        sizes,
        values,
        field_names=field_names,
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )
    return encoded
