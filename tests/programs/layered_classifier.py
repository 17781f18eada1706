"""A classifier out of `tf.layers`, with the updates of its batch normalizations, and metrics."""

import numpy as np


def network(tf, images, training):
    def decay(weights):
        return 1e-3 * tf.nn.l2_loss(weights)

    hidden = tf.layers.conv2d(images, 6, 3, padding="same", kernel_regularizer=decay)
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, training=training, momentum=0.9))
    hidden = tf.layers.max_pooling2d(hidden, 2, 2)
    hidden = tf.layers.separable_conv2d(hidden, 8, 3, depth_multiplier=2, activation=tf.nn.elu)
    hidden = tf.layers.conv2d(hidden, 8, 2, dilation_rate=2, padding="same")
    hidden = tf.layers.batch_normalization(
        hidden, training=training, renorm=True, renorm_clipping={"rmax": 2.0, "dmax": 1.0}
    )
    hidden = tf.layers.conv2d_transpose(hidden, 5, 3, strides=2, padding="same")
    hidden = tf.layers.average_pooling2d(hidden, 3, 2)
    hidden = tf.layers.dropout(tf.layers.flatten(hidden), 0.3, training=training, seed=5)
    hidden = tf.layers.dense(hidden, 12, activation=tf.tanh, kernel_regularizer=decay)
    hidden = tf.layers.batch_normalization(hidden, training=training, virtual_batch_size=4)
    sequences = tf.reshape(hidden, [-1, 6, 2])
    sequences = tf.layers.conv1d(sequences, 4, 2, activation="relu", padding="same")
    sequences = tf.layers.max_pooling1d(tf.layers.dense(sequences, 3), 2, 2)
    return tf.layers.dense(tf.layers.flatten(sequences), 4, name="logits")


def main(tf):
    tf.set_random_seed(42)
    rng = np.random.RandomState(0)
    images = tf.placeholder(tf.float32, [None, 12, 12, 2], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    training = tf.placeholder(tf.bool, [], name="training")
    logits = network(tf, images, training)
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss()
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    accuracy, seen = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    results = [len(updates)]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        results += [np.abs(value).sum() for value in session.run(tf.global_variables())]
        for _ in range(6):
            feed = {images: rng.rand(8, 12, 12, 2), labels: rng.randint(0, 4, 8)}
            results.append(session.run([train, loss], {**feed, training: True})[1])
            session.run(seen, {**feed, training: False})
        results += session.run([loss, accuracy], {**feed, training: False})
        results += [np.abs(value).sum() for value in session.run(tf.global_variables())]
    return results
