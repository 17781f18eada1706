"""TF-Slim: arg_scope, slim.learning.train, and an evaluation of the checkpoint that it leaves.

penstock run examples/slim_digits.py --steps 200 --logdir slim_model
"""

import tempfile

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

slim = tf.contrib.slim

flags = tf.app.flags
flags.DEFINE_integer("steps", 200, "training steps")
flags.DEFINE_integer("batch_size", 50, "digits per step")
flags.DEFINE_string("data_dir", "MNIST_data", "folder of MNIST's files; without: bundled digits")
flags.DEFINE_string("logdir", "", "folder for checkpoints and summaries (default: a new one)")
FLAGS = flags.FLAGS


def small_net(images, is_training):
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        activation_fn=tf.nn.relu,
        weights_regularizer=slim.l2_regularizer(1e-4),
        normalizer_fn=slim.batch_norm,
        normalizer_params={"is_training": is_training, "decay": 0.9},
    ):
        net = slim.conv2d(images, 8, [5, 5], stride=2, scope="conv1")
        net = slim.repeat(net, 2, slim.conv2d, 16, [3, 3], scope="conv2")
        net = slim.max_pool2d(net, [2, 2], scope="pool")
        net = slim.dropout(slim.flatten(net), 0.8, is_training=is_training, scope="dropout")
        return slim.fully_connected(net, 10, activation_fn=None, normalizer_fn=None, scope="logits")


def batches(digits, training):
    """Image and label tensors: all digits in turn, or once when not training."""
    data = tf.data.Dataset.from_tensor_slices((digits.images, digits.labels.astype("int64")))
    if training:
        data = data.shuffle(1000, seed=1).repeat()
    return data.batch(FLAGS.batch_size).make_one_shot_iterator().get_next()


def train(digits, logdir):
    images, labels = batches(digits, training=True)
    logits = small_net(images, is_training=True)
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    total_loss = tf.losses.get_total_loss()
    tf.summary.scalar("total_loss", total_loss)
    train_op = slim.learning.create_train_op(total_loss, tf.train.AdamOptimizer(2e-3))
    return slim.learning.train(
        train_op, logdir, number_of_steps=FLAGS.steps, log_every_n_steps=50, save_summaries_secs=60
    )


def evaluate(digits, logdir):
    images, labels = batches(digits, training=False)
    predicted = tf.argmax(small_net(images, is_training=False), 1)
    values, updates = slim.metrics.aggregate_metric_map(
        {
            "accuracy": slim.metrics.streaming_accuracy(predicted, labels),
            "recall of 7": slim.metrics.streaming_recall(
                tf.equal(predicted, 7), tf.equal(labels, 7)
            ),
        }
    )
    steps = -(-digits.num_examples // FLAGS.batch_size)
    results = slim.evaluation.evaluate_once(
        master="",
        checkpoint_path=tf.train.latest_checkpoint(logdir),
        logdir=logdir,
        num_evals=steps,
        eval_op=list(updates.values()),
        final_op=values,
    )
    for name, value in sorted(results.items()):
        print("%s: %.3f" % (name, value))


def main(_):
    tf.logging.set_verbosity(tf.logging.WARN)
    logdir = FLAGS.logdir or tempfile.mkdtemp()
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        digits = input_data.read_data_sets(FLAGS.data_dir, reshape=False)
        print("final loss: %.4f" % train(digits.train, logdir))
    with tf.Graph().as_default():
        evaluate(digits.test, logdir)


if __name__ == "__main__":
    tf.app.run()
