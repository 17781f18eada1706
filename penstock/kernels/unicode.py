"""Kernels of Unicode encodings and scripts."""

import codecs
import itertools

import numpy as np
import torch

from penstock import errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes, mapped, string_vector
from penstock.kernels.unicode_properties import scripts_of
from penstock.kernels.values import to_array, torch_type

_LAST_CODE_POINT = 0x10FFFF


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


@kernel("UnicodeScript", devices=HOST)
def _(node):
    return lambda input: torch.from_numpy(np.asarray(scripts_of(to_array(input))))


# Decoding ---------------------------------------------------------------------------------------

# What can't be decoded becomes a lone surrogate, which nothing valid is decoded to; it tells the
# number of bytes.
_ERROR = 0xDF00


def _mark_error(error):
    return chr(_ERROR + error.end - error.start), error.end


codecs.register_error("penstock.unicode", _mark_error)


class _Decoder:
    """Decodes strings as the attrs of a node say."""

    def __init__(self, attrs):
        self._codec = _codec(attr_bytes(attrs["input_encoding"]).decode())
        self._policy = attr_bytes(attrs["errors"])
        self._replacement = _checked_replacement(attrs)
        self._first_printable = 0x20 if attrs["replace_control_characters"] else 0

    def code_points(self, data):
        """The code points of a string."""
        return [point for point, _ in self._points(data)]

    def with_starts(self, data):
        """The code points of a string, and the offsets at which they start."""
        points, starts, at = [], [], 0
        for point, size in self._points(data, sizes=True):
            if point is not None:
                points.append(point)
                starts.append(at)
            at += size
        return points, starts

    def _points(self, data, *, sizes=False):
        """Pairs of a code point and its size; None stands for what is ignored."""
        pairs = []
        for char in data.decode(self._codec, "penstock.unicode"):
            point = ord(char)
            wrong = _ERROR <= point <= 0xDFFF or point < self._first_printable
            size = self._size(char) if sizes else 0
            if not wrong:
                pairs.append((point, size))
            elif self._policy == b"strict":
                raise _invalid("Invalid formatting on input string")
            elif self._policy == b"replace":
                pairs.append((self._replacement, size))
            elif sizes:
                pairs.append((None, size))
        return pairs

    def _size(self, char):
        point = ord(char)
        if _ERROR <= point <= 0xDFFF:
            return point - _ERROR
        # The codecs that take a byte order mark write one too.
        codec = f"{self._codec}-be" if self._codec in ("utf-16", "utf-32") else self._codec
        return len(char.encode(codec, "replace"))


def _codec(encoding):
    try:
        name = codecs.lookup(encoding).name
        b"".decode(name)
    except (LookupError, ValueError):
        raise _invalid(f"Could not create converter for input encoding: {encoding}") from None
    return name


def _checked_replacement(attrs):
    replacement = attrs["replacement_char"]
    if not 0 <= replacement <= _LAST_CODE_POINT:
        raise _invalid("replacement_char out of unicode codepoint range")
    return replacement


@kernel("UnicodeDecode", devices=HOST)
def _(node):
    decode, split_type = _Decoder(node.attrs).code_points, torch_type(node.attrs["Tsplits"])

    def run(input):
        rows = [decode(string) for string in input.ravel()]
        return _splits(rows, split_type), _flat(rows, torch.int32)

    return run


@kernel("UnicodeDecodeWithOffsets", devices=HOST)
def _(node):
    decode, split_type = _Decoder(node.attrs).with_starts, torch_type(node.attrs["Tsplits"])

    def run(input):
        pairs = [decode(string) for string in input.ravel()]
        rows = [points for points, _ in pairs]
        starts = _flat([starts for _, starts in pairs], torch.int64)
        return _splits(rows, split_type), _flat(rows, torch.int32), starts

    return run


def _splits(rows, dtype):
    return torch.tensor(np.cumsum([0] + [len(row) for row in rows]), dtype=dtype)


def _flat(rows, dtype):
    return torch.tensor([entry for row in rows for entry in row], dtype=dtype)


# Encoding ---------------------------------------------------------------------------------------


@kernel("UnicodeTranscode", devices=HOST)
def _(node):
    decode = _Decoder(node.attrs).code_points
    codec = _output_codec(node)

    def transcode(string):
        return "".join(map(chr, decode(string))).encode(codec, "replace")

    return mapped(transcode)


@kernel("UnicodeEncode", devices=HOST)
def _(node):
    codec, policy = _output_codec(node), attr_bytes(node.attrs["errors"])
    replacement = _checked_replacement(node.attrs)
    if not _is_character(replacement):
        replacement = 0xFFFD

    def encode(points):
        if policy == b"strict" and not all(map(_is_in_range, points)):
            raise _invalid("Code point value out of valid Unicode range.")
        if policy == b"strict" and not all(map(_is_character, points)):
            raise _invalid("Code point is a surrogate.")
        if policy == b"ignore":
            points = filter(_is_character, points)
        return "".join(chr(p if _is_character(p) else replacement) for p in points).encode(codec)

    def run(values, splits):
        bounds = splits.tolist()
        _check_bounds(bounds, values.numel())
        points = values.tolist()
        rows = itertools.pairwise(bounds)
        return string_vector([encode(points[start:end]) for start, end in rows])

    return run


def _output_codec(node):
    return attr_bytes(node.attrs["output_encoding"]).decode()


def _is_in_range(point):
    return 0 <= point <= _LAST_CODE_POINT


def _is_character(point):
    return _is_in_range(point) and not 0xD800 <= point <= 0xDFFF


def _check_bounds(bounds, size):
    if not bounds:
        raise _invalid("Invalid empty input_splits tensor.")
    if bounds[0] != 0:
        raise _invalid("First value in input_splits must be zero.")
    if bounds[-1] != size:
        raise _invalid("Last value in input_splits must be equal to length of input_tensor.")
    if any(after < before for before, after in itertools.pairwise(bounds)):
        raise _invalid("Values in input_splits must be equal or in ascending order.")
