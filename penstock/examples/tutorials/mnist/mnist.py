"""A network of two hidden layers for MNIST, as four functions that build its graph."""

import math
from typing import Any

import penstock as tf

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Any:
    """Return the logits [batch, NUM_CLASSES] of images [batch, IMAGE_PIXELS]."""
    with tf.name_scope("hidden1"):
        hidden1 = tf.nn.relu(_linear(images, IMAGE_PIXELS, hidden1_units))
    with tf.name_scope("hidden2"):
        hidden2 = tf.nn.relu(_linear(hidden1, hidden1_units, hidden2_units))
    with tf.name_scope("softmax_linear"):
        return _linear(hidden2, hidden2_units, NUM_CLASSES)


def _linear(inputs: Any, input_units: int, units: int) -> Any:
    # Spread so that a unit's sum keeps the variance of one input.
    spread = 1.0 / math.sqrt(input_units)
    weights = tf.Variable(tf.truncated_normal([input_units, units], stddev=spread), name="weights")
    biases = tf.Variable(tf.zeros([units]), name="biases")
    return tf.matmul(inputs, weights) + biases


def loss(logits: Any, labels: Any) -> Any:
    """Return the mean cross entropy of logits [batch, NUM_CLASSES] against labels [batch]."""
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.to_int64(labels), logits=logits, name="xentropy"
    )
    return tf.reduce_mean(cross_entropy, name="xentropy_mean")


def training(loss: Any, learning_rate: float) -> Any:
    """Return an op that makes one step of gradient descent, counts it and summarises the loss."""
    tf.summary.scalar("loss", loss)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits: Any, labels: Any) -> Any:
    """Return how many of the batch's images have their label as the highest logit."""
    correct = tf.nn.in_top_k(logits, labels, 1)
    return tf.reduce_sum(tf.cast(correct, tf.int32))
