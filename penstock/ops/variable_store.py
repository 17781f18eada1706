"""The variables that `tf.get_variable` made in a graph, by full name, and how it makes them."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir import source
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.initializers import glorot_uniform_initializer, zeros_initializer
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.save_slices import PartitionInfo, SaveSliceInfo
from penstock.ops.slicing import slice as slice_of
from penstock.ops.variable_creation import create_variable
from penstock.ops.variables import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    is_trainable,
)
from penstock.shapes import TensorShape


class _ReuseMode(enum.Enum):
    """What `reuse` may be besides True, False and None."""

    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE


@dataclass(frozen=True)
class Request:
    """What a call of `get_variable` asks for: everything but the name."""

    shape: Any = None
    dtype: Any = dtypes.float32
    initializer: Any = None
    regularizer: Any = None
    reuse: bool | _ReuseMode | None = None
    trainable: bool | None = None
    collections: Any = None
    caching_device: Any = None
    partitioner: Any = None
    validate_shape: bool = True
    use_resource: bool | None = None
    constraint: Any = None
    synchronization: VariableSynchronization = VariableSynchronization.AUTO
    aggregation: VariableAggregation = VariableAggregation.NONE

    def as_kwargs(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def is_from_value(self) -> bool:
        """Whether the initializer is the initial value itself."""
        return self.initializer is not None and not callable(self.initializer)


class VariableStore:
    """All variables of a graph that `tf.get_variable` made.

    1. A name is either that of one variable or of a partitioned one.
    2. The parts of a partitioned variable are variables too, named `name/part_0` and on.
    3. A variable of eager mode lives as long as its object: it is kept, and shared, only where
       `keeps_eager_variables` says so.
    """

    def __init__(self, *, keeps_eager_variables: bool = False) -> None:
        self.keeps_eager_variables = keeps_eager_variables
        self._vars: dict[str, Variable] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}

    def get_variable(
        self, name: str, *args: Any, custom_getter: Callable[..., Any] | None = None, **kwargs: Any
    ) -> Any:
        """The variable of that full name, for the arguments of a `Request`.

        Where `reuse` is None, it may exist or not.
        """
        request = Request(*args, **kwargs)
        if request.reuse is None:
            request = replace(request, reuse=AUTO_REUSE)
        return self.get_requested(name, request, custom_getter)

    def get_requested(
        self, name: str, request: Request, custom_getter: Callable[..., Any] | None = None
    ) -> Any:
        """The variable of that name, shared or made; `custom_getter` may have a say."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        trainable = is_trainable(request.trainable, request.synchronization)
        request = replace(
            request,
            dtype=dtypes.as_dtype(request.dtype).base_dtype,
            trainable=trainable,
        )
        if custom_getter is None:
            return self._get(name, request)
        return custom_getter(
            getter=self._getter,
            name=name,
            **_accepted_by(custom_getter, request.as_kwargs()),
        )

    def _getter(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What custom getters call to go on."""
        return self._get(name, Request(*args, **kwargs))

    def _get(self, name: str, request: Request) -> Any:
        is_scalar = request.shape is not None and shapes.raw(request.shape) == ()
        partitioner = request.partitioner
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self._get_partitioned(name, request)
        if request.reuse is True and partitioner is None and name in self._partitioned_vars:
            return self._get_partitioned(name, request)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the variable was found: "
                f"{name}/part_0. Perhaps a variable of the same name was already created with "
                "partitioning?"
            )
        return self._get_single(name, request)

    # One variable -----------------------------------------------------------------------------

    def _get_single(
        self, name: str, request: Request, partition_info: PartitionInfo | None = None
    ) -> Variable:
        if request.shape is not None and request.is_from_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        # In Keras' graph of layers, too, variables are those of eager mode.
        eagerly = executing_eagerly() or getattr(get_default_graph(), "takes_eager_ops", False)
        if eagerly:
            request = replace(request, reuse=AUTO_REUSE)
        found = self._vars.get(name)
        if found is not None:
            return _shared(name, found, request)
        if request.reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did "
                "you mean to set reuse=tf.AUTO_REUSE in VarScope?"
            )
        variable = _made(name, request, partition_info)
        if not eagerly or self.keeps_eager_variables:
            self._vars[name] = variable
        if request.regularizer:  # an empty dict of regularizers is none, too
            _add_regularization(name, variable, request.regularizer)
        return variable

    # Several parts ----------------------------------------------------------------------------

    def _get_partitioned(self, name: str, request: Request) -> PartitionedVariable:
        initializer = request.initializer
        is_tensor = isinstance(initializer, Tensor)
        shape = initializer.shape if is_tensor else TensorShape(request.shape)
        partitions = _partitions(request.partitioner, shape, request.dtype)
        if name in self._partitioned_vars:
            return self._shared_parts(name, request, shape, partitions)
        if request.reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        assert partitions is not None
        self._check_parts(name, partitions)
        parts = []
        whole: list[Any] = shape.as_list()
        for index, (offset, part_shape) in enumerate(part_bounds(whole, partitions)):
            part = self._get_part(f"{name}/part_{index}", request, shape, offset, part_shape)
            part._set_save_slice_info(SaveSliceInfo(name, whole, offset, part_shape))
            parts.append(part)
        made = PartitionedVariable(
            name, shape, parts[0].dtype.base_dtype, variable_list=parts, partitions=partitions
        )
        self._partitioned_vars[name] = made
        return made

    def _shared_parts(
        self, name: str, request: Request, shape: TensorShape, partitions: list[int] | None
    ) -> PartitionedVariable:
        if not request.reuse:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set "
                "reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
            )
        found = self._partitioned_vars[name]
        trying = f"Trying to reuse partitioned variable {name}, but specified"
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(f"{trying} shape {shape} and found shape {found.get_shape()}.")
        if not request.dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"{trying} dtype {request.dtype.name} and found dtype {found.dtype.name}."
            )
        if partitions is not None and partitions != found._get_partitions():
            raise ValueError(
                f"{trying} partitions {partitions} and found partitions {found._get_partitions()}."
            )
        return found

    def _check_parts(self, name: str, partitions: list[int]) -> None:
        """Refuses a name that is taken by an undivided variable or by other parts."""
        if name in self._vars:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the variable was "
                f"found: {name}.  Perhaps a variable of the same name was already created without "
                "partitioning?"
            )
        count = max(partitions, default=1)
        if f"{name}/part_0" not in self._vars:
            return
        for index, is_expected in ((count - 1, True), (count, False)):
            if (f"{name}/part_{index}" in self._vars) is not is_expected:
                raise ValueError(
                    "Partitioner returned a different partitioning than what was already found. "
                    f"Partitioner returned {count} shards, and shard {name}/part_0 was found, but "
                    f"{name}/part_{index} was {'not' if is_expected else 'found too'}."
                )

    def _get_part(
        self,
        name: str,
        request: Request,
        shape: TensorShape,
        offset: list[int],
        part_shape: list[int],
    ) -> Variable:
        initializer = request.initializer
        with name_scope(""):
            if request.is_from_value:
                with name_scope(f"{name}/PartitionedInitializer"):
                    if not isinstance(initializer, Tensor):
                        initializer = convert_to_tensor(initializer, dtype=request.dtype)
                    initializer = slice_of(initializer, offset, part_shape)
                wanted = replace(request, shape=None, initializer=initializer)
            else:
                wanted = replace(request, shape=part_shape)
            return self._get_single(
                name, replace(wanted, partitioner=None), PartitionInfo(shape, offset)
            )


# Getters --------------------------------------------------------------------------------------


def _accepted_by(getter: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Leaves out `constraint` for getters written before there was one."""
    parameters = inspect.signature(getter).parameters
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    if not takes_all and "constraint" not in parameters:
        kwargs.pop("constraint")
    return kwargs


# Sharing and making ---------------------------------------------------------------------------


def _shared(name: str, found: Variable, request: Request) -> Variable:
    if not request.reuse:
        made_at = source.describe(found.op._line)
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
            + (f" Originally defined at: {made_at}" if made_at else "")
        )
    shape = TensorShape(request.shape)
    if not shape.is_compatible_with(found.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found shape "
            f"{found.shape}."
        )
    if not request.dtype.is_compatible_with(found.dtype):
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {request.dtype.name} and found "
            f"dtype {found.dtype.name}."
        )
    return found


