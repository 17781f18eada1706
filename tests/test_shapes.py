"""Raw shapes, TensorShape and Dimension, with values looked up in TensorFlow (v1 behaviour)."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import dtypes, proto, shapes
from penstock.shapes import Dimension, Shape, TensorShape

RAW = [None, (), (2, 3), (2, None), (None, None), (1, 3)]

sizes = st.none() | st.integers(0, 3)
raw_shapes = st.none() | st.lists(sizes, max_size=3).map(tuple)


# Raw shapes


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ([], ()),
        ([2, None], (2, None)),
        ((2, Dimension(3), Dimension(None)), (2, 3, None)),
        (3, (3,)),
        (Dimension(3), (3,)),
        (np.int64(3), (3,)),
        (np.array([1, 2]), (1, 2)),
        ([np.int32(2)], (2,)),
        (range(3), (0, 1, 2)),
        pytest.param(iter([1, 2]), (1, 2), id="an iterator"),
        (TensorShape([2]), (2,)),
        (proto.TensorShapeProto(unknown_rank=True), None),
        (proto.TensorShapeProto(), ()),
        (TensorShape([2, None]).as_proto(), (2, None)),
        ("", ()),
    ],
    ids=repr,
)
def test_raw(given: Any, expected: Shape) -> None:
    result = shapes.raw(given)
    assert result == expected
    assert result is None or all(size is None or type(size) is int for size in result)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("ab", TypeError),
        ([[1]], TypeError),
        ([2.5], ValueError),
        (["a"], ValueError),
        (3.5, ValueError),
        (object(), TypeError),
        ([-1], ValueError),
        (-1, ValueError),
    ],
    ids=lambda value: str(value)[:10],
)
def test_not_a_shape(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        shapes.raw(given)
    with pytest.raises(error):
        TensorShape(given)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((2, None), (2, 1), (2, None)),
        ((None,), (1,), (None,)),
        ((None,), (5,), (5,)),
        ((None,), (None,), (None,)),
        (None, (2,), None),
        ((), (2, 3), (2, 3)),
        ((2, 3), (3,), (2, 3)),
        ((2, 1, 3), (4, 1), (2, 4, 3)),
        ((0,), (1,), (0,)),
        ((0,), (None,), (None,)),
    ],
)
def test_broadcast(a: Shape, b: Shape, expected: Shape) -> None:
    assert shapes.broadcast(a, b) == expected
    assert shapes.broadcast(b, a) == expected


@pytest.mark.parametrize(("a", "b"), [((3,), (4,)), ((0,), (3,)), ((None, 3), (2, 4))])
def test_broadcast_of_different_sizes(a: Shape, b: Shape) -> None:
    with pytest.raises(ValueError, match="Dimensions must be equal, but are"):
        shapes.broadcast(a, b)


def test_broadcast_error_names_the_sizes():
    """The node that fails adds its name and the shapes of its inputs."""
    with pytest.raises(ValueError, match="^Dimensions must be equal, but are 3 and 4$"):
        shapes.broadcast((2, 3), (2, 4))


@given(*[st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=3)] * 2)
def test_broadcast_agrees_with_numpy(a: list[Any], b: list[Any]) -> None:
    # Each size comes with whether the static shape knows it.
    full = [tuple(size for size, _ in shape) for shape in (a, b)]
    partial = [tuple(size if known else None for size, known in shape) for shape in (a, b)]
    try:
        actual = np.broadcast_shapes(*full)
    except ValueError:
        return
    assert shapes.broadcast(full[0], full[1]) == actual
    assert shapes.compatible(shapes.broadcast(partial[0], partial[1]), actual)


@given(raw_shapes, raw_shapes)
def test_merge_knows_what_either_knows(a: Shape, b: Shape) -> None:
    if not shapes.compatible(a, b):
        with pytest.raises(ValueError, match="must be equal"):
            shapes.merge(a, b)
        return
    merged = shapes.merge(a, b)
    assert merged == shapes.merge(b, a)
    assert shapes.merge(merged, a) == shapes.merge(merged, b) == merged


def test_merge_error() -> None:
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal"):
        shapes.merge((2, 3), (2, 4))
    with pytest.raises(ValueError, match="Shapes must be equal rank, but are 2 and 0"):
        shapes.merge((2, None), ())


def test_counting_and_text() -> None:
    cases = [
        (None, None, False, "<unknown>"),
        ((), 1, True, "[]"),
        ((2, 3), 6, True, "[2,3]"),
        ((0, 3), 0, True, "[0,3]"),
        ((0, None), None, False, "[0,?]"),
        ((2, None, 3), None, False, "[2,?,3]"),
    ]
    for shape, count, full, text in cases:
        assert shapes.num_elements(shape) == count
        assert shapes.is_full(shape) is full
        assert shapes.text(shape) == text


# Dimension


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("apply", ARITHMETIC)
def test_dimension_arithmetic(apply: Callable[[Any, Any], Any]) -> None:
    for result in (
        apply(Dimension(5), Dimension(2)),
        apply(Dimension(5), 2),
        apply(5, Dimension(2)),
        apply(Dimension(5), np.int32(2)),
    ):
        assert type(result) is Dimension
        assert result.value == apply(5, 2)
    for unknown in (
        apply(Dimension(5), None),
        apply(None, Dimension(5)),
        apply(Dimension(None), 2),
        apply(5, Dimension(None)),
        apply(Dimension(None), Dimension(None)),
    ):
        assert type(unknown) is Dimension
        assert unknown.value is None


@pytest.mark.parametrize("compare", COMPARISONS)
def test_dimension_comparisons(compare: Callable[[Any, Any], Any]) -> None:
    for m, n in [(5, 2), (2, 2), (2, 5)]:
        assert compare(Dimension(m), Dimension(n)) is compare(m, n)
        assert compare(Dimension(m), n) is compare(m, n)
        assert compare(m, Dimension(n)) is compare(m, n)
    assert compare(Dimension(5), None) is None
    assert compare(Dimension(None), 5) is None
    assert compare(5, Dimension(None)) is None
    assert compare(Dimension(None), Dimension(None)) is None


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (lambda: Dimension("a"), ValueError),
        (lambda: Dimension(3.5), ValueError),
        (lambda: Dimension([]), TypeError),
        (lambda: Dimension(-1), ValueError),
        (lambda: Dimension(7) - 8, ValueError),
        (lambda: Dimension(7) + -8, TypeError),
        (lambda: Dimension(7) * 2.5, TypeError),
        (lambda: Dimension(7) % "a", TypeError),
        (lambda: Dimension(7) // 0, ZeroDivisionError),
        (lambda: Dimension(7) % 0, ZeroDivisionError),
        (lambda: Dimension(7) / 2, TypeError),
        (lambda: 7 / Dimension(2), TypeError),
        (lambda: Dimension(7) < 2.5, ValueError),
        (lambda: Dimension(2) >= [], TypeError),
        (lambda: hash(Dimension(3)), TypeError),
        (lambda: int(Dimension(None)), TypeError),
        (lambda: operator.index(Dimension(None)), TypeError),
        (lambda: Dimension(3).merge_with(4), ValueError),
        (lambda: Dimension(3).assert_is_compatible_with(4), ValueError),
    ],
)
def test_dimension_errors(action: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        action()


def test_true_division_names_the_remedy() -> None:
    with pytest.raises(TypeError, match="please use // instead"):
        Dimension(4) / 2


def test_dimension_is_an_integer_where_python_wants_one() -> None:
    assert int(Dimension(3)) == 3
    assert float(Dimension(3)) == 3.0
    assert ["a", "b", "c"][Dimension(2)] == "c"
    assert list(range(Dimension(3))) == [0, 1, 2]
    assert not Dimension(0)
    assert not Dimension(None)
    assert Dimension(3)


def test_dimension_equality_with_other_things() -> None:
    for other in ("_", 2.5, -1, []):
        assert (Dimension(5) == other) is False
        assert (Dimension(None) != other) is True
    assert Dimension(5) == "5" and Dimension(5) == 10.0 / 2
    assert (Dimension(None) == "5") is None


def test_dimension_merging() -> None:
    assert Dimension(3).merge_with(None).value == 3
    assert Dimension(None).merge_with(4).value == 4
    assert Dimension(3).merge_with(Dimension(3)).value == 3
    assert Dimension(3).is_compatible_with(None)
    assert not Dimension(3).is_compatible_with(4)


def test_dimension_text_and_copies() -> None:
    assert (str(Dimension(3)), repr(Dimension(3))) == ("3", "Dimension(3)")
    assert (str(Dimension(None)), repr(Dimension(None))) == ("?", "Dimension(None)")
    assert pickle.loads(pickle.dumps(Dimension(3))).value == 3  # noqa: S301 - our own bytes


# TensorShape


@pytest.mark.parametrize(
    ("shape", "text", "representation"),
    [
        (None, "<unknown>", "TensorShape(None)"),
        ([], "()", "TensorShape([])"),
        ([3], "(3,)", "TensorShape([Dimension(3)])"),
        ([None], "(?,)", "TensorShape([Dimension(None)])"),
        ([2, None], "(2, ?)", "TensorShape([Dimension(2), Dimension(None)])"),
    ],
)
def test_shape_text(shape: Any, text: str, representation: str) -> None:
    assert str(TensorShape(shape)) == text
    assert repr(TensorShape(shape)) == representation


def test_unknown_rank() -> None:
    shape = TensorShape(None)
    assert shape.ndims is shape.rank is shape.dims is None
    assert not shape
    assert shape.num_elements() is None
    assert not shape.is_fully_defined()
    for action in (shape.as_list, shape.__len__, shape.__iter__, shape.assert_is_fully_defined):
        with pytest.raises(ValueError):
            action()


def test_known_rank() -> None:
    shape = TensorShape([2, None])
    assert shape.ndims == shape.rank == len(shape) == 2
    assert shape.as_list() == [2, None]
    assert [dim.value for dim in shape] == [2, None]
    assert [dim.value for dim in shape.dims or []] == [2, None]
    assert TensorShape([])
    assert 2 in TensorShape([2, 3])
    assert np.zeros(TensorShape([2, 3])).shape == (2, 3)
    with pytest.raises(ValueError, match=r"Shape \(2, \?\) is not fully defined"):
        shape.assert_is_fully_defined()


def test_a_size_may_be_a_whole_float() -> None:
    assert TensorShape([16 / 2, np.float32(3), "4"]).as_list() == [8, 3, 4]
    assert Dimension(8.0).value == 8
    with pytest.raises(ValueError, match=r"Ambiguous dimension: 2\.5"):
        TensorShape([2.5])
    with pytest.raises(TypeError, match="must be integer"):
        Dimension(dtypes.float32)


def test_index_gives_a_dimension() -> None:
    shape = TensorShape([2, None])
    for index in (0, -2, np.int64(0), Dimension(0)):
        assert isinstance(shape[index], Dimension)
        assert shape[index].value == 2
    assert shape[1].value is None
    with pytest.raises(IndexError):
        shape[5]
    with pytest.raises(TypeError):
        shape["a"]
    assert TensorShape(None)[5].value is None


@pytest.mark.parametrize(
    ("key", "known", "unknown"),
    [
        (slice(None), (2, 3, 4), None),
        (slice(1, None), (3, 4), None),
        (slice(None, 2), (2, 3), (None, None)),
        (slice(1, 3), (3, 4), (None, None)),
        (slice(3, 1), (), ()),
        (slice(None, -1), (2, 3), None),
        (slice(-2, None), (3, 4), None),
        (slice(-1, 2), (), None),
        (slice(1, -1), (3,), None),
        (slice(Dimension(1), Dimension(2)), (3,), (None,)),
    ],
    ids=str,
)
def test_slices(key: slice, known: Shape, unknown: Shape) -> None:
    assert TensorShape([2, 3, 4])[key]._dims == known
    assert TensorShape(None)[key]._dims == unknown


def test_slices_with_steps() -> None:
    assert TensorShape([2, 3, 4])[::2].as_list() == [2, 4]
    assert TensorShape([2, 3])[::-1].as_list() == [3, 2]
    with pytest.raises(ValueError, match="Steps"):
        TensorShape(None)[::2]


@pytest.mark.parametrize("a", RAW, ids=shapes.text)
@pytest.mark.parametrize("b", RAW, ids=shapes.text)
def test_equality_compares_what_is_known(a: Shape, b: Shape) -> None:
    assert (TensorShape(a) == TensorShape(b)) is (a == b)
    if a is not None and b is not None:
        assert (TensorShape(a) != TensorShape(b)) is (a != b or None in a)
    assert (TensorShape(a) == b) is (a == b)
    if a == b:
        assert hash(TensorShape(a)) == hash(TensorShape(b))


def test_inequality_of_an_unknown_rank_is_undefined() -> None:
    unknown, partly = TensorShape(None), TensorShape([2, None])
    for a, b in ((unknown, partly), (partly, unknown), (unknown, unknown), (partly, None)):
        with pytest.raises(ValueError, match="unknown TensorShapes is undefined"):
            a != b  # noqa: B015 - the comparison is the subject
    assert not partly != partly  # noqa: SIM202 - the same object is equal to itself


def test_equality_with_other_things() -> None:
    assert TensorShape([2]) == 2
    assert TensorShape([2, 3]) == [Dimension(2), 3]
    assert TensorShape([2]) != "a"
    assert TensorShape([2]) != object()
    assert TensorShape([2]) != {}
    assert TensorShape(None) == None  # noqa: E711 - equality with None is the subject
    with pytest.raises(TypeError):
        _ = TensorShape([2]) < TensorShape([3])  # type: ignore[operator]


@pytest.mark.parametrize(
    ("a", "b", "compatible", "merged", "general"),
    [
        (None, (2, 3), True, (2, 3), None),
        ((), (2, 3), False, None, None),
        ((2, 3), (2, None), True, (2, 3), (2, None)),
        ((2, None), (None, 3), True, (2, 3), (None, None)),
        ((2, 3), (1, 3), False, None, (None, 3)),
        ((2, None), (1, 3), False, None, (None, None)),
        ((2, 3), (2, 3), True, (2, 3), (2, 3)),
        ((2, 3), (3,), False, None, None),
    ],
)
def test_two_shapes(a: Shape, b: Shape, compatible: bool, merged: Shape, general: Shape) -> None:
    for x, y in [(a, b), (b, a)]:
        shape = TensorShape(x)
        assert shape.is_compatible_with(y) is compatible
        assert shape.most_specific_compatible_shape(y)._dims == general
        if compatible:
            shape.assert_is_compatible_with(y)
            assert shape.merge_with(TensorShape(y))._dims == merged
            continue
        with pytest.raises(ValueError, match="are incompatible"):
            shape.assert_is_compatible_with(y)
        with pytest.raises(ValueError, match="are not compatible"):
            shape.merge_with(y)


def test_concatenate() -> None:
    shape = TensorShape([2, None])
    assert shape.concatenate([4]).as_list() == [2, None, 4]
    assert (shape + 4).as_list() == [2, None, 4]
    assert ([1] + shape).as_list() == [1, 2, None]
    assert (shape + None)._dims is None
    assert (TensorShape(None) + [1])._dims is None
    with pytest.raises(TypeError):
        shape + "a"


def test_ranks() -> None:
    unknown, matrix = TensorShape(None), TensorShape([2, 3])
    assert unknown.with_rank(2).as_list() == [None, None]
    assert unknown.with_rank(None)._dims is None
    assert matrix.with_rank(2) == matrix.with_rank(None) == matrix
    assert matrix.with_rank_at_least(1) is matrix.with_rank_at_most(2) is matrix
    assert unknown.with_rank_at_least(1) is unknown.with_rank_at_most(0) is unknown
    unknown.assert_has_rank(2)
    unknown.assert_same_rank([1, 2])
    matrix.assert_same_rank(None)
    matrix.assert_same_rank([1, 2])
    for action, message in [
        (lambda: matrix.with_rank(3), r"Shape \(2, 3\) must have rank 3"),
        (lambda: matrix.with_rank_at_least(3), r"must have rank at least 3"),
        (lambda: matrix.with_rank_at_most(1), r"must have rank at most 1"),
        (lambda: matrix.assert_has_rank(1), r"must have rank 1"),
        (lambda: matrix.assert_same_rank([1]), r"\(2, 3\) and \(1,\) must have the same rank"),
    ]:
        with pytest.raises(ValueError, match=message):
            action()


@given(raw_shapes)
def test_round_trips(shape: Shape) -> None:
    public = TensorShape(shape)
    assert TensorShape(public.as_proto()) == public
    assert pickle.loads(pickle.dumps(public)) == public  # noqa: S301 - our own bytes
    assert copy.deepcopy(public) == public
    assert TensorShape._of(shape) == public


def test_proto() -> None:
    assert TensorShape(None).as_proto() == proto.TensorShapeProto(unknown_rank=True)
    sizes = [dim.size for dim in TensorShape([2, None]).as_proto().dim]
    assert sizes == [2, -1]


def test_functions() -> None:
    shape = TensorShape([2, 3])
    assert shapes.as_shape(shape) is shape
    assert shapes.as_shape([2, 3]) == shape
    assert shapes.as_dimension(3).value == 3
    assert shapes.unknown_shape()._dims is None
    assert shapes.unknown_shape(2).as_list() == [None, None]
    assert shapes.unknown_shape(ndims=1).as_list() == [None]
    with pytest.raises(TypeError):
        shapes.unknown_shape(colour=1)  # type: ignore[call-arg]
    assert shapes.scalar().as_list() == []
    assert shapes.vector(None).as_list() == [None]
    assert shapes.matrix(2, Dimension(3)) == shape
    assert shapes.dimension_value(Dimension(3)) == shapes.dimension_value(3) == 3
    assert shapes.dimension_value(None) is None
    assert shapes.dimension_at_index(shape, -1).value == 3
    assert shapes.dimension_at_index(TensorShape(None), 7).value is None


def test_how_sizes_are_given_is_seen_under_tensorflows_name() -> None:
    import importlib

    path = importlib.import_module("penstock.python.framework.tensor_shape")
    before = path._TENSORSHAPE_V2_OVERRIDE
    try:
        shapes.enable_v2_tensorshape()
        assert path._TENSORSHAPE_V2_OVERRIDE is True and TensorShape([2])[0] == 2
        path._TENSORSHAPE_V2_OVERRIDE = False
        assert isinstance(TensorShape([2])[0], Dimension)
    finally:
        path._TENSORSHAPE_V2_OVERRIDE = before
