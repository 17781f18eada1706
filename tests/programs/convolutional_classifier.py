"""A convolutional classifier with dropout, decay, clipped Adam and averages of its variables."""

import numpy as np


def convolution(tf, x, name, inputs, outputs):
    with tf.variable_scope(name):
        initializer = tf.truncated_normal_initializer(stddev=0.1, seed=3)
        weights = tf.get_variable("weights", [5, 5, inputs, outputs], initializer=initializer)
        biases = tf.get_variable("biases", [outputs], initializer=tf.constant_initializer(0.1))
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME"), biases))


def network(tf, images, keep):
    window = [1, 2, 2, 1]
    hidden = tf.nn.max_pool(convolution(tf, images, "one", 1, 8), window, window, "SAME")
    hidden = tf.nn.max_pool(convolution(tf, hidden, "two", 8, 16), window, window, "SAME")
    flat = tf.reshape(hidden, [-1, 7 * 7 * 16])
    initializer = tf.glorot_uniform_initializer(seed=1)
    weights = tf.get_variable("weights", [7 * 7 * 16, 64], initializer=initializer)
    hidden = tf.nn.relu(tf.matmul(flat, weights) + tf.Variable(tf.zeros([64])))
    hidden = tf.nn.dropout(hidden, keep, seed=5)
    out = tf.Variable(tf.truncated_normal([64, 10], stddev=0.1, seed=9))
    return tf.matmul(hidden, out) + tf.Variable(tf.constant(0.1, shape=[10]))


def main(tf):
    tf.set_random_seed(42)
    rng = np.random.RandomState(0)
    images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    keep = tf.placeholder(tf.float32, name="keep")
    logits = network(tf, images, keep)
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(entropy)
    decay = sum(tf.nn.l2_loss(variable) for variable in tf.trainable_variables())
    step = tf.Variable(0, trainable=False, name="global_step")
    rate = tf.train.exponential_decay(1e-3, step, 10, 0.95, staircase=True)
    optimizer = tf.train.AdamOptimizer(rate)
    gradients, variables = zip(*optimizer.compute_gradients(loss + 1e-4 * decay), strict=True)
    gradients, norm = tf.clip_by_global_norm(gradients, 5.0)
    train = optimizer.apply_gradients(zip(gradients, variables, strict=True), global_step=step)
    averages = tf.train.ExponentialMovingAverage(0.99, step)
    with tf.control_dependencies([train]):
        train = averages.apply(tf.trainable_variables())
    right = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    results = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(8):
            feed = {images: rng.rand(32, 28, 28, 1), labels: rng.randint(0, 10, 32), keep: 0.7}
            _, *seen = session.run([train, loss, norm, step], feed)
            results.append(seen)
        results.append(session.run(accuracy, {**feed, keep: 1.0}))
        mean = [averages.average(variable) for variable in tf.trainable_variables()]
        results.append([np.abs(value).sum() for value in session.run(mean)])
    return results
