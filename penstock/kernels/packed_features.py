"""The features of Examples as bytes, and their values as arrays.

An Example is a map from keys to Feature messages. It is parsed by a schema of its own, in which a
Feature is a plain string of bytes: what nobody asks for is never taken apart, and the values of one
feature in a whole batch are decoded at once.

The values of a Feature are nearly always written in one way: the tag of the list, its length, the
tag of the values, their length, the values. So the length of the message tells what its first bytes
must be, and what follows is the *payload*. A message of any other form is read by protobuf and
written anew.
"""

import functools
import itertools

import numpy as np
import torch

from penstock import dtypes, errors, proto
from penstock.kernels.string_arrays import string_vector


def invalid(message):
    return errors.InvalidArgumentError(None, None, message)


class WrongKind(Exception):
    """A feature holds values of another type than asked for.

    `index` says which one of those that were read, `given` is the name of the type that it holds,
    and `feature` is the message.
    """

    def __init__(self, index, given, feature):
        super().__init__(given)
        self.index, self.given, self.feature = index, given, feature


# Examples -------------------------------------------------------------------------------------


@functools.cache
def _split_example():
    """The class of Examples whose features are strings of bytes."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="penstock/split_example.proto", package="penstock", syntax="proto3"
    )
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    entry.field.add(name="key", number=1, label=one, type=field.TYPE_STRING)
    entry.field.add(name="value", number=2, label=one, type=field.TYPE_BYTES)
    features.field.add(
        name="feature",
        number=1,
        label=many,
        type=field.TYPE_MESSAGE,
        type_name=".penstock.Features.FeatureEntry",
    )
    example = file.message_type.add(name="Example")
    example.field.add(
        name="features",
        number=1,
        label=one,
        type=field.TYPE_MESSAGE,
        type_name=".penstock.Features",
    )
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("penstock.Example"))


def split_examples(serialized):
    """For each of some serialized Examples the map from keys to its Feature messages, as bytes."""
    from google.protobuf.message import DecodeError

    parse, examples = _split_example().FromString, []
    for string in serialized:
        try:
            examples.append(parse(string).features.feature)
        except DecodeError:
            raise _unreadable(string) from None
    return examples


def _unreadable(serialized):
    shown = serialized.decode(errors="backslashreplace")
    return invalid(f"Could not parse example input, value: '{shown}'")


# Features -------------------------------------------------------------------------------------

_VALUES = b"\x0a"  # the tag of the values in a list message: field 1, with a length


def varint(number):
    """A number in bytes of seven bits, the lowest first; all but the last have the top bit set."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


class _Beginnings(dict):
    """By the length of a Feature message, the bytes in front of its payload."""

    def __init__(self, tag):
        super().__init__()
        self._tag = tag

    def __missing__(self, length):
        for size in range(4, 13):
            payload = length - size
            if payload >= 0:
                values = _VALUES + varint(payload)
                beginning = self._tag + varint(len(values) + payload) + values
                if len(beginning) == size:
                    self[length] = beginning
                    return beginning
        return bytes(length + 1)  # no message of this length begins so


class Kind:
    """How features of one type are read: the field that holds them, their names in errors."""

    def __init__(self, dtype, field, tag, name, values_name):
        self.dtype, self.field = dtype, field
        self.name, self.values_name = name, values_name
        self._beginnings = _Beginnings(tag)
        self.nothing = self.payload_of(())

    def payloads(self, features):
        """The payload of each of some messages; None for one that is missing or holds nothing."""
        beginnings = self._beginnings
        return [
            (
                feature[len(start) :]
                if feature.startswith(start := beginnings[len(feature)])
                else self._reread(feature, index)
            )
            if feature
            else None
            for index, feature in enumerate(features)
        ]

    def usual_payload(self, feature):
        """The payload of a message of the usual form; None for any other."""
        start = self._beginnings[len(feature)]
        return feature[len(start) :] if feature.startswith(start) else None

    def _reread(self, feature, index):
        """The payload of a message of another form than the usual."""
        message = _parsed(feature)
        held = message.WhichOneof("kind")
        if held is None:
            return None
        if held != self.field:
            raise WrongKind(index, NAME_OF_FIELD[held], message)
        return self.payload_of(getattr(message, held).value)

    def payload_of(self, values):
        """The payload that holds a sequence of values."""
        raise NotImplementedError

    def decoded(self, payloads):
        """The values of all payloads in one vector, and how many each holds."""
        raise NotImplementedError


def _parsed(feature):
    from google.protobuf.message import DecodeError

    try:
        return proto.Feature.FromString(feature)
    except DecodeError:
        raise _unreadable(feature) from None


class _Floats(Kind):
    def payload_of(self, values):
        return np.array(values, "<f4").tobytes()

    def decoded(self, payloads):
        sizes = np.fromiter(map(len, payloads), np.int64, len(payloads))
        if (sizes % 4).any():
            raise _unreadable(payloads[int((sizes % 4).argmax())])
        values = np.frombuffer(bytearray().join(payloads), "<f4").astype(np.float32, copy=False)
        return torch.from_numpy(values), sizes // 4


