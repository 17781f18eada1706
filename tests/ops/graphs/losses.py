"""The nodes that cross entropies, embeddings and sampled losses make."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def _floats(tf: Any, *shape: Any) -> Any:
    return tf.placeholder(tf.float32, list(shape))


def _ids(tf: Any, *shape: Any) -> Any:
    return tf.placeholder(tf.int64, list(shape))


def softmax_cross_entropy(tf: Any) -> Any:
    x, t = _floats(tf, 2, 3), _floats(tf, 2, 3)
    y = tf.nn.softmax_cross_entropy_with_logits(labels=t, logits=x)
    z = tf.nn.softmax_cross_entropy_with_logits_v2(labels=t, logits=x)
    return [*tf.gradients(y, [x, t]), *tf.gradients(z, [x, t])]


def softmax_cross_entropy_twice_differentiated(tf: Any) -> Any:
    x, t = _floats(tf, 2, 3), _floats(tf, 2, 3)
    y = tf.nn.softmax_cross_entropy_with_logits_v2(labels=t, logits=x)
    z = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=x)
    refused = error_of(lambda: tf.gradients(tf.gradients(z, x), x))
    return [tf.gradients(tf.gradients(y, x), x), refused]


def softmax_cross_entropy_of_other_ranks(tf: Any) -> Any:
    x, t = _floats(tf, 2, 3, 4), _floats(tf, 2, 3, 4)
    half = tf.placeholder(tf.half, [2, 3])
    return [
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=t, logits=x, axis=1),
        tf.nn.softmax_cross_entropy_with_logits(labels=t, logits=x, name="x"),
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=half, logits=half),
        error_of(lambda: tf.nn.softmax_cross_entropy_with_logits(labels=t)),
        error_of(lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=half, logits=x)),
    ]


def sparse_softmax_cross_entropy(tf: Any) -> Any:
    x = _floats(tf, 2, 3)
    labels = tf.placeholder(tf.int32, [2])
    y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
    images = _floats(tf, 2, 5, 3)
    pixels = _ids(tf, 2, 5)
    return [
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=pixels, logits=images, name="s"),
        error_of(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=pixels, logits=x)),
        error_of(
            lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=_ids(tf, 3), logits=x)
        ),
        *tf.gradients(y, x),
    ]


def sigmoid_cross_entropy(tf: Any) -> Any:
    x, t = _floats(tf, 2, 3), _floats(tf, 2, 3)
    y = tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=x)
    return [
        tf.nn.weighted_cross_entropy_with_logits(t, x, 2.0),
        tf.nn.log_poisson_loss(t, x),
        tf.nn.log_poisson_loss(t, x, compute_full_loss=True),
        error_of(
            lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=_floats(tf, 2, 4))
        ),
        *tf.gradients(y, x),
    ]


def embedding_lookup(tf: Any) -> Any:
    w = tf.get_variable("w", [50, 4])
    ids = tf.placeholder(tf.int32, [7])
    y = tf.nn.embedding_lookup(w, ids)
    clipped = tf.nn.embedding_lookup(w, ids, max_norm=1.0)
    slices = tf.gradients(y, w)[0]
    return [tf.nn.embedding_lookup(w, [1, 2], name="e"), clipped, slices.values, slices.indices]


def embedding_lookup_of_resources(tf: Any) -> Any:
    parts = [tf.get_variable(f"w{i}", [5, 3], use_resource=True) for i in range(2)]
    return [
        tf.nn.embedding_lookup(parts[0], [1, 2]),
        tf.nn.embedding_lookup(parts, _ids(tf, 2)),
    ]


def embedding_lookup_in_parts(tf: Any) -> Any:
    parts = [tf.get_variable(f"w{i}", [10, 4]) for i in range(3)]
    ids = tf.placeholder(tf.int32, [7])
    whole = tf.get_variable("w", [10, 4], partitioner=tf.fixed_size_partitioner(3))
    unknown = [tf.placeholder(tf.float32), tf.placeholder(tf.float32)]
    return [
        tf.nn.embedding_lookup(parts, ids),
        tf.nn.embedding_lookup(parts, ids, partition_strategy="div", max_norm=2.0),
        tf.nn.embedding_lookup(whole, _ids(tf, 7, 2), "div"),
        tf.nn.embedding_lookup(unknown, tf.placeholder(tf.int64), "div"),
        error_of(lambda: tf.nn.embedding_lookup([], ids)),
        error_of(lambda: tf.nn.embedding_lookup(None, ids)),
        error_of(lambda: tf.nn.embedding_lookup(parts, ids, "hash")),
    ]


def embedding_lookup_sparse(tf: Any) -> Any:
    w = _floats(tf, 50, 4)
    indices, shape = _ids(tf, None, 2), _ids(tf, 2)
    ids = tf.SparseTensor(indices, _ids(tf, None), shape)
    weights = tf.SparseTensor(indices, _floats(tf, None), shape)
    return [
        tf.nn.embedding_lookup_sparse(w, ids, None, combiner="mean"),
        tf.nn.embedding_lookup_sparse(w, ids, None, combiner="sum", max_norm=1.0),
        tf.nn.embedding_lookup_sparse([w, w], ids, None, combiner="sqrtn", name="q"),
        tf.nn.embedding_lookup_sparse(w, ids, weights, combiner="mean"),
        tf.nn.embedding_lookup_sparse(w, ids, weights, combiner="sum"),
        tf.nn.embedding_lookup_sparse(w, ids, weights, combiner="sqrtn"),
        error_of(lambda: tf.nn.embedding_lookup_sparse(w, indices, None)),
    ]


def candidate_samplers(tf: Any) -> Any:
    labels = _ids(tf, 4, 1)
    sampled = tf.nn.all_candidate_sampler(labels, 1, 5, True)
    return [
        tf.nn.log_uniform_candidate_sampler(labels, 1, 5, True, 100),
        tf.nn.uniform_candidate_sampler(labels, 1, 5, True, 100, seed=3),
        tf.nn.learned_unigram_candidate_sampler(labels, 1, 5, False, 100),
        tf.nn.fixed_unigram_candidate_sampler(
            labels, 1, 3, True, 4, unigrams=[1.0, 2.0, 3.0, 4.0], name="fixed"
        ),
        tf.nn.compute_accidental_hits(labels, sampled[0], 1),
    ]


def nce_loss(tf: Any) -> Any:
    w, b = tf.get_variable("w", [50, 4]), tf.get_variable("b", [50])
    x = _floats(tf, 8, 4)
    y = tf.nn.nce_loss(w, b, _ids(tf, 8, 1), x, 5, 50)
    return [part for slices in tf.gradients(y, [w, b]) for part in (slices.values, slices.indices)]


def sampled_softmax_loss(tf: Any) -> Any:
    w, b = tf.get_variable("w", [50, 4]), tf.get_variable("b", [50])
    labels = tf.placeholder(tf.int32, [8, 2])
    x = _floats(tf, 8, 4)
    y = tf.nn.sampled_softmax_loss([w, w], b, labels, x, 5, 50, num_true=2, seed=1, name="loss")
    return tf.gradients(y, x)


def largest(tf: Any) -> Any:
    x = _floats(tf, None, 5)
    values, _ = tf.nn.top_k(x, 2)
    return [
        tf.nn.in_top_k(x, [1, 2], 3),
        tf.nn.top_k(x, tf.placeholder(tf.int32, []), sorted=False),
        error_of(lambda: tf.nn.top_k(x, 6)),
        *tf.gradients(values, x),
    ]


def sparse_to_dense(tf: Any) -> Any:
    values = _floats(tf, 2)
    y = tf.sparse_to_dense([[1], [3]], [5], values)
    return [tf.sparse_to_dense([1, 3], [5], 1.0, 0.0, name="s"), *tf.gradients(y, values)]
