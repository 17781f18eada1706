"""`tf.distribute.ReplicaContext`: what the code inside of a replica can ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import nest
from penstock.autodiff.registration import custom_gradient
from penstock.distribute import context
from penstock.distribute.reduce_op import as_reduce_op
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops import summaries
from penstock.ops.constants import constant
from penstock.ops.identity import identity


class ReplicaContext:
    """Given to the function that runs in each replica, by `tf.distribute.get_replica_context`."""

    def __init__(
        self,
        strategy: Any,
        replica_id_in_sync_group: Any = 0,
        merge: Callable[..., Any] | None = None,
    ):
        self._strategy = strategy
        self._replica_id = replica_id_in_sync_group
        is_tensor = isinstance(replica_id_in_sync_group, Tensor)
        number = constant_value(replica_id_in_sync_group) if is_tensor else replica_id_in_sync_group
        self.replica_number = 0 if number is None else int(number)
        self._merge = merge
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        mode = context.mode(self._strategy, self)
        mode.__enter__()
        self._entered.append((mode, summaries.replica.number))
        summaries.replica.number = self.replica_number

    def __exit__(self, *exception: Any) -> None:
        mode, summaries.replica.number = self._entered.pop()
        mode.__exit__(*exception)

    @property
    def strategy(self) -> Any:
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        return int(self._strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The replica's number, as a tensor of the graph."""
        if not isinstance(self._replica_id, Tensor):
            return constant(self.replica_number, name="replica_id_in_sync_group")
        return self._replica_id

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this replica."""
        self._require()
        return (self._strategy.extended.worker_devices[self.replica_number],)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls `merge_fn(strategy, ...)` between the replicas, with the values of all of them."""
        self._require()
        if self._merge is not None:
            return self._merge(merge_fn, args, kwargs or {})
        with context.mode(self._strategy, None):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """The sum or mean over the replicas, of each tensor of a structure."""
        chosen = as_reduce_op(reduce_op)

        @custom_gradient
        def reduced(*values: Any) -> Any:
            given = self.merge_call(_all_reduced, args=(chosen, *values))
            # What one replica's result depends on is all of theirs, alike.
            return given, lambda *grads: self.all_reduce(chosen, list(grads))

        flat = [identity(convert_to_tensor(each)) for each in nest.flatten(value)]
        results = reduced(*flat)
        return nest.pack_sequence_as(value, results if len(flat) > 1 else nest.flatten(results))

    def _require(self) -> None:
        if context.get_replica_context() is not self:
            raise RuntimeError("Need to be inside `call_for_each_replica()`")


def _all_reduced(strategy: Any, reduce_op: Any, *values: Any) -> Any:
    pairs = [(value, getattr(value, "device", value)) for value in values]
    if strategy.num_replicas_in_sync > 1:
        pairs = [(value, value) for value in values]
    reduced = strategy.extended.batch_reduce_to(reduce_op, pairs)
    return reduced[0] if len(reduced) == 1 else reduced


def require_replica_context(replica_ctx: ReplicaContext) -> None:
    """RuntimeError unless this is called inside of that replica."""
    replica_ctx._require()
