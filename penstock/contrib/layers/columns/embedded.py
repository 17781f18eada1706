"""The variables of columns that are embedded, and the look-ups in them."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers.columns.protocol import _DeepEmbeddingLookupArguments
from penstock.contrib.layers.embeddings import safe_embedding_lookup_sparse
from penstock.contrib.layers.reshaping import _inner_flatten
from penstock.contrib.layers.scattered_embeddings import scattered_embedding_lookup_sparse

_SHARED = "SHARED_EMBEDDING_COLLECTION_"


def embeddings_from_arguments(
    column: Any,
    args: _DeepEmbeddingLookupArguments,
    weight_collections: Any,
    trainable: Any,
    output_rank: int = 2,
) -> Any:
    """The combined vectors of a column's categories, from variables of the current scope."""
    trainable = trainable and args.trainable
    ids = _inner_flatten(args.input_tensor, output_rank)
    weights = args.weight_tensor
    if weights is not None:
        weights = _inner_flatten(weights, output_rank)
    if args.hash_key:
        numbers = _variable("weights", [args.vocab_size], args, trainable, weight_collections)
        return scattered_embedding_lookup_sparse(
            numbers,
            ids,
            args.dimension,
            hash_key=args.hash_key,
            combiner=args.combiner,
            name="lookup",
        )
    if args.shared_embedding_name is not None:
        embeddings = _shared(args, trainable, weight_collections)
    else:
        shape = [args.vocab_size, args.dimension]
        embeddings = _variable("weights", shape, args, trainable, weight_collections)
    parts = parts_of_variable(embeddings)
    restore_from_checkpoint(column._checkpoint_path(), parts)
    return safe_embedding_lookup_sparse(
        parts,
        ids,
        sparse_weights=weights,
        combiner=args.combiner,
        name=column.name + "weights",
        max_norm=args.max_norm,
    )


def _variable(
    name: str, shape: list[int], args: Any, trainable: Any, weight_collections: Any
) -> Any:
    return model_variable(
        name=name,
        shape=shape,
        dtype=tf.float32,
        initializer=args.initializer,
        trainable=trainable,
        collections=weight_collections,
    )


def _shared(args: _DeepEmbeddingLookupArguments, trainable: Any, weight_collections: Any) -> Any:
    """The variable that columns share: the first of them in a graph makes it."""
    name = str(args.shared_embedding_name)
    collection = _SHARED + name.upper()
    shape = [args.vocab_size, args.dimension]
    known = tf.get_collection_ref(collection)
    if not known:
        made = _variable(name, shape, args, trainable, weight_collections)
        tf.add_to_collection(collection, made)
        return made
    if len(known) > 1:
        raise ValueError(f"Collection {collection} can only contain one (partitioned) variable.")
    if known[0].get_shape() != shape:
        raise ValueError(
            f"The embedding variable with name {name} already exists, but its shape does not match "
            "required embedding shape here. Please make sure to use different "
            "shared_embedding_name for different shared embeddings."
        )
    return known[0]


def parts_of_variable(variable: Any) -> list[Any]:
    """The variables that a variable consists of, which may be partitioned."""
    if hasattr(variable, "_get_variable_list"):
        return list(variable._get_variable_list())
    return [variable]


def restore_from_checkpoint(path: tuple[str, str] | None, parts: list[Any]) -> None:
    """Lets a column's variable start with what a checkpoint has for it."""
    if path is not None:
        checkpoint, name = path
        tf.train.init_from_checkpoint(checkpoint, {name: parts[0] if len(parts) == 1 else parts})
