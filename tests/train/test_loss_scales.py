"""Loss scales, and the optimizer that uses them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock as tf

experimental = tf.train.experimental


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def test_a_fixed_scale_changes_no_result() -> None:
    variable = tf.Variable(1.0)
    optimizer = experimental.MixedPrecisionLossScaleOptimizer(
        tf.train.GradientDescentOptimizer(0.5), 128
    )
    train = optimizer.minimize(variable * 3.0)
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(train)
        assert session.run(variable) == -0.5
    with pytest.raises(ValueError, match="at least 1"):
        experimental.FixedLossScale(0.5)
    with pytest.raises(ValueError, match="Could not interpret"):
        experimental.MixedPrecisionLossScaleOptimizer(tf.train.AdamOptimizer(), "x")


def test_a_dynamic_scale_follows_the_gradients(tmp_path: Path) -> None:
    variable, factor = tf.Variable(1.0), tf.placeholder(tf.float32, [])
    scale = experimental.DynamicLossScale(4, increment_period=2, multiplier=2)
    step = tf.train.get_or_create_global_step()
    optimizer = experimental.MixedPrecisionLossScaleOptimizer(
        tf.train.MomentumOptimizer(0.5, 0.0), scale
    )
    train = optimizer.minimize(variable * factor, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for value in (1.0, 1.0, float("nan"), float("inf"), float("nan"), 1.0):
            session.run(train, {factor: value})
            seen.append(session.run([variable, scale(), step]))
        path = tf.train.Checkpoint(opt=optimizer, v=variable).write(str(tmp_path / "c"))
    assert seen == [[0.5, 4, 1], [0, 8, 2], [0, 4, 2], [0, 2, 2], [0, 1, 2], [-0.5, 1, 3]]
    keys = dict(tf.train.list_variables(path))
    assert "opt/loss_scale/current_loss_scale/.ATTRIBUTES/VARIABLE_VALUE" in keys
    assert "v/.OPTIMIZER_SLOT/opt/base_optimizer/momentum/.ATTRIBUTES/VARIABLE_VALUE" in keys
    again = experimental.DynamicLossScale.from_config(scale.get_config())
    assert repr(again) == repr(scale)
