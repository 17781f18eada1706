"""The pruning of weights while a model trains."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.model_pruning import blocks
from penstock.contrib.model_pruning.masks import (
    apply_mask,
    get_masked_weights,
    get_masks,
    get_thresholds,
    get_weight_sparsity,
    get_weights,
)
from penstock.contrib.training import HParams

__all__ = [
    "Pruning",
    "apply_mask",
    "get_masked_weights",
    "get_masks",
    "get_pruning_hparams",
    "get_thresholds",
    "get_weight_sparsity",
    "get_weights",
]


def get_pruning_hparams() -> HParams:
    """The settings of `Pruning`, with their defaults.

    Among them: steps at which pruning begins and ends (-1: never), `target_sparsity` of all
    weights or of those in `weight_sparsity_map` (`["name:0.9"]`, by regular expressions), from
    `initial_sparsity` on along a polynomial, and sizes of blocks that are pruned as a whole.
    """
    return HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


def _check(spec: Any) -> None:
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.end_pruning_step != -1 and spec.begin_pruning_step >= spec.end_pruning_step:
        raise ValueError(
            "Pruning must begin before it can end. "
            f"begin_step={spec.begin_pruning_step}, end_step={spec.end_pruning_step}."
            "Set end_pruning_step to -1 if pruning is required till training stops"
        )
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, name) < 1.0:
            raise ValueError(f"{name} must be in range [0,1)")


def _block_sizes(text: str, name: str) -> list[int]:
    sizes = text.split("x")
    if len(sizes) != 2:
        raise ValueError(f"Expected 2 values for block dim for {name}, got {sizes}")
    return [int(size) for size in sizes]


def _sparsity(text: str, name: str) -> float:
    if float(text) >= 1.0:
        raise ValueError("Weight sparsity can not exceed 1.0")
    return float(text)


def _by_pattern(entries: Any, read: Any) -> dict[re.Pattern[str], Any]:
    pairs = (entry.split(":") for entry in entries if entry)
    return {re.compile(name): read(text, name) for name, text in pairs}


def _matching(patterns: dict[re.Pattern[str], Any], weight: str, setting: str) -> list[Any]:
    found = [value for pattern, value in patterns.items() if pattern.search(weight)]
    if len(found) > 1:
        raise ValueError(f"Multiple matches in {setting} for weight {weight}")
    return found


class Pruning:
    """Sets the smallest of the masked weights to zero, more and more as training goes on.

    Args:
      spec: hyperparameters as `get_pruning_hparams` gives.
      global_step: the step; that of the graph if None.
      sparsity: which fraction of weights is to be zero, a tensor; computed by `spec` if None.
    """

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None):
        self._spec = spec if spec else get_pruning_hparams()
        _check(self._spec)
        step = tf.train.get_global_step() if global_step is None else global_step
        self._global_step = tf.cast(step, tf.int32)
        self._sparsity = self._scheduled_sparsity() if sparsity is None else sparsity
        self._assign_ops: list[Any] = []
        self._last_update_step = self._update_step_variable()
        self._block_dims = [self._spec.block_height, self._spec.block_width]
        self._block_dims_map = _by_pattern(self._spec.block_dims_map, _block_sizes)
        self._weight_sparsity_map = _by_pattern(self._spec.weight_sparsity_map, _sparsity)

    def _scheduled_sparsity(self) -> tf.Tensor:
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with tf.name_scope(spec.name):
            passed = tf.div(tf.cast(self._global_step - begin, tf.float32), end - begin)
            left = tf.pow(
                1 - tf.minimum(1.0, tf.maximum(0.0, passed)), spec.sparsity_function_exponent
            )
            missing = tf.multiply(spec.initial_sparsity - spec.target_sparsity, left)
            return tf.add(missing, spec.target_sparsity, name="sparsity")

    def _update_step_variable(self) -> Any:
        with tf.variable_scope(
            self._spec.name, use_resource=self._spec.use_tpu, reuse=tf.AUTO_REUSE
        ):
            return tf.get_variable(
                "last_mask_update_step",
                [],
                initializer=tf.zeros_initializer(),
                trainable=False,
                dtype=tf.int32,
            )

    def _get_block_dims(self, weight_name: str) -> list[int]:
        found = _matching(self._block_dims_map, weight_name, "block_dims_map")
        return list(found[0] if found else self._block_dims)

    def _get_sparsity(self, weight_name: str) -> Any:
        found = _matching(self._weight_sparsity_map, weight_name, "weight_sparsity_map")
        if not found:
            return self._sparsity
        return tf.multiply(self._sparsity, tf.div(found[0], self._spec.target_sparsity))

    def _update_mask(self, weights: Any, threshold: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """The threshold that leaves as many weights as are wanted, and the mask by it."""
        if self._sparsity is None:
            raise ValueError("Sparsity variable undefined")
        sparsity = self._get_sparsity(weights.op.name)
        decay = self._spec.threshold_decay
        with tf.name_scope(weights.op.name + "_pruning_ops"):
            sizes = tf.abs(weights)
            count = tf.size(sizes)
            kept = tf.cast(tf.round(tf.cast(count, tf.float32) * (1 - sparsity)), tf.int32)
            ordered, _ = tf.nn.top_k(tf.reshape(sizes, [-1]), k=count)
            wanted = tf.gather(ordered, kept - 1)
            smoothed = tf.add_n([tf.multiply(wanted, 1 - decay), tf.multiply(threshold, decay)])
            return smoothed, tf.cast(tf.greater_equal(sizes, smoothed), tf.float32)

    def _maybe_update_block_mask(self, weights: Any, threshold: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """As `_update_mask`, for blocks of a matrix where blocks are asked for."""
        name = weights.op.name
        window = self._get_block_dims(name)
        matrix = tf.squeeze(weights)
        if matrix.get_shape().ndims != 2 or window == [1, 1]:
            return self._update_mask(weights, threshold)
        height, width = matrix.get_shape().as_list()
        assert height is not None and width is not None
        whole = (height, width)
        window = [whole[i] if size == -1 else size for i, size in enumerate(window)]
        pooling = self._spec.block_pooling_function
        if pooling not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {pooling}")
        with tf.name_scope(name + "_pruning_ops"):
            image = tf.reshape(tf.abs(matrix), [1, height, width, 1])
            pooled = tf.nn.pool(
                image,
                window_shape=window,
                pooling_type=pooling,
                strides=window,
                padding="SAME",
                name=name + "_pooled",
            )
            pooled = tf.squeeze(pooled, axis=[0, 3])
            smoothed, mask = self._update_mask(pooled, threshold)
            expanded = tf.slice(blocks.expand_tensor(mask, window), [0, 0], [height, width])
        return smoothed, tf.reshape(expanded, tf.shape(weights))

    def _get_mask_assign_ops(self) -> None:
        if self._assign_ops:
            raise ValueError("Assign op list not empty. _get_mask_assign_ops() called twice?")
        masks, weights, thresholds = get_masks(), get_weights(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(
                f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch"
            )
        for mask, weight, threshold in zip(masks, weights, thresholds, strict=True):
            assign: Callable[[Any, Any], Any] = blocks.variable_assign
            if hasattr(weight, "as_tensor"):  # it is in parts
                weight, assign = weight.as_tensor(), blocks.partitioned_variable_assign
            new_threshold, new_mask = self._maybe_update_block_mask(weight, threshold)
            self._assign_ops.append(blocks.variable_assign(threshold, new_threshold))
            self._assign_ops.append(assign(mask, new_mask))

    def mask_update_op(self) -> tf.Operation:
        """The operation that prunes, and notes the step."""
        with tf.name_scope(self._spec.name):
            if not self._assign_ops:
                self._get_mask_assign_ops()
            noted = tf.assign(
                self._last_update_step, self._global_step, name="last_mask_update_step_assign"
            )
            with tf.control_dependencies([noted]), tf.control_dependencies(self._assign_ops):
                logging.info("Updating masks.")
                return tf.no_op("mask_update")

    def _is_due(self) -> tf.Tensor:
        spec, step = self._spec, self._global_step
        with tf.name_scope(spec.name):
            not_ended = tf.logical_or(
                tf.less_equal(step, spec.end_pruning_step), tf.less(spec.end_pruning_step, 0)
            )
            within = tf.logical_and(tf.greater_equal(step, spec.begin_pruning_step), not_ended)
            due = tf.less_equal(tf.add(self._last_update_step, spec.pruning_frequency), step)
            return tf.logical_and(within, due)

    def conditional_mask_update_op(self) -> Any:
        """The operation to run at every training step: it prunes when it is time to."""
        return tf.cond(self._is_due(), self.mask_update_op, tf.no_op)

    def add_pruning_summaries(self) -> None:
        """Summaries of the wanted sparsity, and of each mask's sparsity and threshold."""
        with tf.name_scope(f"{self._spec.name}_summaries"):
            tf.summary.scalar("sparsity", self._sparsity)
            tf.summary.scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=True):
                tf.summary.scalar(f"{mask.op.name}/sparsity", tf.nn.zero_fraction(mask))
                tf.summary.scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs the settings."""
        logging.info(self._spec.to_json())
