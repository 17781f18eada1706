"""Tagging sequences from both sides, with loops and without, and a decoder by raw_rnn."""

import numpy as np


def both_ways(tf, inputs, lengths):
    cells = tf.nn.rnn_cell
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        cells.GRUCell(5), cells.GRUCell(4), inputs, lengths, dtype=tf.float32
    )
    return tf.concat(outputs, 2), tf.concat(states, 1)


def unrolled(tf, inputs, lengths):
    cells = tf.nn.rnn_cell
    steps = tf.unstack(inputs, axis=1)
    outputs, _, _ = tf.nn.static_bidirectional_rnn(
        cells.BasicRNNCell(3),
        cells.BasicLSTMCell(3),
        steps,
        dtype=tf.float32,
        sequence_length=lengths,
        scope="unrolled",
    )
    return tf.stack(outputs, 1)


def decoded(tf, start, count):
    cell = tf.nn.rnn_cell.LSTMCell(9, name="decoder")

    def loop(time, output, state, _):
        if output is None:
            state = tf.nn.rnn_cell.LSTMStateTuple(tf.zeros_like(start), start)
            following = start
        else:
            following = output
        return time >= count, following, state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop)
    return outputs.stack(), state


def main(tf):
    tf.set_random_seed(11)
    rng = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [None, 6, 3])
    lengths = tf.placeholder(tf.int32, [None])
    target = tf.placeholder(tf.float32, [None, 6, 1])
    encoded, last = both_ways(tf, x, lengths)
    features = tf.concat([encoded, unrolled(tf, encoded, lengths)], 2)
    w = tf.get_variable("w", [15, 1], initializer=tf.random_normal_initializer(stddev=0.2, seed=2))
    scores = tf.map_fn(lambda rows: tf.matmul(rows, w), features)
    generated, _ = decoded(tf, last, tf.fill([tf.shape(x)[0]], 4))
    running = tf.scan(lambda total, row: 0.5 * total + row, tf.transpose(scores, [1, 0, 2]))
    loss = tf.reduce_mean(tf.squared_difference(scores, target)) + 0.1 * tf.reduce_mean(
        tf.square(generated)
    )
    loss += 0.01 * tf.reduce_mean(tf.square(running))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    results = [[variable.name for variable in tf.trainable_variables()]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(12):
            inputs = rng.randn(5, 6, 3)
            feed = {x: inputs, lengths: [6, 1, 3, 4, 2], target: inputs[:, ::-1, :1]}
            results.append(session.run([loss, train], feed)[0])
        results.append(session.run(running, feed).tolist())
    return results
