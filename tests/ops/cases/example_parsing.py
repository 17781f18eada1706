"""Examples and sequence examples parsed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case, array, string, strings
from tests.ops.example_messages import example, feature, sequence_example

ONE = example({"x": [1.0, 2.5], "n": [3], "s": [b"q"], "big": [float(i) for i in range(40)]})
TWO = example({"x": [-4.0, 5.0], "n": [-(2**40)], "s": [b"r", b""]})
BARE = example({"n": None, "s": feature([], bytes)})
NOTHING = np.zeros((0,), object)
NO_DEFAULT = {
    dtype: np.zeros((0,), object if dtype == "string" else dtype)
    for dtype in ("float32", "int64", "string")
}
SHAPES = {
    "x": ("float32", [2]),
    "n": ("int64", []),
    "s": ("string", [1]),
    "big": ("float32", [8, 5]),
}


def parsed(
    label: str,
    serialized: np.ndarray,
    *,
    sparse: dict[str, str] | None = None,
    dense: dict[str, tuple[str, list[int], np.ndarray]] | None = None,
    ragged: dict[str, tuple[str, str]] | None = None,
    names: np.ndarray = NOTHING,
    fails: bool = False,
) -> list[Case]:
    """The case for each of the ops that can parse it."""
    sparse, dense, ragged = sparse or {}, dense or {}, ragged or {}
    defaults = [default for _, _, default in dense.values()]
    attrs: dict[str, Any] = {
        "sparse_types": list(sparse.values()),
        "dense_shapes": [shape for _, shape, _ in dense.values()],
    }
    given: dict[str, Any] = {"label": label, "fails": fails, "grad": False}
    ragged_attrs = {
        "num_sparse": len(sparse),
        "ragged_value_types": [value for value, _ in ragged.values()],
        "ragged_split_types": [split for _, split in ragged.values()],
    }
    keys = (strings(*sparse), strings(*dense), strings(*ragged))
    v2 = (serialized, names, *keys, defaults)
    cases = [Case("ParseExampleV2", v2, {**attrs, **ragged_attrs}, **given)]
    if ragged:
        return cases
    if serialized.ndim == 1:
        keys_v1 = ([string(key) for key in sparse], [string(key) for key in dense])
        cases.append(Case("ParseExample", (serialized, names, *keys_v1, defaults), attrs, **given))
    if serialized.ndim == 0:
        key_attrs = {
            "num_sparse": len(sparse),
            "sparse_keys": list(sparse),
            "dense_keys": list(dense),
        }
        cases.append(
            Case("ParseSingleExample", (serialized, defaults), {**attrs, **key_attrs}, **given)
        )
    return cases


def required(*keys: str) -> dict[str, tuple[str, list[int], np.ndarray]]:
    return {key: (*SHAPES[key], NO_DEFAULT[SHAPES[key][0]]) for key in keys}


DEFAULTS = {
    "x": ("float32", [2], array([7.0, 8.0], "float32")),
    "n": ("int64", [], array(9, "int64")),
    "s": ("string", [1], strings("none")),
}
ROWS = {
    "x": ("float32", [None], array(-1.0, "float32")),
    "s": ("string", [None, 1], string("fill")),
    "n": ("int64", [None], array(0, "int64")),
}
SPARSE = {"n": "int64", "s": "string", "x": "float32"}
BATCH = strings(ONE, TWO)
NAMES = strings("first", "second")

CASES = [
    *parsed("dense", BATCH, dense=required("n", "x")),
    *parsed("one dense", BATCH, dense=required("x")),
    *parsed("defaults", strings(ONE, example({"n": None}), ""), dense=DEFAULTS),
    *parsed("sparse", strings(ONE, BARE, TWO), sparse=SPARSE),
    *parsed("both", BATCH, sparse={"s": "string"}, dense=required("n", "x"), names=NAMES),
    *parsed("rows", strings(TWO, BARE, ONE), dense=ROWS),
    *parsed("empty", NOTHING, sparse=SPARSE, dense=required("x")),
    *parsed("single", string(ONE), sparse={"s": "string"}, dense=required("big", "n", "x")),
    *parsed("single defaults", string(""), sparse={"s": "string"}, dense=DEFAULTS),
    *parsed("single rows", string(TWO), dense=ROWS),
    *parsed(
        "ragged",
        strings(ONE, BARE, TWO),
        ragged={"s": ("string", "int32"), "x": ("float32", "int64")},
    ),
    *parsed("single ragged", string(ONE), ragged={"x": ("float32", "int64")}),
    *parsed("missing", BATCH, dense=required("big"), names=NAMES, fails=True),
    *parsed("single missing", string(TWO), dense=required("big"), fails=True),
    *parsed("count", BATCH, dense=required("s"), fails=True),
    *parsed("single count", string(TWO), dense=required("s"), fails=True),
    *parsed("type", BATCH, dense={"x": ("int64", [2], NO_DEFAULT["int64"])}, fails=True),
    *parsed("sparse type", BATCH, sparse={"x": "string"}, fails=True),
    *parsed("single type", string(ONE), sparse={"n": "float32"}, fails=True),
    *parsed("rows type", BATCH, dense={"x": ("int64", [None], array(0, "int64"))}, fails=True),
    *parsed(
        "stride",
        strings(BARE, TWO),
        dense={"x": ("float32", [None, 3], array(0.0, "float32"))},
        fails=True,
    ),
    *parsed("bad", strings(ONE, "foo"), dense=required("x"), fails=True),
    *parsed("names", BATCH, dense=required("x"), names=strings("a"), fails=True),
    *parsed("default", BATCH, dense={"x": ("float32", [2], array([1.0], "float32"))}, fails=True),
]

# Sequences -------------------------------------------------------------------------------------

LONG = sequence_example(
    {"c": [1.0], "w": [b"a", b"b"]},
    {"i": [[1], [2], [3]], "f": [[1.0, 2.0], [3.0, 4.0]], "s": [[b"a"], None, [b"b", b"c"]]},
)
SHORT = sequence_example({"c": [2.0]}, {"i": [[4]], "f": [], "s": []})


def sequence(
    label: str,
    serialized: np.ndarray,
    *,
    context_sparse: dict[str, str] | None = None,
    context_dense: dict[str, tuple[str, list[int], np.ndarray]] | None = None,
    list_sparse: dict[str, str] | None = None,
    list_dense: dict[str, tuple[str, list[int]]] | None = None,
    allowed: tuple[str, ...] = (),
    ragged: tuple[str, ...] = (),
    names: np.ndarray | None = None,
    fails: bool = False,
) -> list[Case]:
    """The case for each of the ops that can parse it; strings are `ragged`."""
    context_sparse, context_dense = context_sparse or {}, context_dense or {}
    list_sparse, list_dense = list_sparse or {}, list_dense or {}
    defaults = [default for _, _, default in context_dense.values()]
    attrs: dict[str, Any] = {
        "context_sparse_types": list(context_sparse.values()),
        "context_dense_shapes": [shape for _, shape, _ in context_dense.values()],
        "feature_list_sparse_types": list(list_sparse.values()),
        "feature_list_dense_types": [dtype for dtype, _ in list_dense.values()],
        "feature_list_dense_shapes": [shape for _, shape in list_dense.values()],
    }
    given: dict[str, Any] = {"label": label, "fails": fails, "grad": False}
    counts = {
        "Ncontext_sparse": len(context_sparse),
        "Nfeature_list_sparse": len(list_sparse),
        "Nfeature_list_dense": len(list_dense),
    }
    ragged_attrs = {
        "context_ragged_value_types": ["string"] * bool(ragged),
        "context_ragged_split_types": ["int32"] * bool(ragged),
        "feature_list_ragged_value_types": ["string"] * len(ragged),
        "feature_list_ragged_split_types": ["int64"] * len(ragged),
    }
    all_names = NOTHING if names is None else names
    keys = [context_sparse, context_dense, ["w"] * bool(ragged), list_sparse, list_dense, ragged]
    v2 = (
        serialized,
        all_names,
        *(strings(*each) for each in keys),
        array([key in allowed for key in list_dense], "bool"),
        defaults,
    )
    cases = [Case("ParseSequenceExampleV2", v2, {**attrs, **counts, **ragged_attrs}, **given)]
    if ragged:
        return cases
    if serialized.ndim:
        key_attrs = {
            "context_sparse_keys": list(context_sparse),
            "context_dense_keys": list(context_dense),
            "feature_list_sparse_keys": list(list_sparse),
            "feature_list_dense_keys": list(list_dense),
            "feature_list_dense_missing_assumed_empty": list(allowed),
            "Ncontext_dense": len(context_dense),
        }
        v1 = (serialized, all_names, defaults)
        cases.append(Case("ParseSequenceExample", v1, {**attrs, **counts, **key_attrs}, **given))
    else:
        single = (
            serialized,
            strings(*allowed),
            *([string(key) for key in each] for each in (context_sparse, context_dense)),
            *([string(key) for key in each] for each in (list_sparse, list_dense)),
            defaults,
            string("") if names is None else names,
        )
        cases.append(Case("ParseSingleSequenceExample", single, attrs, **given))
    return cases


CONTEXT = {"c": ("float32", [], NO_DEFAULT["float32"])}
LISTS = {"i": ("int64", []), "f": ("float32", [2])}
PAIR = strings(LONG, SHORT)

CASES += [
    *sequence("dense", PAIR, context_dense=CONTEXT, list_dense=LISTS),
    *sequence(
        "sparse", PAIR, context_sparse={"w": "string"}, list_sparse={"f": "float32", "s": "string"}
    ),
    *sequence(
        "absent",
        PAIR,
        context_sparse={"z": "int64"},
        list_sparse={"z": "int64"},
        list_dense={"y": ("int64", [3])},
        allowed=("y",),
    ),
    *sequence(
        "default",
        PAIR,
        context_dense={"z": ("int64", [2], array([5, 6], "int64"))},
        list_dense=LISTS,
    ),
    *sequence("single dense", string(LONG), context_dense=CONTEXT, list_dense=LISTS),
    *sequence(
        "single sparse",
        string(LONG),
        context_sparse={"w": "string"},
        list_sparse={"f": "float32", "s": "string"},
    ),
    *sequence(
        "single absent",
        string(SHORT),
        context_sparse={"z": "int64"},
        list_sparse={"z": "int64"},
        list_dense={"y": ("string", [3])},
        allowed=("y",),
    ),
    *sequence("ragged", PAIR, ragged=("s",)),
    *sequence(
        "missing context", PAIR, context_dense={"z": ("int64", [], NO_DEFAULT["int64"])}, fails=True
    ),
    *sequence("missing list", PAIR, list_dense={"z": ("int64", [])}, fails=True),
    *sequence(
        "single missing",
        string(LONG),
        list_dense={"z": ("int64", [])},
        names=string("it"),
        fails=True,
    ),
    *sequence("context type", PAIR, context_sparse={"c": "int64"}, fails=True),
    *sequence("list type", PAIR, list_dense={"i": ("float32", [])}, fails=True),
    *sequence("single type", string(LONG), list_sparse={"s": "float32"}, fails=True),
    *sequence("list size", PAIR, list_dense={"f": ("float32", [3])}, fails=True),
    *sequence(
        "single size",
        string(LONG),
        context_dense={"c": ("float32", [2], NO_DEFAULT["float32"])},
        fails=True,
    ),
    *sequence("bad", strings("foo"), context_dense=CONTEXT, fails=True),
    *sequence("names", PAIR, context_dense=CONTEXT, names=strings("a"), fails=True),
]