def _made(name: str, request: Request, partition_info: PartitionInfo | None) -> Variable:
    if request.is_from_value:
        initial_value, dtype = request.initializer, None
    else:
        initial_value = _initial_value(name, request, partition_info)
        dtype = request.dtype
    return create_variable(
        initial_value=initial_value,
        name=name,
        trainable=request.trainable,
        collections=request.collections,
        caching_device=request.caching_device,
        dtype=dtype,
        validate_shape=request.validate_shape,
        constraint=request.constraint,
        use_resource=request.use_resource,
        synchronization=request.synchronization,
        aggregation=request.aggregation,
    )


def _initial_value(
    name: str, request: Request, partition_info: PartitionInfo | None
) -> Callable[[], Any]:
    """A function without arguments that makes the initial value."""
    initializer = request.initializer
    if initializer is None:
        if request.shape is None:
            raise _not_valid(name, request.shape)
        initializer = _default_initializer(name, request.dtype)
    elif inspect.isclass(initializer):
        initializer = initializer()
    shape = shapes.raw(request.shape)
    parameters = inspect.signature(initializer).parameters
    if shape is not None and None not in shape:
        make = partial(initializer, list(shape), dtype=request.dtype)
        return (
            partial(make, partition_info=partition_info) if "partition_info" in parameters else make
        )
    if not parameters:
        return initializer
    raise _not_valid(name, request.shape)


