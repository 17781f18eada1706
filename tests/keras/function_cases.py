"""Losses, metrics, backend functions, constraints and initializers, for both modules `tf`."""

import numpy as np

LOSSES = """mse mae mape msle squared_hinge hinge categorical_hinge logcosh categorical_crossentropy
    binary_crossentropy kld poisson""".split()
LOSS_CLASSES = """MeanSquaredError BinaryCrossentropy CategoricalCrossentropy Huber KLDivergence
    LogCosh Poisson""".split()
METRICS = """BinaryAccuracy CategoricalAccuracy MeanSquaredError RootMeanSquaredError
    CosineSimilarity TruePositives FalsePositives TrueNegatives FalseNegatives LogCoshError
    KLDivergence""".split()
CONSTRAINTS = ("MaxNorm", "UnitNorm", "NonNeg", "MinMaxNorm")
INITIALIZERS = "glorot_uniform he_normal lecun_uniform orthogonal RandomNormal uniform".split()


def tensors(tf):
    rng = np.random.default_rng(0)

    def random(*shape):
        return tf.constant(rng.random(shape).astype(np.float32))

    one_hot = np.eye(4, dtype=np.float32)[rng.integers(0, 4, 6)]
    return {
        "a": random(6, 4),
        "b": random(6, 4),
        "weights": random(6),
        "labels": tf.constant(one_hot),
        "classes": tf.constant([[0], [1], [2], [3], [0], [1]]),
        "x": random(2, 3, 4),
        "y": random(2, 4, 5),
        "image": random(1, 2, 2, 1),
        "filters": random(5, 5, 2, 3),
    }


def losses(tf, t):
    made = tf.keras.losses
    for name in LOSSES:
        labels = t["labels"] if "categ" in name else t["b"]
        yield f"losses.{name}", getattr(made, name)(labels, t["a"])
    for name in LOSS_CLASSES:
        loss = getattr(made, name)()
        yield f"losses.{name}", loss(t["labels"], t["a"], sample_weight=t["weights"])
    smooth = made.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)
    yield "losses.smooth", smooth(t["labels"], t["a"])
    yield "losses.sparse", made.SparseCategoricalCrossentropy()(t["classes"], t["a"])


def metrics(tf, t):
    made = tf.keras.metrics
    for name in METRICS:
        yield f"metrics.{name}", getattr(made, name)()(t["labels"], t["a"])
        weighted = getattr(made, name)()(t["labels"], t["a"], sample_weight=t["weights"])
        yield f"metrics.{name} weighted", weighted
    for name, metric in {
        "Precision": made.Precision(thresholds=[0.3, 0.6]),
        "Precision top_k": made.Precision(top_k=2),
        "Recall": made.Recall(class_id=1),
        "AUC": made.AUC(),
        "AUC PR": made.AUC(curve="PR"),
        "AUC minoring": made.AUC(summation_method="minoring"),
        "TopKCategoricalAccuracy": made.TopKCategoricalAccuracy(k=2),
    }.items():
        yield f"metrics.{name}", metric(t["labels"], t["a"])
    top = made.SparseTopKCategoricalAccuracy(k=2)
    yield "metrics.SparseTopKCategoricalAccuracy", top(t["classes"], t["a"])
    iou = made.MeanIoU(3)
    yield "metrics.MeanIoU", iou(tf.constant([0, 1, 2, 2]), tf.constant([0, 2, 2, 1]))
    yield "metrics.Mean", made.Mean()(t["a"], sample_weight=t["weights"])
    yield "metrics.Sum", made.Sum()(t["a"])
    yield "metrics.MeanTensor", made.MeanTensor()(t["a"])
    relative = made.MeanRelativeError(normalizer=[1.0, 2.0, 3.0, 4.0])
    yield "metrics.MeanRelativeError", relative(t["b"], t["a"])


def backend(tf, t):
    K, a, b, x, y = tf.keras.backend, t["a"], t["b"], t["x"], t["y"]
    yield "dot", K.dot(x, b[:4])
    yield "batch_dot", K.batch_dot(x, y)
    yield "batch_dot axes", K.batch_dot(a, b, axes=1)
    yield "var", K.var(a, axis=1)
    yield "std", K.std(a)
    yield "clip", K.clip(a, 0.2, 0.5)
    yield "repeat_elements", K.repeat_elements(a, 2, 1)
    yield "hard_sigmoid", K.hard_sigmoid(a * 5 - 2)
    yield "relu", K.relu(a - 0.5, alpha=0.1, max_value=0.3, threshold=0.1)
    yield "elu", K.elu(a - 0.5, 2.0)
    yield "resize_images", K.resize_images(t["image"], 2, 3, "channels_last")
    yield "switch", K.switch(a > 0.5, a, b)
    yield "one_hot", K.one_hot([1, 2], 4)
    yield "arange", K.arange(2, 9, 3)
    yield "l2_normalize", K.l2_normalize(a, axis=1)
    yield "softmax", tf.keras.activations.softmax(x)
    yield "selu", tf.keras.activations.selu(a - 0.5)
    sparse = K.ctc_label_dense_to_sparse(tf.constant([[1, 2, 3], [4, 5, 6]]), tf.constant([2, 3]))
    yield "ctc_label_dense_to_sparse", tf.sparse_tensor_to_dense(sparse)
    for name in CONSTRAINTS:
        yield f"constraints.{name}", getattr(tf.keras.constraints, name)()(a - 0.4)
    yield "constraints.RadialConstraint", tf.keras.constraints.RadialConstraint()(t["filters"])
    for name in INITIALIZERS:
        yield f"initializers.{name}", getattr(tf.keras.initializers, name)(seed=5)((3, 4))


def values(tf):
    """The value of each case by its name."""
    tf.keras.backend.clear_session()
    tf.set_random_seed(3)
    made = tensors(tf)
    cases = {
        name: tensor for family in (losses, metrics, backend) for name, tensor in family(tf, made)
    }
    session = tf.keras.backend.get_session()
    return {name: session.run(tensor) for name, tensor in cases.items()}
