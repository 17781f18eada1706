"""Kernels that read data out of strings."""

import math
import zlib

import numpy as np

from penstock import dtypes, errors, proto, shapes
from penstock.ir.tensor_codec import array_to_proto, proto_to_array
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes, mapped, string_scalar
from penstock.kernels.values import from_array, to_array


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Raw bytes --------------------------------------------------------------------------------------


@kernel("DecodeRaw", devices=HOST)
def _(node):
    dtype = node.attrs["out_type"]
    as_numbers = _number_reader(dtype, node.attrs["little_endian"])
    size = dtype.size

    def run(strings):
        if strings.ndim == 0:
            content = strings.item()
            _check_whole(len(content), size, dtype)
            return as_numbers(content, (len(content) // size,))
        if not strings.size:
            return as_numbers(b"", (*strings.shape, 0))
        entries = strings.ravel().tolist()
        length = len(entries[0])
        for i, entry in enumerate(entries):
            if len(entry) != length:
                raise _invalid(
                    "DecodeRaw requires input strings to all be the same size, but element "
                    f"{i} has size {length} != {len(entry)}"
                )
        _check_whole(length, size, dtype)
        return as_numbers(b"".join(entries), (*strings.shape, length // size))

    return run


def _check_whole(length, size, dtype):
    if length % size:
        raise _invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of {size}, "
            f"the size of {dtypes.runtime_name(dtype)}"
        )


def _number_reader(dtype, little_endian):
    """The function that makes numbers, in memory of their own, of bytes."""
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    order = numpy_type if little_endian or numpy_type.itemsize == 1 else _big_endian(numpy_type)

    def read(content, shape):
        numbers = np.frombuffer(bytearray(content), dtype=order).reshape(shape)
        return from_array(numbers)

    return read


def _big_endian(numpy_type):
    if numpy_type.name == "bfloat16":
        raise errors.UnimplementedError(None, None, "big-endian bfloat16")
    return numpy_type.newbyteorder(">")


@kernel("DecodePaddedRaw", devices=HOST)
def _(node):
    dtype = node.attrs["out_type"]
    as_numbers = _number_reader(dtype, node.attrs["little_endian"])

    def run(strings, fixed_length):
        if fixed_length.dim():
            raise _invalid(f"k must be scalar, got shape {shapes.text(fixed_length.shape)}")
        length = fixed_length.item()
        if length <= 0:
            raise _invalid(f"fixed_length ({length}) must be greater than zero.")
        if length % dtype.size:
            raise _invalid(
                f"fixed_length ({length}) must be a multiple of the size of out_type ({dtype.size})"
            )
        padded = [entry[:length].ljust(length, b"\0") for entry in strings.ravel()]
        return as_numbers(b"".join(padded), (*strings.shape, length // dtype.size))

    return run


# Messages ---------------------------------------------------------------------------------------


@kernel("ParseTensor", devices=HOST)
def _(node):
    wanted = node.attrs["out_type"]

    def run(serialized):
        if serialized.ndim:
            raise _invalid(
                f"Expected `serialized` to be a scalar, got shape: {shapes.text(serialized.shape)}"
            )
        message = _tensor_message(serialized.item())
        given = dtypes.as_dtype(message.dtype)
        if given is not wanted:
            raise _invalid(
                f"Type mismatch between parsed tensor ({dtypes.runtime_name(given)}) and dtype "
                f"({dtypes.runtime_name(wanted)})"
            )
        if given is dtypes.variant:
            return _saved_variants(message)
        try:
            return from_array(proto_to_array(message))
        except (TypeError, ValueError) as error:
            raise _invalid(f"Cannot parse tensor from proto: {error}") from None

    return run


def _variant_message(entry):
    """The message that a variant is saved as, such as the place of an iterator."""
    if not isinstance(entry, bytes):
        raise _invalid(f"a variant that holds a {type(entry).__name__} can't be serialized")
    return proto.VariantTensorDataProto.FromString(entry)


def _saved_variants(message):
    array = np.empty(len(message.variant_val), dtype=object)
    for place, entry in enumerate(message.variant_val):
        array[place] = entry.SerializeToString(deterministic=True)
    shape = [dim.size for dim in message.tensor_shape.dim]
    if array.size != math.prod(shape):
        raise _invalid(f"Cannot parse tensor from proto: {array.size} variants of shape {shape}")
    return array.reshape(shape)


def _tensor_message(serialized):
    from google.protobuf.message import DecodeError

    try:
        message = proto.TensorProto.FromString(serialized)
        dtypes.as_dtype(message.dtype)
    except DecodeError:
        shown = serialized.decode("utf-8", "replace")
        raise _invalid(f"Could not parse `serialized` as TensorProto: '{shown}'") from None
    except TypeError:
        raise _invalid(f"Cannot parse tensor from proto: type {message.dtype}") from None
    return message


@kernel("SerializeTensor", devices=HOST)
def _(node):
    dtype = node.attrs["T"]

    def run(tensor):
        array = to_array(tensor)
        if dtype is dtypes.string:
            return string_scalar(array_to_proto(array, dtype).SerializeToString())
        message = proto.TensorProto(dtype=dtype.as_datatype_enum)
        message.tensor_shape.SetInParent()
        for size in array.shape:
            message.tensor_shape.dim.add(size=size)
        if dtype is dtypes.variant:
            message.variant_val.extend(map(_variant_message, array.ravel()))
        else:
            message.tensor_content = array.tobytes()
        return string_scalar(message.SerializeToString())

    return run


@kernel("DecodeJSONExample", devices=HOST)
def _(node):
    from google.protobuf import json_format

    def binary(text):
        example = proto.Example()
        try:
            json_format.Parse(text, example)
        except (json_format.ParseError, UnicodeDecodeError) as error:
            raise _invalid(f"Error while parsing JSON: {error}") from None
        return example.SerializeToString(deterministic=True)

    return mapped(binary)


# Compressed data --------------------------------------------------------------------------------


def _inflated(data):
    """What zlib data holds, as much of it as there is."""
    return zlib.decompressobj().decompress(data)


def _gunzipped(data):
    """What one or several gzip members hold."""
    parts = []
    while data:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        parts.append(member.decompress(data))
        data = member.unused_data
    return b"".join(parts)


_DECOMPRESSORS = {b"ZLIB": _inflated, b"GZIP": _gunzipped}


@kernel("DecodeCompressed", devices=HOST)
def _(node):
    kind = attr_bytes(node.attrs["compression_type"])
    if not kind:
        return lambda strings: strings
    if kind not in _DECOMPRESSORS:
        raise _invalid("Only ZLIB, GZIP or NONE are supported compressions")
    decompress = _DECOMPRESSORS[kind]

    def checked(data):
        try:
            return decompress(data)
        except zlib.error as error:
            number, _, reason = str(error).removeprefix("Error ").partition(" ")
            reason = reason.partition(": ")[2]
            raise errors.DataLossError(
                None, None, f"inflate() failed with error {number}: {reason}"
            ) from None

    return mapped(checked)
