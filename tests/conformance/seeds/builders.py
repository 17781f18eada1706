"""Small graphs with random nodes, whose seeds depend on how many nodes come before them.

Each builder gets a module `tf`. The same code runs here and, by `record.py`, on TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any


def images(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [None, 8, 8, 2])


def rows(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [None, 6])


def sequences(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [2, 4, 3])


def flag(tf: Any) -> Any:
    return tf.placeholder(tf.bool, [])


def random_ops(tf: Any) -> dict[str, Any]:
    return {
        "normal": lambda: tf.random_normal([2, 3]),
        "normal_of_tensors": lambda: tf.random_normal(
            tf.placeholder(tf.int32, [2]), tf.constant(1.0), 2.0
        ),
        "uniform": lambda: tf.random_uniform([2, 3], 0.5, 1.0),
        "uniform_integers": lambda: tf.random_uniform([2], 0, 9, tf.int32),
        "truncated": lambda: tf.truncated_normal([2, 3]),
        "shuffled": lambda: tf.random_shuffle(tf.constant([1, 2, 3])),
        "cropped": lambda: tf.random_crop(tf.zeros([4, 4, 3]), [2, 2, 3]),
        "multinomial": lambda: tf.multinomial([[1.0, 2.0]], 3),
        "gamma": lambda: tf.random_gamma([3], [1.0, 2.0], tf.constant([0.5, 1.0])),
        "poisson": lambda: tf.random_poisson([1.0, 2.0], [3]),
        "dropout": lambda: tf.nn.dropout(rows(tf), keep_prob=0.5),
        "dropout_by_a_tensor": lambda: tf.nn.dropout(rows(tf), rate=tf.placeholder(tf.float32)),
        "flipped": lambda: tf.image.random_flip_left_right(tf.zeros([4, 4, 3])),
        "brightness": lambda: tf.image.random_brightness(tf.zeros([4, 4, 3]), 0.2),
        "saturation": lambda: tf.image.random_saturation(tf.zeros([4, 4, 3]), 0.2, 0.5),
        "in_a_branch": lambda: tf.cond(
            flag(tf), lambda: tf.random_normal([2]), lambda: tf.random_uniform([2])
        ),
        "in_a_loop": lambda: tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x + tf.random_normal([2])), [0, tf.zeros([2])]
        ),
        "mapped": lambda: tf.map_fn(lambda x: x + tf.random_normal([]), tf.zeros([3])),
        "one_hot": lambda: tf.one_hot([1, 2], 3, on_value=2.0, off_value=-1.0),
    }


def layers(tf: Any) -> dict[str, Any]:
    contrib = tf.contrib.layers
    return {
        "dense": lambda: tf.layers.dense(rows(tf), 3),
        "convolution": lambda: tf.layers.conv2d(images(tf), 3, 3),
        "dilated": lambda: tf.layers.conv2d(images(tf), 3, 3, dilation_rate=2),
        "transposed": lambda: tf.layers.conv2d_transpose(images(tf), 3, 3, strides=2),
        "transposed_3d": lambda: tf.layers.conv3d_transpose(
            tf.placeholder(tf.float32, [None, 4, 8, 8, 2]), 3, 3, padding="same"
        ),
        "separable": lambda: tf.layers.separable_conv2d(images(tf), 3, 3),
        "flattened": lambda: tf.layers.dense(tf.layers.flatten(images(tf)), 3),
        "dropped": lambda: tf.layers.dropout(rows(tf), training=flag(tf)),
        "normalized": lambda: tf.layers.batch_normalization(images(tf), training=True),
        "normalized_by_phase": lambda: tf.layers.batch_normalization(images(tf), training=flag(tf)),
        "normalized_virtually": lambda: tf.layers.batch_normalization(
            rows(tf), training=True, virtual_batch_size=4
        ),
        "contrib_dense": lambda: contrib.fully_connected(rows(tf), 3),
        "contrib_convolution": lambda: contrib.conv2d(
            images(tf), 3, 3, normalizer_fn=contrib.batch_norm
        ),
        "contrib_transposed": lambda: contrib.conv2d_transpose(images(tf), 3, 3, stride=2),
        "contrib_separable": lambda: contrib.separable_conv2d(images(tf), 3, 3, 1),
        "contrib_normalized": lambda: contrib.batch_norm(
            images(tf), is_training=flag(tf), updates_collections=None
        ),
        "contrib_flattened": lambda: contrib.flatten(images(tf)),
        "keras_dense": lambda: tf.keras.layers.Dense(3)(tf.keras.layers.Input([2])),
        "keras_transposed": lambda: tf.keras.layers.Conv2DTranspose(3, 3)(
            tf.keras.layers.Input([8, 8, 2])
        ),
        "keras_normalized": lambda: tf.keras.layers.BatchNormalization()(
            tf.keras.layers.Input([8, 8, 2])
        ),
    }


def variables(tf: Any) -> dict[str, Any]:
    def variable(initializer: Any, **kwargs: Any) -> Any:
        return tf.get_variable("w", [4, 3], initializer=initializer, **kwargs)

    return {
        "by_default": lambda: variable(None),
        "xavier": lambda: variable(tf.contrib.layers.xavier_initializer()),
        "orthogonal": lambda: variable(tf.orthogonal_initializer()),
        "unit_scaling": lambda: variable(tf.uniform_unit_scaling_initializer()),
        "in_parts": lambda: variable(None, partitioner=tf.fixed_size_partitioner(2)),
        "resource": lambda: variable(None, use_resource=True),
        "of_tensors": lambda: [tf.Variable(tf.random_normal([2])) for _ in range(2)],
    }


def recurrent(tf: Any) -> dict[str, Any]:
    cells = tf.nn.rnn_cell

    def outputs(cell: Any) -> Any:
        return tf.nn.dynamic_rnn(cell, sequences(tf), dtype=tf.float32)[0]

    def decoded(helper: Any) -> Any:
        decoder = tf.contrib.seq2seq.BasicDecoder(
            cells.GRUCell(3), helper, tf.zeros([2, 3]), tf.layers.Dense(5)
        )
        return tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=4)

    return {
        "lstm": lambda: outputs(cells.LSTMCell(3)),
        "two_layers": lambda: outputs(cells.MultiRNNCell([cells.GRUCell(3) for _ in range(2)])),
        "dropped_parts": lambda: outputs(
            cells.DropoutWrapper(cells.BasicLSTMCell(3), 0.5, 0.4, 0.3)
        ),
        "both_directions": lambda: tf.nn.bidirectional_dynamic_rnn(
            cells.GRUCell(3), cells.GRUCell(3), sequences(tf), dtype=tf.float32
        ),
        "unrolled": lambda: tf.nn.static_rnn(
            cells.BasicLSTMCell(3), [tf.placeholder(tf.float32, [2, 3])] * 2, dtype=tf.float32
        ),
        "trained_decoder": lambda: decoded(
            tf.contrib.seq2seq.TrainingHelper(tf.zeros([2, 4, 3]), [4, 3])
        ),
        "greedy_decoder": lambda: decoded(
            tf.contrib.seq2seq.GreedyEmbeddingHelper(tf.get_variable("e", [5, 3]), [1, 1], 2)
        ),
        "with_gradients": lambda: tf.gradients(
            outputs(cells.LSTMCell(3)), tf.trainable_variables()
        ),
    }


def losses_and_training(tf: Any) -> dict[str, Any]:
    def trained(optimizer: Any) -> Any:
        return optimizer.minimize(tf.reduce_mean(tf.square(tf.layers.dense(rows(tf), 3))))

    return {
        "adam": lambda: trained(tf.train.AdamOptimizer()),
        "rmsprop": lambda: trained(tf.train.RMSPropOptimizer(0.1)),
        "momentum": lambda: trained(tf.train.MomentumOptimizer(0.1, 0.9)),
        "cross_entropy": lambda: tf.losses.softmax_cross_entropy(
            tf.placeholder(tf.float32, [None, 3]), tf.layers.dense(rows(tf), 3)
        ),
        "sampled_softmax": lambda: tf.nn.sampled_softmax_loss(
            tf.get_variable("w", [9, 3]),
            tf.get_variable("b", [9]),
            tf.placeholder(tf.int64, [4, 1]),
            tf.placeholder(tf.float32, [4, 3]),
            2,
            9,
        ),
        "transposed_gradients": lambda: tf.gradients(
            tf.layers.conv2d_transpose(images(tf), 3, 3), tf.trainable_variables()
        ),
        "saved": lambda: (tf.get_variable("a", [2]), tf.train.Saver()),
        "linear_model": lambda: tf.feature_column.linear_model(
            {"n": rows(tf)}, [tf.feature_column.numeric_column("n", [6])]
        ),
    }


def inputs_and_distributions(tf: Any) -> dict[str, Any]:
    kinds = tf.distributions
    return {
        "shuffled_batches": lambda: tf.train.shuffle_batch([tf.random_uniform([2])], 2, 10, 3),
        "file_names": lambda: tf.train.string_input_producer(["a", "b"]),
        "shuffled_dataset": lambda: (
            tf.data.Dataset.range(4).shuffle(3).make_one_shot_iterator().get_next()
        ),
        "normal_samples": lambda: kinds.Normal(0.0, tf.constant([1.0, 2.0])).sample(3),
        "categories": lambda: kinds.Categorical([1.0, 2.0]).sample(3),
        "categories_of_rows": lambda: kinds.Categorical(rows(tf)).sample(),
        "beta": lambda: kinds.Beta(1.0, 2.0).sample(2),
        "dirichlet": lambda: kinds.Dirichlet([1.0, 2.0]).sample(2),
        "bernoulli": lambda: kinds.Bernoulli(probs=0.3).sample([2]),
        "student": lambda: kinds.StudentT(3.0, 0.0, 2.0).sample(2),
    }


def builders(tf: Any) -> dict[str, Any]:
    """All builders by their names."""
    groups = (
        random_ops,
        layers,
        variables,
        recurrent,
        losses_and_training,
        inputs_and_distributions,
    )
    return {name: build for group in groups for name, build in group(tf).items()}


def seeds(tf: Any, name: str) -> list[Any]:
    """The seeds of the nodes that a builder makes, and of one more after them."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        builders(tf)[name]()
        tf.random_uniform([], name="last")
        nodes = [node.node_def for node in graph.get_operations()]
    return [
        [node.name, node.attr["seed"].i, node.attr["seed2"].i]
        for node in nodes
        if "seed2" in node.attr
    ]
