"""Strings joined."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, array, string, strings

GRID = strings(["a", "b", "c"], ["d", "e", "f"])
CUBE = strings([["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]])


def axes(*values: int) -> np.ndarray:
    return array(list(values), "int32")


CASES = [
    Case("StringJoin", ([strings("a", "b"), strings("c", "d")],)),
    Case(
        "StringJoin",
        ([GRID, string("-"), GRID],),
        {"separator": "/"},
        label="scalar",
    ),
    Case("StringJoin", ([string("a"), string("b")],), {"separator": ", "}, label="scalars"),
    Case("StringJoin", ([np.zeros((0,), object), string("x")],), label="empty"),
    Case("StringJoin", ([],), label="nothing"),
    Case("StringJoin", ([strings("a", "b"), strings("c")],), label="shapes differ", fails=True),
    Case("ReduceJoin", (GRID, axes(0)), {"separator": "."}),
    Case("ReduceJoin", (GRID, array(-1, "int32")), label="last"),
    Case("ReduceJoin", (GRID, axes(1, 0)), {"separator": "."}, label="rows"),
    Case("ReduceJoin", (GRID, axes(0, 1)), {"separator": ".", "keep_dims": True}, label="columns"),
    Case("ReduceJoin", (CUBE, axes(-1, 0)), {"separator": "-"}, label="two of three"),
    Case("ReduceJoin", (CUBE, axes(1)), {"keep_dims": True}, label="kept"),
    Case("ReduceJoin", (GRID, axes()), label="no axis"),
    Case("ReduceJoin", (string("a"), axes()), label="scalar"),
    Case("ReduceJoin", (np.zeros((0, 2), object), axes(0)), {"separator": "."}, label="of nothing"),
    Case("ReduceJoin", (np.zeros((0, 2), object), axes(1)), label="empty"),
    Case("ReduceJoin", (GRID, axes(2)), label="axis", fails=True),
    Case("ReduceJoin", (GRID, axes(1, -1)), label="twice", fails=True),
    Case(
        "UnsortedSegmentJoin",
        (strings("a", "b", "c"), axes(1, 0, 1), array(3, "int32")),
        {"separator": ":"},
    ),
    Case(
        "UnsortedSegmentJoin",
        (GRID, array([1, 1], "int64"), array(2, "int64")),
        {"separator": ":"},
        label="rows",
    ),
    Case(
        "UnsortedSegmentJoin",
        (GRID, array([[1, 0, 1], [1, 1, 0]], "int32"), array(2, "int32")),
        label="matrix of ids",
    ),
    Case(
        "UnsortedSegmentJoin",
        (np.zeros((0,), object), axes(), array(2, "int32")),
        label="empty",
    ),
    Case(
        "UnsortedSegmentJoin",
        (strings("a", "b"), axes(0, 2), array(2, "int32")),
        label="large id",
        fails=True,
    ),
    Case(
        "UnsortedSegmentJoin",
        (strings("a", "b"), axes(0, -1), array(2, "int32")),
        label="negative id",
        fails=True,
    ),
    Case(
        "UnsortedSegmentJoin",
        (strings("a", "b"), axes(0, 1), array(-1, "int32")),
        label="negative count",
        fails=True,
    ),
]
