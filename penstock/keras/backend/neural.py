"""Activations, losses, convolutions and pooling, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras.backend.arithmetic import flatten, repeat_elements
from penstock.keras.backend.config import epsilon, floatx, image_data_format
from penstock.keras.backend.tensors import int_shape, ndim
from penstock.layers import windows

__all__ = [
    "batch_normalization",
    "bias_add",
    "binary_crossentropy",
    "categorical_crossentropy",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "depthwise_conv2d",
    "dropout",
    "elu",
    "hard_sigmoid",
    "in_top_k",
    "l2_normalize",
    "normalize_batch_in_training",
    "pool2d",
    "pool3d",
    "random_binomial",
    "random_normal",
    "random_uniform",
    "relu",
    "resize_images",
    "resize_volumes",
    "separable_conv1d",
    "separable_conv2d",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "sparse_categorical_crossentropy",
    "spatial_2d_padding",
    "spatial_3d_padding",
    "tanh",
    "temporal_padding",
    "truncated_normal",
]


def _constant(value: float, like: Any) -> Any:
    return tf.constant(value, dtype=like.dtype.base_dtype)


# Activations ------------------------------------------------------------------------------------


def relu(x: Any, alpha: float = 0.0, max_value: Any = None, threshold: float = 0) -> Any:
    """`x` above the threshold (at most `max_value`), `alpha * (x - threshold)` below it."""
    if alpha != 0.0 and max_value is None and threshold == 0:
        return tf.nn.leaky_relu(x, alpha=alpha)
    below = None
    if alpha != 0.0:
        below = tf.nn.relu(-x + threshold if threshold != 0 else -x)
    if threshold != 0:
        x = x * tf.cast(tf.greater(x, threshold), x.dtype)
    elif max_value == 6:
        x = tf.nn.relu6(x)
    else:
        x = tf.nn.relu(x)
    if max_value is not None and (max_value != 6 or threshold != 0):
        x = tf.clip_by_value(x, _constant(0.0, x), _constant(max_value, x))
    return x if below is None else x - tf.convert_to_tensor(alpha, x.dtype) * below


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` where positive, else `alpha * (exp(x) - 1)`."""
    outputs = tf.nn.elu(x)
    return outputs if alpha == 1 else tf.where(x > 0, outputs, alpha * outputs)


def softmax(x: Any, axis: int = -1) -> Any:
    """Exponentials that add up to one along an axis."""
    return tf.nn.softmax(x, axis=axis)


def softplus(x: Any) -> Any:
    """`log(exp(x) + 1)`."""
    return tf.nn.softplus(x)


def softsign(x: Any) -> Any:
    """`x / (abs(x) + 1)`."""
    return tf.nn.softsign(x)


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    return tf.nn.sigmoid(x)


def hard_sigmoid(x: Any) -> Any:
    """`0.2 x + 0.5` between 0 and 1."""
    return tf.clip_by_value(x * _constant(0.2, x) + _constant(0.5, x), 0.0, 1.0)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return tf.nn.tanh(x)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Any:
    """Sets a part `level` of the values to zero and scales up the others."""
    seed = np.random.randint(10**7) if seed is None else seed  # noqa: NPY002 the program seeds it
    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Values whose squares add up to one along an axis."""
    return tf.nn.l2_normalize(x, axis=axis)


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether each target is among the `k` largest predictions."""
    return tf.nn.in_top_k(predictions, targets, k)


# Losses -----------------------------------------------------------------------------------------


