"""Kernels that take messages of any type apart and put them together, on the host."""

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError

from penstock import errors, proto
from penstock.kernels.checked_paths import check_path
from penstock.kernels.message_fields import KINDS, empty, fields, values, written
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import from_array, to_array

_LOCAL, _BYTES = "local://", b"bytes://"


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _descriptor(node):
    """The descriptor of the message type that a node names."""
    name = node.attrs["message_type"]
    found = _find(_pools(node), name)
    if found is None:
        raise _invalid(f"No descriptor found for message type {name}")
    return found


def _find(pools, name):
    for pool in pools:
        try:
            return pool.FindMessageTypeByName(name)
        except KeyError:
            continue
    return None


def _pools(node):
    source = node.attrs["descriptor_source"]
    if source in ("", _LOCAL):
        return proto.POOL, descriptor_pool.Default()
    data = source.encode() if isinstance(source, str) else source
    if data.startswith(_BYTES):
        return (_pool(data[len(_BYTES) :]),)
    check_path(node, data)
    try:
        with open(data, "rb") as file:
            return (_pool(file.read()),)
    except OSError as error:
        raise _unreadable() from error


def _unreadable():
    return _invalid("Source does not represent serialized file descriptor set proto.")


def _pool(serialized):
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(serialized).file
    except DecodeError as error:
        raise _unreadable() from error
    pool = descriptor_pool.DescriptorPool()
    for file in files:
        try:
            pool.AddSerializedFile(file.SerializeToString())
        except TypeError as error:
            raise _invalid(f"Failed to load the descriptor {file.name}: {error}") from error
    return pool


def _named_fields(node, message):
    found = []
    for name in node.attrs["field_names"]:
        field = message.fields_by_name.get(name)
        if field is None:
            raise _invalid(f"Unknown field: {name} in message type {message.full_name}")
        found.append(field)
    return found


def _is_repeated(field):
    if hasattr(field, "is_repeated"):
        return field.is_repeated
    return field.label == field.LABEL_REPEATED  # older versions of protobuf


# Decoding -------------------------------------------------------------------------------------


def _default(field):
    """What stands where a message has no value."""
    if KINDS[field.type].name in ("message", "group"):
        return b""
    if not _is_repeated(field) and field.has_default_value:
        value = field.default_value
    elif KINDS[field.type].name == "enum":
        value = field.enum_type.values[0].number
    else:
        value = b"" if KINDS[field.type].name in ("string", "bytes") else 0
    return value.encode() if isinstance(value, str) else value


def _check_types(message, named, types):
    if len(named) != len(types):
        raise _invalid("field_names and output_types attributes must have the same length")
    for field, dtype in zip(named, types, strict=True):
        if dtype not in KINDS[field.type].types:
            raise _invalid(
                f"Unexpected output type for {message.full_name}.{field.name}: "
                f"{KINDS[field.type].name} to {dtype.name}"
            )


@kernel("DecodeProtoV2", devices=HOST, fresh=True)
def _(node):
    message = _descriptor(node)
    types = node.attrs["output_types"]
    # Lengths are told first: names may be unknown because there are too many.
    if len(node.attrs["field_names"]) != len(types):
        raise _invalid("field_names and output_types attributes must have the same length")
    named = _named_fields(node, message)
    _check_types(message, named, types)
    to_binary = _converter(node, message)
    defaults = [_default(field) for field in named]

    def run(given):
        if not given.size:
            raise _invalid("Bufs argument must contain at least one value")
        rows = [_decoded(to_binary(data), named) for data in given.reshape(-1)]
        sizes = np.array([[len(found) for found in row] for row in rows], np.int32)
        outputs = [from_array(sizes.reshape(*given.shape, len(named)))]
        for number, (dtype, default) in enumerate(zip(types, defaults, strict=True)):
            width = max(1, int(sizes[:, number].max(initial=0)))
            column = empty(dtype, (len(rows), width), default)
            for row, found in enumerate(rows):
                if found[number]:
                    column[row, : len(found[number])] = found[number]
            outputs.append(from_array(column.reshape(*given.shape, width)))
        return tuple(outputs)

    return run


def _decoded(data, named):
    """The values of each of the named fields; of one that is not repeated the last."""
    found = {field.number: [] for field in named}
    kinds = {field.number: KINDS[field.type] for field in named}
    for number, wire_type, value in fields(data):
        if number in found:
            found[number] += values(kinds[number], wire_type, value)
    return [found[f.number] if _is_repeated(f) else found[f.number][-1:] for f in named]


def _converter(node, message):
    """The function that gives the binary form of a given message."""
    form = node.attrs["message_format"]
    if form not in ("binary", "text"):
        raise _invalid("format must be one of binary or text")
    if form == "binary" and not node.attrs["sanitize"]:
        return lambda data: data
    make = message_factory.GetMessageClass(message)

    def convert(data):
        parsed = make()
        try:
            if form == "binary":
                parsed.ParseFromString(data)
            else:
                text_format.Parse(data, parsed)
        except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
            raise errors.DataLossError(
                None, None, f"Unable to parse {form} protobuf: {error}"
            ) from error
        return parsed.SerializeToString()

    return convert


# Encoding -------------------------------------------------------------------------------------


@kernel("EncodeProto", devices=HOST, fresh=True)
def _(node):
    named = _named_fields(node, _descriptor(node))
    for field, dtype in zip(named, node.attrs["Tinput_types"], strict=True):
        if dtype not in KINDS[field.type].types:
            raise _invalid(
                f"Incompatible type for field {field.name}.  Saw dtype: {dtype.name} but field "
                f"type is: {KINDS[field.type].name}"
            )
    # Fields are written in the order of their numbers.
    order = sorted(range(len(named)), key=lambda i: named[i].number)

    def run(sizes, *columns):
        batch = _batch_shape(sizes, columns, len(named))
        counts = to_array(sizes).reshape(-1, len(named))
        tables = [to_array(column).reshape(len(counts), -1) for column in columns]
        encoded = np.empty(len(counts), object)
        for row in range(len(counts)):
            parts = [_encoded(named[i], tables[i][row], counts[row, i], (row, i)) for i in order]
            encoded[row] = b"".join(parts)
        return encoded.reshape(batch)

    return run


def _batch_shape(sizes, columns, count):
    for column in columns:
        expected = (*column.shape[:-1], count)
        if tuple(sizes.shape) != expected:
            raise _invalid(
                "sizes should be batch_size + [len(field_names)].  Saw: "
                f"{_text(sizes.shape)} but expected: {_text(expected)}"
            )
    return tuple(sizes.shape[:-1])


def _text(sizes):
    return f"[{','.join(map(str, sizes))}]"


def _encoded(field, given, size, place):
    if size > len(given):
        raise _invalid(
            f"Size to write must not be larger than value tensor; but saw: {size} > {len(given)} "
            f"at message {place[0]} field {place[1]}"
        )
    kind = KINDS[field.type]
    items = given[:size].tolist()
    return written(field.number, kind, items, packed=_is_packed(field))


def _is_packed(field):
    if hasattr(field, "is_packed"):
        return field.is_packed
    return _is_repeated(field) and field.GetOptions().packed
