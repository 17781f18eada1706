"""Unicode encodings and scripts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case, array, strings

BROKEN = strings(
    b"a\xffb",
    b"\xe2\x82",
    b"\xe2\x82a",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98",
    b"\xc0\x80",
    b"\xf5\x80",
    "",
)
TEXTS = strings("a\u20ac\U0001f600", "", "b\u00e9")
CONTROLS = strings("a\x00b\x1f\x7f\n\u0085")


def transcoded(label: str, text: bytes | str, encoding: str, **attrs: Any) -> Case:
    fails = attrs.pop("fails", False)
    given = {"input_encoding": encoding, "output_encoding": "UTF-8", **attrs}
    return Case("UnicodeTranscode", (strings(text),), given, label=label, fails=fails)


def encoded(label: str, points: list[int], splits: list[int], **attrs: Any) -> Case:
    fails = attrs.pop("fails", False)
    inputs = (array(points, "int32"), array(splits, "int64"))
    given = {"output_encoding": "UTF-8", **attrs}
    return Case("UnicodeEncode", inputs, given, label=label, fails=fails)


CASES = [
    Case(
        "UnicodeScript",
        (array([0x41, 0x20, 0x3B1, 0x4E00, 0x300, 0x10FFFF, -1, 2**31 - 1], "int32"),),
    ),
    Case("UnicodeScript", (np.arange(0, 0x110000, 97, dtype=np.int32),), label="all over"),
]
CASES += [
    Case(
        "UnicodeTranscode",
        (BROKEN,),
        {"input_encoding": "UTF-8", "output_encoding": "UTF-8", "errors": errors},
        label=f"broken {errors}",
        fails=errors == "strict",
    )
    for errors in ("replace", "ignore", "strict")
]
CASES += [
    Case(
        "UnicodeTranscode",
        (TEXTS,),
        {"input_encoding": "UTF-8", "output_encoding": encoding},
        label=encoding,
    )
    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE")
]
CASES += [
    transcoded("latin", b"\xe9a", "latin1"),
    transcoded("ascii", b"\xe9a", "US-ASCII"),
    transcoded("shift-jis", b"\x82\xa0a", "shift_jis"),
    transcoded("utf-16 be", "\u20aca".encode("utf-16-be"), "UTF-16-BE"),
    transcoded("utf-16 le", "\u20aca".encode("utf-16-le"), "UTF-16LE"),
    transcoded("torn utf-16", b"\xd8\x00\x00a", "UTF-16-BE"),
    transcoded("windows", b"\x80", "windows-1252"),
    transcoded("replacement", b"a\xffb", "UTF-8", replacement_char=0x1F600),
    transcoded("mark", b"\xef\xbb\xbfa", "UTF-8"),
    transcoded("unknown", b"a", "foo", fails=True),
    transcoded("bad replacement", b"a", "UTF-8", replacement_char=0x110000, fails=True),
]
CASES += [
    Case(
        "UnicodeTranscode",
        (CONTROLS,),
        {
            "input_encoding": "UTF-8",
            "output_encoding": "UTF-8",
            "replace_control_characters": True,
            "errors": errors,
        },
        label=f"controls {errors}",
        fails=errors == "strict",
    )
    for errors in ("replace", "ignore", "strict")
]
CASES += [
    Case(op, (value,), {"input_encoding": encoding, **attrs}, label=label)
    for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets")
    for label, value, encoding, attrs in (
        ("texts", TEXTS, "UTF-8", {}),
        ("broken", BROKEN, "UTF-8", {}),
        ("ignored", BROKEN, "UTF-8", {"errors": "ignore"}),
        ("replaced", BROKEN, "UTF-8", {"replacement_char": 65}),
        ("matrix", strings(["a", "bc"], ["", "d"]), "UTF-8", {}),
        ("utf-16", strings("\u20ac\U0001f600a".encode("utf-16-be")), "UTF-16-BE", {}),
        ("utf-32", strings("\u20ac\U0001f600a".encode("utf-32-be")), "UTF-32-BE", {}),
        ("latin", strings(b"\xe9a"), "latin1", {}),
        ("controls", CONTROLS, "UTF-8", {"replace_control_characters": True}),
    )
]
CASES += [
    Case(
        "UnicodeDecode",
        (BROKEN,),
        {"input_encoding": "UTF-8", "errors": "strict"},
        label="strict",
        fails=True,
    ),
    encoded("texts", [97, 0x20AC, 0x1F600], [0, 1, 1, 3]),
    encoded("utf-16", [97, 0x20AC, 0x1F600], [0, 1, 3], output_encoding="UTF-16-BE"),
    encoded("utf-32", [97, 0x20AC, 0x1F600], [0, 1, 3], output_encoding="UTF-32-BE"),
    encoded("replaced", [97, 0xD800, -1, 0x110000], [0, 4]),
    encoded("replacement", [97, 0xD800], [0, 2], replacement_char=65),
    encoded("bad replacement", [97, 0xD800], [0, 2], replacement_char=0xD800),
    encoded("ignored", [97, 0xD800, -1, 0x110000], [0, 4], errors="ignore"),
    encoded("empty", [], [0]),
    encoded("strict", [97, 0xD800], [0, 2], errors="strict", fails=True),
    encoded("start", [97], [1], fails=True),
    encoded("end", [97, 98], [0, 1], fails=True),
    encoded("order", [97, 98], [0, 3, 2], fails=True),
    encoded("no splits", [], [], fails=True),
]
