"""A cell that attends to a memory in each step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.framework.tensor_checks import with_same_shape
from penstock.contrib.seq2seq.attention_mechanisms import (
    AttentionMechanism,
    BahdanauAttention,
    LuongAttention,
    _BaseAttentionMechanism,
    _maybe_mask_score,
    _prepare_memory,
    hardmax,
)
from penstock.contrib.seq2seq.dimensions import size_of
from penstock.contrib.seq2seq.monotonic_attention import (
    BahdanauMonotonicAttention,
    LuongMonotonicAttention,
    _BaseMonotonicAttentionMechanism,
    _monotonic_probability_fn,
    monotonic_attention,
    safe_cumprod,
)
from penstock.nest import flatten, map_structure
from penstock.rnn.cell import RNNCell, assert_like_rnncell
from penstock.rnn.sizes import zero_state_tensors
from penstock.shapes import TensorShape, dimension_value

__all__ = [
    "AttentionMechanism",
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "LuongAttention",
    "LuongMonotonicAttention",
    "_BaseAttentionMechanism",
    "_BaseMonotonicAttentionMechanism",
    "_maybe_mask_score",
    "_monotonic_probability_fn",
    "_prepare_memory",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
]


class _StateFields(NamedTuple):
    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any


class AttentionWrapperState(_StateFields):
    """The state of an AttentionWrapper: the cell's, and what it last attended to."""

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """A state with some fields replaced by others of the same shapes.

        >>> state = wrapper.zero_state(batch_size, tf.float32).clone(cell_state=encoder_state)
        """

        def checked(old: Any, new: Any) -> Any:
            both = isinstance(old, tf.Tensor) and isinstance(new, tf.Tensor)
            return with_same_shape(old, new) if both else new

        return map_structure(checked, self, self._replace(**kwargs))


def _compute_attention(
    attention_mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any
) -> tuple[Any, Any, Any]:
    """The attention of one mechanism, its alignments and its next state."""
    if attention_mechanism.takes_list:
        alignments, next_state = attention_mechanism([cell_output, attention_state])
    else:
        alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = tf.matmul(tf.expand_dims(alignments, 1), attention_mechanism.values)
    context = tf.squeeze(context, [1])
    if attention_layer is None:
        return context, alignments, next_state
    return attention_layer(tf.concat([cell_output, context], 1)), alignments, next_state


def _beam_advice(what: str, other: str, advice: str) -> str:
    return (
        f"{what}: Non-matching batch sizes between the memory (encoder output) and {other}. Are "
        f"you using the BeamSearchDecoder? {advice}"
    )


