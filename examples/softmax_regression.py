"""Softmax regression on digits: placeholders, feed_dict, one optimizer.

penstock run examples/softmax_regression.py --steps 500
"""

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_integer("steps", 500, "training steps")
flags.DEFINE_integer("batch_size", 100, "digits per step")
flags.DEFINE_float("learning_rate", 0.5, "step size of gradient descent")
flags.DEFINE_string("data_dir", "MNIST_data", "folder of MNIST's files; without: bundled digits")
FLAGS = flags.FLAGS


def main(_):
    tf.set_random_seed(1)
    digits = input_data.read_data_sets(FLAGS.data_dir, one_hot=True)

    x = tf.placeholder(tf.float32, [None, 784], name="images")
    y_ = tf.placeholder(tf.float32, [None, 10], name="labels")
    W = tf.Variable(tf.zeros([784, 10]), name="weights")
    b = tf.Variable(tf.zeros([10]), name="biases")
    y = tf.matmul(x, W) + b

    cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y))
    train_step = tf.train.GradientDescentOptimizer(FLAGS.learning_rate).minimize(cross_entropy)
    correct = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, FLAGS.steps + 1):
            images, labels = digits.train.next_batch(FLAGS.batch_size)
            _, loss = sess.run([train_step, cross_entropy], feed_dict={x: images, y_: labels})
            if step % 100 == 0 or step == FLAGS.steps:
                print("step %d: loss %.4f" % (step, loss))
        test = {x: digits.test.images, y_: digits.test.labels}
        print("test accuracy: %.3f" % sess.run(accuracy, feed_dict=test))


if __name__ == "__main__":
    tf.app.run()
