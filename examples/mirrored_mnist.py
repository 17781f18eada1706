"""Digits by all-reduce: each replica has a copy of the model, and their gradients are added up.

penstock run examples/mirrored_mnist.py --replicas 2
penstock launch --ps 0 --workers 2 examples/mirrored_mnist.py

The first has its replicas on the devices of one machine (all GPUs, without --replicas), the second
one in each worker; the workers' copies start from the first worker's values and stay equal.
"""

import json
import os

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_integer("replicas", 0, "replicas on CPU devices of this machine; 0: on all GPUs")
flags.DEFINE_integer("steps", 300, "training steps")
flags.DEFINE_integer("batch_size", 100, "digits per step, of all replicas together")
flags.DEFINE_float("learning_rate", 0.05, "of Adagrad")
flags.DEFINE_string("data_dir", "MNIST_data", "folder of MNIST's files; without: bundled digits")
FLAGS = flags.FLAGS


def logits_of(images):
    """A network with one hidden layer, the same variables each time."""
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(images, 100, tf.nn.relu, name="hidden")
        return tf.layers.dense(hidden, 10, name="logits")


def train(strategy, target, config):
    digits = input_data.read_data_sets(FLAGS.data_dir, one_hot=True)
    optimizer = tf.train.AdagradOptimizer(FLAGS.learning_rate)

    def replica(batch):
        images, labels = batch
        losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits_of(images))
        loss = tf.reduce_sum(losses) / FLAGS.batch_size
        return loss, optimizer.minimize(loss)

    def test():
        found = tf.argmax(logits_of(digits.test.images), 1)
        correct = tf.equal(found, digits.test.labels.argmax(1))
        return tf.reduce_mean(tf.cast(correct, tf.float32))

    with strategy.scope():
        dataset = tf.data.Dataset.from_tensor_slices((digits.train.images, digits.train.labels))
        dataset = dataset.shuffle(10000, seed=1).repeat().batch(FLAGS.batch_size)
        batches = strategy.make_dataset_iterator(dataset)
        losses, updates = strategy.experimental_run(replica, batches)
        loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
        step = strategy.group(updates)
        accuracy = strategy.unwrap(strategy.experimental_run_v2(test))[0]
        start = batches.initialize()

    with tf.Session(target, config=strategy.update_config_proto(config)) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(start)
        for number in range(FLAGS.steps):
            value, _ = sess.run([loss, step])
            if number % 100 == 0:
                print("step %d: loss %.3f" % (number, value))
        print(
            "%d replicas: test accuracy %.3f" % (strategy.num_replicas_in_sync, sess.run(accuracy))
        )


def main(_):
    place = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if "cluster" in place:
        task = place["task"]
        server = tf.train.Server(place["cluster"], task["type"], task["index"])
        strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
        train(strategy, server.target, tf.ConfigProto())
        return
    devices = ["/cpu:%d" % i for i in range(FLAGS.replicas)] or None
    config = tf.ConfigProto(device_count={"CPU": max(1, FLAGS.replicas)})
    train(tf.distribute.MirroredStrategy(devices), "", config)


if __name__ == "__main__":
    tf.app.run()
