"""Layers on fixed weights and inputs, for both modules `tf`; what 1.15 alone has is among them."""

import json

import numpy as np


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(np.float32)


def single(tf):
    """Layers of one input: a function that makes the layer, and the input's shape."""
    layers = tf.keras.layers
    return {
        "conv_lstm": (lambda: layers.ConvLSTM2D(2, 3, padding="same"), (2, 3, 4, 5, 2)),
        "conv_lstm_sequences": (
            lambda: layers.ConvLSTM2D(
                2, (2, 3), strides=(1, 2), return_sequences=True, go_backwards=True
            ),
            (2, 3, 4, 7, 2),
        ),
        "local_1d": (lambda: layers.LocallyConnected1D(3, 2, strides=2), (2, 7, 3)),
        "local_1d_matrix": (
            lambda: layers.LocallyConnected1D(3, 2, padding="same", implementation=2),
            (2, 5, 3),
        ),
        "local_2d": (
            lambda: layers.LocallyConnected2D(2, (2, 3), strides=(2, 1), activation="tanh"),
            (2, 5, 6, 3),
        ),
        "local_2d_matrix": (
            lambda: layers.LocallyConnected2D(2, (2, 3), implementation=2),
            (2, 4, 5, 3),
        ),
        "local_2d_sparse": (
            lambda: layers.LocallyConnected2D(2, (2, 3), padding="same", implementation=3),
            (2, 4, 5, 3),
        ),
    }


def attention(tf):
    """Attention layers, and the shapes of query, value and key."""
    layers = tf.keras.layers
    return {
        "attention": (layers.Attention, [(2, 3, 4), (2, 5, 4)]),
        "attention_scaled": (
            lambda: layers.Attention(use_scale=True, causal=True),
            [(2, 3, 4), (2, 5, 4), (2, 5, 4)],
        ),
        "additive": (layers.AdditiveAttention, [(2, 3, 4), (2, 5, 4)]),
    }


def values(tf):
    """The results of all cases by name, and what is said of them in words."""
    found, facts = {}, {}
    for name, (make, shape) in single(tf).items():
        _run(tf, name, make, [shape], found, facts)
    for name, (make, shapes) in attention(tf).items():
        _run(tf, name, make, shapes, found, facts)
    tf.keras.backend.clear_session()
    a, b = tf.constant(numbers(4, 3)), tf.constant(numbers(4, 3, seed=1))
    losses, metrics = tf.keras.losses, tf.keras.metrics
    for name, tensor in {
        "cosine_proximity": losses.cosine_proximity(a, b),
        "CosineSimilarity": losses.CosineSimilarity()(a, b, sample_weight=[1.0, 2.0, 0.0, 1.0]),
    }.items():
        found[name] = tf.keras.backend.get_value(tensor)
    for metric in (
        metrics.AUC(num_thresholds=4),
        metrics.FalsePositives(),
        metrics.TrueNegatives([0.2, 0.4]),
        metrics.SensitivityAtSpecificity(0.5, num_thresholds=3),
        metrics.SpecificityAtSensitivity(0.5),
    ):
        facts[metric.name] = json.loads(json.dumps(metric.get_config()))
    facts["summaries"] = summaries(tf)
    return found, facts


def _run(tf, name, make, shapes, found, facts):
    keras = tf.keras
    keras.backend.clear_session()
    layer = make()
    inputs = [keras.Input(shape[1:]) for shape in shapes]
    outputs = layer(inputs if len(inputs) > 1 else inputs[0])
    model = keras.Model(inputs, outputs)
    random = np.random.RandomState(3)
    model.set_weights([random.uniform(-0.5, 0.5, w.shape.as_list()) for w in model.weights])
    data = [numbers(*shape, seed=seed) for seed, shape in enumerate(shapes)]
    found[f"{name}/before"] = model.predict(data)
    model.compile("sgd", "mse")
    found[f"{name}/loss"] = model.train_on_batch(data, np.zeros_like(found[f"{name}/before"]))
    found[f"{name}/after"] = model.predict(data)
    facts[name] = {
        "config": json.loads(json.dumps(layer.get_config())),
        "weights": [[weight.name, weight.shape.as_list()] for weight in model.weights],
        "output": model.output_shape,
    }


def summaries(tf):
    """What `summary` prints of a functional and of a subclassed model."""
    keras = tf.keras
    layers = keras.layers
    lines = []
    keras.backend.clear_session()
    first, second = keras.Input((4,), name="first"), keras.Input((5,), name="second")
    joined = layers.concatenate([layers.Dense(3)(first), layers.Dense(3)(second)])
    keras.Model([first, second], layers.Dense(2)(joined)).summary(print_fn=lines.append)

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.last = layers.Dense(3), layers.Dense(2)

        def call(self, inputs):
            return self.last(self.hidden(inputs))

    own = Own()
    own.compile("sgd", "mse")
    own.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))
    own.summary(print_fn=lines.append)
    return lines
