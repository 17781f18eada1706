"""Tensors with named axes: what functions of them need, keep and refuse."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import labeled_tensor as lt
from penstock.contrib.labeled_tensor import typecheck


@pytest.fixture
def cube():
    axes = [("x", range(2)), ("c", ["r", "g", "b"]), "z"]
    return lt.LabeledTensor(tf.reshape(tf.range(24.0), [2, 3, 4]), axes)


VALUES = np.arange(24.0).reshape(2, 3, 4)


def _check(labeled, values, axes):
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(labeled.tensor), values, rtol=1e-5)
    assert labeled.axes == lt.Axes(axes)


def test_axes():
    assert repr(lt.Axis("7", 7)) == "Axis('7', Dimension(7))"
    assert lt.Axis("x", range(2)) == lt.Axis("x", np.arange(2)) != lt.Axis("x", 2)
    assert lt.concat_axes([lt.Axis("x", 1), lt.Axis("x", None)]) == lt.Axis("x", None)
    with pytest.raises(ValueError, match="Tick labels must be unique"):
        lt.Axis("x", [1, 1])
    with pytest.raises(typecheck.Error, match=r"allowed type List\(Union\(labeled_tensor.Axis"):
        lt.Axes(None)


def test_slices_and_selections(cube):
    _check(cube[1, :, :2], VALUES[1, :, :2], [("c", ["r", "g", "b"]), ("z", 2)])
    axes = [("x", range(2)), ("c", ["b", "r"]), ("z", 4)]
    _check(lt.select(cube, {"c": ["b", "r"]}), VALUES[:, [2, 0]], axes)
    _check(
        lt.select(cube, {"c": slice("g", "b"), "x": 1}),
        VALUES[1, 1:],
        [("c", ["g", "b"]), ("z", 4)],
    )
    with pytest.raises(ValueError, match="does not have labels"):
        lt.select(cube, {"z": 1})


def test_operators_align_by_name(cube):
    by_color = cube[0, :, 0]
    for function in (operator.add, operator.sub, operator.mul, operator.truediv, operator.lt):
        expected = function(VALUES, 1 + VALUES[0, :, 0][:, None])
        _check(
            function(cube, by_color + 1.0),
            expected,
            cube.axes.values() and list(cube.axes.values()),
        )
    _check(2.0 - by_color, 2.0 - VALUES[0, :, 0], [("c", ["r", "g", "b"])])
    with pytest.raises(lt.AxisOrderError, match="No consistent axis order"):
        lt.add(cube, lt.transpose(cube))
    with lt.axis_order_scope(["z", "c", "x"]):
        assert list(lt.impose_axis_order(cube).axes) == ["z", "c", "x"]
    with pytest.raises(lt.AxisOrderError, match="explicit axis order"):
        lt.check_axis_order(cube)


def test_reshaping(cube):
    rest = [("z", 4)]
    _check(lt.reshape(cube, ["x", "c"], ["q"]), VALUES.reshape(6, 4), [("q", 6), *rest])
    _check(lt.rename_axis(cube, "c", "k"), VALUES, [("x", range(2)), ("k", ["r", "g", "b"]), *rest])
    joined = lt.concat([cube[:, :1, :], cube[:, 1:, :]], "c")
    assert joined.axes == cube.axes
    _check(lt.pad(cube[0, 0, :], {"z": (1, 2)}), np.pad(VALUES[0, 0], (1, 2)), [("z", 7)])
    coder = lt.ReshapeCoder(["x", "c"], ["k"])
    assert coder.decode(coder.encode(cube)).axes == cube.axes
    with pytest.raises(lt.AxisOrderError, match="are not a slice of axis names"):
        lt.reshape(cube, ["x", "z"], ["q"])


def test_reductions_and_products(cube):
    _check(lt.reduce_sum(cube, ["x", "z"]), VALUES.sum((0, 2)), [("c", ["r", "g", "b"])])
    kept = lt.reduce_mean(cube, ("c", "all"))
    axes = [("x", range(2)), ("c", ["all"]), ("z", 4)]
    _check(kept, VALUES.mean(1, keepdims=True), axes)
    other = lt.rename_axis(cube[1, :, :], "c", "d")
    product = lt.matmul(cube[0, :, :], other)
    colors = ["r", "g", "b"]
    _check(product, VALUES[0] @ VALUES[1].T, [("c", colors), ("d", colors)])
    with pytest.raises(ValueError, match="exactly one axis in common"):
        lt.matmul(cube[0, 0, :], cube[0, :, 0])


def test_functions_of_parts(cube):
    mapped = lt.map_fn(lambda part: part + 1.0, cube)
    _check(mapped, VALUES + 1, list(cube.axes.values()))
    folded = lt.foldl(lt.add, cube, lt.zeros_like(cube[0, :, :]))
    _check(folded, VALUES.sum(0), list(cube.axes.values())[1:])


def test_scalars_alone_are_labeled_by_themselves():
    assert lt.convert_to_labeled_tensor(3).axes == lt.Axes([])
    with pytest.raises(ValueError, match="cannot automatically convert"):
        lt.convert_to_labeled_tensor(tf.range(3))
    with pytest.raises(typecheck.Error):
        lt.convert_to_labeled_tensor([1])


def test_names_are_kept(cube):
    assert lt.add.__name__ == "add"
    assert "tf.add" in lt.add.__doc__
    assert lt.abs(cube).name.startswith("lt_abs")
