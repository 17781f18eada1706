"""Attention mechanisms that are layers give what the older ones give, with the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.seq2seq import layer_attention, samplers
from penstock.contrib.seq2seq.layer_decoders import BasicDecoderV2
from penstock.eager import context

RANDOM = np.random.RandomState(5)
MEMORY = RANDOM.randn(3, 6, 4).astype(np.float32)
QUERY = RANDOM.randn(3, 4).astype(np.float32)
STATE = np.eye(6, dtype=np.float32)[:3]
NAMES = ["Luong", "Bahdanau", "LuongMonotonic", "BahdanauMonotonic"]


def _projection(name: str) -> Any:
    start = tf.constant_initializer(0.3)
    return tf.keras.layers.Dense(4, use_bias=False, kernel_initializer=start, name=name)


def _mechanism(name: str, memory: Any, **options: Any) -> Any:
    layers = {"memory_layer": _projection("memory_layer")}
    if name.startswith("Bahdanau"):
        layers |= {"query_layer": _projection("query_layer")}
        options.setdefault("kernel_initializer", "ones")
    return getattr(layer_attention, f"{name}AttentionV2")(4, memory, **layers, **options)


def _run(tensors: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


@pytest.mark.parametrize("name", NAMES)
def test_alignments_equal_those_of_the_older_mechanisms(name: str) -> None:
    new, _ = _mechanism(name, tf.constant(MEMORY))([tf.constant(QUERY), tf.constant(STATE)])
    with tf.variable_scope("", initializer=tf.constant_initializer(0.3)):
        older = getattr(tf.contrib.seq2seq, f"{name}Attention")(4, MEMORY)
        with tf.variable_scope("v", custom_getter=_ones_for_v):
            old, _ = older(tf.constant(QUERY), state=tf.constant(STATE))
    found, expected = _run([new, old])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def _ones_for_v(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    if name.endswith("attention_v"):
        kwargs["initializer"] = tf.ones_initializer()
    return getter(name, *args, **kwargs)


@pytest.mark.parametrize("name", NAMES)
def test_memory_may_come_later(name: str) -> None:
    early = _mechanism(name, tf.constant(MEMORY), memory_sequence_length=[3, 6, 2])
    late = _mechanism(name, None)
    with pytest.raises(ValueError, match="before the setup of memory"):
        late([tf.constant(QUERY), tf.constant(STATE)])
    late([tf.constant(MEMORY), tf.constant([3, 6, 2])], setup_memory=True)
    with pytest.raises(ValueError, match="Expect the inputs to have 2 or 3 tensors, got 1"):
        late([tf.constant(QUERY)])
    first, second = _run(
        [each([tf.constant(QUERY), tf.constant(STATE)])[0] for each in (early, late)]
    )
    np.testing.assert_array_equal(first, second)


def test_what_is_masked_gets_no_attention() -> None:
    mechanism = _mechanism("Luong", None)
    mask = tf.sequence_mask([3, 6, 2], 6)
    mechanism(tf.constant(MEMORY), mask=mask, setup_memory=True)
    alignments, _ = mechanism([tf.constant(QUERY), tf.constant(STATE)])
    found = _run(alignments)
    assert not found[0, 3:].any() and not found[2, 2:].any() and found[1].all()


@pytest.mark.parametrize("name", NAMES)
def test_configurations_come_back(name: str) -> None:
    option = {"scale": True} if name.startswith("Luong") else {"normalize": True}
    mechanism = _mechanism(name, tf.constant(MEMORY), **option)
    again = type(mechanism).from_config(mechanism.get_config())
    assert again.units == 4 and again.memory_layer.units == 4
    assert again.get_config() == mechanism.get_config()


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="Invalid probability function: zz"):
        _mechanism("Luong", tf.constant(MEMORY), probability_fn="zz")
    with pytest.raises(TypeError, match="memory_layer is not a Layer: int"):
        layer_attention.LuongAttentionV2(4, tf.constant(MEMORY), memory_layer=3)


@pytest.mark.parametrize("eager", [False, True])
def test_wrapped_cells_attend(eager: bool) -> None:
    with context.eager_mode() if eager else tf.Graph().as_default():
        cell = tf.contrib.seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.LSTMCell(4), _mechanism("Luong", tf.constant(MEMORY))
        )
        decoder = BasicDecoderV2(cell, samplers.TrainingSampler())
        outputs, state, _ = decoder(
            tf.constant(MEMORY),
            initial_state=cell.zero_state(3, tf.float32),
            sequence_length=tf.constant([3, 6, 2]),
        )
        values = [outputs.rnn_output, state.alignments]
        found, alignments = [v.numpy() for v in values] if eager else _run(values)
    assert found.shape == (3, 6, 4)
    np.testing.assert_allclose(alignments.sum(1), 1, rtol=1e-5)
