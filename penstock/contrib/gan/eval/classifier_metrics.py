"""How good generated images are, by what a trained classifier makes of them.

The scores of a classifier (Salimans and others, 2016), the Fréchet distance of its activations
(Heusel and others, 2017) and their kernel distance (Binkowski and others, 2018).
"""

from __future__ import annotations

import functools
import os
import tarfile
import urllib.request
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.platform import resource_loader

__all__ = [
    "INCEPTION_DEFAULT_IMAGE_SIZE",
    "classifier_score",
    "classifier_score_from_logits",
    "diagonal_only_frechet_classifier_distance_from_activations",
    "frechet_classifier_distance",
    "frechet_classifier_distance_from_activations",
    "frechet_inception_distance",
    "get_graph_def_from_disk",
    "get_graph_def_from_resource",
    "get_graph_def_from_url_tarball",
    "inception_score",
    "kernel_classifier_distance",
    "kernel_classifier_distance_and_std",
    "kernel_classifier_distance_and_std_from_activations",
    "kernel_classifier_distance_from_activations",
    "kernel_inception_distance",
    "kernel_inception_distance_and_std",
    "mean_only_frechet_classifier_distance_from_activations",
    "preprocess_image",
    "run_image_classifier",
    "run_inception",
]

INCEPTION_URL = "http://download.tensorflow.org/models/frozen_inception_v1_2015_12_05.tar.gz"
INCEPTION_FROZEN_GRAPH = "inceptionv1_for_inception_score.pb"
INCEPTION_INPUT = "Mul:0"
INCEPTION_OUTPUT = "logits:0"
INCEPTION_FINAL_POOL = "pool_3:0"
INCEPTION_DEFAULT_IMAGE_SIZE = 299

Classifier = Callable[[Any], Any]

# Graphs of classifiers ----------------------------------------------------------------------------


def get_graph_def_from_disk(filename: str) -> Any:
    """The graph in a file."""
    with tf.gfile.GFile(filename, "rb") as file:
        return tf.GraphDef.FromString(file.read())


def get_graph_def_from_resource(filename: str) -> Any:
    """The graph in a file beside the program."""
    return tf.GraphDef.FromString(resource_loader.load_resource(filename))


def get_graph_def_from_url_tarball(url: str, filename: str, tar_filename: str | None = None) -> Any:
    """The graph in a file of an archive; it is downloaded unless `tar_filename` is there."""
    path = tar_filename
    if not (path and os.path.exists(path)):
        path, _ = urllib.request.urlretrieve(url, tar_filename)
    with tarfile.open(path, "r:gz") as archive:
        member = archive.extractfile(filename)
        assert member is not None, f"{filename} is no file of {path}"
        return tf.GraphDef.FromString(member.read())


def _default_graph_def_fn() -> Any:
    name = os.path.basename(INCEPTION_URL)
    return get_graph_def_from_url_tarball(INCEPTION_URL, INCEPTION_FROZEN_GRAPH, name)


def preprocess_image(
    images: Any,
    height: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    width: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    scope: str | None = None,
) -> Any:
    """Images of values up to 255 as Inception takes them: of its size, with values from -1 to 1."""
    is_single = images.shape.ndims == 3
    with tf.name_scope(scope, "preprocess", [images, height, width]):
        if not images.dtype.is_floating:
            images = tf.to_float(images)
        if is_single:
            images = tf.expand_dims(images, axis=0)
        resized = (tf.image.resize_bilinear(images, [height, width]) - 128.0) / 128.0
        return tf.squeeze(resized, axis=0) if is_single else resized


def run_image_classifier(
    tensor: Any,
    graph_def: Any,
    input_tensor: str,
    output_tensor: Any,
    scope: str = "RunClassifier",
) -> Any:
    """What a frozen graph computes for images: one tensor, or as many as names are given."""
    names = [output_tensor] if isinstance(output_tensor, str) else output_tensor
    found: Any = tf.import_graph_def(graph_def, {input_tensor: tensor}, names, name=scope)
    return found[0] if isinstance(output_tensor, str) else found


def run_inception(
    images: Any,
    graph_def: Any = None,
    default_graph_def_fn: Callable[[], Any] | None = _default_graph_def_fn,
    image_size: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    input_tensor: str = INCEPTION_INPUT,
    output_tensor: Any = INCEPTION_OUTPUT,
) -> Any:
    """What a trained Inception computes for preprocessed images, flat."""
    images = tf.convert_to_tensor(images)
    images.shape.with_rank(4)
    images.shape.assert_is_compatible_with([None, image_size, image_size, None])
    if graph_def is None:
        if default_graph_def_fn is None:
            raise ValueError("If `graph_def` is `None`, must provide `default_graph_def_fn`.")
        graph_def = default_graph_def_fn()
    found = run_image_classifier(images, graph_def, input_tensor, output_tensor)
    if isinstance(found, list):
        return [tf.layers.flatten(each) for each in found]
    return tf.layers.flatten(found)


