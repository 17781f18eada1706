"""Batches of examples that are kept with a probability, or in given proportions of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.ops.control import with_dependencies
from penstock.train.batching import batch, maybe_batch

__all__ = ["rejection_sample", "stratified_sample"]

_TOLERANCE = 1e-6
_MANY_REJECTED = 0.5


def rejection_sample(
    tensors: Sequence[Any],
    accept_prob_fn: Callable[[list[Any]], Any],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> Any:
    """Batches of the examples that pass a lottery.

    Args:
      tensors: the components of an example, or of a batch of examples if `enqueue_many`.
      accept_prob_fn: the probability with which an example is kept.
      batch_size: how many examples a batch has.
      queue_threads: the threads that fill the queue of batches.
      enqueue_many: whether `tensors` are batches.
      prebatch_capacity: the capacity of the queue that takes such batches apart.
      prebatch_threads: its threads.
      runtime_checks: whether to check that probabilities are in [0, 1].
      name: a name for the operations.
    """
    with tf.variable_scope(name, "rejection_sample", tensors):
        examples = [tf.convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            _check_batches(examples, examples[0])
            batched = batch(
                examples,
                batch_size=1,
                num_threads=prebatch_threads,
                capacity=prebatch_capacity,
                enqueue_many=True,
            )
            examples = [tf.squeeze(each, [0]) for each in _listed(batched)]
        probability = accept_prob_fn(examples)
        if runtime_checks:
            checks = [
                tf.assert_less_equal(0.0, probability),
                tf.assert_less_equal(probability, 1.0),
            ]
            checked = with_dependencies(checks, probability)
            probability = tf.identity(checked, name="prob_with_checks")
        kept = maybe_batch(
            examples,
            keep_input=tf.random_uniform([]) < probability,
            batch_size=batch_size,
            num_threads=queue_threads,
        )
        return _listed(kept)


def stratified_sample(
    tensors: Sequence[Any],
    labels: Any,
    target_probs: Any,
    batch_size: int,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Any], Any]:
    """Batches whose classes come in given proportions, by dropping examples of the others.

    Args:
      tensors: the components of an example, or of a batch of them if `enqueue_many`.
      labels: the class of the example, or of each.
      target_probs: the proportions.
      batch_size: how many examples a batch has.
      init_probs: the proportions in the input; estimated while running if None.
      enqueue_many: whether `tensors` and `labels` are batches.
      queue_capacity: the capacity of the queue that takes such batches apart.
      threads_per_queue: the threads of each queue.
      name: a name for the operations.
    """
    with tf.name_scope(name, "stratified_sample", [*tensors, labels]):
        examples = [tf.convert_to_tensor(tensor) for tensor in tensors]
        labels = tf.convert_to_tensor(labels)
        target_probs = tf.convert_to_tensor(target_probs, dtype=tf.float32)
        if not enqueue_many:
            examples = [tf.expand_dims(example, 0) for example in examples]
            labels = tf.expand_dims(labels, 0)
        if init_probs is None:
            target_probs.get_shape().assert_is_fully_defined()
            classes = target_probs.get_shape().num_elements()
            init_probs = _estimate_data_distribution(labels, classes)
        else:
            init_probs = tf.convert_to_tensor(init_probs, dtype=tf.float32)
        examples, labels, (init_probs, target_probs) = _verify_input(
            examples, labels, [init_probs, target_probs]
        )
        accept_probs = _warned_if_many_are_rejected(*_checked_acceptance(init_probs, target_probs))
        batched = batch(
            [*examples, labels],
            batch_size=1,
            num_threads=threads_per_queue,
            capacity=queue_capacity,
            enqueue_many=True,
        )
        *values, label = [tf.squeeze(each, [0]) for each in batched]
        sampled = maybe_batch(
            [*values, label],
            keep_input=tf.random_uniform([]) < tf.gather(accept_probs, label),
            batch_size=batch_size,
            num_threads=threads_per_queue,
        )
        return sampled[:-1], sampled[-1]


def _listed(tensors: Any) -> list[Any]:
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def _checked_acceptance(init_probs: Any, target_probs: Any) -> tuple[Any, Any]:
    """The probability to keep an example of each class, and the proportions of the input."""
    possible = tf.Assert(
        tf.reduce_all(tf.logical_or(tf.not_equal(init_probs, 0), tf.equal(target_probs, 0))),
        [
            "All classes with zero initial probability must also have zero target probability: ",
            init_probs,
            target_probs,
        ],
    )
    init_probs = with_dependencies([possible], init_probs)
    return _calculate_acceptance_probabilities(init_probs, target_probs), init_probs


def _warned_if_many_are_rejected(accept_probs: Any, init_probs: Any) -> Any:
    rejected = tf.reduce_sum((1 - accept_probs) * init_probs)
    return tf.cond(
        tf.less(rejected, _MANY_REJECTED),
        lambda: accept_probs,
        lambda: tf.Print(
            accept_probs,
            [accept_probs],
            message="Proportion of examples rejected by sampler is high.",
            first_n=10,
        ),
    )


def _estimate_data_distribution(labels: Any, num_classes: int, smoothing_constant: int = 10) -> Any:
    """The proportions of classes among all labels so far; each begins with a few examples."""
    if smoothing_constant <= 0:
        raise ValueError("smoothing_constant must be nonzero.")
    seen = tf.Variable(
        initial_value=[smoothing_constant] * num_classes,
        trainable=False,
        name="class_count",
        dtype=tf.int64,
    )
    counted = seen.assign_add(tf.reduce_sum(tf.one_hot(labels, num_classes, dtype=tf.int64), 0))
    counted += 0  # a copy: another thread may count on
    return tf.cast(tf.truediv(counted, tf.reduce_sum(counted)), tf.float32)


def _check_batches(tensors: Sequence[Any], first: Any) -> None:
    """Checks that tensors have batches of one size."""
    for tensor in tensors:
        shape = tensor.get_shape().with_rank_at_least(1)
        shape.dims and shape.dims[0].assert_is_compatible_with(first.get_shape()[0])


def _verify_input(
    tensor_list: list[Any], labels: Any, probs_list: list[Any]
) -> tuple[list[Any], Any, list[Any]]:
    """The arguments, with checks of what is known only at run time."""
    checked_probs = []
    for probs in probs_list:
        probs.get_shape().assert_is_fully_defined()
        probs.get_shape().assert_has_rank(1)
        total = tf.reduce_sum(probs)
        checks = [
            tf.assert_non_negative(probs),
            tf.assert_less(total, 1.0 + _TOLERANCE),
            tf.assert_less(1.0 - _TOLERANCE, total),
        ]
        checked_probs.append(with_dependencies(checks, probs))
    lengths = {probs.get_shape().num_elements() for probs in checked_probs}
    if len(lengths) != 1:
        raise ValueError("Probability parameters must have the same length.")
    (classes,) = lengths
    labels.get_shape().assert_has_rank(1)
    _check_batches(tensor_list, labels)
    size = tf.shape(labels)[0]
    some = tf.assert_positive(size)
    labels = with_dependencies([some], labels)
    tensor_list = [
        with_dependencies([some, tf.assert_equal(tf.shape(each)[0], size)], each)
        for each in tensor_list
    ]
    label_checks = [
        tf.assert_integer(labels),
        tf.assert_non_negative(labels),
        tf.assert_less(labels, tf.cast(classes, labels.dtype)),
    ]
    return tensor_list, with_dependencies(label_checks, labels), checked_probs


def _calculate_acceptance_probabilities(init_probs: Any, target_probs: Any) -> Any:
    """How likely an example of a class is kept: the scarcest class always is."""
    ratios = target_probs / init_probs
    ratios = tf.where(tf.is_nan(ratios), tf.zeros_like(ratios), ratios)  # 0/0: never seen
    return ratios / tf.reduce_max(ratios)
