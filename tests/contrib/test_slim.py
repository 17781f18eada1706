"""`tf.contrib.slim` against what TensorFlow made of the same programs."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import penstock as tf
import penstock.contrib.slim.nets
from tests.contrib.networks import NETWORKS, variables_of
from tests.contrib.slim_results import results
from tests.contrib.slim_scenarios import SCENARIOS

FOLDER = pathlib.Path(__file__).parent / "recorded"
RECORDED = json.loads((FOLDER / "slim.json").read_text())
NETWORKS_RECORDED = json.loads((FOLDER / "networks.json").read_text())

slim = tf.contrib.slim


@pytest.fixture(scope="module", params=SCENARIOS)
def pair(request: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    name = request.param
    return results(tf, slim, SCENARIOS[name]), RECORDED[name]


@pytest.mark.parametrize(
    "part", ["variables", "trainable", "model", "updates", "regularization", "outputs"]
)
def test_names_and_shapes(pair: Any, part: str) -> None:
    found, expected = pair
    assert found[part] == expected[part]


@pytest.mark.parametrize("part", ["initial", "final"])
def test_values_of_variables(pair: Any, part: str) -> None:
    found, expected = pair
    np.testing.assert_allclose(found[part], expected[part], rtol=2e-4, atol=2e-4)


def test_values_of_outputs(pair: Any) -> None:
    found, expected = pair
    for step, recorded in zip(found["values"], expected["values"], strict=True):
        for name, value in recorded.items():
            np.testing.assert_allclose(step[name], value, rtol=1e-3, atol=2e-3, err_msg=name)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_have_the_variables_of_public_checkpoints(name: str) -> None:
    assert variables_of(tf, slim, penstock.contrib.slim.nets, name) == NETWORKS_RECORDED[name]


# As in TensorFlow, training stops its writer, and the end of its session does so again.
@pytest.mark.filterwarnings("ignore:Attempting to use a closed FileWriter")
def test_a_model_is_trained_saved_and_evaluated(tmp_path: Any) -> None:
    inputs = np.linspace(-1, 1, 16, dtype=np.float32)[:, np.newaxis]
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        prediction = slim.fully_connected(tf.constant(inputs), 1, activation_fn=None, scope="fc")
        slim.losses.mean_squared_error(prediction, tf.constant(3 * inputs))
        train_op = slim.learning.create_train_op(
            slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.5)
        )
        loss = slim.learning.train(
            train_op, str(tmp_path), number_of_steps=100, log_every_n_steps=50
        )
    assert loss < 1e-4
    checkpoint = tf.train.latest_checkpoint(str(tmp_path))
    with tf.Graph().as_default():
        prediction = slim.fully_connected(tf.constant(inputs), 1, activation_fn=None, scope="fc")
        tf.train.get_or_create_global_step()
        error, update = slim.metrics.streaming_mean_squared_error(
            prediction, tf.constant(3 * inputs)
        )
        value = slim.evaluation.evaluate_once(
            "", checkpoint, str(tmp_path), eval_op=update, final_op=error
        )
    assert value < 1e-4


def test_variables_are_restored_by_scope(tmp_path: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("old/a", initializer=tf.constant([1.0, 2.0]))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        a = slim.model_variable("new/a", [2], initializer=tf.zeros_initializer())
        b = slim.model_variable("other/b", [1], initializer=tf.ones_initializer())
        assert slim.get_variables_to_restore(exclude=["other"]) == [a]
        restore = slim.assign_from_checkpoint_fn(path, {"old/a": a, "b": b}, True)
        session.run(tf.global_variables_initializer())
        restore(session)
        assert session.run(a).tolist() == [1.0, 2.0]
        assert session.run(b).tolist() == [1.0]
        with pytest.raises(ValueError, match="Checkpoint is missing variable"):
            slim.assign_from_checkpoint(path, [b])
