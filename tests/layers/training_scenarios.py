"""Layers that train, losses and metrics, as functions of a `tf` module: the same for Penstock and
for the TensorFlow that the results were recorded from."""

import numpy as np

IMAGES = np.linspace(-1, 1, 4 * 8 * 8 * 3, dtype=np.float32).reshape(4, 8, 8, 3)
VOLUMES = np.linspace(-1, 1, 2 * 4 * 4 * 4 * 2, dtype=np.float32).reshape(2, 4, 4, 4, 2)
ROWS = np.sin(np.arange(24, dtype=np.float32)).reshape(4, 6)
LABELS = np.array([0, 2, 1, 2])
PREDICTIONS = np.array([0.1, 0.8, 0.4, 0.6, 0.35, 0.9], np.float32)
TRUTH = np.array([0, 1, 0, 1, 1, 0])
SCORES = np.cos(np.arange(18, dtype=np.float32)).reshape(6, 3)


def _init(tf, seed):
    return tf.random_uniform_initializer(-0.3, 0.3, seed=seed)


def _dense(tf):
    hidden = tf.layers.dense(ROWS, 5, tf.nn.relu, kernel_initializer=_init(tf, 1), name="hidden")
    return tf.layers.dense(hidden, 3, kernel_initializer=_init(tf, 2))


def _conv2d(tf):
    x = tf.layers.conv2d(IMAGES, 4, 3, padding="same", kernel_initializer=_init(tf, 3))
    x = tf.layers.batch_normalization(x, training=True, momentum=0.9)
    x = tf.layers.max_pooling2d(tf.nn.relu(x), 2, 2)
    x = tf.layers.dropout(tf.layers.flatten(x), rate=0.5, training=False)
    return tf.layers.dense(x, 3, kernel_initializer=_init(tf, 4))


def _separable(tf):
    x = tf.layers.separable_conv2d(
        IMAGES,
        5,
        3,
        depth_multiplier=2,
        depthwise_initializer=_init(tf, 5),
        pointwise_initializer=_init(tf, 6),
    )
    x = tf.layers.average_pooling2d(x, 3, 2)
    return tf.layers.dense(tf.layers.flatten(x), 3, kernel_initializer=_init(tf, 7))


def _transposed(tf):
    x = tf.layers.conv2d_transpose(IMAGES, 2, 3, strides=2, kernel_initializer=_init(tf, 8))
    return tf.layers.dense(tf.layers.flatten(x), 3, kernel_initializer=_init(tf, 9))


def _conv1d(tf):
    x = tf.layers.conv1d(IMAGES[:, 0], 4, 2, strides=2, kernel_initializer=_init(tf, 10))
    x = tf.layers.max_pooling1d(x, 2, 1)
    return tf.layers.dense(tf.layers.flatten(x), 3, kernel_initializer=_init(tf, 11))


def _conv3d(tf):
    x = tf.layers.conv3d(VOLUMES, 2, 2, kernel_initializer=_init(tf, 12))
    x = tf.layers.average_pooling3d(x, 2, 1)
    x = tf.tile(tf.layers.flatten(x), [2, 1])
    return tf.layers.dense(x, 3, kernel_initializer=_init(tf, 13))


NETWORKS = {
    "dense": _dense,
    "conv2d": _conv2d,
    "separable": _separable,
    "transposed": _transposed,
    "conv1d": _conv1d,
    "conv3d": _conv3d,
}


def trained(tf, network):
    """The losses of some steps, and the variables with their values behind them."""
    logits = network(tf)
    loss = tf.losses.sparse_softmax_cross_entropy(LABELS, logits)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    variables = tf.global_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train])[0] for _ in range(4)]
        values = {variable.name: session.run(variable) for variable in variables}
    return {"losses": losses, **values}


