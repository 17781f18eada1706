"""Strings split."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case, array, string, strings

TEXTS = strings("", " ", "a b  c ", " a,; b;,c ", "x", "h\u20ac l")
DATA = strings("a", "b", "c", "d", "e")


def ngrams(label: str, widths: list[int], splits: list[int], **attrs: Any) -> Case:
    given: dict[str, Any] = {
        "separator": "|",
        "ngram_widths": widths,
        "left_pad": "L",
        "right_pad": "R",
        "pad_width": 0,
        "preserve_short_sequences": False,
    }
    fails = attrs.pop("fails", False)
    data = DATA if splits and splits[-1] else np.zeros((0,), object)
    inputs = (data, array(splits, "int64"))
    return Case("StringNGrams", inputs, {**given, **attrs}, label=label, fails=fails)


CASES = [
    Case("StringSplit", (TEXTS, string(" "))),
    Case("StringSplit", (TEXTS, string(" ")), {"skip_empty": False}, label="empty words"),
    Case("StringSplit", (TEXTS, string(",;")), label="several"),
    Case("StringSplit", (TEXTS, string(",;")), {"skip_empty": False}, label="several and empty"),
    Case("StringSplit", (TEXTS, string("")), label="bytes"),
    Case("StringSplit", (strings("a]b^c-d"), string("^-]")), label="of a class"),
    Case("StringSplit", (np.zeros((0,), object), string(" ")), label="empty"),
    Case("StringSplit", (strings(["a"]), string(" ")), label="matrix", fails=True),
    Case("StringSplit", (TEXTS, strings(" ", ",")), label="delimiters", fails=True),
]
CASES += [
    Case("StringSplitV2", (TEXTS, string(sep)), {"maxsplit": limit}, label=f"{sep!r} {limit}")
    for sep in ("", " ", ", ", ",;")
    for limit in (-1, 0, 1, 2, 3)
]
CASES += [
    Case("StringSplitV2", (np.zeros((0,), object), string("")), label="empty"),
    Case("StringSplitV2", (string("a"), string(" ")), label="scalar", fails=True),
    ngrams("pairs", [2], [0, 4, 5]),
    ngrams("padded", [2], [0, 4, 5], pad_width=1),
    ngrams("fully padded", [3], [0, 4, 5], pad_width=-1),
    ngrams("too wide padding", [3], [0, 4, 5], pad_width=5),
    ngrams("several widths", [2, 3], [0, 4, 4, 5], pad_width=-1),
    ngrams("short", [3], [0, 4, 4, 5], preserve_short_sequences=True),
    ngrams("short padded", [4, 5], [0, 1, 5], pad_width=1, preserve_short_sequences=True),
    ngrams("no widths", [], [0, 4, 5]),
    ngrams("empty", [2], [0, 0]),
    ngrams("no splits", [2], []),
    ngrams("start", [2], [1, 5], fails=True),
    ngrams("end", [2], [0, 4], fails=True),
    ngrams("order", [2], [0, 4, 3, 5], fails=True),
    ngrams("width", [0], [0, 4, 5], fails=True),
]
