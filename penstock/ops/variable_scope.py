"""`tf.variable_scope` and `tf.get_variable`: variables that are shared by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor, graph_of
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ops.variable_store import AUTO_REUSE, Request, VariableStore
from penstock.ops.variables import VariableAggregation, VariableSynchronization

__all__ = [
    "AUTO_REUSE",
    "VariableScope",
    "get_local_variable",
    "get_variable",
    "get_variable_scope",
    "no_regularizer",
    "variable_op_scope",
    "variable_scope",
]


def no_regularizer(_: Any) -> None:
    """Regularizes nothing: it keeps a scope's regularizer from being inherited."""


class VariableScope:
    """A prefix of variables' names, with what `get_variable` uses inside where it isn't told.

    Args:
      reuse: True to share existing variables, False or None to make new ones, `tf.AUTO_REUSE` to
        do either.
      name: the prefix.
      initializer: default for `get_variable`; so are those that follow but `name_scope`.
      name_scope: the name scope that was opened with the variable scope.
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ):
        self._name = name
        self._reuse = reuse
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = True if executing_eagerly() else use_resource
        self._constraint = constraint

    @property
    def name(self) -> str:
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened when this variable scope first was."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        return self._reuse

    @property
    def initializer(self) -> Any:
        return self._initializer

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        return self._use_resource

    @property
    def regularizer(self) -> Any:
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        return self._custom_getter

    @property
    def constraint(self) -> Any:
        return self._constraint

    def reuse_variables(self) -> None:
        """Shares existing variables from now on, in this scope and those opened inside it."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self._initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        if executing_eagerly() and not use_resource:
            raise ValueError(
                "When eager execution is enabled, use_resource cannot be set to false."
            )
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        self._custom_getter = custom_getter

    def get_collection(self, name: Any) -> list[Any]:
        """The members of a graph collection whose names are inside this scope."""
        prefix = f"{self._name}/" if self._name else ""
        return get_default_graph().get_collection(name, prefix)

    def trainable_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Any = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """The variable `name` of this scope; None arguments are the scope's own settings."""
        # A variable's name depends on variable scopes alone.
        with name_scope(None):
            _check_initial_type(initializer, dtype)
            request = Request(
                shape=shape,
                dtype=_first(dtype, self._dtype),
                initializer=_first(initializer, self._initializer),
                regularizer=_first(regularizer, self._regularizer),
                reuse=_first(reuse, self._reuse),
                trainable=trainable,
                collections=collections,
                caching_device=_first(caching_device, self._caching_device),
                partitioner=_first(partitioner, self._partitioner),
                validate_shape=validate_shape,
                use_resource=_first(use_resource, self._use_resource),
                constraint=_first(constraint, self._constraint),
                synchronization=synchronization,
                aggregation=aggregation,
            )
            return var_store.get_requested(
                f"{self._name}/{name}" if self._name else name,
                request,
                _first(custom_getter, self._custom_getter),
            )


def _first(given: Any, inherited: Any) -> Any:
    return inherited if given is None else given


def _check_initial_type(initializer: Any, dtype: Any) -> None:
    if dtype is None or initializer is None or callable(initializer):
        return
    found = convert_to_tensor(initializer).dtype.base_dtype
    if found != dtype:
        raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")


# The scopes and variables of a graph ----------------------------------------------------------