def losses(tf):
    """Each loss, plain, weighted and in each way to add up."""
    one_hot = np.eye(3, dtype=np.float32)[[0, 2, 1, 2, 0, 1]]
    weights = np.array([1, 0, 2, 1, 0.5, 1], np.float32)[:, None]
    made = {
        "absolute": lambda **o: tf.losses.absolute_difference(one_hot, SCORES, **o),
        "cosine": lambda **o: tf.losses.cosine_distance(one_hot, SCORES, axis=1, **o),
        "hinge": lambda **o: tf.losses.hinge_loss(one_hot, SCORES, **o),
        "huber": lambda **o: tf.losses.huber_loss(one_hot, SCORES, delta=0.5, **o),
        "log": lambda **o: tf.losses.log_loss(one_hot, np.abs(SCORES), **o),
        "squared": lambda **o: tf.losses.mean_squared_error(one_hot, SCORES, **o),
        "sigmoid": lambda **o: tf.losses.sigmoid_cross_entropy(
            one_hot, SCORES, label_smoothing=0.1, **o
        ),
    }
    results = {}
    for name, make in made.items():
        results[name] = make()
        results[name + "/weighted"] = make(weights=weights)
        for way in tf.losses.Reduction.all():
            results[f"{name}/{way}"] = make(weights=weights, reduction=way)
    results["softmax"] = tf.losses.softmax_cross_entropy(one_hot, SCORES, label_smoothing=0.2)
    results["pairwise"] = tf.losses.mean_pairwise_squared_error(one_hot, SCORES)
    scalars = [loss for loss in tf.losses.get_losses() if loss.shape.ndims == 0]
    results["collected"] = tf.add_n(scalars)
    with tf.Session() as session:
        return session.run(results)


def metrics(tf):
    """Each metric's value behind two updates, with its local variables."""
    truth, guess = tf.constant(TRUTH), tf.constant(PREDICTIONS)
    numbers = tf.cast(truth, tf.float32)
    right = tf.constant(PREDICTIONS > 0.5)
    classes, scores = tf.constant([0, 2, 1, 2, 0, 1], tf.int64), tf.constant(SCORES)
    found, top = tf.cast(tf.argmax(scores, 1), tf.int64), tf.reshape(classes, [6, 1])
    weights = [1.0, 0.0, 2.0, 1.0, 1.0, 0.5]
    made = {
        "accuracy": tf.metrics.accuracy(classes, found, weights),
        "auc": tf.metrics.auc(truth, guess, num_thresholds=20),
        "false_negatives": tf.metrics.false_negatives(truth, right),
        "false_positives": tf.metrics.false_positives(truth, right, weights),
        "mean": tf.metrics.mean(guess, weights),
        "mean_absolute_error": tf.metrics.mean_absolute_error(numbers, guess),
        "mean_cosine": tf.metrics.mean_cosine_distance(
            tf.nn.l2_normalize(scores, 1), tf.nn.l2_normalize(scores + 1.0, 1), 1
        ),
        "mean_iou": tf.metrics.mean_iou(classes, found, 3),
        "mean_per_class": tf.metrics.mean_per_class_accuracy(classes, found, 3),
        "mean_relative_error": tf.metrics.mean_relative_error(numbers, guess, guess + 1.0),
        "mean_squared_error": tf.metrics.mean_squared_error(numbers, guess),
        "mean_tensor": tf.metrics.mean_tensor(scores),
        "percentage_below": tf.metrics.percentage_below(guess, 0.5),
        "precision": tf.metrics.precision(truth, right),
        "precision_at_k": tf.metrics.precision_at_k(top, scores, 2),
        "recall": tf.metrics.recall(truth, right, weights),
        "recall_at_k": tf.metrics.recall_at_k(top, scores, 2),
        "recall_at_thresholds": tf.metrics.recall_at_thresholds(truth, guess, [0.3, 0.7]),
        "root_mean_squared_error": tf.metrics.root_mean_squared_error(numbers, guess),
        "sensitivity": tf.metrics.sensitivity_at_specificity(truth, guess, 0.5, 50),
        "specificity": tf.metrics.specificity_at_sensitivity(truth, guess, 0.5, 50),
        "true_positives": tf.metrics.true_positives(truth, right),
    }
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        results = {}
        for name, (value, update) in made.items():
            session.run(update)
            results[name + "/update"] = session.run(update)
            results[name] = session.run(value)
        for variable in tf.local_variables():
            results[variable.name] = session.run(variable)
    return results
