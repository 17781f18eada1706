"""The scope of a strategy: where its variables are made, and where it is the current one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from penstock.distribute import context
from penstock.ir.defaults import get_default_graph
from penstock.ops.variable_creation import creators_of, variable_creator_scope
from penstock.ops.variable_scope import get_variable_scope, variable_scope

_ADVICE = "nesting error: move call to tf.distribute.set_strategy() out of `with` scope."


def require_strategy(strategy: Any) -> None:
    """RuntimeError in the scope of another strategy."""
    current = context.get_strategy()
    if current is not strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {current} is not {strategy}"
        )


class StrategyScope(AbstractContextManager[Any]):
    """A strategy's `scope()`: it can be entered inside of itself, and again.

    Args:
      strategy: whose it is.
      create: makes a variable of `(next_creator, **kwargs)`.
      device: where nodes go that don't say otherwise.
      partitioned: whether variables may be made of parts.
    """

    def __init__(
        self,
        strategy: Any,
        create: Callable[..., Any],
        device: str | None,
        *,
        partitioned: bool = False,
    ):
        self._strategy = strategy
        self._create = create
        self._device = device
        self._getter = None if partitioned else _whole
        self._entered: ExitStack | None = None
        self._inside = 0

    def __enter__(self) -> Any:
        if context.has_strategy():
            self._strategy.extended._require_cross_replica()
            self._inside += 1
            return self._strategy
        whole = variable_scope(
            get_variable_scope(), custom_getter=self._getter, auxiliary_name_scope=False
        )
        with ExitStack() as stack:
            stack.enter_context(context.mode(self._strategy, None))
            stack.enter_context(whole)
            stack.enter_context(variable_creator_scope(self._create))
            stack.enter_context(get_default_graph().device(self._device))
            self._entered = stack.pop_all()
        self._state = _open_scopes()
        return self._strategy

    def __exit__(self, *exception: Any) -> None:
        if self._inside:
            self._inside -= 1
            return
        if exception[0] is None:
            self._check_nesting()
        if self._entered is not None:
            self._entered.__exit__(*exception)
        self._entered = None

    def _check_nesting(self) -> None:
        """RuntimeError if a scope that was opened inside is still open."""
        kinds = ("Device scope", "Variable creator scope", "Variable scope")
        for kind, before, now in zip(kinds, self._state, _open_scopes(), strict=True):
            if before is not now and before != now:
                raise RuntimeError(f"{kind} {_ADVICE}")


def _open_scopes() -> tuple[Any, Any, Any]:
    graph = get_default_graph()
    return graph._scopes.devices, creators_of(graph), get_variable_scope()


class DefaultScope(AbstractContextManager[Any]):
    """The scope of the default strategy: variables of other strategies can't be made there."""

    def __init__(self, strategy: Any):
        self._strategy = strategy
        self._entered: list[Any] = []

    def __enter__(self) -> Any:
        def created(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            require_strategy(self._strategy)
            return next_creator(**kwargs)

        scope = variable_creator_scope(created)
        scope.__enter__()
        self._entered.append(scope)
        return self._strategy

    def __exit__(self, *exception: Any) -> None:
        self._entered.pop().__exit__(*exception)


def _whole(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A variable of a strategy is not partitioned."""
    kwargs.pop("partitioner", None)
    return getter(*args, **kwargs)