def _not_valid(name: str, shape: Any) -> ValueError:
    return ValueError(
        f"Variable {name}: The initializer passed is not valid. It should be a callable with no "
        "arguments and the shape should not be provided or an instance of "
        "`tf.keras.initializers.*' and `shape` should be fully defined. "
        f"Got shape={TensorShape(shape)}"
    )


def _default_initializer(name: str, dtype: DType) -> Callable[..., Any]:
    if dtype.is_floating:
        return glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
        return zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype} is required")


def _add_regularization(name: str, variable: Variable, regularizer: Callable[..., Any]) -> None:
    graph = get_default_graph()
    with (
        graph.colocate_with(variable),
        name_scope(f"{name}/Regularizer/"),
        graph.control_dependencies(None),
    ):
        loss = regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


# Parts ----------------------------------------------------------------------------------------


def _partitions(partitioner: Any, shape: TensorShape, dtype: DType) -> list[int] | None:
    """How many parts a partitioner wants along each axis, checked; None without a partitioner."""
    if partitioner is None:
        return None
    if not shape.is_fully_defined():
        raise ValueError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if not shape.as_list():
        raise ValueError("A partitioned Variable must have rank at least 1")
    counts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(counts, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {counts}")
    partitions = [int(count) for count in counts]
    check_partitions(shape, partitions)
    return partitions


def check_partitions(shape: TensorShape, partitions: list[int]) -> None:
    if len(partitions) != shape.ndims:
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{partitions} vs. {shape}"
        )
    if any(count < 1 for count in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(count > 1 for count in partitions) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: "
            f"{partitions}"
        )


def part_bounds(shape: list[Any], partitions: list[int]) -> list[tuple[list[int], list[int]]]:
    """Offset and shape of each part; the first parts get what does not divide evenly."""
    count = max(partitions)
    axis = partitions.index(count)
    length, longer = divmod(shape[axis], count)
    bounds = []
    start = 0
    for index in range(count):
        size = length + (index < longer)
        offset = [0] * len(shape)
        offset[axis] = start
        bounds.append((offset, [*shape[:axis], size, *shape[axis + 1 :]]))
        start += size
    return bounds
