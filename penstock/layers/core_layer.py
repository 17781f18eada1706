"""What layers of `tf.layers` and of `tf.keras` have in common."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.ir import nest
from penstock.ir.conversion_status import control_status_ctx
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_session
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ir.trackable import Trackable, TrackableReference
from penstock.layers import identifiers
from penstock.layers.call_context import call_context, is_of_values
from penstock.layers.input_spec import InputSpec, check_inputs
from penstock.layers.object_names import to_snake_case, unique_object_name
from penstock.layers.owned_attributes import has_something, own_attribute
from penstock.layers.reachability import depends_on
from penstock.layers.thread_losses import ThreadLosses
from penstock.ops.casts import cast
from penstock.ops.initializers import glorot_uniform_initializer, zeros_initializer
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.shaping import shape as shape_of
from penstock.ops.variable_creation import create_variable
from penstock.ops.variables import Variable, VariableAggregation, VariableSynchronization
from penstock.shapes import TensorShape

_ALLOWED_ARGUMENTS = {
    "activity_regularizer",
    "autocast",
    "batch_input_shape",
    "batch_size",
    "input_shape",
    "weights",
}


class CoreLayer(Trackable):
    """A function of tensors that owns variables, which it makes when it first sees its inputs.

    1. `build` runs once, before the first `call`; it makes the variables with `add_weight`.
    2. A variable, loss or update that was added stays with the layer.
    3. Nothing here depends on how a subclass names its nodes (`_name_scope`) and gets its
       variables (the `getter` of `add_weight`).
    """

    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: Any = None,
        dynamic: bool = False,
        **kwargs: Any,
    ):
        for key in kwargs:
            if key not in _ALLOWED_ARGUMENTS:
                raise TypeError("Keyword argument not understood:", key)
        self._trainable = trainable
        self.stateful = False
        self.built = False
        self.input_spec = None
        self.supports_masking = False
        self._init_set_name(name)
        self._activity_regularizer = kwargs.get("activity_regularizer")
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._callable_losses: list[Callable[[], Any]] = []
        self._losses_of_thread = ThreadLosses()
        self._layers: list[Any] = []
        self._inbound_nodes: list[Any] = []
        self._outbound_nodes: list[Any] = []
        self._dtype_name = None if dtype is None else dtypes.as_dtype(dtype).name
        self._dynamic = dynamic
        self._initial_weights = kwargs.get("weights")
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            self._batch_input_shape = (kwargs.get("batch_size"), *kwargs["input_shape"])
        self._inspect_call()

    def _init_set_name(self, name: Any) -> None:
        self._name = name or unique_object_name(to_snake_case(type(self).__name__), zero_based=True)

    def _inspect_call(self) -> None:
        parameters = inspect.signature(self.call).parameters.values()
        self._call_fn_args = [
            p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        self._call_accepts_kwargs = any(p.kind is p.VAR_KEYWORD for p in parameters)

    # Object-based checkpoints -------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        own_attribute(self, name, value)

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        return [each for each in super()._checkpoint_dependencies if has_something(each.ref)]

    # What a subclass defines --------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes the variables; `input_shape` has the structure of the inputs."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The static shape of the outputs for inputs of a static shape."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a layer again, without its variables' values."""
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer with the arguments that `get_config` gave."""
        return cls(**config)

    # Properties ---------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> str | None:
        """The name of the variables' type; that of the first input, unless it was given."""
        return self._dtype_name

    @property
    def _dtype(self) -> str | None:
        return self._dtype_name

    @_dtype.setter
    def _dtype(self, value: Any) -> None:
        self._dtype_name = dtypes.as_dtype(value).name

    @property
    def _compute_dtype(self) -> str | None:
        """The name of the type that `call` computes in."""
        return self.dtype

    @property
    def dynamic(self) -> bool:
        return self._dynamic

    @property
    def trainable(self) -> bool:
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in getattr(self, "_layers", ()):  # a cell may set this before its base is made
            layer.trainable = value

    @property
    def activity_regularizer(self) -> Any:
        """A function of the outputs whose value is added to the losses."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self._activity_regularizer = regularizer

    @property
    def input_spec(self) -> Any:
        """What the inputs must be like: a structure of `InputSpec`."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        self._input_spec = value

    # Variables ----------------------------------------------------------------------------------

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """Makes a variable and adds it to the layer.

        Args:
          initializer: by default Glorot's for floats, zeros for other numbers.
          regularizer: a function of the variable whose value is added to the losses.
          trainable: True unless the variable is synchronized ON_READ.
        """
        for key in kwargs:
            if key not in ("getter", "collections", "experimental_autocast"):
                raise TypeError("Unknown keyword argument:", key)
        wanted = dtypes.as_dtype(dtype or self.dtype or dtypes.float32)
        if self._dtype_name is None:
            self._dtype_name = wanted.base_dtype.name
        trainable = settled_trainable(trainable, synchronization)
        variable = kwargs.get("getter", make_variable)(
            name=name,
            shape=() if shape is None else shape,
            dtype=wanted,
            initializer=self._settled_initializer(name, wanted, initializer),
            trainable=trainable,
            constraint=identifiers.constraint(constraint),
            partitioner=partitioner,
            use_resource=use_resource,
            collections=kwargs.get("collections"),
            synchronization=synchronization,
            aggregation=aggregation,
        )
        regularize = identifiers.regularizer(regularizer)
        if regularize is not None:
            self._add_weight_regularization(variable.name.split(":")[0], variable, regularize)
        owned = self._trainable_weights if trainable else self._non_trainable_weights
        if not any(variable is known for known in owned):
            owned.append(variable)
        if name is not None and isinstance(variable, Variable):
            self._track_trackable(variable, name=name, overwrite=True)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Another name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def _settled_initializer(self, name: str | None, dtype: dtypes.DType, given: Any) -> Any:
        initializer = identifiers.initializer(given)
        if initializer is not None:
            return initializer
        if dtype.is_floating:
            return glorot_uniform_initializer()
        if dtype.is_integer or dtype.is_bool:
            return zeros_initializer()
        raise ValueError(
            f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer "
            f"{self.name}"
        )

    def _add_weight_regularization(self, name: str, variable: Any, regularizer: Any) -> None:
        def loss_of(part: Variable) -> Any:
            with name_scope(f"{name}/Regularizer"):
                return regularizer(part)

        parts = variable if isinstance(variable, PartitionedVariable) else [variable]
        for part in parts:
            self.add_loss(partial(loss_of, part))

    def _of_sublayers(self, attribute: str) -> list[Any]:
        return [value for layer in self._layers for value in getattr(layer, attribute)]

    @property
    def trainable_weights(self) -> list[Any]:
        if not self.trainable:
            return []
        return self._trainable_weights + self._of_sublayers("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        if self.trainable:
            return self._non_trainable_weights + self._of_sublayers("non_trainable_weights")
        own = self._trainable_weights + self._non_trainable_weights
        return own + self._of_sublayers("weights")

    @property
    def weights(self) -> list[Any]:
        """All variables: the trainable ones, then the others."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    def count_params(self) -> int:
        """How many numbers the variables hold."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You "
                f"can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return int(sum(np.prod(weight.shape.as_list()) for weight in self.weights))

    def get_weights(self) -> list[Any]:
        """The variables' values, as arrays."""
        if executing_eagerly():
            return [weight.numpy() for weight in self.weights]
        return self._session().run(self.weights) if self.weights else []

    def set_weights(self, weights: Any) -> None:
        """Sets the variables, in the order of `weights`, from arrays."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            if not variable.shape.is_compatible_with(np.shape(value)):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {np.shape(value)}"
                )
        session = self._session() if variables and not executing_eagerly() else None
        for variable, value in zip(variables, weights, strict=True):
            variable.load(value, session)

    def _session(self) -> Any:
        session = get_default_session()
        if session is None:
            raise ValueError(f"The weights of layer {self.name} need a session: none is open")
        return session

    # Losses and updates -------------------------------------------------------------------------

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses: tensors, or functions that make them.

        Args:
          inputs: None says that the losses don't depend on what the layer is called on.
        """
        for loss in nest.flatten(losses):
            if callable(loss) and not isinstance(loss, (Tensor, Variable)):
                self._callable_losses.append(partial(_loss_made_by, loss, inputs is None))
            elif loss is not None:
                marked = _marked_loss(loss, inputs is None)
                (self._eager_losses if is_of_values() else self._losses).append(marked)

    @property
    def _eager_losses(self) -> list[Any]:
        """Those of the last call, in eager mode; replicas that take turns have each its own."""
        return self._losses_of_thread.added

    @_eager_losses.setter
    def _eager_losses(self, losses: list[Any]) -> None:
        self._losses_of_thread.added = losses

    @property
    def losses(self) -> list[Any]:
        """The losses; those of weight regularizers are made anew each time."""
        made = [loss for make in self._callable_losses if (loss := make()) is not None]
        # Where there are losses of values, someone trains eagerly and wants only them.
        own = self._eager_losses or self._losses
        return own + made + self._of_sublayers("losses")

    def _clear_losses(self) -> None:
        """Forgets the losses of the last call, in eager mode."""
        self._eager_losses = []
        for layer in self._layers:
            layer._clear_losses()

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on `inputs`; with None those that depend on no inputs at all."""
        return _relevant(self.losses, inputs, "_unconditional_loss")

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that change the layer's state, or functions that make them.

        Args:
          inputs: not used; what an update depends on is seen from the graph.
        """
        if is_of_values():
            functions = [
                update
                for update in nest.flatten(updates)
                if callable(update) and not isinstance(update, Variable)
            ]
            for update in () if call_context.frozen else functions:
                update()
            return
        relevant = nest.flatten(
            call_context.inputs if call_context.in_call else self._inputs_of_calls()
        )
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            made = _update_op(update)
            made._unconditional_update = not depends_on(made, relevant)
            self._updates.append(made)

    def _inputs_of_calls(self) -> list[Any]:
        """All that the layer has been called on; for subclasses that keep account of calls."""
        return []

    @property
    def updates(self) -> list[Any]:
        """The operations that change the layer's state; none while it is frozen."""
        if not self.trainable and not self.stateful:
            return []
        return self._updates + self._of_sublayers("updates")

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on `inputs`; with None those that depend on no inputs at all."""
        return _relevant(self.updates, inputs, "_unconditional_update")

    # Calling ------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer, after building it on the first inputs."""
        if not call_context.in_call and is_of_values():
            self._clear_losses()
        inputs = nest.map_structure(_tensor_if_number, inputs)
        training = self._take_training(args, kwargs)
        with call_context.enter(self, inputs, not executing_eagerly(), training):
            check_inputs(self.input_spec, inputs, self.name)
            with name_scope(self._name_scope()):
                self._maybe_build(inputs)
                outputs = self._called(inputs, *args, **kwargs)
                if outputs is None:
                    raise ValueError(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not "
                        f"None (layer: {self.name})."
                    )
                outputs = self._after_call(inputs, outputs, args, kwargs)
                self._add_activity_regularization(inputs, outputs)
        return outputs

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        call = self.call if executing_eagerly() else as_graph_code(self.call)
        try:
            return call(*args, **kwargs)
        except errors.OperatorNotAllowedInGraphError as error:
            if self._dynamic:
                raise
            raise TypeError(
                "You are attempting to use Python control flow in a layer that was not declared to "
                "be dynamic. Pass `dynamic=True` to the class constructor.\nEncountered error:\n"
                f'"""\n{error}\n"""'
            ) from error

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Another name of calling the layer."""
        return self(inputs, *args, **kwargs)

    def _name_scope(self) -> str:
        return self.name

    def _after_call(self, inputs: Any, outputs: Any, args: Any, kwargs: Any) -> Any:
        """The outputs as the caller gets them; for subclasses that keep account of calls."""
        return outputs

    def _default_training(self) -> Any:
        """What `training` is for a call that doesn't say; None leaves it to `call`."""
        return call_context.training

    def _take_training(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """What `training` is for this call; `call` gets it where it has such an argument."""
        expects = "training" in self._call_fn_args or self._call_accepts_kwargs
        positional = dict(zip(self._call_fn_args[1:], args, strict=False))
        if "training" in positional:
            return positional["training"]
        if "training" in kwargs:
            return kwargs["training"] if expects else kwargs.pop("training")
        training = self._default_training()
        if expects and training is not None:
            is_tensor = isinstance(training, (Tensor, Variable))
            training = cast(training, dtypes.bool) if is_tensor else bool(training)
            kwargs["training"] = training
        return training

    def _maybe_build(self, inputs: Any) -> None:
        if not self.built:
            leaves = nest.flatten(inputs)
            if leaves and self._dtype_name is None and hasattr(leaves[0], "dtype"):
                self._dtype_name = dtypes.as_dtype(leaves[0].dtype).base_dtype.name
            shapes = None
            if all(hasattr(leaf, "shape") for leaf in leaves):
                shapes = nest.map_structure(lambda leaf: leaf.shape, inputs)
            self.build(shapes)
            self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _add_activity_regularization(self, inputs: Any, outputs: Any) -> None:
        if not self._activity_regularizer:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                # The strength of the regularization doesn't depend on the batch size.
                self.add_loss(loss / cast(shape_of(output)[0], loss.dtype), inputs=inputs)


def as_graph_code(call: Callable[..., Any]) -> Callable[..., Any]:
    """`call` of a program's own layer: its branches and loops on tensors are nodes of the graph."""
    if getattr(call, "__module__", "").partition(".")[0] == "penstock":
        return call
    from penstock.autograph.calls import tf_convert

    converted: Callable[..., Any] = tf_convert(call, control_status_ctx())
    return converted


def settled_trainable(trainable: bool | None, synchronization: VariableSynchronization) -> bool:
    """Whether a weight is trained; one that is synchronized ON_READ can't be."""
    if synchronization != VariableSynchronization.ON_READ:
        return True if trainable is None else trainable
    if trainable:
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for "
            "non-trainable variables. You have specified trainable=True and "
            "synchronization=VariableSynchronization.ON_READ."
        )
    return False


def make_variable(
    name: str | None,
    shape: Any,
    dtype: dtypes.DType,
    initializer: Any,
    use_resource: bool | None = None,
    partitioner: Any = None,
    **kwargs: Any,
) -> Variable:
    """A new variable that is shared with nobody, a resource variable by default."""
    is_value = not callable(initializer)
    make: Any = initializer() if inspect.isclass(initializer) else initializer
    return create_variable(
        initial_value=make if is_value else lambda: make(shape, dtype=dtype),
        name=name,
        dtype=None if is_value else dtype.base_dtype,
        use_resource=True if use_resource is None else use_resource,
        shape=TensorShape(shape) or None,
        **kwargs,
    )


def _tensor_if_number(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, (np.ndarray, float, int)) else value


def _marked_loss(loss: Any, is_unconditional: bool) -> Any:
    tensor: Any = loss
    if not isinstance(loss, (Tensor, Variable)):
        tensor = convert_to_tensor(loss, dtype=dtypes.float32)
    tensor._unconditional_loss = is_unconditional
    return tensor


def _loss_made_by(make: Callable[[], Any], is_unconditional: bool) -> Any:
    loss = make()
    return None if loss is None else _marked_loss(loss, is_unconditional)


def _update_op(update: Any) -> Any:
    if callable(update) and not isinstance(update, (Tensor, Variable, Operation)):
        return _update_op(update())
    if isinstance(update, Operation):
        return update
    return update.op if hasattr(update, "op") else convert_to_tensor(update)


def _relevant(values: Iterable[Any], inputs: Any, mark: str) -> list[Any]:
    if inputs is None:
        return [value for value in values if getattr(value, mark)]
    wanted = nest.flatten(inputs)
    return [v for v in values if not getattr(v, mark) and depends_on(v, wanted)]
