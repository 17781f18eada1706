"""Look-ups of embeddings, and encoders of sequences."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers.reshaping import dense_to_sparse
from penstock.ir.composite import SparseTensor

__all__ = [
    "bow_encoder",
    "embed_sequence",
    "embedding_lookup_sparse_with_distributed_aggregation",
    "embedding_lookup_unique",
    "safe_embedding_lookup_sparse",
]


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Any:
    """Embeddings of sparse ids, combined by row; rows without a valid id get the default.

    Args:
      combiner: `mean` (the default), `sqrtn` or `sum`.
      default_id: the id for empty rows; None gives them zeros.
    """
    if combiner is None:
        logging.warn('The default value of combiner will change from "mean" to "sqrtn"')
        combiner = "mean"
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights=sparse_weights,
        combiner=combiner,
        default_id=default_id,
        name=name,
        partition_strategy=partition_strategy,
        max_norm=max_norm,
    )


def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Any:
    """Embeddings of ids, each of which is looked up once however often it occurs."""
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        unique, places = tf.unique(tf.reshape(ids, [-1]))
        unique_embeddings = tf.nn.embedding_lookup(params, unique, partition_strategy)
        flat = tf.gather(unique_embeddings, places)
        embeddings = tf.reshape(flat, tf.concat([shape, tf.shape(flat)[1:]], 0))
        embeddings.set_shape(ids.get_shape().concatenate(unique_embeddings.get_shape()[1:]))
        return embeddings


def embedding_lookup_sparse_with_distributed_aggregation(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Any:
    """Embeddings of sparse ids, combined by row; see `tf.nn.embedding_lookup_sparse`.

    Args:
      combiner: `mean` (the default), `sqrtn` or `sum`.
    """
    if combiner is None:
        logging.warn('The default value of combiner will change from "mean" to "sqrtn"')
        combiner = "mean"
    return tf.nn.embedding_lookup_sparse(
        params, sp_ids, sp_weights, partition_strategy, name, combiner, max_norm
    )


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The mean of the embeddings of each row of ids.

    Args:
      sparse_lookup: whether zeros stand for nothing, and are left out.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with tf.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if sparse_lookup:
            sparse = ids if isinstance(ids, SparseTensor) else dense_to_sparse(ids)
            return safe_embedding_lookup_sparse([embeddings], sparse, combiner="mean", default_id=0)
        if isinstance(ids, SparseTensor):
            raise TypeError("ids are expected to be dense Tensor, got: %s", ids)
        return tf.reduce_mean(tf.nn.embedding_lookup(embeddings, ids), axis=1)


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The embeddings of a sequence of ids.

    Args:
      unique: whether an id that occurs often is looked up once.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got "
            f"vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        is_open = (reuse and vocab_size is None) or embed_dim is None
        embeddings = model_variable(
            "embeddings",
            shape=None if is_open else [vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if unique:
            return embedding_lookup_unique(embeddings, ids)
        return tf.nn.embedding_lookup(embeddings, ids)
