"""`tf.contrib.labeled_tensor.nn`: activations and losses of labeled tensors."""

from __future__ import annotations

import penstock as tf
from penstock.contrib.labeled_tensor.tensors import define_binary_op, define_unary_op
from penstock.contrib.nn import (
    deprecated_flipped_sigmoid_cross_entropy_with_logits,
    deprecated_flipped_softmax_cross_entropy_with_logits,
    deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
)

relu = define_unary_op("relu", tf.nn.relu)
relu6 = define_unary_op("relu6", tf.nn.relu6)
crelu = define_unary_op("crelu", tf.nn.crelu)
elu = define_unary_op("elu", tf.nn.elu)
softplus = define_unary_op("softplus", tf.nn.softplus)
l2_loss = define_unary_op("l2_loss", tf.nn.l2_loss)
softmax = define_unary_op("softmax", tf.nn.softmax)
log_softmax = define_unary_op("log_softmax", tf.nn.log_softmax)
sigmoid_cross_entropy_with_logits = define_binary_op(
    "sigmoid_cross_entropy_with_logits", deprecated_flipped_sigmoid_cross_entropy_with_logits
)
softmax_cross_entropy_with_logits = define_binary_op(
    "softmax_cross_entropy_with_logits", deprecated_flipped_softmax_cross_entropy_with_logits
)
sparse_softmax_cross_entropy_with_logits = define_binary_op(
    "sparse_softmax_cross_entropy_with_logits",
    deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
)
