"""Digits on a cluster: parameter servers keep the model, workers train replicas of it.

One command starts all tasks:

penstock launch --ps 1 --workers 2 examples/distributed_mnist.py --mode async
penstock launch --ps 1 --workers 2 examples/distributed_mnist.py --mode sync
penstock launch --ps 1 --workers 3 examples/distributed_mnist.py --mode backup

async: each worker updates the model when it has a gradient. sync: the gradients of all workers are
averaged for each step. backup: so are those of the first two of three, and the last one is dropped.
With --model_dir, tasks that are killed go on from the last checkpoint when they are started again.
"""

import json
import os
import time

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_enum("mode", "async", ["async", "sync", "backup"], "how updates are made")
flags.DEFINE_integer("steps", 600, "global steps")
flags.DEFINE_integer("batch_size", 100, "digits per worker and step")
flags.DEFINE_integer("hidden_units", 100, "size of the hidden layer")
flags.DEFINE_float("learning_rate", 0.05, "of Adagrad")
flags.DEFINE_string("data_dir", "MNIST_data", "folder of MNIST's files; without: bundled digits")
flags.DEFINE_string("model_dir", None, "where checkpoints go; without: there are none")
FLAGS = flags.FLAGS


def replica(images, labels):
    """Loss and accuracy of a network with one hidden layer."""
    hidden = tf.layers.dense(images, FLAGS.hidden_units, tf.nn.relu, name="hidden")
    logits = tf.layers.dense(hidden, 10, name="logits")
    loss = tf.losses.softmax_cross_entropy(labels, logits)
    correct = tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1))
    return loss, tf.reduce_mean(tf.cast(correct, tf.float32))


def make_optimizer(workers):
    """The optimizer, and how many gradients it averages."""
    optimizer = tf.train.AdagradOptimizer(FLAGS.learning_rate)
    if FLAGS.mode == "async":
        return optimizer
    needed = workers if FLAGS.mode == "sync" else workers - 1
    return tf.train.SyncReplicasOptimizer(optimizer, needed, total_num_replicas=workers)


def train(server, cluster, index):
    is_chief = index == 0
    digits = input_data.read_data_sets(FLAGS.data_dir, one_hot=True)
    placing = tf.train.replica_device_setter(
        cluster=cluster, worker_device="/job:worker/task:%d" % index
    )
    with tf.device(placing):
        global_step = tf.train.get_or_create_global_step()
        images = tf.placeholder(tf.float32, [None, 784], name="images")
        labels = tf.placeholder(tf.float32, [None, 10], name="labels")
        loss, accuracy = replica(images, labels)
        optimizer = make_optimizer(cluster.num_tasks("worker"))
        train_op = optimizer.minimize(loss, global_step=global_step)

    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.steps)]
    if FLAGS.mode != "async":
        hooks.append(optimizer.make_session_run_hook(is_chief))
    test = {images: digits.test.images, labels: digits.test.labels}
    hooks.append(tf.train.FinalOpsHook([global_step, accuracy], test))
    # A worker needs the parameter servers, and no other worker.
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % index])

    began, steps = time.time(), 0
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief, FLAGS.model_dir, hooks=hooks, config=config
    ) as sess:
        while not sess.should_stop():
            batch = digits.train.next_batch(FLAGS.batch_size)
            _, value, step = sess.run(
                [train_op, loss, global_step], dict(zip([images, labels], batch))
            )
            steps += 1
            if steps % 100 == 0:
                print("global step %d: loss %.4f" % (step, value))
    print("%.0f of its steps per second" % (steps / (time.time() - began)))
    if is_chief:
        print("test accuracy after global step %d: %.3f" % tuple(hooks[-1].final_ops_values))


def main(_):
    place = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if not place:
        raise SystemExit("Start this with penstock launch (see the top of the file).")
    cluster = tf.train.ClusterSpec(place["cluster"])
    job, index = place["task"]["type"], place["task"]["index"]
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()
    else:
        train(server, cluster, index)


if __name__ == "__main__":
    tf.app.run()
