"""Numbers as strings, strings as numbers, templates."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case, array, bools, c64, string, strings

REALS = [1.0, -2.5, 1e10, 1e-7, 0.0, float("inf"), float("-inf")]
STYLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "precision": {"precision": 2},
    "scientific": {"scientific": True},
    "shortest": {"shortest": True},
    "zeros": {"width": 10, "fill": "0"},
    "left": {"width": 10, "fill": "-"},
    "plus": {"fill": "+"},
    "blank": {"fill": " "},
    "point": {"fill": "#", "precision": 0},
    "width": {"width": 9, "precision": 3, "scientific": True},
}
WHOLE_STYLES = {
    "plain": {},
    "zeros": {"width": 6, "fill": "0"},
    "left": {"width": 6, "fill": "-"},
    "plus": {"fill": "+"},
    "width": {"width": 4},
    "hash": {"fill": "#"},
}

CASES = [
    Case("AsString", (array(REALS, dtype),), attrs, label=f"{dtype} {label}")
    for dtype in ("float32", "float64")
    for label, attrs in STYLES.items()
]
CASES += [
    Case("AsString", (array([0, 1, 100], dtype),), attrs, label=f"{dtype} {label}")
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    for label, attrs in WHOLE_STYLES.items()
]
CASES += [
    Case("AsString", (array([1.5, -3.140625], dtype),), label=dtype)
    for dtype in ("float16", "bfloat16")
]
CASES += [
    Case("AsString", (c64(2, 2),), {"precision": 3, "width": 8}, label="complex64"),
    Case("AsString", (array([1 + 2j], "complex128"),), {"shortest": True}, label="complex128"),
    Case("AsString", (bools(2, 2),), label="bool"),
    Case("AsString", (strings("a", "b"),), {"width": 4}, label="string"),
    Case("AsString", (array([-(2**63), 2**63 - 1], "int64"),), label="extremes"),
    Case("AsString", (array(7, "int32"),), label="scalar"),
    Case("AsString", (np.zeros((0, 2), np.float32),), label="empty"),
    Case("AsString", (array([1], "int32"),), {"precision": 1}, label="precise int", fails=True),
    Case("AsString", (array([1], "int32"),), {"scientific": True}, label="big int", fails=True),
    Case("AsString", (array([1.0], "float32"),), {"fill": "x"}, label="fill", fails=True),
    Case("AsString", (array([1.0], "float32"),), {"fill": "00"}, label="long fill", fails=True),
    Case(
        "AsString",
        (array([1.0], "float32"),),
        {"scientific": True, "shortest": True},
        label="both",
        fails=True,
    ),
]

NUMBERS = strings("1", "  -2 ", "\t+3\n")
SPELLINGS = strings("1.", ".5", "1e3", "-Infinity", "inf", "1e400", "0x10", "0x1p3", "99999999999")
CASES += [
    Case("StringToNumber", (NUMBERS,), {"out_type": dtype}, label=dtype)
    for dtype in ("float32", "float64", "int32", "int64")
]
CASES += [
    Case("StringToNumber", (strings("1", "+2"),), {"out_type": dtype}, label=dtype)
    for dtype in ("uint32", "uint64")
]
CASES += [
    Case("StringToNumber", (SPELLINGS,), {"out_type": dtype}, label=f"{dtype} spellings")
    for dtype in ("float32", "float64")
]
CASES += [
    Case("StringToNumber", (strings("nan", "-NaN", "nan(1)"),), label="not a number"),
    Case("StringToNumber", (np.zeros((2, 0), object),), label="empty"),
    Case(
        "StringToNumber", (strings("9223372036854775807"),), {"out_type": "int64"}, label="largest"
    ),
]
CASES += [
    Case("StringToNumber", (strings("1", text),), {"out_type": dtype}, label=label, fails=True)
    for label, (text, dtype) in {
        "word": ("abc", "float32"),
        "nothing": ("", "float32"),
        "underscore": ("1_0", "float32"),
        "underscore int": ("1_0", "int32"),
        "fraction": ("3.0", "int32"),
        "too large": ("99999999999", "int32"),
        "negative": ("-5", "uint32"),
        "suffix": ("1f", "float64"),
    }.items()
]

GRID = np.arange(100, dtype=np.int32).reshape(10, 10)
CASES += [
    Case("StringFormat", ([np.arange(10)],), {"template": "x: %s, y"}),
    Case("StringFormat", ([GRID],), label="grid"),
    Case("StringFormat", ([GRID],), {"summarize": -1}, label="all"),
    Case(
        "StringFormat",
        ([np.arange(8).reshape(2, 2, 2), string("a\n\"'\\")],),
        {"template": "{}|{}", "placeholder": "{}"},
        label="two",
    ),
    Case(
        "StringFormat",
        ([strings("a", "b\u20ac"), array([1.5, 2e10, 1e-7, 0.1], "float32"), array(True, "bool")],),
        {"template": "%s\n%s\n%s"},
        label="types",
    ),
    Case("StringFormat", ([np.arange(27).reshape(3, 3, 3)],), {"summarize": 1}, label="ends"),
    Case("StringFormat", ([np.zeros((2, 0))],), label="empty rows"),
    Case("StringFormat", ([np.zeros((0, 2))],), label="no rows"),
    Case("StringFormat", ([array(3.5, "float64")],), {"summarize": 0}, label="nothing shown"),
    Case("StringFormat", ([],), {"template": "plain"}, label="no tensors"),
    Case("StringFormat", ([np.arange(3)],), {"template": "plain"}, label="no place", fails=True),
]
