"""Random forests: they grow, answer, explain themselves, and come back from checkpoints."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock import proto
from penstock.contrib.tensor_forest import data_ops, tensor_forest
from penstock.ops import resources
from penstock.state.decision_tree import at_depth

RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.random((200, 3)).astype(np.float32)
CLASSES = (FEATURES[:, 1] * 3).astype(np.int32)


def _params(**given):
    settings = {"num_classes": 3, "num_features": 3, "num_trees": 2, "max_nodes": 40}
    settings |= {"split_after_samples": 20, "base_random_seed": 7}
    return tensor_forest.ForestHParams(**(settings | given)).fill()


def _initialize(session):
    session.run(tf.global_variables_initializer())
    session.run(resources.initialize_resources(resources.shared_resources()))


def test_classes_are_learned_and_saved(tmp_path):
    graphs = tensor_forest.RandomForestGraphs(_params())
    x = tf.placeholder(tf.float32, [None, 3])
    train = graphs.training_graph(x, tf.constant(CLASSES))
    loss = graphs.training_loss(x, None)
    answers, paths, variance = graphs.inference_graph(x)
    saver = tf.train.Saver()
    with tf.Session() as session:
        _initialize(session)
        assert session.run(loss) == -1
        for _ in range(15):
            session.run(train, {x: FEATURES})
        found = session.run(answers, {x: FEATURES})
        assert np.mean(found.argmax(1) == CLASSES) > 0.9
        np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
        assert -40 <= session.run(loss) < -5
        assert session.run(graphs.feature_importances()).argmax() == 1
        assert session.run(paths, {x: FEATURES}).shape == (0, 2)
        assert session.run(variance, {x: FEATURES}).shape == (200, 3)
        path = saver.save(session, str(tmp_path / "forest"))
    with tf.Session() as session:
        saver.restore(session, path)
        np.testing.assert_allclose(session.run(answers, {x: FEATURES}), found)
    assert ("tree-0:0", []) in tf.train.list_variables(path)


def test_numbers_are_learned():
    params = _params(num_classes=1, regression=True, inference_tree_paths=True)
    graphs = tensor_forest.RandomForestGraphs(params)
    targets = FEATURES[:, 2] * 5
    train = graphs.training_graph(tf.constant(FEATURES), tf.constant(targets))
    answers, paths, _ = graphs.inference_graph(tf.constant(FEATURES))
    with tf.Session() as session:
        _initialize(session)
        for _ in range(15):
            session.run(train)
        found, visited = session.run([answers, paths])
    assert np.mean(np.abs(found[:, 0] - targets)) < 0.6
    path = proto.TreePath.FromString(visited[0, 0])
    assert path.nodes_visited[0].node_id.value == 0
    assert path.nodes_visited[-1].HasField("leaf")


def test_a_tree_that_was_made_elsewhere():
    tree = proto.Model()
    root, left, right = (tree.decision_tree.nodes.add() for _ in range(3))
    for number, node in enumerate((root, left, right)):
        node.node_id.value = number
    root.binary_node.left_child_id.value = 1
    root.binary_node.right_child_id.value = 2
    test = root.binary_node.inequality_left_child_test
    test.feature_id.id.value = "0"
    test.threshold.float_value = 0.5
    for node, counts in ((left, (9, 1, 0)), (right, (0, 1, 3))):
        for count in counts:
            node.leaf.vector.value.add().float_value = count
    configs = [tree.SerializeToString()]
    graphs = tensor_forest.RandomForestGraphs(_params(num_trees=1), configs, training=False)
    answers, _, _ = graphs.inference_graph(tf.constant([[0.5, 0, 0], [0.6, 0, 0]]))
    with tf.Session() as session:
        _initialize(session)
        expected = [[0.9, 0.1, 0], [0, 0.25, 0.75]]
        np.testing.assert_allclose(session.run(answers), expected, rtol=1e-6)


def test_features_of_several_kinds():
    data = {
        "a": tf.constant([[1.0], [2.0]]),
        "b": tf.constant([["x"], ["y"]]),
        "c": tf.SparseTensor([[0, 0]], ["q"], [2, 3]),
    }
    dense, sparse, spec = data_ops.ParseDataTensorOrDict(data)
    assert dense.shape.as_list() == [2, 2]
    assert spec.SerializeToString() == (
        "dense_features_size: 2 dense: [{name: a original_type: 0 size: 1}"
        "{name: b original_type: 1 size: 1}] "
        "sparse: [{name: all_sparse original_type: 1 size: -1}]"
    )
    graphs = tensor_forest.RandomForestGraphs(_params(num_features=5))
    train = graphs.training_graph(data, tf.constant([0, 1]))
    with tf.Session() as session:
        _initialize(session)
        for _ in range(30):
            session.run(train)
        assert session.run(graphs.average_size()) > 1
    assert sparse.values.dtype == tf.float32


def test_settings():
    bagged = _params(feature_bagging_fraction=0.7, num_splits_to_consider="5")
    assert [len(each) for each in bagged.bagged_features] == [2, 2]
    assert tensor_forest.build_params_proto(bagged).num_splits_to_consider.constant_value == 5
    assert _params(num_splits_to_consider=0).num_splits_to_consider == 10
    with pytest.raises(AttributeError, match="num_classes"):
        tensor_forest.ForestHParams().fill()


def test_parameters_of_depth():
    param = proto.DepthDependentParam()
    param.linear.slope, param.linear.y_intercept, param.linear.max_val = 2, 1, 6
    assert [at_depth(param, depth) for depth in range(4)] == [1, 3, 5, 6]
    param.threshold.on_value, param.threshold.threshold = 3, 2
    assert [at_depth(param, depth) for depth in range(4)] == [0, 0, 3, 3]
    param.exponential.base, param.exponential.multiplier = 2, 1
    param.exponential.depth_multiplier = 1
    assert [at_depth(param, depth) for depth in range(4)] == [1, 2, 4, 8]
