"""How a decoder scores the memory that it attends to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.seq2seq.dimensions import size_of
from penstock.nest import flatten, map_structure
from penstock.rnn.sizes import zero_state_tensors

__all__ = ["AttentionMechanism", "BahdanauAttention", "LuongAttention", "hardmax"]


def hardmax(logits: Any, name: str | None = None) -> Any:
    """One where the greatest logit of a row is, and zero elsewhere."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        return tf.one_hot(tf.argmax(logits, -1), size_of(logits, -1), dtype=logits.dtype)


class AttentionMechanism:
    """What an AttentionWrapper calls: `alignments, next_state = mechanism(query, state)`."""

    #: Whether query and state come in one list, as the inputs of a layer.
    takes_list = False

    @property
    def alignments_size(self) -> Any:
        """The length of the memory."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the mechanism's state."""
        raise NotImplementedError


class _BaseAttentionMechanism(AttentionMechanism):
    """Keys and values made of a memory, and the masking of what lies behind its sequences."""

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str | None = None,
    ):
        _check_layer("query_layer", query_layer)
        _check_layer("memory_layer", memory_layer)
        if not callable(probability_fn):
            raise TypeError(
                f"probability_fn must be callable, saw type: {type(probability_fn).__name__}"
            )
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self.dtype = memory_layer.dtype
        if score_mask_value is None:
            score_mask_value = tf.as_dtype(self.dtype).as_numpy_dtype(-np.inf)

        def probability(score: Any, state: Any) -> Any:
            masked = _maybe_mask_score(
                score,
                memory_sequence_length=memory_sequence_length,
                score_mask_value=score_mask_value,
            )
            return probability_fn(masked, state)

        self._probability_fn = probability
        with tf.name_scope(name, "BaseAttentionMechanismInit", flatten(memory)):
            self._values = _prepare_memory(
                memory,
                memory_sequence_length=memory_sequence_length,
                check_inner_dims_defined=check_inner_dims_defined,
            )
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

    @property
    def memory_layer(self) -> Any:
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        return self._query_layer

    @property
    def values(self) -> Any:
        return self._values

    @property
    def keys(self) -> Any:
        return self._keys

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step: zeros."""
        return zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step: the initial alignments."""
        return self.initial_alignments(batch_size, dtype)


def _check_layer(what: str, layer: Any) -> None:
    if layer is not None and not isinstance(layer, tf.layers.Layer):
        raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")


def projection(num_units: int, name: str, dtype: Any) -> Any:
    """A dense layer without bias, as keys and queries are made with."""
    return tf.layers.Dense(num_units, name=name, use_bias=False, dtype=dtype or tf.float32)


def _prepare_memory(
    memory: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    check_inner_dims_defined: bool = True,
) -> Any:
    """The memory with zeros behind the end of each sequence."""
    memory = map_structure(lambda m: tf.convert_to_tensor(m, name="memory"), memory)
    _check_one_mask(memory_sequence_length, memory_mask)
    if check_inner_dims_defined:
        map_structure(_check_inner_sizes, memory)
    first = flatten(memory)[0]
    if memory_sequence_length is not None:
        lengths = tf.convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
        mask = tf.sequence_mask(lengths, maxlen=tf.shape(first)[1], dtype=first.dtype)
    elif memory_mask is not None:
        mask = tf.cast(memory_mask, first.dtype)
    else:
        return memory

    def masked(m: Any) -> Any:
        rank = tf.rank(m) if m.shape.ndims is None else m.shape.ndims
        ones = tf.ones(rank - 2, dtype=tf.int32)
        return m * tf.reshape(mask, tf.concat([tf.shape(mask), ones], 0))

    return map_structure(masked, memory)


def _check_one_mask(memory_sequence_length: Any, memory_mask: Any) -> None:
    if memory_sequence_length is not None and memory_mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")


def _check_inner_sizes(m: Any) -> None:
    if not m.get_shape()[2:].is_fully_defined():
        raise ValueError(
            f"Expected memory {m.name} to have fully defined inner dims, but saw shape: "
            f"{m.get_shape()}"
        )


def _maybe_mask_score(
    score: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    score_mask_value: Any = None,
) -> Any:
    """The score with a given value behind the end of each sequence."""
    _check_one_mask(memory_sequence_length, memory_mask)
    if memory_sequence_length is not None:
        positive = tf.assert_positive(
            memory_sequence_length,
            message="All values in memory_sequence_length must be greater than zero.",
        )
        with tf.control_dependencies([positive]):
            memory_mask = tf.sequence_mask(memory_sequence_length, maxlen=tf.shape(score)[1])
    if memory_mask is None:
        return score
    return tf.where(memory_mask, score, score_mask_value * tf.ones_like(score))


