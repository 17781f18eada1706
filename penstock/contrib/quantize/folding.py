"""Batch normalization folded into the layer before it, as it is when a network is quantized.

Weights are scaled by `gamma / sigma` before they are rounded. In training sigma is that of the
moving average, so that the scale changes slowly; the output is corrected to what the statistics of
the batch would have given, until they are frozen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import penstock as tf
from penstock.contrib.quantize.graph_matcher import GraphMatcher, OneofPattern, OpTypePattern
from penstock.contrib.quantize.rewiring import context_of, quantization_step, reroute_tensor
from penstock.ir.graph import Graph
from penstock.layers.smart_cond import smart_cond

_GRADIENT = "FoldFusedBatchNormGrad"


@tf.RegisterGradient(_GRADIENT)
def _folded_gradient(op: Any, _: Any, grad_mean: Any, grad_var: Any, *unused: Any) -> Any:
    """The gradients of a batch's mean and variance, which is all that is left of the node."""
    x = op.inputs[0]
    count = tf.cast(tf.size(x) / tf.size(grad_mean), tf.float32)
    from_variance = 2 * grad_var * (x - op.outputs[1]) / (count - 1)
    return grad_mean / count + from_variance, None, None, None, None


@dataclass
class _Normalization:
    """A layer and the fused batch normalization after it."""

    layer_op: Any
    layer_tensor: Any
    batch_to_space_op: Any
    norm_op: Any
    output_tensor: Any
    input_tensor: Any
    weight_tensor: Any

    @property
    def is_training(self) -> bool:
        return bool(self.norm_op.get_attr("is_training"))

    @property
    def epsilon(self) -> float:
        return float(self.norm_op.get_attr("epsilon"))

    @property
    def gamma(self) -> Any:
        return self.norm_op.inputs[1]

    @property
    def beta(self) -> Any:
        return self.norm_op.inputs[2]


def _normalizations(graph: Graph) -> Iterator[_Normalization]:
    inputs, weights = OpTypePattern("*"), OpTypePattern("*")
    layer = OpTypePattern("Conv2D|DepthwiseConv2dNative|MatMul", inputs=[inputs, weights])
    to_space = OpTypePattern("BatchToSpaceND", inputs=[layer, "*", "*"])
    passed = OpTypePattern("Identity", inputs=[OneofPattern([to_space, layer])])
    output = OneofPattern([passed, layer, to_space])
    reshaped = OpTypePattern("Reshape", inputs=[output, "*"])
    norm = OpTypePattern(
        "FusedBatchNorm|FusedBatchNormV3",
        inputs=[OneofPattern([reshaped, output]), "*", "*", "*", "*"],
    )
    back = OpTypePattern("Reshape", inputs=[norm, "*"])
    seen = set()
    for match in GraphMatcher(OneofPattern([back, norm])).match_graph(graph):
        op, norm_op = match.get_op(layer), match.get_op(norm)
        end = match.get_op(back) if op.type == "MatMul" else norm_op
        if op in seen or end is None or not end.outputs[0].consumers():
            continue
        seen.add(op)
        yield _Normalization(
            op,
            match.get_tensor(layer),
            match.get_op(to_space),
            norm_op,
            end.outputs[0],
            match.get_tensor(inputs),
            match.get_tensor(weights),
        )


def _batch_statistics(found: _Normalization) -> tuple[Any, Any]:
    """Mean and variance of the batch, without the correction that moving averages have."""
    norm_op = found.norm_op
    norm_op._set_attr("_gradient_op_type", _GRADIENT)
    with tf.name_scope(f"{context_of(norm_op.name)}/"):
        mean = norm_op.outputs[1]
        count = tf.cast(tf.size(found.layer_tensor) / tf.size(mean), tf.float32)
        factor = (count - 1) / count
        variance = tf.multiply(norm_op.outputs[2], factor, name="Undo_Bessel_Correction")
    return mean, variance


def _moving_average(graph: Graph, statistic: Any) -> tuple[Any, Any]:
    """The moving average of a statistic, and the decay that it is updated by."""
    decay = OpTypePattern("*")
    difference = OpTypePattern("Sub")
    for match in GraphMatcher(OpTypePattern("Mul", inputs=[difference, decay])).match_graph(graph):
        sub = match.get_op(difference)
        if sub.inputs[1] is statistic:
            return sub.inputs[0], match.get_tensor(decay)
    raise ValueError(f"Folding batch norms failed, no moving average of {statistic.name}.")


def _hold(frozen: Any, decay: Any, name: str) -> None:
    """Lets a moving average stay as it is, once statistics are frozen."""
    takers = list(dict.fromkeys(decay.consumers()))
    held = smart_cond(frozen, lambda: 0.0, lambda: decay, name=name)
    if held is not decay:
        reroute_tensor(held, decay, takers)


