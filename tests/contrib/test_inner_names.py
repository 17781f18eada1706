"""Parts of `tf.contrib` that are asked for by their paths inside TensorFlow."""

import numpy as np
import pytest
from penstock.contrib.framework.python.framework import graph_util
from penstock.contrib.image.python.ops import dense_image_warp, sparse_image_warp
from penstock.contrib.integrate.python.ops import odes
from penstock.contrib.layers.python.layers import rev_block_lib
from penstock.contrib.learn.python.learn.estimators import head as head_lib
from penstock.contrib.training.python.training import sampling_ops

import penstock as tf


def _evaluated(tensors):
    with tf.Session() as session:
        return session.run(tensors)


def test_polynomials_through_steps_are_exact_up_to_degree_four():
    value = lambda x: x**4 - 3 * x**2 + 2 * x + 1  # noqa: E731
    slope = lambda x: 4 * x**3 - 6 * x + 2  # noqa: E731
    fitted = odes._interp_fit(value(0.0), value(2.0), value(1.0), slope(0.0), slope(2.0), 2.0)
    times = np.linspace(0, 2, 5, dtype=np.float32)
    found = _evaluated([odes._interp_evaluate(fitted, 0.0, 2.0, t) for t in times])
    np.testing.assert_allclose(found, value(times), rtol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="invalid interpolation"):
        _evaluated(odes._interp_evaluate(fitted, 0.0, 2.0, 2.5))


@pytest.mark.parametrize(("ratio", "size"), [(1.0, 0.9), (0.0, 10.0), (1e6, 0.2)])
def test_size_of_the_next_step(ratio, size):
    step = odes._optimal_step_size(last_step=tf.constant(1.0), error_ratio=tf.constant(ratio))
    assert _evaluated(step) == pytest.approx(size)


def test_points_of_edges_and_of_pixels():
    edge = {tuple(point) for point in sparse_image_warp._get_boundary_locations(7, 4, 2)}
    assert len(edge) == 12
    assert {(0, 0), (0, 3), (6, 0), (6, 3), (2, 0), (4, 3), (0, 1), (6, 2)} <= edge
    assert sparse_image_warp._get_grid_locations(5, 3)[4, 2].tolist() == [4, 2]


def test_values_between_pixels_by_column_and_row():
    grid = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    found = dense_image_warp._interpolate_bilinear(grid, [[[0.5, 2.0]]], indexing="xy")
    assert _evaluated(found).ravel() == [6.5]


def _chain(*names):
    graph_def = tf.GraphDef()
    for name, before in zip(names, [None, *names], strict=False):
        graph_def.node.add(name=name, op="Op", input=[before] if before else [])
    return graph_def


def test_nodes_between_others_become_one():
    fused = graph_util.fuse_op(_chain(*"abcde"), ["a"], ["d"], [1], True, "one", "Fused")
    assert [(node.name, list(node.input)) for node in fused.node] == [
        ("a", []),
        ("one", ["a"]),
        ("d", ["one"]),
        ("e", ["d"]),
    ]
    assert fused.node[1].op == "Fused"
    assert fused.node[1].attr["_output_quantized"].b
    assert list(fused.node[1].attr["_output_types"].list.type) == [1]


def test_a_fused_node_has_all_its_inputs():
    graph_def = _chain("a", "b", "c", "d")
    graph_def.node[2].input.append("a")
    with pytest.raises(TypeError, match="uses input a not in input_nodes"):
        graph_util.fuse_op(graph_def, ["b"], ["d"], [1], False, "one", "Fused")


def test_decorators_with_and_without_arguments():
    @rev_block_lib.enable_with_args
    def times(fn, factor=2):
        return lambda x: factor * fn(x)

    assert times(lambda x: x + 1)(1) == 4
    assert times(factor=3)(lambda x: x + 1)(1) == 6
    assert times(5)(lambda x: x)(1) == 5


def test_labels_and_proportions_are_checked_when_they_run():
    labels, shares = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [3])
    _, checked, (of_classes,) = sampling_ops._verify_input([tf.zeros([2, 1])], labels, [shares])
    good, even = [0, 2], [0.25, 0.25, 0.5]
    with tf.Session() as session:
        assert session.run(checked, {labels: good, shares: even}).tolist() == good
        for bad_labels, bad_shares in (([0, 3], even), ([-1, 0], even), (good, [0.5, 0.5, 0.5])):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run([checked, of_classes], {labels: bad_labels, shares: bad_shares})


def test_heads_by_their_inner_names():
    with pytest.raises(ValueError, match="label_keys is not supported for n_classes=2"):
        head_lib._multi_class_head(n_classes=2, label_keys=("a", "b"))
    assert head_lib._regression_head(label_dimension=3).logits_dimension == 3
