"""Ops of replicated computations on TPUs, and of what is fed to and fetched from them."""

from __future__ import annotations

from functools import reduce

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, OpSpec, attr, op, types
from penstock.ir.type_sets import FLOATING, NUMERIC
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape, merge

AllToAll = op(
    "AllToAll(input: T, group_assignment: int32) -> output: T",
    STATEFUL,
    T=types(NUMERIC, dtypes.bool),
    concat_dimension=attr("int"),
    split_dimension=attr("int"),
    split_count=attr("int"),
)
CollectivePermute = op(
    "CollectivePermute(input: T, source_target_pairs: int32) -> output: T", STATEFUL, T=NUMERIC
)
CrossReplicaSum = op(
    "CrossReplicaSum(input: T, group_assignment: int32) -> output: T",
    STATEFUL,
    T=types(FLOATING, dtypes.int32, dtypes.uint32),
)
ConfigureDistributedTPU = op(
    "ConfigureDistributedTPU() -> topology: string",
    STATEFUL,
    embedding_config="",
    tpu_embedding_config="",
    is_global_init=False,
    enable_whole_mesh_compilations=False,
    compilation_failure_closes_chips=True,
    tpu_cancellation_closes_chips=0,
)
ShutdownDistributedTPU = op("ShutdownDistributedTPU()", STATEFUL)
WorkerHeartbeat = op("WorkerHeartbeat(request: string) -> response: string", STATEFUL)
InfeedDequeue = op(
    "InfeedDequeue() -> output: dtype", STATEFUL, dtype=attr("type"), shape=attr("shape")
)
InfeedDequeueTuple = op(
    "InfeedDequeueTuple() -> outputs: *dtypes",
    STATEFUL,
    dtypes=attr("list(type)", minimum=1),
    shapes=attr("list(shape)"),
)
InfeedEnqueue = op(
    "InfeedEnqueue(input: dtype)",
    STATEFUL,
    shape=attr("shape", ()),
    layout=attr("list(int)", []),
    device_ordinal=-1,
)
InfeedEnqueuePrelinearizedBuffer = op(
    "InfeedEnqueuePrelinearizedBuffer(input: variant)", device_ordinal=-1
)
InfeedEnqueueTuple = op(
    "InfeedEnqueueTuple(inputs: *dtypes)",
    STATEFUL,
    shapes=attr("list(shape)"),
    layouts=attr("list(int)", []),
    device_ordinal=-1,
)
OutfeedDequeue = op(
    "OutfeedDequeue() -> output: dtype",
    STATEFUL,
    dtype=attr("type"),
    shape=attr("shape"),
    device_ordinal=-1,
)
OutfeedDequeueTuple = op(
    "OutfeedDequeueTuple() -> outputs: *dtypes",
    STATEFUL,
    dtypes=attr("list(type)", minimum=1),
    shapes=attr("list(shape)"),
    device_ordinal=-1,
)
OutfeedEnqueue = op("OutfeedEnqueue(input: dtype)", STATEFUL)
OutfeedEnqueueTuple = op("OutfeedEnqueueTuple(inputs: *dtypes)", STATEFUL)
Prelinearize = op(
    "Prelinearize(input: dtype) -> output: variant",
    shape=attr("shape", ()),
    layout=attr("list(int)", []),
)
PrelinearizeTuple = op(
    "PrelinearizeTuple(inputs: *dtypes) -> output: variant",
    shapes=attr("list(shape)"),
    layouts=attr("list(int)", []),
)
TPUCompilationResult = op("TPUCompilationResult() -> output: string")
TPUOrdinalSelector = op("TPUOrdinalSelector() -> device_ordinals: int32", STATEFUL)
TPUPartitionedCall = op(
    "TPUPartitionedCall(args: *Tin, device_ordinal: int32) -> output: *Tout",
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
    f=attr("func"),
    autotuner_thresh=0,
)
TPUReplicateMetadata = op(
    "TPUReplicateMetadata()",
    num_replicas=attr("int", minimum=0),
    num_cores_per_replica=1,
    topology="",
    use_tpu=True,
    device_assignment=attr("list(int)", []),
    computation_shape=attr("list(int)", []),
    host_compute_core=attr("list(string)", []),
    padding_map=attr("list(string)", []),
    step_marker_location="STEP_MARK_AT_ENTRY",
    allow_soft_placement=False,
    use_spmd_for_xla_partitioning=False,
    use_shardy_partitioner=False,
    tpu_compile_options_proto="",
)
TPUReplicatedInput = op(
    "TPUReplicatedInput(inputs: N*T) -> output: T",
    is_mirrored_variable=False,
    index=-1,
    is_packed=False,
)
TPUReplicatedOutput = op("TPUReplicatedOutput(input: T) -> outputs: num_replicas*T")
FilterByLastComponentDataset = op(
    "FilterByLastComponentDataset(input_dataset: variant) -> output: variant",
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
)
OPS = tuple(value for value in list(globals().values()) if isinstance(value, OpSpec))


# Shapes ---------------------------------------------------------------------------------------


@AllToAll.shape
def _(op: Operation, input: Shape, groups: Shape) -> Shape:
    if input is None:
        return None
    sizes = list(input)
    parts, joined, split = (
        op.attrs[key] for key in ("split_count", "concat_dimension", "split_dimension")
    )
    for what, axis in (("concat_dimension", joined), ("split_dimension", split)):
        if not 0 <= axis < len(sizes):
            raise ValueError(f"{what} {axis} is out of range of input rank {len(sizes)}")
    group_size = with_rank(groups, 2)[1]
    if group_size not in (None, parts):
        raise ValueError("split_count must be equal to the size of a group of group_assignment")
    size = sizes[joined]
    sizes[joined] = None if size is None else size * parts
    size = sizes[split]
    sizes[split] = None if size is None else size // parts
    return tuple(sizes)


@CollectivePermute.shape
@CrossReplicaSum.shape
def _(op: Operation, input: Shape, others: Shape) -> Shape:
    return input


@ConfigureDistributedTPU.shape
def _(op: Operation) -> Shape:
    return None


@WorkerHeartbeat.shape
@Prelinearize.shape
@PrelinearizeTuple.shape
@TPUCompilationResult.shape
@FilterByLastComponentDataset.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    return ()


@TPUOrdinalSelector.shape
def _(op: Operation) -> Shape:
    return (None,)


@InfeedDequeue.shape
@OutfeedDequeue.shape
def _(op: Operation) -> Shape:
    shape: Shape = op.attrs["shape"]
    return shape


@InfeedDequeueTuple.shape
@OutfeedDequeueTuple.shape
def _(op: Operation) -> list[Shape]:
    return list(op.attrs["shapes"])


@TPUPartitionedCall.shape
def _(op: Operation, *args: Shape) -> list[Shape]:
    return [None] * len(op.attrs["Tout"])


@TPUReplicatedInput.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    return reduce(merge, inputs)


@TPUReplicatedOutput.shape
def _(op: Operation, input: Shape) -> list[Shape]:
    return [input] * op.attrs["num_replicas"]
