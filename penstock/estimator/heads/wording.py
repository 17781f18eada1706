"""What heads say of labels, logits and weights that they can't use.

The heads of canned estimators and those of `tf.estimator` ask for the same in other words.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """Messages; those with a place in them are formatted with a dimension."""

    no_labels: str
    sparse_labels: str
    labels_dimension: str
    labels_shape: str
    weight_column: str
    too_large: str
    negative: str


_NO_LABELS = (
    "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that "
    "your data {} your label feature. Check that your input_fn properly parses and returns labels."
)
_SPARSE_LABELS = (
    "SparseTensor labels are not supported. {} must be a Tensor of shape [D0, D1, ..., DN, {{0}}], "
    "e.g. [batch_size, {{0}}].{}Suggested Fix (1): Check the label feature in your data. Each "
    "example must contain {{0}} value(s). If not, your choice of label was probably incorrect. "
    "Suggested Fix (2): In your input_fn, use tf.sparse_tensor_to_dense() to turn labels into a "
    "Tensor."
)
_LABELS_DIMENSION = (
    "Mismatched label shape. Expected labels dimension={{}}.  Received {{}}. Suggested Fix:{0}If "
    "your classifier expects one-hot encoding label,{0}check your n_classes argument to the "
    "estimator and/or the shape of your label. Otherwise, check the shape of your label."
)
_LABELS_SHAPE = (
    "labels shape must be [D0, D1, ... DN, {{}}]. Suggested Fix: check your n_classes argument to "
    "the {} and/or the shape of your label."
)
_WEIGHT_COLUMN = "Weight column must be either a string or {}."

OF_CANNED_HEADS = Wording(
    no_labels=_NO_LABELS.format("contain"),
    sparse_labels=_SPARSE_LABELS.format("labels", " "),
    labels_dimension=_LABELS_DIMENSION.format(""),
    labels_shape=_LABELS_SHAPE.format("estimator"),
    weight_column=_WEIGHT_COLUMN.format("_NumericColumn"),
    too_large="Labels must <= n_classes - 1",
    negative="Labels must >= 0",
)

OF_KERAS_HEADS = Wording(
    no_labels=_NO_LABELS.format("contains"),
    sparse_labels=_SPARSE_LABELS.format("Labels", ""),
    labels_dimension=_LABELS_DIMENSION.format(" "),
    labels_shape=_LABELS_SHAPE.format("head"),
    weight_column=_WEIGHT_COLUMN.format("NumericColumn"),
    too_large="Labels must be <= n_classes - 1",
    negative="Labels must be >= 0",
)
