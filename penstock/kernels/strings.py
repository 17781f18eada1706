"""Kernels of strings, element by element."""

import binascii
import re

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes, mapped, strings_like
from penstock.kernels.values import to_array


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# A character is a byte that starts one and the bytes that continue it, valid or not.
_CHARACTER = re.compile(rb"(?s).[\x80-\xbf]*")
_CONTINUATIONS = bytes(range(0x80, 0xC0))


# Parts -----------------------------------------------------------------------------------------


@kernel("Substr", devices=HOST)
def _(node):
    part = _bytes_of if attr_bytes(node.attrs["unit"]) == b"BYTE" else _characters_of

    def run(input, pos, length):
        if pos.shape != length.shape:
            raise _invalid(
                f"pos and len should have the same shape, got: {shapes.text(pos.shape)} vs. "
                f"{shapes.text(length.shape)}"
            )
        if pos.dim() == 0:
            first, count, strings = pos.item(), length.item(), input.ravel().tolist()
            if part is _bytes_of and 0 <= first <= min(map(len, strings), default=0):
                end = None if count < 0 else first + count
                return strings_like(input, [s[first:end] for s in strings])
            parts = [part(s, first, count, i) for i, s in enumerate(strings)]
            return strings_like(input, parts)
        strings, firsts, counts = _broadcast(input, to_array(pos), to_array(length))
        each = zip(strings.ravel(), firsts.ravel().tolist(), counts.ravel().tolist(), strict=True)
        return strings_like(strings, [part(s, p, n, i) for i, (s, p, n) in enumerate(each)])

    return run


def _broadcast(input, pos, length):
    try:
        shape = np.broadcast_shapes(input.shape, pos.shape)
    except ValueError:
        raise _invalid(
            f"Incompatible shapes: {shapes.text(input.shape)} vs. {shapes.text(pos.shape)}"
        ) from None
    if len(shape) > 2 and not input.shape == pos.shape:
        raise errors.UnimplementedError(
            None, None, f"Substr broadcast not implemented for {len(shape)} dimensions"
        )
    return tuple(np.broadcast_to(each, shape) for each in (input, pos, length))


def _bytes_of(string, pos, length, index):
    first = pos + len(string) if pos < 0 else pos
    if not 0 <= first <= len(string):
        shown = string.decode(errors="backslashreplace")
        raise _invalid(f"pos {pos} out of range for string b'{shown}' at index {index}")
    return string[first:] if length < 0 else string[first : first + length]


def _characters_of(string, pos, length, index):
    characters = _CHARACTER.findall(string)
    first = pos + len(characters) if pos < 0 else pos
    if not 0 <= first <= len(characters):
        raise _invalid(f"pos {pos} out of range for string at index {index}")
    return b"".join(characters[first : first + max(length, 0)])


# Lengths, white space, letter case -------------------------------------------------------------


@kernel("StringLength", devices=HOST)
def _(node):
    if attr_bytes(node.attrs["unit"]) == b"BYTE":
        length = len
    else:

        def length(string):
            return len(string.translate(None, _CONTINUATIONS))

    def run(input):
        counts = np.fromiter(map(length, input.ravel().tolist()), np.int32, input.size)
        return torch.from_numpy(counts.reshape(input.shape))

    return run


@kernel("StringStrip", devices=HOST)
def _(node):
    return mapped(bytes.strip)


@kernel("StringLower", devices=HOST)
def _(node):
    return mapped(_in_case(node, bytes.lower, str.lower))


@kernel("StringUpper", devices=HOST)
def _(node):
    return mapped(_in_case(node, bytes.upper, str.upper))


def _in_case(node, of_ascii, of_text):
    encoding = attr_bytes(node.attrs["encoding"])
    if not encoding:
        return of_ascii
    if encoding != b"utf-8":
        raise _invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding.decode()}")

    def of_utf8(string):
        if string.isascii():
            return of_ascii(string)
        return of_text(string.decode(errors="replace")).encode()

    return of_utf8


# Base 64 ---------------------------------------------------------------------------------------

_WEB_SAFE = re.compile(rb"[A-Za-z0-9_-]*")
_TO_WEB_SAFE, _FROM_WEB_SAFE = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")


@kernel("EncodeBase64", devices=HOST)
def _(node):
    if node.attrs["pad"]:
        return mapped(_encoded_base64)
    return mapped(lambda string: _encoded_base64(string).rstrip(b"="))


def _encoded_base64(string):
    return binascii.b2a_base64(string, newline=False).translate(_TO_WEB_SAFE)


@kernel("DecodeBase64", devices=HOST)
def _(node):
    return mapped(_decoded_base64)


def _decoded_base64(string):
    if len(string) % 4 == 1:
        raise _invalid("Base64 string length cannot be 1 modulo 4.")
    digits = string
    if len(string) % 4 == 0:  # only a string that is filled up may end in "="
        digits = string[:-2] + string[-2:].rstrip(b"=")
    if not _WEB_SAFE.fullmatch(digits) or len(digits) % 4 == 1:
        raise _invalid("Invalid character found in base64.")
    return binascii.a2b_base64(digits.translate(_FROM_WEB_SAFE) + b"=" * (-len(digits) % 4))