def _logits_behind(output: Any, activation: str) -> Any:
    """What an activation op was applied to, or None if `output` isn't one's."""
    if isinstance(output, tf.Variable) or output._op.type != activation or not output._op.inputs:
        return None
    return output._op.inputs[0]


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """The cross entropy of distributions along an axis.

    Args:
      from_logits: whether `output` is what a softmax would be taken of.
    """
    logits = output if from_logits else _logits_behind(output, "Softmax")
    if logits is not None:
        return tf.nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=logits, axis=axis)
    output = output / tf.reduce_sum(output, axis, True)
    small = _constant(epsilon(), output)
    output = tf.clip_by_value(output, small, 1.0 - small)
    return -tf.reduce_sum(target * tf.log(output), axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """The cross entropy of distributions along an axis with the classes `target`."""
    logits = output if from_logits else _logits_behind(output, "Softmax")
    if logits is None:
        small = _constant(epsilon(), output)
        logits = tf.log(tf.clip_by_value(output, small, 1 - small))
    logits = tf.convert_to_tensor(logits)
    rank: Any = logits.shape.ndims
    if rank is None:
        if axis != -1:
            raise ValueError(
                f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output "
                "tensor with unknown rank"
            )
    elif axis % rank != rank - 1:
        axis %= rank
        logits = tf.transpose(logits, perm=[*range(axis), *range(axis + 1, rank), axis])
    target = tf.cast(target, tf.int64)
    shape = tf.shape(logits)
    differs = None not in (target.shape.ndims, rank) and target.shape.ndims != rank - 1
    if differs:
        target = flatten(target)
        logits = tf.reshape(logits, [-1, shape[-1]])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    return tf.reshape(losses, shape[:-1]) if differs and rank >= 3 else losses


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The cross entropy of each value as a probability."""
    logits = output if from_logits else _logits_behind(output, "Sigmoid")
    if logits is not None:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
    small = _constant(epsilon(), output)
    output = tf.clip_by_value(output, small, 1.0 - small)
    of_ones = target * tf.log(output + epsilon())
    return -(of_ones + (1 - target) * tf.log(1 - output + epsilon()))


# Convolutions -----------------------------------------------------------------------------------


def _format(data_format: str | None) -> str:
    data_format = image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return data_format


def _padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def conv1d(
    x: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """A convolution of sequences; "causal" padding looks at earlier steps only."""
    data_format = _format(data_format)
    if padding == "causal":
        x = temporal_padding(x, (dilation_rate * (kernel.shape.as_list()[0] - 1), 0))
        padding = "valid"
    return tf.nn.convolution(
        x,
        kernel,
        _padding(padding),
        strides=(strides,) if isinstance(strides, int) else strides,
        dilation_rate=(dilation_rate,) if isinstance(dilation_rate, int) else dilation_rate,
        data_format=windows.convert_data_format(data_format, 3),
    )


def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of images."""
    return tf.nn.convolution(
        x,
        kernel,
        _padding(padding),
        strides=strides,
        dilation_rate=dilation_rate,
        data_format=windows.convert_data_format(_format(data_format), 4),
    )


def conv3d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> Any:
    """A convolution of volumes."""
    return tf.nn.convolution(
        x,
        kernel,
        _padding(padding),
        strides=strides,
        dilation_rate=dilation_rate,
        data_format=windows.convert_data_format(_format(data_format), 5),
    )


def _around(values: Any, data_format: str) -> list[int]:
    """Strides or sizes of images with those of the batch and the channels."""
    return [1, 1, *values] if data_format == "channels_first" else [1, *values, 1]


def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A transposed convolution of images."""
    data_format = _format(data_format)
    if isinstance(output_shape, (tuple, list)):
        output_shape = tf.stack(list(output_shape))
    if tuple(dilation_rate) != (1, 1):
        return tf.nn.atrous_conv2d_transpose(
            x, kernel, output_shape, dilation_rate[0], padding=_padding(padding)
        )
    return tf.nn.conv2d_transpose(
        x,
        kernel,
        output_shape,
        _around(strides, data_format),
        padding=_padding(padding),
        data_format=windows.convert_data_format(data_format, 4),
    )


def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """A transposed convolution of volumes."""
    data_format = _format(data_format)
    if isinstance(output_shape, (tuple, list)):
        output_shape = tf.stack(list(output_shape))
    return tf.nn.conv3d_transpose(
        x,
        kernel,
        output_shape,
        _around(strides, data_format),
        padding=_padding(padding),
        data_format=windows.convert_data_format(data_format, 5),
    )


def separable_conv1d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """A convolution of each channel of sequences, then a mix of the channels."""
    data_format = _format(data_format)
    axis = 2 if data_format == "channels_first" else 1
    outputs = separable_conv2d(
        tf.expand_dims(x, axis),
        tf.expand_dims(depthwise_kernel, 0),
        tf.expand_dims(pointwise_kernel, 0),
        strides=windows.normalize_tuple(strides, 1, "strides") * 2,
        padding=padding,
        data_format=data_format,
        dilation_rate=(1, *windows.normalize_tuple(dilation_rate, 1, "dilation_rate")),
    )
    return tf.squeeze(outputs, [axis])


def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel, then a mix of the channels."""
    data_format = _format(data_format)
    strides = windows.normalize_tuple(strides, 2, "strides")
    return tf.nn.separable_conv2d(
        x,
        depthwise_kernel,
        pointwise_kernel,
        strides=_around(strides, data_format),
        padding=_padding(padding),
        rate=dilation_rate,
        data_format=windows.convert_data_format(data_format, 4),
    )


def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel."""
    data_format = _format(data_format)
    return tf.nn.depthwise_conv2d(
        x,
        depthwise_kernel,
        strides=_around(strides, data_format),
        padding=_padding(padding),
        rate=dilation_rate,
        data_format=windows.convert_data_format(data_format, 4),
    )


def _pool(
    x: Any, size: Any, strides: Any, padding: str, data_format: Any, mode: str, rank: int
) -> Any:
    if mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {mode}")
    pools: dict[Any, Any] = {
        (2, "max"): tf.nn.max_pool,
        (2, "avg"): tf.nn.avg_pool,
        (3, "max"): tf.nn.max_pool3d,
        (3, "avg"): tf.nn.avg_pool3d,
    }
    data_format = _format(data_format)
    return pools[rank, mode](
        x,
        _around(size, data_format),
        _around(strides, data_format),
        padding=_padding(padding),
        data_format=windows.convert_data_format(data_format, rank + 2),
    )


def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Any:
    """The largest ("max") or average ("avg") value of windows of images."""
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 2)


def pool3d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Any:
    """The largest ("max") or average ("avg") value of windows of volumes."""
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 3)


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """Adds a bias of one axis (per channel) or of one per axis but the batch's."""
    data_format = _format(data_format)
    sizes, rank = int_shape(bias), ndim(x)
    if len(sizes) not in (1, rank - 1):
        raise ValueError(
            f"Unexpected bias dimensions {len(sizes)}, expect to be 1 or {rank} dimensions"
        )
    is_first = data_format == "channels_first" and rank > 2
    if len(sizes) == 1:
        if is_first and rank != 4:
            return x + tf.reshape(bias, (1, sizes[0], *[1] * (rank - 2)))
        return tf.nn.bias_add(x, bias, data_format="NCHW" if is_first else "NHWC")
    return x + tf.reshape(bias, (1, sizes[-1], *sizes[:-1]) if is_first else (1, *sizes))


# Normalization ----------------------------------------------------------------------------------


def normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Any, epsilon: float = 1e-3
) -> Any:
    """A normalized batch, its mean and its variance."""
    mean, variance = tf.nn.moments(x, reduction_axes)
    if sorted(reduction_axes) == list(range(ndim(x)))[:-1]:
        outputs = tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)
        return outputs, mean, variance
    sizes = tf.shape(x)
    wanted = tf.stack([1 if axis in reduction_axes else sizes[axis] for axis in range(ndim(x))])

    def spread(value: Any) -> Any:
        return None if value is None else tf.reshape(value, wanted)

    outputs = tf.nn.batch_normalization(
        x, spread(mean), spread(variance), spread(beta), spread(gamma), epsilon
    )
    return outputs, mean, variance


