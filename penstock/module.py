"""`tf.Module`: a named container of variables and of other modules."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from penstock import nest
from penstock.ir.name_scope import name_scope
from penstock.layers.core_layer import CoreLayer
from penstock.ops.variables import Variable
from penstock.train.tracking.attributes import AutoTrackable

__all__ = ["Module"]

_WORD_START = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


def camel_to_snake(value: str) -> str:
    """A class' name as the name of its objects: "HTTPLayer" gives "http_layer"."""
    return _WORD_START.sub(r"_\1", value).lower()


def valid_identifier(name: str) -> bool:
    """Whether a name could be a variable's in Python."""
    return name.isascii() and name.isidentifier()


class Module(AutoTrackable):
    """Finds the variables and modules among its attributes, and has a name scope.

    >>> class Dense(tf.Module):
    ...     def __init__(self, inputs, outputs, name=None):
    ...         super().__init__(name=name)
    ...         with self.name_scope:
    ...             self.w = tf.Variable(tf.random_normal([inputs, outputs]), name="w")
    ...
    ...     @tf.Module.with_name_scope
    ...     def __call__(self, x):
    ...         return tf.matmul(x, self.w)

    Args:
      name: a valid identifier; the class' name in snake case if None.
    """

    _TF_MODULE_IGNORED_PROPERTIES = frozenset(["_ownership_record"])

    def __init__(self, name: str | None = None):
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not valid_identifier(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The module's own name, without those of the scopes around it."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """The name scope of the module, for a `with` statement."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The module's variables by attribute, then those of its submodules."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Of the `variables`, those that are trained."""
        return tuple(self._flatten(predicate=lambda each: _is_variable(each) and each.trainable))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """All modules inside, the nearest first."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
    ) -> Iterator[Any]:
        """The values of the attributes, in the order of their names.

        Args:
          recursive: whether to go into modules.
          predicate: which values to give; all if None.
          attribute_traversal_key: what to sort the names by.
          with_path: whether to give pairs of path and value, and each value as often as it occurs.
        """
        wanted = predicate or (lambda _: True)
        to_visit: list[tuple[tuple[Any, ...], Any]] = [((), self)]
        return _leaves(to_visit, recursive, wanted, attribute_traversal_key, with_path)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that runs in the name scope of its module."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _is_module(value: Any) -> bool:
    return isinstance(value, (Module, CoreLayer))


def _leaves(
    to_visit: list[tuple[tuple[Any, ...], Any]],
    recursive: bool,
    wanted: Callable[[Any], bool],
    key: Callable[[str], Any] | None,
    with_path: bool,
    seen: set[int] | None = None,
) -> Iterator[Any]:
    """The values of modules, depth first; the modules of a module come after its own values."""
    seen = {id(module) for _, module in to_visit} if seen is None else seen
    for path, module in to_visit:
        inner = []
        ignored = getattr(module, "_TF_MODULE_IGNORED_PROPERTIES", {"_ownership_record"})
        for name in sorted(vars(module), key=key):
            if name in ignored:
                continue
            for leaf_path, leaf in nest.flatten_with_tuple_paths(vars(module)[name]):
                if not with_path and id(leaf) in seen:
                    continue
                seen.add(id(leaf))
                where = (*path, name, *leaf_path)
                if wanted(leaf):
                    yield (where, leaf) if with_path else leaf
                if recursive and _is_module(leaf):
                    inner.append((where, leaf))
        yield from _leaves(inner, recursive, wanted, key, with_path, seen)
