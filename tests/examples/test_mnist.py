import numpy as np

import penstock as tf
from penstock.examples.tutorials.mnist import input_data, mnist


def test_training_reads_the_digits(tmp_path):
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        digits = input_data.read_data_sets(str(tmp_path))
        images = tf.placeholder(tf.float32, [None, mnist.IMAGE_PIXELS])
        labels = tf.placeholder(tf.int32, [None])
        logits = mnist.inference(images, 32, 16)
        loss = mnist.loss(logits, labels)
        train_op = mnist.training(loss, learning_rate=0.1)
        correct = mnist.evaluation(logits, labels)
        test = {images: digits.test.images, labels: digits.test.labels}
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            untrained = session.run(loss, test)
            for _ in range(200):
                batch_images, batch_labels = digits.train.next_batch(50)
                session.run(train_op, {images: batch_images, labels: batch_labels})
            assert session.run(tf.train.get_global_step()) == 200
            assert session.run(loss, test) < untrained / 2
            right = session.run(correct, test)
    assert right.dtype == np.int32
    assert 0.85 * digits.test.num_examples < right <= digits.test.num_examples


def test_names_are_the_tutorials():
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [3, mnist.IMAGE_PIXELS])
        labels = tf.placeholder(tf.int32, [3])
        logits = mnist.inference(images, 4, 5)
        loss = mnist.loss(logits, labels)
        mnist.training(loss, 0.1)
        assert logits.shape.as_list() == [3, mnist.NUM_CLASSES]
        assert [variable.op.name for variable in tf.trainable_variables()] == [
            f"{layer}/{part}"
            for layer in ("hidden1", "hidden2", "softmax_linear")
            for part in ("weights", "biases")
        ]
        assert loss.op.name == "xentropy_mean"
        assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 1
        assert graph.get_tensor_by_name("global_step:0").dtype.base_dtype == tf.int32
