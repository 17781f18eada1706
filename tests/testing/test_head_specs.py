"""Claims about what a head makes, which tests of heads share."""

import numpy as np
import pytest
from penstock.python.estimator.head import head_utils, multi_label_head, regression_head

import penstock as tf

FEATURES = {"x": np.array([[42]], np.int32)}


def test_a_spec_of_predictions_starts_from_its_scaffold():
    case = tf.test.TestCase()
    spec = multi_label_head.MultiLabelHead(2, label_vocabulary=["a", "b"]).create_estimator_spec(
        FEATURES, tf.estimator.ModeKeys.PREDICT, np.array([[0.0, 1.0]], np.float32)
    )
    assert head_utils._DEFAULT_SERVING_KEY in spec.export_outputs
    head_utils._assert_no_hooks(case, spec)
    with tf.Session() as session:
        head_utils._initialize_variables(case, spec.scaffold)
        scores = session.run(spec.export_outputs[head_utils._DEFAULT_SERVING_KEY].scores)
    np.testing.assert_allclose(scores, [[0.5, 0.7310586]], rtol=1e-6)


def test_scalars_of_a_summary():
    case = tf.test.TestCase()
    spec = regression_head.RegressionHead().create_estimator_spec(
        FEATURES,
        tf.estimator.ModeKeys.TRAIN,
        np.array([[45.0], [41.0]], np.float32),
        labels=np.array([[43.0], [44.0]]),
        trainable_variables=[tf.Variable([1.0])],
        train_op_fn=tf.identity,
    )
    with tf.Session() as session:
        head_utils._initialize_variables(case, spec.scaffold)
        written = session.run(spec.scaffold.summary_op)
    head_utils._assert_simple_summaries(case, {"loss": 6.5}, written)
    with pytest.raises(AssertionError):
        head_utils._assert_simple_summaries(case, {"loss": 6.0}, written)


def test_a_head_of_either_kind_says_what_a_loss_function_may_take():
    from penstock.python.estimator.canned import head as canned

    def loss_fn(labels, logits, loss_reduction):
        return logits

    regression_head.RegressionHead(loss_fn=loss_fn)
    with pytest.raises(ValueError, match=r"unexpected args: \['loss_reduction'\]"):
        canned._regression_head(loss_fn=loss_fn)
    with pytest.raises(ValueError, match="Invalid loss_reduction: sum$"):
        canned._regression_head(loss_reduction="sum")
