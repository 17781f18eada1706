"""Kernels of regular expressions."""

import re

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.re2 import BadPattern, compile_pattern, decoded, encoded
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes, strings_like


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _compiled(pattern):
    try:
        return compile_pattern(pattern)
    except BadPattern as error:
        shown = pattern.decode(errors="backslashreplace")
        raise _invalid(f"Invalid pattern: {shown}, error: {error}") from None


def _scalar(value, what):
    if value.ndim:
        raise _invalid(f"{what} must be scalar, but received {shapes.text(value.shape)}")
    return value.item()


@kernel("RegexFullMatch", devices=HOST)
def _(node):
    return lambda input, pattern: _full_match(input, _compiled(_scalar(pattern, "Pattern")))


@kernel("StaticRegexFullMatch", devices=HOST)
def _(node):
    pattern = _compiled(attr_bytes(node.attrs["pattern"]))
    return lambda input: _full_match(input, pattern)


def _full_match(input, pattern):
    matches = (pattern.fullmatch(decoded(string)) is not None for string in input.ravel())
    return torch.from_numpy(np.fromiter(matches, bool, input.size).reshape(input.shape))


@kernel("RegexReplace", devices=HOST)
def _(node):
    everywhere = node.attrs["replace_global"]

    def run(input, pattern, rewrite):
        expression = _compiled(_scalar(pattern, "Pattern"))
        return _replaced(input, _replacer(expression, _scalar(rewrite, "Rewrite"), everywhere))

    return run


@kernel("StaticRegexReplace", devices=HOST)
def _(node):
    pattern = _compiled(attr_bytes(node.attrs["pattern"]))
    replace = _replacer(pattern, attr_bytes(node.attrs["rewrite"]), node.attrs["replace_global"])
    return lambda input: _replaced(input, replace)


def _replaced(input, replace):
    return strings_like(input, [encoded(replace(decoded(string))) for string in input.ravel()])


def _replacer(pattern, rewrite, everywhere):
    """The function that replaces matches in a text."""
    write, last_group = _writer(decoded(rewrite))
    if last_group > pattern.groups:  # RE2 then replaces nothing
        return lambda text: text

    def replace(text):
        pieces, end = [], 0
        for match in _matches(pattern, text, everywhere):
            pieces += (text[end : match.start()], write(match))
            end = match.end()
        return "".join(pieces) + text[end:]

    return replace


def _matches(pattern, text, everywhere):
    """The matches that RE2 replaces: it doesn't see an empty one right behind another."""
    if not everywhere:
        first = pattern.search(text)
        return [] if first is None else [first]
    found = list(pattern.finditer(text))
    if all(match.start() < match.end() for match in found):
        return found
    return _matches_beside_empty_ones(pattern, text)


def _matches_beside_empty_ones(pattern, text):
    found, at, end = [], 0, -1
    while at <= len(text):
        match = pattern.search(text, at)
        if match is None:
            break
        if match.start() == match.end() == end:
            at = end + 1
            continue
        found.append(match)
        end = match.end()
        at = end + (match.start() == end)
    return found


_REWRITE_PART = re.compile(r"(?s)\\([0-9])|\\(\\)|([^\\])|\\")


def _writer(rewrite):
    r"""The function that writes a rewrite with \0 to \9 for the groups of a match, and the last.

    RE2 leaves out what follows an invalid escape.
    """
    parts, last_group = [], 0
    for part in _REWRITE_PART.finditer(rewrite):
        group, backslash, char = part.groups()
        if group is not None:
            parts.append(int(group))
            last_group = max(last_group, int(group))
        elif backslash or char:
            parts.append(backslash or char)
        else:
            break
    if not any(isinstance(part, int) for part in parts):
        text = "".join(parts)
        return (lambda match: text), last_group

    def write(match):
        pieces = [(match[part] or "") if isinstance(part, int) else part for part in parts]
        return "".join(pieces)

    return write, last_group
