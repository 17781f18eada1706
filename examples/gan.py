"""A generative adversarial net in one dimension: noise learns the shape of a distribution.

penstock run examples/gan.py --steps 2000
"""

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 1500, "steps of each of the two players")
flags.DEFINE_integer("batch_size", 128, "numbers per step")
flags.DEFINE_float("mean", 3.0, "mean of the numbers to imitate")
flags.DEFINE_float("stddev", 0.5, "their standard deviation")
FLAGS = flags.FLAGS


def generator(noise):
    with tf.variable_scope("generator"):
        hidden = tf.layers.dense(noise, 16, activation=tf.nn.softplus)
        return tf.layers.dense(hidden, 1)


def discriminator(numbers, reuse=None):
    with tf.variable_scope("discriminator", reuse=reuse):
        net = tf.layers.dense(numbers, 32, activation=tf.nn.leaky_relu, name="hidden1")
        net = tf.layers.dense(net, 32, activation=tf.nn.leaky_relu, name="hidden2")
        return tf.layers.dense(net, 1, name="logits")


def cross_entropy(logits, is_real):
    labels = tf.ones_like(logits) if is_real else tf.zeros_like(logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def minimize(loss, scope):
    """A step of one player, which leaves the other's variables alone."""
    variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=scope)
    return tf.train.AdamOptimizer(2e-3, beta1=0.5).minimize(loss, var_list=variables)


def histogram(numbers, low, high):
    counts, _ = np.histogram(numbers, bins=30, range=(low, high))
    levels = " .:-=+*#%@"
    return "".join(levels[count * (len(levels) - 1) // max(1, counts.max())] for count in counts)


def main(_):
    tf.set_random_seed(3)
    random = np.random.RandomState(1)
    noise = tf.placeholder(tf.float32, [None, 1], name="noise")
    real = tf.placeholder(tf.float32, [None, 1], name="real")

    fake = generator(noise)
    real_logits = discriminator(real)
    fake_logits = discriminator(fake, reuse=True)
    d_loss = cross_entropy(real_logits, True) + cross_entropy(fake_logits, False)
    g_loss = cross_entropy(fake_logits, True)
    d_step, g_step = minimize(d_loss, "discriminator"), minimize(g_loss, "generator")

    def some_noise(count):
        return random.normal(size=[count, 1])

    def some_real(count):
        return random.normal(FLAGS.mean, FLAGS.stddev, size=[count, 1])

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, FLAGS.steps + 1):
            feed = {real: some_real(FLAGS.batch_size), noise: some_noise(FLAGS.batch_size)}
            _, d_value = sess.run([d_step, d_loss], feed)
            _, g_value = sess.run([g_step, g_loss], {noise: some_noise(FLAGS.batch_size)})
            if step % 250 == 0 or step == FLAGS.steps:
                print("step %d: discriminator %.4f, generator %.4f" % (step, d_value, g_value))
        made = sess.run(fake, {noise: some_noise(2000)})

    low, high = FLAGS.mean - 4 * FLAGS.stddev, FLAGS.mean + 4 * FLAGS.stddev
    print("real  |%s|" % histogram(some_real(2000), low, high))
    print("made  |%s|" % histogram(made, low, high))
    print("made: mean %.2f, stddev %.2f" % (made.mean(), made.std()))


if __name__ == "__main__":
    tf.app.run()
