"""Every loss with weights and reductions, and its gradient."""

import numpy as np


def main(tf):
    rng = np.random.RandomState(0)
    losses = tf.losses
    labels = tf.constant(rng.rand(4, 3) > 0.5, tf.float32)
    logits = tf.constant(rng.rand(4, 3), tf.float32)
    column = tf.constant([[1.0], [0.0], [2.0], [0.5]])
    some = [tf.placeholder(tf.float32) for _ in range(3)]
    made = []
    for loss in (
        losses.absolute_difference,
        losses.hinge_loss,
        losses.huber_loss,
        losses.log_loss,
        losses.mean_squared_error,
        losses.sigmoid_cross_entropy,
    ):
        made += [loss(labels, logits, 2.5), loss(*some[:2], some[2])]
        for reduction in losses.Reduction.all():
            made.append(loss(labels, logits, column, reduction=reduction))
    made += [
        losses.mean_pairwise_squared_error(labels, logits, column),
        losses.cosine_distance(labels, logits, axis=1),
        losses.softmax_cross_entropy(labels, logits, column[:, 0], label_smoothing=0.1),
        losses.sparse_softmax_cross_entropy([[0], [2], [1], [1]], logits, column),
    ]
    found = [tf.gradients(loss, logits)[0] for loss in made]
    slopes = [slope for slope in found if slope is not None]
    feed = dict(zip(some, [rng.rand(4, 3) > 0.5, rng.rand(4, 3), rng.rand(4, 1)], strict=True))
    with tf.Session() as session:
        return [np.asarray(value).tolist() for value in session.run(made + slopes, feed)]
