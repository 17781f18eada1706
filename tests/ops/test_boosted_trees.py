"""Ops of boosted trees. Recorded values are TensorFlow 1.15's; others follow from the inputs.

BoostedTreesEnsembleResourceHandleOp IsBoostedTreesEnsembleInitialized BoostedTreesCreateEnsemble
BoostedTreesDeserializeEnsemble BoostedTreesSerializeEnsemble BoostedTreesGetEnsembleStates
BoostedTreesUpdateEnsemble BoostedTreesUpdateEnsembleV2 BoostedTreesCenterBias
BoostedTreesTrainingPredict BoostedTreesPredict BoostedTreesExampleDebugOutputs
BoostedTreesMakeStatsSummary BoostedTreesAggregateStats BoostedTreesSparseAggregateStats
BoostedTreesCalculateBestGainsPerFeature BoostedTreesCalculateBestFeatureSplit
BoostedTreesSparseCalculateBestFeatureSplit
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import proto
from penstock.estimator.trees.resources import PruningMode, TreeEnsemble

ops = tf.raw_ops


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _derivatives(count: int, width: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(3)
    return rng.randn(count, width).astype("f"), (rng.rand(count, width) + 0.1).astype("f")


# Statistics -----------------------------------------------------------------------------------


def test_sums_by_node_and_bucket(session: Any) -> None:
    gradients, hessians = _derivatives(6)
    nodes, feature = [0, 2, 2, 0, 1, 2], np.array([1, 0, 0, 1, 2, 1], np.int32)
    expected = np.zeros((4, 3, 2))
    for i, node in enumerate(nodes):
        expected[node, feature[i]] += (gradients[i, 0], hessians[i, 0])
    common = {"node_ids": nodes, "gradients": gradients, "hessians": hessians, "max_splits": 4}
    made = ops.BoostedTreesMakeStatsSummary(
        bucketized_features_list=[feature, feature], num_buckets=3, **common
    )
    whole = ops.BoostedTreesAggregateStats(feature=feature[:, None], num_buckets=3, **common)
    assert made.shape == (2, 4, 3, 2) and whole.shape == (4, 1, 4, 2)
    first, second = session.run([made, whole])
    np.testing.assert_allclose(first, [expected, expected], rtol=1e-6)
    np.testing.assert_allclose(second[:, 0, :3], expected, rtol=1e-6)
    assert not second[:, 0, 3].any()  # the bucket of values that are missing


def test_a_bucket_outside_is_refused(session: Any) -> None:
    made = ops.BoostedTreesAggregateStats(
        node_ids=[0],
        gradients=[[1.0]],
        hessians=[[1.0]],
        feature=[[7]],
        max_splits=1,
        num_buckets=2,
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be in \[0, 3\)"):
        session.run(made)


def test_sums_of_sparse_features(session: Any) -> None:
    """Values that are missing are in the last bucket."""
    gradients, hessians = _derivatives(3)
    indices, values, shape = session.run(
        ops.BoostedTreesSparseAggregateStats(
            node_ids=[0, 1, 0],
            gradients=gradients,
            hessians=hessians,
            feature_indices=[[0, 0], [2, 1]],
            feature_values=[1, 0],
            feature_shape=[3, 2],
            max_splits=2,
            num_buckets=2,
        )
    )
    dense = np.zeros((2, 2, 3, 2), "f")
    for node, example, buckets in ((0, 0, (1, 2)), (1, 1, (2, 2)), (0, 2, (2, 0))):
        for dimension, bucket in enumerate(buckets):
            dense[node, dimension, bucket] += (gradients[example, 0], hessians[example, 0])
    found = np.zeros(shape, "f")
    found[tuple(indices.T)] = values
    assert shape.tolist() == [2, 2, 3, 2]
    np.testing.assert_allclose(found, dense, rtol=1e-6)
    assert indices.tolist() == sorted(indices.tolist())


SUMMARY = np.array(
    [
        [[0, 0], [0.08, 0.09], [0, 0], [0, 0]],
        [[0, 0], [0.15, 0.36], [0.06, 0.07], [0.1, 0.2]],
        [[0, 0], [-0.33, 0.58], [0, 0], [0.3, 0.4]],
        [[0, 0], [0, 0], [0, 0], [0, 0]],
    ],
    "f",
)


def test_best_gains_of_a_feature(session: Any) -> None:
    found = ops.BoostedTreesCalculateBestGainsPerFeature(
        node_id_range=[1, 3],
        stats_summary_list=[SUMMARY],
        l1=0.0,
        l2=0.1,
        tree_complexity=0.02,
        min_node_weight=0.3,
        max_splits=4,
    )
    nodes, gains, thresholds, left, right = (value[0] for value in session.run(found))
    assert nodes.tolist() == [1, 2] and thresholds.tolist() == [0, 1]
    np.testing.assert_allclose(gains, [-0.02, 0.31931373], rtol=1e-5)
    np.testing.assert_allclose(left, [[0], [0.48529413]], rtol=1e-5)
    np.testing.assert_allclose(right, [[-0.42465752], [-0.6]], rtol=1e-5)


def test_best_equality_split(session: Any) -> None:
    found = ops.BoostedTreesCalculateBestFeatureSplit(
        node_id_range=[1, 3],
        stats_summary=SUMMARY[:, None],
        l1=0.1,
        l2=0.1,
        tree_complexity=0.0,
        min_node_weight=0.0,
        logits_dimension=1,
        split_type="equality",
    )
    nodes, gains, dimensions, thresholds, left, right, kinds = session.run(found)
    assert nodes.tolist() == [1, 2] and thresholds.tolist() == [0, 1]
    assert dimensions.tolist() == [0, 0] and kinds.tolist() == [b"EQUALITY_DEFAULT_RIGHT"] * 2
    np.testing.assert_allclose(gains, [0, 0.15779413], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(left, [[0], [0.33823532]], rtol=1e-5)
    np.testing.assert_allclose(right, [[-0.28767124], [-0.4]], rtol=1e-5)


def test_diagonal_and_whole_hessians_agree(session: Any) -> None:
    """A whole hessian that is diagonal says what its diagonal says."""
    gradients, hessians = _derivatives(30, width=2)
    whole = np.zeros((30, 2, 2), "f")
    whole[:, [0, 1], [0, 1]] = hessians
    rng = np.random.RandomState(0)
    nodes, feature = rng.randint(0, 2, 30), rng.randint(0, 4, (30, 2))
    results = []
    for each in (hessians, whole.reshape(30, 4)):
        sums = ops.BoostedTreesAggregateStats(
            node_ids=nodes.astype("i"),
            gradients=gradients,
            hessians=each,
            feature=feature.astype("i"),
            max_splits=2,
            num_buckets=4,
        )
        found = ops.BoostedTreesCalculateBestFeatureSplit(
            node_id_range=[0, 2],
            stats_summary=sums,
            l1=0.0,
            l2=0.5,
            tree_complexity=0.1,
            min_node_weight=0.0,
            logits_dimension=2,
        )
        results.append(session.run(found))
    for a, b in zip(*results, strict=True):
        if a.dtype == object:
            assert a.tolist() == b.tolist() == [b"INEQUALITY_DEFAULT_LEFT"] * 2
        else:
            np.testing.assert_allclose(a, b, rtol=1e-4)


def test_examples_without_a_value_go_where_they_gain_more(session: Any) -> None:
    # Bucket 2 is that of missing values: their gradients are like those of bucket 0.
    indices = [[0, 0, bucket, stat] for bucket in range(3) for stat in range(2)]
    values = [-1.0, 1.0, 1.0, 1.0, -1.0, 1.0]
    found = ops.BoostedTreesSparseCalculateBestFeatureSplit(
        node_id_range=[0, 1],
        stats_summary_indices=indices,
        stats_summary_values=values,
        stats_summary_shape=[1, 1, 3, 2],
        l1=0.0,
        l2=0.0,
        tree_complexity=0.0,
        min_node_weight=0.0,
        logits_dimension=1,
    )
    _, gains, _, thresholds, left, right, kinds = session.run(found)
    assert thresholds.tolist() == [0] and kinds.tolist() == [b"INEQUALITY_DEFAULT_LEFT"]
    np.testing.assert_allclose([gains[0], left[0, 0], right[0, 0]], [3 - 1 / 3, 1, -1], rtol=1e-6)


# The ensemble ---------------------------------------------------------------------------------


def _split(handle: Any, node: int, feature: int, gain: float, mode: int, depth: int = 2) -> Any:
    return ops.BoostedTreesUpdateEnsemble(
        tree_ensemble_handle=handle,
        feature_ids=[feature],
        node_ids=[[node]],
        gains=[[gain]],
        thresholds=[[3]],
        left_node_contribs=[[[1.0]]],
        right_node_contribs=[[[-2.0]]],
        max_depth=depth,
        learning_rate=0.5,
        pruning_mode=mode,
    )


def _states(session: Any, ensemble: TreeEnsemble) -> list[Any]:
    return [value.tolist() for value in session.run(ensemble.get_states())]


def test_an_ensemble_grows_layer_by_layer(session: Any) -> None:
    ensemble = TreeEnsemble("ensemble", stamp_token=7)
    handle = ensemble.resource_handle
    assert not session.run(ensemble.is_initialized())
    with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
        session.run(ensemble.get_states())
    session.run(ensemble.initializer)
    assert _states(session, ensemble) == [7, 0, 0, 0, [0, 1]]
    session.run(_split(handle, 0, 0, 0.5, PruningMode.NO_PRUNING))
    assert _states(session, ensemble) == [8, 1, 0, 1, [1, 3]]
    session.run(_split(handle, 1, 1, 0.5, PruningMode.NO_PRUNING))
    assert _states(session, ensemble) == [9, 2, 1, 2, [0, 1]]
    features = [[3, 3, 4, 9], [0, 9, 0, 0]]
    logits = ops.BoostedTreesPredict(
        tree_ensemble_handle=handle, bucketized_features=features, logits_dimension=1
    )
    assert logits.shape == (4, 1)
    np.testing.assert_allclose(session.run(logits)[:, 0], [1.0, -0.5, -1.0, -1.0])
    stamp, serialized = session.run(ensemble.serialize())
    copy = TreeEnsemble("copy", stamp_token=int(stamp), serialized_proto=serialized)
    session.run(copy.initializer)
    assert _states(session, copy) == _states(session, ensemble)
    session.run(copy.deserialize(3, b""))
    assert _states(session, copy) == [3, 0, 0, 0, [0, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse tree ensemble"):
        session.run(copy.deserialize(3, b"no message"))


def test_cached_examples_go_on_where_they_were(session: Any) -> None:
    ensemble = TreeEnsemble("ensemble")
    session.run(ensemble.initializer)
    handle = ensemble.resource_handle
    trees, nodes = np.zeros(3, np.int32), np.full(3, -1, np.int32)
    total = np.zeros((3, 1), "f")
    features = [[0, 9, 9], [0, 0, 9]]
    steps = [(0, 0), (1, 1), (0, 1), (2, 0), (0, 0)]
    for node, feature in steps:
        partial, trees, nodes = session.run(
            ops.BoostedTreesTrainingPredict(
                tree_ensemble_handle=handle,
                cached_tree_ids=trees,
                cached_node_ids=nodes,
                bucketized_features=features,
                logits_dimension=1,
            )
        )
        total += partial
        whole = ops.BoostedTreesPredict(
            tree_ensemble_handle=handle, bucketized_features=features, logits_dimension=1
        )
        np.testing.assert_allclose(total, session.run(whole), atol=1e-6)
        session.run(_split(handle, node, feature, 0.5, PruningMode.NO_PRUNING))
    assert trees.tolist() == [2, 2, 2]


def test_pruning_takes_losses_back(session: Any) -> None:
    """What was kept for an example of a pruned node is corrected."""
    ensemble = TreeEnsemble("ensemble")
    session.run(ensemble.initializer)
    handle = ensemble.resource_handle
    cached = np.zeros(2, np.int32), np.full(2, -1, np.int32)
    total = np.zeros((2, 1), "f")
    for node, gain in ((0, 0.5), (1, -0.5)):
        session.run(_split(handle, node, 0, gain, PruningMode.POST_PRUNING, depth=2))
        predicted = ops.BoostedTreesTrainingPredict(
            tree_ensemble_handle=handle,
            cached_tree_ids=cached[0],
            cached_node_ids=cached[1],
            bucketized_features=[[0, 9]],
            logits_dimension=1,
        )
        partial, *cached = session.run(predicted)
        total += partial
    np.testing.assert_allclose(total[:, 0], [0.5, -1.0])
    message = proto.TreeEnsemble.FromString(session.run(ensemble.serialize())[1])
    assert len(message.trees[0].nodes) == 3
    updates = [u.new_node_id for u in message.tree_metadata[0].post_pruned_nodes_meta]
    assert updates == [0, 1, 2, 1, 1]


def test_splits_that_lose_are_not_made(session: Any) -> None:
    ensemble = TreeEnsemble("ensemble")
    session.run(ensemble.initializer)
    session.run(_split(ensemble.resource_handle, 0, 0, -0.5, PruningMode.PRE_PRUNING))
    assert _states(session, ensemble) == [1, 1, 0, 1, [0, 1]]


def test_kinds_of_splits(session: Any) -> None:
    from penstock.estimator.trees.op_names import update_ensemble_v2

    ensemble = TreeEnsemble("ensemble")
    session.run(ensemble.initializer)
    update = update_ensemble_v2(
        ensemble.resource_handle,
        feature_ids=[0, 2],
        dimension_ids=[[0], [0]],
        node_ids=[[0], [0]],
        gains=[[0.5], [0.6]],
        thresholds=[[3], [4]],
        left_node_contribs=[[[0.1]], [[0.2]]],
        right_node_contribs=[[[0.3]], [[-0.2]]],
        split_types=[["INEQUALITY_DEFAULT_LEFT"], ["EQUALITY_DEFAULT_RIGHT"]],
        max_depth=1,
        learning_rate=0.5,
        pruning_mode=PruningMode.NO_PRUNING,
    )
    session.run(update)
    message = proto.TreeEnsemble.FromString(session.run(ensemble.serialize())[1])
    split = message.trees[0].nodes[0].categorical_split
    assert (split.feature_id, split.value, split.left_id, split.right_id) == (2, 4, 1, 2)
    logits = ops.BoostedTreesPredict(
        tree_ensemble_handle=ensemble.resource_handle,
        bucketized_features=[[0, 0], [0, 0], [4, 3]],
        logits_dimension=1,
    )
    np.testing.assert_allclose(session.run(logits)[:, 0], [0.1, -0.1], rtol=1e-6)


def test_the_bias_is_centred_until_it_moves_no_more(session: Any) -> None:
    ensemble = TreeEnsemble("ensemble")
    session.run(ensemble.initializer)
    moves = []
    for gradient in (1.0, 0.5, 0.001):
        moves.append(
            session.run(
                ops.BoostedTreesCenterBias(
                    tree_ensemble_handle=ensemble.resource_handle,
                    mean_gradients=[[gradient]],
                    mean_hessians=[[2.0]],
                    l1=0.0,
                    l2=0.0,
                )
            )
        )
    assert moves == [True, True, False]
    path = ops.BoostedTreesExampleDebugOutputs(
        tree_ensemble_handle=ensemble.resource_handle, bucketized_features=[[1]], logits_dimension=1
    )
    message = proto.DebugOutput.FromString(session.run(path)[0])
    np.testing.assert_allclose(message.logits_path, [-0.7505], rtol=1e-6)


def test_modes_have_names() -> None:
    assert PruningMode.from_str("post") == PruningMode.POST_PRUNING
    with pytest.raises(ValueError, match="must be one of: none, post, pre"):
        PruningMode.from_str("never")
