"""`tf.make_template`: a function that makes its variables once and shares them after."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.source import summary, user_line
from penstock.ir.trackable import Trackable
from penstock.ops.eager_variable_store import EagerVariableStore
from penstock.ops.variable_creation import variable_creator_scope
from penstock.ops.variable_scope import default_store, unique_scope_name, variable_scope

__all__ = ["capture_dependencies", "make_template"]


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """A function whose `get_variable` calls share variables between all of its calls.

    Args:
      name_: the variable scope's name, made unique.
      create_scope_now_: open the scope here instead of where the first call is.
      unique_name_: a scope name that is taken as it is.
      **kwargs: arguments of `func_` to fix.
    """
    function = partial(func_, **kwargs) if kwargs else func_
    return Template(name_, function, create_scope_now_, unique_name_, custom_getter_)


# Who owns the variable that is being made and the name of their scope, while the owners around
# them are told.
_MAKING: ContextVar[tuple[Trackable, str] | None] = ContextVar("making", default=None)


@contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """Lets a trackable object own the variables made inside, by their names in its scope.

    A variable made in a further such context inside belongs to the owner there, which then belongs
    to this one.

    Args:
      template: a trackable object whose `variable_scope` is open.
    """
    scope: str = template.variable_scope.name
    prefix = f"{scope}/" if scope and not scope.endswith("/") else scope

    def make_owned(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        inner = _MAKING.get()
        told = _MAKING.set((template, scope))
        try:
            variable = next_creator(**kwargs)
        finally:
            _MAKING.reset(told)
        name = kwargs.get("name")
        if name is not None and name.startswith(prefix):
            owned, owned_name = (variable, name) if inner is None else inner
            template._track_trackable(owned, name=owned_name[len(prefix) :], overwrite=True)
        return variable

    with variable_creator_scope(make_owned):
        yield


class Template(Trackable):
    """What `make_template` returns."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
    ):
        if name is None:
            raise ValueError("name cannot be None.")
        if unique_name is not None and executing_eagerly():
            raise ValueError("unique_name_ cannot be used when eager exeuction is enabled.")
        self._name = name
        self._func = func
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._variables_created = False
        self._made_at = user_line()
        self._scope: Any = None
        self._store: EagerVariableStore | None = None  # of its variables, in eager mode
        if create_scope_now:
            wanted = unique_name or unique_scope_name(name)
            with variable_scope(
                wanted, custom_getter=custom_getter, auxiliary_name_scope=False
            ) as scope:
                self._scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not executing_eagerly():
            return self._called_in_scope(args, kwargs)
        if self._store is None:  # inside of another template its variables are the other's, too
            around = default_store()
            self._store = EagerVariableStore(around if around.keeps_eager_variables else None)
        with self._store.as_default():
            return self._called_in_scope(args, kwargs)

    def _called_in_scope(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._scope is None:
            with variable_scope(
                self._unique_name, self._name, custom_getter=self._custom_getter
            ) as scope:
                self._scope = scope
                return self._call(args, kwargs)
        with variable_scope(self._scope, reuse=self._variables_created):
            return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return self._checked_call(args, kwargs)
        except Exception as error:
            place = "".join(traceback.format_list(summary(self._made_at)))
            first, *others = error.args or ("",)
            error.args = (f"{first}\n\noriginally defined at:\n{place}", *others)
            raise

    def _checked_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        trainable = self._all_trainable()
        before = len(trainable)
        with capture_dependencies(self):
            result = self._func(*args, **kwargs)
        trainable = self._all_trainable()
        if self._variables_created and len(trainable) > before:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps "
                f"you used tf.Variable when you meant tf.get_variable: {trainable[before:]}"
            )
        self._variables_created = True
        return result

    def _all_trainable(self) -> list[Any]:
        if self._store is not None:
            return self._store.trainable_variables()
        return list(get_default_graph().get_collection_ref(GraphKeys.TRAINABLE_VARIABLES))

    @property
    def name(self) -> str:
        """The name given to the template."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        return self._func

    @property
    def variable_scope(self) -> Any:
        """The scope of its variables, or None before it is open."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """The scope's name with a slash behind it, or None before it is open."""
        if self._scope is None:
            return None
        name = str(self._scope.name)
        return name if not name or name.endswith("/") else f"{name}/"

    @property
    def var_scope(self) -> Any:
        return self._scope

    def _in_scope(self, key: str) -> list[Any]:
        if self._store is not None:
            if key == GraphKeys.LOCAL_VARIABLES:
                return []
            trained = key == GraphKeys.TRAINABLE_VARIABLES
            kept = self._store.trainable_variables() if trained else self._store.variables()
            return [each for each in kept if each.name.startswith(self.variable_scope_name or "")]
        if self._scope is None:
            return []
        return get_default_graph().get_collection(key, self.variable_scope_name or "")

    @property
    def variables(self) -> list[Any]:
        """The global and local variables that the template made."""
        return [
            *self._in_scope(GraphKeys.GLOBAL_VARIABLES),
            *self._in_scope(GraphKeys.LOCAL_VARIABLES),
        ]

    @property
    def weights(self) -> list[Any]:
        return self.variables

    @property
    def global_variables(self) -> list[Any]:
        return self._in_scope(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        return self._in_scope(GraphKeys.LOCAL_VARIABLES)

    @property
    def trainable_variables(self) -> list[Any]:
        return self._in_scope(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def trainable_weights(self) -> list[Any]:
        return self.trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        trainable = set(self.trainable_variables)
        return [variable for variable in self.variables if variable not in trainable]

    @property
    def non_trainable_weights(self) -> list[Any]:
        return self.non_trainable_variables
