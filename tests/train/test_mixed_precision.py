"""Mixed precision by one call, and the loss scaling of `tf.contrib.mixed_precision`."""

import numpy as np
import pytest

import penstock as tf
from penstock.client import mixed_precision_state

mixed_precision = tf.contrib.mixed_precision


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.setattr(mixed_precision_state, "non_mixed_precision_session_created", False)
    with tf.Graph().as_default() as graph:
        yield graph
    if mixed_precision_state.mixed_precision_graph_rewrite_is_enabled:
        tf.train.experimental.disable_mixed_precision_graph_rewrite()


class TestEnabling:
    def test_new_sessions_are_asked_to(self):
        opt = tf.train.GradientDescentOptimizer(0.1)
        wrapped = tf.train.experimental.enable_mixed_precision_graph_rewrite(opt, loss_scale=8.0)
        assert isinstance(wrapped, tf.train.experimental.MixedPrecisionLossScaleOptimizer)
        x = tf.constant(1.0)
        for config in (None, tf.ConfigProto()):
            with tf.Session(config=config) as sess:
                assert sess.run(x) == 1.0
                assert sess._config.graph_options.rewrite_options.auto_mixed_precision == 1
        assert tf.config.optimizer.get_experimental_options()["auto_mixed_precision"]

    def test_a_config_may_forbid_it(self):
        opt = tf.train.GradientDescentOptimizer(0.1)
        tf.train.experimental.enable_mixed_precision_graph_rewrite(opt)
        config = tf.ConfigProto()
        config.graph_options.rewrite_options.auto_mixed_precision = 2  # OFF
        with tf.Session(config=config) as sess:
            assert sess._config.graph_options.rewrite_options.auto_mixed_precision == 2

    def test_disabled_again(self):
        opt = tf.train.GradientDescentOptimizer(0.1)
        tf.train.experimental.enable_mixed_precision_graph_rewrite(opt)
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
        with tf.Session(config=tf.ConfigProto()) as sess:
            assert sess._config.graph_options.rewrite_options.auto_mixed_precision == 0

    def test_what_is_wrapped_already_is_refused(self):
        enable = tf.train.experimental.enable_mixed_precision_graph_rewrite
        opt = tf.train.GradientDescentOptimizer(0.1)
        with pytest.raises(ValueError, match="must not already be an instance of a Mixed"):
            enable(tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, 2.0))
        with pytest.raises(ValueError, match="must be an instance of a tf.train.Optimizer"):
            enable("sgd")

    def test_older_sessions_are_warned_of(self, monkeypatch):
        said = []
        monkeypatch.setattr("penstock.platform.logging.warn", said.append)
        enable = tf.train.experimental.enable_mixed_precision_graph_rewrite
        enable(tf.train.GradientDescentOptimizer(0.1))
        assert said == []
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
        tf.Session().close()
        enable(tf.train.GradientDescentOptimizer(0.1))
        assert len(said) == 1 and "existing Sessions that do not use mixed precision" in said[0]

    def test_a_step_with_infinite_gradients_is_left_out(self):
        x = tf.placeholder(tf.float32, [])
        v = tf.get_variable("v", initializer=1.0)
        step = tf.train.get_or_create_global_step()
        opt = tf.train.experimental.enable_mixed_precision_graph_rewrite(
            tf.train.GradientDescentOptimizer(1.0)
        )
        train = opt.minimize(v * x, global_step=step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            scale = opt._loss_scale()
            before = sess.run(scale)
            sess.run(train, {x: np.inf})
            assert sess.run([v, step]) == [1.0, 0] and sess.run(scale) == before / 2
            sess.run(train, {x: 0.5})
            assert sess.run([v, step]) == [0.5, 1]


class TestManagers:
    def test_fixed(self):
        with pytest.raises(ValueError, match="at least 1"):
            mixed_precision.FixedLossScaleManager(0.5)
        manager = mixed_precision.FixedLossScaleManager(4.0)
        with tf.Session() as sess:
            sess.run(manager.update_loss_scale(tf.constant(False)))
            assert sess.run(manager.get_loss_scale()) == 4.0

    def test_exponential(self):
        manager = mixed_precision.ExponentialUpdateLossScaleManager(
            init_loss_scale=4, incr_every_n_steps=2, decr_every_n_nan_or_inf=2, decr_ratio=0.25
        )
        finite = tf.placeholder(tf.bool, [])
        update = manager.update_loss_scale(finite)
        scales = []
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for good in (True, True, False, False, False, False, False, False, True, True):
                sess.run(update, {finite: good})
                scales.append(sess.run(manager.get_loss_scale()))
        assert scales == [4, 8, 8, 2, 2, 1, 1, 1, 1, 2]

    def test_growth_ends_before_infinity(self):
        manager = mixed_precision.ExponentialUpdateLossScaleManager(3e38, 1)
        update = manager.update_loss_scale(tf.constant(True))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(update)
            assert sess.run(manager.get_loss_scale()) == np.float32(3e38)


class TestLossScaleOptimizer:
    def test_gradients_are_those_of_the_loss(self):
        v = tf.get_variable("v", initializer=[2.0, 3.0])
        opt = mixed_precision.LossScaleOptimizer(
            tf.train.GradientDescentOptimizer(1.0), mixed_precision.FixedLossScaleManager(1000)
        )
        ((gradient, _),) = opt.compute_gradients(tf.reduce_sum(v * v), [v])
        train = opt.minimize(tf.reduce_sum(v * v), var_list=[v])
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            np.testing.assert_allclose(sess.run(gradient), [4.0, 6.0])
            sess.run(train)
            np.testing.assert_allclose(sess.run(v), [-2.0, -3.0], rtol=1e-6)

    def test_steps_that_are_not_finite_change_the_scale_alone(self):
        x = tf.placeholder(tf.float32, [])
        v = tf.get_variable("v", initializer=1.0)
        manager = mixed_precision.ExponentialUpdateLossScaleManager(8, 100, 1, decr_ratio=0.5)
        opt = mixed_precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), manager)
        train = opt.minimize(v * x)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for value in (np.nan, np.inf):
                sess.run(train, {x: value})
            assert sess.run([v, manager.get_loss_scale()]) == [1.0, 2.0]
            sess.run(train, {x: 0.25})
            assert sess.run(v) == 0.75
