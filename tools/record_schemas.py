"""Writes penstock/proto/schemas/*.proto from the message descriptors of an installed TensorFlow.

Only facts are taken: the names, numbers, types and labels of messages, fields and enums.
Run it with a Python that has TensorFlow 2.21:

    python tools/record_schemas.py penstock/proto/schemas
"""

from __future__ import annotations

import argparse
import importlib
import mmap
import pathlib
from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2

FieldProto = descriptor_pb2.FieldDescriptorProto

# Files that the TensorFlow package has as Python modules, by package.
MODULES = {
    "tensorflow.compiler.xla.tsl.protobuf": [
        "distributed_runtime_payloads",
        "test_log",
    ],
    "tensorflow.core.example": [
        "example",
        "example_parser_configuration",
        "feature",
    ],
    "tensorflow.core.framework": [
        "allocation_description",
        "api_def",
        "attr_value",
        "cost_graph",
        "device_attributes",
        "full_type",
        "function",
        "graph",
        "kernel_def",
        "log_memory",
        "node_def",
        "op_def",
        "reader_base",
        "resource_handle",
        "step_stats",
        "summary",
        "tensor",
        "tensor_description",
        "tensor_shape",
        "tensor_slice",
        "types",
        "variable",
        "versions",
    ],
    "tensorflow.core.grappler.costs": [
        "op_performance_data",
    ],
    "tensorflow.core.profiler": [
        "tfprof_log",
        "tfprof_output",
    ],
    "tensorflow.core.protobuf": [
        "cluster",
        "config",
        "control_flow",
        "debug",
        "device_properties",
        "error_codes",
        "meta_graph",
        "named_tensor",
        "queue_runner",
        "rewriter_config",
        "saved_model",
        "saved_object_graph",
        "saver",
        "struct",
        "tensor_bundle",
        "tensorflow_server",
        "trackable_object_graph",
        "transport_options",
        "verifier_config",
    ],
    "tensorflow.core.util": [
        "event",
        "saved_tensor_slice",
    ],
    "tensorflow.python.training": [
        "checkpoint_state",
    ],
}

# Files that TensorFlow 2 no longer has: written by hand after those of 1.15.
FIRST_VERSION_ONLY = ["hparam.proto"]

# Files that only the compiled library knows: their descriptors lie in its data section.
EMBEDDED = ["tensorflow/core/protobuf/master.proto", "tensorflow/core/protobuf/worker.proto"]
LIBRARY = "libtensorflow_cc.so.2"

SCALARS: dict[int, str] = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in FieldProto.Type.items()
    if number not in (FieldProto.TYPE_MESSAGE, FieldProto.TYPE_ENUM, FieldProto.TYPE_GROUP)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path, help="where the .proto files go")
    directory = parser.parse_args().directory
    files = collect()
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.proto"):
        if old.name not in FIRST_VERSION_ONLY:
            old.unlink()
    for file in files.values():
        if not is_forwarder(file):
            text = "\n".join(render_file(file, files)) + "\n"
            (directory / base_name(file.name)).write_text(text)


def collect() -> dict[str, Any]:
    """Every wanted file and what it imports, by name, as FileDescriptorProtos."""
    files: dict[str, Any] = {}

    def add(descriptor: Any) -> None:
        if descriptor.name in files or descriptor.name.startswith("google/"):
            return
        for dependency in descriptor.dependencies:
            add(dependency)
        files[descriptor.name] = proto = descriptor_pb2.FileDescriptorProto()
        descriptor.CopyToProto(proto)

    for package, names in MODULES.items():
        for name in names:
            add(importlib.import_module(f"{package}.{name}_pb2").DESCRIPTOR)
    for name in EMBEDDED:
        files[name] = find_embedded(name)
    return files


def find_embedded(name: str) -> Any:
    """The descriptor of a file, found by its first bytes in the TensorFlow library."""
    package = pathlib.Path(importlib.import_module("tensorflow").__file__ or "")
    first_field = b"\n" + bytes([len(name)]) + name.encode() + b"\x12"
    with open(package.with_name(LIBRARY), "rb") as library:
        data = mmap.mmap(library.fileno(), 0, access=mmap.ACCESS_READ)
        start = data.find(first_field)
        if start < 0:
            raise LookupError(f"{LIBRARY} holds no descriptor of {name}")
        return descriptor_pb2.FileDescriptorProto.FromString(top_level_fields(data, start))