class AttentionWrapper(RNNCell):
    """Wraps a cell: its inputs get the last attention, its output is a query of the memory.

    Args:
      cell: The cell.
      attention_mechanism: One mechanism, or a list of them.
      attention_layer_size: The depth of the attention vector (per mechanism, if there are
        several), a projection of the cell's output and the context; the context itself if None.
      alignment_history: Whether the state keeps the alignments of all steps, in a TensorArray.
      cell_input_fn: A function of inputs and attention that makes the cell's inputs; they are
        concatenated if None.
      output_attention: Whether the output is the attention, and not the cell's output.
      initial_cell_state: The cell's state in `zero_state`.
      attention_layer: A layer (or a list of layers) in place of `attention_layer_size`.
      attention_fn: Computes attention, alignments and next state in place of the usual way.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Any = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Any = None,
        dtype: Any = None,
    ):
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = self._checked_mechanisms(attention_mechanism)
        if cell_input_fn is None:
            cell_input_fn = _concatenated
        elif not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}"
            )
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._cell = cell
        self._cell_input_fn = cell_input_fn
        self._attention_layers = self._attention_layers_of(attention_layer_size, attention_layer)
        self._attention_layer_size = self._attention_size(attention_layer_size)
        self._attention_fn = attention_fn or _compute_attention
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._initial_cell_state: Any = None
        with tf.name_scope(name, "AttentionWrapperInit"):
            if initial_cell_state is not None:
                self._initial_cell_state = self._checked_state(initial_cell_state)

    def _checked_mechanisms(self, given: Any) -> tuple[Any, ...]:
        if self._is_multi:
            for each in given:
                if not isinstance(each, AttentionMechanism):
                    raise TypeError(
                        "attention_mechanism must contain only instances of AttentionMechanism, "
                        f"saw type: {type(each).__name__}"
                    )
            return tuple(given)
        if not isinstance(given, AttentionMechanism):
            raise TypeError(
                "attention_mechanism must be an AttentionMechanism or list of multiple "
                f"AttentionMechanism instances, saw type: {type(given).__name__}"
            )
        return (given,)

    def _attention_layers_of(self, sizes: Any, layers: Any) -> tuple[Any, ...] | None:
        """The layers that make attention vectors, one per mechanism, or None."""
        mechanisms = self._attention_mechanisms
        if sizes is not None:
            sizes = _as_tuple(sizes)
            _check_one_each("attention_layer_size", "integer", sizes, mechanisms)
            return tuple(
                tf.layers.Dense(size, name="attention_layer", use_bias=False, dtype=each.dtype)
                for size, each in zip(sizes, mechanisms, strict=True)
            )
        if layers is None:
            return None
        layers = _as_tuple(layers)
        _check_one_each("attention_layer", "layer", layers, mechanisms)
        return layers

    def _attention_size(self, sizes: Any) -> Any:
        if sizes is not None:
            return sum(_as_tuple(sizes))
        depths = [dimension_value(each.values.shape[-1]) for each in self._attention_mechanisms]
        if self._attention_layers is not None:
            shapes = [
                layer.compute_output_shape([None, self._cell.output_size + depth])
                for layer, depth in zip(self._attention_layers, depths, strict=True)
            ]
            depths = [dimension_value(shape[-1]) for shape in shapes]
        return sum(depths)

    def _checked_state(self, state: Any) -> Any:
        advice = _beam_advice(
            f"When constructing AttentionWrapper {self._base_name}",
            "initial_cell_state",
            "You may need to tile your initial state via the tf.contrib.seq2seq.tile_batch "
            "function with argument multiple=beam_width.",
        )
        checks = self._batch_size_checks(size_of(flatten(state)[-1], 0), advice)
        with tf.control_dependencies(checks):
            return map_structure(lambda s: tf.identity(s, "check_initial_cell_state"), state)

    def _batch_size_checks(self, batch_size: Any, error_message: str) -> list[Any]:
        return [
            tf.assert_equal(batch_size, each.batch_size, message=error_message)
            for each in self._attention_mechanisms
        ]

    def _item_or_tuple(self, seq: Iterable[Any]) -> Any:
        """One item per mechanism: a tuple of them, or the only one."""
        items = tuple(seq)
        return items if self._is_multi else items[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        mechanisms = self._attention_mechanisms
        sizes = [each.alignments_size for each in mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(sizes),
            attention_state=self._item_or_tuple(each.state_size for each in mechanisms),
            alignment_history=self._item_or_tuple(
                size if self._alignment_history else () for size in sizes
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The first state; its cell state is `initial_cell_state` if there is one."""
        with tf.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            advice = _beam_advice(
                f"When calling zero_state of AttentionWrapper {self._base_name}",
                "the requested batch size",
                "If so, make sure your encoder output has been tiled to beam_width via "
                "tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to zero_state "
                "is batch_size * beam_width.",
            )
            with tf.control_dependencies(self._batch_size_checks(batch_size, advice)):
                cell_state = map_structure(
                    lambda s: tf.identity(s, name="checked_cell_state"), cell_state
                )
            mechanisms = self._attention_mechanisms
            alignments = [each.initial_alignments(batch_size, dtype) for each in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=tf.zeros([], dtype=tf.int32),
                attention=zero_state_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    each.initial_state(batch_size, dtype) for each in mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    self._new_history(each, dtype) for each in alignments
                ),
            )

    def _new_history(self, alignments: Any, dtype: Any) -> Any:
        if not self._alignment_history:
            return ()
        return tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=alignments.shape)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """One step: the cell, then every mechanism with the cell's output as its query."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        cell_output, next_cell_state = self._cell(cell_inputs, state.cell_state)
        advice = _beam_advice(
            f"When applying AttentionWrapper {self.name}",
            "the query (decoder output)",
            "You may need to tile your memory input via the tf.contrib.seq2seq.tile_batch "
            "function with argument multiple=beam_width.",
        )
        with tf.control_dependencies(self._batch_size_checks(size_of(cell_output, 0), advice)):
            cell_output = tf.identity(cell_output, name="checked_cell_output")
        attentions, alignments, states, histories = self._attend(cell_output, state)
        attention = tf.concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=next_cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return (attention if self._output_attention else cell_output), next_state

    def _attend(self, query: Any, state: Any) -> tuple[list[Any], ...]:
        """Attentions, alignments, next states and histories, one of each per mechanism."""
        before, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            before, histories = [before], [histories]
        found: tuple[list[Any], ...] = ([], [], [], [])
        for i, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[i] if self._attention_layers else None
            attention, alignments, after = self._attention_fn(mechanism, query, before[i], layer)
            kept = histories[i].write(state.time, alignments) if self._alignment_history else ()
            for entries, entry in zip(found, (attention, alignments, after, kept), strict=True):
                entries.append(entry)
        return found


def _concatenated(inputs: Any, attention: Any) -> Any:
    return tf.concat([inputs, attention], -1)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _check_one_each(
    argument: str, kind: str, given: Sequence[Any], mechanisms: Sequence[Any]
) -> None:
    if len(given) != len(mechanisms):
        raise ValueError(
            f"If provided, {argument} must contain exactly one {kind} per attention_mechanism, "
            f"saw: {len(given)} vs {len(mechanisms)}"
        )
