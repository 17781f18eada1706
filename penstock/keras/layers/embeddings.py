"""Vectors for integers."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.layers import identifiers

__all__ = ["Embedding"]


class Embedding(Layer):
    """A trained vector for each integer.

    Args:
      input_dim: how many integers there are, from 0.
      output_dim: length of the vectors.
      mask_zero: masks steps that are 0.
      input_length: length of the input sequences, if it is fixed.
    """

    _CONFIG = (
        "input_dim",
        "output_dim",
        "embeddings_initializer",
        "embeddings_regularizer",
        "activity_regularizer",
        "embeddings_constraint",
        "mask_zero",
        "input_length",
    )

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **kwargs: Any,
    ):
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            lengths = input_length if isinstance(input_length, (list, tuple)) else (input_length,)
            kwargs["input_shape"] = tuple(lengths) if input_length else (None,)
        dtype = kwargs.pop("dtype", None) or K.floatx()
        super().__init__(dtype=dtype, **kwargs)
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.embeddings_initializer = identifiers.initializer(embeddings_initializer)
        self.embeddings_regularizer = identifiers.regularizer(embeddings_regularizer)
        self.activity_regularizer = identifiers.regularizer(activity_regularizer)
        self.embeddings_constraint = identifiers.constraint(embeddings_constraint)
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape: Any) -> None:
        self.embeddings = self.add_weight(
            shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            name="embeddings",
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        batch, *sizes = tf.TensorShape(input_shape).as_list()
        if self.input_length is None:
            return tf.TensorShape([batch, *sizes, self.output_dim])
        is_several = isinstance(self.input_length, (list, tuple))
        lengths = list(self.input_length) if is_several else [self.input_length]
        fault = ValueError(
            f'"input_length" is {self.input_length}, but received input has shape {input_shape}'
        )
        if len(lengths) != len(sizes):
            raise fault
        for index, (length, size) in enumerate(zip(lengths, sizes, strict=True)):
            if None not in (length, size) and length != size:
                raise fault
            if length is None:
                lengths[index] = size
        return tf.TensorShape([batch, *lengths, self.output_dim])

    def call(self, inputs: Any) -> Any:
        if K.dtype(inputs) not in ("int32", "int64"):
            inputs = tf.cast(inputs, tf.int32)
        return tf.nn.embedding_lookup(self.embeddings, inputs)
