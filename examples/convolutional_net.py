"""A convolutional net with tf.layers: summaries, checkpoints, and a second graph that restores.

penstock run examples/convolutional_net.py --steps 200 --logdir logs
"""

import os
import tempfile

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_integer("steps", 200, "training steps")
flags.DEFINE_integer("batch_size", 50, "digits per step")
flags.DEFINE_float("dropout", 0.4, "share of the dense units that a training step leaves out")
flags.DEFINE_string("data_dir", "MNIST_data", "folder of MNIST's files; without: bundled digits")
flags.DEFINE_string("logdir", "", "folder for checkpoints and summaries (default: a new one)")
FLAGS = flags.FLAGS


def build_model():
    """Adds the net to the default graph; returns its tensors by name."""
    images = tf.placeholder(tf.float32, [None, 784], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    training = tf.placeholder_with_default(False, [], name="training")

    net = tf.reshape(images, [-1, 28, 28, 1])
    for index, filters in enumerate((8, 16), start=1):
        net = tf.layers.conv2d(
            net, filters, 5, padding="same", activation=tf.nn.relu, name="conv%d" % index
        )
        net = tf.layers.max_pooling2d(net, pool_size=2, strides=2, name="pool%d" % index)
    net = tf.layers.dense(tf.layers.flatten(net), 64, activation=tf.nn.relu, name="hidden")
    net = tf.layers.dropout(net, FLAGS.dropout, training=training)
    logits = tf.layers.dense(net, 10, name="logits")

    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    right = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
    return {
        "images": images,
        "labels": labels,
        "training": training,
        "loss": loss,
        "accuracy": accuracy,
    }


def train(digits, logdir):
    model = build_model()
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(1e-3).minimize(model["loss"], global_step=global_step)
    tf.summary.scalar("loss", model["loss"])
    tf.summary.scalar("accuracy", model["accuracy"])
    for variable in tf.trainable_variables():
        tf.summary.histogram(variable.op.name, variable)
    summaries = tf.summary.merge_all()
    saver = tf.train.Saver(max_to_keep=2)

    with tf.Session() as sess, tf.summary.FileWriter(logdir, sess.graph) as writer:
        sess.run(tf.global_variables_initializer())
        for step in range(1, FLAGS.steps + 1):
            images, labels = digits.train.next_batch(FLAGS.batch_size)
            feed = {model["images"]: images, model["labels"]: labels, model["training"]: True}
            _, loss = sess.run([train_op, model["loss"]], feed_dict=feed)
            if step % 50 == 0 or step == FLAGS.steps:
                print("step %d: loss %.4f" % (step, loss))
                writer.add_summary(sess.run(summaries, feed_dict=feed), step)
                saver.save(sess, os.path.join(logdir, "model"), global_step=global_step)


def evaluate(digits, logdir):
    model = build_model()
    checkpoint = tf.train.latest_checkpoint(logdir)
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, checkpoint)
        feed = {model["images"]: digits.test.images, model["labels"]: digits.test.labels}
        accuracy = sess.run(model["accuracy"], feed_dict=feed)
    print("restored %s: test accuracy %.3f" % (os.path.basename(checkpoint), accuracy))


def main(_):
    logdir = FLAGS.logdir or tempfile.mkdtemp()
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        digits = input_data.read_data_sets(FLAGS.data_dir)
        train(digits, logdir)
    with tf.Graph().as_default():
        evaluate(digits, logdir)


if __name__ == "__main__":
    tf.app.run()