def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Any:
    """`gamma * (x - mean) / sqrt(var + epsilon) + beta`."""
    return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


# Sizes ------------------------------------------------------------------------------------------


def resize_images(
    x: Any,
    height_factor: int,
    width_factor: int,
    data_format: str,
    interpolation: str = "nearest",
) -> Any:
    """Images made larger by whole factors, with "nearest" or "bilinear" interpolation."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    from penstock import image

    resizes = {
        "nearest": image.resize_nearest_neighbor,
        "bilinear": image.resize_bilinear,
    }
    if interpolation not in resizes:
        raise ValueError("interpolation should be one of `nearest` or `bilinear`.")
    is_first = data_format == "channels_first"
    rows, cols = (2, 3) if is_first else (1, 2)
    sizes = x.shape.as_list()
    space = tf.shape(x)[rows : cols + 1]
    if None not in (sizes[rows], sizes[cols]):
        space = tf.constant(np.array([sizes[rows], sizes[cols]], dtype="int32"))
    new_space = space * tf.constant(np.array([height_factor, width_factor], dtype="int32"))
    if is_first:
        x = tf.transpose(x, [0, 2, 3, 1])
    x = resizes[interpolation](x, new_space)
    if is_first:
        x = tf.transpose(x, [0, 3, 1, 2])
    for axis, factor in ((rows, height_factor), (cols, width_factor)):
        sizes[axis] = None if sizes[axis] is None else sizes[axis] * factor
    x.set_shape(sizes)
    return x


def resize_volumes(
    x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Any:
    """Volumes made larger by whole factors."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), start=first):
        x = repeat_elements(x, factor, axis=axis)
    return x


