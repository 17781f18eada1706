"""Cross entropies of many classes, which have a kernel of fewer passes over the logits.

Where the step needs the logits for nothing else, it works in their memory.
"""

import numpy as np
import pytest

import penstock as tf

CLASSES = 5000


@pytest.fixture(params=["needed", "needed no more"])
def losses_and_gradients(request):
    """Computes both for logits that the step fetches, too, or needs for nothing else."""

    def run(logits, labels):
        x = tf.placeholder(tf.float32, logits.shape) + tf.placeholder(tf.float32, [])
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
        is_needed = request.param == "needed"
        fetches = [loss, tf.gradients(loss, x)[0], *([x] if is_needed else [])]
        with tf.Session() as session:
            feeds = dict(zip(x.op.inputs, [logits, 0.0], strict=True))
            losses, gradients, *kept = session.run(fetches, feeds)
            step = session._prepare(None, fetches, feeds).step
        kernels = str(step.plan.function.__globals__.values())
        assert ("_given_many_in_place" in kernels) == (not is_needed)
        for value in kept:
            np.testing.assert_array_equal(value, logits)
        return losses, gradients

    return run


@pytest.mark.parametrize("label_type", [np.int32, np.int64])
def test_values(losses_and_gradients, label_type):
    rng = np.random.default_rng(0)
    logits = (rng.standard_normal([20, CLASSES]) * 10).astype(np.float32)
    logits[0, 7] = 300.0  # all the probability, and so none for others
    labels = rng.integers(0, CLASSES, 20).astype(label_type)
    labels[:3] = 7, 8, 9
    loss, gradient = losses_and_gradients(logits, labels)
    shifted = logits.astype(np.float64) - logits.max(1, keepdims=True)
    sums = np.exp(shifted).sum(1)
    rows = np.arange(20)
    np.testing.assert_allclose(loss, np.log(sums) - shifted[rows, labels], rtol=1e-5, atol=2e-5)
    expected = np.exp(shifted) / sums[:, None]
    expected[rows, labels] -= 1
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


def test_improbable_classes_have_a_finite_loss(losses_and_gradients):
    logits = np.zeros([10, CLASSES], np.float32)
    logits[:, 0] = 500.0  # the probability of the others is below the smallest number
    loss, _ = losses_and_gradients(logits, np.full(10, 3))
    np.testing.assert_allclose(loss, 500.0, rtol=1e-6)


def test_infinities(losses_and_gradients):
    logits = np.zeros([10, CLASSES], np.float32)
    logits[0, 3] = -np.inf
    logits[1] = -np.inf
    loss, _ = losses_and_gradients(logits, np.full(10, 3))
    assert loss[0] == np.inf and np.isnan(loss[1])
    np.testing.assert_allclose(loss[2:], np.log(CLASSES), rtol=1e-6)


def test_bad_labels_are_named(losses_and_gradients):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Received a label value of 5000"):
        losses_and_gradients(np.zeros([10, CLASSES], np.float32), np.full(10, CLASSES))
