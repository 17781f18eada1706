"""`saved_model.nested_structure_coder`: structures of values and specs as messages."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

from penstock import dtypes, proto
from penstock.dtypes import DType
from penstock.ir.indexed_slices_spec import IndexedSlicesSpec
from penstock.ir.sparse_tensor_spec import SparseTensorSpec
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.tensor_array_spec import TensorArraySpec
from penstock.ragged.tensor_spec import RaggedTensorSpec
from penstock.shapes import TensorShape

Message = Any


@cache
def _specs() -> dict[int, type[Any]]:
    """The kinds of specs by their numbers in a TypeSpecProto."""
    # Those of libraries that are imported only once they are used.
    from penstock.data.dataset import DatasetSpec
    from penstock.data.eager_iterator import IteratorSpec
    from penstock.data.experimental.optional import OptionalSpec
    from penstock.distribute.values import PerReplicaSpec

    kinds = (
        SparseTensorSpec,
        IndexedSlicesSpec,
        RaggedTensorSpec,
        TensorArraySpec,
        DatasetSpec,
        IteratorSpec,
        OptionalSpec,
        PerReplicaSpec,
    )
    return dict(enumerate(kinds, 1))


class NotEncodableError(Exception):
    """An object has no place in a StructuredValue."""


class StructureCoder:
    """Writes structures of lists, tuples, dictionaries, numbers, shapes, types and specs."""

    def encode_structure(self, nested_structure: Any) -> Message:
        """The message of a structure; NotEncodableError if something in it has none."""
        message = proto.StructuredValue()
        self._write(nested_structure, message)
        return message

    def can_encode(self, nested_structure: Any) -> bool:
        """Whether a structure has a message."""
        try:
            self.encode_structure(nested_structure)
        except NotEncodableError:
            return False
        return True

    def decode_proto(self, proto: Message) -> Any:
        """The structure of a message."""
        kind = proto.WhichOneof("kind")
        if kind is None:
            raise NotEncodableError(f"No encoder for object [{proto}] of type [{type(proto)}].")
        read = getattr(self, f"_read_{kind.removesuffix('_value')}", None)
        value = getattr(proto, kind)
        return value if read is None else read(value)

    # Writing ------------------------------------------------------------------------------------

    def _write(self, value: Any, message: Message) -> None:
        if value is None:
            message.none_value.SetInParent()
        elif isinstance(value, (list, tuple, dict)):
            self._write_container(value, message)
        elif isinstance(value, bool):
            message.bool_value = value
        elif isinstance(value, int):
            message.int64_value = value
        elif isinstance(value, float):
            message.float64_value = value
        elif isinstance(value, str):
            message.string_value = value
        elif isinstance(value, TensorShape):
            message.tensor_shape_value.CopyFrom(value.as_proto())
        elif isinstance(value, DType):
            message.tensor_dtype_value = value.as_datatype_enum
        elif isinstance(value, TensorSpec):
            spec = message.tensor_spec_value
            spec.name = value.name or ""
            spec.shape.CopyFrom(value.shape.as_proto())
            spec.dtype = value.dtype.as_datatype_enum
        else:
            self._write_spec(value, message)

    def _write_container(self, value: Any, message: Message) -> None:
        if isinstance(value, dict):
            message.dict_value.SetInParent()
            for key, each in value.items():
                self._write(each, message.dict_value.fields[key])
        elif hasattr(value, "_fields"):
            message.named_tuple_value.name = type(value).__name__
            for key in value._fields:
                pair = message.named_tuple_value.values.add(key=key)
                self._write(getattr(value, key), pair.value)
        else:
            part = message.list_value if isinstance(value, list) else message.tuple_value
            part.SetInParent()
            for each in value:
                self._write(each, part.values.add())

    def _write_spec(self, value: Any, message: Message) -> None:
        for number, kind in _specs().items():
            if type(value) is kind:
                message.type_spec_value.type_spec_class = number
                message.type_spec_value.type_spec_class_name = kind.__name__
                self._write(value._serialize(), message.type_spec_value.type_state)
                return
        raise NotEncodableError(f"No encoder for object [{value}] of type [{type(value)}].")

    # Reading ------------------------------------------------------------------------------------

    def _read_none(self, value: Message) -> None:
        return None

    def _read_list(self, value: Message) -> list[Any]:
        return [self.decode_proto(each) for each in value.values]

    def _read_tuple(self, value: Message) -> tuple[Any, ...]:
        return tuple(self._read_list(value))

    def _read_dict(self, value: Message) -> dict[str, Any]:
        return {key: self.decode_proto(each) for key, each in value.fields.items()}

    def _read_named_tuple(self, value: Message) -> Any:
        fields = {pair.key: self.decode_proto(pair.value) for pair in value.values}
        return namedtuple(value.name, list(fields))(**fields)

    def _read_tensor_shape(self, value: Message) -> TensorShape:
        return TensorShape(value)

    def _read_tensor_dtype(self, value: int) -> DType:
        return dtypes.as_dtype(value)

    def _read_tensor_spec(self, value: Message) -> TensorSpec:
        return TensorSpec(
            TensorShape(value.shape), dtypes.as_dtype(value.dtype), value.name or None
        )

    def _read_type_spec(self, value: Message) -> Any:
        if value.type_spec_class not in _specs():
            raise ValueError(
                f"The type '{value.type_spec_class_name}' is not supported by this version of "
                "TensorFlow. (The object you are loading must have been created with a newer "
                "version of TensorFlow.)"
            )
        return _specs()[value.type_spec_class]._deserialize(self.decode_proto(value.type_state))
