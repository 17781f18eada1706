"""Attr values: Python values on nodes, AttrValue messages in files, public forms for users."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, proto, shapes
from penstock.dtypes import DType
from penstock.ir.tensor_codec import array_to_proto, proto_to_array


class Function:
    """A function named by an attr (`func`): its name and its attrs."""

    __slots__ = ("attrs", "name")

    def __init__(self, name: str, attrs: dict[str, Any]):
        self.name = name
        self.attrs = attrs


def _kind_of(value: Any) -> str:
    """The kind of an undeclared attr (`_class`, `_output_shapes` …), told by its Python type."""
    if isinstance(value, list):
        return f"list({_kind_of(value[0])})" if value else "list(string)"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int"
    if isinstance(value, (float, np.floating)):
        return "float"
    if isinstance(value, (str, bytes)):
        return "string"
    if isinstance(value, DType):
        return "type"
    if value is None or isinstance(value, tuple):
        return "shape"
    if isinstance(value, np.ndarray):
        return "tensor"
    if isinstance(value, Function):
        return "func"
    raise TypeError(f"can't store {value!r} as an attr")


_SCALAR_FIELD = {"bool": "b", "int": "i", "float": "f", "string": "s", "type": "type"}
_MESSAGE_FIELD = {"shape": "shape", "tensor": "tensor", "func": "func"}


def encode(value: Any, kind: str | None = None) -> Any:
    """A node's attr as an AttrValue message."""
    kind = kind or _kind_of(value)
    message = proto.AttrValue()
    if kind.startswith("list("):
        inner = kind[5:-1]
        message.list.SetInParent()
        if inner in _SCALAR_FIELD:
            getattr(message.list, _SCALAR_FIELD[inner]).extend(_scalar(v, inner) for v in value)
        else:
            target = getattr(message.list, _MESSAGE_FIELD[inner])
            for entry in value:
                target.add().CopyFrom(_message(entry, inner))
    elif kind in _SCALAR_FIELD:
        setattr(message, _SCALAR_FIELD[kind], _scalar(value, kind))
    else:
        getattr(message, _MESSAGE_FIELD[kind]).CopyFrom(_message(value, kind))
    return message


def _scalar(value: Any, kind: str) -> Any:
    if kind == "type":
        return value.as_datatype_enum
    if kind == "string":
        return value.encode() if isinstance(value, str) else value
    return value


def _message(value: Any, kind: str) -> Any:
    if kind == "shape":
        return shapes.TensorShape._of(value).as_proto()
    if kind == "tensor":
        return array_to_proto(value, dtypes.as_dtype(value.dtype))
    encoded = proto.NameAttrList(name=value.name)
    for key, entry in value.attrs.items():
        encoded.attr[key].CopyFrom(encode(entry))
    return encoded


def decode(message: Any) -> Any:
    """An AttrValue message as the Python value that nodes keep."""
    field = message.WhichOneof("value")
    if field is None:
        raise ValueError("an attr value is empty")
    if field == "list":
        for name, values in message.list.ListFields():
            return [_decode_one(name.name, value) for value in values]
        return []
    return _decode_one(field, getattr(message, field))


def _decode_one(field: str, value: Any) -> Any:
    if field == "s":
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if field == "type":
        return dtypes.as_dtype(value)
    if field == "shape":
        return shapes.raw(value)
    if field == "tensor":
        return proto_to_array(value, compact=True)
    if field == "func":
        return Function(value.name, {key: decode(entry) for key, entry in value.attr.items()})
    if field == "placeholder":
        raise ValueError(f"attr placeholder {value!r} outside of a function body")
    return value


def python_value(value: Any) -> Any:
    """A node's form of an attr given as an AttrValue message or as a Python value."""
    if hasattr(value, "WhichOneof"):
        return decode(value)
    if isinstance(value, shapes.TensorShape):
        return shapes.raw(value)
    return value


def public_value(value: Any, kind: str | None) -> Any:
    """A node's attr in the form that TensorFlow's `get_attr` gives it."""
    kind = kind or _kind_of(value)
    if kind.startswith("list("):
        return [public_value(entry, kind[5:-1]) for entry in value]
    if kind == "string":
        return value.encode() if isinstance(value, str) else value
    if kind in ("bool", "int", "float", "type"):
        return value
    return _message(value, kind)
