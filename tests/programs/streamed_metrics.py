"""Every metric over a few batches: what its updates give, and its value afterwards."""

import numpy as np

THRESHOLDS = [0.2, 0.5, 0.7]


def means(tf, labels, predictions, weights):
    metrics = tf.metrics
    rounded = tf.round(predictions)
    yield metrics.mean(predictions, weights)
    yield metrics.mean_tensor(predictions, weights)
    yield metrics.accuracy(labels, rounded, weights)
    yield metrics.mean_absolute_error(labels, predictions, weights)
    yield metrics.mean_squared_error(labels, predictions, weights)
    yield metrics.root_mean_squared_error(labels, predictions, weights)
    yield metrics.mean_cosine_distance(labels, predictions, 1, weights)
    yield metrics.mean_relative_error(labels, predictions, labels, weights)
    yield metrics.percentage_below(predictions, 0.5, weights)


def counts(tf, labels, predictions, weights):
    metrics = tf.metrics
    rounded = tf.round(predictions)
    for kind in ("true_positives", "true_negatives", "false_positives", "false_negatives"):
        yield getattr(metrics, kind)(labels, rounded, weights)
        yield getattr(metrics, f"{kind}_at_thresholds")(labels, predictions, THRESHOLDS, weights)
    yield metrics.precision(labels, rounded, weights)
    yield metrics.recall(labels, rounded, weights)
    yield metrics.precision_at_thresholds(labels, predictions, THRESHOLDS, weights)
    yield metrics.recall_at_thresholds(labels, predictions, THRESHOLDS, weights)
    yield metrics.sensitivity_at_specificity(labels, predictions, 0.6, weights, num_thresholds=20)
    yield metrics.specificity_at_sensitivity(labels, predictions, 0.6, weights, num_thresholds=20)
    yield metrics.auc(labels, predictions, weights, thresholds=[0.6, 0.3])
    for curve in ("ROC", "PR"):
        for method in ("trapezoidal", "careful_interpolation", "minoring", "majoring"):
            yield metrics.auc(
                labels, predictions, weights, 20, curve=curve, summation_method=method
            )


def ranks(tf, classes, several, scores, weights):
    metrics = tf.metrics
    indices = np.array([[0, 0], [1, 0], [1, 1], [3, 0]], np.int64)
    sparse = tf.SparseTensor(indices, tf.constant([1, 0, 4, 9], tf.int64), [4, 2])
    guesses = tf.argmax(scores, 1)
    yield metrics.mean_iou(classes, guesses, 5, weights)
    yield metrics.mean_per_class_accuracy(classes, guesses, 5, weights)
    yield metrics.average_precision_at_k(classes, scores, 2, weights)
    for labels in (several, sparse):
        yield metrics.average_precision_at_k(labels, scores, 3, weights)
        for class_id in (None, 1):
            yield metrics.recall_at_k(labels, scores, 2, class_id, weights)
            yield metrics.precision_at_k(labels, scores, 2, class_id, weights)


def main(tf):
    rng = np.random.RandomState(0)
    labels = tf.placeholder(tf.float32, [4, 3])
    predictions = tf.placeholder(tf.float32, [4, 3])
    column, weights = tf.placeholder(tf.float32, [4, 1]), tf.placeholder(tf.float32, [4])
    classes, several = tf.placeholder(tf.int64, [4]), tf.placeholder(tf.int64, [4, 2])
    scores = tf.placeholder(tf.float32, [4, 5])
    made = []
    for columns, each in ((None, None), (column, weights)):
        made += means(tf, labels, predictions, columns)
        made += counts(tf, labels, predictions, columns)
        made += ranks(tf, classes, several, scores, each)
    values, updates = zip(*made, strict=True)
    results = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for _ in range(3):
            feed = {
                labels: rng.rand(4, 3) > 0.5,
                predictions: rng.rand(4, 3),
                column: rng.rand(4, 1),
                weights: rng.rand(4),
                classes: rng.randint(0, 5, 4),
                several: rng.randint(0, 5, [4, 2]),
                scores: rng.rand(4, 5),
            }
            results += [np.asarray(value).tolist() for value in session.run(list(updates), feed)]
        results += [np.asarray(value).tolist() for value in session.run(list(values))]
    return results
