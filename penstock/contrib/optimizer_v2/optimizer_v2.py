"""`tf.contrib.optimizer_v2.OptimizerV2`: optimizers whose hooks are given their state.

A new one overrides `_create_vars(var_list, state)`, `_apply_dense(grad, var, state)`,
`_resource_apply_dense`, `_apply_sparse`, `_resource_apply_sparse` and `_finish(state)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.contrib.optimizer_v2.state import OptimizerState
from penstock.ir.nest import flatten
from penstock.ir.trackable import TrackableReference
from penstock.ops.resource_variable import ResourceVariable
from penstock.train.optimizer import Optimizer, sum_duplicates


class OptimizerV2(Optimizer):
    """Computes the gradients of a loss and applies them; settings may be functions.

    What it keeps for a graph is an `OptimizerState`, which every hook gets as its last argument.
    """

    def __init__(self, use_locking: bool, name: str):
        if type(self)._create_slots is not OptimizerV2._create_slots:
            raise RuntimeError(
                "Override _create_vars instead of _create_slots when descending from OptimizerV2 "
                f"(class {type(self).__name__})"
            )
        super().__init__(use_locking, name)
        self._per_graph_state: dict[Any, OptimizerState] = {}
        self._hyper: dict[str, tuple[bool, Any]] = {}

    def _set_hyper(self, name: str, value: Any) -> None:
        self._hyper[name] = (callable(value), value)

    def _settings(self, changing: bool) -> dict[str, Any]:
        return {
            name: value for name, (dynamic, value) in self._hyper.items() if dynamic is changing
        }

    # Training -------------------------------------------------------------------------------------

    def minimize(  # type: ignore[override] # as in TensorFlow
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        name: str | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Any:
        """The operation that takes one step: `compute_gradients`, then `apply_gradients`."""
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            grad_loss=grad_loss,
            stop_gradients=stop_gradients,
            scale_loss_by_num_replicas=scale_loss_by_num_replicas,
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in pairs]} and "
                f"loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(  # type: ignore[override] # as in TensorFlow
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> list[tuple[Any, Any]]:
        """Pairs of (gradient, variable); `loss` may be a function that builds it."""
        if callable(loss):
            return self._gradients_of_function(
                loss, var_list, grad_loss, scale_loss_by_num_replicas
            )
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        loss = self._scale_loss(loss, scale_loss_by_num_replicas)
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        variables = flatten(_trainable() if var_list is None else var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        found = tf.gradients(
            loss,
            variables,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            stop_gradients=stop_gradients,
        )
        if gate_gradients == self.GATE_GRAPH:
            found = tf.tuple(found)
        pairs = list(zip(found, variables, strict=True))
        self._assert_valid_dtypes([v for gradient, v in pairs if gradient is not None])
        return pairs

    def _gradients_of_function(
        self, loss: Any, var_list: Any, grad_loss: Any, scaled: bool
    ) -> list[tuple[Any, Any]]:
        with tf.GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = self._scale_loss(loss(), scaled)
        variables = list(tape.watched_variables() if var_list is None else var_list)
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))

    @staticmethod
    def _scale_loss(loss_value: Any, scale_loss_by_num_replicas: bool) -> Any:
        count = tf.distribute.get_strategy().num_replicas_in_sync
        if scale_loss_by_num_replicas and count > 1:
            return loss_value * (1.0 / count)
        return loss_value

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """The operation that updates each variable by its gradient, then adds 1 to the step."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        with_gradients = tuple(pair for pair in pairs if pair[0] is not None)
        if not with_gradients:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v in pairs]}."
            )
        return tf.distribute.get_replica_context().merge_call(
            self._distributed_apply,
            args=(with_gradients,),
            kwargs={"global_step": global_step, "name": name},
        )

    def _distributed_apply(
        self,
        distribution: Any,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """`apply_gradients` between the replicas of a strategy, or in the only one."""
        extended = distribution.extended
        reduced = extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, grads_and_vars)
        variables = [variable for _, variable in grads_and_vars]
        with tf.name_scope(name, self._name) as scope:
            local = [x for v in variables for x in distribution.experimental_local_results(v)]
            devices = extended.non_slot_devices(variables)
            kept = self._get_or_create_state(var_list=local)
            state = kept.for_step(self._settings(changing=True), distribution, devices)
        # Slots outlive the step that is being built: they must not wait for its control inputs.
        with tf.init_scope():
            self._create_vars(variables, state)
        with tf.name_scope(scope):
            self._prepare(state)
            updates = self._updates(extended, reduced, variables, state)
            train_op = self._finished(distribution, devices, updates, state, global_step, scope)
        return _listed(train_op)

    def _updates(
        self, extended: Any, gradients: Any, variables: Sequence[Any], state: OptimizerState
    ) -> Any:
        def update(variable: Any, gradient: Any) -> Any:
            given = _as_gradient(gradient)
            with tf.name_scope(f"update_{variable.op.name}"):
                return _update_op(self, given, variable, state)

        made: list[Any] = []
        for gradient, variable in zip(gradients, variables, strict=True):
            made += extended.update(variable, update, args=(gradient,), group=False)
        return tf.group(made)

    def _finished(
        self,
        distribution: Any,
        devices: Any,
        updates: Any,
        state: OptimizerState,
        global_step: Any,
        scope: str,
    ) -> Any:
        extended = distribution.extended
        with tf.control_dependencies([updates]):
            finished = extended.update_non_slot(
                devices,
                lambda: self._finish(state),
                group=False,
            )
        if all(each is None for each in finished):
            finished = (updates,)
        if global_step is None:
            return distribution.group(finished, name=scope)
        with tf.control_dependencies(finished):
            return extended.update(
                global_step,
                lambda step, name: step.assign_add(1, read_value=False, name=name),
                args=(scope,),
            )

    # State ----------------------------------------------------------------------------------------

    def _get_or_create_state(self, var_list: Sequence[Any] | None = None) -> OptimizerState:
        graph = var_list[0].graph if var_list else tf.get_default_graph()
        if graph not in self._per_graph_state:
            self._per_graph_state[graph] = OptimizerState(
                self._name, self._settings(changing=False)
            )
        return self._per_graph_state[graph]

    def _get_per_graph_state(self) -> OptimizerState | None:
        return self._per_graph_state.get(tf.get_default_graph())

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot `name` that this optimizer keeps for `var`; None where there is none."""
        state = self._per_graph_state.get(var.graph)
        return None if state is None else state.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots that this optimizer made in the default graph."""
        state = self._get_per_graph_state()
        return [] if state is None else state.get_slot_names()

    def variables(self) -> list[Any]:
        """All variables that this optimizer made in the default graph, sorted by name."""
        state = self._get_per_graph_state()
        return [] if state is None else state.variables()

    def _slot_dict(self, slot_name: str) -> Any:
        raise NotImplementedError("_slot_dict() method unsupported in OptimizerV2")

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        raise NotImplementedError("_get_or_make_slot() method unsupported in OptimizerV2")

    def _get_or_make_slot_with_initializer(self, *arguments: Any) -> Any:
        raise NotImplementedError(
            "_get_or_make_slot_with_initializer() method unsupported in OptimizerV2"
        )

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        raise NotImplementedError("_create_non_slot_variable() method unsupported in OptimizerV2")

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        raise NotImplementedError("_get_non_slot_variable() method unsupported in OptimizerV2")

    def _non_slot_variables(self) -> list[Any]:
        raise NotImplementedError("_non_slot_variables() method unsupported in OptimizerV2")

    # Object-based checkpoints ---------------------------------------------------------------------

    def _track_trackable(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "Optimizers may not have dependencies. File a feature request if this limitation "
            "bothers you."
        )

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        state = self._get_per_graph_state()
        made = {} if state is None else state._non_slot_dict
        return [TrackableReference(name, variable) for name, variable in sorted(made.items())]

    def _lookup_dependency(self, name: str) -> Any:
        state = self._get_per_graph_state()
        return None if state is None else state.get_non_slot(name)

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        return self._get_or_create_state()._deferred_dependencies

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Any
    ) -> None:
        state = self._get_or_create_state(var_list=[variable])
        state.restore_slot(slot_variable_position, slot_name, variable)

    # Hooks ----------------------------------------------------------------------------------------

    def _create_vars(self, var_list: Sequence[Any], state: OptimizerState) -> None:
        """Makes slots and other variables, where they are new."""

    def _prepare(self, state: OptimizerState) -> None:  # type: ignore[override]
        """Makes what all updates share."""

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        """The operation that updates a ref variable by a gradient of its shape."""
        raise NotImplementedError

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerState
    ) -> Any:
        """The operation that updates a resource variable by a gradient of its shape."""
        raise NotImplementedError

    def _apply_sparse(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        """The operation that updates rows of a ref variable; each index occurs once."""
        raise NotImplementedError

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerState
    ) -> Any:
        """The operation that updates rows of a resource variable; each index occurs once."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        values, indices = sum_duplicates(grad.values, grad.indices)
        return self._apply_sparse(tf.IndexedSlices(values, indices, grad.dense_shape), var, state)

    def _resource_apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerState
    ) -> Any:
        values, unique_indices = sum_duplicates(grad, indices)
        return self._resource_apply_sparse(values, handle, unique_indices, state)

    def _finish(self, state: OptimizerState) -> Any:  # type: ignore[override]
        """What is left to do after all updates, or None."""
        return None


def _trainable() -> list[Any]:
    resources = tf.get_collection(tf.GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
    return [*tf.trainable_variables(), *resources]


def _listed(train_op: Any) -> Any:
    operation = train_op.op if isinstance(train_op, tf.Tensor) else train_op
    collection = tf.get_collection_ref(tf.GraphKeys.TRAIN_OP)
    if not any(operation is each for each in collection):
        collection.append(operation)
    return operation


def _as_gradient(given: Any) -> Any:
    if isinstance(given, tf.Tensor | tf.IndexedSlices):
        return given
    try:
        return tf.convert_to_tensor(given)
    except TypeError:
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {given}"
        ) from None


def _update_op(optimizer: Any, gradient: Any, variable: Any, state: OptimizerState) -> Any:
    """The update of one variable, with its constraint."""
    if isinstance(variable, tf.Tensor):
        raise NotImplementedError("Trying to update a Tensor ", variable)
    constraint = variable.constraint
    of_resource = isinstance(variable, ResourceVariable)
    if isinstance(gradient, tf.IndexedSlices):
        if constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        if of_resource:
            return optimizer._resource_apply_sparse_duplicate_indices(
                gradient.values, variable, gradient.indices, state
            )
        return optimizer._apply_sparse_duplicate_indices(gradient, variable, state)
    apply = optimizer._resource_apply_dense if of_resource else optimizer._apply_dense
    update = apply(gradient, variable, state)
    if constraint is None:
        return update
    with tf.control_dependencies([update]):
        return variable.assign(constraint(variable))
