"""Models that are built, trained and compared with what TensorFlow's Keras recorded.

Each case is a function of the module `tf`, Penstock or TensorFlow, that returns a compiled model
with inputs and labels. Nothing in a case is random: weights are set by `set_fixed_weights`.
"""

import numpy as np


def numbers(*shape, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def classes(count, limit, seed=0):
    return np.random.default_rng(seed).integers(0, limit, count)


def set_fixed_weights(model):
    """Weights from a generator, the same for both; variances (named so) stay positive."""
    rng = np.random.default_rng(7)
    values = []
    for weight in model.weights:
        value = rng.standard_normal(weight.shape.as_list()) * 0.3
        values.append(np.abs(value) + 0.5 if "variance" in weight.name else value)
    model.set_weights(values)


def _sequential(tf, layers, optimizer="sgd", loss="mse", **kwargs):
    model = tf.keras.Sequential(layers)
    model.compile(optimizer, loss, **kwargs)
    return model


def dense(tf):
    layers = tf.keras.layers
    model = _sequential(
        tf,
        [layers.Dense(4, activation="relu", input_shape=(3,)), layers.Dense(2, "softmax")],
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model, numbers(8, 3), classes(8, 2)


def regularized(tf):
    layers, regularizers = tf.keras.layers, tf.keras.regularizers
    model = _sequential(
        tf,
        [
            layers.Dense(
                4,
                kernel_regularizer=regularizers.l2(0.1),
                bias_regularizer=regularizers.l1(0.05),
                activity_regularizer=regularizers.l1_l2(0.01, 0.02),
                kernel_constraint=tf.keras.constraints.MaxNorm(0.7),
                input_dim=3,
            ),
            layers.Dense(1, kernel_constraint="non_neg"),
        ],
        metrics=["mae"],
    )
    return model, numbers(8, 3), numbers(8, 1, seed=1)


def convolutional(tf):
    layers = tf.keras.layers
    model = _sequential(
        tf,
        [
            layers.Conv2D(3, 3, padding="same", activation="relu", input_shape=(8, 8, 2)),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.SeparableConv2D(4, 3),
            layers.DepthwiseConv2D(2, activation="tanh"),
            layers.Flatten(),
            layers.Dense(3, activation="softmax"),
        ],
        loss="categorical_crossentropy",
        metrics=["accuracy", "mse"],
    )
    return model, numbers(6, 8, 8, 2), np.eye(3, dtype=np.float32)[classes(6, 3)]


def transposed(tf):
    layers = tf.keras.layers
    model = _sequential(
        tf,
        [
            layers.Conv2DTranspose(3, 3, strides=2, padding="same", input_shape=(4, 4, 2)),
            layers.LeakyReLU(0.2),
            layers.UpSampling2D(2),
            layers.ZeroPadding2D(((1, 0), (2, 1))),
            layers.Cropping2D(((0, 1), (1, 2))),
            layers.AveragePooling2D(2),
            layers.GlobalAveragePooling2D(),
        ],
    )
    return model, numbers(4, 4, 4, 2), numbers(4, 3, seed=1)


def sequences(tf):
    layers = tf.keras.layers
    model = _sequential(
        tf,
        [
            layers.Embedding(9, 4, input_length=6),
            layers.Conv1D(3, 2, padding="causal", dilation_rate=2, activation="elu"),
            layers.MaxPooling1D(2),
            layers.TimeDistributed(layers.Dense(3)),
            layers.PReLU(),
            layers.LayerNormalization(),
            layers.GlobalMaxPooling1D(),
            layers.Dense(1, activation="sigmoid"),
        ],
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return model, classes((8, 6), 9), classes((8, 1), 2, seed=1)


def lstm(tf):
    layers = tf.keras.layers
    model = _sequential(
        tf,
        [layers.Embedding(9, 4, mask_zero=True), layers.LSTM(3), layers.Dense(1)],
        optimizer="rmsprop",
    )
    return model, classes((8, 6), 9), numbers(8, 1)


def gru(tf):
    layers = tf.keras.layers
    model = _sequential(
        tf,
        [
            layers.GRU(3, return_sequences=True, input_shape=(5, 2)),
            layers.GRU(2, reset_after=True, go_backwards=True),
        ],
        optimizer="adam",
    )
    return model, numbers(4, 5, 2), numbers(4, 2, seed=1)


def bidirectional(tf):
    layers = tf.keras.layers
    model = _sequential(
        tf,
        [
            layers.Masking(input_shape=(5, 2)),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
            layers.Bidirectional(layers.SimpleRNN(2), merge_mode="sum"),
        ],
        optimizer={"class_name": "Adagrad", "config": {"initial_accumulator_value": 0.1}},
    )
    x = numbers(4, 5, 2)
    x[1, 3:] = 0
    return model, x, numbers(4, 2, seed=1)


def stacked_cells(tf):
    layers = tf.keras.layers
    cells = [layers.LSTMCell(3), layers.GRUCell(2)]
    model = _sequential(tf, [layers.RNN(cells, unroll=True, input_shape=(4, 2))])
    return model, numbers(4, 4, 2), numbers(4, 2, seed=1)


def functional(tf):
    layers = tf.keras.layers
    first = tf.keras.Input((3,), name="first")
    second = tf.keras.Input((4,), name="second")
    shared = layers.Dense(4, activation="tanh", name="shared")
    joined = layers.concatenate([shared(first), layers.Dense(2)(second)])
    joined = layers.add([joined, layers.Dense(6)(joined)])
    one = layers.Dense(2, activation="softmax", name="one")(joined)
    two = layers.Dense(1, name="two")(layers.Multiply()([joined, joined]))
    model = tf.keras.Model([first, second], [one, two])
    model.compile(
        "sgd",
        {"one": "categorical_crossentropy", "two": "mae"},
        loss_weights={"one": 0.5, "two": 2.0},
        metrics={"one": "accuracy", "two": ["mse"]},
    )
    y = [np.eye(2, dtype=np.float32)[classes(6, 2)], numbers(6, 1, seed=1)]
    return model, [numbers(6, 3), numbers(6, 4, seed=2)], y


def nested_model(tf):
    layers = tf.keras.layers
    inner = tf.keras.Sequential([layers.Dense(3, activation="relu", input_shape=(2,))])
    x = tf.keras.Input((2,))
    model = tf.keras.Model(x, layers.Dense(1)(inner(layers.Lambda(lambda v: v * 2.0)(x))))
    model.compile("sgd", tf.keras.losses.Huber(0.5))
    return model, numbers(6, 2), numbers(6, 1, seed=1)


def merges(tf):
    layers = tf.keras.layers
    a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
    parts = [
        layers.subtract([a, b]),
        layers.average([a, b]),
        layers.maximum([a, b]),
        layers.minimum([a, b]),
        layers.dot([a, b], axes=-1, normalize=True),
    ]
    joined = layers.Reshape((13, 1))(layers.concatenate(parts))
    joined = layers.Flatten()(layers.Permute((2, 1))(joined))
    model = tf.keras.Model([a, b], layers.Dense(2)(joined))
    model.compile("sgd", "logcosh")
    return model, [numbers(5, 3), numbers(5, 3, seed=3)], numbers(5, 2, seed=1)


def _with_optimizer(make):
    def case(tf):
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Embedding(5, 3, input_length=2),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(1),
            ]
        )
        model.compile(make(tf.keras.optimizers), "mse")
        return model, classes((6, 2), 5), numbers(6, 1)

    return case


MODELS = {
    made.__name__: made
    for made in (
        dense,
        regularized,
        convolutional,
        transposed,
        sequences,
        lstm,
        gru,
        bidirectional,
        stacked_cells,
        functional,
        nested_model,
        merges,
    )
}

OPTIMIZERS = {
    "sgd_decay": lambda o: o.SGD(0.1, decay=0.5, clipnorm=0.5),
    "momentum": lambda o: o.SGD(0.1, momentum=0.9),
    "nesterov": lambda o: o.SGD(0.1, momentum=0.9, nesterov=True, clipvalue=0.1),
    "adam": lambda o: o.Adam(0.1),
    "amsgrad": lambda o: o.Adam(0.1, amsgrad=True),
    "adagrad": lambda o: o.Adagrad(0.1),
    "adadelta": lambda o: o.Adadelta(0.5),
    "adamax": lambda o: o.Adamax(0.1),
    "nadam": lambda o: o.Nadam(0.1),
    "rmsprop": lambda o: o.RMSprop(0.1),
    "rmsprop_centered": lambda o: o.RMSprop(0.1, centered=True),
    "rmsprop_momentum": lambda o: o.RMSprop(0.1, momentum=0.5),
    "ftrl": lambda o: o.Ftrl(0.1),
    "schedule": lambda o: o.SGD(o.schedules.ExponentialDecay(0.1, 2, 0.5)),
}

CASES = {**MODELS, **{name: _with_optimizer(make) for name, make in OPTIMIZERS.items()}}

STEPS = 4


def trained(model, x, y):
    """What `train_on_batch` gives, the predictions and weights after it, and an evaluation."""
    set_fixed_weights(model)
    results = {"predicted": model.predict(x)}
    results["steps"] = [np.ravel(model.train_on_batch(x, y)) for _ in range(STEPS)]
    results["evaluated"] = np.ravel(model.evaluate(x, y, batch_size=3, verbose=0))
    results["weights"] = model.get_weights()
    results["after"] = model.predict(x)
    return results


def flat(results):
    """The arrays of `trained` by name."""
    found = {}
    for key, value in results.items():
        several = value if isinstance(value, (list, tuple)) else [value]
        found.update({f"{key}/{index}": np.asarray(each) for index, each in enumerate(several)})
    return found