# Luong ----------------------------------------------------------------------------------------


def _luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """The inner products of a query `[batch, depth]` and keys `[batch, time, depth]`."""
    depth, key_units = query.get_shape()[-1], keys.get_shape()[-1]
    if depth != key_units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys. Query "
            f"({query}) has units: {depth}. Keys ({keys}) have units: {key_units}. Perhaps you "
            f"need to set num_units to the keys' dimension ({key_units})?"
        )
    score = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def luong_scale(query: Any) -> Any:
    """The factor of a scaled Luong score."""
    return tf.get_variable(
        "attention_g", dtype=query.dtype, initializer=tf.ones_initializer, shape=()
    )


class LuongAttention(_BaseAttentionMechanism):
    """Attention by inner products (Luong, Pham, Manning: arXiv:1508.04025).

    Args:
      num_units: The depth of the keys, which must be that of the query.
      memory: `[batch, time, …]`: usually the outputs of an encoder.
      memory_sequence_length: Lengths of the memory's sequences.
      scale: Whether to scale the scores by a variable.
      probability_fn: Makes alignments of scores; `tf.nn.softmax` if None.
      custom_key_value_fn: A function of keys and values that returns others.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str | None = "LuongAttention",
    ):
        probability = probability_fn or tf.nn.softmax
        super().__init__(
            query_layer=None,
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: probability(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments of a query `[batch, depth]`, twice: they are the next state too."""
        with tf.variable_scope(None, "luong_attention", [query]):
            scale = luong_scale(query) if self._scale else None
            score = _luong_score(query, self._keys, scale)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


# Bahdanau -------------------------------------------------------------------------------------


def _bahdanau_score(
    processed_query: Any,
    keys: Any,
    attention_v: Any,
    attention_g: Any = None,
    attention_b: Any = None,
) -> Any:
    """`v · tanh(keys + query)`; with g and b, v is normalized and b is added to the sum."""
    total = keys + tf.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return tf.reduce_sum(attention_v * tf.tanh(total), [2])
    length = tf.rsqrt(tf.reduce_sum(tf.square(attention_v)))
    return tf.reduce_sum(attention_g * attention_v * length * tf.tanh(total + attention_b), [2])


def bahdanau_score_of(query: Any, keys: Any, num_units: int, normalize: bool) -> Any:
    """The score of a projected query, with variables of the current scope."""
    dtype = query.dtype
    v = tf.get_variable("attention_v", [num_units], dtype=dtype)
    if not normalize:
        return _bahdanau_score(query, keys, v)
    start = tf.constant_initializer(math.sqrt(1.0 / num_units))
    g = tf.get_variable("attention_g", dtype=dtype, initializer=start, shape=())
    b = tf.get_variable("attention_b", [num_units], dtype, tf.zeros_initializer())
    return _bahdanau_score(query, keys, v, attention_g=g, attention_b=b)


class BahdanauAttention(_BaseAttentionMechanism):
    """Attention by a layer with tanh (Bahdanau, Cho, Bengio: arXiv:1409.0473).

    Args:
      num_units: The depth that query and memory are projected to.
      memory: `[batch, time, …]`: usually the outputs of an encoder.
      memory_sequence_length: Lengths of the memory's sequences.
      normalize: Whether to normalize the weights (Salimans, Kingma: arXiv:1602.07868).
      probability_fn: Makes alignments of scores; `tf.nn.softmax` if None.
      custom_key_value_fn: A function of keys and values that returns others.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Any = None,
        name: str | None = "BahdanauAttention",
    ):
        probability = probability_fn or tf.nn.softmax
        super().__init__(
            query_layer=projection(num_units, "query_layer", dtype),
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: probability(score),
            custom_key_value_fn=custom_key_value_fn,
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments of a query `[batch, depth]`, twice: they are the next state too."""
        with tf.variable_scope(None, "bahdanau_attention", [query]):
            projected = self.query_layer(query) if self.query_layer else query
            score = bahdanau_score_of(projected, self._keys, self._num_units, self._normalize)
        alignments = self._probability_fn(score, state)
        return alignments, alignments