FEW = 24  # so many bytes are decoded faster one by one
_LONGEST = 10  # bytes of a varint


class _Integers(Kind):
    def payload_of(self, values):
        return b"".join([varint(value % 2**64) for value in values])

    def decoded(self, payloads):
        data = b"".join(payloads)
        if len(data) <= FEW:
            parts = [few_integers(payload) for payload in payloads]
            values = np.array(list(itertools.chain.from_iterable(parts)), np.int64)
            return torch.from_numpy(values), np.array([len(part) for part in parts], np.int64)
        ends = np.cumsum(np.fromiter(map(len, payloads), np.int64, len(payloads)))
        octets = np.frombuffer(data, np.uint8)
        last = octets < 0x80  # of the bytes of a number
        self._check_ends(payloads, ends, last)
        before = np.concatenate([[0], np.cumsum(last)])
        counts = np.diff(before[ends], prepend=0)
        return torch.from_numpy(_integers(octets, np.flatnonzero(last))), counts

    @staticmethod
    def _check_ends(payloads, ends, last):
        if not last[ends[ends > 0] - 1].all():  # of an empty payload, the end of the one before
            raise _unreadable(next(part for part in payloads if part and part[-1] > 0x7F))


def few_integers(payload):
    """The numbers in a short payload, as a list."""
    values, number, shift = [], 0, 0
    for octet in payload:
        number |= (octet & 0x7F) << shift
        if octet > 0x7F:
            shift += 7
            continue
        if shift >= 7 * _LONGEST:
            raise _unreadable(payload)
        number &= 2**64 - 1
        values.append(number - 2**64 if number >> 63 else number)
        number = shift = 0
    if shift:
        raise _unreadable(payload)
    return values


def _integers(octets, last):
    """The numbers whose bytes end at the places `last`."""
    if len(last) == len(octets):
        return octets.astype(np.int64)
    first = np.concatenate([[0], last[:-1] + 1])
    lengths = last - first + 1
    longest = int(lengths.max())
    if longest > _LONGEST:
        raise _unreadable(octets.tobytes())
    numbers = (octets[first] & 0x7F).astype(np.uint64)
    for place in range(1, longest):
        longer = np.flatnonzero(lengths > place)
        part = (octets[first[longer] + place] & 0x7F).astype(np.uint64)
        numbers[longer] |= part << np.uint64(7 * place)
    return numbers.view(np.int64)


def integers_in_rows(octets, count):
    """The numbers in payloads of equal length, a matrix of bytes; None unless each has `count`."""
    last = octets < 0x80
    if not last[:, -1].all():
        return None
    if octets.shape[1] == count:
        return octets if last.all() else None
    if (last.sum(1) != count).any():
        return None
    return _integers(octets.reshape(-1), np.flatnonzero(last)).reshape(-1, count)


class _Strings(Kind):
    """A payload is a list of strings, or just one, which has the form of any other payload."""

    def payload_of(self, values):
        return list(values)

    def decoded(self, payloads):
        counts = [1 if type(payload) is bytes else len(payload) for payload in payloads]
        if all(count == 1 for count in counts):
            strings = [part if type(part) is bytes else part[0] for part in payloads]
        else:
            lists = ([part] if type(part) is bytes else part for part in payloads)
            strings = list(itertools.chain.from_iterable(lists))
        return string_vector(strings), np.array(counts, np.int64)


KINDS = {
    dtypes.string: _Strings(dtypes.string, "bytes_list", b"\x0a", "string", "bytes"),
    dtypes.float32: _Floats(dtypes.float32, "float_list", b"\x12", "float", "float"),
    dtypes.int64: _Integers(dtypes.int64, "int64_list", b"\x1a", "int64", "int64"),
}
NAME_OF_FIELD = {kind.field: kind.name for kind in KINDS.values()}


# Where values are -----------------------------------------------------------------------------


def sparse_matrix_parts(counts):
    """The indices and the shape of the sparse matrix whose rows hold `counts` values."""
    counts = np.asarray(counts, dtype=np.int64)
    total = int(counts.sum())
    indices = np.empty((total, 2), dtype=np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = positions(counts)
    shape = np.array([len(counts), counts.max(initial=0)], dtype=np.int64)
    return torch.from_numpy(indices), torch.from_numpy(shape)


def positions(counts):
    """The place of each value in its row, for rows of `counts` values."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def row_splits(counts, dtype):
    """Where each row starts, and the end of the last."""
    return torch.from_numpy(np.cumsum([0, *counts]).astype(np.int64)).to(dtype)


def filled_up(values, counts, longest, filling):
    """Rows of `counts` values, one row after the other, as a matrix; `filling` ends short ones."""
    if isinstance(values, torch.Tensor):
        matrix = torch.full((len(counts), longest), filling, dtype=values.dtype)
        matrix[torch.from_numpy(np.arange(longest) < np.asarray(counts)[:, None])] = values
        return matrix
    matrix = np.full((len(counts), longest), filling, dtype=object)
    matrix[np.arange(longest) < np.asarray(counts)[:, None]] = values
    return matrix
