"""Connectionist temporal classification: the loss, and decoders of what a network gives."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import SINGLE_DOUBLE
from penstock.ops import array, casts, comparison, softmax
from penstock.ops.identity import PreventGradient
from penstock.ops.reductions import reduce_max, reduce_sum
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import renamed_argument
from penstock.ops.sparse_structure import sparse_reshape
from penstock.shapes import Shape as RawShape
from penstock.shapes import dimension_value

__all__ = [
    "ctc_beam_search_decoder",
    "ctc_beam_search_decoder_v2",
    "ctc_greedy_decoder",
    "ctc_loss",
    "ctc_loss_v2",
    "dense_labels_to_sparse",
]

_LOSS_ATTRS: dict[str, Any] = {
    "preprocess_collapse_repeated": False,
    "ctc_merge_repeated": True,
    "ignore_longer_outputs_than_inputs": False,
}

CTCLoss = op(
    "CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32) "
    "-> loss: T, gradient: T",
    **_LOSS_ATTRS,
    T=types(SINGLE_DOUBLE, default=dtypes.float32),
)
CTCLossV2 = op(
    "CTCLossV2(inputs: float32, labels_indices: int64, labels_values: int32, "
    "sequence_length: int32) -> loss: float32, gradient: float32",
    **_LOSS_ATTRS,
)
CTCGreedyDecoder = op(
    "CTCGreedyDecoder(inputs: T, sequence_length: int32) -> decoded_indices: int64, "
    "decoded_values: int64, decoded_shape: int64, log_probability: T",
    merge_repeated=False,
    blank_index=-1,
    T=types(SINGLE_DOUBLE, default=dtypes.float32),
)
CTCBeamSearchDecoder = op(
    "CTCBeamSearchDecoder(inputs: T, sequence_length: int32) -> decoded_indices: top_paths*int64, "
    "decoded_values: top_paths*int64, decoded_shape: top_paths*int64, log_probability: T",
    beam_width=attr("int", minimum=1),
    top_paths=attr("int", minimum=1),
    merge_repeated=True,
    T=types(SINGLE_DOUBLE, default=dtypes.float32),
)
not_differentiable(CTCGreedyDecoder, CTCBeamSearchDecoder)


@CTCLoss.shape
@CTCLossV2.shape
def _(op: Any, inputs: RawShape, indices: RawShape, values: RawShape, lengths: RawShape) -> Any:
    inputs, lengths = with_rank(inputs, 3), with_rank(lengths, 1)
    indices, values = with_rank(indices, 2), with_rank(values, 1)
    merge_sizes(indices[0], values[0])
    batch = merge_sizes(inputs[1], lengths[0])
    return [(batch,), (inputs[0], batch, inputs[2])]


@CTCGreedyDecoder.shape
def _(op: Any, inputs: RawShape, lengths: RawShape) -> Any:
    batch = merge_sizes(with_rank(inputs, 3)[1], with_rank(lengths, 1)[0])
    return [(None, 2), (None,), (2,), (batch, 1)]


@CTCBeamSearchDecoder.shape
def _(op: Any, inputs: RawShape, lengths: RawShape) -> Any:
    paths = op.attrs["top_paths"]
    batch = merge_sizes(with_rank(inputs, 3)[1], with_rank(lengths, 1)[0])
    return [*[(None, 2)] * paths, *[(None,)] * paths, *[(2,)] * paths, (batch, paths)]


@CTCLoss.gradient
@CTCLossV2.gradient
def _(op: Any, grad: Any, _: Any) -> Any:
    gradient = PreventGradient(
        op.outputs[1],
        message="Currently there is no way to take the second derivative of ctc_loss: its "
        "gradient is computed together with it.",
    )
    return array.expand_dims(grad, -1) * gradient, None, None, None


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """The negative log probability of each label sequence, over all its alignments in time.

    Args:
      labels: A SparseTensor of int32 with a row per entry of the batch; the last class is blank.
      inputs: Logits, `[time, batch, classes]`, or with the batch first if not `time_major`.
      sequence_length: How many time steps of each entry count.
      preprocess_collapse_repeated: Whether to make one label of equal neighbours beforehand.
      ctc_merge_repeated: Whether a label may last for several time steps.
      ignore_longer_outputs_than_inputs: Gives loss 0 for an entry with more labels than time
        steps, which is an error otherwise.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = renamed_argument("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = array.transpose(inputs, [1, 0, 2])
    loss, _ = CTCLoss(
        inputs,
        labels.indices,
        labels.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss


def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The CTC loss with the blank in any place (0, if not said) and with labels of either kind.

    Args:
      labels: A SparseTensor, or a padded matrix `[batch, labels]` with lengths `label_length`.
      logits: `[time, batch, classes]`, or with the batch first if not `logits_time_major`.
      unique: What `tf.nn.ctc_unique_labels` gave: a hint that is not needed here.
      blank_index: The class that is blank; negative numbers count from the end.
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("blank_index must be given when using SparseTensor labels.")
        logits, values = _with_blank_last(to_tensor(logits), labels.values, blank_index)
        labels = SparseTensor(labels.indices, values, labels.dense_shape)
        return ctc_loss(labels, logits, logit_length, time_major=logits_time_major)
    blank = 0 if blank_index is None else blank_index
    with name_scope(name, "ctc_loss_dense", [logits, labels, label_length, logit_length]):
        logits = to_tensor(logits, name="logits")
        labels = to_tensor(labels, name="labels")
        lengths = casts.cast(to_tensor(logit_length, name="logit_length"), dtypes.int32)
        logits, labels = _with_blank_last(logits, labels, blank)
        if not logits_time_major:
            logits = array.transpose(logits, [1, 0, 2])
        return _dense_loss(labels, logits, to_tensor(label_length, name="label_length"), lengths)


def _dense_loss(labels: Any, logits: Any, label_length: Any, logit_length: Any) -> Any:
    """The loss of padded labels: CTCLoss, but for rows without labels, which are blanks alone."""
    is_empty = comparison.equal(label_length, 0)
    # CTCLoss takes no empty row: such a row gets a label, and its loss is not used.
    some = array.where(is_empty, array.ones_like(label_length), label_length)
    given = array.where(is_empty, array.zeros_like(labels), labels)
    loss = ctc_loss(dense_labels_to_sparse(given, some), logits, logit_length)
    blanks: Any = softmax.log_softmax(logits)[:, :, -1]
    counted: Any = array.sequence_mask(logit_length, size_of(logits, 0), logits.dtype)
    of_blanks = -reduce_sum(blanks * array.transpose(counted), 0)
    return array.where(is_empty, of_blanks, loss)


def _with_blank_last(logits: Any, labels: Any, blank: int) -> tuple[Any, Any]:
    """Logits with the blank class moved to the end, and labels of the classes in that order."""
    classes = size_of(logits, 2)
    place = blank + classes if blank < 0 else blank
    if isinstance(place, int) and isinstance(classes, int) and place == classes - 1:
        return logits, labels
    parts = [logits[:, :, :place], logits[:, :, place + 1 :], logits[:, :, place : place + 1]]
    labels = to_tensor(labels)
    return array.concat(parts, axis=2), array.where(labels < place, labels, labels - 1)


def size_of(tensor: Any, axis: int) -> Any:
    """The size of a dimension: a number where it is known, else a tensor."""
    known = dimension_value(tensor.shape[axis])
    return array.shape(tensor)[axis] if known is None else known


def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """The labels of a padded matrix `[batch, labels]` as a SparseTensor."""
    dense, length = to_tensor(dense), to_tensor(length)
    sizes = array.shape(dense, out_type=dtypes.int64)
    within = array.reshape(array.sequence_mask(length, maxlen=array.shape(dense)[1]), [-1])
    flat = array.reshape(dense, [-1])
    places = array.where(within)
    values = casts.cast(array.boolean_mask(flat, within), dtypes.int32)
    row = SparseTensor(places, values, array.shape(flat, out_type=dtypes.int64))
    matrix = sparse_reshape(row, sizes)
    longest = casts.cast(reduce_max(length), dtypes.int64)
    return SparseTensor(matrix.indices, matrix.values, array.stack([sizes[0], longest]))


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """Decodes the most probable class of each time step.

    Returns a list with one SparseTensor of classes, and `[batch, 1]` numbers: minus the sum of the
    greatest logits.
    """
    indices, values, shape, score = CTCGreedyDecoder(
        inputs, sequence_length, merge_repeated=merge_repeated
    )
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """Searches the most probable label sequences with a beam of prefixes.

    Returns a SparseTensor of classes for each of the `top_paths` best, and their log probabilities,
    `[batch, top_paths]`. With `merge_repeated`, equal neighbours in a result become one.
    """
    indices, values, shapes, score = CTCBeamSearchDecoder(
        inputs,
        sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    parts = zip(indices, values, shapes, strict=True)
    return [SparseTensor(*each) for each in parts], score


def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """Searches the most probable label sequences; equal neighbours in them stay as they are."""
    return ctc_beam_search_decoder(
        inputs, sequence_length, beam_width, top_paths, merge_repeated=False
    )
