"""SdcaOptimizer, SdcaOptimizerV2, SdcaShrinkL1 and SdcaFprint; values are TensorFlow 1.15's.

A batch of one example has no random order, so that each loss can be compared exactly.
"""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


# What one step gives for labels of 0 and 1, without and with L1 regularization: the example's
# state, then the changes of a dense feature's two weights.
STEPS = {
    ("logistic_loss", 0.0, 0.0): ([-0.1592, 0.8441, 0.1532, 0.7], [-0.1676, -0.3352]),
    ("logistic_loss", 0.0, 0.3): ([-0.1523, 0.7958, 0.1532, 0.7], [-0.1644, -0.3288]),
    ("logistic_loss", 1.0, 0.0): ([0.2418, 0.2491, -0.3503, 0.7], [0.0195, 0.0390]),
    ("logistic_loss", 1.0, 0.3): ([0.2499, 0.2708, -0.3503, 0.7], [0.0233, 0.0466]),
    ("squared_loss", 0.0, 0.0): ([0.0687, 0.2529, 0.0140, 0.7], [-0.0613, -0.1225]),
    ("squared_loss", 1.0, 0.3): ([0.2062, 0.0219, -0.1260, 0.7], [0.0029, 0.0058]),
    ("squared_loss", 2.0, 0.0): ([0.3188, 0.4629, -0.2660, 0.7], [0.0554, 0.1108]),
    ("hinge_loss", 0.0, 0.3): ([-0.05, 1.225, np.inf, 0.7], [-0.1167, -0.2333]),
    ("hinge_loss", 1.0, 0.0): ([0.2214, 0.105, -0.14, 0.7], [0.01, 0.02]),
    ("smooth_hinge_loss", 0.0, 0.0): ([-0.0563, 0.945, np.inf, 0.7], [-0.1196, -0.2392]),
    ("smooth_hinge_loss", 1.0, 0.3): ([0.2062, 0.0219, -0.126, 0.7], [0.0029, 0.0058]),
    ("poisson_loss", 0.0, 0.0): ([-0.1725, 1.6378, np.inf, 0.7], [-0.1738, -0.3477]),
    ("poisson_loss", 1.0, 0.3): ([0.0808, 0.9569, -0.6850, 0.7], [-0.0556, -0.1112]),
    ("poisson_loss", 2.0, 0.0): ([0.1653, 0.4478, -0.5194, 0.7], [-0.0162, -0.0324]),
}


def _step(loss="squared_loss", label=1.0, l1=0.0, **changes):
    inputs = {
        "sparse_example_indices": [[0, 0]],
        "sparse_feature_indices": [[5, 2]],
        "sparse_feature_values": [[1.5, -0.5]],
        "dense_features": [[[1.0, 2.0]]],
        "example_weights": [0.7],
        "example_labels": [label],
        "sparse_indices": [[2, 5]],
        "sparse_weights": [[0.3, -0.2]],
        "dense_weights": [[0.1, 0.6]],
        "example_state_data": [[0.2, 0.0, 0.0, 0.0]],
        **changes,
    }
    return tf.raw_ops.SdcaOptimizerV2(
        **inputs,
        loss_type=loss,
        l1=l1,
        l2=1.5,
        num_loss_partitions=2,
        num_inner_iterations=1,
        adaptive=False,
    )


@pytest.mark.parametrize(("loss", "label", "l1"), STEPS)
def test_a_step_over_one_example(loss, label, l1, session):
    state, sparse, dense = session.run(_step(loss, label, l1))
    expected_state, expected_dense = STEPS[loss, label, l1]
    np.testing.assert_allclose(state, [expected_state], atol=1e-4)
    np.testing.assert_allclose(dense[0], expected_dense, atol=1e-4)
    # Features have the values 1 and 2 in the dense column, -0.5 and 1.5 in the sparse one.
    np.testing.assert_allclose(sparse[0], dense[0][0] * np.array([-0.5, 1.5]), rtol=1e-5)


def test_static_shapes():
    state, sparse, dense = _step()
    assert state.shape.as_list() == [None, 4]
    assert sparse[0].shape == [2]
    assert dense[0].shape == [2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sparse_feature_indices": [[5, 7]]}, "sparse feature indices out of valid range: 7"),
        ({"sparse_feature_indices": [[5, 5]]}, "Duplicate index in sparse vector."),
        ({"sparse_example_indices": [[0, 0, 0]]}, "Found mismatched example_indices"),
        ({"example_state_data": [[0.0, 0.0]]}, r"Expected shape \[1,4\] for example_state_data"),
        ({"dense_weights": [[0.1]]}, "More dense features than we have parameters for: 2"),
        ({"loss": "hinge_loss", "label": 2.0}, "Only labels of 0.0 or 1.0 are supported right now"),
        ({"loss": "poisson_loss", "label": -1.0}, "Only non-negative labels can be used"),
    ],
)
def test_what_is_refused(changes, message, session):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(_step(**changes))


@pytest.mark.parametrize("adaptive", [True, False])
def test_the_older_op_reaches_the_minimum(adaptive, session):
    features = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], np.float32)
    state = np.zeros((3, 4), np.float32)
    weights = np.zeros(2, np.float32)
    feeds = [tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [2])]
    step = tf.train.sdca_optimizer(
        *([], [], [], [features], [1.0, 1.0, 1.0], [1.0, 2.0, 4.0], [], []),
        *([feeds[1]], feeds[0], "squared_loss", 0.0, 1.0, 1, 1, adaptive),
    )
    for _ in range(40):
        state, _, (delta,) = session.run(step, dict(zip(feeds, (state, weights), strict=True)))
        weights += delta
    expected = np.linalg.solve(features.T @ features + np.eye(2), features.T @ [1.0, 2.0, 4.0])
    np.testing.assert_allclose(weights, expected, atol=1e-3)


def test_weights_are_moved_towards_zero(session):
    variable = tf.Variable([1.0, -0.2, 0.5], use_resource=False)
    session.run(variable.initializer)
    session.run(tf.train.sdca_shrink_l1([variable], 0.3, 1.0))
    np.testing.assert_allclose(session.run(variable), [0.7, 0.0, 0.2], rtol=1e-6)


FINGERPRINTS = {
    "": [4463240938071824939, 4374473821787594281],
    "a": [7969074168056553668, 5955762262185338209],
    "12345678": [630108414301932383, 630315799594168895],
    "0123456789abcdef": [-2347567976820271828, -3177687296717892822],
    "x" * 17: [6750864138911643067, 4963244384729455311],
    "y" * 40: [-380523649718936798, -1157855863885851855],
    "q" * 130: [-5561606758218723386, 5513660856904786730],
    "w" * 200: [109267649667465115, -7003517572791534806],
    "e" * 300: [-7755397556253566758, -2538717219628695498],
    "r" * 1000: [1618766247852916818, 7860409513563011099],
}


def test_fingerprints(session):
    prints = tf.train.sdca_fprint(list(FINGERPRINTS))
    assert prints.shape == [len(FINGERPRINTS), 2]
    assert session.run(prints).tolist() == list(FINGERPRINTS.values())
