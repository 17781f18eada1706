"""Batch normalization in a conditional, a recurrent loop, RMSProp, values after an update."""

import numpy as np


def normalized(tf, x, training):
    size = x.get_shape()[-1].value
    with tf.variable_scope("normalized"):
        beta = tf.get_variable("beta", [size], initializer=tf.zeros_initializer())
        gamma = tf.get_variable("gamma", [size], initializer=tf.ones_initializer())
        fixed = {"trainable": False}
        mean_so_far = tf.get_variable("mean", [size], initializer=tf.zeros_initializer(), **fixed)
        var_so_far = tf.get_variable("var", [size], initializer=tf.ones_initializer(), **fixed)
        mean, variance = tf.nn.moments(x, [0])

        def update():
            moved = [
                tf.assign(mean_so_far, mean_so_far * 0.9 + mean * 0.1),
                tf.assign(var_so_far, var_so_far * 0.9 + variance * 0.1),
            ]
            with tf.control_dependencies(moved):
                return tf.identity(mean), tf.identity(variance)

        mean, variance = tf.cond(training, update, lambda: (mean_so_far, var_so_far))
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)


def main(tf):
    tf.set_random_seed(1)
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [None, 8])
    target = tf.placeholder(tf.float32, [None, 1])
    training = tf.placeholder(tf.bool, [])
    normal = tf.random_normal_initializer
    w = tf.get_variable("w", [8, 16], initializer=normal(0, 0.3, seed=2))
    hidden = tf.nn.elu(normalized(tf, tf.matmul(x, w), training))
    u = tf.get_variable("u", [16, 16], initializer=tf.random_uniform_initializer(-0.2, 0.2, seed=4))
    _, hidden = tf.while_loop(
        lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, u) + h)), [0, hidden]
    )
    left, right = tf.split(hidden, 2, axis=1)
    highest = tf.expand_dims(tf.reduce_max(hidden, axis=1), 1)
    gated = tf.concat([left * tf.sigmoid(right), highest], 1)
    v = tf.get_variable("v", [9, 1], initializer=normal(0, 0.3, seed=6))
    loss = tf.reduce_mean(tf.squared_difference(tf.matmul(gated, v), target))
    train = tf.train.RMSPropOptimizer(0.01, momentum=0.5).minimize(loss)
    with tf.control_dependencies([train]):
        after = tf.reduce_sum(v) + tf.reduce_sum(tf.gather(w, [0, 3]))
    results = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(12):
            inputs = rng.randn(20, 8)
            feed = {x: inputs, target: inputs[:, :1] * 2 + inputs[:, 1:2], training: True}
            loss_now, _, after_now = session.run([loss, train, after], feed)
            results.append([loss_now, after_now])
        results.append(session.run(loss, {**feed, training: False}))
    results.append([variable.name for variable in tf.global_variables()])
    return results
