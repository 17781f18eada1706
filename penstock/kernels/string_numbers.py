"""Kernels of numbers as strings and strings as numbers."""

import math
import re

import numpy as np

from penstock import dtypes, errors
from penstock.kernels.debugging import element_text
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes, string_scalar, strings_like
from penstock.kernels.values import from_array, to_array


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Numbers as strings ----------------------------------------------------------------------------


@kernel("AsString", devices=HOST)
def _(node):
    dtype = node.attrs["T"]
    write = _writer(dtype, _checked_fill(node.attrs, dtype), node.attrs)

    def run(input):
        array = to_array(input)
        if array.dtype.name == "bfloat16":
            array = array.astype(np.float32)
        return strings_like(array, [write(value) for value in array.ravel().tolist()])

    return run


def _checked_fill(attrs, dtype):
    styled = attrs["scientific"] or attrs["shortest"]
    if not (dtype.is_floating or dtype.is_complex or dtype is dtypes.string):
        if styled:
            raise _invalid(
                f"scientific and shortest format not supported for datatype {dtype.name}"
            )
        if attrs["precision"] >= 0:
            raise _invalid(f"precision not supported for datatype {dtype.name}")
    fill = attr_bytes(attrs["fill"])
    if len(fill) > 1:
        raise _invalid("Fill string must be one or fewer characters")
    if attrs["scientific"] and attrs["shortest"]:
        raise _invalid("Cannot select both scientific and shortest notation")
    if fill not in (b"", b" ", b"+", b"-", b"0", b"#"):
        raise _invalid(f'Fill argument not supported: "{fill.decode()}"')
    return fill


def _writer(dtype, fill, attrs):
    """The function that writes a number of a type as C's printf does."""
    width = b"%d" % attrs["width"] if attrs["width"] >= 0 else b""
    precision = b".%d" % attrs["precision"] if attrs["precision"] >= 0 else b""
    if dtype is dtypes.bool:
        return lambda value: b"true" if value else b"false"
    if dtype is dtypes.string:
        form = b"%" + fill.strip(b" +0#") + width + b"s"
        return lambda value: form % value
    if dtype.is_integer:
        if dtype.is_unsigned:  # C writes no sign of an unsigned number
            fill = fill.strip(b" +")
        form = b"%" + fill + width + b"d"
        return lambda value: form % value
    kind = b"g" if attrs["shortest"] else b"e" if attrs["scientific"] else b"f"
    of_real = _real_writer(fill, width, precision + kind)
    if dtype.is_complex:
        return lambda value: b"(%b,%b)" % (of_real(value.real), of_real(value.imag))
    return of_real


def _real_writer(fill, width, kind):
    form = b"%" + fill + width + kind
    if fill != b"0":
        return lambda value: form % value
    unfilled = b"%" + width + kind  # C fills infinities up with blanks
    return lambda value: (form if math.isfinite(value) else unfilled) % value


# Strings as numbers ----------------------------------------------------------------------------

# The integers of each type: from the first number up to, not including, the second.
INTEGER_RANGE = {
    dtypes.int32: (-(2**31), 2**31),
    dtypes.int64: (-(2**63), 2**63),
    dtypes.uint32: (0, 2**32),
    dtypes.uint64: (0, 2**64),
}
# What C reads and Python's float doesn't: hexadecimal numbers and tagged NaNs.
_HEXADECIMAL = re.compile(rb"[+-]?0[xX]")
_TAGGED_NAN = re.compile(rb"([+-]?nan)\(\w*\)", re.IGNORECASE)


def parse_float(string):
    """The number that a string spells by C's rules; ValueError where it spells none."""
    if b"_" in string:
        raise ValueError(string)
    try:
        return float(string)
    except ValueError:
        text = string.strip()
        if _HEXADECIMAL.match(text):
            return float.fromhex(text.decode("ascii"))
        tagged = _TAGGED_NAN.fullmatch(text)
        if tagged:
            return float(tagged[1])
        raise


def integer_parser(dtype):
    """The function that reads integers of a type; ValueError where it can't or they don't fit."""
    low, high = INTEGER_RANGE[dtype]

    def parse(string):
        number = int(string)
        if b"_" in string or not low <= number < high:
            raise ValueError(string)
        return number

    return parse


def number_parser(dtype):
    """The function that reads numbers of a type from strings."""
    return parse_float if dtype.is_floating else integer_parser(dtype)


@kernel("StringToNumber", devices=HOST)
def _(node):
    dtype = node.attrs["out_type"]
    parse, numpy_type = number_parser(dtype), dtype.as_numpy_dtype

    def run(strings):
        try:
            numbers = [parse(string) for string in strings.ravel()]
        except ValueError:
            bad = next(string for string in strings.ravel() if not _is_number(parse, string))
            raise _invalid(
                "StringToNumberOp could not correctly convert string: "
                + bad.decode(errors="backslashreplace")
            ) from None
        return from_array(rounded(numbers, numpy_type).reshape(strings.shape))

    return run


def rounded(numbers, numpy_type):
    """Python numbers as an array; what is too large for float32 is infinite."""
    with np.errstate(over="ignore"):
        return np.array(numbers, dtype=numpy_type)


def _is_number(parse, string):
    try:
        parse(string)
    except ValueError:
        return False
    return True


# Templates -------------------------------------------------------------------------------------


@kernel("StringFormat", devices=HOST)
def _(node):
    placeholder = attr_bytes(node.attrs["placeholder"])
    pieces = attr_bytes(node.attrs["template"]).split(placeholder)
    limit = node.attrs["summarize"]

    def run(*inputs):
        written = [
            format_tensor(value, limit).encode("utf-8", "surrogateescape") for value in inputs
        ]
        filled = [part for pair in zip(pieces, written, strict=False) for part in pair]
        return string_scalar(b"".join([*filled, *pieces[len(written) :]]))

    return run


def format_tensor(value, limit):
    """A tensor as text: `[[1 2]\n [3 4]]`, with `limit` entries at either end of each axis."""
    array = to_array(value)
    limit = array.size if limit < 0 else min(limit, array.size)
    if array.ndim == 0 and limit == 0:
        return "..."
    return _format_axis(array, 0, limit)


def _format_axis(array, axis, limit):
    if not getattr(array, "ndim", 0):
        return _format_element(array if isinstance(array, bytes) else array[()])
    count = len(array)
    spacing = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (axis + 1)
    shown = [_format_axis(array[i], axis + 1, limit) for i in range(min(limit, count))]
    text = spacing.join(shown)
    if count > 2 * limit:
        text += spacing + "..."
    for i in range(max(limit, count - limit), count):
        text += spacing + _format_axis(array[i], axis + 1, limit)
    return f"[{text}]"


def _format_element(entry):
    if isinstance(entry, bytes):
        return f'"{c_escaped(entry)}"'
    if isinstance(entry, (complex, np.complexfloating)):
        return "?"
    return element_text(entry)


_NAMED_ESCAPES = {b"\n": "\\n", b"\r": "\\r", b"\t": "\\t", b'"': '\\"', b"'": "\\'", b"\\": "\\\\"}


def c_escaped(string):
    """A string with control characters and quotes escaped as in C; UTF-8 stays as it is."""
    text = string.decode("utf-8", "surrogateescape")
    return "".join(
        _NAMED_ESCAPES.get(c.encode("utf-8", "surrogateescape"))
        or (c if " " <= c != "\x7f" else f"\\{ord(c):03o}")
        for c in text
    )
