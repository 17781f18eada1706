"""`TowerOptimizer`: gradients of a model's towers are added up and applied once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import penstock as tf

GradsAndVars = list[tuple[Any, Any]]


class _Towers:
    """What a graph's towers have in common while they are built.

    Each optimizer is called once by each tower, in the same order; so the gradients that belong
    together have the same position in the towers' lists.
    """

    def __init__(self) -> None:
        self.count = 1
        self.loss_reduction: Any = None
        self.optimizer_is_used = False
        self.first_scopes: tuple[Any, Any] = (None, None)
        self._current = 0
        self._gradients: dict[int, list[GradsAndVars]] = {}

    @contextlib.contextmanager
    def tower(self, tower_id: int, var_scope: Any, name_scope: Any) -> Iterator[None]:
        if tower_id == 0:
            self.first_scopes = (var_scope, name_scope)
        self._current = tower_id
        yield

    @property
    def at_last(self) -> bool:
        return self._current == self.count - 1

    @property
    def calls_are_alike(self) -> bool:
        return sum(map(len, self._gradients.values())) % self.count == 0

    def collect(self, grads_and_vars: GradsAndVars) -> None:
        self._gradients.setdefault(self._current, []).append(grads_and_vars)

    def latest_of_all(self) -> GradsAndVars:
        """What the towers have given to the optimizer that the current one called last."""
        position = len(self._gradients[self._current]) - 1
        return [
            pair
            for tower_id in range(self._current + 1)
            for pair in self._gradients[tower_id][position]
        ]


class TowerOptimizer(tf.train.Optimizer):
    """Collects the gradients of all towers, and applies their sums in the last one.

    Without `replicate_model_fn`, or with one tower, it only calls the optimizer that it holds.

    Args:
      optimizer_or_optimizer_fn: an optimizer, or a function that makes it.
    """

    COLLECTION_FOR_GRAPH_STATES = "replicate_model_fn_graph_states"

    def __init__(self, optimizer_or_optimizer_fn: Any | Callable[[], Any]):
        self._optimizer_or_optimizer_fn = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used() -> bool:
        """Whether a model of this graph has asked a `TowerOptimizer` for something."""
        return TowerOptimizer._graph_state().optimizer_is_used

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().get_name(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        return self._get_optimizer().variables(*args, **kwargs)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """Gradients by a tower's share of the loss."""
        towers = self._graph_state()
        share = scaled_loss(loss, towers.loss_reduction, towers.count)
        return self._get_optimizer().compute_gradients(share, *args, **kwargs)

    def apply_gradients(  # type: ignore[override] # further arguments go to the optimizer
        self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any
    ) -> Any:
        """Remembers a tower's gradients; the last tower's call applies those of all."""
        towers = self._graph_state()
        if towers.count == 1:
            return self._get_optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)
        grads_and_vars = list(grads_and_vars)
        towers.collect(grads_and_vars)
        if not towers.at_last:
            with tf.control_dependencies(_dense_parts(grads_and_vars)):
                return tf.no_op(name="train_op_placeholder")
        # Names without a tower's prefix: the updates belong to the model, not to its last tower.
        var_scope, name_scope = towers.first_scopes
        with tf.variable_scope(var_scope), tf.name_scope(name_scope):
            return self._apply_sums(towers.latest_of_all(), global_step, **kwargs)

    def _apply_sums(self, grads_and_vars: GradsAndVars, global_step: Any, **kwargs: Any) -> Any:
        by_variable: dict[Any, list[Any]] = {}
        for gradient, variable in grads_and_vars:
            if gradient is not None:
                by_variable.setdefault(variable, []).append(gradient)
        with tf.name_scope("gradient_aggregating"):
            sums = [
                (_compute_sum_on_device(gradients, variable.device), variable)
                for variable, gradients in by_variable.items()
            ]
        return self._get_optimizer().apply_gradients(sums, global_step=global_step, **kwargs)

    def _get_optimizer(self) -> Any:
        # A function is called late, when the graph is known that the optimizer belongs to.
        if callable(self._optimizer_or_optimizer_fn):
            self._optimizer_or_optimizer_fn = self._optimizer_or_optimizer_fn()
        self._graph_state().optimizer_is_used = True
        return self._optimizer_or_optimizer_fn

    @staticmethod
    def _graph_state() -> _Towers:
        states = tf.get_default_graph().get_collection_ref(
            TowerOptimizer.COLLECTION_FOR_GRAPH_STATES
        )
        if not states:
            states.append(_Towers())
        state: _Towers = states[-1]
        return state

    @staticmethod
    def _clear_graph_state() -> None:
        tf.get_default_graph().clear_collection(TowerOptimizer.COLLECTION_FOR_GRAPH_STATES)


def scaled_loss(loss: Any, loss_reduction: Any, number_of_towers: int) -> Any:
    """A tower's share: divided by the number of towers, unless losses are to be added up."""
    summed = loss_reduction == tf.losses.Reduction.SUM
    if loss is None or number_of_towers == 1 or summed:
        return loss
    return tf.div(loss, 1.0 * number_of_towers, name="averaged_loss")


def _compute_sum_on_device(values: Any, device: Any, name: str | None = None) -> Any:
    """The sum of tensors or of rows (`IndexedSlices`), on a device."""
    with tf.device(device):
        if not isinstance(values[0], tf.IndexedSlices):
            return tf.add_n(values, name=name)
        if name:
            raise ValueError(f"The name {name} is not expected to be given to IndexedSlices.")
        return tf.IndexedSlices(
            tf.concat([rows.values for rows in values], axis=0),
            tf.concat([rows.indices for rows in values], axis=0),
            values[0].dense_shape,
        )


def _dense_parts(grads_and_vars: GradsAndVars) -> list[Any]:
    gradients = [gradient for gradient, _ in grads_and_vars if gradient is not None]
    return [each.values if isinstance(each, tf.IndexedSlices) else each for each in gradients]
