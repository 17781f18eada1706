"""A small training run that writes every kind of summary, the graph and a trace of one step."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import penstock as tf

STEPS = 12
TRACE_TAG = "traced_step"
RUN = "train"


def write(logdir: Path) -> None:
    """Trains a layer for a few steps, with summaries in the folder `train`."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        batch = tf.placeholder(tf.float32, [None, 4], name="batch")
        with tf.name_scope("encoder"):
            weights = tf.get_variable("weights", [4, 3])
            code = tf.nn.relu(tf.matmul(batch, weights))
        with tf.name_scope("objective"):
            loss = tf.reduce_mean(tf.square(code - 1.0))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        merged = _summaries(loss, weights)
        session.run(tf.global_variables_initializer())
        with tf.summary.FileWriter(str(logdir / RUN), session.graph) as writer:
            feed = {batch: np.ones([5, 4], np.float32)}
            for step in range(STEPS):
                summary, _ = session.run([merged, train_op], feed)
                writer.add_summary(summary, step)
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            session.run(train_op, feed, options=options, run_metadata=metadata)
            writer.add_run_metadata(metadata, TRACE_TAG, STEPS)


def _summaries(loss: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("spread", weights)
    tf.summary.image("picture", tf.reshape(tf.linspace(0.0, 1.0, 128), [2, 8, 8, 1]))
    tone = tf.sin(tf.linspace(0.0, 300.0, 800))
    tf.summary.audio("tone", tone[None], 8000.0)
    tf.summary.text("note", tf.constant("a **bold** word"))
    return tf.summary.merge_all()