def _classified(images: Any, classifier_fn: Classifier, num_batches: int) -> Any:
    """What a classifier makes of images, batch after batch, stacked."""
    batches = tf.stack(tf.split(images, num_or_size_splits=num_batches))
    return tf.map_fn(
        fn=classifier_fn,
        elems=batches,
        parallel_iterations=1,
        back_prop=False,
        swap_memory=True,
        name="RunClassifier",
    )


# The score ----------------------------------------------------------------------------------------


def _kl_divergence(p: Any, p_logits: Any, q: Any) -> Any:
    """The divergence of each row of probabilities from the probabilities of all."""
    for tensor in (p, p_logits, q):
        if not tensor.dtype.is_floating:
            raise ValueError("Input %s must be floating type.", tensor.name)
    p.shape.assert_has_rank(2)
    p_logits.shape.assert_has_rank(2)
    q.shape.assert_has_rank(1)
    return tf.reduce_sum(p * (tf.nn.log_softmax(p_logits) - tf.log(q)), axis=1)


def classifier_score(images: Any, classifier_fn: Classifier, num_batches: int = 1) -> Any:
    """How far the classes of images are from those of all together, on average.

    Args:
      classifier_fn: gives logits for images.
      num_batches: in how many parts images are classified.
    """
    logits = _classified(images, classifier_fn, num_batches)
    return classifier_score_from_logits(tf.concat(tf.unstack(logits), 0))


def classifier_score_from_logits(logits: Any) -> Any:
    """The score for the logits of images."""
    logits = tf.convert_to_tensor(logits)
    logits.shape.assert_has_rank(2)
    precise = tf.cast(logits, tf.float64)
    p = tf.nn.softmax(precise)
    divergence = _kl_divergence(p, precise, tf.reduce_mean(p, axis=0))
    return tf.cast(tf.exp(tf.reduce_mean(divergence)), logits.dtype)


inception_score = functools.partial(
    classifier_score,
    classifier_fn=functools.partial(run_inception, output_tensor=INCEPTION_OUTPUT),
)

# The Fréchet distance -----------------------------------------------------------------------------


def _symmetric_matrix_square_root(mat: Any, eps: float = 1e-10) -> Any:
    """The square root of a symmetric matrix; singular values near zero are left as they are."""
    values, left, right = tf.svd(mat)
    roots = tf.where(tf.less(values, eps), values, tf.sqrt(values))
    return tf.matmul(tf.matmul(left, tf.diag(roots)), right, transpose_b=True)


def trace_sqrt_product(sigma: Any, sigma_v: Any) -> Any:
    """The trace of the root of a product of covariances.

    With A the root of the first, it is the trace of the root of A sigma_v A, which is symmetric.
    """
    root = _symmetric_matrix_square_root(sigma)
    return tf.trace(_symmetric_matrix_square_root(tf.matmul(root, tf.matmul(sigma_v, root))))


def frechet_classifier_distance(
    real_images: Any, generated_images: Any, classifier_fn: Classifier, num_batches: int = 1
) -> Any:
    """The Fréchet distance between what a classifier makes of real and generated images."""
    real, generated = (
        tf.concat(tf.unstack(_classified(images, classifier_fn, num_batches)), 0)
        for images in (real_images, generated_images)
    )
    return frechet_classifier_distance_from_activations(real, generated)


def _means(real_activations: Any, generated_activations: Any) -> list[tuple[Any, Any]]:
    """Activations in double precision, each with their mean."""
    pairs = []
    for given in (real_activations, generated_activations):
        given = tf.convert_to_tensor(given)
        given.shape.assert_has_rank(2)
        precise = tf.cast(given, tf.float64)
        pairs.append((precise, tf.reduce_mean(precise, 0)))
    return pairs


def mean_only_frechet_classifier_distance_from_activations(
    real_activations: Any, generated_activations: Any
) -> Any:
    """The squared distance of the means of activations."""
    (_, mean), (_, other_mean) = _means(real_activations, generated_activations)
    distance = tf.reduce_sum(tf.squared_difference(mean, other_mean))
    return tf.cast(distance, tf.convert_to_tensor(real_activations).dtype)


def diagonal_only_frechet_classifier_distance_from_activations(
    real_activations: Any, generated_activations: Any
) -> Any:
    """The Fréchet distance as if activations were independent of each other."""
    (real, mean), (generated, other_mean) = _means(real_activations, generated_activations)
    _, variance = tf.nn.moments(real, axes=[0])
    _, other_variance = tf.nn.moments(generated, axes=[0])
    spread = tf.squared_difference(tf.sqrt(variance), tf.sqrt(other_variance))
    distance = tf.reduce_sum(spread) + tf.reduce_sum(tf.squared_difference(mean, other_mean))
    return tf.cast(distance, tf.convert_to_tensor(real_activations).dtype)


