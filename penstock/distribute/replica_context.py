"""`tf.distribute.ReplicaContext`: what the code inside of a replica can ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import nest
from penstock.distribute import context
from penstock.distribute.reduce_op import as_reduce_op
from penstock.ir.convert import convert_to_tensor
from penstock.ops.constants import constant
from penstock.ops.identity import identity


class ReplicaContext:
    """Given to the function that runs in each replica, by `tf.distribute.get_replica_context`."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any):
        self._strategy = strategy
        self._replica_id = replica_id_in_sync_group
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        mode = context.mode(self._strategy, self)
        mode.__enter__()
        self._entered.append(mode)

    def __exit__(self, *exception: Any) -> None:
        self._entered.pop().__exit__(*exception)

    @property
    def strategy(self) -> Any:
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        return int(self._strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The replica's number, as a tensor of the graph."""
        return constant(self._replica_id, name="replica_id_in_sync_group")

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this replica."""
        self._require()
        return tuple(self._strategy.extended.worker_devices)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls `merge_fn(strategy, ...)` between the replicas, with the values of all of them."""
        self._require()
        with context.mode(self._strategy, None):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """The sum or mean over the replicas: of one, the value itself."""
        as_reduce_op(reduce_op)
        return nest.map_structure(lambda each: identity(convert_to_tensor(each)), value)

    def _require(self) -> None:
        if context.get_replica_context() is not self:
            raise RuntimeError("Need to be inside `call_for_each_replica()`")


def require_replica_context(replica_ctx: ReplicaContext) -> None:
    """RuntimeError unless this is called inside of that replica."""
    replica_ctx._require()
