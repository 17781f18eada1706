"""The two listings of the papers run as printed.

Their text is in the .txt files beside this one. Only what a listing leaves to the reader is filled
in: the import line, the `...` where a batch is loaded, and the second name (`train_step`) that the
slides use for the operation which they defined as `train_op`.
"""

import pathlib

import numpy as np

import penstock as tf
from penstock.examples.tutorials.mnist import input_data

HERE = pathlib.Path(__file__).parent


def test_the_classifier_of_the_osdi_paper(tmp_path):
    digits = input_data.read_data_sets(str(tmp_path), one_hot=True).train
    losses = []

    def next_batch():
        batch = digits.next_batch(50)
        losses.append(float(np.mean(space["sess"].run(space["loss"], feed(*batch)))))
        return batch

    def feed(xs, ys):
        return {space["x"]: xs, space["y"]: ys}

    space = {"tf": tf, "BATCH_SIZE": 50, "NUM_STEPS": 60, "next_batch": next_batch}
    text = (HERE / "osdi_classifier.txt").read_text()
    assert text.count("= ...") == 1
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        exec(text.replace("= ...", "= next_batch()"), space)
    assert np.mean(losses[-10:]) < 0.2 * np.mean(losses[:3])


def test_the_mnist_fragment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (HERE / "mnist_fragment.txt").read_text()
    text = text.replace("import tensorflow as tf", "import penstock as tf")
    text = text.replace("from tensorflow.", "from penstock.")
    text = text.replace("train_step", "train_op")
    space = {}
    with tf.Graph().as_default():
        exec(text, space)
        right = tf.equal(tf.argmax(space["y"], 1), tf.argmax(space["y_"], 1))
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
        test = space["mnist"].test
        feed = {space["x"]: test.images, space["y_"]: test.labels}
        assert space["sess"].run(accuracy, feed) > 0.9
        space["sess"].close()