def frechet_classifier_distance_from_activations(
    real_activations: Any, generated_activations: Any
) -> Any:
    """The Fréchet distance of normal distributions with the moments of activations."""
    covariances, means = [], []
    for values, mean in _means(real_activations, generated_activations):
        centered = values - mean
        count = tf.cast(tf.shape(values)[0], tf.float64)
        covariances.append(tf.matmul(centered, centered, transpose_a=True) / (count - 1))
        means.append(mean)
    trace = tf.trace(covariances[0] + covariances[1]) - 2.0 * trace_sqrt_product(*covariances)
    distance = trace + tf.reduce_sum(tf.squared_difference(*means))
    return tf.cast(distance, tf.convert_to_tensor(real_activations).dtype)


_final_pool = functools.partial(run_inception, output_tensor=INCEPTION_FINAL_POOL)
frechet_inception_distance = functools.partial(
    frechet_classifier_distance, classifier_fn=_final_pool
)

# The kernel distance ------------------------------------------------------------------------------


def kernel_classifier_distance_and_std_from_activations(
    real_activations: Any, generated_activations: Any, max_block_size: int = 1024, dtype: Any = None
) -> tuple[Any, Any]:
    """The kernel distance of activations, and the standard error of that estimate.

    It is the mean of unbiased estimates over blocks of at most `max_block_size` examples, with the
    kernel (x . y / size + 1) ** 3.
    """
    real = tf.convert_to_tensor(real_activations, name="real_activations")
    generated = tf.convert_to_tensor(generated_activations, name="generated_activations")
    for given in (real, generated):
        given.shape.assert_has_rank(2)
    kind = tf.as_dtype(dtype or real.dtype)
    counts: list[Any] = [given.shape.as_list()[0] for given in (real, generated)]
    blocks = -(-max(counts) // max_block_size)
    parts = [
        tf.split(tf.cast(given, kind), _block_sizes(count, blocks))
        for given, count in zip((real, generated), counts, strict=True)
    ]
    estimates = tf.stack([_squared_discrepancy(a, b) for a, b in zip(*parts, strict=True)])
    mean = tf.reduce_mean(estimates)
    if blocks == 1:
        return mean, tf.constant(float("nan"), kind)
    variance = tf.reduce_sum(tf.square(estimates - mean)) / (blocks - 1)
    return mean, tf.sqrt(variance / blocks)


def _block_sizes(count: int, blocks: int) -> list[int]:
    least, rest = divmod(count, blocks)
    return [least] * (blocks - rest) + [least + 1] * rest


def _squared_discrepancy(real: Any, generated: Any) -> Any:
    """An unbiased estimate of the squared distance of means in the kernel's space."""
    size = float(real.shape.as_list()[1])

    def kernel(a: Any, b: Any) -> Any:
        return (tf.matmul(a, b, transpose_b=True) / size + 1) ** 3

    def mean_of_others(values: Any) -> Any:
        matrix, count = kernel(values, values), values.shape.as_list()[0]
        return (tf.reduce_sum(matrix) - tf.trace(matrix)) / (count * (count - 1))

    between = tf.reduce_mean(kernel(real, generated))
    return mean_of_others(real) + mean_of_others(generated) - 2 * between


def kernel_classifier_distance_from_activations(
    real_activations: Any, generated_activations: Any, max_block_size: int = 1024, dtype: Any = None
) -> Any:
    """The kernel distance of activations."""
    return kernel_classifier_distance_and_std_from_activations(
        real_activations, generated_activations, max_block_size, dtype
    )[0]


def kernel_classifier_distance_and_std(
    real_images: Any,
    generated_images: Any,
    classifier_fn: Classifier,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> tuple[Any, Any]:
    """The kernel distance between what a classifier makes of images, and its standard error."""
    real, generated = (
        tf.concat(tf.unstack(_classified(images, classifier_fn, num_classifier_batches)), 0)
        for images in (real_images, generated_images)
    )
    return kernel_classifier_distance_and_std_from_activations(
        real, generated, max_block_size, dtype
    )


def kernel_classifier_distance(
    real_images: Any,
    generated_images: Any,
    classifier_fn: Classifier,
    num_classifier_batches: int = 1,
    max_block_size: int = 1024,
    dtype: Any = None,
) -> Any:
    """The kernel distance between what a classifier makes of real and generated images."""
    return kernel_classifier_distance_and_std(
        real_images, generated_images, classifier_fn, num_classifier_batches, max_block_size, dtype
    )[0]


kernel_inception_distance = functools.partial(kernel_classifier_distance, classifier_fn=_final_pool)
kernel_inception_distance_and_std = functools.partial(
    kernel_classifier_distance_and_std, classifier_fn=_final_pool
)
