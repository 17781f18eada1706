"""`if`: Python's own, or a `tf.cond` of both branches where the condition is a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.autograph.operators.agreement import check_branches_agree, check_defined_by_branch
from penstock.autograph.operators.state import State, Symbol, variables
from penstock.autograph.operators.tensor_kinds import is_dense_tensor

_Branch = Callable[[], Any]


def run_if(
    test: Any,
    body: _Branch,
    orelse: _Branch,
    results: Sequence[str] = (),
    others: Sequence[str] = (),
    composites: Callable[[], Sequence[Symbol]] = tuple,
) -> None:
    """An `if` statement of converted code.

    Args:
      test: the condition.
      body: the statements of the branch, as a function.
      orelse: those of the `else` branch.
      results: the variables that a branch assigns and that are used after the statement.
      others: the variables that a branch assigns for itself.
      composites: gives the attributes and items that a branch assigns.
    """
    if not is_dense_tensor(test):
        body() if test else orelse()
        return
    outside = composites()
    kept = State([*variables(results, body, orelse), *outside])
    changed = State([*variables((*results, *others), body, orelse), *outside])

    def values_after(branch: _Branch) -> Callable[[], tuple[Any, ...]]:
        def call() -> tuple[Any, ...]:
            branch()
            return kept.get()

        return call

    kept.set(_staged(test, values_after(body), values_after(orelse), changed, kept.names))


def if_exp(test: Any, body: _Branch, orelse: _Branch) -> Any:
    """`body() if test else orelse()`."""
    if is_dense_tensor(test):
        return tf.cond(test, body, orelse)
    return body() if test else orelse()


def if_stmt(
    cond: Any,
    body: _Branch,
    orelse: _Branch,
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    basic_symbol_names: tuple[str, ...] | None = None,
    composite_symbol_names: tuple[str, ...] | None = None,
) -> Any:
    """An `if` whose branches are functions that return what they change.

    Args:
      cond: the condition.
      body: gives the results of the branch.
      orelse: gives those of the `else` branch.
      get_state: gives what else the branches may change.
      set_state: sets that.
      basic_symbol_names: the names of the results, for errors.
      composite_symbol_names: the names of the state, for errors.
    """
    if not is_dense_tensor(cond):
        return body() if cond else orelse()
    names = None
    if basic_symbol_names is not None:
        names = (*basic_symbol_names, *(composite_symbol_names or ()))
    single = False

    def values_after(branch: _Branch) -> Callable[[], tuple[Any, ...]]:
        def call() -> tuple[Any, ...]:
            nonlocal single
            result = branch()
            single = not isinstance(result, tuple)
            return (*((result,) if single else result), *get_state())

        return call

    from penstock.autograph.operators.state import GivenState

    state = GivenState((), get_state, set_state, names)
    count = len(get_state())
    values = _staged(cond, values_after(body), values_after(orelse), state, names)
    split = len(values) - count
    set_state(values[split:])
    return values[0] if single else values[:split]


def _staged(
    test: Any,
    body: Callable[[], tuple[Any, ...]],
    orelse: Callable[[], tuple[Any, ...]],
    changed: State,
    names: Sequence[str] | None,
) -> tuple[Any, ...]:
    """The values that a `tf.cond` of two branches gives; each begins with the state before."""
    before = changed.get()
    built: dict[str, tuple[Any, ...]] = {}

    def branch(which: str, function: Callable[[], tuple[Any, ...]]) -> Callable[[], Any]:
        def build() -> Any:
            changed.set(before)
            built[which] = values = function()
            changed.set(before)
            check_defined_by_branch(values, which)
            if len(built) == 2:
                check_branches_agree(names, built["if"], built["else"])
            # A branch that gives nothing still has effects: the node needs a result to be run for.
            return values or (tf.constant(1),)

        return build

    values = tf.cond(test, branch("if", body), branch("else", orelse), strict=True)
    return tuple(values) if any(built.values()) else ()