def top_level_fields(data: mmap.mmap, start: int) -> bytes:
    """The bytes from `start` as long as they read as a FileDescriptorProto's fields.

    The descriptor's length is not stored beside it, but `syntax` is its last field.
    """
    position = start
    while True:
        tag, position = varint(data, position)
        length, position = varint(data, position)
        if tag & 7 != 2:
            raise ValueError(f"not a length-delimited field at {position}")
        position += length
        if tag >> 3 == descriptor_pb2.FileDescriptorProto.SYNTAX_FIELD_NUMBER:
            return data[start:position]


def varint(data: mmap.mmap, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return value, position
        shift += 7


def is_forwarder(file: Any) -> bool:
    """Whether a file only stands for another that has moved."""
    return bool(file.public_dependency) and not (file.message_type or file.enum_type)


def base_name(path: str) -> str:
    return path if path.startswith("google/") else path.rpartition("/")[2]


def imports(file: Any, files: dict[str, Any]) -> list[str]:
    names: set[str] = set()
    for name in file.dependency:
        dependency = files.get(name)
        if dependency is not None and is_forwarder(dependency):
            names.update(base_name(moved) for moved in dependency.dependency)
        else:
            names.add(base_name(name))
    return sorted(names)


def render_file(file: Any, files: dict[str, Any]) -> Iterator[str]:
    yield "// Written by tools/record_schemas.py."
    yield f'syntax = "{file.syntax or "proto2"}";'
    yield f"package {file.package};"
    public = {base_name(file.dependency[index]) for index in file.public_dependency}
    for name in imports(file, files):
        yield f'import {"public " if name in public else ""}"{name}";'
    for enum in file.enum_type:
        yield ""
        yield from render_enum(enum, "")
    for message in file.message_type:
        yield ""
        yield from render_message(message, file, f".{file.package}", "")


def render_enum(enum: Any, indent: str) -> Iterator[str]:
    yield f"{indent}enum {enum.name} {{"
    if enum.options.allow_alias:
        yield f"{indent}  option allow_alias = true;"
    for span in enum.reserved_range:
        yield f"{indent}  reserved {span_text(span.start, span.end)};"
    for value in enum.value:
        yield f"{indent}  {value.name} = {value.number};"
    yield f"{indent}}}"


def render_message(message: Any, file: Any, scope: str, indent: str) -> Iterator[str]:
    scope = f"{scope}.{message.name}"
    inner = indent + "  "
    yield f"{indent}message {message.name} {{"
    for span in message.reserved_range:
        yield f"{inner}reserved {span_text(span.start, span.end - 1)};"
    for name in message.reserved_name:
        yield f'{inner}reserved "{name}";'
    for enum in message.enum_type:
        yield from render_enum(enum, inner)
    for nested in message.nested_type:
        if not nested.options.map_entry:
            yield from render_message(nested, file, scope, inner)
    maps = {f"{scope}.{n.name}": n for n in message.nested_type if n.options.map_entry}
    yield from render_fields(message, maps, file, inner)
    yield f"{indent}}}"


def render_fields(message: Any, maps: dict[str, Any], file: Any, indent: str) -> Iterator[str]:
    open_oneof = None
    for field in message.field:
        in_oneof = field.HasField("oneof_index") and not field.proto3_optional
        oneof = field.oneof_index if in_oneof else None
        if oneof != open_oneof:
            if open_oneof is not None:
                yield f"{indent}}}"
            if oneof is not None:
                yield f"{indent}oneof {message.oneof_decl[oneof].name} {{"
            open_oneof = oneof
        yield f"{indent}{'  ' if in_oneof else ''}{field_text(field, maps, file)}"
    if open_oneof is not None:
        yield f"{indent}}}"


def field_text(field: Any, maps: dict[str, Any], file: Any) -> str:
    end = f"{field.name} = {field.number}{field_options(field)};"
    if field.type_name in maps:
        key, value = (type_text(part, file) for part in maps[field.type_name].field)
        return f"map<{key}, {value}> {end}"
    label = ""
    if field.label == FieldProto.LABEL_REPEATED:
        label = "repeated "
    elif field.proto3_optional or (file.syntax != "proto3" and not field.HasField("oneof_index")):
        label = "required " if field.label == FieldProto.LABEL_REQUIRED else "optional "
    return f"{label}{type_text(field, file)} {end}"


def field_options(field: Any) -> str:
    options = []
    if field.options.HasField("packed"):
        options.append(f"packed = {str(field.options.packed).lower()}")
    if field.HasField("default_value"):
        options.append(f"default = {field.default_value}")
    return f" [{', '.join(options)}]" if options else ""


def type_text(field: Any, file: Any) -> str:
    if field.type in SCALARS:
        return SCALARS[field.type]
    name: str = field.type_name
    return name.removeprefix(f".{file.package}.").removeprefix(".")


def span_text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


if __name__ == "__main__":
    main()
