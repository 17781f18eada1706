"""Attention mechanisms that are Keras layers: they may get their memory when they are called."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.seq2seq.attention_mechanisms import (
    AttentionMechanism,
    _bahdanau_score,
    _luong_score,
    _maybe_mask_score,
    _prepare_memory,
    hardmax,
)
from penstock.contrib.seq2seq.dimensions import size_of
from penstock.contrib.seq2seq.monotonic_attention import _monotonic_probability_fn
from penstock.keras import initializers, layers
from penstock.nest import flatten
from penstock.rnn.sizes import zero_state_tensors

__all__ = [
    "BahdanauAttentionV2",
    "BahdanauMonotonicAttentionV2",
    "LuongAttentionV2",
    "LuongMonotonicAttentionV2",
]

_PROBABILITIES: dict[str, Callable[[Any], Any]] = {"softmax": tf.nn.softmax, "hardmax": hardmax}


def _projection(units: int, name: str, dtype: Any) -> Any:
    return layers.Dense(units, name=name, use_bias=False, dtype=dtype or tf.float32)


def _probability_fn(name: str) -> Callable[[Any, Any], Any]:
    if name not in _PROBABILITIES:
        raise ValueError(
            f"Invalid probability function: {name}, options are {_PROBABILITIES.keys()}"
        )
    return lambda score, _: _PROBABILITIES[name](score)


class _BaseAttentionMechanismV2(AttentionMechanism, layers.Layer):
    """Keys and values of a memory, which is set up once, and then queried in each step."""

    takes_list = True

    def __init__(
        self,
        memory: Any,
        probability_fn: Any,
        query_layer: Any = None,
        memory_layer: Any = None,
        memory_sequence_length: Any = None,
        **kwargs: Any,
    ):
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, layers.Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(
                f"probability_fn must be callable, saw type: {type(probability_fn).__name__}"
            )
        if memory_layer is not None:
            kwargs.setdefault("dtype", memory_layer.dtype)
        super().__init__(**kwargs)
        self.query_layer = query_layer
        self.memory_layer = memory_layer
        self.probability_fn = probability_fn
        self.keys: Any = None
        self.values: Any = None
        self.batch_size: Any = None
        self._alignments_size: Any = None
        self._memory_initialized = False
        self.supports_masking = True
        self.score_mask_value = tf.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        if memory is not None:
            lengths = memory_sequence_length
            given = memory if lengths is None else [memory, lengths]
            self.values = super().__call__(given, setup_memory=True)

    def build(self, input_shape: Any) -> None:
        """Builds the layer of the memory first, and that of queries after that."""
        first = input_shape[0] if isinstance(input_shape, list) else input_shape
        layer = self.query_layer if self._memory_initialized else self.memory_layer
        if layer is not None and not layer.built:
            layer.build(first)

    def __call__(self, inputs: Any, **kwargs: Any) -> Any:
        if self._memory_initialized:
            if len(inputs) not in (2, 3):
                raise ValueError(f"Expect the inputs to have 2 or 3 tensors, got {len(inputs)}")
            if len(inputs) == 2:
                inputs = [*inputs, self.values]  # so that Keras knows where they come from
        return super().__call__(inputs, **kwargs)

    def call(self, inputs: Any, mask: Any = None, setup_memory: bool = False, **kwargs: Any) -> Any:
        """Sets up the memory, or gives the alignments and the next state of a query."""
        if setup_memory:
            given = inputs if isinstance(inputs, list) else [inputs]
            if len(given) not in (1, 2):
                raise ValueError(f"Expect inputs to have 1 or 2 tensors, got {len(given)}")
            self._setup_memory(given[0], given[1] if len(given) == 2 else None, mask)
            self.built = False  # queries have weights of their own
            return self.values
        if not self._memory_initialized:
            raise ValueError("Cannot query the attention before the setup of memory")
        return self._calculate_attention(inputs[0], inputs[1])

    def _setup_memory(self, memory: Any, lengths: Any, mask: Any) -> None:
        if self._memory_initialized:
            raise ValueError("The memory for the attention has already been setup.")
        if lengths is not None and mask is not None:
            raise ValueError(
                "memory_sequence_length and memory_mask cannot be used at same time for attention."
            )
        with tf.name_scope(self.name, "BaseAttentionMechanismInit", flatten(memory)):
            self.values = _prepare_memory(memory, memory_sequence_length=lengths, memory_mask=mask)
            has_layer = self.memory_layer is not None
            self.keys = self.memory_layer(self.values) if has_layer else self.values
            self.batch_size = size_of(self.keys, 0)
            self._alignments_size = size_of(self.keys, 1)
            if mask is not None:
                self.probability_fn = self._masked(self.probability_fn, mask)
        self._memory_initialized = True

    def _masked(self, probability_fn: Any, mask: Any) -> Callable[[Any, Any], Any]:
        def masked(score: Any, state: Any) -> Any:
            kept = _maybe_mask_score(
                score, memory_mask=mask, score_mask_value=self.score_mask_value
            )
            return probability_fn(kept, state)

        return masked

    def _score(self, query: Any) -> Any:
        """How much a query has to do with each part of the memory."""
        raise NotImplementedError

    def _calculate_attention(self, query: Any, state: Any) -> tuple[Any, Any]:
        alignments = self.probability_fn(self._score(query), state)
        return alignments, alignments

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Neither alignments nor states have a mask."""
        return None, None

    def get_config(self) -> dict[str, Any]:
        """What `from_config` makes an equal mechanism of, without the memory."""
        config = super().get_config()
        for what in ("query_layer", "memory_layer"):
            layer = getattr(self, what)
            if layer is not None:
                config[what] = {
                    "class_name": type(layer).__name__,
                    "config": layer.get_config(),
                }
        return {**config, "memory": None}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A mechanism of what `get_config` gave."""
        made = dict(config)
        for what in ("query_layer", "memory_layer"):
            if made.get(what):
                made[what] = layers.deserialize(made[what], custom_objects=custom_objects)
        return cls(**made)

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


class LuongAttentionV2(_BaseAttentionMechanismV2):
    """Attention by inner products; see `LuongAttention`.

    Args:
      units: the size of keys, which is that of queries.
      memory: what is attended to, `[batch, time, …]`; None if the layer is called with it.
      scale: whether a weight scales the scores.
      probability_fn: "softmax" or "hardmax".
    """

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: str = "softmax",
        dtype: Any = None,
        name: str = "LuongAttention",
        **kwargs: Any,
    ):
        self.probability_fn_name = probability_fn
        self.units = units
        self.scale = scale
        self.scale_weight: Any = None
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            memory_layer=kwargs.pop("memory_layer", None)
            or _projection(units, "memory_layer", dtype),
            probability_fn=_probability_fn(probability_fn),
            name=name,
            dtype=dtype or tf.float32,
            **kwargs,
        )

    def build(self, input_shape: Any) -> None:
        """Makes the weight of the scores."""
        super().build(input_shape)
        if self.scale and self.scale_weight is None:
            self.scale_weight = self.add_weight(
                "attention_g", initializer=tf.ones_initializer, shape=()
            )
        self.built = True

    def _score(self, query: Any) -> Any:
        return _luong_score(query, self.keys, self.scale_weight)

    def get_config(self) -> dict[str, Any]:
        """See `_BaseAttentionMechanismV2`."""
        return {
            **super().get_config(),
            "units": self.units,
            "scale": self.scale,
            "probability_fn": self.probability_fn_name,
        }


class _AddsQueries(_BaseAttentionMechanismV2):
    """Attention by a layer of sums of keys and queries."""

    units: int
    normalize: bool
    kernel_initializer: Any
    attention_v: Any = None
    attention_g: Any = None
    attention_b: Any = None

    def build(self, input_shape: Any) -> None:
        """Makes the weights of the scores."""
        super().build(input_shape)
        if self.attention_v is None:
            self.attention_v = self.add_weight(
                "attention_v", [self.units], dtype=self.dtype, initializer=self.kernel_initializer
            )
        self._build_bias()
        if self.normalize and self.attention_g is None:
            start = tf.constant_initializer(math.sqrt(1.0 / self.units))
            self.attention_g = self.add_weight(
                "attention_g", dtype=self.dtype, initializer=start, shape=()
            )
            self.attention_b = self.add_weight(
                "attention_b", [self.units], dtype=self.dtype, initializer=tf.zeros_initializer()
            )
        self.built = True

    def _build_bias(self) -> None:
        """Makes what is added to scores, for mechanisms that have that."""

    def _score(self, query: Any) -> Any:
        processed = self.query_layer(query) if self.query_layer else query
        return _bahdanau_score(
            processed,
            self.keys,
            self.attention_v,
            attention_g=self.attention_g,
            attention_b=self.attention_b,
        )

    def get_config(self) -> dict[str, Any]:
        """See `_BaseAttentionMechanismV2`."""
        return {
            **super().get_config(),
            "units": self.units,
            "normalize": self.normalize,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
        }


class BahdanauAttentionV2(_AddsQueries):
    """Attention by a layer of sums of keys and queries; see `BahdanauAttention`.

    Args:
      units: the size of keys and of processed queries.
      memory: what is attended to, `[batch, time, …]`; None if the layer is called with it.
      normalize: whether the weights of the scores are normalized.
      probability_fn: "softmax" or "hardmax".
    """

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: str = "softmax",
        kernel_initializer: Any = "glorot_uniform",
        dtype: Any = None,
        name: str = "BahdanauAttention",
        **kwargs: Any,
    ):
        self.probability_fn_name = probability_fn
        self.units = units
        self.normalize = normalize
        self.kernel_initializer = initializers.get(kernel_initializer)
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=kwargs.pop("query_layer", None) or _projection(units, "query_layer", dtype),
            memory_layer=kwargs.pop("memory_layer", None)
            or _projection(units, "memory_layer", dtype),
            probability_fn=_probability_fn(probability_fn),
            name=name,
            dtype=dtype or tf.float32,
            **kwargs,
        )

    def get_config(self) -> dict[str, Any]:
        """See `_BaseAttentionMechanismV2`."""
        return {**super().get_config(), "probability_fn": self.probability_fn_name}


class _Monotonic(_BaseAttentionMechanismV2):
    """A mechanism whose alignments never go back."""

    sigmoid_noise: float
    sigmoid_noise_seed: int | None
    score_bias_init: float
    mode: str
    attention_score_bias: Any = None

    def _remember(self, noise: float, seed: int | None, bias: float, mode: str) -> Any:
        """Keeps the settings, and gives the function of scores that they make."""
        self.sigmoid_noise, self.sigmoid_noise_seed = noise, seed
        self.score_bias_init, self.mode = bias, mode
        return functools.partial(
            _monotonic_probability_fn, sigmoid_noise=noise, mode=mode, seed=seed
        )

    def _build_bias(self) -> None:
        if self.attention_score_bias is None:
            self.attention_score_bias = self.add_weight(
                "attention_score_bias",
                shape=(),
                dtype=self.dtype,
                initializer=tf.constant_initializer(self.score_bias_init, dtype=self.dtype),
            )

    def _score(self, query: Any) -> Any:
        return super()._score(query) + self.attention_score_bias

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step: all on the first part of the memory."""
        first = tf.zeros((batch_size,), dtype=tf.int32)
        return tf.one_hot(first, self._alignments_size, dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        """See `_BaseAttentionMechanismV2`."""
        return {
            **super().get_config(),
            "sigmoid_noise": self.sigmoid_noise,
            "sigmoid_noise_seed": self.sigmoid_noise_seed,
            "score_bias_init": self.score_bias_init,
            "mode": self.mode,
        }


class BahdanauMonotonicAttentionV2(_Monotonic, _AddsQueries):
    """Monotonic attention with the scores of `BahdanauAttentionV2`.

    Args:
      sigmoid_noise: the standard deviation of what is added to scores.
      score_bias_init: what the bias of scores begins with.
      mode: "recursive", "parallel" or "hard".
    """

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        kernel_initializer: Any = "glorot_uniform",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
        **kwargs: Any,
    ):
        self.units = units
        self.normalize = normalize
        self.kernel_initializer = initializers.get(kernel_initializer)
        probability_fn = self._remember(sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode)
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=kwargs.pop("query_layer", None) or _projection(units, "query_layer", dtype),
            memory_layer=kwargs.pop("memory_layer", None)
            or _projection(units, "memory_layer", dtype),
            probability_fn=probability_fn,
            name=name,
            dtype=dtype or tf.float32,
            **kwargs,
        )


class LuongMonotonicAttentionV2(_Monotonic):
    """Monotonic attention with the scores of `LuongAttentionV2`; see there and above."""

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
        **kwargs: Any,
    ):
        self.units = units
        self.scale = scale
        self.attention_g: Any = None
        probability_fn = self._remember(sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode)
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            memory_layer=kwargs.pop("memory_layer", None)
            or _projection(units, "memory_layer", dtype),
            probability_fn=probability_fn,
            name=name,
            dtype=dtype or tf.float32,
            **kwargs,
        )

    def build(self, input_shape: Any) -> None:
        """Makes the weights of the scores."""
        super().build(input_shape)
        if self.scale and self.attention_g is None:
            self.attention_g = self.add_weight(
                "attention_g", initializer=tf.ones_initializer, shape=()
            )
        self._build_bias()
        self.built = True

    def _score(self, query: Any) -> Any:
        return _luong_score(query, self.keys, self.attention_g) + self.attention_score_bias

    def get_config(self) -> dict[str, Any]:
        """See `_BaseAttentionMechanismV2`."""
        return {**super().get_config(), "units": self.units, "scale": self.scale}
