"""`tf.nn`: what neural networks are made of."""

from importlib import import_module
from typing import Any

from penstock.ctc_labels import collapse_repeated, ctc_unique_labels
from penstock.losses.averaging import compute_average_loss, scale_regularization_loss
from penstock.ops.activations import (
    bias_add,
    crelu,
    elu,
    leaky_relu,
    relu,
    relu6,
    relu_layer,
    selu,
    silu,
    softplus,
    softsign,
    swish,
    xw_plus_b,
)
from penstock.ops.batch_norm import fused_batch_norm
from penstock.ops.blocks import depth_to_space, space_to_batch, space_to_depth
from penstock.ops.candidate_sampling import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from penstock.ops.clip import l2_loss
from penstock.ops.convolution import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    conv3d,
    conv3d_backprop_filter,
    conv3d_backprop_filter_v2,
    conv3d_transpose,
    conv_transpose,
)
from penstock.ops.convolution import (
    conv2d_transpose as deconv2d,
)
from penstock.ops.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from penstock.ops.ctc import (
    ctc_beam_search_decoder,
    ctc_beam_search_decoder_v2,
    ctc_greedy_decoder,
    ctc_loss,
    ctc_loss_v2,
)
from penstock.ops.depthwise import (
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input,
    separable_conv2d,
)
from penstock.ops.dilated import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    convolution,
    with_space_to_batch,
)
from penstock.ops.dropout import dropout
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.embedding import (
    embedding_lookup,
    embedding_lookup_sparse,
    safe_embedding_lookup_sparse,
)
from penstock.ops.fractional_pool import (
    fractional_avg_pool,
    fractional_avg_pool_v2,
    fractional_max_pool,
    fractional_max_pool_v2,
)
from penstock.ops.lrn import local_response_normalization, lrn
from penstock.ops.morphology import dilation2d, erosion2d
from penstock.ops.normalization import (
    batch_norm_with_global_normalization,
    batch_normalization,
    l2_normalize,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
    zero_fraction,
)
from penstock.ops.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    avg_pool_v2,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_v2,
    max_pool_with_argmax,
    pool,
)
from penstock.ops.quantized import (
    quantized_avg_pool,
    quantized_conv2d,
    quantized_max_pool,
    quantized_relu_x,
)
from penstock.ops.sampled_losses import nce_loss, sampled_softmax_loss
from penstock.ops.softmax import log_softmax, softmax
from penstock.ops.topk import in_top_k, top_k
from penstock.rnn import rnn_cell
from penstock.rnn.dynamic import bidirectional_dynamic_rnn, dynamic_rnn
from penstock.rnn.raw import raw_rnn
from penstock.rnn.static import (
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)
from penstock.rnn.static import (
    static_bidirectional_rnn as bidirectional_rnn,
)
from penstock.rnn.static import (
    static_rnn as rnn,
)
from penstock.rnn.static import (
    static_state_saving_rnn as state_saving_rnn,
)


def __getattr__(name: str) -> Any:
    """`tf.nn.seq2seq`, as it was called before 1.0: loaded when it is used."""
    if name == "seq2seq":
        return import_module("penstock.contrib.legacy_seq2seq")
    raise AttributeError(name)


__all__ = [
    "all_candidate_sampler",
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "avg_pool_v2",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "bidirectional_dynamic_rnn",
    "bidirectional_rnn",
    "collapse_repeated",
    "compute_accidental_hits",
    "compute_average_loss",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_backprop_filter",
    "conv3d_backprop_filter_v2",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "ctc_beam_search_decoder",
    "ctc_beam_search_decoder_v2",
    "ctc_greedy_decoder",
    "ctc_loss",
    "ctc_loss_v2",
    "ctc_unique_labels",
    "deconv2d",
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "dilation2d",
    "dropout",
    "dynamic_rnn",
    "elu",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "erosion2d",
    "fixed_unigram_candidate_sampler",
    "fractional_avg_pool",
    "fractional_avg_pool_v2",
    "fractional_max_pool",
    "fractional_max_pool_v2",
    "fused_batch_norm",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "learned_unigram_candidate_sampler",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "log_uniform_candidate_sampler",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "moments",
    "nce_loss",
    "normalize_moments",
    "pool",
    "quantized_avg_pool",
    "quantized_conv2d",
    "quantized_max_pool",
    "quantized_relu_x",
    "raw_rnn",
    "relu",
    "relu6",
    "relu_layer",
    "rnn",
    "rnn_cell",
    "safe_embedding_lookup_sparse",
    "sampled_softmax_loss",
    "scale_regularization_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "softplus",
    "softsign",
    "space_to_batch",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "state_saving_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "sufficient_statistics",
    "swish",
    "tanh",
    "top_k",
    "uniform_candidate_sampler",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "with_space_to_batch",
    "xw_plus_b",
    "zero_fraction",
]