def moving_to_batch_corrections(
    moving: tuple[Any, Any],
    batch: tuple[Any, Any],
    decays: tuple[Any, Any],
    epsilon: Any,
    gamma: Any,
    freeze_delay: int | None,
) -> tuple[Any, Any, Any]:
    """Factors of weights and of outputs, and an offset, from moving to batch statistics.

    Args:
      moving: moving averages of mean and variance.
      batch: mean and variance of the batch.
      decays: by which the moving averages are updated.
      freeze_delay: the step from which moving averages are used and stay.
    """
    moving_inverse = tf.rsqrt(moving[1] + epsilon)
    inverse = tf.rsqrt(batch[1] + epsilon)
    scale = tf.divide(moving_inverse, inverse, name="scale_compute")
    scale = tf.identity(scale, name="correction_scale")
    reciprocal = tf.reciprocal(scale, name="reciprocal_compute")
    difference = batch[0] * inverse - moving[0] * moving_inverse
    offset = tf.multiply(gamma, difference, name="offset_compute")
    frozen: Any = False
    if freeze_delay is not None:
        frozen = tf.greater_equal(quantization_step(), freeze_delay, name="use_moving_average")
    _hold(frozen, decays[0], "freeze_moving_mean")
    _hold(frozen, decays[1], "freeze_moving_var")
    reciprocal = smart_cond(
        frozen, lambda: tf.ones(scale.shape), lambda: reciprocal, name="correction_recip"
    )
    offset = smart_cond(
        frozen, lambda: offset, lambda: tf.zeros(offset.shape), name="correction_offset"
    )
    return scale, reciprocal, offset


def _corrections(
    graph: Graph, found: _Normalization, mean: Any, variance: Any, freeze_delay: int | None
) -> tuple[Any, Any, Any]:
    moving_mean, mean_decay = _moving_average(graph, found.norm_op.outputs[1])
    moving_variance, variance_decay = _moving_average(graph, found.norm_op.outputs[2])
    with graph.name_scope("batch_norm_correction"):
        return moving_to_batch_corrections(
            (moving_mean, moving_variance),
            (mean, variance),
            (mean_decay, variance_decay),
            found.epsilon,
            found.gamma,
            freeze_delay,
        )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def layer_with_inputs(op: Any, inputs: Any, weights: Any, name: str) -> Any:
    """A layer once more, with other inputs and weights."""
    if op.type == "MatMul":
        return tf.matmul(
            inputs,
            weights,
            transpose_a=op.get_attr("transpose_a"),
            transpose_b=op.get_attr("transpose_b"),
            name=name,
        )
    strides, padding = op.get_attr("strides"), _text(op.get_attr("padding"))
    if op.type == "Conv2D":
        return tf.nn.conv2d(
            inputs,
            weights,
            strides=strides,
            padding=padding,
            use_cudnn_on_gpu=op.get_attr("use_cudnn_on_gpu"),
            data_format=_text(op.get_attr("data_format")),
            name=name,
        )
    return tf.nn.depthwise_conv2d(inputs, weights, strides=strides, padding=padding, name=name)


def _layer_with(found: _Normalization, weights: Any) -> Any:
    """The layer once more, with other weights."""
    op, name = found.layer_op, f"{found.layer_op.name.split('/')[-1]}_Fold"
    made = layer_with_inputs(op, found.input_tensor, weights, name)
    to_space = found.batch_to_space_op
    if to_space is None or op.type == "MatMul":
        return made
    folded = f"{to_space.name.split('/')[-1]}_Fold"
    return tf.batch_to_space_nd(made, to_space.inputs[1], to_space.inputs[2], name=folded)


def _fold(graph: Graph, found: _Normalization, freeze_delay: int | None) -> None:
    mean, variance = found.norm_op.inputs[3], found.norm_op.inputs[4]
    if found.is_training:
        mean, variance = _batch_statistics(found)
    scope = context_of(found.layer_op.name)
    prefix = f"{scope}/" if scope else ""
    correction = reciprocal = offset = None
    with graph.name_scope(prefix or None):
        with graph.name_scope(f"{prefix}BatchNorm_Fold/"):
            multiplier = found.gamma * tf.rsqrt(variance + found.epsilon)
            bias = tf.subtract(found.beta, mean * multiplier, name="bias")
            if found.is_training:
                correction, reciprocal, offset = _corrections(
                    graph, found, mean, variance, freeze_delay
                )
            if found.layer_op.type == "DepthwiseConv2dNative":
                shape = found.weight_tensor.get_shape().as_list()[2:]
                multiplier = tf.reshape(multiplier, shape, name="scale_reshape")
                if correction is not None:
                    correction = tf.reshape(correction, shape, name="correction_reshape")
        weights = found.weight_tensor
        if correction is not None:
            weights = tf.multiply(correction, weights, name="correction_mult")
        weights = tf.multiply(weights, multiplier, name="mul_fold")
        output = _layer_with(found, weights)
        if reciprocal is not None:
            output = tf.multiply(reciprocal, output, name="post_conv_mul")
            output = tf.add(output, offset, "correction_add")
        output = tf.add(output, bias, name="add_fold")
    if reroute_tensor(output, found.output_tensor) == 0:
        raise ValueError(f"Folding batch norms failed, {found.output_tensor.name} had no outputs.")


def fold_batch_norms(graph: Graph, freeze_batch_norm_delay: int | None = None) -> None:
    """Folds all fused batch normalizations that follow layers.

    Args:
      graph: the graph, which is changed.
      freeze_batch_norm_delay: the step from which moving averages are used and stay.
    """
    for found in list(_normalizations(graph)):
        _fold(graph, found, freeze_batch_norm_delay)
