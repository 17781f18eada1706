"""`tf.layers`: variables, scopes, collections, and the nodes of each kind of layer."""

from __future__ import annotations

from typing import Any


def _images(tf: Any, shape: Any = (None, 8, 8, 3), name: str = "images") -> Any:
    return tf.placeholder(tf.float32, list(shape), name)


def _state(tf: Any, *results: Any) -> Any:
    """Results, with what the graph has of variables."""
    return [list(results), tf.trainable_variables(), tf.global_variables()]


def _halved_squares(tf: Any) -> Any:
    return lambda weights: 0.5 * tf.reduce_sum(tf.square(weights))


# Fully connected layers


def dense(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 5], "x")
    hidden = tf.layers.dense(x, 4, tf.nn.relu)
    hidden = tf.layers.dense(hidden, 3, use_bias=False, kernel_initializer=tf.ones_initializer())
    hidden = tf.layers.dense(hidden, 2, activation="tanh", kernel_initializer="he_normal")
    return _state(tf, hidden, tf.layers.dense(hidden, 2, name="named", trainable=False))


def dense_of_more_dimensions(tf: Any) -> Any:
    known = tf.layers.dense(tf.placeholder(tf.float32, [2, 3, 5]), 4)
    unknown = tf.layers.dense(tf.placeholder(tf.float32, [None, None, 5]), 4, name="unknown")
    return _state(tf, known, unknown)


def dense_regularized(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 5], "x")
    squares = _halved_squares(tf)
    layer = tf.layers.Dense(
        4,
        kernel_regularizer=squares,
        bias_regularizer=squares,
        activity_regularizer=squares,
        name="regularized",
    )
    out = layer(x)
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return _state(tf, out, losses, len(layer.losses))


def dense_in_parts(tf: Any) -> Any:
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        out = tf.layers.dense(tf.placeholder(tf.float32, [None, 4]), 3)
    return _state(tf, out)


def dense_shared(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 5], "x")
    first = tf.layers.dense(x, 4, name="shared")
    second = tf.layers.dense(x, 4, name="shared", reuse=True)
    with tf.variable_scope("scope"):
        third = tf.layers.dense(x, 4)
        fourth = tf.layers.dense(x, 4)
    with tf.variable_scope("scope", reuse=True):
        fifth = tf.layers.dense(x, 4, name="dense")
    with tf.variable_scope("automatic", reuse=tf.AUTO_REUSE):
        sixth = tf.layers.dense(x, 4, name="dense")
        seventh = tf.layers.dense(x, 4, name="dense")
    return _state(tf, first, second, third, fourth, fifth, sixth, seventh)


def a_layer_called_twice(tf: Any) -> Any:
    layer = tf.layers.Dense(4, activation=tf.nn.relu)
    with tf.name_scope("outer"):
        first = layer(tf.placeholder(tf.float32, [None, 5], "x"))
    with tf.variable_scope("later"):
        second = layer.apply(tf.placeholder(tf.float32, [None, 5], "y"))
    return _state(tf, first, second, layer.name, layer.scope_name, layer.kernel, layer.bias)


def initializers_of_the_scope(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 5], "x")
    with tf.variable_scope("scope", initializer=tf.ones_initializer(), use_resource=True):
        return _state(tf, tf.layers.dense(x, 4))


def flatten(tf: Any) -> Any:
    shapes = [[None, 4, 3], [None, None, 3], [2, None, 3], [None]]
    flat = [tf.layers.flatten(tf.placeholder(tf.float32, shape)) for shape in shapes]
    image = tf.placeholder(tf.float32, [None, 3, 4, 5])
    return [*flat, tf.layers.flatten(image, data_format="channels_first")]


def dropout(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 5], "x")
    training = tf.placeholder(tf.bool, [], "training")
    return [
        tf.layers.dropout(x, 0.2),
        tf.layers.dropout(x, 0.2, training=True, seed=3),
        tf.layers.dropout(x, 0.2, training=training, seed=3),
        tf.layers.dropout(x, 0.2, noise_shape=[None, 1], training=True, seed=3, name="noise"),
        tf.layers.dropout(x, 0.0, training=True),
    ]


# Convolutions


def convolutions(tf: Any) -> Any:
    images = _images(tf)
    sequences = tf.placeholder(tf.float32, [None, 9, 3], "sequences")
    volumes = tf.placeholder(tf.float32, [None, 6, 6, 6, 2], "volumes")
    return _state(
        tf,
        tf.layers.conv2d(images, 4, 3),
        tf.layers.conv2d(images, 4, [3, 2], 2, "same", activation=tf.nn.relu, name="strided"),
        tf.layers.conv2d(images, 4, 3, dilation_rate=2, padding="same"),
        tf.layers.conv2d(images, 4, 3, use_bias=False, kernel_regularizer=_halved_squares(tf)),
        tf.layers.conv1d(sequences, 4, 3, padding="same"),
        tf.layers.conv1d(sequences, 4, 2, padding="causal"),
        tf.layers.conv3d(volumes, 4, 3, strides=(1, 2, 2)),
    )


