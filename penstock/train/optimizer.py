"""`tf.train.Optimizer`: what all optimizers share, and what a new one overrides.

An optimizer is graph-building code on top of variables: it adds slot variables beside the ones it
trains and one update per variable. Nothing below it knows that a node belongs to an optimizer, so
a user's own optimizer is a subclass that overrides hooks, most often these:

    _create_slots(var_list)                        make the slots, with `_zeros_slot` and the like
    _prepare()                                     make tensors of the hyper-parameters
    _apply_dense(grad, var)                        the update of a ref variable by a tensor
    _apply_sparse(grad, var)                       … by an IndexedSlices
    _resource_apply_dense(grad, var)               the update of a resource variable by a tensor
    _resource_apply_sparse(grad, var, indices)     … by rows
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.autodiff.gradients import gradients
from penstock.autodiff.tape import Tape
from penstock.dtypes import DType
from penstock.ir.collections import GraphKeys
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.graph import Graph
from penstock.ir.name_scope import name_scope
from penstock.ir.nest import flatten
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ir.trackable import Trackable, TrackableReference
from penstock.ops.control import colocate_with, control_dependencies, get_collection, group
from penstock.ops.control import tuple as gate
from penstock.ops.filling import ones_like
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.resource_variables import AssignAddVariableOp, ResourceScatterAdd
from penstock.ops.segments import unsorted_segment_sum
from penstock.ops.shaping import shape
from penstock.ops.unique import unique
from penstock.ops.variable_collections import trainable_variables
from penstock.ops.variable_creation import create_variable, creators_of
from penstock.ops.variable_scope import get_variable, variable_scope
from penstock.ops.variable_updates import assign_add
from penstock.ops.variables import Variable
from penstock.train import replicas, slots

Gradient = Any  # Tensor | IndexedSlices | None

_GATES = "Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH"


class Optimizer(Trackable):
    """Computes the gradients of a loss and applies them to variables.

    >>> train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    GATE_NONE, GATE_OP and GATE_GRAPH say when a gradient may be used: at once, when all gradients
    of its node are there, or when all gradients of the graph are.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(
        self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False
    ):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._use_own_namescope_for_non_slot_vars = use_own_namescope_for_non_slot_vars
        if use_own_namescope_for_non_slot_vars:
            with variable_scope(None, default_name=name) as scope:
                self._non_slot_variable_scope = scope
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[tuple[str, Graph], Any] = {}
        self._deferred_slot_restorations: dict[str, dict[Any, list[Any]]] = {}

    def get_name(self) -> str:
        return self._name

    # Training -----------------------------------------------------------------------------------

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation that takes one step: `compute_gradients`, then `apply_gradients`.

        `global_step` is a variable that counts the steps; `var_list` are the variables to train,
        by default all trainable ones.
        """
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(gradient is None for gradient, _ in grads_and_vars):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in grads_and_vars]} and "
                f"loss {loss}."
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Gradient, Any]]:
        """Pairs of (gradient, variable); the gradient is None where `loss` does not depend on it.

        `loss` may be a function of no arguments that builds the loss; then, without a `var_list`,
        the variables are those that the loss depends on.
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(f"gate_gradients must be one of: {_GATES}.  Not {gate_gradients}")
        if executing_eagerly():
            return self._compute_gradients_now(loss, var_list, grad_loss)
        only_connected = callable(loss) and var_list is None
        loss = replicas.scaled_loss(self._call_if_callable(loss))
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        variables = _variables_to_train(self._call_if_callable(var_list))
        found = gradients(
            loss,
            variables,
            grad_ys=grad_loss,
            aggregation_method=aggregation_method,
            gate_gradients=gate_gradients == self.GATE_OP,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            found = gate(found)
        pairs = list(zip(found, variables, strict=True))
        if only_connected:
            pairs = [(gradient, v) for gradient, v in pairs if gradient is not None]
        self._assert_valid_dtypes([v for gradient, v in pairs if gradient is not None])
        return pairs

    def _compute_gradients_now(
        self, loss: Any, var_list: Any, grad_loss: Any
    ) -> list[tuple[Gradient, Any]]:
        """`compute_gradients` in eager mode: the loss is computed under a tape."""
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        tape = Tape()
        tape.start()
        try:
            if var_list is not None:
                for source in flatten(self._call_if_callable(var_list)):
                    watch = tape.watch if isinstance(source, Tensor) else tape.watch_variable
                    watch(source)
            value = replicas.scaled_loss(loss())
        finally:
            tape.stop()
        if var_list is None:
            variables = sorted(tape.variables.values(), key=lambda each: each.handle._id)
        else:
            variables = flatten(self._call_if_callable(var_list))
        weight = ones_like(value) if grad_loss is None else grad_loss
        sources = [each if isinstance(each, Tensor) else each.handle for each in variables]
        found = tape.gradient([value], sources, [weight])
        pairs = list(zip(found, variables, strict=True))
        self._assert_valid_dtypes([v for gradient, v in pairs if gradient is not None])
        return pairs

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """The operation that updates each variable by its gradient, then adds 1 to `global_step`.

        `grads_and_vars` are pairs as `compute_gradients` returns them; what lies between (clipping,
        summing over towers) is the caller's.
        """
        updates = _checked_pairs(grads_and_vars)
        if replicas.has_strategy():
            return replicas.apply_in_replica(self, updates, global_step, name)
        # Slots outlive the step that is being built: they must not wait for its control inputs.
        with get_default_graph().control_dependencies(None):
            self._create_slots([variable for _, variable in updates])
        with name_scope(name, self._name) as scope:
            self._prepare()
            update_ops = [_update(self, gradient, variable) for gradient, variable in updates]
            if global_step is None:
                train_op = self._finish(update_ops, scope)
            else:
                with control_dependencies([self._finish(update_ops, "update")]):
                    train_op = _count_step(global_step, scope)
        return _listed(train_op)

    def _distributed_apply(
        self,
        distribution: Any,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """`apply_gradients` between the replicas of a strategy."""
        return _listed(
            replicas.apply_between_replicas(
                self, distribution, grads_and_vars, global_step, name, apply_update
            )
        )

    # Slots and other state ------------------------------------------------------------------------

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot `name` that this optimizer keeps for `var`; None where there is none."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """All variables that this optimizer made in the default graph, sorted by name."""
        graph = outermost(get_default_graph())
        made = [v for named in self._slots.values() for v in named.values()]
        made += self._non_slot_variables()
        return sorted((v for v in made if _graph_of(v) is graph), key=lambda v: v.name)

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """The slot of `var`, made with the initial value `val`; its node is `<var>/<op_name>`."""
        named = self._slot_dict(slot_name)
        if _key(var) not in named:
            named[_key(var)] = slots.create_slot(var, val, op_name)
            self._restore_slot_variable(slot_name, var, named[_key(var)])
        return named[_key(var)]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        """The slot of `var`, made by an initializer."""
        named = self._slot_dict(slot_name)
        if _key(var) not in named:
            named[_key(var)] = slots.create_slot_with_initializer(
                var, initializer, shape, dtype, op_name
            )
            self._restore_slot_variable(slot_name, var, named[_key(var)])
        return named[_key(var)]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """The slot of `var`, made with zeros of its shape and type."""
        named = self._slot_dict(slot_name)
        if _key(var) not in named:
            named[_key(var)] = slots.create_zeros_slot(var, op_name)
            self._restore_slot_variable(slot_name, var, named[_key(var)])
        return named[_key(var)]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable that belongs to no single trained one, such as a power of a decay rate."""
        graph = _graph_of(colocate_with)
        key = (name, graph)
        if key not in self._non_slot_dict:
            settings: dict[str, Any] = {
                "name": name,
                "trainable": False,
                "use_resource": isinstance(colocate_with, ResourceVariable),
            }
            with replicas.variables_beside(colocate_with):
                if self._use_own_namescope_for_non_slot_vars:
                    with name_scope(""), variable_scope(self._non_slot_variable_scope):
                        made = get_variable(initializer=initial_value, **settings)
                else:
                    made = create_variable(initial_value, **settings)
            self._handle_deferred_dependencies(name=name, trackable=made)
            self._non_slot_dict[key] = made
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Any:
        return self._non_slot_dict.get((name, outermost(graph)))

    def _non_slot_variables(self) -> list[Any]:
        return list(self._non_slot_dict.values())

    # Object-based checkpoints ---------------------------------------------------------------------

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """One optimizer may train in several graphs: what it owns are the default one's."""
        graph = outermost(get_default_graph())
        own = [
            TrackableReference(name, variable)
            for (name, _), variable in sorted(self._non_slot_dict.items(), key=lambda e: e[0][0])
            if _graph_of(variable) is graph
        ]
        return super()._checkpoint_dependencies + own

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        return found or self._get_non_slot_variable(name, graph=get_default_graph())

    def _restore_slot_variable(self, slot_name: str, variable: Any, slot_variable: Any) -> None:
        """Restores a slot that has just been made from checkpoints that wait for it."""
        waiting = self._deferred_slot_restorations.get(slot_name, {}).pop(_key(variable), [])
        for position in sorted(waiting, key=lambda each: each.restore_uid, reverse=True):
            position.restore(slot_variable)

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Any
    ) -> None:
        """Restores a slot, at once or when it is made."""
        slot = self._slots.get(slot_name, {}).get(_key(variable))
        # A creator that is meant for the variable must not see its slot.
        makes_slots = executing_eagerly() and not creators_of(get_default_graph())
        if slot is None and makes_slots and slot_variable_position.is_simple_variable():
            value = convert_to_tensor(slot_variable_position.value())
            slot = self._get_or_make_slot(variable, value, slot_name, self._name)
        if slot is not None:
            slot_variable_position.restore(slot)
            return
        waiting = self._deferred_slot_restorations.setdefault(slot_name, {})
        waiting.setdefault(_key(variable), []).append(slot_variable_position)

    # Hooks ----------------------------------------------------------------------------------------

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes the slots of all variables; called once per `apply_gradients`."""

    def _prepare(self) -> None:
        """Makes what all updates share, inside the optimizer's name scope."""

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        """The operation that updates a ref variable by a gradient of its shape."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        """The operation that updates a resource variable by a gradient of its shape."""
        raise NotImplementedError

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """The operation that updates rows of a ref variable; each index occurs once."""
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        """The operation that updates rows of a resource variable; each index occurs once."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """As `_apply_sparse`, for indices that may repeat: by default, their rows are summed."""
        values, indices = sum_duplicates(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Any:
        """As `_resource_apply_sparse`, for indices that may repeat: their rows are summed."""
        values, unique_indices = sum_duplicates(grad, indices)
        return self._resource_apply_sparse(values, handle, unique_indices)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Operation:
        """Groups all updates; an optimizer that has more to do after them overrides this."""
        return group(*update_ops, name=name_scope)

    # For use in hooks -----------------------------------------------------------------------------

    def _call_if_callable(self, param: Any) -> Any:
        """A hyper-parameter's value; it may be given as a function of no arguments."""
        return param() if callable(param) else param

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Tensor:
        """Adds rows `v` at `i` to resource variable `x`; returns its value after that."""
        with control_dependencies([ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _valid_dtypes(self) -> set[DType]:
        """The types of loss and variables that this optimizer can handle."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                expected = sorted(valid, key=lambda allowed: allowed.as_datatype_enum)
                raise ValueError(f"Invalid type {dtype!r} for {tensor.name}, expected: {expected}.")


def hyperparameter(value: Any, name: str) -> Tensor:
    """A hyper-parameter (a number, a tensor, or a function without arguments) as a tensor."""
    return convert_to_tensor(value() if callable(value) else value, name=name)


def sum_duplicates(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Sums the rows of equal indices: rows and indices, each index once, in order of appearance."""
    unique_indices, positions = unique(indices)
    return unsorted_segment_sum(values, positions, shape(unique_indices)[0]), unique_indices


def outermost(graph: Graph | None) -> Any:
    """The graph that variables are made in where a graph is the default one."""
    while isinstance(graph, FunctionGraph) and graph.outer_graph is not None:
        graph = graph.outer_graph
    return graph


def _graph_of(variable: Any) -> Graph:
    """The graph that a variable was made in."""
    home: Graph | None = getattr(variable, "_home_graph", None)
    return variable.graph if home is None else home


def _key(variable: Any) -> tuple[Graph, str]:
    """What a slot is filed under: a variable may be met again as another object."""
    whole = replicas.container_of(variable)
    graph = _graph_of(whole)
    return graph, whole._unique_id if graph.is_eager else whole.name.partition(":")[0]


def _listed(train_op: Any) -> Any:
    """Adds an operation to the graph's training operations."""
    if train_op is None or executing_eagerly():
        return train_op
    collection = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    element = train_op.op if isinstance(train_op, Tensor) else train_op
    if not any(element is each for each in collection):
        collection.append(element)
    return element


def _variables_to_train(var_list: Any) -> list[Any]:
    if var_list is None:
        variables = trainable_variables() + get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
    else:
        variables = flatten(var_list)
    if not variables:
        raise ValueError("No variables to optimize.")
    for entry in variables:
        if not isinstance(entry, (Variable, Tensor)):
            raise TypeError(f"Argument is not a tf.Variable: {entry!r}")
    return variables


def _checked_pairs(grads_and_vars: Any) -> list[tuple[Any, Any]]:
    """The pairs that have a gradient, with the gradient as a tensor or as indexed slices."""
    pairs = [(gradient, variable) for gradient, variable in grads_and_vars]
    if not pairs:
        raise ValueError("No variables provided.")
    checked = [(_as_gradient(g), variable) for g, variable in pairs if g is not None]
    if not checked:
        raise ValueError(
            f"No gradients provided for any variable: {[str(variable) for _, variable in pairs]}."
        )
    return checked


def _as_gradient(value: Any) -> Any:
    if isinstance(value, (Tensor, IndexedSlices)):
        return value
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {value!r}"
        ) from None


def _update(optimizer: Optimizer, gradient: Gradient, variable: Any) -> Any:
    """One variable's update, in its own name scope and on the variable's device."""
    with name_scope(f"update_{variable.name.partition(':')[0]}"), colocate_with(variable):
        return apply_update(optimizer, gradient, variable)


def apply_update(optimizer: Optimizer, gradient: Gradient, variable: Any) -> Any:
    """The operation by which an optimizer updates one variable."""
    if not isinstance(variable, Variable):
        raise NotImplementedError("Trying to update a Tensor ", variable)
    constraint = variable.constraint
    sparse = isinstance(gradient, IndexedSlices)
    if sparse and constraint is not None:
        raise RuntimeError("Cannot use a constraint function on a sparse variable.")
    if not isinstance(variable, ResourceVariable):
        apply = optimizer._apply_sparse_duplicate_indices if sparse else optimizer._apply_dense
        update = apply(gradient, variable)
    elif sparse:
        update = optimizer._resource_apply_sparse_duplicate_indices(
            gradient.values, variable, gradient.indices
        )
    else:
        update = optimizer._resource_apply_dense(gradient, variable)
    if constraint is None:
        return update
    with control_dependencies([update]):
        return variable.assign(constraint(variable))


def _count_step(global_step: Any, name: str) -> Any:
    with colocate_with(global_step):
        if isinstance(global_step, ResourceVariable):
            one = convert_to_tensor(1, dtype=global_step.dtype)
            return AssignAddVariableOp(global_step.handle, one, name=name)
        return assign_add(global_step, 1, name=name)
