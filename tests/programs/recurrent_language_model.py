"""A language model of stacked LSTMs: embeddings, dropout, lengths, clipped gradients, momentum."""

import numpy as np


def batches(rng, count):
    """Sequences in which each symbol follows from the one before it."""
    for _ in range(count):
        lengths = rng.randint(2, 8, 6)
        symbols = np.zeros((6, 9), np.int64)
        symbols[:, 0] = rng.randint(0, 11, 6)
        for t in range(8):
            symbols[:, t + 1] = (symbols[:, t] * 3 + 1) % 11
        yield symbols, lengths


def main(tf):
    tf.set_random_seed(3)
    rng = np.random.RandomState(0)
    symbols = tf.placeholder(tf.int64, [None, 9])
    lengths = tf.placeholder(tf.int32, [None])
    keep = tf.placeholder_with_default(1.0, [])
    cells = tf.nn.rnn_cell
    with tf.variable_scope("model", initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=5)):
        table = tf.get_variable("table", [11, 7])
        inputs = tf.nn.embedding_lookup(table, symbols[:, :-1])
        first = cells.DropoutWrapper(cells.BasicLSTMCell(8), output_keep_prob=keep, seed=4)
        second = cells.LSTMCell(9, use_peepholes=True, cell_clip=2.0, num_proj=6)
        cell = cells.MultiRNNCell([first, cells.ResidualWrapper(cells.GRUCell(8)), second])
        outputs, state = tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32)
        w = tf.get_variable("w", [6, 11])
        logits = tf.reshape(tf.matmul(tf.reshape(outputs, [-1, 6]), w), [-1, 8, 11])
    mask = tf.sequence_mask(lengths, 8, tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=symbols[:, 1:], logits=logits)
    loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    optimizer = tf.train.MomentumOptimizer(0.5, 0.9)
    train = optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))
    results = [[variable.name for variable in variables]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for sequences, sizes in batches(rng, 15):
            feed = {symbols: sequences, lengths: sizes, keep: 1.0}
            results.append(session.run([loss, norm, train], feed)[:2])
        final = session.run([loss, state[2].c, outputs[:, -1]], feed)
        results += [final[0], final[1].tolist(), final[2].tolist()]
        results.append(session.run(loss, {symbols: sequences, lengths: sizes, keep: 0.5}))
    return results
