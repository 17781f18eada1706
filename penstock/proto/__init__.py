"""TensorFlow's messages and enums, by their simple names: `from penstock.proto import GraphDef`.

The schemas live in a descriptor pool of their own. So the full names are TensorFlow's
(`tensorflow.GraphDef`) and yet nothing clashes in a process that also imports TensorFlow or
TensorBoard, whose messages of the same names live in protobuf's default pool.

A class is made when its name is first asked for; importing this module builds only the pool.
"""

from __future__ import annotations

import pathlib
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import enum_type_wrapper

_SCHEMAS = pathlib.Path(__file__).with_name("schemas.binpb")

#: The private pool, for what has to be told about it, such as text_format with `Any` fields.
POOL = descriptor_pool.DescriptorPool()


def _load() -> tuple[dict[str, str], dict[str, str]]:
    """Fills the pool; returns the full names of all messages and of all enums by simple name."""
    messages: dict[str, str] = {}
    enums: dict[str, str] = {}
    for file in descriptor_pb2.FileDescriptorSet.FromString(_SCHEMAS.read_bytes()).file:
        POOL.AddSerializedFile(file.SerializeToString())
        # Of two messages of one simple name the first has it; others are found in the pool.
        if file.package.startswith("tensorflow"):
            for each in file.message_type:
                messages.setdefault(each.name, f"{file.package}.{each.name}")
            for kind in file.enum_type:
                enums.setdefault(kind.name, f"{file.package}.{kind.name}")
    return messages, enums


_MESSAGES, _ENUMS = _load()

__all__ = ["POOL", *sorted(_MESSAGES), *sorted(_ENUMS)]


def _add_nested(message: Any) -> None:
    """Gives a message its inner messages as attributes, as generated code has them.

    Protobuf's C implementation does so itself. The one in pure Python leaves it to generated code;
    programs with old generated code choose it (PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python).
    """
    for nested in message.DESCRIPTOR.nested_types:
        if not hasattr(message, nested.name):
            setattr(message, nested.name, message_factory.GetMessageClass(nested))
        _add_nested(getattr(message, nested.name))


def __getattr__(name: str) -> Any:
    made: Any
    if name in _MESSAGES:
        made = message_factory.GetMessageClass(POOL.FindMessageTypeByName(_MESSAGES[name]))
        _add_nested(made)
        # Pickle finds a class by its module and name.
        made.__module__ = __name__
    elif name in _ENUMS:
        made = enum_type_wrapper.EnumTypeWrapper(POOL.FindEnumTypeByName(_ENUMS[name]))
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
