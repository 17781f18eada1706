"""Attention between sequences that are known as a whole."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer

__all__ = ["AdditiveAttention", "Attention"]


class BaseDenseAttention(Layer):
    """Weighs the steps of a value for each step of a query.

    It is called on `[query, value]` or `[query, value, key]`, each of (batch, steps, size), with
    masks `[query_mask, value_mask]`.

    Args:
      causal: whether a step sees only the steps up to its own.
    """

    _CONFIG: tuple[str, ...] = ("causal",)

    def __init__(self, causal: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.causal = causal
        self.supports_masking = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        """How much each step of the key matters to each of the query: (batch, query, key)."""
        raise NotImplementedError("Abstract method")

    def _apply_scores(self, scores: Any, value: Any, scores_mask: Any = None) -> Any:
        """The value's steps, weighed by a softmax of the scores where the mask is True."""
        if scores_mask is not None:
            scores -= 1.0e9 * tf.cast(tf.logical_not(scores_mask), K.floatx())
        return tf.matmul(tf.nn.softmax(scores), value)

    def call(self, inputs: Any, mask: Any = None) -> Any:
        self._check_arguments(inputs, mask)
        query, value = inputs[:2]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = mask or (None, None)
        scores = self._calculate_scores(query=query, key=key)
        value_mask = None if value_mask is None else tf.expand_dims(value_mask, axis=-2)
        causal_mask = _up_to_own_step(scores) if self.causal else None
        scores_mask = _merge_masks(value_mask, causal_mask)
        result = self._apply_scores(scores=scores, value=value, scores_mask=scores_mask)
        if query_mask is not None:
            result *= tf.cast(tf.expand_dims(query_mask, axis=-1), result.dtype)
        return result

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        self._check_arguments(inputs, mask)
        if not mask or mask[0] is None:
            return None
        return tf.convert_to_tensor(mask[0])

    def compute_output_shape(self, input_shape: Any) -> Any:
        query, value = (tf.TensorShape(shape) for shape in input_shape[:2])
        return query[:-1].concatenate(value[-1:])

    def _check_arguments(self, inputs: Any, mask: Any) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or "
                "[query, value, key]."
            )
        if len(inputs) not in (2, 3):
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or "
                f"[query, value, key]. Given length: {len(inputs)}"
            )
        if not mask:
            return
        if not isinstance(mask, list):
            raise ValueError(f"{name} layer mask must be a list, namely [query_mask, value_mask].")
        if len(mask) != 2:
            raise ValueError(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. "
                f"Given length: {len(mask)}"
            )


def _up_to_own_step(scores: Any) -> Any:
    """True where the key's step is not after the query's: (1, query, key)."""
    shape = tf.shape(scores)
    return _lower_triangular_mask(tf.concat([tf.ones_like(shape[:-2]), shape[-2:]], axis=0))


def _lower_triangular_mask(shape: Any) -> Any:
    """True on and below the diagonal of the last two dimensions."""
    ones = tf.ones(shape, tf.int32)
    return tf.greater_equal(tf.cumsum(ones, axis=-2), tf.cumsum(ones, axis=-1))


def _merge_masks(x: Any, y: Any) -> Any:
    """Both masks in one; None is none."""
    if x is None or y is None:
        return y if x is None else x
    return tf.logical_and(x, y)


class Attention(BaseDenseAttention):
    """Attention by the products of queries and keys (Luong's).

    Args:
      use_scale: whether a trained number scales the scores.
    """

    _CONFIG = ("causal", "use_scale")

    def __init__(self, use_scale: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.use_scale = use_scale
        self.scale: Any = None

    def build(self, input_shape: Any) -> None:
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones")
        super().build(input_shape)

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        scores = tf.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


class AdditiveAttention(BaseDenseAttention):
    """Attention by the tanh of sums of queries and keys (Bahdanau's).

    Args:
      use_scale: whether a trained vector weighs the elements of the sums.
    """

    _CONFIG = ("causal", "use_scale")

    def __init__(self, use_scale: bool = True, **kwargs: Any):
        super().__init__(**kwargs)
        self.use_scale = use_scale
        self.scale: Any = None

    def build(self, input_shape: Any) -> None:
        if self.use_scale:
            size = tf.TensorShape(input_shape[1]).as_list()[-1]
            self.scale = self.add_weight(name="scale", shape=[size], initializer="glorot_uniform")
        super().build(input_shape)

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        sums = tf.tanh(tf.expand_dims(query, axis=-2) + tf.expand_dims(key, axis=-3))
        return tf.reduce_sum((1.0 if self.scale is None else self.scale) * sums, axis=-1)
