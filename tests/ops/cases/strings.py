"""Strings, element by element."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, array, string, strings

EMPTY = np.zeros((0, 2), dtype=object)
WORDS = strings(
    "Hello", "h\u20acllo w\u00f6rld", "", b"\xff\xfeA \xe2", "\u03a3A\u03a3 \u00df\u0130"
)
SPACED = strings(" a \t", "\x0ba\x0c\r\n", "a b", "\u00a0b", "", "   ")


def at(*values: int) -> np.ndarray:
    return array(list(values), "int32")


CASES = [
    Case("Substr", (strings("hello", "world"), array(1, "int32"), array(3, "int32"))),
    Case("Substr", (strings("hello", "abc"), at(1, -2), at(2, 5)), label="each"),
    Case("Substr", (string("hello"), at(0, 5, -5), at(-1, 2, 0)), label="one string"),
    Case(
        "Substr",
        (
            strings(["ab", "cd"], ["ef", "gh"]),
            array([[1], [0]], "int64"),
            array([[1], [2]], "int64"),
        ),
        label="broadcast",
    ),
    Case(
        "Substr",
        (strings("h\u20acllo", "\U0001f600ab", b"\xff\xfe\xe2a"), at(1, -2, 1), at(2, 1, 9)),
        {"unit": "UTF8_CHAR"},
        label="characters",
    ),
    Case(
        "Substr",
        (string("\u20acuro"), at(0, 4, -1), at(-1, 3, 1)),
        {"unit": "UTF8_CHAR"},
        label="character edges",
    ),
    Case("Substr", (EMPTY, array(0, "int32"), array(1, "int32")), label="empty"),
    Case("Substr", (strings("hello"), at(6), at(1)), label="behind", fails=True),
    Case("Substr", (strings("hello"), at(-6), at(1)), label="before", fails=True),
    Case(
        "Substr",
        (strings("\u20ac"), at(2), at(1)),
        {"unit": "UTF8_CHAR"},
        label="behind characters",
        fails=True,
    ),
    Case("Substr", (strings("a", "b"), at(0, 0), at(1, 1, 1)), label="sizes differ", fails=True),
    Case("Substr", (strings("a", "b"), at(0, 0, 0), at(1, 1, 1)), label="no match", fails=True),
    Case("StringLength", (WORDS,)),
    Case("StringLength", (WORDS,), {"unit": "UTF8_CHAR"}, label="characters"),
    Case("StringLength", (strings(b"\x80\x80", b"\xe2\x82"),), {"unit": "UTF8_CHAR"}, label="torn"),
    Case("StringLength", (EMPTY,), label="empty"),
    Case("StringStrip", (SPACED,)),
    Case("StringStrip", (EMPTY,), label="empty"),
    Case("StringLower", (WORDS,)),
    Case("StringLower", (WORDS,), {"encoding": "utf-8"}, label="unicode"),
    Case("StringLower", (WORDS,), {"encoding": "latin1"}, label="encoding", fails=True),
    Case("StringUpper", (WORDS,)),
    Case(
        "StringUpper",
        (strings("abc\u00e4\u00df", "\ufb00i\u0131"),),
        {"encoding": "utf-8"},
        label="unicode",
    ),
    Case("EncodeBase64", (WORDS,)),
    Case(
        "EncodeBase64", (strings(["", "a"], ["ab", b"\xff\xfe\xfd"]),), {"pad": True}, label="pad"
    ),
    Case("DecodeBase64", (strings("", "YQ", "YQ==", "aGVsbG8=", "a-b_", "YR"),)),
    Case("DecodeBase64", (EMPTY,), label="empty"),
]
CASES += [
    Case("DecodeBase64", (strings(text),), label=label, fails=True)
    for label, text in {
        "one digit": "Y",
        "half padded": "YQ=",
        "too padded": "YQ===",
        "not web-safe": "a+b/",
        "blank": "Y Q",
        "padding inside": "Y=Q=",
        "only padding": "====",
        "line end": "YQ\n",
    }.items()
]
