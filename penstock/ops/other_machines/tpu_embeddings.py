"""Ops of embedding tables that live in the memory of TPUs."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, OpSpec, attr, op, types
from penstock.ir.type_sets import INDEX, SINGLE_DOUBLE
from penstock.shapes import Shape

_DEVICE: dict[str, Any] = {"device_ordinal": -1}
_SPARSE: dict[str, Any] = {
    "T1": types(INDEX, default=dtypes.int32),
    "T2": types(INDEX, default=dtypes.int32),
    "T3": types(SINGLE_DOUBLE, default=dtypes.float32),
    **_DEVICE,
    "combiners": attr("list(string)", []),
}
_SPARSE_INPUTS = (
    "sample_indices: N*T1, embedding_indices: N*T2, aggregation_weights: N*T3, "
    "mode_override: string"
)
_SHARD: dict[str, Any] = {
    "table_id": -1,
    "table_name": "",
    "num_shards": attr("int"),
    "shard_id": attr("int"),
}
#: Optimizers, what they keep beside the parameters, and whether a mode that accumulates gradients
#: has ops of its own.
_OPTIMIZERS = (
    ("ADAM", ("momenta", "velocities"), True),
    ("Adadelta", ("accumulators", "updates"), True),
    ("Adagrad", ("accumulators",), True),
    ("CenteredRMSProp", ("ms", "mom", "mg"), False),
    ("FTRL", ("accumulators", "linears"), True),
    ("MDLAdagradLight", ("accumulators", "weights", "benefits"), False),
    ("Momentum", ("momenta",), True),
    ("ProximalAdagrad", ("accumulators",), True),
    ("RMSProp", ("ms", "mom"), True),
    ("StochasticGradientDescent", (), False),
)

ConfigureTPUEmbedding = op("ConfigureTPUEmbedding()", STATEFUL, config=attr("string"))
EnqueueTPUEmbeddingIntegerBatch = op(
    "EnqueueTPUEmbeddingIntegerBatch(batch: N*int32, mode_override: string)",
    STATEFUL,
    **_DEVICE,
)
EnqueueTPUEmbeddingSparseBatch = op(
    f"EnqueueTPUEmbeddingSparseBatch({_SPARSE_INPUTS})", STATEFUL, **_SPARSE
)
EnqueueTPUEmbeddingSparseTensorBatch = op(
    f"EnqueueTPUEmbeddingSparseTensorBatch({_SPARSE_INPUTS})",
    STATEFUL,
    **_SPARSE,
    table_ids=attr("list(int)"),
    max_sequence_lengths=attr("list(int)", []),
    num_features=attr("list(int)", []),
)
RecvTPUEmbeddingActivations = op(
    "RecvTPUEmbeddingActivations() -> outputs: num_outputs*float32",
    STATEFUL,
    num_outputs=attr("int", minimum=1),
    config=attr("string"),
)
SendTPUEmbeddingGradients = op(
    "SendTPUEmbeddingGradients(inputs: N*float32, learning_rates: NN*float32)",
    STATEFUL,
    NN=attr("int", 0, minimum=0),
    config=attr("string"),
)
TPUEmbeddingActivations = op(
    "TPUEmbeddingActivations(embedding_variable: float32, sliced_activations: float32) "
    "-> output: float32",
    table_id=attr("int", minimum=0),
    lookup_id=attr("int", minimum=0),
)


@RecvTPUEmbeddingActivations.shape
def _(op: Operation) -> list[Shape]:
    return [(None, None)] * op.attrs["num_outputs"]


@TPUEmbeddingActivations.shape
def _(op: Operation, variable: Shape, activations: Shape) -> Shape:
    return activations


def _tables(name: str, kept: tuple[str, ...], **attrs: Any) -> list[OpSpec]:
    """The ops that load the table of one optimizer, and that retrieve it."""
    values = ", ".join(f"{value}: float32" for value in ("parameters", *kept))
    load = op(f"LoadTPUEmbedding{name}({values})", STATEFUL, **_SHARD, **attrs)
    retrieve = op(f"RetrieveTPUEmbedding{name}() -> {values}", STATEFUL, **_SHARD, **attrs)
    count = 1 + len(kept)
    retrieve.shape(lambda op: [(None, None)] * count)
    return [load, retrieve]


def _all_tables() -> list[OpSpec]:
    made = []
    for optimizer, kept, accumulates in _OPTIMIZERS:
        made += _tables(f"{optimizer}Parameters", kept, config="")
        if accumulates:
            kept = (*kept, "gradient_accumulators")
            made += _tables(f"{optimizer}ParametersGradAccumDebug", kept)
    return made


OPS = (
    *(value for value in list(globals().values()) if isinstance(value, OpSpec)),
    *_all_tables(),
)
