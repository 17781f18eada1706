"""MonitoredTrainingSession: hooks, checkpoints, and a second session that goes on from there.

penstock run examples/monitored_training.py --steps 400 --logdir model
"""

import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 400, "training steps, half of them in each session")
flags.DEFINE_integer("batch_size", 32, "points per step")
flags.DEFINE_string("logdir", "", "folder for checkpoints and summaries (default: a new one)")
FLAGS = flags.FLAGS


class AverageLossHook(tf.train.SessionRunHook):
    """A hook of one's own: asks each step for the loss, and reports the average at the end."""

    def __init__(self, loss):
        self._loss = loss

    def begin(self):
        self._values = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        self._values.append(run_values.results)

    def end(self, session):
        print("%d steps, average loss %.4f" % (len(self._values), np.mean(self._values)))


def build_model():
    """Fits a small net to a noisy sine wave that is drawn in the graph."""
    x = tf.random_uniform([FLAGS.batch_size, 1], -3.0, 3.0)
    y = tf.sin(x) + tf.random_normal([FLAGS.batch_size, 1], stddev=0.05)
    hidden = tf.layers.dense(x, 32, activation=tf.nn.tanh)
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(hidden, 1))
    tf.summary.scalar("loss", loss)
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.02, global_step, decay_steps=100, decay_rate=0.8)
    train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)
    return loss, train_op


def train(last_step, logdir):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        loss, train_op = build_model()
        hooks = [
            tf.train.StopAtStepHook(last_step=last_step),
            tf.train.NanTensorHook(loss),
            tf.train.LoggingTensorHook(
                {"step": tf.train.get_global_step(), "loss": loss},
                every_n_iter=100,
                formatter=lambda values: "step %(step)d: loss %(loss).4f" % values,
            ),
            AverageLossHook(loss),
        ]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=logdir, hooks=hooks, save_checkpoint_steps=50, save_summaries_steps=50
        ) as sess:
            first = sess.run(tf.train.get_global_step())
            print("starting at step %d" % first)
            while not sess.should_stop():
                sess.run(train_op)


def main(_):
    logdir = FLAGS.logdir or tempfile.mkdtemp()
    train(FLAGS.steps // 2, logdir)
    train(FLAGS.steps, logdir)
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(logdir))
    print("latest checkpoint: step %d" % reader.get_tensor("global_step"))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