class _OpenScopes(threading.local):
    """The current variable scope of a graph in one thread, and how often each name was opened."""

    def __init__(self) -> None:
        self.current = VariableScope(reuse=False)
        self.counts: dict[str, int] = {}

    def open(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def forget_inside(self, name: str) -> None:
        """Counts the scopes inside `name` from zero again, for the next one to open it."""
        for key in self.counts:
            if key.startswith(f"{name}/"):
                self.counts[key] = 0

    def unique(self, name: str) -> str:
        """`name`, with a suffix if it was opened in the current scope before."""
        prefix = f"{self.current.name}/" if self.current.name else ""
        if not self.counts.get(f"{prefix}{name}"):
            return name
        suffix = 1
        while self.counts.get(f"{prefix}{name}_{suffix}"):
            suffix += 1
        return f"{name}_{suffix}"


# Keys that are no strings, so that they don't show among a graph's collections.
_SCOPES_KEY = ("variable_scopes",)
STORE_KEY = ("variable_store",)


def _only_entry(key: tuple[str], make: Callable[[], Any]) -> Any:
    entries = get_default_graph().get_collection_ref(key)
    if not entries:
        entries.append(make())
    return entries[0]


def _open_scopes() -> _OpenScopes:
    return _only_entry(_SCOPES_KEY, _OpenScopes)


def default_store() -> VariableStore:
    """The variables that `get_variable` made in the default graph."""
    return _only_entry(STORE_KEY, VariableStore)


@contextmanager
def using_store(store: VariableStore) -> Iterator[None]:
    """A block in which `get_variable` looks in another store than the default graph's."""
    entries = get_default_graph().get_collection_ref(STORE_KEY)
    outer = list(entries)
    entries[:] = [store]
    try:
        yield
    finally:
        entries[:] = outer


def unique_scope_name(name: str) -> str:
    """`name`, with a suffix if a scope of that name was opened in the current one before."""
    return _open_scopes().unique(name)


def get_variable_scope() -> VariableScope:
    """The innermost open variable scope."""
    return _open_scopes().current


# Opening scopes -------------------------------------------------------------------------------


class variable_scope:
    """Opens a scope for `tf.get_variable`, and a name scope with it.

    >>> with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
    ...     w = tf.get_variable("w", [784, 10])  # "layer/w", the same each time

    Args:
      name_or_scope: a name, or a scope to open again.
      default_name: made unique and used where `name_or_scope` is None.
      values: tensors that the scope is about: they choose the graph.
      reuse: True to share existing variables, `tf.AUTO_REUSE` to share those that exist.
      auxiliary_name_scope: whether to open a name scope too.

    The other arguments are defaults for `get_variable` inside.
    """

    def __init__(
        self,
        name_or_scope: str | VariableScope | None,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = values
        self._reuse = reuse or None  # a scope inherits reuse, it can't undo it
        self._custom_getter = custom_getter
        self._settings = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }
        self._auxiliary_name_scope = auxiliary_name_scope
        self._exits: list[ExitStack] = []

    def __enter__(self) -> VariableScope:
        if self._reuse not in (None, True, AUTO_REUSE):
            raise ValueError(
                f"The reuse parameter must be True or False or None. Got {self._reuse!r}"
            )
        with ExitStack() as stack:
            graph = graph_of(self._values) if self._values is not None else None
            if graph is not None and graph is not get_default_graph():
                stack.enter_context(graph.as_default())
            scope = self._open(stack)
            self._exits.append(stack.pop_all())
        return scope

    def __exit__(self, *error: Any) -> Any:
        return self._exits.pop().__exit__(*error)

    def _open(self, stack: ExitStack) -> VariableScope:
        target = self._name_or_scope
        if target is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            assert self._default_name is not None
            opened = stack.enter_context(self._name_scope(self._default_name))
            return self._open_new(stack, _open_scopes().unique(self._default_name), opened)
        if isinstance(target, VariableScope):
            name = target.name.split("/")[-1]
            if name or not self._auxiliary_name_scope:
                stack.enter_context(self._name_scope(name))
            return self._open_again(stack, target)
        if not isinstance(target, str):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if not target and self._auxiliary_name_scope:
            return self._open_new(stack, target, "")
        return self._open_new(stack, target, stack.enter_context(self._name_scope(target)))

    def _name_scope(self, name: str) -> AbstractContextManager[str]:
        if self._auxiliary_name_scope:
            return name_scope(name)
        current = get_default_graph().get_name_scope()
        return name_scope(f"{current}/" if current else "")

    def _open_new(self, stack: ExitStack, name: str, opened: str) -> VariableScope:
        """Opens a scope inside the current one."""
        scopes = _open_scopes()
        outer = scopes.current
        full_name = f"{outer.name}/{name}" if outer.name else name
        scope = self._derived(outer, full_name, self._reuse or outer.reuse, opened)
        scopes.open(full_name)
        stack.callback(scopes.forget_inside, full_name)
        stack.callback(setattr, scopes, "current", outer)
        scopes.current = scope
        return scope

    def _open_again(self, stack: ExitStack, target: VariableScope) -> VariableScope:
        """Opens a scope again, wherever the current one is."""
        scopes = _open_scopes()
        scope = self._derived(
            target, target.name, self._reuse or target.reuse, target.original_name_scope
        )
        scopes.open(target.name)
        stack.callback(setattr, scopes, "counts", dict(scopes.counts))
        stack.callback(setattr, scopes, "current", scopes.current)
        scopes.current = scope
        return scope

    def _derived(self, parent: VariableScope, name: str, reuse: Any, opened: str) -> VariableScope:
        settings = {
            key: _first(given, getattr(parent, key)) for key, given in self._settings.items()
        }
        getter = _composed(self._custom_getter, parent.custom_getter)
        return VariableScope(reuse, name, custom_getter=getter, name_scope=opened, **settings)


def _composed(inner: Any, outer: Any) -> Any:
    """A getter that asks `inner`, whose way on leads through `outer`."""
    if inner is None or outer is None:
        return _first(inner, outer)

    def getter(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return inner(partial(outer, getter), *args, **kwargs)

    return getter


def variable_op_scope(
    values: Any,
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> variable_scope:
    """The old spelling of `tf.variable_scope`, with `values` first."""
    return variable_scope(
        name_or_scope,
        default_name,
        values,
        initializer,
        regularizer,
        caching_device,
        partitioner,
        custom_getter,
        reuse,
        dtype,
        use_resource,
        constraint,
    )


# Getting variables ----------------------------------------------------------------------------


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """The variable `name` of the current variable scope: shared with earlier calls, or made.

    Args:
      shape: must be fully known, unless `initializer` is a value.
      initializer: a value, an initializer such as `tf.zeros_initializer()`, or a function without
        arguments; None takes the scope's, and in the end Glorot's for floating point types and
        zeros for others.
      regularizer: a function from the variable to a loss to add to
        `GraphKeys.REGULARIZATION_LOSSES`, or to None.
      partitioner: a function from `shape` and `dtype` to the numbers of parts along each axis.
      custom_getter: `custom_getter(getter, name, ...)` that is asked instead; it may call
        `getter(name, ...)` to go on.

    The other arguments are those of `tf.Variable`.
    """
    return get_variable_scope().get_variable(
        default_store(),
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """`tf.get_variable` for a variable that is neither trained nor saved."""
    return get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        False,
        [*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        custom_getter,
        constraint,
        synchronization,
        aggregation,
    )
