"""`tf.distribute`: strategies for one machine and one device, and what asks for them."""

from penstock.distribute import cluster_resolver, experimental
from penstock.distribute.context import (
    experimental_set_strategy,
    get_cross_replica_context,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from penstock.distribute.cross_device_ops import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReductionToOneDevice,
)
from penstock.distribute.extended import StrategyExtended
from penstock.distribute.input_pipelines import InputContext, InputReplicationMode
from penstock.distribute.mirrored import MirroredStrategy
from penstock.distribute.reduce_op import ReduceOp
from penstock.distribute.replica_context import ReplicaContext, require_replica_context
from penstock.distribute.strategy import OneDeviceStrategy, Strategy, get_loss_reduction
from penstock.distributed.server import Server

# Their names inside TensorFlow.
StrategyV1 = Strategy
StrategyExtendedV1 = StrategyExtendedV2 = StrategyExtended
OneDeviceStrategyV1 = OneDeviceStrategy

__all__ = [
    "CrossDeviceOps",
    "HierarchicalCopyAllReduce",
    "InputContext",
    "InputReplicationMode",
    "MirroredStrategy",
    "NcclAllReduce",
    "OneDeviceStrategy",
    "ReduceOp",
    "ReductionToOneDevice",
    "ReplicaContext",
    "Server",
    "Strategy",
    "StrategyExtended",
    "cluster_resolver",
    "experimental",
    "experimental_set_strategy",
    "get_cross_replica_context",
    "get_loss_reduction",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
    "require_replica_context",
]
