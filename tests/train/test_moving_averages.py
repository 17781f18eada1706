"""Moving averages against TensorFlow: graphs, names for checkpoints, values after several steps."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from tests.train import averages_programs, records
from tests.train.averages_programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_builds_the_same_graph(name: str) -> None:
    built = averages_programs.build(tf, name)
    record = records.read("averages")[name]
    assert records.nodes(averages_programs.own_nodes(built)) == record["nodes"]
    assert averages_programs.names_to_restore(built) == record["restore"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_the_same_averages(name: str) -> None:
    values = averages_programs.run(tf, averages_programs.build(tf, name))
    recorded = records.read("averages")[name]["values"]
    assert len(values) == len(recorded)
    for step, wanted in zip(values, recorded, strict=True):
        assert sorted(step) == sorted(wanted)
        for key, value in wanted.items():
            np.testing.assert_allclose(step[key], value, rtol=2e-6, atol=1e-7, err_msg=key)


def test_variables_with_an_average_are_collected() -> None:
    with tf.Graph().as_default():
        w = tf.Variable(1.0, name="w")
        averages = tf.train.ExponentialMovingAverage(0.9)
        assert averages.average(w) is None
        assert averages.average_name(w) == "w/ExponentialMovingAverage"
        averages.apply([w, w * 2.0])
        assert tf.moving_average_variables() == [w]
        assert tf.trainable_variables() == [w]


def test_all_trainable_variables_by_default() -> None:
    with tf.Graph().as_default():
        w, v = tf.Variable(1.0, name="w"), tf.Variable(1.0, name="v", trainable=False)
        averages = tf.train.ExponentialMovingAverage(0.9, name="Mean")
        assert averages.name == "Mean"
        averages.apply()
        assert averages.average(w) is not None
        assert averages.average(v) is None


def test_integers_have_no_average() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="half, float, or double"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1)])
