"""Losses over very many classes, estimated from a few sampled ones."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.binary import multiply
from penstock.ops.candidate_sampling import (
    compute_accidental_hits,
    log_uniform_candidate_sampler,
)
from penstock.ops.casts import cast
from penstock.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
)
from penstock.ops.elementwise import log
from penstock.ops.embedding import embedding_lookup
from penstock.ops.filling import ones, ones_like, zeros_like
from penstock.ops.identity import stop_gradient
from penstock.ops.joining import concat, stack
from penstock.ops.matmul import matmul
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.shaping import expand_dims, reshape, shape
from penstock.ops.slicing import slice as slice_of
from penstock.ops.sparse_to_dense import sparse_to_dense

__all__ = ["nce_loss", "sampled_softmax_loss"]


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = "nce_loss",
) -> Tensor:
    """The noise-contrastive estimation loss of each row of `inputs`.

    Args:
      weights: [num_classes, dim], or a list of parts of it.
      biases: [num_classes].
      labels: The true classes of each row: [batch, num_true].
      inputs: [batch, dim].
      sampled_values: What a candidate sampler returned, by default the log-uniform one.
      remove_accidental_hits: Whether drawn classes that are true ones don't count.
      partition_strategy: Of `embedding_lookup`, for `weights` in parts.
    """
    logits, targets = _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        None,
    )
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return _row_sums(losses)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """The softmax cross entropy of each row of `inputs`, over its true and the sampled classes.

    Its arguments are those of `nce_loss`.
    """
    logits, targets = _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        seed,
    )
    targets = stop_gradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)


def _row_sums(x: Tensor) -> Tensor:
    """The sum of each row, as a product with ones."""
    sizes: Any = shape(x)
    column = ones(stack([sizes[1], 1]), x.dtype.base_dtype)
    return reshape(matmul(x, column), [-1])


def _sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None,
    seed: int | None,
    subtract_log_q: bool = True,
) -> tuple[Tensor, Tensor]:
    """Logits and targets of the true and the sampled classes: [batch, num_true + num_sampled]."""
    if isinstance(weights, PartitionedVariable):
        weights = list(weights)
    if not isinstance(weights, list):
        weights = [weights]
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        inputs = convert_to_tensor(inputs, name="inputs")
        labels = convert_to_tensor(labels, name="labels")
        if labels.dtype.base_dtype is not dtypes.int64:
            labels = cast(labels, dtypes.int64)
        flat_labels = reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, unique=True, range_max=num_classes, seed=seed
            )
        sampled, true_counts, sampled_counts = (stop_gradient(part) for part in sampled_values)
        sampled = cast(sampled, dtypes.int64)
        true_logits, sampled_logits = _class_logits(
            weights, biases, flat_labels, sampled, inputs, num_true, partition_strategy
        )
        if remove_accidental_hits:
            sampled_logits += _hit_penalties(
                labels, sampled, num_true, num_sampled, sampled_logits.dtype.base_dtype
            )
        if subtract_log_q:
            # Less the logarithm of how often a class was drawn, a logit estimates the full
            # softmax's.
            true_logits -= log(true_counts)
            sampled_logits -= log(sampled_counts)
        logits = concat([true_logits, sampled_logits], 1)
        targets = concat([ones_like(true_logits) / num_true, zeros_like(sampled_logits)], 1)
        return logits, targets


def _class_logits(
    weights: list[Any],
    biases: Any,
    labels: Tensor,
    sampled: Tensor,
    inputs: Any,
    num_true: int,
    strategy: str,
) -> tuple[Any, Any]:
    """The logits of true and sampled classes; both kinds are looked up at once."""
    ids = concat([labels, sampled], 0)
    rows = embedding_lookup(weights, ids, strategy)
    if rows.dtype.base_dtype is not inputs.dtype.base_dtype:
        rows = cast(rows, inputs.dtype.base_dtype)
    true_rows = slice_of(rows, [0, 0], stack([_length(labels), -1]))
    sampled_rows = slice_of(rows, stack([_length(labels), 0]), [-1, -1])
    sampled_logits = matmul(inputs, sampled_rows, transpose_b=True)
    offsets = embedding_lookup(biases, ids, strategy)
    if offsets.dtype.base_dtype is not inputs.dtype.base_dtype:
        offsets = cast(offsets, inputs.dtype.base_dtype)
    true_offsets = slice_of(offsets, [0], shape(labels))
    sampled_offsets = slice_of(offsets, shape(labels), [-1])
    sizes: Any = shape(true_rows)
    width = sizes[1:2]
    by_label = concat([[-1, num_true], width], 0)
    products = multiply(expand_dims(inputs, 1), reshape(true_rows, by_label))
    flat = reshape(products, concat([[-1], width], 0))
    true_logits: Any = reshape(_row_sums(flat), [-1, num_true])
    true_logits += reshape(true_offsets, [-1, num_true])
    return true_logits, sampled_logits + sampled_offsets


def _length(vector: Tensor) -> Tensor:
    sizes: Any = shape(vector)
    return sizes[0]


def _hit_penalties(
    labels: Tensor, sampled: Tensor, num_true: int, num_sampled: int, dtype: Any
) -> Tensor:
    """The lowest number where a sampled class is a true one, else zero: [batch, num_sampled]."""
    rows, ids, penalties = compute_accidental_hits(labels, sampled, num_true)
    rows = reshape(rows, [-1, 1])
    columns = reshape(cast(ids, dtypes.int32), [-1, 1])
    positions = concat([rows, columns], 1, "sparse_indices")
    sizes: Any = shape(labels)
    dense_shape = concat([sizes[:1], expand_dims(num_sampled, 0)], 0)
    if penalties.dtype.base_dtype is not dtype:
        penalties = cast(penalties, dtype)
    return sparse_to_dense(
        positions, dense_shape, penalties, default_value=0.0, validate_indices=False
    )