def convolutions_with_channels_first(tf: Any) -> Any:
    images = _images(tf, (None, 3, 8, 8))
    sequences = tf.placeholder(tf.float32, [None, 3, 9], "sequences")
    form = {"data_format": "channels_first"}
    return _state(
        tf,
        tf.layers.conv2d(images, 4, 3, **form),
        tf.layers.conv1d(sequences, 4, 3, **form),
        tf.layers.max_pooling2d(images, 2, 2, **form),
        tf.layers.separable_conv2d(images, 4, 3, **form),
        tf.layers.batch_normalization(images, axis=1),
    )


def separable_convolutions(tf: Any) -> Any:
    images = _images(tf)
    sequences = tf.placeholder(tf.float32, [None, 9, 3], "sequences")
    return _state(
        tf,
        tf.layers.separable_conv2d(images, 4, 3, depth_multiplier=2, activation=tf.nn.relu),
        tf.layers.separable_conv2d(images, 4, 3, padding="same", dilation_rate=2),
        tf.layers.separable_conv1d(sequences, 4, 3, padding="same"),
    )


def transposed_convolutions_of_volumes(tf: Any) -> Any:
    volumes = tf.placeholder(tf.float32, [None, 4, 4, 4, 2], "volumes")
    return _state(
        tf,
        tf.layers.conv3d_transpose(volumes, 3, 2, strides=2),
        tf.layers.conv3d_transpose(volumes, 3, 3, padding="same", activation=tf.nn.relu),
    )


def pooling(tf: Any) -> Any:
    images = _images(tf)
    sequences = tf.placeholder(tf.float32, [None, 9, 3], "sequences")
    volumes = tf.placeholder(tf.float32, [None, 6, 6, 6, 2], "volumes")
    return [
        tf.layers.max_pooling2d(images, 2, 2),
        tf.layers.max_pooling2d(images, [3, 2], [2, 1], padding="same", name="named"),
        tf.layers.average_pooling2d(images, 2, 1),
        tf.layers.max_pooling1d(sequences, 2, 2),
        tf.layers.average_pooling1d(sequences, 2, 1, padding="same"),
        tf.layers.max_pooling3d(volumes, 2, 2),
        tf.layers.average_pooling3d(volumes, 2, 2),
    ]


# Batch normalization


def _normalized(tf: Any, shape: Any, training: Any, **kwargs: Any) -> Any:
    x = tf.placeholder(tf.float32, shape, "x")
    layer = tf.layers.BatchNormalization(**kwargs)
    out = layer(x, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return _state(tf, out, updates, layer.updates == updates)


def batch_normalization_fused_training(tf: Any) -> Any:
    return _normalized(tf, [None, 4, 4, 3], True)


def batch_normalization_fused_inference(tf: Any) -> Any:
    return _normalized(tf, [None, 4, 4, 3], False, scale=False, center=False)


def batch_normalization_fused_either(tf: Any) -> Any:
    return _normalized(tf, [None, 4, 4, 3], tf.placeholder(tf.bool, [], "training"))


def batch_normalization_of_vectors(tf: Any) -> Any:
    return _normalized(tf, [None, 3], True, momentum=0.9, epsilon=0.01)


def batch_normalization_of_vectors_either(tf: Any) -> Any:
    return _normalized(tf, [None, 3], tf.placeholder(tf.bool, [], "training"))


def batch_normalization_along_the_first_axis(tf: Any) -> Any:
    return _normalized(tf, [None, 3, 5], True, axis=1)


def batch_normalization_along_several_axes(tf: Any) -> Any:
    return _normalized(tf, [None, 3, 5, 2], True, axis=[1, 3], fused=False)


def batch_renormalization(tf: Any) -> Any:
    clipping = {"rmax": 3.0, "rmin": 0.3, "dmax": 5.0}
    return _normalized(tf, [None, 3], True, renorm=True, renorm_clipping=clipping)


def batch_normalization_of_virtual_batches(tf: Any) -> Any:
    return _normalized(tf, [None, 3], True, virtual_batch_size=2)


def batch_normalization_adjusted(tf: Any) -> Any:
    def adjustment(shape: Any) -> Any:
        return tf.ones([shape[0], 1]), tf.zeros([shape[0], 1])

    return _normalized(tf, [None, 3], True, adjustment=adjustment)


def batch_normalization_regularized_and_shared(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 3], "x")
    squares = _halved_squares(tf)
    arguments = {"training": True, "name": "shared", "beta_regularizer": squares}
    first = tf.layers.batch_normalization(x, **arguments)
    second = tf.layers.batch_normalization(x, reuse=True, **arguments)
    return _state(tf, first, second)


# Layers of one's own


def a_layer_of_ones_own(tf: Any) -> Any:
    class Scaled(tf.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.scale = self.add_weight("scale", [int(input_shape[-1])])
            self.seen = self.add_variable("seen", [], tf.float32, trainable=False)
            self.built = True

        def call(self, inputs: Any) -> Any:
            self.add_update(tf.assign_add(self.seen, tf.reduce_sum(inputs)))
            self.add_loss(tf.reduce_sum(inputs))
            return inputs * self.scale

    layer = Scaled(name="mine")
    x = tf.placeholder(tf.float32, [None, 3], "x")
    out = layer(x)
    return _state(tf, out, layer.updates, layer.losses, Scaled().name, Scaled()(x))
