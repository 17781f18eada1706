"""`tf.contrib.quantize`: graphs rewritten to train and evaluate as if they were quantized."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib import lazy_paths
from penstock.contrib.quantize.folding import fold_batch_norms
from penstock.contrib.quantize.insertion import Quantizer
from penstock.contrib.quantize.unfused_folding import fold_unfused_batch_norms

__all__ = [
    "create_eval_graph",
    "create_training_graph",
    "experimental_create_eval_graph",
    "experimental_create_training_graph",
]


def _check_not_trained(graph: Any) -> None:
    """Rounding must be seen by gradients, so that it can't come after them."""
    kinds = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply")
    found = {op.type for op in graph.get_operations() if op.type.startswith(kinds)}
    if found:
        raise ValueError(f"Training op found in graph, exiting {found}")


def FoldBatchNorms(
    graph: Any, is_training: bool, freeze_batch_norm_delay: int | None = None
) -> None:
    """Folds all batch normalizations into the layers before them."""
    with graph.as_default():
        fold_batch_norms(graph, freeze_batch_norm_delay)
        fold_unfused_batch_norms(graph, is_training, freeze_batch_norm_delay)


def Quantize(
    graph: Any,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: str = tf.GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
) -> None:
    """Puts simulated quantization into a graph without batch normalizations; see `Quantizer`."""
    with graph.as_default():
        Quantizer(
            graph,
            is_training,
            weight_bits,
            activation_bits,
            symmetric,
            ema_decay,
            quant_delay,
            vars_collection,
            scope,
        ).run()


def _rewrite(input_graph: Any, freeze_bn_delay: int | None = None, **options: Any) -> None:
    graph = tf.get_default_graph() if input_graph is None else input_graph
    _check_not_trained(graph)
    FoldBatchNorms(graph, options["is_training"], freeze_bn_delay)
    Quantize(graph, **options)


def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> None:
    """Puts simulated quantization into a graph, before gradients are.

    Args:
      input_graph: the graph; the default one if None.
      quant_delay: the step before which nothing is rounded.
    """
    _rewrite(input_graph, is_training=True, quant_delay=quant_delay)


def create_eval_graph(input_graph: Any = None) -> None:
    """Puts simulated quantization into a graph, by the ranges that training left."""
    _rewrite(input_graph, is_training=False)


def experimental_create_training_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_training_graph` with more to choose.

    Args:
      input_graph: the graph; the default one if None.
      weight_bits: of weights.
      activation_bits: of all else.
      symmetric: whether ranges have zero in their middle.
      quant_delay: the step before which nothing is rounded.
      freeze_bn_delay: the step from which batch normalization uses moving averages.
      scope: outside of which nothing is rounded.
    """
    _rewrite(
        input_graph,
        freeze_bn_delay,
        is_training=True,
        weight_bits=weight_bits,
        activation_bits=activation_bits,
        symmetric=symmetric,
        quant_delay=quant_delay,
        scope=scope,
    )


def experimental_create_eval_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_eval_graph` with more to choose; see `experimental_create_training_graph`."""
    _rewrite(
        input_graph,
        is_training=False,
        weight_bits=weight_bits,
        activation_bits=activation_bits,
        symmetric=symmetric,
        quant_delay=quant_delay,
        scope=scope,
    )


__getattr__ = lazy_paths.resolver(__name__)