def temporal_padding(x: Any, padding: Any = (1, 1)) -> Any:
    """Sequences with zeros before and after them."""
    return tf.pad(x, [[0, 0], [padding[0], padding[1]], [0, 0]])


def _padded(x: Any, padding: Any, data_format: str | None) -> Any:
    if _format(data_format) == "channels_first":
        return tf.pad(x, [[0, 0], [0, 0], *map(list, padding)])
    return tf.pad(x, [[0, 0], *map(list, padding), [0, 0]])


def spatial_2d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """Images with zeros around them."""
    return _padded(x, padding, data_format)


def spatial_3d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """Volumes with zeros around them."""
    return _padded(x, padding, data_format)


# Random numbers ---------------------------------------------------------------------------------


def _seed(seed: int | None) -> int:
    return np.random.randint(10**7) if seed is None else seed  # noqa: NPY002 the program seeds it


def random_normal(
    shape: Any,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Any = None,
    seed: int | None = None,
) -> Any:
    """Normally distributed numbers."""
    return tf.random_normal(
        shape, mean=mean, stddev=stddev, dtype=dtype or floatx(), seed=_seed(seed)
    )


def random_uniform(
    shape: Any,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: Any = None,
    seed: int | None = None,
) -> Any:
    """Uniformly distributed numbers."""
    return tf.random_uniform(
        shape, minval=minval, maxval=maxval, dtype=dtype or floatx(), seed=_seed(seed)
    )


def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Any:
    """Ones with probability `p`, else zeros."""
    dtype = dtype or floatx()
    drawn = tf.random_uniform(shape, dtype=dtype, seed=_seed(seed))
    return tf.where(drawn <= p, tf.ones(shape, dtype=dtype), tf.zeros(shape, dtype=dtype))


def truncated_normal(
    shape: Any,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Any = None,
    seed: int | None = None,
) -> Any:
    """Normally distributed numbers, none further than two deviations from the mean."""
    return tf.truncated_normal(
        shape, mean, stddev, dtype=tf.as_dtype(dtype or floatx()), seed=_seed(seed)
    )
